/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/remote_aggregates.c - aggregates with rows on several
 * ranks. Each rank restricts its rows to a partial sum, stored after its own
 * aggregates. Partial sums are sent to the rank that keeps the aggregate, which
 * adds them in the order of ranks; for prolongation its value is sent back to
 * them. */
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/amg.h"
#include <string.h>

static const char *const what = "aggregates of several ranks";

/* --- targets of partial sums ---------------------------------------------- */

/* Received partial sums by target element. */
typedef struct {
    int32_t *of;         /* [made] set of each element, -1 */
    int32_t *ptr, *list; /* [made + 1], [shares] */
    double *ones;        /* [made, or shares]    */
    double *zeros;       /* [shares]             */
} lists;

static tacit_status open_lists(int64_t made, int64_t remote, lists *l)
{
    const int64_t most = made > remote ? made : remote;
    *l = (lists){.of = NULL};
    TRY(TCT_ALLOC(made, what, &l->of));
    TRY(TCT_ALLOC(made + 1, what, &l->ptr));
    TRY(TCT_ALLOC(remote, what, &l->list));
    TRY(TCT_ALLOC(most, what, &l->ones));
    TRY(TCT_ALLOC(remote, what, &l->zeros));
    for (int64_t k = 0; k < most; k++) l->ones[k] = 1.0;
    for (int64_t k = 0; k < remote; k++) l->zeros[k] = 0.0;
    return TACIT_OK;
}

/* The target element of the `k`-th received value. */
static int64_t target_of(const tct_amg_remote *S, int64_t k)
{
    return (int64_t)S->halo.row[k / S->width] * S->width + k % S->width;
}

/* Fill the lists; returns the number of sets. */
static int64_t fill_lists(const tct_amg_remote *S, lists *l)
{
    const int64_t made = S->made, received = tct_amg_received(S);
    int64_t sets = 0, end = 0;
    for (int64_t n = 0; n < made; n++) l->of[n] = 0;
    for (int64_t k = 0; k < received; k++) l->of[target_of(S, k)]++;
    for (int64_t n = 0; n < made; n++) {
        const int32_t remote = l->of[n];
        l->of[n] = remote > 0 ? (int32_t)sets : -1;
        if (remote == 0) continue;
        l->ptr[sets++] = (int32_t)end;
        end += remote;
    }
    for (int64_t k = 0; k < received; k++)
        l->list[l->ptr[l->of[target_of(S, k)]]++] = (int32_t)k;
    for (int64_t s = sets; s > 0; s--) l->ptr[s] = l->ptr[s - 1];
    l->ptr[0] = 0;
    return sets;
}

static tacit_status put_lists(tacit_queue *q, const lists *l, tct_amg_remote *S)
{
    const size_t made = (size_t)S->made, remote = (size_t)tct_amg_received(S);
    const size_t most = made > remote ? made : remote;
    S->sets.width = 1;
    S->sets.elements = tct_amg_received(S);
    TRY(tct_amg_put(q, (size_t)S->sets.count + 1, l->ptr, &S->ptr));
    TRY(tct_amg_put(q, remote, l->list, &S->list));
    TRY(tct_amg_put(q, made, l->of, &S->of));
    TRY(tct_amg_put_values(q, most, l->ones, &S->ones));
    TRY(tct_amg_put_values(q, remote, l->zeros, &S->zeros));
    S->sets.ptr = (const int32_t *)(const void *)S->ptr;
    S->sets.list = (const int32_t *)(const void *)S->list;
    return tacit_queue_alloc(q, (size_t)S->sets.count, &S->sum);
}

static tacit_status list_shares(tacit_queue *q, tct_amg_remote *S)
{
    lists l;
    tacit_status status = open_lists(S->made, tct_amg_received(S), &l);
    if (status >= 0) {
        S->sets.count = fill_lists(S, &l);
        status = put_lists(q, &l, S);
    }
    TCT_FREE(l.of, l.ptr, l.list, l.ones, l.zeros);
    return status;
}

/* --- messages ------------------------------------------------------------- */

/* Channels to or from each rank with aggregates, `count` [ranks] of `width`
 * elements; returns how many. */
static int list_channels(int ranks, int width, const int64_t *count,
                         tct_plan_part *out)
{
    int n = 0;
    for (int r = 0; r < ranks; r++)
        if (count[r] > 0)
            out[n++] = (tct_plan_part){.peer = r, .count = count[r] * width};
    return n;
}

/* Plan messages of elements `index`, for `to` aggregates to each rank. */
static tacit_status plan(tacit_queue *q, int width, const int64_t *to,
                         const int32_t *index, const int64_t *from, int columns,
                         tct_plan **out)
{
    tct_plan_part *send = NULL, *recv = NULL;
    int sends = 0, recvs = 0;
    tacit_status status = TCT_ALLOC(q->ranks, what, &send);
    if (status >= 0) status = TCT_ALLOC(q->ranks, what, &recv);
    status = tct_agree(q->world, status);
    if (status >= 0) {
        sends = list_channels(q->ranks, width, to, send);
        recvs = list_channels(q->ranks, width, from, recv);
        status = tct_plan_from_lists(q, sends, send, index, recvs, recv,
                                     columns, out);
    }
    TCT_FREE(send, recv);
    return status;
}

