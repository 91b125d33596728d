/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/peer.h - links peer and nvshmem: arguments of their kernels.
 * peer.cuh has the kernels, peer.cu those with P2P between all ranks, and a
 * module (nvshmem_module.h) the others. */
#ifndef TCT_COMM_LINK_GPU_PEER_H
#define TCT_COMM_LINK_GPU_PEER_H
#include "comm/link/gpu/windows.h"
#include "device/gpu/persistent_grid.h"

struct tct_medium; /* comm/channel/channel.h */
struct tct_plan;

enum {
    TCT_PEER_SLOTS = TCT_SUM_MOST + 1 /* scalars of a sum, and the flags */
};

/* State of all messages of a queue, in device memory. */
typedef struct tct_peer_state {
    uint64_t sums; /* so far */
    uint64_t gone; /* not 0: no waits: 1 + lost rank, or NOBODY */
} tct_peer_state;

/* A rank is far if it is non-P2P: kernels cannot store into its memory.
 * Messages to it are stored in memory of this rank, then put to the address
 * that `there` has: NVSHMEM names remote memory by the local address of the
 * same object. */
typedef struct tct_peer_common {
    int rank, ranks;
    uint32_t far;      /* bit r: rank r is far */
    uint64_t limit_ns; /* of a wait; 0: none */
    tct_outbox *outbox;
    tct_peer_state *state;
    /* [2][ranks][TCT_PEER_SLOTS] in the memory of each rank: by parity of the
     * sum and sending rank. For a far rank this points to this rank's own
     * slots, of which the own part serves as send buffer. They are followed by
     * [2][ranks] signals: the numbers of the sums that far ranks have put */
    tct_numbered *slot[TCT_PEERS_MOST], *there[TCT_PEERS_MOST];
} tct_peer_common;

/* Slots of a rank. */
TCT_BOTH size_t tct_peer_slots(int ranks)
{
    return 2 * (size_t)ranks * TCT_PEER_SLOTS;
}

/* An end of a channel. Messages go into the double buffer in the receiver's
 * window; each half has a counter, the number of its last message. Persistent
 * kernels send numbered values instead, TCT_PEER_BOXES per row at most, to
 * boxes that are double-buffered, too. */
enum { TCT_PEER_BOXES = 2 };
typedef struct tct_peer_end {
    int peer;
    int64_t first, count;
    double *half[2], *there[2];
    tct_numbered *box[2];
    uint64_t *own;   /* [2] messages taken (of a send) or arrived */
    uint64_t *other; /* [2] the same, at the other end */
    unsigned *ticket;
} tct_peer_end;

/* A plan; arrays in device memory. */
typedef struct tct_peer_plan {
    int sends, recvs;
    int64_t most_sent, most_received; /* the most values of a channel */
    const tct_peer_end *end;          /* [sends + recvs]              */
    uint64_t *number;                 /* of the exchange */
    unsigned *ticket;                 /* counts all blocks */
} tct_peer_plan;

#ifdef __cplusplus
extern "C" {
#endif

/* --- for persistent kernels ----------------------------------------------- */

/* Why kernels of `q` cannot store into memory of its peers; NULL: they can, and
 * the functions below may be used. */
const char *tct_peer_why_not(const tacit_queue *q);
/* The persistent grids of the ranks of `q`, in device memory; NULL (and a
 * failed queue) on error. */
const tct_persistent_peers *tct_peer_grids(tacit_queue *q);
/* A window of `bytes` in each rank, zeroed, and the ranks' windows as addresses
 * in this process: `at` [ranks].
 * Collective.  Errors as tct_windows_take. */
tacit_status tct_peer_take_window(tacit_queue *q, size_t bytes,
                                  tct_peer_window *out, void **at);
void tct_peer_give_window(tacit_queue *q, const tct_peer_window *window);
/* The ends of a plan, [sends + recvs]. */
const tct_peer_end *tct_peer_ends(const struct tct_plan *plan);

/* --- channels ------------------------------------------------------------- */

/* The medium of channels in memory of the GPUs of `q`, if tct_peer_why_not has
 * no reason against it. A start or an end is enqueued on the queue's stream,
 * with `data` on the GPU, which later work of the stream may change. A lost rank
 * fails the queue. */
const struct tct_medium *tct_peer_medium(const tacit_queue *q);

typedef struct tct_peer_channels {
    tacit_queue *q;
    tct_windows *windows;
    tct_peer_common *common;
} tct_peer_channels;
void tct_peer_medium_of(const tct_peer_channels *p, struct tct_medium *out);

/* Message `number` of a channel that is started by itself, through a half of
 * its window, with the signals of this half. */
typedef struct tct_peer_message {
    int peer;
    uint64_t number;
    char *data, *window;
    int64_t bytes;
    uint64_t *own, *other;
} tct_peer_message;
gpu_error tct_peer_send(const tct_peer_common *C, const tct_peer_message *m,
                        gpu_stream stream);
gpu_error tct_peer_receive(const tct_peer_common *C, const tct_peer_message *m,
                           gpu_stream stream);

/* --- kernels -------------------------------------------------------------- */

typedef struct tct_peer_kernels {
    /* A sum, or its begin or end, by `op`, with this rank's flags. */
    gpu_error (*sum)(const tct_peer_common *C, const tct_op *op, double flags,
                     const tct_gpu_launch *L);
    /* Begin or end an exchange, by `op`'s code. */
    gpu_error (*exchange)(const tct_peer_common *C, const tct_peer_plan *P,
                          const tct_op *op, const tct_gpu_launch *L);
} tct_peer_kernels;
extern const tct_peer_kernels tct_peer_near; /* P2P between all ranks */

#ifdef __cplusplus
}
#endif
#endif
