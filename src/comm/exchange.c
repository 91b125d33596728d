/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange.c - who needs what of whom, found out once. */
#include "comm/exchange.h"
#include <string.h>

/* Ghosts are ascending and ranks own ranges, so the ghosts of a rank stand
 * together: counts per owner, then the peers that own any. */
static tacit_status plan_recvs(tct_plan *p, const int64_t *starts,
                               const int64_t *ghost, int64_t *wanted)
{
    const int size = p->world->size;
    for (int64_t g = 0; g < p->base.ghosts; g++)
        wanted[tct_owner(starts, size, ghost[g])]++;
    for (int r = 0; r < size; r++) p->recvs += wanted[r] > 0;
    TRY(TCT_ALLOC(p->recvs, "an exchange", &p->recv_rank));
    TRY(TCT_ALLOC(p->recvs + 1, "an exchange", &p->recv_start));
    p->recv_start[0] = 0;
    for (int r = 0, k = 0; r < size; r++) {
        if (wanted[r] == 0) continue;
        p->recv_rank[k] = r;
        p->recv_start[k + 1] = p->recv_start[k] + wanted[r];
        k++;
    }
    return TACIT_OK;
}

static tacit_status plan_sends(tct_plan *p, const int64_t *asked)
{
    const int size = p->world->size;
    for (int r = 0; r < size; r++) p->sends += asked[r] > 0;
    TRY(TCT_ALLOC(p->sends, "an exchange", &p->send_rank));
    TRY(TCT_ALLOC(p->sends + 1, "an exchange", &p->send_start));
    p->send_start[0] = 0;
    for (int r = 0, k = 0; r < size; r++) {
        if (asked[r] == 0) continue;
        p->send_rank[k] = r;
        p->send_start[k + 1] = p->send_start[k] + asked[r];
        k++;
    }
    return TACIT_OK;
}

/* Tell the owners which of their elements are wanted; `asked` [size] is what
 * the others want of us. */
static tacit_status trade_lists(tct_plan *p, const int64_t *starts,
                                const int64_t *ghost, const int64_t *wanted,
                                const int64_t *asked)
{
    const int size = p->world->size;
    const int64_t total = p->send_start[p->sends];
    int64_t *bytes = NULL, *ids = NULL;
    tacit_status status = TCT_ALLOC(2 * size, "an exchange", &bytes);
    if (status >= 0) status = TCT_ALLOC(total, "an exchange", &ids);
    status = tct_agree(p->world, status);
    if (status >= 0) {
        for (int r = 0; r < size; r++) {
            bytes[r] = 8 * wanted[r];
            bytes[size + r] = 8 * asked[r];
        }
        status = tct_alltoallv(p->world, bytes, ghost, bytes + size, ids);
        for (int64_t i = 0; i < total; i++)
            p->send_index[i] = (int32_t)(ids[i] - starts[p->world->rank]);
    }
    tct_free(bytes);
    tct_free(ids);
    return status;
}

static tacit_status alloc_buffers(tct_plan *p)
{
    const int64_t columns = p->base.columns;
    const int64_t total = p->send_start[p->sends];
    TRY(TCT_ALLOC(total, "an exchange", &p->send_index));
    TRY(TCT_ALLOC(columns * total, "an exchange", &p->pack));
    TRY(TCT_ALLOC(columns * p->base.ghosts, "an exchange", &p->base.ghost));
    p->landing = p->base.ghost;
    if (columns > 1)
        TRY(TCT_ALLOC(columns * p->base.ghosts, "an exchange", &p->landing));
    p->base.messages = p->sends;
    p->base.values = columns * total;
    return TACIT_OK;
}

static tacit_status build(tct_plan *p, const int64_t *starts,
                          const int64_t *ghost, int64_t *wanted, int64_t *asked)
{
    const int size = p->world->size;
    TRY(tct_agree(p->world, plan_recvs(p, starts, ghost, wanted)));
    int64_t *eight = asked + size; /* one number to and from each rank */
    for (int r = 0; r < size; r++) eight[r] = 8;
    TRY(tct_alltoallv(p->world, eight, wanted, eight, asked));
    tacit_status status = plan_sends(p, asked);
    if (status >= 0) status = alloc_buffers(p);
    TRY(tct_agree(p->world, status));
    TRY(trade_lists(p, starts, ghost, wanted, asked));
    return tct_agree(p->world, p->world->ops->plan_open(p));
}

tacit_status tct_plan_create(tacit_world *w, const int64_t *starts,
                             const int64_t *ghost, int64_t ghosts,
                             const int32_t *now, int columns, tct_plan **out)
{
    tct_plan *p = tct_calloc(sizeof *p);
    int64_t *counts = tct_calloc(3 * (size_t)w->size * sizeof *counts);
    tacit_status status = TACIT_OK;
    if (!p || !counts)
        status = tct_fail(TACIT_NO_MEMORY, "no memory for an exchange");
    status = tct_agree(w, status);
    if (status >= 0) {
        p->world = w;
        p->base.columns = columns;
        p->base.ghosts = ghosts;
        status = build(p, starts, ghost, counts, counts + w->size);
        const int64_t sent = status >= 0 && now ? p->send_start[p->sends] : 0;
        for (int64_t i = 0; i < sent; i++)
            p->send_index[i] = now[p->send_index[i]];
    }
    tct_free(counts);
    if (status < 0) tct_plan_destroy(&p);
    else *out = p;
    return status;
}

void tct_plan_destroy(tct_plan **plan)
{
    if (!plan || !*plan) return;
    tct_plan *p = *plan;
    if (p->state) p->world->ops->plan_close(p);
    if (p->landing != p->base.ghost) tct_free(p->landing);
    tct_free(p->base.ghost);
    tct_free(p->pack);
    tct_free(p->send_index);
    tct_free(p->send_start);
    tct_free(p->recv_start);
    tct_free(p->send_rank);
    tct_free(p->recv_rank);
    tct_free(p);
    *plan = NULL;
}

void tct_plan_pack(const tct_plan *plan, double *const *x)
{
    const int columns = plan->base.columns;
    for (int k = 0; k < plan->sends; k++) {
        const int64_t from = plan->send_start[k], to = plan->send_start[k + 1];
        double *pack = plan->pack + columns * from;
        for (int c = 0; c < columns; c++, pack += to - from)
            for (int64_t i = from; i < to; i++)
                pack[i - from] = x[c][plan->send_index[i]];
    }
}

void tct_plan_unpack(const tct_plan *plan)
{
    if (plan->landing == plan->base.ghost) return; /* landed in place */
    const int columns = plan->base.columns;
    for (int k = 0; k < plan->recvs; k++) {
        const int64_t from = plan->recv_start[k], to = plan->recv_start[k + 1];
        const double *landing = plan->landing + columns * from;
        for (int c = 0; c < columns; c++, landing += to - from)
            memcpy(plan->base.ghost + c * plan->base.ghosts + from, landing,
                   (size_t)(to - from) * sizeof *landing);
    }
}
