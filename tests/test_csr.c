/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_csr.c - allocation and sorting of compressed sparse rows. */
#include "sparse/csr.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Rows [first, first + 3) of a matrix with `cols` columns: three, none and two
 * entries in descending order. */
static void make_small(tct_csr *A, int64_t cols, int64_t first)
{
    static const int64_t col[] = {7, 3, 5, 2, 0};
    assert_int_equal(tct_csr_rows(A, first + 3, cols, first, 3), TACIT_OK);
    A->ptr[1] = A->ptr[2] = 3;
    A->ptr[3] = 5;
    assert_int_equal(tct_csr_entries(A, 5), TACIT_OK);
    for (int k = 0; k < 5; k++) {
        tct_csr_set_col(A, k, col[k]);
        A->val[k] = (double)col[k] + 0.5;
    }
}

static void test_rows_are_cleared(void **state)
{
    (void)state;
    tct_csr A = {0};
    assert_int_equal(tct_csr_rows(&A, 100000, 7, 11, 99989), TACIT_OK);
    for (int64_t i = 0; i <= A.rows; i++) assert_int_equal(A.ptr[i], 0);
    assert_int_equal(A.global_rows, 100000);
    assert_int_equal(A.global_cols, 7);
    assert_int_equal(A.first, 11);
    assert_int_equal(tct_csr_nonzeros(&A), 0);
    tct_csr_clear(&A);
    assert_null(A.ptr);
    assert_int_equal(A.rows, 0);
    tct_csr_clear(&A); /* twice is fine */
    assert_int_equal(tct_memory_blocks(), 0);
}

static void test_ranges_are_checked(void **state)
{
    (void)state;
    tct_csr A = {0};
    assert_int_equal(tct_csr_rows(&A, 10, 10, 8, 3), TACIT_INVALID);
    assert_int_equal(tct_csr_rows(&A, 10, 10, -1, 3), TACIT_INVALID);
    assert_int_equal(tct_csr_rows(&A, 10, -10, 0, 3), TACIT_INVALID);
    assert_int_equal(tct_csr_rows(NULL, 10, 10, 0, 3), TACIT_INVALID);
    assert_int_equal(tct_csr_entries(&A, 3), TACIT_INVALID);
    assert_int_equal(tct_memory_blocks(), 0);
}

static void test_columns_take_the_width_they_need(void **state)
{
    (void)state;
    tct_csr A = {0}, B = {0};
    make_small(&A, INT32_MAX, 0);
    assert_non_null(A.col32);
    assert_null(A.col64);
    make_small(&B, (int64_t)INT32_MAX + 1, 0);
    assert_null(B.col32);
    assert_non_null(B.col64);
    const int64_t far = INT32_MAX;
    tct_csr_set_col(&B, 4, far);
    assert_true(tct_csr_col(&B, 4) == far);
    tct_csr_clear(&A);
    tct_csr_clear(&B);
    assert_int_equal(tct_memory_blocks(), 0);
}

static void test_too_much_is_refused_before_it_is_allocated(void **state)
{
    (void)state;
    tct_csr A = {0};
    const int64_t huge = INT64_C(1) << 60;
    assert_int_equal(tct_csr_rows(&A, huge, huge, 0, huge), TACIT_NO_MEMORY);
    assert_null(A.ptr);
    assert_int_equal(tct_csr_rows(&A, 2, 2, 0, 2), TACIT_OK);
    assert_int_equal(tct_csr_entries(&A, huge), TACIT_NO_MEMORY);
    assert_non_null(strstr(tacit_error_message(), "GiB"));
    assert_int_equal(tct_memory_blocks(), 1);
    tct_csr_clear(&A);
}

