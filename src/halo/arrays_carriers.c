/* SPDX-License-Identifier: BSD-3-Clause
 * halo/arrays_carriers.c - how messages of several arrays reach the neighbours:
 * by the queue's link, or by stores into memory of the neighbours. */
#include "halo/arrays.h"
#include "halo/cells.h"

/* --- fences: messages of the link ----------------------------------------- */

typedef struct {
    tct_plan *plan; /* NULL: there is one rank */
    tacit_element element;
    char *sent;
} fences;

typedef struct {
    int count;
    tct_plan_part part[TACIT_HALO_DIRECTIONS];
    int64_t units;
} parts;

/* Parts to one rank are told apart by their order: senders list directions
 * ascending, receivers those that they receive from descending. */
static parts list_parts(const tacit_halo_arrays *a, bool sends, int64_t unit)
{
    parts p = {0};
    for (int i = 0; i < TACIT_HALO_DIRECTIONS; i++) {
        const int d = sends ? i : TACIT_HALO_DIRECTIONS - 1 - i;
        if (a->peer[d] < 0 || a->peer[d] == a->q->rank) continue;
        const int64_t units = a->bytes[d] / unit;
        p.part[p.count++] = (tct_plan_part){a->peer[d], p.units, units};
        p.units += units;
    }
    return p;
}

/* Where messages are packed: first those to other ranks, as the plan has
 * them. */
static void set_places(tacit_halo_arrays *a, const fences *f)
{
    int64_t sent = 0, come = 0;
    const char *ghost = f->plan ? (const char *)f->plan->base.ghost : NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < TACIT_HALO_DIRECTIONS; d++) {
            const bool self = a->peer[d] == a->q->rank;
            if (a->peer[d] < 0 || self != (pass == 1)) continue;
            a->to[0][d] = a->to[1][d] = f->sent + sent;
            sent += a->bytes[d];
        }
    for (int d = TACIT_HALO_DIRECTIONS - 1; d >= 0; d--) {
        if (a->peer[d] < 0) continue;
        const bool self = a->peer[d] == a->q->rank;
        char *at = self ? a->to[0][TACIT_HALO_DIRECTIONS - 1 - d]
                        : (char *)(uintptr_t)ghost + come;
        a->from[0][d] = a->from[1][d] = at;
        if (!self) come += a->bytes[d];
    }
}

static tacit_status take_sent(tacit_halo_arrays *a, fences *f,
                              const parts *sends, int32_t **index)
{
    const size_t bytes =
        (size_t)tct_halo_arrays_before(a, TACIT_HALO_DIRECTIONS);
    if (sends->units >= INT32_MAX)
        FAIL(TACIT_INVALID,
             "halo: the cells that a rank sends take %lld units of a message: "
             "expected less than 2^31: take narrower ghosts, or more blocks",
             (long long)sends->units);
    TRY(TCT_ALLOC(sends->units, "a halo", index));
    for (int64_t i = 0; i < sends->units; i++) (*index)[i] = (int32_t)i;
    f->sent = a->q->device->alloc(a->q, bytes + 16);
    if (!f->sent) FAIL(TACIT_NO_MEMORY, "no memory for a halo");
    return a->device->zero(a->q, f->sent, bytes + 16);
}

static tacit_status make_state(tacit_halo_arrays *a, size_t bytes)
{
    a->state = tct_calloc(bytes);
    if (!a->state) tacit_error_set(TACIT_NO_MEMORY, "no memory for a halo");
    return tct_agree(a->q->world, a->state ? TACIT_OK : TACIT_NO_MEMORY);
}

static tacit_status fences_open(tacit_halo_arrays *a, void *with)
{
    int32_t *index = NULL;
    (void)with;
    TRY(make_state(a, sizeof(fences)));
    fences *f = a->state;
    f->element = TACIT_F64;
    const parts sends = list_parts(a, true, 8),
                receives = list_parts(a, false, 8);
    tacit_status status =
        tct_agree(a->q->world, take_sent(a, f, &sends, &index));
    if (status >= 0 && a->q->ranks > 1)
        status = tct_plan_in(a->q, f->element, sends.count, sends.part, index,
                             receives.count, receives.part, 1, &f->plan);
    tct_free(index);
    if (status >= 0) set_places(a, f);
    return status;
}

static void fences_close(tacit_halo_arrays *a)
{
    fences *f = a->state;
    tct_plan_destroy(&f->plan);
    if (f->sent) a->q->device->free(a->q, f->sent);
    tct_free(f);
}

static void fences_ready(tacit_halo_arrays *a, int slot)
{
    (void)a;
    (void)slot;
}

static void fences_start(tacit_halo_arrays *a, int slot)
{
    const fences *f = a->state;
    (void)slot;
    if (f->plan)
        q_exchange_begin(a->q, &f->plan->base,
                         tct_panel_in(f->element, f->sent, 0, 1));
}

static void fences_finish(tacit_halo_arrays *a, int slot)
{
    const fences *f = a->state;
    (void)slot;
    if (f->plan) q_exchange_end(a->q, &f->plan->base, 1);
}

const tct_halo_carrier tct_halo_fences = {.name = "fences",
                                          .open = fences_open,
                                          .close = fences_close,
                                          .ready = fences_ready,
                                          .start = fences_start,
                                          .finish = fences_finish};

/* --- fused: stores into the neighbours' memory ----------------------------- */

/* A halo of one cell a block, whose ghosts are the messages: its buffers in
 * place, and its counters, are the carrier. */
