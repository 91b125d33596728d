/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/link_peer.c - links peer and nvshmem: messages started by
 * kernels. Kernels get addresses of memory on other GPUs; the links differ in
 * where this memory comes from. If nvshmem has pairs of ranks without P2P, the
 * kernels come from a module that uses NVSHMEM's calls. */
#include "comm/channel/channel.h"
#include "comm/exchange/plan.h"
#include "comm/link/gpu/libnvshmem.h"
#include "comm/link/gpu/nvshmem_module.h"
#include "comm/link/gpu/peer.h"
#include "comm/link/link.h"
#include "device/gpu/fork.h"
#include <stdio.h>
#include <string.h>

typedef struct { /* of a queue */
    tct_windows *windows;
    tct_peer_channels channels;      /* in the windows */
    tct_medium medium;               /* of channels in them */
    const tct_nvshmem_module *calls; /* NULL: P2P between all ranks */
    tct_peer_window slots;
    tct_peer_common common;
    tct_peer_window persistent_slots;
    tct_persistent_peers grid, *grid_fits; /* grid, in device memory */
    gpu_stream apart;                      /* for concurrent exchanges */
} peer;

typedef struct { /* of a plan */
    tct_channels *set;
    tct_channel *channel; /* [2][sends + recvs] of values, of boxes */
    tct_peer_window sent; /* messages to ranks without P2P */
    tct_peer_plan plan;
    tct_peer_end *end; /* the plan's ends, on the host */
    unsigned *tickets; /* [sends + recvs + 1], on the device */
    tct_fork fork;
} peer_plan;

enum { SLOT = sizeof(tct_numbered) };

static peer *peer_of(const tacit_queue *q)
{
    return *tct_link_state((tacit_queue *)(uintptr_t)q);
}

/* Why `q` cannot have such a link; NULL: it can. */
static const char *why_not(const tacit_queue *q)
{
    if (q->device->kind != TCT_KIND_GPU) return "needs device cuda";
    if (q->ranks == 1) return "for several ranks, not for one";
    if (q->world->ops->one_process)
        return "for ranks that are processes, not threads of one";
    if (q->ranks > TCT_PEERS_MOST) return "for no more than 16 ranks";
    return NULL;
}

static bool peer_available(const tacit_queue *q, char *reason, size_t size)
{
    const char *why = why_not(q);
    if (!why) return tct_can_share(q->world, reason, size);
    snprintf(reason, size, "%s", why);
    return false;
}

static bool nvshmem_available(const tacit_queue *q, char *reason, size_t size)
{
    const char *why = why_not(q);
    if (!why) return tct_nvshmem_load(reason, size) != NULL;
    snprintf(reason, size, "%s", why);
    return false;
}

static bool nvshmem_probe(char *text, size_t size)
{
    char module[256];
    if (!tct_device_cuda.available(text, size) || !tct_nvshmem_load(text, size))
        return false;
    const bool far = tct_nvshmem_module_load(module, sizeof module) != NULL;
    const size_t n = strlen(text);
    snprintf(text + n, size - n,
             far ? ", also between GPUs that do not reach each other's memory "
                   "(loops host and graph)"
                 : ", only between GPUs that reach each other's memory");
    return true;
}

/* All ranks must pace a loop by the same means. */
static tacit_status agree_on_nodes(tacit_queue *q)
{
    int version = 0;
    (void)gpu_driver_version(&version);
    int64_t least = version;
    TRY(tct_reduce_i64(q->world, TCT_MIN, 1, &least));
    tct_gpu_of(q)->by_node = least >= GPU_WHILE_NODES;
    return TACIT_OK;
}

/* The slots of the grid barriers between persistent grids, all unused. */
static tacit_status open_grids(tacit_queue *q, peer *p)
{
    const size_t slots =
        (size_t)TCT_PERSISTENT_PHASES * (size_t)q->ranks * TCT_PERSISTENT_SLOTS;
    const uint64_t none = 0;
    tct_peer_window all[TCT_PEERS_MOST];
    TRY(tct_windows_take(p->windows, slots * SLOT, &p->persistent_slots));
    TRY(tct_allgather(q->world, sizeof *all, &p->persistent_slots, all));
    p->grid = (tct_persistent_peers){.rank = q->rank, .ranks = q->ranks};
    for (int r = 0; r < q->ranks; r++)
        p->grid.slot[r] = tct_windows_at(p->windows, r, &all[r]);
    tacit_status status = tct_gpu_upload(&none, sizeof none, &p->grid.number);
    if (status >= 0)
        status = tct_gpu_upload(&p->grid, sizeof p->grid, &p->grid_fits);
    return tct_agree(q->world, status);
}

/* The slots of all ranks' parts of a sum, and local copies of those for ranks
 * without P2P. Collective. */
