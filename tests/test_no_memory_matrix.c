/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_no_memory_matrix.c - entries, new values and fixed rows with each
 * allocation failing in turn: all ranks fail alike, nothing leaks, and matrix
 * and right-hand side stay as they were.
 * RUN: np=1,3 */
#include "rows.h"

enum { N = 60, TRIES = 200 };

static tacit_status make_of_entries(const given_rows *g, const int64_t *rows,
                                    tacit_triangle triangle, tacit_matrix **m)
{
    const tacit_entries e = {.size = sizeof e,
                             .count = g->ptr[g->rows],
                             .rows = rows,
                             .cols = g->cols,
                             .vals = g->vals,
                             .triangle = triangle};
    if (*m) return tacit_matrix_set_entries(*m, &e);
    return tacit_matrix_from_entries(test_world(), N, g->first, g->rows, &e, m);
}

static int64_t *rows_of(const given_rows *g)
{
    int64_t *rows = calloc((size_t)g->ptr[g->rows] + 1, sizeof *rows);
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++)
            rows[k] = g->first + i;
    return rows;
}

/* The last of the ranks is short of memory. */
static void fail_at(long k)
{
    const bool mine =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    tct_memory_fail_at(mine ? k : 0);
}

static void entries_without_memory(void **state)
{
    (void)state;
    given_rows g = make_rows(upper_row, N, my_first(N), my_last(N));
    int64_t *rows = rows_of(&g);
    const size_t before = tct_memory_blocks();
    long k = 1;
    for (bool made = false; !made && k < TRIES; k++) {
        tacit_matrix *m = NULL;
        fail_at(k);
        const tacit_status status =
            make_of_entries(&g, rows, TACIT_TRIANGLE_UPPER, &m);
        fail_at(0);
        made = status == TACIT_OK;
        if (!made) assert_int_equal(status, TACIT_NO_MEMORY);
        if (!made) assert_null(m);
        tacit_matrix_destroy(&m);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(k > 8 && k < TRIES);
    free(rows);
    free_rows(&g);
}

/* Moves rows, so that numbers are looked up. */
static void scatter(tacit_matrix *m)
{
    char text[4 * N + 1] = "", *at = text;
    const int size = tacit_world_size(test_world());
    for (int i = 0; i < N; i++) at += sprintf(at, "%d\n", i / 7 % size);
    const char *path = temporary("no-memory-parts", text);
    assert_int_equal(tacit_matrix_partition(m, "file", path), TACIT_OK);
    discard(path);
}

/* Entries as of line_row, with values three times as large. */
static given_rows larger(void)
{
    given_rows g = make_rows(line_row, N, my_first(N), my_last(N));
    for (int64_t k = 0; k < g.ptr[g.rows]; k++) g.vals[k] *= 3;
    return g;
}

static void new_values_without_memory(void **state)
{
    (void)state;
    given_rows g = larger();
    int64_t *rows = rows_of(&g);
    tacit_matrix *m = make(line_row, N);
    scatter(m);
    const size_t before = tct_memory_blocks();
    long k = 1;
    for (bool made = false; !made && k < TRIES; k++) {
        fail_at(k);
        const tacit_status status =
            make_of_entries(&g, rows, TACIT_TRIANGLE_BOTH, &m);
        fail_at(0);
        made = status == TACIT_OK;
        if (!made) assert_int_equal(status, TACIT_NO_MEMORY);
        if (!made) assert_entries(m, line_row, N);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(k > 5 && k < TRIES);
    tacit_matrix_destroy(&m);
    free(rows);
    free_rows(&g);
}

/* Without the diagonal of row 20, which fixing adds. */
static int hollow_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = line_row(n, i, cols, vals);
    if (i != 20) return count;
    cols[1] = cols[2];
    vals[1] = vals[2];
    return 2;
}

static void fixed_rows_without_memory(void **state)
{
    (void)state;
    const int64_t rows[] = {0, 20, 33};
    const double values[] = {1.0, -2.0, 5.0};
    tacit_matrix *m = make(hollow_row, N);
    scatter(m);
    double *b = calloc((size_t)m->A.rows + 1, sizeof *b);
    const size_t before = tct_memory_blocks();
    long k = 1;
    for (bool made = false; !made && k < TRIES; k++) {
        fail_at(k);
        const tacit_status status = tacit_matrix_fix(m, 3, rows, values, b);
        fail_at(0);
        made = status == TACIT_OK;
        if (!made) assert_int_equal(status, TACIT_NO_MEMORY);
        if (!made) assert_entries(m, hollow_row, N);
        for (int64_t i = 0; !made && i < m->A.rows; i++)
            assert_true(b[i] == 0.0);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(k > 8 && k < TRIES);
    free(b);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_without_memory),
        cmocka_unit_test(new_values_without_memory),
        cmocka_unit_test(fixed_rows_without_memory),
    };
    TEST_MPI_MAIN(tests);
}
