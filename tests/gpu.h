/* SPDX-License-Identifier: BSD-3-Clause
 * tests/gpu.h - helpers of the tests of the cuda device: find a GPU, a queue on
 * it, vectors, matrices by formula and real ones.
 *
 * Compiled with TEST_DEVICE="host" the tests run on the host device where it
 * supports them: that tests the tests. */
#ifndef TESTS_GPU_H
#define TESTS_GPU_H
#include "device/queue.h"
#include "mpi_main.h"
#include "operator/operator.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tacit/tacit.h>
#include <unistd.h>

#ifndef TEST_DEVICE
#define TEST_DEVICE "cuda"
#endif
#define SKIPPED 77

/* --- is there one? -------------------------------------------------------- */

/* Is the device usable here? If not, says why. */
static inline bool gpu_here(void)
{
    if (tacit_device_probe(TEST_DEVICE) == TACIT_OK) return true;
    printf("skipped: device '" TEST_DEVICE "': %s\n", tacit_error_message());
    return false;
}

/* The same where processes are to be started, which share none: by one that is
 * gone then. */
static inline bool gpu_found(void)
{
    int status = 0;
    if (test_number_of_("TACIT_TEST_PROCESSES") == 0) return gpu_here();
    const pid_t asks = fork();
    if (asks == 0) {
        const bool here = gpu_here();
        fflush(stdout);
        _exit(here ? 0 : SKIPPED);
    }
    return asks > 0 && waitpid(asks, &status, 0) == asks && status == 0;
}

/* Has each rank a GPU of its own, or may they share one? On the host, always.
 * If not, says so: skip() then. Collective. */
static inline bool gpu_for_each(void)
{
    tacit_queue *q = NULL;
    if (strcmp(TEST_DEVICE, "host") == 0 || tacit_world_size(test_world()) == 1)
        return true;
    const tacit_status status =
        tacit_queue_create(test_world(), TEST_DEVICE "@peer", 1, &q);
    tacit_queue_destroy(&q);
    const bool share = status == TACIT_UNSUPPORTED &&
                       strstr(tacit_error_message(), "share a GPU");
    if (share)
        printf("skipped: fewer GPUs than ranks: %s\n", tacit_error_message());
    return !share;
}

/* main() of a program of such tests. */
#define TEST_GPU_MAIN(tests)              \
    do {                                  \
        if (!gpu_found()) return SKIPPED; \
        setvbuf(stdout, NULL, _IOLBF, 0); \
        TEST_MPI_MAIN(tests);             \
    } while (0)

/* --- checks --------------------------------------------------------------- */

static inline void expect_at(tacit_status got, tacit_status wanted,
                             const char *call, const char *file, int line)
{
    if (got == wanted) return;
    print_error("%s:%d: %s: %s, expected %s: %s\n", file, line, call,
                tacit_status_name(got), tacit_status_name(wanted),
                tacit_error_message());
    _fail(file, line);
}
#define EXPECT(status, call) \
    expect_at((call), (status), #call, __FILE__, __LINE__)
#define OK(call) EXPECT(TACIT_OK, call)

static inline bool same_bits(const double *a, const double *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* --- vectors -------------------------------------------------------------- */

static inline double *host_vector(size_t n, double value)
{
    double *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = value;
    return x;
}

/* Uniform in [-1, 1], the same for the same seed. */
static inline double *random_vector(size_t n, int seed)
{
    double *x = host_vector(n, 0.0);
    for (size_t i = 0; i < n; i++)
        x[i] = 2.0 * tct_uniform((uint64_t)seed + 1000, i) - 1.0;
    return x;
}

static inline tacit_queue *open_queue(const char *spec)
{
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), spec, 1, &q));
    return q;
}

/* A vector of the device with the contents of `x`. */
static inline double *device_vector(tacit_queue *q, size_t n, const double *x)
{
    double *v = NULL;
    OK(tacit_queue_alloc(q, n, &v));
    OK(tacit_queue_put(q, n, x, v));
    return v;
}

/* The same, of NaNs: whatever is not written shows. */
static inline double *poisoned_vector(tacit_queue *q, size_t n)
{
    double *x = host_vector(n, NAN), *v = device_vector(q, n, x);
    free(x);
    return v;
}

