/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_style.c - conjugate gradients on cuSPARSE and cuBLAS, a
 * baseline. */
#include "baseline/peer_style.h"
#include "baseline/base.h"
#include <math.h>
#include <stdio.h>
#ifndef TCT_HAVE_PEER
#define TCT_HAVE_PEER 0 /* 1 in a target with peer_scalars.cu */
#endif

static const tct_peer_variant variants[] = {
    {"peer-style/host",
     "cuSPARSE and cuBLAS, scalars on the host: 2 copies back an iteration"},
    {"peer-style/device",
     "cuSPARSE and cuBLAS, scalars on the device: 1 copy back an iteration"},
    {"peer-style/overlap",
     "cuSPARSE, cuBLAS dots, own updates: 1 copy back behind two updates"},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

const tct_peer_variant *tct_peer_variant_at(int i)
{
    return i >= 0 && i < VARIANTS ? &variants[i] : NULL;
}

/* Two lines: some preprocessors lack __has_include. */
#if TCT_HAVE_PEER && defined(__has_include)
#if __has_include(<cusparse.h>) && __has_include(<cublas_v2.h>)
#define HAVE_PEER 1
#endif
#endif

#ifndef HAVE_PEER

tacit_status tct_peer_create(int64_t rows, const int64_t *ptr,
                             const int32_t *col, const double *val,
                             tct_peer **out)
{
    (void)rows, (void)ptr, (void)col, (void)val, (void)out;
    FAIL(TACIT_UNSUPPORTED, "the baseline on cuSPARSE is not in this build: "
                            "configured without CUDA or its headers");
}

tacit_status tct_peer_solve(tct_peer *P, int variant, const double *b,
                            double rtol, int64_t max_iterations,
                            tct_peer_result *out)
{
    (void)P, (void)variant, (void)b, (void)rtol, (void)max_iterations;
    (void)out;
    FAIL(TACIT_UNSUPPORTED, "the baseline on cuSPARSE is not in this build");
}

double tct_peer_spmv_seconds(tct_peer *P)
{
    (void)P;
    return NAN;
}

void tct_peer_destroy(tct_peer **P)
{
    *P = NULL; /* this build has none */
}

#else

#include "baseline/peer_scalars.h"
#define DISABLE_CUSPARSE_DEPRECATED /* it warns of its own names */
#include <cublas_v2.h>
#include <cusparse.h>
#include <dlfcn.h>

/* --- the libraries, loaded once ------------------------------------------- */

#define SPARSE_NAMES(X)        \
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
#define BLAS_NAMES(X)          \
    X(cublasCreate_v2)         \
    X(cublasDestroy_v2)        \
    X(cublasSetStream_v2)      \
    X(cublasSetPointerMode_v2) \
    X(cublasGetStatusString)   \
    X(cublasDdot_v2)           \
    X(cublasDnrm2_v2)          \
    X(cublasDaxpy_v2)          \
    X(cublasDscal_v2)

static struct {
    bool loaded;
#define MEMBER(f) __typeof__(&f) f;
    SPARSE_NAMES(MEMBER)
    BLAS_NAMES(MEMBER)
#undef MEMBER
    /* from 12.4 on; arguments as the product's. NULL: missing */
    __typeof__(&cusparseSpMV) preprocess;
} lib;

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

static tacit_status load(void)
{
    static const char sparse_name[] = "libcusparse", blas_name[] = "libcublas";
    void *sparse = NULL, *blas = NULL, *optional;
    if (lib.loaded) return TACIT_OK;
    TRY(open_library(sparse_name, &sparse));
    TRY(open_library(blas_name, &blas));
#define FIND(f) TRY(find_name(sparse, sparse_name, #f, &lib.f));
    SPARSE_NAMES(FIND)
#undef FIND
#define FIND(f) TRY(find_name(blas, blas_name, #f, &lib.f));
    BLAS_NAMES(FIND)
#undef FIND
    optional = dlsym(sparse, "cusparseSpMV_preprocess");
    memcpy(&lib.preprocess, &optional, sizeof optional);
    lib.loaded = true; /* and is never unloaded */
    return TACIT_OK;
}

/* --- statuses ------------------------------------------------------------- */

static tacit_status sparse_status(cusparseStatus_t s, const char *call)
{
    if (s == CUSPARSE_STATUS_SUCCESS) return TACIT_OK;
    const bool memory = s == CUSPARSE_STATUS_ALLOC_FAILED ||
                        s == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    FAIL(memory                               ? TACIT_NO_MEMORY
         : s == CUSPARSE_STATUS_NOT_SUPPORTED ? TACIT_UNSUPPORTED
                                              : TACIT_DEVICE,
         "cuSPARSE: %s: %s (%d)", call, lib.cusparseGetErrorString(s), (int)s);
}

static tacit_status gpu_status(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return TACIT_OK;
    (void)cudaGetLastError(); /* clear an error that does not last */
    FAIL(error == cudaErrorMemoryAllocation ? TACIT_NO_MEMORY : TACIT_DEVICE,
         "the GPU: the baseline: %s: %s (%s)", call, cudaGetErrorString(error),
         cudaGetErrorName(error));
}

static tacit_status blas_status(cublasStatus_t s, const char *call)
{
    if (s == CUBLAS_STATUS_SUCCESS) return TACIT_OK;
    FAIL(s == CUBLAS_STATUS_ALLOC_FAILED ? TACIT_NO_MEMORY : TACIT_DEVICE,
         "cuBLAS: %s: %s (%d)", call, lib.cublasGetStatusString(s), (int)s);
}

#define SPARSE(f, ...) TRY(sparse_status(lib.f(__VA_ARGS__), #f))
#define BLAS(f, ...)   TRY(blas_status(lib.f(__VA_ARGS__), #f))
#define GPU(f, ...)    TRY(gpu_status(f(__VA_ARGS__), #f))

/* --- the matrix and the vectors ------------------------------------------- */

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

typedef struct {
    cusparseSpMVAlg_t id;
    const char *name;
    cusparseSpMatDescr_t matrix; /* one each: preprocessing marks it */
    void *buffer;
    double buffer_bytes, seconds;
} algorithm;

typedef struct {
    double *v;
    cusparseDnVecDescr_t description;
} vector;

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
    vector x, r, p, t;
    double *s;    /* [S_COUNT] on the device             */
    double *seen; /* 1 on the host, the GPU copies to it */
    algorithm algorithms[2];
    algorithm *best;
    double bytes;
    char about[96];
};

