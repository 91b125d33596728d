/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/assemble.c - finite element rows in two steps: the pattern by node,
 * from its elements, and the values by element. Each thread owns a range of
 * nodes and visits elements in ascending order, so each entry is summed in one
 * order for any number of threads. */
#include "gallery/assemble.h"
#include "device/parallel.h"
#include <stdatomic.h>
#include <string.h>

struct tct_fem_part {
    const tct_fem *fem;
    int64_t node, nodes; /* [node, node + nodes) have rows here */
    int64_t *element;    /* [start[nodes]] stored after `start` */
    int64_t start[];     /* [nodes + 1]                                   */
};

/* --- elements of nodes ---------------------------------------------------- */

/* The node of row `i`. */
static int64_t node_of(const tct_fem *fem, int64_t i)
{
    int64_t low = 0, high = fem->mesh.nodes - 1; /* the last with row <= i */
    while (low < high) {
        const int64_t mid = (low + high + 1) / 2;
        if (fem->row[mid] <= i) low = mid;
        else high = mid - 1;
    }
    return low;
}

static bool has_node(const tct_fem_part *p, int64_t v)
{
    return v >= p->node && v < p->node + p->nodes;
}

static void distribute_elements(tct_fem_part *p)
{
    const tct_mesh *m = &p->fem->mesh;
    const int64_t refs = m->elements * m->corners;
    for (int64_t r = 0; r < refs; r++)
        if (has_node(p, m->element[r])) p->start[m->element[r] - p->node + 1]++;
    for (int64_t v = 0; v < p->nodes; v++) p->start[v + 1] += p->start[v];
    for (int64_t r = 0; r < refs; r++)
        if (has_node(p, m->element[r]))
            p->element[p->start[m->element[r] - p->node]++] = r / m->corners;
    memmove(p->start + 1, p->start, (size_t)p->nodes * sizeof *p->start);
    p->start[0] = 0;
}

tacit_status tct_fem_part_create(const tct_fem *fem, int64_t first,
                                 int64_t rows, tct_fem_part **out)
{
    const tct_mesh *m = &fem->mesh;
    const int64_t node = node_of(fem, first);
    const int64_t nodes =
        rows > 0 ? node_of(fem, first + rows - 1) + 1 - node : 0;
    int64_t touching = 0;
    for (int64_t r = 0; r < m->elements * m->corners; r++)
        touching += m->element[r] >= node && m->element[r] < node + nodes;
    const size_t words = (size_t)(nodes + 1 + touching);
    TRY(tct_memory_require(8.0 * (double)words, "the elements of a mesh"));
    tct_fem_part *p = tct_calloc(sizeof *p + words * sizeof p->start[0]);
    if (!p) FAIL(TACIT_NO_MEMORY, "no memory for the elements of a mesh");
    p->fem = fem;
    p->node = node;
    p->nodes = nodes;
    p->element = p->start + nodes + 1;
    distribute_elements(p);
    *out = p;
    return TACIT_OK;
}

/* --- the pattern ---------------------------------------------------------- */

/* List nodes with free components around local node `v`, ascending, in `out`
 * [touching corners]; `seen` [nodes] must not contain v + 1. Returns their
 * number. */
static int around(const tct_fem_part *p, int64_t v, int32_t *seen, int32_t *out)
{
    const tct_fem *fem = p->fem;
    const tct_mesh *m = &fem->mesh;
    int n = 0;
    for (int64_t k = p->start[v]; k < p->start[v + 1]; k++)
        for (int c = 0; c < m->corners; c++) {
            const int32_t w = m->element[p->element[k] * m->corners + c];
            if (seen[w] == (int32_t)v + 1) continue;
            seen[w] = (int32_t)v + 1;
            if (fem->row[w] == fem->row[w + 1]) continue; /* all held */
            int at = n++;
            for (; at > 0 && out[at - 1] > w; at--) out[at] = out[at - 1];
            out[at] = w;
        }
    return n;
}

/* Scratch of a thread for finding the nodes around a node. */
typedef struct {
    int32_t *seen, *nodes;
} finder;

static bool finder_create(const tct_fem *fem, finder *f)
{
    const size_t most = (size_t)(fem->touching * fem->mesh.corners);
    f->seen = tct_calloc((size_t)fem->mesh.nodes * sizeof *f->seen);
    f->nodes = tct_alloc(most * sizeof *f->nodes);
    return f->seen && f->nodes;
}

