/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/single.cu - methods/single.c as one kernel, line for line.
 *
 * Two barriers an iteration: one for the sums, and one so that p is complete
 * before any row is multiplied.
 *
 * A preconditioner M is a diagonal d: z = M r and st = M s are formed as d r
 * and d s where needed, not stored. In loop host z has a recurrence of its own:
 * the rounding differs. */
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/halo.cuh"
#include "solver/resident/kernels.cuh"
#include "solver/resident/rows.cuh"
#include "solver/resident/update.cuh"

/* r s x, M's d, p: by priority for the chip */
enum { V_RES, V_AP, V_SOL, V_DIA, V_DIR };
/* of ghosts */
enum { KEPT_P, KEPT_R, KEPT_DIA };

/* s = A p, and the sums (r, r), with M (r, z), (p, s), (z, s), (s, st). All but
 * (p, s) are formed in a second sweep, since the product needs the
 * registers. */
template <int B, int STORE, int WALK, bool M, bool PEERS>
static __device__ inline void
product(const tct_resident_job &J, const tct_values<STORE, true> &A,
        tct_ahead &ahead, const tct_near_if<PEERS> &near, double (&sum)[4 + M])
{
    const double *const p[1] = {J.v[V_DIR].memory};
    double ps = 0.0, rr = 0.0, rz = 0.0, zs = 0.0, ss = 0.0;
    tct_multiply<B, STORE, WALK>(
        J, A, ahead, p,
        [&](int t, int64_t row, const tct_sums<1> &s, int thread) {
            *tct_at(J.v[V_AP], t, row, TCT_EITHER, thread) = s.v[0];
            ps = fma(p[0][row], s.v[0], ps);
        });
    tct_spent(TCT_ON_PRODUCT);
    if constexpr (PEERS)
        tct_add_edges<1>(
            *J.halo, near,
            [&](int t, int64_t row, const double(&s)[1], int thread) {
                *tct_at(J.v[V_AP], t, row, TCT_EITHER, thread) += s[0];
                ps = fma(p[0][row], s[0], ps);
            });
    tct_spent(TCT_ON_EDGES);
    tct_sweep_thread<B, WALK, 3, 2 + M, M ? 0b111 : 0b011, 0>(
        J, tct_list<3>{{&J.v[V_RES], &J.v[V_AP], &J.v[V_DIA]}},
        [&](double(&e)[3]) {
            const double r = e[0], s = e[1];
            const double z = M ? e[2] * r : r, st = M ? e[2] * s : s;
            rr = fma(r, r, rr);
            if (M) rz = fma(r, z, rz);
            zs = fma(z, s, zs);
            ss = fma(s, st, ss);
        });
    sum[0] = rr;
    if (M) sum[1] = rz;
    sum[1 + M] = ps;
    sum[2 + M] = zs;
    sum[3 + M] = ss;
}

/* s, to peers */
static __device__ inline void send(const tct_resident_job &J,
                                   const tct_near &near, uint64_t message)
{
    tct_send<1>(near, message, [&](int, int t, int64_t row, int thread) {
        return *tct_at(J.v[V_AP], t, row, TCT_EITHER, thread);
    });
}

/* x = x + alpha p, r = r - alpha s, p = z + beta p; z is r without M, and p
 * goes to memory */
template <int B, int WALK, bool M>
static __device__ inline void update(const tct_resident_job &J, double alpha,
                                     double beta)
{
    double sum[1 + M] = {0.0}; /* summed in the product's sweep */
    if constexpr (M)
        tct_sweep_thread<B, WALK, 5, 4, 0b11111, 0b10101>(
            J,
            {{&J.v[V_RES], &J.v[V_AP], &J.v[V_SOL], &J.v[V_DIA], &J.v[V_DIR]}},
            [&](double(&e)[5]) {
                const double r = e[0], s = e[1], d = e[3];
                double v[6] = {d * r, d * s, s, r, e[2], e[4]};
                tct_pass_single_m_update::at(v, alpha, beta, sum);
                e[0] = v[3];
                e[2] = v[4];
                e[4] = v[5];
            });
    else
        tct_update<B, WALK, 3, tct_pass_single_update>(
            J, {{&J.v[V_RES], &J.v[V_AP], &J.v[V_SOL], &J.v[V_DIR]}}, alpha,
            beta, sum);
}

/* The same for ghosts, whose s has arrived. */
template <bool M>
static __device__ inline void
ghosts(const tct_resident_job &J, const tct_near &near,
       const tct_persistent_grid<true> &grid, uint64_t message, double alpha,
       double beta)
{
    tct_for_ghosts<1>(
        *J.halo, near, grid, message, [&](int g, const double(&come)[1]) {
            double *const *kept = near.ghost;
            const double s = come[0], r = kept[KEPT_R][g], p = kept[KEPT_P][g];
            double sum[1 + M] = {0.0};
            if constexpr (M) {
                const double d = kept[KEPT_DIA][g];
                double v[6] = {d * r, d * s, s, r, 0.0, p};
                tct_pass_single_m_update::at(v, alpha, beta, sum);
                kept[KEPT_R][g] = v[3];
                kept[KEPT_P][g] = v[5];
            } else {
                double v[4] = {r, s, 0.0, p};
                tct_pass_single_update::at(v, alpha, beta, sum);
                kept[KEPT_R][g] = v[0];
                kept[KEPT_P][g] = v[3];
            }
        });
}

