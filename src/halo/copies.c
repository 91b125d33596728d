/* SPDX-License-Identifier: BSD-3-Clause
 * halo/copies.c - copies of boxes by the CPU. */
#include "halo/copies.h"

static void copy_plane(const tct_halo_copy *c, const char *from, char *to)
{
    if (c->from_pitch == c->row && c->to_pitch == c->row) {
        memcpy(to, from, (size_t)(c->row * c->rows));
        return;
    }
    for (int64_t y = 0; y < c->rows; y++)
        memcpy(to + y * c->to_pitch, from + y * c->from_pitch, (size_t)c->row);
}

static void copy_box(const tct_halo_copy *c, uintptr_t from, uintptr_t to)
{
    const char *source = (const char *)(from + c->from);
    char *target = (char *)(to + c->to);
    for (int64_t z = 0; z < c->planes; z++)
        copy_plane(c, source + z * c->from_plane, target + z * c->to_plane);
}

void tct_halo_copies_run(const tct_halo_copies *list, uintptr_t from,
                         uintptr_t to)
{
    for (int k = 0; k < list->count; k++) copy_box(&list->copy[k], from, to);
}
