/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/places.h - which GPU each rank of a queue has, by its place on the bus
 * of its machine: ordinals are each process's own. */
#ifndef TCT_PLACES_H
#define TCT_PLACES_H
#include "comm/world.h"

typedef struct tct_place {
    char bus[32]; /* "0000:3b:00.0" */
    char machine[64];
} tct_place;

/* Those of all ranks of `q`, whose device is a GPU, into `all` [ranks].
 * Collective.  Errors DEVICE, COMM. */
tacit_status tct_places(tacit_queue *q, tct_place *all);

/* The first rank that has the GPU of `rank` too; < 0: it is alone. */
int tct_place_shared(const tct_place *all, int ranks, int rank);

/* Has this rank of `q` a GPU for itself? Does that reach those of the other ranks
 * on its machine? Errors UNSUPPORTED: no, with the name of the link. */
tacit_status tct_places_apart(const tacit_queue *q, const tct_place *all);
tacit_status tct_places_reach(const tacit_queue *q, const tct_place *all);

#endif
