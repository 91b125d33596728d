/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/gpu/node.cuh - a node, by a team: a block, or a warp that has small
 * ones to itself. Values of P are read in runs along its columns, both ways.
 *
 * For one right-hand side lanes stand along rows, and sum over columns (down), or
 * hold four columns each and sum over rows (up). Several are a product of dense
 * matrices on the tensor cores: a warp has TCT_TILE rows of the result, and all of
 * its columns; what it is multiplied by lies in shared memory, a slab at a time. */
#ifndef TCT_TRIANGULAR_NODE_CUH
#define TCT_TRIANGULAR_NODE_CUH
#include "device/gpu/lane.cuh"
#include "triangular/device/gpu/solve.h"

/* --- teams --------------------------------------------------------------------- */

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

/* Doubles of shared memory: right-hand sides of one column and parts of sums, or a
 * slab. A warp has its share of the first, and of a slab. */
static constexpr int TCT_ROOM_PARTS = TCT_NODE_WIDTH;
static constexpr int TCT_ROOM = TCT_NODE_WIDTH + TCT_SOLVE_THREADS;
static_assert(TCT_ALONE_WIDTH * TCT_SOLVE_WARPS <= TCT_NODE_WIDTH, "shares");

/* --- what both ways read ---------------------------------------------------------- */

/* Row `j` of the right-hand side, column n. */
static __device__ inline double d_given(const tct_tri_job &J, int j, int n)
{
    const int32_t at = tct_read_only(&J.a.place[j]);
    if (at < 0) return 0.0;
    const double b = J.B[at + n * J.ldb];
    return J.a.row_scale ? b * tct_read_only(&J.a.row_scale[at]) : b;
}
/* What row i of a node takes from its children, in their order. */
template <int STRIDE>
static __device__ inline double d_taken(const tct_tri_job &J, const tct_node &N,
                                        int i, int n)
{
    double v = 0.0;
    if (N.leaf) return v;
    const tct_take t = J.a.take[N.slot + i];
    if (t.first >= 0) v = J.a.u[(int64_t)t.first * STRIDE + n];
    if (t.second >= 0) v += J.a.u[(int64_t)t.second * STRIDE + n];
    if (t.second >= -1) return v;
    const int32_t *rest = &J.a.rest[-2 - t.second];
    for (int k = 1; k <= rest[0]; k++)
        v += J.a.u[(int64_t)rest[k] * STRIDE + n];
    return v;
}
/* Row i of what a node is multiplied by on the way down: put together before, or
 * now. */
template <int STRIDE>
static __device__ inline double
d_wanted(const tct_tri_job &J, const tct_node &N, int i, int n, bool together)
{
    const int j = N.first + i;
    if (together) return J.a.x[(int64_t)j * STRIDE + n];
    const double b = n < J.columns ? d_given(J, j, n) : 0.0;
    return b + d_taken<STRIDE>(J, N, i, n);
}
/* Row i of what a node is multiplied by on the way up. */
template <int STRIDE>
static __device__ inline double d_known(const tct_tri_job &J, const tct_node &N,
                                        int i, int n)
{
    if (i < N.w) return J.a.y[(int64_t)(N.first + i) * STRIDE + n];
    const int row = tct_read_only(&J.a.row[N.below + i - N.w]);
    return J.a.x[(int64_t)row * STRIDE + n];
}

/* --- and write ------------------------------------------------------------------ */

/* `v` is row i of the product on the way down, without what is gathered. */
template <int STRIDE>
static __device__ inline void
d_put_down(const tct_tri_job &J, const tct_node &N, int i, int n, double v)
{
    if (i < N.w) {
        const int j = N.first + i;
        if (J.a.scale) v *= tct_read_only(&J.a.scale[j]);
        J.a.y[(int64_t)j * STRIDE + n] = v;
    } else {
        J.a.u[(N.below + i - N.w) * STRIDE + n] = v;
    }
}
template <int STRIDE>
static __device__ inline void d_put_up(const tct_tri_job &J, const tct_node &N,
                                       int i, int n, double v)
{
    const int j = N.first + i;
    J.a.x[(int64_t)j * STRIDE + n] = v;
    if (n >= J.columns) return;
    const int32_t at = tct_read_only(&J.a.place[j]);
    if (at < 0) return;
    if (J.a.col_scale) v *= tct_read_only(&J.a.col_scale[at]);
    J.X[at + n * J.ldx] = v;
}

