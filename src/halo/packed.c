/* SPDX-License-Identifier: BSD-3-Clause
 * halo/packed.c - exchanges by messages of the queue's link: a plan whose parts
 * are the boxes, in the order of z, y, x. Parts to one rank are told apart by
 * their order: senders list directions ascending, and so receivers list the
 * directions that they receive from descending. */
#include "halo/state.h"

/* --- lists ---------------------------------------------------------------- */

typedef struct {
    int count;
    tct_plan_part part[TACIT_HALO_DIRECTIONS];
    int direction[TACIT_HALO_DIRECTIONS];
    int64_t units; /* of all parts */
} parts;

static size_t unit_of(const tacit_halo *h)
{
    return tct_element_bytes(h->packed.element);
}

/* Units of a message, whose last one may be filled in part. */
static int64_t units_of(const tacit_halo *h, int64_t bytes)
{
    const int64_t unit = (int64_t)unit_of(h);
    return (bytes + unit - 1) / unit;
}

static void list_parts(const tacit_halo *h, bool sends, parts *out)
{
    *out = (parts){0};
    for (int i = 0; i < TACIT_HALO_DIRECTIONS; i++) {
        const int at = sends ? i : TACIT_HALO_DIRECTIONS - 1 - i;
        const tacit_halo_message *m = &h->message[at];
        if (m->peer < 0 || m->peer == h->q->rank) continue;
        const int64_t units = units_of(h, m->bytes);
        out->part[out->count] = (tct_plan_part){
            .peer = m->peer, .first = out->units, .count = units};
        out->direction[out->count++] = at;
        out->units += units;
    }
}

/* A box of a field, and where it starts in a buffer without gaps. */
static tct_halo_copy copy_of(const tct_halo_shape *s, const int64_t extent[3],
                             int64_t field, int64_t buffer, bool packs)
{
    const int64_t row = extent[0] * s->bytes, plane = row * extent[1];
    tct_halo_copy c = {.row = row, .rows = extent[1], .planes = extent[2]};
    c.from = (uintptr_t)(packs ? field : buffer);
    c.to = (uintptr_t)(packs ? buffer : field);
    c.from_pitch = packs ? s->pitch : row;
    c.to_pitch = packs ? row : s->pitch;
    c.from_plane = packs ? s->plane : plane;
    c.to_plane = packs ? plane : s->plane;
    return c;
}

static tacit_status list_copies(const tacit_halo *h, const parts *p, bool packs,
                                tct_halo_copies *out)
{
    const int64_t unit = (int64_t)unit_of(h);
    TRY(TCT_ALLOC(p->count, "a halo", &out->copy));
    for (int k = 0; k < p->count; k++) {
        const tacit_halo_message *m = &h->message[p->direction[k]];
        out->copy[out->count++] =
            copy_of(&h->shape, m->extent,
                    tct_halo_distance(&h->shape, packs ? m->send : m->receive),
                    p->part[k].first * unit, packs);
    }
    return h->device->give_list(out);
}

/* Directions in which the block is its own neighbour: its cells go into the
 * ghosts of the other side. */
static tacit_status list_self(tacit_halo *h)
{
    tct_halo_copies *out = &h->packed.self;
    const tct_halo_shape *s = &h->shape;
    TRY(TCT_ALLOC(TACIT_HALO_DIRECTIONS, "a halo", &out->copy));
    for (int i = 0; i < TACIT_HALO_DIRECTIONS; i++) {
        const tacit_halo_message *m = &h->message[i];
        if (m->peer != h->q->rank) continue;
        tct_halo_copy c =
            copy_of(s, m->extent, tct_halo_distance(s, m->send), 0, true);
        c.to = (uintptr_t)tct_halo_distance(s, h->message[m->tag].receive);
        c.to_pitch = s->pitch;
        c.to_plane = s->plane;
        out->copy[out->count++] = c;
    }
    return h->device->give_list(out);
}

/* --- numbers of the plan's elements --------------------------------------- */

/* Units of the box from `at` on; returns how many. */
static int64_t number_box(const tct_halo_shape *s, const tacit_halo_message *m,
                          int64_t unit, int32_t *index)
{
    int64_t n = 0;
    const int64_t row = m->extent[0] * s->bytes / unit;
    const int64_t first = tct_halo_distance(s, m->send) / unit;
    for (int64_t z = 0; z < m->extent[2]; z++)
        for (int64_t y = 0; y < m->extent[1]; y++)
            for (int64_t x = 0; x < row; x++)
                index[n++] = (int32_t)(first + z * (s->plane / unit) +
                                       y * (s->pitch / unit) + x);
    return n;
}

static tacit_status number_parts(const tacit_halo *h, const parts *sends,
                                 int32_t **out)
{
    TRY(TCT_ALLOC(sends->units, "a halo", out));
    if (!h->packed.direct) {
        for (int64_t i = 0; i < sends->units; i++) (*out)[i] = (int32_t)i;
        return TACIT_OK;
    }
    int64_t n = 0;
    for (int k = 0; k < sends->count; k++)
        n += number_box(&h->shape, &h->message[sends->direction[k]],
                        (int64_t)unit_of(h), *out + n);
    return TACIT_OK;
}

