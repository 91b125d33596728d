/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/trsv.h - what the parts of a solve on a grid share. */
#ifndef TCT_TRISOLVE_GRID_TRSV_H
#define TCT_TRISOLVE_GRID_TRSV_H
#include "comm/active/active.h"
#include "factor/dense.h"
#include "factor/one_column.h"
#include "trisolve/grid/distribute_factor.h"
#include "trisolve/grid/plan.h"

/* Of a sweep: where a rank keeps what it has of L and U. Entry j of its columns
 * has rows[j + 1] - rows[j] rows below, by columns, of L, and in the same way
 * of U', if that is not L; of those that it owns the diagonal block, w x w,
 * too. */
typedef struct tct_holding {
    int64_t *below_at; /* [col.count]     */
    int64_t *diagonal; /* [col.count] -1: not its own */
    double *value, *upper;
    int64_t values;
    /* Messages, [0] of L, [1] of U, by side: doubles of the post's room. */
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
    double *v;            /* [columns own_width] b, y, x of what it owns */
    double *D;            /* [own_width] of LDLT; NULL */
    int64_t *original;    /* [own_width] rows */
    double *row_scale, *col_scale; /* [own_width]; NULL */
    int64_t *row;                  /* [rows] those that it reads and writes */
    int64_t rows;
    int64_t between[TCT_TRSV_TAGS]; /* room of what goes between grids */
    int32_t *left, *ready;          /* [the most entries of a side] */
    double *scratch;
    double bytes;
    double seconds[TCT_TRSV_PHASES];
    tct_active *active;
    const tct_dense *dense;    /* of several columns ... */
    const tct_one_column *one; /* ... and of one         */
    struct tct_trsv_gpu *gpu; /* has what solves; NULL: the host does, with what
                                 is from `holding` on */
};

/* --- sweep.c -------------------------------------------------------------- */

/* One round, of c columns: all steps, from b in T->v to x in it. */
tacit_status tct_trsv_round(tacit_trsv *T, int64_t c);

/* --- on_gpu.c ------------------------------------------------------------- */

/* With the factor `d` on the GPUs of `q`; `extent` as tct_grid_of.
 * Collective.  Errors as tacit_trsv_create. */
tacit_status tct_trsv_gpu_open(tacit_trsv *T, tacit_queue *q,
                               const tct_factor_distribution *d,
                               const int extent[3]);
void tct_trsv_gpu_close(tacit_trsv *T);
tacit_status tct_trsv_gpu_solve(tacit_trsv *T, int columns, const double *B,
                                size_t ldb, double *X, size_t ldx);
tacit_status tct_trsv_gpu_wait(tacit_trsv *T);
/* What is other than on the host. */
void tct_trsv_gpu_describe(const tacit_trsv *T, tacit_trsv_info *info);

/* --- trsv.c --------------------------------------------------------------- */

/* As tacit_trsv_solve; `split`: B of a panel is what each grid has of it says,
 * to be added up, not what the first of these says. */
tacit_status tct_trsv_solve(tacit_trsv *T, int columns, const double *B,
                            size_t ldb, double *X, size_t ldx, bool split);

#endif
