/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/sstep.cu - the blocks of solver/methods/sstep.c as one
 * kernel; the small arithmetic is device/blocks.h, done by every block of
 * threads for itself.
 *
 * For s iterations s + 2 barriers: one before each product, so that all of its
 * vector is there, and two for the sum. Blocks are always as long as they will be
 * used, as where looks come at once.
 *
 * A second conjugation is the host's: the kernel ends with BAD_PAUSE, and the
 * text makes that block.
 *
 * A preconditioner M is a diagonal d here. */
#include "device/gpu/pass.cuh"
#include "solver/resident/kernels.cuh"
#include "solver/resident/sstep_sum.cuh"

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
                  (int)TCT_GRAM_PAIR == (int)TCT_SSTEP_DESK,
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
    double mine[TCT_RENEWED_TOO] = {0.0, first ? W.sums[SUM_DRIFT] : 0.0};
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
