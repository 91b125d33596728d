/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_stream.c - a user's own work on a GPU by tacit/cuda.h: queues
 * on the user's stream, in its order; any memory as vectors, at any multiple of
 * 8 bytes; rows in device memory, and bad ones. Only in builds with CUDA.
 *
 * LABEL: gpu
 * RUN: np=1,2 */
#include "gpu.h"
#include "methods.h"
#include "slab_kernels.h"
#include <tacit/cuda.h>

static void cuda_ok(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess) return;
    print_error("%s:%d: %s: %s\n", __FILE__, line, call,
                cudaGetErrorString(error));
    _fail(__FILE__, line);
}
#define CUDA(call) cuda_ok((call), #call, __LINE__)

static bool alone(void)
{
    return tacit_world_size(test_world()) == 1;
}

static bool last_rank(void)
{
    return tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
}

/* --- a problem, and a queue on a stream ----------------------------------- */

/* b is that of x*. */
typedef struct {
    tacit_matrix *m;
    size_t n;
    double *b, *xstar;
} problem;

static problem open_problem(void)
{
    problem p = {.m = gallery_matrix("poisson3d:14")};
    tacit_queue *q = open_queue("host");
    tacit_operator *A = operator_of(q, p.m, "csr");
    p.n = (size_t)tacit_matrix_local_rows(p.m);
    double *x = poisoned_vector(q, p.n), *b = poisoned_vector(q, p.n);
    OK(tacit_operator_manufacture(A, p.m, 3, x, b));
    p.b = host_copy(q, p.n, b);
    p.xstar = host_copy(q, p.n, x);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &b);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    return p;
}

static void close_problem(problem *p)
{
    free(p->b);
    free(p->xstar);
    tacit_matrix_destroy(&p->m);
}

/* A queue on a stream made with `flags`, or on one of its own. */
typedef struct {
    cudaStream_t stream;
    tacit_queue *q;
    tacit_operator *A;
} line;

static line open_line(const problem *p, unsigned flags)
{
    line l = {0};
    CUDA(cudaStreamCreateWithFlags(&l.stream, flags));
    OK(tacit_queue_on_stream(test_world(), "cuda", 1, l.stream, &l.q));
    l.A = operator_of(l.q, p->m, "sell/f64");
    assert_non_null(l.A);
    return l;
}

/* The stream outlives its queue. */
static void close_line(line *l)
{
    tacit_operator_destroy(&l->A);
    tacit_queue_destroy(&l->q);
    CUDA(cudaStreamSynchronize(l->stream));
    CUDA(cudaStreamDestroy(l->stream));
}

