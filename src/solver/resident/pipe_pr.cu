/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/pipe_pr.cu - solver/pipe_pr.c as one kernel, line for line.
 *
 * One barrier an iteration, which carries the sums and shows r and s to all.
 * Others may still multiply by them when a block updates its part: so r and s
 * have two places each, which take turns. */
#include "solver/resident/resident.cuh"

enum { V_AR, V_DIR, V_SOL, V_AAP, V_RES, V_AP }; /* w p x u r s */

/* u = A s, w' = A r; w, the recurrence's, is replaced */
template <int B, int STORE>
static __device__ inline void
products(const tct_resident_job &J, const tct_chip_matrix<STORE> &A,
         const tct_ahead &first, const double *s, const double *r)
{
    const double *const x[2] = {s, r};
    tct_multiply<B, STORE, 1>(J, A, first, x,
                              [&](int t, int64_t row, const tct_sums<2> &sum) {
                                  tct_at(J.v[V_AAP], t, row) = sum.v[0];
                                  tct_at(J.v[V_AR], t, row) = sum.v[1];
                              });
}

/* x = x + alpha p, r = r - alpha s, w = w - alpha u, p = r + beta p,
 * s = w + beta s; rr, mu = (p, s), (r, s), (s, s) */
template <int B>
static __device__ inline void
update(const tct_resident_job &J, double alpha, double beta, const double *s0,
       const double *r0, double *s1, double *r1, double (&sum)[5])
{
    for (int t = 0; t < J.slots; t++) {
        const int64_t a = tct_row<B, 1>(J, t);
        if (a < 0) continue;
        const double x = tct_at(J.v[V_SOL], t, a);
        const double p0 = tct_at(J.v[V_DIR], t, a);
        const double w0 = tct_at(J.v[V_AR], t, a);
        const double u = tct_at(J.v[V_AAP], t, a);
        const double r = fma(-alpha, s0[a], r0[a]), w = fma(-alpha, u, w0);
        const double p = fma(beta, p0, r), s = fma(beta, s0[a], w);
        tct_at(J.v[V_SOL], t, a) = fma(alpha, p0, x);
        tct_at(J.v[V_DIR], t, a) = p;
        r1[a] = r;
        s1[a] = s;
        sum[0] = fma(r, r, sum[0]);
        sum[1] = fma(p, s, sum[1]);
        sum[2] = fma(r, s, sum[2]);
        sum[3] = fma(s, s, sum[3]);
    }
}

/* p = r at a start, and with s = A p, which is there, the first sums */
template <int B>
static __device__ inline void begin(const tct_resident_job &J, double (&sum)[5])
{
    for (int t = 0; t < J.slots; t++) {
        const int64_t a = tct_row<B, 1>(J, t);
        if (a < 0) continue;
        const double r = J.v[V_RES].memory[a], s = J.v[V_AP].memory[a];
        if (!J.resumed) tct_at(J.v[V_DIR], t, a) = r;
        const double p = tct_at(J.v[V_DIR], t, a);
        sum[0] = fma(r, r, sum[0]);
        sum[1] = fma(p, s, sum[1]);
        sum[2] = fma(r, s, sum[2]);
        sum[3] = fma(s, s, sum[3]);
    }
}

template <int B, int STORE>
static __global__ void __launch_bounds__(TCT_THREADS_MOST, 1)
    solve(const __grid_constant__ tct_resident_job J)
{
    __shared__ double table[STORE == GPU_DICT8 ? 256 : 1];
    __shared__ double c[TCT_SCALARS];
    const tct_chip_matrix<STORE> A = tct_chip_fill<B, STORE, 1>(
        J, tct_dict<STORE>(J.A, table), tct_policy(J.keep));
    const tct_ahead first = tct_look_ahead<B, 1>(J, 0);
    double sum[5] = {0.0}; /* the fifth: an end is wanted */
    double *r[2] = {J.v[V_RES].memory, J.second[0]};
    double *s[2] = {J.v[V_AP].memory, J.second[1]};
    uint32_t epoch = 0;
    int now = 0;
    bool fine = true;
    tct_scalars_load(J, c);
    tct_chip_load<B, 1>(J, J.v[V_DIR]);
    tct_chip_load<B, 1>(J, J.v[V_SOL]);
    begin<B>(J, sum);
    /* clang-format off */
    int64_t k = 0;
    for (;;) {
        if (!(fine = tct_grid_sum(J, epoch, sum))) break;
        if (threadIdx.x == 0) {
            c[C_RR] = sum[0];
            c[C_MU] = sum[1];
            c[C_RS] = sum[2];
            c[C_SS] = sum[3];
        }
        __syncthreads();
        tct_look(J, c, ++k);
        if (k >= J.most || tct_at_rest(c) || sum[4] != 0.0) break;
        __syncthreads();
        if (threadIdx.x == 0) step_pipe_pr(c);         /* alpha, beta       */
        products<B, STORE>(J, A, first, s[now], r[now]);
        __syncthreads();
        for (int i = 0; i < 4; i++) sum[i] = 0.0;
        sum[4] = tct_wants_end(J, k);
        update<B>(J, c[C_ALPHA], c[C_BETA], s[now], r[now], s[1 - now],
                  r[1 - now], sum);
        now = 1 - now;
    }
    /* clang-format on */
    tct_chip_store<B, 1>(J, J.v[V_DIR]);
    tct_chip_store<B, 1>(J, J.v[V_SOL]);
    for (int t = 0; now == 1 && t < J.slots; t++) { /* back to their places */
        const int64_t a = tct_row<B, 1>(J, t);
        if (a >= 0) r[0][a] = r[1][a];
        if (a >= 0) s[0][a] = s[1][a];
    }
    tct_conclude(J, c, fine, k);
}

template <int B> static const void *of_store(int store)
{
    return store == GPU_F64     ? (const void *)solve<B, GPU_F64>
           : store == GPU_DICT8 ? (const void *)solve<B, GPU_DICT8>
                                : nullptr;
}

static const void *kernel(int b, int store, int m)
{
    if (m > 1) return nullptr;
    switch (b) {
    case 1: return of_store<1>(store);
    case 2: return of_store<2>(store);
    case 3: return of_store<3>(store);
    case 6: return of_store<6>(store);
    default: return nullptr;
    }
}

extern "C" const tct_resident_kernel tct_resident_pipe_pr = {
    "pipe-pr", 4, 1, true, {2, 1, -1, 4, 0, 3}, kernel};
