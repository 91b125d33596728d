/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/field_halo.c - the halo of a field, which has its buffers.
 *
 * Where x closes, a row has a ghost cell at each end although that direction is
 * not divided. These cells go with the rows: a row of the halo then begins at
 * the line of 128 bytes before cell 0, and ends after cell n. */
#include "stencil/field_halo.h"

enum { LINE = 128 }; /* bytes */

/* Neighbours across edges and corners are read from two steps on, or by a
 * box. */
static bool needs_corners(const tacit_field *f, int depth)
{
    const tct_shape shape = f->s.shape;
    return depth > 1 || shape == TCT_BOX2 || shape == TCT_BOX3;
}

static tacit_halo_block describe(const tacit_field *f, int ghost)
{
    const tct_grid_block *b = &f->block;
    const int64_t bytes = (int64_t)f->s.bytes;
    tacit_halo_block h = {.size = sizeof h,
                          .dimensions = 3,
                          .faces_only = !needs_corners(f, ghost),
                          .bytes = bytes,
                          .pitch = b->pitch * bytes,
                          .plane = b->plane * bytes};
    for (int d = 0; d < 3; d++) {
        h.n[d] = b->n[d];
        h.ghost[d] = b->ghost[d] > 0 ? ghost : 0;
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
    f->halo_depth = 0;
    const tacit_halo_block h = describe(f, f->ghost);
    const size_t before = (size_t)(b->origin - f->halo_x) * each;
    const size_t after = (size_t)b->stored * each - before;
    TRY(tacit_halo_create(f->queue, &h, &f->halo));
    TRY(tct_halo_take_buffers(f->halo, before, after, true, cell));
    for (int k = 0; k < 2; k++) f->halo_buffer[k] = cell[k] - before;
    return TACIT_OK;
}

static tacit_status take_numbers(tacit_field *f, tacit_halo *h,
                                 tct_numbered *cell[2])
{
    const tct_grid_block *b = &f->block;
    const size_t each = sizeof **cell;
    const size_t before = (size_t)(b->origin - f->halo_x) * each;
    const size_t after = (size_t)b->stored * each - before;
    char *at[2];
    TRY(tct_halo_take_buffers(h, before, after, f->halo != NULL, at));
    for (int k = 0; k < 2; k++)
        cell[k] = (tct_numbered *)(void *)at[k] + f->halo_x;
    if (!f->halo || !tct_halo_why_packed(h)) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED, "values between tiles: %s: take way copy",
         tct_halo_why_packed(h));
}

tacit_status tct_field_open_numbers(tacit_field *f, int depth,
                                    tacit_halo **halo, tct_numbered *cell[2])
{
    const int64_t each = sizeof **cell;
    tacit_halo_block h = describe(f, f->ghost);
    h.faces_only = !needs_corners(f, depth);
    h.bytes = each;
    h.pitch = f->block.pitch * each;
    h.plane = f->block.plane * each;
    TRY(tct_halo_create_in_place(f->queue, &h, halo));
    const tacit_status status = take_numbers(f, *halo, cell);
    if (status < 0) tacit_halo_destroy(halo);
    return status;
}

/* --- as narrow as a visit needs ------------------------------------------- */

void tct_field_narrow(tacit_field *f, int depth)
{
    if (f->halo_depth == depth || tct_field_why_packed(f)) return;
    f->halo_depth = depth;
    if (tct_halo_narrow(f->halo, depth, !needs_corners(f, depth)) < 0)
        q_fail(f->queue, TACIT_NO_MEMORY, "%s", tacit_error_message());
}

double tct_field_sent_bytes(const tacit_field *f, int depth)
{
    double bytes = 0.0;
    for (int i = 0; f->halo && i < TACIT_HALO_DIRECTIONS; i++) {
        tacit_halo_message m;
        int ways = 0;
        double cells = 1.0;
        if (tacit_halo_message_of(f->halo, i, &m) < 0 || m.peer < 0) continue;
        for (int d = 0, power = 1; d < 3; d++, power *= 3) {
            const bool crosses = i / power % 3 != 1;
            ways += crosses;
            cells *= crosses ? depth : (double)m.extent[d];
        }
        if (ways == 1 || needs_corners(f, depth))
            bytes += cells * (double)f->s.bytes;
    }
    return bytes;
}

/* --- exchanges ------------------------------------------------------------ */

/* A link that was asked for carries the messages. */
const char *tct_field_why_packed(const tacit_field *f)
{
    static const char *const near[] = {"shm", "peer", "nvshmem"};
    const char *why = tct_halo_why_packed(f->halo);
    const char *link = tacit_queue_link(f->queue);
    for (int k = 0; k < 3; k++)
        if (strcmp(link, near[k]) == 0) return why;
    return why ? why : "the queue's link has messages";
}

tacit_status tct_field_ghosts_open(tacit_field *f, int depth,
                                   tct_field_ghosts *out)
{
    *out = (tct_field_ghosts){.field = f, .depth = depth};
    if (!f->halo || !tct_field_why_packed(f)) return TACIT_OK;
    const tacit_halo_block h = describe(f, depth);
    return tacit_halo_create(f->queue, &h, &out->packed);
}

void tct_field_ghosts_close(tct_field_ghosts *g)
{
    tacit_halo_destroy(&g->packed);
}

void tct_field_ghosts_exchange(tct_field_ghosts *g)
{
    tacit_field *f = g->field;
    if (!f->halo) return;
    if (g->packed) {
        tacit_halo_exchange(g->packed,
                            tct_field_cell(f, f->now, 0, 0, -f->halo_x));
    } else {
        tct_field_narrow(f, g->depth);
        tct_halo_start(f->halo, f->now, TCT_HALO_STORES);
        tct_halo_finish(f->halo);
    }
    (void)q_status(f->queue); /* what is enqueued is done; a failure stays */
}
