/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_parallel.c - loops of set-up: every item once, work spaces,
 * reductions, nesting, blocks and their numbers of threads, several callers,
 * and a child that has none of its parent's threads. */
#include "device/parallel.h"
#include "device/thread_pool.h"
#include "mpi_main.h"
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 100000 };

static atomic_char times[COUNT];

static void note(void *work, int64_t from, int64_t to)
{
    (void)work;
    for (int64_t k = from; k < to; k++) atomic_fetch_add(&times[k], 1);
}

static void assert_each_once(int64_t count)
{
    for (int64_t k = 0; k < COUNT; k++)
        if (atomic_load(&times[k]) != (k < count))
            fail_msg("item %lld of %lld was done %d times", (long long)k,
                     (long long)count, atomic_load(&times[k]));
    memset(times, 0, sizeof times);
}

static void note_part(void *work, int64_t part)
{
    const int64_t count = *(const int64_t *)work;
    note(NULL, tct_part_first(count, (int)part, 7),
         tct_part_first(count, (int)part + 1, 7));
}

static void note_with(void *work, int64_t from, int64_t to, void *space)
{
    memset(space, 1, 1000); /* a sanitizer looks at it */
    note(work, from, to);
}

static void every_item_is_done_once(void **state)
{
    (void)state;
    const int64_t counts[] = {0, 1, 2, 3, 100, 4096, 65537, COUNT};
    for (int threads = 1; threads <= 4; threads++) {
        TCT_THREADS_AT_MOST(threads);
        assert_int_equal(tct_parallel_most(), threads);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            int64_t n = counts[c];
            tct_parallel(n, 1, note, NULL);
            assert_each_once(n);
            tct_parallel_each(7, note_part, &n);
            assert_each_once(n);
            assert_true(tct_parallel_with(n, 10, 1000, note_with, NULL));
            assert_each_once(n);
        }
        assert_false(
            tct_parallel_with(COUNT, 10, (size_t)1 << 60, note_with, NULL));
        assert_each_once(0);
    }
}

static int64_t add_up(const void *work, int64_t from, int64_t to)
{
    const int64_t *v = work;
    int64_t sum = 0;
    for (int64_t k = from; k < to; k++) sum += v[k];
    return sum;
}

static int64_t least(const void *work, int64_t from, int64_t to)
{
    const int64_t *v = work;
    int64_t value = v[from];
    for (int64_t k = from; k < to; k++) value = v[k] < value ? v[k] : value;
    return value;
}

static int64_t largest(const void *work, int64_t from, int64_t to)
{
    const int64_t *v = work;
    int64_t value = v[from];
    for (int64_t k = from; k < to; k++) value = v[k] > value ? v[k] : value;
    return value;
}

static bool all_below_two(const void *work, int64_t from, int64_t to)
{
    return largest(work, from, to) < 2;
}

static void reductions(void **state)
{
    (void)state;
    static int64_t v[COUNT];
    for (int64_t k = 0; k < COUNT; k++) v[k] = k % 2;
    for (int threads = 1; threads <= 3; threads++) {
        TCT_THREADS_AT_MOST(threads);
        assert_int_equal(tct_parallel_sum(COUNT, 1, add_up, v), COUNT / 2);
        assert_int_equal(tct_parallel_sum(0, 1, add_up, v), 0);
        assert_true(tct_parallel_min(0, 1, least, v) == INT64_MAX);
        assert_true(tct_parallel_all(COUNT, 1, all_below_two, v));
        v[77777] = -5;
        v[99] = 17;
        assert_int_equal(tct_parallel_min(COUNT, 1, least, v), -5);
        assert_int_equal(tct_parallel_max(COUNT, 1, largest, v), 17);
        assert_false(tct_parallel_all(COUNT, 1, all_below_two, v));
        v[77777] = v[99] = 1;
    }
}

/* --- which threads -------------------------------------------------------- */

static _Thread_local bool is_caller;

static void count_others(void *work, int64_t k)
{
    (void)k;
    if (!is_caller) atomic_fetch_add((atomic_int *)work, 1);
    usleep(1000); /* time for others to come */
}

/* The caller goes on when others have come, or in a minute. */
static void await_others(void *work, int64_t k)
{
    count_others(work, k);
    for (int ms = 0; ms < 60000 && atomic_load((atomic_int *)work) == 0; ms++)
        usleep(1000);
}

static bool others_come(void)
{
    atomic_int n = 0;
    is_caller = true;
    tct_parallel_each(200, await_others, &n);
    return atomic_load(&n) > 0;
}

