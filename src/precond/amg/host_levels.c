/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/host_levels.c - levels made by the host, with new aggregates, or
 * again with those of another hierarchy. */
#include "device/parallel.h"
#include "precond/amg/cycle/fused_coarse.h"
#include "precond/amg/levels.h"

static const tct_coarsening pairwise = {.passes = 3};

/* --- the next level ------------------------------------------------------- */

static bool is_positive_range(const void *work, int64_t from, int64_t to)
{
    const tct_csr *A = work;
    for (int64_t i = from; i < to; i++) {
        const int64_t k = tct_csr_find(A, i, A->first + i);
        if (k < 0 || !(A->val[k] > 0.0)) return false;
    }
    return true;
}

/* Is each diagonal entry of `m` positive? Collective. */
static tacit_status is_positive(const tacit_matrix *m, bool *out)
{
    bool bad =
        !tct_parallel_all(m->A.rows, TCT_SHORT, is_positive_range, &m->A);
    TRY(tct_any(m->world, bad, &bad));
    *out = !bad;
    return TACIT_OK;
}

/* P'AP by the aggregates of `next`. */
static tacit_status multiply(const tct_amg_growth *g, tct_amg_next *next)
{
    TRY(g->near.vectors > 0 ? tct_block_galerkin(g->m, &next->G, &next->matrix)
                            : tct_galerkin(g->m, &next->G, &next->matrix));
    tct_aggregates_forget(&next->G);
    next->rows = next->matrix->A.rows;
    next->all = next->matrix->A.global_rows;
    next->nonzeros = next->matrix->nonzeros;
    next->rounds = next->G.rounds;
    return is_positive(next->matrix, &next->positive);
}

static tacit_status coarsen(tct_amg_growth *g, tct_amg_next *next)
{
    TRY(g->near.vectors > 0
            ? tct_aggregate_nodes(g->m, &g->near, &pairwise, &next->G)
            : tct_aggregate(g->m, g->smooth, g->index, &pairwise, &next->G));
    return multiply(g, next);
}

/* Recompute what products need. */
static tacit_status coarsen_again(tct_amg_growth *g, tct_amg_next *next)
{
    tacit_world *w = g->A->world;
    tct_aggregates *G = &next->G;
    TRY(tct_agree(w, tct_amg_recall(g, g->M->levels - 1, G)));
    TRY(tct_halo_of_columns(w, g->m->starts, &g->m->A, &G->halo));
    return multiply(g, next);
}

/* --- the operator --------------------------------------------------------- */

static tacit_status floats(const tct_amg_growth *g, bool *out)
{
    const bool several = g->near.value != NULL;
    return tct_amg_floats_will_do(g->m, several ? g->near.value : g->smooth,
                                  several ? g->near.vectors : 1, out);
}

static tacit_status view(const tct_amg_growth *g, tct_amg_level *L)
{
    return tct_operator_rounded(g->A, g->m, &L->own);
}

static tacit_status coarse(const tct_amg_growth *g, tct_amg_level *L)
{
    if (g->floats) tct_amg_round(g->own);
    return tct_amg_operator_of(g->A->q, g->m, g->near.vectors > 1, g->floats,
                               &L->own);
}

static tacit_status rows(const tct_amg_growth *g, const tct_amg_level *L,
                         tct_amg_rows *out)
{
    return tct_amg_rows_of(g->m, L->A->order, L->exponent, out);
}

static tacit_status keep(const tct_amg_growth *g, tct_amg_level *L)
{
    return tct_amg_fused_keep(g->M, g->m, L);
}

/* --- transfer ------------------------------------------------------------- */

/* Do the rows of the next level stay, as it is replicated? */
static bool stays(const tct_amg_growth *g, const tct_amg_next *next)
{
    return !tct_amg_is_small(g, next->all) &&
           tct_amg_fused_for_each(g->M, next->all, next->nonzeros);
}

/* Move the rows of the next level to the ranks that keep them: as `as` says, or
 * NULL. */
static tacit_status move(const tct_amg_growth *g, tct_amg_next *next,
                         const int64_t *as)
{
    const bool small = tct_amg_is_small(g, next->all);
    TRY(tct_amg_move(next->matrix, next->G.width, small, g->M->base.op.n, as,
                     &next->redistribution));
    next->rows = next->matrix->A.rows;
    return TACIT_OK;
}

