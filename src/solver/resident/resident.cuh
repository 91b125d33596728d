/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/resident.cuh - what persistent kernels share: who has which
 * rows, which vectors stay on the chip, and a barrier that sums.
 *
 * One block a multiprocessor. A unit of the format (a warp's 32 rows) belongs
 * to one warp for the whole solve: block b has the tiles b, b + blocks, ... of
 * the matrix, so that all blocks work on the same region at a time. A tile a
 * block is a round. The first rounds of vectors, and of the matrix where there
 * is room left, live in shared memory.
 *
 * The barrier is one counter: a block adds 1 when its threads have come and
 * waits until all have. Sums go along: each block leaves its own before it adds,
 * and all blocks add them up, in the same order, behind the barrier. No block
 * can be two barriers ahead of another, so two sets of sums take turns. (Boxes
 * of value and epoch that all blocks poll take 2.4 us on an H200, this 1.6, and
 * 0.95 without sums.) */
#ifndef TCT_RESIDENT_CUH
#define TCT_RESIDENT_CUH
#include "device/gpu/tail.cuh"
#include "operator/gpu_slices.cuh"
#include "solver/resident/job.h"

enum { POLLS_PER_CLOCK = 4096 };

static __device__ inline uint64_t tct_nanoseconds()
{
    uint64_t t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

/* Thread 0 of each block: add 1 and wait for all `target`. False: too late. */
static __device__ inline bool tct_arrive(const tct_resident_job &J,
                                         uint32_t target)
{
    uint64_t start = 0;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(J.counter)
                 : "memory");
    for (unsigned i = 1;; i++) {
        uint32_t v;
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(v)
                     : "l"(J.counter)
                     : "memory");
        if ((int32_t)(v - target) >= 0) return true;
        if (i % POLLS_PER_CLOCK) continue;
        const uint64_t now = tct_nanoseconds();
        if (start == 0) start = now;
        if (now - start > J.limit_ns) return false;
    }
}

/* Wait for all blocks; what they wrote before is visible after. False: a block
 * did not come in time, and all have to end. Every thread calls it. */
static __device__ inline bool tct_grid_wait(const tct_resident_job &J,
                                            uint32_t &epoch)
{
    bool fine = true;
    epoch++;
    __syncthreads();
    if (threadIdx.x == 0) fine = tct_arrive(J, epoch * gridDim.x);
    return __syncthreads_and(fine);
}

/* The same, and add up what all threads bring in `v` [SUMS]: the same bits in
 * every thread. */
template <int SUMS>
static __device__ inline bool tct_grid_sum(const tct_resident_job &J,
                                           uint32_t &epoch, double (&v)[SUMS])
{
    __shared__ double part[32][SUMS];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    const int blocks = gridDim.x;
    double *sums =
        J.sums + (size_t)((epoch + 1) & 1) * TCT_SUMS_AT_ONCE * blocks;
    bool fine = true;
    epoch++;
    tct_block_sum(v);
    if (threadIdx.x == 0) {
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            __stcg(&sums[j * blocks + blockIdx.x], v[j]);
        fine = tct_arrive(J, epoch * blocks);
    }
    fine = __syncthreads_and(fine);
    if (w * 32 < blocks) {
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            v[j] = threadIdx.x < blocks
                       ? __ldcg(&sums[j * blocks + threadIdx.x])
                       : 0.0;
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            for (int d = 16; d > 0; d >>= 1)
                v[j] += __shfl_down_sync(0xffffffffu, v[j], d);
        if (lane == 0)
            for (int j = 0; j < SUMS; j++) part[w][j] = v[j];
    }
    __syncthreads();
    const int parts = (blocks + 31) >> 5;
#pragma unroll
    for (int j = 0; j < SUMS; j++) {
        v[j] = part[0][j];
        for (int k = 1; k < parts; k++) v[j] += part[k][j];
    }
    return fine;
}

/* --- rows ------------------------------------------------------------------------ */

/* Part of this warp in round `j`: a unit of 32 rows, or (M = 4) four slices;
 * < 0: none. */
static __device__ inline int64_t tct_part(const tct_resident_job &J, int j)
{
    const int w = threadIdx.x >> 5;
    const int64_t part = ((int64_t)j * gridDim.x + blockIdx.x) * J.tile + w;
    return w < J.tile && part < J.parts ? part : -1;
}

/* A thread has M rows a round, each a slot: slot j M + m. Row of slot `t`;
 * < 0: none. */
template <int B, int M>
static __device__ inline int64_t tct_row(const tct_resident_job &J, int t)
{
    const int64_t part = tct_part(J, t / M);
    if (part < 0) return -1;
    const int64_t unit = part * M + t % M;
    if (!J.A.order) { /* then rows are in order */
        const int64_t row = unit * 32 + (threadIdx.x & 31);
        return row < J.A.groups * B ? row : -1;
    }
    if (unit >= J.A.slices * B) return -1;
    const bool sorted = __ldg(&J.A.slice[B == 1 ? unit : unit / B].sorted);
    return tct_row_of<B>(J.A, unit, sorted).row;
}

