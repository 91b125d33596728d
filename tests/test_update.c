/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_update.c - new values for an old pattern, on several ranks: an
 * entry that does not fit is named by its original row and column, wherever its
 * row and column are owned.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#include "changed.h"
#include <tacit/operator.h>

/* A matrix by formula with one change: an entry left out, or one more. */
static int changed_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    return change_entry(i, change.base(n, i, cols, vals), cols, vals);
}

/* All ranks get some rows, in pieces of `piece`; written to a file. */
static const char *scatter(int64_t n, int64_t piece)
{
    static char text[1 << 16];
    const int size = tacit_world_size(test_world());
    char *at = text;
    for (int64_t i = 0; i < n; i++)
        at += sprintf(at, "%d\n", (int)(i / piece * 7 / 3 % size));
    return temporary("parts", text);
}

static tacit_matrix *scattered(row_fn row, int64_t n, int64_t piece)
{
    tacit_matrix *m = make(row, n);
    const char *path = scatter(n, piece);
    assert_int_equal(tacit_matrix_partition(m, "file", path), TACIT_OK);
    discard(path);
    return m;
}

static void expect_named(tacit_queue *q, const char *format, row_fn base,
                         int64_t n, int64_t piece, int64_t i, int64_t j)
{
    change.base = base;
    change.row = i;
    change.col = j;
    change.more = !stored(base, n, i, j);
    for (int moved = 0; moved < 2; moved++) {
        tacit_matrix *old = moved ? scattered(base, n, piece) : make(base, n);
        tacit_matrix *new =
            moved ? scattered(changed_row, n, piece) : make(changed_row, n);
        tacit_operator *A = NULL;
        assert_int_equal(tacit_operator_create(q, old, format, &A), TACIT_OK);
        assert_int_equal(tacit_operator_update(A, old), TACIT_OK);
        assert_int_equal(tacit_operator_update(A, new), TACIT_INVALID);
        char sentence[160];
        snprintf(sentence, sizeof sentence,
                 "row %" PRId64 ", column %" PRId64 " was %s", i + 1, j + 1,
                 change.more ? "not stored and is now"
                             : "stored and is not now");
        assert_message(sentence);
        assert_int_equal(tacit_operator_update(A, old), TACIT_OK);
        tacit_operator_destroy(&A);
        tacit_matrix_destroy(&new);
        tacit_matrix_destroy(&old);
    }
}

static tacit_queue *open_queue(void)
{
    tacit_queue *q = NULL;
    assert_int_equal(tacit_queue_create(test_world(), "host", 1, &q), TACIT_OK);
    return q;
}

static void entries_are_named(void **state)
{
    (void)state;
    static const char *const formats[] = {"csr", "sell"};
    static const int64_t rows[] = {0, 1, 100, 480, 700, GRID - 1};
    tacit_queue *q = open_queue();
    for (int f = 0; f < 2; f++)
        expect_each_named(expect_named, q, formats[f],
                          (int)(sizeof rows / sizeof *rows), rows);
    tacit_queue_destroy(&q);
}

static void entries_of_blocks_are_named(void **state)
{
    (void)state;
    tacit_queue *q = open_queue();
    for (int64_t i = 0; i < 360; i += 37)
        for (int64_t j = i % 50; j < 360; j += 113)
            if (!stored(block_row, 360, i, j))
                expect_named(q, "bsell", block_row, 360, 3, i, j);
    tacit_queue_destroy(&q);
}

/* Entries far from a rank's own: there were none at all, or there are none. */
static int diagonal_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    (void)n;
    cols[0] = i;
    vals[0] = 2;
    return 1;
}

static void the_first_and_the_last_ghost(void **state)
{
    (void)state;
    tacit_queue *q = open_queue();
    expect_named(q, "csr", diagonal_row, 40, 1, 2, 39);
    expect_named(q, "csr", diagonal_row, 40, 1, 39, 0);
    change.base = diagonal_row; /* the matrix that has it is the old one */
    change.row = 39;
    change.col = 0;
    change.more = true;
    tacit_matrix *old = make(changed_row, 40), *new = make(diagonal_row, 40);
    tacit_operator *A = NULL;
    assert_int_equal(tacit_operator_create(q, old, "csr", &A), TACIT_OK);
    assert_int_equal(tacit_operator_update(A, new), TACIT_INVALID);
    assert_message("row 40, column 1 was stored and is not");
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&new);
    tacit_matrix_destroy(&old);
    tacit_queue_destroy(&q);
}

/* Entries of a size that is stored times a power of 2. */
static int huge_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = line_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) vals[k] = ldexp(vals[k], 200);
    return count;
}

/* A matrix that does not fit changes nothing, not the scale of what is stored
 * either. */
static void a_refused_matrix_changes_nothing(void **state)
{
    (void)state;
    enum { N = 40 };
    tacit_queue *q = open_queue();
    tacit_matrix *old = make(huge_row, N), *new = make(upper_row, N);
    tacit_operator *A = NULL;
    double *x = NULL, *y = NULL, before[N] = {0}, after[N] = {0}, ones[N];
    assert_int_equal(tacit_operator_create(q, old, "csr", &A), TACIT_OK);
    const size_t n = (size_t)tacit_operator_local_rows(A);
    for (int i = 0; i < N; i++) ones[i] = 1.0 + i % 3;
    assert_int_equal(tacit_queue_alloc(q, n, &x), TACIT_OK);
    assert_int_equal(tacit_queue_alloc(q, n, &y), TACIT_OK);
    assert_int_equal(tacit_queue_put(q, n, ones, x), TACIT_OK);
    assert_int_equal(tacit_operator_apply(A, x, y), TACIT_OK);
    assert_int_equal(tacit_queue_get(q, n, y, before), TACIT_OK);
    assert_int_equal(tacit_operator_update(A, new), TACIT_INVALID);
    assert_int_equal(tacit_operator_apply(A, x, y), TACIT_OK);
    assert_int_equal(tacit_queue_get(q, n, y, after), TACIT_OK);
    assert_memory_equal(before, after, n * sizeof *before);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&new);
    tacit_matrix_destroy(&old);
    tacit_queue_destroy(&q);
}

static void other_rows_are_refused(void **state)
{
    (void)state;
    tacit_queue *q = open_queue();
    tacit_matrix *old = make(line_row, 40), *new = make(line_row, 48);
    tacit_operator *A = NULL;
    assert_int_equal(tacit_operator_create(q, old, "csr", &A), TACIT_OK);
    assert_int_equal(tacit_operator_update(A, new), TACIT_INVALID);
    assert_message("rank 0 has");
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&new);
    tacit_matrix_destroy(&old);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_named),
        cmocka_unit_test(entries_of_blocks_are_named),
        cmocka_unit_test(the_first_and_the_last_ghost),
        cmocka_unit_test(a_refused_matrix_changes_nothing),
        cmocka_unit_test(other_rows_are_refused),
    };
    TEST_MPI_MAIN(tests);
}
