/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/resident.cuh - what persistent kernels share: who has which
 * rows, which vectors stay on the chip, and a barrier that sums.
 *
 * One block a multiprocessor. A unit of the format (a warp's 32 rows) belongs
 * to one warp for the whole solve: block b has the tiles b, b + blocks, ... of
 * the matrix, so that all blocks work on the same region at a time. A tile a
 * block is a round. The first rounds of vectors, and values of the matrix where
 * there is room left, live in shared memory.
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
#include "operator/gpu/slices.cuh"
#include "solver/resident/job.h"
#include "solver/resident/long_rows.cuh"

enum { POLLS_PER_CLOCK = 512 };

static __device__ inline uint64_t tct_nanoseconds()
{
    uint64_t t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

/* How a meeting of all blocks ended. */
enum tct_met {
    TCT_GO,
    TCT_END, /* the host wants the loop to end */
    TCT_LATE /* a block did not come in time, and all have to end */
};

/* Thread 0 of each block: add 1 to the counter and wait for all blocks. Block 0
 * may add, once, that the end is wanted: in the upper half, as the number of
 * this meeting, since a block that is slow to leave the one before may see the
 * counter as it is now. */
static __device__ inline tct_met tct_arrive(const tct_resident_job &J,
                                            uint32_t epoch, bool end)
{
    const uint32_t target = epoch * gridDim.x;
    const uint64_t mine = end ? 1 + ((uint64_t)epoch << 32) : 1;
    uint64_t start = 0;
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(J.counter),
                 "l"(mine)
                 : "memory");
    for (unsigned i = 1;; i++) {
        uint64_t v;
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                     : "=l"(v)
                     : "l"(J.counter)
                     : "memory");
        const uint32_t wish = (uint32_t)(v >> 32);
        if ((int32_t)((uint32_t)v - target) >= 0)
            return wish != 0 && wish <= epoch ? TCT_END : TCT_GO;
        if (i % POLLS_PER_CLOCK) continue;
        const uint64_t now = tct_nanoseconds();
        if (start == 0) start = now;
        if (now - start > J.limit_ns) return TCT_LATE;
    }
}

/* What all threads of a block know of the meetings. */
struct tct_gang {
    uint32_t epoch; /* meetings so far */
    int *told;      /* shared: how the last one ended, and the wish to end */
};
static __device__ inline tct_gang tct_gang_open()
{
    __shared__ int told[2];
    if (threadIdx.x < 2) told[threadIdx.x] = 0;
    __syncthreads();
    return {0, told};
}
static __device__ inline void tct_meet(const tct_resident_job &J, tct_gang &g)
{
    if (threadIdx.x != 0) return;
    const bool end = g.told[1] == 1;
    if (end) g.told[1] = 2; /* said once */
    g.told[0] = tct_arrive(J, g.epoch, end);
}

/* Wait for all blocks; what they wrote before is visible after. Every thread
 * calls it. */
static __device__ inline tct_met tct_grid_wait(const tct_resident_job &J,
                                               tct_gang &g)
{
    g.epoch++;
    __syncthreads();
    tct_meet(J, g);
    __syncthreads();
    return (tct_met)g.told[0];
}

/* The same, and add up what all threads bring in `v` [SUMS]: the same bits in
 * every thread. */