/* --- one column --------------------------------------------------------------------- */

/* The `s` of threads that are a multiple of `rows` apart, a power of two: to those
 * before `rows`. */
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

/* to[place(e)] = value(e) for all e < count, loads of some before their stores. */
template <class TEAM, int BATCH, class VALUE, class PLACE>
static __device__ inline void d_bring(int count, double *to, const VALUE &value,
                                      const PLACE &place)
{
    for (int e = TEAM::thread(); e < count; e += BATCH * TEAM::THREADS) {
        double v[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (e + b * TEAM::THREADS < count)
                v[b] = value(e + b * TEAM::THREADS);
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (e + b * TEAM::THREADS < count)
                to[place(e + b * TEAM::THREADS)] = v[b];
    }
}

/* Rows [from, to) of P v. */
template <class TEAM>
static __device__ void d_down_one(const tct_tri_job &J, const tct_node &N,
                                  int from, int to, bool together, double *v,
                                  double *parts)
{
    const int t = TEAM::thread();
    d_bring<TEAM, TEAM::THREADS == GPU_WAVE ? 2 : 4>(
        min(N.w, to), v,
        [&](int j) { return d_wanted<1>(J, N, j, 0, together); },
        [](int j) { return j; });
    TEAM::sync();
    int rows = TCT_SOLVE_TILE;
    while (rows < to - from && rows < TEAM::THREADS) rows *= 2;
    const int group = t / rows, groups = TEAM::THREADS / rows;
    const int64_t step = (int64_t)groups * N.ld;
    for (int base = from; base < to; base += rows) {
        const int i = base + t % rows, end = min(N.w, base + rows);
        const bool mine = group == 0 && i < to;
        const double rest = mine && i >= N.w ? d_taken<1>(J, N, i, 0) : 0.0;
        const double *p =
            J.a.value + N.value + min(i, to - 1) + (int64_t)group * N.ld;
        double s = 0.0;
#pragma unroll 8
        for (int j = group; j < end; j += groups, p += step)
            s += tct_read_only(p) * v[j];
        s = d_add_parts<TEAM>(s, rows, parts);
        if (mine) d_put_down<1>(J, N, i, 0, rest + s);
    }
    TEAM::sync();
}

enum { TCT_ABREAST = 4 /* columns that a warp sums over at once */ };

/* Columns [from, to) of P, each times what is known. */
template <class TEAM>
static __device__ void d_up_one(const tct_tri_job &J, const tct_node &N,
                                int from, int to, double *parts)
{
    constexpr int WARPS = TEAM::THREADS / GPU_WAVE;
    const int t = TEAM::thread(), lane = tct_lane(), warp = t / GPU_WAVE;
    int abreast = 1; /* warps with columns of their own; others share rows */
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
#pragma unroll 4
        for (int i = begin + part * GPU_WAVE + lane; i < N.h; i += stride) {
            const double v = d_known<1>(J, N, i, 0);
#pragma unroll
            for (int c = 0; c < TCT_ABREAST; c++)
                s[c] += tct_read_only(p[c] + i) * v;
        }
#pragma unroll
        for (int c = 0; c < TCT_ABREAST; c++)
            for (int d = GPU_WAVE / 2; d > 0; d /= 2)
                s[c] += tct_shuffle_across(s[c], d);
        double sum = s[0];
#pragma unroll
        for (int c = 1; c < TCT_ABREAST; c++)
            if (lane == c) sum = s[c];
        if (abreast < WARPS) {
            if (lane < TCT_ABREAST) parts[warp * TCT_ABREAST + lane] = sum;
            TEAM::sync();
            for (int k = warp + abreast; part == 0 && k < WARPS; k += abreast)
                if (lane < TCT_ABREAST) sum += parts[k * TCT_ABREAST + lane];
            TEAM::sync();
        }
        if (part == 0 && lane < TCT_ABREAST && first + lane < to)
            d_put_up<1>(J, N, first + lane, 0, sum);
    }
    TEAM::sync();
}

/* --- several ------------------------------------------------------------------------- */

