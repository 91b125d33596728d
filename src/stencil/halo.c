/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/halo.c - ghost cells of a field from the neighbours' blocks. */
#include "stencil/halo.h"
#include "stencil/device.h"

/* A star reads no edges and corners within one step. */
static bool needs_faces_only(const tacit_field *f, int64_t depth)
{
    const bool star = f->s.shape == TCT_STAR2 || f->s.shape == TCT_STAR3;
    return depth == 1 && star;
}

/* Blocks have three directions in 2D, too: the rows of a plane are one. */
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
    const size_t each = f->s.bytes, before = (size_t)b->origin * each;
    tacit_halo_block h = describe(f, f->ghost);
    char *cell[2];
    h.faces_only = 0;
    TRY(tacit_halo_create(f->queue, &h, &f->halo));
    TRY(tct_halo_take_buffers(f->halo, before,
                              (size_t)(b->stored - b->origin) * each,
                              reaches(f->queue), cell));
    for (int k = 0; k < 2; k++) buffer[k] = cell[k] - before;
    return TACIT_OK;
}

/* --- exchanges ------------------------------------------------------------ */

/* Bytes of the boxes that go out. */
static double sent_bytes(const tacit_field *f, int depth)
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
    out->bytes = sent_bytes(f, depth);
    if (!tct_halo_why_packed(f->halo)) return TACIT_OK;
    const tacit_halo_block h = describe(f, depth);
    return tacit_halo_create(f->queue, &h, &out->packed);
}

void tct_ghosts_close(tct_ghosts *g)
{
    tacit_halo_destroy(&g->packed);
}

/* Rows of ghosts have ghosts, too, which come from their other end. */
static void close_rows(const tacit_field *f)
{
    const tct_grid_block *b = &f->block;
    for (int64_t z = -b->ghost[2]; z < b->n[2] + b->ghost[2]; z++)
        for (int64_t y = -b->ghost[1]; y < b->n[1] + b->ghost[1]; y++) {
            const bool own = z >= 0 && z < b->n[2] && y >= 0 && y < b->n[1];
            if (own || !tct_block_has(b, 2, z) || !tct_block_has(b, 1, y))
                continue;
            tct_field_close_row(f, tct_field_cell(f, f->now, z, y, 0));
        }
}

/* On a GPU stars and tiles do not read them. */
static void close_device_rows(const tacit_field *f)
{
    tct_step_work w = tct_field_work(f);
    w.out = f->device->buffer[f->device->now] +
            (size_t)f->block.origin * f->s.bytes;
    if (f->s.shape == TCT_BOX2 || f->s.shape == TCT_BOX3)
        f->device->steps->close(f->queue, &w);
}

static void exchange_in_place(const tct_ghosts *g)
{
    tacit_field *f = g->field;
    if (f->halo_depth != g->depth) {
        const bool faces = needs_faces_only(f, g->depth);
        (void)tct_halo_narrow(f->halo, g->depth, faces); /* fails the queue */
        f->halo_depth = g->depth;
    }
    tct_halo_start(f->halo, f->device ? f->device->now : f->now,
                   TCT_HALO_STORES);
    tct_halo_finish(f->halo);
}

static void exchange_packed(const tct_ghosts *g)
{
    const tacit_field *f = g->field;
    char *buffer =
        f->device ? f->device->buffer[f->device->now] : f->buffer[f->now];
    tacit_halo_exchange(g->packed,
                        buffer + (size_t)f->block.origin * f->s.bytes);
}

void tct_ghosts_exchange(tct_ghosts *g)
{
    const tacit_field *f = g->field;
    if (!f->halo) return;
    if (g->packed) exchange_packed(g);
    else exchange_in_place(g);
    if (!f->device && q_status(f->queue) < 0) return;
    if (!f->block.closes[0]) return;
    if (f->device) close_device_rows(f);
    else close_rows(f);
}
