/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/libnvshmem.h - the library of NVSHMEM for the CPU, loaded when
 * it is first asked for: no build needs it or its headers. Of its interface,
 * which is the same in all of 3, this is what is used here: it starts, and
 * gives memory. */
#ifndef TCT_COMM_LINK_GPU_LIBNVSHMEM_H
#define TCT_COMM_LINK_GPU_LIBNVSHMEM_H
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/* --- how it starts ----------------------------------------------------------- *
 * Its structures begin with a version, from which their size is known. */
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
    TCT_NVSHMEM_UNKNOWN = 0,    /* of init_status: nobody has started it ... */
    TCT_NVSHMEM_READY = 2       /* ... or it can be used, from this on       */
};

/* X(here, its name, its type, what it takes): an int of 0 is success. */
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

/* NULL: it is not here, and why, into `text` [size]; else which version it is.
 * It stays for good. */
const tct_nvshmem_library *tct_nvshmem_load(char *text, size_t size);

#endif
