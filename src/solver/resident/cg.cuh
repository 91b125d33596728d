/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg.cuh - solver/cg.c as one kernel, line for line.
 *
 * Three barriers an iteration: one for each sum, and one so that all of p is
 * there before any row is multiplied. Each orders a read after a write by
 * another block or carries a sum that everything after it needs; cg has no
 * fewer.
 *
 * With peers no meeting of all persistent grids follows the last message that a
 * kernel reads. The next kernel's first may take the same box: it starts when
 * ranks have agreed on the host (tct_loop_is_well), each after its own kernel.
 *
 * A preconditioner M is a diagonal d here: z = M r is no vector but d r, formed
 * where it is needed. */
#ifndef TCT_SOLVER_RESIDENT_CG_CUH
#define TCT_SOLVER_RESIDENT_CG_CUH
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/halo.cuh"
#include "solver/resident/kernels.cuh"
#include "solver/resident/rows.cuh"
#include "solver/resident/update.cuh"

/* r t x, M's d, p: in the order that pays most */
enum { CG_RES, CG_TMP, CG_SOL, CG_DIA, CG_DIR };

/* t = A p, pt = (p, t) */
template <int B, int STORE, int WALK, bool PEERS>
static __device__ inline double
product(const tct_resident_job &J, const tct_values<STORE, true> &A,
        tct_ahead &ahead, const tct_near_if<PEERS> &near)
{
    const double *const p[1] = {J.v[CG_DIR].memory};
    double pt = 0.0;
    tct_multiply<B, STORE, WALK>(
        J, A, ahead, p,
        [&](int t, int64_t row, const tct_sums<1> &sum, int thread) {
            *tct_at(J.v[CG_TMP], t, row, TCT_EITHER, thread) = sum.v[0];
            pt = fma(p[0][row], sum.v[0], pt);
        });
    tct_spent(TCT_ON_PRODUCT);
    if constexpr (PEERS)
        tct_add_edges<1>(
            *J.halo, near,
            [&](int t, int64_t row, const double(&sum)[1], int thread) {
                *tct_at(J.v[CG_TMP], t, row, TCT_EITHER, thread) += sum[0];
                pt = fma(p[0][row], sum[0], pt);
            });
    return pt;
}

/* z, to peers */
template <bool M>
static __device__ inline void send(const tct_resident_job &J,
                                   const tct_near &near, uint64_t message)
{
    tct_send<1>(near, message, [&](int, int t, int64_t row, int thread) {
        const double r = *tct_at(J.v[CG_RES], t, row, TCT_EITHER, thread);
        if (!M) return r;
        return *tct_at(J.v[CG_DIA], t, row, TCT_EITHER, thread) * r;
    });
}

/* p = z + beta p of ghosts */
static __device__ inline void ghosts(const tct_resident_job &J,
                                     const tct_near &near,
                                     const tct_persistent_grid<true> &grid,
                                     uint64_t message, double beta)
{
    tct_for_ghosts<1>(*J.halo, near, grid, message,
                      [&](int g, const double(&z)[1]) {
                          double zxp[3] = {z[0], 0.0, near.ghost[0][g]};
                          tct_pass_cg_update::at(zxp, 0.0, beta, nullptr);
                          near.ghost[0][g] = zxp[2];
                      });
}

/* r = r - alpha t; (r, r), and with M (r, z), z = M r */
template <int B, int WALK, bool M>
static __device__ inline void residual(const tct_resident_job &J, double alpha,
                                       double (&sum)[1 + M])
{
    for (int i = 0; i < 1 + M; i++) sum[i] = 0.0;
    if constexpr (M)
        tct_sweep_thread<B, WALK, 3, 3, 0b111, 0b010>(
            J, {{&J.v[CG_TMP], &J.v[CG_RES], &J.v[CG_DIA]}},
            [&](double(&e)[3]) {
                tct_pass_axpy_norm::at(e, -alpha, 0.0, &sum[0]);
                double drz[3] = {e[2], e[1]};
                tct_pass_times::at(drz, 0.0, 0.0, &sum[1]);
            });
    else
        tct_update<B, WALK, 2, tct_pass_axpy_norm>(
            J, {{&J.v[CG_TMP], &J.v[CG_RES]}}, -alpha, 0.0, sum);
}

/* x = x + alpha p, p = z + beta p; z is r without M */
template <int B, int WALK, bool M>
static __device__ inline void directions(const tct_resident_job &J,
                                         double alpha, double beta)
{
    if constexpr (M)
        tct_sweep_thread<B, WALK, 4, 3, 0b1111, 0b1010>(
            J, {{&J.v[CG_RES], &J.v[CG_SOL], &J.v[CG_DIA], &J.v[CG_DIR]}},
            [&](double(&e)[4]) {
                double zxp[3] = {e[2] * e[0], e[1], e[3]};
                tct_pass_cg_update::at(zxp, alpha, beta, nullptr);
                e[1] = zxp[1];
                e[3] = zxp[2];
            });
    else
        tct_update<B, WALK, 2, tct_pass_cg_update>(
            J, {{&J.v[CG_RES], &J.v[CG_SOL], &J.v[CG_DIR]}}, alpha, beta,
            nullptr);
}

