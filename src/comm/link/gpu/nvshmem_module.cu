/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nvshmem_module.cu - the kernels of peer.cuh where ranks may be
 * far, with NVSHMEM's calls: a library of its own, linked with NVSHMEM's device
 * library.
 *
 * A put and its signal are one call, and the signal is seen behind what was
 * put. No call here waits for other ranks; what NVSHMEM waits for in them is
 * room in the queue of this GPU to the network. */
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

    /* NVSHMEM's own wait, which ends at once, does what this machine needs so
     * that what a network wrote before the signal is seen. */
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
 * enters it once more, for the constants that its calls read. What the public
 * call for that comes to, which would end the process where it fails. */
static int start()
{
    int provided;
    const int status = nvshmemi_init_thread(
        NVSHMEM_THREAD_SERIALIZED, &provided, 0, NULL,
        {NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION,
         NVSHMEM_VENDOR_PATCH_VERSION});
    /* which does not fail where there are no kernels for this GPU */
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
