/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/trsv.h - triangular solves on a grid: declarations shared by
 * their files. */
#ifndef TCT_TRISOLVE_GRID_TRSV_H
#define TCT_TRISOLVE_GRID_TRSV_H
#include "comm/active/active.h"
#include "factor/dense.h"
#include "factor/one_column.h"
#include "trisolve/grid/distribute_factor.h"
#include "trisolve/grid/plan.h"

/* A rank's values of L, and of U' unless that is L, for a sweep. Column entry j
 * has rows[j + 1] - rows[j] rows below the diagonal, stored by columns, and if
 * own the diagonal block, w x w. */
typedef struct tct_holding {
    int64_t *below_at; /* [col.count]     */
    int64_t *diagonal; /* [col.count] -1: not own */
    double *value, *upper;
    int64_t values;
    /* Offsets of messages in the room of active messages, [0] for L, [1] for
     * U */
    int64_t col_at[2], row_at[2];
} tct_holding;

struct tacit_trsv {
    tacit_world *world;
    tct_trsv_plan plan;
    tct_message_count message_count;
    tacit_trsv_scheme scheme;
    tacit_trsv_map map;
    int64_t all_rows; /* of the factor */
    int32_t panels, depth;
    int columns;          /* at once, at most */
    tct_holding *holding; /* [plan.sweeps]    */
    double *v;            /* [columns own_width] b, y, x of own panels */
    double *D;            /* [own_width] of LDLT; NULL */
    double *off_diagonal; /* [own_width] of its blocks of 2 x 2; NULL */
    int64_t *original;    /* [own_width] rows */
    int64_t *given;       /* [own_width] ... of b; `original` or own */
    double *row_scale, *col_scale; /* [own_width]; NULL */
    int64_t *row;                  /* [rows] original rows that it reads and
                                    * writes */
    int64_t rows;
    int64_t between[TCT_TRSV_TAGS]; /* offsets of messages between grids */
    int32_t *left, *ready;          /* [entries of the longest side] */
    double *scratch;
    double bytes;
    double seconds[TCT_TRSV_PHASES];
    tct_active *active;
    const tct_dense *dense;    /* for several columns ... */
    const tct_one_column *one; /* ... and for one */
    struct tct_trsv_gpu *gpu;  /* solver on a GPU; NULL: the host solves, with
                               * `holding` and what follows */
};

/* --- sweep.c -------------------------------------------------------------- */

/* Solve for c columns: from b to x in T->v. */
tacit_status tct_trsv_round(tacit_trsv *T, int64_t c);

/* --- on_gpu.c ------------------------------------------------------------- */

/* Open with the factor `d` on the GPUs of `q`; `extent` as tct_grid_for.
 * Collective.  Errors as tacit_trsv_create. */
tacit_status tct_trsv_gpu_open(tacit_trsv *T, tacit_queue *q,
                               const tct_factor_distribution *d,
                               const int extent[3]);
void tct_trsv_gpu_close(tacit_trsv *T);
tacit_status tct_trsv_gpu_solve(tacit_trsv *T, int columns, const double *B,
                                size_t ldb, double *X, size_t ldx);
tacit_status tct_trsv_gpu_wait(tacit_trsv *T);
/* Overwrite the members that differ from those of the host. */
void tct_trsv_gpu_describe(const tacit_trsv *T, tacit_trsv_info *info);

/* --- trsv.c --------------------------------------------------------------- */

/* As tacit_trsv_solve. With `split`, the b of a shared panel is the sum of all
 * grids' b; otherwise that of its first grid. */
tacit_status tct_trsv_solve(tacit_trsv *T, int columns, const double *B,
                            size_t ldb, double *X, size_t ldx, bool split);

#endif
