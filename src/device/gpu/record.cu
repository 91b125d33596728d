/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/record.cu - a while node around a recording: the device controls
 * the loop. Conditional nodes exist only in CUDA; elsewhere tct_record_while
 * fails, and the CPU replays. */
#include "device/gpu/record.h"

#ifdef GPU_NO_WHILE_NODE
extern "C" gpu_error tct_record_while(gpu_graph, const double *,
                                      const tct_outbox *,
                                      const volatile uint64_t *, gpu_graph *)
{
    return GPU_NO_WHILE_NODE;
}
#else

static __global__ void go_on(cudaGraphConditionalHandle handle, const double *c,
                             const tct_outbox *o,
                             const volatile uint64_t *limit)
{
    cudaGraphSetConditional(handle, !tct_at_rest(c) && o->flags == 0.0 &&
                                        o->looks < *limit);
}

static gpu_error add_node(gpu_graph_node *node, gpu_graph graph,
                          cudaGraphNodeParams *params)
{
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(node, graph, nullptr, nullptr, 0, params);
#else
    return cudaGraphAddNode(node, graph, nullptr, 0, params);
#endif
}

extern "C" gpu_error tct_record_while(gpu_graph body, const double *c,
                                      const tct_outbox *outbox,
                                      const volatile uint64_t *limit,
                                      gpu_graph *out)
{
    gpu_graph graph = nullptr;
    cudaGraphConditionalHandle handle;
    gpu_graph_node loop, child, last;
    gpu_error e = gpu_graph_create(&graph, 0);
    if (e != GPU_OK) return e;
    *out = graph;
    e = cudaGraphConditionalHandleCreate(&handle, graph, 1,
                                         cudaGraphCondAssignDefault);
    if (e != GPU_OK) return e;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    e = add_node(&loop, graph, &params);
    if (e != GPU_OK) return e;
    gpu_graph inside = params.conditional.phGraph_out[0];
    e = gpu_graph_add_child(&child, inside, nullptr, 0, body);
    if (e != GPU_OK) return e;
    void *arguments[] = {&handle, (void *)&c, (void *)&outbox, (void *)&limit};
    gpu_graph_kernel kernel = {};
    kernel.func = (void *)go_on;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    return gpu_graph_add_kernel(&last, inside, &child, 1, &kernel);
}
#endif
