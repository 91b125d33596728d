/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/memory.c - the buffers of a field, and how wide their ghosts are. */
#include "comm/world/world.h"
#include "device/parallel.h"
#include "halo/halo.h"
#include "stencil/device.h"
#include <math.h>

enum { STREAMED = 16 << 20 }; /* bytes of a buffer that caches do not keep */

void tct_field_close_row(const tacit_field *f, char *row)
{
    const size_t each = f->s.bytes;
    char *end = row + (size_t)f->block.n[0] * each;
    if (!f->block.closes[0]) return;
    memcpy(row - each, end - each, each);
    memcpy(end, row, each);
}

static double weights_bytes(const tct_grid_stencil *s, const tct_grid_block *b)
{
    if (s->weights != TACIT_WEIGHTS_CELLS) return 0.0;
    return (double)b->cells * (double)s->bytes * s->about->points;
}

static double buffer_bytes(const tct_grid_stencil *s, const tct_grid_block *b)
{
    return (double)b->stored * (double)s->bytes;
}

double tacit_stencil_bytes(const tacit_stencil *stencil)
{
    tct_grid_stencil s;
    tct_grid_block b;
    if (!stencil || tct_stencil_read(stencil, &s) < 0) return (double)NAN;
    tct_block_make(&s, (const int[3]){1, 1, 1}, 0, 0, &b);
    return 2.0 * buffer_bytes(&s, &b) + weights_bytes(&s, &b);
}

void tct_field_make_block(tacit_field *f, const int count[3], int64_t ghost)
{
    const tacit_queue *q = f->queue;
    tct_block_make(&f->s, count, q->world->rank, ghost, &f->block);
    if (q->device->kind != TCT_KIND_GPU) tct_block_pack(&f->s, &f->block);
}

/* Buffers of a field in the host's memory. */
static int buffers_of(const tacit_queue *q)
{
    return q->device->kind == TCT_KIND_GPU ? 1 : 2;
}

/* Of all ranks of this machine, which have blocks like this one. */
tacit_status tct_field_check_memory(const tacit_field *f)
{
    const tacit_queue *q = f->queue;
    const tct_grid_stencil *s = &f->s;
    const tct_grid_block *b = &f->block;
    const double each =
        buffers_of(q) * buffer_bytes(s, b) + weights_bytes(s, b);
    const double bytes = each * q->world->local_size;
    const double free = (double)tct_memory_available();
    if (bytes <= free || bytes < 0x1p20) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY,
         "the grid needs %.3g GiB of memory, %.3g GiB are free: take a smaller "
         "one%s",
         bytes / 0x1p30, free / 0x1p30, s->single ? "" : ", or type float");
}

/* Cells that a step of a row reads, at most. */
static int64_t outside_cells(const tacit_field *f)
{
    return f->block.n[0] + 2 * TACIT_FIELD_DEPTH_MOST + 4;
}

/* ... those of the host. */
static bool halo_has_buffers(const tacit_field *f)
{
    return f->halo && f->queue->device->kind != TCT_KIND_GPU;
}

static tacit_status take_buffers(tacit_field *f)
{
    const size_t bytes = (size_t)f->block.stored * f->s.bytes;
    for (int k = 0; k < buffers_of(f->queue); k++)
        if (halo_has_buffers(f)) f->buffer[k] = f->halo_buffer[k];
        else TRY(TCT_ALLOC(bytes, "the grid", &f->buffer[k]));
    f->streams = (double)bytes >= (double)STREAMED;
    return TACIT_OK;
}

void tct_field_drop_buffers(tacit_field *f)
{
    tct_field_close_device(f);
    if (!halo_has_buffers(f)) TCT_FREE(f->buffer[1], f->buffer[0]);
    f->buffer[0] = f->buffer[1] = NULL;
    tacit_halo_destroy(&f->halo);
}

tacit_status tct_field_allocate(tacit_field *f)
{
    const tct_grid_stencil *s = &f->s;
    TRY(take_buffers(f));
    TRY(TCT_ALLOC((size_t)outside_cells(f) * s->bytes, "the boundary",
                  &f->outside));
    if (s->weights != TACIT_WEIGHTS_CELLS) return TACIT_OK;
    return TCT_ALLOC((size_t)s->about->points * (size_t)f->block.cells *
                         s->bytes,
                     "the coefficients", &f->coefficient);
}

void tct_field_set(const tct_grid_stencil *s, char *cells, int64_t count,
                   double value)
{
    float *floats = (float *)(void *)cells;
    double *doubles = (double *)(void *)cells;
    for (int64_t x = 0; x < count; x++)
        if (s->single) floats[x] = (float)value;
        else doubles[x] = value;
}

/* Rows of all that is stored; each thread is the first that touches its. */
static void bound_rows(void *work, int64_t from, int64_t to)
{
    const tacit_field *f = work;
    const int64_t pitch = f->block.pitch;
    for (int k = 0; k < 2 && f->buffer[k]; k++)
        tct_field_set(&f->s, f->buffer[k] + (size_t)(from * pitch) * f->s.bytes,
                      (to - from) * pitch, f->s.boundary);
}

