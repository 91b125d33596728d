/* SPDX-License-Identifier: BSD-3-Clause
 * halo/arrays_lists.c - copies between fields, whose addresses come later, and
 * messages. Gather packs the border and unpacks into ghosts, scatter the other
 * way round. */
#include "halo/arrays.h"

/* A box of a field, from `at` on, and its place in a message. */
static tct_halo_copy copy_of(const tct_halo_one *one,
                             const tacit_halo_message *m, const int64_t at[3],
                             const char *message, bool packs)
{
    const tct_halo_shape *s = &one->shape;
    const int64_t row = m->extent[0] * s->bytes, plane = row * m->extent[1];
    const uintptr_t field = (uintptr_t)tct_halo_distance(s, at);
    tct_halo_copy c = {
        .row = row, .rows = m->extent[1], .planes = m->extent[2]};
    c.from = packs ? field : (uintptr_t)message;
    c.to = packs ? (uintptr_t)message : field;
    c.from_pitch = packs ? s->pitch : row;
    c.to_pitch = packs ? row : s->pitch;
    c.from_plane = packs ? s->plane : plane;
    c.to_plane = packs ? plane : s->plane;
    return c;
}

static tacit_status make_list(tacit_halo_arrays *a, tct_halo_one *one, int slot,
                              int way, int side)
{
    tct_halo_copies *list = &one->list[slot][way][side];
    const bool packs = side == TCT_PACKS;
    const bool border = (way == TCT_INTO_GHOSTS) == packs;
    TRY(TCT_ALLOC(TACIT_HALO_DIRECTIONS, "a halo", &list->copy));
    for (int d = 0; d < TACIT_HALO_DIRECTIONS; d++) {
        const tacit_halo_message *m = &one->message[d];
        if (m->peer < 0) continue;
        const char *message = packs ? a->to[slot][d] : a->from[slot][d];
        list->copy[list->count++] =
            copy_of(one, m, border ? m->send : m->receive,
                    message + one->first[d], packs);
    }
    return a->device->give_list(list);
}

tacit_status tct_halo_arrays_list(tacit_halo_arrays *a)
{
    for (int i = 0; i < a->count * 2 * TCT_WAYS * TCT_SIDES; i++)
        TRY(make_list(a, &a->one[i / (2 * TCT_WAYS * TCT_SIDES)],
                      i / (TCT_WAYS * TCT_SIDES) % 2, i / TCT_SIDES % TCT_WAYS,
                      i % TCT_SIDES));
    return TACIT_OK;
}

void tct_halo_arrays_forget(tacit_halo_arrays *a)
{
    for (int i = 0; i < a->count * 2 * TCT_WAYS * TCT_SIDES; i++) {
        tct_halo_one *one = &a->one[i / (2 * TCT_WAYS * TCT_SIDES)];
        tct_halo_copies *list =
            &one->list[i / (TCT_WAYS * TCT_SIDES) % 2][i / TCT_SIDES % TCT_WAYS]
                      [i % TCT_SIDES];
        a->device->take_list(list);
        tct_free(list->copy);
    }
}
