/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/ownership.c - which process owns each node, and which processes
 * read its results. */
#include "trisolve/gpu/ownership.h"

static const char *const what = "a part of a plan";

/* --- owners --------------------------------------------------------------- */

/* All processes that have rows of node k; ... columns. */
static unsigned row_owners(const tct_distributor *d, int32_t k)
{
    unsigned all = 0;
    const tct_ownership *h = &d->of[k];
    const int32_t step = h->owner >= 0 ? d->plan->node[k].h : h->rows;
    for (int32_t i = 0; i < d->plan->node[k].h; i += step)
        all |= tct_bit(tct_row_owner(d, k, i));
    return all;
}
static unsigned col_owners(const tct_distributor *d, int32_t k)
{
    unsigned all = 0;
    const tct_ownership *h = &d->of[k];
    const int32_t step = h->owner >= 0 ? d->plan->node[k].w : h->cols;
    for (int32_t j = 0; j < d->plan->node[k].w; j += step)
        all |= tct_bit(tct_col_owner(d, k, j));
    return all;
}

/* --- large nodes ---------------------------------------------------------- */

static int32_t common(int32_t a, int32_t b)
{
    int32_t x = a, y = b;
    while (y != 0) {
        const int32_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* A block size of about `least` that is a multiple of the task sizes of all
 * cuts. */
static int32_t block_of(const int32_t *steps, int32_t least)
{
    const int32_t each = common(steps[TCT_FOR_ONE], steps[TCT_FOR_MANY]);
    return (least + each - 1) / each * each;
}

/* Large nodes have tasks of their own for the right-hand side in all cuts, and
 * so several tasks of rows. */
static tacit_status find_large(tct_distributor *d)
{
    const tct_tri_plan *plan = d->plan;
    int8_t *together = NULL;
    int32_t(*step)[2][TCT_CUTS] = NULL, large = 0;
    TRY(TCT_ALLOC(plan->nodes, what, &together));
    tacit_status status = TCT_ALLOC(plan->nodes, what, &step);
    for (int32_t k = 0; k < plan->nodes; k++) together[k] = 0;
    for (int c = 0; c < TCT_CUTS && status >= 0; c++) {
        const tct_cut *cut = &plan->cut[c];
        const int32_t up = cut->down + cut->between;
        for (int32_t i = 0; i < up + cut->up; i++) {
            const tct_task *t = &cut->task[i];
            if (t->what < 0 || (i >= cut->down && i < up)) continue;
            if (t->from == 0) step[t->what][i >= up][c] = t->to;
            if (t->from == -1) together[t->what] |= (int8_t)(1 << c);
        }
    }
    for (int32_t k = 0; k < plan->nodes && status >= 0; k++) {
        tct_ownership *h = &d->of[k];
        *h = (tct_ownership){.owner = -1, .number = -1};
        if (together[k] != (1 << TCT_CUTS) - 1) continue;
        h->number = large++;
        h->rows = block_of(step[k][0], TCT_BLOCK_ROWS);
        h->cols = block_of(step[k][1], TCT_BLOCK_COLUMNS);
        if (d->s->px == 1) h->owner = h->number % d->s->py;
    }
    TCT_FREE(together, step);
    return status;
}

/* --- small nodes and branches --------------------------------------------- */

/* The process whose part of the forest holds the middle of a node's subtree. */
static int32_t process_of_subtree(const tct_distributor *d,
                                  const double *before, int32_t lowest,
                                  int32_t k)
{
    const double all = before[d->plan->nodes];
    const double middle = 0.5 * (before[lowest] + before[k + 1]);
    const int32_t at = (int32_t)(middle / all * tct_processes(d));
    return at < tct_processes(d) ? at : tct_processes(d) - 1;
}

static void find_owners(const tct_distributor *d, double *before,
                        int32_t *lowest)
{
    const tct_tri_plan *plan = d->plan;
    before[0] = 0.0;
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        const double weight = d->of[k].number < 0 ? (double)N->h * N->w : 0.0;
        before[k + 1] = before[k] + weight;
        lowest[k] = k;
    }
    for (int32_t k = 0; k < plan->nodes; k++) {
        const int32_t up = plan->node[k].parent;
        if (up >= 0 && lowest[k] < lowest[up]) lowest[up] = lowest[k];
    }
    for (int32_t k = 0; k < plan->nodes; k++)
        if (d->of[k].number < 0)
            d->of[k].owner = process_of_subtree(d, before, lowest[k], k);
    for (int32_t b = 0; b < plan->branches; b++) {
        const tct_branch *B = &plan->branch[b];
        const int32_t from = plan->level[B->from].from,
                      to = plan->level[B->to - 1].to;
        const int32_t owner = d->of[plan->order[from]].owner;
        for (int32_t i = from; i < to; i++) d->of[plan->order[i]].owner = owner;
    }
}

/* --- readers -------------------------------------------------------------- */

/* Process p reads the updates in `t`. */
static void read_by(const tct_distributor *d, const tct_take *t, int p)
{
    const tct_tri_plan *plan = d->plan;
    if (t->first >= 0) d->s->to_u[t->first] = (uint8_t)p;
    if (t->second >= 0) d->s->to_u[t->second] = (uint8_t)p;
    if (t->second >= -1) return;
    const int32_t *rest = &plan->rest[-2 - t->second];
    for (int32_t n = 1; n <= rest[0]; n++) d->s->to_u[rest[n]] = (uint8_t)p;
}

static void find_doubling(const tct_distributor *d)
{
    for (int64_t i = 0; i < d->plan->rows; i++) d->doubling_of[i] = -1;
    for (int32_t i = 0; i < d->count; i++)
        d->doubling_of[d->shared[i]] = i / TCT_DOUBLING_ROWS % tct_processes(d);
}

static void find_readers(const tct_distributor *d)
{
    const tct_tri_plan *plan = d->plan;
    tct_distribution *s = d->s;
    for (int64_t i = 0; i < plan->rows; i++) s->to[i] = (tct_readers){.v = 0};
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        const unsigned rows = row_owners(d, k), cols = col_owners(d, k);
        for (int32_t i = 0; i < N->h; i++)
            read_by(d, &plan->take[N->slot + i],
                    i < N->w ? tct_col_owner(d, k, i) : tct_row_owner(d, k, i));
        for (int32_t j = 0; j < N->w; j++) {
            tct_readers *to = &s->to[N->first + j];
            const int doubling = d->doubling_of[N->first + j];
            to->v = (uint16_t)rows;
            to->sum = (uint16_t)cols;
            to->y = (uint16_t)(doubling < 0 ? cols : tct_bit(doubling));
            s->mine[N->first + j] = tct_col_owner(d, k, j) == s->rank;
        }
        for (int32_t i = 0; i < N->h - N->w; i++) {
            tct_readers *to = &s->to[plan->row[N->below + i]];
            to->x = (uint16_t)(to->x | cols);
        }
    }
}

