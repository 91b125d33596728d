/* SPDX-License-Identifier: BSD-3-Clause
 * factor/one_column.h - a panel applied to one right-hand side. */
#ifndef TCT_FACTOR_ONE_COLUMN_H
#define TCT_FACTOR_ONE_COLUMN_H
#include <stdbool.h>
#include <stdint.h>

/* A panel, for both directions. */
typedef struct tct_sweep_panel {
    int64_t w, h;        /* columns, rows                      */
    const double *value; /* [h w]                              */
    const int32_t *row;  /* [h - w] below its columns          */
    int64_t first;       /* column                             */
    bool dense;          /* its rows below are contiguous      */
} tct_sweep_panel;

/* Column-major matrices with leading dimension `lda`. */
typedef struct tct_one_column {
    /* Apply the part of `p` to X in L^-1 X and L'^-1 X; `t` [h - w] is
     * scratch. */
    void (*down)(const tct_sweep_panel *p, double *X, double *t);
    void (*up)(const tct_sweep_panel *p, double *X, double *t);
    /* x = L^-1 x and x = L'^-1 x of L (n x n) */
    void (*solve)(bool transposed, int64_t n, const double *L, int64_t ldl,
                  double *x);
    /* y = y - A x, and y = -A x, of A (m x n) */
    void (*subtract)(int64_t m, int64_t n, const double *A, int64_t lda,
                     const double *x, double *y);
    void (*multiply)(int64_t m, int64_t n, const double *A, int64_t lda,
                     const double *x, double *y);
    /* y = y - A' x of A (m x n) */
    void (*multiply_transposed)(int64_t m, int64_t n, const double *A,
                                int64_t lda, const double *x, double *y);
} tct_one_column;

/* The variant for the processor's best instruction set. */
const tct_one_column *tct_one_column_best(void);
extern const tct_one_column tct_one_column_base, tct_one_column_avx2,
    tct_one_column_avx512;

#endif
