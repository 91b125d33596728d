/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_new_values.c - new values for the pattern of the same matrix
 * object, in the order of its rows or as entries of any rank; operator and
 * preconditioner take them.
 * RUN: np=1,2,3
 * THREADS: 3 */
#include "rows.h"
#include <tacit/precond.h>

static tacit_queue *open_queue(void)
{
    tacit_queue *q = NULL;
    assert_int_equal(tacit_queue_create(test_world(), "host", 1, &q), TACIT_OK);
    return q;
}

/* The grid of rows.h with other values: definite, of more than one size. */
static int stiffer_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = shuffled_grid_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) {
        const int64_t far = cols[k] > i ? cols[k] : i;
        vals[k] =
            cols[k] == i ? 16.0 + (double)(i % 3) : -1.0 - (double)(far % 4);
    }
    return count;
}

/* Values of `row` in the order of `m`, whose rows have not moved. */
static double *values_of(const tacit_matrix *m, row_fn row)
{
    double *vals = calloc((size_t)tct_csr_nonzeros(&m->A) + 1, sizeof *vals);
    for (int64_t i = 0; i < m->A.rows; i++) {
        int64_t cols[MOST];
        double given[MOST];
        const int count = row(GRID, m->A.first + i, cols, given);
        for (int k = 0; k < count; k++)
            vals[tct_csr_find(&m->A, i, cols[k])] = given[k];
    }
    return vals;
}

static void values_in_the_order_of_rows(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    double *vals = values_of(m, stiffer_row);
    assert_int_equal(tacit_matrix_set_values(m, vals), TACIT_OK);
    assert_entries(m, stiffer_row, GRID);
    const bool mine = tacit_world_rank(test_world()) == 0;
    if (mine) vals[3] = INFINITY;
    assert_int_equal(tacit_matrix_set_values(m, vals), TACIT_INPUT);
    assert_message(" counted from 1, is inf");
    assert_entries(m, stiffer_row, GRID);
    free(vals);
    tacit_matrix_destroy(&m);
}

/* --- operator and preconditioner ------------------------------------------ */

static void apply_ones(const tacit_operator *A, double *y)
{
    const size_t n = (size_t)tacit_operator_local_rows(A);
    double *x = calloc(n + 1, sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = 1.0 + (double)(i % 5);
    assert_int_equal(tacit_operator_apply(A, x, y), TACIT_OK);
    free(x);
}

static void expect_new(const char *precond, bool shared)
{
    tacit_queue *q = open_queue();
    tacit_matrix *m = make(shuffled_grid_row, GRID),
                 *other = make(stiffer_row, GRID);
    const tacit_operator_options few = {.size = sizeof few,
                                        .solves = shared ? 1 : 0,
                                        .format = shared ? NULL : "sell"};
    tacit_operator *A = NULL, *M = NULL, *wanted_A = NULL, *wanted_M = NULL;
    static _Thread_local double old[GRID], kept[GRID], new[GRID], wanted[GRID];
    const size_t bytes = (size_t)m->A.rows * sizeof *old;
    assert_int_equal(tacit_operator_create_for(q, m, &few, &A), TACIT_OK);
    assert_int_equal(tacit_operator_create_for(q, other, &few, &wanted_A),
                     TACIT_OK);
    assert_int_equal(tacit_precond_create_of(A, m, precond, NULL, &M),
                     TACIT_OK);
    apply_ones(A, old);
    double *vals = values_of(m, stiffer_row);
    assert_int_equal(tacit_matrix_set_values(m, vals), TACIT_OK);
    apply_ones(A, kept); /* not before the update */
    assert_memory_equal(old, kept, bytes);
    assert_int_equal(tacit_operator_update(A, m), TACIT_OK);
    assert_int_equal(tacit_precond_update(M, m), TACIT_OK);
    apply_ones(A, new);
    apply_ones(wanted_A, wanted);
    assert_memory_equal(new, wanted, bytes);
    assert_memory_not_equal(new, old, bytes);
    assert_int_equal(
        tacit_precond_create_of(wanted_A, other, precond, NULL, &wanted_M),
        TACIT_OK);
    apply_ones(M, new);
    apply_ones(wanted_M, wanted);
    if (strcmp(precond, "amg") != 0) /* which keeps its aggregates */
        assert_memory_equal(new, wanted, bytes);
    free(vals);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&wanted_M);
    tacit_operator_destroy(&A);
    tacit_operator_destroy(&wanted_A);
    tacit_matrix_destroy(&m);
    tacit_matrix_destroy(&other);
    tacit_queue_destroy(&q);
}

static void operators_and_preconditioners_take_them(void **state)
{
    (void)state;
    static const char *const preconds[] = {"jacobi", "ic0", "amg"};
    for (int p = 0; p < 3; p++) {
        expect_new(preconds[p], false);
        expect_new(preconds[p], true);
    }
}

/* --- entries -------------------------------------------------------------- */

typedef struct {
    int64_t count, *rows, *cols;
    double *vals;
} listed;

/* Rows of all ranks in turn, last column first, each entry in two halves. */
static listed list(row_fn row)
{
    const int64_t size = tacit_world_size(test_world());
    const size_t room = 2 * 5 * (GRID + 1);
    listed l = {.rows = calloc(room, sizeof *l.rows),
                .cols = calloc(room, sizeof *l.cols),
                .vals = calloc(room, sizeof *l.vals)};
    for (int64_t i = tacit_world_rank(test_world()); i < GRID; i += size) {
        int64_t cols[MOST];
        double vals[MOST];
        const int count = row(GRID, i, cols, vals);
        for (int k = 2 * count - 1; k >= 0; k--) {
            l.rows[l.count] = i;
            l.cols[l.count] = cols[k / 2];
            l.vals[l.count++] = vals[k / 2] / 2;
        }
    }
    return l;
}

