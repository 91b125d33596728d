/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/cells.c - which commands of a queue are for the kernel of cells
 * (cells.cu): those of few ends, all with cells. */
#include "triggered/gpu/driver.h"

/* Add an end behind those of its kind: senders come first in the list. */
static void add(tct_cell_job *job, const tct_cell_end *e)
{
    const int at = e->sends ? job->sends : job->count;
    int32_t *cells = e->sends ? &job->sent : &job->received;
    for (int k = job->count; k > at; k--) job->end[k] = job->end[k - 1];
    job->end[at] = *e;
    job->end[at].first = *cells;
    *cells += e->cells.count;
    job->count++;
    job->sends += e->sends;
}

static bool gather(tct_cell_job *job, const tacit_trigger_request *r)
{
    for (int k = 0; k < r->ends; k++) {
        const struct tct_gpu_end *g = r->end[k].gpu;
        if (!g->cell.cells.slot || job->count == TCT_CELL_ENDS) return false;
        add(job, &g->cell);
    }
    return true;
}

bool tct_gpu_cells_run(tacit_trigger_queue *q, int count,
                       const tct_started *started, const tct_wait_job *wait,
                       bool starts, bool waits, gpu_error *error)
{
    tct_cell_job job = {.starts = starts, .waits = waits};
    for (int k = 0; k < count; k++)
        if (!gather(&job, started[k].request)) return false;
    if (job.count == 0) return false;
    *error =
        tct_cells_run(&job, wait, tct_gpu_queue_is_early(q), q->gpu->stream);
    return true;
}
