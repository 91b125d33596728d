/* SPDX-License-Identifier: BSD-3-Clause
 * comm/channel/channel.h - channels: messages from one rank to another, matched
 * once and then started singly, many times.
 *
 *     tct_channel c[] = {{.peer = next, .sends = true, .bytes = 7},
 *                        {.peer = last, .bytes = 7}};
 *     tct_channels_match(&medium, TACIT_OK, 2, c, &set); // collective
 *     tct_channel_start(&c[0], from, 7);         // by this end alone
 *     tct_channel_end(&c[0]);                    // `from` may change
 *     tct_channel_start(&c[1], to, 7);
 *     tct_channel_end(&c[1]);                    // `to` has the message
 *     tct_channels_free(&set);
 *
 * A rank describes its ends; the k-th end that sends to a rank with a tag
 * matches the k-th end of that rank that receives from this one with this tag.
 * A rank may have channels to itself.
 *
 * Protocol (device/protocol.h): message e, from 1, goes through window[e % 2],
 * in memory of the receiver. The sender sets the receiver's signal of this half
 * to e; the receiver sets the sender's to e after reading. A sender is at most
 * two messages ahead. A channel may also be matched for its windows and signals
 * alone, by a client whose kernels run the protocol.
 *
 * Ownership: the caller owns the ends, and must not move them while they are
 * matched; the set owns windows and signals.
 *
 * Medium: where windows are, and how messages go. tct_medium_host is memory
 * shared by threads or processes of one machine (also of MPI ranks); link peer
 * has one of GPUs (comm/link/gpu/peer.h).
 *
 * Cost: a match has a reduction, an all-to-all and a window; a start or an end copies
 * the message, and has one store to a counter. */
#ifndef TCT_COMM_CHANNEL_CHANNEL_H
#define TCT_COMM_CHANNEL_CHANNEL_H
#include "comm/channel/waits.h"
#include "comm/channel/window.h"

typedef struct tct_channel {
    /* Set by its owner, the rest is 0; tag, signals and bytes are the same at
     * both ends */
    int peer;
    int tag;
    int signals; /* of each half; 0: one */
    bool sends;
    int64_t bytes; /* of a message, at most */
    /* Set by the match */
    const struct tct_medium *medium; /* NULL: not matched */
    char *window[2];                 /* halves, in the receiver's memory */
    tct_counter *own, *other; /* [2][signals] of this and the other end */
    /* Messages */
    uint64_t sequence; /* number of the last one started */
    bool started;      /* and not ended */
    void *data;        /* of the message that is started */
    int64_t part;      /* its bytes */
} tct_channel;

typedef struct tct_medium {
    tacit_world *world;
    void *state;
    /* A zeroed window of `bytes` of each rank, and, for `at`, a handle.
     * Collective.  Errors NO_MEMORY, IO, DEVICE, COMM. */
    tacit_status (*take)(void *state, size_t bytes, tct_peer_window *out,
                         void **handle);
    /* The address in this process of a window of `rank`. */
    char *(*at)(void *state, void *handle, int rank, const tct_peer_window *w);
    /* Not collective. */
    void (*give)(void *state, void *handle, const tct_peer_window *own);
    /* Message c->sequence. Errors COMM (timeout), DEVICE. */
    tacit_status (*send)(const tct_channel *c);
    tacit_status (*receive)(const tct_channel *c);
} tct_medium;

/* Memory that the ranks of `waits` share. Borrows `waits`, which has the time
 * limit of a wait. */
tct_medium tct_medium_host(const tct_waits *waits);

typedef struct tct_channels tct_channels;

/* Match the ends `c` [count] with those of all ranks; if `mine` is below 0, this
 * rank has failed before, and all ranks fail. Borrows `medium`, `c`.
 * Collective.  Errors INVALID (on all ranks; the message has the words of both
 *             ends: ends that differ in bytes or signals, an end without another
 *             one), NO_MEMORY, COMM, and the medium's. */
tacit_status tct_channels_match(const tct_medium *medium, tacit_status mine,
                                int count, tct_channel *c, tct_channels **out);
/* The same, without a window: do all ends match? */
tacit_status tct_channels_check(tacit_world *w, tacit_status mine, int count,
                                tct_channel *c);
/* The ends can be matched again afterwards. Not collective: another rank may
 * still read its last messages. NULL is allowed. */
void tct_channels_free(tct_channels **set);

/* Start the next message of `bytes`, the same at both ends; not collective. The
 * sender's waits until the receiver has read the last but one; `data` must not
 * change until the end. The receiver's waits for nothing.
 * Errors      INVALID (not matched, already started, too long), COMM (the
 *             message names the lost rank), DEVICE. */
tacit_status tct_channel_start(tct_channel *c, void *data, int64_t bytes);
/* End it: the receiver's waits for the message.
 * Errors      INVALID (not started), COMM, DEVICE. */
tacit_status tct_channel_end(tct_channel *c);

#endif
