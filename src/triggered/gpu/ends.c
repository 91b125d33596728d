/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/ends.c - the GPU of a communicator, and ends whose buffers are
 * on it. The block of a receive has signals, slots of cells, and a window where
 * other ranks cannot open its buffer. */
#include "device/gpu/early.h"
#include "device/gpu/fork.h"
#include "triggered/gpu/driver.h"
#include <string.h>

enum { SIGNALS = sizeof(tct_end_signals) };

int tct_gpu_enter(const tacit_trigger_comm *c)
{
    int before = -1;
    if (gpu_get_device(&before) != GPU_OK || before == c->gpu->device)
        return -1;
    (void)gpu_set_device(c->gpu->device);
    return before;
}

void tct_gpu_leave(int before)
{
    if (before >= 0) (void)gpu_set_device(before);
}

/* --- the communicator's GPU ----------------------------------------------- */

typedef struct { /* of a rank */
    char bus[32];
    int device;
} gpu_of_rank;

static tacit_status describe(struct tct_trigger_gpu *g, gpu_of_rank *out)
{
    int count = 0;
    if (gpu_device_count(&count) != GPU_OK || count == 0) {
        (void)gpu_last_error();
        FAIL(TACIT_UNSUPPORTED,
             "tacit_trigger_comm_use_gpu: no " GPU_MAKER " GPU is usable here");
    }
    TRY(tct_gpu_status(gpu_get_device(&g->device), "the current device"));
    out->device = g->device;
    return tct_gpu_status(gpu_bus_id(out->bus, (int)sizeof out->bus, g->device),
                          "its place");
}

/* Between processes an allocation is opened with its device; threads enable
 * access once. */
static tacit_status reach(const struct tct_trigger_gpu *g,
                          const gpu_of_rank *other, int rank)
{
    int device = -1, can = 0;
    if (gpu_by_bus_id(&device, other->bus) != GPU_OK ||
        (device != g->device &&
         (gpu_can_reach(&can, g->device, device) != GPU_OK || !can))) {
        (void)gpu_last_error();
        FAIL(TACIT_UNSUPPORTED,
             "tacit_trigger_comm_use_gpu: the GPU of this rank does not reach "
             "that of rank %d: let both see each other's, with P2P",
             rank);
    }
    if (device == g->device || !g->flat) return TACIT_OK;
    const gpu_error error = gpu_enable_peer(device, 0);
    if (error == GPU_PEER_ENABLED) (void)gpu_last_error();
    return error == GPU_PEER_ENABLED
               ? TACIT_OK
               : tct_gpu_status(error, "reaching another GPU");
}

static tacit_status reach_all(const tacit_trigger_comm *c,
                              const struct tct_trigger_gpu *g,
                              const gpu_of_rank *all)
{
    for (int r = 0; r < c->ranks; r++)
        if (r != c->rank) TRY(reach(g, &all[r], r));
    return TACIT_OK;
}

static tacit_status open_gpu(tacit_trigger_comm *c, struct tct_trigger_gpu *g,
                             gpu_of_rank *all)
{
    gpu_of_rank mine = {.device = 0};
    TRY(tct_agree(c->world, describe(g, &mine)));
    TRY(tct_allgather(c->world, sizeof mine, &mine, all));
    TRY(tct_agree(c->world, reach_all(c, g, all)));
    g->early = tct_gpu_is_early(g->device);
    tacit_status status = tct_fork_stream(&g->aside);
    if (status >= 0)
        status = tct_gpu_status(tct_parts_load(), "loading kernels");
    if (status >= 0)
        status = tct_gpu_status(tct_cells_load(), "loading kernels");
    if (status >= 0)
        status = tct_gpu_status(tct_reduce_load(), "loading kernels");
    if (status >= 0) {
        char *first =
            tct_trigger_take(g, 1); /* an arena, before kernels wait */
        status = first ? TACIT_OK : TACIT_DEVICE;
        tct_trigger_give(g, first);
    }
    return tct_agree(c->world, status);
}

