/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/launch.c - one launch of a GPU solver of factors, and the
 * panels of its tasks. */
#include "trisolve/gpu/kernels/parts.h"

tct_tri_job tct_solver_job(const tacit_factor_solver *S, unsigned passes,
                           int columns, const double *B, size_t ldb, double *X,
                           size_t ldx)
{
    const int c = tct_solver_cut(columns);
    const int32_t down = S->plan.cut[c].down + S->plan.cut[c].between;
    const tct_solver_task_queue *t = &S->cut[c];
    const tct_cut *cut = &S->plan.cut[c];
    tct_tri_job job = {.a = S->a,
                       .B = B,
                       .X = X,
                       .ldb = (int64_t)ldb,
                       .ldx = (int64_t)ldx,
                       .columns = columns,
                       .down = cut->down,
                       .between = cut->between,
                       .together = tct_counts_together(S->plan.nodes, 0)};
    if (!job.a.upper) job.a.upper = job.a.value;
    job.round = (tct_round){.queue = t->queue,
                            .task = t->task,
                            .counter = t->counter,
                            .due = t->due,
                            .upper = tct_counts_up(S->plan.nodes, 0),
                            .begin = passes & TCT_DOWN ? 0 : down,
                            .end = down + (passes & TCT_UP ? cut->up : 0),
                            .passes = passes,
                            .limit_ns = (uint64_t)(1e9 * S->seconds)};
    return job;
}

tacit_status tct_solver_launch(const tacit_factor_solver *S,
                               const tct_tri_job *job)
{
    return tct_gpu_status(
        tct_tri_launch(job, S->cut[tct_solver_cut(job->columns)].blocks,
                       tct_gpu_of(S->q)->stream),
        "starting a triangular solve");
}

int32_t tct_solver_panel(const tacit_factor_solver *S, int c, int32_t k)
{
    const tct_tri_plan *p = &S->plan;
    const tct_cut *cut = &p->cut[c];
    const tct_task *t = &cut->task[k];
    const int32_t node =
        k >= cut->down && k < cut->down + cut->between ? p->nodes - 1
        : t->what >= 0                                 ? t->what
                       : p->order[p->level[p->branch[-1 - t->what].from].from];
    return p->node[node].panel;
}
