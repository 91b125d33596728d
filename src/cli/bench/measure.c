/* SPDX-License-Identifier: BSD-3-Clause
 * cli/bench/measure.c - the time of a part of an iteration: a sample repeats it
 * until it can be timed, and the slowest rank counts. */
#include "cli/bench/bench.h"

#define SAMPLE_SECONDS 0.01
enum { REPEATS = 15 };

static tacit_status sample(const cli *c, const cli_part *p, int64_t times,
                           double *seconds)
{
    double mine = 0.0;
    TRY(tacit_world_agree(c->world, p->run(p, times, &mine)));
    *seconds = cli_max(c, mine);
    return TACIT_OK;
}

tacit_status cli_bench_measure(const cli *c, const cli_part *p, double *out)
{
    const int repeat = c->set.repeat < 0 ? REPEATS : (int)c->set.repeat;
    const int64_t warmup = c->set.warmup < 0 ? 1 : c->set.warmup;
    double one = 0.0;
    for (int64_t i = 0; i <= warmup; i++) TRY(sample(c, p, 1, &one));
    const int64_t times =
        one < SAMPLE_SECONDS ? (int64_t)(SAMPLE_SECONDS / (one + 1e-9)) + 1 : 1;
    double *all = NULL;
    TRY(tacit_world_agree(c->world, ALLOC(repeat, "the samples", &all)));
    tacit_status status = cli_wait_as_in_solves(c, true);
    for (int i = 0; i < repeat && status >= 0; i++)
        status = sample(c, p, times, &all[i]);
    if (status >= 0) status = cli_wait_as_in_solves(c, false);
    *out = base_median(all, repeat);
    free(all);
    return status;
}
