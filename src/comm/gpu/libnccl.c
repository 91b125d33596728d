/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/libnccl.c - NCCL, loaded. */
#include "comm/gpu/libnccl.h"
#include "base/base.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Older ones do not keep apart what is recorded and what is launched. */
enum { OLDEST = 21500 };

static struct {
    pthread_once_t once;
    bool loaded;
    tct_nccl_library calls;
    char text[400];
} nccl = {.once = PTHREAD_ONCE_INIT};

static void *open_library(void)
{
    static const char *const names[] = {"libnccl.so.2", "libnccl.so"};
    const char *given = getenv("TACIT_NCCL");
    char why[256] = "";
    void *handle = NULL;
    if (given && *given) {
        handle = dlopen(given, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            snprintf(nccl.text, sizeof nccl.text,
                     "NCCL could not be loaded, as TACIT_NCCL says: %s",
                     dlerror());
        return handle;
    }
    for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++) {
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!handle && i == 0) snprintf(why, sizeof why, "%s", dlerror());
    }
    if (!handle)
        snprintf(nccl.text, sizeof nccl.text,
                 "NCCL could not be loaded: %s; TACIT_NCCL=/path/to/"
                 "libnccl.so.2 names it",
                 why);
    return handle;
}

static bool find(void *handle, const char *name, void *function)
{
    void *p = dlsym(handle, name);
    memcpy(function, &p, sizeof p);
    if (!p)
        snprintf(nccl.text, sizeof nccl.text,
                 "the NCCL that was loaded has no %s", name);
    return p != NULL;
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
    void *handle = open_library();
    tct_nccl_library *l = &nccl.calls;
    if (!handle) return;
#define X(name, type, takes) \
    if (!find(handle, "nccl" #name, &l->name)) return;
    TCT_NCCL(X)
#undef X
    (void)find(handle, "ncclCommRevoke", &l->CommRevoke);
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
