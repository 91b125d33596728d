/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_few_threads.c - if the system refuses threads, set-up uses fewer,
 * and a factor is made by own loops until OpenBLAS can have its threads. OpenMP
 * and OpenBLAS end the process when they are refused one. */
#include "mpi_main.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <tacit/tacit.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* Sanitizers have threads, and a pthread_create, of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REFUSE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REFUSE 0
#endif
#endif
#if !defined(REFUSE)
#define REFUSE 1
#endif

#if REFUSE
static atomic_int most = INT_MAX; /* tasks that there may be */

static int tasks(void)
{
    struct stat all;
    assert_int_equal(stat("/proc/self/task", &all), 0);
    return (int)all.st_nlink - 2;
}

/* Threads of earlier tests are joined, but the system may still list them. */
static int tasks_at_first;

static int settled(int own)
{
    if (tasks_at_first == 0) tasks_at_first = tasks();
    for (int ms = 0; tasks() > tasks_at_first + own && ms < 10000; ms++)
        usleep(1000);
    assert_int_equal(tasks(), tasks_at_first + own);
    return tasks_at_first + own;
}

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
    if (tasks() >= atomic_load(&most)) return EAGAIN;
    return next(thread, how, run, arg);
}

static char said[400];

static void hear(void *ctx, int level, const char *text)
{
    (void)ctx;
    if (level == 0) snprintf(said, sizeof said, "%s", text);
}

/* A matrix is made and described, on as many threads as there may be. */
static void set_up(void)
{
    tacit_matrix *m = NULL;
    tacit_matrix_info info = {.size = sizeof info};
    tacit_world *w = NULL;
    OK(tacit_world_self(&w));
    OK(tacit_world_set_threads(w, 8));
    OK(tacit_matrix_open(w, "poisson2d:150", NULL, &m));
    OK(tacit_matrix_describe(m, &info));
    assert_int_equal(info.rows, 22500);
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&w);
}

static void set_up_takes_what_there_is(void **state)
{
    (void)state;
    const int alone = settled(0);
    tacit_set_log(hear, NULL);
    atomic_store(&most, alone);
    set_up();
    assert_non_null(strstr(said, "set-up takes 1 of 8 threads"));
    assert_int_equal(tasks(), alone);
    tacit_set_log(NULL, NULL);
    atomic_store(&most, INT_MAX);
}

/* A caller of its own: what one was refused another may have. */
static void *set_up_with_four(void *arg)
{
    const int before = settled(1);
    atomic_store(&most, before + 4);
    set_up();
    *(int *)arg = tasks() - before;
    atomic_store(&most, INT_MAX);
    return NULL;
}

static void some_are_left_for_others(void **state)
{
    (void)state;
    pthread_t thread;
    int had = -1;
    assert_int_equal(pthread_create(&thread, NULL, set_up_with_four, &had), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(had, 2); /* half of them */
}

/* Idle threads of one caller are those of the next. */
static void *set_up_twice(void *arg)
{
    const int before = tasks();
    set_up();
    *(int *)arg = tasks() - before;
    atomic_store(&most, tasks());
    said[0] = '\0';
    set_up();
    atomic_store(&most, INT_MAX);
    return NULL;
}

static void idle_threads_are_used_again(void **state)
{
    (void)state;
    pthread_t thread;
    int had[2] = {-1, -1};
    tacit_set_log(hear, NULL);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(pthread_create(&thread, NULL, set_up_twice, &had[k]),
                         0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_string_equal(said, "");
    }
    tacit_set_log(NULL, NULL);
    assert_true(had[0] > 0); /* those of earlier tests end */
    assert_int_equal(had[1], 0);
}

static const char *factor(void)
{
    static char dense[32];
    tacit_matrix *m = NULL;
    tacit_factor *F = NULL;
    tacit_factor_info info = {.size = sizeof info};
    OK(tacit_matrix_open(test_world(), "poisson2d:30", NULL, &m));
    OK(tacit_factor_create(m, NULL, &F));
    OK(tacit_factor_describe(F, &info));
    snprintf(dense, sizeof dense, "%s", info.dense);
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
    return dense;
}

/* Before any other factor of this program. */
static void openblas_is_loaded_where_there_is_room(void **state)
{
    (void)state;
    cpu_set_t mine;
    OK(tacit_world_set_threads(test_world(), 2));
    unsetenv("OMP_NUM_THREADS"); /* OpenBLAS is to have a thread */
    if (sched_getaffinity(0, sizeof mine, &mine) || CPU_COUNT(&mine) < 2)
        skip();
    atomic_store(&most, tasks());
    assert_string_equal(factor(), "own");
    atomic_store(&most, INT_MAX);
    if (strcmp(factor(), "OpenBLAS") != 0) skip();
    atomic_store(&most, tasks()); /* it has its threads */
    assert_string_equal(factor(), "OpenBLAS");
    atomic_store(&most, INT_MAX);
}
#else
static void not_under_a_sanitizer(void **state)
{
    (void)state;
    skip();
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#if REFUSE
        cmocka_unit_test(set_up_takes_what_there_is),
        cmocka_unit_test(some_are_left_for_others),
        cmocka_unit_test(idle_threads_are_used_again),
        cmocka_unit_test(openblas_is_loaded_where_there_is_room),
#else
        cmocka_unit_test(not_under_a_sanitizer),
#endif
    };
    TEST_MPI_MAIN(tests);
}
