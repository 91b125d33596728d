/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/mesh_refine.c - uniform ("red") refinement, 1 to 8. Edges are found
 * by dealing the six of each tetrahedron to their lower node, and sorting
 * there. */
#include "device/parallel.h"
#include "gallery/mesh.h"
#include <string.h>

enum { EDGES = 6 };
static const int ends[EDGES][2] = {{0, 1}, {0, 2}, {0, 3},
                                   {1, 2}, {1, 3}, {2, 3}};

/* Upper ends of edges by lower end: those of node v are upper[start[v]] to
 * upper[start[v + 1] - 1], ascending; the index is the edge's number. */
typedef struct {
    int64_t *start; /* [nodes + 1] */
    int32_t *upper;
    int64_t count;
} edge_list;

static void edge_ends(const int32_t *tet, int e, int32_t *low, int32_t *high)
{
    const int32_t a = tet[ends[e][0]], b = tet[ends[e][1]];
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

/* Sort `v` [n] and remove duplicates; returns the new length. */
static int64_t sort_unique(int32_t *v, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t x = v[i];
        int64_t k = kept;
        while (k > 0 && v[k - 1] > x) k--;
        if (k > 0 && v[k - 1] == x) continue;
        memmove(v + k + 1, v + k, (size_t)(kept - k) * sizeof *v);
        v[k] = x;
        kept++;
    }
    return kept;
}

/* List every edge at its lower end, with duplicates. */
static void distribute_edges(const tct_mesh *m, edge_list *list)
{
    int64_t *start = list->start;
    int32_t low, high;
    memset(start, 0, (size_t)(m->nodes + 1) * sizeof *start);
    for (int64_t k = 0; k < m->elements; k++)
        for (int e = 0; e < EDGES; e++) {
            edge_ends(m->element + 4 * k, e, &low, &high);
            start[low + 1]++;
        }
    for (int64_t v = 0; v < m->nodes; v++) start[v + 1] += start[v];
    for (int64_t k = 0; k < m->elements; k++)
        for (int e = 0; e < EDGES; e++) {
            edge_ends(m->element + 4 * k, e, &low, &high);
            list->upper[start[low]++] = high;
        }
    /* each start has moved to the next one */
    memmove(start + 1, start, (size_t)m->nodes * sizeof *start);
    start[0] = 0;
}

typedef struct {
    const tct_mesh *m;
    const edge_list *list;
    tct_mesh *fine;
    int64_t *kept; /* of each node's edges */
} refining;

static void sort_edges(void *work, int64_t from, int64_t to)
{
    const refining *r = work;
    const int64_t *start = r->list->start;
    for (int64_t v = from; v < to; v++)
        r->kept[v] =
            sort_unique(r->list->upper + start[v], start[v + 1] - start[v]);
}

static tacit_status find_edges(const tct_mesh *m, edge_list *list)
{
    const double bytes = 4.0 * EDGES * (double)m->elements;
    TRY(tct_memory_require(bytes, "refining a mesh"));
    TRY(TCT_ALLOC(m->nodes + 1, "the edges of a mesh", &list->start));
    TRY(TCT_ALLOC(EDGES * m->elements, "the edges of a mesh", &list->upper));
    distribute_edges(m, list);
    int64_t *kept = NULL;
    TRY(TCT_ALLOC(m->nodes, "the edges of a mesh", &kept));
    tct_parallel(m->nodes, TCT_SHORT, sort_edges,
                 &(refining){.list = list, .kept = kept});
    int64_t count = 0;
    for (int64_t v = 0; v < m->nodes; v++) {
        memmove(list->upper + count, list->upper + list->start[v],
                (size_t)kept[v] * sizeof *list->upper);
        list->start[v] = count;
        count += kept[v];
    }
    list->start[m->nodes] = list->count = count;
    tct_free(kept);
    return TACIT_OK;
}

static int64_t edge_number(const edge_list *list, int32_t low, int32_t high)
{
    int64_t from = list->start[low], to = list->start[low + 1] - 1;
    while (from < to) {
        const int64_t mid = (from + to) / 2;
        if (list->upper[mid] < high) from = mid + 1;
        else to = mid;
    }
    return from;
}

/* --- the finer mesh ------------------------------------------------------- */

