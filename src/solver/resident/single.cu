/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/single.cu - solver/single.c as one kernel, line for line.
 *
 * Two barriers an iteration: one for the sums, and one so that all of r is
 * there before any row is multiplied. */
#include "solver/resident/resident.cuh"

enum { V_AP, V_DIR, V_SOL, V_AR, V_RES }; /* s p x w r */

/* w = A r, delta = (w, r) */
template <int B, int STORE, int M>
static __device__ inline double product(const tct_resident_job &J,
                                        const tct_chip_matrix<STORE> &A,
                                        const tct_ahead &first)
{
    const double *const r[1] = {J.v[V_RES].memory};
    double delta = 0.0;
    tct_multiply<B, STORE, M>(J, A, first, r,
                              [&](int t, int64_t row, const tct_sums<1> &sum) {
                                  tct_at(J.v[V_AR], t, row) = sum.v[0];
                                  delta = fma(r[0][row], sum.v[0], delta);
                              });
    return delta;
}

/* p = r + beta p, s = w + beta s, x = x + alpha p, r = r - alpha s,
 * rr = (r, r); r is in memory, where all see it */
template <int B, int M>
static __device__ inline double update(const tct_resident_job &J, double alpha,
                                       double beta)
{
    double rr = 0.0, *r = J.v[V_RES].memory;
    for (int t = 0; t < J.slots; t++) {
        const int64_t a = tct_row<B, M>(J, t);
        if (a < 0) continue;
        const double r0 = r[a], x0 = tct_at(J.v[V_SOL], t, a);
        const double w = tct_at(J.v[V_AR], t, a);
        const double p = fma(beta, tct_at(J.v[V_DIR], t, a), r0);
        const double s = fma(beta, tct_at(J.v[V_AP], t, a), w);
        const double r1 = fma(-alpha, s, r0);
        tct_at(J.v[V_DIR], t, a) = p;
        tct_at(J.v[V_AP], t, a) = s;
        tct_at(J.v[V_SOL], t, a) = fma(alpha, p, x0);
        r[a] = r1;
        rr = fma(r1, r1, rr);
    }
    return rr;
}

/* rr = (r, r); p = s = 0 at a start */
template <int B, int M>
static __device__ inline double begin(const tct_resident_job &J)
{
    double rr = 0.0;
    for (int t = 0; t < J.slots; t++) {
        const int64_t a = tct_row<B, M>(J, t);
        if (a < 0) continue;
        const double r = J.v[V_RES].memory[a];
        rr = fma(r, r, rr);
        if (J.resumed) continue;
        tct_at(J.v[V_DIR], t, a) = 0.0;
        tct_at(J.v[V_AP], t, a) = 0.0;
    }
    return rr;
}

template <int B, int STORE, int M>
static __global__ void
__launch_bounds__(M > 1 ? TCT_THREADS_FOUR : TCT_THREADS_MOST, 1)
    solve(const __grid_constant__ tct_resident_job J)
{
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    __shared__ double c[TCT_SCALARS];
    const tct_chip_matrix<STORE> A = tct_chip_fill<B, STORE, M>(
        J, tct_dict<STORE>(J.A, table), tct_policy(J.keep));
    const tct_ahead first = tct_look_ahead<B, M>(J, 0);
    double sum[3] = {0.0}; /* the third: an end is wanted */
    uint32_t epoch = 0;
    bool fine = true;
    tct_scalars_load(J, c);
    tct_chip_load<B, M>(J, J.v[V_DIR]);
    tct_chip_load<B, M>(J, J.v[V_AP]);
    tct_chip_load<B, M>(J, J.v[V_SOL]);
    sum[0] = begin<B, M>(J);
    /* clang-format off */
    int64_t k = 0;
    for (;;) {
        sum[1] = product<B, STORE, M>(J, A, first);    /* w = A r           */
        if (!(fine = tct_grid_sum(J, epoch, sum))) break;
        if (threadIdx.x == 0) {
            c[C_RR] = sum[0];                          /* rr = (r, r)       */
            c[C_DELTA] = sum[1];                       /* delta = (w, r)    */
        }
        __syncthreads();
        tct_look(J, c, ++k);
        if (k >= J.most || tct_at_rest(c) || sum[2] != 0.0) break;
        __syncthreads();
        if (threadIdx.x == 0) step_single(c);          /* beta, alpha       */
        __syncthreads();
        sum[2] = tct_wants_end(J, k);
        sum[0] = update<B, M>(J, c[C_ALPHA], c[C_BETA]);
        if (!(fine = tct_grid_wait(J, epoch))) break;
    }
    /* clang-format on */
    tct_chip_store<B, M>(J, J.v[V_DIR]);
    tct_chip_store<B, M>(J, J.v[V_AP]);
    tct_chip_store<B, M>(J, J.v[V_SOL]);
    tct_conclude(J, c, fine, k);
}

template <int B, int M> static const void *of_store(int store)
{
    switch (store) {
    case GPU_F64: return (const void *)solve<B, GPU_F64, M>;
    case GPU_F32: return (const void *)solve<B, GPU_F32, M>;
    case GPU_DICT8: return (const void *)solve<B, GPU_DICT8, M>;
    default: return nullptr;
    }
}

static const void *kernel(int b, int store, int m)
{
    if (m > 1) return b == 1 ? of_store<1, GPU_JOIN>(store) : nullptr;
    switch (b) {
    case 1: return of_store<1, 1>(store);
    case 2: return of_store<2, 1>(store);
    case 3: return of_store<3, 1>(store);
    case 4: return of_store<4, 1>(store);
    case 6: return of_store<6, 1>(store);
    default: return nullptr;
    }
}

extern "C" const tct_resident_kernel tct_resident_single = {
    "single", 4, 2, true, {3, 1, -1, 2, 0}, kernel};