static double *cuda_vector(size_t n, const double *x)
{
    void *v = NULL;
    CUDA(cudaMalloc(&v, (n + 1) * sizeof *x));
    CUDA(cudaMemset(v, 0xff, (n + 1) * sizeof *x)); /* NaN */
    if (x) CUDA(cudaMemcpy(v, x, n * sizeof *x, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return v;
}

/* A solver; NULL where the loop is not for it. */
static tacit_solver *solver_of(const line *l, const char *method,
                               const char *loop)
{
    tacit_solver *s = NULL;
    OK(tacit_solver_create(l->q, l->A, method, &s));
    const tacit_status status = tacit_solver_set_loop(s, loop);
    if (status != TACIT_UNSUPPORTED) OK(status);
    else tacit_solver_destroy(&s);
    return s;
}

static int64_t solve(tacit_solver *s, const double *b, double *x)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    tacit_result result = {.size = sizeof result};
    OK(tacit_solver_run(s, b, x, &stop, &result));
    return result.iterations;
}

/* Is there work that has not been done? */
static bool is_busy(cudaStream_t stream)
{
    const cudaError_t state = cudaStreamQuery(stream);
    (void)cudaGetLastError(); /* that it is not ready is no error */
    return state == cudaErrorNotReady;
}

static void check_x(const problem *p, const double *x, const char *what)
{
    const double off = distance_of(p->n, x, p->xstar);
    if (!(off <= 1e-8)) fail_msg("%s: off by %.2e", what, off);
}

/* --- order ---------------------------------------------------------------- */

/* b and x are written late, in `before`, and x is taken in `after` at once. */
static void solve_between(const problem *p, tacit_solver *s,
                          cudaStream_t before, cudaStream_t after,
                          const char *what)
{
    const size_t bytes = p->n * sizeof(double);
    double *from = cuda_vector(p->n, p->b), *b = cuda_vector(p->n, NULL);
    double *x = cuda_vector(p->n, NULL), *to = cuda_vector(p->n, NULL);
    double *got = host_vector(p->n, NAN);
    CUDA(slab_late_copy(before, p->n, from, b));
    CUDA(cudaMemsetAsync(x, 0, bytes, before));
    assert_true(is_busy(before));
    solve(s, b, x);
    CUDA(cudaMemcpyAsync(to, x, bytes, cudaMemcpyDeviceToDevice, after));
    CUDA(cudaMemsetAsync(x, 0xff, bytes, after));
    CUDA(cudaStreamSynchronize(after));
    CUDA(cudaMemcpy(got, to, bytes, cudaMemcpyDeviceToHost));
    check_x(p, got, what);
    CUDA(cudaFree(from));
    CUDA(cudaFree(b));
    CUDA(cudaFree(x));
    CUDA(cudaFree(to));
    free(got);
}

static void solves_are_in_the_order_of_the_stream(void **state)
{
    (void)state;
    static const unsigned kinds[] = {cudaStreamDefault, cudaStreamNonBlocking};
    problem p = open_problem();
    for (int k = 0; k < 2; k++) {
        line l = open_line(&p, kinds[k]);
        FOR_LOOPS(i)
        {
            tacit_solver *s = solver_of(&l, "cg", loop_of(i));
            if (!s && alone()) fail_msg("no loop %s", loop_of(i));
            if (!s) continue;
            for (int run = 0; run < 2; run++) /* the second has a recording */
                solve_between(&p, s, l.stream, l.stream, loop_of(i));
            tacit_solver_destroy(&s);
        }
        close_line(&l);
    }
    close_problem(&p);
}

/* A blocking stream and the legacy default stream wait for one another. */
static void blocking_streams_follow_the_default_one(void **state)
{
    (void)state;
    problem p = open_problem();
    line l = open_line(&p, cudaStreamDefault);
    FOR_LOOPS(i)
    {
        tacit_solver *s = solver_of(&l, "cg", loop_of(i));
        if (!s) continue;
        solve_between(&p, s, cudaStreamLegacy, cudaStreamLegacy, loop_of(i));
        tacit_solver_destroy(&s);
    }
    close_line(&l);
    close_problem(&p);
}

/* tacit_operator_apply, tacit_queue_get, tacit_queue_distance: words of the
 * queue itself. */
static void other_calls_are_in_order_too(void **state)
{
    (void)state;
    problem p = open_problem();
    line l = open_line(&p, cudaStreamNonBlocking);
    double *from = cuda_vector(p.n, p.xstar), *x = cuda_vector(p.n, NULL);
    double *y = cuda_vector(p.n, NULL), *got = host_vector(p.n, NAN);
    CUDA(slab_late_copy(l.stream, p.n, from, x));
    assert_true(is_busy(l.stream));
    OK(tacit_operator_apply(l.A, x, y));
    OK(tacit_queue_get(l.q, p.n, y, got));
    const double off = distance_of(p.n, got, p.b);
    if (!(off <= 1e-13 * norm_of(p.n, p.b))) fail_msg("product: %.2e", off);
    CUDA(cudaMemset(x, 0xff, p.n * sizeof *x));
    CUDA(cudaDeviceSynchronize());
    CUDA(slab_late_copy(l.stream, p.n, from, x));
    OK(tacit_queue_get(l.q, p.n, x, got));
    assert_true(same_bits(got, p.xstar, p.n));
    double distance = NAN;
    CUDA(slab_late_copy(l.stream, p.n, y, x));
    OK(tacit_queue_distance(l.q, p.n, x, y, &distance));
    assert_true(distance == 0.0);
    CUDA(cudaFree(from));
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
    free(got);
    close_line(&l);
    close_problem(&p);
}

static void the_stream_stays_the_users(void **state)
{
    (void)state;
    cudaStream_t stream = NULL, same = NULL;
    tacit_queue *q = NULL;
    double *x = cuda_vector(1, NULL), got = NAN;
    CUDA(cudaStreamCreate(&stream));
    OK(tacit_queue_on_stream(test_world(), "count:cuda", 1, stream, &q));
    OK(tacit_queue_stream(q, &same));
    assert_ptr_equal(same, stream);
    assert_non_null(tacit_queue_tally(q));
    tacit_queue_destroy(&q);
    OK(tacit_queue_on_stream(test_world(), NULL, 1, stream, &q)); /* again */
    tacit_queue_destroy(&q);
    CUDA(cudaMemsetAsync(x, 0, sizeof *x, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
    assert_true(got == 0.0);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(x));
}

/* --- streams that are refused --------------------------------------------- */

static void refuse(tacit_status status, const char *spec, cudaStream_t stream,
                   const char *word)
{
    tacit_queue *q = NULL;
    EXPECT(status, tacit_queue_on_stream(test_world(), spec, 1, stream, &q));
    assert_null(q);
    if (!strstr(tacit_error_message(), word))
        fail_msg("expected '%s' in: %s", word, tacit_error_message());
}

static void streams_that_cannot_be_are_refused(void **state)
{
    (void)state;
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    tacit_queue *q = NULL;
    CUDA(cudaStreamCreate(&stream));
    refuse(TACIT_INVALID, "cuda", NULL, "default stream");
    refuse(TACIT_INVALID, "cuda", cudaStreamLegacy, "default stream");
    refuse(TACIT_INVALID, "cuda", cudaStreamPerThread, "default stream");
    /* one rank's is one too many */
    refuse(TACIT_INVALID, "cuda", last_rank() ? NULL : stream,
           "default stream");
    refuse(TACIT_UNSUPPORTED, "host", stream, "device host has no stream");
    refuse(TACIT_INVALID, "cuda(4096)", stream, "cuda(4096)");
    refuse(TACIT_INVALID, "cdua", stream, "cdua");
    refuse(TACIT_INVALID, "cuont:cuda", stream, "cuont");
    EXPECT(TACIT_INVALID, tacit_queue_on_stream(NULL, "cuda", 1, stream, &q));
    EXPECT(TACIT_INVALID,
           tacit_queue_on_stream(test_world(), "cuda", 1, stream, NULL));
    EXPECT(TACIT_INVALID,
           tacit_queue_on_stream(test_world(), "cuda", -1, stream, &q));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    refuse(TACIT_INVALID, "cuda", stream, "captured");
    CUDA(cudaStreamEndCapture(stream, &graph)); /* it is none the worse */
    CUDA(cudaGraphDestroy(graph));
    OK(tacit_queue_on_stream(test_world(), "cuda", 1, stream, &q));
    tacit_queue_destroy(&q);
    CUDA(cudaStreamDestroy(stream));
}

static void streams_of_another_device_are_refused(void **state)
{
    (void)state;
    int devices = 0, now = -1;
    cudaStream_t stream = NULL;
    tacit_queue *q = NULL;
    CUDA(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        print_message("skipped: streams of another device: there is one GPU\n");
        skip();
    }
    CUDA(cudaSetDevice(1));
    CUDA(cudaStreamCreate(&stream));
    OK(tacit_queue_on_stream(test_world(), "cuda", 1, stream, &q));
    tacit_queue_destroy(&q);
    CUDA(cudaSetDevice(0));
    refuse(TACIT_INVALID, "cuda", stream, "not of device cuda(0)");
    OK(tacit_queue_on_stream(test_world(), "cuda(1)", 1, stream, &q));
    CUDA(cudaGetDevice(&now));
    assert_int_equal(now, 1);
    tacit_queue_destroy(&q);
    refuse(TACIT_INVALID, "cuda(0)", stream, "not of device cuda(0)");
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaSetDevice(0));
}

/* --- memory from anywhere ------------------------------------------------- */

typedef enum { OF_QUEUE, OF_MALLOC, OF_ASYNC, OF_MANAGED, ODD, KINDS } kind;
static const char *const kind_names[] = {"tacit_queue_alloc", "cudaMalloc",
                                         "cudaMallocAsync", "cudaMallocManaged",
                                         "odd multiples of 8 bytes"};

/* A vector of n elements, `offset` beyond the beginning of what is allocated;
 * what surrounds it is GUARD. */
typedef struct {
    kind kind;
    size_t n, offset;
    double *all, *at;
} memory;
enum { AROUND = 4 };
static const double GUARD = 12345.0;

static void allocate(memory *v, const line *l)
{
    const size_t bytes = (v->n + AROUND) * sizeof(double);
    void *p = NULL;
    switch ((int)v->kind) {
    case OF_QUEUE: OK(tacit_queue_alloc(l->q, v->n + AROUND, &v->all)); return;
    case OF_ASYNC: CUDA(cudaMallocAsync(&p, bytes, l->stream)); break;
    case OF_MANAGED:
        CUDA(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal));
        break;
    default: CUDA(cudaMalloc(&p, bytes));
    }
    v->all = p;
}