static void place_middles(void *work, int64_t from, int64_t to)
{
    const refining *r = work;
    const tct_mesh *m = r->m;
    for (int64_t v = from; v < to; v++)
        for (int64_t e = r->list->start[v]; e < r->list->start[v + 1]; e++) {
            const int32_t w = r->list->upper[e];
            const int64_t node = m->nodes + e;
            for (int d = 0; d < 3; d++)
                r->fine->x[node][d] = 0.5 * (m->x[v][d] + m->x[w][d]);
            r->fine->held[node] = m->held[v] & m->held[w];
        }
}

static double distance2(const tct_mesh *m, int32_t a, int32_t b)
{
    double sum = 0.0;
    for (int d = 0; d < 3; d++) {
        const double s = m->x[a][d] - m->x[b][d];
        sum += s * s;
    }
    return sum;
}

static int32_t *put(int32_t *out, int32_t a, int32_t b, int32_t c, int32_t d)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    return out + 4;
}

/* Cut tetrahedron `t` with edge midpoints `e`, in the order of `ends`. */
static void cut(const tct_mesh *fine, const int32_t t[4], const int32_t e[6],
                int32_t *out)
{
    /* a diagonal of the octahedron, then the four nodes around it */
    static const int around[3][6] = {
        {0, 5, 1, 2, 4, 3}, {1, 4, 0, 2, 5, 3}, {2, 3, 0, 1, 5, 4}};
    out = put(out, t[0], e[0], e[1], e[2]);
    out = put(out, e[0], t[1], e[3], e[4]);
    out = put(out, e[1], e[3], t[2], e[5]);
    out = put(out, e[2], e[4], e[5], t[3]);
    int best = 0;
    double least = 0.0;
    for (int k = 0; k < 3; k++) {
        const double d = distance2(fine, e[around[k][0]], e[around[k][1]]);
        if (k == 0 || d < least) {
            best = k;
            least = d;
        }
    }
    const int *o = around[best];
    for (int k = 0; k < 4; k++)
        out = put(out, e[o[0]], e[o[1]], e[o[2 + k]], e[o[2 + (k + 1) % 4]]);
}

static void cut_elements(void *work, int64_t from, int64_t to)
{
    const refining *r = work;
    for (int64_t k = from; k < to; k++) {
        const int32_t *tet = r->m->element + 4 * k;
        int32_t middle[EDGES], low, high;
        for (int e = 0; e < EDGES; e++) {
            edge_ends(tet, e, &low, &high);
            middle[e] =
                (int32_t)(r->m->nodes + edge_number(r->list, low, high));
        }
        cut(r->fine, tet, middle, r->fine->element + 32 * k);
    }
}

static tacit_status refine(const tct_mesh *m, edge_list *list, tct_mesh *fine)
{
    TRY(find_edges(m, list));
    fine->nodes = m->nodes + list->count;
    fine->elements = 8 * m->elements;
    fine->corners = 4;
    fine->any_held = m->any_held;
    if (fine->nodes >= INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "refined meshes of %.3g nodes, 2^31 or more, "
             "are not supported: refine less",
             (double)fine->nodes);
    const double bytes =
        25.0 * (double)fine->nodes + 16.0 * (double)fine->elements;
    TRY(tct_memory_require(bytes, "a refined mesh"));
    TRY(TCT_ALLOC(fine->nodes, "the nodes of a mesh", &fine->x));
    TRY(TCT_ALLOC(fine->nodes, "the supports of a mesh", &fine->held));
    TRY(TCT_ALLOC(4 * fine->elements, "a refined mesh", &fine->element));
    memcpy(fine->x, m->x, (size_t)m->nodes * sizeof *m->x);
    memcpy(fine->held, m->held, (size_t)m->nodes);
    refining r = {.m = m, .list = list, .fine = fine};
    tct_parallel(m->nodes, TCT_SHORT, place_middles, &r);
    tct_parallel(m->elements, TCT_SHORT, cut_elements, &r);
    return TACIT_OK;
}

tacit_status tct_mesh_refine(tct_mesh *mesh)
{
    if (mesh->corners != 4)
        FAIL(TACIT_UNSUPPORTED,
             "only meshes of 4-node elements can be refined, "
             "these have %d",
             mesh->corners);
    edge_list list = {0};
    tct_mesh fine = {0};
    const tacit_status status = refine(mesh, &list, &fine);
    tct_free(list.start);
    tct_free(list.upper);
    tct_mesh_clear(status < 0 ? &fine : mesh);
    if (status >= 0) *mesh = fine;
    return status;
}