static void sorts(int64_t cols)
{
    static const int64_t want[] = {3, 5, 7, 0, 2};
    tct_csr A = {0};
    make_small(&A, cols, 4);
    assert_int_equal(tct_csr_sort(&A, false, "small"), TACIT_OK);
    for (int k = 0; k < 5; k++) {
        assert_int_equal(tct_csr_col(&A, k), want[k]);
        assert_true(A.val[k] == (double)want[k] + 0.5);
    }
    tct_csr_clear(&A);
}

static void test_sort(void **state)
{
    (void)state;
    sorts(8);
    sorts(INT64_C(1) << 40);
}

/* Long rows of a random order: against counting. */
static void test_sort_long_rows(void **state)
{
    (void)state;
    enum { N = 1000 };
    tct_csr A = {0};
    assert_int_equal(tct_csr_rows(&A, 2, N, 0, 2), TACIT_OK);
    A.ptr[1] = N;
    A.ptr[2] = 2 * N;
    assert_int_equal(tct_csr_entries(&A, 2 * N), TACIT_OK);
    for (int64_t k = 0; k < N; k++) {
        const int64_t col = k * 387 % N; /* 387 and 1000 share no factor */
        tct_csr_set_col(&A, k, col);
        tct_csr_set_col(&A, 2 * N - 1 - k, col);
        A.val[k] = A.val[2 * N - 1 - k] = (double)col;
    }
    assert_int_equal(tct_csr_sort(&A, false, "long"), TACIT_OK);
    for (int64_t k = 0; k < 2 * N; k++) {
        assert_int_equal(tct_csr_col(&A, k), k % N);
        assert_true(A.val[k] == (double)(k % N));
    }
    tct_csr_clear(&A);
}

/* Rows {5 2 5 2 2}, {}, {1 1}, {3}. */
static void make_twice(tct_csr *A)
{
    static const int64_t col[] = {5, 2, 5, 2, 2, 1, 1, 3};
    assert_int_equal(tct_csr_rows(A, 104, 9, 100, 4), TACIT_OK);
    A->ptr[1] = A->ptr[2] = 5;
    A->ptr[3] = 7;
    A->ptr[4] = 8;
    assert_int_equal(tct_csr_entries(A, 8), TACIT_OK);
    for (int k = 0; k < 8; k++) {
        tct_csr_set_col(A, k, col[k]);
        A->val[k] = (double)(1 << k);
    }
}

static void test_entries_that_stand_twice_are_summed(void **state)
{
    (void)state;
    static const int64_t ptr[] = {0, 2, 2, 3, 4}, col[] = {2, 5, 1, 3};
    static const double val[] = {2 + 8 + 16, 1 + 4, 32 + 64, 128};
    tct_csr A = {0};
    make_twice(&A);
    assert_int_equal(tct_csr_sort(&A, true, "twice"), TACIT_OK);
    for (int i = 0; i <= 4; i++) assert_int_equal(A.ptr[i], ptr[i]);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(tct_csr_col(&A, k), col[k]);
        assert_true(A.val[k] == val[k]);
    }
    tct_csr_clear(&A);
}

/* The sum is taken in the order given: 1e20 - 1e20 + 1 is 1. */
static void test_sums_keep_their_order(void **state)
{
    (void)state;
    tct_csr A = {0};
    assert_int_equal(tct_csr_rows(&A, 1, 3, 0, 1), TACIT_OK);
    A.ptr[1] = 4;
    assert_int_equal(tct_csr_entries(&A, 4), TACIT_OK);
    static const int64_t col[] = {2, 0, 2, 2};
    static const double val[] = {1e20, 3.0, -1e20, 1.0};
    for (int k = 0; k < 4; k++) {
        tct_csr_set_col(&A, k, col[k]);
        A.val[k] = val[k];
    }
    assert_int_equal(tct_csr_sort(&A, true, "order"), TACIT_OK);
    assert_true(A.val[1] == 1.0);
    tct_csr_clear(&A);
}

