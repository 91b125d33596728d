/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/node_columns.cuh - the product with a node's P for several
 * right-hand sides: dense matrices, multiplied on tensor cores. A warp computes
 * TCT_TILE rows of the result in all columns; the other factor is in shared
 * memory, one slab at a time. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_NODE_COLUMNS_CUH
#define TCT_TRISOLVE_GPU_KERNELS_NODE_COLUMNS_CUH
#include "trisolve/gpu/kernels/terms.cuh"

/* Pass down: C = A V, A = P; terms are columns of P. */
template <int STRIDE, class JOB> struct tct_down_side {
    static constexpr int W = tct_pack_width<STRIDE>;
    static constexpr bool FROM_THE_FIRST = true; /* terms of all rows begin at
                                                  * column 0 */
    /* Terms that a thread loads at once next to its corner; limited by
     * registers. */
    static constexpr int AT_ONCE = 2;
    const JOB &J;
    const tct_node &N;
    bool together;
    __device__ int first(int) const { return 0; }
    __device__ int last(int end) const { return min(N.w, end); }
    template <int BATCH>
    __device__ void terms(const tct_numbering<BATCH> &at,
                          tct_pack<W> (&v)[BATCH]) const
    {
        d_wanted<STRIDE>(J, N, together, at, v);
    }
    __device__ const double *matrix(int i, int) const
    {
        return J.a.value + N.value + min(i, N.h - 1);
    }
    __device__ int64_t apart() const { return N.ld; }
    template <int BATCH>
    __device__ void add_rest(tct_numbering<BATCH> &at,
                             tct_pack<W> (&v)[BATCH]) const
    {
        tct_take t[BATCH];
        if (at.row[0] < N.w) return;
        d_takes(J, N, at, t);
        d_add_taken<STRIDE>(J, at, t, v);
    }
    __device__ void put(int i, int n, const tct_pack<W> &v) const
    {
        d_put_down<STRIDE>(J, N, i, n, v);
    }
};
/* Pass up: A = P'; terms are rows of P. */
template <int STRIDE, class JOB> struct tct_up_side {
    static constexpr int W = tct_pack_width<STRIDE>;
    static constexpr bool FROM_THE_FIRST = false;
    static constexpr int AT_ONCE = 8;
    const JOB &J;
    const tct_node &N;
    __device__ int first(int base) const { return base / TCT_TILE * TCT_TILE; }
    __device__ int last(int) const { return N.h; }
    template <int BATCH>
    __device__ void terms(const tct_numbering<BATCH> &at,
                          tct_pack<W> (&v)[BATCH]) const
    {
        d_known<STRIDE>(J, N, at, v);
    }
    __device__ const double *matrix(int i, int to) const
    {
        return J.a.upper + N.value + (int64_t)min(i, to - 1) * N.ld;
    }
    __device__ int64_t apart() const { return 1; }
    template <int BATCH>
    __device__ void add_rest(tct_numbering<BATCH> &,
                             tct_pack<W> (&)[BATCH]) const
    {
    }
    __device__ void put(int i, int n, const tct_pack<W> &v) const
    {
        d_put_up<STRIDE>(J, N, i, n, v);
    }
};

/* The part of C that a warp holds: lane l of 32 has rows l / 4 and 8 more,
 * columns 2 (l % 4) and the next one of each tile. Each half of a warp of 64
 * lanes has some of the terms. */
template <int TILES> struct tct_corner {
    tct_pack<2> c[2][TILES];
};

/* Load terms [k0, k0 + SLAB), up to `end`, into shared memory. */
template <class SIDE, class TEAM, int TILES>
static __device__ inline void d_fill(const SIDE &S, int k0, int end,
                                     double *slab)
{
    constexpr int STRIDE = TILES * TCT_SOLVE_TILE,
                  BATCH = TILES < SIDE::AT_ONCE ? TILES : SIDE::AT_ONCE;
    TEAM::sync();
    d_bring<STRIDE, TEAM, BATCH>(
        k0, TEAM::SLAB, end, slab, STRIDE + 4,
        [&](const tct_numbering<BATCH> &at, tct_pack<2>(&v)[BATCH]) {
            S.terms(at, v);
        });
    TEAM::sync();
}

