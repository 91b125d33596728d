/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_fix.c - fixed values: rows and columns are eliminated as in a
 * dense matrix, whatever the ranks and wherever the rows are; refusals change
 * nothing.
 * RUN: np=1,2,3
 * THREADS: 3 */
#include "rows.h"
#include <tacit/solver.h>

/* Symmetric, positive definite, with far columns; whole numbers. */
enum { N = 48 };
static int spread_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    for (int64_t j = 0; j < n; j++) {
        const int64_t low = i < j ? i : j, gap = i < j ? j - i : i - j;
        if (gap != 0 && gap != 1 && gap != 7 && gap != 30) continue;
        cols[count] = j;
        vals[count++] =
            gap == 0 ? (double)(20 + i % 5) : -(double)(1 + (low + gap) % 3);
    }
    return count;
}

/* The same, but rows 5 and 40 lack their diagonal entries. */
static int gapped_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = spread_row(n, i, cols, vals);
    int kept = 0;
    for (int k = 0; k < count; k++) {
        if (cols[k] == i && (i == 5 || i == 40)) continue;
        cols[kept] = cols[k];
        vals[kept++] = vals[k];
    }
    return kept;
}

static const int64_t FIXED[] = {0, 5, 6, 23, 24, 40, 47};
enum { FIXES = sizeof FIXED / sizeof *FIXED };

static double value_at(int64_t row)
{
    return (double)(row % 4) - 1.0;
}

static double b_at(int64_t row)
{
    return (double)(row % 9 + 1);
}

/* --- the dense reference -------------------------------------------------- */

typedef struct {
    double a[N][N], b[N];
    bool fixed[N], stored[N][N];
} dense;

static dense *dense_of(row_fn row)
{
    dense *d = calloc(1, sizeof *d);
    assert_non_null(d);
    for (int64_t i = 0; i < N; i++) {
        int64_t cols[MOST];
        double vals[MOST];
        const int count = row(N, i, cols, vals);
        for (int k = 0; k < count; k++) {
            d->a[i][cols[k]] = vals[k];
            d->stored[i][cols[k]] = true;
        }
        d->b[i] = b_at(i);
    }
    return d;
}

static void eliminate(dense *d, double diagonal)
{
    for (int f = 0; f < FIXES; f++) d->fixed[FIXED[f]] = true;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (!d->fixed[i] && d->fixed[j])
                d->b[i] -= d->a[i][j] * value_at(j);
            if (d->fixed[i] || d->fixed[j]) d->a[i][j] = 0.0;
        }
    for (int i = 0; i < N; i++) {
        if (!d->fixed[i]) continue;
        d->a[i][i] = diagonal;
        d->stored[i][i] = true;
        d->b[i] = diagonal * value_at(i);
    }
}

/* Original numbers of the columns of `m` [nonzeros]. */
static int64_t *original_columns(const tacit_matrix *m)
{
    const size_t count = (size_t)tct_csr_nonzeros(&m->A) + 1;
    int64_t *table = calloc((size_t)m->A.rows + 1, sizeof *table);
    int64_t *cols = calloc(count, sizeof *cols);
    int64_t *scratch = calloc(count, sizeof *scratch);
    for (int64_t i = 0; i < m->A.rows; i++) table[i] = tct_original(m, i);
    assert_int_equal(
        tct_ask_columns(m, 0, m->A.ptr[m->A.rows], table, cols, scratch),
        TACIT_OK);
    free(table);
    free(scratch);
    return cols;
}

static void assert_dense(const tacit_matrix *m, const double *b, const dense *d)
{
    int64_t *cols = original_columns(m), places = 0;
    for (int64_t i = 0; i < m->A.rows; i++) {
        const int64_t row = tct_original(m, i);
        int64_t stored = 0;
        for (int64_t j = 0; j < N; j++) stored += d->stored[row][j];
        assert_int_equal(m->A.ptr[i + 1] - m->A.ptr[i], stored);
        for (int64_t k = m->A.ptr[i]; k < m->A.ptr[i + 1]; k++)
            assert_true(m->A.val[k] == d->a[row][cols[k]]);
        assert_true(b[i] == d->b[row]);
    }
    for (int i = 0; i < N * N; i++) places += d->stored[i / N][i % N];
    assert_int_equal(tacit_matrix_nonzeros(m), places);
    free(cols);
}

