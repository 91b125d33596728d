/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_style.c - the baseline on cuSPARSE and cuBLAS: its matrix, its
 * vectors, and the fastest product. */
#include "baseline/peer_state.h"
#include <math.h>
#include <stdio.h>

static const tct_peer_variant variants[TCT_PEER_VARIANTS] = {
    {"peer-style/host",
     "cuSPARSE and cuBLAS, scalars on the host: 2 copies back an iteration"},
    {"peer-style/device",
     "cuSPARSE and cuBLAS, scalars on the device: 1 copy back an iteration"},
    {"peer-style/overlap",
     "cuSPARSE, cuBLAS dots, own updates: 1 copy back behind two updates"},
};

const tct_peer_variant *tct_peer_variant_at(int i)
{
    return i >= 0 && i < TCT_PEER_VARIANTS ? &variants[i] : NULL;
}

#ifdef TCT_PEER_IN_BUILD
#include <stdlib.h>
#include <string.h>

/* --- the matrix and the vectors ------------------------------------------- */

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
    TRY(tct_peer_gpu_status(error, "copying indices"));
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

static tacit_status make_vector(tct_peer *P, const double *from,
                                tct_peer_vector *out)
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

static const double one = 1.0, zero = 0.0;
static const cusparseOperation_t AS_IS = CUSPARSE_OPERATION_NON_TRANSPOSE;

static tacit_status multiply_by(tct_peer *P, const tct_peer_algorithm *a,
                                const tct_peer_vector *x,
                                const tct_peer_vector *y)
{
    SPARSE(cusparseSpMV, P->sparse, AS_IS, &one, a->matrix, x->description,
           &zero, y->description, CUDA_R_64F, a->id, a->buffer);
    return TACIT_OK;
}

tacit_status tct_peer_multiply(tct_peer *P, const tct_peer_vector *x,
                               const tct_peer_vector *y)
{
    return multiply_by(P, P->best, x, y);
}

static tacit_status prepare(tct_peer *P, tct_peer_algorithm *a)
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
    if (!tct_peer_lib.preprocess) return TACIT_OK;
    return tct_peer_sparse_status(
        tct_peer_lib.preprocess(P->sparse, AS_IS, &one, a->matrix,
                                P->p.description, &zero, P->t.description,
                                CUDA_R_64F, a->id, a->buffer),
        "cusparseSpMV_preprocess");
}

static void release(tct_peer *P, tct_peer_algorithm *a)
{
    if (a->matrix) (void)tct_peer_lib.cusparseDestroySpMat(a->matrix);
    (void)cudaFree(a->buffer);
    P->bytes -= a->buffer_bytes;
    *a = (tct_peer_algorithm){.id = a->id, .name = a->name};
}

/* The median of BATCHES batches of PRODUCTS, and one batch to warm up. */
static tacit_status measure(tct_peer *P, const tct_peer_algorithm *a,
                            double *seconds)
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
    P->algorithms[0] = (tct_peer_algorithm){.id = CUSPARSE_SPMV_CSR_ALG1,
                                            .name = "CUSPARSE_SPMV_CSR_ALG1"};
    P->algorithms[1] = (tct_peer_algorithm){.id = CUSPARSE_SPMV_CSR_ALG2,
                                            .name = "CUSPARSE_SPMV_CSR_ALG2"};
    tacit_status status = TACIT_OK;
    for (int i = 0; i < 2; i++) {
        tct_peer_algorithm *a = &P->algorithms[i];
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
             tct_peer_lib.preprocess ? ", preprocessed" : "",
             P->wide ? 64 : 32);
    return TACIT_OK;
}

/* --- creating ------------------------------------------------------------- */

static tacit_status build(tct_peer *P, const int64_t *ptr, const int32_t *col,
                          const double *val)
{
    TRY(tct_peer_load());
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

static void free_vector(tct_peer_vector *v)
{
    if (v->description) (void)tct_peer_lib.cusparseDestroyDnVec(v->description);
    (void)cudaFree(v->v);
}

void tct_peer_destroy(tct_peer **peer)
{
    tct_peer *P = *peer;
    *peer = NULL;
    if (!P) return;
    if (P->stream) (void)cudaStreamSynchronize(P->stream);
    for (int i = 0; i < 2; i++) release(P, &P->algorithms[i]);
    tct_peer_vector *vectors[] = {&P->x, &P->r, &P->p, &P->t};
    for (int i = 0; i < 4; i++) free_vector(vectors[i]);
    void *arrays[] = {P->ptr, P->col, P->val, P->b, P->s};
    for (int i = 0; i < 5; i++) (void)cudaFree(arrays[i]);
    if (P->seen) (void)cudaFreeHost(P->seen);
    if (P->blas) (void)tct_peer_lib.cublasDestroy(P->blas);
    if (P->sparse) (void)tct_peer_lib.cusparseDestroy(P->sparse);
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

#endif
