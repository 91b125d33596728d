/* SPDX-License-Identifier: BSD-3-Clause
 * graph/order.c - reverse Cuthill-McKee, and parts by METIS. */
#include "graph/order.h"
#include "device/parallel.h"
#include "graph/kway.h"
#include <stdlib.h>
#include <string.h>

enum {
    STARTS = 3,    /* searches for a peripheral node, at most */
    FEW = 64,      /* neighbours that are sorted by insertion */
    PART = 8192,   /* nodes of a part                         */
    REFINE = 2,    /* METIS's refinement sweeps */
    GROUP = 32,    /* nodes of similar degree that stay together */
    DEGREES = 1024 /* larger degrees are sorted as this one */
};
static const char *const what = "the order of rows";

typedef struct {
    const tct_graph *g;
    uint8_t *seen;
    int32_t *queue;
} search;

static int64_t degree(const tct_graph *g, int32_t i)
{
    return g->ptr[i + 1] - g->ptr[i];
}

static bool comes_first(const tct_graph *g, int32_t a, int32_t b)
{
    const int64_t x = degree(g, a), y = degree(g, b);
    return x != y ? x < y : a < b;
}

static _Thread_local const tct_graph *compared; /* qsort has no context */
static int by_degree(const void *a, const void *b)
{
    return comes_first(compared, *(const int32_t *)a, *(const int32_t *)b) ? -1
                                                                           : 1;
}

static void sort_nodes(const tct_graph *g, int32_t *node, int64_t n)
{
    if (n > FEW) {
        compared = g;
        qsort(node, (size_t)n, sizeof *node, by_degree);
        return;
    }
    for (int64_t k = 1; k < n; k++) {
        const int32_t one = node[k];
        int64_t at = k;
        for (; at > 0 && comes_first(g, one, node[at - 1]); at--)
            node[at] = node[at - 1];
        node[at] = one;
    }
}

typedef struct {
    int64_t nodes, levels;
    int64_t last; /* first node of the last level */
} levels;

/* Breadth-first search from `start` into `out`. */
static levels search_from(const search *s, int32_t start, bool sorted,
                          int32_t *out)
{
    const tct_graph *g = s->g;
    levels l = {.nodes = 1};
    int64_t end = 0;
    out[0] = start;
    s->seen[start] = 1;
    for (int64_t head = 0; head < l.nodes; head++) {
        if (head == end) { /* a new level */
            l.levels++;
            l.last = head;
            end = l.nodes;
        }
        const int32_t i = out[head];
        const int64_t before = l.nodes;
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++) {
            const int32_t j = g->next[k];
            if (s->seen[j]) continue;
            s->seen[j] = 1;
            out[l.nodes++] = j;
        }
        if (sorted) sort_nodes(g, out + before, l.nodes - before);
    }
    return l;
}

static int32_t least_degree(const search *s, int64_t from, int64_t to)
{
    int32_t least = s->queue[from];
    for (int64_t k = from + 1; k < to; k++)
        if (comes_first(s->g, s->queue[k], least)) least = s->queue[k];
    return least;
}

/* A pseudoperipheral node: search again while the levels increase. */
static int32_t find_peripheral(const search *s, int32_t start)
{
    int64_t most = 0;
    for (int i = 0; i < STARTS; i++) {
        const levels l = search_from(s, start, false, s->queue);
        for (int64_t k = 0; k < l.nodes; k++) s->seen[s->queue[k]] = 0;
        if (l.levels <= most) break;
        most = l.levels;
        start = least_degree(s, l.last, l.nodes);
    }
    return start;
}

static void reverse(int32_t *node, int64_t n)
{
    for (int64_t a = 0, b = n - 1; a < b; a++, b--) {
        const int32_t one = node[a];
        node[a] = node[b];
        node[b] = one;
    }
}

static tacit_status open_search(const tct_graph *g, search *s)
{
    *s = (search){.g = g};
    TRY(TCT_ALLOC(g->nodes, what, &s->seen));
    memset(s->seen, 0, (size_t)g->nodes);
    return TCT_ALLOC(g->nodes, what, &s->queue);
}

tacit_status tct_order_rcm(const tct_graph *g, int32_t *order)
{
    search s;
    const tacit_status status = open_search(g, &s);
    int64_t done = 0;
    for (int64_t i = 0; status >= 0 && i < g->nodes; i++) {
        if (s.seen[i]) continue;
        const int32_t start = find_peripheral(&s, (int32_t)i);
        done += search_from(&s, start, true, order + done).nodes;
        if (s.seen[i]) continue; /* one-way edges: the rest is reached from i */
        done += search_from(&s, (int32_t)i, true, order + done).nodes;
    }
    reverse(order, done);
    tct_free(s.seen);
    tct_free(s.queue);
    return status;
}

/* --- rows of similar length ----------------------------------------------- */

/* A step coprime to `n`, near n over the golden ratio (Knuth 1998, sec. 6.4):
 * consecutive multiples modulo `n` are far apart. */
static int64_t coprime_step(int64_t n)
{
    for (int64_t step = (int64_t)(0.618 * (double)n);; step++) {
        int64_t a = n, b = step;
        while (b > 0) {
            const int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return step;
    }
}

/* Sort nodes `from` [n] by descending degree, stable, into `to`. */
static void sort_degrees(const tct_graph *g, const int32_t *from, int64_t n,
                         int32_t *to)
{
    int64_t at[DEGREES + 1] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < n; k++) {
            const int64_t d = degree(g, from[k]);
            const int64_t key = d < DEGREES ? DEGREES - 1 - d : 0;
            if (pass == 0) at[key + 1]++;
            else to[at[key]++] = from[k];
            if (pass == 0 && k + 1 == n)
                for (int i = 0; i < DEGREES; i++) at[i + 1] += at[i];
        }
}

