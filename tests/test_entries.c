/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_entries.c - matrices of entries in any order, given on any rank,
 * and of one triangle, against a dense sum.
 * RUN: np=1,2,3
 * THREADS: 2,3 */
#include "rows.h"

enum { N = 37 };

/* --- the entries that all ranks give together ------------------------------- */

/* Entry `k`: few rows and columns, so that many come twice. Whole numbers, so
 * that sums do not depend on their order. */
static int64_t row_of(int64_t k)
{
    return (k * 11 + k / 5) % N;
}

static int64_t col_of(int64_t k)
{
    return (k * k + 3 * k) % 23;
}

static double value_of(int64_t k)
{
    return (double)(k % 17 - 8);
}

typedef struct {
    int64_t count, *rows, *cols;
    int32_t *rows32, *cols32;
    double *vals;
} listed;

/* This rank gives every size-th of `all` entries. */
static listed list(int64_t all)
{
    const int64_t size = tacit_world_size(test_world());
    const size_t room = (size_t)all + 1;
    listed l = {0};
    l.rows = calloc(room, sizeof *l.rows);
    l.cols = calloc(room, sizeof *l.cols);
    l.rows32 = calloc(room, sizeof *l.rows32);
    l.cols32 = calloc(room, sizeof *l.cols32);
    l.vals = calloc(room, sizeof *l.vals);
    for (int64_t k = tacit_world_rank(test_world()); k < all; k += size) {
        l.rows[l.count] = row_of(k);
        l.cols[l.count] = col_of(k);
        l.rows32[l.count] = (int32_t)row_of(k);
        l.cols32[l.count] = (int32_t)col_of(k);
        l.vals[l.count++] = value_of(k);
    }
    return l;
}

static void unlist(listed *l)
{
    free(l->rows);
    free(l->cols);
    free(l->rows32);
    free(l->cols32);
    free(l->vals);
}

static tacit_entries entries_of(const listed *l)
{
    return (tacit_entries){.size = sizeof(tacit_entries),
                           .count = l->count,
                           .rows = l->rows,
                           .cols = l->cols,
                           .vals = l->vals};
}

static tacit_status from(const tacit_entries *e, tacit_matrix **m)
{
    const int64_t first = my_first(N);
    return tacit_matrix_from_entries(test_world(), N, first, my_last(N) - first,
                                     e, m);
}

/* Each stored entry has the dense sum, and all that were given are stored. */
static void assert_sums(const tacit_matrix *m, int64_t all)
{
    static _Thread_local double sum[N][N];
    static _Thread_local bool given[N][N];
    memset(sum, 0, sizeof sum);
    memset(given, 0, sizeof given);
    for (int64_t k = 0; k < all; k++) {
        sum[row_of(k)][col_of(k)] += value_of(k);
        given[row_of(k)][col_of(k)] = true;
    }
    int64_t places = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) places += given[i][j];
    assert_int_equal(tacit_matrix_nonzeros(m), places);
    for (int64_t i = 0; i < m->A.rows; i++)
        for (int64_t k = m->A.ptr[i]; k < m->A.ptr[i + 1]; k++) {
            const int64_t row = m->A.first + i, col = tct_csr_col(&m->A, k);
            assert_true(given[row][col]);
            assert_true(m->A.val[k] == sum[row][col]);
        }
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.summed, all - places);
    assert_int_equal(info.sent > 0, tacit_world_size(test_world()) > 1);
}

static void entries_of_any_rank_are_added(void **state)
{
    (void)state;
    const int64_t all = 2000;
    listed l = list(all);
    tacit_matrix *m = NULL;
    tacit_entries e = entries_of(&l);
    assert_int_equal(from(&e, &m), TACIT_OK);
    assert_sums(m, all);
    tacit_matrix_destroy(&m);
    e.rows = e.cols = NULL;
    e.rows32 = l.rows32;
    e.cols32 = l.cols32;
    assert_int_equal(from(&e, &m), TACIT_OK);
    assert_sums(m, all);
    tacit_matrix_destroy(&m);
    unlist(&l);
}