/* C = A V on the way down, A = P; terms are its columns. */
template <int STRIDE> struct tct_down_side {
    const tct_tri_job &J;
    const tct_node &N;
    bool together;
    __device__ int first(int) const { return 0; }
    __device__ int last(int end) const { return min(N.w, end); }
    __device__ double term(int k, int n) const
    {
        return d_wanted<STRIDE>(J, N, k, n, together);
    }
    __device__ const double *matrix(int i, int) const
    {
        return J.a.value + N.value + min(i, N.h - 1);
    }
    __device__ int64_t apart() const { return N.ld; }
    __device__ double rest(int i, int n) const
    {
        return i < N.w ? 0.0 : d_taken<STRIDE>(J, N, i, n);
    }
    __device__ void put(int i, int n, double v) const
    {
        d_put_down<STRIDE>(J, N, i, n, v);
    }
};
/* ... and up, A = P'; terms are its rows. */
template <int STRIDE> struct tct_up_side {
    const tct_tri_job &J;
    const tct_node &N;
    __device__ int first(int base) const { return base / TCT_TILE * TCT_TILE; }
    __device__ int last(int) const { return N.h; }
    __device__ double term(int k, int n) const
    {
        return d_known<STRIDE>(J, N, k, n);
    }
    __device__ const double *matrix(int i, int to) const
    {
        return J.a.upper + N.value + (int64_t)min(i, to - 1) * N.ld;
    }
    __device__ int64_t apart() const { return 1; }
    __device__ double rest(int, int) const { return 0.0; }
    __device__ void put(int i, int n, double v) const
    {
        d_put_up<STRIDE>(J, N, i, n, v);
    }
};

/* What a warp has of C: lane l has rows l / 4 and 8 more, columns 2 (l % 4) and the
 * next one of each tile. */
template <int TILES> struct tct_corner {
    double c[2][TILES][2];
};

/* Terms [k0, k0 + SLAB) up to `end` to shared memory. */
template <class SIDE, class TEAM, int TILES>
static __device__ inline void d_fill(const SIDE &S, int k0, int end,
                                     double *slab)
{
    constexpr int STRIDE = TILES * TCT_SOLVE_TILE, LD = STRIDE + 4;
    TEAM::sync();
    d_bring<TEAM, (TILES > 4   ? 4
                   : TILES > 2 ? 8
                               : 2 * TILES)>(
        TEAM::SLAB * STRIDE, slab,
        [&](int e) {
            const int k = k0 + e / STRIDE;
            return k < end ? S.term(k, e % STRIDE) : 0.0;
        },
        [](int e) { return e / STRIDE * LD + e % STRIDE; });
    TEAM::sync();
}

/* Add the products of the terms that this warp has of a slab: `some` from `k` on,
 * which stand at `slab`. */
template <class SIDE, int TILES>
static __device__ inline void
d_add_terms(const SIDE &S, const double *A0, const double *A1, int k, int some,
            int end, const double *slab, tct_corner<TILES> &C)
{
    constexpr int LD = TILES * TCT_SOLVE_TILE + 4;
    const int lane = tct_lane(), i = lane / 4, j = lane % 4;
    const int64_t apart = S.apart();
#pragma unroll 4
    for (int kk = j; kk < some; kk += 4) {
        const bool there = k + kk < end;
        const double a0 = there ? tct_read_only(A0 + (k + kk) * apart) : 0.0;
        const double a1 = there ? tct_read_only(A1 + (k + kk) * apart) : 0.0;
#pragma unroll
        for (int n = 0; n < TILES; n++) {
            const double b = slab[kk * LD + n * TCT_SOLVE_TILE + i];
            tct_multiply_tile(C.c[0][n], a0, b);
            tct_multiply_tile(C.c[1][n], a1, b);
        }
    }
}

/* Warps that share a tile of rows: the sum to the first. */
template <class TEAM, int TILES>
static __device__ inline void d_add_corners(int warp, int tiles, double *room,
                                            tct_corner<TILES> &C)
{
    constexpr int WARPS = TEAM::THREADS / GPU_WAVE, EACH = 4 * TILES;
    for (int half = WARPS / 2; half >= tiles; half /= 2) {
        double *at = room + warp % half * EACH * GPU_WAVE + tct_lane();
        TEAM::sync();
        if (warp >= half && warp < 2 * half)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                at[e * GPU_WAVE] = C.c[e / 2 / TILES][e / 2 % TILES][e % 2];
        TEAM::sync();
        if (warp < half)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                C.c[e / 2 / TILES][e / 2 % TILES][e % 2] += at[e * GPU_WAVE];
    }
}

