/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/sstep.cu - the blocks of solver/methods/sstep.c as one
 * kernel; the small arithmetic is device/blocks.h, done by every block of
 * threads for itself.
 *
 * For s iterations s + 2 barriers: one before each product, so that all of its
 * vector is there, and two for the sum, which is of too many numbers for every
 * block to add up all of them: each adds up a few, and then reads what others
 * have. Blocks are always as long as they will be used, as where looks come at
 * once.
 *
 * A second conjugation is the host's: the kernel ends with BAD_PAUSE, and the
 * text makes that block.
 *
 * A column is a vector: of the panels, or one of those behind. All of them have
 * the same slots of a thread on the chip; what the matrix multiplies is in
 * memory, too. A preconditioner M is a diagonal d here. */
#include "device/gpu/pass.cuh"
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/kernels.cuh"
#include "solver/resident/rows.cuh"
#include "solver/resident/sstep.h"

enum {
    TILE = 8, /* columns of each panel in a tile of the sum */
    DOWN = 2 * TCT_SSTEP_MOST / TILE, /* tiles of (P, Z) */
    RIGHT = 2, /* and of (A Z, r), at once                */
    PAIR = RIGHT * TILE * TILE,
    RENEWED_TOO = 2 /* sums that are of vectors: of r, of its change */
};

/* --- columns -------------------------------------------------------------- */

static __device__ inline tct_chip_vector column(const tct_sstep_job &W, int c)
{
    const int panel = 2 * W.most;
    double *memory = c < panel       ? W.PZ.at + c * W.PZ.stride
                     : c < 2 * panel ? W.QY.at + (c - panel) * W.QY.stride
                                     : W.own[c - 2 * panel];
    return {memory, W.slots, W.first + c * W.stride};
}
static __device__ inline int z(const tct_sstep_job &W, int j)
{
    return W.most + j;
}
static __device__ inline int az(const tct_sstep_job &W, int j)
{
    return 3 * W.most + j;
}
static __device__ inline int own(const tct_sstep_job &W, int which)
{
    return 4 * W.most + which;
}
/* y_j, of which z_j = M y_j */
template <bool M> static __device__ inline int y(const tct_sstep_job &W, int j)
{
    if (!M) return z(W, j);
    return own(W, j == 0 ? TCT_COLUMN_R : TCT_COLUMN_Y + (j - 1) % 3);
}

/* An element of a column that a thread has, in slot `t`. */
struct tct_spot {
    int t;
    int64_t row;
    int thread;
};
static __device__ inline double *at(const tct_sstep_job &W, int c, tct_spot s)
{
    return tct_at(column(W, c), s.t, s.row, TCT_EITHER, s.thread);
}
/* z_j, for all to see */
template <bool M>
static __device__ inline void put_z(const tct_sstep_job &W, int j, tct_spot s,
                                    double y)
{
    const double value = M ? *at(W, own(W, TCT_COLUMN_D), s) * y : y;
    const tct_chip_vector v = column(W, z(W, j));
    if (s.t < v.slots) *tct_at(v, s.t, s.row, TCT_CHIP, s.thread) = value;
    v.memory[s.row] = value;
}

/* Work on all rows of this thread. */
template <int B, int WALK, class WORK>
static __device__ inline void each_row(const tct_resident_job &J,
                                       const WORK &work)
{
    for (int t = 0; t < J.slots; t++) {
        const int64_t row = tct_row<B, WALK>(J, t);
        if (row >= 0) work(tct_spot{t, row, (int)threadIdx.x});
    }
}

/* P, Q, r, x and d come onto the chip, and but for d go back. */
template <int B, int WALK, bool M>
static __device__ inline void load(const tct_sstep_job &W)
{
    for (int i = 0; i < W.most; i++)
        tct_chip_load<B, WALK>(W.J, column(W, i), column(W, 2 * W.most + i));
    for (int i = 0; i < 2 + M; i++)
        tct_chip_load<B, WALK>(W.J, column(W, own(W, i)));
}
template <int B, int WALK>
static __device__ inline void store(const tct_sstep_job &W)
{
    for (int i = 0; i < W.most; i++)
        tct_chip_store<B, WALK>(W.J, column(W, i), column(W, 2 * W.most + i));
    for (int i = 0; i < 2; i++)
        tct_chip_store<B, WALK>(W.J, column(W, own(W, i)));
}

/* --- the vectors of a block ----------------------------------------------- */