static void bound(tacit_field *f)
{
    const tct_grid_block *b = &f->block;
    tct_parallel(b->stored / b->pitch, 1 + TCT_SHORT / b->n[0], bound_rows, f);
}

static void clear_rows(void *work, int64_t from, int64_t to)
{
    const tacit_field *f = work;
    for (int k = 0; k < 2 && f->buffer[k]; k++)
        for (int64_t row = from; row < to; row++) {
            char *cells = tct_field_row(f, k, row);
            tct_field_set(&f->s, cells, f->block.n[0], 0.0);
            tct_field_close_row(f, cells);
        }
}

static void clear_weights(void *work, int64_t from, int64_t to)
{
    const tacit_field *f = work;
    const size_t each = (size_t)f->s.about->points * f->s.bytes;
    memset(f->coefficient + (size_t)from * each, 0, (size_t)(to - from) * each);
}

void tct_field_clear(tacit_field *f)
{
    TCT_THREADS_OF(f->queue->team);
    const tct_grid_block *b = &f->block;
    bound(f);
    tct_parallel(tct_block_rows(b), 1 + TCT_SHORT / b->n[0], clear_rows, f);
    if (f->coefficient) tct_parallel(b->cells, TCT_SHORT, clear_weights, f);
    tct_field_set(&f->s, f->outside, outside_cells(f), f->s.boundary);
}

/* --- ghosts --------------------------------------------------------------- */

int tct_field_deepest(const tacit_field *f)
{
    const tct_grid_block *b = &f->block;
    int64_t most = TACIT_FIELD_DEPTH_MOST;
    const bool by_cell = f->s.weights == TACIT_WEIGHTS_CELLS;
    if (by_cell && tct_block_is_divided(b)) most = 1;
    for (int d = 0; d < 3; d++)
        if (b->count[d] > 1 && tct_block_narrowest(b, d) < most)
            most = tct_block_narrowest(b, d);
    return (int)most;
}

static tacit_status check_depth(const tacit_field *f, int depth)
{
    const int most = tct_field_deepest(f);
    if (depth <= most) return TACIT_OK;
    if (f->coefficient)
        FAIL(TACIT_INVALID,
             "depth %d: a rank has the coefficients of its own cells, which "
             "are for one step: take depth 1, way copy, or one rank",
             depth);
    FAIL(TACIT_INVALID,
         "depth %d: blocks of the grid are %d cells wide, and their neighbours "
         "need as many as the depth: take a depth of at most %d, fewer ranks, "
         "or other blocks",
         depth, most, most);
}

typedef struct move_work {
    const tacit_field *from;
    tacit_field *to;
} move_work;

static void move_rows(void *work, int64_t from, int64_t to)
{
    const move_work *w = work;
    const tacit_field *f = w->to;
    for (int64_t row = from; row < to; row++) {
        char *cells = tct_field_row(f, f->now, row);
        memcpy(cells, tct_field_row(w->from, f->now, row),
               (size_t)f->block.n[0] * f->s.bytes);
        tct_field_close_row(f, cells);
    }
}

/* Room for measured changes, if there was some. */
static tacit_status open_device(tacit_field *f, const tacit_field *old)
{
    TRY(tct_field_open_device(f));
    return old->device && old->device->changes ? tct_field_measures(f)
                                               : TACIT_OK;
}

/* Buffers with ghosts of `depth` cells and the same values; the host's of `f`
 * are the newest. */
static tacit_status take_wider(tacit_field *f, int depth,
                               const tacit_field *old)
{
    tct_field_make_block(f, old->block.count, depth);
    f->ghost = depth;
    f->buffer[0] = f->buffer[1] = NULL;
    f->device = NULL;
    f->halo = NULL;
    TRY(tct_field_open_halo(f));
    TRY(take_buffers(f));
    move_work w = {old, f};
    bound(f);
    tct_parallel(tct_block_rows(&f->block), 1 + TCT_SHORT / f->block.n[0],
                 move_rows, &w);
    return open_device(f, old);
}

tacit_status tct_field_widen(tacit_field *f, int depth)
{
    TRY(check_depth(f, depth));
    if (!tct_block_is_divided(&f->block) || f->ghost >= depth) return TACIT_OK;
    TCT_THREADS_OF(f->queue->team);
    const tacit_status mine = tct_field_change(f);
    tacit_status status = tct_agree(f->queue->world, mine);
    tacit_field old = *f;
    if (status >= 0) status = take_wider(f, depth, &old);
    status = tct_agree(f->queue->world, status);
    if (status >= 0) tct_field_drop_buffers(&old);
    if (status >= 0 || f->ghost == old.ghost) return status;
    tct_field_drop_buffers(f);
    *f = old;
    return status;
}
