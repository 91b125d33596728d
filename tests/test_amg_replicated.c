/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_replicated.c - a W-cycle whose coarse levels are on each rank
 * (precond/amg/cycle/replicated_coarse.c): a visit to them is the polynomial of
 * wcycle.c, and M is that of levels of all ranks.
 *
 * RUN: np=2,3
 * THREADS: 3 */
#include "amg_problem.h"
#include "fused_twin.h"

static const char *const matrices[] = {"poisson3d:26", "jump3d:24,1e4,1",
                                       "poisson2d:121",
                                       "anisotropic3d:24,0.01"};
enum { MATRICES = sizeof matrices / sizeof *matrices };

/* Kernels of what is made from now on; ranks may be threads. */
static void with_kernels(const tct_amg_fused_kernels *kernels)
{
    double all = 1.0;
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &all));
    tct_amg_fused_instead = kernels;
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &all));
}

static void open_w(amg *a, const char *matrix,
                   const tct_amg_fused_kernels *kernels)
{
    const tacit_precond_options o = {
        .size = sizeof o, .cycle = "w", .precision = "double"};
    with_kernels(kernels);
    open_amg_of(a, "host", gallery_matrix(matrix), "sell@none", "cg", &o);
    with_kernels(NULL);
}

static void close_w(amg *a)
{
    close_amg(a);
    free(inverse);
    inverse = NULL;
}

static const tct_amg *hierarchy_of(const amg *a)
{
    return (const tct_amg *)(const void *)a->M;
}

/* Levels 1 and 2 are visited twice, and no other. */
static void expect_levels(const amg *a, const char *matrix)
{
    const tct_amg *M = hierarchy_of(a), *R = M->alone.M;
    tacit_precond_info info = {.size = sizeof info};
    OK(tacit_precond_describe(a->M, &info));
    if (!R || M->levels != 2 || R->levels < 2 ||
        !strstr(info.detail, "one kernel from level 1 on, on each rank"))
        fail_msg("%s: %s", matrix, info.detail);
    for (int l = 0; l < R->levels; l++)
        assert_int_equal(R->level[l].b2 != NULL, l < TCT_AMG_TWICE);
}

/* One product with the steps, from b to x of the first replicated level, and
 * the operations of wcycle.c on the same levels. */
static void expect_polynomial(const amg *a, const char *matrix)
{
    const tct_amg *R = hierarchy_of(a)->alone.M;
    tacit_queue *q = R->base.op.q;
    const tct_amg_level *L = R->level;
    const size_t n = (size_t)L->n;
    double *b = random_vector(n, 3);
    OK(tacit_queue_put(q, n, b, L->b));
    q_multiply(q, R->fused, L->b, L->x, NULL);
    double *steps = host_copy(q, n, L->x);
    OK(tacit_queue_put(q, n, b, L->b));
    tct_amg_wcycle(R, q, L);
    double *launches = host_copy(q, n, L->x);
    const double apart = distance_of(n, steps, launches);
    if (!(apart <= 1e-13 * norm_of(n, launches)))
        fail_msg("%s: a visit is %g away, of %g", matrix, apart,
                 norm_of(n, launches));
    free(b);
    free(steps);
    free(launches);
}

/* The ends of smoothers' intervals are found from another start if one rank has
 * the whole level: images agree to some digits, as iterations do. */
static void expect_same(amg *a, amg *launches, const char *matrix)
{
    const size_t n = a->p.n;
    double *x = random_vector(n, 7);
    double *y = image_of(launches->M, launches->p.q, n, x);
    double *z = image_of(a->M, a->p.q, n, x);
    const double apart = distance_of(n, y, z), size = norm_of(n, y);
    if (!(apart <= 1e-2 * size))
        fail_msg("%s: M x is %g away, of %g", matrix, apart, size);
    products = 0;
    const int64_t its = solve_amg(a, 1e-8), were = solve_amg(launches, 1e-8);
    if (llabs(its - were) > 1 || products < its)
        fail_msg("%s: %d iterations and %d visits, %d iterations of launches",
                 matrix, (int)its, products, (int)were);
    free(x);
    free(y);
    free(z);
}

static void a_visit_is_the_polynomial(void **state)
{
    (void)state;
    for (int i = 0; i < MATRICES; i++) {
        amg a, launches;
        open_w(&a, matrices[i], &twins);
        open_w(&launches, matrices[i], NULL);
        assert_null(hierarchy_of(&launches)->alone.M);
        expect_levels(&a, matrices[i]);
        expect_polynomial(&a, matrices[i]);
        expect_same(&a, &launches, matrices[i]);
        close_w(&a);
        close_w(&launches);
    }
}

/* Values so large that levels are stored times a power of 2. */
static void it_follows_new_values(void **state)
{
    (void)state;
    amg a;
    open_w(&a, matrices[0], &twins);
    const int64_t its = solve_amg(&a, 1e-8);
    tct_csr *A = &a.p.m->A;
    for (int64_t k = 0; k < A->ptr[A->rows]; k++) A->val[k] *= 0x1p100;
    OK(tacit_operator_update(a.p.A, a.p.m));
    with_kernels(&twins);
    OK(tacit_precond_update(a.M, a.p.m));
    with_kernels(NULL);
    expect_levels(&a, "new values");
    expect_polynomial(&a, "new values");
    assert_int_equal(solve_amg(&a, 1e-8), its);
    close_w(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_visit_is_the_polynomial),
        cmocka_unit_test(it_follows_new_values),
    };
    TEST_MPI_MAIN(tests);
}
