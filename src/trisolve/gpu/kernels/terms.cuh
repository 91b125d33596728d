/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/terms.cuh - loads and stores of a node's rows. A thread
 * handles several rows at once, since the latency of dependent loads
 * dominates. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_TERMS_CUH
#define TCT_TRISOLVE_GPU_KERNELS_TERMS_CUH
#include "device/gpu/lane.cuh"
#include "trisolve/gpu/kernels/solve.h"

/* Adjacent columns of a row that are loaded at once: one or two. */
template <int W> struct alignas(8 * W) tct_pack {
    double v[W];
};
/* The widest pack that divides STRIDE columns. */
template <int STRIDE> static constexpr int tct_pack_width = STRIDE == 1 ? 1 : 2;

template <int W> static __device__ inline tct_pack<W> d_load(const double *p)
{
    return *(const tct_pack<W> *)p;
}
template <int W>
static __device__ inline void d_store(double *p, const tct_pack<W> &s)
{
    *(tct_pack<W> *)p = s;
}
template <int W>
static __device__ inline void d_add(tct_pack<W> &to, const tct_pack<W> &s)
{
#pragma unroll
    for (int c = 0; c < W; c++) to.v[c] += s.v[c];
}

/* BATCH rows of a node, -1: none, and the first column of each pack. */
template <int BATCH> struct tct_numbering {
    int row[BATCH], n[BATCH];
};

/* --- updates of children -------------------------------------------------- */

/* The updates that the rows sum; -1 where there is no row. */
template <int BATCH>
static __device__ inline void d_takes(const tct_tri_job &J, const tct_node &N,
                                      const tct_numbering<BATCH> &at,
                                      tct_take (&t)[BATCH])
{
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        t[b] = {-1, -1};
        if (!N.leaf && at.row[b] >= 0) t[b] = J.a.take[N.slot + at.row[b]];
    }
}

/* Add the updates of the list that `second` refers to. */
template <int STRIDE, int W>
static __device__ inline void d_add_list(const tct_tri_job &J, int32_t second,
                                         int n, tct_pack<W> &v)
{
    const int32_t *rest = &J.a.rest[-2 - second];
    const int count = rest[0];
#pragma unroll 4
    for (int k = 1; k <= count; k++)
        d_add(v, d_load<W>(J.a.u + (int64_t)rest[k] * STRIDE + n));
}

/* v += the rows' updates, in the order of children. */
template <int STRIDE, int W, int BATCH>
static __device__ inline void
d_add_taken(const tct_tri_job &J, const tct_numbering<BATCH> &at,
            const tct_take (&t)[BATCH], tct_pack<W> (&v)[BATCH])
{
    tct_pack<W> first[BATCH], second[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        first[b] = second[b] = {};
        if (t[b].first >= 0)
            first[b] =
                d_load<W>(J.a.u + (int64_t)t[b].first * STRIDE + at.n[b]);
        if (t[b].second >= 0)
            second[b] =
                d_load<W>(J.a.u + (int64_t)t[b].second * STRIDE + at.n[b]);
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        d_add(first[b], second[b]);
        if (t[b].second < -1)
            d_add_list<STRIDE>(J, t[b].second, at.n[b], first[b]);
        d_add(v[b], first[b]);
    }
}

/* --- operands of a node --------------------------------------------------- */

/* The right-hand side b, scaled. */
template <int W, int BATCH>
static __device__ inline void d_given(const tct_tri_job &J, const tct_node &N,
                                      const tct_numbering<BATCH> &at,
                                      tct_pack<W> (&v)[BATCH])
{
    int32_t place[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++)
        place[b] =
            at.row[b] < 0 ? -1 : tct_read_only(&J.a.place[N.first + at.row[b]]);
#pragma unroll
    for (int b = 0; b < BATCH; b++)
#pragma unroll
        for (int c = 0; c < W; c++) {
            const int n = at.n[b] + c;
            v[b].v[c] = 0.0;
            if (place[b] >= 0 && n < J.columns)
                v[b].v[c] = J.B[place[b] + n * J.ldb];
        }
    if (!J.a.row_scale) return;
#pragma unroll
    for (int b = 0; b < BATCH; b++)
#pragma unroll
        for (int c = 0; c < W; c++)
            if (place[b] >= 0)
                v[b].v[c] *= tct_read_only(&J.a.row_scale[place[b]]);
}

