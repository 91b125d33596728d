/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/field_halo.c - the halo of a field, which has its buffers.
 *
 * Where x closes, a row has a ghost cell at each end although that direction is
 * not divided. These cells go with the rows: a row of the halo then begins at
 * the line of 128 bytes before cell 0, and ends after cell n. */
#include "halo/halo.h"
#include "stencil/field.h"

enum { LINE = 128 }; /* bytes */

/* Neighbours across edges and corners are read from two steps on, or by a
 * box. */
static bool needs_corners(const tacit_field *f)
{
    const tct_shape shape = f->s.shape;
    return f->ghost > 1 || shape == TCT_BOX2 || shape == TCT_BOX3;
}

static tacit_halo_block describe(const tacit_field *f)
{
    const tct_grid_block *b = &f->block;
    const int64_t bytes = (int64_t)f->s.bytes;
    tacit_halo_block h = {.size = sizeof h,
                          .dimensions = 3,
                          .faces_only = !needs_corners(f),
                          .bytes = bytes,
                          .pitch = b->pitch * bytes,
                          .plane = b->plane * bytes};
    for (int d = 0; d < 3; d++) {
        h.n[d] = b->n[d];
        h.ghost[d] = b->ghost[d];
        h.blocks[d] = b->count[d];
        if (f->s.periodic[d] && b->count[d] > 1) h.periodic |= 1u << d;
    }
    if (b->closes[0]) h.n[0] += f->halo_x + 1;
    return h;
}

tacit_status tct_field_open_halo(tacit_field *f)
{
    const tct_grid_block *b = &f->block;
    const size_t each = f->s.bytes;
    char *cell[2];
    if (!tct_block_is_divided(b)) return TACIT_OK;
    f->halo_x = b->closes[0] ? LINE / (int64_t)each : 0;
    const tacit_halo_block h = describe(f);
    const size_t before = (size_t)(b->origin - f->halo_x) * each;
    const size_t after = (size_t)b->stored * each - before;
    TRY(tacit_halo_create(f->queue, &h, &f->halo));
    TRY(tct_halo_take_buffers(f->halo, before, after, true, cell));
    for (int k = 0; k < 2; k++) f->halo_buffer[k] = cell[k] - before;
    return TACIT_OK;
}
