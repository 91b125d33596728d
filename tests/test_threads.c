/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_threads.c - several threads, each with its own world, read, build
 * and solve at the same time, with the same bits as alone. The preset threads
 * runs it under ThreadSanitizer.
 *
 * LIMIT: 500 */
#include "io_files.h"
#include "mpi_main.h"
#include <pthread.h>
#include <stdatomic.h>
#include <tacit/tacit.h>

enum { THREADS = 2, ROWS_MOST = 3000 };

/* What a thread does, and what came of it. */
typedef struct {
    int number;
    const char *path; /* that all of them read */
    uint64_t digest;  /* of all that came out */
    int solves;
    char wrong[512]; /* the first thing that was, "" */
} job;

static atomic_int here, told;

/* Wait for the other threads, but not for those that have given up: what
 * follows is done at once. Only here, lest the test itself orders what the
 * library has not. */
static void meet(const job *j)
{
    if (j->number == THREADS) return; /* alone */
    const int round = atomic_fetch_add(&here, 1) / THREADS + 1;
    const double start = tct_seconds();
    while (atomic_load(&here) < round * THREADS && tct_seconds() - start < 5.0)
        sched_yield();
}

static void complain(job *j, const char *what, const char *why)
{
    if (!j->wrong[0])
        snprintf(j->wrong, sizeof j->wrong, "%.100s: %.350s", what, why);
}

#define OK(call)                                                           \
    do {                                                                   \
        if ((call) != TACIT_OK) complain(j, #call, tacit_error_message()); \
        if (j->wrong[0]) goto out; /* no longjmp from here */              \
    } while (0)

static void mix(job *j, const void *data, size_t bytes)
{
    const unsigned char *c = data;
    for (size_t k = 0; k < bytes; k++)
        j->digest = (j->digest ^ c[k]) * UINT64_C(0x100000001B3);
}

static int watch(void *ctx, int64_t iteration, double residual)
{
    job *j = ctx;
    mix(j, &iteration, sizeof iteration);
    mix(j, &residual, sizeof residual);
    return 0;
}

static void solve(job *j, tacit_queue *q, const tacit_operator *A,
                  const tacit_matrix *m, const char *method)
{
    static const char *const values[] = {"host", "auto"};
    const size_t n = (size_t)tacit_operator_local_rows(A);
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-9, .monitor = watch, .monitor_ctx = j};
    tacit_result result = {.size = sizeof result};
    tacit_solver *s = NULL;
    double *b = NULL, *x = NULL, *host = calloc(n, sizeof *host);
    OK(tacit_queue_alloc(q, n, &b));
    OK(tacit_queue_alloc(q, n, &x));
    OK(tacit_operator_manufacture(A, m, 3, x, b));
    OK(tacit_queue_put(q, n, host, x));
    OK(tacit_solver_create(q, A, method, &s));
    OK(tacit_solver_set(s, "loop", values[j->solves % 2]));
    OK(tacit_solver_run(s, b, x, &stop, &result));
    OK(tacit_queue_get(q, n, x, host));
    mix(j, host, n * sizeof *host);
    mix(j, &result.iterations, sizeof result.iterations);
    j->solves++;
out:
    tacit_solver_destroy(&s);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    free(host);
}

static void build_and_solve(job *j, tacit_world *w, const tacit_matrix *m)
{
    static const char *const paths[][2] = {{"host", "auto"},
                                           {"count:host", "sell@rcm"},
                                           {"trace:host", "csr@metis"},
                                           {"memcheck:host", "csr"},
                                           {"chaos(3):host", "sell"}};
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        tacit_queue *q = NULL;
        tacit_operator *A = NULL;
        meet(j);
        OK(tacit_queue_create(w, paths[p][0], 2, &q));
        OK(tacit_operator_create(q, m, paths[p][1], &A));
        OK(tacit_operator_update(A, m));
        for (int k = 0; tacit_method_at(k); k++)
            if (p == 0 || k == (int)p % 4)
                solve(j, q, A, m, tacit_method_at(k)->name);
    out:
        tacit_operator_destroy(&A);
        tacit_queue_destroy(&q);
    }
}

/* What goes wrong is told to the thread where it did. */
static void err(job *j, tacit_world *w, tacit_matrix *m)
{
    char name[64];
    tacit_matrix *none = NULL;
    snprintf(name, sizeof name, "/nowhere/of-thread-%d.mtx", j->number);
    meet(j);
    if (tacit_matrix_open(w, name, NULL, &none) != TACIT_IO)
        complain(j, name, "not refused");
    for (int i = 0; i < 5000; i++) {
        if (!strstr(tacit_error_message(), name))
            complain(j, name, tacit_error_message());
        if (tacit_matrix_partition(m, name, NULL) != TACIT_INVALID)
            complain(j, name, "not refused");
    }
}

static void look_at(job *j, tacit_matrix *m)
{
    tacit_matrix_info info = {.size = sizeof info};
    tacit_partition_info cut = {.size = sizeof cut};
    int32_t *part = malloc(ROWS_MOST * sizeof *part);
    char path[300];
    OK(tacit_matrix_check_symmetric(m));
    OK(tacit_matrix_describe(m, &info));
    mix(j, &info.nonzeros, sizeof info.nonzeros);
    OK(tacit_matrix_cut(m, "metis", 3, part, &cut));
    mix(j, part, (size_t)info.rows * sizeof *part);
    snprintf(path, sizeof path, "%.200s.%d.tacit", j->path, j->number);
    OK(tacit_matrix_write(m, path));
out:
    free(part);
}

static void one_matrix(job *j, tacit_world *w, const char *name)
{
    const tacit_matrix_options options = {.size = sizeof options,
                                          .shift = 0.125};
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(w, name, &options, &m));
    look_at(j, m);
    build_and_solve(j, w, m);
    err(j, w, m);
out:
    tacit_matrix_destroy(&m);
}

static void *work(void *arg)
{
    job *j = arg;
    tacit_world *w = NULL;
    meet(j);
    OK(tacit_world_self(&w));
    one_matrix(j, w, j->path);
    one_matrix(j, w, "elasticity3d:6");
    one_matrix(j, w, "tet3d:6,1");
out:
    tacit_world_destroy(&w);
    return NULL;
}

static void tell(void *ctx, int level, const char *text)
{
    (void)ctx;
    if (level >= 0 && text[0])
        atomic_fetch_add_explicit(&told, 1, memory_order_relaxed);
}

static const char *written(void)
{
    const char *path = in_folder("both.mtx.gz");
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_open(test_world(), "poisson2d:40", NULL, &m),
                     TACIT_OK);
    assert_int_equal(tacit_matrix_write(m, path), TACIT_OK);
    tacit_matrix_destroy(&m);
    return path;
}

static void together_as_alone(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    job alone = {.number = THREADS, .path = written()}, j[THREADS];
    tacit_set_log(tell, NULL);
    work(&alone);
    assert_string_equal(alone.wrong, "");
    int methods = 0; /* all on the first path, one on each other */
    while (tacit_method_at(methods)) methods++;
    assert_int_equal(alone.solves, 3 * (methods + 4));
    for (int t = 0; t < THREADS; t++) {
        j[t] = (job){.number = t, .path = alone.path};
        assert_int_equal(pthread_create(&thread[t], NULL, work, &j[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        assert_string_equal(j[t].wrong, "");
        assert_int_equal(j[t].solves, alone.solves);
        assert_true(j[t].digest == alone.digest);
    }
    assert_true(atomic_load(&told) > 100);
    tacit_set_log(NULL, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(together_as_alone)};
    TEST_MPI_MAIN(tests);
}