static tacit_status open_slots(tacit_queue *q, peer *p)
{
    const size_t bytes = tct_peer_slots(q->ranks) * SLOT +
                         2 * (size_t)q->ranks * sizeof(uint64_t);
    tct_peer_window all[TCT_PEERS_MOST];
    TRY(tct_windows_take(p->windows, bytes, &p->slots));
    TRY(tct_allgather(q->world, sizeof *all, &p->slots, all));
    for (int r = 0; r < q->ranks; r++) {
        const bool far = tct_windows_no_p2p(p->windows, r);
        p->common.far |= (uint32_t)far << r;
        p->common.there[r] = tct_windows_at(p->windows, r, &all[r]);
        p->common.slot[r] = tct_windows_at(p->windows, far ? q->rank : r,
                                           &all[far ? q->rank : r]);
    }
    p->calls = tct_windows_calls(p->windows);
    return TACIT_OK;
}

static const tct_launcher peer_launcher; /* defined below */

static tacit_status open_from(tacit_queue *q, const tct_window_source *source)
{
    peer *p = tct_calloc(sizeof *p);
    *tct_link_state(q) = p;
    q->links[q->via].launcher = &peer_launcher;
    if (!p) tacit_error_set(TACIT_NO_MEMORY, "no memory for a queue");
    TRY(tct_agree(q->world, p ? TACIT_OK : TACIT_NO_MEMORY));
    p->slots.arena = p->persistent_slots.arena = -1;
    TRY(tct_windows_open(q, source, &p->windows));
    p->channels = (tct_peer_channels){q, p->windows, &p->common};
    tct_peer_medium_of(&p->channels, &p->medium);
    const tct_peer_state none = {0};
    p->common = (tct_peer_common){
        .rank = q->rank, .ranks = q->ranks, .outbox = tct_gpu_of(q)->outbox};
    TRY(tct_agree(q->world,
                  tct_gpu_upload(&none, sizeof none, &p->common.state)));
    TRY(open_slots(q, p));
    if (!p->calls) TRY(open_grids(q, p));
    TRY(tct_agree(q->world, tct_fork_stream(&p->apart)));
    return agree_on_nodes(q);
}

static tacit_status peer_open(tacit_queue *q)
{
    return open_from(q, &tct_windows_ipc);
}

static tacit_status nvshmem_open(tacit_queue *q)
{
    return open_from(q, &tct_windows_nvshmem);
}

static void peer_close(tacit_queue *q)
{
    peer *p = peer_of(q);
    if (!p) return;
    q->device->sync(q);
    if (p->apart) (void)gpu_stream_sync(p->apart); /* may lack its end */
    tct_gpu_release(p->common.state);
    tct_gpu_release(p->grid.number);
    tct_gpu_release(p->grid_fits);
    if (p->apart) (void)gpu_stream_destroy(p->apart);
    tct_windows_close(&p->windows);
    tct_free(p);
}

/* --- plans ---------------------------------------------------------------- */

enum { VALUES, BOXES }; /* tags */

/* The ends of a plan, for values, and again for boxes. */
static tacit_status list_channels(const tct_plan *plan, peer_plan *p)
{
    const int ends = plan->sends + plan->recvs;
    TRY(TCT_ALLOC(2 * ends, "an exchange", &p->channel));
    tct_channel *box = p->channel + ends;
    tct_plan_channels(plan, p->channel);
    tct_plan_channels(plan, box);
    for (int k = 0; k < ends; k++) {
        box[k].tag = BOXES;
        box[k].bytes = TCT_PEER_BOXES * SLOT * tct_plan_part_at(plan, k)->count;
    }
    return TACIT_OK;
}

/* Values of both halves for ranks without P2P, in this rank's memory. */
static tacit_status take_sent(const tct_plan *plan, peer_plan *p)
{
    const peer *of = peer_of(plan->q);
    const size_t half =
        tct_plan_bytes(plan, plan->base.columns, plan->base.values);
    if (!of->calls) return TACIT_OK;
    return tct_windows_take(of->windows, 2 * half, &p->sent);
}

/* The kernels' view of end k. */
static tct_peer_end end_of(const tct_plan *plan, const peer_plan *p, int k)
{
    const tct_windows *W = peer_of(plan->q)->windows;
    const tct_plan_part *part = tct_plan_part_at(plan, k);
    const tct_channel *c = &p->channel[k];
    const tct_channel *box = c + plan->sends + plan->recvs;
    tct_peer_end e = {.peer = c->peer,
                      .first = part->first,
                      .count = part->count,
                      .own = &c->own->value,
                      .other = &c->other->value,
                      .ticket = p->tickets + k};
    for (int h = 0; h < 2; h++) {
        e.half[h] = (double *)(void *)c->window[h];
        e.box[h] = (tct_numbered *)(void *)box->window[h];
        if (!c->sends || !tct_windows_no_p2p(W, c->peer)) continue;
        e.there[h] = e.half[h];
        e.half[h] = tct_plan_at(
            plan,
            (double *)(void *)((char *)tct_windows_at(W, plan->q->rank,
                                                      &p->sent) +
                               (size_t)h * tct_plan_bytes(plan,
                                                          plan->base.columns,
                                                          plan->base.values)),
            plan->base.columns, part);
    }
    return e;
}

