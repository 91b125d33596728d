/* SPDX-License-Identifier: BSD-3-Clause
 * factor/order.c - nested dissection by METIS (Karypis and Kumar 1998), whose
 * top becomes the tree nodes; and orders with only this top, or without. */
#include "device/parallel.h"
#include "factor/factor.h"
#include "graph/kway.h"
#include <inttypes.h>

static const char *const what = "the order of a factor";

void tct_nesting_clear(tct_nesting *x)
{
    TCT_FREE(x->old, x->now, x->start, x->node);
    *x = (tct_nesting){.leaves = 0};
}

/* --- the tree ------------------------------------------------------------- */

/* Position of heap node `i` in METIS's sizes: leaves first, the root last. */
static int place_of(int leaves, int32_t i)
{
    int level = leaves;
    while (i < level - 1) level /= 2;
    return 2 * leaves - 2 * level + i - (level - 1);
}

/* Number tree node `i` and its descendants, children first, from `k` on. */
static int32_t list_nodes(tct_nesting *x, const idx_t *sizes, int32_t i,
                          int32_t k)
{
    if (i < x->leaves - 1) {
        k = list_nodes(x, sizes, 2 * i + 1, k);
        k = list_nodes(x, sizes, 2 * i + 2, k);
    }
    x->node[k] = i;
    x->start[k + 1] = x->start[k] + sizes[place_of(x->leaves, i)];
    return k + 1;
}

/* All rows in the root: valid for any graph. */
static void put_into_root(tct_nesting *x, int64_t rows)
{
    for (int k = 0; k < 2 * x->leaves - 1; k++) x->start[k] = 0;
    x->start[2 * x->leaves - 1] = rows;
}

/* Do all edges connect ancestors and descendants? METIS ensures it except for
 * tiny parts. */
static bool is_nested(const tct_nesting *x, const tct_graph *g, int32_t *node)
{
    const int nodes = 2 * x->leaves - 1;
    if (x->start[nodes] != g->nodes) return false;
    for (int k = 0; k < nodes; k++)
        for (int64_t i = x->start[k]; i < x->start[k + 1]; i++)
            node[x->old[i]] = x->node[k];
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
            const int32_t a = node[i], b = node[g->next[e]];
            if (!tct_node_is_above(a < b ? a : b, a < b ? b : a)) return false;
        }
    return true;
}

/* --- METIS ---------------------------------------------------------------- */

/* A copy of the graph without self-edges. */
typedef struct {
    idx_t *ptr, *next, *old, *now, *sizes;
} dissection;

static tacit_status check_count(const tct_graph *g)
{
    const int64_t n = g->nodes, entries = g->ptr[n];
    if (n + entries <= IDX_MAX) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "this METIS counts in %d bits: %" PRId64 " rows with %" PRId64
         " entries are too many to be ordered for a factor",
         IDXTYPEWIDTH, n, entries);
}

static tacit_status prepare(const tct_graph *g, int leaves, dissection *d)
{
    const int64_t n = g->nodes, entries = g->ptr[n];
    TRY(TCT_ALLOC(n + 1, what, &d->ptr));
    TRY(TCT_ALLOC(entries, what, &d->next));
    TRY(TCT_ALLOC(n, what, &d->old));
    TRY(TCT_ALLOC(n, what, &d->now));
    TRY(TCT_ALLOC(2 * leaves, what, &d->sizes));
    memset(d->sizes, 0, 2 * (size_t)leaves * sizeof *d->sizes);
    idx_t edges = 0;
    for (int64_t i = 0; i < n; i++) {
        d->ptr[i] = edges;
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++)
            if (g->next[k] != i) d->next[edges++] = g->next[k];
    }
    d->ptr[n] = edges;
    return TACIT_OK;
}

/* METIS compresses equal rows; if that leaves two thirds or less, it tries
 * twice, its default without leaves. */
static idx_t tries_for(const tct_graph *g)
{
    int64_t alike = 0;
    for (int64_t i = 1; i < g->nodes; i++)
        alike += tct_rows_are_alike(g, i - 1, i);
    return 3 * alike > g->nodes ? 2 : 1;
}

/* METIS cannot cut a graph without edges. */
static tacit_status dissect(const tct_graph *g, int leaves, dissection *d)
{
    const idx_t n = (idx_t)g->nodes;
    if (d->ptr[n] > 0)
        return tct_metis_status(tct_dissect(n, d->ptr, d->next, leaves,
                                            tries_for(g), d->old, d->now,
                                            d->sizes));
    for (idx_t i = 0; i < n; i++) d->old[i] = i;
    return TACIT_OK;
}