tacit_status tct_trigger_gpu_open(tacit_trigger_comm *c)
{
    gpu_of_rank *all = NULL;
    struct tct_trigger_gpu *g = tct_calloc(sizeof *g);
    tacit_status status = TCT_ALLOC(c->ranks, "a communicator", &all);
    if (!g) status = tacit_error_set(TACIT_NO_MEMORY, "no memory for a GPU");
    status = tct_agree(c->world, status);
    if (g) {
        g->flat = tct_heap_is_flat(c->heap);
        pthread_mutex_init(&g->lock, NULL);
        pthread_mutex_init(&g->listing, NULL);
        c->gpu = g;
    }
    if (status >= 0) status = open_gpu(c, g, all);
    tct_free(all);
    if (status < 0) tct_trigger_gpu_close(c);
    return status;
}

void tct_trigger_gpu_close(tacit_trigger_comm *c)
{
    struct tct_trigger_gpu *g = c->gpu;
    if (!g) return;
    while (g->imports) {
        g->imports->uses = 1;
        tct_gpu_place_close(g, g->imports);
    }
    for (tct_gpu_arena *a = g->arenas, *next; a; a = next) {
        next = a->next;
        for (tct_piece *p = a->first, *q; p; p = q) {
            q = p->next;
            tct_free(p);
        }
        tct_gpu_release(a->at);
        tct_free(a);
    }
    if (g->aside) (void)gpu_stream_destroy(g->aside);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->listing);
    tct_free(g);
    c->gpu = NULL;
}

bool tct_trigger_gpu_has(const tacit_trigger_comm *c, const void *data)
{
    int device = -1;
    return c->gpu && data && gpu_owns(data, &device) &&
           device == c->gpu->device;
}

/* --- ends ----------------------------------------------------------------- */

/* Slots of a receive of so many bytes, whose messages may be smaller. */
static size_t slots_bytes(int64_t bytes)
{
    const int32_t each = tct_cells_of(bytes);
    return (size_t)tct_cell_slots(each) * (size_t)each *
           sizeof(struct tct_numbered);
}

/* A receive that may be large has signals of its parts behind the slots. */
static size_t window_at(int64_t bytes)
{
    const size_t parts =
        tct_has_cells(bytes) ? 0 : TCT_PARTS_MOST * sizeof(uint64_t);
    return SIGNALS + slots_bytes(bytes) + parts;
}

static size_t block_bytes(const tct_offer *o)
{
    if (o->direction == TCT_SENDS) return SIGNALS;
    return window_at(o->bytes) + (o->gpu_direct ? 0 : (size_t)o->bytes);
}

static tacit_status prepare(tacit_trigger_comm *c, tct_trigger_end *e,
                            struct tct_gpu_end *g)
{
    tct_offer *o = &e->mine;
    o->gpu_direct = o->direction == TCT_RECEIVES && o->bytes > 0 &&
                    tct_gpu_place_of(c->gpu, e->data, &o->gpu_window);
    g->block = tct_trigger_take(c->gpu, block_bytes(o));
    g->parted =
        (tct_parted *)(void *)tct_trigger_take(c->gpu, sizeof *g->parted);
    if (!g->block || !g->parted) return TACIT_NO_MEMORY;
    (void)tct_gpu_place_of(c->gpu, g->block, &o->gpu_block);
    return TACIT_OK;
}

tacit_status tct_gpu_end_prepare(tacit_trigger_comm *c, tct_trigger_end *e)
{
    struct tct_gpu_end *g = tct_calloc(sizeof *g);
    if (!g) FAIL(TACIT_NO_MEMORY, "no memory for a request");
    const int before = tct_gpu_enter(c);
    const tacit_status status = prepare(c, e, g);
    if (status < 0) tct_gpu_end_free(c, g);
    else e->gpu = g;
    tct_gpu_leave(before);
    return status;
}

/* The window of a message that has no cells; NULL: cannot be opened. */
static char *open_window(tacit_trigger_comm *c, const tct_trigger_end *e,
                         char *block)
{
    const bool sends = e->mine.direction == TCT_SENDS;
    const tct_offer *receive = sends ? &e->theirs : &e->mine;
    if (!receive->gpu_direct) return block + window_at(receive->bytes);
    if (!sends) return e->data;
    return tct_gpu_place_open(c, e->peer, &receive->gpu_window,
                              &e->gpu->used[1]);
}

