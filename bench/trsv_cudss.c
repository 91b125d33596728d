/* SPDX-License-Identifier: BSD-3-Clause
 * bench/trsv_cudss.c - cuDSS beside the solves of trsv_gpu: its own order and
 * factor of the same matrix, and the phase of its solve, from device to
 * device. */
#include "trsv_gpu.h"
#include <cudss.h>

static void dss_ok(cudssStatus_t e, int line)
{
    if (e == CUDSS_STATUS_SUCCESS) return;
    fprintf(stderr, "trsv_cudss: line %d: status %d\n", line, (int)e);
    exit(1);
}
#define DSS(call) dss_ok((call), __LINE__)
/* Of both index arrays, which until 0.7 had one type. */
#if CUDSS_VERSION_MAJOR == 0
#define INDEX_TYPES CUDA_R_32I
#else
#define INDEX_TYPES CUDA_R_32I, CUDA_R_32I
#endif

typedef struct {
    cudssHandle_t handle;
    cudssConfig_t config;
    cudssData_t data;
    cudssMatrix_t A, x, b;
} direct;

/* The upper triangle of the matrix, on the device. */
typedef struct {
    int64_t entries;
    void *ptr, *col, *val;
} upper;

static upper upper_of_matrix(const tct_csr *A)
{
    const size_t n = (size_t)A->rows, most = (size_t)A->ptr[A->rows];
    int32_t *ptr = malloc((n + 1) * sizeof *ptr);
    int32_t *col = malloc(most * sizeof *col);
    double *val = malloc(most * sizeof *val);
    int32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        ptr[i] = at;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            if (A->col32[k] < (int64_t)i) continue;
            col[at] = (int32_t)A->col32[k];
            val[at++] = A->val[k];
        }
    }
    ptr[n] = at;
    const size_t entries = (size_t)at;
    const upper u = {at, to_device(ptr, (n + 1) * sizeof *ptr),
                     to_device(col, entries * sizeof *col),
                     to_device(val, entries * sizeof *val)};
    free(ptr);
    free(col);
    free(val);
    return u;
}

static double phase(const direct *d, int which)
{
    CUDA(cudaDeviceSynchronize());
    const double start = tct_seconds();
    DSS(cudssExecute(d->handle, which, d->config, d->data, d->A, d->x, d->b));
    CUDA(cudaDeviceSynchronize());
    return tct_seconds() - start;
}

static void solve(void *ctx)
{
    const direct *d = ctx;
    DSS(cudssExecute(d->handle, CUDSS_PHASE_SOLVE, d->config, d->data, d->A,
                     d->x, d->b));
}

static void measure(const problem *p, const upper *u, int columns)
{
    const int64_t n = (int64_t)p->n;
    int64_t entries = 0;
    size_t written = 0;
    direct d;
    double *x = malloc(p->n * sizeof *x);
    DSS(cudssCreate(&d.handle));
    DSS(cudssSetStream(d.handle, p->stream));
    DSS(cudssConfigCreate(&d.config));
    DSS(cudssDataCreate(d.handle, &d.data));
    DSS(cudssMatrixCreateCsr(&d.A, n, n, u->entries, u->ptr, NULL, u->col,
                             u->val, INDEX_TYPES, CUDA_R_64F, CUDSS_MTYPE_SPD,
                             CUDSS_MVIEW_UPPER, CUDSS_BASE_ZERO));
    DSS(cudssMatrixCreateDn(&d.b, n, columns, n, p->B, CUDA_R_64F,
                            CUDSS_LAYOUT_COL_MAJOR));
    DSS(cudssMatrixCreateDn(&d.x, n, columns, n, p->X, CUDA_R_64F,
                            CUDSS_LAYOUT_COL_MAJOR));
    const double analysis = phase(&d, CUDSS_PHASE_ANALYSIS);
    const double factor = phase(&d, CUDSS_PHASE_FACTORIZATION);
    const spread s =
        time_of(p->stream, (job){solve, &d}, WARM, columns == 1 ? RUNS : 20);
    DSS(cudssDataGet(d.handle, d.data, CUDSS_DATA_LU_NNZ, &entries,
                     sizeof entries, &written));
    CUDA(cudaMemcpy(x, p->X + (size_t)(columns - 1) * p->n, p->n * sizeof *x,
                    cudaMemcpyDeviceToHost));
    printf("%s\tcuDSS %d.%d\tcolumns %d\tboth %.4f (%.4f to %.4f)\tanalysis "
           "%.3f s\tfactor %.3f s\tentries %lld\tresidual %.1e\n",
           p->name, CUDSS_VERSION_MAJOR, CUDSS_VERSION_MINOR, columns, s.median,
           s.low, s.high, analysis, factor, (long long)entries,
           residual_of(p, p->b + (size_t)(columns - 1) * p->n, x));
    fflush(stdout);
    free(x);
    DSS(cudssMatrixDestroy(d.A));
    DSS(cudssMatrixDestroy(d.x));
    DSS(cudssMatrixDestroy(d.b));
    DSS(cudssDataDestroy(d.handle, d.data));
    DSS(cudssConfigDestroy(d.config));
    DSS(cudssDestroy(d.handle));
}

void measure_cudss(const problem *p)
{
    const upper u = upper_of_matrix(&p->m->A);
    measure(p, &u, 1);
    if (p->columns > 1) measure(p, &u, p->columns);
    CUDA(cudaFree(u.ptr));
    CUDA(cudaFree(u.col));
    CUDA(cudaFree(u.val));
}