static memory open_memory(const line *l, kind k, size_t n, size_t offset,
                          const double *x)
{
    memory v = {.kind = k, .n = n, .offset = k == ODD ? offset : 0};
    double *all = host_vector(n + AROUND, GUARD);
    memcpy(all + v.offset, x, n * sizeof *x);
    allocate(&v, l);
    v.at = v.all + v.offset;
    if (k == OF_MANAGED) memcpy(v.all, all, (n + AROUND) * sizeof *all);
    else OK(tacit_queue_put(l->q, n + AROUND, all, v.all));
    free(all);
    return v;
}

/* Its contents on the host; it is no more. */
static double *close_memory(const line *l, memory *v)
{
    double *all = host_vector(v->n + AROUND, NAN);
    if (v->kind == OF_MANAGED)
        memcpy(all, v->all, (v->n + AROUND) * sizeof *all);
    else OK(tacit_queue_get(l->q, v->n + AROUND, v->all, all));
    for (size_t i = 0; i < v->n + AROUND; i++)
        if (i < v->offset || i >= v->offset + v->n)
            assert_true(all[i] == GUARD);
    memmove(all, all + v->offset, v->n * sizeof *all);
    if (v->kind == OF_QUEUE) tacit_queue_free(l->q, &v->all);
    else if (v->kind == OF_ASYNC) CUDA(cudaFreeAsync(v->all, l->stream));
    else CUDA(cudaFree(v->all));
    return all;
}

