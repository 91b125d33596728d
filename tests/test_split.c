/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_split.c - the rows of a rank divided into local and ghost columns
 * by teams of threads, in place and to new arrays, against the entries one by
 * one. */
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
 * row has at most, and how often one is of another rank. If `every` is not 0,
 * each row of such a number is full, and others have their diagonal. */
typedef struct {
    int64_t n, first, rows;
    int most;
    double foreign;
    int64_t every;
} shape;

static const shape shapes[] = {{1, 0, 1, 1, 0.0, 0},
                               {10, 10, 0, 3, 0.5, 0},
                               {9, 3, 3, 9, 0.5, 0},
                               {9, 4, 1, 9, 0.5, 0},
                               {2000, 0, 1000, 7, 0.0, 0},
                               {2000, 1000, 1000, 7, 0.0, 0},
                               {2000, 1000, 1000, 7, 1.0, 0},
                               {60000, 20000, 20000, 1, 0.3, 0},
                               {60000, 20000, 20000, 12, 0.01, 0},
                               {60000, 20000, 20000, 12, 0.5, 0},
                               {90000, 0, 30000, 30, 0.3, 0},
                               {3000, 1000, 7, 900, 0.5, 0},
                               {200000, 70000, 80000, 0, 0.0, 50000}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool stands(const shape *s, int64_t row, int64_t j)
{
    const bool own = j >= s->first && j < s->first + s->rows;
    if (s->every) return j == row || row % s->every == 0;
    const double room = own ? (double)s->rows : (double)(s->n - s->rows);
    const double share = own ? 1.0 - s->foreign : s->foreign;
    return tct_uniform((uint64_t)row, (uint64_t)j) < s->most * share / room;
}

/* Row `row` of the rank: about as many entries as it may have, ascending. */
static int64_t fill_row(const shape *s, int64_t row, tct_csr *A, int64_t k)
{
    /* not to ask for each column */
    const bool full = s->every && row % s->every == 0;
    const int64_t stride = full ? 1 : s->every ? s->n : s->n / 300 + 1;
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

#define assert_same(a, b, count)                             \
    do {                                                     \
        const size_t bytes = (size_t)(count) * sizeof *(a);  \
        if (bytes > 0) assert_memory_equal((a), (b), bytes); \
    } while (0)

/* Both have the same bytes. */
static void assert_equal(const tct_parts *p, const tct_parts *q)
{
    const int64_t rows = p->local.rows, ghost_rows = p->ghost_rows;
    const int64_t own = p->local.ptr[rows];
    const int64_t entries = ghost_rows ? p->ghost_ptr[ghost_rows] : 0;
    assert_int_equal(rows, q->local.rows);
    assert_int_equal(p->local.cols, q->local.cols);
    assert_same(p->local.ptr, q->local.ptr, rows + 1);
    assert_same(p->local.col, q->local.col, own);
    assert_same(p->local.val, q->local.val, own);
    assert_int_equal(ghost_rows, q->ghost_rows);
    assert_int_equal(p->ghosts, q->ghosts);
    assert_same(p->ghost_id, q->ghost_id, p->ghosts);
    assert_same(p->ghost_row, q->ghost_row, ghost_rows);
    if (ghost_rows) assert_same(p->ghost_ptr, q->ghost_ptr, ghost_rows + 1);
    assert_same(p->ghost_col, q->ghost_col, entries);
    assert_same(p->ghost_val, q->ghost_val, entries);
}

/* Rows that are shared stay as they are, and are divided as their copy in
 * place. */
static void divide_both_ways(const shape *s, bool wide, tct_team *team)
{
    tct_csr A, kept, lent;
    tct_parts in_place, copied;
    const size_t blocks = tct_memory_blocks();
    make(s, wide, &A);
    make(s, wide, &kept);
    assert_int_equal(tct_csr_share(&kept, &lent), TACIT_OK);
    assert_int_equal(tct_split(team, &lent, &copied), TACIT_OK);
    assert_null(lent.ptr);
    assert_false(tct_csr_is_shared(&kept));
    assert_divided(&kept, &copied);
    const int64_t n = tct_csr_nonzeros(&kept);
    assert_same(A.ptr, kept.ptr, s->rows + 1);
    assert_same(A.val, kept.val, n);
    if (wide) assert_same(A.col64, kept.col64, n);
    else assert_same(A.col32, kept.col32, n);
    assert_int_equal(tct_split(team, &A, &in_place), TACIT_OK);
    assert_equal(&copied, &in_place);
    tct_parts_clear(&copied);
    /* the last one that has shared rows divides them in place */
    const double *val = kept.val;
    assert_int_equal(tct_split(team, &kept, &copied), TACIT_OK);
    assert_ptr_equal(copied.local.val, val);
    assert_equal(&copied, &in_place);
    tct_parts_clear(&copied);
    tct_parts_clear(&in_place);
    assert_int_equal(tct_memory_blocks(), blocks);
}

static void every_entry_is_where_it_belongs(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++)
        for (int wide = 0; wide < 2; wide++)
            for (int threads = 1; threads <= TEAM_MOST; threads++)
                divide_both_ways(&shapes[k], wide, team_of[threads]);
}

/* The status of a division when the k-th allocation fails. */
static tacit_status fail_at(int k, bool shared)
{
    tct_csr A, kept = {0};
    tct_parts p;
    make(&shapes[2], true, &A);
    if (shared) {
        kept = A;
        assert_int_equal(tct_csr_share(&kept, &A), TACIT_OK);
    }
    tct_memory_fail_at(k);
    const tacit_status status = tct_split(team_of[2], &A, &p);
    tct_memory_fail_at(0);
    assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
    tct_parts_clear(&p);
    tct_csr_clear(&kept);
    return status;
}

static void no_memory_leaks_nothing(void **state)
{
    (void)state;
    const size_t blocks = tct_memory_blocks();
    for (int shared = 0; shared < 2; shared++) {
        tacit_status status = TACIT_NO_MEMORY;
        int k = 1;
        for (; status < 0 && k < 40; k++) {
            status = fail_at(k, shared);
            assert_int_equal(tct_memory_blocks(), blocks);
        }
        assert_true(k > 8 && k < 40);
    }
}

/* Rows that others have, too, are as they were after a move to another
 * order. */
static void lent_rows_stay(void **state)
{
    tct_csr A, was = {0}, lent;
    tct_parts p;
    int32_t turned[1000];
    const shape s = {1000, 0, 1000, 7, 0.0, 0};
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
