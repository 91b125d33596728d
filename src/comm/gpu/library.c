/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/library.c - libraries that are loaded when they are asked for. */
#include "comm/gpu/library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *load(const char *file)
{
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static void *open_given(const tct_library *l, const char *path, char *text,
                        size_t size)
{
    void *handle = load(path);
    if (!handle)
        snprintf(text, size, "%s could not be loaded, as %s says: %s", l->name,
                 l->variable, dlerror());
    return handle;
}

void *tct_library_open(const tct_library *library, char *text, size_t size)
{
    const tct_library *l = library;
    const char *given = getenv(l->variable);
    char why[256];
    if (given && *given) return open_given(l, given, text, size);
    void *handle = load(l->file);
    if (handle) return handle;
    snprintf(why, sizeof why, "%s", dlerror());
    if (l->otherwise) handle = load(l->otherwise);
    if (!handle)
        snprintf(text, size,
                 "%s could not be loaded: %s; %s=/path/to/%s names it", l->name,
                 why, l->variable, l->file);
    return handle;
}

bool tct_library_find(const tct_library *library, void *handle,
                      const char *symbol, void *function, char *text,
                      size_t size)
{
    void *p = dlsym(handle, symbol);
    memcpy(function, &p, sizeof p);
    if (!p)
        snprintf(text, size, "the %s that was loaded has no %s", library->name,
                 symbol);
    return p != NULL;
}
