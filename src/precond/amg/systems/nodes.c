/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/nodes.c - aggregates of nodes, from the graph of nodes.
 * An edge weighs the Frobenius norm of its block of A; the matrix of the graph
 * is a Laplacian, whose diagonal stays positive.
 *
 * Weights are rounded to 24 bits: equal blocks get equal weights in any order
 * of summation, and sums of a few weights are exact. */
#include "device/parallel.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/galerkin/row_accumulation.h"
#include "precond/amg/systems/graph_weight.h"
#include "precond/amg/systems/near_null.h"
#include <string.h>

static const char *const what = "aggregates of nodes";

typedef struct {
    const tacit_matrix *A;
    const tct_near_null *B;
    int64_t *starts;   /* [size + 1] first node of each rank              */
    int64_t *ghost_of; /* [columns of other ranks] node                    */
    tct_csr N;         /* the graph, first with sums of squares           */
    tct_halo cut;      /* of remote nodes with own rows                   */
    int64_t *number;   /* [nodes + others of B] aggregate                 */
} condensation;

static int64_t first_node(const condensation *c)
{
    return c->starts[c->A->world->rank];
}

/* --- the graph ------------------------------------------------------------ */

static tacit_status open_graph(condensation *c)
{
    TRY(tct_matrix_require_entries(c->A));
    TRY(tct_check_diagonal(c->A, "preconditioner amg"));
    return TCT_ALLOC(c->A->world->size + 1, what, &c->starts);
}

/* Sum the squares of each block. */
static tacit_status condense(condensation *c, const tct_halo *h)
{
    tacit_world *w = c->A->world;
    const tct_near_null *B = c->B;
    for (int64_t k = 0; k < h->shared; k++)
        h->out[k] = tct_place_number(B->node[h->row[k]], first_node(c),
                                     B->nodes, &B->others);
    TRY(tct_halo_trade(h, 1, c->ghost_of));
    return tct_accumulate_all(w, c->starts,
                              &(tct_contraction){.A = &c->A->A,
                                                 .squared = true,
                                                 .of = B->node,
                                                 .coarse = B->nodes,
                                                 .first = first_node(c),
                                                 .all = c->starts[w->size],
                                                 .ghosts = &h->ghosts,
                                                 .ghost_of = c->ghost_of,
                                                 .others = &B->others},
                              &c->N);
}

/* Turn squares into edge weights and add diagonal entries. */
static void weigh_edges(tct_csr *N, int64_t n)
{
    double sum = 0.0;
    int64_t own = N->ptr[n];
    for (int64_t e = N->ptr[n]; e < N->ptr[n + 1]; e++) {
        N->val[e] = -tct_node_norm(N->val[e]);
        if (tct_csr_col(N, e) == N->first + n) own = e;
        else sum -= N->val[e];
    }
    N->val[own] = tct_node_diagonal(-N->val[own], sum);
}

static void weigh_nodes(void *of, int64_t from, int64_t to)
{
    condensation *c = of;
    for (int64_t n = from; n < to; n++) weigh_edges(&c->N, n);
}

static tacit_status fill_graph(condensation *c, tct_halo *columns)
{
    tacit_world *w = c->A->world;
    TRY(tct_agree(w, open_graph(c)));
    TRY(tct_numbering_starts(w, c->B->nodes, c->starts));
    TRY(tct_halo_of_columns(w, c->A->starts, &c->A->A, columns));
    TRY(tct_agree(w, TCT_ALLOC(columns->ghosts.count, what, &c->ghost_of)));
    TRY(condense(c, columns));
    TRY(tct_csr_sort(&c->N, false, what));
    tct_parallel(c->B->nodes, TCT_SHORT, weigh_nodes, c);
    return TACIT_OK;
}

static tacit_status make_graph(condensation *c, tct_halo *columns,
                               tacit_matrix **out)
{
    const tacit_status status = fill_graph(c, columns);
    tct_free(c->ghost_of);
    return tct_matrix_adopt(c->A->world, status, &c->N, out);
}

/* --- from nodes to rows --------------------------------------------------- */

static tacit_status allocate(condensation *c, tct_aggregates *G)
{
    const tct_near_null *B = c->B;
    TRY(TCT_ALLOC(B->nodes + B->others.count, what, &c->number));
    TRY(TCT_ALLOC(G->rows, what, &G->of));
    memcpy(G->of, B->node, (size_t)G->rows * sizeof *G->of);
    return tct_ghosts_of(B->others.count, B->others.id, NULL, &G->others);
}

/* The index of the next level's rows. */
static tacit_status expand_index(const tct_aggregates *N, tct_aggregates *G)
{
    const int64_t k = G->width;
    if (!N->index) return TACIT_OK;
    TRY(TCT_ALLOC(N->coarse * k, what, &G->index));
    for (int64_t e = 0; e < N->coarse * k; e++)
        G->index[e] = N->index[e / k] * k + e % k;
    return TACIT_OK;
}

/* Map the rows to the aggregates of their nodes, into G->of. */
static tacit_status map_rows(condensation *c, const tct_aggregates *N,
                             tct_aggregates *G)
{
    tacit_world *w = c->A->world;
    const tct_near_null *B = c->B;
    TRY(tct_agree(w, allocate(c, G)));
    TRY(tct_halo_of(w, c->starts, B->others.count, B->others.id, &c->cut));
    TRY(tct_numbering_starts(w, N->coarse, c->starts));
    const int64_t first = first_node(c); /* first aggregate */
    for (int64_t n = 0; n < B->nodes; n++)
        c->number[n] = tct_place_number(N->of[n], first, N->coarse, &N->others);
    TRY(tct_halo_bring(&c->cut, c->number, c->number + B->nodes));
    TRY(tct_agree(w,
                  tct_numbering_renumber(G->rows, G->of, B->nodes, &G->others,
                                         c->number, first, N->coarse)));
    return tct_agree(w, expand_index(N, G));
}

static tacit_status aggregate(condensation *c, const tct_coarsening *how,
                              tct_aggregates *N, tct_aggregates *G)
{
    const tct_coarsening nodes = {.passes = how->passes, .nodes = true};
    tacit_matrix *graph = NULL;
    TRY(make_graph(c, &G->halo, &graph));
    const tacit_status status =
        tct_aggregate(graph, NULL, c->B->number, &nodes, N);
    tacit_matrix_destroy(&graph);
    TRY(status);
    tct_aggregates_forget(N);
    G->coarse = N->coarse;
    G->rounds = N->rounds;
    TRY(map_rows(c, N, G));
    return tct_orthonormalize(c->A->world, c->B, G);
}

tacit_status tct_aggregate_nodes(const tacit_matrix *A, const tct_near_null *B,
                                 const tct_coarsening *how, tct_aggregates *out)
{
    TCT_THREADS_AT_MOST(tct_world_threads(A->world));
    condensation c = {.A = A, .B = B};
    tct_aggregates N = {0}, G = {.rows = A->A.rows, .width = B->vectors};
    const tacit_status status = aggregate(&c, how, &N, &G);
    tct_halo_close(&c.cut);
    TCT_FREE(c.starts, c.number);
    tct_aggregates_free(&N);
    if (status < 0) tct_aggregates_free(&G);
    else *out = G;
    return status;
}