/* z_0 = M r; (r, r) */
template <int B, int WALK, bool M>
static __device__ inline void begin(const tct_sstep_job &W, double *rr)
{
    each_row<B, WALK>(W.J, [&](tct_spot s) {
        const double r = *at(W, own(W, TCT_COLUMN_R), s);
        *rr = fma(r, r, *rr);
        put_z<M>(W, 0, s, r);
    });
}

/* A z_j = `t` of a row, and there of y_(j+1) and z_(j+1): see sstep/krylov.c */
template <bool M>
static __device__ inline void next(const tct_sstep_job &W,
                                   const double (&term)[2], int j, tct_spot s,
                                   double t)
{
    double e[4] = {t, *at(W, y<M>(W, j), s), 0.0, 0.0};
    if (W.chebyshev && j > 0) {
        e[2] = *at(W, y<M>(W, j - 1), s);
        tct_pass_chebyshev::at(e, term[0], 0.0, nullptr);
    } else {
        e[3] = fma(term[1], e[1], term[0] * t);
    }
    if (M) *at(W, y<M>(W, j + 1), s) = e[3];
    put_z<M>(W, j + 1, s, e[3]);
}

/* A z_j and what comes of it, one of `s`; or for j < 0 A x, into A z_0. */
template <int B, int STORE, int WALK, bool M>
static __device__ inline void
product(const tct_sstep_job &W, const tct_values<STORE, true> &A,
        tct_ahead &ahead, const tct_blocks &blocks, int j, int s)
{
    const double *const x[1] = {
        column(W, j < 0 ? own(W, TCT_COLUMN_X) : z(W, j)).memory};
    const int to = az(W, j < 0 ? 0 : j);
    const bool more = j >= 0 && j + 1 < s;
    tct_multiply<B, STORE, WALK>(
        W.J, A, ahead, x,
        [&](int t, int64_t row, const tct_sums<1> &sum, int thread) {
            const tct_spot here = {t, row, thread};
            *at(W, to, here) = sum.v[0];
            if (more) next<M>(W, blocks.term[j], j, here, sum.v[0]);
        });
    tct_spent(TCT_ON_PRODUCT);
}

/* --- the sum -------------------------------------------------------------- */

/* Columns (P, Z), or Z alone, and of (A Z, r) the last ones. */
struct tct_gram {
    int s, first, rows, columns;
};
static __device__ inline tct_gram gram_of(const tct_blocks &blocks, int s)
{
    const int first = blocks.moments ? blocks.most : 0;
    return {s, first, blocks.most + s - first, blocks.moments ? 2 : s + 1};
}

/* Tiles of the sum over the rows of this warp: those of `right` columns on. */
template <int B, int WALK>
static __device__ inline void tiles_of_warp(const tct_sstep_job &W, tct_gram G,
                                            int right,
                                            double (&sum)[DOWN][RIGHT][2])
{
    const int lane = tct_tile_lane(), i = lane / 4;
    const int from = tct_lane() - lane; /* rows of this half of the warp */
    int left[DOWN], there[RIGHT];       /* column; < 0: none */
#pragma unroll
    for (int d = 0; d < DOWN; d++)
        left[d] = d * TILE + i < G.rows ? G.first + d * TILE + i : -1;
#pragma unroll
    for (int e = 0; e < RIGHT; e++) {
        const int b = right + e * TILE + i;
        there[e] = b >= G.columns       ? -1
                   : b == G.columns - 1 ? own(W, TCT_COLUMN_R)
                                        : az(W, G.s + 1 - G.columns + b);
    }
    for (int t = 0; t < W.J.slots; t++) {
        const int mine = (int)tct_row<B, WALK>(W.J, t);
        for (int k = from + lane % 4; k < from + TCT_TILE_LANES; k += 4) {
            const int row = tct_shuffle(mine, k);
            const tct_spot s = {t, row, tct_warp() * GPU_WAVE + k};
            double v[RIGHT];
#pragma unroll
            for (int e = 0; e < RIGHT; e++)
                v[e] = row >= 0 && there[e] >= 0 ? *at(W, there[e], s) : 0.0;
#pragma unroll
            for (int d = 0; d < DOWN; d++) {
                if (d * TILE >= G.rows) break;
                const double u =
                    row >= 0 && left[d] >= 0 ? *at(W, left[d], s) : 0.0;
#pragma unroll
                for (int e = 0; e < RIGHT; e++)
                    tct_multiply_tile(sum[d][e], u, v[e]);
            }
        }
    }
}

