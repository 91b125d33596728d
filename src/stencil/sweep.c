/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/sweep.c - visits of tiles on the host. */
#include "stencil/sweep.h"
#include "device/parallel.h"
#include "stencil/tile.h"
#include <stdatomic.h>

/* The tiles of a thread that nobody has taken, on a cache line of their own. */
typedef struct share {
    _Alignas(64) atomic_int_fast64_t next;
    int64_t end;
} share;

struct tct_tile_sweep {
    tacit_field *field;
    tct_tiling tiling;
    int threads;
    char *memory;  /* [threads] planes of a tile's levels */
    size_t each;   /* bytes of a thread's                 */
    share *shares; /* [threads]                          */
    int depth;     /* of this visit                       */
    tct_cell_box box;
    int64_t tiles[3]; /* of the box                       */
    double *changes;
};

tacit_status tct_sweep_create(tacit_field *field, int depth,
                              tct_tile_sweep **out)
{
    TCT_THREADS_OF(field->queue->team);
    tct_tile_sweep *s = tct_calloc(sizeof *s);
    if (!s) FAIL(TACIT_NO_MEMORY, "no memory for tiles of a grid");
    s->field = field;
    s->threads = tct_parallel_parts(field->block.cells * depth, field->worth);
    tct_tiling_choose(&field->block, field->s.bytes,
                      tct_shape_is_flat(field->s.shape), depth, s->threads,
                      field->room, &s->tiling);
    s->each = (s->tiling.bytes + tct_tile_scratch() + 4095) / 4096 * 4096;
    tacit_status status =
        tct_memory_require((double)s->each * s->threads, "tiles of a grid");
    if (status >= 0)
        status = TCT_ALLOC(s->each * (size_t)s->threads, "tiles of a grid",
                           &s->memory);
    if (status >= 0)
        status = TCT_ALLOC(s->threads, "tiles of a grid", &s->shares);
    if (status < 0) tct_sweep_destroy(&s);
    else *out = s;
    return status;
}

void tct_sweep_destroy(tct_tile_sweep **sweep)
{
    tct_tile_sweep *s = *sweep;
    if (!s) return;
    TCT_FREE(s->shares, s->memory, s);
    *sweep = NULL;
}

const tct_tiling *tct_sweep_tiling(const tct_tile_sweep *sweep)
{
    return &sweep->tiling;
}

int tct_sweep_threads(const tct_tile_sweep *sweep)
{
    return sweep->threads;
}

/* Tile `number`; x runs fastest, then y. */
static void open_tile(const tct_tile_sweep *s, int thread, int64_t number,
                      tct_tile *t)
{
    const tct_tiling *g = &s->tiling;
    *t = (tct_tile){.field = s->field,
                    .tiling = g,
                    .depth = s->depth,
                    .scratch = s->memory + (size_t)thread * s->each,
                    .changes = s->changes};
    t->planes = t->scratch + tct_tile_scratch();
    for (int d = 0; d < 3; d++) {
        const int64_t end = s->box.hi[d];
        t->lo[d] = s->box.lo[d] + number % s->tiles[d] * g->size[d];
        t->hi[d] = t->lo[d] + g->size[d] < end ? t->lo[d] + g->size[d] : end;
        number /= s->tiles[d];
    }
}

/* A thread's own tiles, then what others have left. */
static void take_tiles(void *work, int64_t thread)
{
    const tct_tile_sweep *s = work;
    for (int k = 0; k < s->threads; k++) {
        share *mine = &s->shares[((int)thread + k) % s->threads];
        for (;;) {
            const int64_t number = atomic_fetch_add(&mine->next, 1);
            if (number >= mine->end) break;
            tct_tile t;
            open_tile(s, (int)thread, number, &t);
            tct_tile_visit(&t);
        }
    }
    s->field->stream->fence();
}

void tct_sweep_box(tct_tile_sweep *s, int depth, const tct_cell_box *box,
                   double *changes)
{
    TCT_THREADS_OF(s->field->queue->team);
    int64_t all = 1;
    s->depth = depth;
    s->changes = changes;
    s->box = *box;
    for (int d = 0; d < 3; d++) {
        const int64_t size = s->tiling.size[d];
        s->tiles[d] = (box->hi[d] - box->lo[d] + size - 1) / size;
        all *= s->tiles[d];
    }
    for (int k = 0; k < s->threads; k++) {
        atomic_store(&s->shares[k].next, tct_part_first(all, k, s->threads));
        s->shares[k].end = tct_part_first(all, k + 1, s->threads);
    }
    tct_parallel_each(s->threads, take_tiles, s);
}

void tct_sweep_visit(tct_tile_sweep *s, int depth, double *changes)
{
    const int64_t *n = s->field->block.n;
    const tct_cell_box whole = {{0, 0, 0}, {n[0], n[1], n[2]}};
    tct_sweep_box(s, depth, &whole, changes);
    s->field->now ^= 1;
}

/* Cells that a tile reads for those of its own, in direction `d`. */
static double read_again(const tct_tile_sweep *s, int d)
{
    const double size = (double)s->tiling.size[d];
    const double around =
        s->field->block.n[d] > s->tiling.size[d] ? 2.0 * s->tiling.depth : 0.0;
    return (size + around) / size;
}

double tct_sweep_bytes(const tct_tile_sweep *s)
{
    const tct_grid_stencil *g = &s->field->s;
    const double read = read_again(s, 0) * read_again(s, 1) * read_again(s, 2);
    const double cells = (double)s->field->block.cells * (double)g->bytes;
    const double weights =
        s->field->coefficient ? cells * g->about->points * read : 0.0;
    return cells * (read + 1.0) / s->tiling.depth + weights;
}
