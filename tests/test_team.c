/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_team.c - threads that share items: each item is done once, also if
 * threads are stuck, asleep, or more than processors. */
#include "device/team.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants the four headers above it */
#include <cmocka.h>

enum { THREADS = 4, ITEMS_MOST = 200000 };

static tct_team *open_team(int threads)
{
    tct_team *t = NULL;
    assert_int_equal(tct_team_create(threads, &t), TACIT_OK);
    assert_int_equal(tct_team_size(t), threads);
    return t;
}

static atomic_char times[ITEMS_MOST];

static void note(void *work, int64_t k)
{
    (void)work;
    atomic_fetch_add(&times[k], 1);
}

static void assert_each_once(int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (atomic_load(&times[k]) != 1)
            fail_msg("item %lld of %lld was done %d times", (long long)k,
                     (long long)count, atomic_load(&times[k]));
    memset(times, 0, sizeof times);
}

static void every_item_is_done_once(void **state)
{
    (void)state;
    static const int64_t counts[] = {0,   1,    2,     3,     7,
                                     100, 1000, 32768, 65537, ITEMS_MOST};
    tct_team *t = open_team(THREADS);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int threads = 1; threads <= THREADS + 1; threads++) {
            const int64_t n = counts[c];
            const int64_t split[] = {0, 0, n / 9, n / 2, n};
            tct_team_run(t, threads, n, NULL, note, NULL);
            assert_each_once(n);
            if (threads != THREADS) continue;
            tct_team_run(t, threads, n, split, note, NULL);
            assert_each_once(n);
        }
    tct_team_run(NULL, 3, 1000, NULL, note, NULL); /* nobody but the caller */
    assert_each_once(1000);
    tct_team_destroy(&t);
    assert_null(t);
    tct_team_destroy(&t);
}

/* Calls of tct_team_each that take one item after the other. */
static atomic_int_fast64_t next_item;

static void note_all(void *work, int64_t k)
{
    const int64_t *count = work;
    int64_t item;
    assert_in_range(k, 0, THREADS - 1);
    atomic_fetch_add(&times[k], 1);
    while ((item = atomic_fetch_add(&next_item, 1)) < *count)
        note(NULL, THREADS + item);
}

static void calls_share_out_what_there_is(void **state)
{
    (void)state;
    tct_team *t = open_team(THREADS);
    for (int64_t n = 0; n < 2000; n++) {
        atomic_store(&next_item, 0);
        tct_team_each(t, note_all, &n);
        assert_each_once(THREADS + n);
    }
    int64_t few = 7;
    atomic_store(&next_item, 0);
    tct_team_each(NULL, note_all, &few); /* the caller is number 0 */
    assert_int_equal(atomic_exchange(&times[0], 0), 1);
    for (int k = 1; k < THREADS; k++) assert_int_equal(times[k], 0);
    for (int64_t k = 0; k < few; k++)
        assert_int_equal(atomic_exchange(&times[THREADS + k], 0), 1);
    tct_team_destroy(&t);
}

static void note_stretch(void *work, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) note(work, k);
}

static void stretches_cover_everything_once(void **state)
{
    (void)state;
    tct_team *t = open_team(THREADS);
    for (int64_t n = 0; n <= ITEMS_MOST; n = 3 * n + 1) {
        tct_team_stretches(t, n, note_stretch, NULL);
        assert_each_once(n);
    }
    tct_team_destroy(&t);
}

typedef struct {
    pthread_t caller;
    int64_t count;
    atomic_bool stuck;
    atomic_int_fast64_t done;
} jam;

/* The first item of another thread comes to an end when all but what that
 * thread may hold is done; the caller waits until there is such an item. */
static void jam_item(void *work, int64_t k)
{
    jam *j = work;
    (void)k;
    if (pthread_equal(pthread_self(), j->caller))
        while (!atomic_load(&j->stuck)) sched_yield();
    else if (!atomic_exchange(&j->stuck, true))
        while (atomic_load(&j->done) < j->count - 8) sched_yield();
    atomic_fetch_add(&j->done, 1);
}