/* New device memory with a copy of `from`; NULL: undefined contents. */
static tacit_status new_array(tct_peer *P, const void *from, size_t count,
                              size_t size, void *out)
{
    const size_t bytes = count * size;
    void *p = NULL;
    if (cudaMalloc(&p, bytes ? bytes : 1) != cudaSuccess) {
        (void)cudaGetLastError();
        FAIL(TACIT_NO_MEMORY, "no GPU memory for %.3f GiB",
             (double)bytes / 0x1p30);
    }
    memcpy(out, &p, sizeof p);
    if (from) GPU(cudaMemcpy, p, from, bytes, cudaMemcpyHostToDevice);
    /* other streams follow, which do not wait for the copy */
    GPU(cudaStreamSynchronize, NULL);
    P->bytes += (double)count * (double)size;
    return TACIT_OK;
}

/* Row starts in 32 bits or columns in 64: exactly one of `wide`, `narrow` is
 * given, and the copy has the other size. Converted in pieces. */
static tacit_status convert(tct_peer *P, const int64_t *wide,
                            const int32_t *narrow, int64_t count, void **out)
{
    enum { PIECE = 1 << 20 };
    const size_t size = wide ? sizeof *narrow : sizeof *wide;
    int64_t *piece = NULL;
    TRY(new_array(P, NULL, (size_t)count, size, out));
    TRY(ALLOC(PIECE, "the indices of the baseline", &piece));
    int32_t *narrow_piece = (int32_t *)(void *)piece;
    cudaError_t error = cudaSuccess;
    for (int64_t i = 0; i < count && error == cudaSuccess; i += PIECE) {
        const int64_t m = count - i < PIECE ? count - i : PIECE;
        for (int64_t k = 0; k < m; k++)
            if (wide) narrow_piece[k] = (int32_t)wide[i + k];
            else piece[k] = narrow[i + k];
        error = cudaMemcpy((char *)*out + (size_t)i * size, piece,
                           (size_t)m * size, cudaMemcpyHostToDevice);
    }
    free(piece);
    TRY(gpu_status(error, "copying indices"));
    GPU(cudaStreamSynchronize, NULL);
    return TACIT_OK;
}

