/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/single.cu - solver/single.c as one kernel, line for line.
 *
 * Two barriers an iteration: one for the sums, and one so that all of r is
 * there before any row is multiplied. */
#include "solver/resident/resident.cuh"

enum { V_AP, V_DIR, V_SOL, V_AR, V_RES }; /* s p x w r */

/* w = A r, delta = (w, r) */
template <int B, int STORE, int WAY>
static __device__ inline double product(const tct_resident_job &J,
                                        const tct_values<STORE, true> &A,
                                        tct_ahead &ahead)
{
    const double *const r[1] = {J.v[V_RES].memory};
    double delta = 0.0;
    tct_multiply<B, STORE, WAY>(
        J, A, ahead, r, [&](int t, int64_t row, const tct_sums<1> &sum) {
            *tct_at(J.v[V_AR], t, row) = sum.v[0];
            delta = fma(r[0][row], sum.v[0], delta);
        });
    return delta;
}

/* p = r + beta p, s = w + beta s, x = x + alpha p, r = r - alpha s,
 * rr = (r, r); r is in memory, where all see it */
template <int B, int WAY>
static __device__ inline double update(const tct_resident_job &J, double alpha,
                                       double beta)
{
    double rr = 0.0;
    tct_sweep<B, WAY, 5, 4, 0b11111, 0b10111>(
        J,
        tct_list<5>{
            {&J.v[V_AP], &J.v[V_DIR], &J.v[V_SOL], &J.v[V_AR], &J.v[V_RES]}},
        [&](double(&e)[5]) {
            e[1] = fma(beta, e[1], e[4]);
            e[0] = fma(beta, e[0], e[3]);
            e[2] = fma(alpha, e[1], e[2]);
            e[4] = fma(-alpha, e[0], e[4]);
            rr = fma(e[4], e[4], rr);
        });
    return rr;
}

/* rr = (r, r); p = s = 0 at a start */
template <int B, int WAY>
static __device__ inline double begin(const tct_resident_job &J)
{
    double rr = 0.0;
    tct_sweep<B, WAY, 1, 0, 1, 0>(
        J, tct_list<1>{{&J.v[V_RES]}},
        [&](double(&e)[1]) { rr = fma(e[0], e[0], rr); });
    if (!J.resumed)
        tct_sweep<B, WAY, 2, 2, 0b00, 0b11>(
            J, tct_list<2>{{&J.v[V_DIR], &J.v[V_AP]}},
            [](double(&e)[2]) { e[0] = e[1] = 0.0; });
    return rr;
}

template <int B, int STORE, int WAY>
static __global__ void __launch_bounds__(TCT_THREADS_MOST(WAY), 1)
    solve(const __grid_constant__ tct_resident_job J)
{
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    __shared__ double c[TCT_SCALARS];
    const tct_values<STORE, true> A = tct_chip_fill<B, STORE, WAY>(
        J, tct_dict<STORE>(J.A, table), tct_policy(J.keep));
    tct_ahead ahead = tct_look_ahead<B, WAY, 1>(J, A.policy);
    double sum[3] = {0.0}; /* the third: an end is wanted */
    uint32_t epoch = 0;
    bool fine = true;
    tct_scalars_load(J, c);
    tct_chip_load<B, WAY>(J, J.v[V_DIR]);
    tct_chip_load<B, WAY>(J, J.v[V_AP]);
    tct_chip_load<B, WAY>(J, J.v[V_SOL]);
    sum[0] = begin<B, WAY>(J);
    /* clang-format off */
    int64_t k = 0;
    for (;;) {
        sum[1] = product<B, STORE, WAY>(J, A, ahead);    /* w = A r           */
        if (!(fine = tct_grid_sum(J, epoch, sum))) break;
        if (threadIdx.x == 0) {
            c[C_RR] = sum[0];                            /* rr = (r, r)       */
            c[C_DELTA] = sum[1];                         /* delta = (w, r)    */
        }
        __syncthreads();
        tct_look(J, c, ++k);
        if (k >= J.most || tct_at_rest(c) || sum[2] != 0.0) break;
        __syncthreads();
        if (threadIdx.x == 0) step_single(c);            /* beta, alpha       */
        __syncthreads();
        sum[2] = tct_wants_end(J, k);
        sum[0] = update<B, WAY>(J, c[C_ALPHA], c[C_BETA]);
        if (!(fine = tct_grid_wait(J, epoch))) break;
    }
    /* clang-format on */
    tct_chip_store<B, WAY>(J, J.v[V_DIR]);
    tct_chip_store<B, WAY>(J, J.v[V_AP]);
    tct_chip_store<B, WAY>(J, J.v[V_SOL]);
    tct_conclude(J, c, fine, k);
}

/* Each file has its own of this name. */
namespace
{
struct kernels {
    static constexpr bool has(int b, int store)
    {
        return b != 5 &&
               (store == GPU_F64 || store == GPU_F32 || store == GPU_DICT8);
    }
    template <int B, int STORE, int WAY> static const void *code()
    {
        return (const void *)solve<B, STORE, WAY>;
    }
};
} // namespace

extern "C" const tct_resident_kernel tct_resident_single = {
    "single", 4, 2, true, {3, 1, -1, 2, 0}, tct_kernel<kernels>};
