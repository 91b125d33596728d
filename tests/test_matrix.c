/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_matrix.c - the matrix object: from rows, by name, statistics,
 * symmetry and vector files.
 * RUN: np=1,2,3,4 */
#include "left_out.h"
#include "rows.h"
#include <tacit/file.h>

/* --- from rows ------------------------------------------------------------ */

static void from_rows_sorts_and_adds(void **state)
{
    (void)state;
    const int64_t n = 7, first = my_first(n), rows = my_last(n) - first;
    int64_t ptr[8] = {0}, cols[28];
    double vals[28];
    for (int64_t i = 0; i < rows; i++) { /* (5, 1) (2, 2) (5, 3) (0, 4) */
        const int64_t c[4] = {5, 2, 5, 0};
        memcpy(cols + 4 * i, c, sizeof c);
        for (int k = 0; k < 4; k++) vals[4 * i + k] = k + 1;
        ptr[i + 1] = 4 * (i + 1);
    }
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first, rows, ptr,
                                            cols, vals, &m),
                     TACIT_OK);
    assert_int_equal(tacit_matrix_nonzeros(m), 3 * n);
    assert_int_equal(tacit_matrix_global_rows(m), n);
    assert_int_equal(tacit_matrix_first_row(m), first);
    assert_int_equal(tacit_matrix_local_rows(m), rows);
    assert_null(tacit_matrix_original_rows(m));
    for (int64_t i = 0; i < rows; i++) {
        const int64_t k = m->A.ptr[i];
        assert_int_equal(tct_csr_col(&m->A, k), 0);
        assert_int_equal(tct_csr_col(&m->A, k + 1), 2);
        assert_int_equal(tct_csr_col(&m->A, k + 2), 5);
        assert_true(m->A.val[k] == 4 && m->A.val[k + 1] == 2);
        assert_true(m->A.val[k + 2] == 4);
    }
    tacit_matrix_destroy(&m);
    assert_null(m);
    tacit_matrix_destroy(&m);
}

/* The same rows, however wide the integers; each fault with its sentence. */
static void from_rows_of_32_bits(void **state)
{
    (void)state;
    const int64_t n = 9, first = my_first(n), rows = my_last(n) - first;
    int32_t ptr[10] = {0}, cols[18];
    double vals[18];
    for (int32_t i = 0; i < rows; i++) { /* (8, 1) (i, 2) */
        cols[2 * i] = 8;
        cols[2 * i + 1] = (int32_t)first + i;
        vals[2 * i] = 1;
        vals[2 * i + 1] = 2;
        ptr[i + 1] = 2 * (i + 1);
    }
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_rows32(test_world(), n, first, rows, ptr,
                                              cols, vals, &m),
                     TACIT_OK);
    assert_int_equal(tacit_matrix_nonzeros(m), 2 * n - 1);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t k = m->A.ptr[i], last = first + i == 8;
        assert_int_equal(tct_csr_col(&m->A, k), first + i);
        assert_true(m->A.val[k] == (last ? 3 : 2));
        assert_true(last || tct_csr_col(&m->A, k + 1) == 8);
    }
    tacit_matrix_destroy(&m);
    cols[0] = -3;
    assert_int_equal(tacit_matrix_from_rows32(test_world(), n, first, rows, ptr,
                                              cols, vals, &m),
                     TACIT_INPUT);
    assert_non_null(
        strstr(tacit_error_message(), "cols[0] is -3, of row 1 counted"));
    cols[0] = 8;
    ptr[0] = 1;
    assert_int_equal(tacit_matrix_from_rows32(test_world(), n, first, rows, ptr,
                                              cols, vals, &m),
                     TACIT_INVALID);
    assert_null(m);
}

