/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/libnccl.c - NCCL, loaded on first use. */
#include "comm/link/gpu/libnccl.h"
#include "base/library.h"
#include <pthread.h>
#include <stdio.h>

/* Older versions do not separate recording from launching. */
enum { OLDEST = 21500 };

static struct {
    pthread_once_t once;
    bool loaded;
    tct_nccl_library calls;
    char text[400];
} nccl = {.once = PTHREAD_ONCE_INIT};

static const tct_library library = {.name = "NCCL",
                                    .variable = "TACIT_NCCL",
                                    .file = "libnccl.so.2",
                                    .otherwise = "libnccl.so"};

static bool find(void *handle, const char *symbol, void *function)
{
    return tct_library_find(&library, handle, symbol, function, nccl.text,
                            sizeof nccl.text);
}

static void name_version(void)
{
    const int v = nccl.calls.version; /* 4 digits before 2.9 */
    const int thousand = v < 10000 ? 1000 : 10000;
    snprintf(nccl.text, sizeof nccl.text, "NCCL %d.%d.%d%s", v / thousand,
             v % thousand / 100, v % 100,
             v < OLDEST ? " is too old: 2.15 is needed" : "");
}

static void load(void)
{
    void *handle = tct_library_open(&library, nccl.text, sizeof nccl.text);
    tct_nccl_library *l = &nccl.calls;
    if (!handle) return;
#define X(name, type, takes) \
    if (!find(handle, "nccl" #name, &l->name)) return;
    TCT_NCCL(X)
#undef X
    if (l->GetVersion(&l->version) != TCT_NCCL_OK) l->version = 0;
    name_version();
    nccl.loaded = l->version >= OLDEST;
}

const tct_nccl_library *tct_nccl_load(char *text, size_t size)
{
    pthread_once(&nccl.once, load);
    snprintf(text, size, "%s", nccl.text);
    return nccl.loaded ? &nccl.calls : NULL;
}