typedef struct {
    tacit_halo *halo;
    char *cell[2];
} fused;

typedef struct {
    int64_t largest; /* message */
    bool cells;      /* can they have cells? */
} demand;

/* Cells are for the boxes of one array, none of them empty. */
static bool can_have_cells(const tacit_halo_arrays *a)
{
    bool can = a->device->cells && a->count == 1;
    for (int d = 0; d < TACIT_HALO_DIRECTIONS && can; d++) {
        const tacit_halo_message *m = &a->one->message[d];
        const tct_halo_copy box = {.row = m->extent[0] * a->one->shape.bytes,
                                   .rows = m->extent[1],
                                   .planes = m->extent[2]};
        if (m->peer < 0) continue;
        can = tct_halo_has_cells(&box) && tct_halo_copy_bytes(&box) > 0;
    }
    return can;
}

/* Of all ranks. Collective. */
static tacit_status demand_of(tacit_halo_arrays *a, demand *out)
{
    tacit_world *w = a->q->world;
    demand *all = NULL;
    *out = (demand){16, can_have_cells(a)};
    for (int d = 0; d < TACIT_HALO_DIRECTIONS; d++)
        if (a->bytes[d] > out->largest) out->largest = a->bytes[d];
    tacit_status status = tct_agree(w, TCT_ALLOC(a->q->ranks, "a halo", &all));
    if (status >= 0) status = tct_allgather(w, sizeof *out, out, all);
    for (int r = 0; r < a->q->ranks && status >= 0; r++) {
        if (all[r].largest > out->largest) out->largest = all[r].largest;
        out->cells = out->cells && all[r].cells;
    }
    tct_free(all);
    out->cells = out->cells && out->largest <= TCT_HALO_CELLS_MOST;
    return status;
}

static tacit_status open_boxes(tacit_halo_arrays *a, fused *f)
{
    tacit_halo_block b = {.size = sizeof b,
                          .dimensions = a->dimensions,
                          .n = {1, 1, 1},
                          .periodic = a->grid.periodic,
                          .faces_only = a->grid.faces_only};
    memcpy(b.blocks, a->grid.blocks, sizeof b.blocks);
    for (int d = 0; d < 3; d++) b.ghost[d] = a->grid.ghost[d] > 0;
    demand d;
    TRY(demand_of(a, &d));
    const int64_t message = (d.largest + 15) / 16 * 16;
    b.bytes = d.cells ? 3 * message : message; /* a cell is twice its bytes */
    TRY(tct_halo_create_in_place(a->q, &b, &f->halo));
    f->halo->near.cells = d.cells ? message : 0;
    const tct_halo_shape *s = &f->halo->shape;
    TRY(tct_halo_take_buffers(f->halo, (size_t)tct_halo_before(s),
                              (size_t)tct_halo_after(s), true, f->cell));
    const char *why = tct_halo_why_packed(f->halo);
    if (why) FAIL(TACIT_UNSUPPORTED, "halo: back end fused: %s", why);
    return TACIT_OK;
}

static tacit_status fused_open(tacit_halo_arrays *a, void *with)
{
    (void)with;
    TRY(make_state(a, sizeof(fused)));
    fused *f = a->state;
    TRY(open_boxes(a, f));
    const tct_halo_shape *s = &f->halo->shape;
    const tct_halo_puts *puts = tct_halo_puts_of(f->halo);
    for (int i = 0; i < 2 * puts->count; i++) {
        const int slot = i % 2;
        const tct_halo_put *p = &puts->put[i / 2];
        a->to[slot][p->direction] = p->at[slot] + tct_halo_distance(s, p->send);
        a->from[slot][p->direction] =
            f->cell[slot] + tct_halo_distance(s, p->receive);
    }
    return TACIT_OK;
}

static void fused_close(tacit_halo_arrays *a)
{
    fused *f = a->state;
    tacit_halo_destroy(&f->halo);
    tct_free(f);
}

static void fused_ready(tacit_halo_arrays *a, int slot)
{
    const fused *f = a->state;
    tct_halo_ready(f->halo, slot);
}

static void fused_start(tacit_halo_arrays *a, int slot)
{
    const fused *f = a->state;
    tct_halo_start(f->halo, slot, TCT_HALO_SIGNALS);
}

static void fused_finish(tacit_halo_arrays *a, int slot)
{
    const fused *f = a->state;
    (void)slot;
    tct_halo_finish(f->halo);
}

/* The list has the directions of the halo, in its order. */
static tacit_status fused_swap(tacit_halo_arrays *a,
                               const tct_halo_copies *list, uintptr_t cell,
                               const tct_halo_copies *into)
{
    static const tct_halo_copies none = {.count = 0};
    const fused *f = a->state;
    const tct_halo_device *device = f->halo->device;
    if (!cell && !(into && f->halo->near.cells))
        return device->swap(f->halo, &none, 0);
    return into ? device->trade(f->halo, list, cell, into, cell)
                : device->swap(f->halo, list, cell);
}

static void fused_count(tacit_halo_arrays *a, int slot)
{
    const fused *f = a->state;
    tct_halo_ready(f->halo, slot);
    f->halo->near.number++;
}

const tct_halo_carrier tct_halo_fused = {.name = "fused",
                                         .open = fused_open,
                                         .close = fused_close,
                                         .ready = fused_ready,
                                         .start = fused_start,
                                         .finish = fused_finish,
                                         .swap = fused_swap,
                                         .count = fused_count};