static void from_rows_all_on_one_rank(void **state)
{
    (void)state;
    const int64_t n = 5;
    const int last = tacit_world_size(test_world()) - 1;
    const bool mine = tacit_world_rank(test_world()) == last;
    given_rows g = make_rows(line_row, n, 0, mine ? n : 0);
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, 0, g.rows,
                                            mine ? g.ptr : NULL, g.cols, g.vals,
                                            &m),
                     TACIT_OK);
    free_rows(&g);
    assert_int_equal(tacit_matrix_nonzeros(m), 13);
    assert_int_equal(tacit_matrix_local_rows(m), mine ? n : 0);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.bandwidth, 1);
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    assert_entries(m, line_row, n);
    tacit_matrix_destroy(&m);
}

static void from_rows_of_one_row(void **state)
{
    (void)state;
    const int64_t ptr[2] = {0, 1}, col = 0;
    const double val = 4;
    const bool mine = tacit_world_rank(test_world()) == 0;
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_rows(test_world(), 1, mine ? 0 : 1, mine,
                                            ptr, &col, &val, &m),
                     TACIT_OK);
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.rows, 1);
    assert_int_equal(info.block, 1);
    assert_true(info.diagonal_max == 4 && info.norm_inf == 4);
    tacit_matrix_destroy(&m);
}

static void bad_ranges_fail_on_every_rank(void **state)
{
    (void)state;
    const int64_t n = 10, first = my_first(n), rows = my_last(n) - first;
    const bool last =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    given_rows g = make_rows(line_row, n, first, first + rows);
    tacit_matrix *m = NULL;
    /* a gap before the last rank; a row too few; sizes that differ; none */
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first + last,
                                            rows - last, g.ptr, g.cols, g.vals,
                                            &m),
                     TACIT_INVALID);
    assert_message("expected `first` ");
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first, rows - last,
                                            g.ptr, g.cols, g.vals, &m),
                     TACIT_INVALID);
    assert_message("the ranks have 9 rows together");
    assert_int_equal(tacit_matrix_from_rows(test_world(), n - last, first, rows,
                                            g.ptr, g.cols, g.vals, &m),
                     TACIT_INVALID);
    assert_int_equal(tacit_matrix_from_rows(test_world(), 0, 0, 0, g.ptr,
                                            g.cols, g.vals, &m),
                     TACIT_INVALID);
    if (last) g.ptr[1] = -1;
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first, rows, g.ptr,
                                            g.cols, g.vals, &m),
                     TACIT_INVALID);
    assert_message("ptr falls from 0 to -1");
    assert_null(m);
    free_rows(&g);
}

static void bad_entries_name_row_and_column(void **state)
{
    (void)state;
    const int64_t n = 10, first = my_first(n), rows = my_last(n) - first;
    const bool last =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    given_rows g = make_rows(line_row, n, first, first + rows);
    tacit_matrix *m = NULL;
    const int64_t end = g.ptr[rows] - 1; /* (9, 9) on the last rank */
    if (last) g.cols[end] = n;
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first, rows, g.ptr,
                                            g.cols, g.vals, &m),
                     TACIT_INPUT);
    assert_message("is 10, of row 10 counted from 1: expected 0 to 9");
    if (last) g.cols[end] = n - 1;
    if (last) g.vals[end] = NAN;
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first, rows, g.ptr,
                                            g.cols, g.vals, &m),
                     TACIT_INPUT);
    assert_message("row 10, column 10 holds");
    if (last) { /* finite, but their sum is not */
        g.vals[end] = g.vals[end - 1] = 1e308;
        g.cols[end - 1] = n - 1;
    }
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, first, rows, g.ptr,
                                            g.cols, g.vals, &m),
                     TACIT_INPUT);
    assert_message("not finite");
    assert_null(m);
    free_rows(&g);
}

/* --- by name -------------------------------------------------------------- */

