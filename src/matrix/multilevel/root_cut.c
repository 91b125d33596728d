/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/multilevel/root_cut.c - the parts of a level, made by METIS on rank 0:
 * it gathers the graph, adds the transpose if that is not symmetric, and sends
 * the parts back. */
#include "graph/kway.h"
#include "matrix/multilevel/level.h"
#include <inttypes.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* METIS's own memory, at most: measured on random graphs, which coarsen badly;
 * meshes take half. */
enum { BYTES_PER_NODE = 100, BYTES_PER_EDGE = 56 };

/* A graph gathered on rank 0. */
typedef struct {
    const tct_level *g;
    int parts;
    double rows;          /* of the matrix per node             */
    int64_t nodes, edges; /* of all ranks */
    int64_t node_unit;    /* divisors of weights, which let */
    int64_t edge_unit;    /* METIS add them up */
    int64_t *send, *recv; /* [size] bytes to and from each rank */
    idx_t *mine;          /* [longest list] of this rank */

    /* On rank 0 only. */
    idx_t *start;        /* [nodes + 1] */
    idx_t *next;         /* [start[nodes]] neighbours */
    idx_t *between;      /* [start[nodes]] weights of edges, NULL: all 1 */
    idx_t *weight, *cut; /* [nodes] */
} root;

static void free_root(root *g)
{
    TCT_FREE(g->send, g->recv, g->mine, g->start, g->next, g->between,
             g->weight, g->cut);
}

static int64_t own_edges(const root *g)
{
    return g->g->ptr[g->g->nodes];
}

/* --- sizes ---------------------------------------------------------------- */

/* The graph must fit into METIS's integers and into memory. */
static tacit_status check_size(const root *g, int64_t edges)
{
    const double nodes = (double)g->nodes, e = (double)edges;
    if (nodes + e > (double)IDX_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "this METIS counts in %d bits: %" PRId64 " rows with %" PRId64
             " entries between them are too many; use the partitioner "
             "'contiguous' or a partition file",
             IDXTYPEWIDTH, g->nodes, edges);
    if (g->g->world->rank > 0) return TACIT_OK;
    const double own = (double)sizeof(idx_t) * (e + 4 * nodes);
    return tct_memory_require(own + BYTES_PER_NODE * nodes + BYTES_PER_EDGE * e,
                              "the METIS partition, made by one process,");
}

/* The divisor of weights with this sum. It uses half of METIS's range: edges
 * count from both ends, and weights are rounded up. */
static int64_t unit_of(int64_t sum)
{
    return 1 + sum / (IDX_MAX / 4);
}

static tacit_status find_units(root *g)
{
    int64_t sum[2] = {0, 0};
    g->node_unit = g->edge_unit = 1;
    if (!g->g->edge) return TACIT_OK;
    for (int64_t n = 0; n < g->g->nodes; n++) sum[0] += g->g->weight[n];
    for (int64_t k = 0; k < own_edges(g); k++) sum[1] += g->g->edge[k];
    TRY(tct_reduce_i64(g->g->world, TCT_SUM, 2, sum));
    g->node_unit = unit_of(sum[0]);
    g->edge_unit = unit_of(sum[1]);
    return TACIT_OK;
}

static tacit_status allocate(root *g)
{
    const int size = g->g->world->size;
    const int64_t nodes = g->g->nodes, edges = own_edges(g);
    TRY(TCT_ALLOC(size, "the graph", &g->send));
    TRY(TCT_ALLOC(size, "the graph", &g->recv));
    TRY(TCT_ALLOC(nodes > edges ? nodes : edges, "the graph", &g->mine));
    if (g->g->world->rank > 0) return TACIT_OK;
    TRY(TCT_ALLOC(g->nodes + 1, "the graph", &g->start));
    TRY(TCT_ALLOC(g->edges, "the graph", &g->next));
    if (g->g->edge) TRY(TCT_ALLOC(g->edges, "the graph", &g->between));
    TRY(TCT_ALLOC(g->nodes, "the graph", &g->weight));
    return TCT_ALLOC(g->nodes, "the parts", &g->cut);
}

/* --- gather on rank 0 ----------------------------------------------------- */

/* Send `count` numbers of `mine` to rank 0, which receives by `recv`. */
static tacit_status to_root(root *g, int64_t count, idx_t *all)
{
    tacit_world *w = g->g->world;
    for (int r = 0; r < w->size; r++) g->send[r] = 0;
    g->send[0] = count * (int64_t)sizeof *all;
    return tct_alltoallv(w, g->send, g->mine, g->recv, all);
}

/* Set `recv` for one number per node, then per edge. */
static void expect_nodes(root *g)
{
    const tct_level *l = g->g;
    for (int r = 0; r < l->world->size; r++)
        g->recv[r] = l->world->rank ? 0
                                    : (int64_t)sizeof(idx_t) *
                                          (l->starts[r + 1] - l->starts[r]);
}

static void expect_edges(root *g)
{
    const tct_level *l = g->g;
    for (int r = 0; r < l->world->size && l->world->rank == 0; r++)
        g->recv[r] = (int64_t)sizeof(idx_t) *
                     (g->start[l->starts[r + 1]] - g->start[l->starts[r]]);
}