static void finder_free(finder *f)
{
    tct_free(f->seen);
    tct_free(f->nodes);
}

static tacit_status no_memory(void)
{
    FAIL(TACIT_NO_MEMORY, "no memory to assemble a mesh");
}

/* Nodes of `part` in as many parts as there are threads, each with a finder. */
typedef struct {
    const tct_fem_part *part;
    int parts;
    int64_t first, rows, *length; /* to be counted */
    tct_csr *A;                   /* to be filled  */
    atomic_int_fast64_t bad;      /* element       */
    atomic_bool starved;
} pass;

static pass pass_of(const tct_fem_part *part)
{
    return (pass){.part = part,
                  .parts = tct_parallel_parts(part->nodes, TCT_SHORT / 4),
                  .bad = INT64_MAX};
}

static int64_t first_of(const pass *p, int64_t k)
{
    return tct_part_first(p->part->nodes, (int)k, p->parts);
}

static void count_node(const pass *p, int64_t v, const finder *f)
{
    const tct_fem *fem = p->part->fem;
    const int n = around(p->part, v, f->seen, f->nodes);
    const int64_t node = p->part->node + v;
    int64_t entries = 0;
    for (int k = 0; k < n; k++)
        entries += fem->row[f->nodes[k] + 1] - fem->row[f->nodes[k]];
    for (int64_t i = fem->row[node]; i < fem->row[node + 1]; i++)
        if (i >= p->first && i < p->first + p->rows)
            p->length[i - p->first] = entries;
}

static void count_part(void *work, int64_t k)
{
    pass *p = work;
    finder f;
    if (finder_create(p->part->fem, &f))
        for (int64_t v = first_of(p, k); v < first_of(p, k + 1); v++)
            count_node(p, v, &f);
    else atomic_store(&p->starved, true);
    finder_free(&f);
}

tacit_status tct_fem_lengths(const tct_fem_part *part, int64_t first,
                             int64_t rows, int64_t *length)
{
    pass p = pass_of(part);
    p.first = first;
    p.rows = rows;
    p.length = length;
    tct_parallel_each(p.parts, count_part, &p);
    return atomic_load(&p.starved) ? no_memory() : TACIT_OK;
}

/* Set the columns of the rows of local node `v`, with zero values. */
static void put_columns(const tct_fem_part *p, int64_t v, finder *f, tct_csr *A)
{
    const tct_fem *fem = p->fem;
    const int n = around(p, v, f->seen, f->nodes);
    const int64_t node = p->node + v;
    for (int64_t i = fem->row[node]; i < fem->row[node + 1]; i++) {
        if (i < A->first || i >= A->first + A->rows) continue;
        int64_t at = A->ptr[i - A->first];
        for (int k = 0; k < n; k++)
            for (int64_t j = fem->row[f->nodes[k]];
                 j < fem->row[f->nodes[k] + 1]; j++, at++) {
                tct_csr_set_col(A, at, j);
                A->val[at] = 0.0;
            }
    }
}

/* --- the values ----------------------------------------------------------- */

/* Offset of column `col` in local row `i`, which has it: branch-free
 * bisection. */
static int64_t find_entry(const tct_csr *A, int64_t i, int64_t col)
{
    int64_t at = A->ptr[i], n = A->ptr[i + 1] - at;
    const int32_t *narrow = A->col32;
    const int32_t want = (int32_t)col;
    for (int64_t half; narrow && n > 1; n -= half) {
        half = n / 2;
        at += narrow[at + half - 1] < want ? half : 0;
    }
    for (int64_t half; !narrow && n > 1; n -= half) {
        half = n / 2;
        at += A->col64[at + half - 1] < col ? half : 0;
    }
    return at;
}

/* First rows of an element's nodes, and their free components [free] in row
 * order. */
typedef struct {
    int64_t row[TCT_TET_NODES];
    int free[TCT_TET_NODES];
    int component[TCT_TET_NODES][3];
} element_rows;

static void find_rows(const tct_fem *fem, const int32_t *tet, element_rows *e)
{
    for (int c = 0; c < fem->mesh.corners; c++) {
        const int held = fem->mesh.held[tet[c]];
        e->row[c] = fem->row[tet[c]];
        e->free[c] = 0;
        if (fem->row[tet[c] + 1] == e->row[c]) continue;
        for (int p = 0; p < fem->dof; p++)
            if (fem->dof == 1 || !(held >> p & 1))
                e->component[c][e->free[c]++] = p;
    }
}

