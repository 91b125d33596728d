/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nvshmem_module.h - NVSHMEM's own device calls, for memory that
 * kernels do not reach. They have to be linked with NVSHMEM's device library,
 * so what calls them is a library of its own, libtacit_nvshmem.so, which is
 * loaded when it is needed: this is all that it and the library know of each
 * other. */
#ifndef TCT_COMM_LINK_GPU_NVSHMEM_MODULE_H
#define TCT_COMM_LINK_GPU_NVSHMEM_MODULE_H
#include "comm/link/gpu/peer.h"

/* The two are of one build if they agree on these. */
#define TCT_NVSHMEM_MODULE_LAYOUT                                             \
    (sizeof(tct_peer_common) + sizeof(tct_peer_plan) + sizeof(tct_peer_end) + \
     sizeof(tct_op) + sizeof(tct_gpu_launch))

typedef struct tct_nvshmem_module {
    const char *version; /* of Tacit */
    size_t layout;
    tct_peer_kernels kernels;
    /* Once NVSHMEM has started on the current GPU: 0 is success. */
    int (*start)(void);
    /* Wait on the stream until all that was put from this GPU has arrived. */
    gpu_error (*settle)(gpu_stream stream);
} tct_nvshmem_module;

/* The one name in it. */
#define TCT_NVSHMEM_MODULE_NAME "tct_nvshmem_module_of"
typedef const tct_nvshmem_module *tct_nvshmem_module_fn(void);

/* The module, loaded for good; NULL: it is not here, and why, into `text`
 * [size]. */
#ifdef __cplusplus
extern "C"
#endif
    const tct_nvshmem_module *
    tct_nvshmem_module_load(char *text, size_t size);

#endif
