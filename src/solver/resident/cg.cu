/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg.cu - solver/cg.c as one kernel, line for line.
 *
 * Three barriers an iteration: one for each sum, and one so that all of p is
 * there before any row is multiplied. Each orders a read after a write by
 * another block or carries a sum that everything after it needs; cg has no
 * fewer. */
#include "device/gpu/gang.cuh"
#include "solver/resident/kernels.cuh"
#include "solver/resident/rows.cuh"
#include "solver/resident/update.cuh"

enum { V_RES, V_TMP, V_SOL, V_DIR }; /* r t x p, in the order that pays most */

/* t = A p, pt = (p, t) */
template <int B, int STORE, int WALK>
static __device__ inline double product(const tct_resident_job &J,
                                        const tct_values<STORE, true> &A,
                                        tct_ahead &ahead)
{
    const double *const p[1] = {J.v[V_DIR].memory};
    double pt = 0.0;
    tct_multiply<B, STORE, WALK>(
        J, A, ahead, p,
        [&](int t, int64_t row, const tct_sums<1> &sum, int thread) {
            *tct_at(J.v[V_TMP], t, row, TCT_EITHER, thread) = sum.v[0];
            pt = fma(p[0][row], sum.v[0], pt);
        });
    return pt;
}

/* r = r - alpha t, rr = (r, r) */
template <int B, int WALK>
static __device__ inline double residual(const tct_resident_job &J,
                                         double alpha)
{
    double rr = 0.0;
    tct_update<B, WALK, 2, tct_pass_axpy_norm>(J, {{&J.v[V_TMP], &J.v[V_RES]}},
                                               -alpha, 0.0, &rr);
    return rr;
}

/* x = x + alpha p, p = r + beta p */
template <int B, int WALK>
static __device__ inline void directions(const tct_resident_job &J,
                                         double alpha, double beta)
{
    tct_update<B, WALK, 2, tct_pass_cg_update>(
        J, {{&J.v[V_RES], &J.v[V_SOL], &J.v[V_DIR]}}, alpha, beta, nullptr);
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
    double pt[1], rr[1];
    tct_gang gang = tct_gang_open(J.gang);
    tct_scalars_load(gang, c);
    tct_chip_load<B, WALK>(J, J.v[V_RES]);
    tct_chip_load<B, WALK>(J, J.v[V_SOL]);
    /* clang-format off */
    if (!J.resumed) begin<B, WALK>(J);                    /* p = r             */
    tct_met met = tct_grid_wait(gang);
    int64_t k = 0;
    while (met != TCT_LATE) {
        tct_ask(gang, k);
        pt[0] = product<B, STORE, WALK>(J, A, ahead);     /* t = A p           */
        met = tct_grid_sum(gang, pt);
        if (met != TCT_GO) break;
        if (threadIdx.x == 0) {
            c[C_PT] = pt[0];                             /* pt = (p, t)       */
            step_cg_alpha(c, 0);                         /* alpha = rr / pt   */
        }
        __syncthreads();
        rr[0] = residual<B, WALK>(J, c[C_ALPHA]);         /* r = r - alpha t   */
        met = tct_grid_sum(gang, rr);
        if (met == TCT_LATE) break;
        if (threadIdx.x == 0) {
            c[C_RR] = rr[0];                             /* rr' = (r, r)      */
            step_cg_beta(c, 0);                          /* beta = rr' / rr   */
        }
        __syncthreads();
        tct_look(gang, c, ++k);
        directions<B, WALK>(J, c[C_ALPHA], c[C_BETA]);    /* x = x + alpha p   */
        if (k >= J.gang.most || tct_at_rest(c)) break;   /* p = r + beta p    */
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
        return store != GPU_DICT16 || b == 1 || b == 3;
    }
    template <int B, int STORE, int WALK> static const void *code()
    {
        return (const void *)solve<B, STORE, WALK>;
    }
};
} // namespace

extern "C" const tct_resident_kernel tct_resident_cg = {
    &tct_method_cg, 3, 3, false, -1, 0, {0, 2, -1, 1}, tct_kernel<kernels>};
