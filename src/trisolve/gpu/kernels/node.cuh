/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/node.cuh - the product with one node's P by a team: a
 * block, or one warp for a small node. Both passes read P along its columns.
 *
 * With one right-hand side, lanes lie along rows and sum over columns (down),
 * or hold four columns each and sum over rows (up). Several right-hand sides:
 * node_columns.cuh.
 *
 * JOB is tct_tri_job or an extension of it that also stores results
 * elsewhere. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_NODE_CUH
#define TCT_TRISOLVE_GPU_KERNELS_NODE_CUH
#include "trisolve/gpu/kernels/node_columns.cuh"

/* --- teams ---------------------------------------------------------------- */

struct tct_warp_team {
    static constexpr int THREADS = GPU_WAVE, SLAB = TCT_SOLVE_TILE;
    static __device__ int thread() { return tct_lane(); }
    static __device__ void sync() { tct_warp_sync(); }
};
struct tct_block_team {
    static constexpr int THREADS = TCT_SOLVE_THREADS,
                         SLAB = TCT_SOLVE_TILE * TCT_SOLVE_WARPS;
    static __device__ int thread() { return (int)threadIdx.x; }
    static __device__ void sync() { __syncthreads(); }
};

/* Doubles of shared memory: one right-hand side and partial sums, or a slab.
 * Warp teams divide the right-hand side and the slab. */
static constexpr int TCT_ROOM_PARTS = TCT_NODE_WIDTH;
static constexpr int TCT_ROOM = TCT_NODE_WIDTH + TCT_SOLVE_THREADS;
static_assert(TCT_ALONE_WIDTH * TCT_SOLVE_WARPS <= TCT_NODE_WIDTH, "shares");

/* --- one column ----------------------------------------------------------- */

/* Sum `s` over the threads that are a multiple of `rows`, a power of two,
 * apart. The first `rows` threads get the sums. */
template <class TEAM>
static __device__ inline double d_add_parts(double s, int rows, double *parts)
{
    const int t = TEAM::thread(), span = max(rows, GPU_WAVE), at = t % rows;
    for (int d = rows; d < GPU_WAVE; d *= 2) s += tct_shuffle_across(s, d);
    if (span == TEAM::THREADS) return s;
    if (t % span < rows) parts[t / span * rows + at] = s;
    TEAM::sync();
    if (t < rows)
        for (int k = 1; k < TEAM::THREADS / span; k++)
            s += parts[k * rows + at];
    TEAM::sync();
    return s;
}

/* s += columns group, group + groups, ... before `end` of P times v, per row; p
 * points to each row's first element. A thread has AHEAD loads of a row in
 * flight. */
