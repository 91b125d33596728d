/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/map.c - maps whole subtrees to the processes of a grid.
 *
 * [GN89] Geist and Ng, "Task scheduling for parallel sparse Cholesky
 *        factorization", Int. J. Parallel Programming 18 (1989).
 *
 * The forest is that of the pattern: rows are above their columns, whatever
 * entries were dropped. In each leaf of the tree it is cut into subtrees that
 * are small compared to a process's share. In their order, these form one
 * contiguous part of similar weight per process. A panel above subtrees of one
 * process belongs to that process; above subtrees of some neighbours, to one of
 * these, cyclically. Panels above subtrees of all processes, and in nodes that
 * grids share, are distributed by blocks. */
#include "trisolve/grid/plan.h"

enum {
    FINE = 8,  /* subtrees per process, at least */
    PASSES = 3 /* owners and weights depend on each other: iterate */
};

typedef struct {
    tct_pattern *S;
    int processes;
    int32_t *up; /* [panels] parent in the forest, -1: a root */
    int32_t *low,
        *high; /* [panels] processes of its subtrees; low > high: unknown */
    double *weight; /* [panels] values of the panel ... */
    double *all;    /* [panels] ... and of its subtree */
} mapper;

static bool in_leaf(const mapper *m, int32_t K)
{
    return tct_height_of(m->S, m->S->node[K]) == 0;
}

/* Find parents; `top` [panels] is for path compression. */
static void find_forest(const mapper *m, int32_t *top)
{
    const tct_pattern *S = m->S;
    for (int32_t I = 0; I < S->P.panels; I++) {
        m->up[I] = top[I] = -1;
        for (int64_t k = S->row_start[I]; k < S->row_start[I + 1]; k++) {
            int32_t K = S->col[S->in_row[k]];
            while (top[K] >= 0 && top[K] != I) {
                const int32_t next = top[K];
                top[K] = I;
                K = next;
            }
            if (top[K] < 0) m->up[K] = top[K] = I;
        }
    }
}

static void weigh(const mapper *m)
{
    const tct_pattern *S = m->S;
    for (int32_t K = 0; K < S->P.panels; K++) {
        m->weight[K] = (double)(tct_width(S, K) *
                                (S->P.row_start[K + 1] - S->P.row_start[K]));
        m->all[K] = 0.0;
    }
    for (int32_t K = 0; K < S->P.panels; K++) {
        m->all[K] += m->weight[K];
        if (m->up[K] >= 0) m->all[m->up[K]] += m->all[K];
    }
}

/* --- one leaf ------------------------------------------------------------- */

typedef struct {
    const int32_t *panel;
    int32_t count;
    double limit; /* of a subtree's weight */
} leaf;

static bool is_root(const mapper *m, const leaf *l, int32_t K)
{
    const int32_t I = m->up[K];
    return m->all[K] <= l->limit &&
           (I < 0 || !in_leaf(m, I) || m->all[I] > l->limit);
}

/* The number of neighbours that share panel K; 0: all processes, also if the
 * neighbours would exceed their share, as in a forest that is a path. */
static int32_t sharers(const mapper *m, const leaf *l, int32_t K)
{
    const int32_t n = m->high[K] - m->low[K] + 1;
    if (n < 1 || n >= m->processes) return 0;
    return m->all[K] <= (FINE * n + 1) * l->limit ? n : 0;
}

/* Panels between subtrees count if they already have one process. */
static bool counts(const mapper *m, const leaf *l, int32_t K)
{
    return m->all[K] <= l->limit || sharers(m, l, K) == 1;
}

static double sum_up(const mapper *m, const leaf *l)
{
    double sum = 0.0;
    for (int32_t k = 0; k < l->count; k++)
        if (counts(m, l, l->panel[k])) sum += m->weight[l->panel[k]];
    return sum;
}