static tacit_status make_matrix(tct_peer *P, const int64_t *ptr,
                                const int32_t *col, const double *val)
{
    const size_t rows = (size_t)P->n, nonzeros = (size_t)P->nonzeros;
    if (P->wide) {
        TRY(new_array(P, ptr, rows + 1, sizeof *ptr, &P->ptr));
        TRY(convert(P, NULL, col, P->nonzeros, &P->col));
    } else {
        TRY(convert(P, ptr, NULL, P->n + (int64_t)1, &P->ptr));
        TRY(new_array(P, col, nonzeros, sizeof *col, &P->col));
    }
    return new_array(P, val, nonzeros, sizeof *val, &P->val);
}

static tacit_status make_vector(tct_peer *P, const double *from, vector *out)
{
    TRY(new_array(P, from, (size_t)P->n, sizeof *from, &out->v));
    SPARSE(cusparseCreateDnVec, &out->description, P->n, out->v, CUDA_R_64F);
    return TACIT_OK;
}

/* Non-zero numbers, to measure products. */
static tacit_status make_vectors(tct_peer *P)
{
    double *host = NULL;
    TRY(ALLOC(P->n, "a vector of the baseline", &host));
    for (int i = 0; i < P->n; i++) host[i] = 1.0 / (1 + i % 1000);
    tacit_status status = make_vector(P, host, &P->p);
    free(host);
    TRY(status);
    TRY(make_vector(P, NULL, &P->x));
    TRY(make_vector(P, NULL, &P->r));
    TRY(make_vector(P, NULL, &P->t));
    GPU(cudaMemsetAsync, P->t.v, 0, (size_t)P->n * sizeof *P->b, P->stream);
    TRY(new_array(P, NULL, (size_t)P->n, sizeof *P->b, &P->b));
    double scalars[S_COUNT] = {0.0};
    scalars[S_ONE] = 1.0;
    TRY(new_array(P, scalars, S_COUNT, sizeof *scalars, &P->s));
    void *seen = NULL;
    GPU(cudaHostAlloc, &seen, sizeof *P->seen, cudaHostAllocMapped);
    P->seen = seen;
    return TACIT_OK;
}

/* --- the product ---------------------------------------------------------- */

static const double one = 1.0, minus_one = -1.0, zero = 0.0;
static const cusparseOperation_t AS_IS = CUSPARSE_OPERATION_NON_TRANSPOSE;

static tacit_status multiply_by(tct_peer *P, const algorithm *a,
                                const vector *x, const vector *y)
{
    SPARSE(cusparseSpMV, P->sparse, AS_IS, &one, a->matrix, x->description,
           &zero, y->description, CUDA_R_64F, a->id, a->buffer);
    return TACIT_OK;
}

static tacit_status multiply(tct_peer *P, const vector *x, const vector *y)
{
    return multiply_by(P, P->best, x, y);
}

