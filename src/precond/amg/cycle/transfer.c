/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/transfer.c - P has one entry a row, or one for each column
 * of an aggregate: x += P e copies, P' r adds up over aggregates. Messages are
 * needed only for aggregates with rows of several ranks (remote_aggregates.c)
 * and levels kept by other ranks (level_redistribution.c). Both products read
 * 12 bytes a row besides vectors, and 8 for each further column, half of a row
 * block's. P' computes the residual r as it reads it and does not store it. */
#include "device/parallel.h"
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/amg.h"
#include "precond/amg/galerkin/row_accumulation.h"
#include <string.h>

typedef struct {
    int32_t *of, *ptr, *list;
    double *weight, *listed;
} lists;

/* Own and remote aggregates. */
static int64_t sets_of(const tct_aggregates *G)
{
    return G->coarse + G->others.count;
}

static tacit_status open_lists(const tct_aggregates *G, lists *l)
{
    *l = (lists){.of = NULL};
    TRY(TCT_ALLOC(G->rows, "a preconditioner", &l->of));
    TRY(TCT_ALLOC(sets_of(G) + 1, "a preconditioner", &l->ptr));
    TRY(TCT_ALLOC(G->rows * G->width, "a preconditioner", &l->weight));
    return TCT_ALLOC(G->rows * G->width, "a preconditioner", &l->listed);
}

/* Copies the weights of row `i` to row `k` of another array. */
static void copy_weights(const tct_aggregates *G, const double *from, int64_t i,
                         double *to, int64_t k)
{
    for (int j = 0; j < G->width; j++)
        to[k * G->width + j] = from[i * G->width + j];
}

typedef struct {
    const tct_aggregates *G;
    const tct_order *order;
    const lists *l;
} listing;

static void permute_rows(void *work, int64_t from, int64_t to)
{
    const listing *x = work;
    const tct_aggregates *G = x->G;
    for (int64_t k = from; k < to; k++) {
        const int64_t i = x->order ? x->order->old[k] : k;
        x->l->of[k] = G->of[i];
        copy_weights(G, G->weight, i, x->l->weight, k);
    }
}

static void list_weights(void *work, int64_t from, int64_t to)
{
    const listing *x = work;
    const lists *l = x->l;
    for (int64_t at = from; at < to; at++)
        copy_weights(x->G, l->weight, l->list[at], l->listed, at);
}

/* The rows of each aggregate, ascending in operator order. */
static tacit_status fill_lists(const tct_aggregates *G, const tct_order *order,
                               lists *l, int64_t *elements)
{
    const int64_t sets = sets_of(G);
    tct_members m = {.begin = NULL};
    listing x = {G, order, l};
    tct_parallel(G->rows, TCT_SHORT, permute_rows, &x);
    const tacit_status status = tct_list_members(G->rows, l->of, sets, &m);
    l->list = m.member;
    if (status >= 0) {
        *elements = m.begin[sets];
        for (int64_t c = 0; c <= sets; c++) l->ptr[c] = (int32_t)m.begin[c];
        tct_parallel(*elements, TCT_SHORT, list_weights, &x);
    }
    tct_free(m.begin);
    return status;
}

static tacit_status put_lists(tacit_queue *q, const lists *l, int64_t rows,
                              tct_amg_transfer *T)
{
    const size_t elements = (size_t)T->sets.elements;
    TRY(tct_amg_put(q, (size_t)T->sets.count + 1, l->ptr, &T->ptr));
    TRY(tct_amg_put(q, elements, l->list, &T->list));
    TRY(tct_amg_put(q, (size_t)rows, l->of, &T->of));
    const int64_t width = T->sets.width;
    TRY(tct_amg_put_values(q, (size_t)(rows * width), l->weight, &T->weight));
    TRY(tct_amg_put_values(q, elements * (size_t)width, l->listed, &T->listed));
    T->sets.ptr = (const int32_t *)(const void *)T->ptr;
    T->sets.list = (const int32_t *)(const void *)T->list;
    return TACIT_OK;
}

tacit_status tct_amg_transfer_create(tacit_queue *q, const tct_order *order,
                                     const tct_aggregates *G,
                                     tct_amg_transfer *T)
{
    lists l;
    *T = (tct_amg_transfer){.sets = {.count = sets_of(G), .width = G->width}};
    tacit_status status = open_lists(G, &l);
    if (status >= 0) status = fill_lists(G, order, &l, &T->sets.elements);
    if (status >= 0) status = put_lists(q, &l, G->rows, T);
    TCT_FREE(l.of, l.ptr, l.list, l.weight, l.listed);
    return status;
}

/* Download numbers that tct_amg_put uploaded. */
static void get_numbers(tacit_queue *q, int64_t count, const double *from,
                        double *scratch, int32_t *numbers)
{
    q_get(q, (size_t)(count + 1) / 2, from, scratch);
    memcpy(numbers, scratch, (size_t)count * sizeof *numbers);
}

/* Return `of` and `weight` from operator order to matrix order. */
static void put_in_order(const tct_order *order, const int32_t *of,
                         const double *weight, tct_aggregates *G)
{
    for (int64_t k = 0; k < G->rows; k++) {
        const int64_t i = order ? order->old[k] : k;
        G->of[i] = of[k];
        copy_weights(G, weight, k, G->weight, i);
    }
}

tacit_status tct_amg_transfer_recall(tacit_queue *q, const tct_order *order,
                                     int64_t rows, const tct_amg_transfer *T,
                                     tct_aggregates *G)
{
    const int64_t elements = rows * T->sets.width;
    int32_t *of = NULL;
    double *weight = NULL;
    *G = (tct_aggregates){.rows = rows,
                          .coarse = T->sets.count - T->remote.halo.ghosts.count,
                          .width = T->sets.width};
    const tct_ghosts *others = &T->remote.halo.ghosts;
    tacit_status status =
        tct_ghosts_of(others->count, others->id, NULL, &G->others);
    if (status >= 0) status = TCT_ALLOC(rows, "a preconditioner", &of);
    if (status >= 0)
        status = TCT_ALLOC(elements + 1, "a preconditioner", &weight);
    if (status >= 0) status = TCT_ALLOC(rows, "a preconditioner", &G->of);
    if (status >= 0)
        status = TCT_ALLOC(elements, "a preconditioner", &G->weight);
    if (status >= 0) {
        get_numbers(q, rows, T->of, weight, of);
        q_get(q, (size_t)elements, T->weight, weight);
        status = q_own_status(q);
    }
    if (status >= 0) put_in_order(order, of, weight, G);
    TCT_FREE(of, weight);
    return status;
}

void tct_amg_transfer_free(tacit_queue *q, tct_amg_transfer *T)
{
    double **const all[] = {&T->ptr, &T->list, &T->of, &T->weight, &T->listed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(q, all[i]);
    tct_amg_remote_free(q, &T->remote);
    tct_amg_redistribution_free(&T->redistribution);
}
