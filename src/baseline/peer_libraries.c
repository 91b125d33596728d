/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_libraries.c - cuSPARSE and cuBLAS, which the baseline loads when
 * it runs, and what their statuses mean. */
#include "baseline/peer_state.h"
#ifdef TCT_PEER_IN_BUILD
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tct_peer_functions tct_peer_lib;

/* dlopen `path`; `why` gets a reason other than a missing file. */
static void *try_open(const char *path, char *why, size_t size)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *text = handle ? NULL : dlerror();
    const bool absent = !text || (strncmp(text, path, strlen(path)) == 0 &&
                                  strstr(text, "No such file"));
    if (!absent) snprintf(why, size, ": %s", text);
    return handle;
}

/* The library `stem`, from the loader's or CUDA's own folders. */
static tacit_status open_library(const char *stem, void **out)
{
    static const char *const endings[] = {".so", ".so.13", ".so.12"};
    const char *home = getenv("CUDA_HOME"), *path = getenv("CUDA_PATH");
    const char *const roots[] = {NULL, home, path, "/usr/local/cuda"};
    char file[4096], why[512] = "";
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        if (r > 0 && !roots[r]) continue;
        for (int k = 0; k < 6; k++) { /* lib64, then lib */
            const char *ending = endings[k % 3];
            if (r == 0) snprintf(file, sizeof file, "%s%s", stem, ending);
            else
                snprintf(file, sizeof file, "%s/%s/%s%s", roots[r],
                         k < 3 ? "lib64" : "lib", stem, ending);
            *out = try_open(file, why, sizeof why);
            if (*out) return TACIT_OK;
        }
    }
    FAIL(TACIT_UNSUPPORTED,
         "%s could not be loaded (.so, .so.13, .so.12; looked in the loader's "
         "path, CUDA_HOME, CUDA_PATH and /usr/local/cuda)%s: put its folder "
         "into LD_LIBRARY_PATH",
         stem, why);
}

static tacit_status find_name(void *library, const char *stem, const char *name,
                              void *function)
{
    void *p = dlsym(library, name);
    if (!p)
        FAIL(TACIT_UNSUPPORTED,
             "the %s that was found has no %s: CUDA 12 or newer is needed",
             stem, name);
    memcpy(function, &p, sizeof p);
    return TACIT_OK;
}

tacit_status tct_peer_load(void)
{
    static const char sparse_name[] = "libcusparse", blas_name[] = "libcublas";
    void *sparse = NULL, *blas = NULL, *optional;
    if (tct_peer_lib.loaded) return TACIT_OK;
    TRY(open_library(sparse_name, &sparse));
    TRY(open_library(blas_name, &blas));
#define FIND(f) TRY(find_name(sparse, sparse_name, #f, &tct_peer_lib.f));
    TCT_SPARSE_NAMES(FIND)
#undef FIND
#define FIND(f) TRY(find_name(blas, blas_name, #f, &tct_peer_lib.f));
    TCT_BLAS_NAMES(FIND)
#undef FIND
    optional = dlsym(sparse, "cusparseSpMV_preprocess");
    memcpy(&tct_peer_lib.preprocess, &optional, sizeof optional);
    tct_peer_lib.loaded = true; /* and is never unloaded */
    return TACIT_OK;
}

/* --- statuses ------------------------------------------------------------- */

tacit_status tct_peer_sparse_status(cusparseStatus_t s, const char *call)
{
    if (s == CUSPARSE_STATUS_SUCCESS) return TACIT_OK;
    const bool memory = s == CUSPARSE_STATUS_ALLOC_FAILED ||
                        s == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    FAIL(memory                               ? TACIT_NO_MEMORY
         : s == CUSPARSE_STATUS_NOT_SUPPORTED ? TACIT_UNSUPPORTED
                                              : TACIT_DEVICE,
         "cuSPARSE: %s: %s (%d)", call, tct_peer_lib.cusparseGetErrorString(s),
         (int)s);
}

tacit_status tct_peer_gpu_status(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return TACIT_OK;
    (void)cudaGetLastError(); /* clear an error that does not last */
    FAIL(error == cudaErrorMemoryAllocation ? TACIT_NO_MEMORY : TACIT_DEVICE,
         "the GPU: the baseline: %s: %s (%s)", call, cudaGetErrorString(error),
         cudaGetErrorName(error));
}

tacit_status tct_peer_blas_status(cublasStatus_t s, const char *call)
{
    if (s == CUBLAS_STATUS_SUCCESS) return TACIT_OK;
    FAIL(s == CUBLAS_STATUS_ALLOC_FAILED ? TACIT_NO_MEMORY : TACIT_DEVICE,
         "cuBLAS: %s: %s (%d)", call, tct_peer_lib.cublasGetStatusString(s),
         (int)s);
}

#endif
