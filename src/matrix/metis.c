/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/metis.c - a cut with few edges between parts, by multilevel k-way
 * partitioning (Karypis and Kumar 1998, the library METIS).
 *
 * Rank 0 gathers the pattern without its diagonal, adds the transpose where
 * the pattern is not symmetric, cuts, and sends the parts back. Where rows
 * come in dense blocks, a node of the graph is a block of rows: the graph is
 * smaller by the square of the block, and no block is cut apart. A node weighs
 * as much as it has entries, so that parts have equal work. */
#include "matrix/kway.h"
#include "matrix/matrix.h"
#include <inttypes.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Bytes of memory that METIS takes for itself, at most: measured on random
 * graphs, which it cannot coarsen well; meshes take half. */
enum { BYTES_PER_NODE = 100, BYTES_PER_EDGE = 56 };

typedef struct {
    const tacit_matrix *m;
    int parts;
    int block;             /* rows per node                                 */
    int64_t nodes;         /* of the whole graph                            */
    int64_t *send, *recv;  /* [size] bytes to and from each rank            */
    int64_t first, count;  /* nodes whose first row this rank owns          */
    idx_t *degree, *edges; /* of these: [count], [sum of degree]            */
    int64_t edge_count;

    /* On rank 0 only. */
    idx_t *start;        /* [nodes + 1] */
    idx_t *next;         /* [start[nodes]] neighbours, ascending per node */
    idx_t *weight, *cut; /* [nodes] */

    idx_t *mine; /* [nodes that this rank's rows touch] their parts */
} graph;

static void free_graph(graph *g)
{
    TCT_FREE(g->send, g->recv, g->degree, g->edges, g->start, g->next,
             g->weight, g->cut, g->mine);
}

/* --- the nodes of this rank ----------------------------------------------- */

/* The first node whose first row is not before `row`. */
static int64_t node_from(const graph *g, int64_t row)
{
    return (row + g->block - 1) / g->block;
}

/* Neighbours of the node of local row `i`, into `out` unless NULL. */
static int64_t neighbours(const graph *g, int64_t i, idx_t *out)
{
    const tct_csr *A = &g->m->A;
    const int64_t self = (A->first + i) / g->block;
    int64_t n = 0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k += g->block) {
        const int64_t other = tct_csr_col(A, k) / g->block;
        if (other == self) continue;
        if (out) out[n] = (idx_t)other;
        n++;
    }
    return n;
}

static void count_edges(graph *g)
{
    const tct_csr *A = &g->m->A;
    g->first = node_from(g, A->first);
    g->count = node_from(g, A->first + A->rows) - g->first;
    g->edge_count = 0;
    for (int64_t n = 0; n < g->count; n++)
        g->edge_count +=
            neighbours(g, (g->first + n) * g->block - A->first, NULL);
}

static tacit_status local_graph(graph *g)
{
    const int size = g->m->world->size;
    TRY(TCT_ALLOC(size, "the graph", &g->send));
    TRY(TCT_ALLOC(size, "the graph", &g->recv));
    TRY(TCT_ALLOC(g->count, "the graph", &g->degree));
    TRY(TCT_ALLOC(g->edge_count, "the graph", &g->edges));
    int64_t at = 0;
    for (int64_t n = 0; n < g->count; n++) {
        const int64_t row = (g->first + n) * g->block - g->m->A.first;
        g->degree[n] = (idx_t)neighbours(g, row, g->edges + at);
        at += g->degree[n];
    }
    return TACIT_OK;
}

/* --- gathered on rank 0 --------------------------------------------------- */

/* The graph must be countable in METIS's integers, and fit into memory. */
static tacit_status check_size(const graph *g, int64_t edges)
{
    const double nodes = (double)g->nodes, e = (double)edges;
    if (nodes + e > (double)IDX_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "this METIS counts in %d bits: %" PRId64 " rows with %" PRId64
             " entries between them are too many; use the partitioner "
             "'contiguous' or a partition file",
             IDXTYPEWIDTH, g->nodes, edges);
    if (g->m->world->rank > 0) return TACIT_OK;
    const double own = (double)sizeof(idx_t) * (e + 4 * nodes);
    return tct_memory_require(own + BYTES_PER_NODE * nodes + BYTES_PER_EDGE * e,
                              "the METIS partition, made by one process,");
}

static tacit_status allocate_root(graph *g, int64_t edges)
{
    if (g->m->world->rank > 0) return TACIT_OK;
    TRY(TCT_ALLOC(g->nodes + 1, "the graph", &g->start));
    TRY(TCT_ALLOC(edges, "the graph", &g->next));
    TRY(TCT_ALLOC(g->nodes, "the graph", &g->weight));
    return TCT_ALLOC(g->nodes, "the parts", &g->cut);
}

