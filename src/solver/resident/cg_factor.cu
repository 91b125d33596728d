/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg_factor.cu - methods/cg.c as one kernel, M = (L L')^-1 by
 * rows.
 *
 * Three barriers an iteration, as without M. There are two orders of rows: a
 * warp multiplies in the matrix's; in that of L, and of L', warps own r, and x
 * and p, and update them as they solve. Since (r, M r) is (w, w) with w = L^-1
 * r, both sums are known before L' begins, and z is not stored:
 *
 *     t = A p, (p, t) | r = r - alpha t, w = L^-1 r, (r, r), (w, w)
 *                     | z = L'^-1 w, x = x + alpha p, p = z + beta p
 *
 * A barrier separates a read in one order from a write in the other; within L
 * and L' rows wait for one another. Warps take slices in ascending order, which
 * excludes deadlock. */
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/factor.h"
#include "solver/resident/kernels.cuh"
#include "solver/resident/rows.cuh"
#include "trisolve/gpu/kernels/rows.cuh"

enum { V_RES, V_TMP, V_SOL, V_DIR };

/* Entries of a lane that are loaded together. */
template <bool NODES> static constexpr int at_once = NODES ? 6 : 8;

/* A thread's part of L and L'. */
struct part {
    int64_t first, step; /* slices of its warp                 */
    uint64_t solves;     /* solves so far, marks new values     */
    tct_row_lane lane;
    tct_row_wait wait;
};
static __device__ inline part part_of(const tct_rows_kernel &K)
{
    const int64_t all = (int64_t)gridDim.x * (blockDim.x / GPU_WAVE);
    const int64_t warps = min(all, (int64_t)K.warps);
    const int64_t own = (int64_t)tct_warp() * gridDim.x + blockIdx.x;
    return {own < warps ? own : K.slices,
            warps,
            tct_load_fresh(K.solves),
            tct_row_lane_of(K),
            {K.late, 0, 0, false}};
}

/* t = A p, pt = (p, t) */
template <int B, int STORE, int WALK>
static __device__ inline double product(const tct_resident_job &J,
                                        const tct_values<STORE, true> &A,
                                        tct_ahead &ahead)
{
    const double *const p[1] = {J.v[V_DIR].memory};
    double pt = 0.0;
    tct_multiply<B, STORE, WALK>(
        J, A, ahead, p, [&](int, int64_t row, const tct_sums<1> &sum, int) {
            J.v[V_TMP].memory[row] = sum.v[0];
            pt = fma(p[0][row], sum.v[0], pt);
        });
    tct_spent(TCT_ON_PRODUCT);
    return pt;
}

/* r = r - alpha t, w = L^-1 r; (r, r) and (w, w) */
template <bool NODES>
static __device__ inline void down(const tct_factor_job &F, part &mine,
                                   double alpha, double (&sum)[2])
{
    const tct_rows_kernel &K = F.rows;
    const double *t = F.job.v[V_TMP].memory;
    double *r = F.job.v[V_RES].memory;
    sum[0] = sum[1] = 0.0;
    for (int64_t s = mine.first; s < K.slices; s += mine.step) {
        tct_row_slice<at_once<NODES>> row =
            tct_row_open<at_once<NODES>, NODES>(K, K.down, mine.lane, s);
        double tr[2] = {0.0, 0.0};
        if (row.first) {
            const int32_t i = tct_read_only(K.down.at + row.p);
            tr[0] = t[i];
            tr[1] = r[i];
            pass_axpy_norm(tr, -alpha, 0.0, &sum[0]);
            r[i] = tr[1];
        }
        const double w = tct_row_close<at_once<NODES>, NODES>(
            K, K.down, mine.lane, row, tr[1], nullptr, K.t, mine.wait);
        if (row.first) sum[1] = fma(w, w, sum[1]);
    }
}

/* z = L'^-1 w, x = x + alpha p, p = z + beta p */
template <bool NODES>
static __device__ inline void up(const tct_factor_job &F, part &mine,
                                 double alpha, double beta)
{
    const tct_rows_kernel &K = F.rows;
    double *const x = F.job.v[V_SOL].memory, *const p = F.job.v[V_DIR].memory;
    double *const u = K.u[mine.solves % 2], *next = K.u[(mine.solves + 1) % 2];
    for (int64_t s = mine.first; s < K.slices; s += mine.step) {
        tct_row_slice<at_once<NODES>> row =
            tct_row_open<at_once<NODES>, NODES>(K, K.up, mine.lane, s);
        double w = 0.0, zxp[3] = {0.0, 0.0, 0.0};
        int32_t i = 0;
        if (row.first) {
            double *const own = K.t + tct_read_only(K.own + row.p);
            i = tct_read_only(K.up.at + row.p);
            w = tct_load_fresh(own);
            tct_store_through(own, tct_unset());
            tct_store_through(next + row.p, tct_unset());
            zxp[1] = x[i];
            zxp[2] = p[i];
        }
        zxp[0] = tct_row_close<at_once<NODES>, NODES>(K, K.up, mine.lane, row,
                                                      w, nullptr, u, mine.wait);
        if (!row.first) continue;
        pass_cg_update(zxp, alpha, beta, nullptr);
        x[i] = zxp[1];
        p[i] = zxp[2];
    }
    mine.solves++;
}

template <int B, int STORE, int WALK, bool NODES>
static __global__ void __launch_bounds__(TCT_THREADS_MOST(WALK), 1)
    solve(const __grid_constant__ tct_factor_job F)
{
    const tct_resident_job &J = F.job;
    __shared__ double c[TCT_SCALARS];
    const tct_values<STORE, true> A = tct_chip_fill<B, STORE, WALK>(J);
    double pt[1], rr[2];
    tct_ahead ahead = tct_look_ahead<B, WALK, 1>(J, A.policy);
    tct_persistent_grid<false> grid = tct_persistent_open<false>(J.grid, c);
    part mine = part_of(F.rows);
    tct_barrier_status barrier = TCT_GO;
    int64_t k = 0;
    /* clang-format off */
    while (barrier != TCT_LATE) {
        tct_poll_host(grid, k);
        pt[0] = product<B, STORE, WALK>(J, A, ahead);  /* t = A p             */
        barrier = tct_grid_sum(grid, pt);
        if (barrier != TCT_GO) break;
        if (threadIdx.x == 0) {
            c[C_PT] = pt[0];                           /* pt = (p, t)         */
            step_cg_alpha(c, 1);                       /* alpha = rz / pt     */
        }
        __syncthreads();
        down<NODES>(F, mine, c[C_ALPHA], rr);          /* r = r - alpha t     */
        tct_spent(TCT_ON_VECTORS);
        barrier = tct_grid_sum(grid, rr);
        if (barrier == TCT_LATE) break;
        if (threadIdx.x == 0) {
            c[C_RR] = rr[0];                           /* rr = (r, r)         */
            c[C_RZ] = rr[1];                           /* rz' = (w, w)        */
            step_cg_beta(c, 1);                        /* beta = rz' / rz     */
        }
        __syncthreads();
        tct_check(grid, c, ++k);
        up<NODES>(F, mine, c[C_ALPHA], c[C_BETA]);     /* x = x + alpha p,
                                                          p = z + beta p      */
        tct_spent(TCT_ON_VECTORS);
        if (k >= J.grid.most || tct_at_rest(c)) break;
        barrier = tct_grid_wait(grid);
    }
    /* clang-format on */
    if (blockIdx.x == 0 && threadIdx.x == 0) *F.rows.solves = mine.solves;
    tct_conclude(grid, c, barrier != TCT_LATE, k);
}

template <bool NODES> struct factor_kernels {
    static constexpr bool has(int b, int store, int walk)
    {
        return TCT_TABLE_HAS(tct_cg_factor_table, b, store, walk,
                             NODES ? TCT_FACTOR_NODES : TCT_FACTOR_ROWS);
    }
    template <int B, int STORE, int WALK>
    static constexpr auto code = solve<B, STORE, WALK, NODES>;
};

static constexpr tct_resident_kernel kernel_with(tct_resident_code code)
{
    return {TCT_HOST(&tct_method_cg), 0, 3,    false,  -1, 0,
            {0, 2, TCT_IS_X, 1},      0, code, nullptr};
}
extern "C" const tct_resident_kernel tct_resident_cg_factor[2] = {
    kernel_with(TCT_HOST(tct_kernel<factor_kernels<false>>)),
    kernel_with(TCT_HOST(tct_kernel<factor_kernels<true>>))};
