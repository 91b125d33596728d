/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/single.cu - solver/single.c as one kernel, line for line.
 *
 * Two barriers an iteration: one for the sums, and one so that all of p is
 * there before any row is multiplied. */
#include "device/gpu/gang.cuh"
#include "solver/resident/kernels.cuh"
#include "solver/resident/rows.cuh"
#include "solver/resident/update.cuh"

enum { V_RES, V_AP, V_SOL, V_DIR }; /* r s x p, in the order that pays most */

/* s = A p; the sums, which are (r, r), (p, s), (r, s), (s, s), but for (p, s) in
 * a sweep of their own, which leaves the product its registers */
template <int B, int STORE, int WALK>
static __device__ inline void product(const tct_resident_job &J,
                                      const tct_values<STORE, true> &A,
                                      tct_ahead &ahead, double (&sum)[4])
{
    const double *const p[1] = {J.v[V_DIR].memory};
    double ps = 0.0, rr = 0.0, rs = 0.0, ss = 0.0;
    tct_multiply<B, STORE, WALK>(
        J, A, ahead, p,
        [&](int t, int64_t row, const tct_sums<1> &s, int thread) {
            *tct_at(J.v[V_AP], t, row, TCT_EITHER, thread) = s.v[0];
            ps = fma(p[0][row], s.v[0], ps);
        });
    tct_sweep<B, WALK, 2, 2, 0b11, 0>(J, tct_list<2>{{&J.v[V_RES], &J.v[V_AP]}},
                                      [&](double(&e)[2]) {
                                          rr = fma(e[0], e[0], rr);
                                          rs = fma(e[0], e[1], rs);
                                          ss = fma(e[1], e[1], ss);
                                      });
    sum[0] = rr;
    sum[1] = ps;
    sum[2] = rs;
    sum[3] = ss;
}

/* x = x + alpha p, r = r - alpha s, p = r + beta p; p is in memory, where all
 * see it */
template <int B, int WALK>
static __device__ inline void update(const tct_resident_job &J, double alpha,
                                     double beta)
{
    double rr = 0.0; /* the product's sweep has it, with the other sums */
    tct_update<B, WALK, 3, tct_pass_single_update>(
        J, {{&J.v[V_RES], &J.v[V_AP], &J.v[V_SOL], &J.v[V_DIR]}}, alpha, beta,
        &rr);
}

/* p = r */
template <int B, int WALK>
static __device__ inline void begin(const tct_resident_job &J)
{
    tct_update<B, WALK, 1, tct_pass_copy>(J, {{&J.v[V_RES], &J.v[V_DIR]}}, 1.0,
                                          0.0, nullptr);
}

template <int B, int STORE, int WALK>
static __global__ void __launch_bounds__(TCT_THREADS_MOST(WALK), 1)
    solve(const __grid_constant__ tct_resident_job J)
{
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    __shared__ double c[TCT_SCALARS];
    const tct_values<STORE, true> A = tct_chip_fill<B, STORE, WALK>(
        J, tct_dict<STORE>(J.A, table), tct_policy(J.keep));
    tct_ahead ahead = tct_look_ahead<B, WALK, 1>(J, A.policy);
    double sum[4];
    tct_gang gang = tct_gang_open(J.gang);
    tct_scalars_load(gang, c);
    tct_chip_load<B, WALK>(J, J.v[V_RES]);
    tct_chip_load<B, WALK>(J, J.v[V_SOL]);
    /* clang-format off */
    if (!J.resumed) begin<B, WALK>(J);                    /* p = r             */
    tct_met met = tct_grid_wait(gang);
    int64_t k = 0;
    while (met != TCT_LATE) {
        product<B, STORE, WALK>(J, A, ahead, sum);        /* s = A p           */
        met = tct_grid_sum(gang, sum);
        if (met == TCT_LATE) break;
        if (threadIdx.x == 0) {
            c[C_RR] = sum[0];                            /* rr = (r, r)       */
            c[C_MU] = sum[1];                            /* mu = (p, s)       */
            c[C_RS] = sum[2];
            c[C_SS] = sum[3];
        }
        __syncthreads();
        tct_look(gang, c, ++k);
        if (k >= J.gang.most || tct_at_rest(c) || met == TCT_END) break;
        __syncthreads();
        if (threadIdx.x == 0) step_pr(c, 0);             /* alpha, beta       */
        __syncthreads();
        tct_ask(gang, k);
        update<B, WALK>(J, c[C_ALPHA], c[C_BETA]);
        met = tct_grid_wait(gang);
    }
    /* clang-format on */
    tct_chip_store<B, WALK>(J, J.v[V_RES]);
    tct_chip_store<B, WALK>(J, J.v[V_SOL]);
    tct_conclude(gang, c, met != TCT_LATE, k);
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
    template <int B, int STORE, int WALK> static const void *code()
    {
        return (const void *)solve<B, STORE, WALK>;
    }
};
} // namespace

extern "C" const tct_resident_kernel tct_resident_single = {
    &tct_method_single, 3, 2, true, -1, 0, {0, 2, -1, 1}, tct_kernel<kernels>};