static void test_entries_that_stand_twice_are_told(void **state)
{
    (void)state;
    tct_csr A = {0};
    make_twice(&A);
    assert_int_equal(tct_csr_sort(&A, false, "bone.mtx"), TACIT_INPUT);
    const char *message = tacit_error_message();
    assert_non_null(strstr(message, "bone.mtx"));
    assert_non_null(strstr(message, "row 101, column 3"));
    tct_csr_clear(&A);
    assert_int_equal(tct_memory_blocks(), 0);
}

/* Each allocation fails in turn: an error, and nothing is left behind. */
static void test_no_memory(void **state)
{
    (void)state;
    for (long k = 1; k <= 3; k++) {
        tct_csr A = {0};
        tct_memory_fail_at(k);
        tacit_status status = tct_csr_rows(&A, 3, 3, 0, 3);
        if (status >= 0) status = tct_csr_entries(&A, 3);
        tct_memory_fail_at(0);
        assert_int_equal(status, TACIT_NO_MEMORY);
        tct_csr_clear(&A);
        assert_int_equal(tct_memory_blocks(), 0);
    }
    tct_csr A = {0};
    make_small(&A, 8, 0);
    tct_memory_fail_at(1);
    const tacit_status status = tct_csr_sort(&A, true, "small");
    tct_memory_fail_at(0);
    assert_int_equal(status, TACIT_NO_MEMORY);
    tct_csr_clear(&A);
    assert_int_equal(tct_memory_blocks(), 0);
}

/* Sizes below, in and above those that share large pages (base/slabs.h). */
static size_t bytes_of(int i)
{
    return ((size_t)1 << (12 + i % 12)) + 1000 * (size_t)(i % 7);
}

static bool is_full_of(const unsigned char *p, size_t bytes, int value)
{
    for (size_t k = 0; k < bytes; k++)
        if (p[k] != value) return false;
    return true;
}

/* Each is written, every third is replaced, and none has changed another. */
static void test_blocks_do_not_overlap(void **state)
{
    (void)state;
    enum { BLOCKS = 48 };
    unsigned char *block[BLOCKS];
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < BLOCKS; i++) {
            if (turn > 0 && i % 3 != turn) continue;
            if (turn > 0) tct_free(block[i]);
            block[i] = tct_alloc(bytes_of(i + turn));
            assert_non_null(block[i]);
            assert_int_equal((uintptr_t)block[i] % 64, 0);
            memset(block[i], i + 1, bytes_of(i + turn));
        }
    for (int i = 0; i < BLOCKS; i++) {
        assert_true(is_full_of(block[i], bytes_of(i + i % 3), i + 1));
        tct_free(block[i]);
    }
    assert_int_equal(tct_memory_blocks(), 0);
}

static atomic_bool stopped;

static void *keep_asking(void *unused)
{
    while (!atomic_load(&stopped)) tct_free(tct_alloc(1 << 20));
    return unused;
}

/* ... while another thread asks for memory, too. AddressSanitizer's allocator
 * may leave the child a held lock, and there no slab is used. */
static void test_forks_have_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip();
#endif
    pthread_t other;
    int status = 0;
    assert_int_equal(pthread_create(&other, NULL, keep_asking, NULL), 0);
    for (int k = 0; k < 100 && status == 0; k++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* where it waits forever */
            _exit(tct_alloc(1 << 20) ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    atomic_store(&stopped, true);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_do_not_overlap),
        cmocka_unit_test(test_forks_have_memory),
        cmocka_unit_test(test_rows_are_cleared),
        cmocka_unit_test(test_ranges_are_checked),
        cmocka_unit_test(test_columns_take_the_width_they_need),
        cmocka_unit_test(test_too_much_is_refused_before_it_is_allocated),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_sort_long_rows),
        cmocka_unit_test(test_entries_that_stand_twice_are_summed),
        cmocka_unit_test(test_sums_keep_their_order),
        cmocka_unit_test(test_entries_that_stand_twice_are_told),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
