/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_superlu_dist.c - SuperLU_DIST's factors: L U is the matrix, scaled
 * or not, and they solve as SuperLU_DIST and the library's own; builds without
 * it refuse them with a reason.
 *
 * DEVICE: each */
#include "foreign.h"
#if TCT_HAVE_SUPERLU_DIST
#include <superlu_ddefs.h>

/* MPI that was started without mpirun keeps memory in modules that are no
 * longer there at the end; what is ours is counted. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* What it makes of a matrix, and its solution for b = 1, 2, 3, ... */
typedef struct {
    gridinfo_t grid;
    dLUstruct_t LU;
    dScalePermstruct_t P;
    int n;
    double *x;
} theirs;

static void factor_theirs(const tacit_matrix *m, colperm_t order, bool equil,
                          theirs *t)
{
    tacit_rows r;
    superlu_dist_options_t options;
    SuperMatrix A;
    SuperLUStat_t stat;
    dSOLVEstruct_t solve;
    double backward = 1.0;
    int info = 0, launched = 0;
    MPI_Initialized(&launched);
    if (!launched) MPI_Init(NULL, NULL);
    OK(tacit_matrix_view_rows(m, &r));
    const int n = t->n = (int)r.count, entries = (int)r.ptr[n];
    int_t *ptr = intMalloc_dist(n + 1), *col = intMalloc_dist(entries);
    double *value = doubleMalloc_dist(entries);
    for (int i = 0; i <= n; i++) ptr[i] = (int_t)r.ptr[i];
    for (int k = 0; k < entries; k++) col[k] = r.cols32[k];
    for (int k = 0; k < entries; k++) value[k] = r.vals[k];
    t->x = tct_alloc((size_t)n * sizeof *t->x);
    for (int i = 0; i < n; i++) t->x[i] = i + 1.0;
    superlu_gridinit(MPI_COMM_WORLD, 1, 1, &t->grid);
    dCreate_CompRowLoc_Matrix_dist(&A, n, n, entries, n, 0, value, col, ptr,
                                   SLU_NR_loc, SLU_D, SLU_GE);
    set_default_options_dist(&options);
    options.RowPerm = NOROWPERM;
    options.ColPerm = order;
    options.Equil = equil ? YES : NO;
    options.PrintStat = NO;
    dScalePermstructInit(n, n, &t->P);
    dLUstructInit(n, &t->LU);
    PStatInit(&stat);
    pdgssvx(&options, &A, &t->P, t->x, n, 1, &t->grid, &t->LU, &solve,
            &backward, &stat, &info);
    assert_int_equal(info, 0);
    PStatFree(&stat);
    dSolveFinalize(&options, &solve);
    Destroy_CompRowLoc_Matrix_dist(&A);
}

static void discard_theirs(theirs *t)
{
    dScalePermstructFree(&t->P);
    dDestroy_LU(t->n, &t->grid, &t->LU);
    dLUstructFree(&t->LU);
    superlu_gridexit(&t->grid);
    tct_free(t->x);
}

static void expect_their_solution(const tacit_factor *F, const theirs *t)
{
    const size_t n = (size_t)t->n;
    double *x = tct_alloc(n * sizeof *x), most = 0.0, off = 0.0;
    for (size_t i = 0; i < n; i++) x[i] = (double)i + 1.0;
    solve_there(F, 1, x, x);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(t->x[i]));
        off = fmax(off, fabs(x[i] - t->x[i]));
    }
    if (!(off <= 1e-10 * most)) fail_msg("x differs by %g of %g", off, most);
    tct_free(x);
}

/* A grid whose entries differ across the diagonal, with rows and columns of
 * widely different sizes, and some entries on one side alone. */
static tacit_matrix *lopsided(int side, double spread)
{
    const int64_t n = side * side;
    int64_t *ptr = tct_alloc((size_t)(n + 1) * sizeof *ptr), count = 0;
    int64_t *cols = tct_alloc((size_t)(5 * n) * sizeof *cols);
    double *vals = tct_alloc((size_t)(5 * n) * sizeof *vals);
    tacit_matrix *m = NULL;
    ptr[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t near[] = {i - side, i % side ? i - 1 : -1, i,
                                i % side < side - 1 ? i + 1 : n, i + side};
        const double r = pow(spread, tct_uniform((uint64_t)i, 1) - 0.5);
        for (int k = 0; k < 5; k++) {
            const int64_t j = near[k];
            if (j < 0 || j >= n || (k == 4 && i % 3 == 0)) continue;
            const double c = pow(spread, tct_uniform((uint64_t)j, 2) - 0.5);
            cols[count] = j;
            vals[count++] =
                r * c * (j == i ? 5.0 : -tct_uniform((uint64_t)(i * n + j), 3));
        }
        ptr[i + 1] = count;
    }
    OK(tacit_matrix_from_rows(test_world(), n, 0, n, ptr, cols, vals, &m));
    TCT_FREE(ptr, cols, vals);
    return m;
}

