/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/runtime.h - the one table of the runtime's names: CUDA's, or in a
 * HIP build those of runtime_hip.h. */
#ifndef TCT_DEVICE_GPU_RUNTIME_H
#define TCT_DEVICE_GPU_RUNTIME_H
#include "device/wave.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if TCT_HIP
#include "device/gpu/runtime_hip.h"
#else
#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include <cuda_runtime_api.h>
#endif

typedef cudaError_t gpu_error;
typedef cudaStream_t gpu_stream;
typedef cudaEvent_t gpu_event;
typedef cudaGraph_t gpu_graph;
typedef cudaGraphExec_t gpu_graph_exec;
typedef cudaGraphNode_t gpu_graph_node;
typedef struct cudaKernelNodeParams gpu_graph_kernel;
typedef struct cudaDeviceProp gpu_properties;
typedef struct cudaMemcpy3DParms gpu_copy_3d;

#define GPU_OK          cudaSuccess
#define GPU_NOT_READY   cudaErrorNotReady
#define GPU_BAD_HANDLE  cudaErrorInvalidResourceHandle
#define GPU_NO_MEMORY   cudaErrorMemoryAllocation
#define GPU_TO_DEVICE   cudaMemcpyHostToDevice
#define GPU_TO_HOST     cudaMemcpyDeviceToHost
#define GPU_ON_DEVICE   cudaMemcpyDeviceToDevice
#define GPU_ANYWHERE    cudaMemcpyDefault
#define GPU_HOST_MAPPED cudaHostAllocMapped

#define gpu_error_text            cudaGetErrorString
#define gpu_error_name            cudaGetErrorName
#define gpu_last_error            cudaGetLastError
#define gpu_device_count          cudaGetDeviceCount
#define gpu_get_device            cudaGetDevice
#define gpu_set_device            cudaSetDevice
#define gpu_driver_version        cudaDriverGetVersion
#define gpu_bus_id                cudaDeviceGetPCIBusId
#define gpu_by_bus_id             cudaDeviceGetByPCIBusId
#define gpu_can_reach             cudaDeviceCanAccessPeer
#define gpu_get_properties        cudaGetDeviceProperties
#define gpu_get_attribute         cudaDeviceGetAttribute
#define gpu_memory_info           cudaMemGetInfo
#define gpu_malloc                cudaMalloc
#define gpu_free                  cudaFree
#define gpu_host_malloc           cudaHostAlloc
#define gpu_host_free             cudaFreeHost
#define gpu_host_pointer          cudaHostGetDevicePointer
#define gpu_ipc_handle            cudaIpcMemHandle_t
#define gpu_ipc_give              cudaIpcGetMemHandle
#define gpu_ipc_take              cudaIpcOpenMemHandle
#define gpu_ipc_close             cudaIpcCloseMemHandle
#define GPU_IPC_REACH             cudaIpcMemLazyEnablePeerAccess
#define gpu_memcpy                cudaMemcpy
#define gpu_memcpy_async          cudaMemcpyAsync
#define gpu_memcpy_2d_async       cudaMemcpy2DAsync
#define gpu_memcpy_3d_async       cudaMemcpy3DAsync
#define gpu_memset                cudaMemset
#define gpu_memset_async          cudaMemsetAsync
#define gpu_stream_create         cudaStreamCreateWithFlags
#define gpu_stream_create_ranked  cudaStreamCreateWithPriority
#define gpu_stream_ranks          cudaDeviceGetStreamPriorityRange
#define GPU_STREAM_NON_BLOCKING   cudaStreamNonBlocking
#define gpu_stream_destroy        cudaStreamDestroy
#define gpu_stream_sync           cudaStreamSynchronize
#define gpu_stream_query          cudaStreamQuery
#define GPU_STREAM_LEGACY         cudaStreamLegacy
#define GPU_STREAM_PER_THREAD     cudaStreamPerThread
#define gpu_stream_capturing      cudaStreamIsCapturing
#define gpu_capture_status        enum cudaStreamCaptureStatus
#define GPU_NOT_CAPTURING         cudaStreamCaptureStatusNone
#define gpu_event_create          cudaEventCreate
#define gpu_event_destroy         cudaEventDestroy
#define gpu_event_record          cudaEventRecord
#define gpu_event_sync            cudaEventSynchronize
#define gpu_event_elapsed         cudaEventElapsedTime
#define gpu_capture_begin         cudaStreamBeginCapture
#define gpu_capture_end           cudaStreamEndCapture
#define GPU_CAPTURE_RELAXED       cudaStreamCaptureModeRelaxed
#define gpu_graph_create          cudaGraphCreate
#define gpu_graph_add_child       cudaGraphAddChildGraphNode
#define gpu_graph_add_kernel      cudaGraphAddKernelNode
#define gpu_graph_instantiate     cudaGraphInstantiate
#define gpu_graph_launch          cudaGraphLaunch
#define gpu_graph_destroy         cudaGraphDestroy
#define gpu_graph_exec_destroy    cudaGraphExecDestroy
#define gpu_function_attribute    cudaFuncSetAttribute
#define GPU_DYNAMIC_SHARED        cudaFuncAttributeMaxDynamicSharedMemorySize
#define gpu_launch_cooperative    cudaLaunchCooperativeKernel
#define gpu_launch                cudaLaunchKernel
#define gpu_launch_host           cudaLaunchHostFunc
#define gpu_function_attributes   struct cudaFuncAttributes
#define gpu_function_get          cudaFuncGetAttributes
#define gpu_enable_peer           cudaDeviceEnablePeerAccess
#define GPU_PEER_ENABLED          cudaErrorPeerAccessAlreadyEnabled
#define GPU_ATTRIBUTE_COOPERATIVE cudaDevAttrCooperativeLaunch
#define gpu_occupancy             cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define gpu_stream_wait_event     cudaStreamWaitEvent
#define gpu_event_create_with     cudaEventCreateWithFlags
#define GPU_EVENT_NO_TIMING       cudaEventDisableTiming

