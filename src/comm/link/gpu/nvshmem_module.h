/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nvshmem_module.h - NVSHMEM's device calls, for memory without
 * P2P. They need NVSHMEM's device library, so the kernels with these calls are
 * a library of their own, libtacit_nvshmem.so, loaded on demand. This header is
 * the interface between the two libraries. */
#ifndef TCT_COMM_LINK_GPU_NVSHMEM_MODULE_H
#define TCT_COMM_LINK_GPU_NVSHMEM_MODULE_H
#include "comm/link/gpu/peer.h"

/* Both libraries are of one build if this is equal in them. */
#define TCT_NVSHMEM_MODULE_LAYOUT                                             \
    (sizeof(tct_peer_common) + sizeof(tct_peer_plan) + sizeof(tct_peer_end) + \
     sizeof(tct_op) + sizeof(tct_gpu_launch))

typedef struct tct_nvshmem_module {
    const char *version; /* of Tacit */
    size_t layout;
    tct_peer_kernels kernels;
    /* Call once, after NVSHMEM has started on the current GPU: 0 is success. */
    int (*start)(void);
    /* Wait on the stream until all puts of this GPU have arrived. */
    gpu_error (*settle)(gpu_stream stream);
} tct_nvshmem_module;

/* Its only exported symbol. */
#define TCT_NVSHMEM_MODULE_NAME "tct_nvshmem_module_of"
typedef const tct_nvshmem_module *tct_nvshmem_module_fn(void);

/* Load the module; it is never unloaded. NULL: failed, with the reason in
 * `text` [size]. */
#ifdef __cplusplus
extern "C"
#endif
    const tct_nvshmem_module *
    tct_nvshmem_module_load(char *text, size_t size);

#endif