/* The rows of slots t, t + 1, t + 2, t + 3, so that their loads are under way
 * together. */
enum { TCT_AT_ONCE = 4 };
struct tct_four {
    int64_t row[TCT_AT_ONCE];
};
template <int B, int M>
static __device__ inline tct_four tct_rows(const tct_resident_job &J, int t)
{
    tct_four f;
#pragma unroll
    for (int i = 0; i < TCT_AT_ONCE; i++)
        f.row[i] = t + i < J.slots ? tct_row<B, M>(J, t + i) : -1;
    return f;
}

/* --- vectors ------------------------------------------------------------------------ */

/* Element of slot `t` of a vector, on the chip or in memory. */
static __device__ inline double &tct_at(const tct_chip_vector &v, int t,
                                        int64_t row)
{
    extern __shared__ double chip[];
    return t < v.slots ? chip[v.offset + t * (int)blockDim.x + threadIdx.x]
                       : v.memory[row];
}

/* Bring the first slots onto the chip, and back. */
template <int B, int M>
static __device__ inline void tct_chip_load(const tct_resident_job &J,
                                            const tct_chip_vector &v)
{
    for (int t = 0; t < v.slots; t++) {
        const int64_t row = tct_row<B, M>(J, t);
        if (row >= 0) tct_at(v, t, row) = v.memory[row];
    }
}
template <int B, int M>
static __device__ inline void tct_chip_store(const tct_resident_job &J,
                                             const tct_chip_vector &v)
{
    for (int t = 0; t < v.slots; t++) {
        const int64_t row = tct_row<B, M>(J, t);
        if (row >= 0) v.memory[row] = tct_at(v, t, row);
    }
}

/* The values of the first tiles of this block, in shared memory behind the
 * vectors, as far as it goes. */
enum { TCT_CHIP_TILES = 64 };
template <int STORE> struct tct_chip_matrix {
    typedef typename tct_stored<STORE>::type type;
    tct_values<STORE, false> memory;
    const int *at; /* [rounds] bytes from the start of the region; < 0: none */
    const int64_t *first; /* [rounds] number of the tile's first value       */
    unsigned char *region;

    __device__ bool has(int j) const
    {
        return j < TCT_CHIP_TILES && at[j] >= 0;
    }
    __device__ tct_values<STORE, true> chip(int j) const
    {
        return {(const type *)(region + at[j]) - first[j], memory.low,
                memory.dict, memory.policy};
    }
};

/* What a part needs before its values: loaded a round ahead. */
struct tct_ahead {
    tct_gpu_slice slice;
    tct_runs runs;
};
template <int B, int M>
static __device__ inline tct_ahead tct_look_ahead(const tct_resident_job &J,
                                                  int j)
{
    tct_ahead a = {};
    const int64_t part = j < J.rounds ? tct_part(J, j) : -1;
    if (part < 0) return a;
    a.slice = tct_slice_at(J.A, M > 1 ? part * M : B == 1 ? part : part / B);
    a.runs = tct_part_runs<M>(J.A, a.slice, 0);
    return a;
}

/* Row sums of this thread's slots of round `j`: `take(slot, row, sums)` gets
 * each. */
template <int B, int M, int COLS, class VALUES, class TAKE>
static __device__ inline void
tct_round(const tct_resident_job &J, int j, const tct_ahead &now,
          const VALUES &value, const double *const (&x)[COLS], const TAKE &take)
{
    const int64_t part = tct_part(J, j);
    if (part < 0) return;
    if constexpr (M == 1) {
        const tct_gpu_row r = tct_row_of<B>(J.A, part, now.slice.sorted);
        const tct_sums<COLS> sum = tct_row_sum<B, COLS, true>(
            J.A, now.slice, now.runs.first, part, r.group, value, x);
        if (r.row >= 0) take(j, r.row, sum);
    } else if (now.slice.joined) {
        const tct_joined<COLS> sum =
            tct_joined_sum<COLS, true>(J.A, now.slice, now.runs, value, x);
        const int64_t row = part * M * 32 + (threadIdx.x & 31);
#pragma unroll
        for (int m = 0; m < M; m++) take(j * M + m, row + 32 * m, sum.row[m]);
    } else {
        for (int m = 0; m < M; m++) {
            const int64_t u = part * M + m;
            if (u >= J.A.slices) return;
            const tct_gpu_slice s = tct_slice_at(J.A, u);
            const tct_gpu_row r = tct_row_of<1>(J.A, u, s.sorted);
            const tct_sums<COLS> sum = tct_row_sum<1, COLS, true>(
                J.A, s, tct_runs_at(J.A, s, 0), u, r.group, value, x);
            if (r.row >= 0) take(j * M + m, r.row, sum);
        }
    }
}

