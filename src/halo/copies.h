/* SPDX-License-Identifier: BSD-3-Clause
 * halo/copies.h - copies of boxes of cells, a list of which a device makes at
 * once. Addresses are distances from two bases, which may be 0. */
#ifndef TCT_HALO_COPIES_H
#define TCT_HALO_COPIES_H
#include "device/queue.h"

typedef struct tct_halo_copy {
    uintptr_t from, to;           /* from the bases; they wrap                */
    int64_t from_pitch, to_pitch; /* from row to row                         */
    int64_t from_plane, to_plane;
    int64_t row; /* bytes                                    */
    int64_t rows, planes;
} tct_halo_copy;

TCT_BOTH int64_t tct_halo_copy_bytes(const tct_halo_copy *c)
{
    return c->row * c->rows * c->planes;
}

/* A list, in memory of the host and of the device, which may be one. */
typedef struct tct_halo_copies {
    int count;
    tct_halo_copy *copy, *gpu; /* [count] */
} tct_halo_copies;

/* Make all copies of the list, one after the other, with the CPU. */
void tct_halo_copies_run(const tct_halo_copies *list, uintptr_t from,
                         uintptr_t to);

#endif