static tacit_status gather_nodes(root *g)
{
    const tct_level *l = g->g;
    expect_nodes(g);
    for (int64_t n = 0; n < l->nodes; n++)
        g->mine[n] = (idx_t)((l->weight[n] - 1) / g->node_unit + 1);
    TRY(to_root(g, l->nodes, g->weight));
    for (int64_t n = 0; n < l->nodes; n++)
        g->mine[n] = (idx_t)(l->ptr[n + 1] - l->ptr[n]);
    TRY(to_root(g, l->nodes, g->start ? g->start + 1 : NULL));
    if (!g->start) return TACIT_OK;
    g->start[0] = 0;
    for (int64_t n = 0; n < g->nodes; n++) g->start[n + 1] += g->start[n];
    return TACIT_OK;
}

static tacit_status gather_edges(root *g)
{
    const tct_level *l = g->g;
    const int64_t first = tct_level_first(l), edges = own_edges(g);
    expect_edges(g);
    for (int64_t k = 0; k < edges; k++) {
        const int32_t j = l->next[k];
        g->mine[k] = (idx_t)(j < l->nodes ? first + j : l->ghost[j - l->nodes]);
    }
    TRY(to_root(g, edges, g->next));
    if (!l->edge) return TACIT_OK;
    for (int64_t k = 0; k < edges; k++)
        g->mine[k] = (idx_t)((l->edge[k] - 1) / g->edge_unit + 1);
    return to_root(g, edges, g->between);
}

/* --- a symmetric graph ---------------------------------------------------- */

/* A list of neighbours for each node, with the weights of edges or NULL. */
typedef struct {
    idx_t *start, *next, *between;
} lists;

static void free_lists(lists *l)
{
    TCT_FREE(l->start, l->next, l->between);
    *l = (lists){.start = NULL};
}

static tacit_status new_lists(const root *g, int64_t edges, lists *l)
{
    if (!l->start) TRY(TCT_ALLOC(g->nodes + 1, "the graph", &l->start));
    TRY(TCT_ALLOC(edges, "the graph", &l->next));
    if (g->between) TRY(TCT_ALLOC(edges, "the graph", &l->between));
    return TACIT_OK;
}

/* As in symmetric.c: nodes ascending, a cursor for each. */
static bool is_symmetric(const root *g, idx_t *cursor)
{
    memcpy(cursor, g->start, (size_t)g->nodes * sizeof *cursor);
    for (idx_t i = 0; i < (idx_t)g->nodes; i++)
        for (idx_t k = g->start[i]; k < g->start[i + 1]; k++) {
            const idx_t j = g->next[k], c = cursor[j];
            if (c == g->start[j + 1] || g->next[c] != i) return false;
            cursor[j] = c + 1;
        }
    return true;
}

/* The transpose of `l`, whose lists ascend. */
static tacit_status transpose(const root *g, const lists *l, lists *out)
{
    const idx_t nodes = (idx_t)g->nodes, edges = l->start[nodes];
    TRY(new_lists(g, edges, out));
    memset(out->start, 0, (size_t)(nodes + 1) * sizeof *out->start);
    for (idx_t k = 0; k < edges; k++) out->start[l->next[k] + 1]++;
    for (idx_t i = 0; i < nodes; i++) out->start[i + 1] += out->start[i];
    for (idx_t i = 0; i < nodes; i++)
        for (idx_t k = l->start[i]; k < l->start[i + 1]; k++) {
            const idx_t at = out->start[l->next[k]]++;
            out->next[at] = i;
            if (l->between) out->between[at] = l->between[k];
        }
    for (idx_t i = nodes; i > 0; i--) out->start[i] = out->start[i - 1];
    out->start[0] = 0;
    return TACIT_OK;
}

/* Merge the ascending lists of node `n`, adding weights, into `out` from `at`
 * on; without arrays only count. Returns the end. */
static idx_t merge(const lists *a, const lists *b, int64_t n, idx_t at,
                   const lists *out)
{
    idx_t i = a->start[n], j = b->start[n];
    const idx_t end_a = a->start[n + 1], end_b = b->start[n + 1];
    for (; i < end_a || j < end_b; at++) {
        const bool in_a = j == end_b || (i < end_a && a->next[i] <= b->next[j]);
        const bool in_b = i == end_a || (j < end_b && b->next[j] <= a->next[i]);
        if (out->next) out->next[at] = in_a ? a->next[i] : b->next[j];
        if (out->between)
            out->between[at] =
                (in_a ? a->between[i] : 0) + (in_b ? b->between[j] : 0);
        i += in_a;
        j += in_b;
    }
    return at;
}

static tacit_status unite(const root *g, const lists *a, const lists *b,
                          lists *out)
{
    int64_t edges = 0;
    const lists none = {.start = NULL};
    for (int64_t n = 0; n < g->nodes; n++) edges += merge(a, b, n, 0, &none);
    TRY(check_size(g, edges));
    TRY(new_lists(g, edges, out));
    out->start[0] = 0;
    for (int64_t n = 0; n < g->nodes; n++)
        out->start[n + 1] = merge(a, b, n, out->start[n], out);
    return TACIT_OK;
}

