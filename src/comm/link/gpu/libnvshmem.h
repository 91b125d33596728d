/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/libnvshmem.h - NVSHMEM's library for the CPU, loaded on first
 * use: no build needs it or its headers. The declarations are the part of its
 * interface (the same in all of 3) in use: start, and memory. */
#ifndef TCT_COMM_LINK_GPU_LIBNVSHMEM_H
#define TCT_COMM_LINK_GPU_LIBNVSHMEM_H
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/* --- start ------------------------------------------------------------- *
 * Its structures begin with a version, which encodes their size. */
#define TCT_NVSHMEM_VERSION(type) ((1 << 16) + (int)sizeof(type))

typedef struct tct_nvshmem_id { /* nvshmemx_uniqueid_t */
    int version;
    char bytes[124];
} tct_nvshmem_id;

typedef struct tct_nvshmem_id_args { /* nvshmemx_uniqueid_args_t */
    int version;
    const tct_nvshmem_id *id;
    int rank, ranks;
} tct_nvshmem_id_args;

typedef struct tct_nvshmem_args { /* nvshmemx_init_args_t */
    int version;
    tct_nvshmem_id_args id;
    char rest[96];
} tct_nvshmem_args;

typedef struct tct_nvshmem_attr { /* nvshmemx_init_attr_t */
    int version;
    void *mpi;
    tct_nvshmem_args args;
} tct_nvshmem_attr;

static_assert(sizeof(tct_nvshmem_id) == 128 &&
                  sizeof(tct_nvshmem_id_args) == 24 &&
                  sizeof(tct_nvshmem_args) == 128 &&
                  sizeof(tct_nvshmem_attr) == 144 &&
                  offsetof(tct_nvshmem_args, id) == 8 &&
                  offsetof(tct_nvshmem_attr, args) == 16,
              "these are NVSHMEM's own");

enum {
    TCT_NVSHMEM_BY_ID = 1 << 3, /* NVSHMEMX_INIT_WITH_UNIQUEID               */
    TCT_NVSHMEM_UNKNOWN = 0,    /* init_status: not started */
    TCT_NVSHMEM_READY = 2       /* this value and above: usable */
};

/* X(here, its name, its result's type, its parameters): int 0 is success. */
#define TCT_NVSHMEM(X)                                                         \
    X(get_version, nvshmemx_vendor_get_version_info, void,                     \
      (int *major, int *minor, int *patch))                                    \
    X(init_status, nvshmemx_init_status, int, (void))                          \
    X(get_id, nvshmemx_get_uniqueid, int, (tct_nvshmem_id * id))               \
    X(set_id, nvshmemx_set_attr_uniqueid_args, int,                            \
      (int rank, int ranks, const tct_nvshmem_id *id, tct_nvshmem_attr *attr)) \
    X(init, nvshmemx_hostlib_init_attr, int,                                   \
      (unsigned flags, tct_nvshmem_attr *attr))                                \
    X(my_pe, nvshmem_my_pe, int, (void))                                       \
    X(n_pes, nvshmem_n_pes, int, (void))                                       \
    X(align, nvshmem_align, void *, (size_t alignment, size_t bytes))          \
    X(free, nvshmem_free, void, (void *p))                                     \
    X(at, nvshmem_ptr, void *, (const void *p, int pe))

typedef struct tct_nvshmem_library {
    int version[3]; /* 3.4.5 */
#define X(here, name, type, takes) type(*here) takes;
    TCT_NVSHMEM(X)
#undef X
} tct_nvshmem_library;

/* Load NVSHMEM; it is never unloaded. `text` [size] gets its version; on
 * failure, which returns NULL, the reason. */
const tct_nvshmem_library *tct_nvshmem_load(char *text, size_t size);

#endif
