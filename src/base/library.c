/* SPDX-License-Identifier: BSD-3-Clause
 * base/library.c - libraries that are loaded on first use. */
#include "base/library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MOST = 4096 };
static const char loaded_from; /* its address is in this library */

static void *load(const char *file)
{
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

/* The folder of `file`, into `folder` [size]. */
static bool folder_of(const char *file, char *folder, size_t size)
{
    const char *end = file ? strrchr(file, '/') : NULL;
    if (!end || (size_t)(end - file) >= size) return false;
    memcpy(folder, file, (size_t)(end - file));
    folder[end - file] = '\0';
    return true;
}

/* The folder of this code: of the shared library, by the loader, or of the
 * program, by /proc. */
static bool own_folder(char *folder, size_t size)
{
    Dl_info here;
    char program[PATH_MOST];
    if (dladdr(&loaded_from, &here) && here.dli_fname[0] == '/')
        return folder_of(here.dli_fname, folder, size);
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n < 0 ? 0 : n] = '\0';
    return folder_of(program, folder, size);
}

/* Is `file` in the folder of this code, built or installed? Its path into
 * `path` [size]. */
static bool find_own(const char *file, char *path, size_t size)
{
    static const char *const ways[] = {"", TACIT_LIBRARIES "/"};
    char folder[PATH_MOST];
    if (!own_folder(folder, sizeof folder)) return false;
    for (int i = 0; i < 2; i++) {
        snprintf(path, size, "%s/%s%s", folder, ways[i], file);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
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
    char why[256], path[PATH_MOST + 64];
    if (given && *given) return open_given(l, given, text, size);
    const bool own = l->ours && find_own(l->file, path, sizeof path);
    void *handle = load(own ? path : l->file);
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