/* Add an element's matrix `K` to the rows of its node `a`. These have the same
 * columns, so each other node is searched once. */
static void add_node(const tct_fem *fem, const element_rows *e, int a,
                     const double *K, tct_csr *A)
{
    const int corners = fem->mesh.corners, dof = fem->dof;
    const int width = corners * dof;
    int64_t offset[TCT_TET_NODES];
    bool found = false;
    for (int p = 0; p < e->free[a]; p++) {
        const int64_t i = e->row[a] + p - A->first;
        if (i < 0 || i >= A->rows) continue;
        for (int b = 0; b < corners && !found; b++)
            offset[b] = find_entry(A, i, e->row[b]) - A->ptr[i];
        found = true;
        const double *from = K + (a * dof + e->component[a][p]) * width;
        for (int b = 0; b < corners; b++) {
            double *to = A->val + A->ptr[i] + offset[b];
            for (int q = 0; q < e->free[b]; q++)
                to[q] += from[b * dof + e->component[b][q]];
        }
    }
}

/* Add the elements to the rows of nodes [low, high); returns the first element
 * that is flat or inverted, else the number of elements. */
static int64_t add_elements(const tct_fem *fem, int64_t low, int64_t high,
                            tct_csr *A)
{
    const tct_mesh *m = &fem->mesh;
    double x[TCT_TET_NODES][3], K[TCT_TET_ROWS * TCT_TET_ROWS];
    element_rows e;
    for (int64_t k = 0; k < m->elements; k++) {
        const int32_t *tet = m->element + k * m->corners;
        bool mine = false;
        for (int c = 0; c < m->corners; c++)
            mine = mine || (tet[c] >= low && tet[c] < high);
        if (!mine) continue;
        for (int c = 0; c < m->corners; c++)
            memcpy(x[c], m->x[tet[c]], sizeof x[c]);
        if (!tct_tet_matrix(&fem->physics, m->corners, (const double(*)[3])x,
                            K))
            return k;
        find_rows(fem, tet, &e);
        for (int c = 0; c < m->corners; c++)
            if (tet[c] >= low && tet[c] < high) add_node(fem, &e, c, K, A);
    }
    return m->elements;
}

/* Double the diagonal of nodes on springs. */
static void add_springs(const tct_fem *fem, int64_t low, int64_t high,
                        tct_csr *A)
{
    for (int64_t v = low; v < high && fem->spring; v++)
        for (int64_t i = fem->row[v]; i < fem->row[v + 1] && fem->spring[v];
             i++)
            if (i >= A->first && i < A->first + A->rows)
                A->val[find_entry(A, i - A->first, i)] *= 2.0;
}

static void fill_part(void *work, int64_t k)
{
    pass *p = work;
    const tct_fem_part *part = p->part;
    const tct_fem *fem = part->fem;
    const int64_t low = first_of(p, k), high = first_of(p, k + 1);
    finder f;
    const bool open = finder_create(fem, &f);
    for (int64_t v = low; v < high && open; v++) put_columns(part, v, &f, p->A);
    finder_free(&f);
    if (!open) {
        atomic_store(&p->starved, true);
        return;
    }
    tct_atomic_min(
        &p->bad, add_elements(fem, part->node + low, part->node + high, p->A));
    add_springs(fem, part->node + low, part->node + high, p->A);
}

tacit_status tct_fem_fill(const tct_fem_part *part, tct_csr *A)
{
    pass p = pass_of(part);
    p.A = A;
    tct_parallel_each(p.parts, fill_part, &p);
    if (atomic_load(&p.starved)) return no_memory();
    const int64_t bad = atomic_load(&p.bad);
    if (bad < part->fem->mesh.elements)
        FAIL(TACIT_INPUT,
             "element %lld of the mesh is flat "
             "or inside out: mend the mesh",
             (long long)bad + 1);
    return TACIT_OK;
}

/* --- rows and supports ---------------------------------------------------- */

