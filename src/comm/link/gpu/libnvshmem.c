/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/libnvshmem.c - NVSHMEM's library for the CPU, loaded on first
 * use. It finds its own plug-ins in its folder. */
#include "comm/link/gpu/libnvshmem.h"
#include "base/library.h"
#include <pthread.h>
#include <stdio.h>

enum { MAJOR = 3 }; /* other versions have other structures */

static const tct_library library = {.name = "NVSHMEM",
                                    .variable = "TACIT_NVSHMEM",
                                    .file = "libnvshmem_host.so.3"};

static struct {
    pthread_once_t once;
    bool loaded;
    tct_nvshmem_library calls;
    char text[400];
} nvshmem = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    void *handle =
        tct_library_open(&library, nvshmem.text, sizeof nvshmem.text);
    tct_nvshmem_library *l = &nvshmem.calls;
    int *v = l->version;
    if (!handle) return;
#define X(here, name, type, takes)                                         \
    if (!tct_library_find(&library, handle, #name, &l->here, nvshmem.text, \
                          sizeof nvshmem.text))                            \
        return;
    TCT_NVSHMEM(X)
#undef X
    l->get_version(&v[0], &v[1], &v[2]);
    nvshmem.loaded = v[0] == MAJOR;
    snprintf(nvshmem.text, sizeof nvshmem.text, "NVSHMEM %d.%d.%d%s", v[0],
             v[1], v[2], nvshmem.loaded ? "" : " is not 3, which is needed");
}

const tct_nvshmem_library *tct_nvshmem_load(char *text, size_t size)
{
    pthread_once(&nvshmem.once, load);
    snprintf(text, size, "%s", nvshmem.text);
    return nvshmem.loaded ? &nvshmem.calls : NULL;
}
