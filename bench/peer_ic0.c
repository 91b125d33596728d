/* SPDX-License-Identifier: BSD-3-Clause
 * bench/peer_ic0.c - conjugate gradients with IC(0) on a GPU: the library's
 * loops beside the same on cuSPARSE (SpMV, SpSV) and cuBLAS, with the same
 * factor.
 *
 *     peer_ic0 [-r RTOL] [-n RUNS] [-o ORDER] MATRIX...
 *
 * ORDER, of the factor's rows: natural, top-nd, nd, multicolor; both natural
 * and multicolor unless given. The peers' matrix is in that order, too, so that
 * nothing is gathered; analysis and the choice between the two algorithms of
 * the product are outside. Scalars stay on the device, updates divide them
 * themselves, and what the host looks at is copied behind other work: on two
 * streams, or as graphs of an iteration each, of which one is under way while
 * the host looks at the one before. b = 1, x = 0. Prints tab-separated, after a
 * line of headings: matrix, order, who, iterations, ms a solve (median of RUNS,
 * 5), us an iteration, true residual. */
#include "baseline/peer_scalars.h"
#include "factor/factor.h"
#include "matrix/matrix.h"
#include "triangles.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tacit/tacit.h>
#include <unistd.h>
#define DISABLE_CUSPARSE_DEPRECATED /* it warns of its own names */
#include <cublas_v2.h>
#include <cusparse.h>

enum { RUNS_MOST = 100 };

#define STOP(text)                                                  \
    do {                                                            \
        fprintf(stderr, "peer_ic0: line %d: %s\n", __LINE__, text); \
        exit(1);                                                    \
    } while (0)
#define CUDA(call)                                           \
    do {                                                     \
        const cudaError_t e_ = (call);                       \
        if (e_ != cudaSuccess) STOP(cudaGetErrorString(e_)); \
    } while (0)
#define SPARSE(call)                                                         \
    do {                                                                     \
        const cusparseStatus_t e_ = (call);                                  \
        if (e_ != CUSPARSE_STATUS_SUCCESS) STOP(cusparseGetErrorString(e_)); \
    } while (0)
#define BLAS(call)                                                        \
    do {                                                                  \
        const cublasStatus_t e_ = (call);                                 \
        if (e_ != CUBLAS_STATUS_SUCCESS) STOP(cublasGetStatusString(e_)); \
    } while (0)
#define OK(call)                                     \
    do {                                             \
        if ((call) < 0) STOP(tacit_error_message()); \
    } while (0)

typedef struct {
    double rtol;
    int runs;
    const char *matrix, *order;
} wishes;

typedef struct {
    int64_t iterations;
    double seconds, residual;
} outcome;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const wishes *w, const char *who, outcome o, double *took)
{
    qsort(took, (size_t)w->runs, sizeof *took, by_value);
    const double median = took[w->runs / 2];
    printf("%s\t%s\t%s\t%lld\t%.3f\t%.2f\t%.1e\n", w->matrix, w->order, who,
           (long long)o.iterations, 1e3 * median,
           1e6 * median / (double)(o.iterations > 0 ? o.iterations : 1),
           o.residual);
    fflush(stdout);
}

/* --- the library's -------------------------------------------------------- */

static void ours(tacit_world *world, const wishes *w, tacit_matrix *m)
{
    static const char *const loops[] = {"host", "graph", "resident"};
    const tacit_precond_options how = {.size = sizeof how, .order = w->order};
    const tacit_stop stop = {.size = sizeof stop, .rtol = w->rtol};
    tacit_queue *q = NULL;
    tacit_operator *A = NULL, *M = NULL;
    double took[RUNS_MOST], *b = NULL, *x = NULL;
    OK(tacit_queue_create(world, "cuda", 1, &q));
    OK(tacit_operator_create(q, m, "auto", &A));
    OK(tacit_precond_create_of(A, m, "ic0", &how, &M));
    const size_t n = (size_t)tacit_operator_local_rows(A);
    OK(tacit_queue_alloc(q, n, &b));
    OK(tacit_queue_alloc(q, n, &x));
    OK(tacit_queue_fill(q, n, 1.0, b));
    for (int l = 0; l < 3; l++) {
        tacit_solver *s = NULL;
        tacit_result r = {.size = sizeof r};
        char who[160];
        OK(tacit_solver_create(q, A, "cg", &s));
        OK(tacit_solver_set_precond(s, M));
        OK(tacit_solver_set_loop(s, loops[l]));
        for (int k = -1; k < w->runs; k++) {
            OK(tacit_queue_fill(q, n, 0.0, x));
            OK(tacit_solver_run(s, b, x, &stop, &r));
            if (k >= 0) took[k] = r.seconds;
        }
        snprintf(who, sizeof who, "tacit, loop %s (%s)", loops[l],
                 r.loop_detail);
        print(w, who,
              (outcome){.iterations = r.iterations,
                        .residual = r.true_relative_residual},
              took);
        tacit_solver_destroy(&s);
    }
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
}

