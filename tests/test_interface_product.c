/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_interface_product.c - products of interface rows: the sums of all
 * entries by aggregates, the same bits on any number of threads. */
#include "gpu.h"
#include "precond/amg/device/interface_product.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1500, GHOSTS = 700, COARSE = 190, OTHERS = 90, WIDTH = 9 };

static int32_t of[ROWS], at[GHOSTS];
static double weight[ROWS], ghost_weight[GHOSTS], sum[COARSE][OTHERS];
static bool known[COARSE][OTHERS];

/* Of 0 to WIDTH entries a row, columns ascending. */
static tct_csr rows_of_ghosts(void)
{
    tct_csr A = {0};
    OK(tct_csr_rows(&A, ROWS, GHOSTS, 0, ROWS));
    OK(tct_csr_entries(&A, ROWS * WIDTH));
    int64_t end = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t e = 0; e < i % (WIDTH + 1); e++, end++) {
            A.col32[end] = (int32_t)((i * 31 % 70) + e * 70);
            A.val[end] = (double)(end * 7919 % 1009) / 1009.0 - 0.4;
        }
        A.ptr[i + 1] = end;
    }
    return A;
}

/* Every 13th row, every 11th ghost, and all rows of aggregate 5 have none. */
static void make_aggregates(void)
{
    for (int i = 0; i < ROWS; i++) {
        of[i] = i % 13 == 3 ? -1 : i * 17 % COARSE;
        if (of[i] == 5) of[i] = -1;
        weight[i] = 1.0 / (1 + i % 7);
    }
    for (int g = 0; g < GHOSTS; g++) {
        at[g] = g % 11 == 2 ? -1 : g * 29 % OTHERS;
        ghost_weight[g] = 1.0 / (2 + g % 5);
    }
}

static void add_up(const tct_csr *A, bool squared)
{
    memset(sum, 0, sizeof sum);
    memset(known, 0, sizeof known);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int32_t g = A->col32[e];
            if (of[i] < 0 || at[g] < 0) continue;
            const double v = A->val[e];
            sum[of[i]][at[g]] +=
                squared ? v * v : weight[i] * v * ghost_weight[g];
            known[of[i]][at[g]] = true;
        }
}

/* All entries and no others, columns ascending. */
static void expect_sums(const tct_csr *B)
{
    for (int64_t n = 0; n < COARSE; n++) {
        int64_t e = B->ptr[n];
        for (int c = 0; c < OTHERS; c++) {
            if (!known[n][c]) continue;
            assert_true(e < B->ptr[n + 1]);
            assert_int_equal(tct_csr_col(B, e), c);
            assert_true(B->val[e] == sum[n][c]);
            e++;
        }
        assert_int_equal(e, B->ptr[n + 1]);
    }
}

static void sums_are_those_of_aggregates(void **state)
{
    (void)state;
    tct_csr A = rows_of_ghosts();
    make_aggregates();
    for (int k = 0; k < 6; k++) {
        TCT_THREADS_AT_MOST(1 + k % 3);
        const bool squared = k >= 3;
        tct_interface_product p = {
            .A = &A, .of = of, .at = at, .rows = COARSE, .cols = OTHERS};
        OK(tct_interface_product_open(&p));
        assert_int_equal(p.parts, 1 + k % 3);
        tct_interface_product_add_up(&p, squared ? NULL : weight,
                                     squared ? NULL : ghost_weight, squared);
        add_up(&A, squared);
        expect_sums(&p.B);
        tct_interface_product_clear(&p);
    }
    tct_csr_clear(&A);
}

static void products_may_be_empty(void **state)
{
    (void)state;
    tct_csr A = {0};
    OK(tct_csr_rows(&A, 0, 0, 0, 0));
    OK(tct_csr_entries(&A, 0));
    tct_interface_product p = {.A = &A, .of = of, .at = at};
    OK(tct_interface_product_open(&p));
    tct_interface_product_add_up(&p, NULL, NULL, false);
    assert_int_equal(tct_csr_nonzeros(&p.B), 0);
    tct_interface_product_clear(&p);
    tct_csr_clear(&A);
}

/* Whichever allocation fails, nothing is left behind. */
static void missing_memory_is_reported(void **state)
{
    (void)state;
    tct_csr A = rows_of_ghosts();
    make_aggregates();
    const size_t before = tct_memory_blocks();
    int failed = 0;
    tacit_status status = TACIT_NO_MEMORY;
    for (long k = 1; status < 0; k++) {
        tct_interface_product p = {
            .A = &A, .of = of, .at = at, .rows = COARSE, .cols = OTHERS};
        tct_memory_fail_at(k);
        status = tct_interface_product_open(&p);
        tct_memory_fail_at(0);
        if (status < 0) assert_int_equal(status, TACIT_NO_MEMORY);
        failed += status < 0;
        tct_interface_product_clear(&p);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(failed > 5);
    tct_csr_clear(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_aggregates),
        cmocka_unit_test(products_may_be_empty),
        cmocka_unit_test(missing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
