/* SPDX-License-Identifier: BSD-3-Clause
 * halo/host.c - the CPU's part: copies, and counters in memory that the ranks of
 * a machine share. */
#include "halo/state.h"

enum { CHECKS = 3000, CHECKS_CROWDED = 100 }; /* as link shm */

typedef struct {
    tct_shared *memory; /* boards of waits */
    tct_waits waits;
} host;

/* --- lists ---------------------------------------------------------------- */

static tacit_status host_give_list(tct_halo_copies *list)
{
    (void)list;
    return TACIT_OK;
}

static void host_take_list(tct_halo_copies *list)
{
    (void)list;
}

static tacit_status host_zero(tacit_queue *q, void *p, size_t bytes)
{
    (void)q;
    memset(p, 0, bytes);
    return TACIT_OK;
}

static tacit_status host_copy(tacit_queue *q, const tct_halo_copies *list,
                              uintptr_t from, uintptr_t to)
{
    (void)q;
    tct_halo_copies_run(list, from, to);
    return TACIT_OK;
}

static void combine_box(const tct_halo_copy *c, uintptr_t from, uintptr_t to,
                        tct_halo_element e)
{
    const int64_t all = tct_halo_elements(c, e.type);
    for (int64_t i = 0; i < all; i++) tct_halo_combine(c, from, to, e, i);
}

static tacit_status host_combine(tacit_queue *q, const tct_halo_copies *list,
                                 uintptr_t from, uintptr_t to,
                                 tct_halo_element e)
{
    (void)q;
    for (int k = 0; k < list->count; k++)
        combine_box(&list->copy[k], from, to, e);
    return TACIT_OK;
}

/* --- in place ------------------------------------------------------------- */

static tacit_status check_world(const tacit_world *w)
{
    char reason[128];
    if (!tct_can_share(w, reason, sizeof reason))
        FAIL(TACIT_UNSUPPORTED, "%s", reason);
    return TACIT_OK;
}

static tacit_status host_open(tacit_halo *h)
{
    tacit_queue *q = h->q;
    TRY(tct_agree(q->world, check_world(q->world)));
    host *own = tct_calloc(sizeof *own);
    h->near.device = own;
    if (!own) tacit_error_set(TACIT_NO_MEMORY, "no memory for a halo");
    TRY(tct_agree(q->world, own ? TACIT_OK : TACIT_NO_MEMORY));
    TRY(tct_shared_create(q->world, tct_waits_bytes(q->ranks), &own->memory));
    TRY(tct_agree(q->world,
                  tct_waits_open(q->world, own->memory, 0, &own->waits)));
    const bool crowded = q->world->local_size * q->threads > tct_processors();
    own->waits.checks = crowded ? CHECKS_CROWDED : CHECKS;
    h->near.medium = tct_medium_host(&own->waits);
    return TACIT_OK;
}

static tacit_status host_give_puts(tacit_halo *h)
{
    (void)h;
    return TACIT_OK;
}

static void host_close(tacit_halo *h)
{
    host *own = h->near.device;
    if (!own) return;
    if (own->memory) tct_waits_close(&own->waits);
    tct_shared_destroy(&own->memory);
    tct_free(own);
}

/* A failed queue sends what it has, and tells. */
static tacit_status put_from(tacit_halo *h, const tct_halo_copies *list,
                             uintptr_t from, tct_halo_means means)
{
    tct_halo_near *n = &h->near;
    n->made++;
    if (means != TCT_HALO_SIGNALS) tct_halo_copies_run(list, from, 0);
    for (int k = 0; k < n->puts.count; k++)
        if (n->put[k].other) tct_signal_send(n->put[k].other, n->made);
    return TACIT_OK;
}

static tacit_status host_put(tacit_halo *h, const tct_halo_copies *list,
                             tct_halo_means means)
{
    return put_from(h, list, 0, means);
}

/* The queue fails where a rank is lost. */
static tacit_status lose(tacit_halo *h, tacit_status status)
{
    tacit_queue *q = h->q;
    if (!q->lost_rank->noted) return status;
    q_lose_rank(q, q->lost_rank->rank, q->peer_seconds);
    return TACIT_OK;
}

static tacit_status host_await(tacit_halo *h)
{
    const tct_halo_near *n = &h->near;
    host *own = n->device;
    own->waits.limit = h->q->peer_seconds;
    for (int k = 0; k < n->puts.count; k++) {
        const tct_halo_put *p = &n->put[k];
        if (!p->own) continue;
        const tacit_status status = tct_waits_await(
            &own->waits, (const tct_counter *)p->own, n->made, p->peer);
        if (status < 0) return lose(h, status);
    }
    return TACIT_OK;
}

static tacit_status host_swap(tacit_halo *h, const tct_halo_copies *list,
                              uintptr_t from)
{
    TRY(put_from(h, list, from, TCT_HALO_STORES));
    return host_await(h);
}

static tacit_status host_trade(tacit_halo *h, const tct_halo_copies *list,
                               uintptr_t from, const tct_halo_copies *into,
                               uintptr_t to)
{
    TRY(host_swap(h, list, from));
    if (h->q->failed == TACIT_OK) tct_halo_copies_run(into, 0, to);
    return TACIT_OK;
}

const tct_halo_device tct_halo_host = {.give_list = host_give_list,
                                       .take_list = host_take_list,
                                       .zero = host_zero,
                                       .copy = host_copy,
                                       .combine = host_combine,
                                       .open = host_open,
                                       .give_puts = host_give_puts,
                                       .close = host_close,
                                       .put = host_put,
                                       .await = host_await,
                                       .swap = host_swap,
                                       .trade = host_trade};