static void open_tells_names_from_files(void **state)
{
    (void)state;
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_open(test_world(), "poison2d:10", NULL, &m),
                     TACIT_INVALID);
    assert_message("'poisson2d'");
    assert_int_equal(tacit_matrix_open(test_world(), "zzzzzzzzz:1", NULL, &m),
                     TACIT_INVALID);
    assert_int_equal(tacit_matrix_open(test_world(), "poisson2d:x", NULL, &m),
                     TACIT_INVALID);
    assert_true(tacit_matrix_open(test_world(), "no/such/file.mtx", NULL, &m) <
                0);
    assert_message("no/such/file.mtx");
    assert_null(m);
}

/* --- shifts --------------------------------------------------------------- */

/* Entry (i, j) in original numbers, counted from 1, as `name` with a shift has
 * it: 0 where there is none; the number of entries in `*nonzeros`. */
static double shifted_entry(const char *name, double shift, int64_t i,
                            int64_t j, int64_t *nonzeros)
{
    const tacit_matrix_options options = {.size = sizeof options,
                                          .shift = shift};
    tacit_matrix *m = NULL;
    if (tacit_matrix_open(test_world(), name, &options, &m) != TACIT_OK)
        fail_msg("%s: %s", name, tacit_error_message());
    double value = 0;
    const int64_t row = i - 1 - m->A.first;
    if (row >= 0 && row < m->A.rows)
        for (int64_t k = m->A.ptr[row]; k < m->A.ptr[row + 1]; k++) {
            if (tct_csr_col(&m->A, k) == j - 1) value = m->A.val[k];
            if (k > m->A.ptr[row])
                assert_true(tct_csr_col(&m->A, k - 1) < tct_csr_col(&m->A, k));
        }
    assert_int_equal(tct_reduce_f64(test_world(), TCT_SUM, 1, &value),
                     TACIT_OK);
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_true(info.shift == shift);
    *nonzeros = tacit_matrix_nonzeros(m);
    tacit_matrix_destroy(&m);
    return value;
}

static void shift_is_for_every_input(void **state)
{
    (void)state;
    int64_t n = 0;
    /* rows 1, 3 and 5 store no diagonal: empty, before and behind it */
    const char *holes = "%%MatrixMarket matrix coordinate real general\n"
                        "5 5 6\n2 2 3\n2 4 1\n3 1 7\n3 5 8\n4 4 -1\n5 1 2\n";
    char path[256], binary[256];
    snprintf(path, sizeof path, "%s", temporary("holes.mtx", holes));
    static const double expected[] = {0.5, 3.5, 0.5, -0.5, 0.5};
    for (int i = 1; i <= 5; i++)
        assert_true(shifted_entry(path, 0.5, i, i, &n) == expected[i - 1]);
    assert_int_equal(n, 9);
    assert_true(shifted_entry(path, 0.5, 3, 5, &n) == 8);
    assert_true(shifted_entry(path, 0, 3, 3, &n) == 0 && n == 6);
    static const char *const endings[] = {"h.tacit", "h.npz", "h.petsc"};
    for (int e = 0; e < 3; e++) {
        if (left_out(endings[e])) continue;
        tacit_matrix *m = NULL;
        assert_int_equal(tacit_matrix_open(test_world(), path, NULL, &m),
                         TACIT_OK);
        snprintf(binary, sizeof binary, "%s", temporary(endings[e], NULL));
        assert_int_equal(tacit_matrix_write(m, binary), TACIT_OK);
        tacit_matrix_destroy(&m);
        for (int i = 1; i <= 5; i++)
            assert_true(shifted_entry(binary, -2, i, i, &n) ==
                        expected[i - 1] - 2.5);
        assert_int_equal(n, 9);
        discard(binary);
    }
    discard(path);
    snprintf(path, sizeof path, "%s",
             temporary("half.mtx", "%%MatrixMarket matrix coordinate real "
                                   "symmetric\n4 4 3\n1 1 2\n3 1 4\n4 3 5\n"));
    assert_true(shifted_entry(path, 10, 1, 1, &n) == 12 && n == 8);
    assert_true(shifted_entry(path, 10, 4, 4, &n) == 10);
    assert_true(shifted_entry(path, 10, 1, 3, &n) == 4);
    discard(path);
    snprintf(path, sizeof path, "%s", temporary("graph", "3 2\n2\n1 3\n2\n"));
    assert_true(shifted_entry(path, 0.25, 2, 2, &n) == 2.25 && n == 7);
    discard(path);
    assert_true(shifted_entry("poisson2d:10", 0.25, 7, 7, &n) == 4.25);
}

