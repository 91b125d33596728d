/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/galerkin.c - P' A P; the rank of an aggregate computes
 * its row. The aggregates of ghosts are fetched once.
 *
 * B = Q' W A W Q contains all passes but the last; so P' A P = S^-1 (Q' B Q)
 * S^-1 with Q of the last pass (aggregate.c). */
#include "comm/setup/alltoall.h"
#include "device/parallel.h"
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/aggregation/edges.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/galerkin/row_accumulation.h"

static const char *const what = "a matrix of aggregates";

typedef struct {
    const tacit_matrix *A;
    const tct_aggregates *G;
    bool passed;     /* B is added up, not A                  */
    int64_t *starts; /* [size + 1] first aggregate of each rank */
    int64_t *ghost_of;
    double *ghost_weight;
    double *scale; /* [rows of B] S^-1; NULL with A */
} galerkin;

/* The aggregates of the rows. */
static const int32_t *aggregates_of(const galerkin *g)
{
    return g->passed ? g->G->up : g->G->of;
}

static const tct_ghosts *others_of(const galerkin *g)
{
    return g->passed ? &g->G->up_others : &g->G->others;
}

/* The factor that turns the smooth vector in row `k` of B to 1. */
static double scale_of(const tct_aggregates *G, int64_t k)
{
    int64_t n = G->up[k];
    if (n < 0) return 0.0;
    if (n >= G->coarse)
        n = G->coarse +
            tct_ghost_place(&G->others, G->up_others.id[n - G->coarse]);
    return 1.0 / G->smooth[n];
}

static tacit_status allocate(galerkin *g)
{
    const tct_aggregates *G = g->G;
    TRY(tct_matrix_require_entries(g->A));
    TRY(TCT_ALLOC(g->A->world->size + 1, what, &g->starts));
    TRY(TCT_ALLOC(G->halo.ghosts.count, what, &g->ghost_of));
    TRY(TCT_ALLOC(G->halo.ghosts.count, what, &g->ghost_weight));
    if (!g->passed) return TACIT_OK;
    TRY(TCT_ALLOC(G->B.rows, what, &g->scale));
    for (int64_t k = 0; k < G->B.rows; k++) g->scale[k] = scale_of(G, k);
    return TACIT_OK;
}

/* Fetch the aggregates of ghosts. */
static tacit_status fetch_aggregates(galerkin *g)
{
    const tct_aggregates *G = g->G;
    const tct_halo *h = &G->halo;
    TRY(tct_numbering_starts(g->A->world, G->coarse, g->starts));
    const int64_t first = g->starts[g->A->world->rank];
    for (int64_t k = 0; k < h->shared; k++)
        h->out[k] = tct_place_number(aggregates_of(g)[h->row[k]], first,
                                     G->coarse, others_of(g));
    TRY(tct_halo_trade(h, 1, g->ghost_of));
    return tct_halo_bring(h, g->passed ? g->scale : G->weight, g->ghost_weight);
}

static bool is_alone(const tct_csr *C, int64_t n)
{
    return C->ptr[n + 1] == C->ptr[n] + 1 &&
           tct_csr_col(C, C->ptr[n]) == C->first + n;
}

static tacit_status diagonal_of(const tct_csr *A, tct_csr *out)
{
    TRY(tct_csr_rows(out, A->global_rows, A->global_cols, A->first, A->rows));
    TRY(tct_csr_entries(out, A->rows));
    for (int64_t i = 0; i < A->rows; i++) {
        out->ptr[i + 1] = i + 1;
        out->val[i] = tct_csr_diagonal(A, i);
        tct_csr_set_col(out, i, A->first + i);
    }
    return TACIT_OK;
}

/* P' D P, D the diagonal of the level. */
static tacit_status add_diagonals(const galerkin *g, tct_csr *D, tct_csr *out)
{
    tacit_world *w = g->A->world;
    const tct_aggregates *G = g->G;
    TRY(tct_agree(w, diagonal_of(&g->A->A, D)));
    return tct_accumulate_all(w, g->starts,
                              &(tct_contraction){.A = D,
                                                 .of = G->of,
                                                 .weight = G->weight,
                                                 .coarse = G->coarse,
                                                 .first = g->starts[w->rank],
                                                 .all = g->starts[w->size],
                                                 .others = &G->others},
                              out);
}

/* Complete isolated rows of `C` (edges.h). */
static tacit_status complete(const galerkin *g, tct_csr *C)
{
    tct_csr D = {0}, sums = {0};
    bool any = false;
    for (int64_t n = 0; n < C->rows && !any; n++) any = is_alone(C, n);
    TRY(tct_any(g->A->world, any, &any));
    if (!any) return TACIT_OK;
    const tacit_status status = add_diagonals(g, &D, &sums);
    for (int64_t n = 0; status >= 0 && n < C->rows; n++) {
        const double d = sums.val[sums.ptr[n]];
        double *value = &C->val[C->ptr[n]];
        if (is_alone(C, n) && tct_is_rounding(*value, d)) *value = d;
    }
    tct_csr_clear(&D);
    tct_csr_clear(&sums);
    return status;
}

static tacit_status multiply(galerkin *g, tct_csr *out)
{
    tacit_world *w = g->A->world;
    TRY(tct_agree(w, allocate(g)));
    TRY(fetch_aggregates(g));
    const tct_aggregates *G = g->G;
    const tct_contraction c = {.A = g->passed ? &G->B : &g->A->A,
                               .of = aggregates_of(g),
                               .weight = g->passed ? g->scale : G->weight,
                               .coarse = G->coarse,
                               .first = g->starts[w->rank],
                               .all = g->starts[w->size],
                               .ghosts = &G->halo.ghosts,
                               .ghost_of = g->ghost_of,
                               .ghost_weight = g->ghost_weight,
                               .others = others_of(g)};
    TRY(tct_accumulate_all(w, g->starts, &c, out));
    TRY(tct_agree(w, tct_csr_sort(out, false, what)));
    return complete(g, out);
}

tacit_status tct_galerkin(const tacit_matrix *A, const tct_aggregates *G,
                          tacit_matrix **coarse)
{
    TCT_THREADS_AT_MOST(tct_world_threads(A->world));
    galerkin g = {.A = A, .G = G, .passed = G->B.ptr != NULL};
    tct_csr B = {0};
    const tacit_status status = multiply(&g, &B);
    TCT_FREE(g.starts, g.ghost_of, g.ghost_weight, g.scale);
    TRY(tct_matrix_adopt(A->world, status, &B, coarse));
    (*coarse)->format = "galerkin";
    return TACIT_OK;
}
