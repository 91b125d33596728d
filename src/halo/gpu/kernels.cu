/* SPDX-License-Identifier: BSD-3-Clause
 * halo/gpu/kernels.cu - one kernel copies the boxes of all directions, each by a
 * row of blocks; where they go to peers, the last block of a row tells the
 * peer. Its very last block waits for the neighbours, or a kernel of one block
 * does later: no block waits for another one of its grid.
 *
 * The number of an exchange is in device memory, so that a recording can be
 * replayed. */
#include "comm/link/gpu/peer.cuh"
#include "halo/gpu/kernels.h"
#include "halo/signals.h"

enum { THREADS = TCT_HALO_THREADS, WAITERS = 64 };

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

/* The part of a copy of one of so many blocks. */
struct share {
    int block, blocks;
};

/* Units of type T, with I wide enough for their number. */
template <class T, class I>
static __device__ inline void copy_units(const tct_halo_copy &c, share mine,
                                         const char *from, char *to)
{
    const I row = (I)(c.row / sizeof(T)), rows = (I)c.rows;
    const I all = row * rows * (I)c.planes;
    const I step = (I)(mine.blocks * THREADS);
    for (I i = (I)mine.block * THREADS + threadIdx.x; i < all; i += step) {
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
static __device__ inline void copy_box(const tct_halo_copy &c, share mine,
                                       uintptr_t from, uintptr_t to)
{
    const char *source = (const char *)(from + c.from);
    char *target = (char *)(to + c.to);
    /* the number of a unit goes past the last one by a step at most */
    if (tct_halo_copy_bytes(&c) / (int64_t)sizeof(T) < INT32_MAX)
        copy_units<T, uint32_t>(c, mine, source, target);
    else copy_units<T, int64_t>(c, mine, source, target);
}

static __device__ inline void copy(const tct_halo_copy &c, share mine,
                                   uintptr_t from, uintptr_t to)
{
    switch (unit_of(c, from, to)) {
    case 16: copy_box<int4>(c, mine, from, to); break;
    case 8: copy_box<uint64_t>(c, mine, from, to); break;
    case 4: copy_box<uint32_t>(c, mine, from, to); break;
    case 2: copy_box<uint16_t>(c, mine, from, to); break;
    default: copy_box<uint8_t>(c, mine, from, to); break;
    }
}

/* A row of blocks makes a copy; those that it does not need have no work. */
static __global__ void __launch_bounds__(THREADS)
    copy_boxes(const tct_halo_copy *list, uintptr_t from, uintptr_t to)
{
    const tct_halo_copy &c = list[blockIdx.y];
    const share mine = {(int)blockIdx.x,
                        tct_halo_blocks(tct_halo_copy_bytes(&c))};
    if (mine.block < mine.blocks) copy(c, mine, from, to);
}

/* No two elements of a box are one. */
static __global__ void __launch_bounds__(THREADS)
    combine_box(const tct_halo_copy c, uintptr_t from, uintptr_t to,
                tct_halo_element e)
{
    const int64_t all = tct_halo_elements(&c, e.type);
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < all;
         i += step)
        tct_halo_combine(&c, from, to, e, i);
}

/* --- in place ------------------------------------------------------------- */

/* The copies of a list to peers; `blocks` that work on them. */
struct putting {
    const tct_halo_copy *list;
    uintptr_t from; /* their base */
    unsigned blocks;
};

/* Copy the boxes, a direction by a row of blocks, and tell the peers. True in
 * one thread of one block: all have. */
static __device__ inline bool
put_all(const putting &w, const tct_halo_signals &L, uint64_t number)
{
    const tct_halo_copy &c = w.list[blockIdx.y];
    const share mine = {(int)blockIdx.x,
                        tct_halo_blocks(tct_halo_copy_bytes(&c))};
    if (mine.block >= mine.blocks) return false;
    copy(c, mine, w.from, 0);
    __syncthreads();
    return threadIdx.x == 0 &&
           tct_halo_block_done(&L, (int)blockIdx.y, (unsigned)mine.blocks,
                               w.blocks, number);
}

static __global__ void __launch_bounds__(THREADS)
    put_boxes(const putting w, const __grid_constant__ tct_halo_signals L)
{
    put_all(w, L, *L.number + 1);
}

/* Wait for the cells of each neighbour. By some threads of a block, the first
 * of which has the number 0. */
static __device__ inline void await_all(const tct_peer_common &C,
                                        const tct_halo_signals &L,
                                        uint64_t number, int threads)
{
    for (int k = (int)threadIdx.x; k < L.count; k += threads)
        if (tct_halo_await_one(&L, k, number, limit_of(C)) == TCT_MISSED)
            give_up(C, L.put[k].peer);
}

/* The block that is the last to copy waits: others are done by then, so that
 * it needs no other to be resident. */
static __global__ void __launch_bounds__(THREADS)
    swap_boxes(const __grid_constant__ tct_peer_common C, const putting w,
               const __grid_constant__ tct_halo_signals L)
{
    __shared__ bool last;
    const uint64_t number = *L.number + 1;
    const bool all = put_all(w, L, number);
    if (threadIdx.x == 0) last = all;
    __syncthreads();
    if (last) await_all(C, L, number, THREADS);
}

/* Copies of what comes to a field, each by so many blocks. */
struct landing {
    const tct_halo_copy *list;
    uintptr_t to; /* their base */
    int blocks;
};

/* A block stores its part of a direction; returns its place among those that
 * unpack, or < 0. */
static __device__ inline int store_part(const putting &w,
                                        const tct_halo_signals &L, int waiters,
                                        uint64_t number)
{
    __shared__ int place;
    const tct_halo_copy &c = w.list[blockIdx.y];
    const share mine = {(int)blockIdx.x,
                        tct_halo_blocks(tct_halo_copy_bytes(&c))};
    if (mine.block >= mine.blocks) return -1;
    copy(c, mine, w.from, 0);
    __syncthreads();
    if (threadIdx.x == 0)
        place =
            tct_halo_block_goes_on(&L, (int)blockIdx.y, (unsigned)mine.blocks,
                                   w.blocks, (unsigned)waiters, number);
    __syncthreads();
    return place;
}

/* The last blocks to store wait, each for one direction, and unpack it. They
 * need that the few others which have not stored become resident: those that
 * have stored are done. */
static __global__ void __launch_bounds__(THREADS)
    trade_boxes(const __grid_constant__ tct_peer_common C, const putting w,
                const __grid_constant__ tct_halo_signals L, const landing u)
{
    const uint64_t number = *L.number + 1;
    const int place = store_part(w, L, u.blocks * L.count, number);
    if (place < 0) return;
    const int k = place % L.count;
    if (threadIdx.x == 0 &&
        tct_halo_await_cells(&L, k, number, limit_of(C)) == TCT_MISSED)
        give_up(C, L.put[k].peer);
    __syncthreads();
    copy(u.list[k], {place / L.count, u.blocks}, 0, u.to);
}

static __global__ void __launch_bounds__(WAITERS)
    tell(const __grid_constant__ tct_halo_signals L)
{
    const uint64_t number = *L.number + 1;
    for (int k = (int)threadIdx.x; k < L.count; k += WAITERS)
        tct_halo_tell_one(&L, k, number);
    __syncthreads();
    if (threadIdx.x == 0) *L.number = number;
}

static __global__ void __launch_bounds__(WAITERS)
    await(const __grid_constant__ tct_peer_common C,
          const __grid_constant__ tct_halo_signals L)
{
    await_all(C, L, *L.number, WAITERS);
}

/* --- launches ------------------------------------------------------------- */

/* Columns of blocks for the largest copy, a row for each. */
static dim3 grid_of(const tct_halo_copies *list)
{
    int most = 1;
    for (int k = 0; k < list->count; k++) {
        const int blocks = tct_halo_blocks(tct_halo_copy_bytes(&list->copy[k]));
        if (blocks > most) most = blocks;
    }
    return dim3((unsigned)most, (unsigned)list->count);
}

static putting putting_of(const tct_halo_copies *list, uintptr_t from)
{
    putting w = {list->gpu, from, 0};
    for (int k = 0; k < list->count; k++)
        w.blocks +=
            (unsigned)tct_halo_blocks(tct_halo_copy_bytes(&list->copy[k]));
    return w;
}

extern "C" gpu_error tct_halo_copy_boxes(const tct_halo_copies *list,
                                         uintptr_t from, uintptr_t to,
                                         gpu_stream stream)
{
    if (list->count == 0) return GPU_OK;
    copy_boxes<<<grid_of(list), THREADS, 0, stream>>>(list->gpu, from, to);
    return gpu_last_error();
}

extern "C" gpu_error tct_halo_combine_box(const tct_halo_copy *copy,
                                          uintptr_t from, uintptr_t to,
                                          tct_halo_element e, gpu_stream stream)
{
    if (tct_halo_copy_bytes(copy) == 0) return GPU_OK;
    const int blocks = tct_halo_blocks(tct_halo_copy_bytes(copy));
    combine_box<<<(unsigned)blocks, THREADS, 0, stream>>>(*copy, from, to, e);
    return gpu_last_error();
}

extern "C" gpu_error tct_halo_put_boxes(const tct_halo_copies *list,
                                        uintptr_t from,
                                        const tct_halo_signals *signals,
                                        gpu_stream stream)
{
    if (list->count == 0) return tct_halo_tell(signals, stream);
    put_boxes<<<grid_of(list), THREADS, 0, stream>>>(putting_of(list, from),
                                                     *signals);
    return gpu_last_error();
}

extern "C" gpu_error tct_halo_swap_boxes(const tct_peer_common *C,
                                         const tct_halo_copies *list,
                                         uintptr_t from,
                                         const tct_halo_signals *signals,
                                         gpu_stream stream)
{
    swap_boxes<<<grid_of(list), THREADS, 0, stream>>>(
        *C, putting_of(list, from), *signals);
    return gpu_last_error();
}

/* Blocks that unpack a direction: as few as all that wait at once may be. */
static int unpackers(unsigned blocks, int directions)
{
    enum { MOST = 64 };
    const int most = MOST / directions;
    const int all = (int)blocks / directions;
    return all < most ? all : most;
}

extern "C" gpu_error
tct_halo_trade_boxes(const tct_peer_common *C, const tct_halo_copies *list,
                     uintptr_t from, const tct_halo_copies *into, uintptr_t to,
                     const tct_halo_signals *signals, gpu_stream stream)
{
    const putting w = putting_of(list, from);
    const landing u = {into->gpu, to, unpackers(w.blocks, list->count)};
    trade_boxes<<<grid_of(list), THREADS, 0, stream>>>(*C, w, *signals, u);
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