/* --- the peers': set-up --------------------------------------------------- */

/* Scalars on the device; those of odd iterations and of even ones take
 * turns. */
enum { S_PT, S_RR, S_RZ = S_RR + 2, S_ONE = S_RZ + 2, S_COUNT };

typedef struct {
    cusparseSpMatDescr_t A;
    cusparseSpSVDescr_t sv;
    void *device[3], *buffer;
} stored;

typedef struct {
    int n;
    cudaStream_t stream, copies;
    cudaEvent_t ready, done[2];
    cusparseHandle_t sparse;
    cublasHandle_t blas;
    stored A, L, U;
    cusparseSpMVAlg_t algorithm;
    double *v[6], *s, *seen; /* seen: [2] on the host */
    cusparseDnVecDescr_t d[6];
    cudaGraphExec_t graph[2];
} peer;
enum { X, R, P, T, W, Z };

static const double one = 1.0, zero = 0.0;
#define AS_IS CUSPARSE_OPERATION_NON_TRANSPOSE

static void *to_device(const void *from, size_t bytes)
{
    void *p = NULL;
    CUDA(cudaMalloc(&p, bytes + 16));
    if (from) CUDA(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
    return p;
}

static void store(peer *p, const triangle *t, stored *out)
{
    const size_t n = (size_t)p->n, entries = (size_t)t->entries;
    out->device[0] = to_device(t->ptr, (n + 1) * sizeof *t->ptr);
    out->device[1] = to_device(t->col, entries * sizeof *t->col);
    out->device[2] = to_device(t->val, entries * sizeof *t->val);
    SPARSE(cusparseCreateCsr(&out->A, p->n, p->n, t->entries, out->device[0],
                             out->device[1], out->device[2], CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                             CUDA_R_64F));
}

#define SOLVE(s, in, out)                                            \
    p->sparse, AS_IS, &one, (s)->A, p->d[in], p->d[out], CUDA_R_64F, \
        CUSPARSE_SPSV_ALG_DEFAULT, (s)->sv

static void analyse(peer *p, stored *s, cusparseFillMode_t fill, int in,
                    int out)
{
    size_t bytes = 0;
    SPARSE(cusparseSpMatSetAttribute(s->A, CUSPARSE_SPMAT_FILL_MODE, &fill,
                                     sizeof fill));
    SPARSE(cusparseSpSV_createDescr(&s->sv));
    SPARSE(cusparseSpSV_bufferSize(SOLVE(s, in, out), &bytes));
    s->buffer = to_device(NULL, bytes);
    SPARSE(cusparseSpSV_analysis(SOLVE(s, in, out), s->buffer));
}

#define MULTIPLY(in, out)                                                   \
    p->sparse, AS_IS, &one, p->A.A, p->d[in], &zero, p->d[out], CUDA_R_64F, \
        p->algorithm

/* Milliseconds of 20 products. */
static float time_product(peer *p)
{
    float ms = 0.0f;
    cudaEvent_t from, to;
    CUDA(cudaEventCreate(&from));
    CUDA(cudaEventCreate(&to));
    for (int k = 0; k < 25; k++) {
        if (k == 5) CUDA(cudaEventRecord(from, p->stream));
        SPARSE(cusparseSpMV(MULTIPLY(P, T), p->A.buffer));
    }
    CUDA(cudaEventRecord(to, p->stream));
    CUDA(cudaEventSynchronize(to));
    CUDA(cudaEventElapsedTime(&ms, from, to));
    CUDA(cudaEventDestroy(from));
    CUDA(cudaEventDestroy(to));
    return ms;
}

static float prepare_product(peer *p, cusparseSpMVAlg_t algorithm)
{
    size_t bytes = 0;
    p->algorithm = algorithm;
    if (p->A.buffer) CUDA(cudaFree(p->A.buffer));
    SPARSE(cusparseSpMV_bufferSize(MULTIPLY(P, T), &bytes));
    p->A.buffer = to_device(NULL, bytes);
    SPARSE(cusparseSpMV_preprocess(MULTIPLY(P, T), p->A.buffer));
    return time_product(p);
}

static int64_t row_of(const tacit_factor_panels *F, int64_t k)
{
    return F->original ? F->original[k] : k;
}

/* The rows and columns of the matrix as the factor has them. */
static triangle permuted(const tct_csr *A, const tacit_factor_panels *F)
{
    const size_t n = (size_t)A->rows;
    int32_t *now = malloc(n * sizeof *now);
    triangle t = {.entries = A->ptr[n]};
    t.ptr = malloc((n + 1) * sizeof *t.ptr);
    t.col = malloc((size_t)t.entries * sizeof *t.col);
    t.val = malloc((size_t)t.entries * sizeof *t.val);
    for (size_t k = 0; k < n; k++) now[row_of(F, (int64_t)k)] = (int32_t)k;
    t.ptr[0] = 0;
    for (size_t k = 0; k < n; k++) {
        const int64_t i = row_of(F, (int64_t)k);
        int at = t.ptr[k];
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int32_t j = now[A->col32[e]];
            int to = at++;
            for (; to > t.ptr[k] && t.col[to - 1] > j; to--) {
                t.col[to] = t.col[to - 1];
                t.val[to] = t.val[to - 1];
            }
            t.col[to] = j;
            t.val[to] = A->val[e];
        }
        t.ptr[k + 1] = at;
    }
    free(now);
    return t;
}

