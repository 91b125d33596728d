/* SPDX-License-Identifier: BSD-3-Clause
 * tests/mpi_main.h - a cmocka main for tests that run on any number of ranks.
 *
 *     int main(int argc, char **argv)
 *     {
 *         const struct CMUnitTest tests[] = {...};
 *         TEST_MPI_MAIN(tests);
 *     }
 *
 * Every rank runs the same tests in order. After each, the ranks agree on the
 * result by messages of their own: a failure on one rank is a failure on all.
 * Ranks that do not arrive within a few seconds of the first failure are
 * waiting for the failed rank, and the job is ended. A watchdog reports and
 * ends a test that hangs, before CTest does.
 *
 * Without a launcher or MPI there is one process, and the world is
 * tacit_world_self. With TACIT_TEST_THREADS=3 in the environment it is a world
 * of three threads, with TACIT_TEST_PROCESSES=3 of three processes that it
 * starts, each of which runs the tests. The exit status is 77 if all tests were
 * skipped. */
#ifndef TESTS_MPI_MAIN_H
#define TESTS_MPI_MAIN_H
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants the headers above it */
#include <cmocka.h>
#include <tacit/world.h>
#if TCT_HAVE_MPI
#include <tacit/mpi.h>
static MPI_Comm test_comm_;
#endif

enum { TEST_PATIENCE_S = 10, TEST_WATCHDOG_S = 160, TEST_THREADS_MOST = 12 };
static _Thread_local tacit_world *test_world_; /* of each thread */
static int test_launched_, test_threads_, test_processes_;

/* Must `test`, which lets allocations fail, be left out? It says so. */
static inline bool test_shares_allocations(const char *test)
{
    if (test_threads_ == 0) return false;
    printf("skipped: %s: threads share the counter of allocations\n", test);
    return true;
}

/* The memory through which ranks that are no processes of MPI agree: a world's
 * own means are under test. */
typedef struct test_account_ {
    atomic_int worst, said;
} test_account_;
static test_account_ *test_account_of_all_;

/* The world that the tests share. */
static inline tacit_world *test_world(void)
{
    return test_world_;
}

static inline void test_watchdog_(int signal_number)
{
    static const char text[] = "watchdog: the test hangs; it is in\n";
    void *frames[64];
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    if (signal_number > 0 || written < 0) abort();
}

static inline void test_watch_(void)
{
    const char *limit = getenv("TACIT_WATCHDOG");
    signal(SIGALRM, test_watchdog_);
    alarm(limit ? (unsigned)atoi(limit) : TEST_WATCHDOG_S);
}

/* One account of what goes well is enough; failures go to stderr. */
static inline void test_hush_(void)
{
    if (tacit_world_rank(test_world_) > 0 && !freopen("/dev/null", "w", stdout))
        abort();
}