static tacit_status upload(const tct_plan *plan, peer_plan *p)
{
    const int ends = plan->sends + plan->recvs;
    const uint64_t none = 0;
    tct_peer_end *end = NULL;
    unsigned *zero = tct_calloc((size_t)(ends + 1) * sizeof *zero);
    tacit_status status = TCT_ALLOC(ends, "an exchange", &end);
    if (!zero) status = TACIT_NO_MEMORY;
    if (status >= 0)
        status = tct_gpu_upload(zero, (size_t)(ends + 1) * sizeof *zero,
                                &p->tickets);
    for (int k = 0; status >= 0 && k < ends; k++) end[k] = end_of(plan, p, k);
    if (status >= 0)
        status = tct_gpu_upload(end, (size_t)ends * sizeof *end, &p->plan.end);
    if (status >= 0)
        status = tct_gpu_upload(&none, sizeof none, &p->plan.number);
    p->plan.sends = plan->sends;
    p->plan.recvs = plan->recvs;
    p->plan.ticket = p->tickets + ends;
    p->end = end;
    tct_free(zero);
    return status;
}

static int64_t most_of(const tct_plan_part *c, int count)
{
    int64_t most = 0;
    for (int k = 0; k < count; k++)
        if (c[k].count > most) most = c[k].count;
    return most;
}

static tacit_status peer_plan_open(tct_plan *plan)
{
    tacit_queue *q = plan->q;
    tct_channels *set = NULL;
    peer_plan *p = tct_calloc(sizeof *p);
    tacit_status status = p ? TACIT_OK : TACIT_NO_MEMORY;
    *tct_plan_state(plan) = p;
    if (!p) tacit_error_set(status, "no memory for an exchange");
    else p->sent.arena = -1;
    if (status >= 0) status = list_channels(plan, p);
    TRY(tct_channels_match(&peer_of(q)->medium, status,
                           2 * (plan->sends + plan->recvs),
                           p ? p->channel : NULL, &set));
    p->set = set;
    p->plan.most_sent = most_of(plan->send, plan->sends);
    p->plan.most_received = most_of(plan->recv, plan->recvs);
    TRY(take_sent(plan, p));
    TRY(tct_fork_open(&p->fork, peer_of(q)->apart));
    return upload(plan, p);
}

static void peer_plan_close(tct_plan *plan)
{
    peer_plan *p = *tct_plan_state(plan);
    if (!p) return;
    plan->q->device->sync(plan->q);
    (void)gpu_stream_sync(peer_of(plan->q)->apart);
    tct_channels_free(&p->set);
    tct_windows_give(peer_of(plan->q)->windows, &p->sent);
    tct_gpu_release((void *)(uintptr_t)p->plan.end);
    tct_gpu_release(p->plan.number);
    tct_gpu_release(p->tickets);
    tct_fork_close(&p->fork);
    TCT_FREE(p->channel, p->end, p);
}

/* --- stream plane --------------------------------------------------------- */

/* Is the exchange put on the side stream? In recordings, and if sending takes
 * longer than the CPU needs to enqueue it there. */
static bool goes_apart(const tacit_queue *q, const tct_plan *plan)
{
    enum { MANY = 4096 };
    return tct_gpu_of(q)->capturing || plan->base.values >= MANY;
}

/* The link before a launch, with the time limit of now. */
static peer *timed(tacit_queue *q)
{
    peer *p = peer_of(q);
    p->common.limit_ns = (uint64_t)(1e9 * q->peer_seconds);
    return p;
}

static const tct_peer_kernels *kernels_of(const peer *p)
{
    return p->calls ? &p->calls->kernels : &tct_peer_near;
}

static void launch_sum(tacit_queue *q, const tct_op *op,
                       const tct_gpu_launch *L)
{
    const peer *p = timed(q);
    (void)tct_gpu_ok(q, kernels_of(p)->sum(&p->common, op, tct_gpu_flags(q), L),
                     tct_op_info_of(op)->text);
}

static gpu_error exchange(const peer *p, const peer_plan *own, const tct_op *op,
                          const tct_gpu_launch *L)
{
    return kernels_of(p)->exchange(&p->common, &own->plan, op, L);
}