/* With what is added to it, all of which is loaded before any is stored. */
template <class SIDE, int TILES>
static __device__ inline void d_put_corner(const SIDE &S, int first, int to,
                                           tct_corner<TILES> &C)
{
    const int lane = tct_lane(), column = lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int i = first + TCT_SOLVE_TILE * r + lane / 4;
        if (i >= to) continue;
#pragma unroll
        for (int e = 0; e < 2 * TILES; e++)
            C.c[r][e / 2][e % 2] +=
                S.rest(i, e / 2 * TCT_SOLVE_TILE + column + e % 2);
#pragma unroll
        for (int e = 0; e < 2 * TILES; e++)
            S.put(i, e / 2 * TCT_SOLVE_TILE + column + e % 2,
                  C.c[r][e / 2][e % 2]);
    }
}

/* Rows [from, to) of the product. */
template <class SIDE, class TEAM, int TILES>
static __device__ void d_multiply(const SIDE &S, int from, int to, double *room)
{
    constexpr int WARPS = TEAM::THREADS / GPU_WAVE;
    const int warp = TEAM::thread() / GPU_WAVE, lane = tct_lane();
    int tiles = 1; /* at once; warps beyond share their terms */
    while (tiles < WARPS && tiles * TCT_TILE < to - from) tiles *= 2;
    const int some = TEAM::SLAB * tiles / WARPS, mine = warp / tiles * some;
    for (int base = from; base < to; base += tiles * TCT_TILE) {
        const int first = base + warp % tiles * TCT_TILE;
        const int end = S.last(min(to, base + tiles * TCT_TILE));
        const double *A0 = S.matrix(first + lane / 4, to),
                     *A1 = S.matrix(first + lane / 4 + TCT_SOLVE_TILE, to);
        tct_corner<TILES> C = {};
        for (int k = S.first(base); k < end; k += TEAM::SLAB) {
            d_fill<SIDE, TEAM, TILES>(S, k, end, room);
            d_add_terms(S, A0, A1, k + mine, some, end,
                        room + mine * (TILES * TCT_SOLVE_TILE + 4), C);
        }
        d_add_corners<TEAM>(warp, tiles, room, C);
        if (warp < tiles) d_put_corner(S, first, to, C);
    }
    TEAM::sync();
}

/* --- a node ---------------------------------------------------------------------------- */

/* Rows, or columns, [from, to) of it. TILES 0: one right-hand side. */
template <class TEAM, int TILES>
static __device__ void d_part(const tct_tri_job &J, const tct_node &N, bool up,
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
            d_multiply<tct_up_side<STRIDE>, TEAM, TILES>({J, N}, from, to,
                                                         slab);
        else
            d_multiply<tct_down_side<STRIDE>, TEAM, TILES>({J, N, together},
                                                           from, to, slab);
    }
}

/* All of it. */
template <class TEAM, int TILES>
static __device__ inline void d_node(const tct_tri_job &J, int32_t k, bool up,
                                     double *room)
{
    const tct_node N = J.a.node[k];
    d_part<TEAM, TILES>(J, N, up, 0, up ? N.w : N.h, false, room);
}

/* Rows [from, to) of its right-hand side. */
template <int STRIDE>
static __device__ inline void
d_put_together(const tct_tri_job &J, const tct_node &N, int from, int to)
{
    double *x = J.a.x + (int64_t)(N.first + from) * STRIDE;
    d_bring<tct_block_team, 4>(
        (to - from) * STRIDE, x,
        [&](int e) {
            return d_wanted<STRIDE>(J, N, from + e / STRIDE, e % STRIDE, false);
        },
        [](int e) { return e; });
}

/* --- what will be read, while others still work on what is waited for --------------- */

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
    if (!N.leaf)
        d_expect_run<TEAM>(J.a.take + N.slot + max(from, 0),
                           (int64_t)(to - max(from, 0)) * 8);
    const bool all = to - from == N.h; /* also what it is multiplied by */
    for (int j = TEAM::thread(); j < N.w && (all || from < 0);
         j += TEAM::THREADS)
        tct_prefetch(&J.B[max(tct_read_only(&J.a.place[N.first + j]), 0)]);
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
