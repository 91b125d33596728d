/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_fused.c - the cycle of the coarsest levels as steps
 * (precond/amg/cycle/fused_coarse.h), run on the host as a device would: the
 * result is that of the operations in cycle.c, for any order of items.
 *
 * RUN: np=1 */
#include "fused_twin.h"
#include "matrix/matrix.h"

/* --- checks --------------------------------------------------------------- */

typedef struct {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A, *launches, *steps;
    size_t n;
} pair;

static void open_pair(pair *p, const char *matrix,
                      const tacit_precond_options *o)
{
    *p = (pair){.m = gallery_matrix(matrix), .q = open_queue("host")};
    OK(tacit_operator_create(p->q, p->m, "sell@none", &p->A));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_precond_create_of(p->A, p->m, "amg", o, &p->launches));
    tct_amg_fused_instead = &twins;
    OK(tacit_precond_create_of(p->A, p->m, "amg", o, &p->steps));
    tct_amg_fused_instead = NULL;
}

static void close_pair(pair *p)
{
    tacit_operator_destroy(&p->launches);
    tacit_operator_destroy(&p->steps);
    tacit_operator_destroy(&p->A);
    tacit_matrix_destroy(&p->m);
    tacit_queue_destroy(&p->q);
    free(inverse);
    inverse = NULL;
}

/* The report has steps from level `from` on (0: none), and an application makes
 * them `visits` times. */
static void expect_visits(const pair *p, const char *what, int from, int visits)
{
    char says[64];
    snprintf(says, sizeof says, "one kernel from level %d on", from);
    const size_t n = p->n;
    tacit_precond_info info = {.size = sizeof info};
    double *x = random_vector(n, 7);
    double *y = image_of(p->launches, p->q, n, x);
    products = 0;
    backwards = false;
    double *z = image_of(p->steps, p->q, n, x);
    backwards = true;
    double *again = image_of(p->steps, p->q, n, x);
    OK(tacit_precond_describe(p->steps, &info));
    if (products != 2 * visits || !strstr(info.detail, says) == (from > 0))
        fail_msg("%s: %d products, %s", what, products, info.detail);
    if (!same_bits(z, again, n)) fail_msg("%s: the order has a meaning", what);
    const double apart = distance_of(n, y, z), size = norm_of(n, y);
    if (!(apart <= 1e-13 * size))
        fail_msg("%s: %g away, of %g", what, apart, size);
    free(x);
    free(y);
    free(z);
    free(again);
}

static void expect_same(const pair *p, const char *what, bool taken)
{
    expect_visits(p, what, taken, taken);
}

static void steps_come_to_what_launches_do(void **state)
{
    (void)state;
    static const struct {
        const char *matrix, *cycle, *smoother;
        int degree, levels;
    } cases[] = {{"poisson3d:24", "v", "chebyshev", 2, 0},
                 {"poisson3d:23", "w", "chebyshev", 2, 0},
                 {"jump3d:20,1e4,1", "v", "chebyshev", 1, 0},
                 {"jump3d:20,1e4,1", "w", "chebyshev", 4, 0},
                 {"anisotropic3d:21,0.01", "v", "chebyshev", 3, 0},
                 {"tet3d:18,1", "w", "jacobi", 2, 0},
                 {"tet3d:18,1", "v", "jacobi", 1, 0},
                 {"poisson2d:121", "w", "l1-jacobi", 3, 0},
                 {"poisson2d:121", "v", "l1-jacobi", 4, 0},
                 {"poisson3d:48", "v", "chebyshev", 2, 3},
                 {"poisson2d:150", "w", "chebyshev", 2, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tacit_precond_options o = {.size = sizeof o,
                                         .cycle = cases[i].cycle,
                                         .smoother = cases[i].smoother,
                                         .degree = cases[i].degree,
                                         .levels = cases[i].levels};
        pair p;
        open_pair(&p, cases[i].matrix, &o);
        expect_same(&p, cases[i].matrix, true);
        close_pair(&p);
    }
}

/* Of values so large that levels are stored times a power of 2. */
static void they_follow_new_values(void **state)
{
    (void)state;
    static const double factors[] = {3.0, 0x1p100, 0x1p-200};
    pair p;
    open_pair(&p, "jump3d:20,1e3,1", NULL);
    for (int k = 0; k < 3; k++) {
        for (int64_t e = 0; e < p.m->A.ptr[p.m->A.rows]; e++)
            p.m->A.val[e] *= factors[k];
        OK(tacit_operator_update(p.A, p.m));
        OK(tacit_precond_update(p.launches, p.m));
        tct_amg_fused_instead = &twins;
        OK(tacit_precond_update(p.steps, p.m));
        tct_amg_fused_instead = NULL;
        expect_same(&p, "new values", true);
    }
    close_pair(&p);
}

/* The matrices of levels are kept where tasks have made them. */
static void they_take_what_a_device_has_made(void **state)
{
    (void)state;
    const tacit_precond_options v = {.size = sizeof v, .cycle = "v"};
    pair p;
    tct_amg_kernels_instead = &twin_kernels;
    open_pair(&p, "poisson3d:32", &v);
    tct_amg_kernels_instead = NULL;
    expect_same(&p, "levels made there", true);
    close_pair(&p);
}

/* Two levels begin a cycle K and are visited twice each; the levels below are
 * steps. */
static void they_are_below_a_k_cycle(void **state)
{
    (void)state;
    const tacit_precond_options k = {.size = sizeof k, .cycle = "k"};
    pair p;
    open_pair(&p, "like:g3_circuit,200x200", &k);
    expect_visits(&p, "cycle k", 3, 4);
    close_pair(&p);
}

/* Cycle K of few levels, and on request. */
static void the_others_go_on_as_they_were(void **state)
{
    (void)state;
    const tacit_precond_options k = {.size = sizeof k, .cycle = "k"};
    pair p;
    open_pair(&p, "poisson3d:24", &k);
    expect_same(&p, "cycle k", false);
    close_pair(&p);
    const tacit_precond_options two = {.size = sizeof two, .levels = 2};
    open_pair(&p, "poisson3d:24", &two);
    expect_same(&p, "two levels", false);
    close_pair(&p);
    assert_int_equal(setenv("TACIT_AMG_COARSE", "launches", 1), 0);
    open_pair(&p, "poisson3d:24", NULL);
    assert_int_equal(unsetenv("TACIT_AMG_COARSE"), 0);
    expect_same(&p, "on request", false);
    close_pair(&p);
}

/* Whichever allocation fails, there is an M or none, and nothing is left
 * behind. */
static void memory_that_is_not_there_is_missed(void **state)
{
    (void)state;
    pair p;
    open_pair(&p, "poisson3d:16", NULL);
    tct_amg_fused_instead = &twins;
    expect_missed(p.A, p.m);
    tct_amg_fused_instead = NULL;
    close_pair(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_come_to_what_launches_do),
        cmocka_unit_test(they_follow_new_values),
        cmocka_unit_test(they_take_what_a_device_has_made),
        cmocka_unit_test(they_are_below_a_k_cycle),
        cmocka_unit_test(the_others_go_on_as_they_were),
        cmocka_unit_test(memory_that_is_not_there_is_missed),
    };
    TEST_MPI_MAIN(tests);
}