/* x of A x = b with vectors in memory of this kind. */
static double *solve_in(const problem *p, const line *l, tacit_solver *s,
                        kind k, int64_t *iterations)
{
    double *zero = host_vector(p->n, 0.0);
    memory b = open_memory(l, k, p->n, 1, p->b);
    memory x = open_memory(l, k, p->n, 3, zero);
    free(zero);
    *iterations = solve(s, b.at, x.at);
    double *same = close_memory(l, &b);
    assert_true(same_bits(same, p->b, p->n));
    free(same);
    return close_memory(l, &x);
}

static void compare_kinds(const problem *p, const line *l, const char *method,
                          const char *loop)
{
    int64_t wanted = 0;
    double *first = NULL;
    for (int k = 0; k < KINDS; k++) {
        char what[120];
        int64_t got = 0;
        tacit_solver *s = solver_of(l, method, loop);
        if (!s) return;
        double *x = solve_in(p, l, s, (kind)k, &got);
        snprintf(what, sizeof what, "%s, loop %s, memory: %s", method, loop,
                 kind_names[k]);
        if (k == 0) first = x;
        if (k == 0) wanted = got;
        check_x(p, x, what);
        if (k != ODD && !same_bits(x, first, p->n))
            fail_msg("%s: other bits than of tacit_queue_alloc", what);
        if (llabs(got - wanted) > wanted / 50 + 2)
            fail_msg("%s: %lld iterations, not %lld", what, (long long)got,
                     (long long)wanted);
        if (k > 0) free(x);
        tacit_solver_destroy(&s);
    }
    free(first);
}

static void vectors_may_be_anywhere_on_the_device(void **state)
{
    (void)state;
    problem p = open_problem();
    line l = open_line(&p, cudaStreamNonBlocking);
    FOR_METHODS(m)
    FOR_LOOPS(i)
    compare_kinds(&p, &l, method_of(m), loop_of(i));
    close_line(&l);
    close_problem(&p);
}

/* --- rows on the device --------------------------------------------------- */

/* Rows as a user has them: the last entry first, and that one twice. */
typedef struct {
    int64_t n, first, count;
    int64_t *ptr, *cols;
    double *vals;
    int64_t rows, entries; /* that there are, whatever the others say */
} given;