static void a_stuck_thread_holds_up_no_others_items(void **state)
{
    (void)state;
    for (int threads = 2; threads <= THREADS; threads++) {
        tct_team *t = open_team(threads);
        for (int round = 0; round < 20; round++) {
            jam j = {.caller = pthread_self(), .count = 1000};
            tct_team_run(t, threads, j.count, NULL, jam_item, &j);
            assert_int_equal(j.done, j.count);
        }
        tct_team_destroy(&t);
    }
}

typedef struct {
    double x[64];
} numbers;

static void add_one(void *work, int64_t k)
{
    ((numbers *)work)->x[k] += 1.0; /* not atomic: rounds come in order */
}

/* Are the sums right? */
static bool run_rounds(tct_team *t, int rounds)
{
    numbers n = {{0.0}};
    bool right = true;
    for (int r = 0; r < rounds; r++)
        tct_team_run(t, 1 + r % THREADS, 1 + r % 64, NULL, add_one, &n);
    for (int k = 0; k < 64; k++) {
        int times_wanted = 0;
        for (int r = 0; r < rounds; r++) times_wanted += r % 64 >= k;
        right = right && n.x[k] == times_wanted;
    }
    return right;
}

static void rounds_follow_one_another(void **state)
{
    (void)state;
    tct_team *t = open_team(THREADS);
    assert_true(run_rounds(t, 20000));
    tct_team_destroy(&t);
}

static void who_sleeps_is_called(void **state)
{
    (void)state;
    tct_team *t = open_team(THREADS);
    for (int i = 0; i < 30; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        jam j = {.caller = pthread_self(), .count = 100};
        tct_team_run(t, THREADS, j.count, NULL, jam_item, &j);
        assert_int_equal(j.done, j.count);
    }
    tct_team_destroy(&t);
}

static void *rounds_of_its_own(void *arg)
{
    return run_rounds(arg, 5000) ? arg : NULL;
}

static void teams_do_not_meet(void **state)
{
    (void)state;
    pthread_t thread[3];
    tct_team *t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = open_team(THREADS);
        assert_int_equal(
            pthread_create(&thread[i], NULL, rounds_of_its_own, t[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *right = NULL;
        pthread_join(thread[i], &right);
        assert_non_null(right);
        tct_team_destroy(&t[i]);
    }
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All threads on one processor is what a busy machine comes to. Threads that
 * wait by spinning take ms of its time in each of these rounds. */
static void waiting_takes_little_of_a_processor(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t p = 0; p < CPU_SETSIZE && !CPU_COUNT(&one); p++)
        if (CPU_ISSET(p, &before)) CPU_SET(p, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    tct_team *t = open_team(2); /* its threads are where the caller is */
    const double start = processor_seconds();
    assert_true(run_rounds(t, 3000));
    const double seconds = processor_seconds() - start;
    tct_team_destroy(&t);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    if (seconds > 1.5) fail_msg("3000 rounds took %.2f s", seconds);
}

static void no_memory_is_said_and_leaks_nothing(void **state)
{
    (void)state;
    const size_t before = tct_memory_blocks();
    tct_team *t = NULL;
    for (long k = 1;; k++) {
        tct_memory_fail_at(k);
        const tacit_status status = tct_team_create(2, &t);
        tct_memory_fail_at(0);
        if (status == TACIT_OK) break;
        assert_int_equal(status, TACIT_NO_MEMORY);
        assert_null(t);
        assert_int_equal(tct_memory_blocks(), before);
    }
    tct_team_destroy(&t);
    assert_int_equal(tct_memory_blocks(), before);
    assert_int_equal(tct_team_create(0, &t), TACIT_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(calls_share_out_what_there_is),
        cmocka_unit_test(stretches_cover_everything_once),
        cmocka_unit_test(a_stuck_thread_holds_up_no_others_items),
        cmocka_unit_test(rounds_follow_one_another),
        cmocka_unit_test(who_sleeps_is_called),
        cmocka_unit_test(teams_do_not_meet),
        cmocka_unit_test(waiting_takes_little_of_a_processor),
        cmocka_unit_test(no_memory_is_said_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