/* Send `bytes` from here to rank 0, which gets recv[r] from each rank. */
static tacit_status to_root(graph *g, const void *data, int64_t bytes,
                            void *all)
{
    tacit_world *w = g->m->world;
    for (int r = 0; r < w->size; r++) g->send[r] = 0;
    g->send[0] = bytes;
    return tct_alltoallv(w, g->send, data, g->recv, all);
}

static tacit_status gather(graph *g)
{
    const tacit_world *w = g->m->world;
    const int64_t each = sizeof(idx_t), *starts = g->m->starts;
    for (int r = 0; r < w->size; r++)
        g->recv[r] = w->rank ? 0
                             : each * (node_from(g, starts[r + 1]) -
                                       node_from(g, starts[r]));
    TRY(to_root(g, g->degree, each * g->count, w->rank ? NULL : g->start + 1));
    if (w->rank == 0) {
        g->start[0] = 0;
        for (int64_t n = 0; n < g->nodes; n++) {
            g->weight[n] = g->start[n + 1] + 1;
            g->start[n + 1] += g->start[n];
        }
        for (int r = 0; r < w->size; r++)
            g->recv[r] = each * (g->start[node_from(g, starts[r + 1])] -
                                 g->start[node_from(g, starts[r])]);
    }
    TRY(to_root(g, g->edges, each * g->edge_count, g->next));
    tct_free(g->edges);
    g->edges = NULL;
    return TACIT_OK;
}

/* --- a symmetric pattern -------------------------------------------------- */

/* As in symmetric.c: nodes in ascending order, a cursor for each. */
static bool is_symmetric(const graph *g, idx_t *cursor)
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

