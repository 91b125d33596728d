/* SPDX-License-Identifier: BSD-3-Clause
 * halo/gpu/cells.cu - exchanges of a fused halo in cells (halo/cells.h): each
 * direction has a few blocks, whose threads store cells to the neighbour and
 * poll those that come from there, straight into the field. A block has no
 * fence and no word of the others but for the number of the exchange. All
 * blocks wait, and at most BLOCKS_MOST have work.
 *
 * The kernel lets the next one begin as soon as the kernels before it have
 * ended: its own blocks are resident then, and those that need the ghosts wait
 * for its end. */
#include "comm/link/gpu/peer.cuh"
#include "halo/cells.h"
#include "halo/gpu/kernels.h"
#include "halo/signals.h"

enum { THREADS = TCT_HALO_THREADS, BLOCKS_MOST = 64 };

struct trading {
    const tct_halo_copy *list, *into;
    uintptr_t from, to;
    int64_t shift;   /* of cells, from their message */
    int each;        /* cells of a block             */
    unsigned blocks; /* that have work               */
};

static __device__ inline int least(int64_t a, int b)
{
    return a < b ? (int)a : b;
}

/* The cells of a block end before this one. */
static __device__ inline int end_of(const tct_halo_copy &c, int begin, int each)
{
    return least(tct_halo_cells(&c), begin + each);
}

static __device__ inline void
send_cells(const tct_halo_copy &c, const trading &T, int begin, uint64_t number)
{
    tct_numbered *const cells = (tct_numbered *)(c.to + (uintptr_t)T.shift);
    const int end = end_of(c, begin, T.each);
    for (int i = begin + (int)threadIdx.x; i < end; i += THREADS)
        tct_halo_cell_send(&c, T.from, cells, i, number);
}

/* The last block of all that have read the number, and stored, sets it. By a
 * thread of each. */
static __device__ inline void set_number(const tct_halo_signals &L,
                                         unsigned blocks, uint64_t number)
{
    if (tct_signal_add(L.drawn, 1) + 1 < blocks) return;
    tct_signal_set(L.drawn, 0);
    tct_signal_set(L.number, number);
}

/* Poll a cell until it has come; false: in vain. */
static __device__ inline bool take_cell(const tct_peer_common &C,
                                        const tct_halo_copy &c,
                                        const trading &T, int i, int peer,
                                        uint64_t number)
{
    const tct_numbered *const cells =
        (const tct_numbered *)(c.from + (uintptr_t)T.shift);
    tct_wait w = {0, 0};
    while (!tct_halo_cell_take(&c, T.to, cells, i, number)) {
        const tct_wait_status status = tct_poll(&w, limit_of(C));
        if (status == TCT_MISSED) give_up(C, peer);
        if (status != TCT_NOT_YET) return false;
    }
    return true;
}

static __global__ void __launch_bounds__(THREADS)
    trade_cells(const __grid_constant__ tct_peer_common C, const trading T,
                const __grid_constant__ tct_halo_signals L)
{
    const int k = (int)blockIdx.y, begin = (int)blockIdx.x * T.each;
    const tct_halo_copy c = T.list[k], into = T.into[k];
    const int peer = L.put[k].peer;
    tct_await_earlier();
    tct_let_later_begin();
    if (begin >= tct_halo_cells(&c) && begin >= tct_halo_cells(&into)) return;
    const uint64_t number = tct_load_fresh(L.number) + 1;
    send_cells(c, T, begin, number);
    __syncthreads(); /* all threads have the number */
    if (threadIdx.x == THREADS - 1) set_number(L, T.blocks, number);
    const int end = end_of(into, begin, T.each);
    bool goes_on = C.state->gone == 0;
    for (int i = begin + (int)threadIdx.x; i < end && goes_on; i += THREADS)
        goes_on = take_cell(C, into, T, i, peer, number);
}

/* --- launches ------------------------------------------------------------- */

/* Cells of direction k, sent or taken. */
static int64_t cells_of(const tct_halo_copies *list,
                        const tct_halo_copies *into, int k)
{
    const int64_t a = tct_halo_cells(&list->copy[k]);
    const int64_t b = tct_halo_cells(&into->copy[k]);
    return a > b ? a : b;
}

/* Blocks with work, if each has so many cells, and columns of blocks. */
static unsigned blocks_for(const tct_halo_copies *list,
                           const tct_halo_copies *into, int each,
                           unsigned *columns)
{
    unsigned all = 0;
    *columns = 1;
    for (int k = 0; k < list->count; k++) {
        const unsigned blocks =
            (unsigned)((cells_of(list, into, k) + each - 1) / each);
        if (blocks > *columns) *columns = blocks;
        all += blocks;
    }
    return all;
}

extern "C" gpu_error
tct_halo_trade_cells(const tct_peer_common *C, const tct_halo_copies *list,
                     uintptr_t from, const tct_halo_copies *into, uintptr_t to,
                     int64_t shift, const tct_halo_signals *signals, bool early,
                     gpu_stream stream)
{
    trading T = {list->gpu, into->gpu, from, to, shift, THREADS, 0};
    unsigned columns = 1;
    while ((T.blocks = blocks_for(list, into, T.each, &columns)) > BLOCKS_MOST)
        T.each += THREADS;
    tct_peer_common common = *C;
    tct_halo_signals L = *signals;
    void *arguments[] = {&common, &T, &L};
    return gpu_launch_early((const void *)trade_cells,
                            dim3(columns, (unsigned)list->count), THREADS,
                            arguments, stream, early);
}
