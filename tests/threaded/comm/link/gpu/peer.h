/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/comm/link/gpu/peer.h - takes the place of src/comm/link/gpu/
 * peer.h and peer.cuh: what kernels of a halo know of a queue's messages. */
#ifndef TESTS_THREADED_COMM_LINK_GPU_PEER_H
#define TESTS_THREADED_COMM_LINK_GPU_PEER_H
#include "device/gpu/lane.cuh"
#include "device/protocol.h"

typedef struct tct_peer_state {
    uint64_t gone;
} tct_peer_state;
typedef struct tct_peer_common {
    uint64_t limit_ns;
    tct_peer_state *state;
} tct_peer_common;

static inline void give_up(const tct_peer_common &C, int peer)
{
    __atomic_store_n(&C.state->gone, 1 + (uint64_t)peer, __ATOMIC_RELAXED);
}
static inline tct_limit limit_of(const tct_peer_common &C)
{
    return {C.limit_ns, &C.state->gone};
}

#endif