static void take_and_compare(const tacit_matrix *m, const char *name, int i,
                             bool symmetric)
{
    static const colperm_t orders[] = {NATURAL, MMD_AT_PLUS_A, METIS_AT_PLUS_A};
    const tacit_factor_options o = {
        .size = sizeof o, .leaves = 1 << i % 4, .width = i % 2 ? 5 : 0};
    theirs t = {.n = 0};
    tacit_factor *F = NULL;
    factor_theirs(m, orders[i % 3], i >= 3, &t);
    OK(tacit_factor_import_superlu_dist(t.n, &t.LU, &t.P, &t.grid, &o, &F));
    const tacit_factor_panels P = view_of(F);
    assert_int_equal(P.kind, TACIT_FACTOR_LU);
    assert_int_equal(P.leaves, o.leaves);
    OK(tacit_factor_check(&P));
    expect_closed(&P);
    assert_true(is_whole(&P));
    expect_product(m, &P, name);
    expect_their_solution(F, &t);
    if (symmetric) {
        tacit_factor *own = factor_of(m, 1);
        expect_same_solves(own, F, 3);
        tacit_factor_destroy(&own);
    }
    tacit_factor_destroy(&F);
    discard_theirs(&t);
}

static void what_comes_in_is_the_matrix(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson2d:13x11", "poisson3d:6",
                                        "elasticity3d:3", "poisson2d:1"};
    for (int i = 0; i < 12; i++) {
        tacit_matrix *m = gallery(names[i % 4]);
        take_and_compare(m, names[i % 4], i / 2, true);
        tacit_matrix_destroy(&m);
    }
}

static void matrices_that_are_not_symmetric_are_too(void **state)
{
    (void)state;
    const size_t before = tct_memory_blocks();
    for (int i = 0; i < 6; i++) {
        tacit_matrix *m = lopsided(9 + i, i % 2 ? 1e6 : 1.0);
        take_and_compare(m, "lopsided", i, false);
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
        theirs t = {.n = 0};
        factor_theirs(m, METIS_AT_PLUS_A, true, &t);
        OK(tacit_factor_import_superlu_dist(t.n, &t.LU, &t.P, &t.grid, NULL,
                                            &F));
        expect_their_solution(F, &t);
        expect_same_solves(own, F, 50);
        tacit_factor_destroy(&F);
        tacit_factor_destroy(&own);
        discard_theirs(&t);
        tacit_matrix_destroy(&m);
    }
}

static void other_factors_are_refused(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson2d:5");
    theirs t = {.n = 0};
    tacit_factor *F = NULL;
    factor_theirs(m, NATURAL, false, &t);
    t.grid.npcol = 2;
    REFUSES(
        TACIT_UNSUPPORTED, "on a grid of one process, this one is on 1 x 2",
        tacit_factor_import_superlu_dist(t.n, &t.LU, &t.P, &t.grid, NULL, &F));
    t.grid.npcol = 1;
    t.P.perm_r[3] = 4;
    t.P.perm_r[4] = 3;
    REFUSES(
        TACIT_UNSUPPORTED, "row 3 to 4, while columns stayed",
        tacit_factor_import_superlu_dist(t.n, &t.LU, &t.P, &t.grid, NULL, &F));
    assert_null(F);
    discard_theirs(&t);
    tacit_matrix_destroy(&m);
}
#else
static void what_comes_in_is_the_matrix(void **state)
{
    (void)state;
    print_message("skipped: this build is without SuperLU_DIST\n");
    skip();
}

static void matrices_that_are_not_symmetric_are_too(void **state)
{
    what_comes_in_is_the_matrix(state);
}

static void larger_ones_solve_alike(void **state)
{
    what_comes_in_is_the_matrix(state);
}

static void other_factors_are_refused(void **state)
{
    (void)state;
    tacit_factor *F = NULL;
    assert_non_null(tacit_foreign_missing("superlu_dist"));
    REFUSES(TACIT_UNSUPPORTED, "-DTACIT_SUPERLU_DIST=ON",
            tacit_factor_import_superlu_dist(0, NULL, NULL, NULL, NULL, &F));
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_in_is_the_matrix),
        cmocka_unit_test(matrices_that_are_not_symmetric_are_too),
        cmocka_unit_test(larger_ones_solve_alike),
        cmocka_unit_test(other_factors_are_refused),
    };
    one_thread();
    TEST_GPU_MAIN(tests);
}