static void expect_no_shift(const char *name, double shift, tacit_status want,
                            const char *sentence)
{
    const tacit_matrix_options options = {.size = sizeof options,
                                          .shift = shift};
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_open(test_world(), name, &options, &m), want);
    assert_message(sentence);
    assert_null(m);
}

static void shifts_that_cannot_be(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s",
             temporary("wide.mtx", "%%MatrixMarket matrix coordinate real "
                                   "general\n2 3 1\n1 1 1\n"));
    expect_no_shift(path, 1, TACIT_INPUT, "wide.mtx: not square: 2 x 3");
    int64_t n = 0;
    assert_true(shifted_entry(path, 0, 1, 1, &n) == 1); /* none is asked for */
    discard(path);
    snprintf(path, sizeof path, "%s",
             temporary("huge.mtx", "%%MatrixMarket matrix coordinate real "
                                   "general\n5 5 1\n4 4 1e308\n"));
    expect_no_shift(path, 1e308, TACIT_INPUT, "the diagonal of row 4");
    discard(path);
    expect_no_shift("poisson2d:10", NAN, TACIT_INVALID, "must be finite");
    expect_no_shift("poisson2d:10", -INFINITY, TACIT_INVALID, "finite");
}

/* Zeros are dropped from A + shift I, not from A. */
static void shift_then_drop_zeros(void **state)
{
    (void)state;
    const tacit_matrix_options options = {
        .size = sizeof options, .shift = -4, .drop_zeros = true};
    tacit_matrix *m = NULL;
    assert_int_equal(
        tacit_matrix_open(test_world(), "poisson2d:10x12", &options, &m),
        TACIT_OK);
    assert_int_equal(tacit_matrix_nonzeros(m), 4 * 120 - 2 * 10 - 2 * 12);
    tacit_matrix_destroy(&m);
}

static void describe_poisson(void **state)
{
    (void)state;
    tacit_matrix *m = NULL;
    assert_int_equal(
        tacit_matrix_open(test_world(), "poisson2d:10x12", NULL, &m), TACIT_OK);
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.rows, 120);
    assert_int_equal(info.cols, 120);
    assert_int_equal(info.nonzeros, 5 * 120 - 2 * 10 - 2 * 12);
    assert_int_equal(info.explicit_zeros, 0);
    assert_int_equal(info.row_min, 3);
    assert_int_equal(info.row_max, 5);
    assert_int_equal(info.bandwidth, 10);
    assert_int_equal(info.zero_diagonals + info.negative_diagonals, 0);
    assert_int_equal(info.first_bad_diagonal, -1);
    assert_true(info.diagonal_min == 4 && info.diagonal_max == 4);
    assert_true(info.norm_inf == 8);
    assert_int_equal(info.block, 1);
    assert_string_equal(info.format, "gallery");
    assert_false(info.irregular);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    tacit_matrix_destroy(&m);
}

static int bad_diagonal_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = line_row(n, i, cols, vals);
    for (int k = 0; k < count; k++)
        if (cols[k] == i && i % 4 == 2) vals[k] = i == 6 ? -3 : 0;
    return count;
}

