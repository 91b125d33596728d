/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_nodes.c - a level with near-null vectors on a
 * device: nodes.c, orthonormal.c and block_galerkin.c as a sequence of tasks.
 * Nodes are paired by the tasks of rows, on the graph of nodes; the graph
 * merged by aggregates is the pattern of the coarse blocks, and the next
 * level's graph. On several ranks it has this rank's nodes and edges. */
#include "device/parallel.h"
#include "precond/amg/device/device_setup_impl.h"

static int32_t *numbers(double *memory)
{
    return (int32_t *)(void *)memory;
}

/* Rows of the near-null vectors on their way to the device. */
typedef struct {
    const tct_near_null *B;
    int64_t first;
    double *out;
} piece;

static void make_piece(void *work, int64_t from, int64_t to)
{
    const piece *p = work;
    tct_near_null_rows(p->B, p->first + from, p->first + to,
                       p->out + from * p->B->vectors);
}

/* Make and upload them in pieces: memory of all would take longer to be had
 * than its elements to be made. */
static tacit_status put_pieces(tct_amg_device *t, const tct_near_null *B)
{
    enum { ROWS = 1 << 16 };
    const int64_t rows = t->A.rows;
    const int64_t most = t->kernels->piece ? t->kernels->piece : ROWS;
    const size_t k = (size_t)B->vectors;
    piece p = {.B = B};
    TRY(tacit_queue_alloc(t->q, (size_t)rows * k, &t->smooth));
    TRY(TCT_ALLOC(most * B->vectors, "near-null vectors", &p.out));
    for (; p.first < rows; p.first += most) {
        const int64_t left = rows - p.first, n = left < most ? left : most;
        tct_parallel(n, TCT_SHORT, make_piece, &p);
        q_put(t->q, (size_t)n * k, p.out, t->smooth + (size_t)p.first * k);
    }
    tct_free(p.out);
    return q_own_status(t->q);
}

tacit_status tct_amg_device_take_near(tct_amg_device *t, const tct_near_null *B)
{
    const size_t rows = (size_t)t->A.rows;
    t->vectors = B->vectors;
    t->nodes = B->nodes;
    if (B->node) TRY(tct_amg_put(t->q, rows, B->node, &t->node));
    if (!B->value) return put_pieces(t, B);
    return tct_amg_put_values(t->q, rows * (size_t)B->vectors, B->value,
                              &t->smooth);
}

/* --- the graph of nodes --------------------------------------------------- */

/* Sum the squares of entries node by node. */
static tacit_status condense(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    g->A = t->A;
    g->coarse = t->nodes;
    g->squares = g->sorted = true;
    g->group = numbers(t->node);
    tct_amg_device_list_members(t, t->A.rows, numbers(t->node), g->first,
                                g->upper);
    TRY(tct_amg_device_accumulate(t, &t->graph));
    g->squares = false;
    t->N = g->out;
    return TACIT_OK;
}

/* The sums of edges to nodes of other ranks, the second of [2][nodes] as
 * t->beyond has it; NULL on one rank. */
static tacit_status find_beyond(tct_amg_device *t, double **out)
{
    int64_t count = 0;
    int32_t *node = NULL;
    double *sum = NULL, *both = NULL;
    if (t->world->size == 1) return TACIT_OK;
    tacit_status status =
        tct_amg_interface_edges(&t->interface, &count, &node, &sum);
    if (status >= 0) status = TCT_ALLOC(2 * count, "edges of nodes", &both);
    for (int64_t n = 0; status >= 0 && n < 2 * count; n++)
        both[n] = sum[n % count];
    if (status >= 0)
        status = tct_amg_device_scatter(t, 2, count, node, both, t->nodes, out);
    TCT_FREE(node, sum, both);
    return status;
}

static tacit_status make_graph(tct_amg_device *t, const double *beyond)
{
    tct_amg_work *g = &t->g;
    const bool known = t->graph_known;
    if (!known) TRY(condense(t));
    g->A = t->A;
    g->blocks = t->N;
    g->beyond = beyond;
    if (known) tct_amg_device_each(t, TCT_AMG_square, t->N.entries);
    tct_amg_device_each(t, TCT_AMG_edges, t->N.rows);
    return TACIT_OK;
}

/* Aggregates of nodes, into g.of. */
static tacit_status pair_nodes(tct_amg_device *t, double *beyond,
                               const tct_coarsening *how, int *rounds)
{
    const tct_coarsening nodes = {.passes = how->passes, .nodes = true};
    const tct_amg_csr A = t->A;
    double *const of_rows = t->beyond;
    t->A = t->N;
    t->beyond = beyond;
    const tacit_status status = tct_amg_device_pair_up(t, &nodes, rounds);
    t->A = A;
    t->beyond = of_rows;
    tacit_queue_free(t->q, &t->pass);
    return status;
}

/* The pattern of the coarse blocks. */
static tacit_status merge_graph(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    g->A = t->N;
    g->pairs = false;
    g->sorted = true;
    g->weight = NULL;
    g->group = g->of;
    tct_amg_device_list_members(t, t->N.rows, g->of, g->first, g->upper);
    tacit_queue_free(t->q, &t->graph_after);
    TRY(tct_amg_device_accumulate(t, &t->graph_after));
    t->N_after = g->out;
    return TACIT_OK;
}

/* --- P and the product ---------------------------------------------------- */

