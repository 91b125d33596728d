/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/vector.cu - vector operations, each one pass over its vectors:
 * two elements a load, all loads before the first store. Without sums there are
 * as many blocks as there is work for, which streams faster than blocks that
 * stay; with sums the end of so many would cost more. */
#include "device/gpu/tail.cuh"

enum { THREADS = 512, PER_SM = 4 };

struct vectors {
    double *v[TCT_OP_VECTORS];
};

/* An operation: which vectors it reads and writes (bits), how many sums it has,
 * and what it does to the elements `v` at one place; `a` is alpha with its
 * sign, `b` beta. Vectors are in the order of TCT_OPS. */
struct do_fill {
    static constexpr unsigned reads = 0, writes = 1, sums = 0;
    static __device__ void at(double *v, double a, double, double *)
    {
        v[0] = a;
    }
};
struct do_copy {
    static constexpr unsigned reads = 1, writes = 2, sums = 0;
    static __device__ void at(double *v, double, double, double *)
    {
        v[1] = v[0];
    }
};
struct do_scale {
    static constexpr unsigned reads = 1, writes = 1, sums = 0;
    static __device__ void at(double *v, double a, double, double *)
    {
        v[0] *= a;
    }
};
struct do_axpy {
    static constexpr unsigned reads = 3, writes = 2, sums = 0;
    static __device__ void at(double *v, double a, double, double *)
    {
        v[1] = fma(a, v[0], v[1]);
    }
};
struct do_aypx {
    static constexpr unsigned reads = 3, writes = 2, sums = 0;
    static __device__ void at(double *v, double a, double, double *)
    {
        v[1] = fma(a, v[1], v[0]);
    }
};
struct do_dot {
    static constexpr unsigned reads = 3, writes = 0, sums = 1;
    static __device__ void at(double *v, double, double, double *s)
    {
        s[0] = fma(v[0], v[1], s[0]);
    }
};
struct do_norm {
    static constexpr unsigned reads = 1, writes = 0, sums = 1;
    static __device__ void at(double *v, double, double, double *s)
    {
        s[0] = fma(v[0], v[0], s[0]);
    }
};
struct do_axpy_norm {
    static constexpr unsigned reads = 3, writes = 2, sums = 1;
    static __device__ void at(double *v, double a, double, double *s)
    {
        v[1] = fma(a, v[0], v[1]);
        s[0] = fma(v[1], v[1], s[0]);
    }
};
struct do_cg_update { /* r p x */
    static constexpr unsigned reads = 7, writes = 6, sums = 0;
    static __device__ void at(double *v, double a, double b, double *)
    {
        v[2] = fma(a, v[1], v[2]);
        v[1] = fma(b, v[1], v[0]);
    }
};
struct do_dots {
    static constexpr unsigned reads = 3, writes = 0, sums = 2;
    static __device__ void at(double *v, double, double, double *s)
    {
        s[0] = fma(v[0], v[1], s[0]);
        s[1] = fma(v[1], v[1], s[1]);
    }
};
struct do_single_update { /* s r p x */
    static constexpr unsigned reads = 15, writes = 14, sums = 1;
    static __device__ void at(double *v, double a, double b, double *sum)
    {
        v[3] = fma(a, v[2], v[3]);
        v[1] = fma(-a, v[0], v[1]);
        v[2] = fma(b, v[2], v[1]);
        sum[0] = fma(v[1], v[1], sum[0]);
    }
};
struct do_pipelined_update { /* n z s w p r x */
    static constexpr unsigned reads = 127, writes = 126, sums = 2;
    static __device__ void at(double *v, double a, double b, double *sum)
    {
        v[1] = fma(b, v[1], v[0]);
        v[2] = fma(b, v[2], v[3]);
        v[4] = fma(b, v[4], v[5]);
        v[6] = fma(a, v[4], v[6]);
        v[5] = fma(-a, v[2], v[5]);
        v[3] = fma(-a, v[1], v[3]);
        sum[0] = fma(v[5], v[5], sum[0]);
        sum[1] = fma(v[3], v[5], sum[1]);
    }
};
struct do_pipe_pr_update { /* w u s r p x */
    static constexpr unsigned reads = 63, writes = 60, sums = 4;
    static __device__ void at(double *v, double a, double b, double *sum)
    {
        v[5] = fma(a, v[4], v[5]);
        v[3] = fma(-a, v[2], v[3]);
        v[0] = fma(-a, v[1], v[0]);
        v[4] = fma(b, v[4], v[3]);
        v[2] = fma(b, v[2], v[0]);
        sum[0] = fma(v[3], v[3], sum[0]);
        sum[1] = fma(v[4], v[2], sum[1]);
        sum[2] = fma(v[3], v[2], sum[2]);
        sum[3] = fma(v[2], v[2], sum[3]);
    }
};

/* Two neighbours of each vector. */
struct pair {
    double v[TCT_OP_VECTORS][2];
};

template <class OP>
static __device__ inline void load(const vectors &V, size_t i, pair &e)
{
#pragma unroll
    for (int k = 0; k < TCT_OP_VECTORS; k++)
        if (OP::reads >> k & 1) {
            const double2 d = ((const double2 *)V.v[k])[i];
            e.v[k][0] = d.x;
            e.v[k][1] = d.y;
        }
}