static tacit_status nest(const tct_graph *g, dissection *d, tct_nesting *x)
{
    TRY(prepare(g, x->leaves, d));
    TRY(dissect(g, x->leaves, d));
    for (int64_t k = 0; k < g->nodes; k++) x->old[k] = (int32_t)d->old[k];
    x->start[0] = 0;
    list_nodes(x, d->sizes, 0, 0);
    return TACIT_OK;
}

static tacit_status open_nesting(const tct_graph *g, int leaves,
                                 tct_nesting *out)
{
    *out = (tct_nesting){.leaves = leaves};
    TRY(TCT_ALLOC(g->nodes, what, &out->old));
    TRY(TCT_ALLOC(g->nodes, what, &out->now));
    TRY(TCT_ALLOC(2 * leaves, what, &out->start));
    return TCT_ALLOC(2 * leaves - 1, what, &out->node);
}

static tacit_status nest_through(const tct_graph *g, tct_nesting *x)
{
    dissection d = {.ptr = NULL};
    const tacit_status status = nest(g, &d, x);
    TCT_FREE(d.ptr, d.next, d.old, d.now, d.sizes);
    return status;
}

static tacit_status create(const tct_graph *g, bool through, int leaves,
                           tct_nesting *out)
{
    const int level = g->nodes >= TCT_ROWS_MANY ? TCT_NOTE : TCT_DETAIL;
    const double start = tct_seconds();
    TRY(open_nesting(g, leaves, out));
    TRY(check_count(g));
    tct_log(level, "%" PRId64 " rows are ordered by METIS ...", g->nodes);
    TRY(through ? nest_through(g, out) : tct_nesting_top(g, out));
    if (!is_nested(out, g, out->now)) put_into_root(out, g->nodes);
    for (int64_t k = 0; k < g->nodes; k++) out->now[out->old[k]] = (int32_t)k;
    tct_log(level, "... which has taken %.3g s", tct_seconds() - start);
    return TACIT_OK;
}

tacit_status tct_nesting_create(const tct_graph *g, int leaves,
                                tct_nesting *out)
{
    return create(g, true, leaves, out);
}

/* --- orders with a dissected top, or none --------------------------------- */

const char *const tct_rows_orders[TCT_ORDERS] = {"nd", "top-nd", "natural",
                                                 "multicolor"};

tacit_status tct_rows_order_find(const char *name, tct_rows_order otherwise,
                                 tct_rows_order *out)
{
    *out = otherwise;
    if (!name || strcmp(name, "auto") == 0) return TACIT_OK;
    for (int i = 0; i < TCT_ORDERS; i++)
        if (strcmp(name, tct_rows_orders[i]) == 0) {
            *out = (tct_rows_order)i;
            return TACIT_OK;
        }
    const char *names[TCT_ORDERS];
    memcpy(names, tct_rows_orders, sizeof names);
    return tct_unknown("order of a factor", name, names, TCT_ORDERS);
}

tacit_status tct_check_leaves(int leaves)
{
    if (leaves >= 0 && leaves <= TCT_LEAVES_MOST && !(leaves & (leaves - 1)))
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "leaves of a factor: expected a power of two up to %d, got %d",
         TCT_LEAVES_MOST, leaves);
}

/* All rows in the root, in their order. */
static void keep_order(tct_nesting *x, int64_t rows)
{
    int32_t i = 0;
    for (int level = x->leaves; level > 0; level /= 2)
        for (int32_t k = level - 1; k < 2 * level - 1; k++) x->node[i++] = k;
    for (int64_t k = 0; k < rows; k++) x->old[k] = x->now[k] = (int32_t)k;
    put_into_root(x, rows);
}

/* Do the `block` rows from j on have the same neighbours and tree node? */
static bool is_block(const tct_graph *g, const int32_t *node, int64_t j,
                     int64_t block)
{
    const int64_t first = g->ptr[j], count = g->ptr[j + 1] - first;
    for (int64_t i = j + 1; i < j + block; i++) {
        const int64_t from = g->ptr[i];
        if (node[i] != node[j] || g->ptr[i + 1] - from != count ||
            memcmp(g->next + first, g->next + from,
                   (size_t)count * sizeof *g->next) != 0)
            return false;
    }
    return true;
}

typedef struct {
    const tct_graph *g;
    const int32_t *node;
    int64_t block;
} blocking;