/* Every node must be in an element, else its rows would be zero. */
static tacit_status check_nodes(tct_fem *fem)
{
    const tct_mesh *m = &fem->mesh;
    int32_t *met = NULL;
    TRY(TCT_ALLOC(m->nodes, "the nodes of a mesh", &met));
    memset(met, 0, (size_t)m->nodes * sizeof *met);
    for (int64_t r = 0; r < m->elements * m->corners; r++) met[m->element[r]]++;
    int64_t lonely = -1;
    for (int64_t v = m->nodes - 1; v >= 0; v--) {
        if (met[v] == 0) lonely = v;
        if (met[v] > fem->touching) fem->touching = met[v];
    }
    tct_free(met);
    if (lonely >= 0)
        FAIL(TACIT_INPUT,
             "node %lld of the mesh is in no "
             "element: remove it",
             (long long)lonely + 1);
    return TACIT_OK;
}

static tacit_status number_rows(tct_fem *fem)
{
    const tct_mesh *m = &fem->mesh;
    TRY(TCT_ALLOC(m->nodes + 1, "the rows of a mesh", &fem->row));
    fem->row[0] = 0;
    for (int64_t v = 0; v < m->nodes; v++) {
        int held = __builtin_popcount(m->held[v]);
        if (fem->dof == 1) held = held > 0;
        fem->row[v + 1] = fem->row[v] + fem->dof - held;
    }
    if (fem->row[m->nodes] == 0)
        FAIL(TACIT_INPUT, "every component of every node of the mesh is held");
    return TACIT_OK;
}

static double distance2(const double a[3], const double b[3])
{
    double sum = 0.0;
    for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

/* Square of the distance of `x` from the line through `a` and `b`. */
static double off_line2(const double a[3], const double b[3], const double x[3])
{
    double u[3], v[3], cross2 = 0.0;
    for (int d = 0; d < 3; d++) {
        u[d] = b[d] - a[d];
        v[d] = x[d] - a[d];
    }
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        const double c = u[e] * v[f] - u[f] * v[e];
        cross2 += c * c;
    }
    return cross2 / distance2(a, b);
}

/* The nodes up to height `top` fix the body: they span a triangle that is not
 * small compared to `size`. */
static bool holds(const tct_mesh *m, double top, double size)
{
    int64_t a = -1, b = -1;
    for (int64_t v = 0; v < m->nodes && a < 0; v++)
        if (m->x[v][2] <= top) a = v;
    for (int64_t v = 0; v < m->nodes; v++)
        if (m->x[v][2] <= top && (b < 0 || distance2(m->x[v], m->x[a]) >
                                               distance2(m->x[b], m->x[a])))
            b = v;
    const double small = 0.05 * size;
    if (a < 0 || distance2(m->x[a], m->x[b]) < small * small) return false;
    for (int64_t v = 0; v < m->nodes; v++)
        if (m->x[v][2] <= top &&
            off_line2(m->x[a], m->x[b], m->x[v]) > small * small)
            return true;
    return false;
}

/* Put springs under the lowest 2 % of the body, or as much as fixes it. */
static tacit_status add_supports(tct_fem *fem)
{
    const tct_mesh *m = &fem->mesh;
    double low = m->x[0][2], high = low;
    for (int64_t v = 1; v < m->nodes; v++) {
        if (m->x[v][2] < low) low = m->x[v][2];
        if (m->x[v][2] > high) high = m->x[v][2];
    }
    double share = 0.02;
    while (share < 1.0 && !holds(m, low + share * (high - low), high - low))
        share *= 2.0;
    TRY(TCT_ALLOC(m->nodes, "the supports of a mesh", &fem->spring));
    for (int64_t v = 0; v < m->nodes; v++)
        fem->spring[v] = m->x[v][2] <= low + share * (high - low);
    return TACIT_OK;
}

tacit_status tct_fem_open(tct_mesh *mesh, const tct_physics *physics,
                          tct_fem *out)
{
    *out = (tct_fem){
        .mesh = *mesh, .physics = *physics, .dof = tct_physics_dof(physics)};
    *mesh = (tct_mesh){0};
    TRY(check_nodes(out));
    TRY(number_rows(out));
    if (out->mesh.any_held || physics->kind == TCT_MASS) return TACIT_OK;
    return add_supports(out);
}

void tct_fem_close(tct_fem *fem)
{
    tct_mesh_clear(&fem->mesh);
    tct_free(fem->row);
    tct_free(fem->spring);
    *fem = (tct_fem){0};
}
