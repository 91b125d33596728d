/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/record.cu - a while node around a recording: the device decides,
 * and the CPU only looks on. */
#include "device/gpu/record.h"

static __global__ void go_on(cudaGraphConditionalHandle handle, const double *c,
                             const uint64_t *looks,
                             const volatile uint64_t *limit)
{
    const bool rest = !(c[C_RR] > c[C_TARGET2]) || c[C_BAD] != 0.0;
    cudaGraphSetConditional(handle, !rest && *looks < *limit);
}

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph,
                            cudaGraphNodeParams *params)
{
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(node, graph, nullptr, nullptr, 0, params);
#else
    return cudaGraphAddNode(node, graph, nullptr, 0, params);
#endif
}

extern "C" gpu_error tct_record_while(gpu_graph body, const double *c,
                                      const uint64_t *looks,
                                      const volatile uint64_t *limit,
                                      gpu_graph *out)
{
    cudaGraph_t graph = nullptr;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t loop, child, last;
    cudaError_t e = cudaGraphCreate(&graph, 0);
    if (e != cudaSuccess) return e;
    *out = graph;
    e = cudaGraphConditionalHandleCreate(&handle, graph, 1,
                                         cudaGraphCondAssignDefault);
    if (e != cudaSuccess) return e;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    e = add_node(&loop, graph, &params);
    if (e != cudaSuccess) return e;
    cudaGraph_t inside = params.conditional.phGraph_out[0];
    e = cudaGraphAddChildGraphNode(&child, inside, nullptr, 0, body);
    if (e != cudaSuccess) return e;
    void *arguments[] = {&handle, (void *)&c, (void *)&looks, (void *)&limit};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)go_on;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    return cudaGraphAddKernelNode(&last, inside, &child, 1, &kernel);
}
