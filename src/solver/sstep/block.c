/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/block.c - the operations of a block after its vectors, and the
 * counts of blocks made by a kernel. */
#include "solver/sstep/sstep.h"

void tct_sstep_sum(tct_run *R, int s)
{
    const tct_sstep *S = R->own;
    const int all = S->most + s, from = S->host.moments ? S->most : 0;
    const int columns = S->host.moments ? 2 : s + 1;
    if (!S->host.plain || S->twice)
        q_norm(R->q, R->n, R->v[V_R], &S->sums[SUM_RR]);
    q_gram(R->q, R->n, tct_columns(&S->PZ, from, all - from),
           tct_columns(&S->QY, all + 1 - columns, columns), &S->sums[SUM_GRAM]);
    q_sum(R->q, SUM_GRAM + (all - from) * columns, S->sums);
}

void tct_sstep_update(tct_run *R, int s)
{
    const tct_sstep *S = R->own;
    tacit_queue *q = R->q;
    const int w = S->most;
    const double *C = S->B->mix, *held = &R->c[C_HELD];
    const tct_panel PZ = tct_columns(&S->PZ, 0, w + s);
    const tct_panel QAZ = tct_columns(&S->QY, 0, w + s);
    q_mix(q, R->n, +1, PZ, w, C, R->x, held);       /* P = (Z - P C) T, ...
                                                 x = x + (Z - P C) alpha */
    q_mix(q, R->n, -1, QAZ, w, C, R->v[V_R], held); /* Q, r: with A */
}

void tct_sstep_renew(tct_run *R)
{
    const tct_sstep *S = R->own;
    double *r = R->v[V_R], *t = R->v[V_T], *drift = &S->sums[SUM_DRIFT];
    tct_form_residual(R, t);
    q_axpy(R->q, R->n, -1, NULL, r, t); /* t = b - A x - r */
    q_norm(R->q, R->n, t, drift);
    q_axpy(R->q, R->n, +1, &S->B->renew, t, r);
}

/* Count `times` blocks of s vectors as the enqueued operations would, with
 * their updates if they are `taken`; s = 0: r formed anew. */
static void count(tct_run *R, int s, bool taken, int64_t times)
{
    const tct_sstep *S = R->own;
    tct_recording of = {.dry_run = true};
    if (!R->q->tally || times == 0) return;
    q_record_begin(R->q, &of);
    if (s > 0) {
        tct_sstep_form(R, s);
        tct_sstep_sum(R, s);
        q_blocks(R->q, BLOCKS_DECIDE, S->B, s, S->sums, R->c);
        if (taken) tct_sstep_update(R, s);
    } else {
        tct_sstep_renew(R);
    }
    q_record_end(R->q, &of);
    q_replayed(R->q, &of, times);
}

void tct_sstep_made(tct_run *R, const double *made, int renewed, int last)
{
    for (int s = 1; s <= TCT_SSTEP_MOST; s++) {
        const int in_vain = s == last;
        count(R, s, true, (int64_t)made[s - 1] - in_vain);
        count(R, s, false, in_vain);
    }
    count(R, 0, false, renewed);
    R->result->replacements += renewed;
    R->result->extra_products += last;
}
