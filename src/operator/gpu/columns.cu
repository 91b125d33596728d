/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/columns.cu - products with sliced ELL of up to eight vectors in
 * one pass over the matrix.
 *
 * Lanes whose columns are runs load each vector as a stretch. Others gather:
 * then the vectors are packed side by side first, since a row of that is one
 * place in memory and not eight. */
#include "operator/gpu/product.cuh"

/* --- packing --------------------------------------------------------------------- */

template <int COLS> struct sources {
    const double *x[COLS];
};

/* out[COLS i + j] = x[j][i]: THREADS rows a block, turned in shared memory
 * whose banks all have the same work both ways. */
template <int COLS>
static __global__ void __launch_bounds__(THREADS)
    pack(sources<COLS> from, int64_t n, double2 *out)
{
    constexpr int TWOS = COLS / 2;
    __shared__ double tile[COLS][THREADS + 16 / COLS];
    const int64_t first = (int64_t)blockIdx.x * THREADS;
    const int t = (int)threadIdx.x;
    const int rows = n - first < THREADS ? (int)(n - first) : THREADS;
    if (t < rows)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            tile[j][t] = tct_read_once(from.x[j] + first + t);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TWOS; k++) {
        const int at = k * THREADS + t, row = at / TWOS, j = at % TWOS * 2;
        if (row < rows)
            out[first * TWOS + at] =
                make_double2(tile[j][row], tile[j + 1][row]);
    }
}

/* --- launch ---------------------------------------------------------------------- */

/* X and Y as kernels get them; what goes beyond the columns that there are is
 * the last one again, and nobody takes it. */
template <int COLS>
static vectors<COLS> by_column(const tct_panel *X, const tct_panel *Y)
{
    vectors<COLS> V = {};
    for (int j = 0; j < COLS; j++) {
        const int there = j < X->columns ? j : X->columns - 1;
        V.x[j] = tct_column(X, there);
        V.y[j] = tct_column(Y, there);
    }
    V.columns = X->columns;
    return V;
}

template <int COLS>
static vectors<COLS, tct_packed<COLS>>
packed(const tct_gpu_slices *S, const tct_gpu_launch *L, const vectors<COLS> &V)
{
    vectors<COLS, tct_packed<COLS>> P = {};
    sources<COLS> from;
    for (int j = 0; j < COLS; j++) {
        from.x[j] = V.x[j];
        P.y[j] = V.y[j];
    }
    P.x.at = S->packed->at;
    P.columns = V.columns;
    const int64_t n = S->base.base.cols;
    pack<COLS>
        <<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, L->stream>>>(
            from, n, (double2 *)S->packed->at);
    return P;
}

template <int B, int STORE, int COLS>
static void start(const tct_gpu_slices *S, const tct_gpu_launch *L,
                  const tct_panel *X, const tct_panel *Y)
{
    const vectors<COLS> V = by_column<COLS>(X, Y);
    if constexpr (B == 1) {
        if (S->d.walk == GPU_JOINED)
            return start_with<B, STORE, GPU_JOINED, 1>(S, L, V);
        if (S->d.walk == GPU_RUNS)
            return start_with<B, STORE, GPU_RUNS, 1>(S, L, V);
    }
    start_with<B, STORE, GPU_ANY, 1>(S, L, packed(S, L, V));
}

typedef void columns_start(const tct_gpu_slices *, const tct_gpu_launch *,
                           const tct_panel *, const tct_panel *);

/* For the usual blocks and stores: those of two vectors, without dict16. */
template <int COLS> static columns_start *start_of(int b, int store)
{
    switch (b * 16 + store) {
    case 16 + GPU_F64: return start<1, GPU_F64, COLS>;
    case 16 + GPU_F32: return start<1, GPU_F32, COLS>;
    case 16 + GPU_DICT8: return start<1, GPU_DICT8, COLS>;
    case 32 + GPU_F64: return start<2, GPU_F64, COLS>;
    case 48 + GPU_F64: return start<3, GPU_F64, COLS>;
    case 48 + GPU_F32: return start<3, GPU_F32, COLS>;
    case 96 + GPU_F64: return start<6, GPU_F64, COLS>;
    }
    return nullptr;
}

extern "C" int tct_gpu_columns_most(const tct_gpu_slices *S)
{
    if (!start_of<GPU_PASS>(S->d.b, S->d.store)) return 0;
    return S->d.walk != GPU_ANY || tct_gpu_slices_room(S) ? GPU_PASS : 0;
}

extern "C" void tct_gpu_columns(const tct_gpu_slices *S,
                                const tct_gpu_launch *L, const tct_panel *X,
                                const tct_panel *Y)
{
    constexpr int FEW = GPU_PASS / 2;
    columns_start *const start = X->columns > FEW
                                     ? start_of<GPU_PASS>(S->d.b, S->d.store)
                                     : start_of<FEW>(S->d.b, S->d.store);
    start(S, L, X, Y);
}