#define GPU_ATTRIBUTE_MAJOR cudaDevAttrComputeCapabilityMajor

#define GPU_MAKER          "NVIDIA"
#define GPU_CAVEAT         ""    /* what users must know of such a build */
#define GPU_WHILE_NODES    12040 /* first driver with while nodes */
/* Memory that other GPUs write while kernels run: is it like any? */
#define GPU_REACHED_IS_ANY true
#define gpu_malloc_reached gpu_malloc

/* The most shared memory of a block, the name of the instruction set, and the
 * card's number [16]. */
static inline size_t gpu_shared_most(const gpu_properties *p)
{
    return p->sharedMemPerBlockOptin;
}
static inline void gpu_model(const gpu_properties *p, char *text, size_t size)
{
    snprintf(text, size, "sm_%d%d", p->major, p->minor);
}
static inline gpu_error gpu_uuid(const gpu_properties *p, int device, char *to)
{
    (void)device;
    memcpy(to, p->uuid.bytes, sizeof p->uuid.bytes);
    return GPU_OK;
}

/* Is `p` in memory of a GPU alone, and of which? */
static inline bool gpu_owns(const void *p, int *device)
{
    struct cudaPointerAttributes a;
    const bool known = cudaPointerGetAttributes(&a, p) == GPU_OK;
    if (!known) (void)gpu_last_error();
    *device = known ? a.device : -1;
    return known && a.type == cudaMemoryTypeDevice;
}

/* The allocation that `p` lies in. The runtime has no such call; that of the
 * driver is looked up. */
static inline gpu_error gpu_allocation(void **base, size_t *bytes,
                                       const void *p)
{
    typedef int range_of(unsigned long long *, size_t *, unsigned long long);
    union {
        void *p;
        range_of *f;
    } call = {NULL};
    unsigned long long at = 0;
    enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    const gpu_error error = cudaGetDriverEntryPointByVersion(
        "cuMemGetAddressRange", &call.p, 12000, cudaEnableDefault, &found);
#else
    const gpu_error error = cudaGetDriverEntryPoint(
        "cuMemGetAddressRange", &call.p, cudaEnableDefault, &found);
#endif
    if (error != GPU_OK || !call.p)
        return error != GPU_OK ? error : cudaErrorNotSupported;
    if (call.f(&at, bytes, (unsigned long long)(uintptr_t)p) != 0)
        return cudaErrorInvalidValue;
    *base = (void *)(uintptr_t)at;
    return GPU_OK;
}

/* Launch a kernel. `early`: its blocks may be resident before the kernel in
 * front of it has ended, and it begins with tct_await_earlier. For GPUs of major
 * number GPU_EARLY_FROM or more. */
enum { GPU_EARLY_FROM = 9 };
#ifdef __CUDACC__
static inline gpu_error gpu_launch_early(const void *kernel, dim3 blocks,
                                         unsigned threads, void **arguments,
                                         gpu_stream stream, bool early)
{
    cudaLaunchAttribute a = {};
    cudaLaunchConfig_t c = {};
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
    c.gridDim = blocks;
    c.blockDim = dim3(threads);
    c.stream = stream;
    c.attrs = &a;
    c.numAttrs = early ? 1 : 0;
    return cudaLaunchKernelExC(&c, kernel, arguments);
}
#endif

/* An address of the host in a constant table of a .cu file. */
#define TCT_HOST(...) (__VA_ARGS__)

#endif /* TCT_HIP */
#endif
