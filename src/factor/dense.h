/* SPDX-License-Identifier: BSD-3-Clause
 * factor/dense.h - what is done to panels: of column-major matrices, by the
 * BLAS and LAPACK that are found when they are asked for, or by own loops. */
#ifndef TCT_FACTOR_DENSE_H
#define TCT_FACTOR_DENSE_H
#include "base/base.h"

typedef struct tct_dense {
    const char *name;
    /* The lower triangle of A (n x n) becomes L, A = L L'. Returns 0, or the
     * number of the column, from 1, whose pivot is not positive; it stands
     * there. */
    int64_t (*factor)(int64_t n, double *A, int64_t lda);
    /* B (m x n) becomes B L'^-1, or, not `transposed`, B L^-1. */
    void (*solve)(bool transposed, int64_t m, int64_t n, const double *L,
                  int64_t ldl, double *B, int64_t ldb);
    /* The lower triangle of C (n x n) becomes beta C - A A', A of k columns. */
    void (*square)(int64_t n, int64_t k, const double *A, int64_t lda,
                   double beta, double *C, int64_t ldc);
    /* C (m x n) becomes beta C - A B', or, not `transposed`, beta C - A B, of k
     * terms. */
    void (*subtract)(bool transposed, int64_t m, int64_t n, int64_t k,
                     const double *A, int64_t lda, const double *B, int64_t ldb,
                     double beta, double *C, int64_t ldc);
    /* Until `end` it has no more than `threads`, of the process; threads of
     * ours may begin and end side by side. */
    void (*begin)(int threads);
    void (*end)(void);
} tct_dense;

/* The one to use where `threads` call at once, or its own are as many, NULL
 * `why`: LAPACK's; otherwise own, and why not LAPACK's, until this thread asks
 * again. */
const tct_dense *tct_dense_get(int threads, const char **why);
/* Own loops, always there. */
extern const tct_dense tct_dense_own;

#endif
