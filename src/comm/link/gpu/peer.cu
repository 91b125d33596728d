/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/peer.cu - the kernels of peer.cuh with P2P between all
 * ranks. */
#include "comm/link/gpu/peer.cuh"

struct no_calls {
    static constexpr bool there = false;
    static __device__ inline void put(void *, const void *, size_t, uint64_t *,
                                      uint64_t, int)
    {
    }
    static __device__ inline void say(uint64_t *, uint64_t, int) {}
    static __device__ inline void came(uint64_t *, uint64_t) {}
};

extern "C" const tct_peer_kernels tct_peer_near = {
    TCT_HOST(launch_sum<no_calls>), TCT_HOST(launch_exchange<no_calls>)};