template <int SUMS>
static __device__ inline tct_met tct_grid_sum(const tct_resident_job &J,
                                              tct_gang &g, double (&v)[SUMS])
{
    __shared__ double part[32][SUMS];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    const int blocks = gridDim.x;
    double *sums = J.sums + (size_t)(g.epoch & 1) * TCT_SUMS_AT_ONCE * blocks;
    g.epoch++;
    tct_block_sum(v);
    if (threadIdx.x == 0)
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            __stcg(&sums[j * blocks + blockIdx.x], v[j]);
    tct_meet(J, g);
    __syncthreads();
    if (w * 32 < blocks) {
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            v[j] = threadIdx.x < blocks
                       ? __ldcg(&sums[j * blocks + threadIdx.x])
                       : 0.0;
        tct_warp_sum(v);
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
    return (tct_met)g.told[0];
}

/* --- rows ------------------------------------------------------------------------ */

/* Part of this warp in round `j`: a unit of 32 rows, or two; < 0: none. */
static __device__ inline int tct_part(const tct_resident_job &J, int j)
{
    const int w = threadIdx.x >> 5;
    const int part = (j * (int)gridDim.x + (int)blockIdx.x) * J.tile + w;
    return w < J.tile && part < J.parts ? part : -1;
}

/* A thread has m = 1 or 2 rows a round, each a slot: slot j m + i. Row of slot
 * `t`; < 0: none. */
template <int B, int WAY>
static __device__ inline int64_t tct_row(const tct_resident_job &J, int t)
{
    constexpr int M = tct_way<WAY>::m;
    const int part = tct_part(J, t / M);
    if (part < 0) return -1;
    const int64_t unit = (int64_t)part * M + t % M;
    if (M > 1 && unit >= J.A.slices) return -1;
    int g = tct_in_slice<B>(unit) / B;
    if (!tct_way<WAY>::runs && J.A.order)
        g = __ldg(&J.A.order[(B == 1 ? unit : unit / B) * 32 + g]);
    return tct_row_of<B, WAY>(J.A, unit, g);
}

/* --- vectors ------------------------------------------------------------------------ */

/* Where the elements of some slots are. */
enum tct_place { TCT_CHIP, TCT_MEMORY, TCT_EITHER };

/* Element of slot `t` of a vector, of this thread or another. */
static __device__ inline double *tct_at(const tct_chip_vector &v, int t,
                                        int64_t row,
                                        tct_place place = TCT_EITHER,
                                        int thread = (int)threadIdx.x)
{
    extern __shared__ double chip[];
    double *here = &chip[v.offset + t * (int)blockDim.x + thread];
    if (place == TCT_CHIP) return here;
    if (place == TCT_MEMORY) return v.memory + row;
    return t < v.slots ? here : v.memory + row;
}

/* N vectors, the first NCHIP of which may be on the chip. */
template <int N> struct tct_list {
    const tct_chip_vector *v[N];
};

/* Slots from `t` up to `end`: `work(e)` gets the elements of a row and may
 * change them; those whose bit in WRITES is set are stored. Loads of some slots
 * are under way together. */
template <int B, int WAY, tct_place PLACE, int N, int NCHIP, unsigned READS,
          unsigned WRITES, class WORK>
static __device__ inline void tct_sweep_slots(const tct_resident_job &J,
                                              const tct_list<N> &list, int t,
                                              int end, const WORK &work)
{
    constexpr int AT_ONCE = N <= 5 ? 4 : 2;
    for (; t < end; t += AT_ONCE) {
        int64_t row[AT_ONCE];
        double e[AT_ONCE][N];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            row[i] = t + i < end ? tct_row<B, WAY>(J, t + i) : -1;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
            for (int n = 0; n < N; n++)
                if (READS >> n & 1)
                    e[i][n] = row[i] < 0
                                  ? 0.0
                                  : *tct_at(*list.v[n], t + i, row[i],
                                            n < NCHIP ? PLACE : TCT_MEMORY);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            if (row[i] < 0) continue;
            work(e[i]);
#pragma unroll
            for (int n = 0; n < N; n++)
                if (WRITES >> n & 1)
                    *tct_at(*list.v[n], t + i, row[i],
                            n < NCHIP ? PLACE : TCT_MEMORY) = e[i][n];
        }
    }
}

/* All slots of this thread. */
template <int B, int WAY, int N, int NCHIP, unsigned READS, unsigned WRITES,
          class WORK>
static __device__ inline void
tct_sweep(const tct_resident_job &J, const tct_list<N> &list, const WORK &work)
{
    int all = J.slots, any = 0; /* slots that are on the chip in each vector */
    for (int n = 0; n < NCHIP; n++) {
        all = min(all, list.v[n]->slots);
        any = max(any, list.v[n]->slots);
    }
    if (NCHIP == 0) all = 0;
    tct_sweep_slots<B, WAY, TCT_CHIP, N, NCHIP, READS, WRITES>(J, list, 0, all,
                                                               work);
    tct_sweep_slots<B, WAY, TCT_EITHER, N, NCHIP, READS, WRITES>(J, list, all,
                                                                 any, work);
    tct_sweep_slots<B, WAY, TCT_MEMORY, N, NCHIP, READS, WRITES>(J, list, any,
                                                                 J.slots, work);
}

