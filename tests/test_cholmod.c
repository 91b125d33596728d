/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_cholmod.c - CHOLMOD's supernodal factors: L L' is the matrix, and
 * they solve as the library's own; builds without CHOLMOD refuse them with a
 * reason.
 *
 * DEVICE: each */
#include "foreign.h"
#if TCT_HAVE_CHOLMOD
#include <cholmod.h>

static cholmod_common common;

/* The lower triangle of `m`, + shift on the diagonal, in either width of
 * integers. */
static cholmod_sparse *sparse_of(const tacit_matrix *m, bool wide, double shift)
{
    tacit_rows r;
    OK(tacit_matrix_view_rows(m, &r));
    const size_t n = (size_t)r.count, most = (size_t)r.ptr[r.count];
    cholmod_sparse *S = wide ? cholmod_l_allocate_sparse(n, n, most, 1, 1, -1,
                                                         CHOLMOD_REAL, &common)
                             : cholmod_allocate_sparse(n, n, most, 1, 1, -1,
                                                       CHOLMOD_REAL, &common);
    int64_t count = 0;
    for (int64_t j = 0; j <= r.count; j++) {
        if (wide) ((SuiteSparse_long *)S->p)[j] = count;
        else ((int *)S->p)[j] = (int)count;
        for (int64_t k = r.ptr[j]; j < r.count && k < r.ptr[j + 1]; k++) {
            if (r.cols32[k] < j) continue;
            if (wide) ((SuiteSparse_long *)S->i)[count] = r.cols32[k];
            else ((int *)S->i)[count] = r.cols32[k];
            ((double *)S->x)[count++] =
                r.vals[k] + (r.cols32[k] == j ? shift : 0.0);
        }
    }
    return S;
}

static void begin(bool wide, int supernodal, int ordering)
{
    if (wide) cholmod_l_start(&common);
    else cholmod_start(&common);
    common.supernodal = supernodal;
    common.print = 0;
    common.nmethods = 1;
    common.method[0].ordering = ordering;
}

static cholmod_factor *factorize(const tacit_matrix *m, bool wide, double shift)
{
    cholmod_sparse *S = sparse_of(m, wide, shift);
    cholmod_factor *L =
        wide ? cholmod_l_analyze(S, &common) : cholmod_analyze(S, &common);
    if (wide) cholmod_l_factorize(S, L, &common);
    else cholmod_factorize(S, L, &common);
    if (wide) cholmod_l_free_sparse(&S, &common);
    else cholmod_free_sparse(&S, &common);
    return L;
}

static void end(bool wide, cholmod_factor *L)
{
    if (wide) cholmod_l_free_factor(&L, &common);
    else cholmod_free_factor(&L, &common);
    if (wide) cholmod_l_finish(&common);
    else cholmod_finish(&common);
}

static void what_comes_in_is_the_matrix(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson2d:12x11", "poisson3d:6",
                                        "elasticity3d:3", "poisson2d:1"};
    static const int orders[] = {CHOLMOD_NATURAL, CHOLMOD_AMD, CHOLMOD_METIS};
    const size_t before = tct_memory_blocks();
    for (int i = 0; i < 24; i++) {
        const bool wide = i >= 12;
        const tacit_factor_options o = {
            .size = sizeof o, .leaves = 1 << i % 4, .width = i % 5 ? 0 : 7};
        tacit_matrix *m = gallery(names[i % 4]);
        tacit_factor *own = factor_of(m, 1), *F = NULL;
        begin(wide, CHOLMOD_SUPERNODAL, orders[i / 4 % 3]);
        cholmod_factor *L = factorize(m, wide, 0.0);
        OK(tacit_factor_import_cholmod(L, &o, &F));
        end(wide, L);
        const tacit_factor_panels P = view_of(F);
        OK(tacit_factor_check(&P));
        assert_int_equal(P.leaves, o.leaves);
        expect_closed(&P);
        assert_true(is_whole(&P));
        expect_product(m, &P, names[i % 4]);
        expect_same_solves(own, F, 3);
        tacit_factor_destroy(&F);
        tacit_factor_destroy(&own);
        tacit_matrix_destroy(&m);
    }
    assert_int_equal(tct_memory_blocks(), before);
}

static void larger_ones_solve_alike(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson2d9:60", "poisson3d:16",
                                        "elasticity3d:8"};
    for (int i = 0; i < 3; i++) {
        tacit_matrix *m = gallery(names[i]);
        tacit_factor *own = factor_of(m, 1), *F = NULL;
        begin(false, CHOLMOD_SUPERNODAL, CHOLMOD_METIS);
        cholmod_factor *L = factorize(m, false, 0.0);
        OK(tacit_factor_import_cholmod(L, NULL, &F));
        end(false, L);
        expect_same_solves(own, F, 1);
        expect_same_solves(own, F, 50);
        tacit_factor_destroy(&F);
        tacit_factor_destroy(&own);
        tacit_matrix_destroy(&m);
    }
}

static void other_factors_are_refused(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson2d:9");
    tacit_factor *F = NULL;
    begin(false, CHOLMOD_SIMPLICIAL, CHOLMOD_AMD);
    cholmod_factor *L = factorize(m, false, 0.0);
    REFUSES(TACIT_UNSUPPORTED, "must be supernodal",
            tacit_factor_import_cholmod(L, NULL, &F));
    end(false, L);
    begin(false, CHOLMOD_SUPERNODAL, CHOLMOD_NATURAL);
    L = factorize(m, false, -5.0);
    REFUSES(TACIT_INPUT, "ends at its column 0: the matrix is not positive",
            tacit_factor_import_cholmod(L, NULL, &F));
    end(false, L);
    assert_null(F);
    tacit_matrix_destroy(&m);
}
#else
static void what_comes_in_is_the_matrix(void **state)
{
    (void)state;
    print_message("skipped: this build is without CHOLMOD\n");
    skip();
}

static void larger_ones_solve_alike(void **state)
{
    what_comes_in_is_the_matrix(state);
}

static void other_factors_are_refused(void **state)
{
    (void)state;
    tacit_factor *F = NULL;
    assert_non_null(tacit_foreign_missing("cholmod"));
    REFUSES(TACIT_UNSUPPORTED, "-DTACIT_CHOLMOD=ON",
            tacit_factor_import_cholmod(NULL, NULL, &F));
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_in_is_the_matrix),
        cmocka_unit_test(larger_ones_solve_alike),
        cmocka_unit_test(other_factors_are_refused),
    };
    one_thread();
    TEST_GPU_MAIN(tests);
}