/* Exchange with peers the start values of edge rows. */
template <bool M>
static __device__ inline tct_barrier_status
keep(const tct_resident_job &J, const tct_near &near,
     tct_persistent_grid<true> &grid)
{
    tct_barrier_status barrier =
        tct_keep(*J.halo, near, grid, KEPT_P, 1,
                 [&](int, int64_t row, int) { return J.v[V_DIR].memory[row]; });
    if (barrier == TCT_LATE) return barrier;
    barrier = tct_keep(
        *J.halo, near, grid, KEPT_R, 2, [&](int t, int64_t row, int thread) {
            return *tct_at(J.v[V_RES], t, row, TCT_EITHER, thread);
        });
    if (!M || barrier == TCT_LATE) return barrier;
    return tct_keep(*J.halo, near, grid, KEPT_DIA, 3,
                    [&](int t, int64_t row, int thread) {
                        return *tct_at(J.v[V_DIA], t, row, TCT_EITHER, thread);
                    });
}

/* The number of iteration `k`'s message, after those of the start. */
template <bool M, bool PEERS>
static __device__ inline uint64_t
message(const tct_persistent_grid<PEERS> &grid, int64_t k)
{
    if constexpr (PEERS) return tct_message(grid, 2 + M + k);
    return 0;
}

/* p = z */
template <int B, int WALK, bool M>
static __device__ inline void begin(const tct_resident_job &J)
{
    double rz = 0.0; /* summed in the product's sweep */
    if constexpr (M)
        tct_update<B, WALK, 2, tct_pass_times>(
            J, {{&J.v[V_DIA], &J.v[V_RES], &J.v[V_DIR]}}, 1.0, 0.0, &rz);
    else
        tct_update<B, WALK, 1, tct_pass_copy>(J, {{&J.v[V_RES], &J.v[V_DIR]}},
                                              1.0, 0.0, nullptr);
}

template <int B, int STORE, int WALK, bool M, bool PEERS>
static __global__ void __launch_bounds__(TCT_THREADS_MOST(WALK), 1)
    solve(const __grid_constant__ tct_resident_job J)
{
    __shared__ double c[TCT_SCALARS];
    const tct_values<STORE, true> A = tct_chip_fill<B, STORE, WALK>(J);
    double sum[4 + M];
    tct_ahead ahead = tct_look_ahead<B, WALK, 1>(J, A.policy);
    __shared__ tct_near_if<PEERS> near;
    tct_persistent_grid<PEERS> grid = tct_persistent_open<PEERS>(J.grid, c);
    if constexpr (PEERS) tct_near_fill(*J.halo, near, blockDim.x);
    tct_chip_load<B, WALK>(J, J.v[V_RES], J.v[V_SOL]);
    if (M) tct_chip_load<B, WALK>(J, J.v[V_DIA]);
    /* clang-format off */
    if (!J.resumed) begin<B, WALK, M>(J);                 /* p = z             */
    tct_barrier_status barrier = tct_grid_wait(grid);
    if constexpr (PEERS)
        if (barrier != TCT_LATE) barrier = keep<M>(J, near, grid);
    int64_t k = 0;
    while (barrier != TCT_LATE) {
        product<B, STORE, WALK, M, PEERS>(J, A, ahead, near, sum); /* s = A p        */
        tct_spent(TCT_ON_VECTORS);
        barrier = tct_scalars_sum(grid, sum, &c[C_RR], [&] {  /* rr, rz, mu, ...   */
            if constexpr (PEERS) send(J, near, message<M>(grid, k + 1));
        });
        if (barrier == TCT_LATE) break;
        tct_check(grid, c, ++k);
        if constexpr (PEERS) tct_expect<1>(*J.halo, near, message<M>(grid, k));
        if (k >= J.grid.most || tct_at_rest(c) || barrier == TCT_END || tct_flagged(grid)) break;
        __syncthreads();
        if (threadIdx.x == 0) step_pr(c, M);             /* alpha, beta       */
        __syncthreads();
        tct_poll_host(grid, k);
        update<B, WALK, M>(J, c[C_ALPHA], c[C_BETA]);
        tct_spent(TCT_ON_VECTORS);
        if constexpr (PEERS) ghosts<M>(J, near, grid, message<M>(grid, k), c[C_ALPHA], c[C_BETA]);
        tct_spent(TCT_ON_GHOSTS);
        barrier = tct_grid_wait(grid);
    }
    /* clang-format on */
    tct_chip_store<B, WALK>(J, J.v[V_RES], J.v[V_SOL]);
    tct_conclude(grid, c, barrier != TCT_LATE, k);
}

template <bool M, bool PEERS> struct single_kernels {
    static constexpr bool has(int b, int store, int walk)
    {
        return TCT_TABLE_HAS(tct_single_table, b, store, walk,
                             tct_solves(M, PEERS));
    }
    template <int B, int STORE, int WALK>
    static constexpr auto code = solve<B, STORE, WALK, M, PEERS>;
};

static constexpr tct_resident_kernel plain = {
    TCT_HOST(&tct_method_single),
    3,
    2,
    true,
    -1,
    0,
    {0, 2, TCT_IS_X, TCT_IS_DIAGONAL, 1},
    1,
    TCT_HOST(tct_kernel<single_kernels<false, false>>),
    TCT_HOST(tct_kernel<single_kernels<false, true>>)};
extern "C" const tct_resident_kernel tct_resident_single[2] = {
    plain,
    tct_with_m(plain, 4, 0, TCT_HOST(tct_kernel<single_kernels<true, false>>),
               TCT_HOST(tct_kernel<single_kernels<true, true>>))};
