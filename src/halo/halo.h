/* SPDX-License-Identifier: BSD-3-Clause
 * halo/halo.h - halos for clients inside the library: exchanges of two buffers
 * whose ghost cells peers reach, and what kernels need that put by themselves.
 *
 *     char *cell[2];                     // cell (0, 0, 0) of both buffers
 *     tct_halo_take_buffers(h, before, after, true, cell);  // collective
 *     for (visit = 1; ...; visit++) {
 *         // read buffer (visit - 1) % 2, write buffer visit % 2
 *         tct_halo_start(h, visit % 2, TCT_HALO_STORES);
 *         tct_halo_finish(h);
 *     }
 *
 * A client whose grid has no rows in direction 1 describes it in 3D, with
 * n[1] = 1 and ghost[1] = 0.
 *
 * Means: packed messages go through the link of the queue. In place, cells go
 * straight into the ghosts of the peer's buffer, and a counter tells it: stores
 * of a kernel (of the CPU on the host), copy engines, or stores of the client,
 * which only the counters remain to be set for.
 *
 * Protocol in place. Exchanges are numbered from 1; exchange e is of buffer
 * e % 2, and its sender sets the counter of the receiving side to e. A rank
 * starts e + 1 after it has awaited e of all its neighbours. They have then
 * finished, in the order of their streams, what read exchange e - 1, whose
 * ghosts e + 1 overwrites: two buffers need no acknowledgement. Where buffers
 * do not alternate, or packed messages came between, an empty exchange keeps
 * the order (tct_halo_ready). */
#ifndef TCT_HALO_HALO_H
#define TCT_HALO_HALO_H
#include "comm/channel/channel.h"
#include "halo/put.h"
#include <tacit/halo.h>

typedef enum tct_halo_means {
    TCT_HALO_PACKED, /* messages of the queue's link                     */
    TCT_HALO_STORES, /* in place: a kernel, or the CPU on the host       */
    TCT_HALO_COPIES, /* in place: copy engines; on the host as STORES    */
    TCT_HALO_SIGNALS /* in place: the client has stored the cells before */
} tct_halo_means;

/* As tacit_halo_create, for exchanges in place alone: without packed
 * messages. */
tacit_status tct_halo_create_in_place(tacit_queue *queue,
                                      const tacit_halo_block *block,
                                      tacit_halo **out);

/* Two buffers of this rank, zeroed: `before` bytes before cell (0, 0, 0) and
 * `after` from it on, at least as many as block and ghosts take; the cell is at
 * a multiple of 128 bytes. If `reach`, peers are to reach them; where they
 * cannot (tct_halo_why_packed says why) the memory is the device's, and packed
 * exchanges remain. They belong to the halo, which has no others.
 * Collective.  Errors NO_MEMORY, DEVICE, COMM, on all ranks. */
tacit_status tct_halo_take_buffers(tacit_halo *h, size_t before, size_t after,
                                   bool reach, char *cell[2]);

/* Why exchanges in place are not possible, on all ranks; NULL: they are. */
const char *tct_halo_why_packed(const tacit_halo *h);

/* Exchanges in place are from now on of the `width` ghosts next to the block
 * (0: all), and `faces_only` of faces: for steps that need no more. Clients that
 * put by themselves choose their cells anyway.
 * Collective.  Errors NO_MEMORY, DEVICE, on all ranks. */
tacit_status tct_halo_narrow(tacit_halo *h, int64_t width, bool faces_only);

/* Enqueue the exchange of buffer `slot`, 0 or 1, on the queue: cells leave as
 * they are when earlier work is done. All ranks give the same. In place without
 * buffers that peers reach: the queue fails (INVALID). */
void tct_halo_start(tacit_halo *h, int slot, tct_halo_means means);
/* Enqueue the wait for the ghosts. */
void tct_halo_finish(tacit_halo *h);
/* Both; in place by STORES one kernel of a GPU does it all. */
void tct_halo_swap(tacit_halo *h, int slot, tct_halo_means means);
/* Enqueue what must come before a client's own stores into peers' buffers
 * `slot`; tct_halo_start calls it itself. */
void tct_halo_ready(tacit_halo *h, int slot);

/* --- for clients that put by themselves ----------------------------------- */

/* Directions with a neighbour, in the order of their numbers; in memory of the
 * host, and where the device is a GPU, of that (`gpu`). NULL: not in place. The
 * number of the last exchange is there, too: a kernel that makes exchanges e + 1
 * to e + m by itself leaves e + m there, and tells tct_halo_advance m. */
typedef struct tct_halo_puts {
    int count;
    const tct_halo_put *put, *gpu; /* [count] */
    uint64_t *number;              /* of a GPU: in its memory */
} tct_halo_puts;
const tct_halo_puts *tct_halo_puts_of(const tacit_halo *h);
/* The last exchange, as the host knows it. */
uint64_t tct_halo_number(const tacit_halo *h);
/* A kernel, or a replay of a recording, has made so many; on the host the
 * client itself. */
void tct_halo_advance(tacit_halo *h, uint64_t exchanges);

/* The place of a rank, and the rank at a place; -1: outside the grid. */
void tct_halo_place(const int blocks[3], int rank, int place[3]);
int tct_halo_rank_at(const int blocks[3], unsigned periodic,
                     const int place[3]);

#endif