/* --- fixing --------------------------------------------------------------- */

/* Parts in pieces of 5 rows, so that rows move. */
static void scatter(tacit_matrix *m)
{
    char text[4 * N + 1] = "", *at = text;
    const int size = tacit_world_size(test_world());
    for (int i = 0; i < N; i++) at += sprintf(at, "%d\n", i / 5 % size);
    const char *path = temporary("fix-parts", text);
    assert_int_equal(tacit_matrix_partition(m, "file", path), TACIT_OK);
    discard(path);
}

static double *rhs_of(const tacit_matrix *m)
{
    double *b = calloc((size_t)m->A.rows + 1, sizeof *b);
    for (int64_t i = 0; i < m->A.rows; i++) b[i] = b_at(tct_original(m, i));
    return b;
}

/* Which of the fixed rows does this rank name? Those that others own, some on
 * every rank. */
static int64_t named(int64_t *rows, double *values)
{
    const int size = tacit_world_size(test_world());
    int64_t count = 0;
    for (int f = 0; f < FIXES; f++) {
        const bool all = f % 3 == 0;
        if (!all && f % size != (tacit_world_rank(test_world()) + 1) % size)
            continue;
        rows[count] = FIXED[f];
        values[count++] = value_at(FIXED[f]);
    }
    return count;
}

static double free_diagonal(const dense *d)
{
    double most = 0.0;
    for (int i = 0; i < N; i++) {
        bool fixed = false;
        for (int f = 0; f < FIXES; f++) fixed = fixed || FIXED[f] == i;
        if (!fixed) most = fmax(most, fabs(d->a[i][i]));
    }
    return most;
}

static void expect_as_dense(row_fn row, bool moved)
{
    int64_t rows[FIXES];
    double values[FIXES];
    const int64_t count = named(rows, values);
    tacit_matrix *m = make(row, N);
    if (moved) scatter(m);
    double *b = rhs_of(m);
    dense *d = dense_of(row);
    eliminate(d, free_diagonal(d));
    assert_int_equal(tacit_matrix_fix(m, count, rows, values, b), TACIT_OK);
    assert_dense(m, b, d);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    free(d);
    free(b);
    tacit_matrix_destroy(&m);
}

static void rows_and_columns_are_eliminated(void **state)
{
    (void)state;
    expect_as_dense(spread_row, false);
    expect_as_dense(spread_row, true);
}

static void a_missing_diagonal_is_added(void **state)
{
    (void)state;
    expect_as_dense(gapped_row, false);
    expect_as_dense(gapped_row, true);
}

/* Without values and without b, all are 0; every row may be fixed. */
static void all_rows_without_values(void **state)
{
    (void)state;
    int64_t rows[N];
    for (int i = 0; i < N; i++) rows[i] = i;
    const bool mine = tacit_world_rank(test_world()) == 0;
    tacit_matrix *m = make(spread_row, N);
    assert_int_equal(tacit_matrix_fix(m, mine ? N : 0, rows, NULL, NULL),
                     TACIT_OK);
    for (int64_t i = 0; i < m->A.rows; i++)
        for (int64_t k = m->A.ptr[i]; k < m->A.ptr[i + 1]; k++)
            assert_true(m->A.val[k] ==
                        (tct_csr_col(&m->A, k) == m->A.first + i ? 1.0 : 0.0));
    tacit_matrix_destroy(&m);
}

/* --- the solution --------------------------------------------------------- */

/* x has the fixed values, and solves the old equations in the other rows. */
static void assert_solves(const double *x, int64_t first, int64_t count)
{
    double all[N] = {0}, mine[N] = {0};
    memcpy(mine + first, x, (size_t)count * sizeof *x);
    memcpy(all, mine, sizeof all);
    assert_int_equal(tct_reduce_f64(test_world(), TCT_SUM, N, all), TACIT_OK);
    dense *d = dense_of(spread_row);
    for (int f = 0; f < FIXES; f++) d->fixed[FIXED[f]] = true;
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        for (int j = 0; j < N; j++) sum += d->a[i][j] * all[j];
        if (d->fixed[i]) assert_true(fabs(all[i] - value_at(i)) < 1e-8);
        else assert_true(fabs(sum - b_at(i)) < 1e-7);
    }
    free(d);
}

