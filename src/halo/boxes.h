/* SPDX-License-Identifier: BSD-3-Clause
 * halo/boxes.h - the blocks of a grid, and the boxes of cells that they
 * exchange: one enumeration for packed messages and for those in place. */
#ifndef TCT_HALO_BOXES_H
#define TCT_HALO_BOXES_H
#include "base/base.h"
#include <tacit/halo.h>

/* A block in three dimensions, as ranks tell it each other. */
typedef struct tct_halo_shape {
    int64_t n[3], ghost[3];
    int blocks[3], place[3];
    unsigned periodic;
    int faces_only;
    int64_t bytes, pitch, plane;
} tct_halo_shape;

/* The shape of this rank's block. Errors INVALID. */
tacit_status tct_halo_shape_of(const tacit_halo_block *block, int rank,
                               int ranks, tct_halo_shape *out);

/* Check that all ranks [ranks] agree, and that neighbours of `rank` fit.
 * Errors      INVALID. */
tacit_status tct_halo_shapes_check(const tct_halo_shape *all, int ranks,
                                   int rank);

/* The message of `rank`, whose shape is `s`, in direction `number`. */
void tct_halo_message(const tct_halo_shape *s, int number,
                      tacit_halo_message *out);

/* Steps of -1, 0 and 1 of direction `number`. */
static inline void tct_halo_steps(int number, int step[3])
{
    for (int d = 0; d < 3; d++, number /= 3) step[d] = number % 3 - 1;
}

/* The distance in bytes of cell `at` from cell (0, 0, 0). */
static inline int64_t tct_halo_distance(const tct_halo_shape *s,
                                        const int64_t at[3])
{
    return at[2] * s->plane + at[1] * s->pitch + at[0] * s->bytes;
}

/* Bytes before cell (0, 0, 0) that its ghosts take, and from it on. */
int64_t tct_halo_before(const tct_halo_shape *s);
int64_t tct_halo_after(const tct_halo_shape *s);

#endif
