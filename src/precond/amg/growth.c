/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/growth.c - a growing hierarchy: its sizes and smooth vectors. */
#include "precond/amg/levels.h"
#include <stdio.h>
#include <string.h>

/* Rows of a matrix to be inverted, where coarsening stops. */
enum { SMALL = 800 };

/* An inverse costs n^3 / 2: at most WORTH / 2 products with the matrix. If it
 * saves all levels and iterations, the matrix counts with ALONE more
 * entries. */
static const double WORTH = 100.0, ALONE = 1.5e4;

void tct_amg_set_size(tct_amg_growth *g, const tacit_matrix *m)
{
    g->m = m;
    g->first = m->A.first;
    g->rows = m->A.rows;
    g->all = m->A.global_rows;
    g->nonzeros = m->nonzeros;
}

const tct_amg *tct_amg_whole(const tct_amg_growth *g)
{
    return g->M->part_of ? g->M->part_of : g->M;
}

bool tct_amg_is_small(const tct_amg_growth *g, int64_t rows)
{
    const double n = (double)rows;
    const double entries = (double)tct_amg_whole(g)->level[0].about.nonzeros;
    return n <= SMALL &&
           n * n * n <=
               WORTH * (entries + (tct_amg_is_finest(g) ? ALONE : 0.0));
}

void tct_amg_borrow_transfer(const tct_amg_growth *g, tct_amg_level *L)
{
    const tct_amg_level *as = tct_amg_model(g);
    L->down = as->down;
    L->blocks = as->blocks;
    L->block_count = as->block_count;
}

/* --- smooth vectors ------------------------------------------------------- */

/* Length of P' of the smooth vectors, for the aggregates of this rank's
 * rows. */
static int64_t smooth_of(const tct_aggregates *G)
{
    return (G->coarse + G->others.count) * G->width * G->width;
}

tacit_status tct_amg_copy_smooth(const tct_aggregates *G, const double *from,
                                 double **out)
{
    const int64_t count = smooth_of(G);
    TRY(TCT_ALLOC(count, "a preconditioner", out));
    if (count > 0) memcpy(*out, from, (size_t)count * sizeof **out);
    return TACIT_OK;
}

tacit_status tct_amg_recall(const tct_amg_growth *g, int level,
                            tct_aggregates *G)
{
    const tct_amg_level *L = &g->as->level[level];
    TRY(tct_amg_transfer_recall(g->A->q, L->A->order, L->n, &L->down, G));
    return tct_amg_copy_smooth(G, L->smooth, &G->smooth);
}

/* A single vector is used by row aggregates. */
tacit_status tct_amg_open_smooth(tct_amg_growth *g,
                                 const tct_near_null_options *o)
{
    tct_near_null *B = &g->near;
    TRY(tct_near_null_find(g->m, o, B));
    if (B->vectors == 0) return TACIT_OK;
    const size_t used = strlen(g->M->detail);
    snprintf(g->M->detail + used, sizeof g->M->detail - used,
             ", %d near-null vector%s", B->vectors, B->vectors > 1 ? "s" : "");
    bool nodes = false; /* nodes of several rows, on any rank */
    TRY(tct_any(g->m->world, B->nodes < g->m->A.rows, &nodes));
    g->M->given = true;
    if (B->vectors > 1 || nodes) {
        g->M->vectors = B->vectors;
        return TACIT_OK; /* a device does not need them on the host */
    }
    TRY(tct_agree(g->m->world, tct_near_null_fill(B)));
    g->smooth = B->value;
    B->value = NULL;
    tct_near_null_clear(B);
    return TACIT_OK;
}

/* w = P (P' w), from G. */
static void expand(const tct_aggregates *G, double *w)
{
    const int64_t k = G->width;
    memset(w, 0, (size_t)(G->rows * k) * sizeof *w);
    for (int64_t i = 0; i < G->rows; i++) {
        if (G->of[i] < 0) continue;
        const double *R = G->smooth + G->of[i] * k * k;
        for (int64_t c = 0; c < k; c++)
            for (int64_t v = 0; v < k; v++)
                w[i * k + v] += G->weight[i * k + c] * R[c * k + v];
    }
}

tacit_status tct_amg_recall_smooth(tct_amg_growth *g)
{
    tct_aggregates G = {.rows = 0};
    double *w = NULL;
    g->near.vectors = g->as->vectors;
    if (!g->as->given || g->as->levels == 1) return TACIT_OK;
    tacit_status status = tct_amg_recall(g, 0, &G);
    if (status >= 0)
        status = TCT_ALLOC(G.rows * G.width, "a preconditioner", &w);
    if (status >= 0) expand(&G, w);
    tct_aggregates_free(&G);
    *(g->near.vectors > 0 ? &g->near.value : &g->smooth) = w;
    return tct_agree(g->A->world, status);
}
