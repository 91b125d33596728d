/* SPDX-License-Identifier: BSD-3-Clause
 * bench/factor_cholmod.c - CHOLMOD's supernodal factor in our order. */
#include "factor_measure.h"
#include <cholmod.h>

/* The lower triangle of A, by columns. */
static cholmod_sparse *lower_of(const tct_csr *A, cholmod_common *c)
{
    const size_t n = (size_t)A->rows, entries = (size_t)tct_csr_nonzeros(A);
    cholmod_sparse *S =
        cholmod_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, c);
    int *p = S->p, *row = S->i, count = 0;
    double *value = S->x;
    for (int64_t j = 0; j < A->rows; j++) {
        p[j] = count;
        for (int64_t k = A->ptr[j]; k < A->ptr[j + 1]; k++) {
            if (A->col32[k] < j) continue;
            row[count] = A->col32[k];
            value[count++] = A->val[k];
        }
    }
    p[n] = count;
    return S;
}

/* Into the same vectors each time, as who solves often does. */
static double time_solves(const tct_csr *A, cholmod_factor *L,
                          cholmod_common *c, int columns, double *residual)
{
    double *b = random_vectors(A->rows), taken[SOLVES];
    cholmod_dense *X = NULL, *Y = NULL, *E = NULL;
    cholmod_dense *B = cholmod_allocate_dense((size_t)A->rows, (size_t)columns,
                                              (size_t)A->rows, CHOLMOD_REAL, c);
    memcpy(B->x, b, (size_t)(A->rows * columns) * sizeof *b);
    for (int k = 0; k < SOLVES; k++) {
        const double from = cpu_seconds();
        cholmod_solve2(CHOLMOD_A, L, B, NULL, &X, NULL, &Y, &E, c);
        taken[k] = cpu_seconds() - from;
    }
    *residual = residual_of(A, b, X->x);
    cholmod_free_dense(&X, c);
    cholmod_free_dense(&Y, c);
    cholmod_free_dense(&E, c);
    cholmod_free_dense(&B, c);
    tct_free(b);
    return median_of(SOLVES, taken);
}

tacit_status measure_cholmod(const tacit_matrix *m, outcome *out)
{
    tct_nesting x = {.leaves = 0};
    cholmod_common c;
    TRY(own_order(m, &x));
    cholmod_start(&c);
    c.supernodal = CHOLMOD_SUPERNODAL;
    c.nmethods = 1;
    c.method[0].ordering = CHOLMOD_GIVEN;
    c.postorder = 0;
    cholmod_sparse *S = lower_of(&m->A, &c);
    const double before = resident_bytes(), start = cpu_seconds();
    cholmod_factor *L = cholmod_analyze_p(S, x.old, NULL, 0, &c);
    const double middle = cpu_seconds();
    cholmod_factorize(S, L, &c);
    out->figure[SYMBOLIC] = middle - start;
    out->figure[NUMERIC] = cpu_seconds() - middle;
    out->figure[PEAK] = most_bytes() - before;
    out->figure[KEPT] = resident_bytes() - before;
    out->rows = (double)m->A.rows;
    out->entries = c.lnz;
    out->pieces = (double)L->nsuper;
    out->flops = c.fl;
    for (int k = 0; k < 2; k++)
        out->figure[k ? SOLVE_MANY : SOLVE_ONE] =
            time_solves(&m->A, L, &c, k ? MANY : 1, &out->figure[RESIDUAL]);
    cholmod_free_factor(&L, &c);
    cholmod_free_sparse(&S, &c);
    cholmod_finish(&c);
    tct_nesting_clear(&x);
    return TACIT_OK;
}
