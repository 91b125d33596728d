/* SPDX-License-Identifier: BSD-3-Clause
 * loop/host.c - loop host: the CPU enqueues each iteration.
 *
 * On a device that runs behind the CPU a sample is taken some iterations
 * late. */
#include "loop/loop.h"

tct_verdict tct_loop_judge(tct_loop *L, const tct_sample *c)
{
    if (L->block) L->k = L->since + (int64_t)c->updates;
    return L->iteration->check(L->of, L->k, c);
}

bool tct_loop_take(tct_loop *L, int leave)
{
    tct_sample c;
    const int64_t k = L->k;
    bool ends = false;
    while (L->ahead > leave) {
        if (!q_sampled(L->q, &c)) /* the queue has failed: do all ranks know? */
            return L->q->peers_know || L->q->ranks == 1 || q_goes_on(L->q);
        L->ahead--;
        if (!L->block) L->k = k - L->ahead;
        const tct_verdict verdict = tct_loop_judge(L, &c);
        if (verdict == TCT_RESTS) return true;
        if (!L->block) L->k = k;
        ends = ends || verdict == TCT_ENDS;
        if (ends) leave = 0;
    }
    return ends;
}

bool tct_loop_check_lagged(tct_loop *L)
{
    q_sample(L->q, L->c);
    /* a failed rank takes part in messages until all know */
    if (L->q->failed != TACIT_OK && L->q->ranks > 1 && !q_goes_on(L->q))
        return L->q->peers_know;
    L->ahead++;
    const bool last =
        L->k >= L->most || (L->q->failed != TACIT_OK && !q_goes_on(L->q));
    return tct_loop_take(L, last ? 0 : L->lag) || last;
}

static bool check_at_once(tct_loop *L)
{
    double c[TCT_SCALARS] = {0};
    q_get(L->q, TCT_SCALARS, L->c, c);
    if (L->q->peers_know || (L->q->failed != TACIT_OK && L->q->ranks == 1))
        return true; /* a rank has failed */
    const tct_verdict verdict =
        tct_loop_judge(L, &(tct_sample){.rr = c[C_RR],
                                        .bad = c[C_BAD],
                                        .bad_value = c[C_BAD_VALUE],
                                        .updates = c[C_UPDATES],
                                        .alpha = c[C_ALPHA],
                                        .beta = c[C_BETA]});
    return verdict != TCT_GO_ON || L->k >= L->most;
}

/* The text of an iteration that has none. */
static bool enqueue_each(tct_loop *L)
{
    if (L->k >= L->most) return false;
    do L->iteration->enqueue(L->of, L->k++);
    while (!tct_loop_check(L));
    return false;
}

void tct_loop_enqueue(tct_loop *L, bool (*look)(tct_loop *L))
{
    const tct_iteration *I = L->iteration;
    tct_sample c;
    bool paused;
    L->look = look;
    do {
        L->ahead = 0;
        paused = I->text ? I->text(L->of) : enqueue_each(L);
        while (L->ahead > 0 && q_sampled(L->q, &c)) L->ahead--; /* no effect */
        L->ahead = 0;
    } while (paused && L->q->failed == TACIT_OK);
}

static void host_iterate(tct_loop *L)
{
    tct_loop_enqueue(L, L->q->device->seen ? tct_loop_check_lagged
                                           : check_at_once);
}

const tct_loop_kind tct_loop_host = {
    .name = "host",
    .needs = TCT_BY_CPU,
    .iterate = host_iterate,
};