static void describe_bad_diagonals(void **state)
{
    (void)state;
    tacit_matrix *m = make(bad_diagonal_row, 11); /* 0 at 2, 10; -3 at 6 */
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.zero_diagonals, 2);
    assert_int_equal(info.negative_diagonals, 1);
    assert_int_equal(info.explicit_zeros, 2);
    assert_int_equal(info.first_bad_diagonal, 2);
    assert_true(info.diagonal_min == -3 && info.diagonal_max == 2);
    tacit_matrix_destroy(&m);
}

/* One entry short of blocks of 3. */
static int broken_block_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = block_row(n, i, cols, vals);
    return i == n - 1 ? count - 3 : count;
}

static void blocks_are_found_across_ranks(void **state)
{
    (void)state;
    static const struct {
        row_fn row;
        int64_t n;
        int block;
    } cases[] = {{block_row, 33, 3}, {block_row, 3, 3},
                 {dense_row, 12, 6}, {dense_row, 10, 5},
                 {dense_row, 8, 4},  {dense_row, 7, 1},
                 {dense_row, 2, 2},  {broken_block_row, 33, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        tacit_matrix *m = make(cases[c].row, cases[c].n);
        int block = 0;
        assert_int_equal(tct_matrix_block(m, &block), TACIT_OK);
        assert_int_equal(block, cases[c].block);
        tacit_matrix_destroy(&m);
    }
}

/* --- files ---------------------------------------------------------------- */

/* Open one of the shared matrices; NULL where it is not here. */
static tacit_matrix *open_shared(const char *name)
{
    const char *folder = getenv("TACIT_MATRICES");
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/matrices",
             name);
    if (access(path, R_OK) != 0) {
        print_message("%s is not here (TACIT_MATRICES)\n", path);
        return NULL;
    }
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_open(test_world(), path, NULL, &m), TACIT_OK);
    return m;
}

static void describe_bcsstk16(void **state)
{
    (void)state;
    tacit_matrix *m = open_shared("spd/bcsstk16.mtx.gz");
    if (!m) skip();
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.rows, 4884);
    assert_int_equal(info.nonzeros, 290378);
    assert_int_equal(info.zero_diagonals + info.negative_diagonals, 0);
    assert_true(info.symmetric_storage);
    assert_true(info.irregular);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    tacit_matrix_destroy(&m);
}

static void not_square_is_described_but_not_cut(void **state)
{
    (void)state;
    const char *path =
        temporary("wide.mtx", "%%MatrixMarket matrix coordinate real general\n"
                              "3 5 4\n1 1 1\n2 5 -2\n3 3 3\n3 4 1\n");
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_open(test_world(), path, NULL, &m), TACIT_OK);
    discard(path);
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.rows, 3);
    assert_int_equal(info.cols, 5);
    assert_int_equal(info.zero_diagonals, 1);
    assert_int_equal(info.first_bad_diagonal, 1);
    assert_int_equal(info.bandwidth, 3);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_INPUT);
    assert_message("not square");
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_INPUT);
    assert_message("not square");
    tacit_matrix_destroy(&m);
}

/* --- symmetry ------------------------------------------------------------- */

/* A grid matrix with one entry changed: which, is in these variables. */
static struct {
    int64_t row, col;
    double value; /* NAN: left out */
} planted;

static int planted_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = shuffled_grid_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) {
        if (i != planted.row || cols[k] != planted.col) continue;
        vals[k] = planted.value;
        if (!isnan(planted.value)) continue;
        count--;
        cols[k] = cols[count];
        vals[k] = vals[count];
    }
    return count;
}

static void expect_unsymmetric(const char *sentence)
{
    tacit_matrix *m = make(planted_row, GRID);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_INPUT);
    assert_message(sentence);
    /* the same entry, in original numbers, after rows have moved */
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_INPUT);
    assert_message(sentence);
    tacit_matrix_destroy(&m);
}