static void the_solution_has_the_values(void **state)
{
    (void)state;
    int64_t rows[FIXES];
    double values[FIXES], x[N] = {0}, before[N] = {0}, after[N] = {0}, v[N];
    const int64_t count = named(rows, values);
    tacit_matrix *m = make(spread_row, N);
    double *b = rhs_of(m);
    tacit_queue *q = NULL;
    tacit_operator *A = NULL;
    tacit_solver *s = NULL;
    const tacit_operator_options one = {.size = sizeof one, .solves = 1};
    tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
    tacit_result result = {.size = sizeof result};
    assert_int_equal(tacit_queue_create(test_world(), "host", 1, &q), TACIT_OK);
    /* the operator shares the rows, which fixing must not change */
    assert_int_equal(tacit_operator_create_for(q, m, &one, &A), TACIT_OK);
    for (int i = 0; i < N; i++) v[i] = 1.0 + i % 3;
    assert_int_equal(tacit_operator_apply(A, v, before), TACIT_OK);
    assert_int_equal(tacit_matrix_fix(m, count, rows, values, b), TACIT_OK);
    assert_int_equal(tacit_operator_apply(A, v, after), TACIT_OK);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(tacit_operator_update(A, m), TACIT_OK);
    assert_int_equal(tacit_solver_create(q, A, "cg", &s), TACIT_OK);
    assert_int_equal(tacit_solver_run(s, b, x, &stop, &result), TACIT_OK);
    assert_solves(x, m->A.first, m->A.rows);
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
    free(b);
}

/* --- refusals ------------------------------------------------------------- */

/* The last rank names `row` twice, with `one` and `other`. */
static void expect_refused(int64_t row, double one, double other, bool has_b,
                           const char *sentence)
{
    const bool mine =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    const int64_t rows[] = {row, row};
    const double values[] = {one, other};
    tacit_matrix *m = make(spread_row, N);
    double *b = rhs_of(m);
    assert_int_equal(
        tacit_matrix_fix(m, mine ? 2 : 0, rows, values, has_b ? b : NULL),
        TACIT_INVALID);
    assert_message(sentence);
    dense *d = dense_of(spread_row);
    assert_dense(m, b, d);
    free(d);
    free(b);
    tacit_matrix_destroy(&m);
}

static void wrong_rows_are_refused(void **state)
{
    (void)state;
    expect_refused(N, 1, 1, true, "rows[0] is 48: expected 0 to 47");
    expect_refused(-1, 1, 1, true, "rows[0] is -1: expected 0 to 47");
    expect_refused(7, 1, 2, true, "x[7] is fixed to 1 and to 2");
    expect_refused(7, 1, INFINITY, true, "the value of x[7] is inf");
    expect_refused(7, 1e308, 1e308, true, "would be inf, from");
    expect_refused(7, 1, 1, false, "x[7] is fixed to 1, which changes b");
}

/* Two ranks give two values. */
static void ranks_that_disagree_are_refused(void **state)
{
    (void)state;
    const int rank = tacit_world_rank(test_world());
    if (tacit_world_size(test_world()) == 1) skip();
    const int64_t row = 30;
    const double value = rank < 2 ? rank : 1;
    tacit_matrix *m = make(spread_row, N);
    double *b = rhs_of(m);
    assert_int_equal(tacit_matrix_fix(m, 1, &row, &value, b), TACIT_INVALID);
    assert_message("x[30] is fixed to 0 and to 1");
    dense *d = dense_of(spread_row);
    assert_dense(m, b, d);
    free(d);
    free(b);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_columns_are_eliminated),
        cmocka_unit_test(a_missing_diagonal_is_added),
        cmocka_unit_test(all_rows_without_values),
        cmocka_unit_test(the_solution_has_the_values),
        cmocka_unit_test(wrong_rows_are_refused),
        cmocka_unit_test(ranks_that_disagree_are_refused),
    };
    TEST_MPI_MAIN(tests);
}