/* Values that this process stores at others. */
static void count_values(const tct_distributor *d)
{
    const tct_tri_plan *plan = d->plan;
    tct_distribution *s = d->s;
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        for (int32_t i = 0; i < N->h; i++) {
            if (tct_row_owner(d, k, i) != s->rank) continue;
            s->values[TCT_PEER_SIGNALS_DOWN] +=
                i < N->w
                    ? tct_others(s->to[N->first + i].y, s->rank)
                    : s->to_u[N->below + i - N->w] != s->rank && N->parent >= 0;
        }
        for (int32_t j = 0; j < N->w; j++) {
            const tct_readers *to = &s->to[N->first + j];
            if (d->doubling_of[N->first + j] == s->rank)
                s->values[TCT_PEER_SIGNALS_BETWEEN] +=
                    tct_others(to->sum, s->rank);
            if (tct_col_owner(d, k, j) != s->rank) continue;
            s->values[TCT_PEER_SIGNALS_UP] += tct_others(to->x, s->rank);
            if (d->of[k].number >= 0)
                s->values[TCT_PEER_SIGNALS_DOWN] += tct_others(to->v, s->rank);
        }
    }
}

static tacit_status place_small(const tct_distributor *d)
{
    double *before = NULL;  /* values of small nodes before each */
    int32_t *lowest = NULL; /* lowest node of each subtree */
    TRY(TCT_ALLOC(d->plan->nodes + 1, what, &before));
    const tacit_status status = TCT_ALLOC(d->plan->nodes, what, &lowest);
    if (status >= 0) find_owners(d, before, lowest);
    TCT_FREE(before, lowest);
    return status;
}

tacit_status tct_find_ownership(tct_distributor *d)
{
    TRY(find_large(d));
    TRY(place_small(d));
    find_doubling(d);
    find_readers(d);
    count_values(d);
    return TACIT_OK;
}
