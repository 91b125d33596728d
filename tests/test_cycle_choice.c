/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_cycle_choice.c - the default cycle of multigrid, and auto: w where
 * trials on coarse levels foretell that it is faster, else v, bit for bit.
 *
 * RUN: np=1,2,3
 * THREADS: 3 */
#include "amg_problem.h"
#include "decorated.h"

static void open_amg(amg *a, const char *matrix, const char *cycle,
                     const char *method)
{
    const tacit_precond_options o = {.size = sizeof o, .cycle = cycle};
    open_amg_of(a, "host", gallery_matrix(matrix), "sell@none", method, &o);
}

static tacit_precond_info info_of(const amg *a)
{
    tacit_precond_info info = {.size = sizeof info};
    OK(tacit_precond_describe(a->M, &info));
    return info;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int64_t iterations_of(const char *matrix, const char *cycle,
                             const char *method)
{
    amg a;
    open_amg(&a, matrix, cycle, method);
    const int64_t its = solve_amg(&a, 1e-8);
    close_amg(&a);
    return its;
}

static const char *const slow = "poisson2d:300";

static void expect_w(const amg *a)
{
    const tacit_precond_info info = info_of(a);
    if (!begins(info.detail, "cycle w (predicted: "))
        fail_msg("%s", info.detail);
    assert_non_null(strstr(info.detail, "), smoother chebyshev(2)"));
    assert_false(info.varies);
}

/* Iterations with v grow from level to level of a plane grid. */
static void w_is_taken_where_v_grows(void **state)
{
    (void)state;
    const int64_t w = iterations_of(slow, "w", "cg");
    const int64_t v = iterations_of(slow, "v", "cg");
    static const char *const given[] = {NULL, "auto"};
    for (int i = 0; i < 2; i++) {
        amg a;
        open_amg(&a, slow, given[i], "cg");
        expect_w(&a);
        assert_int_equal(solve_amg(&a, 1e-8), w);
        close_amg(&a);
    }
    if (4 * w > 3 * v) fail_msg("%d iterations, v %d", (int)w, (int)v);
}

/* New values keep the choice. */
static void an_update_keeps_it(void **state)
{
    (void)state;
    amg a;
    open_amg(&a, slow, NULL, "flexible");
    for (int64_t e = 0; e < a.p.m->A.ptr[a.p.m->A.rows]; e++)
        a.p.m->A.val[e] *= 2.0;
    OK(tacit_operator_update(a.p.A, a.p.m));
    OK(tacit_precond_update(a.M, a.p.m));
    expect_w(&a);
    assert_int_equal(solve_amg(&a, 1e-8), iterations_of(slow, "w", "flexible"));
    close_amg(&a);
}

/* It is linear, and has as many columns as the solver. */
static void every_method_takes_it(void **state)
{
    (void)state;
    const tacit_method *m;
    amg a;
    open_amg(&a, slow, NULL, "cg");
    expect_columns_alone(&a, 2);
    for (int i = 0; (m = tacit_method_at(i)); i++) {
        tacit_solver *s = NULL;
        OK(tacit_solver_create(a.p.q, a.p.A, m->name, &s));
        OK(tacit_solver_set_precond(s, a.M));
        tacit_solver_destroy(&s);
    }
    close_amg(&a);
}

/* *large: is the second level large enough for trials? */
static void expect_v(const char *matrix, bool large)
{
    amg a, b;
    open_amg(&a, matrix, "v", "cg");
    open_amg(&b, matrix, "auto", "cg");
    const tacit_precond_level *next = tacit_precond_level_at(a.M, 1);
    assert_non_null(next);
    assert_int_equal(next->rows > 4000, large);
    assert_string_equal(info_of(&a).detail, info_of(&b).detail);
    assert_false(info_of(&b).varies);
    double *x = random_vector(a.p.n, 7);
    double *y = image_of(a.M, a.p.q, a.p.n, x);
    double *z = image_of(b.M, b.p.q, b.p.n, x);
    if (!same_bits(y, z, a.p.n)) fail_msg("%s: other bits", matrix);
    free(x);
    free(y);
    free(z);
    close_amg(&a);
    close_amg(&b);
}

/* W is tried, and dearer; it is not tried on level 1; there is no trial. */
static void v_stays_to_the_bit(void **state)
{
    (void)state;
    expect_v("jump3d:40,1e2,1", true);
    expect_v("tet3d:30,1", true);
    expect_v("poisson3d:24", false);
}

/* Iterations of v and w as the log of one rank tells. */
static double of_v, of_w;

static void listen(void *ctx, int level, const char *text)
{
    const char *at = strstr(text, ": v ");
    char *end = NULL;
    (void)ctx;
    (void)level;
    if (!strstr(text, "amg: cycle ") || !at) return;
    of_v = strtod(at + strlen(": v "), &end);
    if ((at = strstr(end, ", w "))) of_w = strtod(at + strlen(", w "), NULL);
}

/* Ranks may be threads: only rank 0 logs a choice, and touches these. */
static void check_choice(const char *matrix, double w_least, double w_most)
{
    const bool hears = test_world()->rank == 0;
    amg a;
    if (hears) of_v = of_w = -1.0;
    open_amg(&a, matrix, NULL, "cg");
    close_amg(&a);
    if (hears && !(of_v > 9.0 && of_w >= w_least && of_w <= w_most))
        fail_msg("%s: v %g, w %g", matrix, of_v, of_w);
}

/* With 8 iterations on level 2 w would have to save too many on level 1. */
static void w_is_not_tried_where_it_cannot_win(void **state)
{
    (void)state;
    check_choice("tet3d:30,1", 0.0, 0.0);
    check_choice(slow, 8.0, 100.0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(w_is_taken_where_v_grows),
        cmocka_unit_test(an_update_keeps_it),
        cmocka_unit_test(every_method_takes_it),
        cmocka_unit_test(v_stays_to_the_bit),
        cmocka_unit_test(w_is_not_tried_where_it_cannot_win),
    };
    tacit_set_log(listen, NULL);
    TEST_MPI_MAIN(tests);
}