template <class OP>
static __device__ inline void work(const vectors &V, size_t i, double a,
                                   double b, double *s, pair &e)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        double v[TCT_OP_VECTORS];
#pragma unroll
        for (int k = 0; k < TCT_OP_VECTORS; k++) v[k] = e.v[k][h];
        OP::at(v, a, b, s);
#pragma unroll
        for (int k = 0; k < TCT_OP_VECTORS; k++) e.v[k][h] = v[k];
    }
#pragma unroll
    for (int k = 0; k < TCT_OP_VECTORS; k++)
        if (OP::writes >> k & 1)
            ((double2 *)V.v[k])[i] = make_double2(e.v[k][0], e.v[k][1]);
}

template <class OP>
static __device__ inline void one(const vectors &V, size_t i, double a,
                                  double b, double *s)
{
    double v[TCT_OP_VECTORS];
#pragma unroll
    for (int k = 0; k < TCT_OP_VECTORS; k++)
        if (OP::reads >> k & 1) v[k] = V.v[k][i];
    OP::at(v, a, b, s);
#pragma unroll
    for (int k = 0; k < TCT_OP_VECTORS; k++)
        if (OP::writes >> k & 1) V.v[k][i] = v[k];
}

/* `pairs` of the n elements are taken two by two; 0 if a vector does not begin
 * at a multiple of 16 bytes. */
template <class OP>
__global__ void __launch_bounds__(THREADS)
    run(vectors V, size_t n, size_t pairs, double sign, const double *alpha,
        const double *beta, const double *held,
        const __grid_constant__ tct_ending ending)
{
    const double a = alpha ? sign * *alpha : sign, b = beta ? *beta : 0.0;
    const bool hold = held && *held != 0.0;
    double s[OP::sums ? OP::sums : 1] = {0.0};
    const size_t stride = (size_t)gridDim.x * THREADS;
    const size_t start = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (!hold) {
        for (size_t i = start; i < pairs; i += stride) {
            pair e = {};
            load<OP>(V, i, e);
            work<OP>(V, i, a, b, s, e);
        }
        for (size_t k = 2 * pairs + start; k < n; k += stride)
            one<OP>(V, k, a, b, s);
    }
    tct_end<OP::sums>(s, ending, hold);
}

template <class OP>
static void start(const tct_op *op, const tct_gpu_launch *L, double sign,
                  bool holds)
{
    vectors V;
    uintptr_t bits = 0;
    for (int k = 0; k < TCT_OP_VECTORS; k++) {
        V.v[k] = op->v[k];
        if ((OP::reads | OP::writes) >> k & 1) bits |= (uintptr_t)op->v[k];
    }
    const size_t pairs = bits % 16 == 0 ? op->n / 2 : 0;
    const double *held = holds ? op->alpha - C_ALPHA + C_HELD : nullptr;
    const int grid = tct_grid((int64_t)(pairs ? pairs : op->n), THREADS,
                              OP::sums ? (int64_t)L->sms * PER_SM : INT32_MAX);
    run<OP><<<grid, THREADS, 0, L->stream>>>(V, op->n, pairs, sign, op->alpha,
                                             op->beta, held, tct_ending_of(L));
}

static __global__ void __launch_bounds__(THREADS)
    gather(const int32_t *index, const double *x, double *y, size_t n,
           const __grid_constant__ tct_ending ending)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = tct_read_only(x + tct_read_only(index + i));
    tct_end<0>(nullptr, ending);
}

static void start_gather(const tct_op *op, const tct_gpu_launch *L)
{
    const size_t blocks = (op->n + THREADS - 1) / THREADS;
    gather<<<(unsigned)blocks, THREADS, 0, L->stream>>>(
        op->index, op->v[0], op->v[1], op->n, tct_ending_of(L));
}

extern "C" void tct_gpu_vector(const tct_op *op, const tct_gpu_launch *L)
{
    switch ((int)op->code) {
    case TCT_FILL: start<do_fill>(op, L, op->sign, false); break;
    case TCT_COPY: start<do_copy>(op, L, 1.0, false); break;
    case TCT_GATHER: start_gather(op, L); break;
    case TCT_SCALE: start<do_scale>(op, L, op->sign, false); break;
    case TCT_AXPY: start<do_axpy>(op, L, op->sign, false); break;
    case TCT_AYPX: start<do_aypx>(op, L, op->sign, false); break;
    case TCT_DOT: start<do_dot>(op, L, 1.0, false); break;
    case TCT_NORM: start<do_norm>(op, L, 1.0, false); break;
    case TCT_AXPY_NORM: start<do_axpy_norm>(op, L, op->sign, false); break;
    case TCT_DOTS: start<do_dots>(op, L, 1.0, false); break;
    case TCT_CG_UPDATE: start<do_cg_update>(op, L, 1.0, true); break;
    case TCT_SINGLE_UPDATE: start<do_single_update>(op, L, 1.0, true); break;
    case TCT_PIPELINED_UPDATE:
        start<do_pipelined_update>(op, L, 1.0, true);
        break;
    case TCT_PIPE_PR_UPDATE: start<do_pipe_pr_update>(op, L, 1.0, true); break;
    }
}

static __global__ void tail_alone(const __grid_constant__ tct_tail t)
{
    tct_tail_run(t);
}

extern "C" void tct_gpu_tail(const tct_gpu_launch *L)
{
    tail_alone<<<1, 1, 0, L->stream>>>(L->tail);
}
