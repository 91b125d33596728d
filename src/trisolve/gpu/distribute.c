/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/distribute.c - distributes the tasks of a plan to the processes
 * of a grid. */
#include "trisolve/gpu/ownership.h"

static const char *const what = "a part of a plan";

void tct_distribution_clear(tct_distribution *s)
{
    for (int c = 0; c < TCT_CUTS; c++)
        TCT_FREE(s->cut[c].adds, s->cut[c].waits);
    TCT_FREE(s->to_u, s->to, s->mine);
    *s = (tct_distribution){.rank = 0};
}

/* --- tasks ---------------------------------------------------------------- */

/* This process's tasks of one cut; task NULL: they are only counted. */
typedef struct {
    const tct_distributor *d;
    tct_task *task;
    int32_t count;
    tct_producers *producers;
    uint32_t *due;
} tasklist;

static void add_task(tasklist *l, const tct_task *t, int process)
{
    tct_producers *producers = l->producers;
    if (l->task) {
        if (t->wait >= 0)
            producers->waits[t->wait] |= (uint16_t)tct_bit(process);
        if (t->tell >= 0)
            producers->adds[t->tell] |= (uint16_t)tct_bit(process);
    }
    if (process != l->d->s->rank) return;
    if (l->task) {
        l->task[l->count] = *t;
        if (t->tell >= 0) l->due[t->tell]++;
    }
    l->count++;
}

/* Tasks that assemble the right-hand side of a node in blocks, cut at block
 * boundaries. */
static void add_together(tasklist *l, const tct_task *t)
{
    const tct_ownership *h = &l->d->of[t->what];
    tct_task part = *t;
    for (int32_t from = -1 - t->from; from < t->to; from = part.to) {
        const int32_t end = (from / h->cols + 1) * h->cols;
        part.from = -1 - from;
        part.to = end < t->to ? end : t->to;
        add_task(l, &part, tct_col_owner(l->d, t->what, from));
    }
}

/* A task of the pass down or up. */
static void distribute_task(tasklist *l, const tct_task *t, bool up)
{
    const tct_tri_plan *plan = l->d->plan;
    const tct_ownership *h = &l->d->of[t->what < 0 ? 0 : t->what];
    if (t->what < 0) {
        const tct_branch *B = &plan->branch[-1 - t->what];
        const int32_t first = plan->order[plan->level[B->from].from];
        add_task(l, t, l->d->of[first].owner);
    } else if (h->owner >= 0) {
        add_task(l, t, h->owner);
    } else if (t->from < 0) {
        add_together(l, t);
    } else {
        const int32_t block = t->from / (up ? h->cols : h->rows);
        tct_task part = *t;
        part.what = (up ? h->up : h->down) + block / l->d->s->px;
        add_task(l, &part, tct_in_block(l->d, h, block));
    }
}

/* Pieces of recursive doubling, renumbered in the same way on all grids. A
 * process without one gets a piece of no rows, which leads to the pass up. */
static void distribute_doubling(tasklist *l, const tct_cut *cut)
{
    const tct_distributor *d = l->d;
    unsigned have = 0;
    int32_t number = 0;
    tct_task t = {.what = 0};
    for (int32_t i = cut->down; i < cut->down + cut->between; i++) {
        const int p = cut->task[i].from / TCT_DOUBLING_ROWS % tct_processes(d);
        t = cut->task[i];
        t.what = number;
        number += p == d->s->rank;
        have |= tct_bit(p);
        add_task(l, &t, p);
    }
    t.what = 0;
    t.from = t.to = d->count;
    for (int p = 0; p < tct_processes(d); p++)
        if (!(have & tct_bit(p))) add_task(l, &t, p);
}

/* Distribute all tasks; count[] receives the number of each kind. */
static void distribute_tasks(tasklist *l, const tct_cut *cut, int32_t *count)
{
    const int32_t up = cut->down + cut->between;
    l->count = 0;
    for (int32_t i = 0; i < cut->down; i++)
        distribute_task(l, &cut->task[i], false);
    count[0] = l->count;
    distribute_doubling(l, cut);
    count[1] = l->count;
    for (int32_t i = 0; i < cut->up; i++)
        distribute_task(l, &cut->task[up + i], true);
    count[2] = l->count;
}

