/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/field.h - the values of a grid: two buffers, of which a visit reads
 * one and writes the other.
 *
 * A row has a ghost cell at each end, cell -1 and cell n. They are the boundary
 * value, in both buffers and for ever, or where the direction is periodic
 * copies of the row's other end, which the last step of a visit renews. Rows
 * outside the grid are not read: one row of the boundary value stands for all
 * of them. */
#ifndef TCT_STENCIL_FIELD_H
#define TCT_STENCIL_FIELD_H
#include "device/queue.h"
#include "operator/stencil/block.h"
#include "operator/stencil/host_rows.h"
#include <tacit/stencil.h>

struct tct_field_device; /* stencil/device.h */

struct tacit_field {
    tacit_queue *queue;
    tct_grid_stencil s;   /* of the whole grid */
    tct_grid_block block; /* of this rank */
    int ghost; /* cells that buffers have at sides that are divided */
    char *buffer[2];
    bool changed;      /* by a caller, since a run has set it false */
    int now;           /* the buffer that has the values           */
    char *outside;     /* cells of the boundary value              */
    char *coefficient; /* [points][cells], or NULL                 */
    bool streams;      /* larger than the caches: written past them */
    int64_t room;      /* bytes of the planes of a tile             */
    int64_t worth;     /* steps of cells that are worth a thread    */
    int64_t small;     /* cells of a block whose tiles may be in a GPU's shared
                        * memory: tests set 0 for those of large grids */
    const tct_host_rows *rows;
    const tct_host_stream *stream;
    struct tct_field_device *device; /* of a queue on a GPU, or NULL */
    struct tacit_halo *halo; /* of a grid that is divided, or NULL: it has the
                              * buffers of the queue's device, in slots 0, 1 */
    char *halo_buffer[2];
    int64_t halo_x;        /* cells of a halo's row before x = 0           */
    int halo_depth;        /* of the visits that it exchanges for now; 0: all */
    const char *loop;      /* of a run's messages: "host", "graph" or NULL */
    tacit_field_skip skip; /* what its steps leave out */
    int boundary_tiles;    /* of a boundary layer, as in tacit_field_options */
};

static inline bool tct_field_computes(const tacit_field *f)
{
    return f->skip != TACIT_SKIP_COMPUTING;
}

static inline bool tct_field_communicates(const tacit_field *f)
{
    return f->skip != TACIT_SKIP_COMMUNICATION;
}

/* Cell (x, y, z) of the block in a buffer; directions as in stencil.h. */
static inline char *tct_field_cell(const tacit_field *f, int buffer, int64_t z,
                                   int64_t y, int64_t x)
{
    return f->buffer[buffer] +
           (size_t)tct_block_at(&f->block, z, y, x) * f->s.bytes;
}

/* Row `row` of the block, counted over its planes. */
static inline char *tct_field_row(const tacit_field *f, int buffer, int64_t row)
{
    return f->buffer[buffer] +
           (size_t)tct_block_row(&f->block, row) * f->s.bytes;
}

/* A row of the boundary value, of any length that a step reads. */
static inline const char *tct_field_outside(const tacit_field *f)
{
    return f->outside + f->s.bytes;
}

enum { TCT_ALIKE_MOST = 512 };

/* INVALID, unless `bytes` of `what` are the same on all ranks. Collective. */
tacit_status tct_field_alike(tacit_world *w, const char *what, const void *mine,
                             size_t bytes);

/* Set f->block: of `count` blocks, with so many ghosts where it is divided. */
void tct_field_make_block(tacit_field *f, const int count[3], int64_t ghost);
/* Is there memory for f->block?  Errors NO_MEMORY. */
tacit_status tct_field_check_memory(const tacit_field *f);
/* The halo of f->block, if it has neighbours, with the buffers. Collective.
 * Errors      NO_MEMORY, DEVICE, COMM, on all ranks. */
tacit_status tct_field_open_halo(tacit_field *f);
/* The other buffers and coefficients, of values 0.
 * Errors      NO_MEMORY. */
tacit_status tct_field_allocate(tacit_field *f);
void tct_field_drop_buffers(tacit_field *f);
void tct_field_clear(tacit_field *f);
/* Let `count` cells have one value. */
void tct_field_set(const tct_grid_stencil *s, char *cells, int64_t count,
                   double value);

/* Steps of a visit, at most: ghosts come from the next block alone. */
int tct_field_deepest(const tacit_field *f);
/* Let the buffers have ghosts for visits of `depth` steps; values stay.
 * Collective.
 * Errors      INVALID (deeper than that), NO_MEMORY, DEVICE, on all ranks. */
tacit_status tct_field_widen(tacit_field *f, int depth);

/* Let the ghost cells of a row, whose cell 0 is at `row`, be copies of its
 * other end, where x is periodic. */
void tct_field_close_row(const tacit_field *f, char *row);

/* Blocks of changes in a row of this rank. */
static inline int64_t tct_field_blocks(const tacit_field *f)
{
    return (f->block.n[0] + TCT_CHANGE_BLOCK - 1) / TCT_CHANGE_BLOCK;
}

/* ... in all its rows. */
static inline int64_t tct_field_all_blocks(const tacit_field *f)
{
    return tct_block_rows(&f->block) * tct_field_blocks(f);
}

/* Bytes of this rank's cells that a step reads and writes, with the weights of
 * cells. */
static inline double tct_field_touched(const tacit_field *f)
{
    const int weights =
        f->s.weights == TACIT_WEIGHTS_CELLS ? f->s.about->points : 0;
    return (double)f->block.cells * (double)f->s.bytes * (2 + weights);
}

#endif