static tacit_status prepare(tct_peer *P, algorithm *a)
{
    const cusparseIndexType_t index =
        P->wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    size_t bytes = 0;
    SPARSE(cusparseCreateCsr, &a->matrix, P->n, P->n, P->nonzeros, P->ptr,
           P->col, P->val, index, index, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
    SPARSE(cusparseSpMV_bufferSize, P->sparse, AS_IS, &one, a->matrix,
           P->p.description, &zero, P->t.description, CUDA_R_64F, a->id,
           &bytes);
    TRY(new_array(P, NULL, bytes, 1, &a->buffer));
    a->buffer_bytes = (double)bytes;
    if (!lib.preprocess) return TACIT_OK;
    return sparse_status(
        lib.preprocess(P->sparse, AS_IS, &one, a->matrix, P->p.description,
                       &zero, P->t.description, CUDA_R_64F, a->id, a->buffer),
        "cusparseSpMV_preprocess");
}

static void release(tct_peer *P, algorithm *a)
{
    if (a->matrix) (void)lib.cusparseDestroySpMat(a->matrix);
    (void)cudaFree(a->buffer);
    P->bytes -= a->buffer_bytes;
    *a = (algorithm){.id = a->id, .name = a->name};
}

/* The median of BATCHES batches of PRODUCTS, and one batch to warm up. */
static tacit_status measure(tct_peer *P, const algorithm *a, double *seconds)
{
    enum { BATCHES = 7, PRODUCTS = 10 };
    double took[BATCHES];
    for (int k = -1; k < BATCHES; k++) {
        float ms = 0.0f;
        GPU(cudaEventRecord, P->start, P->stream);
        for (int i = 0; i < PRODUCTS; i++) TRY(multiply_by(P, a, &P->p, &P->t));
        GPU(cudaEventRecord, P->stop, P->stream);
        GPU(cudaEventSynchronize, P->stop);
        GPU(cudaEventElapsedTime, &ms, P->start, P->stop);
        if (k >= 0) took[k] = 1e-3 * (double)ms / PRODUCTS;
    }
    *seconds = base_median(took, BATCHES);
    return TACIT_OK;
}

/* Keep the faster algorithm, free the buffers of the other. */
static tacit_status choose(tct_peer *P)
{
    P->algorithms[0] = (algorithm){.id = CUSPARSE_SPMV_CSR_ALG1,
                                   .name = "CUSPARSE_SPMV_CSR_ALG1"};
    P->algorithms[1] = (algorithm){.id = CUSPARSE_SPMV_CSR_ALG2,
                                   .name = "CUSPARSE_SPMV_CSR_ALG2"};
    tacit_status status = TACIT_OK;
    for (int i = 0; i < 2; i++) {
        algorithm *a = &P->algorithms[i];
        status = prepare(P, a);
        if (status >= 0) status = measure(P, a, &a->seconds);
        if (status < 0 && status != TACIT_UNSUPPORTED) return status;
        if (status < 0 || (P->best && P->best->seconds <= a->seconds)) {
            release(P, a);
            continue;
        }
        if (P->best) release(P, P->best);
        P->best = a;
    }
    if (!P->best) return status;
    snprintf(P->about, sizeof P->about, "%s%s, %d-bit indices", P->best->name,
             lib.preprocess ? ", preprocessed" : "", P->wide ? 64 : 32);
    return TACIT_OK;
}

/* --- creating ------------------------------------------------------------- */

static tacit_status build(tct_peer *P, const int64_t *ptr, const int32_t *col,
                          const double *val)
{
    TRY(load());
    GPU(cudaStreamCreateWithFlags, &P->stream, cudaStreamNonBlocking);
    GPU(cudaStreamCreateWithFlags, &P->copies, cudaStreamNonBlocking);
    GPU(cudaEventCreateWithFlags, &P->ready, cudaEventDisableTiming);
    GPU(cudaEventCreate, &P->start);
    GPU(cudaEventCreate, &P->stop);
    SPARSE(cusparseCreate, &P->sparse);
    SPARSE(cusparseSetStream, P->sparse, P->stream);
    BLAS(cublasCreate, &P->blas);
    BLAS(cublasSetStream, P->blas, P->stream);
    TRY(make_matrix(P, ptr, col, val));
    TRY(make_vectors(P));
    return choose(P);
}

tacit_status tct_peer_create(int64_t rows, const int64_t *ptr,
                             const int32_t *col, const double *val,
                             tct_peer **out)
{
    if (rows < 1 || rows > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED, "the baseline takes 1 to %d rows, not %lld",
             INT32_MAX, (long long)rows);
    tct_peer *P = NULL;
    TRY(ALLOC(1, "the baseline", &P));
    P->n = (int)rows;
    P->nonzeros = ptr[rows];
    P->wide = P->nonzeros > INT32_MAX;
    const tacit_status status = build(P, ptr, col, val);
    if (status < 0) tct_peer_destroy(&P);
    else *out = P;
    return status;
}

static void free_vector(vector *v)
{
    if (v->description) (void)lib.cusparseDestroyDnVec(v->description);
    (void)cudaFree(v->v);
}

void tct_peer_destroy(tct_peer **peer)
{
    tct_peer *P = *peer;
    *peer = NULL;
    if (!P) return;
    if (P->stream) (void)cudaStreamSynchronize(P->stream);
    for (int i = 0; i < 2; i++) release(P, &P->algorithms[i]);
    vector *vectors[] = {&P->x, &P->r, &P->p, &P->t};
    for (int i = 0; i < 4; i++) free_vector(vectors[i]);
    void *arrays[] = {P->ptr, P->col, P->val, P->b, P->s};
    for (int i = 0; i < 5; i++) (void)cudaFree(arrays[i]);
    if (P->seen) (void)cudaFreeHost(P->seen);
    if (P->blas) (void)lib.cublasDestroy(P->blas);
    if (P->sparse) (void)lib.cusparseDestroy(P->sparse);
    cudaEvent_t events[] = {P->ready, P->start, P->stop};
    for (int i = 0; i < 3; i++)
        if (events[i]) (void)cudaEventDestroy(events[i]);
    if (P->copies) (void)cudaStreamDestroy(P->copies);
    if (P->stream) (void)cudaStreamDestroy(P->stream);
    free(P);
}

double tct_peer_spmv_seconds(tct_peer *P)
{
    double seconds = NAN;
    return measure(P, P->best, &seconds) >= 0 ? seconds : NAN;
}

/* --- conjugate gradients -------------------------------------------------- */

typedef struct {
    double rr, target; /* squared norms: of r, and where to stop */
    int64_t k, most;
} run;

static bool goes_on(const run *s)
{
    return s->k < s->most && isfinite(s->rr) && s->rr > s->target;
}

static tacit_status pointers(tct_peer *P, cublasPointerMode_t mode)
{
    BLAS(cublasSetPointerMode, P->blas, mode);
    return TACIT_OK;
}

/* Every scalar is copied to the host: the dot and the norm both wait. */
static tacit_status host_loop(tct_peer *P, run *s)
{
    double *x = P->x.v, *r = P->r.v, *p = P->p.v, *t = P->t.v;
    TRY(pointers(P, CUBLAS_POINTER_MODE_HOST));
    while (goes_on(s)) {
        double pt = 0.0, norm = 0.0;
        TRY(multiply(P, &P->p, &P->t));
        BLAS(cublasDdot, P->blas, P->n, p, 1, t, 1, &pt);
        const double alpha = s->rr / pt, minus_alpha = -alpha;
        BLAS(cublasDaxpy, P->blas, P->n, &alpha, p, 1, x, 1);
        BLAS(cublasDaxpy, P->blas, P->n, &minus_alpha, t, 1, r, 1);
        BLAS(cublasDnrm2, P->blas, P->n, r, 1, &norm);
        const double beta = norm * norm / s->rr;
        s->rr = norm * norm;
        s->k++;
        if (!goes_on(s)) break;
        BLAS(cublasDscal, P->blas, P->n, &beta, p, 1);
        BLAS(cublasDaxpy, P->blas, P->n, &one, r, 1, p, 1);
    }
    return TACIT_OK;
}

/* t = A p and (p, t), on the device; the place of (r, r) and that of the next
 * one, which alternate. */
static tacit_status begin_iteration(tct_peer *P, const run *s, double **old,
                                    double **rr)
{
    *old = P->s + (s->k % 2 ? S_RR_ODD : S_RR);
    *rr = P->s + (s->k % 2 ? S_RR : S_RR_ODD);
    TRY(multiply(P, &P->p, &P->t));
    BLAS(cublasDdot, P->blas, P->n, P->p.v, 1, P->t.v, 1, P->s + S_PT);
    return TACIT_OK;
}

/* Scalars stay on the device; the host waits once, for the test. */
static tacit_status device_loop(tct_peer *P, run *s)
{
    double *x = P->x.v, *r = P->r.v, *p = P->p.v, *t = P->t.v, *c = P->s;
    TRY(pointers(P, CUBLAS_POINTER_MODE_DEVICE));
    while (goes_on(s)) {
        double *old, *rr;
        TRY(begin_iteration(P, s, &old, &rr));
        GPU(tct_peer_divide, P->stream, old, c + S_PT, c + S_ALPHA);
        BLAS(cublasDaxpy, P->blas, P->n, c + S_ALPHA, p, 1, x, 1);
        BLAS(cublasDaxpy, P->blas, P->n, c + S_MINUS_ALPHA, t, 1, r, 1);
        BLAS(cublasDdot, P->blas, P->n, r, 1, r, 1, rr);
        GPU(cudaMemcpyAsync, P->seen, rr, sizeof *rr, cudaMemcpyDeviceToHost,
            P->stream);
        GPU(cudaStreamSynchronize, P->stream);
        s->rr = *P->seen;
        s->k++;
        if (!goes_on(s)) break;
        GPU(tct_peer_divide, P->stream, rr, old, c + S_BETA);
        BLAS(cublasDscal, P->blas, P->n, c + S_BETA, p, 1);
        BLAS(cublasDaxpy, P->blas, P->n, c + S_ONE, r, 1, p, 1);
    }
    return TACIT_OK;
}

/* Updates divide the scalars themselves, and the residual is copied on its own
 * stream while x and p are updated. */
static tacit_status overlap_loop(tct_peer *P, run *s)
{
    double *x = P->x.v, *r = P->r.v, *p = P->p.v, *t = P->t.v, *c = P->s;
    TRY(pointers(P, CUBLAS_POINTER_MODE_DEVICE));
    while (goes_on(s)) {
        double *old, *rr;
        TRY(begin_iteration(P, s, &old, &rr));
        GPU(tct_peer_axpy, P->stream, P->n, -1.0, old, c + S_PT, t, r);
        BLAS(cublasDdot, P->blas, P->n, r, 1, r, 1, rr);
        GPU(cudaEventRecord, P->ready, P->stream);
        GPU(cudaStreamWaitEvent, P->copies, P->ready, 0);
        GPU(cudaMemcpyAsync, P->seen, rr, sizeof *rr, cudaMemcpyDeviceToHost,
            P->copies);
        GPU(tct_peer_axpy, P->stream, P->n, 1.0, old, c + S_PT, p, x);
        GPU(tct_peer_aypx, P->stream, P->n, rr, old, r, p);
        GPU(cudaStreamSynchronize, P->copies);
        s->rr = *P->seen;
        s->k++;
    }
    return TACIT_OK;
}

/* x = 0, r = p = b, and the whole run; `seconds` of its iterations. */
static tacit_status run_once(tct_peer *P, int variant, double bb, run *s,
                             double *seconds)
{
    static tacit_status (*const loops[VARIANTS])(tct_peer *, run *) = {
        host_loop, device_loop, overlap_loop};
    const size_t bytes = (size_t)P->n * sizeof *P->b;
    GPU(cudaMemsetAsync, P->x.v, 0, bytes, P->stream);
    GPU(cudaMemcpyAsync, P->r.v, P->b, bytes, cudaMemcpyDeviceToDevice,
        P->stream);
    GPU(cudaMemcpyAsync, P->p.v, P->b, bytes, cudaMemcpyDeviceToDevice,
        P->stream);
    *P->seen = bb;
    GPU(cudaMemcpyAsync, P->s + S_RR, P->seen, sizeof bb,
        cudaMemcpyHostToDevice, P->stream);
    s->rr = bb;
    s->k = 0;
    GPU(cudaStreamSynchronize, P->stream);
    const double start = base_seconds();
    TRY(loops[variant](P, s));
    GPU(cudaStreamSynchronize, P->stream);
    *seconds = base_seconds() - start;
    return TACIT_OK;
}

static tacit_status put_rhs(tct_peer *P, const double *b, double *norm)
{
    const size_t bytes = (size_t)P->n * sizeof *b;
    double *ones = NULL;
    if (!b) {
        TRY(ALLOC(P->n, "the right-hand side", &ones));
        for (int i = 0; i < P->n; i++) ones[i] = 1.0;
    }
    cudaError_t error =
        cudaMemcpy(P->b, b ? b : ones, bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaStreamSynchronize(NULL);
    free(ones);
    TRY(gpu_status(error, "copying the right-hand side"));
    TRY(pointers(P, CUBLAS_POINTER_MODE_HOST));
    BLAS(cublasDnrm2, P->blas, P->n, P->b, 1, norm);
    return TACIT_OK;
}

/* ||b - A x||; leaves A x - b in t. */
static tacit_status true_residual(tct_peer *P, double *norm)
{
    TRY(pointers(P, CUBLAS_POINTER_MODE_HOST));
    TRY(multiply(P, &P->x, &P->t));
    BLAS(cublasDaxpy, P->blas, P->n, &minus_one, P->b, 1, P->t.v, 1);
    BLAS(cublasDnrm2, P->blas, P->n, P->t.v, 1, norm);
    return TACIT_OK;
}

tacit_status tct_peer_solve(tct_peer *P, int variant, const double *b,
                            double rtol, int64_t max_iterations,
                            tct_peer_result *out)
{
    double norm = 0.0, residual = 0.0, seconds = 0.0;
    TRY(put_rhs(P, b, &norm));
    const double bb = norm * norm;
    run s = {.target = rtol * rtol * bb,
             .most = max_iterations < 2 ? max_iterations : 2};
    TRY(run_once(P, variant, bb, &s, &seconds)); /* loads the kernels */
    s.most = max_iterations;
    TRY(run_once(P, variant, bb, &s, &seconds));
    TRY(true_residual(P, &residual));
    *out = (tct_peer_result){
        .iterations = s.k,
        .seconds = seconds,
        .relative_residual = norm > 0.0 ? sqrt(s.rr) / norm : sqrt(s.rr),
        .true_relative_residual = norm > 0.0 ? residual / norm : residual,
        .converged = isfinite(s.rr) && s.rr <= s.target,
        .algorithm = P->about,
        .device_bytes = P->bytes};
    return TACIT_OK;
}

#endif
