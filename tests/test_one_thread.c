/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_one_thread.c - if one thread is requested the library creates
 * none, even briefly, whatever OpenMP would use. */
#include "io_files.h"
#include "left_out.h"
#include "mpi_main.h"
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <tacit/tacit.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* Sanitizers want to see who makes threads, and have some of their own: there
 * the threads are counted that are left. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCH 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCH 0
#endif
#endif
#ifndef WATCH
#define WATCH 1
#endif

static atomic_int made;

#if WATCH
typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                      void *);

/* In place of that of the C library, for this program and all its libraries. */
TACIT_API int pthread_create(pthread_t *thread, const pthread_attr_t *how,
                             void *(*run)(void *), void *arg)
{
    static create_fn *next;
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&next, &found, sizeof next);
    }
    atomic_fetch_add(&made, 1);
    return next(thread, how, run, arg);
}
#endif

/* Threads of this process. */
static int tasks(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/task");
    assert_non_null(all);
    for (struct dirent *one; (one = readdir(all)) != NULL;)
        count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

static int before;

static void assert_alone(const char *after)
{
    if (atomic_load(&made) > 0) fail_msg("%s: a thread was made", after);
    if (tasks() != before) fail_msg("%s: %d threads", after, tasks());
}

/* Whoever says nothing has many. */
static void want_many(void)
{
    setenv("OMP_NUM_THREADS", "4", 1);
}

static int count_threads(void *ctx, int64_t iteration, double residual)
{
    (void)residual;
    if (iteration % 10 == 0 && tasks() != before) ++*(int *)ctx;
    return 0;
}

static void solve(tacit_queue *q, const tacit_operator *A,
                  const tacit_matrix *matrix, const char *method)
{
    double *b = NULL, *x = NULL;
    const size_t n = (size_t)tacit_operator_local_rows(A);
    tacit_solver *s = NULL;
    int crowd = 0;
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-8,
                             .monitor = count_threads,
                             .monitor_ctx = &crowd};
    tacit_result result = {.size = sizeof result};
    OK(tacit_queue_alloc(q, n, &b));
    OK(tacit_queue_alloc(q, n, &x));
    OK(tacit_solver_create(q, A, method, &s));
    OK(tacit_operator_manufacture(A, matrix, 1, x, b));
    OK(tacit_solver_run(s, b, x, &stop, &result));
    assert_int_equal(crowd, 0);
    tacit_solver_destroy(&s);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
}

/* All that a queue of one thread does, with `matrix` of any world. */
static void use(tacit_world *w, int threads, const tacit_matrix *matrix)
{
    static const char *const formats[] = {"auto",       "csr@rcm", "sell@metis",
                                          "bsell@none", "sell",    "csr"};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        tacit_queue *q = NULL;
        tacit_operator *A = NULL;
        OK(tacit_queue_create(w, "host", threads, &q));
        assert_int_equal(tacit_queue_threads(q), 1);
        const tacit_status fits =
            tacit_operator_create(q, matrix, formats[f], &A);
        if (fits != TACIT_UNSUPPORTED) OK(fits);
        assert_alone(formats[f]);
        if (A) {
            OK(tacit_operator_update(A, matrix));
            for (int m = 0; tacit_method_at(m); m++)
                solve(q, A, matrix, tacit_method_at(m)->name);
        }
        tacit_operator_destroy(&A);
        tacit_queue_destroy(&q);
        assert_alone(formats[f]);
    }
}

