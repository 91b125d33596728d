/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/nodes.c - aggregates of nodes: those of the graph of nodes, in
 * which an edge weighs what the block of A has, by Frobenius's norm. Its matrix
 * is a Laplacian, whose diagonal stays positive whatever is added up. */
#include "matrix/parallel.h"
#include "precond/amg/contract.h"
#include "precond/amg/near_null.h"
#include "precond/amg/qr.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const what = "aggregates of nodes";

/* Of the diagonal beyond the sum of its edges: a node whose edges are all within
 * its aggregate still counts as one. */
static const double BEYOND = 1e-3;

/* --- the graph --------------------------------------------------------------- */

typedef struct {
    const tct_csr *A;
    const tct_near_null *B;
    int32_t *node; /* [rows] */
    tct_csr N;
} condensation;

static tacit_status number_nodes(condensation *c)
{
    TRY(TCT_ALLOC(c->A->rows, what, &c->node));
    for (int64_t n = 0; n < c->B->nodes; n++)
        for (int32_t i = c->B->begin[n]; i < c->B->begin[n + 1]; i++)
            c->node[i] = (int32_t)n;
    return TACIT_OK;
}

/* What node `n` has in columns of others, and of itself: squares. */
typedef struct {
    double own, foreign;
} squares;

/* The row of node `n` into entries [from, ...) of N, squares yet, unless it is
 * only counted; returns where it ends. `place` [nodes] is below `from` for nodes
 * that were not met. */
static int64_t condense(condensation *c, int64_t n, bool counts, int64_t from,
                        int64_t *place, squares *s)
{
    const tct_csr *A = c->A;
    int64_t end = from;
    for (int64_t k = A->ptr[c->B->begin[n]]; k < A->ptr[c->B->begin[n + 1]];
         k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        const double square = A->val[k] * A->val[k];
        if (j < 0 || j >= A->rows) {
            s->foreign += square;
            continue;
        }
        const int32_t to = c->node[j];
        if (to == n) s->own += square;
        if (place[to] < from) {
            place[to] = end++;
            if (counts) continue;
            tct_csr_set_col(&c->N, place[to], c->N.first + to);
            c->N.val[place[to]] = 0.0;
        }
        if (!counts) c->N.val[place[to]] += square;
    }
    return end;
}

/* From squares to what an edge weighs. */
static void weigh_edges(condensation *c, int64_t n, const squares *s)
{
    double sum = sqrt(s->foreign);
    tct_csr *N = &c->N;
    for (int64_t k = N->ptr[n]; k < N->ptr[n + 1]; k++) {
        if (tct_csr_col(N, k) == N->first + n) continue;
        N->val[k] = -sqrt(N->val[k]);
        sum -= N->val[k];
    }
    for (int64_t k = N->ptr[n]; k < N->ptr[n + 1]; k++)
        if (tct_csr_col(N, k) == N->first + n)
            N->val[k] = fmax(sqrt(s->own), (1.0 + BEYOND) * sum);
}

