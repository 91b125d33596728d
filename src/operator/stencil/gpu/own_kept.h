/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_kept.h - which grids of three dimensions way cached
 * has on a GPU, and their tiles (own_kept.cuh). */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_KEPT_H
#define TCT_OPERATOR_STENCIL_GPU_OWN_KEPT_H
#include "device/gpu/gpu.h"
#include "operator/stencil/gpu/own_job.h"

/* Tiles, the rows that each has in shared memory at most, and its bytes. */
typedef struct tct_kept_plan {
    tct_own_tiles tiles;
    int rows;
    size_t shared;
} tct_kept_plan;

/* Is there a kernel for blocks of n[d] cells at most? */
bool tct_kept_fits(const tacit_queue *q, const tct_own_kernels *k,
                   const int64_t n[3], const tct_step_work *w, int depth);

/* Errors      UNSUPPORTED (a reason that tct_kept_fits has), NO_MEMORY. */
tacit_status tct_kept_choose(const tacit_queue *q, const tct_own_kernels *k,
                             const tct_grid_block *b, const tct_step_work *w,
                             int depth, tct_kept_plan *out);

/* Cells of a step that go to memory or come from it alone: rows that are not
 * kept, and those at the edges of tiles. */
double tct_kept_moved(const tct_own_tiles *t, int rows);
/* The share of all cells that stays. */
double tct_kept_share(const tct_own_tiles *t, int rows);

#endif