static void unsymmetric_entries_are_named(void **state)
{
    (void)state;
    char sentence[256];
    for (int64_t p = 0; p < GRID; p += 97) { /* near and far neighbours */
        const int64_t i = shuffled(p), j = shuffled((p + SIDE) % GRID);
        if (p + SIDE >= GRID) continue;
        planted.row = i;
        planted.col = j;
        planted.value = -1.5;
        const int64_t low = i < j ? i : j, high = i < j ? j : i;
        snprintf(sentence, sizeof sentence,
                 "row %" PRId64 ", column %" PRId64
                 " holds %s, but row %" PRId64 ", column %" PRId64 " holds %s",
                 low + 1, high + 1, i < j ? "-1.5" : "-1", high + 1, low + 1,
                 i < j ? "-1" : "-1.5");
        expect_unsymmetric(sentence);
        planted.value = NAN;
        snprintf(sentence, sizeof sentence,
                 "row %" PRId64 ", column %" PRId64
                 " holds -1, but row %" PRId64 ", column %" PRId64
                 " is not stored",
                 j + 1, i + 1, i + 1, j + 1);
        expect_unsymmetric(sentence);
    }
    planted.row = shuffled(5); /* rounding is no asymmetry */
    planted.col = shuffled(6);
    planted.value = -1 - 1e-10;
    tacit_matrix *m = make(planted_row, GRID);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    tacit_matrix_destroy(&m);
}

static void note_warning(void *ctx, int level, const char *text)
{
    if (level == 0 && strstr(text, "single precision")) ++*(int *)ctx;
}

/* Values that were floats are taken, and said to be; no others. */
static void single_precision_is_said(void **state)
{
    (void)state;
    static const double by[] = {3e-8, 1e-6};
    planted.row = shuffled(5);
    planted.col = shuffled(5 + SIDE);
    for (int k = 0; k < 2; k++) {
        int warnings = 0;
        planted.value = -1.0 - 4.0 * by[k]; /* the diagonals are 4 */
        tacit_matrix *m = make(planted_row, GRID);
        tacit_set_log(note_warning, &warnings);
        const tacit_status status = tacit_matrix_check_symmetric(m);
        tacit_set_log(NULL, NULL);
        const int rank = tacit_world_rank(test_world());
        assert_int_equal(status, k == 0 ? TACIT_OK : TACIT_INPUT);
        assert_int_equal(warnings, k == 0 && rank == 0);
        tacit_matrix_destroy(&m);
    }
}

static void rounding_in_ani4_is_symmetric(void **state)
{
    (void)state;
    tacit_matrix *m = open_shared("spd/ani4.mtx.gz");
    if (!m) skip();
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    tacit_matrix_destroy(&m);
}

/* --- vectors -------------------------------------------------------------- */

static double expected_value(int64_t original)
{
    return tct_uniform(3, (uint64_t)original) - 0.5;
}

/* Column j is j + 1 times that. */
static void expect_columns(const tacit_matrix *m, const char *path)
{
    const int64_t n = tacit_matrix_local_rows(m);
    int columns = 0;
    double *X = NULL;
    assert_int_equal(tacit_matrix_read_vectors(m, path, &columns, &X),
                     TACIT_OK);
    assert_int_equal(columns, 3);
    for (int64_t k = 0; k < 3 * n; k++)
        assert_true(X[k] == (double)(k / n + 1) *
                                expected_value(tct_original(m, k % n)));
    tacit_matrix_free_vectors(&X);
    assert_null(X);
    tacit_matrix_free_vectors(&X);
}

static void columns_keep_the_original_order(const tacit_matrix *before,
                                            const tacit_matrix *after)
{
    const int64_t n = tacit_matrix_local_rows(after), stride = n + 3;
    double *X = calloc((size_t)(3 * stride), sizeof *X);
    assert_non_null(X);
    for (int64_t k = 0; k < 3 * n; k++)
        X[k / n * stride + k % n] =
            (double)(k / n + 1) * expected_value(tct_original(after, k % n));
    const char *path = temporary("X.npy", NULL);
    assert_int_equal(
        tacit_matrix_write_vectors(after, path, 3, X, (size_t)stride),
        TACIT_OK);
    expect_columns(before, path);
    expect_columns(after, path);
    discard(path);
    free(X);
}