/* Send and receive on the side stream. All calls are made even if one fails:
 * other ranks wait for the messages. */
static gpu_error begin_apart(const peer *p, const peer_plan *own,
                             const tct_op *op, const tct_gpu_launch *L)
{
    tct_op take = *op;
    tct_gpu_launch beside = *L;
    take.code = TCT_EXCHANGE_END;
    beside.stream = p->apart;
    gpu_error error[4];
    error[0] = tct_fork_begin(&own->fork, L->stream);
    error[1] = exchange(p, own, op, &beside);
    error[2] = exchange(p, own, &take, &beside);
    error[3] = tct_fork_end(&own->fork);
    for (int i = 0; i < 3; i++)
        if (error[i] != GPU_OK) return error[i];
    return error[3];
}

static gpu_error end_apart(const peer_plan *own, const tct_gpu_launch *L)
{
    const gpu_error joined = tct_fork_join(&own->fork, L->stream);
    if (L->epilogue.count > 0) tct_gpu_epilogue(L);
    return joined;
}

static void launch_begin(tacit_queue *q, const tct_op *op,
                         const tct_gpu_launch *L)
{
    const peer *p = timed(q);
    const tct_plan *plan = tct_plan_of(op);
    const peer_plan *own = *tct_plan_state(plan);
    (void)tct_gpu_ok(q,
                     goes_apart(q, plan) ? begin_apart(p, own, op, L)
                                         : exchange(p, own, op, L),
                     tct_op_info_of(op)->text);
}

static void launch_end(tacit_queue *q, const tct_op *op,
                       const tct_gpu_launch *L)
{
    const peer *p = timed(q);
    const tct_plan *plan = tct_plan_of(op);
    const peer_plan *own = *tct_plan_state(plan);
    (void)tct_gpu_ok(
        q, goes_apart(q, plan) ? end_apart(own, L) : exchange(p, own, op, L),
        tct_op_info_of(op)->text);
}

static const tct_launcher peer_launcher = {launch_sum, launch_begin, launch_end,
                                           launch_sum};

/* --- for kernels of a whole solve ----------------------------------------- */

const char *tct_peer_why_not(const tacit_queue *q)
{
    if (tct_launcher_of(q) != &peer_launcher)
        return "of several GPUs only with links peer and nvshmem";
    if (peer_of(q)->calls)
        return "of several GPUs only where all reach each other's memory, not "
               "through NVSHMEM's calls";
    return NULL;
}

const tct_persistent_peers *tct_peer_grids(tacit_queue *q)
{
    peer *p = peer_of(q);
    const uint64_t limit = (uint64_t)(1e9 * q->peer_seconds);
    if (p->grid.limit_ns == limit) return p->grid_fits;
    p->grid.limit_ns = limit;
    if (!tct_gpu_ok(q,
                    gpu_memcpy_async(p->grid_fits, &p->grid, sizeof p->grid,
                                     GPU_TO_DEVICE, tct_gpu_of(q)->stream),
                    "setting up persistent grids"))
        return NULL;
    return p->grid_fits;
}

tacit_status tct_peer_take_window(tacit_queue *q, size_t bytes,
                                  tct_peer_window *out, void **at)
{
    tct_windows *W = peer_of(q)->windows;
    tct_peer_window all[TCT_PEERS_MOST];
    TRY(tct_windows_take(W, bytes, out));
    TRY(tct_allgather(q->world, sizeof *all, out, all));
    for (int r = 0; r < q->ranks; r++) at[r] = tct_windows_at(W, r, &all[r]);
    return TACIT_OK;
}

void tct_peer_give_window(tacit_queue *q, const tct_peer_window *window)
{
    tct_windows_give(peer_of(q)->windows, window);
}

const tct_medium *tct_peer_medium(const tacit_queue *q)
{
    return &peer_of(q)->medium;
}

const tct_peer_end *tct_peer_ends(const tct_plan *plan)
{
    const peer_plan *p = *tct_plan_state(plan);
    return p->end;
}

/* The members that both links share. */
#define BY_STORES(link)                                                \
    .name = #link, .available = link##_available, .open = link##_open, \
    .close = peer_close, .starter = TCT_BY_KERNEL, .nodes = true,      \
    .elements = TCT_ALL_ELEMENTS, .plan_open = peer_plan_open,         \
    .plan_close = peer_plan_close

const tct_link tct_link_peer = {
    BY_STORES(peer),
    .summary = "memory of GPUs of one machine, written by kernels",
};

const tct_link tct_link_nvshmem = {
    BY_STORES(nvshmem),
    .summary = "memory of NVSHMEM's on GPUs, written by kernels",
    .expensive = true,
    .probe = nvshmem_probe,
};
