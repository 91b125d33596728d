/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor/one_column.h - what a solve of one right-hand side does to a panel. */
#ifndef TCT_ONE_COLUMN_H
#define TCT_ONE_COLUMN_H
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

/* X = L^-1 X and X = L'^-1 X, as far as they are of `p`; `t` [h - w] is scratch. */
typedef struct tct_sweep {
    void (*down)(const tct_sweep_panel *p, double *X, double *t);
    void (*up)(const tct_sweep_panel *p, double *X, double *t);
} tct_sweep;
extern const tct_sweep tct_sweep_base, tct_sweep_avx2, tct_sweep_avx512;

#endif