/* Sum the tiles of the halves of a warp of 64 lanes. */
static __device__ inline void add_halves(double (&sum)[DOWN][RIGHT][2])
{
    for (int i = 0; i < DOWN * RIGHT * 2; i++) {
        double &v = sum[i / (2 * RIGHT)][i / 2 % RIGHT][i % 2];
        v += tct_shuffle_across(v, TCT_TILE_LANES);
    }
}

/* Sum `number` of this block, where all find it. */
static __device__ inline void leave(const tct_sstep_job &W, int number,
                                    double sum)
{
    tct_store_through(&W.many[(size_t)number * gridDim.x + blockIdx.x], sum);
}

/* The sums of this block: a pair of tiles of all warps, one after the other. */
template <int B, int WALK>
static __device__ inline void sum_block(const tct_sstep_job &W, tct_gram G)
{
    extern __shared__ double chip[];
    double *desk = chip + W.desk;
    const int lane = tct_tile_lane(), at = tct_warp() * PAIR;
    for (int right = 0; right < G.columns; right += RIGHT * TILE) {
        double sum[DOWN][RIGHT][2] = {{{0.0}}};
        if (tct_warp() < W.J.tile) tiles_of_warp<B, WALK>(W, G, right, sum);
        if constexpr (TCT_TILES_OF_WARP == 2) add_halves(sum);
#pragma unroll
        for (int d = 0; d < DOWN; d++) {
            if (d * TILE >= G.rows) break;
#pragma unroll
            for (int e = 0; e < RIGHT; e++)
#pragma unroll
                for (int n = 0; n < 2; n++)
                    desk[at + e * TILE * TILE + 2 * lane + n] = sum[d][e][n];
            __syncthreads();
            TCT_EACH(i, PAIR)
            {
                const int a = d * TILE + i % (TILE * TILE) / TILE;
                const int b = right + i / (TILE * TILE) * TILE + i % TILE;
                double all = 0.0;
                for (int w = 0; w < W.J.tile; w++) all += desk[w * PAIR + i];
                if (a < G.rows && b < G.columns)
                    leave(W, SUM_GRAM + b * G.rows + a, all);
            }
            __syncthreads();
        }
    }
}

/* All sums of all blocks, as the text has them, into `sums`; `mine` are of each
 * thread. */
template <int B, int WALK>
static __device__ inline tct_barrier_status
sum_all(const tct_sstep_job &W, tct_gram G, tct_persistent_grid<false> &grid,
        double (&mine)[RENEWED_TOO], double *sums)
{
    const int count = SUM_GRAM + G.rows * G.columns, blocks = (int)gridDim.x;
    double *total = W.many + (size_t)count * gridDim.x;
    tct_block_sum_once(mine);
    if (threadIdx.x == 0)
        for (int i = 0; i < RENEWED_TOO; i++) leave(W, SUM_RR + i, mine[i]);
    sum_block<B, WALK>(W, G);
    tct_spent(TCT_ON_SUM);
    tct_barrier_status barrier = tct_grid_wait(grid);
    if (barrier == TCT_LATE) return barrier;
    const int step = (int)(blockDim.x / GPU_WAVE) * blocks;
    for (int e = tct_warp() * blocks + (int)blockIdx.x; e < count; e += step) {
        double v[1] = {0.0};
        for (int i = tct_lane(); i < blocks; i += GPU_WAVE)
            v[0] += tct_load_fresh(&W.many[(size_t)e * gridDim.x + i]);
        tct_warp_sum(v);
        if (tct_lane() == 0) tct_store_through(&total[e], v[0]);
    }
    barrier = tct_grid_wait(grid);
    TCT_EACH(e, count) sums[e] = tct_load_fresh(&total[e]);
    __syncthreads();
    tct_spent(TCT_ON_SUM);
    return barrier;
}

/* --- the updates ---------------------------------------------------------- */

/* The small matrix, a row for each column of (P, Z), and what goes to x last:
 * of K directions at most. */
enum { PAIRS_MOST = TCT_SSTEP_MOST / 2 + 1 };
typedef tct_two tct_mixing[2 * TCT_SSTEP_MOST][PAIRS_MOST];

template <int K>
static __device__ inline void read_mix(const tct_blocks &blocks, int rows,
                                       tct_mixing &mix)
{
    TCT_EACH(i, rows * (K + 2))
    {
        const int a = i / (K + 2), b = i % (K + 2);
        const int from = b == K ? blocks.most : b < blocks.most ? b : -1;
        mix[a][b / 2].v[b % 2] = from < 0 ? 0.0 : blocks.mix[from * rows + a];
    }
    __syncthreads();
}