static void unlist(listed *l)
{
    free(l->rows);
    free(l->cols);
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

/* Rows in pieces of 10 on each rank. */
static void scatter(tacit_matrix *m)
{
    char *text = calloc(4, GRID + 1), *at = text;
    const int size = tacit_world_size(test_world());
    for (int i = 0; i < GRID; i++) at += sprintf(at, "%d\n", i / 10 % size);
    const char *path = temporary("new-values-parts", text);
    assert_int_equal(tacit_matrix_partition(m, "file", path), TACIT_OK);
    discard(path);
    free(text);
}

static void entries_in_any_order(void **state)
{
    (void)state;
    listed l = list(stiffer_row);
    const tacit_entries e = entries_of(&l);
    for (int moved = 0; moved < 2; moved++) {
        tacit_matrix *m = make(shuffled_grid_row, GRID);
        if (moved) scatter(m);
        assert_int_equal(tacit_matrix_set_entries(m, &e), TACIT_OK);
        assert_entries(m, stiffer_row, GRID);
        tacit_matrix_destroy(&m);
    }
    unlist(&l);
}

static void entries_that_are_not_given_are_zero(void **state)
{
    (void)state;
    const tacit_entries e = {.size = sizeof e};
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    assert_int_equal(tacit_matrix_set_entries(m, &e), TACIT_OK);
    assert_int_equal(tct_csr_count_zeros(&m->A), tct_csr_nonzeros(&m->A));
    tacit_matrix_destroy(&m);
}

static void entries_without_a_place_are_refused(void **state)
{
    (void)state;
    listed l = list(stiffer_row);
    const bool mine = tacit_world_rank(test_world()) == 0;
    if (mine) { /* row 2 and its far neighbour */
        l.rows[4] = 1;
        l.cols[4] = GRID - 2;
    }
    tacit_entries e = entries_of(&l);
    for (int moved = 0; moved < 2; moved++) {
        tacit_matrix *m = make(shuffled_grid_row, GRID);
        if (moved) scatter(m);
        assert_int_equal(tacit_matrix_set_entries(m, &e), TACIT_INVALID);
        assert_message("row 2, column 960 is not in the pattern");
        assert_entries(m, shuffled_grid_row, GRID);
        tacit_matrix_destroy(&m);
    }
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    if (mine) l.cols[4] = GRID;
    assert_int_equal(tacit_matrix_set_entries(m, &e), TACIT_INVALID);
    assert_message("entry 4 is in row 1, column 961");
    tacit_matrix_drop_entries(m);
    assert_int_equal(tacit_matrix_set_entries(m, &e), TACIT_INVALID);
    assert_message("taken by an operator");
    assert_int_equal(tacit_matrix_set_values(m, l.vals), TACIT_INVALID);
    assert_int_equal(tacit_matrix_fix(m, 0, NULL, NULL, NULL), TACIT_INVALID);
    tacit_matrix_destroy(&m);
    unlist(&l);
}

/* Assembled, fixed and solved again, as in each step of a nonlinear solve. */
static void fixed_again_after_new_entries(void **state)
{
    (void)state;
    static const int64_t rows[] = {0, 17, 400, GRID - 1};
    const bool mine = tacit_world_rank(test_world()) == 0;
    tacit_queue *q = open_queue();
    tacit_matrix *m = make(shuffled_grid_row, GRID),
                 *other = make(stiffer_row, GRID);
    tacit_operator *A = NULL, *wanted = NULL;
    static _Thread_local double y[GRID], z[GRID];
    listed l = list(stiffer_row);
    const tacit_entries e = entries_of(&l);
    assert_int_equal(tacit_matrix_fix(m, mine ? 4 : 0, rows, NULL, NULL),
                     TACIT_OK);
    assert_int_equal(tacit_operator_create(q, m, "csr", &A), TACIT_OK);
    assert_int_equal(tacit_matrix_set_entries(m, &e), TACIT_OK);
    assert_int_equal(tacit_matrix_fix(m, mine ? 4 : 0, rows, NULL, NULL),
                     TACIT_OK);
    assert_int_equal(tacit_operator_update(A, m), TACIT_OK);
    assert_int_equal(tacit_matrix_fix(other, mine ? 4 : 0, rows, NULL, NULL),
                     TACIT_OK);
    assert_int_equal(tacit_operator_create(q, other, "csr", &wanted), TACIT_OK);
    apply_ones(A, y);
    apply_ones(wanted, z);
    assert_memory_equal(y, z, (size_t)m->A.rows * sizeof *y);
    unlist(&l);
    tacit_operator_destroy(&A);
    tacit_operator_destroy(&wanted);
    tacit_matrix_destroy(&m);
    tacit_matrix_destroy(&other);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_in_the_order_of_rows),
        cmocka_unit_test(operators_and_preconditioners_take_them),
        cmocka_unit_test(entries_in_any_order),
        cmocka_unit_test(entries_that_are_not_given_are_zero),
        cmocka_unit_test(entries_without_a_place_are_refused),
        cmocka_unit_test(fixed_again_after_new_entries),
    };
    TEST_MPI_MAIN(tests);
}
