/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/vector.cu - vector operations, each one pass over its vectors: two
 * elements a load, all loads before the first store. Passes without sums have a
 * block for each piece of work, which streams fastest; with sums blocks are
 * few, since each costs at the end. */
#include "device/gpu/epilogue.cuh"
#include "device/gpu/pass.cuh"

enum { THREADS = 512, PER_SM = 4 };

template <class PASS> struct vectors {
    typename PASS::stored *v[PASS::vectors];
};

/* Two elements in memory. */
template <class STORED> struct two_of;
template <> struct two_of<double> {
    using type = double2;
    static __device__ inline double2 make(double x, double y)
    {
        return make_double2(x, y);
    }
};
template <> struct two_of<float> {
    using type = float2;
    static __device__ inline float2 make(double x, double y)
    {
        return make_float2((float)x, (float)y);
    }
};

/* Two adjacent elements of each vector. */
template <class PASS> struct pair {
    double v[PASS::vectors][2];
};

template <class PASS>
static __device__ inline void load(const vectors<PASS> &V, size_t i,
                                   pair<PASS> &e)
{
    using two = typename two_of<typename PASS::stored>::type;
#pragma unroll
    for (int k = 0; k < PASS::vectors; k++)
        if (PASS::reads >> k & 1) {
            const two d = ((const two *)V.v[k])[i];
            e.v[k][0] = d.x;
            e.v[k][1] = d.y;
        }
}

template <class PASS>
static __device__ inline void work(const vectors<PASS> &V, size_t i, double a,
                                   double b, double *s, pair<PASS> &e)
{
    using two = two_of<typename PASS::stored>;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        double v[PASS::vectors];
#pragma unroll
        for (int k = 0; k < PASS::vectors; k++) v[k] = e.v[k][h];
        PASS::at(v, a, b, s);
#pragma unroll
        for (int k = 0; k < PASS::vectors; k++) e.v[k][h] = v[k];
    }
#pragma unroll
    for (int k = 0; k < PASS::vectors; k++)
        if (PASS::writes >> k & 1)
            ((typename two::type *)V.v[k])[i] = two::make(e.v[k][0], e.v[k][1]);
}

template <class PASS>
static __device__ inline void one(const vectors<PASS> &V, size_t i, double a,
                                  double b, double *s)
{
    double v[PASS::vectors];
#pragma unroll
    for (int k = 0; k < PASS::vectors; k++)
        if (PASS::reads >> k & 1) v[k] = V.v[k][i];
    PASS::at(v, a, b, s);
#pragma unroll
    for (int k = 0; k < PASS::vectors; k++)
        if (PASS::writes >> k & 1) V.v[k][i] = (typename PASS::stored)v[k];
}

/* `pairs` of the n elements are loaded in twos; 0 if a vector is not aligned to
 * 16 bytes, of floats to 8. */
template <class PASS, bool SYSTEMS>
__global__ void __launch_bounds__(THREADS, PASS::vectors <= 3 ? PER_SM : 1)
    run(vectors<PASS> V, size_t n, size_t pairs, double sign,
        const double *alpha, const double *beta, const double *held,
        tct_system_batch batch, const __grid_constant__ tct_ending ending)
{
    if (SYSTEMS) {
        const size_t j = blockIdx.y, scalars = j * TCT_SCALARS;
#pragma unroll
        for (int k = 0; k < PASS::vectors; k++)
            if (!(batch.shared >> k & 1)) V.v[k] += j * batch.stride;
        if (alpha) alpha += scalars;
        if (beta) beta += scalars;
        if (held) held += scalars;
    }
    const double a = alpha ? sign * *alpha : sign, b = beta ? *beta : 0.0;
    const bool hold = held && *held != 0.0;
    double s[PASS::sums ? PASS::sums : 1] = {0.0};
    const size_t stride = (size_t)gridDim.x * THREADS;
    const size_t start = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (!hold) {
        for (size_t i = start; i < pairs; i += stride) {
            pair<PASS> e = {};
            load<PASS>(V, i, e);
            work<PASS>(V, i, a, b, s, e);
        }
        for (size_t k = 2 * pairs + start; k < n; k += stride)
            one<PASS>(V, k, a, b, s);
    }
    tct_kernel_end<PASS::sums, SYSTEMS>(s, ending, hold);
}

