/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/libnccl.h - NCCL, loaded on first use: no build needs it or its
 * header. The declarations are the part of its interface (unchanged since 2.15)
 * in use. */
#ifndef TCT_COMM_LINK_GPU_LIBNCCL_H
#define TCT_COMM_LINK_GPU_LIBNCCL_H
#include "device/gpu/runtime.h"
#include <stddef.h>

typedef struct tct_nccl_comm tct_nccl_comm; /* NCCL's own */
typedef struct tct_nccl_id {
    char bytes[128];
} tct_nccl_id;

/* ncclSuccess, ncclFloat32, ncclFloat64 */
enum { TCT_NCCL_OK = 0, TCT_NCCL_FLOAT = 7, TCT_NCCL_DOUBLE = 8 };

/* X(function, its result's type, its parameters): int is ncclResult_t. */
#define TCT_NCCL(X)                                                     \
    X(GetVersion, int, (int *version))                                  \
    X(GetErrorString, const char *, (int result))                       \
    X(GetLastError, const char *, (const tct_nccl_comm *comm))          \
    X(GetUniqueId, int, (tct_nccl_id * id))                             \
    X(CommInitRank, int,                                                \
      (tct_nccl_comm * *comm, int ranks, tct_nccl_id id, int rank))     \
    X(CommDestroy, int, (tct_nccl_comm * comm))                         \
    X(CommAbort, int, (tct_nccl_comm * comm))                           \
    X(GroupStart, int, (void))                                          \
    X(GroupEnd, int, (void))                                            \
    X(Send, int,                                                        \
      (const void *from, size_t count, int type, int peer,              \
       tct_nccl_comm *comm, gpu_stream stream))                         \
    X(Recv, int,                                                        \
      (void *to, size_t count, int type, int peer, tct_nccl_comm *comm, \
       gpu_stream stream))                                              \
    X(AllGather, int,                                                   \
      (const void *from, void *to, size_t count, int type,              \
       tct_nccl_comm *comm, gpu_stream stream))

typedef struct tct_nccl_library {
    int version; /* 22809: 2.28.9 */
#define X(name, type, takes) type(*name) takes;
    TCT_NCCL(X)
#undef X
} tct_nccl_library;

/* Load NCCL; it is never unloaded. `text` [size] gets its version; on failure,
 * which returns NULL, the reason. */
const tct_nccl_library *tct_nccl_load(char *text, size_t size);

#endif