static void vectors_keep_the_original_order(void **state)
{
    (void)state;
    tacit_matrix *before = make(shuffled_grid_row, GRID);
    tacit_matrix *after = make(shuffled_grid_row, GRID);
    assert_int_equal(tacit_matrix_partition(after, "metis", NULL), TACIT_OK);
    tct_matrix_release_entries(after); /* as an operator does */
    const int64_t n = tacit_matrix_local_rows(after);
    const int64_t m = tacit_matrix_local_rows(before);
    double *x = calloc((size_t)n + 1, sizeof *x);
    double *y = calloc((size_t)m + 1, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        x[i] = expected_value(tct_original(after, i));
    const char *path = temporary("x.mtx", NULL);
    assert_int_equal(tacit_matrix_write_vector(after, path, x), TACIT_OK);
    assert_int_equal(tacit_matrix_read_vector(before, path, y), TACIT_OK);
    for (int64_t i = 0; i < m; i++)
        assert_true(y[i] == expected_value(tct_original(before, i)));
    memset(x, 0, (size_t)n * sizeof *x);
    assert_int_equal(tacit_matrix_read_vector(after, path, x), TACIT_OK);
    for (int64_t i = 0; i < n; i++)
        assert_true(x[i] == expected_value(tct_original(after, i)));
    columns_keep_the_original_order(before, after);
    assert_int_equal(tacit_matrix_global_rows(after), GRID);
    assert_int_equal(tacit_matrix_nonzeros(after),
                     tacit_matrix_nonzeros(before));
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(after, &info), TACIT_INVALID);
    assert_int_equal(tacit_matrix_partition(after, "metis", NULL),
                     TACIT_INVALID);
    discard(path);
    free(x);
    free(y);
    tacit_matrix_destroy(&before);
    tacit_matrix_destroy(&after);
}

/* The bytes of what `m` is written as; the caller frees them on rank 0. */
static char *written(const tacit_matrix *m, const char *name, size_t *bytes)
{
    const char *path = temporary(name, NULL);
    char *data = NULL;
    if (tacit_matrix_write(m, path) != TACIT_OK)
        fail_msg("%s: %s", name, tacit_error_message());
    *bytes = 0;
    if (tacit_world_rank(test_world()) == 0) {
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        fseek(f, 0, SEEK_END);
        *bytes = (size_t)ftell(f);
        rewind(f);
        data = malloc(*bytes);
        assert_true(data && fread(data, 1, *bytes, f) == *bytes);
        fclose(f);
    }
    discard(path);
    return data;
}

/* Rows that have moved, also more than once, are written where they were. */
static void matrices_are_written_in_their_original_order(void **state)
{
    (void)state;
    static const char *const names[] = {"w.mtx", "w.mtx.gz", "w.tacit",
                                        "w.petsc", "w.npz"};
    const int count = left_out("w.npz") ? 4 : 5;
    static const struct {
        row_fn row;
        int64_t n;
    } shapes[] = {{scattered_row, 40},
                  {shuffled_grid_row, GRID},
                  {upper_row, 9},
                  {dense_row, 30}};
    const int size = tacit_world_size(test_world());
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        char *before[5];
        size_t bytes[5], now = 0;
        tacit_matrix *m = make(shapes[s].row, shapes[s].n);
        for (int k = 0; k < count; k++)
            before[k] = written(m, names[k], &bytes[k]);
        for (int move = 1; move <= 2; move++) {
            int32_t part[GRID];
            for (int64_t i = 0; i < tacit_matrix_local_rows(m); i++)
                part[i] =
                    (int32_t)(tct_mix((uint64_t)(i * move)) % (uint64_t)size);
            assert_int_equal(tct_redistribute(m, part), TACIT_OK);
            for (int k = 0; k < count; k++) {
                char *data = written(m, names[k], &now);
                assert_int_equal(now, bytes[k]);
                if (data) assert_memory_equal(data, before[k], now);
                free(data);
            }
        }
        assert_entries(m, shapes[s].row, shapes[s].n);
        for (int k = 0; k < count; k++) free(before[k]);
        tacit_matrix_destroy(&m);
    }
    assert_int_equal(tacit_file_check_writable(test_world(),
                                               "/no/such/folder/x.mtx",
                                               TACIT_FILE_TEXT),
                     TACIT_IO);
}

