/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/rows.cuh - which block has which rows of the matrix in a
 * persistent kernel, and what stays on the chip.
 *
 * One block a multiprocessor. A unit of the format (a warp's 32 rows) belongs
 * to one warp for the whole solve: block b has the tiles b, b + blocks, ... of
 * the matrix, so that all blocks work on the same region at a time. A tile a
 * block is a round. The vectors of the first rounds and, if room is left,
 * values of the matrix are in shared memory. Barriers are in
 * persistent_grid.cuh. */
#ifndef TCT_SOLVER_RESIDENT_ROWS_CUH
#define TCT_SOLVER_RESIDENT_ROWS_CUH
#include "operator/gpu/slices.cuh"
#include "solver/resident/job.h"
#include "solver/resident/long_rows.cuh"

/* Part of this warp in round `j`, of 32 or 64 rows, if it exists. */
static __device__ inline int tct_place_in_round(const tct_resident_job &J,
                                                int j)
{
    return j * J.round + (int)blockIdx.x * J.block + tct_warp() * J.warp;
}
/* < 0: none. */
static __device__ inline int tct_part_in_round(const tct_resident_job &J, int j)
{
    const int part = tct_place_in_round(J, j);
    return tct_warp() < J.tile && part < J.parts ? part : -1;
}

/* A thread has m = 1 or 2 rows a round, each a slot: slot j m + i. Row of slot
 * `t`; < 0: none. (tct_row_of returns none after the last part.) */
template <int B, int WALK>
static __device__ inline int64_t tct_row(const tct_resident_job &J, int t)
{
    constexpr int M = tct_walk<WALK>::m;
    const int part = tct_place_in_round(J, t / M), unit = part * M + t % M;
    if (tct_warp() >= J.tile) return -1;
    int g = tct_in_slice<B>(unit) / B;
    if (!tct_walk<WALK>::runs && J.A.order) {
        if (part >= J.parts) return -1;
        g = tct_read_only(&J.A.order[unit / B * GPU_LANES + g]);
    }
    return tct_row_of<B, WALK>(J.A, unit, g);
}

/* --- vectors -------------------------------------------------------------- */

/* Storage of the elements of some slots. */
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

/* Slots `t` to `end`: `work(e)` gets the elements of a row and may change them;
 * those with their bit in WRITES are stored. Some slots are loaded together. */
template <int B, int WALK, tct_place PLACE, int N, int NCHIP, unsigned READS,
          unsigned WRITES, class WORK>
static __device__ inline void tct_sweep_slots(const tct_resident_job &J,
                                              const tct_list<N> &list, int t,
                                              int end, const WORK &work)
{
    /* as registers allow: runs leave the fewest */
    constexpr int AT_ONCE = N > 5 ? 2 : N > 3 && WALK == GPU_RUNS ? 3 : 4;
    for (; t < end; t += AT_ONCE) {
        int64_t row[AT_ONCE];
        double e[AT_ONCE][N];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            row[i] = t + i < end ? tct_row<B, WALK>(J, t + i) : -1;
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
template <int B, int WALK, int N, int NCHIP, unsigned READS, unsigned WRITES,
          class WORK>
static __device__ inline void tct_sweep_thread(const tct_resident_job &J,
                                               const tct_list<N> &list,
                                               const WORK &work)
{
    int all = J.slots, any = 0; /* slots on the chip in each vector, in any */
    for (int n = 0; n < NCHIP; n++) {
        all = min(all, list.v[n]->slots);
        any = max(any, list.v[n]->slots);
    }
    if (NCHIP == 0) all = 0;
    tct_sweep_slots<B, WALK, TCT_CHIP, N, NCHIP, READS, WRITES>(J, list, 0, all,
                                                                work);
    tct_sweep_slots<B, WALK, TCT_EITHER, N, NCHIP, READS, WRITES>(J, list, all,
                                                                  any, work);
    tct_sweep_slots<B, WALK, TCT_MEMORY, N, NCHIP, READS, WRITES>(
        J, list, any, J.slots, work);
}

/* Copy the first slots of vectors to the chip, or back. */
template <int B, int WALK, class... MORE>
static __device__ inline void tct_chip_load(const tct_resident_job &J,
                                            const tct_chip_vector &v,
                                            const MORE &...more)
{
    for (int t = 0; t < v.slots; t++) {
        const int64_t row = tct_row<B, WALK>(J, t);
        if (row >= 0) *tct_at(v, t, row, TCT_CHIP) = v.memory[row];
    }
    if constexpr (sizeof...(more) > 0) tct_chip_load<B, WALK>(J, more...);
}
template <int B, int WALK, class... MORE>
static __device__ inline void tct_chip_store(const tct_resident_job &J,
                                             const tct_chip_vector &v,
                                             const MORE &...more)
{
    for (int t = 0; t < v.slots; t++) {
        const int64_t row = tct_row<B, WALK>(J, t);
        if (row >= 0) v.memory[row] = *tct_at(v, t, row, TCT_CHIP);
    }
    if constexpr (sizeof...(more) > 0) tct_chip_store<B, WALK>(J, more...);
}

/* --- the product ---------------------------------------------------------- */

/* A warp in the first round of a product: a member of a team. Members share the
 * columns of a part; the first one has its rows. */
struct tct_member {
    int own, number; /* warp that has the rows; number in the team */
    int part;        /* < 0: none                                     */
};
template <int WALK>
static __device__ inline tct_member tct_member_of(const tct_resident_job &J)
{
    const int w = tct_warp();
    if (WALK != GPU_ANY || J.team == 1) return {w, 0, tct_part_in_round(J, 0)};
    const int number = w / J.tile, own = w - number * J.tile;
    const int part = (int)blockIdx.x * J.block + own * J.warp;
    return {own, number, number < J.team && part < J.parts ? part : -1};
}
/* Of member `number`, an even one. */
static __device__ inline int
tct_first_column(const tct_resident_job &J, const tct_gpu_slice &s, int number)
{
    const int each = (s.width + J.team - 1) / J.team;
    return min(number * (each + (each & 1)), (int)s.width);
}
static __device__ inline tct_gpu_slice
tct_stretch(const tct_resident_job &J, const tct_gpu_slice &s, int number)
{
    if (J.team == 1) return s;
    const int from = tct_first_column(J, s, number);
    return tct_columns_of(s, from, tct_first_column(J, s, number + 1) - from);
}

/* Values of part number `i` of a block (round i / tile, warp i % tile), in
 * shared memory after the vectors: the first J.chip_columns block columns of
 * every part or, if that is 0, all of the first J.chip_parts parts. From column
 * `from` on. */
template <int B, int STORE>
static __device__ inline tct_values<STORE, true>
tct_values_at(const tct_resident_job &J, const tct_values<STORE, true> &all,
              int i, int from = 0)
{
    typedef typename tct_store_type<STORE>::type type;
    extern __shared__ double chip[];
    const int columns = J.chip_columns     ? J.chip_columns
                        : i < J.chip_parts ? J.A.widest
                                           : 0;
    tct_values<STORE, true> v = all;
    v.columns = columns - from;
    v.chip = (const type *)(chip + J.matrix_offset) +
             (i * columns + from) * B * GPU_LANES + tct_lane();
    return v;
}

/* Add the sums of a team, in its first member. */
template <int COLS>
static __device__ inline void
tct_join(const tct_resident_job &J, const tct_member &me, tct_sums<COLS> &sum)
{
    extern __shared__ double chip[];
    const int each = J.tile * GPU_WAVE;
    double *desk = chip + J.desk + me.own * GPU_WAVE + tct_lane();
    for (int c = 0; c < COLS && me.number > 0; c++)
        desk[((me.number - 1) * COLS + c) * each] = sum.v[c];
    tct_sync_some(2, J.team * each);
    for (int k = 0; k < J.team - 1 && me.number == 0; k++)
        for (int c = 0; c < COLS; c++) sum.v[c] += desk[(k * COLS + c) * each];
}

/* Called once by every thread, at the start. */
template <int B, int STORE, int WALK>
static __device__ inline tct_values<STORE, true>
tct_chip_fill(const tct_resident_job &J)
{
    typedef typename tct_store_type<STORE>::type type;
    extern __shared__ double chip[];
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    const tct_values<STORE, true> all = tct_values_of<STORE, true>(
        J.A, tct_dict<STORE>(J.A, table), tct_policy(J.keep));
    for (int i = threadIdx.x; J.poison && i < J.chip_doubles; i += blockDim.x)
        chip[i] = __longlong_as_double(-1);
    __syncthreads();
    constexpr bool KEEPS = WALK != GPU_JOINED && WALK != GPU_GRID;
    for (int j = 0; KEEPS && j < J.rounds; j++) {
        const tct_values<STORE, true> v =
            tct_values_at<B, STORE>(J, all, j * J.tile + tct_warp());
        const int part = tct_part_in_round(J, j);
        if (part < 0 || v.columns == 0) continue;
        const tct_gpu_slice s =
            tct_slice_of(tct_part_words<B, WALK>(J.A, part));
        const int n = s.kind == SLICE_CONST ? 0
                      : s.width < v.columns ? s.width
                                            : v.columns;
        const type *from =
            all.value + s.cell * (B * B * GPU_LANES) + tct_in_slice<B>(part);
        for (int k = 0; k < n * B; k++)
            ((type *)v.chip)[k * GPU_LANES] = from[(int64_t)k * GPU_LANES * B];
    }
    __syncthreads();
    return all;
}

/* Rounds from `j` on whose slices are not joined, one per lane. */
static __device__ inline tct_lanes tct_rounds_apart(const tct_resident_job &J,
                                                    int j)
{
    const int mine = j + tct_lane();
    const int part = mine < J.rounds ? tct_part_in_round(J, mine) : -1;
    return tct_unjoined(J.A, part, part >= 0);
}

/* Prefetched data of a warp's next parts: two slices, and the first columns of
 * the first. Round 0 follows the last round. */
struct tct_ahead {
    uint32_t word, next;
    tct_lanes apart; /* first rounds with slices that are not joined */
    tct_head head;
    tct_long_rows rows;
};
template <int B, int COLS, int WALK>
static __device__ inline tct_head
tct_member_head(const tct_resident_job &J, uint32_t word, const tct_member &me,
                uint64_t policy)
{
    if (WALK != GPU_ANY || J.team == 1)
        return tct_part_head<B, COLS, WALK>(J.A, word, me.part, policy);
    const tct_gpu_slice all = tct_slice_of(word),
                        s = tct_stretch(J, all, me.number);
    tct_head h = tct_head_of<B, COLS, WALK>(J.A, s, me.part, policy);
    const int behind = (int)h.more[0] - tct_first_column(J, all, me.number);
    if (s.full < s.width) /* columns of the whole row */
        h.more[0] = (uint32_t)max(min(behind, (int)s.width), 0);
    return h;
}
template <int B, int WALK, int COLS>
static __device__ inline tct_ahead tct_look_ahead(const tct_resident_job &J,
                                                  uint64_t policy)
{
    tct_ahead a;
    const tct_member me = tct_member_of<WALK>(J);
    a.word = tct_part_words<B, WALK>(J.A, me.part);
    a.next = J.rounds > 1
                 ? tct_part_words<B, WALK>(J.A, tct_part_in_round(J, 1))
                 : a.word;
    a.head = tct_member_head<B, COLS, WALK>(J, a.word, me, policy);
    a.apart = WALK == GPU_JOINED ? tct_rounds_apart(J, 0) : 0;
    if constexpr (B == 1) a.rows = tct_find_long_rows<WALK>(J);
    return a;
}

/* The one round of a team: `take` gets the row sums of its first member. */
template <int B, int STORE, int WALK, int COLS, class TAKE>
static __device__ inline void
tct_multiply_together(const tct_resident_job &J,
                      const tct_values<STORE, true> &A, const tct_ahead &ahead,
                      const double *const (&x)[COLS], const TAKE &take)
{
    const tct_member me = tct_member_of<WALK>(J);
    if (me.number >= J.team) return;
    const tct_gpu_slice all = tct_slice_of(ahead.word);
    const int from = tct_first_column(J, all, me.number);
    tct_sums<COLS> mine = {};
    int64_t at = -1;
    if (me.part >= 0)
        tct_part_sum<B, COLS, true, WALK>(
            J.A, tct_stretch(J, all, me.number), ahead.head, me.part,
            tct_values_at<B, STORE>(J, A, me.own, from), x,
            [&](int, int64_t row, const tct_sums<COLS> &sum) {
                at = row;
                mine = sum;
            });
    tct_join(J, me, mine);
    if (me.number == 0 && at >= 0) take(0, at, mine, (int)threadIdx.x);
}

/* Row sums of all slots of this thread: `take(slot, row, sums, thread)` gets
 * each; of rows kept apart first 0 and then, from any thread, the sums. */
template <int B, int STORE, int WALK, int COLS, class TAKE>
static __device__ inline void
tct_multiply(const tct_resident_job &J, const tct_values<STORE, true> &A,
             tct_ahead &ahead, const double *const (&x)[COLS], const TAKE &take)
{
    const bool apart = WALK != GPU_ANY || J.team == 1;
    if constexpr (WALK == GPU_ANY)
        if (!apart) tct_multiply_together<B, STORE, WALK>(J, A, ahead, x, take);
    for (int j = 0; apart && j < J.rounds; j++) {
        const tct_gpu_slice s = tct_part_slice<WALK>(ahead.word);
        const tct_head h = ahead.head;
        const int j1 = j + 1 < J.rounds ? j + 1 : 0;
        const int j2 = j1 + 1 < J.rounds ? j1 + 1 : 0;
        const int part = tct_part_in_round(J, j);
        ahead.word = ahead.next;
        ahead.next = tct_part_words<B, WALK>(J.A, tct_part_in_round(J, j2));
        if (part < 0) { /* only round 0 follows */
            if (j1 == 0)
                ahead.head = tct_part_head<B, COLS, WALK>(
                    J.A, ahead.word, tct_part_in_round(J, 0), A.policy);
            continue;
        }
        ahead.head = tct_part_head<B, COLS, WALK>(
            J.A, ahead.word, tct_part_in_round(J, j1), A.policy);
        constexpr int M = tct_walk<WALK>::m;
        tct_part_sum<B, COLS, true, WALK>(
            J.A, s, h, part,
            M == 1 ? tct_values_at<B, STORE>(J, A, j * J.tile + tct_warp()) : A,
            x, [&](int m, int64_t row, const tct_sums<COLS> &sum) {
                take(j * M + m, row, sum, (int)threadIdx.x);
            });
    }
    if constexpr (WALK == GPU_JOINED)
        for (int j0 = 0; j0 < J.rounds; j0 += GPU_WAVE) {
            tct_lanes apart = j0 ? tct_rounds_apart(J, j0) : ahead.apart;
            for (; apart; apart &= apart - 1) {
                const int j = j0 + tct_first_lane(apart);
                tct_two_apart<COLS, true>(
                    J.A, tct_part_in_round(J, j), A, x,
                    [&](int m, int64_t row, const tct_sums<COLS> &sum) {
                        take(j * GPU_JOIN + m, row, sum, (int)threadIdx.x);
                    });
            }
        }
    if constexpr (B == 1) tct_sum_long_rows<WALK>(J, ahead.rows, x, take);
}

#endif
