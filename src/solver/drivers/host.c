/* SPDX-License-Identifier: BSD-3-Clause
 * solver/drivers/host.c - loop host: the CPU enqueues the method step by step.
 *
 * On a device that runs behind the CPU a sample is taken some iterations late.
 * The iterations enqueued meanwhile are harmless: the scalar steps change
 * nothing once the target is met. */
#include "solver/driver.h"

bool tct_take_samples(tct_run *R, int leave)
{
    tct_sample c;
    const int64_t k = R->k;
    while (R->ahead > leave) {
        if (!q_sampled(R->q, &c)) /* the queue has failed: do all ranks know? */
            return R->q->peers_know || R->q->ranks == 1 || q_goes_on(R->q);
        R->ahead--;
        if (!R->block) R->k = k - R->ahead;
        const bool done = tct_judge(R, &c);
        /* an update enqueued before the check is part of an x that did not meet
         * the target */
        if (done && tct_is_held(R)) return true;
        if (!R->block) R->k = k;
        if (done && R->ahead == 0) return true;
        if (done) leave = 0;
    }
    return false;
}

bool tct_check_lagged(tct_run *R)
{
    q_sample(R->q, R->c);
    /* a failed rank takes part in messages until all know */
    if (R->q->failed != TACIT_OK && R->q->ranks > 1 && !q_goes_on(R->q))
        return R->q->peers_know;
    R->ahead++;
    const bool last =
        R->k >= R->most || (R->q->failed != TACIT_OK && !q_goes_on(R->q));
    return tct_take_samples(R, last ? 0 : R->lag) || last;
}

static bool check_at_once(tct_run *R)
{
    double c[TCT_SCALARS] = {0};
    q_get(R->q, TCT_SCALARS, R->c, c);
    if (R->q->peers_know) return true; /* a rank has failed */
    return tct_judge(R, &(tct_sample){.rr = c[C_RR],
                                      .bad = c[C_BAD],
                                      .bad_value = c[C_BAD_VALUE],
                                      .updates = c[C_UPDATES]});
}

void tct_iterate_text(tct_run *R, bool (*look)(tct_run *R))
{
    tct_sample c;
    R->look = look;
    do {
        R->ahead = 0;
        tct_iterate(R);
        while (R->ahead > 0 && q_sampled(R->q, &c)) R->ahead--; /* no effect */
        R->ahead = 0;
    } while (R->end == PHASE_PAUSED && R->q->failed == TACIT_OK);
}

static void host_iterate(tct_run *R)
{
    tct_iterate_text(R, R->q->device->seen ? tct_check_lagged : check_at_once);
}

const tct_driver tct_driver_host = {
    .about = {"host", "the CPU enqueues every step", NULL, false},
    .needs = TCT_BY_CPU,
    .iterate = host_iterate,
};