/* Map rows to the aggregates of their nodes, and list them. */
static tacit_status map_rows(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    tct_amg_transfer *T = &t->down;
    TRY(tct_amg_device_open_transfer(t, t->vectors));
    g->up = g->of;
    g->of = numbers(T->of);
    tct_amg_device_each(t, TCT_AMG_map, t->A.rows);
    tct_amg_device_list_members(t, t->A.rows, g->of, numbers(T->ptr),
                                numbers(T->list));
    TRY(tct_amg_device_inspect(t));
    T->sets.elements = (int64_t)t->seen.total;
    T->sets.ptr = g->ptr;
    T->sets.list = g->list;
    return TACIT_OK;
}

static void factor(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    g->near = t->smooth;
    g->scaled = t->down.weight;
    g->listed = t->down.listed;
    g->smooth = t->next;
    tct_amg_device_each(t, TCT_AMG_factor, g->coarse);
    tct_amg_device_each(t, TCT_AMG_factor_none, t->A.rows);
}

/* By g's P and lists. */
static tacit_status multiply(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    const int64_t k = t->vectors, rows = g->coarse * k;
    g->A = t->A;
    g->group = g->of;
    g->blocks = t->N_after;
    g->beyond = t->beyond;
    tacit_queue_free(t->q, &t->coarse);
    TRY(tct_amg_csr_open(t->q, rows, g->blocks.entries * k * k, &t->coarse,
                         &g->out));
    tct_amg_device_each(t, TCT_AMG_block_starts, rows + 1);
    tct_amg_device_each(t, TCT_AMG_block_columns, g->blocks.entries);
    if (g->coarse > 0) t->kernels->multiply(t->q, g);
    tct_amg_device_each(t, TCT_AMG_complete_blocks, g->coarse);
    t->C = g->out;
    return TACIT_OK;
}

tacit_status tct_amg_device_coarsen_nodes(tct_amg_device *t,
                                          const tct_coarsening *how,
                                          int *rounds)
{
    tct_amg_device_tidy(t);
    t->g.k = t->vectors;
    t->g.node = numbers(t->node);
    double *beyond = NULL;
    tacit_status status = find_beyond(t, &beyond);
    if (status >= 0) status = make_graph(t, beyond);
    if (status >= 0) status = pair_nodes(t, beyond, how, rounds);
    tacit_queue_free(t->q, &beyond);
    TRY(status);
    TRY(merge_graph(t));
    tacit_queue_free(t->q, &t->graph);
    TRY(map_rows(t));
    factor(t);
    t->P = &t->down;
    t->g.weight = t->down.weight;
    return multiply(t);
}

tacit_status tct_amg_device_coarsen_blocks(tct_amg_device *t,
                                           const tct_amg_level *as)
{
    const tct_amg_transfer *T = &as->down;
    const size_t k = (size_t)t->vectors;
    tct_amg_work *g = &t->g;
    tct_amg_device_tidy(t);
    g->k = t->vectors;
    g->coarse = T->sets.count;
    g->of = numbers(T->of);
    g->ptr = numbers(T->ptr);
    g->list = numbers(T->list);
    g->weight = T->weight;
    t->P = T;
    t->N_after = tct_amg_csr_in(as->blocks, g->coarse, as->block_count);
    TRY(tct_amg_put_values(t->q, (size_t)g->coarse * k * k, as->smooth,
                           &t->next));
    g->smooth = t->next;
    return multiply(t);
}

double *tct_amg_device_blocks(tct_amg_device *t, int64_t *count)
{
    double *const memory = t->graph_after;
    t->graph_after = NULL;
    *count = t->N_after.entries;
    return memory;
}

void tct_amg_device_descend_nodes(tct_amg_device *t)
{
    tacit_queue_free(t->q, &t->node);
    tacit_queue_free(t->q, &t->graph);
    t->graph = t->graph_after;
    t->graph_after = NULL;
    t->N = t->N_after;
    t->graph_known = true;
    t->nodes = t->N.rows;
}

/* --- precision ------------------------------------------------------------ */

/* Energies and sizes of each vector, [2][vectors]. */
static tacit_status sum_energies(tct_amg_device *t, double *terms, double *sum)
{
    const size_t n = (size_t)t->A.rows;
    const int count = 2 * t->vectors;
    tct_amg_work *g = &t->g;
    double *at = (double *)(void *)g->partial;
    g->near = t->smooth;
    g->vector = terms;
    g->sums = terms + (size_t)t->vectors * n;
    tct_amg_device_each(t, TCT_AMG_energies, t->A.rows);
    q_fill(t->q, n, 1.0, g->added);
    for (int v = 0; v < count; v++)
        q_dot(t->q, n, terms + (size_t)v * n, g->added, &at[v]);
    q_get(t->q, (size_t)count, at, sum);
    return q_own_status(t->q);
}

tacit_status tct_amg_device_floats_near(tct_amg_device *t, bool *out)
{
    const size_t n = (size_t)t->A.rows;
    double sum[2 * TCT_AMG_VECTORS] = {0.0}, *terms = NULL;
    tct_amg_device_tidy(t);
    tct_amg_device_begin_level(t);
    t->g.k = t->vectors;
    tacit_status status =
        tacit_queue_alloc(t->q, 2 * (size_t)t->vectors * n, &terms);
    if (status >= 0) status = sum_energies(t, terms, sum);
    tacit_queue_free(t->q, &terms);
    tct_amg_interface_energies(&t->interface, sum);
    TRY(tct_agree(t->world, status));
    TRY(tct_reduce_f64(t->world, TCT_SUM, 2 * (size_t)t->vectors, sum));
    *out = true;
    for (int v = 0; v < t->vectors; v++)
        *out = *out && tct_amg_floats_are_harmless(sum[v], sum[t->vectors + v]);
    return TACIT_OK;
}
