/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nvshmem_module.cu - the kernels of peer.cuh with NVSHMEM's
 * calls, for ranks without P2P: a library of its own, linked with NVSHMEM's
 * device library.
 *
 * A put and its signal are one call, and the signal becomes visible after the
 * data. No call waits for other ranks; NVSHMEM itself waits only for room in
 * this GPU's queue to the network. */
#include "comm/link/gpu/nvshmem_module.h"
#include "comm/link/gpu/peer.cuh"
#include <nvshmem.h>
#include <nvshmemx.h>

struct nvshmem_calls {
    static constexpr bool there = true;

    static __device__ inline void put(void *to, const void *from, size_t bytes,
                                      uint64_t *signal, uint64_t number, int r)
    {
        nvshmemx_putmem_signal_nbi_block(to, from, bytes, signal, number,
                                         NVSHMEM_SIGNAL_SET, r);
    }

    static __device__ inline void say(uint64_t *signal, uint64_t number, int r)
    {
        nvshmemx_signal_op(signal, number, NVSHMEM_SIGNAL_SET, r);
    }

    /* NVSHMEM's own wait returns at once, after the fences that make data
     * written by a network before the signal visible. */
    static __device__ inline void came(uint64_t *signal, uint64_t number)
    {
        nvshmem_uint64_wait_until(signal, NVSHMEM_CMP_GE, number);
    }
};

static __global__ void wait_for_puts()
{
    nvshmem_quiet();
}

static gpu_error settle(gpu_stream stream)
{
    wait_for_puts<<<1, 1, 0, stream>>>();
    const gpu_error error = gpu_last_error();
    return error == GPU_OK ? gpu_stream_sync(stream) : error;
}

/* The job has begun in NVSHMEM's library for the CPU; each library of kernels
 * joins it, for the constants that its calls read. This is the body of the
 * public call, which would end the process on failure. */
static int start()
{
    int provided;
    const int status = nvshmemi_init_thread(
        NVSHMEM_THREAD_SERIALIZED, &provided, 0, NULL,
        {NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION,
         NVSHMEM_VENDOR_PATCH_VERSION});
    /* a success even if there are no kernels for this GPU */
    return status != 0 ? status : (int)settle(NULL);
}

static const tct_nvshmem_module module = {
    TACIT_VERSION,
    TCT_NVSHMEM_MODULE_LAYOUT,
    {launch_sum<nvshmem_calls>, launch_exchange<nvshmem_calls>},
    start,
    settle};

extern "C" __attribute__((visibility("default"))) const tct_nvshmem_module *
tct_nvshmem_module_of()
{
    return &module;
}
