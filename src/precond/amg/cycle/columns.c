/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/columns.c - memory for several right-hand sides. The code
 * of the cycle is the same: its operations apply to all columns, so that the
 * matrix of each level is read once for four of them.
 *
 * An operation has one stride between columns, that of the solver's vectors
 * (tct_stride). So the vectors of all levels are placed in panels with this
 * stride: vectors of the finest level take a panel each, those of coarser
 * levels share panels. */
#include "precond/amg/amg.h"

/* Vectors of a level, at most. */
enum { VECTORS = 7 };

typedef struct {
    int count;
    double **vector[VECTORS * TCT_AMG_LEVELS_MOST];
    size_t room[VECTORS * TCT_AMG_LEVELS_MOST];
    size_t at[VECTORS * TCT_AMG_LEVELS_MOST]; /* offset in the panels */
    size_t stride, panels;
} layout;

static void add_vectors(layout *y, tct_amg_level *L)
{
    double **const all[VECTORS] = {&L->smoother.t, &L->smoother.y, &L->b, &L->x,
                                   &L->b2,         &L->x2,         &L->e};
    for (int i = 0; i < VECTORS; i++) {
        if (!*all[i]) continue;
        const bool shared = all[i] == &L->b || all[i] == &L->x;
        const int64_t n = all[i] == &L->e ? tct_amg_restricted(&L->down)
                          : shared        ? L->room
                                          : L->n;
        y->vector[y->count] = all[i];
        y->room[y->count++] = tct_stride((size_t)n);
    }
}

static layout layout_of(tct_amg *M, int columns)
{
    layout y = {.stride = tct_stride((size_t)M->base.op.n)};
    for (int l = 0; l < M->levels; l++) add_vectors(&y, &M->level[l]);
    size_t end = y.stride; /* end of the last panel */
    for (int i = 0; i < y.count; i++, end += y.room[i - 1]) {
        if (end + y.room[i] > y.stride) {
            y.panels++;
            end = 0;
        }
        y.at[i] = (y.panels - 1) * (size_t)columns * y.stride + end;
    }
    return y;
}

/* A level of nodes may have more rows than the finest level on some rank. */
static bool fits(const layout *y)
{
    for (int i = 0; i < y->count; i++)
        if (y->room[i] > y->stride) return false;
    return true;
}

static tacit_status allocate(tacit_queue *q, const layout *y, int columns,
                             double **out)
{
    const size_t n = y->panels * (size_t)columns * y->stride;
    TRY(tct_memory_require(8.0 * (double)n, "columns of a preconditioner"));
    return tacit_queue_alloc(q, n, out);
}

/* Move all vectors into panels. */
static tacit_status move(tct_amg *M, const layout *y, int columns)
{
    tacit_queue *q = M->base.op.q;
    double *panel = NULL;
    TRY(tct_agree(M->base.op.world, allocate(q, y, columns, &panel)));
    for (int i = 0; i < y->count; i++) {
        if (!M->panel) tacit_queue_free(q, y->vector[i]);
        *y->vector[i] = panel + y->at[i];
    }
    tacit_queue_free(q, &M->panel);
    M->panel = panel;
    M->columns = columns;
    return TACIT_OK;
}

/* Plan the exchanges of all levels for `columns` vectors. */
static tacit_status widen_exchanges(tct_amg *M, int columns)
{
    for (int l = 0; l < M->levels; l++) {
        tct_amg_level *L = &M->level[l];
        if (L->own) TRY(tct_operator_columns(L->own, columns));
        TRY(tct_amg_redistribution_columns(&L->down.redistribution,
                                           M->base.op.q, columns));
        TRY(tct_amg_remote_columns(&L->down.remote, M->base.op.q, columns));
    }
    return tct_amg_coarsest_columns(&M->coarsest, M->base.op.q, columns);
}

tacit_status tct_amg_columns(tacit_operator *base, int columns)
{
    tct_amg *M = (tct_amg *)(void *)base;
    const bool less = columns == 1;
    if (base->q->device->kind != TCT_KIND_HOST || M->krylov > 0 || M->alone.M)
        return TACIT_OK;
    if (less ? M->columns <= 1 : columns <= M->columns) return TACIT_OK;
    const layout y = layout_of(M, columns);
    bool large = false;
    TRY(tct_any(base->world, !fits(&y), &large));
    if (large) return TACIT_OK;
    tacit_status status = widen_exchanges(M, columns);
    if (status >= 0) status = move(M, &y, columns);
    return less && status == TACIT_NO_MEMORY ? TACIT_OK : status;
}

bool tct_amg_for_batch(const tacit_operator *base, const tacit_queue *q)
{
    const tct_amg *M = (const tct_amg *)(const void *)base;
    return q->batch.count <= M->columns &&
           q->batch.stride == tct_stride((size_t)base->n);
}

void tct_amg_columns_clear(tct_amg *M)
{
    if (!M->panel) return;
    const layout y = layout_of(M, 1);
    for (int i = 0; i < y.count; i++) *y.vector[i] = NULL;
    tacit_queue_free(M->base.op.q, &M->panel);
    M->columns = 0;
}
