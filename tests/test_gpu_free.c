/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_free.c - operators that are user's kernels on the stream of a
 * queue (tacit/cuda.h): against the matrix on the host, by every method in the
 * loops host and graph; refusals; failing launches. Only in builds with CUDA.
 *
 * LABEL: gpu
 * RUN: np=1,2,3 */
#include "slab_kernels.h"
#include "slabs.h"
#include <tacit/cuda.h>

/* --- the function --------------------------------------------------------- */

static tacit_status said(cudaError_t error)
{
    if (error == cudaSuccess) return TACIT_OK;
    return tacit_error_set(TACIT_DEVICE, "the user's kernel: %s",
                           cudaGetErrorString(error));
}

/* Planes `first` to `last`, where the queue has come to. */
static tacit_status planes_product(const slab *s, tacit_queue *q, int first,
                                   int last, const double *x,
                                   const double *ghosts, double *y)
{
    cudaStream_t stream;
    const tacit_status status = tacit_queue_stream(q, &stream);
    if (status < 0) return status;
    if (fails_here(s, BEFORE)) return said(slab_refused(stream));
    return said(slab_product(stream, SIDE, (int)s->planes, first, last, x,
                             ghosts ? ghosts_below(s, ghosts) : NULL,
                             ghosts ? ghosts_above(s, ghosts) : NULL, y));
}

static tacit_status product(void *ctx, tacit_queue *q, const double *x,
                            double *y)
{
    slab *s = ctx;
    const int last = (int)s->planes - 1;
    s->calls++;
    tacit_exchange_begin(s->halo, x, 0, 1);
    tacit_status status = planes_product(s, q, 1, last - 1, x, NULL, y);
    if (status < 0) return status; /* the end is made without it */
    const double *ghosts = tacit_exchange_end(s->halo);
    status = planes_product(s, q, 0, 0, x, ghosts, y);
    if (status < 0 || last == 0) return status;
    return planes_product(s, q, last, last, x, ghosts, y);
}

/* --- a solve -------------------------------------------------------------- */

/* b is that of the matrix for a random x*, which is `wanted`. */
typedef struct {
    double *b, *wanted;
    int64_t iterations;
} answer;

static answer answer_of(const char *method)
{
    answer a = {0};
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = gallery_matrix("poisson3d:12");
    tacit_operator *A = operator_of(q, m, "csr");
    tacit_solver *solver = NULL;
    const size_t n = (size_t)tacit_operator_local_rows(A);
    double *x = poisoned_vector(q, n), *b = poisoned_vector(q, n);
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    tacit_result result = {.size = sizeof result};
    OK(tacit_operator_manufacture(A, m, 3, x, b));
    a.b = host_copy(q, n, b);
    a.wanted = host_copy(q, n, x);
    OK(tacit_queue_fill(q, n, 0.0, x));
    OK(tacit_solver_create(q, A, method, &solver));
    OK(tacit_solver_run(solver, b, x, &stop, &result));
    a.iterations = result.iterations;
    tacit_solver_destroy(&solver);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &b);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
    return a;
}

static void open_problem(problem *p, const char *spec, const answer *a,
                         double norm)
{
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    p->q = open_queue(spec);
    open_slab(&p->s, p->q);
    const tacit_operator_function f = {
        .size = sizeof f, .apply = product, .ctx = &p->s, .norm = norm};
    OK(tacit_operator_from_function(p->q, p->s.n, &f, &p->A));
    p->n = (size_t)p->s.n;
    p->x = poisoned_vector(p->q, p->n);
    p->b = device_vector(p->q, p->n, a->b);
}

/* UNSUPPORTED where the loop is. */
static tacit_status solve(problem *p, const char *method, const char *loop)
{
    tacit_solver *solver = NULL;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    OK(tacit_solver_create(p->q, p->A, method, &solver));
    tacit_status status = tacit_solver_set_loop(solver, loop);
    if (status >= 0)
        status = tacit_solver_run(solver, p->b, p->x, &stop, &p->result);
    tacit_solver_destroy(&solver);
    return status;
}

static void check(problem *p, const answer *a, const char *what)
{
    double *x = host_copy(p->q, p->n, p->x);
    const double off = distance_of(p->n, x, a->wanted);
    free(x);
    if (!(off <= 1e-8)) fail_msg("%s: off by %.2e", what, off);
    if (llabs(p->result.iterations - a->iterations) > a->iterations / 50 + 2)
        fail_msg("%s: %lld iterations, %lld on the host", what,
                 (long long)p->result.iterations, (long long)a->iterations);
}