/* Lists of a coarse graph are unordered: transposed twice, they ascend. */
static tacit_status add_transpose(const root *g, lists *transposed,
                                  lists *ascending, lists *out)
{
    const lists own = {g->start, g->next, g->between};
    TRY(transpose(g, &own, transposed));
    if (g->between) TRY(transpose(g, transposed, ascending));
    return unite(g, g->between ? ascending : &own, transposed, out);
}

static tacit_status symmetrise(root *g)
{
    lists transposed = {.start = NULL}, ascending = transposed,
          both = transposed;
    TRY(TCT_ALLOC(g->nodes + 1, "the graph", &transposed.start));
    tacit_status status = TACIT_OK;
    if (g->between || !is_symmetric(g, transposed.start)) {
        status = add_transpose(g, &transposed, &ascending, &both);
        if (status >= 0) {
            const lists own = {g->start, g->next, g->between};
            g->start = both.start;
            g->next = both.next;
            g->between = both.between;
            both = own;
        }
    }
    free_lists(&transposed);
    free_lists(&ascending);
    free_lists(&both);
    return status;
}

/* --- the partition -------------------------------------------------------- */

/* METIS may leave parts of a small graph empty: move a node of the largest part
 * to each. `size` [parts]. */
static void fill_empty_parts(root *g, int64_t *size)
{
    for (int p = 0; p < g->parts; p++) size[p] = 0;
    for (int64_t n = 0; n < g->nodes; n++) size[g->cut[n]]++;
    for (int p = 0; p < g->parts; p++) {
        int largest = 0;
        for (int q = 0; size[p] == 0 && q < g->parts; q++)
            if (size[q] > size[largest]) largest = q;
        if (size[p] > 0 || size[largest] < 2) continue;
        int64_t n = g->nodes - 1;
        while (g->cut[n] != largest) n--;
        g->cut[n] = p;
        size[largest]--;
        size[p]++;
    }
}

static tacit_status call_metis(root *g)
{
    idx_t edge_cut;
    const double before = tct_seconds();
    const int code = tct_kway((idx_t)g->nodes, g->start, g->next, g->weight,
                              g->between, g->parts, -1, &edge_cut, g->cut);
#ifdef __GLIBC__
    malloc_trim(0); /* METIS fragments the heap */
#endif
    tct_log(TCT_DETAIL,
            "metis: %" PRId64 " nodes of %.3g rows in %d parts, %.3g s",
            g->nodes, g->rows, g->parts, tct_seconds() - before);
    if (code == METIS_OK) return TACIT_OK;
    if (code == METIS_ERROR_MEMORY)
        FAIL(TACIT_NO_MEMORY,
             "no memory for METIS: %" PRId64 " rows in %d parts", g->nodes,
             g->parts);
    FAIL(TACIT_INVALID, "METIS cannot cut %" PRId64 " rows into %d parts (%d)",
         g->nodes, g->parts, code);
}

static tacit_status cut_on_root(root *g)
{
    if (g->g->world->rank > 0) return TACIT_OK;
    if (g->nodes <= g->parts) { /* METIS requires more nodes */
        for (int64_t n = 0; n < g->nodes; n++) g->cut[n] = (idx_t)n;
        return TACIT_OK;
    }
    TRY(symmetrise(g));
    TRY(call_metis(g));
    int64_t *size = NULL;
    TRY(TCT_ALLOC(g->parts, "the parts", &size));
    fill_empty_parts(g, size);
    tct_free(size);
    return TACIT_OK;
}

/* Send the parts of nodes from rank 0 to their ranks. */
static tacit_status scatter(root *g, int64_t *part)
{
    const tct_level *l = g->g;
    expect_nodes(g); /* the same counts, reversed */
    for (int r = 0; r < l->world->size; r++) {
        g->send[r] = g->recv[r];
        g->recv[r] = 0;
    }
    g->recv[0] = l->nodes * (int64_t)sizeof *g->mine;
    TRY(tct_alltoallv(l->world, g->send, g->cut, g->recv, g->mine));
    for (int64_t n = 0; n < l->nodes; n++) part[n] = g->mine[n];
    return TACIT_OK;
}

static tacit_status through_root(root *g, int64_t *part)
{
    tacit_world *w = g->g->world;
    g->edges = own_edges(g);
    TRY(tct_reduce_i64(w, TCT_SUM, 1, &g->edges));
    TRY(tct_agree(w, check_size(g, g->edges)));
    TRY(find_units(g));
    TRY(tct_agree(w, allocate(g)));
    TRY(gather_nodes(g));
    TRY(gather_edges(g));
    TRY(tct_agree(w, cut_on_root(g)));
    return scatter(g, part);
}

tacit_status tct_level_cut(const tct_level *level, int64_t rows, int parts,
                           int64_t *part)
{
    root g = {.g = level, .parts = parts, .nodes = tct_level_all(level)};
    g.rows = (double)rows / (double)g.nodes;
    const tacit_status status = through_root(&g, part);
    free_root(&g);
    return status;
}
