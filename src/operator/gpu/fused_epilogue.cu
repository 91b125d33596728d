/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/fused_epilogue.cu - products with sliced ELL fused with a
 * following pass: a lane applies the pass to the elements of its row, with the
 * row's sum in place of a vector. For the smoothers' passes, and rows. */
#include "device/gpu/pass.cuh"
#include "operator/gpu/product.cuh"

/* The vector that is the product. */
enum { T = 1 };

template <class PASS> struct passed {
    const double *x[1];
    double *v[PASS::vectors];
    const double *alpha, *beta;

    __device__ void take(int64_t row, double sum, double a, double b,
                         double *s) const
    {
        double e[PASS::vectors];
#pragma unroll
        for (int k = 0; k < PASS::vectors; k++)
            if (k != T && (PASS::reads >> k & 1)) e[k] = v[k][row];
        e[T] = sum;
        PASS::at(e, a, b, s);
#pragma unroll
        for (int k = 0; k < PASS::vectors; k++)
            if (PASS::writes >> k & 1) v[k][row] = e[k];
    }
};

template <class PASS, int STORE, int WALK>
static __global__ void __launch_bounds__((most<1, WALK, 1>::threads),
                                         TCT_PRODUCT_PER_SM)
    product_and_pass(tct_gpu_arrays A, passed<PASS> V, int parts, float keep,
                     const __grid_constant__ tct_ending e)
{
    static_assert(PASS::sums == 1 && !(PASS::writes >> T & 1), "such passes");
    const double a = *V.alpha, b = *V.beta;
    double s[1] = {0.0};
    all_parts<1, STORE, WALK, 1>(A, V.x, parts, keep,
                                 [&](int, int64_t row, const tct_sums<1> &sum) {
                                     V.take(row, sum.v[0], a, b, s);
                                 });
    tct_kernel_end_if<1>(e.out != nullptr, s, e);
}

template <class PASS, int STORE, int WALK>
static void start_as(const tct_gpu_slices *S, const tct_gpu_launch *L,
                     const tct_op *op)
{
    passed<PASS> V = {{op->x.at}, {}, op->alpha, op->beta};
    for (int k = 0; k < PASS::vectors; k++) V.v[k] = op->v[k];
    const float keep = tct_l2_share(S->base.base.matrix_bytes, L->l2_bytes);
    const product_grid g = grid_of<1, WALK, 1>(S->d, L);
    product_and_pass<PASS, STORE, WALK><<<g.blocks, g.threads, 0, L->stream>>>(
        S->d, V, g.parts, keep, tct_ending_of(L));
}

template <class PASS, int STORE>
static void start_in(const tct_gpu_slices *S, const tct_gpu_launch *L,
                     const tct_op *op)
{
    if constexpr (tct_has_walk(STORE, GPU_GRID))
        if (S->d.walk == GPU_GRID)
            return start_as<PASS, STORE, GPU_GRID>(S, L, op);
    if constexpr (tct_has_walk(STORE, GPU_JOINED))
        if (S->d.walk == GPU_JOINED)
            return start_as<PASS, STORE, GPU_JOINED>(S, L, op);
    if (S->d.walk == GPU_ANY) start_as<PASS, STORE, GPU_ANY>(S, L, op);
    else start_as<PASS, STORE, GPU_RUNS>(S, L, op);
}

template <class PASS>
static void start(const tct_gpu_slices *S, const tct_gpu_launch *L,
                  const tct_op *op)
{
    switch (S->d.store) {
    case GPU_F32: start_in<PASS, GPU_F32>(S, L, op); break;
    case GPU_DICT8: start_in<PASS, GPU_DICT8>(S, L, op); break;
    default: start_in<PASS, GPU_F64>(S, L, op);
    }
}

extern "C" bool tct_gpu_takes_pass(const tct_gpu_slices *S)
{
    const tct_gpu_arrays &A = S->d;
    return A.b == 1 && A.long_rows == 0 &&
           (A.store == GPU_F64 || A.store == GPU_F32 || A.store == GPU_DICT8);
}

extern "C" void tct_gpu_multiply_pass(const tct_gpu_slices *S,
                                      const tct_gpu_launch *L, const tct_op *op)
{
    if (op->pass == PASS_smooth) start<tct_pass_smooth>(S, L, op);
    else start<tct_pass_relax>(S, L, op);
}
