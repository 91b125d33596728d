/* SPDX-License-Identifier: BSD-3-Clause
 * halo/arrays.h - exchanges of several arrays: lists of copies between fields
 * and messages, and the carrier that brings messages to the neighbours.
 *
 * A message has the boxes of all arrays in a direction, without gaps but for
 * alignment. It is as large from the border into ghosts (gather) as from ghosts
 * to the border (scatter), so that both use the same memory. */
#ifndef TCT_HALO_ARRAYS_H
#define TCT_HALO_ARRAYS_H
#include "halo/state.h"

typedef struct tct_halo_carrier tct_halo_carrier;

/* Ways of an exchange, and lists of each. */
enum { TCT_INTO_GHOSTS, TCT_FROM_GHOSTS, TCT_WAYS };
enum { TCT_PACKS, TCT_UNPACKS, TCT_SIDES };
enum { TCT_REDUCTIONS = 4 };

/* An exchange that is enqueued, as its operations find it. */
typedef struct tct_arrays_turn {
    tacit_halo_arrays *arrays;
    int array, slot, way;
    tct_halo_element element;
} tct_arrays_turn;

typedef struct tct_halo_one {
    tacit_halo_type type;
    tct_halo_shape shape;
    tacit_halo_message message[TACIT_HALO_DIRECTIONS];
    int64_t first[TACIT_HALO_DIRECTIONS]; /* bytes before it in the message */
    tct_halo_copies list[2][TCT_WAYS][TCT_SIDES]; /* of a slot */
    tct_arrays_turn turn[2][TCT_WAYS][TCT_REDUCTIONS];
} tct_halo_one;

struct tacit_halo_arrays {
    tacit_queue *q;
    const tct_halo_device *device;
    int count;
    tct_halo_one *one;   /* [count] */
    tct_halo_shape *all; /* [ranks] of an array, while they are compared */
    int dimensions;
    tct_halo_shape grid; /* blocks, place; a ghost where any array has one */
    int peer[TACIT_HALO_DIRECTIONS];      /* < 0: none */
    int64_t bytes[TACIT_HALO_DIRECTIONS]; /* of a message */
    const tct_halo_carrier *carrier;
    void *state; /* of the carrier */
    /* Where the message in a direction is packed, and where that from there
     * arrives, in each of two slots. */
    char *to[2][TACIT_HALO_DIRECTIONS], *from[2][TACIT_HALO_DIRECTIONS];
    uint64_t number; /* exchanges enqueued */
};

struct tct_halo_carrier {
    const char *name;
    /* Set `to` and `from`. Collective. Errors UNSUPPORTED, NO_MEMORY, DEVICE,
     * COMM, on all ranks. */
    tacit_status (*open)(tacit_halo_arrays *a, void *with);
    /* NULL-safe. */
    void (*close)(tacit_halo_arrays *a);
    /* Enqueue what comes before packing, behind it, and before unpacking. */
    void (*ready)(tacit_halo_arrays *a, int slot);
    void (*start)(tacit_halo_arrays *a, int slot);
    void (*finish)(tacit_halo_arrays *a, int slot);
    /* All of it, packing included, for one array with these copies from its
     * cell: a kernel; NULL: not by this carrier. It also makes the copies of
     * `into` to the cell, if that is not NULL. `cell` 0: no copies, and the
     * neighbours still learn that it was made. */
    tacit_status (*swap)(tacit_halo_arrays *a, const tct_halo_copies *list,
                         uintptr_t cell, const tct_halo_copies *into);
    void (*count)(tacit_halo_arrays *a, int slot); /* before that, at once */
};

extern const tct_halo_carrier tct_halo_fences, tct_halo_fused;

/* As tacit_halo_arrays_create, with a carrier, and what its open needs. */
tacit_status tct_halo_arrays_make(tacit_queue *queue,
                                  const tacit_halo_block *block, int count,
                                  const tacit_halo_array *arrays,
                                  const tct_halo_carrier *carrier, void *with,
                                  tacit_halo_arrays **out);

/* All lists of copies, when `to` and `from` are set. Errors NO_MEMORY, DEVICE. */
tacit_status tct_halo_arrays_list(tacit_halo_arrays *a);
void tct_halo_arrays_forget(tacit_halo_arrays *a);

/* The bytes of messages before direction `k`, each from a multiple of 16 on. */
int64_t tct_halo_arrays_before(const tacit_halo_arrays *a, int k);

#endif