static int others(int items)
{
    atomic_int n = 0;
    is_caller = true;
    tct_parallel_each(items, count_others, &n);
    return atomic_load(&n);
}

static void loop_within(void *work, int64_t part)
{
    (void)part;
    (void)work;
    tct_parallel(COUNT, 1, note, NULL);
}

static int threads_within(int most)
{
    TCT_THREADS_AT_MOST(most);
    if (most == 1) assert_int_equal(others(20), 0);
    return tct_parallel_most();
}

static void blocks_say_how_many(void **state)
{
    (void)state;
    assert_int_equal(tct_parallel_most(), 1);
    assert_int_equal(others(20), 0);
    {
        TCT_THREADS_AT_MOST(3);
        assert_true(others_come());
        assert_int_equal(threads_within(1), 1);
        assert_int_equal(threads_within(2), 2);
        assert_int_equal(threads_within(5), 3);
        assert_int_equal(threads_within(0), 3);
        assert_int_equal(tct_parallel_most(), 3);
        tct_parallel_each(3, loop_within, NULL);
        for (int64_t k = 0; k < COUNT; k++)
            assert_int_equal(atomic_load(&times[k]), 3);
        memset(times, 0, sizeof times);
    }
    assert_int_equal(tct_parallel_most(), 1);
}

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

static void threads_are_created_once(void **state)
{
    (void)state;
    tct_team *team = NULL;
    assert_int_equal(tct_team_take(5, &team), TACIT_OK);
    tct_team_give(&team);
    const int before = tasks();
    for (int i = 0; i < 100; i++) {
        TCT_THREADS_AT_MOST(5);
        tct_parallel(COUNT, 1, note, NULL);
        assert_int_equal(tasks(), before);
    }
    memset(times, 0, sizeof times);
    {
        TCT_THREADS_AT_MOST(1);
        tct_parallel(COUNT, 1, note, NULL);
    }
    assert_each_once(COUNT);
    assert_int_equal(tasks(), before);
}

/* --- in the background ---------------------------------------------------- */

static void take_numbers(void *work, int64_t part)
{
    atomic_int *next = work;
    (void)part;
    for (int k; (k = atomic_fetch_add(next, 1)) < COUNT;)
        atomic_fetch_add(&times[k], 1);
}

static void work_in_the_background(void **state)
{
    (void)state;
    atomic_int next = 0;
    assert_false(tct_background_begin(take_numbers, &next));
    TCT_THREADS_AT_MOST(3);
    assert_true(tct_background_begin(take_numbers, &next));
    assert_false(tct_background_begin(take_numbers, &next));
    assert_int_equal(others(20), 0); /* a loop meanwhile is the caller's */
    tct_background_end();
    assert_each_once(COUNT);
}

/* --- several callers, and processes --------------------------------------- */

static void *call(void *arg)
{
    static int64_t v[COUNT];
    for (int i = 0; i < 50; i++) {
        TCT_THREADS_AT_MOST(2);
        *(int64_t *)arg += tct_parallel_sum(COUNT, 1, add_up, v);
    }
    return NULL;
}

static void several_callers_at_once(void **state)
{
    (void)state;
    pthread_t thread[3];
    int64_t sum[3] = {0};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, call, &sum[i]), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(sum[i], 0);
    }
}

/* In the child: loops of the block that is open, and of a new one. */
static int run_child(tct_team *team)
{
    static int64_t v[COUNT];
    for (int64_t k = 0; k < COUNT; k++) v[k] = 1;
    int64_t sum = tct_parallel_sum(COUNT, 1, add_up, v);
    tct_team_give(&team);
    pthread_t thread;
    int64_t first = 0;
    if (pthread_create(&thread, NULL, call, &first) != 0) return 2;
    pthread_join(thread, NULL);
    return sum == COUNT ? 0 : 1;
}

static void a_child_has_no_threads_of_its_parent(void **state)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    skip(); /* it lets no child of several threads start one */
#endif
#endif
    (void)state;
    int status = -1;
    tct_team *team = NULL;
    assert_int_equal(tct_team_take(3, &team), TACIT_OK);
    TCT_THREADS_AT_MOST(2);
    assert_true(others_come());
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        exit(run_child(team)); /* ends idle teams */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    tct_team_give(&team);
    assert_true(others_come());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(reductions),
        cmocka_unit_test(blocks_say_how_many),
        cmocka_unit_test(threads_are_created_once),
        cmocka_unit_test(work_in_the_background),
        cmocka_unit_test(several_callers_at_once),
        cmocka_unit_test(a_child_has_no_threads_of_its_parent),
    };
    TEST_MPI_MAIN(tests);
}
