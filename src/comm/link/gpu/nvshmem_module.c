/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/nvshmem_module.c - the module, loaded on first use, after
 * libnvshmem.c has loaded NVSHMEM. */
#include "comm/link/gpu/nvshmem_module.h"
#include "base/library.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const tct_library library = {.name = "the module for NVSHMEM's calls",
                                    .variable = "TACIT_NVSHMEM_MODULE",
                                    .file = "libtacit_nvshmem.so",
                                    .ours = true};

static struct {
    pthread_once_t once;
    const tct_nvshmem_module *loaded;
    char text[400];
} module = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    tct_nvshmem_module_fn *find = NULL;
    void *handle = tct_library_open(&library, module.text, sizeof module.text);
    if (!handle || !tct_library_find(&library, handle, TCT_NVSHMEM_MODULE_NAME,
                                     &find, module.text, sizeof module.text))
        return;
    const tct_nvshmem_module *m = find();
    if (strcmp(m->version, TACIT_VERSION) == 0 &&
        m->layout == TCT_NVSHMEM_MODULE_LAYOUT)
        module.loaded = m;
    else
        snprintf(module.text, sizeof module.text,
                 "%s is of another build (%s, this is %s)", library.name,
                 m->version, TACIT_VERSION);
}

const tct_nvshmem_module *tct_nvshmem_module_load(char *text, size_t size)
{
    pthread_once(&module.once, load);
    snprintf(text, size, "%s", module.text);
    return module.loaded;
}
