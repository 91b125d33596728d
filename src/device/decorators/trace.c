/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators/trace.c - logs a line per operation with its time, bytes
 * and rate; solvers have no profiling of their own. */
#include "device/decorators.h"

static void trace_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    tct_below_sync(self, q);
    const double start = tct_seconds();
    tct_below_submit(self, q, op);
    tct_below_sync(self, q);
    const double us = 1e6 * (tct_seconds() - start);
    const tct_work work = tct_op_work(op);
    tct_log(TCT_DETAIL,
            "rank %d  %-16s n %-10zu %10.2f us  %12.0f bytes  %8.2f GB/s",
            q->rank, tct_op_info_of(op)->text, op->n, us, work.moved,
            us > 0 ? 1e-3 * work.moved / us : 0.0);
}

const tct_layer_ops tct_layer_trace = {
    .about = {"trace", "a line per operation with its time, bytes and rate"},
    .submit = trace_submit,
};
