/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/reduce.cu - the totals of all-reductions, whose parts have come:
 * a thread has an element. */
#include "device/gpu/lane.cuh"
#include "triggered/combine.h"
#include "triggered/gpu/kernels.h"

enum { THREADS = 256, BLOCKS_MOST = 1024 };

template <class T> struct of;
#define OF(T, name)                                                         \
    template <> struct of<T> {                                              \
        static __device__ T total(tacit_reduction op, int ranks,            \
                                  int64_t count, const T *parts, int64_t i) \
        {                                                                   \
            return tct_combine_all_##name(op, ranks, count, parts, i);      \
        }                                                                   \
    };
OF(int32_t, i32)
OF(int64_t, i64)
OF(float, f32)
OF(double, f64)
#undef OF

template <class T>
static __global__ void __launch_bounds__(THREADS)
    reduce(tacit_reduction op, int ranks, int64_t count, const T *parts,
           T *total)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    tct_await_earlier();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count;
         i += step)
        total[i] = of<T>::total(op, ranks, count, parts, i);
}

template <class T>
static gpu_error launch(const tct_reduce_job *job, bool early,
                        gpu_stream stream)
{
    tct_reduce_job J = *job;
    void *arguments[] = {&J.op, &J.ranks, &J.count, &J.parts, &J.total};
    const int64_t blocks = (J.count + THREADS - 1) / THREADS;
    return gpu_launch_early(
        (const void *)reduce<T>,
        dim3(blocks < BLOCKS_MOST ? (unsigned)blocks : (unsigned)BLOCKS_MOST),
        THREADS, arguments, stream, early);
}

extern "C" gpu_error tct_reduce_run(const tct_reduce_job *job, bool early,
                                    gpu_stream stream)
{
    switch (job->type) {
    case TACIT_TRIGGER_I32: return launch<int32_t>(job, early, stream);
    case TACIT_TRIGGER_I64: return launch<int64_t>(job, early, stream);
    case TACIT_TRIGGER_F32: return launch<float>(job, early, stream);
    default: return launch<double>(job, early, stream);
    }
}

extern "C" gpu_error tct_reduce_load(void)
{
    const void *const kernels[] = {
        (const void *)reduce<int32_t>, (const void *)reduce<int64_t>,
        (const void *)reduce<float>, (const void *)reduce<double>};
    gpu_function_attributes a;
    for (const void *k : kernels) {
        const gpu_error error = gpu_function_get(&a, k);
        if (error != GPU_OK) return error;
    }
    return GPU_OK;
}
