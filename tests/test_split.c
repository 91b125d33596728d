/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_split.c - the rows of a rank divided into local and ghost columns
 * by teams of threads, against the entries one by one. */
#include "operator/pattern/order.h"
#include "operator/pattern/split.h"
#include "sparse/csr.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the headers above it */
#include <cmocka.h>

#include "teams.h"

/* Rows [first, first + rows) of a square matrix of `n` rows: how many entries a
 * row has at most, and how often one is of another rank. */
typedef struct {
    int64_t n, first, rows;
    int most;
    double foreign;
} shape;

static const shape shapes[] = {{1, 0, 1, 1, 0.0},
                               {10, 10, 0, 3, 0.5},
                               {9, 3, 3, 9, 0.5},
                               {2000, 0, 1000, 7, 0.0},
                               {2000, 1000, 1000, 7, 1.0},
                               {60000, 20000, 20000, 12, 0.01},
                               {60000, 20000, 20000, 12, 0.5},
                               {90000, 0, 30000, 30, 0.3},
                               {3000, 1000, 7, 900, 0.5}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool stands(const shape *s, int64_t row, int64_t j)
{
    const bool own = j >= s->first && j < s->first + s->rows;
    const double room = own ? (double)s->rows : (double)(s->n - s->rows);
    const double share = own ? 1.0 - s->foreign : s->foreign;
    return tct_uniform((uint64_t)row, (uint64_t)j) < s->most * share / room;
}

/* Row `row` of the rank: about as many entries as it may have, ascending. */
static int64_t fill_row(const shape *s, int64_t row, tct_csr *A, int64_t k)
{
    const int64_t stride = s->n / 300 + 1; /* not to ask for each column */
    for (int64_t j = row % stride; j < s->n; j += stride) {
        shape dense = *s;
        dense.most *= (int)stride;
        if (!stands(&dense, row, j)) continue;
        if (A->val) {
            tct_csr_set_col(A, k, j);
            A->val[k] = (double)(row * s->n + j + 1);
        }
        k++;
    }
    return k;
}

static void make(const shape *s, bool wide, tct_csr *A)
{
    *A = (tct_csr){0};
    assert_int_equal(tct_csr_rows(A, s->n, s->n, s->first, s->rows), TACIT_OK);
    for (int64_t i = 0; i < s->rows; i++)
        A->ptr[i + 1] = fill_row(s, s->first + i, A, A->ptr[i]);
    const int64_t nonzeros = A->ptr[s->rows];
    if (wide) {
        A->col64 = tct_alloc((size_t)nonzeros * sizeof *A->col64);
        A->val = tct_alloc((size_t)nonzeros * sizeof *A->val);
    } else {
        assert_int_equal(tct_csr_entries(A, nonzeros), TACIT_OK);
    }
    for (int64_t i = 0; i < s->rows; i++)
        (void)fill_row(s, s->first + i, A, A->ptr[i]);
}

/* Every entry of `A` is in `p`, in its order, and nothing else is. */
static void assert_divided(const tct_csr *A, const tct_parts *p)
{
    int64_t local = 0, entry = 0, row = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t before = entry;
        assert_int_equal(p->local.ptr[i], local);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(A, k);
            if (j >= A->first && j < A->first + A->rows) {
                assert_int_equal(p->local.col[local], j - A->first);
                assert_true(p->local.val[local++] == A->val[k]);
            } else {
                assert_int_equal(p->ghost_id[p->ghost_col[entry]], j);
                assert_true(p->ghost_val[entry++] == A->val[k]);
            }
        }
        if (entry == before) continue;
        assert_int_equal(p->ghost_row[row++], i);
        assert_int_equal(p->ghost_ptr[row], entry);
    }
    assert_int_equal(p->local.ptr[A->rows], local);
    assert_int_equal(p->ghost_rows, row);
    for (int64_t g = 1; g < p->ghosts; g++)
        assert_true(p->ghost_id[g - 1] < p->ghost_id[g]);
}

static void every_entry_is_where_it_belongs(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++)
        for (int wide = 0; wide < 2; wide++)
            for (int threads = 1; threads <= TEAM_MOST; threads++) {
                tct_csr A, copy;
                tct_parts p;
                make(&shapes[k], wide, &A);
                make(&shapes[k], wide, &copy);
                assert_int_equal(tct_split(team_of[threads], &A, &p), TACIT_OK);
                assert_divided(&copy, &p);
                tct_parts_clear(&p);
                tct_csr_clear(&copy);
            }
}

static void no_memory_leaks_nothing(void **state)
{
    (void)state;
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    int k = 1;
    for (; status < 0 && k < 40; k++) {
        tct_csr A;
        tct_parts p;
        make(&shapes[2], true, &A);
        tct_memory_fail_at(k);
        status = tct_split(team_of[2], &A, &p);
        tct_memory_fail_at(0);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        tct_parts_clear(&p);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_true(k > 8 && k < 40);
}

/* Rows that others have, too, are as they were after a move to another
 * order. */
static void lent_rows_stay(void **state)
{
    tct_csr A, was = {0}, lent;
    tct_parts p;
    int32_t turned[1000];
    const shape s = {1000, 0, 1000, 7, 0.0};
    (void)state;
    const size_t blocks = tct_memory_blocks();
    make(&s, false, &A);
    const int64_t n = tct_csr_nonzeros(&A);
    assert_int_equal(tct_csr_copy(&A, &was), TACIT_OK);
    assert_int_equal(tct_csr_share(&A, &lent), TACIT_OK);
    for (int32_t i = 0; i < 1000; i++) turned[i] = 999 - i;
    const tct_order o = {.old = turned, .now = turned};
    for (int moves = 0; moves < 2; moves++) {
        tct_split_lent(&lent, &p);
        if (moves) assert_int_equal(tct_order_move(&o, &p.local), TACIT_OK);
        assert_int_equal(p.local.ptr != A.ptr, moves);
        tct_parts_clear(&p);
        assert_memory_equal(A.ptr, was.ptr, 1001 * sizeof *A.ptr);
        assert_memory_equal(A.col32, was.col32, (size_t)n * sizeof *A.col32);
        assert_memory_equal(A.val, was.val, (size_t)n * sizeof *A.val);
    }
    tct_csr_clear(&lent);
    tct_csr_clear(&was);
    tct_csr_clear(&A);
    assert_int_equal(tct_memory_blocks(), blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry_is_where_it_belongs),
        cmocka_unit_test(no_memory_leaks_nothing),
        cmocka_unit_test(lent_rows_stay),
    };
    return cmocka_run_group_tests(tests, open_teams, close_teams);
}