static tacit_status distribute_cut(const tct_distributor *d, int c)
{
    const int32_t counters = tct_counters(d->plan->nodes);
    tct_cut *cut = &d->plan->cut[c];
    tct_producers *producers = &d->s->cut[c];
    tasklist l = {.d = d, .producers = producers, .due = cut->due};
    int32_t count[3];
    TRY(TCT_ALLOC(counters, what, &producers->adds));
    TRY(TCT_ALLOC(counters, what, &producers->waits));
    for (int32_t k = 0; k < counters; k++)
        producers->adds[k] = producers->waits[k] = 0;
    distribute_tasks(&l, cut, count);
    TRY(TCT_ALLOC(l.count, what, &l.task));
    memset(cut->due, 0, (size_t)counters * sizeof *cut->due);
    distribute_tasks(&l, cut, count);
    TCT_FREE(cut->task);
    cut->task = l.task;
    cut->down = count[0];
    cut->between = count[1] - count[0];
    cut->up = count[2] - count[1];
    return TACIT_OK;
}

static void count_messages(const tct_distributor *d)
{
    const int32_t n = d->plan->nodes;
    const tct_producers *one = &d->s->cut[TCT_FOR_ONE];
    for (int32_t k = 0; k < tct_counters(n); k++)
        if (one->adds[k] & tct_bit(d->s->rank))
            d->s->messages_sent[tct_peer_signals_phase(
                tct_counts_swapped(n), tct_counts_up(n, 0), k)] +=
                tct_others(one->waits[k], d->s->rank);
}

/* --- all ------------------------------------------------------------------ */

static uint64_t mark_of(const tct_distributor *d)
{
    const tct_tri_plan *plan = d->plan;
    uint64_t mark = tct_mix((uint64_t)plan->nodes);
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        const int32_t all[] = {N->first, N->w, N->h, d->of[k].owner};
        for (int i = 0; i < 4; i++)
            mark = tct_mix(mark ^ (uint64_t)(uint32_t)all[i]);
    }
    for (int c = 0; c < TCT_CUTS; c++) {
        const tct_cut *cut = &plan->cut[c];
        for (int32_t i = 0; i < cut->down + cut->between + cut->up; i++) {
            const tct_task *t = &cut->task[i];
            mark = tct_mix(mark ^ (uint64_t)(uint32_t)t->what);
            mark = tct_mix(mark ^ (uint64_t)(uint32_t)t->from);
        }
    }
    return mark;
}

static tacit_status distribute(tct_distributor *d)
{
    const tct_tri_plan *plan = d->plan;
    tct_distribution *s = d->s;
    TRY(TCT_ALLOC(plan->updates, what, &s->to_u));
    TRY(TCT_ALLOC(plan->rows, what, &s->to));
    TRY(TCT_ALLOC(plan->rows, what, &s->mine));
    TRY(TCT_ALLOC(plan->nodes, what, &d->of));
    TRY(TCT_ALLOC(plan->rows, what, &d->doubling_of));
    memset(s->to_u, s->rank, (size_t)plan->updates);
    TRY(tct_find_ownership(d));
    s->mark = mark_of(d);
    TRY(tct_take_blocks(d)); /* sets of[].down and of[].up */
    for (int c = 0; c < TCT_CUTS; c++) TRY(distribute_cut(d, c));
    count_messages(d);
    return TACIT_OK;
}

tacit_status tct_tri_plan_distribute(tct_tri_plan *plan, int px, int py,
                                     int rank, const int32_t *shared,
                                     int32_t count, tct_distribution *out)
{
    *out = (tct_distribution){.px = px, .py = py, .rank = rank};
    tct_distributor d = {
        .plan = plan, .s = out, .shared = shared, .count = count};
    if (plan->nodes == 0) return TACIT_OK;
    const tacit_status status = distribute(&d);
    TCT_FREE(d.of, d.doubling_of);
    if (status < 0) tct_distribution_clear(out);
    return status;
}