template <int ROWS, int AHEAD>
static __device__ inline void
d_add_columns(const double *const (&p)[ROWS], int64_t step, int group,
              int groups, int end, const double *v, double (&s)[ROWS])
{
    int64_t at = 0;
    for (int j = group; j < end; j += AHEAD * groups, at += AHEAD * step) {
        double a[ROWS][AHEAD];
#pragma unroll
        for (int b = 0; b < AHEAD; b++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                a[r][b] = j + b * groups < end
                              ? tct_read_only(p[r] + at + b * step)
                              : 0.0;
#pragma unroll
        for (int b = 0; b < AHEAD; b++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (j + b * groups < end) s[r] += a[r][b] * v[j + b * groups];
    }
}

/* Rows [from, to) of P v. */
template <class TEAM, class JOB>
static __device__ void d_down_one(const JOB &J, const tct_node &N, int from,
                                  int to, bool together, double *v,
                                  double *parts)
{
    constexpr bool ALONE = TEAM::THREADS == GPU_WAVE;
    constexpr int BATCH = ALONE ? 2 : 4, ROWS = ALONE ? 2 : 1,
                  AHEAD = ALONE ? 4 : 8;
    const int t = TEAM::thread();
    d_bring<1, TEAM, BATCH>(
        0, min(N.w, to), N.w, v, 1,
        [&](const tct_numbering<BATCH> &at, tct_pack<1>(&s)[BATCH]) {
            d_wanted<1>(J, N, together, at, s);
        });
    TEAM::sync();
    int rows = TCT_SOLVE_TILE;
    while (rows < to - from && rows < TEAM::THREADS) rows *= 2;
    const int group = t / rows, groups = TEAM::THREADS / rows;
    const int64_t step = (int64_t)groups * N.ld;
    for (int base = from; base < to; base += ROWS * rows) {
        const int end = min(N.w, base + ROWS * rows);
        tct_numbering<ROWS> at;
        tct_take take[ROWS];
        tct_pack<1> sum[ROWS];
        const double *p[ROWS];
        double s[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int i = base + r * rows + t % rows;
            at.row[r] = group == 0 && i < to && i >= N.w ? i : -1;
            at.n[r] = 0;
            p[r] = J.a.value + N.value + min(i, to - 1) + (int64_t)group * N.ld;
            sum[r].v[0] = s[r] = 0.0;
        }
        d_takes(J, N, at, take);
        d_add_taken<1>(J, at, take, sum);
        d_add_columns<ROWS, AHEAD>(p, step, group, groups, end, v, s);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int i = base + r * rows + t % rows;
            sum[r].v[0] += d_add_parts<TEAM>(s[r], rows, parts);
            if (group == 0 && i < to) d_put_down<1>(J, N, i, 0, sum[r]);
        }
    }
    TEAM::sync();
}

enum {
    TCT_ABREAST = 4, /* columns that a warp sums at once */
    TCT_AHEAD_UP = 2 /* ... and loads of each in flight */
};

/* s += rows i, i + stride, ... of columns p times the known values. */
static __device__ inline void d_add_rows(const tct_tri_job &J,
                                         const tct_node &N, int i, int stride,
                                         const double *const (&p)[TCT_ABREAST],
                                         double (&s)[TCT_ABREAST])
{
    tct_numbering<TCT_AHEAD_UP> at;
    tct_pack<1> v[TCT_AHEAD_UP];
    double a[TCT_AHEAD_UP][TCT_ABREAST];
#pragma unroll
    for (int b = 0; b < TCT_AHEAD_UP; b++) {
        at.row[b] = i + b * stride < N.h ? i + b * stride : -1;
        at.n[b] = 0;
#pragma unroll
        for (int c = 0; c < TCT_ABREAST; c++)
            a[b][c] = at.row[b] < 0 ? 0.0 : tct_read_only(p[c] + at.row[b]);
    }
    d_known<1>(J, N, at, v);
#pragma unroll
    for (int b = 0; b < TCT_AHEAD_UP; b++)
#pragma unroll
        for (int c = 0; c < TCT_ABREAST; c++) s[c] += a[b][c] * v[b].v[0];
}

/* Lane c gets the sum of s[c] over all lanes. */
static __device__ inline double d_add_lanes(const double (&s)[TCT_ABREAST])
{
    static_assert(TCT_ABREAST == 4, "halved twice");
    const int lane = tct_lane();
    const bool high = lane & 16, odd = lane & 8;
    double two[2], one;
#pragma unroll
    for (int c = 0; c < 2; c++) {
        two[c] = (high ? s[2 + c] : s[c]) +
                 tct_shuffle_across(high ? s[c] : s[2 + c], 16);
        if constexpr (TCT_TILES_OF_WARP == 2)
            two[c] += tct_shuffle_across(two[c], TCT_TILE_LANES);
    }
    one =
        (odd ? two[1] : two[0]) + tct_shuffle_across(odd ? two[0] : two[1], 8);
#pragma unroll
    for (int d = 4; d > 0; d /= 2) one += tct_shuffle_across(one, d);
    return tct_shuffle(one, lane % TCT_ABREAST * 8);
}

/* Columns [from, to) of P, each times the known values. */
template <class TEAM, class JOB>
static __device__ void d_up_one(const JOB &J, const tct_node &N, int from,
                                int to, double *parts)
{
    constexpr int WARPS = TEAM::THREADS / GPU_WAVE;
    const int t = TEAM::thread(), lane = tct_lane(), warp = t / GPU_WAVE;
    int abreast = 1; /* warps with their own columns; the others share rows */
    while (abreast < WARPS && abreast * TCT_ABREAST < to - from) abreast *= 2;
    const int part = warp / abreast, stride = WARPS / abreast * GPU_WAVE;
    for (int base = from; base < to; base += abreast * TCT_ABREAST) {
        const int first = base + warp % abreast * TCT_ABREAST;
        const double *p[TCT_ABREAST];
        double s[TCT_ABREAST] = {0.0};
#pragma unroll
        for (int c = 0; c < TCT_ABREAST; c++)
            p[c] = J.a.upper + N.value + (int64_t)min(first + c, to - 1) * N.ld;
        const int begin = first / TCT_ABREAST * TCT_ABREAST;
        for (int i = begin + part * GPU_WAVE + lane; i < N.h;
             i += TCT_AHEAD_UP * stride)
            d_add_rows(J, N, i, stride, p, s);
        double sum = d_add_lanes(s);
        if (abreast < WARPS) {
            if (lane < TCT_ABREAST) parts[warp * TCT_ABREAST + lane] = sum;
            TEAM::sync();
            for (int k = warp + abreast; part == 0 && k < WARPS; k += abreast)
                if (lane < TCT_ABREAST) sum += parts[k * TCT_ABREAST + lane];
            TEAM::sync();
        }
        if (part == 0 && lane < TCT_ABREAST && first + lane < to)
            d_put_up<1>(J, N, first + lane, 0, tct_pack<1>{{sum}});
    }
    TEAM::sync();
}

/* --- a node --------------------------------------------------------------- */

/* Rows (down) or columns (up) [from, to) of a node; TILES 0: one right-hand
 * side. */
template <class TEAM, int TILES, class JOB>
static __device__ void d_part(const JOB &J, const tct_node &N, bool up,
                              int from, int to, bool together, double *room)
{
    constexpr int STRIDE = TILES == 0 ? 1 : TILES * TCT_SOLVE_TILE;
    constexpr bool ALONE = TEAM::THREADS == GPU_WAVE;
    if constexpr (TILES == 0) {
        double *parts = room + TCT_ROOM_PARTS;
        double *v = ALONE ? room + tct_warp() * TCT_ALONE_WIDTH : room;
        if (up) d_up_one<TEAM>(J, N, from, to, parts);
        else d_down_one<TEAM>(J, N, from, to, together, v, parts);
    } else {
        double *slab =
            ALONE ? room + tct_warp() * TEAM::SLAB * (STRIDE + 4) : room;
        if (up)
            d_multiply<tct_up_side<STRIDE, JOB>, TEAM, TILES>({J, N}, from, to,
                                                              slab);
        else
            d_multiply<tct_down_side<STRIDE, JOB>, TEAM, TILES>(
                {J, N, together}, from, to, slab);
    }
}

/* The whole node. */
template <class TEAM, int TILES, class JOB>
static __device__ inline void d_node(const JOB &J, const tct_node &N, bool up,
                                     double *room)
{
    d_part<TEAM, TILES>(J, N, up, 0, up ? N.w : N.h, false, room);
}

/* Assemble rows [from, to) of the node's right-hand side. */
template <int STRIDE>
static __device__ inline void
d_put_together(const tct_tri_job &J, const tct_node &N, int from, int to)
{
    double *x = J.a.x + (int64_t)(N.first + from) * STRIDE;
    constexpr int BATCH = 4;
    d_bring<STRIDE, tct_block_team, BATCH>(
        from, to - from, to, x, STRIDE,
        [&](const tct_numbering<BATCH> &at,
            tct_pack<tct_pack_width<STRIDE>>(&v)[BATCH]) {
            d_wanted<STRIDE>(J, N, false, at, v);
        });
}

/* --- prefetch while the task still waits ---------------------------------- */

template <class TEAM>
static __device__ inline void d_expect_run(const void *from, int64_t bytes)
{
    constexpr int LINE = 128;
    for (int64_t at = (int64_t)TEAM::thread() * LINE; at < bytes;
         at += TEAM::THREADS * LINE)
        tct_prefetch((const char *)from + at);
}
template <class TEAM>
static __device__ inline void
d_expect_columns(const tct_node &N, const double *P, int from, int to)
{
    d_expect_run<TEAM>(P + N.value + (int64_t)from * N.ld,
                       (int64_t)(to - from) * N.ld * 8);
}
template <class TEAM>
static __device__ inline void d_expect(const tct_tri_job &J, const tct_node &N,
                                       bool up, int from, int to)
{
    if (up) {
        d_expect_columns<TEAM>(N, J.a.upper, from, to);
        d_expect_run<TEAM>(J.a.row + N.below, (int64_t)(N.h - N.w) * 4);
        return;
    }
    const bool all = to - from == N.h; /* ... and the right-hand side */
    const int top = from < 0 ? -1 - from : from;
    const int wanted = from < 0 ? to - top : all ? N.w : 0;
    if (!N.leaf)
        d_expect_run<TEAM>(J.a.take + N.slot + top, (int64_t)(to - top) * 8);
    for (int e = TEAM::thread(); e < wanted * J.columns; e += TEAM::THREADS)
        tct_prefetch(
            &J.B[max(tct_read_only(&J.a.place[N.first + top + e % wanted]), 0) +
                 e / wanted * J.ldb]);
    if (from < 0) return;
    if (all) {
        d_expect_columns<TEAM>(N, J.a.value, 0, N.w);
        return;
    }
    const double *p = J.a.value + N.value + from;
    const int lines = (to - from + 2 * TCT_TILE - 1) / (2 * TCT_TILE);
    for (int e = TEAM::thread(); e < lines * min(N.w, to); e += TEAM::THREADS)
        tct_prefetch(p + (int64_t)(e / lines) * N.ld +
                     e % lines * 2 * TCT_TILE);
}

#endif