/* The transpose: start [nodes + 1] (cleared), next [edges]. */
static void transpose(const graph *g, idx_t *start, idx_t *next)
{
    const idx_t nodes = (idx_t)g->nodes, edges = g->start[nodes];
    for (idx_t k = 0; k < edges; k++) start[g->next[k] + 1]++;
    for (idx_t i = 0; i < nodes; i++) start[i + 1] += start[i];
    for (idx_t i = 0; i < nodes; i++)
        for (idx_t k = g->start[i]; k < g->start[i + 1]; k++)
            next[start[g->next[k]]++] = i;
    for (idx_t i = nodes; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
}

/* Merge two ascending lists, into `out` unless NULL; returns the length. */
static idx_t merge(const idx_t *a, idx_t na, const idx_t *b, idx_t nb,
                   idx_t *out)
{
    idx_t n = 0;
    for (idx_t i = 0, j = 0; i < na || j < nb; n++) {
        const bool from_a = j == nb || (i < na && a[i] <= b[j]);
        const idx_t x = from_a ? a[i] : b[j];
        i += i < na && a[i] == x;
        j += j < nb && b[j] == x;
        if (out) out[n] = x;
    }
    return n;
}

/* Replace the graph by its union with the transpose `ts`, `tn`. */
static tacit_status unite(graph *g, const idx_t *ts, const idx_t *tn)
{
    idx_t *start = NULL, *next = NULL;
    TRY(TCT_ALLOC(g->nodes + 1, "the graph", &start));
    int64_t edges = 0;
    for (idx_t i = 0; i < (idx_t)g->nodes; i++)
        edges += merge(g->next + g->start[i], g->start[i + 1] - g->start[i],
                       tn + ts[i], ts[i + 1] - ts[i], NULL);
    tacit_status status = check_size(g, edges);
    if (status >= 0) status = TCT_ALLOC(edges, "the graph", &next);
    if (status < 0) {
        tct_free(start);
        return status;
    }
    start[0] = 0;
    for (idx_t i = 0; i < (idx_t)g->nodes; i++)
        start[i + 1] =
            start[i] + merge(g->next + g->start[i],
                             g->start[i + 1] - g->start[i], tn + ts[i],
                             ts[i + 1] - ts[i], next + start[i]);
    tct_free(g->start);
    tct_free(g->next);
    g->start = start;
    g->next = next;
    return TACIT_OK;
}

static tacit_status symmetrise(graph *g)
{
    idx_t *start = NULL, *next = NULL;
    TRY(TCT_ALLOC(g->nodes + 1, "the graph", &start));
    tacit_status status = TACIT_OK;
    if (!is_symmetric(g, start)) {
        status = TCT_ALLOC(g->start[g->nodes], "the graph", &next);
        if (status >= 0) {
            memset(start, 0, (size_t)(g->nodes + 1) * sizeof *start);
            transpose(g, start, next);
            status = unite(g, start, next);
        }
    }
    tct_free(start);
    tct_free(next);
    return status;
}

/* --- the cut -------------------------------------------------------------- */

/* METIS may leave a part of a small graph empty: give it a node of the
 * largest one. `size` [parts]. */
static void fill_empty_parts(graph *g, int64_t *size)
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

static tacit_status call_metis(graph *g)
{
    idx_t edge_cut;
    const double before = tct_seconds();
    const int code = tct_kway((idx_t)g->nodes, g->start, g->next, g->weight,
                              g->parts, -1, &edge_cut, g->cut);
#ifdef __GLIBC__
    malloc_trim(0); /* METIS leaves the heap in many small holes */
#endif
    tct_log(TCT_DETAIL,
            "metis: %" PRId64 " nodes of %d rows in %d parts, edges of weight "
            "%lld cut, %.3g s",
            g->nodes, g->block, g->parts, (long long)edge_cut,
            tct_seconds() - before);
    if (code == METIS_OK) return TACIT_OK;
    if (code == METIS_ERROR_MEMORY)
        FAIL(TACIT_NO_MEMORY,
             "no memory for METIS: %" PRId64 " rows in %d parts", g->nodes,
             g->parts);
    FAIL(TACIT_INVALID, "METIS cannot cut %" PRId64 " rows into %d parts (%d)",
         g->nodes, g->parts, code);
}

static tacit_status cut_on_root(graph *g)
{
    if (g->m->world->rank > 0) return TACIT_OK;
    if (g->nodes <= g->parts) { /* METIS wants more nodes */
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

/* --- and back ------------------------------------------------------------- */

/* Copy the parts of the nodes that each rank's rows touch, one rank after the
 * other (a node between two ranks goes to both), and count the bytes. */
static void address_parts(graph *g, idx_t *out)
{
    const int64_t *starts = g->m->starts;
    for (int r = 0; r < g->m->world->size; r++) {
        const int64_t from = starts[r] / g->block;
        int64_t n = node_from(g, starts[r + 1]) - from;
        if (starts[r + 1] == starts[r]) n = 0;
        memcpy(out, g->cut + from, (size_t)n * sizeof *out);
        out += n;
        g->send[r] = n * (int64_t)sizeof *out;
    }
}

static tacit_status scatter(graph *g, int32_t *part)
{
    const tacit_matrix *m = g->m;
    tacit_world *w = m->world;
    const int64_t first = m->A.first / g->block;
    const int64_t touched =
        m->A.rows ? node_from(g, m->A.first + m->A.rows) - first : 0;
    idx_t *out = NULL;
    tacit_status status = TCT_ALLOC(touched, "the parts", &g->mine);
    if (status >= 0 && w->rank == 0)
        status = TCT_ALLOC(g->nodes + w->size, "the parts", &out);
    status = tct_agree(w, status);
    for (int r = 0; r < w->size; r++) g->send[r] = g->recv[r] = 0;
    g->recv[0] = touched * (int64_t)sizeof *g->mine;
    if (status >= 0 && w->rank == 0) address_parts(g, out);
    if (status >= 0) status = tct_alltoallv(w, g->send, out, g->recv, g->mine);
    tct_free(out);
    TRY(status);
    for (int64_t i = 0; i < m->A.rows; i++)
        part[i] = (int32_t)g->mine[(m->A.first + i) / g->block - first];
    return TACIT_OK;
}

static tacit_status run(graph *g, int32_t *part)
{
    tacit_world *w = g->m->world;
    count_edges(g);
    int64_t edges = g->edge_count;
    TRY(tct_reduce_i64(w, TCT_SUM, 1, &edges));
    TRY(tct_agree(w, check_size(g, edges)));
    tacit_status status = local_graph(g);
    if (status >= 0) status = allocate_root(g, edges);
    TRY(tct_agree(w, status));
    TRY(gather(g));
    TRY(tct_agree(w, cut_on_root(g)));
    return scatter(g, part);
}

tacit_status tct_metis_cut(const tacit_matrix *m, int parts, int32_t *part)
{
    graph g = {.m = m, .parts = parts};
    if (parts == 1) {
        for (int64_t i = 0; i < m->A.rows; i++) part[i] = 0;
        return TACIT_OK;
    }
    TRY(tct_matrix_block(m, &g.block));
    if (m->A.global_rows / g.block < parts) g.block = 1;
    g.nodes = m->A.global_rows / g.block;
    const tacit_status status = run(&g, part);
    free_graph(&g);
    return status;
}