/* Send partial sums, which follow the own aggregates. */
static tacit_status plan_forward(const tct_amg_remote *S, tacit_queue *q,
                                 int columns, tct_plan **out)
{
    const tct_halo *h = &S->halo;
    const int64_t sent = tct_amg_sent(S);
    int32_t *index = NULL;
    tacit_status status = tct_agree(q->world, TCT_ALLOC(sent, what, &index));
    for (int64_t k = 0; status >= 0 && k < sent; k++)
        index[k] = (int32_t)(S->made + k);
    if (status >= 0)
        status = plan(q, S->width, h->from, index, h->to, columns, out);
    tct_free(index);
    return status;
}

/* Send the values of aggregates to the ranks with partial sums. */
static tacit_status plan_back(const tct_amg_remote *S, tacit_queue *q,
                              int columns, tct_plan **out)
{
    const tct_halo *h = &S->halo;
    const int64_t received = tct_amg_received(S);
    int32_t *index = NULL;
    tacit_status status =
        tct_agree(q->world, TCT_ALLOC(received, what, &index));
    for (int64_t k = 0; status >= 0 && k < received; k++)
        index[k] = (int32_t)target_of(S, k);
    if (status >= 0)
        status = plan(q, S->width, h->to, index, h->from, columns, out);
    tct_free(index);
    return status;
}

tacit_status tct_amg_remote_columns(tct_amg_remote *S, tacit_queue *q,
                                    int columns)
{
    tct_plan *forward = NULL, *back = NULL;
    if (!S->halo.world) return TACIT_OK;
    tacit_status status = plan_forward(S, q, columns, &forward);
    if (status >= 0) status = plan_back(S, q, columns, &back);
    if (status < 0) {
        tct_plan_destroy(&forward);
        return status;
    }
    tct_plan_destroy(&S->forward);
    tct_plan_destroy(&S->back);
    S->forward = forward;
    S->back = back;
    return TACIT_OK;
}

/* --- creation ------------------------------------------------------------- */

static tacit_status open_shares(tacit_queue *q, const tct_aggregates *G,
                                int64_t *starts, tct_amg_remote *S)
{
    TRY(tct_numbering_starts(q->world, G->coarse, starts));
    TRY(tct_halo_of(q->world, starts, G->others.count, G->others.id, &S->halo));
    if (S->halo.alone) {
        tct_halo_close(&S->halo);
        return TACIT_OK;
    }
    S->width = G->width;
    S->made = G->coarse * G->width;
    TRY(tct_agree(q->world, list_shares(q, S)));
    return tct_amg_remote_columns(S, q, 1);
}

tacit_status tct_amg_remote_create(tacit_queue *q, const tct_aggregates *G,
                                   tct_amg_remote *out)
{
    int64_t *starts = NULL;
    if (q->ranks == 1) return TACIT_OK;
    tacit_status status =
        tct_agree(q->world, TCT_ALLOC(q->ranks + 1, what, &starts));
    if (status >= 0) status = open_shares(q, G, starts, out);
    tct_free(starts);
    return status;
}

void tct_amg_remote_free(tacit_queue *q, tct_amg_remote *S)
{
    double **const all[] = {&S->ptr,  &S->list,  &S->of,
                            &S->ones, &S->zeros, &S->sum};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(q, all[i]);
    tct_plan_destroy(&S->forward);
    tct_plan_destroy(&S->back);
    tct_halo_close(&S->halo);
}

/* --- exchange ------------------------------------------------------------- */

void tct_amg_add_remote(const tct_amg_remote *S, tacit_queue *q, double *v)
{
    if (!S->forward) return;
    tct_exchange *e = &S->forward->base;
    const size_t n = (size_t)e->ghosts;
    const tct_panel x = q_panel(q, v);
    const tct_system_batch batch = q->batch;
    q->batch = (tct_system_batch){0};
    q_exchange_begin(q, e, x);
    q_exchange_end(q, e, x.columns);
    for (int j = 0; j < x.columns; j++) {
        q_restrict(q, &S->sets, S->ones, e->ghost + (size_t)j * n, S->zeros,
                   S->sum);
        q_prolong(q, (size_t)S->made, 1, +1,
                  (const int32_t *)(const void *)S->of, S->ones, S->sum,
                  tct_column(&x, j));
    }
    q->batch = batch;
}

void tct_amg_scatter(const tct_amg_remote *S, tacit_queue *q, double *v)
{
    if (S->back) tct_amg_send(S->back, q, v, v + S->made);
}