static tacit_matrix *rows_of_three(tacit_world *w, int64_t n)
{
    int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr), k = 0;
    int64_t *cols = malloc((size_t)(3 * n) * sizeof *cols);
    double *vals = malloc((size_t)(3 * n) * sizeof *vals);
    for (int64_t i = 0; i < n; i++) {
        ptr[i] = k;
        for (int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n) continue;
            cols[k] = j;
            vals[k++] = i == j ? 2.5 : -1.0;
        }
    }
    ptr[n] = k;
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(w, n, 0, n, ptr, cols, vals, &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

static void describe(tacit_matrix *m)
{
    tacit_matrix_info info = {.size = sizeof info};
    tacit_partition_info cut = {.size = sizeof cut};
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    int32_t *part = malloc(n * sizeof *part);
    OK(tacit_matrix_check_symmetric(m));
    OK(tacit_matrix_describe(m, &info));
    OK(tacit_matrix_cut(m, "metis", 3, part, &cut));
    OK(tacit_matrix_partition(m, "metis", NULL));
    free(part);
}

/* Write `m` in every way, and read it again. */
static void store(tacit_world *w, tacit_matrix *m)
{
    static const char *const names[] = {
        "a.mtx", "a.mtx.gz", "a.tacit", "a.petsc", "a.npz", "v.mtx", "v.npy"};
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    double *x = calloc(n, sizeof *x);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = in_folder(names[i]);
        const tacit_matrix_options options = {
            .size = sizeof options, .shift = 0.5, .drop_zeros = true};
        if (left_out(names[i])) continue;
        tacit_matrix *again = NULL;
        if (names[i][0] == 'v') {
            OK(tacit_matrix_write_vector(m, path, x));
            OK(tacit_matrix_read_vector(m, path, x));
        } else {
            OK(tacit_matrix_write(m, path));
            OK(tacit_matrix_open(w, path, &options, &again));
        }
        tacit_matrix_destroy(&again);
        assert_alone(names[i]);
    }
    free(x);
}

static void a_world_of_one_thread_makes_none(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson2d:150", "elasticity3d:8",
                                        "tet3d:9,1", "random:4000,6,1"};
    want_many();
    before = tasks();
    tacit_world *w = NULL;
    OK(tacit_world_self(&w));
    OK(tacit_world_set_threads(w, 1));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tacit_matrix *m = NULL;
        OK(tacit_matrix_open(w, names[i], NULL, &m));
        assert_alone(names[i]);
        use(w, 0, m);
        describe(m);
        store(w, m);
        tacit_matrix_destroy(&m);
    }
    tacit_matrix *m = rows_of_three(w, 20000);
    use(w, 0, m);
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&w);
    assert_alone("the end");
}

/* The world may have many, the queue has one. */
static void a_queue_of_one_thread_makes_none(void **state)
{
    (void)state;
    tacit_world *w = NULL, *single = NULL;
    OK(tacit_world_self(&w));
    OK(tacit_world_self(&single));
    OK(tacit_world_set_threads(single, 1));
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(single, "poisson3d:20", NULL, &m));
    use(w, 1, m);
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&single);
    tacit_world_destroy(&w);
}

static void wishes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    tacit_world *w = NULL;
    tacit_queue *q = NULL;
    OK(tacit_world_self(&w));
    assert_int_equal(tacit_world_set_threads(w, -1), TACIT_INVALID);
    OK(tacit_world_set_threads(w, 3));
    OK(tacit_queue_create(w, "host", 0, &q));
    assert_int_equal(tacit_queue_threads(q), 3);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&w);
}

/* Last: what was watched for is seen. */
static void more_threads_are_noticed(void **state)
{
    (void)state;
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), "host", 3, &q));
    assert_true(tasks() >= before + 2); /* a sanitizer may add its own */
#if WATCH
    assert_true(atomic_load(&made) >= 2);
    const int queues = atomic_load(&made);
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), "poisson2d:150", NULL, &m));
    assert_true(atomic_load(&made) > queues);
    tacit_matrix_destroy(&m);
#endif
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_of_one_thread_makes_none),
        cmocka_unit_test(a_queue_of_one_thread_makes_none),
        cmocka_unit_test(more_threads_are_noticed),
        cmocka_unit_test(wishes_that_make_no_sense_are_refused),
    };
    TEST_MPI_MAIN(tests);
}
