/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange/plan.c - plans of exchanges, from lists or from ghosts. */
#include "comm/exchange/plan.h"
#include "comm/channel/channel.h"
#include "comm/link/link.h"
#include <string.h>

/* --- from lists ----------------------------------------------------------- */

static tacit_status copy_channels(const tct_plan_part *from, int count,
                                  tct_plan_part **to, int64_t *total)
{
    *total = 0;
    TRY(TCT_ALLOC(count, "an exchange", to));
    for (int k = 0; k < count; k++) {
        (*to)[k] = from[k];
        (*to)[k].first = *total;
        *total += from[k].count;
    }
    return TACIT_OK;
}

static tacit_status upload(tacit_queue *q, int64_t n, const int32_t *index,
                           int32_t **out)
{
    const size_t pairs = ((size_t)n + 1) / 2; /* queues move doubles */
    double *host = NULL;
    TRY(TCT_ALLOC(pairs, "an exchange", &host));
    void *p = q->device->alloc(q, pairs * sizeof *host);
    if (p && n > 0) {
        memcpy(host, index, (size_t)n * sizeof *index);
        q->device->run(
            q, &(tct_op){.code = TCT_PUT, .n = pairs, .v = {p}, .host = host});
        q->device->sync(q);
    }
    tct_free(host);
    if (!p) FAIL(TACIT_NO_MEMORY, "no memory for an exchange");
    *out = p;
    return q_own_status(q);
}

typedef void *allocator(tacit_queue *q, size_t bytes);

/* Allocate `n` elements for each column. */
static tacit_status alloc_columns(const tct_plan *p, allocator *alloc,
                                  int64_t n, double **out)
{
    *out = alloc(p->q, tct_plan_bytes(p, p->base.columns, n));
    if (!*out) FAIL(TACIT_NO_MEMORY, "no memory for an exchange");
    return TACIT_OK;
}

static tacit_status alloc_buffers(const tct_plan *p, allocator *alloc,
                                  bool in_place, tct_buffers *out)
{
    if (p->base.columns > 1 || !in_place)
        TRY(alloc_columns(p, alloc, p->base.ghosts, &out->landing));
    return alloc_columns(p, alloc, p->base.values, &out->pack);
}

/* Does an open link that needs packed messages keep them in the memory of the
 * device (or of the host)? */
static bool has_messages(const tacit_queue *q, bool on_device)
{
    for (int i = 0; i < TCT_LINKS_MOST; i++) {
        const tct_open_link *open = &q->links[i];
        if (open->link && !open->launcher && open->on_device == on_device)
            return true;
    }
    return false;
}

static tacit_status alloc_values(tct_plan *p, int64_t values, int64_t ghosts)
{
    tct_exchange *e = &p->base;
    const tct_device_ops *device = p->q->device;
    e->values = values;
    e->ghosts = ghosts;
    e->messages = p->sends;
    TRY(alloc_columns(p, device->alloc, ghosts, &e->ghost));
    if (has_messages(p->q, true))
        TRY(alloc_buffers(p, device->alloc, true, &e->device));
    if (has_messages(p->q, false))
        TRY(alloc_buffers(p, tct_alloc_shared, !device->alloc_shared,
                          &e->shared));
    return TACIT_OK;
}

static tacit_status build(tct_plan *p, int sends, const tct_plan_part *send,
                          const int32_t *index, int recvs,
                          const tct_plan_part *recv)
{
    int64_t values = 0, ghosts = 0;
    p->sends = sends;
    p->recvs = recvs;
    TRY(copy_channels(send, sends, &p->send, &values));
    TRY(copy_channels(recv, recvs, &p->recv, &ghosts));
    TRY(upload(p->q, values, index, &p->base.index));
    return alloc_values(p, values, ghosts);
}

tacit_status tct_plan_in(tacit_queue *q, tacit_element element, int sends,
                         const tct_plan_part *send, const int32_t *index,
                         int recvs, const tct_plan_part *recv, int columns,
                         tct_plan **out)
{
    tct_plan *p = tct_calloc(sizeof *p);
    tacit_status status =
        p ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for an exchange");
    if (p) {
        p->q = q;
        p->base.columns = columns;
        p->base.element = element;
        status = build(p, sends, send, index, recvs, recv);
    }
    status = tct_agree(q->world, status);
    if (status >= 0) status = tct_links_plan_open(p);
    if (status < 0) tct_plan_destroy(&p);
    else *out = p;
    return status;
}

tacit_status tct_plan_from_lists(tacit_queue *q, int sends,
                                 const tct_plan_part *send,
                                 const int32_t *index, int recvs,
                                 const tct_plan_part *recv, int columns,
                                 tct_plan **out)
{
    return tct_plan_in(q, TACIT_F64, sends, send, index, recvs, recv, columns,
                       out);
}

/* --- channels ------------------------------------------------------------- */

