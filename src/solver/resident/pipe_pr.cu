/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/pipe_pr.cu - methods/pipe_pr.c as one kernel, line for line.
 *
 * One barrier an iteration; it carries the sums of all blocks and publishes r
 * and s. The last warp, mostly without rows, adds up the sums while the others
 * multiply. r and s are double-buffered, since other blocks may still multiply
 * by them.
 *
 * A preconditioner M is a diagonal d. The matrix then multiplies z = M r and st
 * = M s, which are double-buffered, and r and s stay on the chip. The update
 * forms z = d r and st = d s, and wt = M w and ut = M u are not stored. In loop
 * host z and st have recurrences of their own: the rounding differs. */
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/halo.cuh"
#include "solver/resident/kernels.cuh"
#include "solver/resident/rows.cuh"
#include "solver/resident/update.cuh"

/* w p x u r s, M's d, z st: by priority for the chip */
enum { V_AR, V_DIR, V_SOL, V_AAP, V_RES, V_AP, V_DIA, V_Z, V_ST };

/* u = A s, w' = A r, with M u = A st, w' = A z; w replaces that of the
 * recurrence */
template <int B, int STORE, int WALK, bool PEERS>
static __device__ inline void
products(const tct_resident_job &J, const tct_values<STORE, true> &A,
         tct_ahead &ahead, tct_near_if<PEERS> &near,
         const tct_persistent_grid<PEERS> &grid, int64_t k, const double *s,
         const double *r)
{
    const double *const x[2] = {s, r};
    if constexpr (PEERS)
        if (threadIdx.x < near.team)
            tct_expect<2>(*J.halo, near, tct_message(grid, k));
    tct_multiply<B, STORE, WALK>(
        J, A, ahead, x,
        [&](int t, int64_t row, const tct_sums<2> &sum, int thread) {
            *tct_at(J.v[V_AAP], t, row, TCT_EITHER, thread) = sum.v[0];
            *tct_at(J.v[V_AR], t, row, TCT_EITHER, thread) = sum.v[1];
        });
    tct_spent(TCT_ON_PRODUCT);
    if constexpr (PEERS) {
        if (threadIdx.x >= near.team) return;
        tct_for_ghosts<2>(*J.halo, near, grid, tct_message(grid, k),
                          [&](int g, const double(&v)[2]) {
                              for (int j = 0; j < 2; j++)
                                  near.ghost[j][g] = v[j];
                          });
        tct_spent(TCT_ON_GHOSTS);
        tct_add_edges<2>(
            *J.halo, near,
            [&](int t, int64_t row, const double(&sum)[2], int thread) {
                *tct_at(J.v[V_AAP], t, row, TCT_EITHER, thread) += sum[0];
                *tct_at(J.v[V_AR], t, row, TCT_EITHER, thread) += sum[1];
            });
        tct_spent(TCT_ON_EDGES);
    }
}

/* s and r, from memory, to peers */
static __device__ inline void send(const tct_near &near, uint64_t message,
                                   const tct_chip_vector (&rs)[2])
{
    const double *const r = rs[0].memory, *const s = rs[1].memory;
    tct_send<2>(near, message, [&](int j, int, int64_t row, int) {
        return j == 0 ? s[row] : r[row];
    });
}

/* x = x + alpha p, r = r - alpha s, p = r + beta p, s = w - alpha u + beta s;
 * rr, mu = (p, s), (r, s), (s, s). r and s are read from one buffer and stored
 * in the other. */
template <int B, int WALK>
static __device__ inline void
update(const tct_resident_job &J, double alpha, double beta,
       const tct_chip_vector (&old)[2], const tct_chip_vector (&now)[2],
       double (&sum)[4])
{
    typedef tct_pass_pipe_pr_update pass;
    constexpr unsigned moved = 0b110000; /* r s */
    constexpr unsigned writes = (pass::writes & ~moved) | (pass::writes & moved)
                                                              << 2;
    tct_sweep_thread<B, WALK, 8, 4, pass::reads, writes>(
        J,
        tct_list<8>{{&J.v[V_AR], &J.v[V_DIR], &J.v[V_SOL], &J.v[V_AAP], &old[0],
                     &old[1], &now[0], &now[1]}},
        [&](double(&e)[8]) {
            pass::at(e, alpha, beta, sum);
            e[6] = e[4];
            e[7] = e[5];
        });
}