/* Add this warp's products: `some` terms from `k` on, stored at `slab`. */
template <class SIDE, int QUADS, int TILES>
static __device__ inline void
d_add_terms(const SIDE &S, const double *A0, const double *A1, int k, int some,
            int end, const double *slab, tct_corner<TILES> &C)
{
    constexpr int LD = TILES * TCT_SOLVE_TILE + 4;
    constexpr int STEP = 4 * TCT_TILES_OF_WARP;
    const int lane = TCT_TILES_OF_WARP == 1 ? tct_lane() : tct_tile_lane(),
              i = lane / 4,
              j = TCT_TILES_OF_WARP == 1 ? lane % 4
                                         : lane % 4 + 4 * tct_tile_of_lane();
    const int64_t apart = S.apart();
    some = min(some, end - k);
    for (int base = 0; base < some; base += STEP * QUADS) {
        double a[2][QUADS];
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            const int at = base + STEP * q + j;
            a[0][q] = a[1][q] = 0.0;
            if (at >= some) continue;
            a[0][q] = tct_read_only(A0 + (k + at) * apart);
            a[1][q] = tct_read_only(A1 + (k + at) * apart);
        }
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            if (base + STEP * q >= some) continue;
            const double *row = slab + (base + STEP * q + j) * LD + i;
#pragma unroll
            for (int n = 0; n < TILES; n++) {
                const double b = row[n * TCT_SOLVE_TILE];
                tct_multiply_tile(C.c[0][n].v, a[0][q], b);
                tct_multiply_tile(C.c[1][n].v, a[1][q], b);
            }
        }
    }
}

/* Sum the corners of warps that share a tile of rows into the first warp. */
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
                at[e * GPU_WAVE] = C.c[e / 2 / TILES][e / 2 % TILES].v[e % 2];
        TEAM::sync();
        if (warp < half)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                C.c[e / 2 / TILES][e / 2 % TILES].v[e % 2] += at[e * GPU_WAVE];
    }
}

/* Sum the two halves of a warp of 64 lanes. */
template <int TILES>
static __device__ inline void d_add_halves(tct_corner<TILES> &C)
{
#pragma unroll
    for (int e = 0; e < 4 * TILES; e++) {
        double &v = C.c[e / 2 / TILES][e / 2 % TILES].v[e % 2];
        v += tct_shuffle_across(v, TCT_TILE_LANES);
    }
}

/* Add the children's updates and store the corner. */
template <class SIDE, int TILES>
static __device__ inline void d_put_corner(const SIDE &S, int first, int to,
                                           const tct_corner<TILES> &C)
{
    constexpr int BATCH = TILES < 4 ? TILES : 4;
    const int lane = tct_lane();
#pragma unroll
    for (int e = 0; e < 2 * TILES; e += BATCH) {
        const int i = first + TCT_SOLVE_TILE * (e / TILES) + lane / 4;
        tct_numbering<BATCH> at;
        tct_pack<2> v[BATCH];
        if (i >= to) continue;
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            at.row[b] = i;
            at.n[b] = (e % TILES + b) * TCT_SOLVE_TILE + lane % 4 * 2;
            v[b] = C.c[e / TILES][e % TILES + b];
        }
        S.add_rest(at, v);
#pragma unroll
        for (int b = 0; b < BATCH; b++) S.put(i, at.n[b], v[b]);
    }
}

/* Rows [from, to) of the product. */
template <class SIDE, class TEAM, int TILES>
static __device__ void d_multiply(const SIDE &S, int from, int to, double *room)
{
    constexpr int WARPS = TEAM::THREADS / GPU_WAVE, QUADS = WARPS == 1 ? 2 : 4;
    const int warp = TEAM::thread() / GPU_WAVE,
              lane = TCT_TILES_OF_WARP == 1 ? tct_lane() : tct_tile_lane();
    int tiles = 1; /* tiles at once; surplus warps share their terms */
    while (tiles < WARPS && tiles * TCT_TILE < to - from) tiles *= 2;
    const int some = TEAM::SLAB * tiles / WARPS, mine = warp / tiles * some;
    const bool kept = SIDE::FROM_THE_FIRST && tiles == WARPS &&
                      S.last(to) <= TEAM::SLAB; /* all terms fit in one slab */
    if (kept) d_fill<SIDE, TEAM, TILES>(S, 0, S.last(to), room);
    for (int base = from; base < to; base += tiles * TCT_TILE) {
        const int first = base + warp % tiles * TCT_TILE;
        const int end = S.last(min(to, base + tiles * TCT_TILE));
        const double *A0 = S.matrix(first + lane / 4, to),
                     *A1 = S.matrix(first + lane / 4 + TCT_SOLVE_TILE, to);
        tct_corner<TILES> C = {};
        for (int k = S.first(base); k < end; k += TEAM::SLAB) {
            if (!kept) d_fill<SIDE, TEAM, TILES>(S, k, end, room);
            d_add_terms<SIDE, QUADS>(S, A0, A1, k + mine, some, end,
                                     room + mine * (TILES * TCT_SOLVE_TILE + 4),
                                     C);
        }
        d_add_corners<TEAM>(warp, tiles, room, C);
        if constexpr (TCT_TILES_OF_WARP == 2) {
            d_add_halves(C);
            if (tct_tile_of_lane() != 0) continue;
        }
        if (warp < tiles) d_put_corner(S, first, to, C);
    }
    TEAM::sync();
}

#endif
