/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor/lapack.c - BLAS and LAPACK with integers of 32 bits, loaded when a
 * factor is first made: so no build needs them, and a program that makes none
 * does not start their threads. OpenBLAS is told how many it may have. */
#include "base/library.h"
#include "triangular/factor/dense.h"
#include <pthread.h>

static void (*dpotrf)(const char *, const int *, double *, const int *, int *);
static void (*dtrsm)(const char *, const char *, const char *, const char *,
                     const int *, const int *, const double *, const double *,
                     const int *, double *, const int *);
static void (*dsyrk)(const char *, const char *, const int *, const int *,
                     const double *, const double *, const int *,
                     const double *, double *, const int *);
static void (*dgemm)(const char *, const char *, const int *, const int *,
                     const int *, const double *, const double *, const int *,
                     const double *, const int *, const double *, double *,
                     const int *);
static int (*openblas_get)(void);
static void (*openblas_set)(int);

static const double plus = 1.0, minus = -1.0;

static int64_t lapack_factor(int64_t n, double *A, int64_t lda)
{
    const int n_ = (int)n, lda_ = (int)lda;
    int info = 0;
    dpotrf("L", &n_, A, &lda_, &info);
    return info;
}

static void lapack_solve(bool transposed, int64_t m, int64_t n, const double *L,
                         int64_t ldl, double *B, int64_t ldb)
{
    const int m_ = (int)m, n_ = (int)n, ldl_ = (int)ldl, ldb_ = (int)ldb;
    dtrsm("R", "L", transposed ? "T" : "N", "N", &m_, &n_, &plus, L, &ldl_, B,
          &ldb_);
}

static void lapack_square(int64_t n, int64_t k, const double *A, int64_t lda,
                          double beta, double *C, int64_t ldc)
{
    const int n_ = (int)n, k_ = (int)k, lda_ = (int)lda, ldc_ = (int)ldc;
    dsyrk("L", "N", &n_, &k_, &minus, A, &lda_, &beta, C, &ldc_);
}

static void lapack_subtract(bool transposed, int64_t m, int64_t n, int64_t k,
                            const double *A, int64_t lda, const double *B,
                            int64_t ldb, double beta, double *C, int64_t ldc)
{
    const int m_ = (int)m, n_ = (int)n, k_ = (int)k, lda_ = (int)lda,
              ldb_ = (int)ldb, ldc_ = (int)ldc;
    dgemm("N", transposed ? "T" : "N", &m_, &n_, &k_, &minus, A, &lda_, B,
          &ldb_, &beta, C, &ldc_);
}

/* The number is one for the process: the last one who ends leaves it as the first one
 * found it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, before, now;

static void lapack_begin(int threads)
{
    if (!openblas_get || !openblas_set) return;
    pthread_mutex_lock(&lock);
    if (users++ == 0) before = now = openblas_get();
    if (users == 1 || threads < now) openblas_set(now = threads);
    pthread_mutex_unlock(&lock);
}

static void lapack_end(void)
{
    if (!openblas_get || !openblas_set) return;
    pthread_mutex_lock(&lock);
    if (--users == 0) openblas_set(before);
    pthread_mutex_unlock(&lock);
}

static tct_dense lapack = {.name = "LAPACK",
                           .factor = lapack_factor,
                           .solve = lapack_solve,
                           .square = lapack_square,
                           .subtract = lapack_subtract,
                           .begin = lapack_begin,
                           .end = lapack_end};

static char missing[512]; /* why there is none; "": there is */

static void load(void)
{
    static const tct_library library = {.name = "LAPACK",
                                        .variable = "TACIT_LAPACK",
                                        .file = "libopenblas.so.0",
                                        .otherwise = "liblapack.so.3"};
    const struct {
        const char *symbol;
        void *function;
    } all[] = {{"dpotrf_", &dpotrf},
               {"dtrsm_", &dtrsm},
               {"dsyrk_", &dsyrk},
               {"dgemm_", &dgemm}};
    char none[64];
    void *handle = tct_library_open(&library, missing, sizeof missing);
    for (size_t i = 0; handle && i < sizeof all / sizeof *all; i++)
        if (!tct_library_find(&library, handle, all[i].symbol, all[i].function,
                              missing, sizeof missing))
            handle = NULL;
    if (!handle) return;
    if (tct_library_find(&library, handle, "openblas_get_num_threads",
                         &openblas_get, none, sizeof none) &&
        tct_library_find(&library, handle, "openblas_set_num_threads",
                         &openblas_set, none, sizeof none))
        lapack.name = "OpenBLAS";
}

const tct_dense *tct_dense_get(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *why = missing[0] ? missing : NULL;
    return missing[0] ? &tct_dense_own : &lapack;
}
