/* SPDX-License-Identifier: BSD-3-Clause
 * bench/factor_superlu.c - SuperLU_DIST's factors in our order, which it
 * post-orders once more, on one process. */
#include "factor_measure.h"
#include <superlu_ddefs.h>

typedef struct {
    gridinfo_t grid;
    superlu_dist_options_t options;
    SuperMatrix A;
    SuperLUStat_t stat;
    dScalePermstruct_t P;
    dLUstruct_t LU;
    dSOLVEstruct_t solve;
} theirs;

static void open_theirs(const tct_csr *A, const int32_t *old, bool inverse,
                        theirs *t)
{
    const int_t n = (int_t)A->rows, entries = (int_t)A->ptr[n];
    int_t *ptr = intMalloc_dist(n + 1), *col = intMalloc_dist(entries);
    double *value = doubleMalloc_dist(entries);
    for (int_t i = 0; i <= n; i++) ptr[i] = (int_t)A->ptr[i];
    for (int_t k = 0; k < entries; k++) col[k] = A->col32[k];
    memcpy(value, A->val, (size_t)entries * sizeof *value);
    superlu_gridinit(MPI_COMM_WORLD, 1, 1, &t->grid);
    dCreate_CompRowLoc_Matrix_dist(&t->A, n, n, entries, n, 0, value, col, ptr,
                                   SLU_NR_loc, SLU_D, SLU_GE);
    set_default_options_dist(&t->options);
    t->options.RowPerm = NOROWPERM;
    t->options.ColPerm = MY_PERMC;
    t->options.Equil = NO;
    t->options.IterRefine = NOREFINE;
    t->options.DiagInv = inverse ? YES : NO;
    t->options.PrintStat = NO;
    dScalePermstructInit(n, n, &t->P);
    for (int_t k = 0; k < n; k++) t->P.perm_c[old[k]] = k;
    dLUstructInit(n, &t->LU);
    PStatInit(&t->stat);
}

static void close_theirs(theirs *t)
{
    PStatFree(&t->stat);
    dSolveFinalize(&t->options, &t->solve);
    dDestroy_LU((int_t)t->A.nrow, &t->grid, &t->LU);
    Destroy_CompRowLoc_Matrix_dist(&t->A);
    dScalePermstructFree(&t->P);
    dLUstructFree(&t->LU);
    superlu_gridexit(&t->grid);
}

/* Its driver, for `columns` of b, which becomes x. */
static tacit_status drive(theirs *t, double *b, int columns)
{
    double backward[MANY];
    int info = 0;
    pdgssvx(&t->options, &t->A, &t->P, b, (int)t->A.nrow, columns, &t->grid,
            &t->LU, &t->solve, backward, &t->stat, &info);
    if (info) FAIL(TACIT_INPUT, "pdgssvx ends with %d", info);
    return TACIT_OK;
}

static tacit_status time_solves(const tct_csr *A, theirs *t, int columns,
                                outcome *out)
{
    const size_t bytes = (size_t)(A->rows * columns) * sizeof(double);
    double *b = random_vectors(A->rows), *x = random_vectors(A->rows);
    double taken[SOLVES];
    for (int k = 0; k < SOLVES; k++) {
        memcpy(x, b, bytes);
        const double from = cpu_seconds();
        TRY(drive(t, x, columns));
        taken[k] = cpu_seconds() - from;
    }
    out->figure[columns == 1 ? SOLVE_ONE : SOLVE_MANY] =
        median_of(SOLVES, taken);
    out->figure[RESIDUAL] = residual_of(A, b, x);
    TCT_FREE(b, x);
    return TACIT_OK;
}

/* Factoring is one call with the first solve, which sets up others, too; that
 * of one column is left in what the factor takes. */
static tacit_status measure(const tacit_matrix *m, theirs *t, outcome *out)
{
    double *b = random_vectors(m->A.rows);
    superlu_dist_mem_usage_t use;
    const double before = resident_bytes(), start = cpu_seconds();
    TRY(drive(t, b, 1));
    out->figure[NUMERIC] = cpu_seconds() - start;
    out->figure[PEAK] = most_bytes() - before;
    out->figure[KEPT] = resident_bytes() - before;
    dQuerySpace_dist((int_t)m->A.rows, &t->LU, &t->grid, &t->stat, &use);
    out->rows = (double)m->A.rows;
    out->entries = use.for_lu / 8.0;
    out->pieces = t->LU.Glu_persist->supno[m->A.rows - 1] + 1.0;
    out->flops = t->stat.ops[FACT];
    tct_free(b);
    t->options.Fact = FACTORED;
    TRY(time_solves(&m->A, t, 1, out));
    return time_solves(&m->A, t, MANY, out);
}

tacit_status measure_superlu_dist(const tacit_matrix *m, bool inverse,
                                  outcome *out)
{
    theirs t;
    tct_nesting x = {.leaves = 0};
    MPI_Init(NULL, NULL);
    TRY(own_order(m, &x));
    open_theirs(&m->A, x.old, inverse, &t);
    tct_nesting_clear(&x);
    const tacit_status status = measure(m, &t, out);
    close_theirs(&t);
    MPI_Finalize();
    return status;
}
