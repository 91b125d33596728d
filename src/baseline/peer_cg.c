/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_cg.c - conjugate gradients on cuSPARSE and cuBLAS, in three
 * variants. */
#include "baseline/peer_state.h"
#ifdef TCT_PEER_IN_BUILD
#include <math.h>
#include <stdlib.h>

static const double one = 1.0, minus_one = -1.0;

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
        TRY(tct_peer_multiply(P, &P->p, &P->t));
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
    TRY(tct_peer_multiply(P, &P->p, &P->t));
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
    static tacit_status (*const loops[TCT_PEER_VARIANTS])(tct_peer *, run *) = {
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
    TRY(tct_peer_gpu_status(error, "copying the right-hand side"));
    TRY(pointers(P, CUBLAS_POINTER_MODE_HOST));
    BLAS(cublasDnrm2, P->blas, P->n, P->b, 1, norm);
    return TACIT_OK;
}

/* ||b - A x||; leaves A x - b in t. */
static tacit_status true_residual(tct_peer *P, double *norm)
{
    TRY(pointers(P, CUBLAS_POINTER_MODE_HOST));
    TRY(tct_peer_multiply(P, &P->x, &P->t));
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
