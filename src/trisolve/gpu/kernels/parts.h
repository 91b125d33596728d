/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/parts.h - a GPU solver of factors: declarations shared
 * by its files. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_PARTS_H
#define TCT_TRISOLVE_GPU_KERNELS_PARTS_H
#include "trisolve/gpu/kernels/solve.h"
#include "trisolve/gpu/solver.h"

/* The task queue of one cut, on the device. */
typedef struct tct_solver_task_queue {
    tct_task *task;
    uint32_t *due;
    uint64_t *counter;
    tct_task_queue *queue;
    int blocks;
} tct_solver_task_queue;

struct tct_doublings;
struct tct_distribution_gpu;

struct tacit_factor_solver {
    tacit_queue *q;
    tct_tri_plan plan; /* its large arrays are freed after the upload */
    tct_tri_arrays a;
    tct_solver_task_queue cut[TCT_CUTS];
    double seconds;   /* limit of a wait */
    int columns;      /* right-hand sides at once */
    int64_t all_rows; /* of B and X                                  */
    int32_t *from;    /* [plan.rows] row of B, if rows are permuted; NULL     */
    double *given;    /* [columns all_rows] B in the order of X               */
    struct tct_doublings *shared; /* recursive doubling; NULL: one rank */
    struct tct_distribution_gpu
        *spread; /* distribution over a grid; NULL: one GPU */
    tacit_factor_solver_info info;
};

static inline int tct_solver_cut(int columns)
{
    return columns == 1 ? TCT_FOR_ONE : TCT_FOR_MANY;
}

/* --- launch.c ------------------------------------------------------------- */

/* The job of one launch: all tasks of `passes`, and those between if both are
 * set. */
tct_tri_job tct_solver_job(const tacit_factor_solver *S, unsigned passes,
                           int columns, const double *B, size_t ldb, double *X,
                           size_t ldx);
/* The panel of task `k` of cut `c`; for recursive doubling, the root's. */
int32_t tct_solver_panel(const tacit_factor_solver *S, int c, int32_t k);
tacit_status tct_solver_launch(const tacit_factor_solver *S,
                               const tct_tri_job *job);

/* --- permuted.c ----------------------------------------------------------- */

/* Upload the scales of `P`, by numbers of vectors; if its rows are permuted,
 * also where b of row k is: from[k], by default its original row. */
tacit_status tct_solver_send_permuted(tacit_factor_solver *S,
                                      const tacit_factor_panels *P,
                                      const int32_t *place,
                                      const int32_t *from);
/* Replace `*B` by its columns in the order of X, if rows are permuted. */
tacit_status tct_solver_gather(const tacit_factor_solver *S, int columns,
                               const double **B, size_t *ldb);

/* --- shared.c ------------------------------------------------------------- */

/* Before the plan is uploaded: choose whether the kernel or messages do
 * recursive doubling; grids have `each` ranks.
 * Collective.  Errors as tct_factor_solver_share. */
tacit_status tct_shared_open(tacit_factor_solver *S,
                             const tct_shared_rows *rows, int each);
/* After the upload of tasks: allocate windows or exchanges. Collective. */
tacit_status tct_shared_make(tacit_factor_solver *S);
void tct_shared_close(tacit_factor_solver *S);
/* One launch; or pass down, messages, pass up. */
tacit_status tct_shared_solve(tacit_factor_solver *S, int columns,
                              const double *B, size_t ldb, double *X,
                              size_t ldx);
/* Fail with the exchange that a rank timed out in. */
tacit_status tct_shared_tell(const tacit_factor_solver *S, uint64_t missing);

/* --- distribute.c --------------------------------------------------------- */

/* Distribute the plan, with recursive doubling of `rows`, over the px py ranks
 * of each grid.
 * Collective.  Errors as tct_factor_solver_share. */
tacit_status tct_distribution_open(tacit_factor_solver *S,
                                   const tct_shared_rows *rows, int px, int py);
/* After the upload: allocate the window and map those of the other processes.
 * Collective. */
tacit_status tct_distribution_make(tacit_factor_solver *S);
void tct_distribution_close(tacit_factor_solver *S);
/* Message counts, planned and so far. */
tacit_status tct_distribution_describe(const tacit_factor_solver *S,
                                       tct_shared_info *out);
tacit_status tct_distribution_run(const tacit_factor_solver *S,
                                  const tct_tri_job *job);
/* Fail with the task of cut `c` that timed out and the process it waited
 * for. */
tacit_status tct_distribution_signal(const tacit_factor_solver *S, int c,
                                     const tct_task_queue *T);

#endif