/* All rounds. `first` is what round 0 needs, at hand since the solve began. */
template <int B, int STORE, int M, int COLS, class TAKE>
static __device__ inline void
tct_multiply(const tct_resident_job &J, const tct_chip_matrix<STORE> &A,
             const tct_ahead &first, const double *const (&x)[COLS],
             const TAKE &take)
{
    tct_ahead next = first;
    for (int j = 0; j < J.rounds; j++) {
        const tct_ahead now = next;
        if (j + 1 < J.rounds) next = tct_look_ahead<B, M>(J, j + 1);
        if (A.has(j)) tct_round<B, M>(J, j, now, A.chip(j), x, take);
        else tct_round<B, M>(J, j, now, A.memory, x, take);
    }
}

/* One past the last cell of slice `s`. */
static __device__ inline int64_t tct_cell_end(const tct_gpu_slice &s)
{
    return s.cell + (s.kind == GPU_CONST ? 0 : s.width);
}

/* Every thread calls it, at the start. */
template <int B, int STORE, int M>
static __device__ inline tct_chip_matrix<STORE>
tct_chip_fill(const tct_resident_job &J, const double *dict, uint64_t policy)
{
    typedef typename tct_stored<STORE>::type type;
    extern __shared__ double chip[];
    __shared__ int at[TCT_CHIP_TILES];
    __shared__ int64_t first[TCT_CHIP_TILES], count[TCT_CHIP_TILES];
    unsigned char *region = (unsigned char *)(chip + J.matrix_offset);
    const tct_values<STORE, false> memory =
        tct_values_of<STORE>(J.A, dict, policy);
    if (threadIdx.x == 0) {
        int64_t used = 0;
        for (int j = 0; j < TCT_CHIP_TILES; j++) {
            at[j] = -1;
            const int64_t tile = (int64_t)j * gridDim.x + blockIdx.x;
            const int64_t width = M > 1 ? J.tile * M : J.tile / B;
            const int64_t s0 = tile * width;
            const int64_t s1 =
                s0 + width < J.A.slices ? s0 + width : J.A.slices;
            if (j >= J.rounds || s0 >= s1) continue;
            const int64_t cell = J.A.slice[s0].cell;
            first[j] = cell * B * B * 32;
            count[j] = (tct_cell_end(J.A.slice[s1 - 1]) - cell) * B * B * 32;
            const int64_t bytes = count[j] * (int64_t)sizeof(type);
            if (used + bytes > J.matrix_bytes) continue;
            at[j] = (int)used;
            used += bytes;
        }
    }
    __syncthreads();
    for (int j = 0; j < TCT_CHIP_TILES; j++) {
        if (at[j] < 0) continue;
        const uint4 *from = (const uint4 *)(memory.value + first[j]);
        uint4 *to = (uint4 *)(region + at[j]);
        const int64_t lines = count[j] * (int64_t)sizeof(type) / 16;
        for (int64_t i = threadIdx.x; i < lines; i += blockDim.x)
            to[i] = from[i];
    }
    __syncthreads();
    return {memory, at, first, region};
}

/* The scalars of the solve, one block of them a multiprocessor: thread 0 does
 * the steps, in every block the same. Block 0 posts looks, and leaves the
 * scalars in memory at the end. */
static __device__ inline void tct_scalars_load(const tct_resident_job &J,
                                               double *c)
{
    if (threadIdx.x < TCT_SCALARS) c[threadIdx.x] = J.c[threadIdx.x];
    __syncthreads();
}
static __device__ inline void tct_scalars_store(const tct_resident_job &J,
                                                const double *c)
{
    if (blockIdx.x == 0 && threadIdx.x < TCT_SCALARS)
        J.c[threadIdx.x] = c[threadIdx.x];
}
/* The thread that posts looks: of block 0, in its last warp, which has no rows
 * if there are fewer than 32 with rows. */
static __device__ inline bool tct_is_speaker()
{
    return blockIdx.x == 0 && threadIdx.x == blockDim.x - 32;
}
/* Look `k` (from 1) of this kernel; the scalars must not change before the next
 * barrier. */
static __device__ inline void tct_look(const tct_resident_job &J,
                                       const double *c, int64_t k)
{
    if (tct_is_speaker()) tct_post_as(c, J.outbox, J.looks + k, J.batch);
}
static __device__ inline bool tct_at_rest(const double *c)
{
    return !(c[C_RR] > c[C_TARGET2]) || c[C_BAD] != 0.0;
}
/* The end, in time or (not `fine`) because a block did not come. */
static __device__ inline void tct_conclude(const tct_resident_job &J, double *c,
                                           bool fine, int64_t looks)
{
    __syncthreads();
    if (!fine && threadIdx.x == 0) c[C_BAD] = BAD_TIME;
    __syncthreads();
    if (!fine) tct_look(J, c, ++looks);
    if (tct_is_speaker()) J.outbox->looks = J.looks + looks;
    tct_scalars_store(J, c);
}

/* Does the host want the loop to end? Asked by one thread, now and then since
 * the answer takes microseconds; told to all by a sum. */
static __device__ inline double tct_wants_end(const tct_resident_job &J,
                                              int64_t k)
{
    if (!tct_is_speaker() || k % J.batch != 0) return 0.0;
    return J.outbox->mailbox->limit == 0 ? 1.0 : 0.0;
}

#endif