/* The steps' view of the two ends, from this rank. */
static bool connect(tacit_trigger_comm *c, const tct_trigger_end *e,
                    tct_parted *p)
{
    const bool sends = e->mine.direction == TCT_SENDS;
    const tct_offer *receive = sends ? &e->theirs : &e->mine;
    struct tct_gpu_end *g = e->gpu;
    char *there =
        tct_gpu_place_open(c, e->peer, &e->theirs.gpu_block, &g->used[0]);
    char *block = sends ? there : g->block;
    if (!there) return false;
    p->r.own = (tct_end_signals *)(void *)g->block;
    p->r.other = (tct_end_signals *)(void *)there;
    if (tct_has_cells(p->r.bytes)) {
        p->cells = (tct_end_cells){.slot = (void *)(block + SIGNALS),
                                   .each = tct_cells_of(receive->bytes),
                                   .count = tct_cells_of(p->r.bytes)};
        return true;
    }
    p->arrived =
        (uint64_t *)(void *)(block + SIGNALS + slots_bytes(receive->bytes));
    p->r.window = open_window(c, e, block);
    return p->r.window != NULL;
}

/* The arguments of kernels for cells. */
static tct_cell_end cell_of(const tct_parted *p, tct_parted *on_gpu)
{
    const tct_cell_end e = {.cells = p->cells,
                            .parted = on_gpu,
                            .data = p->data,
                            .cleared = tct_part_cleared(p),
                            .bytes = (int32_t)p->r.bytes,
                            .sends = p->sends != 0,
                            .sync = p->r.kind == TCT_SEND_SYNC};
    const tct_cell_end none = {.bytes = 0};
    return p->cells.slot ? e : none;
}

tacit_status tct_gpu_end_connect(tacit_trigger_comm *c, tct_trigger_end *e)
{
    tct_parted p;
    memset(&p, 0, sizeof p);
    p.r = (tct_rendezvous){.bytes = e->r.bytes, .kind = e->r.kind};
    const int before = tct_gpu_enter(c);
    tacit_status status = connect(c, e, &p) ? TACIT_OK : TACIT_DEVICE;
    p.data = e->data;
    p.peer = e->peer;
    p.sends = e->mine.direction == TCT_SENDS;
    p.parts = e->gpu->parts = p.cells.slot ? 1 : tct_parts_of(p.r.bytes);
    p.name = (uint64_t)(uintptr_t)e;
    e->gpu->cell = cell_of(&p, e->gpu->parted);
    if (status >= 0)
        status =
            tct_gpu_copy_aside(c->gpu, e->gpu->parted, &p, sizeof p, false);
    tct_gpu_leave(before);
    return status;
}

void tct_gpu_end_leave(tacit_trigger_comm *c, struct tct_gpu_end *g)
{
    if (!g || !c->gpu) return;
    const int before = tct_gpu_enter(c);
    for (int k = 0; k < 2; k++) {
        tct_gpu_place_close(c->gpu, g->used[k]);
        g->used[k] = NULL;
    }
    tct_gpu_leave(before);
}

void tct_gpu_end_free(tacit_trigger_comm *c, struct tct_gpu_end *g)
{
    if (!g || !c->gpu) return; /* the GPU's memory is left */
    tct_gpu_end_leave(c, g);
    tct_trigger_give(c->gpu, g->parted);
    tct_trigger_give(c->gpu, g->block);
    tct_free(g);
}

bool tct_gpu_end_is_over(tacit_trigger_comm *c, const tct_trigger_end *e)
{
    tct_part_state part[TCT_PARTS_MOST];
    const struct tct_gpu_end *g = e->gpu;
    if (!g) return true;
    const size_t bytes = (size_t)g->parts * sizeof *part;
    const int before = tct_gpu_enter(c);
    const tacit_status status =
        tct_gpu_copy_aside(c->gpu, part, g->parted->part, bytes, true);
    tct_gpu_leave(before);
    if (status < 0) return false;
    for (int k = 0; k < g->parts; k++)
        if (part[k].waited != part[k].begun ||
            part[k].begun < e->request->number)
            return false;
    return true;
}