static peer open_peer(const tct_csr *A, const tacit_factor_panels *F)
{
    peer it = {.n = (int)A->rows}, *p = &it;
    triangle all = permuted(A, F), U = upper_of(F), L = transpose_of(&U, p->n);
    double scalars[S_COUNT] = {[S_ONE] = 1.0};
    CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&p->copies, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&p->ready, cudaEventDisableTiming));
    for (int i = 0; i < 2; i++)
        CUDA(cudaEventCreateWithFlags(&p->done[i], cudaEventDisableTiming));
    SPARSE(cusparseCreate(&p->sparse));
    SPARSE(cusparseSetStream(p->sparse, p->stream));
    BLAS(cublasCreate(&p->blas));
    BLAS(cublasSetStream(p->blas, p->stream));
    BLAS(cublasSetPointerMode(p->blas, CUBLAS_POINTER_MODE_DEVICE));
    for (int i = 0; i < 6; i++) {
        p->v[i] = to_device(NULL, (size_t)p->n * sizeof(double));
        CUDA(cudaMemset(p->v[i], 0, (size_t)p->n * sizeof(double)));
        SPARSE(cusparseCreateDnVec(&p->d[i], p->n, p->v[i], CUDA_R_64F));
    }
    p->s = to_device(scalars, sizeof scalars);
    CUDA(cudaMallocHost((void **)&p->seen, 2 * sizeof *p->seen));
    store(p, &all, &p->A);
    store(p, &L, &p->L);
    store(p, &U, &p->U);
    CUDA(cudaDeviceSynchronize());
    const float first = prepare_product(p, CUSPARSE_SPMV_CSR_ALG1);
    if (first < prepare_product(p, CUSPARSE_SPMV_CSR_ALG2))
        (void)prepare_product(p, CUSPARSE_SPMV_CSR_ALG1);
    analyse(p, &p->L, CUSPARSE_FILL_MODE_LOWER, R, W);
    analyse(p, &p->U, CUSPARSE_FILL_MODE_UPPER, W, Z);
    CUDA(cudaDeviceSynchronize());
    triangle_free(&all);
    triangle_free(&L);
    triangle_free(&U);
    return it;
}