template <class PASS>
static void start(const tct_op *op, const tct_gpu_launch *L)
{
    vectors<PASS> V;
    uintptr_t bits = 0;
    for (int k = 0; k < PASS::vectors; k++) {
        V.v[k] = (typename PASS::stored *)op->v[k];
        if ((PASS::reads | PASS::writes) >> k & 1) bits |= (uintptr_t)op->v[k];
    }
    const int batch = tct_op_batch(op);
    const bool counted = op->batch.count > 0;
    if (batch > 1) bits |= op->batch.stride * sizeof(double);
    const size_t pairs =
        bits % (2 * sizeof(typename PASS::stored)) == 0 ? op->n / 2 : 0;
    const double *held = PASS::held ? op->alpha - C_ALPHA + C_HELD : nullptr;
    const int grid =
        tct_blocks_for((int64_t)(pairs ? pairs : op->n), THREADS,
                       PASS::sums ? (int64_t)L->sms * PER_SM : INT32_MAX);
    auto kernel = run<PASS, false>;
    if constexpr (sizeof(typename PASS::stored) == sizeof(double))
        if (counted) kernel = run<PASS, true>; /* batches are of doubles */
    kernel<<<dim3((unsigned)grid, (unsigned)batch), THREADS, 0, L->stream>>>(
        V, op->n, pairs, op->sign, op->alpha, op->beta, held, op->batch,
        tct_ending_of(L));
}

static __global__ void __launch_bounds__(THREADS)
    gather(const int32_t *index, const double *x, double *y, size_t n,
           const __grid_constant__ tct_ending ending)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = tct_read_only(x + tct_read_only(index + i));
    tct_kernel_end<0>(nullptr, ending);
}

extern "C" void tct_gpu_gather(const tct_op *op, const tct_gpu_launch *L)
{
    const size_t blocks = (op->n + THREADS - 1) / THREADS;
    gather<<<(unsigned)blocks, THREADS, 0, L->stream>>>(
        op->index, op->v[0], op->v[1], op->n, tct_ending_of(L));
}

/* A thread per sum, in the order of the list. */
static __global__ void __launch_bounds__(THREADS)
    restrict_to(const __grid_constant__ tct_sets G, const double *w,
                const double *b, const double *t, double *y,
                const __grid_constant__ tct_ending ending)
{
    const int64_t u = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (u < G.count * G.width) {
        const int64_t c = G.width == 1 ? u : u / G.width;
        const int64_t j = u - c * G.width;
        double sum = 0.0;
        for (int32_t k = G.ptr[c]; k < G.ptr[c + 1]; k++)
            sum = fma(w[(int64_t)k * G.width + j], b[G.list[k]] - t[G.list[k]],
                      sum);
        y[u] = sum;
    }
    tct_kernel_end<0>(nullptr, ending);
}

static __global__ void __launch_bounds__(THREADS)
    prolong(const int32_t *of, const double *w, const double *x, double *y,
            size_t n, int width, double sign,
            const __grid_constant__ tct_ending ending)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n && of[i] >= 0) {
        const double *const e = x + (size_t)of[i] * width;
        double sum = y[i];
        for (int j = 0; j < width; j++)
            sum = fma(sign * w[i * width + j], e[j], sum);
        y[i] = sum;
    }
    tct_kernel_end<0>(nullptr, ending);
}

static unsigned blocks_of(const tct_op *op)
{
    return (unsigned)((op->n + THREADS - 1) / THREADS);
}

extern "C" void tct_gpu_restrict(const tct_op *op, const tct_gpu_launch *L)
{
    double *const *v = op->v;
    restrict_to<<<blocks_of(op), THREADS, 0, L->stream>>>(
        *op->sets, v[2], v[0], v[1], v[3], tct_ending_of(L));
}

extern "C" void tct_gpu_prolong(const tct_op *op, const tct_gpu_launch *L)
{
    double *const *v = op->v;
    prolong<<<blocks_of(op), THREADS, 0, L->stream>>>(
        op->index, v[1], v[0], v[2], op->n, op->count, op->sign,
        tct_ending_of(L));
}

static void start_floats(const tct_op *op, const tct_gpu_launch *L)
{
    switch (op->pass) {
#define X(name) \
    case PASS_##name: start<tct_of_floats<tct_pass_##name>>(op, L); break;
        TCT_FLOAT_PASSES(X)
#undef X
    default: break; /* the base layer has refused it */
    }
}

extern "C" void tct_gpu_pass(const tct_op *op, const tct_gpu_launch *L)
{
    if (op->element == TACIT_F32) {
        start_floats(op, L);
        return;
    }
    switch (op->pass) {
#define X(name, ...) \
    case PASS_##name: start<tct_pass_##name>(op, L); break;
        TCT_PASSES(X)
#undef X
    case TCT_PASS_COUNT: break;
    }
}

static __global__ void epilogue_alone(const __grid_constant__ tct_epilogue t)
{
    tct_epilogue_run(t);
}
static __global__ void epilogues_alone(const __grid_constant__ tct_epilogue t)
{
    tct_epilogue_run_of(t, (int)threadIdx.x);
}

extern "C" void tct_gpu_epilogue(const tct_gpu_launch *L)
{
    const int batch = L->epilogue.batch;
    if (batch == 0) epilogue_alone<<<1, 1, 0, L->stream>>>(L->epilogue);
    else epilogues_alone<<<1, (unsigned)batch, 0, L->stream>>>(L->epilogue);
}
