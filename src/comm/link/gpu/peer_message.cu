/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/peer_message.cu - a message of a channel that is started by
 * itself: bytes from or to memory of this GPU, through a window in the
 * receiver's. One block carries it, by the protocol of device/protocol.h. */
#include "comm/link/gpu/peer.cuh"

enum { THREADS = 512 };

static __device__ inline bool is_of_words(const void *p)
{
    return (uintptr_t)p % sizeof(uint64_t) == 0;
}

/* Copy what another GPU may have stored. By all threads. */
static __device__ inline void copy(char *to, const char *from, int64_t bytes)
{
    const int64_t words = is_of_words(to) && is_of_words(from) ? bytes / 8 : 0;
    for (int64_t i = threadIdx.x; i < words; i += THREADS)
        ((uint64_t *)(void *)to)[i] =
            tct_load_fresh((const uint64_t *)(const void *)from + i);
    for (int64_t i = 8 * words + threadIdx.x; i < bytes; i += THREADS)
        to[i] = (char)tct_load_fresh((const unsigned char *)from + i);
}

/* The signal of the other end is set after all threads have copied. */
static __device__ inline void carry(const tct_peer_common &C,
                                    const tct_peer_message &m, bool sends)
{
    if (threadIdx.x == 0) {
        const tct_wait_status status =
            sends ? tct_await_room(m.own, m.number, limit_of(C))
                  : tct_await_message(m.own, m.number, limit_of(C));
        if (status == TCT_MISSED) give_up(C, m.peer);
    }
    __syncthreads();
    if (sends) copy(m.window, m.data, m.bytes);
    else copy(m.data, m.window, m.bytes);
    __syncthreads();
    if (threadIdx.x != 0) return;
    tct_fence_all();
    tct_signal_send(m.other, m.number);
}

static __global__ void __launch_bounds__(THREADS)
    send(const __grid_constant__ tct_peer_common C,
         const __grid_constant__ tct_peer_message m)
{
    carry(C, m, true);
}

static __global__ void __launch_bounds__(THREADS)
    receive(const __grid_constant__ tct_peer_common C,
            const __grid_constant__ tct_peer_message m)
{
    carry(C, m, false);
}

extern "C" gpu_error tct_peer_send(const tct_peer_common *C,
                                   const tct_peer_message *m, gpu_stream stream)
{
    send<<<1, THREADS, 0, stream>>>(*C, *m);
    return gpu_last_error();
}

extern "C" gpu_error tct_peer_receive(const tct_peer_common *C,
                                      const tct_peer_message *m,
                                      gpu_stream stream)
{
    receive<<<1, THREADS, 0, stream>>>(*C, *m);
    return gpu_last_error();
}
