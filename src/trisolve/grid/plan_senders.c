/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/plan_senders.c - the senders of the messages in a rank's
 * plan. */
#include "trisolve/grid/plan.h"

/* Count the senders of solutions and of sums of one side [ranks]. */
static void count_side(const tct_side *side, int32_t *solutions, int32_t *sums)
{
    for (int32_t k = 0; k < side->count; k++) {
        if (side->above[k] >= 0) solutions[side->above[k]]++;
        for (int32_t n = side->below_start[k]; n < side->below_start[k + 1];
             n++)
            sums[side->below[n]]++;
    }
}

void tct_trsv_plan_senders(const tct_trsv_plan *p, int ranks, int32_t *from)
{
    for (int64_t i = 0; i < (int64_t)ranks * TCT_TRSV_TAGS; i++) from[i] = 0;
    for (int k = 0; k < p->sweeps; k++) {
        const tct_sweep *s = &p->sweep[k];
        int32_t *down = from + (int64_t)ranks * tct_tag_of(TCT_SWEEP_L, s->low),
                *up = from + (int64_t)ranks * tct_tag_of(TCT_SWEEP_U, s->low);
        count_side(&s->col, down, up);
        count_side(&s->row, up, down);
    }
    for (int k = 0; k < p->steps; k++) {
        const tct_stage *step = &p->step[k];
        if (step->kind == TCT_SWEEP_L || step->kind == TCT_SWEEP_U) continue;
        const int tag = tct_tag_of(step->kind, step->height);
        if (!step->sends)
            from[(int64_t)ranks * tag + step->peer] = (int32_t)p->in[tag];
    }
}