static void close_stored(stored *s)
{
    if (s->sv) SPARSE(cusparseSpSV_destroyDescr(s->sv));
    SPARSE(cusparseDestroySpMat(s->A));
    for (int i = 0; i < 3; i++) CUDA(cudaFree(s->device[i]));
    CUDA(cudaFree(s->buffer));
}

static void close_peer(peer *p)
{
    for (int i = 0; i < 2; i++) {
        if (p->graph[i]) CUDA(cudaGraphExecDestroy(p->graph[i]));
        CUDA(cudaEventDestroy(p->done[i]));
    }
    for (int i = 0; i < 6; i++) {
        SPARSE(cusparseDestroyDnVec(p->d[i]));
        CUDA(cudaFree(p->v[i]));
    }
    close_stored(&p->A);
    close_stored(&p->L);
    close_stored(&p->U);
    CUDA(cudaFree(p->s));
    CUDA(cudaFreeHost(p->seen));
    SPARSE(cusparseDestroy(p->sparse));
    BLAS(cublasDestroy(p->blas));
    CUDA(cudaEventDestroy(p->ready));
    CUDA(cudaStreamDestroy(p->stream));
    CUDA(cudaStreamDestroy(p->copies));
}

/* --- the peers': conjugate gradients -------------------------------------- */

/* z = M r, (r, z) into `to`. */
static void precondition(peer *p, double *to)
{
    SPARSE(cusparseSpSV_solve(SOLVE(&p->L, R, W)));
    SPARSE(cusparseSpSV_solve(SOLVE(&p->U, W, Z)));
    BLAS(cublasDdot(p->blas, p->n, p->v[R], 1, p->v[Z], 1, to));
}

/* Iteration k; (r, r) comes to seen[k % 2], over stream `copies`. */
static void enqueue(peer *p, int64_t k, cudaStream_t copies)
{
    double *pt = p->s + S_PT, *rr = p->s + S_RR + k % 2;
    double *old = p->s + S_RZ + k % 2, *rz = p->s + S_RZ + (k + 1) % 2;
    double **v = p->v;
    SPARSE(cusparseSpMV(MULTIPLY(P, T), p->A.buffer));
    BLAS(cublasDdot(p->blas, p->n, v[P], 1, v[T], 1, pt));
    CUDA(tct_peer_axpy(p->stream, p->n, -1.0, old, pt, v[T], v[R]));
    BLAS(cublasDdot(p->blas, p->n, v[R], 1, v[R], 1, rr));
    if (copies != p->stream) {
        CUDA(cudaEventRecord(p->ready, p->stream));
        CUDA(cudaStreamWaitEvent(copies, p->ready, 0));
    }
    CUDA(cudaMemcpyAsync(p->seen + k % 2, rr, sizeof *rr,
                         cudaMemcpyDeviceToHost, copies));
    CUDA(tct_peer_axpy(p->stream, p->n, 1.0, old, pt, v[P], v[X]));
    precondition(p, rz);
    CUDA(tct_peer_aypx(p->stream, p->n, rz, old, v[Z], v[P]));
}

static int64_t on_streams(peer *p, double target, int64_t most)
{
    int64_t k = 0;
    for (double rr = INFINITY; k < most && rr > target; k++) {
        enqueue(p, k, p->copies);
        CUDA(cudaStreamSynchronize(p->copies));
        rr = p->seen[k % 2];
    }
    return k;
}

/* Both graphs; false if one of the libraries cannot be captured. */
static bool capture(peer *p)
{
    for (int k = 0; k < 2; k++) {
        cudaGraph_t graph = NULL;
        CUDA(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeRelaxed));
        enqueue(p, k, p->stream);
        if (cudaStreamEndCapture(p->stream, &graph) != cudaSuccess)
            return false;
        CUDA(cudaGraphInstantiate(&p->graph[k], graph, 0));
        CUDA(cudaGraphDestroy(graph));
    }
    return true;
}

/* The host looks at an iteration while the next one runs. */
static int64_t by_graphs(peer *p, double target, int64_t most)
{
    int64_t k = 0;
    for (; k < most; k++) {
        CUDA(cudaGraphLaunch(p->graph[k % 2], p->stream));
        CUDA(cudaEventRecord(p->done[k % 2], p->stream));
        if (k == 0) continue;
        CUDA(cudaEventSynchronize(p->done[(k - 1) % 2]));
        if (!(p->seen[(k - 1) % 2] > target)) break;
    }
    return k; /* the last one was for nothing */
}