/* Count the entries of each node's row, or make them. */
static tacit_status condense_all(condensation *c, bool counts)
{
    bool starved = false;
    TCT_OMP(omp parallel reduction(|| : starved))
    {
        int64_t *place = tct_alloc((size_t)c->B->nodes * sizeof *place);
        starved = place == NULL;
        for (int64_t n = 0; place && n < c->B->nodes; n++) place[n] = -1;
        TCT_OMP(omp for schedule(static))
        for (int64_t n = 0; n < c->B->nodes; n++) {
            squares s = {0};
            if (!place) continue;
            if (counts) {
                /* a thread's nodes ascend, so that n * nodes marks the row */
                const int64_t mark = n * c->B->nodes;
                c->N.ptr[n + 1] = condense(c, n, true, mark, place, &s) - mark;
            } else {
                condense(c, n, false, c->N.ptr[n], place, &s);
                weigh_edges(c, n, &s);
            }
        }
        tct_free(place);
    }
    if (starved) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

static tacit_status fill_graph(condensation *c, int64_t first, int64_t all)
{
    TRY(tct_csr_rows(&c->N, all, all, first, c->B->nodes));
    TRY(number_nodes(c));
    TRY(condense_all(c, true));
    for (int64_t n = 0; n < c->B->nodes; n++) c->N.ptr[n + 1] += c->N.ptr[n];
    TRY(tct_csr_entries(&c->N, c->N.ptr[c->B->nodes]));
    TRY(condense_all(c, false));
    return tct_csr_sort(&c->N, false, what);
}

/* The graph of nodes, without edges between ranks. */
static tacit_status make_graph(const tacit_matrix *A, const tct_near_null *B,
                               tacit_matrix **out)
{
    tacit_world *w = A->world;
    condensation c = {.A = &A->A, .B = B};
    int64_t *nodes = NULL, first = 0, all = 0;
    TRY(tct_agree(w, TCT_ALLOC(w->size, what, &nodes)));
    tacit_status status = tct_allgather(w, sizeof B->nodes, &B->nodes, nodes);
    for (int r = 0; r < w->size; r++) {
        if (r < w->rank) first += nodes[r];
        all += nodes[r];
    }
    tct_free(nodes);
    if (status >= 0) status = fill_graph(&c, first, all);
    tct_free(c.node);
    return tct_matrix_adopt(w, status, &c.N, out);
}

/* --- P ------------------------------------------------------------------------- */

/* The rows of aggregate `a`, of B into `Q`, and what P has of them back. */
static void factor(const tct_near_null *B, const tct_members *m, int64_t a,
                   double *Q, tct_aggregates *G)
{
    const size_t k = (size_t)B->vectors, bytes = k * sizeof *Q;
    const int32_t *row = m->member + m->begin[a];
    const int64_t rows = m->begin[a + 1] - m->begin[a];
    for (int64_t r = 0; r < rows; r++)
        memcpy(Q + (size_t)r * k, B->value + (size_t)row[r] * k, bytes);
    tct_qr(rows, B->vectors, Q, G->smooth + (size_t)a * k * k);
    for (int64_t r = 0; r < rows; r++)
        memcpy(G->weight + (size_t)row[r] * k, Q + (size_t)r * k, bytes);
}

static tacit_status factor_all(const tct_near_null *B, const tct_members *m,
                               tct_aggregates *G)
{
    int64_t most = 0;
    bool starved = false;
    for (int64_t a = 0; a < G->coarse; a++)
        if (m->begin[a + 1] - m->begin[a] > most)
            most = m->begin[a + 1] - m->begin[a];
    TCT_OMP(omp parallel reduction(|| : starved))
    {
        double *Q = tct_alloc((size_t)(most * B->vectors) * sizeof *Q);
        starved = Q == NULL;
        TCT_OMP(omp for schedule(static))
        for (int64_t a = 0; a < G->coarse; a++)
            if (Q) factor(B, m, a, Q, G);
        tct_free(Q);
    }
    if (starved) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

/* Aggregates of rows, from those of nodes. */
static tacit_status fill(const tct_near_null *B, const tct_aggregates *N,
                         tct_aggregates *G)
{
    const int64_t k = B->vectors;
    tct_members m = {0};
    TRY(TCT_ALLOC(G->rows, what, &G->of));
    TRY(TCT_ALLOC(G->rows * k, what, &G->weight));
    TRY(TCT_ALLOC(G->coarse * k * k, what, &G->smooth));
    memset(G->weight, 0, (size_t)(G->rows * k) * sizeof *G->weight);
    for (int64_t n = 0; n < B->nodes; n++)
        for (int32_t i = B->begin[n]; i < B->begin[n + 1]; i++)
            G->of[i] = N->of[n];
    tacit_status status = tct_list_members(G->rows, G->of, G->coarse, &m);
    if (status >= 0) status = factor_all(B, &m, G);
    tct_members_clear(&m);
    return status;
}

tacit_status tct_aggregate_nodes(const tacit_matrix *A, const tct_near_null *B,
                                 const tct_coarsening *how, tct_aggregates *out)
{
    TCT_THREADS_AT_MOST(A->world->threads);
    tacit_matrix *graph = NULL;
    tct_aggregates N = {0};
    TRY(tct_agree(A->world, tct_check_diagonal(A, "preconditioner amg")));
    TRY(make_graph(A, B, &graph));
    tacit_status status = tct_aggregate(graph, NULL, NULL, how, &N);
    tacit_matrix_destroy(&graph);
    TRY(status);
    tct_aggregates G = {.rows = A->A.rows,
                        .coarse = N.coarse,
                        .width = B->vectors,
                        .rounds = N.rounds};
    status = tct_agree(A->world, fill(B, &N, &G));
    tct_aggregates_free(&N);
    if (status < 0) tct_aggregates_free(&G);
    else *out = G;
    return status;
}