/* Each allocation of one rank fails once: all ranks end, and nothing is
 * lost. */
static void writing_survives_a_rank_without_memory(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    const bool last = tacit_world_rank(test_world()) == size - 1;
    tacit_matrix *m = make(scattered_row, 40);
    int32_t part[40];
    for (int i = 0; i < 40; i++) part[i] = i % size;
    assert_int_equal(tct_redistribute(m, part), TACIT_OK);
    static const char *const names[] = {"starve.tacit", "starve.npz"};
    for (int e = 0; e < 2; e++) {
        if (left_out(names[e])) continue;
        const char *path = temporary(names[e], NULL);
        const size_t blocks = tct_memory_blocks();
        tacit_status status = TACIT_NO_MEMORY;
        for (long k = 1; k < 100 && status == TACIT_NO_MEMORY; k++) {
            if (last) tct_memory_fail_at(k);
            status = tacit_matrix_write(m, path);
            tct_memory_fail_at(0);
            assert_int_equal(tct_memory_blocks(), blocks);
        }
        assert_int_equal(status, TACIT_OK);
        discard(path);
    }
    tacit_matrix_destroy(&m);
}

/* A symmetric file stays one triangle, and METIS's order leaves no trace. */
static void symmetric_matrices_are_written_as_such(void **state)
{
    (void)state;
    tacit_matrix *m = open_shared("spd/bcsstk01.mtx.gz");
    if (!m) skip();
    size_t bytes, now;
    char *before = written(m, "half.mtx", &bytes);
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    char *after = written(m, "half.mtx", &now);
    assert_int_equal(now, bytes);
    if (after) assert_memory_equal(after, before, now);
    if (after) assert_non_null(memmem(after, 80, "symmetric", 9));
    free(before);
    free(after);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_rows_sorts_and_adds),
        cmocka_unit_test(from_rows_of_32_bits),
        cmocka_unit_test(from_rows_all_on_one_rank),
        cmocka_unit_test(from_rows_of_one_row),
        cmocka_unit_test(bad_ranges_fail_on_every_rank),
        cmocka_unit_test(bad_entries_name_row_and_column),
        cmocka_unit_test(open_tells_names_from_files),
        cmocka_unit_test(shift_is_for_every_input),
        cmocka_unit_test(shifts_that_cannot_be),
        cmocka_unit_test(shift_then_drop_zeros),
        cmocka_unit_test(describe_poisson),
        cmocka_unit_test(describe_bad_diagonals),
        cmocka_unit_test(blocks_are_found_across_ranks),
        cmocka_unit_test(describe_bcsstk16),
        cmocka_unit_test(not_square_is_described_but_not_cut),
        cmocka_unit_test(unsymmetric_entries_are_named),
        cmocka_unit_test(single_precision_is_said),
        cmocka_unit_test(rounding_in_ani4_is_symmetric),
        cmocka_unit_test(vectors_keep_the_original_order),
        cmocka_unit_test(matrices_are_written_in_their_original_order),
        cmocka_unit_test(writing_survives_a_rank_without_memory),
        cmocka_unit_test(symmetric_matrices_are_written_as_such),
    };
    TEST_MPI_MAIN(tests);
}