/* Columns from `first` on become others, and `last` gets what is added to it: a
 * row at a time, each as in device/gpu/blocks.cu. */
template <int B, int WALK, int K>
static __device__ inline void mix_columns(const tct_sstep_job &W, int rows,
                                          const tct_mixing &mix, int first,
                                          int last, double sign)
{
    each_row<B, WALK>(W.J, [&](tct_spot s) {
        double sum[K] = {0.0}, more = *at(W, last, s);
#pragma unroll 4
        for (int a = 0; a < rows; a++) {
            const double x = *at(W, first + a, s);
#pragma unroll
            for (int b = 0; b < K; b += 2) {
                const tct_two c = mix[a][b / 2];
                sum[b] = fma(x, c.v[0], sum[b]);
                sum[b + 1] = fma(x, c.v[1], sum[b + 1]);
            }
            more = fma(sign * x, mix[a][K / 2].v[0], more);
        }
        *at(W, last, s) = more;
#pragma unroll
        for (int b = 0; b < K; b++)
            if (b < W.most) *at(W, first + b, s) = sum[b];
    });
}

template <int B, int WALK, int K>
static __device__ inline void mix_panels(const tct_sstep_job &W,
                                         const tct_blocks &blocks, int s,
                                         tct_mixing &mix)
{
    const int rows = W.most + s;
    read_mix<K>(blocks, rows, mix);
    mix_columns<B, WALK, K>(W, rows, mix, 0, own(W, TCT_COLUMN_X), +1.0);
    mix_columns<B, WALK, K>(W, rows, mix, 2 * W.most, own(W, TCT_COLUMN_R),
                            -1.0);
}

/* P = (Z - P C) T, x = x + (Z - P C) alpha; Q, r: with A */
template <int B, int WALK>
static __device__ inline void take_steps(const tct_sstep_job &W,
                                         const tct_blocks &blocks, int s,
                                         tct_mixing &mix)
{
    if (W.most <= TCT_SSTEP_MOST / 4)
        mix_panels<B, WALK, TCT_SSTEP_MOST / 4>(W, blocks, s, mix);
    else if (W.most <= TCT_SSTEP_MOST / 2)
        mix_panels<B, WALK, TCT_SSTEP_MOST / 2>(W, blocks, s, mix);
    else mix_panels<B, WALK, TCT_SSTEP_MOST>(W, blocks, s, mix);
    __syncthreads();
    tct_spent(TCT_ON_VECTORS);
}

/* r = b - A x, which is in A z_0; the square of what that changes */
template <int B, int WALK>
static __device__ inline void replace(const tct_sstep_job &W, double sigma,
                                      double renew, double *drift)
{
    each_row<B, WALK>(W.J, [&](tct_spot s) {
        double *r = at(W, own(W, TCT_COLUMN_R), s);
        const double is = fma(sigma, W.b[s.row], -*at(W, az(W, 0), s));
        const double change = is - *r;
        *drift = fma(change, change, *drift);
        *r = fma(renew, change, *r);
    });
}

/* --- the kernel ----------------------------------------------------------- */

/* What the small arithmetic needs; its desk is free when the updates begin. */
struct tct_sstep_here {
    tct_blocks blocks;
    double sums[TCT_SSTEP_SUMS], told[TCT_SSTEP_FLAGS];
    union alignas(16) {
        tct_blocks_desk desk;
        tct_mixing mix;
    };
};
static_assert(sizeof(tct_sstep_here) <= TCT_SSTEP_SHARED &&
                  (int)PAIR == (int)TCT_SSTEP_DESK,
              "the host knows how much that is");

static __device__ __noinline__ void
decide(tct_sstep_here &H, tct_blocks_step step, int s, double *c)
{
    tct_blocks_run(step, &H.blocks, s, H.sums, c, &H.desk);
    __syncthreads();
}

/* Vectors of the next block: as many as will be used. */
static __device__ inline int length_of(const tct_blocks &blocks,
                                       const double *c)
{
    const double left = blocks.limit - c[C_UPDATES] - blocks.taken;
    const int s = blocks_least(blocks.s, blocks.most);
    return left < 1.0 ? 1 : left < s ? (int)left : s;
}