static const char *const loops[] = {"host", "graph", "auto"};

static void methods_do_as_with_the_matrix(void **state)
{
    (void)state;
    const bool alone = tacit_world_size(test_world()) == 1;
    for (int m = 0; tacit_method_at(m); m++) {
        const char *method = tacit_method_at(m)->name;
        const answer a = answer_of(method);
        for (int i = 0; i < 6; i++) {
            problem p;
            const char *loop = loops[i / 2];
            char what[80];
            snprintf(what, sizeof what, "%s, loop %s", method, loop);
            open_problem(&p, "cuda", &a, i % 2 ? 12.0 : 0.0);
            const char *link = tacit_queue_link(p.q);
            const tacit_status status = solve(&p, method, loop);
            const bool by_cpu = !alone && strcmp(link, "peer") != 0 &&
                                strcmp(link, "nccl") != 0 &&
                                strcmp(link, "nvshmem") != 0;
            if (by_cpu && strcmp(loop, "graph") == 0) {
                EXPECT(TACIT_UNSUPPORTED, status);
            } else {
                OK(status);
                check(&p, &a, what);
                if (i / 2 < 2) assert_string_equal(p.result.loop, loop);
            }
            close_problem(&p);
        }
        free(a.b);
        free(a.wanted);
    }
}

/* One solver, again and again, from loop to loop. */
static void recordings_run_again(void **state)
{
    (void)state;
    if (tacit_world_size(test_world()) > 1) skip();
    const answer a = answer_of("cg");
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    tacit_solver *solver = NULL;
    problem p;
    open_problem(&p, "cuda", &a, 12.0);
    OK(tacit_solver_create(p.q, p.A, "cg", &solver));
    for (int run = 0; run < 6; run++) {
        OK(tacit_solver_set_loop(solver, run == 3 ? "host" : "graph"));
        OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
        const int before = p.s.calls;
        OK(tacit_solver_run(solver, p.b, p.x, &stop, &p.result));
        check(&p, &a, "run again");
        /* a recording is replayed without the function */
        if (run != 3) assert_true(p.s.calls - before < p.result.iterations);
    }
    tacit_solver_destroy(&solver);
    close_problem(&p);
    free(a.b);
    free(a.wanted);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const answer a = answer_of("cg");
    cudaStream_t stream;
    problem p;
    open_problem(&p, "cuda", &a, 12.0);
    EXPECT(TACIT_UNSUPPORTED, solve(&p, "cg", "resident"));
    const bool by_cpu = tacit_world_size(test_world()) > 1 &&
                        strcmp(tacit_queue_link(p.q), "peer") != 0;
    assert_non_null(
        strstr(tacit_error_message(), by_cpu ? "messages" : "function"));
    EXPECT(TACIT_INVALID, tacit_queue_stream(NULL, &stream));
    EXPECT(TACIT_INVALID, tacit_queue_stream(p.q, NULL));
    tacit_queue *host = open_queue("host");
    EXPECT(TACIT_UNSUPPORTED, tacit_queue_stream(host, &stream));
    assert_non_null(strstr(tacit_error_message(), "host"));
    tacit_queue_destroy(&host);
    OK(solve(&p, "cg", "host"));
    check(&p, &a, "after refusals");
    close_problem(&p);
    free(a.b);
    free(a.wanted);
}

/* On all ranks or on one; in loop graph while it is recorded. */
static void launches_that_fail_end_the_solve(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    const answer a = answer_of("pipelined");
    for (int rank = -1; rank < size; rank++)
        for (int i = 0; i < (size == 1 ? 2 : 1); i++) {
            problem p;
            open_problem(&p, "cuda", &a, 12.0);
            p.s.fail_at = 7;
            p.s.fail_rank = rank;
            p.s.place = BEFORE;
            EXPECT(TACIT_DEVICE, solve(&p, "pipelined", loops[i]));
            assert_non_null(
                strstr(tacit_error_message(), "the user's kernel: "));
            close_problem(&p);
        }
    free(a.b);
    free(a.wanted);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_do_as_with_the_matrix),
        cmocka_unit_test(recordings_run_again),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(launches_that_fail_end_the_solve),
    };
    TEST_GPU_MAIN(tests);
}
