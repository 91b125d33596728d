/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/peer.h - links peer and nvshmem: what their kernels are given.
 * Those of ranks that all reach each other's memory are in peer.cu, others in a
 * module (nvshmem_module.h); peer.cuh has the text. */
#ifndef TCT_COMM_LINK_GPU_PEER_H
#define TCT_COMM_LINK_GPU_PEER_H
#include "comm/link/gpu/windows.h"
#include "device/gpu/persistent_grid.h"

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

/* A rank is far if kernels do not reach its memory. What goes there is stored
 * into memory of this rank's, and put from there to where `there` says, in
 * NVSHMEM's way: by the address that it would have here. */
typedef struct tct_peer_common {
    int rank, ranks;
    uint32_t far;      /* bit r: rank r is */
    uint64_t limit_ns; /* of a wait; 0: none */
    tct_outbox *outbox;
    tct_peer_state *state;
    /* [2][ranks][TCT_PEER_SLOTS] of each rank: what r has for a sum stands in
     * its part of the half of this sum. Of a far one this rank's own, where its
     * own part is nobody else's. Behind them [2][ranks] numbers: of the sums
     * that far ranks have put */
    tct_numbered *slot[TCT_PEERS_MOST], *there[TCT_PEERS_MOST];
} tct_peer_common;

/* Slots of a rank. */
TCT_BOTH size_t tct_peer_slots(int ranks)
{
    return 2 * (size_t)ranks * TCT_PEER_SLOTS;
}

/* An end of a channel. Messages go into the halves of the receiver's window in
 * turn; each has a counter, which holds the number of its last one. Kernels of
 * a whole solve send numbered values instead, TCT_PEER_BOXES of a row at most,
 * to boxes of which there are two halves, too. */
enum { TCT_PEER_BOXES = 2 };
typedef struct tct_peer_end {
    int peer;
    int64_t first, count;
    double *half[2], *there[2];
    tct_numbered *box[2];
    uint64_t *own;   /* [2] of sends: what was taken; of receives: what came */
    uint64_t *other; /* [2] the same of the other end                        */
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

/* --- for kernels of a whole solve ----------------------------------------- */

/* Why kernels of `q` do not store into memory of its peers; NULL: they do, and
 * have what follows. */
const char *tct_peer_why_not(const tacit_queue *q);
/* The persistent grids of the ranks of `q`, on the device; NULL (and a failed
 * queue) where there are none. */
const tct_persistent_peers *tct_peer_gangs(tacit_queue *q);
/* A window of `bytes` of each rank of such a queue, zeroed, and where that of
 * each is here, into `at` [ranks].
 * Collective.  Errors as tct_windows_take. */
tacit_status tct_peer_take_window(tacit_queue *q, size_t bytes,
                                  tct_peer_window *out, void **at);
void tct_peer_give_window(tacit_queue *q, const tct_peer_window *window);
/* The ends of a plan, [sends + recvs]. */
const tct_peer_end *tct_peer_ends(const struct tct_plan *plan);

/* --- kernels -------------------------------------------------------------- */

typedef struct tct_peer_kernels {
    /* The sum `op`, with this rank's flags. */
    gpu_error (*sum)(const tct_peer_common *C, const tct_op *op, double flags,
                     const tct_gpu_launch *L);
    /* EXCHANGE_BEGIN or EXCHANGE_END `op`. */
    gpu_error (*exchange)(const tct_peer_common *C, const tct_peer_plan *P,
                          const tct_op *op, const tct_gpu_launch *L);
} tct_peer_kernels;
extern const tct_peer_kernels tct_peer_near; /* no rank is far */

#ifdef __cplusplus
}
#endif
#endif