static double true_residual(peer *p, double *b)
{
    double rr = 0.0;
    double *host = malloc((size_t)p->n * sizeof *host);
    SPARSE(cusparseSpMV(MULTIPLY(X, T), p->A.buffer));
    CUDA(cudaStreamSynchronize(p->stream));
    CUDA(cudaMemcpy(host, p->v[T], (size_t)p->n * sizeof *host,
                    cudaMemcpyDeviceToHost));
    for (int i = 0; i < p->n; i++) rr += (b[i] - host[i]) * (b[i] - host[i]);
    free(host);
    return sqrt(rr / p->n);
}

typedef int64_t (*loop)(peer *p, double target, int64_t most);

static outcome solve(peer *p, const wishes *w, double *b, loop run)
{
    const size_t bytes = (size_t)p->n * sizeof *b;
    outcome o = {.iterations = 0};
    CUDA(cudaMemset(p->v[X], 0, bytes));
    CUDA(cudaMemcpy(p->v[R], b, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    const double start = tct_seconds();
    precondition(p, p->s + S_RZ);
    CUDA(cudaMemcpyAsync(p->v[P], p->v[Z], bytes, cudaMemcpyDeviceToDevice,
                         p->stream));
    o.iterations = run(p, w->rtol * w->rtol * p->n, 100000);
    CUDA(cudaStreamSynchronize(p->stream));
    o.seconds = tct_seconds() - start;
    o.residual = true_residual(p, b);
    return o;
}

static void measure(peer *p, const wishes *w, double *b, loop run,
                    const char *who)
{
    double took[RUNS_MOST];
    outcome o = {.iterations = 0};
    for (int k = -1; k < w->runs; k++) {
        o = solve(p, w, b, run);
        if (k >= 0) took[k] = o.seconds;
    }
    print(w, who, o, took);
}

static void theirs(const wishes *w, tacit_matrix *m)
{
    const tacit_factor_options how = {
        .size = sizeof how, .kind = TACIT_FACTOR_IC0, .order = w->order};
    tacit_factor *F = NULL;
    tacit_factor_panels view = {.size = sizeof view};
    OK(tacit_factor_create(m, &how, &F));
    OK(tacit_factor_view(F, &view));
    peer p = open_peer(&m->A, &view);
    double *b = malloc((size_t)p.n * sizeof *b);
    for (int i = 0; i < p.n; i++) b[i] = 1.0;
    measure(&p, w, b, on_streams, "cuSPARSE, cuBLAS, streams");
    if (capture(&p)) measure(&p, w, b, by_graphs, "cuSPARSE, cuBLAS, graphs");
    free(b);
    close_peer(&p);
    tacit_factor_destroy(&F);
}

int main(int argc, char **argv)
{
    static const char *const orders[] = {"natural", "multicolor"};
    const char *given = NULL;
    wishes w = {.rtol = 1e-8, .runs = 5};
    tacit_world *world = NULL;
    int message;
    while ((message = getopt(argc, argv, "r:n:o:")) != -1) {
        if (message == 'r') w.rtol = atof(optarg);
        else if (message == 'n') w.runs = atoi(optarg);
        else if (message == 'o') given = optarg;
        else w.runs = 0;
    }
    if (w.runs < 1 || w.runs > RUNS_MOST || optind == argc) {
        fprintf(stderr, "peer_ic0 [-r RTOL] [-n RUNS] [-o ORDER] MATRIX...\n");
        return 2;
    }
    OK(tacit_world_self(&world));
    printf("matrix\torder\twho\titerations\tms\tus/iteration\tresidual\n");
    for (; optind < argc; optind++) {
        tacit_matrix *m = NULL;
        w.matrix = argv[optind];
        OK(tacit_matrix_open(world, w.matrix, NULL, &m));
        for (int i = 0; i < (given ? 1 : 2); i++) {
            w.order = given ? given : orders[i];
            ours(world, &w, m);
            theirs(&w, m);
        }
        tacit_matrix_destroy(&m);
    }
    tacit_world_destroy(&world);
    return 0;
}
