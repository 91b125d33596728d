/* SPDX-License-Identifier: BSD-3-Clause
 * halo/in_place.c - exchanges in place: two buffers of each rank in memory that
 * its peers reach, and for each direction a counter at both ends. halo.h has
 * the protocol. */
#include "device/protocol.h"
#include "halo/state.h"
#include <stdio.h>

enum { ALIGN = 128, PAIR = 256 /* distance of the buffers: a multiple */ };

/* A rank's buffers, as it tells the others. */
typedef struct {
    tct_peer_window window;
    int64_t before, bytes; /* of each; cell (0, 0, 0) comes after `before` */
} buffers;

static int64_t aligned(int64_t bytes, int64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Bytes of both, with room for an address that is aligned less. */
static size_t bytes_of(const buffers *b)
{
    return (size_t)(2 * b->bytes + ALIGN);
}

/* Cell (0, 0, 0) of a buffer, from where both begin. */
static char *cell_of(char *start, const buffers *b, int slot)
{
    return start + slot * b->bytes + b->before;
}

/* This rank's cells in memory from `start` on, at aligned addresses. */
static void set_cells(tacit_halo *h, char *start, buffers *own)
{
    own->before += (int64_t)(-(uintptr_t)start % ALIGN);
    for (int slot = 0; slot < 2; slot++)
        h->cell[slot] = cell_of(start, own, slot);
}

/* --- directions ----------------------------------------------------------- */

/* The direction's cells of both buffers in the peer's memory, which begins at
 * `start`. Addresses are those of this block's cells: the peer's cell where the
 * box `send` begins, less the distance of its first cell. */
static void address(tacit_halo *h, const buffers *b, char *start,
                    tct_halo_put *p)
{
    const tct_halo_shape *peer = &h->all[p->peer];
    tacit_halo_message other;
    tct_halo_message(peer, TACIT_HALO_DIRECTIONS - 1 - p->direction, &other);
    p->pitch = peer->pitch;
    p->plane = peer->plane;
    const tct_halo_shape strides = {
        .bytes = peer->bytes, .pitch = p->pitch, .plane = p->plane};
    const uintptr_t shift =
        (uintptr_t)tct_halo_distance(&strides, other.receive) -
        (uintptr_t)tct_halo_distance(&strides, p->send);
    for (int slot = 0; slot < 2; slot++)
        p->at[slot] = (char *)((uintptr_t)cell_of(start, b, slot) + shift);
}

static void list_puts(tacit_halo *h)
{
    tct_halo_near *n = &h->near;
    for (int i = 0; i < TACIT_HALO_DIRECTIONS; i++) {
        const tacit_halo_message *m = &h->message[i];
        if (m->peer < 0) continue;
        tct_halo_put *p = &n->put[n->puts.count++];
        *p = (tct_halo_put){.direction = i, .peer = m->peer};
        memcpy(p->send, m->send, sizeof p->send);
        memcpy(p->receive, m->receive, sizeof p->receive);
        memcpy(p->extent, m->extent, sizeof p->extent);
    }
}

/* The part of a direction's box that is sent when exchanges are narrow. */
static tct_halo_put narrowed(const tacit_halo *h, int k)
{
    const tct_halo_near *n = &h->near;
    tct_halo_put p = n->put[k];
    int step[3], ways = 0;
    tct_halo_steps(p.direction, step);
    for (int d = 0; d < 3; d++) {
        ways += step[d] != 0;
        if (n->width == 0 || step[d] == 0 || n->width >= p.extent[d]) continue;
        if (step[d] > 0) p.send[d] += p.extent[d] - n->width;
        p.extent[d] = n->width;
    }
    if (n->faces && ways > 1) p.extent[2] = 0;
    return p;
}

/* The copies of all directions from buffer `slot`; those that are not sent are
 * of no plane, since copies are numbered as directions are. */
static void list_copies(const tacit_halo *h, int slot, tct_halo_copies *out)
{
    const tct_halo_shape *s = &h->shape;
    out->count = 0;
    for (int k = 0; k < h->near.puts.count; k++) {
        const tct_halo_put narrow = narrowed(h, k), *p = &narrow;
        const tct_halo_shape peer = {
            .bytes = s->bytes, .pitch = p->pitch, .plane = p->plane};
        const uintptr_t from = (uintptr_t)h->cell[slot];
        out->copy[out->count++] = (tct_halo_copy){
            .from = from + (uintptr_t)tct_halo_distance(s, p->send),
            .to = (uintptr_t)p->at[slot] +
                  (uintptr_t)tct_halo_distance(&peer, p->send),
            .from_pitch = s->pitch,
            .to_pitch = p->pitch,
            .from_plane = s->plane,
            .to_plane = p->plane,
            .row = p->extent[0] * s->bytes,
            .rows = p->extent[1],
            .planes = p->extent[2]};
    }
}

/* --- counters ------------------------------------------------------------- */

/* Channels without bytes: two a direction, for the counters of their ends. */
static int list_channels(tct_halo_near *n, int rank)
{
    int ends = 0;
    for (int k = 0; k < n->puts.count; k++) {
        const tct_halo_put *p = &n->put[k];
        if (p->peer == rank) continue;
        n->channel[ends++] =
            (tct_channel){.peer = p->peer,
                          .tag = TACIT_HALO_DIRECTIONS - 1 - p->direction,
                          .sends = true};
        n->channel[ends++] =
            (tct_channel){.peer = p->peer, .tag = p->direction};
    }
    return ends;
}

static void take_counters(tct_halo_near *n, int rank)
{
    const tct_channel *c = n->channel;
    for (int k = 0; k < n->puts.count; k++) {
        tct_halo_put *p = &n->put[k];
        if (p->peer == rank) continue;
        p->other = &c[0].other->value;
        p->own = &c[1].own->value;
        c += 2;
    }
}

static tacit_status match(tacit_halo *h)
{
    tct_halo_near *n = &h->near;
    const int ends = list_channels(n, h->q->rank);
    TRY(tct_channels_match(&n->medium, TACIT_OK, ends, n->channel, &n->set));
    take_counters(n, h->q->rank);
    return TACIT_OK;
}

/* --- buffers -------------------------------------------------------------- */

static tacit_status make_room(tct_halo_near *n)
{
    TRY(TCT_ALLOC(TACIT_HALO_DIRECTIONS, "a halo", &n->put));
    TRY(TCT_ALLOC(2 * TACIT_HALO_DIRECTIONS, "a halo", &n->channel));
    for (int slot = 0; slot < 2; slot++)
        TRY(TCT_ALLOC(TACIT_HALO_DIRECTIONS, "a halo", &n->list[slot].copy));
    return TACIT_OK;
}

/* The last step, of this rank alone. */
static tacit_status give_device(tacit_halo *h)
{
    tct_halo_near *n = &h->near;
    for (int slot = 0; slot < 2; slot++) {
        list_copies(h, slot, &n->list[slot]);
        TRY(h->device->give_list(&n->list[slot]));
    }
    n->puts.put = n->put;
    return h->device->give_puts(h);
}

/* Where the buffers of all ranks are. Collective. */
static tacit_status connect(tacit_halo *h, buffers *own, buffers *all)
{
    tct_halo_near *n = &h->near;
    const tct_medium *m = &n->medium;
    own->window = n->window;
    set_cells(h, m->at(m->state, n->handle, h->q->rank, &n->window), own);
    TRY(tct_allgather(h->q->world, sizeof *all, own, all));
    list_puts(h);
    for (int k = 0; k < n->puts.count; k++) {
        const buffers *b = &all[n->put[k].peer];
        address(h, b, m->at(m->state, n->handle, n->put[k].peer, &b->window),
                &n->put[k]);
    }
    TRY(match(h));
    return tct_agree(h->q->world, give_device(h));
}

/* Collective. */
static tacit_status open_near(tacit_halo *h, buffers *own)
{
    tct_halo_near *n = &h->near;
    buffers *all = NULL;
    n->open = true;
    TRY(h->device->open(h));
    tacit_status status = make_room(n);
    if (status >= 0) status = TCT_ALLOC(h->q->ranks, "a halo", &all);
    status = tct_agree(h->q->world, status);
    if (status >= 0)
        status = n->medium.take(n->medium.state, bytes_of(own), &n->window,
                                &n->handle);
    if (status < 0) n->window.arena = -1;
    if (status >= 0) status = connect(h, own, all);
    tct_free(all);
    return status;
}

void tct_halo_near_close(tacit_halo *h)
{
    tct_halo_near *n = &h->near;
    if (!n->open) return;
    tct_channels_free(&n->set);
    for (int slot = 0; slot < 2; slot++) {
        h->device->take_list(&n->list[slot]);
        tct_free(n->list[slot].copy);
    }
    if (n->window.arena >= 0)
        n->medium.give(n->medium.state, n->handle, &n->window);
    h->device->close(h);
    TCT_FREE(n->channel, n->put);
    *n = (tct_halo_near){.window.arena = -1};
}

/* Memory of the device alone. */
static tacit_status take_own(tacit_halo *h, buffers *own)
{
    const size_t bytes = bytes_of(own);
    h->own = h->q->device->alloc(h->q, bytes);
    if (!h->own)
        FAIL(TACIT_NO_MEMORY, "no memory for the buffers of a grid: %g MB",
             1e-6 * (double)bytes);
    set_cells(h, h->own, own);
    return h->device->zero(h->q, h->own, bytes);
}

/* Where peers cannot reach each other's buffers, say why, and go on. */
static tacit_status take_reached(tacit_halo *h, buffers *b)
{
    const tacit_status status = open_near(h, b);
    if (status >= 0) return status;
    tct_halo_near_close(h);
    if (status == TACIT_COMM || status == TACIT_DEVICE) return status;
    snprintf(h->near.why, sizeof h->near.why, "%s", tacit_error_message());
    return TACIT_OK;
}

static tacit_status check_buffers(const tacit_halo *h, size_t before,
                                  size_t after)
{
    const int64_t least[] = {tct_halo_before(&h->shape),
                             tct_halo_after(&h->shape)};
    if (before < (size_t)least[0] || after < (size_t)least[1])
        FAIL(TACIT_INVALID,
             "halo: buffers of %zu and %zu bytes: block and ghosts take %lld "
             "and %lld",
             before, after, (long long)least[0], (long long)least[1]);
    if (h->taken) FAIL(TACIT_INVALID, "halo: it has its buffers already");
    return TACIT_OK;
}

tacit_status tct_halo_take_buffers(tacit_halo *h, size_t before, size_t after,
                                   bool reach, char *cell[2])
{
    tacit_world *w = h->q->world;
    TRY(tct_agree(w, check_buffers(h, before, after)));
    buffers own = {.before = aligned((int64_t)before, ALIGN)};
    own.bytes = aligned(own.before + (int64_t)after, PAIR);
    snprintf(h->near.why, sizeof h->near.why, "not asked for");
    if (reach) {
        h->near.why[0] = '\0';
        TRY(take_reached(h, &own));
    }
    if (h->near.why[0]) TRY(tct_agree(w, take_own(h, &own)));
    for (int slot = 0; slot < 2; slot++) cell[slot] = h->cell[slot];
    h->taken = true;
    return TACIT_OK;
}

tacit_status tct_halo_narrow(tacit_halo *h, int64_t width, bool faces_only)
{
    tct_halo_near *n = &h->near;
    tacit_status status = q_status(h->q); /* what is enqueued has the lists */
    n->width = width;
    n->faces = faces_only;
    for (int slot = 0; slot < 2 && n->open; slot++) {
        h->device->take_list(&n->list[slot]);
        list_copies(h, slot, &n->list[slot]);
        if (status >= 0) status = h->device->give_list(&n->list[slot]);
    }
    return tct_agree(h->q->world, status);
}

const char *tct_halo_why_packed(const tacit_halo *h)
{
    if (!h->taken) return "it has no buffers";
    return h->near.why[0] ? h->near.why : NULL;
}

const tct_halo_puts *tct_halo_puts_of(const tacit_halo *h)
{
    return tct_halo_why_packed(h) ? NULL : &h->near.puts;
}

uint64_t tct_halo_number(const tacit_halo *h)
{
    return h->near.number;
}

void tct_halo_advance(tacit_halo *h, uint64_t exchanges)
{
    h->near.number += exchanges;
    h->near.made += exchanges;
}

/* --- exchanges ------------------------------------------------------------ */

/* Operations of the queue may run later, so what they need is in the halo. */
static tacit_status put(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const tct_halo_turn *t = ctx;
    tacit_halo *h = t->halo;
    const tct_halo_copies *list = &h->near.list[t->slot];
    (void)q;
    (void)x;
    (void)y;
    return t->ends ? h->device->swap(h, list, 0)
                   : h->device->put(h, list, t->means);
}

static tacit_status await(void *ctx, tacit_queue *q, const double *x, double *y)
{
    tacit_halo *h = ctx;
    (void)q;
    (void)x;
    (void)y;
    return h->device->await(h);
}

static void put_next(tacit_halo *h, int slot, tct_halo_means means, bool ends)
{
    enum { ENDS = 4 };
    tct_halo_turn *t = &h->near.turn[slot][ends ? ENDS : (int)means];
    *t = (tct_halo_turn){h, slot, means, ends};
    h->near.number++;
    q_call(h->q, put, t, NULL, NULL);
}

void tct_halo_ready(tacit_halo *h, int slot)
{
    tct_halo_near *n = &h->near;
    while (n->packed_came || tct_buffer_of(n->number + 1) != slot) {
        put_next(h, 0, TCT_HALO_SIGNALS, false);
        tct_halo_near_finish(h);
        n->packed_came = false;
    }
}

void tct_halo_near_start(tacit_halo *h, int slot, tct_halo_means means)
{
    tct_halo_ready(h, slot);
    put_next(h, slot, means, false);
}

void tct_halo_near_swap(tacit_halo *h, int slot)
{
    tct_halo_ready(h, slot);
    put_next(h, slot, TCT_HALO_STORES, true);
}

void tct_halo_near_finish(tacit_halo *h)
{
    q_call(h->q, await, h, NULL, NULL);
}