static given open_given(void)
{
    tacit_rows r;
    tacit_matrix *m = gallery_matrix("poisson2d:20");
    OK(tacit_matrix_view_rows(m, &r));
    given g = {.n = tacit_matrix_global_rows(m),
               .first = r.first,
               .count = r.count,
               .rows = r.count};
    const size_t most = (size_t)(r.ptr[r.count] + r.count + 1);
    g.ptr = calloc((size_t)r.count + 1, sizeof *g.ptr);
    g.cols = malloc(most * sizeof *g.cols);
    g.vals = malloc(most * sizeof *g.vals);
    assert_true(g.ptr && g.cols && g.vals);
    int64_t at = 0;
    for (int64_t i = 0; i < r.count; i++) {
        for (int64_t k = r.ptr[i + 1]; k >= r.ptr[i]; k--) {
            const int64_t from = k == r.ptr[i + 1] ? k - 1 : k;
            g.cols[at] = r.cols32 ? r.cols32[from] : r.cols64[from];
            g.vals[at] = r.vals[from] + 0.1 * (double)(at % 7);
            at++;
        }
        g.ptr[i + 1] = at;
    }
    g.entries = at;
    tacit_matrix_destroy(&m);
    return g;
}

static void close_given(given *g)
{
    free(g->ptr);
    free(g->cols);
    free(g->vals);
}

