/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin.c - P' A P, rows of aggregates on the ranks that have
 * them. What other ranks' rows belong to is asked for once.
 *
 * All passes but the last have been added up already, in B = Q' W A W Q; so
 * P' A P = S^-1 (Q' B Q) S^-1, with Q of the last one (aggregate.c). */
#include "matrix/directory.h"
#include "precond/amg/coarsen.h"
#include "precond/amg/contract.h"

static const char *const what = "a matrix of aggregates";

typedef struct {
    const tacit_matrix *A;
    const tct_aggregates *G;
    int64_t *starts; /* [size + 1] first aggregate of each rank */
    int64_t *number; /* [rows] global numbers of aggregates */
    int64_t *ghost_of;
    double *ghost_weight;
    double *scale; /* [rows of B] S^-1; NULL: A is added up */
} galerkin;

static tacit_status allocate(galerkin *g)
{
    const tct_aggregates *G = g->G;
    TRY(tct_matrix_require_entries(g->A));
    TRY(TCT_ALLOC(g->A->world->size + 1, what, &g->starts));
    TRY(TCT_ALLOC(G->rows, what, &g->number));
    TRY(TCT_ALLOC(G->ghosts.count, what, &g->ghost_of));
    TRY(TCT_ALLOC(G->ghosts.count, what, &g->ghost_weight));
    if (!G->B.ptr) return TACIT_OK;
    TRY(TCT_ALLOC(G->B.rows, what, &g->scale));
    for (int64_t k = 0; k < G->B.rows; k++)
        g->scale[k] = G->up[k] < 0 ? 0.0 : 1.0 / G->smooth[G->up[k]];
    return TACIT_OK;
}

/* Which aggregates the columns of other ranks belong to. */
static tacit_status ask(galerkin *g)
{
    tacit_world *w = g->A->world;
    const int64_t *owners = g->A->starts;
    TRY(tct_allgather(w, sizeof g->G->coarse, &g->G->coarse, g->starts + 1));
    g->starts[0] = 0;
    for (int r = 0; r < w->size; r++) g->starts[r + 1] += g->starts[r];
    for (int64_t i = 0; i < g->G->rows; i++)
        g->number[i] = g->G->of[i] < 0 ? -1 : g->starts[w->rank] + g->G->of[i];
    TRY(tct_ask(w, owners, g->number, g->G->ghosts.count, g->G->ghosts.id,
                g->ghost_of));
    return tct_ask(w, owners, g->G->weight, g->G->ghosts.count, g->G->ghosts.id,
                   g->ghost_weight);
}

static tacit_status multiply(galerkin *g, tct_csr *out)
{
    tacit_world *w = g->A->world;
    TRY(tct_agree(w, allocate(g)));
    TRY(ask(g));
    const tct_aggregates *G = g->G;
    const bool passed = g->scale != NULL;
    const tct_contraction c = {.A = passed ? &G->B : &g->A->A,
                               .of = passed ? G->up : G->of,
                               .weight = passed ? g->scale : G->weight,
                               .coarse = G->coarse,
                               .first = g->starts[w->rank],
                               .all = g->starts[w->size],
                               .ghosts = passed ? NULL : &G->ghosts,
                               .ghost_of = g->ghost_of,
                               .ghost_weight = g->ghost_weight};
    TRY(tct_contract(&c, out));
    return tct_csr_sort(out, false, what);
}

tacit_status tct_galerkin(const tacit_matrix *A, const tct_aggregates *G,
                          tacit_matrix **coarse)
{
    TCT_THREADS_AT_MOST(A->world->threads);
    galerkin g = {.A = A, .G = G};
    tct_csr B = {0};
    const tacit_status status = multiply(&g, &B);
    TCT_FREE(g.starts, g.number, g.ghost_of, g.ghost_weight, g.scale);
    TRY(tct_matrix_adopt(A->world, status, &B, coarse));
    (*coarse)->format = "galerkin";
    return TACIT_OK;
}
