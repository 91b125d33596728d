/* SPDX-License-Identifier: BSD-3-Clause
 * halo/gpu/device.c - a GPU's part: lists in its memory, kernels, copy engines;
 * in place through the windows of links peer and nvshmem, or, of one rank, in
 * memory of its own. */
#include "device/gpu/early.h"
#include "halo/gpu/halo_gpu.h"
#include "halo/gpu/kernels.h"
#include "halo/signals.h"
#include "halo/state.h"
#include <string.h>

typedef struct {
    tct_halo_put *put;
    tct_halo_signals signals;
    tct_open_link *held; /* the link with the windows; NULL: one rank */
    bool early;          /* can kernels be launched early? */
} near_gpu;

/* --- lists ---------------------------------------------------------------- */

static tacit_status gpu_give_list(tct_halo_copies *list)
{
    if (list->count == 0) return TACIT_OK;
    return tct_gpu_upload(list->copy, (size_t)list->count * sizeof *list->copy,
                          &list->gpu);
}

static void gpu_take_list(tct_halo_copies *list)
{
    tct_gpu_release(list->gpu);
    list->gpu = NULL;
}

static tacit_status gpu_zero(tacit_queue *q, void *p, size_t bytes)
{
    gpu_stream stream = tct_gpu_of(q)->stream;
    gpu_error error = gpu_memset_async(p, 0, bytes, stream);
    if (error == GPU_OK) error = gpu_stream_sync(stream);
    return tct_gpu_status(error, "clearing memory");
}

static tacit_status gpu_copy(tacit_queue *q, const tct_halo_copies *list,
                             uintptr_t from, uintptr_t to)
{
    return tct_gpu_status(
        tct_halo_copy_boxes(list, from, to, tct_gpu_of(q)->stream),
        "copying cells of a halo");
}

/* A launch for each box: they overlap, and their order decides. */
static tacit_status gpu_combine(tacit_queue *q, const tct_halo_copies *list,
                                uintptr_t from, uintptr_t to,
                                tct_halo_element e)
{
    gpu_error error = GPU_OK;
    for (int k = 0; k < list->count && error == GPU_OK; k++)
        error = tct_halo_combine_box(&list->copy[k], from, to, e,
                                     tct_gpu_of(q)->stream);
    return tct_gpu_status(error, "reducing cells of a halo");
}

/* --- copy engines --------------------------------------------------------- */

static gpu_error copy_rows(const tct_halo_copy *c, int64_t z, gpu_stream stream)
{
    return gpu_memcpy_2d_async(
        (char *)c->to + z * c->to_plane, (size_t)c->to_pitch,
        (const char *)c->from + z * c->from_plane, (size_t)c->from_pitch,
        (size_t)c->row, (size_t)c->rows, GPU_ANYWHERE, stream);
}

/* A box whose planes are whole rows apart. */
static gpu_error copy_planes(const tct_halo_copy *c, gpu_stream stream)
{
    gpu_copy_3d p;
    memset(&p, 0, sizeof p);
    p.srcPtr.ptr = (void *)c->from;
    p.srcPtr.pitch = (size_t)c->from_pitch;
    p.srcPtr.xsize = p.dstPtr.xsize = p.extent.width = (size_t)c->row;
    p.srcPtr.ysize = (size_t)(c->from_plane / c->from_pitch);
    p.dstPtr.ptr = (void *)c->to;
    p.dstPtr.pitch = (size_t)c->to_pitch;
    p.dstPtr.ysize = (size_t)(c->to_plane / c->to_pitch);
    p.extent.height = (size_t)c->rows;
    p.extent.depth = (size_t)c->planes;
    p.kind = GPU_ANYWHERE;
    return gpu_memcpy_3d_async(&p, stream);
}

static gpu_error copy_box(const tct_halo_copy *c, gpu_stream stream)
{
    if (c->planes == 0) return GPU_OK;
    if (c->rows == 1 && c->planes == 1)
        return gpu_memcpy_async((void *)c->to, (const void *)c->from,
                                (size_t)c->row, GPU_ANYWHERE, stream);
    if (c->rows == 1)
        return gpu_memcpy_2d_async((void *)c->to, (size_t)c->to_plane,
                                   (const void *)c->from, (size_t)c->from_plane,
                                   (size_t)c->row, (size_t)c->planes,
                                   GPU_ANYWHERE, stream);
    if (c->planes > 1 && c->from_plane % c->from_pitch == 0 &&
        c->to_plane % c->to_pitch == 0)
        return copy_planes(c, stream);
    for (int64_t z = 0; z < c->planes; z++) {
        const gpu_error error = copy_rows(c, z, stream);
        if (error != GPU_OK) return error;
    }
    return GPU_OK;
}

