/* SPDX-License-Identifier: BSD-3-Clause
 * loop/persistent.c - loop persistent: a kernel stays on the device, iterates
 * by itself and posts a sample per check. */
#include "comm/world/world.h"
#include "loop/loop.h"

bool tct_loop_is_well(tacit_queue *q)
{
    double word = tct_flags_mine(q);
    if (q->ranks > 1 && !q->peers_know) {
        if (tct_reduce_f64(q->world, TCT_SUM, 1, &word) >= 0)
            tct_flags_agreed(q, word);
        else q_fail(q, TACIT_COMM, "%s", tacit_error_message());
    }
    return q->failed == TACIT_OK;
}

/* Take the samples of a kernel, the first of which follows no iteration if
 * `check_first`. True: a check has ended the loop. */
static bool take_samples(tct_loop *L, bool check_first)
{
    tacit_queue *q = L->q;
    const tct_persistent_ops *kernels = q->device->persistent;
    tct_verdict verdict = TCT_GO_ON;
    tct_sample c;
    bool done = false;
    while (q_sampled(q, &c)) {
        if (verdict == TCT_RESTS) continue;
        if (!check_first) L->k++;
        check_first = false;
        if (c.bad == BAD_TIME) {
            kernels->late(q);
            break;
        }
        verdict = tct_loop_judge(L, &c);
        done = done || verdict != TCT_GO_ON;
        if (verdict == TCT_GO_ON && !q->stop_wanted && q->failed == TACIT_OK)
            continue;
        if (verdict == TCT_GO_ON) q_tell(q);
        kernels->end(q);
    }
    return done;
}

void tct_loop_stay(tct_loop *L, const tct_loop_kernel *K, bool check_first)
{
    const tct_persistent_ops *kernels = L->q->device->persistent;
    bool done = false;
    while (!done) {
        int64_t checks = L->most - L->k + (check_first ? 1 : 0);
        if (checks > kernels->samples) checks = kernels->samples;
        if (checks <= 0 || !K->launch(L->of, checks)) return;
        done = take_samples(L, check_first) || L->k >= L->most;
        kernels->over(L->q);
        if (K->landed) K->landed(L->of);
    }
}

static void persistent_iterate(tct_loop *L)
{
    tct_loop_stay(L, L->iteration->kernel, false);
}

const tct_loop_kind tct_loop_persistent = {
    .name = "persistent",
    .needs = TCT_BY_KERNEL,
    .iterate = persistent_iterate,
};