void tct_plan_channels(const tct_plan *p, tct_channel *out)
{
    for (int k = 0; k < p->sends + p->recvs; k++) {
        const tct_plan_part *part = tct_plan_part_at(p, k);
        out[k] = (tct_channel){
            .peer = part->peer,
            .sends = k < p->sends,
            .bytes = (int64_t)tct_plan_bytes(p, p->base.columns, part->count)};
    }
}

/* --- the end -------------------------------------------------------------- */

static void free_values(tacit_queue *q, const tct_exchange *e)
{
    double *const own[] = {e->ghost, e->device.pack, e->device.landing};
    double *const shared[] = {e->shared.pack, e->shared.landing};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i]) q->device->free(q, own[i]);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (shared[i]) tct_free_shared(q, shared[i]);
}

void tct_plan_destroy(tct_plan **plan)
{
    if (!plan || !*plan) return;
    tct_plan *p = *plan;
    tacit_queue *q = p->q;
    if (q->begun.exchange == &p->base) q->begun.exchange = NULL;
    tct_links_plan_close(p);
    if (!p->lost) free_values(q, &p->base);
    if (p->base.index) q->device->free(q, p->base.index);
    TCT_FREE(p->send, p->recv, p);
    *plan = NULL;
}

/* --- from ghosts ---------------------------------------------------------- */

typedef struct {
    int64_t *wanted, *asked; /* [size] from each rank, by each rank */
    tct_plan_part *send, *recv;
    int sends, recvs;
    int32_t *index;
} lists;

static void lists_clear(lists *l)
{
    TCT_FREE(l->wanted, l->send, l->recv, l->index);
}

/* A channel for each rank with values[rank] > 0. */
static tacit_status channels(const int64_t *values, int size,
                             tct_plan_part **out, int *count)
{
    for (int r = 0; r < size; r++) *count += values[r] > 0;
    TRY(TCT_ALLOC(*count, "an exchange", out));
    for (int r = 0, k = 0; r < size; r++)
        if (values[r] > 0)
            (*out)[k++] = (tct_plan_part){.peer = r, .count = values[r]};
    return TACIT_OK;
}

/* Exchange the lists of wanted elements with their owners. */
static tacit_status trade_lists(tacit_world *w, const int64_t *starts,
                                const int64_t *ghost, const int32_t *now,
                                lists *l)
{
    int64_t *bytes = NULL, *ids = NULL, total = 0;
    for (int r = 0; r < w->size; r++) total += l->asked[r];
    tacit_status status = TCT_ALLOC(2 * w->size, "an exchange", &bytes);
    if (status >= 0) status = TCT_ALLOC(total, "an exchange", &ids);
    if (status >= 0) status = TCT_ALLOC(total, "an exchange", &l->index);
    status = tct_agree(w, status);
    if (status >= 0) {
        for (int r = 0; r < w->size; r++) {
            bytes[r] = 8 * l->wanted[r];
            bytes[w->size + r] = 8 * l->asked[r];
        }
        status = tct_alltoallv(w, bytes, ghost, bytes + w->size, ids);
    }
    for (int64_t i = 0; status >= 0 && i < total; i++) {
        l->index[i] = (int32_t)(ids[i] - starts[w->rank]);
        if (now) l->index[i] = now[l->index[i]];
    }
    tct_free(bytes);
    tct_free(ids);
    return status;
}

/* Ghosts ascend and ranks own ranges, so the ghosts of a rank are
 * contiguous. */
static tacit_status make_lists(tacit_world *w, const int64_t *starts,
                               const int64_t *ghost, int64_t ghosts,
                               const int32_t *now, lists *l)
{
    const int size = w->size;
    tacit_status status = TCT_ALLOC(3 * size, "an exchange", &l->wanted);
    TRY(tct_agree(w, status));
    memset(l->wanted, 0, 3 * (size_t)size * sizeof *l->wanted);
    l->asked = l->wanted + size;
    int64_t *eight = l->asked + size; /* one number to and from each rank */
    for (int r = 0; r < size; r++) eight[r] = 8;
    for (int64_t g = 0; g < ghosts; g++)
        l->wanted[tct_owner(starts, size, ghost[g])]++;
    TRY(tct_alltoallv(w, eight, l->wanted, eight, l->asked));
    status = channels(l->asked, size, &l->send, &l->sends);
    if (status >= 0) status = channels(l->wanted, size, &l->recv, &l->recvs);
    TRY(tct_agree(w, status));
    return trade_lists(w, starts, ghost, now, l);
}

tacit_status tct_plan_create(tacit_queue *q, const int64_t *starts,
                             const int64_t *ghost, int64_t ghosts,
                             const int32_t *now, int columns, tct_plan **out)
{
    lists l = {0};
    tacit_status status = tct_agree(
        q->world, make_lists(q->world, starts, ghost, ghosts, now, &l));
    if (status >= 0)
        status = tct_plan_from_lists(q, l.sends, l.send, l.index, l.recvs,
                                     l.recv, columns, out);
    lists_clear(&l);
    return status;
}