/* All boxes; the counters are set even if a copy fails. */
static gpu_error copy_and_tell(const tct_halo_copies *list,
                               const tct_halo_signals *signals,
                               gpu_stream stream)
{
    gpu_error error = GPU_OK;
    for (int k = 0; k < list->count && error == GPU_OK; k++)
        error = copy_box(&list->copy[k], stream);
    const gpu_error told = tct_halo_tell(signals, stream);
    return error == GPU_OK ? told : error;
}

/* --- in place ------------------------------------------------------------- */

/* Memory of one rank alone. */
static tacit_status alone_take(void *state, size_t bytes, tct_peer_window *out,
                               void **handle)
{
    tacit_queue *q = state;
    *out = (tct_peer_window){.bytes = (int64_t)bytes};
    *handle = q->device->alloc(q, bytes);
    if (!*handle)
        FAIL(TACIT_NO_MEMORY, "no memory for a halo: %g MB",
             1e-6 * (double)bytes);
    return gpu_zero(q, *handle, bytes);
}

static char *alone_at(void *state, void *handle, int rank,
                      const tct_peer_window *w)
{
    (void)state;
    (void)rank;
    return (char *)handle + w->offset;
}

static void alone_give(void *state, void *handle, const tct_peer_window *own)
{
    tacit_queue *q = state;
    (void)own;
    q->device->free(q, handle);
}

static tacit_status check_link(const tacit_queue *q)
{
    const char *why = q->ranks > 1 ? tct_peer_why_not(q) : NULL;
    if (why) FAIL(TACIT_UNSUPPORTED, "%s", why);
    return TACIT_OK;
}

static tacit_status gpu_open(tacit_halo *h)
{
    tacit_queue *q = h->q;
    TRY(tct_agree(q->world, check_link(q)));
    near_gpu *own = tct_calloc(sizeof *own);
    h->near.device = own;
    if (!own) tacit_error_set(TACIT_NO_MEMORY, "no memory for a halo");
    TRY(tct_agree(q->world, own ? TACIT_OK : TACIT_NO_MEMORY));
    own->early = tct_gpu_is_early(tct_gpu_of(q)->device);
    h->near.medium = (tct_medium){.world = q->world,
                                  .state = q,
                                  .take = alone_take,
                                  .at = alone_at,
                                  .give = alone_give};
    if (q->ranks == 1) return TACIT_OK;
    h->near.medium = *tct_peer_medium(q);
    own->held = &q->links[q->via];
    own->held->holds++;
    return TACIT_OK;
}

/* Clients whose kernels count for themselves use the same number. */
static tacit_status gpu_give_puts(tacit_halo *h)
{
    near_gpu *own = h->near.device;
    tct_halo_puts *puts = &h->near.puts;
    const unsigned none[TACIT_HALO_DIRECTIONS + 1] = {0};
    const uint64_t zero = 0;
    tct_halo_signals *s = &own->signals;
    s->count = puts->count;
    if (puts->count > 0)
        TRY(tct_gpu_upload(puts->put, (size_t)puts->count * sizeof *puts->put,
                           &own->put));
    TRY(tct_gpu_upload(none, sizeof none, &s->ticket));
    TRY(tct_gpu_upload(&zero, sizeof zero, &s->number));
    TRY(tct_gpu_upload(&zero, sizeof zero, &s->drawn));
    s->put = puts->gpu = own->put;
    puts->number = s->number;
    return TACIT_OK;
}

static void gpu_close(tacit_halo *h)
{
    near_gpu *own = h->near.device;
    if (!own) return;
    if (own->held) own->held->holds--;
    tct_gpu_release(own->put);
    tct_gpu_release(own->signals.ticket);
    tct_gpu_release(own->signals.number);
    tct_gpu_release(own->signals.drawn);
    tct_free(own);
}

static gpu_error start(const tacit_halo *h, const tct_halo_copies *list,
                       tct_halo_means means, gpu_stream stream)
{
    const near_gpu *own = h->near.device;
    const tct_halo_signals *s = &own->signals;
    if (means == TCT_HALO_STORES) return tct_halo_put_boxes(list, 0, s, stream);
    if (means == TCT_HALO_COPIES) return copy_and_tell(list, s, stream);
    return tct_halo_tell(s, stream);
}