static __device__ inline void open(const tct_sstep_job &W, tct_sstep_here &H)
{
    double *to = (double *)&H.blocks;
    const double *from = (const double *)W.B;
    TCT_EACH(i, (int)(sizeof H.blocks / sizeof *to)) to[i] = from[i];
    TCT_EACH(i, TCT_SSTEP_FLAGS) H.told[i] = 0.0;
    __syncthreads();
}
static __device__ inline void close(const tct_sstep_job &W,
                                    const tct_sstep_here &H)
{
    const double *from = (const double *)&H.blocks;
    __syncthreads();
    if (blockIdx.x != 0) return;
    TCT_EACH(i, (int)(sizeof H.blocks / sizeof *from))
    ((double *)W.B)[i] = from[i];
    TCT_EACH(i, TCT_SSTEP_FLAGS) W.told[i] = H.told[i];
    if (threadIdx.x == 0) W.sums[SUM_DRIFT] = 0.0;
}

template <int B, int STORE, int WALK, bool M>
static __global__ void __launch_bounds__(TCT_THREADS_MOST(WALK), 1)
    solve(const __grid_constant__ tct_sstep_job W)
{
    __shared__ double c[TCT_SCALARS];
    __shared__ tct_sstep_here H;
    const tct_resident_job &J = W.J;
    const tct_values<STORE, true> A = tct_chip_fill<B, STORE, WALK>(J);
    tct_ahead ahead = tct_look_ahead<B, WALK, 1>(J, A.policy);
    tct_persistent_grid<false> grid = tct_persistent_open<false>(J.grid, c);
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    double mine[RENEWED_TOO] = {0.0, first ? W.sums[SUM_DRIFT] : 0.0};
    tct_barrier_status barrier = TCT_GO;
    int since = W.since;
    int64_t k = 0;
    open(W, H);
    load<B, WALK, M>(W);
    for (;;) {
        const int s = length_of(H.blocks, c);
        const tct_gram G = gram_of(H.blocks, s);
        tct_poll_host(grid, k);
        begin<B, WALK, M>(W, &mine[0]);
        for (int j = 0; j < s && barrier != TCT_LATE; j++) {
            barrier = tct_grid_wait(grid);
            product<B, STORE, WALK, M>(W, A, ahead, H.blocks, j, s);
        }
        if (barrier == TCT_LATE) break;
        __syncthreads();
        barrier = sum_all<B, WALK>(W, G, grid, mine, H.sums);
        if (barrier == TCT_LATE) break;
        decide(H, barrier == TCT_END ? BLOCKS_LOOK : BLOCKS_DECIDE, s, c);
        tct_check(grid, c, ++k);
        if (threadIdx.x == 0) {
            H.told[FLAG_LENGTH] = s;
            H.told[FLAG_MADE + s - 1] += 1.0;
        }
        if (barrier == TCT_END || c[C_HELD] != 0.0) break;
        take_steps<B, WALK>(W, H.blocks, s, H.mix);
        mine[0] = mine[1] = 0.0;
        since += H.blocks.taken;
        if (k >= J.grid.most) break;
        if (since < W.renew_every || H.blocks.moments || H.blocks.drifted)
            continue;
        /* a second text of the product: one text for both took 4 % longer */
        tct_chip_store<B, WALK>(J, column(W, own(W, TCT_COLUMN_X)));
        barrier = tct_grid_wait(grid);
        if (barrier == TCT_LATE) break;
        product<B, STORE, WALK, M>(W, A, ahead, H.blocks, -1, s);
        __syncthreads();
        replace<B, WALK>(W, c[C_SIGMA], H.blocks.renew, &mine[1]);
        if (threadIdx.x == 0) H.told[FLAG_RENEWED] += 1.0;
        since = 0;
    }
    store<B, WALK>(W);
    close(W, H);
    tct_conclude(grid, c, barrier != TCT_LATE, k);
}

template <int SOLVES> struct sstep_kernels {
    static constexpr bool has(int b, int store, int walk)
    {
        return TCT_TABLE_HAS(tct_sstep_table, b, store, walk, SOLVES);
    }
    template <int B, int STORE, int WALK>
    static constexpr auto code =
        solve<B, STORE, WALK, SOLVES == TCT_ALONE_DIAGONAL>;
};

static const void *none(int, int, int)
{
    return nullptr;
}

static constexpr tct_resident_kernel plain = {
    TCT_HOST(&tct_method_sstep),
    0,
    2,
    false,
    -1,
    0,
    {0},
    0,
    TCT_HOST(tct_kernel<sstep_kernels<TCT_ALONE>>),
    TCT_HOST(none)};
extern "C" const tct_resident_kernel tct_resident_sstep[2] = {
    plain, tct_with_m(plain, 0, 0,
                      TCT_HOST(tct_kernel<sstep_kernels<TCT_ALONE_DIAGONAL>>),
                      TCT_HOST(none))};
