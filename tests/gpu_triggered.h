/* SPDX-License-Identifier: BSD-3-Clause
 * tests/gpu_triggered.h - a communicator and a queue with a GPU, and buffers
 * that kernels fill and check. */
#ifndef TESTS_GPU_TRIGGERED_H
#define TESTS_GPU_TRIGGERED_H
#include "gpu.h"
#include "triggered_kernels.h"
#include "triggered_rig.h"

static inline void cuda_ok(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess) return;
    print_error("%s:%d: %s: %s\n", __FILE__, line, call,
                cudaGetErrorString(error));
    _fail(__FILE__, line);
}
#define CUDA(call) cuda_ok((call), #call, __LINE__)

enum { ROOM = 9 << 20 };

typedef struct { /* a rig with a GPU */
    rig g;
    cudaStream_t stream;
    unsigned char *from, *to; /* [ROOM] */
    unsigned *count;          /* messages written, checked; wrong bytes */
    bool shared;              /* ranks share a GPU: few rounds */
} gpu;

static inline gpu gpu_open_in(tacit_world *w)
{
    gpu t = {.g = {.rank = tacit_world_rank(w), .size = tacit_world_size(w)}};
    int count = 0;
    t.g.last = t.g.size - 1;
    t.g.sends = t.g.rank == 0;
    t.g.receives = t.g.rank == t.g.last;
    CUDA(cudaGetDeviceCount(&count));
    CUDA(cudaSetDevice(t.g.rank % count));
    t.shared = count < t.g.size;
    CUDA(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc((void **)&t.from, ROOM));
    CUDA(cudaMalloc((void **)&t.to, ROOM));
    CUDA(cudaMalloc((void **)&t.count, 3 * sizeof *t.count));
    CUDA(cudaMemset(t.count, 0, 3 * sizeof *t.count));
    CUDA(cudaMemset(t.to, 0xee, ROOM));
    CUDA(cudaDeviceSynchronize());
    OK(tacit_trigger_comm_create(w, &t.g.c));
    OK(tacit_trigger_comm_use_gpu(t.g.c));
    OK(tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_KERNEL, t.stream,
                                  &t.g.q));
    return t;
}

static inline gpu gpu_open(void)
{
    return gpu_open_in(test_world());
}

static inline void gpu_close(gpu *t)
{
    rig_close(&t->g);
    CUDA(cudaStreamDestroy(t->stream));
    CUDA(cudaFree(t->from));
    CUDA(cudaFree(t->to));
    CUDA(cudaFree(t->count));
}

static inline void fill(gpu *t, unsigned char *data, size_t bytes)
{
    if (t->g.sends) CUDA(triggered_fill(t->stream, t->count, 1, data, bytes));
}

static inline void check(gpu *t, const unsigned char *data, size_t bytes)
{
    if (t->g.receives)
        CUDA(triggered_check(t->stream, t->count + 1, 1, data, bytes,
                             t->count + 2));
}

static inline void no_byte_is_wrong(gpu *t)
{
    unsigned wrong = 0;
    CUDA(
        cudaMemcpy(&wrong, t->count + 2, sizeof wrong, cudaMemcpyDeviceToHost));
    assert_int_equal(wrong, 0);
}

static inline unsigned char byte_at(const unsigned char *data)
{
    unsigned char byte = 0;
    CUDA(cudaMemcpy(&byte, data, 1, cudaMemcpyDeviceToHost));
    return byte;
}

static inline void pair(gpu *t, int tag, int64_t bytes, request **r)
{
    rig_pair(&t->g, tag, t->from, t->to, bytes, TACIT_TRIGGER_BYTE, r);
}

#endif
