/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/peer.h - links peer and nvshmem: what their kernels are given. */
#ifndef TCT_PEER_H
#define TCT_PEER_H
#include "comm/gpu/windows.h"
#include "device/gpu/gang.h"

struct tct_plan;

enum {
    TCT_PEER_SLOTS = TCT_SUM_MOST + 1 /* scalars of a sum, and the flags */
};

/* What all messages of a queue have in common; on the device. */
typedef struct tct_peer_state {
    uint64_t sums; /* so far                                              */
    uint64_t gone; /* not 0: nobody is waited for any more, since 1 + this rank
                      did not come, or since all know of a failure         */
} tct_peer_state;

typedef struct tct_peer_common {
    int rank, ranks;
    uint64_t limit_ns; /* of a wait; 0: none */
    tct_outbox *outbox;
    tct_peer_state *state;
    /* [2][ranks][TCT_PEER_SLOTS] of each rank: what r has for a sum stands in
     * its part of the half of this sum */
    tct_numbered *slot[TCT_PEERS_MOST];
} tct_peer_common;

/* An end of a channel. Messages go into the halves of the receiver's window in
 * turn; counters hold the number of the last one. Kernels of a whole solve send
 * numbered values instead, TCT_PEER_BOXES of a row at most, to boxes of which
 * there are two halves, too. */
enum { TCT_PEER_BOXES = 2 };
typedef struct tct_peer_end {
    int peer;
    int64_t first, count;
    double *half[2];
    tct_numbered *box[2];
    uint64_t *own;   /* of sends: what was taken; of receives: what came */
    uint64_t *other; /* the same of the other end                        */
    unsigned *ticket;
} tct_peer_end;

/* A plan; arrays on the device. */
typedef struct tct_peer_plan {
    int sends, recvs;
    int64_t most_sent, most_received; /* values of a channel, at most */
    const tct_peer_end *end;          /* [sends + recvs]              */
    uint64_t *number;                 /* of the exchange              */
    unsigned *ticket;                 /* of all blocks                */
} tct_peer_plan;

#ifdef __cplusplus
extern "C" {
#endif

/* --- for kernels of a whole solve ----------------------------------------------- */

/* Do kernels of `q` store into memory of its peers? If so they have what follows.
 */
bool tct_peer_stores(const tacit_queue *q);
/* The gangs of the ranks of `q`, on the device; NULL (and a failed queue) where
 * there are none. */
const tct_gang_peers *tct_peer_gangs(tacit_queue *q);
/* The ends of a plan, [sends + recvs]. */
const tct_peer_end *tct_peer_ends(const struct tct_plan *plan);

/* --- kernels -------------------------------------------------------------------- */

/* The sum `op`, with this rank's flags. */
void tct_peer_sum(const tct_peer_common *C, const tct_op *op, double flags,
                  const tct_gpu_launch *L);
/* EXCHANGE_BEGIN or EXCHANGE_END `op`. */
void tct_peer_exchange(const tct_peer_common *C, const tct_peer_plan *P,
                       const tct_op *op, const tct_gpu_launch *L);

#ifdef __cplusplus
}
#endif
#endif