static inline int test_number_of_(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

static inline void test_open_(int *argc, char ***argv)
{
    void *frame;
    backtrace(&frame, 1); /* loads what the watchdog may not */
    test_watch_();
#if TCT_HAVE_MPI
    test_launched_ = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") ||
                     getenv("PMIX_RANK");
    if (test_launched_) {
        MPI_Init(argc, argv);
        MPI_Comm_dup(MPI_COMM_WORLD, &test_comm_);
        if (tacit_world_from_mpi(MPI_COMM_WORLD, &test_world_) != TACIT_OK)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
#endif
    (void)argc;
    (void)argv;
    test_threads_ = test_number_of_("TACIT_TEST_THREADS");
    test_processes_ = test_number_of_("TACIT_TEST_PROCESSES");
    test_account_of_all_ = (test_account_ *)mmap(
        NULL, sizeof(test_account_), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (test_threads_ > TEST_THREADS_MOST || test_account_of_all_ == MAP_FAILED)
        abort();
    if (test_threads_ + test_processes_ > 0)
        return; /* test_run_ makes worlds */
    if (!test_launched_ && tacit_world_self(&test_world_) != TACIT_OK) abort();
    test_hush_();
}

/* The same of threads, and of processes without MPI. */
static inline int test_agree_here_(int failed, const char *name)
{
    test_account_ *all = test_account_of_all_;
    static _Thread_local int rounds;
    const time_t start = time(NULL);
    if (failed) atomic_store(&all->worst, 1); /* and so it stays */
    atomic_fetch_add(&all->said, 1);
    const int ranks = test_threads_ + test_processes_;
    for (rounds++; atomic_load(&all->said) < rounds * ranks;) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        if (!failed || time(NULL) - start < TEST_PATIENCE_S) continue;
        fprintf(stderr, "%s failed on a rank; others are stuck in it\n", name);
        if (test_processes_ > 0) tacit_world_abort(test_world_, 1);
        _exit(1);
    }
    return atomic_load(&all->worst);
}

/* The worst verdict of all ranks. */
static inline int test_agree_(int failed, const char *name)
{
    if (test_threads_ + test_processes_ > 0)
        return test_agree_here_(failed, name);
#if TCT_HAVE_MPI
    if (!test_launched_) return failed;
    int worst = failed, there = 0;
    MPI_Request request;
    MPI_Iallreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, test_comm_, &request);
    const time_t start = time(NULL);
    while (MPI_Test(&request, &there, MPI_STATUS_IGNORE), !there) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        if (!failed || time(NULL) - start < TEST_PATIENCE_S) continue;
        fprintf(stderr, "%s failed on rank %d; other ranks are stuck in it\n",
                name, tacit_world_rank(test_world_));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (worst && !failed)
        fprintf(stderr, "%s failed, but not on rank %d\n", name,
                tacit_world_rank(test_world_));
    return worst;
#else
    (void)name;
    return failed;
#endif
}

/* cmocka's skip(), counted. Threads share its mark of a skipped test: where
 * ranks are threads, a test says so itself and returns. */
static _Thread_local size_t test_skips_;
#undef skip
#define skip()                                 \
    do {                                       \
        test_skips_++;                         \
        if (test_threads_ > 0) {               \
            printf("skipped: %s\n", __func__); \
            return;                            \
        }                                      \
        _skip(__FILE__, __LINE__);             \
    } while (0)

typedef struct test_share_ {
    const struct CMUnitTest *tests;
    size_t count;
    tacit_world *world;
    int failures;
    size_t skips;
    pthread_t thread;
} test_share_;

static inline int test_each_(const struct CMUnitTest *tests, size_t count)
{
    int failures = 0;
    for (size_t i = 0; i < count; i++) {
        const struct CMUnitTest one[] = {tests[i]};
        const int failed =
            _cmocka_run_group_tests(tests[i].name, one, 1, NULL, NULL);
        failures += test_agree_(failed != 0, tests[i].name);
    }
    return failures;
}

static inline void *test_as_rank_(void *arg)
{
    test_share_ *s = (test_share_ *)arg;
    test_world_ = s->world;
    s->failures = test_each_(s->tests, s->count);
    s->skips = test_skips_;
    tacit_world_destroy(&test_world_);
    return NULL;
}

static inline int test_on_threads_(const struct CMUnitTest *tests, size_t count)
{
    test_share_ share[TEST_THREADS_MOST];
    tacit_world *world[TEST_THREADS_MOST];
    if (tacit_world_threads(test_threads_, world) != TACIT_OK) abort();
    for (int r = 0; r < test_threads_; r++) {
        share[r] =
            (test_share_){.tests = tests, .count = count, .world = world[r]};
        if (pthread_create(&share[r].thread, NULL, test_as_rank_, &share[r]))
            abort();
    }
    for (int r = 0; r < test_threads_; r++) pthread_join(share[r].thread, NULL);
    test_skips_ = share[0].skips;
    return share[0].failures;
}

/* In a process of its own. */
static inline int test_as_process_(tacit_world *world, void *ctx)
{
    const test_share_ *s = (const test_share_ *)ctx;
    test_world_ = world;
    test_watch_();
    test_hush_();
    if (test_each_(s->tests, s->count) > 0) return 1;
    return test_skips_ == s->count ? 77 : 0;
}

static inline int test_on_processes_(const struct CMUnitTest *tests,
                                     size_t count)
{
    test_share_ share = {.tests = tests, .count = count};
    int worst = 1;
    if (tacit_world_processes(test_processes_, test_as_process_, &share,
                              &worst) == TACIT_OK)
        return worst;
    fprintf(stderr, "%s\n", tacit_error_message());
    return 1;
}

static inline int test_run_(const struct CMUnitTest *tests, size_t count)
{
    if (test_processes_ > 0) return test_on_processes_(tests, count);
    const int failures = test_threads_ > 0 ? test_on_threads_(tests, count)
                                           : test_each_(tests, count);
    tacit_world_destroy(&test_world_);
#if TCT_HAVE_MPI
    if (test_launched_) {
        MPI_Comm_free(&test_comm_);
        MPI_Finalize();
    }
#endif
    return failures ? 1 : test_skips_ == count ? 77 : 0;
}

#define TEST_MPI_MAIN(tests)  \
    test_open_(&argc, &argv); \
    return test_run_(tests, sizeof(tests) / sizeof *(tests))

#endif