/* Bring the first slots onto the chip, and back. */
template <int B, int WAY>
static __device__ inline void tct_chip_load(const tct_resident_job &J,
                                            const tct_chip_vector &v)
{
    for (int t = 0; t < v.slots; t++) {
        const int64_t row = tct_row<B, WAY>(J, t);
        if (row >= 0) *tct_at(v, t, row, TCT_CHIP) = v.memory[row];
    }
}
template <int B, int WAY>
static __device__ inline void tct_chip_store(const tct_resident_job &J,
                                             const tct_chip_vector &v)
{
    for (int t = 0; t < v.slots; t++) {
        const int64_t row = tct_row<B, WAY>(J, t);
        if (row >= 0) v.memory[row] = *tct_at(v, t, row, TCT_CHIP);
    }
}

/* --- the product ----------------------------------------------------------------------- */

/* Values of part number `i` of a block (round i / tile, warp i % tile), in
 * shared memory behind the vectors: the first J.chip_columns block columns of
 * every part; or, where that is 0, all of the first J.chip_parts parts. */
template <int B, int STORE>
static __device__ inline tct_values<STORE, true>
tct_values_at(const tct_resident_job &J, const tct_values<STORE, true> &all,
              int j)
{
    typedef typename tct_stored<STORE>::type type;
    extern __shared__ double chip[];
    const int i = j * J.tile + (int)(threadIdx.x >> 5);
    const int columns = J.chip_columns     ? J.chip_columns
                        : i < J.chip_parts ? J.A.widest
                                           : 0;
    tct_values<STORE, true> v = all;
    v.columns = columns;
    v.chip = (const type *)(chip + J.matrix_offset) + i * columns * B * 32 +
             (threadIdx.x & 31);
    return v;
}

/* Every thread calls it, at the start. */
template <int B, int STORE, int WAY>
static __device__ inline tct_values<STORE, true>
tct_chip_fill(const tct_resident_job &J, const double *dict, uint64_t policy)
{
    typedef typename tct_stored<STORE>::type type;
    extern __shared__ double chip[];
    const tct_values<STORE, true> all =
        tct_values_of<STORE, true>(J.A, dict, policy);
    for (int i = threadIdx.x; J.poison && i < J.chip_doubles; i += blockDim.x)
        chip[i] = __longlong_as_double(-1);
    __syncthreads();
    for (int j = 0; WAY != GPU_JOINED && j < J.rounds; j++) {
        const tct_values<STORE, true> v = tct_values_at<B, STORE>(J, all, j);
        const int part = tct_part(J, j);
        if (part < 0 || v.columns == 0) continue;
        const tct_gpu_slice s = tct_slice_of(tct_part_words<B, WAY>(J.A, part));
        const int n = s.kind == GPU_CONST   ? 0
                      : s.width < v.columns ? s.width
                                            : v.columns;
        const type *from =
            all.value + s.cell * (B * B * 32) + tct_in_slice<B>(part);
        for (int k = 0; k < n * B; k++)
            ((type *)v.chip)[k * 32] = from[(int64_t)k * 32 * B];
    }
    __syncthreads();
    return all;
}

/* Rounds of the 32 from `j` on whose slices are not joined. */
static __device__ inline uint32_t tct_rounds_apart(const tct_resident_job &J,
                                                   int j)
{
    const int mine = j + (int)(threadIdx.x & 31);
    const int part = mine < J.rounds ? tct_part(J, mine) : -1;
    return tct_apart(J.A, part, part >= 0);
}

/* What a warp knows of the parts to come: two slices, and the first columns of
 * the first. After the last round comes round 0 again. */
struct tct_ahead {
    uint32_t word, next;
    uint32_t apart; /* rounds of the first 32 whose slices are not joined */
    tct_head head;
    tct_long_rows rows;
};
template <int B, int WAY, int COLS>
static __device__ inline tct_ahead tct_look_ahead(const tct_resident_job &J,
                                                  uint64_t policy)
{
    tct_ahead a;
    a.word = tct_part_words<B, WAY>(J.A, tct_part(J, 0));
    a.next = tct_part_words<B, WAY>(J.A, tct_part(J, J.rounds > 1 ? 1 : 0));
    a.head = tct_part_head<B, COLS, WAY>(J.A, a.word, tct_part(J, 0), policy);
    a.apart = WAY == GPU_JOINED ? tct_rounds_apart(J, 0) : 0;
    if constexpr (B == 1) a.rows = tct_find_long_rows<WAY>(J);
    return a;
}

/* Row sums of all slots of this thread: `take(slot, row, sums, thread)` gets
 * each; of rows kept apart 0 first and then, from any thread, the sums. */
