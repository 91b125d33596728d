/* SPDX-License-Identifier: BSD-3-Clause
 * halo/gpu/kernels.cu - one kernel copies the boxes of all directions, each by a
 * row of blocks; where they go to peers, the last block of a row tells the
 * peer. Another one, of a single block, waits for the neighbours: no block that
 * copies waits, so any number of them is fine.
 *
 * The number of an exchange is in device memory, so that a recording can be
 * replayed. */
#include "comm/link/gpu/peer.cuh"
#include "halo/gpu/kernels.h"

enum { THREADS = 256, BLOCKS_MOST = 64, EACH = 4, WAITERS = 64 };

/* --- copies --------------------------------------------------------------- */

/* The widest unit that divides all addresses of a copy. */
static __device__ inline unsigned unit_of(const tct_halo_copy &c,
                                          uintptr_t from, uintptr_t to)
{
    const uint64_t all = (uint64_t)(from + c.from) | (uint64_t)(to + c.to) |
                         (uint64_t)c.from_pitch | (uint64_t)c.to_pitch |
                         (uint64_t)c.from_plane | (uint64_t)c.to_plane |
                         (uint64_t)c.row | 16;
    return (unsigned)(all & (~all + 1));
}

/* Units of type T, with I wide enough for their number. */
template <class T, class I>
static __device__ inline void copy_units(const tct_halo_copy &c,
                                         const char *from, char *to)
{
    const I row = (I)(c.row / sizeof(T)), rows = (I)c.rows;
    const I all = row * rows * (I)c.planes;
    const I step = (I)gridDim.x * THREADS;
    for (I i = (I)blockIdx.x * THREADS + threadIdx.x; i < all; i += step) {
        const I line = i / row, x = i - line * row;
        const I z = line / rows, y = line - z * rows;
        const T *source =
            (const T *)(const void *)(from + (int64_t)z * c.from_plane +
                                      (int64_t)y * c.from_pitch);
        T *target = (T *)(void *)(to + (int64_t)z * c.to_plane +
                                  (int64_t)y * c.to_pitch);
        target[x] = source[x];
    }
}

template <class T>
static __device__ inline void copy_box(const tct_halo_copy &c, uintptr_t from,
                                       uintptr_t to)
{
    const char *source = (const char *)(from + c.from);
    char *target = (char *)(to + c.to);
    /* the counter of units goes past the last by a step at most */
    if (tct_halo_copy_bytes(&c) / (int64_t)sizeof(T) < INT32_MAX)
        copy_units<T, uint32_t>(c, source, target);
    else copy_units<T, int64_t>(c, source, target);
}

static __device__ inline void copy(const tct_halo_copy &c, uintptr_t from,
                                   uintptr_t to)
{
    switch (unit_of(c, from, to)) {
    case 16: copy_box<int4>(c, from, to); break;
    case 8: copy_box<uint64_t>(c, from, to); break;
    case 4: copy_box<uint32_t>(c, from, to); break;
    case 2: copy_box<uint16_t>(c, from, to); break;
    default: copy_box<uint8_t>(c, from, to); break;
    }
}

static __global__ void __launch_bounds__(THREADS)
    copy_boxes(const tct_halo_copy *list, uintptr_t from, uintptr_t to)
{
    copy(list[blockIdx.y], from, to);
}

/* --- in place ------------------------------------------------------------- */

/* A row of blocks serves a direction. */
static __global__ void __launch_bounds__(THREADS)
    put_boxes(const tct_halo_copy *list,
              const __grid_constant__ tct_halo_signals L)
{
    const uint64_t number = *L.number + 1;
    copy(list[blockIdx.y], 0, 0);
    __syncthreads();
    if (threadIdx.x != 0) return;
    uint64_t *other = L.put[blockIdx.y].other;
    if (other) tct_part_done(&L.ticket[blockIdx.y], gridDim.x, other, number);
    if (tct_is_last(&L.ticket[L.count], gridDim.x * gridDim.y))
        *L.number = number;
}

static __global__ void __launch_bounds__(WAITERS)
    tell(const __grid_constant__ tct_halo_signals L)
{
    const uint64_t number = *L.number + 1;
    for (int k = (int)threadIdx.x; k < L.count; k += WAITERS) {
        if (!L.put[k].other) continue;
        tct_fence_all();
        tct_signal_send(L.put[k].other, number);
    }
    __syncthreads();
    if (threadIdx.x == 0) *L.number = number;
}

static __global__ void __launch_bounds__(WAITERS)
    await(const __grid_constant__ tct_peer_common C,
          const __grid_constant__ tct_halo_signals L)
{
    const uint64_t number = *L.number;
    for (int k = (int)threadIdx.x; k < L.count; k += WAITERS) {
        if (!L.put[k].own) continue;
        const tct_wait_status status =
            tct_await_message(L.put[k].own, number, limit_of(C));
        if (status == TCT_MISSED) give_up(C, L.put[k].peer);
    }
}

/* --- launches ------------------------------------------------------------- */

static dim3 grid_of(int64_t most, int count)
{
    return dim3(
        (unsigned)tct_blocks_for(most, THREADS * EACH * 16, BLOCKS_MOST),
        (unsigned)count);
}

extern "C" gpu_error tct_halo_copy_boxes(const tct_halo_copies *list,
                                         int64_t most, uintptr_t from,
                                         uintptr_t to, gpu_stream stream)
{
    if (list->count == 0) return GPU_OK;
    copy_boxes<<<grid_of(most, list->count), THREADS, 0, stream>>>(list->gpu,
                                                                   from, to);
    return gpu_last_error();
}

extern "C" gpu_error tct_halo_put_boxes(const tct_halo_copies *list,
                                        int64_t most,
                                        const tct_halo_signals *signals,
                                        gpu_stream stream)
{
    if (list->count == 0) return tct_halo_tell(signals, stream);
    put_boxes<<<grid_of(most, list->count), THREADS, 0, stream>>>(list->gpu,
                                                                  *signals);
    return gpu_last_error();
}

extern "C" gpu_error tct_halo_tell(const tct_halo_signals *signals,
                                   gpu_stream stream)
{
    tell<<<1, WAITERS, 0, stream>>>(*signals);
    return gpu_last_error();
}

extern "C" gpu_error tct_halo_await(const tct_peer_common *C,
                                    const tct_halo_signals *signals,
                                    gpu_stream stream)
{
    await<<<1, WAITERS, 0, stream>>>(*C, *signals);
    return gpu_last_error();
}
