/* SPDX-License-Identifier: BSD-3-Clause
 * cli/bench/bench.h - what the parts of `tacit bench` share: a part that can be
 * repeated, and its samples. */
#ifndef TCT_CLI_BENCH_BENCH_H
#define TCT_CLI_BENCH_BENCH_H
#include "cli/report/report.h"

/* A part of an iteration: a product, an exchange of `count` vectors, a sum of
 * `count` scalars, a message there and back. */
typedef struct cli_part {
    tacit_queue *q;
    const tacit_operator *A;
    double *x, *y;
    int count;
    const struct cli_trip *trip;
    tacit_status (*run)(const struct cli_part *p, int64_t times,
                        double *seconds);
} cli_part;

/* The median seconds of one `p`; of the ranks the slowest one counts.
 * Collective.  Errors those of any rank's part, NO_MEMORY. */
tacit_status cli_bench_measure(const cli *c, const cli_part *p, double *out);

/* Add to `to`, a cli_table, a row for each size of a message from rank 0 to the
 * last rank and back, through the link of `c`. The sizes end where that link
 * has no memory for more, and a warning says so.
 * Errors      COMM (what came is not what was sent), whatever the queue has met. */
tacit_status cli_bench_messages(const cli *c, void *to);

#endif