template <int B, int STORE, int WAY, int COLS, class TAKE>
static __device__ inline void
tct_multiply(const tct_resident_job &J, const tct_values<STORE, true> &A,
             tct_ahead &ahead, const double *const (&x)[COLS], const TAKE &take)
{
    for (int j = 0; j < J.rounds; j++) {
        const tct_gpu_slice s = tct_slice_of(ahead.word);
        const tct_head h = ahead.head;
        const int j1 = j + 1 < J.rounds ? j + 1 : 0;
        const int j2 = j1 + 1 < J.rounds ? j1 + 1 : 0;
        const int part = tct_part(J, j);
        ahead.word = ahead.next;
        ahead.next = tct_part_words<B, WAY>(J.A, tct_part(J, j2));
        if (part < 0) { /* then none follows but that of round 0 */
            if (j1 == 0)
                ahead.head = tct_part_head<B, COLS, WAY>(
                    J.A, ahead.word, tct_part(J, 0), A.policy);
            continue;
        }
        ahead.head = tct_part_head<B, COLS, WAY>(J.A, ahead.word,
                                                 tct_part(J, j1), A.policy);
        constexpr int M = tct_way<WAY>::m;
        tct_part_sum<B, COLS, true, WAY>(
            J.A, s, h, part, M == 1 ? tct_values_at<B, STORE>(J, A, j) : A, x,
            [&](int m, int64_t row, const tct_sums<COLS> &sum) {
                take(j * M + m, row, sum, (int)threadIdx.x);
            });
    }
    if constexpr (WAY == GPU_JOINED)
        for (int j0 = 0; j0 < J.rounds; j0 += 32) {
            uint32_t apart = j0 ? tct_rounds_apart(J, j0) : ahead.apart;
            for (; apart; apart &= apart - 1) {
                const int j = j0 + __ffs((int)apart) - 1;
                tct_two_apart<COLS, true>(
                    J.A, tct_part(J, j), A, x,
                    [&](int m, int64_t row, const tct_sums<COLS> &sum) {
                        take(j * GPU_JOIN + m, row, sum, (int)threadIdx.x);
                    });
            }
        }
    if constexpr (B == 1) tct_sum_long_rows<WAY>(J, ahead.rows, x, take);
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
 * the answer takes microseconds; told to all by the next meeting. */
static __device__ inline void tct_ask(const tct_resident_job &J, tct_gang &g,
                                      int64_t k)
{
    if (tct_is_speaker() && k % J.batch == 0 && g.told[1] == 0 &&
        J.outbox->mailbox->limit == 0)
        g.told[1] = 1;
}

/* --- which kernels there are -------------------------------------------------- */

/* A method's KERNELS say by `has(b, store)` which it has, and
 * `code<B, STORE, WAY>()` is one of them. */
template <class KERNELS, int B, int STORE, int WAY>
static const void *tct_kernel_if()
{
    if constexpr (KERNELS::has(B, STORE))
        return KERNELS::template code<B, STORE, WAY>();
    else return nullptr;
}
template <class KERNELS, int B, int WAY>
static const void *tct_kernel_for(int store)
{
    switch (store) {
    case GPU_F64: return tct_kernel_if<KERNELS, B, GPU_F64, WAY>();
    case GPU_F32: return tct_kernel_if<KERNELS, B, GPU_F32, WAY>();
    case GPU_F48: return tct_kernel_if<KERNELS, B, GPU_F48, WAY>();
    case GPU_DICT8: return tct_kernel_if<KERNELS, B, GPU_DICT8, WAY>();
    case GPU_DICT16: return tct_kernel_if<KERNELS, B, GPU_DICT16, WAY>();
    default: return nullptr;
    }
}
template <class KERNELS>
static const void *tct_kernel(int b, int store, int way)
{
    if (way == GPU_RUNS) return tct_kernel_for<KERNELS, 1, GPU_RUNS>(store);
    if (way == GPU_JOINED) return tct_kernel_for<KERNELS, 1, GPU_JOINED>(store);
    switch (b) {
    case 1: return tct_kernel_for<KERNELS, 1, GPU_ANY>(store);
    case 2: return tct_kernel_for<KERNELS, 2, GPU_ANY>(store);
    case 3: return tct_kernel_for<KERNELS, 3, GPU_ANY>(store);
    case 4: return tct_kernel_for<KERNELS, 4, GPU_ANY>(store);
    case 5: return tct_kernel_for<KERNELS, 5, GPU_ANY>(store);
    case 6: return tct_kernel_for<KERNELS, 6, GPU_ANY>(store);
    default: return nullptr;
    }
}

#endif
