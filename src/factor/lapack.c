/* SPDX-License-Identifier: BSD-3-Clause
 * factor/lapack.c - BLAS and LAPACK with 32-bit integers, loaded for the first
 * factor. So no build needs them, and programs without factors do not start
 * their threads. The thread count of OpenBLAS is set here.
 *
 * OpenBLAS maps a buffer for each of its threads and each concurrent caller,
 * and retries forever if the system refuses; if a thread is refused, it ends
 * the process. So memory and threads are tried first, before loading and before
 * growing. With a memory limit the buffers are made at once, before other
 * allocations. */
#include "base/library.h"
#include "base/room.h"
#include "comm/link/link.h"
#include "factor/dense.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

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
static void *(*openblas_alloc)(int);
static void (*openblas_free)(void *);

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int servers; /* OpenBLAS threads, callers excluded */
static int callers; /* concurrent callers with buffers          */

/* The thread count is global to the process: the last user restores what the
 * first one found. */
static int users, before, now;

static void lapack_begin(int threads)
{
    if (!openblas_get) return;
    pthread_mutex_lock(&lock);
    if (threads > 1 + servers) threads = 1 + servers;
    if (users++ == 0) before = now = openblas_get();
    if (users == 1 || threads < now) openblas_set(now = threads);
    pthread_mutex_unlock(&lock);
}

static void lapack_end(void)
{
    if (!openblas_get) return;
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

static char missing[512]; /* why LAPACK is missing, or "" */

static void find_openblas(const tct_library *library, void *handle)
{
    char none[64];
    const struct {
        const char *symbol;
        void *function;
    } all[] = {{"openblas_set_num_threads", &openblas_set},
               {"openblas_get_num_threads", &openblas_get}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!tct_library_find(library, handle, all[i].symbol, all[i].function,
                              none, sizeof none))
            return;
    lapack.name = "OpenBLAS";
    if (!tct_library_find(library, handle, "blas_memory_alloc", &openblas_alloc,
                          none, sizeof none) ||
        !tct_library_find(library, handle, "blas_memory_free", &openblas_free,
                          none, sizeof none))
        openblas_alloc = NULL;
}

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
    void *handle = tct_library_open(&library, missing, sizeof missing);
    for (size_t i = 0; handle && i < sizeof all / sizeof *all; i++)
        if (!tct_library_find(&library, handle, all[i].symbol, all[i].function,
                              missing, sizeof missing))
            handle = NULL;
    if (handle) find_openblas(&library, handle);
}

/* --- room for OpenBLAS ---------------------------------------------------- */

static const size_t BUFFER = (size_t)129 << 20; /* mapped in addition to some
                                                 * pages */
static const size_t FILES = (size_t)48 << 20;   /* the library, loaded      */
enum { THREADS_MOST = 256 };                    /* at loading               */

/* OpenBLAS's threads at loading, including the caller. */
static int threads_at_load(void)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS",
                                        "GOTO_NUM_THREADS", "OMP_NUM_THREADS"};
    const int all = tct_processors();
    int n = 0;
    for (size_t i = 0; n <= 0 && i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        const long value = text ? strtol(text, NULL, 10) : 0;
        n = value < THREADS_MOST ? (int)(value > 0 ? value : 0) : THREADS_MOST;
    }
    if (n <= 0 || n > all) n = all;
    return n < THREADS_MOST ? n : THREADS_MOST;
}

/* Map `count` pieces, as OpenBLAS does, then unmap them. */
static bool can_map(int count, size_t bytes)
{
    void *last = NULL;
    int had = 0;
    for (; had < count; had++) {
        void **p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) break;
        *p = last;
        last = p;
    }
    while (last) {
        void *p = last;
        last = *(void **)p;
        munmap(p, bytes);
    }
    return had == count;
}

/* Do `more` threads and `calling` callers fit? */
static bool is_room_for(int more, int calling, size_t files)
{
    const size_t stacks = (size_t)more * tct_stack_bytes();
    const int parts = (int)((files + stacks + BUFFER - 1) / BUFFER);
    return can_map(more + calling + parts, BUFFER) &&
           (more == 0 || tct_threads_had(more, 0) == more);
}

/* Without a limit mappings succeed. */
static bool is_limited(void)
{
    struct rlimit space, data;
    uint64_t strict = 0;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY)
        return true;
    if (getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY)
        return true;
    return tct_read_number("/proc/sys/vm/overcommit_memory", "", &strict) &&
           strict == 2;
}

/* Allocate buffers simultaneously and free them: OpenBLAS keeps them. */
static void make_buffers(int count)
{
    void *held[THREADS_MOST];
    for (int i = 0; i < count; i++) held[i] = openblas_alloc(0);
    for (int i = 0; i < count; i++) openblas_free(held[i]);
}

/* Add OpenBLAS threads up to the caller's number and that of processors. */
static void grow(int threads)
{
    const int all = tct_processors(), wanted = threads < all ? threads : all;
    const int had = openblas_get();
    if (wanted <= 1 + servers || !is_room_for(wanted - 1 - servers, threads, 0))
        return;
    openblas_set(wanted);
    openblas_set(had);
    servers = wanted - 1;
}

static bool serve(int threads)
{
    if (!openblas_get) return true;
    if (threads <= callers) return true;
    if (is_limited()) {
        if (threads > THREADS_MOST || !openblas_alloc) return false;
        if (!is_room_for(0, threads - callers, 0)) return false;
        make_buffers(threads);
    }
    callers = threads;
    return true;
}

/* Prepare for `threads` concurrent callers; false: no memory. */
static bool prepare(int threads)
{
    static bool loaded;
    if (!loaded) {
        const int more = threads_at_load() - 1;
        if (!is_room_for(more, threads, FILES)) return false;
        load();
        loaded = true;
        if (openblas_get) servers = openblas_get() - 1;
    }
    if (!serve(threads)) return false;
    if (openblas_get && users == 0) grow(threads);
    return true;
}

const tct_dense *tct_dense_get(int threads, const char **why)
{
    static _Thread_local char small[160];
    pthread_mutex_lock(&lock);
    const bool prepared = prepare(threads);
    pthread_mutex_unlock(&lock);
    if (!prepared)
        snprintf(
            small, sizeof small,
            "OpenBLAS maps 128 MiB a thread, and the limits (ulimit -v, -u) "
            "have no room for %d: raise them, or use fewer threads",
            threads_at_load() - 1 + threads);
    *why = !prepared ? small : missing[0] ? missing : NULL;
    return *why ? &tct_dense_own : &lapack;
}
