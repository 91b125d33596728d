/* SPDX-License-Identifier: BSD-3-Clause
 * factor/dense.h - dense operations on column-major panels, by a BLAS and
 * LAPACK loaded at run time or by own loops. */
#ifndef TCT_FACTOR_DENSE_H
#define TCT_FACTOR_DENSE_H
#include "base/base.h"

typedef struct tct_dense {
    const char *name;
    /* Cholesky: the lower triangle of A (n x n) becomes L. Returns 0, or the
     * column, from 1, of a pivot that is not positive; the pivot stays in
     * place. */
    int64_t (*factor)(int64_t n, double *A, int64_t lda);
    /* B (m x n) becomes B L'^-1, or B L^-1 if not `transposed`. */
    void (*solve)(bool transposed, int64_t m, int64_t n, const double *L,
                  int64_t ldl, double *B, int64_t ldb);
    /* The lower triangle of C (n x n) becomes beta C - A A', A of k columns. */
    void (*square)(int64_t n, int64_t k, const double *A, int64_t lda,
                   double beta, double *C, int64_t ldc);
    /* C (m x n) becomes beta C - A B', or beta C - A B if not `transposed`,
     * with k terms. */
    void (*subtract)(bool transposed, int64_t m, int64_t n, int64_t k,
                     const double *A, int64_t lda, const double *B, int64_t ldb,
                     double beta, double *C, int64_t ldc);
    /* Limit the process to `threads` BLAS threads until `end`; threads of the
     * factor may call both concurrently. */
    void (*begin)(int threads);
    void (*end)(void);
} tct_dense;

/* The kernels for `threads` concurrent callers or BLAS threads. `why` NULL:
 * LAPACK; else own loops, and `why` says why LAPACK is not used, valid until
 * the next call of this thread. */
const tct_dense *tct_dense_get(int threads, const char **why);
/* Own loops, always available. */
extern const tct_dense tct_dense_own;

#endif