static void *upload(const void *from, size_t bytes)
{
    void *p = NULL;
    CUDA(cudaMalloc(&p, bytes + 1));
    CUDA(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return p;
}

static void *upload_narrow(const int64_t *from, int64_t n)
{
    int32_t *narrow = malloc((size_t)(n + 1) * sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t k = 0; k < n; k++) narrow[k] = (int32_t)from[k];
    void *p = upload(narrow, (size_t)n * sizeof *narrow);
    free(narrow);
    return p;
}

/* Copies of `n` integers, of 64 bits or of 32; of NULL there is none. */
static void upload_integers(const int64_t *from, int64_t n, bool are_wide,
                            const int64_t **wide, const int32_t **narrow)
{
    if (!from) return;
    if (are_wide) *wide = upload(from, (size_t)n * sizeof *from);
    else *narrow = upload_narrow(from, n);
}

/* `g` on the device; bit 0 of `widths`: ptr of 64 bits, 1: cols. */
static tacit_device_rows on_device(const given *g, int widths)
{
    tacit_device_rows d = {
        .size = sizeof d, .first = g->first, .count = g->count};
    upload_integers(g->ptr, g->rows + 1, widths & 1, &d.ptr64, &d.ptr32);
    upload_integers(g->cols, g->entries, widths & 2, &d.cols64, &d.cols32);
    if (g->vals) d.vals = upload(g->vals, (size_t)g->entries * sizeof *g->vals);
    return d;
}

static void free_on_device(const tacit_device_rows *d)
{
    CUDA(cudaFree((void *)(uintptr_t)d->ptr32));
    CUDA(cudaFree((void *)(uintptr_t)d->ptr64));
    CUDA(cudaFree((void *)(uintptr_t)d->cols32));
    CUDA(cudaFree((void *)(uintptr_t)d->cols64));
    CUDA(cudaFree((void *)(uintptr_t)d->vals));
}

static void same_rows(const tacit_matrix *m, const tacit_matrix *other)
{
    tacit_rows a, b;
    OK(tacit_matrix_view_rows(m, &a));
    OK(tacit_matrix_view_rows(other, &b));
    const size_t rows = (size_t)a.count, all = (size_t)a.ptr[a.count];
    assert_true(a.first == b.first && a.count == b.count);
    assert_memory_equal(a.ptr, b.ptr, (rows + 1) * sizeof *a.ptr);
    assert_true(a.cols32 && b.cols32 && all > 0);
    assert_memory_equal(a.cols32, b.cols32, all * sizeof *a.cols32);
    assert_memory_equal(a.vals, b.vals, all * sizeof *a.vals);
}

static tacit_status from_host(const given *g, tacit_matrix **out)
{
    return tacit_matrix_from_rows(test_world(), g->n, g->first, g->count,
                                  g->ptr, g->cols, g->vals, out);
}

static void rows_are_those_of_the_host(void **state)
{
    (void)state;
    given g = open_given();
    cudaStream_t stream = NULL;
    tacit_queue *q = NULL;
    tacit_matrix *host = NULL;
    OK(from_host(&g, &host));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(tacit_queue_on_stream(test_world(), "cuda", 1, stream, &q));
    for (int widths = 0; widths < 4; widths++) {
        tacit_matrix *m = NULL;
        tacit_device_rows d = on_device(&g, widths);
        /* the values come late, and nobody waits */
        const double *vals = d.vals;
        const size_t entries = (size_t)g.entries;
        double *late = cuda_vector(entries, NULL);
        CUDA(slab_late_copy(stream, entries, vals, late));
        assert_true(is_busy(stream));
        d.vals = late;
        OK(tacit_matrix_from_device_rows(q, g.n, &d, &m));
        same_rows(m, host);
        tacit_matrix_destroy(&m);
        CUDA(cudaFree(late));
        d.vals = vals;
        free_on_device(&d);
    }
    tacit_matrix_destroy(&host);
    tacit_queue_destroy(&q);
    CUDA(cudaStreamDestroy(stream));
    close_given(&g);
}

/* A rank without rows, on a queue that has a stream of its own. */
static void a_rank_may_own_no_rows(void **state)
{
    (void)state;
    const bool mine = tacit_world_rank(test_world()) == 0;
    const int32_t ptr[] = {0, 1}, col[] = {0};
    const double val[] = {4.0};
    tacit_rows rows;
    tacit_matrix *m = NULL;
    tacit_queue *q = open_queue("cuda");
    tacit_device_rows d = {.size = sizeof d, .first = mine ? 0 : 1};
    if (mine) {
        d.count = 1;
        d.ptr32 = upload(ptr, sizeof ptr);
        d.cols32 = upload(col, sizeof col);
        d.vals = upload(val, sizeof val);
    }
    OK(tacit_matrix_from_device_rows(q, 1, &d, &m));
    OK(tacit_matrix_view_rows(m, &rows));
    assert_int_equal(rows.count, mine);
    if (mine) assert_true(rows.vals[0] == 4.0 && rows.cols32[0] == 0);
    tacit_matrix_destroy(&m);
    free_on_device(&d);
    tacit_queue_destroy(&q);
}

static void new_values_come_the_same_way(void **state)
{
    (void)state;
    given g = open_given();
    tacit_queue *q = open_queue("cuda");
    tacit_matrix *m = NULL;
    const size_t n = (size_t)g.count;
    tacit_device_rows d = on_device(&g, 0);
    OK(tacit_matrix_from_device_rows(q, g.n, &d, &m));
    tacit_operator *A = operator_of(q, m, "auto");
    double *ones = host_vector(n, 1.0), *x = device_vector(q, n, ones);
    double *y = poisoned_vector(q, n);
    OK(tacit_operator_apply(A, x, y));
    double *once = host_copy(q, n, y);
    tacit_matrix_destroy(&m);
    free_on_device(&d);

    for (int64_t k = 0; k < g.entries; k++) g.vals[k] *= 2.0;
    d = on_device(&g, 0);
    OK(tacit_matrix_from_device_rows(q, g.n, &d, &m));
    OK(tacit_operator_update(A, m));
    OK(tacit_operator_apply(A, x, y));
    double *twice = host_copy(q, n, y);
    for (size_t i = 0; i < n; i++) assert_true(twice[i] == 2.0 * once[i]);
    free(ones);
    free(once);
    free(twice);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    free_on_device(&d);
    tacit_queue_destroy(&q);
    close_given(&g);
}

/* --- bad rows ------------------------------------------------------------- */

/* What a rank can give that is wrong. */
typedef enum {
    PTR_BEGINS,
    PTR_FALLS,
    COLUMN_BEYOND,
    COLUMN_NEGATIVE,
    VALUE_NAN,
    RANGE_GAP,
    ROWS_TOO_MANY,
    ROWS_NEGATIVE,
    NO_PTR,
    NO_COLS,
    NO_VALS,
    FAULTS
} fault;

static void spoil(given *g, int f)
{
    const int64_t last = g->entries - 1;
    switch (f) {
    case PTR_BEGINS: g->ptr[0] = 1; break;
    case PTR_FALLS: g->ptr[g->count] = g->ptr[g->count - 1] - 1; break;
    case COLUMN_BEYOND: g->cols[last] = g->n; break;
    case COLUMN_NEGATIVE: g->cols[last] = -1; break;
    case VALUE_NAN: g->vals[last] = NAN; break;
    case RANGE_GAP: g->first++; break;
    case ROWS_TOO_MANY: g->count = g->n + 1; break;
    case ROWS_NEGATIVE: g->count = -1; break;
    case NO_PTR: g->ptr = NULL; break;
    case NO_COLS: g->cols = NULL; break;
    case NO_VALS: g->vals = NULL; break;
    default: fail();
    }
}

/* On the last rank alone: the others have good rows, and fail as well. */
static void refuse_as_on_the_host(tacit_queue *q, int f, int widths)
{
    char wanted[512];
    tacit_matrix *m = NULL;
    given g = open_given(), bad = g;
    if (last_rank()) spoil(&bad, f);
    const tacit_device_rows d = on_device(&bad, widths);
    const tacit_status status = from_host(&bad, &m);
    assert_true(status < 0);
    snprintf(wanted, sizeof wanted, "%s", tacit_error_message());
    EXPECT(status, tacit_matrix_from_device_rows(q, g.n, &d, &m));
    assert_string_equal(tacit_error_message(), wanted);
    assert_null(m);
    free_on_device(&d);
    close_given(&g);
}

static void bad_rows_are_refused_as_on_the_host(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("cuda");
    for (int f = 0; f < FAULTS; f++) {
        refuse_as_on_the_host(q, f, 0);
        refuse_as_on_the_host(q, f, 3);
    }
    tacit_queue_destroy(&q);
}

static void refuse_rows(tacit_status status, tacit_queue *q,
                        const tacit_device_rows *d, const char *word)
{
    tacit_matrix *m = NULL;
    EXPECT(status, tacit_matrix_from_device_rows(q, 400, d, &m));
    assert_null(m);
    if (!strstr(tacit_error_message(), word))
        fail_msg("expected '%s' in: %s", word, tacit_error_message());
}

static void what_are_no_rows_is_refused(void **state)
{
    (void)state;
    given g = open_given();
    tacit_matrix *m = NULL;
    tacit_queue *q = open_queue("cuda"), *host = open_queue("host");
    const tacit_device_rows narrow = on_device(&g, 0), wide = on_device(&g, 3);
    tacit_device_rows d = narrow;
    EXPECT(TACIT_INVALID, tacit_matrix_from_device_rows(NULL, g.n, &d, &m));
    EXPECT(TACIT_INVALID, tacit_matrix_from_device_rows(q, g.n, NULL, &m));
    EXPECT(TACIT_INVALID, tacit_matrix_from_device_rows(q, g.n, &d, NULL));
    refuse_rows(TACIT_UNSUPPORTED, host, &d, "host");
    if (last_rank()) d.size = 0;
    refuse_rows(TACIT_INVALID, q, &d, "tacit_device_rows");
    d = narrow;
    if (last_rank()) d.ptr64 = wide.ptr64;
    refuse_rows(TACIT_INVALID, q, &d, "ptr");
    d = narrow;
    if (last_rank()) d.cols64 = wide.cols64;
    refuse_rows(TACIT_INVALID, q, &d, "cols");
    OK(tacit_matrix_from_device_rows(q, g.n, &narrow, &m));
    tacit_matrix_destroy(&m);
    free_on_device(&narrow);
    free_on_device(&wide);
    tacit_queue_destroy(&host);
    tacit_queue_destroy(&q);
    close_given(&g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_are_in_the_order_of_the_stream),
        cmocka_unit_test(blocking_streams_follow_the_default_one),
        cmocka_unit_test(other_calls_are_in_order_too),
        cmocka_unit_test(the_stream_stays_the_users),
        cmocka_unit_test(streams_that_cannot_be_are_refused),
        cmocka_unit_test(streams_of_another_device_are_refused),
        cmocka_unit_test(vectors_may_be_anywhere_on_the_device),
        cmocka_unit_test(rows_are_those_of_the_host),
        cmocka_unit_test(a_rank_may_own_no_rows),
        cmocka_unit_test(new_values_come_the_same_way),
        cmocka_unit_test(bad_rows_are_refused_as_on_the_host),
        cmocka_unit_test(what_are_no_rows_is_refused),
    };
    TEST_GPU_MAIN(tests);
}