/* Operand rows of the pass down: assembled before, or now. */
template <int STRIDE, int W, int BATCH>
static __device__ inline void
d_wanted(const tct_tri_job &J, const tct_node &N, bool together,
         const tct_numbering<BATCH> &at, tct_pack<W> (&v)[BATCH])
{
    if (together) {
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            v[b] = {};
            if (at.row[b] >= 0)
                v[b] = d_load<W>(
                    J.a.x + (int64_t)(N.first + at.row[b]) * STRIDE + at.n[b]);
        }
        return;
    }
    tct_take t[BATCH];
    d_takes(J, N, at, t);
    d_given(J, N, at, v);
    d_add_taken<STRIDE>(J, at, t, v);
}

/* ... and of the pass up. */
template <int STRIDE, int W, int BATCH>
static __device__ inline void d_known(const tct_tri_job &J, const tct_node &N,
                                      const tct_numbering<BATCH> &at,
                                      tct_pack<W> (&v)[BATCH])
{
    const double *from[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        const int i = at.row[b];
        const bool below = i >= N.w;
        int row = N.first + i;
        if (below) row = tct_read_only(&J.a.row[N.below + i - N.w]);
        from[b] = (below ? J.a.x : J.a.y) + (int64_t)row * STRIDE + at.n[b];
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        v[b] = {};
        if (at.row[b] >= 0) v[b] = d_load<W>(from[b]);
    }
}

/* --- results -------------------------------------------------------------- */

/* Scale y of row j by 1 / D. */
template <int W>
static __device__ inline void d_scale(const tct_tri_job &J, int j,
                                      tct_pack<W> &v)
{
    if (!J.a.scale) return;
#pragma unroll
    for (int c = 0; c < W; c++) v.v[c] *= tct_read_only(&J.a.scale[j]);
}

/* `v` is row i of the product of the pass down, updates included. */
template <int STRIDE, int W>
static __device__ inline void
d_put_down(const tct_tri_job &J, const tct_node &N, int i, int n, tct_pack<W> v)
{
    if (i >= N.w) {
        d_store(J.a.u + (N.below + i - N.w) * STRIDE + n, v);
        return;
    }
    const int j = N.first + i;
    d_scale(J, j, v);
    d_store(J.a.y + (int64_t)j * STRIDE + n, v);
}

/* Store x of row j in X. */
template <int W>
static __device__ inline void d_put_result(const tct_tri_job &J, int j, int n,
                                           tct_pack<W> v)
{
    const int32_t at = tct_read_only(&J.a.place[j]);
    if (at < 0) return;
#pragma unroll
    for (int c = 0; c < W; c++) {
        if (n + c >= J.columns) break;
        if (J.a.col_scale) v.v[c] *= tct_read_only(&J.a.col_scale[at]);
        J.X[at + (n + c) * J.ldx] = v.v[c];
    }
}
template <int STRIDE, int W>
static __device__ inline void d_put_up(const tct_tri_job &J, const tct_node &N,
                                       int i, int n, tct_pack<W> v)
{
    const int j = N.first + i;
    d_store(J.a.x + (int64_t)j * STRIDE + n, v);
    d_put_result(J, j, n, v);
}

/* --- some rows of a team -------------------------------------------------- */

/* Call put(row, column, pack) for rows [from, from + count), zero from `end`
 * on; read(rows, packs) loads them. */
template <int STRIDE, class TEAM, int BATCH, class READ, class PUT>
static __device__ inline void d_each(int from, int count, int end,
                                     const READ &read, const PUT &put)
{
    constexpr int W = tct_pack_width<STRIDE>, EACH = STRIDE / W;
    for (int e = TEAM::thread(); e < count * EACH; e += BATCH * TEAM::THREADS) {
        tct_numbering<BATCH> at;
        tct_pack<W> v[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int i = from + (e + b * TEAM::THREADS) / EACH;
            at.row[b] = i < end && i < from + count ? i : -1;
            at.n[b] = (e + b * TEAM::THREADS) % EACH * W;
        }
        read(at, v);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int i = (e + b * TEAM::THREADS) / EACH;
            if (i < count) put(i, at.n[b], v[b]);
        }
    }
}

/* ... storing to `to`, `ld` doubles per row. */
template <int STRIDE, class TEAM, int BATCH, class READ>
static __device__ inline void d_bring(int from, int count, int end, double *to,
                                      int ld, const READ &read)
{
    d_each<STRIDE, TEAM, BATCH>(
        from, count, end, read,
        [&](int i, int n, const tct_pack<tct_pack_width<STRIDE>> &v) {
            d_store(to + (int64_t)i * ld + n, v);
        });
}

#endif
