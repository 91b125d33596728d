/* SPDX-License-Identifier: BSD-3-Clause
 * bench/trsv_gpu.c - triangular solves on a GPU, beside cuSPARSE's SpSV and
 * SpSM with the same permuted factor.
 *
 *     trsv_gpu [-c COLUMNS] [-s] [-d] [-i ORDER] MATRIX...
 *
 * -s: without cuSPARSE; -d: cuDSS alone (a build with -DTACIT_CUDSS_HOME), which
 * orders and factors for itself: a solve, analysis, factor, entries, residual;
 * -i: of the incomplete factor IC(0), its rows in ORDER (natural, top-nd, nd,
 * multicolor), by rows and with one right-hand side. Prints tab-separated rows,
 * first of each matrix what it is: rows, entries of L, values stored in the
 * plan, tasks, depth, condition, seconds of the factor, of the plan (inversion)
 * and of its upload; then for 1 and for COLUMNS (50) right-hand sides
 * milliseconds of L and U together, of L and of U, from device to device by
 * events: the median of 100 after 10 to warm up, and the first and last decile;
 * GB/s of the values, read twice; and ||b - A x|| / ||b||. Of cuSPARSE:
 * analysis, and L, U and both, L and L' stored as rows each, without the zeros
 * that panels store, in as many solves as take some 2 seconds, 5 at least. */
#include "trsv_gpu.h"
#include "triangles.h"
#include "trisolve/gpu/rows.h"
#include "trisolve/gpu/solver.h"
#include <math.h>
#include <string.h>
#include <unistd.h>
#if BENCH_CUSPARSE
#define DISABLE_CUSPARSE_DEPRECATED /* it warns of its own names */
#include <cusparse.h>
#endif

void cuda_ok(cudaError_t e, int line)
{
    if (e == cudaSuccess) return;
    fprintf(stderr, "trsv_gpu: line %d: %s\n", line, cudaGetErrorString(e));
    exit(1);
}