static bool are_blocks_of(const void *of, int64_t from, int64_t to)
{
    const blocking *b = of;
    for (int64_t k = from; k < to; k++)
        if (!is_block(b->g, b->node, k * b->block, b->block)) return false;
    return true;
}

/* Does this hold for all blocks of `block` rows? */
static bool are_blocks(const tct_graph *g, const int32_t *node, int64_t block)
{
    const blocking b = {g, node, block};
    return g->nodes % block == 0 &&
           tct_parallel_all(g->nodes / block, TCT_SHORT, are_blocks_of, &b);
}

/* The size of blocks of equal rows, such as the unknowns of a point: they have
 * the same dependencies, so that a triangular solve waits once for a block. */
static int64_t find_block(const tct_graph *g, const int32_t *node)
{
    int64_t block = TCT_COLOUR_BLOCK_MOST;
    while (block > 1 && !are_blocks(g, node, block)) block--;
    return block;
}

/* Greedy colouring of each tree node's rows, in old numbers, with one colour a
 * block; returns the number of colours. */
static int32_t colour_rows(const tct_graph *g, const int32_t *node,
                           int32_t *mark, int32_t *colour)
{
    const int64_t block = find_block(g, node);
    int32_t most = 0;
    for (int64_t i = 0; i < g->nodes; i++) mark[i] = colour[i] = -1;
    for (int64_t i = 0; i < g->nodes; i += block) {
        int32_t c = 0;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
            const int32_t j = g->next[e];
            if (node[j] == node[i] && colour[j] >= 0)
                mark[colour[j]] = (int32_t)i;
        }
        while (mark[c] == i) c++;
        for (int64_t k = 0; k < block; k++) colour[i + k] = c;
        if (c >= most) most = c + 1;
    }
    return most;
}

/* Stable counting sort of rows by `key` [rows] < `keys`. */
static tacit_status sort_by(int64_t rows, const int32_t *key, int64_t keys,
                            const int32_t *from, int32_t *to)
{
    int64_t *at = NULL;
    TRY(TCT_ALLOC(keys + 1, what, &at));
    memset(at, 0, (size_t)(keys + 1) * sizeof *at);
    for (int64_t i = 0; i < rows; i++) at[key[i] + 1]++;
    for (int64_t c = 0; c < keys; c++) at[c + 1] += at[c];
    for (int64_t k = 0; k < rows; k++) to[at[key[from[k]]]++] = from[k];
    tct_free(at);
    return TACIT_OK;
}

/* Sort the rows of each tree node of `x` by colour, if asked for, then by
 * number. `work` [3 rows]. */
static tacit_status arrange(const tct_graph *g, bool coloured, tct_nesting *x,
                            int32_t *work)
{
    const int64_t n = g->nodes;
    int32_t *node = work, *colour = work + n, *sorted = colour + n;
    for (int32_t k = 0; k < 2 * x->leaves - 1; k++)
        for (int64_t i = x->start[k]; i < x->start[k + 1]; i++)
            node[x->old[i]] = k;
    for (int64_t i = 0; i < n; i++) sorted[i] = (int32_t)i;
    if (coloured) {
        const int32_t colours = colour_rows(g, node, x->now, colour);
        memcpy(x->now, sorted, (size_t)n * sizeof *sorted);
        TRY(sort_by(n, colour, colours, x->now, sorted));
    }
    TRY(sort_by(n, node, 2 * x->leaves - 1, sorted, x->old));
    for (int64_t k = 0; k < n; k++) x->now[x->old[k]] = (int32_t)k;
    return TACIT_OK;
}

tacit_status tct_nesting_by(const tct_graph *g, tct_rows_order order,
                            int leaves, tct_nesting *out)
{
    int32_t *work = NULL;
    if (leaves == 0) leaves = 1;
    if (order == TCT_ORDER_ND) return tct_nesting_create(g, leaves, out);
    if (order == TCT_ORDER_NATURAL || leaves == 1) {
        TRY(open_nesting(g, leaves, out));
        keep_order(out, g->nodes);
    } else {
        TRY(create(g, false, leaves, out));
    }
    if (order == TCT_ORDER_NATURAL ||
        (leaves == 1 && order == TCT_ORDER_TOP_ND))
        return TACIT_OK;
    TRY(TCT_ALLOC(3 * g->nodes, what, &work));
    const tacit_status status =
        arrange(g, order == TCT_ORDER_MULTICOLOR, out, work);
    tct_free(work);
    return status;
}
