/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/columns.cu - products with sliced ELL of more than two vectors
 * in one pass over the matrix: up to eight for dense blocks, up to four for
 * rows, since eight would leave too few warps. Vectors are not interleaved,
 * which took longer. */
#include "operator/gpu/product.cuh"

/* X and Y for kernels; beyond the last column it is repeated, and its results
 * are not used. */
template <int COLS>
static tct_product_vectors<COLS> by_column(const tct_panel *X,
                                           const tct_panel *Y)
{
    tct_product_vectors<COLS> V = {};
    for (int j = 0; j < COLS; j++) {
        const int there = j < X->columns ? j : X->columns - 1;
        V.x[j] = tct_column(X, there);
        V.y[j] = tct_column(Y, there);
    }
    V.columns = X->columns;
    return V;
}

template <int B, int STORE, int COLS>
static void start(const tct_gpu_slices *S, const tct_gpu_launch *L,
                  const tct_panel *X, const tct_panel *Y)
{
    const tct_product_vectors<COLS> V = by_column<COLS>(X, Y);
    if constexpr (B == 1) start_rows<STORE, 1>(S, L, V);
    else start_with<B, STORE, GPU_ANY, 1>(S, L, V);
}

typedef void columns_start(const tct_gpu_slices *, const tct_gpu_launch *,
                           const tct_panel *, const tct_panel *);

/* For common blocks and stores: those of two vectors, without dict16. */
static columns_start *few_of(int b, int store)
{
    switch (b * 16 + store) {
    case 16 + GPU_F64: return start<1, GPU_F64, 4>;
    case 16 + GPU_F32: return start<1, GPU_F32, 4>;
    case 16 + GPU_DICT8: return start<1, GPU_DICT8, 4>;
    case 32 + GPU_F64: return start<2, GPU_F64, 4>;
    case 48 + GPU_F64: return start<3, GPU_F64, 4>;
    case 48 + GPU_F32: return start<3, GPU_F32, 4>;
    case 96 + GPU_F64: return start<6, GPU_F64, 4>;
    }
    return nullptr;
}
static columns_start *many_of(int b, int store)
{
    switch (b * 16 + store) {
    case 32 + GPU_F64: return start<2, GPU_F64, GPU_PASS>;
    case 48 + GPU_F64: return start<3, GPU_F64, GPU_PASS>;
    case 48 + GPU_F32: return start<3, GPU_F32, GPU_PASS>;
    case 96 + GPU_F64: return start<6, GPU_F64, GPU_PASS>;
    }
    return nullptr;
}

extern "C" int tct_gpu_columns_most(const tct_gpu_slices *S)
{
    if (many_of(S->d.b, S->d.store)) return GPU_PASS;
    return few_of(S->d.b, S->d.store) ? 4 : 0;
}

extern "C" void tct_gpu_columns(const tct_gpu_slices *S,
                                const tct_gpu_launch *L, const tct_panel *X,
                                const tct_panel *Y)
{
    columns_start *const start = X->columns > 4 ? many_of(S->d.b, S->d.store)
                                                : few_of(S->d.b, S->d.store);
    start(S, L, X, Y);
}
