/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/parts.h - a solver of factors on a GPU: what its files
 * share. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_PARTS_H
#define TCT_TRISOLVE_GPU_KERNELS_PARTS_H
#include "trisolve/gpu/kernels/solve.h"
#include "trisolve/gpu/solver.h"

/* Of one cut, on the device. */
typedef struct tct_solver_task_queue {
    tct_task *task;
    uint32_t *due;
    uint64_t *counter;
    tct_task_queue *queue;
    int blocks;
} tct_solver_task_queue;

struct tct_swaps;
struct tct_distribution_gpu;

struct tacit_factor_solver {
    tacit_queue *q;
    tct_tri_plan plan; /* without its large arrays, once they are there */
    tct_tri_arrays a;
    tct_solver_task_queue cut[TCT_CUTS];
    double seconds;           /* of a wait, at most                          */
    int columns;              /* at once                                     */
    int64_t all_rows;         /* of B and X                                  */
    struct tct_swaps *shared; /* with other ranks; NULL: nothing is          */
    struct tct_distribution_gpu
        *spread; /* over the ranks of a grid; NULL: it has one */
    tacit_factor_solver_info info;
};

static inline int tct_solver_cut(int columns)
{
    return columns == 1 ? TCT_FOR_ONE : TCT_FOR_MANY;
}

/* --- solver.c ------------------------------------------------------------- */

/* The job of a launch of these passes: all tasks of them, and those between if
 * there are both. */
tct_tri_job tct_solver_job(const tacit_factor_solver *S, unsigned passes,
                           int columns, const double *B, size_t ldb, double *X,
                           size_t ldx);
/* The panel of which task `k` of cut `c` is; of a swap that of the root. */
int32_t tct_solver_panel(const tacit_factor_solver *S, int c, int32_t k);
tacit_status tct_solver_launch(const tacit_factor_solver *S,
                               const tct_tri_job *job);

/* --- shared.c ------------------------------------------------------------- */

/* Before the plan goes to the device: whether kernels swap, and where to; in
 * grids of `each` ranks.
 * Collective.  Errors as tct_factor_solver_share. */
tacit_status tct_shared_open(tacit_factor_solver *S,
                             const tct_shared_rows *rows, int each);
/* Once its tasks are there: what they need besides. Collective. */
tacit_status tct_shared_make(tacit_factor_solver *S);
void tct_shared_close(tacit_factor_solver *S);
/* One launch, or a pass, messages and the other pass. */
tacit_status tct_shared_solve(tacit_factor_solver *S, int columns,
                              const double *B, size_t ldb, double *X,
                              size_t ldx);
/* What a wait in vain for another rank was for: fails with that. */
tacit_status tct_shared_tell(const tacit_factor_solver *S, uint64_t missing);

/* --- spread.c ------------------------------------------------------------- */

/* Spreads the plan, with its swaps of the `rows`, over the px py ranks of each
 * grid.
 * Collective.  Errors as tct_factor_solver_share. */
tacit_status tct_distribution_open(tacit_factor_solver *S,
                                   const tct_shared_rows *rows, int px, int py);
/* Once the plan is on the device: memory that others reach, and where theirs
 * is. Collective. */
tacit_status tct_distribution_make(tacit_factor_solver *S);
void tct_distribution_close(tacit_factor_solver *S);
/* What was made, with messages so far. */
tacit_status tct_distribution_describe(const tacit_factor_solver *S,
                                       tct_shared_info *out);
tacit_status tct_distribution_run(const tacit_factor_solver *S,
                                  const tct_tri_job *job);
/* Which task of cut `c` has waited in vain, and for whom: fails with that. */
tacit_status tct_distribution_signal(const tacit_factor_solver *S, int c,
                                     const tct_task_queue *T);

#endif