/* The same with M: p = z + beta p; rr, rz, mu, (z, s), (st, s). z and st are
 * double-buffered. */
template <int B, int WALK>
static __device__ inline void update(const tct_resident_job &J, double alpha,
                                     double beta, const tct_chip_vector (&)[2],
                                     const tct_chip_vector (&now)[2],
                                     double (&sum)[5])
{
    tct_sweep_thread<B, WALK, 9, 7, 0b001111111, 0b110110110>(
        J,
        tct_list<9>{{&J.v[V_AR], &J.v[V_DIR], &J.v[V_SOL], &J.v[V_AAP],
                     &J.v[V_RES], &J.v[V_AP], &J.v[V_DIA], &now[0], &now[1]}},
        [&](double(&e)[9]) {
            const double w = e[0], u = e[3], r = e[4], s = e[5], d = e[6];
            double v[10] = {w, u, d * w, d * u, e[1], e[2], r, s, d * r, d * s};
            tct_pass_pipe_pr_m_update::at(v, alpha, beta, sum);
            for (int i = 0; i < 2; i++) { /* p x, r s, z st */
                e[1 + i] = v[4 + i];
                e[4 + i] = v[6 + i];
                e[7 + i] = v[8 + i];
            }
        });
}

/* the first sums; p and s = A p are given */
template <int B, int WALK>
static __device__ inline void begin(const tct_resident_job &J, double (&sum)[4])
{
    tct_sweep_thread<B, WALK, 3, 1, 0b111, 0>(
        J, tct_list<3>{{&J.v[V_DIR], &J.v[V_RES], &J.v[V_AP]}},
        [&](double(&e)[3]) {
            const double p = e[0], r = e[1], s = e[2];
            sum[0] = fma(r, r, sum[0]);
            sum[1] = fma(p, s, sum[1]);
            sum[2] = fma(r, s, sum[2]);
            sum[3] = fma(s, s, sum[3]);
        });
}

/* the same with M, and z = M r, st = M s */
template <int B, int WALK>
static __device__ inline void begin(const tct_resident_job &J, double (&sum)[5])
{
    tct_sweep_thread<B, WALK, 6, 4, 0b001111, 0b110000>(
        J,
        tct_list<6>{{&J.v[V_DIR], &J.v[V_RES], &J.v[V_AP], &J.v[V_DIA],
                     &J.v[V_Z], &J.v[V_ST]}},
        [&](double(&e)[6]) {
            const double p = e[0], r = e[1], s = e[2], d = e[3];
            const double z = d * r, st = d * s;
            sum[0] = fma(r, r, sum[0]);
            sum[1] = fma(z, r, sum[1]);
            sum[2] = fma(p, s, sum[2]);
            sum[3] = fma(z, s, sum[3]);
            sum[4] = fma(st, s, sum[4]);
            e[4] = z;
            e[5] = st;
        });
}

/* The last warp: rr, rz, mu, ... of all; alpha and beta, unless it ends */
template <bool M, bool PEERS>
static __device__ inline void
scalars(const tct_resident_job &J, const tct_persistent_grid<PEERS> &grid,
        tct_barrier_status barrier, int64_t k, double *c)
{
    tct_warp_total<4 + M>(grid, &c[C_RR]);
    if (tct_lane() != 0) return;
    tct_check(grid, c, k);
    if (k >= J.grid.most || tct_at_rest(c) || barrier == TCT_END ||
        tct_flagged(grid))
        grid.told[FLAG_ENOUGH] = 1;
    else step_pipe_pr(c, M);
}

