/* SPDX-License-Identifier: BSD-3-Clause
 * halo/state.h - a halo: its boxes, its packed messages, and its buffers that
 * peers reach; the functions of the device that copies. */
#ifndef TCT_HALO_STATE_H
#define TCT_HALO_STATE_H
#include "comm/exchange/plan.h"
#include "halo/boxes.h"
#include "halo/combine.h"
#include "halo/copies.h"
#include "halo/halo.h"

/* Functions of a queue's device for halos. Functions that work are called in
 * the order of the queue. */
typedef struct tct_halo_device {
    bool cells; /* does trade send in cells (cells.h)? */
    /* Let the device have list->copy.  Errors NO_MEMORY, DEVICE. */
    tacit_status (*give_list)(tct_halo_copies *list);
    void (*take_list)(tct_halo_copies *list);
    tacit_status (*zero)(tacit_queue *q, void *p, size_t bytes);
    /* Make the copies of a list. */
    tacit_status (*copy)(tacit_queue *q, const tct_halo_copies *list,
                         uintptr_t from, uintptr_t to);
    /* Reduce the boxes of a list with those at `to`, one after the other. */
    tacit_status (*combine)(tacit_queue *q, const tct_halo_copies *list,
                            uintptr_t from, uintptr_t to, tct_halo_element e);
    /* The medium of memory that peers reach, and what the device needs for it
     * (h->near.device). Collective.  Errors UNSUPPORTED (on all ranks, with the
     * reason), NO_MEMORY, DEVICE. */
    tacit_status (*open)(tacit_halo *h);
    tacit_status (*give_puts)(tacit_halo *h);
    void (*close)(tacit_halo *h);
    /* Copy to peers, if means are STORES or COPIES, and set their counters to
     * the next number. */
    tacit_status (*put)(tacit_halo *h, const tct_halo_copies *list,
                        tct_halo_means means);
    /* Wait for the counters. */
    tacit_status (*await)(tacit_halo *h);
    /* Both by STORES, of a list from the base `from`. */
    tacit_status (*swap)(tacit_halo *h, const tct_halo_copies *list,
                         uintptr_t from);
    /* The same, and the copies of `into` to the base `to`, of which the k-th is
     * from the buffer where direction k's cells come. Where messages have cells
     * (near.cells) bases may be 0: numbers alone go out. */
    tacit_status (*trade)(tacit_halo *h, const tct_halo_copies *list,
                          uintptr_t from, const tct_halo_copies *into,
                          uintptr_t to);
} tct_halo_device;

extern const tct_halo_device tct_halo_host, tct_halo_gpu;

/* Packed messages: `pack` goes from a field to `sent`, and the plan's messages
 * to `ghost`, from which `unpack` goes to a field. If the plan can pack from
 * the field itself there is no `sent`. */
typedef struct tct_halo_packed {
    tct_plan *plan;        /* NULL: there is one rank */
    tacit_element element; /* unit of the messages    */
    bool direct;
    char *sent;
    tct_halo_copies pack, unpack, self;
} tct_halo_packed;

/* An exchange in place that is enqueued. */
typedef struct tct_halo_turn {
    tacit_halo *halo;
    int slot;
    tct_halo_means means;
    bool ends; /* it waits, too */
} tct_halo_turn;

/* In place: buffers of all ranks in windows of a medium, counters of
 * channels. */
typedef struct tct_halo_near {
    char why[160]; /* not in place; "": in place */
    tct_medium medium;
    void *device; /* of tct_halo_device */
    bool open;    /* the medium          */
    tct_peer_window window;
    void *handle;
    tct_channel *channel; /* [2 count] sends, receives */
    tct_channels *set;
    tct_halo_put *put; /* [puts.count] */
    tct_halo_puts puts;
    tct_halo_copies list[2];  /* of each buffer */
    tct_halo_turn turn[2][5]; /* of a buffer, by its means */
    uint64_t number;          /* exchanges that are enqueued */
    uint64_t made;            /* ... that the host has made */
    bool packed_came;         /* since the last exchange in place */
    int64_t width;            /* of exchanges; 0: the ghosts'     */
    bool faces;               /* ... without edges and corners    */
    int64_t cells; /* of messages, behind each at this distance; 0: none */
} tct_halo_near;

struct tacit_halo {
    tacit_queue *q;
    const tct_halo_device *device;
    tct_halo_shape shape;
    tct_halo_shape *all; /* [ranks] */
    tacit_halo_message message[TACIT_HALO_DIRECTIONS];
    tct_halo_packed packed;
    tct_halo_near near;
    char *cell[2]; /* of the buffers */
    void *own;     /* both, in memory of the device that peers do not reach */
    bool taken;    /* buffers exist */
    bool begun;
    tct_halo_means means; /* of the exchange under way */
    char *field;          /* cell (0, 0, 0) of it, if it is packed */
};

/* Collective.  Errors NO_MEMORY, COMM, DEVICE. */
tacit_status tct_halo_packed_open(tacit_halo *h);
void tct_halo_packed_close(tacit_halo *h);
/* `cell` NULL: in a failed queue. */
void tct_halo_packed_begin(tacit_halo *h, char *cell);
void tct_halo_packed_end(tacit_halo *h);

void tct_halo_near_close(tacit_halo *h);
void tct_halo_near_start(tacit_halo *h, int slot, tct_halo_means means);
void tct_halo_near_swap(tacit_halo *h, int slot);
void tct_halo_near_finish(tacit_halo *h);

#endif
