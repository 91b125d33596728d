/* SPDX-License-Identifier: BSD-3-Clause
 * halo/put.h - a direction of a halo in place, for kernels: where its cells go
 * in the neighbour's memory, and the counters of both ends. */
#ifndef TCT_HALO_PUT_H
#define TCT_HALO_PUT_H
#include <stdint.h>

typedef struct tct_halo_put {
    int direction; /* its number: tacit/halo.h                          */
    int peer;      /* its rank; this rank's own: it is its neighbour    */
    int64_t send[3], receive[3], extent[3]; /* boxes of this block      */
    /* The neighbour's ghosts in each buffer: cell (x, y, z) of the box `send`
     * is stored at at[slot] + z plane + y pitch + x bytes. */
    char *at[2];
    int64_t pitch, plane; /* of the neighbour's buffers */
    /* Exchanges whose cells have come from it (own), set by the neighbour; of
     * those that have gone to it (other), in its memory. NULL: itself. */
    uint64_t *own, *other;
} tct_halo_put;

#endif
