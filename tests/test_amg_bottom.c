/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_bottom.c - the cycle of the last levels as steps (precond/amg/
 * bottom.h), which are done here on the host as a device would: what comes out is
 * what the operations of cycle.c come to, and the order of items has no meaning.
 *
 * RUN: np=1 */
#include "amg_twin.h"
#include "gpu.h"
#include "matrix/matrix.h"
#include "precond/amg/bottom.h"

/* --- a device --------------------------------------------------------------- */

typedef struct {
    tct_block base; /* first member */
    tct_amg_step *step;
    int count;
} twin;

/* Items from the last to the first, or in an order of no meaning. */
static bool backwards;
static double *inverse; /* of the operator at hand */
static int products;

static double source_of(const tct_amg_step *s, int64_t j)
{
    return s->x[j] * (s->scale ? s->scale[j] : 1.0);
}

static double sum_of_row(const tct_amg_step *s, int64_t i)
{
    double sum = 0.0;
    if (s->columns)
        for (int64_t j = 0; j < s->columns; j++)
            sum += s->val[i * s->columns + j] * source_of(s, j);
    else if (s->entries)
        for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; k++)
            sum += s->val[k] * source_of(s, s->col[k]);
    return sum;
}

static void do_set(const tct_amg_step *s, int64_t c)
{
    double sum = 0.0;
    for (int32_t k = s->set[c]; k < s->set[c + 1]; k++)
        sum += s->weight[k] * (s->b[s->list[k]] - sum_of_row(s, s->list[k]));
    s->out[c] = sum;
}

static void do_row(const tct_amg_step *s, int64_t i)
{
    double v = (s->b ? s->b[i] : 0.0) - sum_of_row(s, i);
    v *= s->alpha * (s->d ? s->d[i] : 1.0);
    if (s->of_x != 0.0) v += s->of_x * source_of(s, i);
    if (s->before)
        v += s->of_before * s->before[i] *
             (s->before_scale ? s->before_scale[i] : 1.0);
    if (s->add) v += s->add[i];
    if (s->out) s->out[i] = v;
    for (int32_t k = s->to ? s->set[i] : 0; s->to && k < s->set[i + 1]; k++)
        s->to[s->list[k]] += s->factor * s->weight[k] * v;
}

static void do_steps(const tct_block *B, const double *x, double *y,
                     double *dot)
{
    const twin *T = (const twin *)(const void *)B;
    assert_non_null(x);
    assert_null(dot);
    assert_ptr_equal(T->step[T->count - 1].out, y);
    for (int i = 0; i < T->count; i++) {
        const tct_amg_step *s = &T->step[i];
        for (int64_t k = 0; k < s->items; k++) {
            const int64_t item =
                backwards ? s->items - 1 - k : twin_order(s->items, k);
            if (s->restricts) do_set(s, item);
            else do_row(s, item);
        }
    }
    products++;
}

static void free_steps(tct_block *B)
{
    free(((twin *)(void *)B)->step);
    free(B);
}

static const tct_block_ops twin_ops = {
    .name = "steps", .multiply = do_steps, .destroy = free_steps};

static tacit_status keep_steps(tacit_queue *q, const tct_amg_steps *steps,
                               tct_block **out)
{
    twin *T = malloc(sizeof *T);
    const size_t bytes = (size_t)steps->count * sizeof *T->step;
    (void)q;
    assert_non_null(T);
    *T = (twin){
        .base = steps->about, .step = malloc(bytes), .count = steps->count};
    assert_non_null(T->step);
    memcpy(T->step, steps->step, bytes);
    T->base.ops = &twin_ops;
    *out = &T->base;
    return TACIT_OK;
}

/* Column after column of a symmetric matrix. */
static const double *columns_of(const tct_block *B)
{
    const size_t n = (size_t)B->rows;
    double *unit = calloc(n, sizeof *unit);
    free(inverse);
    inverse = malloc(n * n * sizeof *inverse);
    assert_non_null(unit);
    assert_non_null(inverse);
    for (size_t j = 0; j < n; j++) {
        unit[j] = 1.0;
        B->ops->multiply(B, unit, inverse + j * n, NULL);
        unit[j] = 0.0;
    }
    free(unit);
    return inverse;
}

static const tct_amg_bottom_kernels twins = {.dense = columns_of,
                                             .create = keep_steps};

/* --- checks ----------------------------------------------------------------- */

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
    tct_amg_bottom_instead = &twins;
    OK(tacit_precond_create_of(p->A, p->m, "amg", o, &p->steps));
    tct_amg_bottom_instead = NULL;
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

/* With `taken` its report has the steps, and they are done. */
static void expect_same(const pair *p, const char *what, bool taken)
{
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
    if ((products == 2) != taken ||
        !strstr(info.detail, "one kernel from level 1 on") == taken)
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
        tct_amg_bottom_instead = &twins;
        OK(tacit_precond_update(p.steps, p.m));
        tct_amg_bottom_instead = NULL;
        expect_same(&p, "new values", true);
    }
    close_pair(&p);
}

/* The matrices of levels are kept where tasks have made them. */
static void they_take_what_a_device_has_made(void **state)
{
    (void)state;
    pair p;
    tct_amg_kernels_instead = &twin_kernels;
    open_pair(&p, "poisson3d:32", NULL);
    tct_amg_kernels_instead = NULL;
    expect_same(&p, "levels made there", true);
    close_pair(&p);
}

/* Cycle K, several rows a node, and on request. */
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

/* Whichever allocation fails, there is an M or none, and nothing is left behind. */
static void memory_that_is_not_there_is_missed(void **state)
{
    (void)state;
    pair p;
    open_pair(&p, "poisson3d:16", NULL);
    const size_t before = tct_memory_blocks();
    int met = 0, missed = 0;
    tct_amg_bottom_instead = &twins;
    for (long k = 1; met < 30; k++) {
        tacit_operator *M = NULL;
        tct_memory_fail_at(k);
        const tacit_status status =
            tacit_precond_create_of(p.A, p.m, "amg", NULL, &M);
        tct_memory_fail_at(0);
        if (status < 0) EXPECT(TACIT_NO_MEMORY, status);
        assert_int_equal(M == NULL, status < 0);
        met = status < 0 ? 0 : met + 1;
        missed += status < 0;
        tacit_operator_destroy(&M);
        assert_int_equal(tct_memory_blocks(), before);
    }
    tct_amg_bottom_instead = NULL;
    assert_true(missed > 20);
    close_pair(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_come_to_what_launches_do),
        cmocka_unit_test(they_follow_new_values),
        cmocka_unit_test(they_take_what_a_device_has_made),
        cmocka_unit_test(the_others_go_on_as_they_were),
        cmocka_unit_test(memory_that_is_not_there_is_missed),
    };
    TEST_MPI_MAIN(tests);
}
