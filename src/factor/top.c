/* SPDX-License-Identifier: BSD-3-Clause
 * factor/top.c - the top of a nested dissection only: METIS (Karypis and Kumar
 * 1998) finds a separator of the graph, then of each side, until there are
 * enough leaves. Consecutive rows with the same neighbours, such as those of a
 * point, are one node. */
#include "factor/factor.h"
#include "graph/kway.h"

tacit_status tct_metis_status(int code)
{
    if (code == METIS_ERROR_MEMORY)
        FAIL(TACIT_NO_MEMORY, "no memory for METIS to order rows");
    if (code != METIS_OK)
        FAIL(TACIT_UNSUPPORTED, "METIS cannot order these rows (code %d)",
             code);
    return TACIT_OK;
}

static const char *const what = "the top of an order";

typedef struct {
    tct_graph g;          /* of nodes */
    int64_t *ptr, *first; /* [nodes + 1] of g; first row of each */
    int32_t *next; /* neighbours, unless nodes are rows                     */
    int32_t *list,
        *swap; /* [nodes] nodes of a part are contiguous                */
    idx_t *start, *edge,
        *weight; /* of the current part, for METIS               */
    idx_t *side; /* [nodes of it] 0, 1; 2: separator */
    int32_t
        *place; /* [nodes] index in the part, -1: not in it                   */
    tct_nesting *x;
    int32_t parts; /* parts of x found so far */
} top;

/* --- nodes ---------------------------------------------------------------- */

bool tct_rows_are_alike(const tct_graph *g, int64_t i, int64_t j)
{
    const int64_t count = g->ptr[i + 1] - g->ptr[i];
    return g->ptr[j + 1] - g->ptr[j] == count &&
           memcmp(g->next + g->ptr[i], g->next + g->ptr[j],
                  (size_t)count * sizeof *g->next) == 0;
}

/* The graph of nodes, from the neighbours of their first rows. */
static tacit_status link_nodes(top *t, const tct_graph *rows)
{
    const int64_t n = t->g.nodes;
    int64_t edges = 0;
    TRY(TCT_ALLOC(rows->nodes, what, &t->place));
    for (int64_t i = 0; i < rows->nodes; i++) t->place[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        t->place[t->first[i]] = (int32_t)i;
        edges += rows->ptr[t->first[i] + 1] - rows->ptr[t->first[i]];
    }
    TRY(TCT_ALLOC(n + 1, what, &t->ptr));
    TRY(TCT_ALLOC(edges, what, &t->next));
    edges = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = t->first[i];
        t->ptr[i] = edges;
        for (int64_t e = rows->ptr[row]; e < rows->ptr[row + 1]; e++) {
            const int32_t node = t->place[rows->next[e]];
            if (node >= 0) t->next[edges++] = node;
        }
    }
    t->ptr[n] = edges;
    t->g.ptr = t->ptr;
    t->g.next = t->next;
    TCT_FREE(t->place);
    t->place = NULL;
    return TACIT_OK;
}

static tacit_status find_nodes(top *t, const tct_graph *rows)
{
    int64_t nodes = 0;
    TRY(TCT_ALLOC(rows->nodes + 1, what, &t->first));
    for (int64_t i = 0; i < rows->nodes; i++)
        if (i == 0 || !tct_rows_are_alike(rows, i - 1, i))
            t->first[nodes++] = i;
    t->first[nodes] = rows->nodes;
    t->g = *rows;
    t->g.nodes = nodes;
    return nodes < rows->nodes ? link_nodes(t, rows) : TACIT_OK;
}

static tacit_status allocate(top *t)
{
    const int64_t n = t->g.nodes, edges = t->g.ptr[n];
    TRY(TCT_ALLOC(n, what, &t->list));
    TRY(TCT_ALLOC(n, what, &t->swap));
    TRY(TCT_ALLOC(n, what, &t->place));
    TRY(TCT_ALLOC(n, what, &t->side));
    TRY(TCT_ALLOC(n, what, &t->weight));
    TRY(TCT_ALLOC(n + 1, what, &t->start));
    return TCT_ALLOC(edges, what, &t->edge);
}