static tacit_status open_exchange(const tct_amg_growth *g, tct_amg_level *L)
{
    if (!L->down.redistribution.to) return TACIT_OK;
    return tacit_queue_alloc(g->A->q, (size_t)tct_amg_restricted(&L->down),
                             &L->e);
}

static tacit_status make_transfer(const tct_amg_growth *g, tct_amg_next *next,
                                  tct_amg_level *L)
{
    const tct_aggregates *G = &next->G;
    TRY(tct_amg_copy_smooth(G, G->smooth, &L->smooth));
    TRY(tct_amg_transfer_create(g->A->q, L->A->order, G, &L->down));
    L->down.redistribution = next->redistribution;
    next->redistribution = (tct_amg_redistribution){.to = NULL};
    return open_exchange(g, L);
}

static tacit_status transfer(tct_amg_growth *g, tct_amg_next *next,
                             tct_amg_level *L)
{
    if (!stays(g, next)) {
        TRY(move(g, next, NULL));
        TRY(tct_amg_redistribution_columns(&next->redistribution, g->A->q, 1));
    }
    TRY(tct_agree(g->A->world, make_transfer(g, next, L)));
    return tct_amg_remote_create(g->A->q, &next->G, &L->down.remote);
}

static tacit_status transfer_again(tct_amg_growth *g, tct_amg_next *next,
                                   tct_amg_level *L)
{
    const tct_aggregates *G = &next->G;
    const int64_t *as = tct_amg_model(g)->down.redistribution.to;
    if (as && !stays(g, next)) TRY(move(g, next, as));
    tacit_status status = tct_amg_copy_smooth(G, G->smooth, &L->smooth);
    tct_amg_borrow_transfer(g, L);
    if (status >= 0) status = open_exchange(g, L);
    return tct_agree(g->A->world, status);
}

/* --- descent -------------------------------------------------------------- */

/* Move the smooth vectors to the ranks that keep the rows. */
static tacit_status move_smooth(const tct_amg_growth *g, tct_amg_next *next)
{
    const tct_amg_redistribution *redistribution =
        &tct_amg_current(g)->down.redistribution;
    tct_aggregates *G = &next->G;
    TRY(tct_amg_move_values(g->A->world, redistribution, G->width, &G->smooth));
    if (G->index) {
        double *words = (double *)(void *)G->index; /* of the same size */
        TRY(tct_amg_move_values(g->A->world, redistribution, 1, &words));
        G->index = (int64_t *)(void *)words;
    }
    G->coarse = next->rows / G->width;
    return TACIT_OK;
}

static tacit_status descend(tct_amg_growth *g, tct_amg_next *next)
{
    TRY(move_smooth(g, next));
    tct_amg_current(g)->index = g->index;
    g->index = next->G.index;
    next->G.index = NULL;
    tacit_matrix_destroy(&g->own);
    g->own = next->matrix;
    next->matrix = NULL;
    tct_amg_set_size(g, g->own);
    if (g->near.vectors > 0)
        return tct_near_null_next(&g->near, &next->G, g->index);
    tct_free(g->smooth);
    g->smooth = next->G.smooth;
    next->G.smooth = NULL;
    return TACIT_OK;
}

static tacit_status leave(tct_amg_growth *g)
{
    (void)g; /* it is the host's */
    return TACIT_OK;
}

/* --- the tables ----------------------------------------------------------- */

const tct_amg_maker tct_amg_on_host = {.where = "",
                                       .coarsen = coarsen,
                                       .floats = floats,
                                       .view = view,
                                       .coarse = coarse,
                                       .rows = rows,
                                       .keep = keep,
                                       .transfer = transfer,
                                       .descend = descend,
                                       .leave = leave};

const tct_amg_maker tct_amg_on_host_again = {.where = "",
                                             .coarsen = coarsen_again,
                                             .floats = floats,
                                             .view = view,
                                             .coarse = coarse,
                                             .rows = rows,
                                             .keep = keep,
                                             .transfer = transfer_again,
                                             .descend = descend,
                                             .leave = leave};
