/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/slices.cu - products with sliced ELL of one vector or two. */
#include "operator/gpu/product.cuh"
#include "operator/gpu/store.h"

template <int B, int STORE, int COLS, int DOTS = 1>
static void start(const tct_gpu_slices *S, const tct_gpu_launch *L,
                  const tct_product_vectors<COLS> &V)
{
    if constexpr (B == 1) start_rows<STORE, DOTS>(S, L, V);
    else start_with<B, STORE, GPU_ANY, DOTS>(S, L, V);
}

template <int B>
static void multiply_of(const tct_gpu_slices *S, const tct_gpu_launch *L,
                        const tct_product_vectors<1> &V)
{
    switch (S->d.store) {
    case GPU_F64: start<B, GPU_F64, 1>(S, L, V); break;
    case GPU_F32: start<B, GPU_F32, 1>(S, L, V); break;
    case GPU_DICT8: start<B, GPU_DICT8, 1>(S, L, V); break;
    case GPU_DICT16: start<B, GPU_DICT16, 1>(S, L, V); break;
    case GPU_F48: start<B, GPU_F48, 1>(S, L, V); break;
    }
}

static const tct_gpu_slices *slices_of(const tct_gpu_block *B)
{
    return (const tct_gpu_slices *)(const void *)B;
}

static void multiply(const tct_gpu_block *block, const tct_gpu_launch *L,
                     const double *x, double *y)
{
    const tct_gpu_slices *S = slices_of(block);
    const tct_product_vectors<1> V = {{x}, {y}, nullptr, 1};
    switch (S->d.b) {
    case 1: multiply_of<1>(S, L, V); break;
    case 2: multiply_of<2>(S, L, V); break;
    case 3: multiply_of<3>(S, L, V); break;
    case 4: multiply_of<4>(S, L, V); break;
    case 5: multiply_of<5>(S, L, V); break;
    case 6: multiply_of<6>(S, L, V); break;
    }
}

/* Three dots with the product, for common blocks and stores: more kernels would
 * not pay. */
static bool multiply_dots(const tct_gpu_block *block, const tct_gpu_launch *L,
                          const double *p, const double *r, double *s)
{
    const tct_gpu_slices *S = slices_of(block);
    const tct_product_vectors<1> V = {{p}, {s}, r, 1};
    const int b = S->d.b, store = S->d.store;
    if (b == 1 && store == GPU_F64) start<1, GPU_F64, 1, 3>(S, L, V);
    else if (b == 1 && store == GPU_DICT8) start<1, GPU_DICT8, 1, 3>(S, L, V);
    else if (b == 3 && store == GPU_F64) start<3, GPU_F64, 1, 3>(S, L, V);
    else return false;
    return true;
}

/* The kernel of two vectors in one pass: for rows with lossless stores, for
 * blocks with fp64 values. NULL: two passes. */
typedef void pair_start(const tct_gpu_slices *, const tct_gpu_launch *,
                        const tct_product_vectors<2> &);
static pair_start *pair_of(int b, int store)
{
    switch (b * 16 + store) {
    case 16 + GPU_F64: return start<1, GPU_F64, 2>;
    case 16 + GPU_F32: return start<1, GPU_F32, 2>;
    case 16 + GPU_DICT8: return start<1, GPU_DICT8, 2>;
    case 16 + GPU_DICT16: return start<1, GPU_DICT16, 2>;
    case 32 + GPU_F64: return start<2, GPU_F64, 2>;
    case 48 + GPU_F64: return start<3, GPU_F64, 2>;
    case 48 + GPU_F32: return start<3, GPU_F32, 2>;
    case 96 + GPU_F64: return start<6, GPU_F64, 2>;
    }
    return nullptr;
}

/* As many columns per pass as the kernel takes. */
static void multiply_columns(const tct_gpu_block *block,
                             const tct_gpu_launch *L, const tct_panel *X,
                             const tct_panel *Y)
{
    const tct_gpu_slices *S = slices_of(block);
    pair_start *const pair = pair_of(S->d.b, S->d.store);
    const int many = X->columns > 2 ? tct_gpu_columns_most(S) : 0;
    const int most = many ? many : pair ? 2 : 1;
    for (int j = 0, taken; j < X->columns; j += taken) {
        const int left = X->columns - j;
        taken = left < most ? left : most;
        const tct_panel x = tct_columns(X, j, taken);
        const tct_panel y = tct_columns(Y, j, taken);
        tct_gpu_launch part = *L;
        if (taken < left) part.epilogue.count = 0;
        if (taken == 1) multiply(block, &part, x.at, y.at);
        else if (taken == 2 && pair)
            pair(
                S, &part,
                {{x.at, x.at + x.stride}, {y.at, y.at + y.stride}, nullptr, 2});
        else tct_gpu_columns(S, &part, &x, &y);
    }
}

static void multiply_pass(const tct_gpu_block *block, const tct_gpu_launch *L,
                          const tct_op *op)
{
    tct_gpu_multiply_pass(slices_of(block), L, op);
}

extern "C" const tct_gpu_block_ops tct_gpu_slices_ops = {
    TCT_HOST(multiply), TCT_HOST(multiply_dots), TCT_HOST(multiply_columns),
    TCT_HOST(multiply_pass), nullptr};

template <int STORE, int WALK> static void load()
{
    gpu_function_attributes a;
    const auto kernel = product<1, STORE, WALK, 1, 1>;
    (void)gpu_function_get(&a, (const void *)kernel);
}

extern "C" void tct_gpu_slices_load(void)
{
    load<GPU_DICT8, GPU_JOINED>();
    load<GPU_DICT8, GPU_ANY>();
    load<GPU_F64, GPU_RUNS>();
    load<GPU_F64, GPU_ANY>();
}
