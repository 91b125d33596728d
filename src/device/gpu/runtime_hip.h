/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/runtime_hip.h - the names of runtime.h on HIP 5.2. It has no
 * conditional nodes of graphs (record.cu) and no legacy stream with a name. */
#ifndef TCT_DEVICE_GPU_RUNTIME_HIP_H
#define TCT_DEVICE_GPU_RUNTIME_HIP_H
#ifdef __HIP__
#include <hip/hip_runtime.h>
/* Arguments of kernels are constants in any case. */
#define __grid_constant__
#else
#include <hip/hip_runtime_api.h>
#endif

#include <limits.h>

typedef hipError_t gpu_error;
typedef hipStream_t gpu_stream;
typedef hipEvent_t gpu_event;
typedef hipGraph_t gpu_graph;
typedef hipGraphExec_t gpu_graph_exec;
typedef hipGraphNode_t gpu_graph_node;
typedef hipDeviceProp_t gpu_properties;
typedef hipMemcpy3DParms gpu_copy_3d;

#define GPU_OK          hipSuccess
#define GPU_NOT_READY   hipErrorNotReady
#define GPU_BAD_HANDLE  hipErrorInvalidHandle
#define GPU_NO_MEMORY   hipErrorOutOfMemory
#define GPU_TO_DEVICE   hipMemcpyHostToDevice
#define GPU_TO_HOST     hipMemcpyDeviceToHost
#define GPU_ON_DEVICE   hipMemcpyDeviceToDevice
#define GPU_ANYWHERE    hipMemcpyDefault
#define GPU_HOST_MAPPED hipHostMallocMapped

#define gpu_error_text            hipGetErrorString
#define gpu_error_name            hipGetErrorName
#define gpu_last_error            hipGetLastError
#define gpu_device_count          hipGetDeviceCount
#define gpu_get_device            hipGetDevice
#define gpu_set_device            hipSetDevice
#define gpu_driver_version        hipDriverGetVersion
#define gpu_bus_id                hipDeviceGetPCIBusId
#define gpu_by_bus_id             hipDeviceGetByPCIBusId
#define gpu_can_reach             hipDeviceCanAccessPeer
#define gpu_get_properties        hipGetDeviceProperties
#define gpu_get_attribute         hipDeviceGetAttribute
#define gpu_memory_info           hipMemGetInfo
#define gpu_malloc                hipMalloc
#define gpu_free                  hipFree
#define gpu_host_malloc           hipHostMalloc
#define gpu_host_free             hipHostFree
#define gpu_host_pointer          hipHostGetDevicePointer
#define gpu_ipc_handle            hipIpcMemHandle_t
#define gpu_ipc_give              hipIpcGetMemHandle
#define gpu_ipc_take              hipIpcOpenMemHandle
#define gpu_ipc_close             hipIpcCloseMemHandle
#define GPU_IPC_REACH             hipIpcMemLazyEnablePeerAccess
#define gpu_memcpy                hipMemcpy
#define gpu_memcpy_async          hipMemcpyAsync
#define gpu_memcpy_2d_async       hipMemcpy2DAsync
#define gpu_memcpy_3d_async       hipMemcpy3DAsync
#define gpu_memset                hipMemset
#define gpu_memset_async          hipMemsetAsync
#define gpu_stream_create         hipStreamCreateWithFlags
#define gpu_stream_create_ranked  hipStreamCreateWithPriority
#define gpu_stream_ranks          hipDeviceGetStreamPriorityRange
#define GPU_STREAM_NON_BLOCKING   hipStreamNonBlocking
#define gpu_stream_destroy        hipStreamDestroy
#define gpu_stream_sync           hipStreamSynchronize
#define gpu_stream_query          hipStreamQuery
#define GPU_STREAM_LEGACY         NULL
#define GPU_STREAM_PER_THREAD     hipStreamPerThread
#define gpu_stream_capturing      hipStreamIsCapturing
#define gpu_capture_status        hipStreamCaptureStatus
#define GPU_NOT_CAPTURING         hipStreamCaptureStatusNone
#define gpu_event_create          hipEventCreate
#define gpu_event_destroy         hipEventDestroy
#define gpu_event_record          hipEventRecord
#define gpu_event_sync            hipEventSynchronize
#define gpu_event_elapsed         hipEventElapsedTime
#define gpu_capture_begin         hipStreamBeginCapture
#define gpu_capture_end           hipStreamEndCapture
#define GPU_CAPTURE_RELAXED       hipStreamCaptureModeRelaxed
#define gpu_graph_instantiate     hipGraphInstantiateWithFlags
#define gpu_graph_launch          hipGraphLaunch
#define gpu_graph_destroy         hipGraphDestroy
#define gpu_graph_exec_destroy    hipGraphExecDestroy
#define gpu_function_attribute    hipFuncSetAttribute
#define gpu_function_attributes   hipFuncAttributes
#define gpu_function_get          hipFuncGetAttributes
#define gpu_enable_peer           hipDeviceEnablePeerAccess
#define GPU_PEER_ENABLED          hipErrorPeerAccessAlreadyEnabled
#define GPU_DYNAMIC_SHARED        hipFuncAttributeMaxDynamicSharedMemorySize
#define GPU_ATTRIBUTE_COOPERATIVE hipDeviceAttributeCooperativeLaunch
#define GPU_ATTRIBUTE_MAJOR       hipDeviceAttributeComputeCapabilityMajor
#define gpu_occupancy             hipOccupancyMaxActiveBlocksPerMultiprocessor
#define gpu_stream_wait_event     hipStreamWaitEvent
#define gpu_event_create_with     hipEventCreateWithFlags
#define GPU_EVENT_NO_TIMING       hipEventDisableTiming

