/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_state.h - what the files of the baseline on cuSPARSE share, in a
 * build that has its headers. */
#ifndef TCT_BASELINE_PEER_STATE_H
#define TCT_BASELINE_PEER_STATE_H
#include "baseline/base.h"
#include "baseline/peer_style.h"
#ifndef TCT_HAVE_PEER
#define TCT_HAVE_PEER 0 /* 1 in a target with peer_scalars.cu */
#endif

/* Two lines: some preprocessors lack __has_include. */
#if TCT_HAVE_PEER && defined(__has_include)
#if __has_include(<cusparse.h>) && __has_include(<cublas_v2.h>)
#define TCT_PEER_IN_BUILD 1
#endif
#endif

enum { TCT_PEER_VARIANTS = 3 };

#ifdef TCT_PEER_IN_BUILD
#include "baseline/peer_scalars.h"
#define DISABLE_CUSPARSE_DEPRECATED /* it warns of its own names */
#include <cublas_v2.h>
#include <cusparse.h>

/* --- peer_libraries.c ----------------------------------------------------- */

#define TCT_SPARSE_NAMES(X)    \
    X(cusparseCreate)          \
    X(cusparseDestroy)         \
    X(cusparseSetStream)       \
    X(cusparseGetErrorString)  \
    X(cusparseCreateCsr)       \
    X(cusparseDestroySpMat)    \
    X(cusparseCreateDnVec)     \
    X(cusparseDestroyDnVec)    \
    X(cusparseSpMV_bufferSize) \
    X(cusparseSpMV)
#define TCT_BLAS_NAMES(X)      \
    X(cublasCreate_v2)         \
    X(cublasDestroy_v2)        \
    X(cublasSetStream_v2)      \
    X(cublasSetPointerMode_v2) \
    X(cublasGetStatusString)   \
    X(cublasDdot_v2)           \
    X(cublasDnrm2_v2)          \
    X(cublasDaxpy_v2)          \
    X(cublasDscal_v2)

extern struct tct_peer_functions {
    bool loaded;
#define MEMBER(f) __typeof__(&f) f;
    TCT_SPARSE_NAMES(MEMBER)
    TCT_BLAS_NAMES(MEMBER)
#undef MEMBER
    /* from 12.4 on; arguments as the product's. NULL: missing */
    __typeof__(&cusparseSpMV) preprocess;
} tct_peer_lib;

/* Load both libraries, once.
 * Errors      UNSUPPORTED (not found, or too old). */
tacit_status tct_peer_load(void);
/* The status of a `call`. */
tacit_status tct_peer_sparse_status(cusparseStatus_t s, const char *call);
tacit_status tct_peer_gpu_status(cudaError_t error, const char *call);
tacit_status tct_peer_blas_status(cublasStatus_t s, const char *call);

#define SPARSE(f, ...) \
    TRY(tct_peer_sparse_status(tct_peer_lib.f(__VA_ARGS__), #f))
#define BLAS(f, ...) TRY(tct_peer_blas_status(tct_peer_lib.f(__VA_ARGS__), #f))
#define GPU(f, ...)  TRY(tct_peer_gpu_status(f(__VA_ARGS__), #f))

/* --- peer_style.c --------------------------------------------------------- */

/* Scalars on the device. The squared norms of two iterations alternate. */
enum {
    S_RR,
    S_RR_ODD,
    S_PT,
    S_ALPHA,
    S_MINUS_ALPHA,
    S_BETA,
    S_MINUS_BETA,
    S_ONE,
    S_COUNT
};

typedef struct tct_peer_algorithm {
    cusparseSpMVAlg_t id;
    const char *name;
    cusparseSpMatDescr_t matrix; /* one each: preprocessing marks it */
    void *buffer;
    double buffer_bytes, seconds;
} tct_peer_algorithm;

typedef struct tct_peer_vector {
    double *v;
    cusparseDnVecDescr_t description;
} tct_peer_vector;

struct tct_peer {
    cudaStream_t stream, copies;
    cudaEvent_t ready, start, stop;
    cusparseHandle_t sparse;
    cublasHandle_t blas;
    int n;
    int64_t nonzeros;
    bool wide; /* 64-bit indices */
    void *ptr, *col;
    double *val, *b;
    tct_peer_vector x, r, p, t;
    double *s;    /* [S_COUNT] on the device             */
    double *seen; /* 1 on the host, the GPU copies to it */
    tct_peer_algorithm algorithms[2];
    tct_peer_algorithm *best;
    double bytes;
    char about[96];
};

/* y = A x */
tacit_status tct_peer_multiply(tct_peer *P, const tct_peer_vector *x,
                               const tct_peer_vector *y);
#endif /* TCT_PEER_IN_BUILD */
#endif