template <int B, int STORE, int WALK, bool M, bool PEERS>
static __global__ void __launch_bounds__(TCT_THREADS_MOST(WALK), 1)
    solve(const __grid_constant__ tct_resident_job J)
{
    __shared__ double c[TCT_SCALARS];
    const tct_values<STORE, true> A = tct_chip_fill<B, STORE, WALK>(J);
    tct_ahead ahead = tct_look_ahead<B, WALK, 2>(J, A.policy);
    double sum[4 + M] = {0.0};
    __shared__ tct_near_if<PEERS> near;
    tct_persistent_grid<PEERS> grid = tct_persistent_open<PEERS>(J.grid, c);
    if constexpr (PEERS)
        tct_near_fill(*J.halo, near, min((int)blockDim.x, J.tile * GPU_WAVE));
    /* r and s, or z and st: double buffers */
    const tct_chip_vector place[2][2] = {
        {J.v[M ? V_Z : V_RES], J.v[M ? V_ST : V_AP]},
        {{J.second[0], 0, 0}, {J.second[1], 0, 0}}};
    tct_barrier_status barrier = TCT_GO;
    int now = 0;
    tct_chip_load<B, WALK>(J, J.v[V_DIR], J.v[V_SOL]);
    if (M) tct_chip_load<B, WALK>(J, J.v[V_RES], J.v[V_AP], J.v[V_DIA]);
    begin<B, WALK>(J, sum);
    /* clang-format off */
    int64_t k = 0;
    while (barrier != TCT_LATE) {
        barrier = tct_grid_leave(grid, sum, [&] {
            if constexpr (PEERS) send(near, tct_message(grid, k + 1), place[now]);
        });
        if (barrier == TCT_LATE) break;
        ++k;
        if (tct_is_last_warp()) scalars<M>(J, grid, barrier, k, c); /* alpha, beta */
        products<B, STORE, WALK, PEERS>(J, A, ahead, near, grid, k, place[now][1].memory,
                           place[now][0].memory);
        __syncthreads();
        tct_spent(TCT_ON_RANKS);
        if (grid.told[FLAG_MISSED]) barrier = TCT_LATE;
        if (grid.told[FLAG_ENOUGH] || barrier == TCT_LATE) break;
        for (int i = 0; i < 4 + M; i++) sum[i] = 0.0;
        tct_poll_host(grid, k);
        update<B, WALK>(J, c[C_ALPHA], c[C_BETA], place[now], place[1 - now], sum);
        tct_spent(TCT_ON_VECTORS);
        now = 1 - now;
    }
    /* clang-format on */
    tct_chip_store<B, WALK>(J, J.v[V_DIR], J.v[V_SOL]);
    if (M) tct_chip_store<B, WALK>(J, J.v[V_RES], J.v[V_AP]);
    /* back to the first buffer; z and st are formed anew */
    for (int t = 0; !M && now == 1 && t < J.slots; t++) {
        const int64_t a = tct_row<B, WALK>(J, t);
        for (int i = 0; a >= 0 && i < 2; i++)
            place[0][i].memory[a] = place[1][i].memory[a];
    }
    tct_conclude(grid, c, barrier != TCT_LATE, k);
}

template <bool M, bool PEERS> struct pipe_pr_kernels {
    static constexpr bool has(int b, int store, int walk)
    {
        return TCT_TABLE_HAS(tct_pipe_pr_table, b, store, walk,
                             tct_solves(M, PEERS));
    }
    template <int B, int STORE, int WALK>
    static constexpr auto code = solve<B, STORE, WALK, M, PEERS>;
};

static constexpr tct_resident_kernel plain = {
    TCT_HOST(&tct_method_pipe_pr),
    4,
    1,
    true,
    3,
    2,
    {2, 1, TCT_IS_X, 4, 0, 3, TCT_IS_DIAGONAL, TCT_IS_Z, TCT_IS_Y},
    2,
    TCT_HOST(tct_kernel<pipe_pr_kernels<false, false>>),
    TCT_HOST(tct_kernel<pipe_pr_kernels<false, true>>)};
extern "C" const tct_resident_kernel tct_resident_pipe_pr[2] = {
    plain,
    tct_with_m(plain, 7, 0, TCT_HOST(tct_kernel<pipe_pr_kernels<true, false>>),
               TCT_HOST(tct_kernel<pipe_pr_kernels<true, true>>))};