/* The header declares hipLaunchHostFunc, the library of 5.2 has it not: tasks of
 * triggered queues are refused. */
static inline hipError_t gpu_launch_host(hipStream_t stream,
                                         void (*task)(void *), void *ctx)
{
    (void)stream;
    (void)task;
    (void)ctx;
    return hipErrorNotSupported;
}

/* An address of the host in a constant table. HIP keeps such tables for the GPU,
 * too, and would look for the function in its code. */
#ifdef __HIP_DEVICE_COMPILE__
#define TCT_HOST(...) (true ? nullptr : (__VA_ARGS__))
#else
#define TCT_HOST(...) (__VA_ARGS__)
#endif

#define GPU_MAKER  "AMD"
#define GPU_CAVEAT "; built for HIP, never run on AMD"

/* Loops of graphs are replayed by the CPU: no driver has while nodes. */
#define GPU_NO_WHILE_NODE hipErrorNotSupported
#define GPU_WHILE_NODES   INT_MAX

static inline size_t gpu_shared_most(const gpu_properties *p)
{
    return p->sharedMemPerBlock;
}
static inline void gpu_model(const gpu_properties *p, char *text, size_t size)
{
    snprintf(text, size, "%.60s", p->gcnArchName);
}
static inline gpu_error gpu_launch(const void *kernel, dim3 blocks,
                                   dim3 threads, void **arguments,
                                   size_t shared, gpu_stream stream)
{
    return hipLaunchKernel(kernel, blocks, threads, arguments, shared, stream);
}
/* No kernel is resident before the one before it has ended. */
enum { GPU_EARLY_FROM = INT32_MAX };
static inline gpu_error gpu_launch_early(const void *kernel, dim3 blocks,
                                         unsigned threads, void **arguments,
                                         gpu_stream stream, bool early)
{
    const dim3 block = {threads, 1, 1};
    (void)early;
    return hipLaunchKernel(kernel, blocks, block, arguments, 0, stream);
}
static inline gpu_error gpu_launch_cooperative(const void *kernel, dim3 blocks,
                                               dim3 threads, void **arguments,
                                               size_t shared, gpu_stream stream)
{
    return hipLaunchCooperativeKernel(kernel, blocks, threads, arguments,
                                      (unsigned)shared, stream);
}
static inline gpu_error gpu_uuid(const gpu_properties *p, int device, char *to)
{
    hipUUID uuid;
    const gpu_error error = hipDeviceGetUuid(&uuid, device);
    (void)p;
    if (error == GPU_OK) memcpy(to, uuid.bytes, sizeof uuid.bytes);
    return error;
}

/* Is `p` in memory of a GPU alone, and of which? */
static inline bool gpu_owns(const void *p, int *device)
{
    hipPointerAttribute_t a;
    const bool known = hipPointerGetAttributes(&a, p) == GPU_OK;
    if (!known) (void)gpu_last_error();
    *device = known ? a.device : -1;
#if HIP_VERSION_MAJOR >= 6
    return known && a.type == hipMemoryTypeDevice;
#else
    return known && a.memoryType == hipMemoryTypeDevice;
#endif
}

/* The allocation that `p` lies in. */
static inline gpu_error gpu_allocation(void **base, size_t *bytes,
                                       const void *p)
{
    return hipMemGetAddressRange(base, bytes, (void *)(uintptr_t)p);
}

#define GPU_REACHED_IS_ANY false
/* Stores of other GPUs to memory of hipMalloc may stay in caches while a kernel
 * runs. */
static inline gpu_error gpu_malloc_reached(void **to, size_t bytes)
{
    return hipExtMallocWithFlags(to, bytes, hipDeviceMallocFinegrained);
}

#endif
