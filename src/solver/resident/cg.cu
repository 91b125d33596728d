/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/cg.cu - solver/cg.c as one kernel, line for line.
 *
 * Three barriers an iteration: one for each sum, and one so that all of p is
 * there before any row is multiplied. Each orders a read after a write by
 * another block or carries a sum that everything after it needs; cg has no
 * fewer. */
#include "solver/resident/resident.cuh"

enum { V_RES, V_TMP, V_SOL, V_DIR }; /* r t x p, in the order that pays most */

/* t = A p, pt = (p, t) */
template <int B, int STORE, int M>
static __device__ inline double product(const tct_resident_job &J,
                                        const tct_chip_matrix<STORE> &A,
                                        const tct_ahead &first)
{
    const double *const p[1] = {J.v[V_DIR].memory};
    double pt = 0.0;
    tct_multiply<B, STORE, M>(J, A, first, p,
                              [&](int t, int64_t row, const tct_sums<1> &sum) {
                                  tct_at(J.v[V_TMP], t, row) = sum.v[0];
                                  pt = fma(p[0][row], sum.v[0], pt);
                              });
    return pt;
}

/* r = r - alpha t, rr = (r, r) */
template <int B, int M>
static __device__ inline double residual(const tct_resident_job &J,
                                         double alpha)
{
    double rr = 0.0;
    for (int t = 0; t < J.slots; t += TCT_AT_ONCE) {
        const tct_four f = tct_rows<B, M>(J, t);
        double r[TCT_AT_ONCE], d[TCT_AT_ONCE];
#pragma unroll
        for (int i = 0; i < TCT_AT_ONCE; i++) {
            const bool there = f.row[i] >= 0;
            r[i] = there ? tct_at(J.v[V_RES], t + i, f.row[i]) : 0.0;
            d[i] = there ? tct_at(J.v[V_TMP], t + i, f.row[i]) : 0.0;
        }
#pragma unroll
        for (int i = 0; i < TCT_AT_ONCE; i++) {
            r[i] = fma(-alpha, d[i], r[i]);
            if (f.row[i] >= 0) tct_at(J.v[V_RES], t + i, f.row[i]) = r[i];
            rr = fma(r[i], r[i], rr);
        }
    }
    return rr;
}

/* x = x + alpha p, p = r + beta p */
template <int B, int M>
static __device__ inline void directions(const tct_resident_job &J,
                                         double alpha, double beta)
{
    double *p = J.v[V_DIR].memory;
    for (int t = 0; t < J.slots; t += TCT_AT_ONCE) {
        const tct_four f = tct_rows<B, M>(J, t);
        double d[TCT_AT_ONCE], r[TCT_AT_ONCE], x[TCT_AT_ONCE];
#pragma unroll
        for (int i = 0; i < TCT_AT_ONCE; i++) {
            const bool there = f.row[i] >= 0;
            d[i] = there ? p[f.row[i]] : 0.0;
            r[i] = there ? tct_at(J.v[V_RES], t + i, f.row[i]) : 0.0;
            x[i] = there ? tct_at(J.v[V_SOL], t + i, f.row[i]) : 0.0;
        }
#pragma unroll
        for (int i = 0; i < TCT_AT_ONCE; i++) {
            if (f.row[i] < 0) continue;
            tct_at(J.v[V_SOL], t + i, f.row[i]) = fma(alpha, d[i], x[i]);
            p[f.row[i]] = fma(beta, d[i], r[i]);
        }
    }
}

/* p = r */
template <int B, int M>
static __device__ inline void begin(const tct_resident_job &J)
{
    for (int t = 0; t < J.slots; t++) {
        const int64_t row = tct_row<B, M>(J, t);
        if (row >= 0) J.v[V_DIR].memory[row] = tct_at(J.v[V_RES], t, row);
    }
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
    double pt[2], rr[1]; /* the second of pt: an end is wanted */
    uint32_t epoch = 0;
    tct_scalars_load(J, c);
    tct_chip_load<B, M>(J, J.v[V_RES]);
    tct_chip_load<B, M>(J, J.v[V_SOL]);
    /* clang-format off */
    if (!J.resumed) begin<B, M>(J);                    /* p = r             */
    bool fine = tct_grid_wait(J, epoch);
    int64_t k = 0;
    while (fine) {
        pt[1] = tct_wants_end(J, k);
        pt[0] = product<B, STORE, M>(J, A, first);     /* t = A p           */
        fine = tct_grid_sum(J, epoch, pt);
        if (!fine || pt[1] != 0.0) break;
        if (threadIdx.x == 0) {
            c[C_PT] = pt[0];                           /* pt = (p, t)       */
            step_cg_alpha(c);                          /* alpha = rr / pt   */
        }
        __syncthreads();
        rr[0] = residual<B, M>(J, c[C_ALPHA]);         /* r = r - alpha t   */
        if (!(fine = tct_grid_sum(J, epoch, rr))) break;
        if (threadIdx.x == 0) {
            c[C_RR] = rr[0];                           /* rr' = (r, r)      */
            step_cg_beta(c);                           /* beta = rr' / rr   */
        }
        __syncthreads();
        tct_look(J, c, ++k);
        directions<B, M>(J, c[C_ALPHA], c[C_BETA]);    /* x = x + alpha p   */
        if (k >= J.most || tct_at_rest(c)) break;      /* p = r + beta p    */
        fine = tct_grid_wait(J, epoch);
    }
    /* clang-format on */
    tct_chip_store<B, M>(J, J.v[V_RES]);
    tct_chip_store<B, M>(J, J.v[V_SOL]);
    tct_conclude(J, c, fine, k);
}

template <int B, int M> static const void *of_store(int store)
{
    switch (store) {
    case GPU_F64: return (const void *)solve<B, GPU_F64, M>;
    case GPU_F32: return (const void *)solve<B, GPU_F32, M>;
    case GPU_F48: return (const void *)solve<B, GPU_F48, M>;
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
    case 5: return of_store<5, 1>(store);
    case 6: return of_store<6, 1>(store);
    default: return nullptr;
    }
}

extern "C" const tct_resident_kernel tct_resident_cg = {
    "cg", 3, 3, false, {0, 2, -1, 1}, kernel};
