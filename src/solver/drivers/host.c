/* SPDX-License-Identifier: BSD-3-Clause
 * solver/drivers/host.c - loop host, and a run as an iteration: the method's
 * text, with the convergence check.
 *
 * The iterations enqueued past the deciding check are harmless: the scalar
 * steps change nothing once the target is met. */
#include "solver/driver.h"
#include <math.h>

bool tct_iterate_text(void *run)
{
    tct_run *R = run;
    tct_iterate(R);
    return R->policy->end == PHASE_PAUSED;
}

/* Keep a check of a quarter to a half of R->k: residuals fall fast at first,
 * and more slowly then. */
static void mark(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    const double k = (double)R->k;
    if (k < P->mark_k[1]) P->mark_k[1] = 0.0;
    if (k < 2.0 * P->mark_k[1]) return;
    P->mark_k[0] = P->mark_k[1];
    P->mark_rr[0] = P->mark_rr[1];
    P->mark_k[1] = k;
    P->mark_rr[1] = P->rr;
}

/* At the rate since then; 0: unknown. */
static double iterations_left(tct_run *R)
{
    const tct_restart_policy *P = R->policy;
    mark(R);
    const double then = P->mark_rr[0], goal = P->goal * P->goal;
    if (!(P->rr > goal && P->rr < then && goal > 0.0)) return 0.0;
    return ((double)R->k - P->mark_k[0]) * log(P->rr / goal) /
           log(then / P->rr);
}

/* An update enqueued before the check is part of an x that did not meet the
 * target. */
tct_verdict tct_check_run(void *run, int64_t k, const tct_sample *c)
{
    tct_run *R = run;
    R->k = k;
    const bool ends = tct_judge(R, c);
    R->loop->k = R->k; /* the last step may have made no x */
    if (!ends) {
        tct_operator_checked(R->system->exact, iterations_left(R));
        return TCT_GO_ON;
    }
    return tct_is_held(R) ? TCT_RESTS : TCT_ENDS;
}

static bool look(tct_run *R)
{
    tct_loop *L = R->loop;
    L->k = R->k;
    const bool ended = tct_loop_check(L);
    R->k = L->k;
    return ended;
}

tct_loop *tct_loop_of_phase(tct_run *R, const tct_iteration *I)
{
    tct_loop *L = R->loop;
    L->iteration = I;
    L->of = R;
    L->q = R->q;
    L->c = R->c;
    L->k = R->k;
    L->most = R->policy->most;
    R->look = look;
    return L;
}

static const tct_iteration text = {.text = tct_iterate_text,
                                   .check = tct_check_run};

static void host_iterate(tct_run *R)
{
    tct_loop_host.iterate(tct_loop_of_phase(R, &text));
}

const tct_driver tct_driver_host = {
    .about = {"host", "the CPU enqueues every step", NULL, false},
    .kind = &tct_loop_host,
    .iterate = host_iterate,
};