/* The weight that panel K adds; a subtree counts at its root. */
static double adds(const mapper *m, const leaf *l, int32_t K)
{
    if (is_root(m, l, K)) return m->all[K];
    return m->all[K] > l->limit && counts(m, l, K) ? m->weight[K] : 0.0;
}

/* Cut the subtrees' roots, in their order, into parts of similar weight. */
static void cut(const mapper *m, const leaf *l)
{
    const double each = sum_up(m, l) / m->processes;
    double before = 0.0;
    for (int32_t k = 0; k < l->count; k++) {
        const int32_t K = l->panel[k];
        const double w = adds(m, l, K);
        m->low[K] = m->processes;
        m->high[K] = -1;
        if (is_root(m, l, K)) {
            const int at = (int)((before + w / 2.0) / each);
            m->low[K] = m->high[K] = at < m->processes ? at : m->processes - 1;
        }
        before += w;
    }
}

static void widen(const mapper *m, int32_t I, int32_t K)
{
    if (m->low[K] < m->low[I]) m->low[I] = m->low[K];
    if (m->high[K] > m->high[I]) m->high[I] = m->high[K];
}

/* Propagate owners from the subtrees to the panels above, and within
 * subtrees. */
static void propagate(const mapper *m, const leaf *l)
{
    for (int32_t k = 0; k < l->count; k++) {
        const int32_t K = l->panel[k], I = m->up[K];
        if (I >= 0 && in_leaf(m, I) && m->all[I] > l->limit) widen(m, I, K);
    }
    for (int32_t k = l->count; k-- > 0;) {
        const int32_t K = l->panel[k];
        if (m->all[K] > l->limit || is_root(m, l, K)) continue;
        m->low[K] = m->low[m->up[K]];
        m->high[K] = m->high[m->up[K]];
    }
}

static void distribute(const mapper *m, int32_t node)
{
    const tct_pattern *S = m->S;
    leaf l = {.panel = S->member + S->member_start[node],
              .count = S->member_start[node + 1] - S->member_start[node]};
    double sum = 0.0;
    for (int32_t k = 0; k < l.count; k++) sum += m->weight[l.panel[k]];
    l.limit = sum / (FINE * m->processes);
    for (int pass = 0; pass < PASSES; pass++) {
        cut(m, &l);
        propagate(m, &l);
    }
    for (int32_t k = 0; k < l.count; k++) {
        const int32_t K = l.panel[k], n = sharers(m, &l, K);
        if (n > 0) S->column_owner[K] = m->low[K] + K % n;
    }
}

/* --- all ------------------------------------------------------------------ */

static void map(const mapper *m)
{
    const tct_pattern *S = m->S;
    find_forest(m, m->low);
    weigh(m);
    for (int32_t K = 0; K < S->P.panels; K++) {
        m->low[K] = m->processes; /* no owner yet */
        m->high[K] = -1;
        S->column_owner[K] = -1;
    }
    for (int z = 0; z < S->leaves; z++) distribute(m, tct_node_at(S, z, 0));
}

tacit_status tct_pattern_map(tct_pattern *S, int processes)
{
    static const char *const what = "subtrees of a factor";
    mapper m = {.S = S, .processes = processes};
    if (processes == 1) return TACIT_OK;
    tacit_status status = TCT_ALLOC(S->P.panels, what, &S->column_owner);
    if (status >= 0) status = TCT_ALLOC(S->P.panels, what, &m.up);
    if (status >= 0) status = TCT_ALLOC(S->P.panels, what, &m.low);
    if (status >= 0) status = TCT_ALLOC(S->P.panels, what, &m.high);
    if (status >= 0) status = TCT_ALLOC(S->P.panels, what, &m.weight);
    if (status >= 0) status = TCT_ALLOC(S->P.panels, what, &m.all);
    if (status >= 0) map(&m);
    TCT_FREE(m.up, m.low, m.high, m.weight, m.all);
    return status;
}