void *to_device(const void *from, size_t bytes)
{
    void *p = NULL;
    CUDA(cudaMalloc(&p, bytes));
    CUDA(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
    return p;
}

/* --- a matrix, its factor, vectors ---------------------------------------- */

double residual_of(const problem *p, const double *b, const double *x)
{
    const tct_csr *A = &p->m->A;
    double up = 0.0, down = 0.0;
    for (int64_t i = 0; i < A->rows; i++) {
        double r = b[i];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            r -= A->val[k] * x[A->col32[k]];
        up += r * r;
        down += b[i] * b[i];
    }
    return sqrt(up / down);
}

static problem open_problem(tacit_world *w, const char *name, int columns,
                            const tacit_factor_options *how)
{
    problem p = {.name = name, .columns = columns, .P = {.size = sizeof p.P}};
    OK(tacit_matrix_open(w, name, NULL, &p.m));
    if (how) OK(tacit_factor_create(p.m, how, &p.F));
    if (how) OK(tacit_factor_view(p.F, &p.P));
    CUDA(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
    OK(tacit_queue_on_stream(w, "cuda", 1, p.stream, &p.q));
    p.n = (size_t)p.m->A.rows;
    const size_t all = p.n * (size_t)columns;
    p.b = malloc(all * sizeof *p.b);
    for (size_t i = 0; i < all; i++) p.b[i] = tct_uniform(i, 1) - 0.5;
    CUDA(cudaMalloc((void **)&p.B, all * sizeof *p.B));
    CUDA(cudaMalloc((void **)&p.X, all * sizeof *p.X));
    CUDA(cudaMemcpy(p.B, p.b, all * sizeof *p.b, cudaMemcpyHostToDevice));
    return p;
}

static void close_problem(problem *p)
{
    CUDA(cudaFree(p->B));
    CUDA(cudaFree(p->X));
    free(p->b);
    tacit_queue_destroy(&p->q);
    CUDA(cudaStreamDestroy(p->stream));
    tacit_factor_destroy(&p->F);
    tacit_matrix_destroy(&p->m);
}

/* --- time ----------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static spread spread_of(double *ms, int runs)
{
    qsort(ms, (size_t)runs, sizeof *ms, by_value);
    return (spread){ms[runs / 2], ms[runs / 10], ms[runs - 1 - runs / 10]};
}

spread time_of(cudaStream_t stream, job j, int warm, int runs)
{
    double ms[RUNS];
    cudaEvent_t from, to;
    CUDA(cudaEventCreate(&from));
    CUDA(cudaEventCreate(&to));
    for (int k = -warm; k < runs; k++) {
        float one = 0;
        CUDA(cudaEventRecord(from, stream));
        j.work(j.ctx);
        CUDA(cudaEventRecord(to, stream));
        CUDA(cudaEventSynchronize(to));
        CUDA(cudaEventElapsedTime(&one, from, to));
        if (k >= 0) ms[k] = (double)one;
    }
    CUDA(cudaEventDestroy(from));
    CUDA(cudaEventDestroy(to));
    return spread_of(ms, runs);
}

/* --- ours ----------------------------------------------------------------- */

typedef struct {
    const problem *p;
    tacit_factor_solver *S;
    unsigned passes;
    int columns;
} ours;

static void solve_ours(void *ctx)
{
    const ours *o = ctx;
    OK(tct_factor_solver_pass(o->S, o->passes, o->columns, o->p->B, o->p->n,
                              o->p->X, o->p->n));
}

static void measure_ours(const problem *p, tacit_factor_solver *S, int columns)
{
    static const unsigned passes[] = {TCT_DOWN | TCT_UP, TCT_DOWN, TCT_UP};
    tacit_factor_solver_info info = {.size = sizeof info};
    double *x = malloc(p->n * sizeof *x);
    ours o = {.p = p, .S = S, .columns = columns};
    spread s[3];
    OK(tacit_factor_solver_describe(S, &info));
    for (int k = 0; k < 3; k++) {
        o.passes = passes[k];
        s[k] = time_of(p->stream, (job){solve_ours, &o}, WARM, RUNS);
    }
    CUDA(cudaMemset(p->X, 0xff, p->n * (size_t)columns * sizeof *x));
    o.passes = passes[0];
    solve_ours(&o);
    OK(tacit_factor_solver_wait(S));
    CUDA(cudaMemcpy(x, p->X + (size_t)(columns - 1) * p->n, p->n * sizeof *x,
                    cudaMemcpyDeviceToHost));
    printf("%s\ttacit\tcolumns %d\tboth %.4f (%.4f to %.4f)\tL %.4f\tU %.4f\t"
           "%.0f GB/s\tresidual %.1e\n",
           p->name, columns, s[0].median, s[0].low, s[0].high, s[1].median,
           s[2].median, 2e-6 * info.values_bytes / s[0].median,
           residual_of(p, p->b + (size_t)(columns - 1) * p->n, x));
    fflush(stdout);
    free(x);
}

static void measure(const problem *p, double factor_seconds)
{
    tacit_factor_info about = {.size = sizeof about};
    OK(tacit_factor_describe(p->F, &about));
    for (int columns = 1; columns <= p->columns;
         columns = columns == 1 && p->columns > 1 ? p->columns
                                                  : p->columns + 1) {
        tacit_factor_solver *S = NULL;
        tacit_factor_solver_info info = {.size = sizeof info};
        const tacit_factor_solver_options options = {.size = sizeof options,
                                                     .columns = columns};
        OK(tacit_factor_solver_create(p->q, &p->P, &options, &S));
        OK(tacit_factor_solver_describe(S, &info));
        printf("%s\tplan\trows %zu\tentries %lld\tstored %.0f\tnodes %d\t"
               "branches %d\ttasks %d, %d\tdepth %d\tblocks %d\tcondition "
               "%.1e\tnarrowed %d\tfactor %.2f s (%s)\tplan %.3f s\tupload "
               "%.3f s\t%.3f GB\n",
               p->name, p->n, (long long)about.nonzeros,
               info.values_bytes / 8.0, info.nodes, info.branches, info.tasks,
               info.tasks_of_many, info.depth, info.blocks, info.condition,
               info.narrowed, factor_seconds, about.dense, info.plan_seconds,
               info.upload_seconds, 1e-9 * info.bytes);
        measure_ours(p, S, columns);
        tacit_factor_solver_destroy(&S);
    }
}

/* --- by rows -------------------------------------------------------------- */

typedef struct {
    const problem *p;
    tct_rows *R;
} by_rows;

static void solve_rows(void *ctx)
{
    const by_rows *r = ctx;
    OK(tct_rows_solve(r->R, r->p->q, r->p->B, r->p->X));
}

/* The largest difference to what the host finds, over the largest element. */
static double error_of(const problem *p)
{
    double *x = malloc(p->n * sizeof *x), *y = malloc(p->n * sizeof *y);
    double apart = 0.0, most = 0.0;
    CUDA(cudaMemcpy(x, p->X, p->n * sizeof *x, cudaMemcpyDeviceToHost));
    OK(tacit_factor_solve(p->F, 1, p->b, p->n, y, p->n));
    for (size_t i = 0; i < p->n; i++) {
        apart = fmax(apart, fabs(x[i] - y[i]));
        most = fmax(most, fabs(y[i]));
    }
    free(x);
    free(y);
    return apart / most;
}

static void measure_rows(const problem *p)
{
    by_rows r = {.p = p};
    const double start = tct_seconds();
    OK(tct_rows_create(p->q, &p->P, NULL, &r.R));
    const double seconds = tct_seconds() - start;
    const tct_rows_info info = tct_rows_about(r.R);
    const spread s = time_of(p->stream, (job){solve_rows, &r}, WARM, RUNS);
    CUDA(cudaStreamSynchronize(p->stream));
    printf("%s\ttacit by rows\tboth %.4f (%.4f to %.4f)\t%.0f GB/s\tlevels %d, "
           "%d\tlanes %d\twarps %d\tset up %.3f s\terror %.1e\n",
           p->name, s.median, s.low, s.high, 1e-6 * info.bytes / s.median,
           info.levels[0], info.levels[1], info.lanes, info.warps, seconds,
           error_of(p));
    fflush(stdout);
    tct_rows_destroy(&r.R);
}

/* --- cuSPARSE's ----------------------------------------------------------- */

#if BENCH_CUSPARSE
static void sparse_ok(cusparseStatus_t e, int line)
{
    if (e == CUSPARSE_STATUS_SUCCESS) return;
    fprintf(stderr, "trsv_gpu: line %d: %s\n", line, cusparseGetErrorString(e));
    exit(1);
}
#define SPARSE(call) sparse_ok((call), __LINE__)

/* One triangle, one vector or several. */
typedef struct {
    cusparseHandle_t handle;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t b, x;
    cusparseDnMatDescr_t B, X;
    cusparseSpSVDescr_t sv;
    cusparseSpSMDescr_t sm;
    void *device[3], *buffer;
    double analysis;
    int columns;
} side;

static const double one = 1.0;
#define HOW CUSPARSE_OPERATION_NON_TRANSPOSE
#define SV                                              \
    s->handle, HOW, &one, s->A, s->b, s->x, CUDA_R_64F, \
        CUSPARSE_SPSV_ALG_DEFAULT, s->sv
#define SM                                                   \
    s->handle, HOW, HOW, &one, s->A, s->B, s->X, CUDA_R_64F, \
        CUSPARSE_SPSM_ALG_DEFAULT, s->sm

static void open_side(side *s, const problem *p, const triangle *t, bool lower,
                      const double *in, double *out)
{
    const int64_t n = (int64_t)p->n;
    cusparseFillMode_t fill =
        lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    size_t bytes = 0;
    s->device[0] = to_device(t->ptr, (p->n + 1) * sizeof *t->ptr);
    s->device[1] = to_device(t->col, (size_t)t->entries * sizeof *t->col);
    s->device[2] = to_device(t->val, (size_t)t->entries * sizeof *t->val);
    SPARSE(cusparseCreateCsr(&s->A, n, n, t->entries, s->device[0],
                             s->device[1], s->device[2], CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                             CUDA_R_64F));
    SPARSE(cusparseSpMatSetAttribute(s->A, CUSPARSE_SPMAT_FILL_MODE, &fill,
                                     sizeof fill));
    SPARSE(cusparseCreateDnVec(&s->b, n, (void *)(uintptr_t)in, CUDA_R_64F));
    SPARSE(cusparseCreateDnVec(&s->x, n, out, CUDA_R_64F));
    SPARSE(cusparseCreateDnMat(&s->B, n, s->columns, n, (void *)(uintptr_t)in,
                               CUDA_R_64F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&s->X, n, s->columns, n, out, CUDA_R_64F,
                               CUSPARSE_ORDER_COL));
    SPARSE(cusparseSpSV_createDescr(&s->sv));
    SPARSE(cusparseSpSM_createDescr(&s->sm));
    if (s->columns == 1) SPARSE(cusparseSpSV_bufferSize(SV, &bytes));
    else SPARSE(cusparseSpSM_bufferSize(SM, &bytes));
    CUDA(cudaMalloc(&s->buffer, bytes + 16));
    CUDA(cudaDeviceSynchronize());
    const double start = tct_seconds();
    if (s->columns == 1) SPARSE(cusparseSpSV_analysis(SV, s->buffer));
    else SPARSE(cusparseSpSM_analysis(SM, s->buffer));
    CUDA(cudaDeviceSynchronize());
    s->analysis = tct_seconds() - start;
}

static void close_side(side *s)
{
    SPARSE(cusparseSpSV_destroyDescr(s->sv));
    SPARSE(cusparseSpSM_destroyDescr(s->sm));
    SPARSE(cusparseDestroyDnVec(s->b));
    SPARSE(cusparseDestroyDnVec(s->x));
    SPARSE(cusparseDestroyDnMat(s->B));
    SPARSE(cusparseDestroyDnMat(s->X));
    SPARSE(cusparseDestroySpMat(s->A));
    for (int k = 0; k < 3; k++) CUDA(cudaFree(s->device[k]));
    CUDA(cudaFree(s->buffer));
}

static void solve_side(void *ctx)
{
    side *s = ctx;
    if (s->columns == 1) SPARSE(cusparseSpSV_solve(SV));
    else SPARSE(cusparseSpSM_solve(SM));
}
static void solve_sides(void *ctx)
{
    solve_side(ctx);
    solve_side((side *)ctx + 1);
}

static void measure_theirs(const problem *p)
{
    triangle U = upper_of(&p->P), L = transpose_of(&U, p->P.rows);
    cusparseHandle_t handle;
    double *y = NULL;
    SPARSE(cusparseCreate(&handle));
    SPARSE(cusparseSetStream(handle, p->stream));
    CUDA(cudaMalloc((void **)&y, p->n * (size_t)p->columns * sizeof *y));
    for (int c = 1; c <= p->columns;
         c = c == 1 && p->columns > 1 ? p->columns : p->columns + 1) {
        side s[2] = {{.handle = handle, .columns = c},
                     {.handle = handle, .columns = c}};
        open_side(&s[0], p, &L, true, p->B, y);
        open_side(&s[1], p, &U, false, y, p->X);
        const spread both = time_of(p->stream, (job){solve_sides, s}, 1, 5);
        int runs = (int)(2000.0 / both.median);
        runs = runs < 5 ? 5 : runs > RUNS ? RUNS : runs;
        const spread b = time_of(p->stream, (job){solve_sides, s}, 1, runs),
                     l = time_of(p->stream, (job){solve_side, s}, 1, runs),
                     u = time_of(p->stream, (job){solve_side, s + 1}, 1, runs);
        printf("%s\tcuSPARSE %s\tcolumns %d\tboth %.3f (%.3f to %.3f, %d "
               "runs)\tL %.3f\tU %.3f\tanalysis %.3f s\tentries %lld\n",
               p->name, c == 1 ? "SpSV" : "SpSM", c, b.median, b.low, b.high,
               runs, l.median, u.median, s[0].analysis + s[1].analysis,
               (long long)L.entries);
        fflush(stdout);
        close_side(&s[0]);
        close_side(&s[1]);
    }
    CUDA(cudaFree(y));
    SPARSE(cusparseDestroy(handle));
    triangle_free(&U);
    triangle_free(&L);
}
#else
static void measure_theirs(const problem *p)
{
    (void)p;
}
#endif

#if !BENCH_CUDSS
void measure_cudss(const problem *p)
{
    fprintf(stderr, "trsv_gpu: %s: not built with cuDSS\n", p->name);
    exit(1);
}
#endif

int main(int argc, char **argv)
{
    int columns = 50, message;
    bool theirs = true, direct = false;
    tacit_world *w = NULL;
    tacit_factor_options how = {.size = sizeof how};
    while ((message = getopt(argc, argv, "c:sdi:")) != -1) {
        if (message == 'c') columns = atoi(optarg);
        else if (message == 's') theirs = false;
        else if (message == 'd') direct = true;
        else if (message == 'i') how.order = optarg;
        else columns = 0;
    }
    if (columns < 1 || columns > 64 || optind == argc ||
        (direct && how.order)) {
        fprintf(stderr, "trsv_gpu [-c COLUMNS] [-s] [-d] [-i ORDER] "
                        "MATRIX...\n");
        return 1;
    }
    const bool rows = how.order != NULL;
    if (rows) how.kind = TACIT_FACTOR_IC0;
    if (rows) columns = 1;
    OK(tacit_world_self(&w));
    for (; optind < argc; optind++) {
        const double start = tct_seconds();
        problem p =
            open_problem(w, argv[optind], columns, direct ? NULL : &how);
        if (direct) measure_cudss(&p);
        else if (rows) measure_rows(&p);
        else measure(&p, tct_seconds() - start);
        if (theirs && !direct) measure_theirs(&p);
        close_problem(&p);
    }
    tacit_world_destroy(&w);
    return 0;
}