void tct_order_even(const tct_graph *g, int64_t chunk, int32_t *order)
{
    int32_t sorted[TCT_CHUNK_MOST];
    for (int64_t first = 0; first < g->nodes; first += chunk) {
        const int64_t left = g->nodes - first, n = left < chunk ? left : chunk;
        const int64_t groups = n / GROUP,
                      step = groups > 1 ? coprime_step(groups) : 1;
        const uint32_t shift = (uint32_t)(first / chunk) * 2654435769u >> 16;
        sort_degrees(g, order + first, n, sorted);
        for (int64_t k = 0; k < groups; k++)
            memcpy(order + first + k * GROUP,
                   sorted + (k + shift) * step % groups * GROUP,
                   GROUP * sizeof *order);
        memcpy(order + first + groups * GROUP, sorted + groups * GROUP,
               (size_t)(n - groups * GROUP) * sizeof *order);
    }
}

/* --- parts ---------------------------------------------------------------- */

/* METIS's arrays, without self-loops. */
typedef struct {
    idx_t *ptr, *next, *part;
} parting;

static bool is_edge(const tct_graph *g, int32_t i, int32_t j)
{
    int64_t low = g->ptr[i], high = g->ptr[i + 1];
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (g->next[mid] < j) low = mid + 1;
        else high = mid;
    }
    return low < g->ptr[i + 1] && g->next[low] == j;
}

static bool nodes_are_symmetric(const void *work, int64_t from, int64_t to)
{
    const tct_graph *g = work;
    for (int64_t i = from; i < to; i++)
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++)
            if (!is_edge(g, g->next[k], (int32_t)i)) return false;
    return true;
}

static bool is_symmetric(const tct_graph *g)
{
    return tct_parallel_all(g->nodes, TCT_SHORT, nodes_are_symmetric, g);
}

static tacit_status cut(const tct_graph *g, idx_t parts, parting *p)
{
    const int64_t n = g->nodes;
    if (n + g->ptr[n] > IDX_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "this METIS counts in %d bits: the matrix is too large for order "
             "metis, use rcm",
             IDXTYPEWIDTH);
    TRY(TCT_ALLOC(n + 1, what, &p->ptr));
    TRY(TCT_ALLOC(g->ptr[n], what, &p->next));
    TRY(TCT_ALLOC(n, what, &p->part));
    idx_t edges = 0, edge_cut;
    for (int64_t i = 0; i < n; i++) {
        p->ptr[i] = edges;
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++)
            if (g->next[k] != i) p->next[edges++] = g->next[k];
    }
    p->ptr[n] = edges;
    const int code = tct_kway((idx_t)n, p->ptr, p->next, NULL, NULL, parts,
                              REFINE, &edge_cut, p->part);
    if (code == METIS_ERROR_MEMORY)
        FAIL(TACIT_NO_MEMORY, "no memory for METIS to order rows");
    if (code != METIS_OK)
        FAIL(TACIT_UNSUPPORTED, "METIS cannot order these rows (code %d)",
             code);
    return TACIT_OK;
}

typedef struct {
    double place; /* mean position of its nodes */
    int64_t nodes;
    idx_t part;
} share;

static int by_place(const void *a, const void *b)
{
    const share *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/* Sort parts by mean position in `order`; nodes keep their order in a part. */
static tacit_status gather_parts(const parting *p, idx_t parts, int64_t n,
                                 int32_t *order)
{
    share *all = NULL;
    int64_t *at = NULL;
    int32_t *old = NULL;
    tacit_status status = TCT_ALLOC(parts, what, &all);
    if (status >= 0) status = TCT_ALLOC(parts, what, &at);
    if (status >= 0) status = TCT_ALLOC(n, what, &old);
    for (idx_t i = 0; status >= 0 && i < parts; i++)
        all[i] = (share){.part = i};
    for (int64_t k = 0; status >= 0 && k < n; k++) {
        share *s = &all[p->part[order[k]]];
        s->nodes++;
        s->place += ((double)k - s->place) / (double)s->nodes;
        old[k] = order[k];
    }
    if (status >= 0) {
        int64_t first = 0;
        qsort(all, (size_t)parts, sizeof *all, by_place);
        for (idx_t i = 0; i < parts; i++) {
            at[all[i].part] = first;
            first += all[i].nodes;
        }
        for (int64_t k = 0; k < n; k++) order[at[p->part[old[k]]]++] = old[k];
    }
    TCT_FREE(all, at, old);
    return status;
}

tacit_status tct_order_metis(const tct_graph *g, int32_t *order)
{
    parting p = {0};
    const idx_t parts = (idx_t)((g->nodes + PART - 1) / PART);
    if (!is_symmetric(g))
        FAIL(TACIT_UNSUPPORTED,
             "order metis: not for a pattern that is not symmetric, use rcm");
    tacit_status status = tct_order_rcm(g, order);
    if (status < 0 || parts < 2) return status;
    status = cut(g, parts, &p);
    if (status >= 0) status = gather_parts(&p, parts, g->nodes, order);
    TCT_FREE(p.ptr, p.next, p.part);
    return status;
}