/* More than are sent at once, all from the last rank. */
static void entries_of_many_rounds(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    const bool mine = tacit_world_rank(test_world()) == size - 1;
    const int64_t all = mine ? 900000 : 0;
    listed l = {0};
    l.rows = calloc((size_t)all + 1, sizeof *l.rows);
    l.cols = calloc((size_t)all + 1, sizeof *l.cols);
    l.vals = calloc((size_t)all + 1, sizeof *l.vals);
    for (; l.count < all; l.count++) {
        l.rows[l.count] = row_of(l.count);
        l.cols[l.count] = col_of(l.count);
        l.vals[l.count] = value_of(l.count);
    }
    tacit_entries e = entries_of(&l);
    tacit_matrix *m = NULL;
    assert_int_equal(from(&e, &m), TACIT_OK);
    assert_sums(m, 900000);
    tacit_matrix_destroy(&m);
    unlist(&l);
}

static void no_entries_at_all(void **state)
{
    (void)state;
    const tacit_entries e = {.size = sizeof e};
    tacit_matrix *m = NULL;
    assert_int_equal(from(&e, &m), TACIT_OK);
    assert_int_equal(tacit_matrix_nonzeros(m), 0);
    assert_int_equal(tacit_matrix_local_rows(m), my_last(N) - my_first(N));
    tacit_matrix_destroy(&m);
}

/* --- one triangle --------------------------------------------------------- */

static int half_row(row_fn row, bool upper, int64_t n, int64_t i, int64_t *cols,
                    double *vals)
{
    int kept = 0;
    const int count = row(n, i, cols, vals);
    for (int k = 0; k < count; k++) {
        if (upper ? cols[k] < i : cols[k] > i) continue;
        cols[kept] = cols[k];
        vals[kept++] = vals[k];
    }
    return kept;
}

static int upper_grid_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    return half_row(shuffled_grid_row, true, n, i, cols, vals);
}

static int lower_grid_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    return half_row(shuffled_grid_row, false, n, i, cols, vals);
}

static void assert_whole(tacit_status status, tacit_matrix **m)
{
    assert_int_equal(status, TACIT_OK);
    assert_entries(*m, shuffled_grid_row, GRID);
    assert_int_equal(tacit_matrix_check_symmetric(*m), TACIT_OK);
    tacit_matrix_destroy(m);
}

static void expect_mirrored(row_fn half, tacit_triangle triangle)
{
    given_rows g = make_rows(half, GRID, my_first(GRID), my_last(GRID));
    const int64_t count = g.ptr[g.rows];
    int32_t *ptr = calloc((size_t)g.rows + 1, sizeof *ptr);
    int32_t *cols = calloc((size_t)count + 1, sizeof *cols);
    int64_t *rows = calloc((size_t)count + 1, sizeof *rows);
    for (int64_t i = 0; i < g.rows; i++) {
        ptr[i + 1] = (int32_t)g.ptr[i + 1];
        for (int64_t k = g.ptr[i]; k < g.ptr[i + 1]; k++) rows[k] = g.first + i;
    }
    for (int64_t k = 0; k < count; k++) cols[k] = (int32_t)g.cols[k];
    tacit_matrix *m = NULL;
    tacit_world *w = test_world();
    assert_whole(tacit_matrix_from_triangle(w, GRID, g.first, g.rows, g.ptr,
                                            g.cols, g.vals, triangle, &m),
                 &m);
    assert_whole(tacit_matrix_from_triangle32(w, GRID, g.first, g.rows, ptr,
                                              cols, g.vals, triangle, &m),
                 &m);
    const tacit_entries e = {.size = sizeof e,
                             .count = count,
                             .rows = rows,
                             .cols = g.cols,
                             .vals = g.vals,
                             .triangle = triangle};
    assert_whole(tacit_matrix_from_entries(w, GRID, g.first, g.rows, &e, &m),
                 &m);
    free(ptr);
    free(cols);
    free(rows);
    free_rows(&g);
}

static void a_triangle_is_mirrored(void **state)
{
    (void)state;
    expect_mirrored(upper_grid_row, TACIT_TRIANGLE_UPPER);
    expect_mirrored(lower_grid_row, TACIT_TRIANGLE_LOWER);
}

