/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/halo.cuh - what a persistent kernel sends to those of other
 * GPUs, and its rows with columns of theirs.
 *
 * Nothing here waits. A value is stored into the window of the peer before a
 * meeting of all gangs that the method has anyway, for a sum, and read after it.
 * Where a method's product follows such a meeting directly, ghosts are read where
 * they came to. Else, so that there is no meeting more than on one GPU, each GPU
 * keeps vectors of ghosts, which it updates as their owner does: the same
 * arithmetic on the same values, so the same bits. */
#ifndef TCT_HALO_CUH
#define TCT_HALO_CUH
#include "device/gpu/gang.cuh"
#include "solver/resident/rows.cuh"

/* What one GPU alone never does is in functions that are called: what they need
 * of registers then costs the rest of a kernel nothing. */
#define TCT_CALLED static __device__ __noinline__

template <int COLS, class VALUE>
TCT_CALLED void tct_send_all(const tct_resident_halo &H, int half,
                             const VALUE value)
{
    __syncthreads();
    const int end = tct_read_only(&H.send_of[blockIdx.x + 1]);
    for (int i = tct_read_only(&H.send_of[blockIdx.x]) + (int)threadIdx.x;
         i < end; i += (int)blockDim.x) {
        const tct_resident_send s = H.send[i];
        const int thread = s.at & ((1 << TCT_THREAD_BITS) - 1);
        for (int j = 0; j < COLS; j++)
            s.to[half][j] = value(j, s.at >> TCT_THREAD_BITS, s.row, thread);
    }
}

/* Send of each row that a peer needs COLS values: value(j, slot, row, thread),
 * which threads of this block have stored before. */
template <int COLS, class VALUE>
static __device__ inline void tct_send(const tct_resident_job &J, int half,
                                       const VALUE &value)
{
    if (J.halo) tct_send_all<COLS>(*J.halo, half, value);
}

template <int COLS, class X, class ADD>
TCT_CALLED double tct_add_all(const tct_resident_halo &H, const X x,
                              const ADD add)
{
    double all = 0.0;
    __syncthreads();
    const int end = tct_read_only(&H.edge_of[blockIdx.x + 1]);
    for (int i = tct_read_only(&H.edge_of[blockIdx.x]) + (int)threadIdx.x;
         i < end; i += (int)blockDim.x) {
        const tct_resident_edge e = H.edge[i];
        double sum[COLS] = {0.0};
        for (int64_t k = e.first; k < e.end; k++) {
            const double a = tct_read_only(&H.val[k]);
            const int col = tct_read_only(&H.col[k]);
            for (int j = 0; j < COLS; j++) sum[j] = fma(a, x(j, col), sum[j]);
        }
        all += add(e.at >> TCT_THREAD_BITS, e.row, sum,
                   e.at & ((1 << TCT_THREAD_BITS) - 1));
    }
    __syncthreads();
    return all;
}

/* add(slot, row, sums, thread) for each row of this block with columns of other
 * ranks: what they add to its product with x(j, col), j < COLS. What the calls
 * return, added up over those of this thread. */
template <int COLS, class X, class ADD>
static __device__ inline double tct_add_edges(const tct_resident_job &J,
                                              const X &x, const ADD &add)
{
    return J.halo ? tct_add_all<COLS>(*J.halo, x, add) : 0.0;
}

template <class WORK>
TCT_CALLED void tct_ghosts_all(const tct_resident_halo &H, int half,
                               const WORK work)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t g = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
         g < H.ghosts; g += step)
        work(g, tct_load_fresh(&H.window[half][tct_read_only(&H.place[g])]));
}

/* work(ghost, what came of it into this half) for all ghosts that are kept, by
 * all threads of the gang, a ghost always by the same. */
template <class WORK>
static __device__ inline void tct_ghosts(const tct_resident_job &J, int half,
                                         const WORK &work)
{
    if (J.halo) tct_ghosts_all(*J.halo, half, work);
}

template <class VALUE>
TCT_CALLED tct_met tct_keep_all(const tct_resident_halo &H, tct_gang &gang,
                                int n, const VALUE value)
{
    tct_send_all<1>(H, 0, [=](int, int slot, int64_t row, int thread) {
        return value(slot, row, thread);
    });
    const tct_met met = tct_meet_all(gang);
    if (met == TCT_LATE) return met;
    double *to = H.kept[n];
    tct_ghosts_all(H, 0, [=](int64_t g, double v) { to[g] = v; });
    return tct_meet_all(gang);
}

/* Keep of all ghosts value(slot, row, thread) of their owners, in kept[n], for
 * all to read. */
template <class VALUE>
static __device__ inline tct_met
tct_keep(const tct_resident_job &J, tct_gang &gang, int n, const VALUE &value)
{
    return J.halo ? tct_keep_all(*J.halo, gang, n, value) : TCT_GO;
}

#endif