/* Can the plan take the units of the cells from the field, by numbers of 32
 * bits? */
static bool is_direct(const tacit_halo *h)
{
    const tct_halo_shape *s = &h->shape;
    const int64_t unit = (int64_t)unit_of(h);
    return s->bytes % unit == 0 && s->pitch % unit == 0 &&
           s->plane % unit == 0 && tct_halo_after(s) / unit < INT32_MAX;
}

/* --- set-up --------------------------------------------------------------- */

static tacit_status check_units(int64_t units)
{
    if (units >= INT32_MAX)
        FAIL(TACIT_INVALID,
             "halo: the cells that a rank sends take %lld units of a message: "
             "expected less than 2^31: take narrower ghosts, or more blocks",
             (long long)units);
    return TACIT_OK;
}

/* The part of this rank. */
static tacit_status prepare(tacit_halo *h, const parts *sends,
                            const parts *receives, int32_t **index)
{
    tct_halo_packed *p = &h->packed;
    TRY(list_self(h));
    TRY(check_units(sends->units));
    p->direct = is_direct(h);
    TRY(number_parts(h, sends, index));
    if (!p->direct) {
        const size_t bytes = (size_t)sends->units * unit_of(h);
        p->sent = h->q->device->alloc(h->q, bytes);
        if (!p->sent) FAIL(TACIT_NO_MEMORY, "no memory for a halo");
        TRY(h->device->zero(h->q, p->sent, bytes));
        TRY(list_copies(h, sends, true, &p->pack));
    }
    return list_copies(h, receives, false, &p->unpack);
}

tacit_status tct_halo_packed_open(tacit_halo *h)
{
    tct_halo_packed *p = &h->packed;
    parts sends, receives;
    int32_t *index = NULL;
    p->element = h->shape.bytes % 8 == 0 ? TACIT_F64 : TACIT_F32;
    list_parts(h, true, &sends);
    list_parts(h, false, &receives);
    tacit_status status =
        tct_agree(h->q->world, prepare(h, &sends, &receives, &index));
    if (status >= 0 && h->q->ranks > 1)
        status = tct_plan_in(h->q, p->element, sends.count, sends.part, index,
                             receives.count, receives.part, 1, &p->plan);
    tct_free(index);
    return status;
}

void tct_halo_packed_close(tacit_halo *h)
{
    tct_halo_packed *p = &h->packed;
    tct_halo_copies *lists[] = {&p->pack, &p->unpack, &p->self};
    tct_plan_destroy(&p->plan);
    if (p->sent) h->q->device->free(h->q, p->sent);
    for (int i = 0; i < 3; i++) {
        h->device->take_list(lists[i]);
        tct_free(lists[i]->copy);
    }
}

/* --- exchanges ------------------------------------------------------------ */

/* In a failed queue nothing is read or written; messages still go out. */
static bool may_copy(const tacit_queue *q, const tct_halo_copies *list,
                     const void *field)
{
    return list->count > 0 && field && q->failed == TACIT_OK;
}

/* The field is `x` (of unpack `y`), an argument of the operation. */
static tacit_status pack(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const tacit_halo *h = ctx;
    const tct_halo_packed *p = &h->packed;
    const uintptr_t field = (uintptr_t)x;
    (void)y;
    if (may_copy(q, &p->self, x))
        TRY(h->device->copy(q, &p->self, field, field));
    if (!may_copy(q, &p->pack, x)) return TACIT_OK;
    return h->device->copy(q, &p->pack, field, (uintptr_t)p->sent);
}

static tacit_status unpack(void *ctx, tacit_queue *q, const double *x,
                           double *y)
{
    const tacit_halo *h = ctx;
    const tct_halo_packed *p = &h->packed;
    (void)x;
    if (!may_copy(q, &p->unpack, y)) return TACIT_OK;
    return h->device->copy(q, &p->unpack, (uintptr_t)p->plan->base.ghost,
                           (uintptr_t)y);
}

static double *as_vector(char *cell)
{
    return (double *)(void *)cell;
}

void tct_halo_packed_begin(tacit_halo *h, char *cell)
{
    tct_halo_packed *p = &h->packed;
    h->field = cell;
    if (p->self.count + p->pack.count > 0)
        q_call(h->q, pack, h, as_vector(cell), NULL);
    if (!p->plan) return;
    void *x = p->direct ? cell : p->sent;
    q_exchange_begin(h->q, &p->plan->base, tct_panel_in(p->element, x, 0, 1));
}

void tct_halo_packed_end(tacit_halo *h)
{
    tct_halo_packed *p = &h->packed;
    if (!p->plan) return;
    q_exchange_end(h->q, &p->plan->base, 1);
    if (p->unpack.count > 0) q_call(h->q, unpack, h, NULL, as_vector(h->field));
}