/* p = z, unless it is there already, and all of it: then with M rz = (r, z), z
 * being in t for once */
template <int B, int WALK, bool M, bool PEERS>
static __device__ inline tct_barrier_status
begin(const tct_resident_job &J, tct_persistent_grid<PEERS> &grid, double *c)
{
    if constexpr (M) {
        double rz[1] = {0.0};
        tct_update<B, WALK, 3, tct_pass_times>(
            J, {{&J.v[CG_DIA], &J.v[CG_RES], &J.v[CG_TMP]}}, 1.0, 0.0, rz);
        if (!J.resumed)
            tct_update<B, WALK, 1, tct_pass_copy>(
                J, {{&J.v[CG_TMP], &J.v[CG_DIR]}}, 1.0, 0.0, nullptr);
        const tct_barrier_status barrier = tct_grid_sum(grid, rz);
        if (threadIdx.x == 0) c[C_RZ] = rz[0];
        return barrier;
    } else {
        if (!J.resumed)
            tct_update<B, WALK, 1, tct_pass_copy>(
                J, {{&J.v[CG_RES], &J.v[CG_DIR]}}, 1.0, 0.0, nullptr);
        return tct_grid_wait(grid);
    }
}

template <int B, int STORE, int WALK, bool M, bool PEERS>
static __global__ void __launch_bounds__(TCT_THREADS_MOST(WALK), 1)
    solve(const __grid_constant__ tct_resident_job J)
{
    __shared__ double c[TCT_SCALARS];
    const tct_values<STORE, true> A = tct_chip_fill<B, STORE, WALK>(J);
    double pt[1], rr[1 + M];
    tct_ahead ahead = tct_look_ahead<B, WALK, 1>(J, A.policy);
    __shared__ tct_near_if<PEERS> near;
    tct_persistent_grid<PEERS> grid = tct_persistent_open<PEERS>(J.grid, c);
    if constexpr (PEERS) tct_near_fill(*J.halo, near, blockDim.x);
    tct_chip_load<B, WALK>(J, J.v[CG_RES], J.v[CG_SOL]);
    if (M) tct_chip_load<B, WALK>(J, J.v[CG_DIA]);
    /* clang-format off */
    tct_barrier_status barrier = begin<B, WALK, M>(J, grid, c);          /* p = z, rz = (r, z)*/
    if constexpr (PEERS)
        if (barrier != TCT_LATE)
            barrier = tct_keep(*J.halo, near, grid, 0, 1, [&](int, int64_t row, int) {
                return J.v[CG_DIR].memory[row];
            });
    int64_t k = 0;
    while (barrier != TCT_LATE) {
        tct_poll_host(grid, k);
        pt[0] = product<B, STORE, WALK, PEERS>(J, A, ahead, near); /* t = A p           */
        tct_spent(TCT_ON_EDGES);
        barrier = tct_grid_sum(grid, pt);
        if (barrier != TCT_GO) break;
        if (threadIdx.x == 0) {
            c[C_PT] = pt[0];                             /* pt = (p, t)       */
            step_cg_alpha(c, M);                         /* alpha = rz / pt   */
        }
        __syncthreads();
        residual<B, WALK, M>(J, c[C_ALPHA], rr);          /* r = r - alpha t   */
        tct_spent(TCT_ON_VECTORS);
        barrier = tct_grid_sum(grid, rr, [&] {
            if constexpr (PEERS) send<M>(J, near, tct_message(grid, k + 2));
        });
        if (barrier == TCT_LATE) break;
        if (threadIdx.x == 0) {
            for (int i = 0; i < 1 + M; i++)
                c[C_RR + i] = rr[i];                     /* rr = (r, r), rz'  */
            step_cg_beta(c, M);                          /* beta = rz' / rz   */
        }
        __syncthreads();
        tct_check(grid, c, ++k);
        if constexpr (PEERS) tct_expect<1>(*J.halo, near, tct_message(grid, k + 1));
        directions<B, WALK, M>(J, c[C_ALPHA], c[C_BETA]); /* x = x + alpha p   */
        tct_spent(TCT_ON_VECTORS);
        if constexpr (PEERS) ghosts(J, near, grid, tct_message(grid, k + 1), c[C_BETA]); /* p = z + beta p    */
        tct_spent(TCT_ON_GHOSTS);
        if (k >= J.grid.most || tct_at_rest(c) || tct_flagged(grid)) break;
        barrier = tct_grid_wait(grid);
    }
    /* clang-format on */
    tct_chip_store<B, WALK>(J, J.v[CG_RES], J.v[CG_SOL]);
    tct_conclude(grid, c, barrier != TCT_LATE, k);
}

template <bool M, bool PEERS> struct cg_kernels {
    static constexpr bool has(int b, int store, int walk)
    {
        return TCT_TABLE_HAS(tct_cg_table, b, store, walk,
                             tct_solves(M, PEERS));
    }
    template <int B, int STORE, int WALK>
    static constexpr auto code = solve<B, STORE, WALK, M, PEERS>;
};

/* cg_diagonal.cu */
extern "C" {
tct_resident_kernel_of tct_cg_diagonal, tct_cg_peered_diagonal;
}

#endif
