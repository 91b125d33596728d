/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/halo.c - ghost cells of a field from the neighbours' blocks. */
#include "stencil/halo.h"
#include "comm/world/world.h"

enum { LINE = 128 }; /* bytes */

/* A star reads no edges and corners within one step. */
static bool needs_faces_only(const tacit_field *f, int64_t depth)
{
    const bool star = f->s.shape == TCT_STAR2 || f->s.shape == TCT_STAR3;
    return depth == 1 && star;
}

/* Blocks have three directions in 2D, too: the rows of a plane are one. Where x
 * closes, a row goes with its two ghosts: in the halo it begins at the line of
 * memory before x = 0. */
static tacit_halo_block describe(const tacit_field *f, int64_t ghost)
{
    const tct_grid_block *b = &f->block;
    const int64_t bytes = (int64_t)f->s.bytes;
    tacit_halo_block h = {.size = sizeof h,
                          .dimensions = 3,
                          .faces_only = needs_faces_only(f, ghost),
                          .bytes = bytes,
                          .pitch = b->pitch * bytes,
                          .plane = b->plane * bytes};
    for (int d = 0; d < 3; d++) {
        h.n[d] = b->n[d];
        h.ghost[d] = b->ghost[d] > 0 ? ghost : 0;
        h.blocks[d] = b->count[d];
        if (f->s.periodic[d]) h.periodic |= 1u << d;
    }
    if (b->closes[0]) h.n[0] += f->halo_x + 1;
    return h;
}

/* Peers reach buffers where the link does so. */
static bool reaches(const tacit_queue *q)
{
    const char *link = tacit_queue_link(q);
    return strcmp(link, "shm") == 0 || strcmp(link, "peer") == 0;
}

tacit_status tct_field_open_halo(tacit_field *f, char *buffer[2])
{
    const tct_grid_block *b = &f->block;
    const size_t each = f->s.bytes;
    char *cell[2];
    f->halo_x = b->closes[0] ? LINE / (int64_t)each : 0;
    tacit_halo_block h = describe(f, f->ghost);
    const size_t before = (size_t)(b->origin - f->halo_x) * each;
    h.faces_only = 0;
    TRY(tacit_halo_create(f->queue, &h, &f->halo));
    TRY(tct_halo_take_buffers(f->halo, before,
                              (size_t)b->stored * each - before,
                              reaches(f->queue), cell));
    for (int k = 0; k < 2; k++) buffer[k] = cell[k] - before;
    return TACIT_OK;
}

/* --- exchanges ------------------------------------------------------------ */

double tct_field_sent_bytes(const tacit_field *f, int depth)
{
    double bytes = 0.0;
    for (int i = 0; i < TACIT_HALO_DIRECTIONS; i++) {
        tacit_halo_message m;
        int ways = 0;
        double cells = 1.0;
        if (tacit_halo_message_of(f->halo, i, &m) < 0 || m.peer < 0) continue;
        for (int d = 0, power = 1; d < 3; d++, power *= 3) {
            const bool divides = i / power % 3 != 1;
            ways += divides;
            cells *= divides ? depth : (double)m.extent[d];
        }
        if (ways == 1 || !needs_faces_only(f, depth))
            bytes += cells * (double)f->s.bytes;
    }
    return bytes;
}

tacit_status tct_ghosts_open(tacit_field *f, int depth, tct_ghosts *out)
{
    *out = (tct_ghosts){.field = f, .depth = depth};
    if (!f->halo) return TACIT_OK;
    out->bytes = tct_field_sent_bytes(f, depth);
    if (!tct_halo_why_packed(f->halo)) return TACIT_OK;
    const tacit_halo_block h = describe(f, depth);
    return tacit_halo_create(f->queue, &h, &out->packed);
}

void tct_ghosts_close(tct_ghosts *g)
{
    tacit_halo_destroy(&g->packed);
}

void tct_field_narrow_halo(tacit_field *f, int depth)
{
    if (f->halo_depth == depth) return;
    (void)tct_halo_narrow(f->halo, depth, needs_faces_only(f, depth));
    f->halo_depth = depth;
}

static void exchange_in_place(const tct_ghosts *g)
{
    tacit_field *f = g->field;
    tct_field_narrow_halo(f, g->depth);
    tct_halo_start(f->halo, f->now, TCT_HALO_STORES);
    tct_halo_finish(f->halo);
}

void tct_ghosts_exchange(tct_ghosts *g)
{
    tacit_field *f = g->field;
    if (!f->halo) return;
    if (g->packed)
        tacit_halo_exchange(g->packed,
                            tct_field_cell(f, f->now, 0, 0, -f->halo_x));
    else exchange_in_place(g);
}