/* --- parts ---------------------------------------------------------------- */

/* Extract the graph of nodes `list` [nodes]. */
static void take_part(top *t, const int32_t *list, int64_t nodes)
{
    idx_t edges = 0;
    for (int64_t i = 0; i < nodes; i++) t->place[list[i]] = (int32_t)i;
    for (int64_t i = 0; i < nodes; i++) {
        const int64_t node = list[i];
        t->start[i] = edges;
        t->weight[i] = (idx_t)(t->first[node + 1] - t->first[node]);
        for (int64_t e = t->g.ptr[node]; e < t->g.ptr[node + 1]; e++) {
            const int32_t j = t->place[t->g.next[e]];
            if (j >= 0 && j != i) t->edge[edges++] = j;
        }
    }
    t->start[nodes] = edges;
    for (int64_t i = 0; i < nodes; i++) t->place[list[i]] = -1;
}

/* Find the side of each node. METIS cannot cut a graph without edges. */
static tacit_status cut(top *t, int64_t nodes)
{
    if (t->start[nodes] > 0)
        return tct_metis_status(
            tct_separate((idx_t)nodes, t->start, t->edge, t->weight, t->side));
    for (int64_t i = 0; i < nodes; i++) t->side[i] = 2 * i >= nodes;
    return TACIT_OK;
}

/* Stable sort of `list` [nodes] by side, the separator last; `*left` and
 * `*right`: sizes. */
static void sort_by_side(top *t, int32_t *list, int64_t nodes, int64_t *left,
                         int64_t *right)
{
    int64_t at[4] = {0};
    for (int64_t i = 0; i < nodes; i++) at[t->side[i] + 1]++;
    *left = at[1];
    *right = at[2];
    at[2] += at[1];
    for (int64_t i = 0; i < nodes; i++) t->swap[at[t->side[i]]++] = list[i];
    memcpy(list, t->swap, (size_t)nodes * sizeof *list);
}

/* Append heap node `i` with the rows of nodes `list`. */
static void add_part(top *t, int32_t i, const int32_t *list, int64_t nodes)
{
    tct_nesting *x = t->x;
    int64_t at = x->start[t->parts];
    for (int64_t k = 0; k < nodes; k++)
        for (int64_t r = t->first[list[k]]; r < t->first[list[k] + 1]; r++)
            x->old[at++] = (int32_t)r;
    x->node[t->parts++] = i;
    x->start[t->parts] = at;
}

/* Dissect nodes `list` into heap node `i` and its descendants. */
static tacit_status dissect(top *t, int32_t i, int32_t *list, int64_t nodes)
{
    int64_t left = 0, right = 0;
    if (i < t->x->leaves - 1) {
        take_part(t, list, nodes);
        TRY(cut(t, nodes));
        sort_by_side(t, list, nodes, &left, &right);
        TRY(dissect(t, 2 * i + 1, list, left));
        TRY(dissect(t, 2 * i + 2, list + left, right));
    }
    add_part(t, i, list + left + right, nodes - left - right);
    return TACIT_OK;
}

static tacit_status part(top *t, const tct_graph *g)
{
    TRY(find_nodes(t, g));
    TRY(allocate(t));
    for (int64_t i = 0; i < t->g.nodes; i++) {
        t->list[i] = (int32_t)i;
        t->place[i] = -1;
    }
    t->x->start[0] = 0;
    return dissect(t, 0, t->list, t->g.nodes);
}

tacit_status tct_nesting_top(const tct_graph *g, tct_nesting *x)
{
    top t = {.x = x};
    const tacit_status status = part(&t, g);
    TCT_FREE(t.ptr, t.first, t.next, t.list, t.swap, t.start, t.edge, t.weight,
             t.side, t.place);
    return status;
}