const tct_peer_common *tct_halo_common(const tacit_halo *h)
{
    if (h->q->ranks == 1) return NULL;
    const tct_peer_channels *peers = h->near.medium.state;
    peers->common->limit_ns = (uint64_t)(1e9 * h->q->peer_seconds);
    return peers->common;
}

static gpu_error finish(const tacit_halo *h, gpu_stream stream)
{
    const near_gpu *own = h->near.device;
    const tct_peer_common *C = tct_halo_common(h);
    return C ? tct_halo_await(C, &own->signals, stream) : GPU_OK;
}

/* Without a neighbour there is nothing to wait for. */
static gpu_error swap(const tacit_halo *h, const tct_halo_copies *list,
                      uintptr_t from, gpu_stream stream)
{
    const near_gpu *own = h->near.device;
    const tct_peer_common *C = tct_halo_common(h);
    if (!C || list->count == 0)
        return tct_halo_put_boxes(list, from, &own->signals, stream);
    return tct_halo_swap_boxes(C, list, from, &own->signals, stream);
}

static tacit_status gpu_put(tacit_halo *h, const tct_halo_copies *list,
                            tct_halo_means means)
{
    return tct_gpu_status(start(h, list, means, tct_gpu_of(h->q)->stream),
                          "putting cells of a halo");
}

static tacit_status gpu_await(tacit_halo *h)
{
    return tct_gpu_status(finish(h, tct_gpu_of(h->q)->stream),
                          "waiting for cells of a halo");
}

static tacit_status gpu_swap(tacit_halo *h, const tct_halo_copies *list,
                             uintptr_t from)
{
    return tct_gpu_status(swap(h, list, from, tct_gpu_of(h->q)->stream),
                          "swapping cells of a halo");
}

/* Can the few blocks that wait also unpack? More bytes are for a kernel. */
static bool are_few(const tct_halo_copies *into)
{
    enum { MOST = 1 << 20 };
    int64_t bytes = 0;
    for (int k = 0; k < into->count; k++)
        bytes += tct_halo_copy_bytes(&into->copy[k]);
    return into->count > 0 && bytes <= MOST;
}

/* A recording of a solver may be in a while node, where kernels wait for each
 * other's end. */
static bool is_early(const tacit_halo *h)
{
    const near_gpu *own = h->near.device;
    return own->early && !tct_gpu_of(h->q)->capturing;
}

/* One rank alone has no time limit to tell, and nobody to wait for. */
static gpu_error trade(const tacit_halo *h, const tct_halo_copies *list,
                       uintptr_t from, const tct_halo_copies *into,
                       uintptr_t to, gpu_stream stream)
{
    const near_gpu *own = h->near.device;
    const tct_peer_common *C = tct_halo_common(h);
    if (h->near.cells > 0 && C && list->count > 0 && list->count == into->count)
        return tct_halo_trade_cells(C, list, from, into, to, h->near.cells,
                                    &own->signals, is_early(h), stream);
    if (C && list->count == into->count && are_few(into))
        return tct_halo_trade_boxes(C, list, from, into, to, &own->signals,
                                    stream);
    const gpu_error error = swap(h, list, from, stream);
    return error == GPU_OK ? tct_halo_copy_boxes(into, 0, to, stream) : error;
}

static tacit_status gpu_trade(tacit_halo *h, const tct_halo_copies *list,
                              uintptr_t from, const tct_halo_copies *into,
                              uintptr_t to)
{
    return tct_gpu_status(
        trade(h, list, from, into, to, tct_gpu_of(h->q)->stream),
        "exchanging cells of a halo");
}

gpu_error tct_halo_start_on(tacit_halo *h, int slot, tct_halo_means means,
                            gpu_stream stream)
{
    h->near.number++;
    return start(h, &h->near.list[slot], means, stream);
}

gpu_error tct_halo_finish_on(tacit_halo *h, gpu_stream stream)
{
    return finish(h, stream);
}

const tct_halo_device tct_halo_gpu = {.cells = true,
                                      .give_list = gpu_give_list,
                                      .take_list = gpu_take_list,
                                      .zero = gpu_zero,
                                      .copy = gpu_copy,
                                      .combine = gpu_combine,
                                      .open = gpu_open,
                                      .give_puts = gpu_give_puts,
                                      .close = gpu_close,
                                      .put = gpu_put,
                                      .await = gpu_await,
                                      .swap = gpu_swap,
                                      .trade = gpu_trade};
