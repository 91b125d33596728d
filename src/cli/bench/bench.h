/* SPDX-License-Identifier: BSD-3-Clause
 * cli/bench/bench.h - shared by the files of `tacit bench`: a part of an
 * iteration, and its samples. */
#ifndef TCT_CLI_BENCH_BENCH_H
#define TCT_CLI_BENCH_BENCH_H
#include "cli/report/report.h"

/* A part of an iteration: a product, an exchange of `count` vectors, a sum of
 * `count` scalars, a message to another rank and back. */
typedef struct cli_part {
    tacit_queue *q;
    const tacit_operator *A;
    double *x, *y;
    int count;
    const struct cli_trip *trip;
    tacit_status (*run)(const struct cli_part *p, int64_t times,
                        double *seconds);
} cli_part;

/* The median seconds of one `p`; the slowest rank counts.
 * Collective.  Errors those of any rank's part, NO_MEMORY. */
tacit_status cli_bench_measure(const cli *c, const cli_part *p, double *out);

/* Add to `to`, a cli_table, a row for each size of a message from rank 0 to the
 * last rank and back, through the link of `c`. Sizes end, with a warning, if
 * the link lacks memory.
 * Errors      COMM (received data differ from the sent), any of the queue. */
tacit_status cli_bench_messages(const cli *c, void *to);

#endif