/* A copy on the host of a vector of the device. */
static inline double *host_copy(tacit_queue *q, size_t n, const double *v)
{
    double *x = host_vector(n, NAN);
    OK(tacit_queue_get(q, n, v, x));
    return x;
}

/* A x on the host, for any operator. */
static inline double *image_of(const tacit_operator *A, tacit_queue *q,
                               size_t n, const double *x)
{
    double *there = device_vector(q, n, x), *y = poisoned_vector(q, n);
    OK(tacit_operator_apply(A, there, y));
    double *got = host_copy(q, n, y);
    tacit_queue_free(q, &there);
    tacit_queue_free(q, &y);
    return got;
}

/* (x, y) of all ranks. */
static inline double dot_of(size_t n, const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    OK(tct_reduce_f64(test_world(), TCT_SUM, 1, &sum));
    return sum;
}

static inline double norm_of(size_t n, const double *x)
{
    long double sum = 0.0L;
    for (size_t i = 0; i < n; i++) sum += (long double)x[i] * x[i];
    return (double)sqrtl(sum);
}

static inline double distance_of(size_t n, const double *x, const double *y)
{
    long double sum = 0.0L;
    for (size_t i = 0; i < n; i++) {
        const long double d = (long double)x[i] - y[i];
        sum += d * d;
    }
    return (double)sqrtl(sum);
}

/* --- matrices ------------------------------------------------------------- */

/* Columns of row `i` of an n x n matrix, each once, at most ROW_MOST. */
enum { ROW_MOST = 20000 };
typedef int (*columns_fn)(int64_t n, int64_t i, int64_t *col);
typedef double (*value_fn)(int64_t i, int64_t j);

static inline tacit_matrix *matrix_of(int64_t n, columns_fn columns,
                                      value_fn value)
{
    static int64_t col[ROW_MOST];
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr);
    assert_non_null(ptr);
    for (int64_t i = 0; i < n; i++) ptr[i + 1] = ptr[i] + columns(n, i, col);
    int64_t *cols = malloc((size_t)(ptr[n] + 1) * sizeof *cols);
    double *vals = malloc((size_t)(ptr[n] + 1) * sizeof *vals);
    assert_true(cols && vals);
    for (int64_t i = 0; i < n; i++) {
        columns(n, i, cols + ptr[i]);
        for (int64_t k = ptr[i]; k < ptr[i + 1]; k++)
            vals[k] = value(i, cols[k]);
    }
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, 0, n, ptr, cols, vals, &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

static inline tacit_matrix *diagonal_matrix(int64_t n, const double *values)
{
    int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr);
    int64_t *cols = malloc((size_t)(n + 1) * sizeof *cols);
    assert_true(ptr && cols);
    for (int64_t i = 0; i <= n; i++) ptr[i] = cols[i] = i;
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, 0, n, ptr, cols, values, &m));
    free(ptr);
    free(cols);
    return m;
}

static inline tacit_matrix *gallery_matrix(const char *name)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), name, NULL, &m));
    return m;
}

/* The matrix TACIT_MATRICES/`name`, NULL where it is not. */
static inline tacit_matrix *real_matrix(const char *name)
{
    const char *folder = getenv("TACIT_MATRICES");
    char path[1024];
    tacit_matrix *m = NULL;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", name);
    if (!folder || access(path, R_OK) != 0) return NULL;
    OK(tacit_matrix_open(test_world(), path, NULL, &m));
    return m;
}

/* The operator of `m` in `format`; NULL if the format does not fit. */
static inline tacit_operator *operator_of(tacit_queue *q, const tacit_matrix *m,
                                          const char *format)
{
    tacit_operator *A = NULL;
    const tacit_status status = tacit_operator_create(q, m, format, &A);
    if (status == TACIT_UNSUPPORTED) return NULL;
    if (status != TACIT_OK)
        fail_msg("format %s: %s: %s", format, tacit_status_name(status),
                 tacit_error_message());
    return A;
}

/* A row of a line of n points: itself, and the points beside it. */
static inline int neighbours_on_line(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    for (int64_t j = i - 1; j <= i + 1; j++)
        if (j >= 0 && j < n) col[count++] = j;
    return count;
}

#endif
