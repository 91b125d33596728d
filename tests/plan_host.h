/* SPDX-License-Identifier: BSD-3-Clause
 * tests/plan_host.h - the kernel's work on a plan, done by the host: a node, a
 * branch, a task. Rows of X are the factor's. */
#ifndef TESTS_PLAN_HOST_H
#define TESTS_PLAN_HOST_H
#include "trisolve/gpu/supernodes.h"

/* The vectors of a solve with `columns` side by side. */
typedef struct {
    const tct_tri_plan *plan;
    int columns;
    const double *b; /* [rows columns] */
    double *y, *x, *u;
} plan_solve;

static inline double gathered_of(const plan_solve *s, int64_t slot, int c)
{
    const tct_take *t = &s->plan->take[slot];
    double v = 0.0;
    if (t->first >= 0) v = s->u[(int64_t)t->first * s->columns + c];
    if (t->second >= 0) v += s->u[(int64_t)t->second * s->columns + c];
    if (t->second >= -1) return v;
    const int32_t *rest = &s->plan->rest[-2 - t->second];
    for (int32_t k = 1; k <= rest[0]; k++)
        v += s->u[(int64_t)rest[k] * s->columns + c];
    return v;
}

/* The value that node `k` is multiplied by on the way down: put together now,
 * or before. */
static inline double given_of(const plan_solve *s, int32_t k, int32_t j, int c,
                              bool before)
{
    const tct_node *N = &s->plan->node[k];
    const int64_t at = (int64_t)(N->first + j) * s->columns + c;
    return before ? s->x[at] : s->b[at] + gathered_of(s, N->slot + j, c);
}

/* Rows [from, to) of node `k`, column c. */
static inline void node_down(const plan_solve *s, int32_t k, int32_t from,
                             int32_t to, int c, bool before)
{
    const tct_tri_plan *plan = s->plan;
    const tct_node *N = &plan->node[k];
    for (int32_t i = from; i < to; i++) {
        double v = 0.0;
        for (int32_t j = 0; j < N->w && j <= i; j++)
            v += plan->value[N->value + (int64_t)j * N->ld + i] *
                 given_of(s, k, j, c, before);
        if (i < N->w)
            s->y[(int64_t)(N->first + i) * s->columns + c] =
                plan->scale ? v * plan->scale[N->first + i] : v;
        else
            s->u[(N->below + i - N->w) * s->columns + c] =
                v + gathered_of(s, N->slot + i, c);
    }
}

static inline void node_up(const plan_solve *s, int32_t k, int32_t from,
                           int32_t to, int c)
{
    const tct_tri_plan *plan = s->plan;
    const tct_node *N = &plan->node[k];
    const double *value = plan->upper ? plan->upper : plan->value;
    for (int32_t j = from; j < to; j++) {
        double v = 0.0;
        for (int32_t i = j; i < N->h; i++) {
            const double known =
                i < N->w ? s->y[(int64_t)(N->first + i) * s->columns + c]
                         : s->x[(int64_t)plan->row[N->below + i - N->w] *
                                    s->columns +
                                c];
            v += value[N->value + (int64_t)j * N->ld + i] * known;
        }
        s->x[(int64_t)(N->first + j) * s->columns + c] = v;
    }
}

static inline void node_all(const plan_solve *s, int32_t k, bool up, int c)
{
    const tct_node *N = &s->plan->node[k];
    if (up) node_up(s, k, 0, N->w, c);
    else node_down(s, k, 0, N->h, c, false);
}

static inline void do_task(const plan_solve *s, const tct_task *t, bool up)
{
    const tct_tri_plan *plan = s->plan;
    for (int c = 0; c < s->columns; c++) {
        if (t->what >= 0 && up) node_up(s, t->what, t->from, t->to, c);
        if (t->what >= 0 && !up && t->from >= 0)
            node_down(s, t->what, t->from, t->to, c, t->wait > plan->nodes);
        for (int32_t j = -1 - t->from; t->from < 0 && j < t->to; j++)
            s->x[(int64_t)(plan->node[t->what].first + j) * s->columns + c] =
                given_of(s, t->what, j, c, false);
        if (t->what >= 0) continue;
        const tct_branch *B = &plan->branch[-1 - t->what];
        for (int32_t l = B->from; l < B->to; l++) {
            const tct_tri_level *L =
                &plan->level[up ? B->to - 1 - (l - B->from) : l];
            for (int32_t k = L->from; k < L->to; k++)
                node_all(s, plan->order[k], up, c);
        }
    }
}

#endif