static void a_whole_matrix_is_no_triangle(void **state)
{
    (void)state;
    given_rows g = make_rows(line_row, 9, my_first(9), my_last(9));
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_triangle(test_world(), 9, g.first,
                                                g.rows, g.ptr, g.cols, g.vals,
                                                TACIT_TRIANGLE_UPPER, &m),
                     TACIT_INVALID);
    assert_message("row 2, column 1 is below the diagonal");
    assert_int_equal(tacit_matrix_from_triangle(test_world(), 9, g.first,
                                                g.rows, g.ptr, g.cols, g.vals,
                                                TACIT_TRIANGLE_LOWER, &m),
                     TACIT_INVALID);
    assert_message("row 1, column 2 is above the diagonal");
    assert_int_equal(tacit_matrix_from_triangle(test_world(), 9, g.first,
                                                g.rows, g.ptr, g.cols, g.vals,
                                                TACIT_TRIANGLE_BOTH, &m),
                     TACIT_INVALID);
    assert_message("expected TACIT_TRIANGLE_UPPER");
    assert_null(m);
    free_rows(&g);
}

/* --- refusals ------------------------------------------------------------- */

/* One wrong entry, on the last rank: all ranks have its sentence. */
static void expect_refused(int64_t row, int64_t col, double value,
                           tacit_status status, const char *sentence)
{
    const bool mine =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    const int64_t rows[] = {3, row}, cols[] = {4, col};
    const double vals[] = {1.0, value};
    const tacit_entries e = {.size = sizeof e,
                             .count = mine ? 2 : 1,
                             .rows = rows,
                             .cols = cols,
                             .vals = vals};
    tacit_matrix *m = NULL;
    assert_int_equal(from(&e, &m), status);
    assert_message(sentence);
    assert_null(m);
}

static void wrong_entries_are_refused(void **state)
{
    (void)state;
    expect_refused(N, 4, 1.0, TACIT_INVALID,
                   "entry 1 is in row 37, column 4, all from 0: expected rows "
                   "and columns from 0 to 36");
    expect_refused(4, -1, 1.0, TACIT_INVALID, "row 4, column -1");
    expect_refused(4, 5, NAN, TACIT_INPUT, "row 5, column 6 holds nan");
}

static void a_sum_beyond_doubles_is_refused(void **state)
{
    (void)state;
    const int64_t rows[] = {2, 2}, cols[] = {3, 3};
    const double vals[] = {1.7e308, 1.7e308};
    const tacit_entries e = {
        .size = sizeof e, .count = 2, .rows = rows, .cols = cols, .vals = vals};
    tacit_matrix *m = NULL;
    assert_int_equal(from(&e, &m), TACIT_INPUT);
    assert_message("row 3, column 4 holds inf");
}

static void wrong_arrays_are_refused(void **state)
{
    (void)state;
    listed l = list(60);
    tacit_entries e = entries_of(&l);
    tacit_matrix *m = NULL;
    e.rows32 = l.rows32;
    assert_int_equal(from(&e, &m), TACIT_INVALID);
    assert_message("with 32 and with 64 bits");
    e = entries_of(&l);
    e.cols = NULL;
    assert_int_equal(from(&e, &m), TACIT_INVALID);
    assert_message("without cols");
    e = entries_of(&l);
    e.count = -1;
    assert_int_equal(from(&e, &m), TACIT_INVALID);
    e = entries_of(&l);
    e.size = 0;
    assert_int_equal(from(&e, &m), TACIT_INVALID);
    e = entries_of(&l);
    assert_int_equal(tacit_matrix_from_entries(test_world(), N, 1, N, &e, &m),
                     TACIT_INVALID);
    assert_message("expected `first` ");
    assert_null(m);
    unlist(&l);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_of_any_rank_are_added),
        cmocka_unit_test(entries_of_many_rounds),
        cmocka_unit_test(no_entries_at_all),
        cmocka_unit_test(a_triangle_is_mirrored),
        cmocka_unit_test(a_whole_matrix_is_no_triangle),
        cmocka_unit_test(wrong_entries_are_refused),
        cmocka_unit_test(a_sum_beyond_doubles_is_refused),
        cmocka_unit_test(wrong_arrays_are_refused),
    };
    TEST_MPI_MAIN(tests);
}
