/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_borrowed.c - rows of the caller that a matrix uses in place: what
 * is made of them is as of a copy, and they never change.
 * RUN: np=1,2,3
 * THREADS: 2 */
#include "rows.h"
#include <tacit/precond.h>

typedef struct {
    given_rows g;
    int32_t *ptr, *cols;
    double *vals;
} arrays;

static arrays arrays_of(row_fn row, int64_t n)
{
    arrays a = {.g = make_rows(row, n, my_first(n), my_last(n))};
    const size_t count = (size_t)a.g.ptr[a.g.rows];
    a.ptr = malloc(((size_t)a.g.rows + 1) * sizeof *a.ptr);
    a.cols = malloc(count * sizeof *a.cols);
    a.vals = malloc(count * sizeof *a.vals);
    for (int64_t i = 0; i <= a.g.rows; i++) a.ptr[i] = (int32_t)a.g.ptr[i];
    for (size_t k = 0; k < count; k++) a.cols[k] = (int32_t)a.g.cols[k];
    memcpy(a.vals, a.g.vals, count * sizeof *a.vals);
    return a;
}

/* They are what they were: this also reads all of them. */
static void assert_untouched(const arrays *a)
{
    for (int64_t k = 0; k < a->g.ptr[a->g.rows]; k++)
        assert_true(a->cols[k] == a->g.cols[k] && a->vals[k] == a->g.vals[k]);
}

static void free_arrays(arrays *a)
{
    assert_untouched(a);
    free(a->ptr);
    free(a->cols);
    free(a->vals);
    free_rows(&a->g);
}

static tacit_matrix *borrow(const arrays *a, int64_t n)
{
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_borrow_rows32(test_world(), n, a->g.first,
                                                a->g.rows, a->ptr, a->cols,
                                                a->vals, &m),
                     TACIT_OK);
    return m;
}

enum { N = 960 }; /* rows of the line */

static void rows_stay_in_place(void **state)
{
    (void)state;
    arrays a = arrays_of(line_row, N);
    const size_t before = tct_memory_used();
    tacit_matrix *m = borrow(&a, N);
    tacit_rows view;
    assert_int_equal(tacit_matrix_view_rows(m, &view), TACIT_OK);
    assert_ptr_equal(view.vals, a.vals);
    assert_ptr_equal(view.cols32, a.cols);
    assert_entries(m, line_row, N);
    if (tacit_world_size(test_world()) == 1) /* not 12 bytes an entry */
        assert_true(tct_memory_used() - before < 10 * N + 4096);
    tacit_matrix_destroy(&m);
    free_arrays(&a);
}

/* Operators, with and without a share of the rows, that outlive the matrix. */
static void operators_multiply_by_them(void **state)
{
    (void)state;
    static const char *const formats[] = {NULL, "csr", "sell"};
    tacit_queue *q = NULL;
    assert_int_equal(tacit_queue_create(test_world(), "host", 1, &q), TACIT_OK);
    for (int f = 0; f < 4; f++) {
        arrays a = arrays_of(line_row, N);
        tacit_matrix *m = borrow(&a, N), *copy = make(line_row, N);
        static _Thread_local double x[N], y[N], z[N];
        const tacit_operator_options few = {
            .size = sizeof few, .format = formats[f % 3], .solves = 1};
        tacit_operator *A = NULL, *B = NULL;
        for (int i = 0; i < N; i++) x[i] = 1.0 + i % 7;
        if (f == 3)
            assert_int_equal(tacit_operator_take(q, m, "csr", &A), TACIT_OK);
        else
            assert_int_equal(tacit_operator_create_for(q, m, &few, &A),
                             TACIT_OK);
        assert_int_equal(tacit_operator_create(q, copy, "csr", &B), TACIT_OK);
        tacit_matrix_destroy(&m);
        assert_int_equal(tacit_operator_apply(A, x, y), TACIT_OK);
        assert_int_equal(tacit_operator_apply(B, x, z), TACIT_OK);
        assert_memory_equal(y, z, (size_t)copy->A.rows * sizeof *y);
        for (int64_t k = 0; k < tct_csr_nonzeros(&copy->A); k++)
            copy->A.val[k] *= 4;
        assert_int_equal(tacit_operator_update(A, copy), TACIT_OK);
        assert_int_equal(tacit_operator_apply(A, x, y), TACIT_OK);
        for (int64_t i = 0; i < copy->A.rows; i++)
            assert_true(y[i] == 4 * z[i]);
        tacit_operator_destroy(&A);
        tacit_operator_destroy(&B);
        tacit_matrix_destroy(&copy);
        free_arrays(&a);
    }
    tacit_queue_destroy(&q);
}

/* Functions that change or move rows copy them. */
static void changes_are_to_a_copy(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        arrays a = arrays_of(line_row, N);
        const size_t before = tct_memory_blocks();
        tacit_matrix *m = borrow(&a, N);
        const int64_t row = 5;
        const tacit_entries none = {.size = sizeof none};
        const tacit_status status =
            what == 0   ? tacit_matrix_set_values(m, a.vals)
            : what == 1 ? tacit_matrix_set_entries(m, &none)
            : what == 2 ? tacit_matrix_fix(m, 1, &row, NULL, NULL)
                        : tacit_matrix_partition(m, "metis", NULL);
        assert_int_equal(status, TACIT_OK);
        tacit_rows view;
        assert_int_equal(tacit_matrix_view_rows(m, &view), TACIT_OK);
        if (what < 3) assert_ptr_not_equal(view.vals, a.vals);
        if (what == 3) assert_entries(m, line_row, N);
        assert_untouched(&a);
        tacit_matrix_destroy(&m);
        if (tacit_world_size(test_world()) == 1)
            assert_int_equal(tct_memory_blocks(), before);
        free_arrays(&a);
    }
}

static void disorder_is_copied_and_faults_are_refused(void **state)
{
    (void)state;
    arrays a = arrays_of(scattered_row, 90);
    tacit_matrix *m = borrow(&a, 90);
    assert_ptr_not_equal(m->A.val, a.vals);
    assert_entries(m, scattered_row, 90);
    tacit_matrix_destroy(&m);
    free_arrays(&a);
    a = arrays_of(line_row, N);
    const bool mine = tacit_world_rank(test_world()) == 0;
    if (mine) a.vals[1] = NAN;
    assert_int_equal(tacit_matrix_borrow_rows32(test_world(), N, a.g.first,
                                                a.g.rows, a.ptr, a.cols, a.vals,
                                                &m),
                     TACIT_INPUT);
    assert_message("row 1, column 2 holds nan");
    if (mine) a.vals[1] = a.g.vals[1];
    if (mine) a.cols[0] = N;
    assert_int_equal(tacit_matrix_borrow_rows32(test_world(), N, a.g.first,
                                                a.g.rows, a.ptr, a.cols, a.vals,
                                                &m),
                     TACIT_INPUT);
    assert_message("cols[0] is 960");
    if (mine) a.cols[0] = 0;
    assert_null(m);
    free_arrays(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stay_in_place),
        cmocka_unit_test(operators_multiply_by_them),
        cmocka_unit_test(changes_are_to_a_copy),
        cmocka_unit_test(disorder_is_copied_and_faults_are_refused),
    };
    TEST_MPI_MAIN(tests);
}
