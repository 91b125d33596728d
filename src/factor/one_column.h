/* SPDX-License-Identifier: BSD-3-Clause
 * factor/one_column.h - what a solve of one right-hand side does to a panel. */
#ifndef TCT_FACTOR_ONE_COLUMN_H
#define TCT_FACTOR_ONE_COLUMN_H
#include <stdbool.h>
#include <stdint.h>

/* A panel as both directions see it. */
typedef struct tct_sweep_panel {
    int64_t w, h;        /* columns, rows                      */
    const double *value; /* [h w]                              */
    const int32_t *row;  /* [h - w] below its columns          */
    int64_t first;       /* column                             */
    bool dense;          /* its rows below follow one another  */
} tct_sweep_panel;

/* Matrices are column-major, `lda` from one column to the next. */
typedef struct tct_one_column {
    /* X = L^-1 X and X = L'^-1 X, as far as they are of `p`; `t` [h - w] is
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

/* That of the best instruction set that the processor has. */
const tct_one_column *tct_one_column_best(void);
extern const tct_one_column tct_one_column_base, tct_one_column_avx2,
    tct_one_column_avx512;

#endif
