/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_near_null.c - multigrid for systems of equations: rigid-body
 * modes, QR factors, iterations, and invalid vectors. Aggregates of nodes are
 * in test_nodes.c.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#include "bodies.h"
#include "deals.h"
#include "gpu.h"
#include "precond/amg/systems/near_null.h"
#include "precond/amg/systems/qr.h"

static double random_number(int64_t a, int64_t b)
{
    return tct_uniform((uint64_t)a, (uint64_t)b) - 0.5;
}

/* --- QR ------------------------------------------------------------------- */

/* Columns 1 and 4 of six depend on those before them, and column 2 is 0. */
static double entry(int64_t r, int j)
{
    if (j == 1) return 3.0 * entry(r, 0);
    if (j == 2) return 0.0;
    if (j == 4) return entry(r, 0) - 1e3 * entry(r, 3);
    return random_number(r, j);
}

static void check_qr(int64_t rows, int columns, int rank)
{
    double B[12 * 6], R[36];
    for (int64_t k = 0; k < rows * columns; k++)
        B[k] = entry(k / columns, (int)(k % columns));
    assert_int_equal(tct_qr(rows, columns, B, R), rank);
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0.0;
            for (int64_t r = 0; r < rows; r++)
                sum += B[r * columns + i] * B[r * columns + j];
            const bool kept = i == j && R[i * columns + i] > 0.0;
            assert_true(fabs(sum - (kept ? 1.0 : 0.0)) < 1e-14);
            if (i > j) assert_true(R[i * columns + j] == 0.0);
            if (i == j && !kept) assert_true(sum == 0.0);
        }
    for (int64_t r = 0; r < rows; r++)
        for (int j = 0; j < columns; j++) {
            double sum = 0.0;
            for (int i = 0; i <= j; i++)
                sum += B[r * columns + i] * R[i * columns + j];
            assert_true(fabs(sum - entry(r, j)) < 1e-12);
        }
}

static void factors_are_as_they_should(void **state)
{
    (void)state;
    check_qr(12, 6, 3);
    check_qr(3, 6, 3);
    check_qr(2, 6, 2);
    check_qr(1, 6, 1);
    check_qr(0, 6, 0);
    check_qr(5, 1, 1);
}

/* --- rigid bodies --------------------------------------------------------- */

/* Rows of `m` that A takes to next to nothing, for all modes, of all ranks. */
static int64_t resting_rows(const tacit_matrix *m, int columns, double *modes)
{
    const int64_t n = m->A.global_rows;
    double *all = calloc((size_t)n + 1, sizeof *all);
    bool *moves = calloc((size_t)m->A.rows + 1, sizeof *moves);
    int64_t resting = 0;
    for (int j = 0; j < columns; j++) {
        memset(all, 0, (size_t)n * sizeof *all);
        memcpy(all + m->A.first, modes + j * m->A.rows,
               (size_t)m->A.rows * sizeof *all);
        assert_int_equal(tct_reduce_f64(test_world(), TCT_SUM, (size_t)n, all),
                         TACIT_OK);
        for (int64_t i = 0; i < m->A.rows; i++) {
            double sum = 0.0, size = 0.0;
            for (int64_t k = m->A.ptr[i]; k < m->A.ptr[i + 1]; k++) {
                const double a = m->A.val[k] * all[tct_csr_col(&m->A, k)];
                sum += a;
                size += fabs(a);
            }
            moves[i] = moves[i] || fabs(sum) > 1e-12 * size;
        }
    }
    for (int64_t i = 0; i < m->A.rows; i++) resting += !moves[i];
    assert_int_equal(tct_reduce_i64(test_world(), TCT_SUM, 1, &resting),
                     TACIT_OK);
    free(all);
    free(moves);
    return resting;
}

static int64_t resting_rows_of(const char *name, deal how, int64_t *rows)
{
    tacit_matrix *m = open_matrix(name);
    double *modes = NULL;
    int columns = 0;
    distribute(m, how);
    OK(tacit_matrix_rigid_body_modes(m, NULL, &columns, &modes));
    assert_int_equal(columns, 6);
    *rows = m->A.global_rows;
    const int64_t resting = resting_rows(m, columns, modes);
    tacit_matrix_free_vectors(&modes);
    tacit_matrix_destroy(&m);
    return resting;
}

/* What is held at its surface rests inside; what is held at three corners rests
 * but for their neighbours. */
static void bodies_rest_where_they_move_as_a_whole(void **state)
{
    (void)state;
    char body[512];
    write_body(2, body);
    for (deal how = 0; how < DEALS; how++) {
        int64_t rows = 0;
        const int64_t inside =
            resting_rows_of("elasticity3d:6x5x4", how, &rows);
        assert_int_equal(rows, 3 * 6 * 5 * 4);
        assert_int_equal(inside, 3 * 4 * 3 * 2);
        const int64_t resting = resting_rows_of(body, how, &rows);
        assert_true(rows % 3 != 0); /* nodes have 1, 2 or 3 */
        if (!(2 * resting > rows && resting < rows))
            fail_msg("%d of %d rows rest", (int)resting, (int)rows);
    }
    discard_body();
}

static void points_come_from_files(void **state)
{
    (void)state;
    tacit_matrix *m = open_matrix("elasticity3d:4x3x2");
    char text[2048];
    int at = snprintf(text, sizeof text,
                      "%%%%MatrixMarket matrix array real general\n24 3\n");
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 24; k++) {
            const int x[3] = {k % 4, k / 4 % 3, k / 12};
            at += snprintf(text + at, sizeof text - (size_t)at, "%d\n", x[d]);
        }
    const char *path = temporary("points.mtx", text);
    distribute(m, AT_RANDOM);
    double *known = NULL, *read = NULL;
    int columns = 0;
    OK(tacit_matrix_rigid_body_modes(m, NULL, &columns, &known));
    OK(tacit_matrix_rigid_body_modes(m, path, &columns, &read));
    assert_int_equal(columns, 6);
    for (int64_t k = 0; k < 6 * m->A.rows; k++)
        assert_true(fabs(known[k] - read[k]) < 1e-14);
    tacit_matrix_free_vectors(&known);
    tacit_matrix_free_vectors(&read);
    tacit_matrix_destroy(&m);
    m = open_matrix("elasticity3d:3");
    EXPECT(TACIT_INPUT,
           tacit_matrix_rigid_body_modes(m, path, &columns, &read));
    assert_null(read);
    discard(path);
    tacit_matrix_destroy(&m);
    m = open_matrix("poisson2d:5");
    OK(tacit_matrix_rigid_body_modes(m, NULL, &columns, &read));
    assert_int_equal(columns, 0);
    tacit_matrix_destroy(&m);
}

/* --- solves --------------------------------------------------------------- */

/* Iterations to 1e-8 from b = 1; with `x`, the solution, too. */
static int64_t iterations(const char *matrix, const tacit_precond_options *o,
                          double **x_out)
{
    tacit_matrix *m = open_matrix(matrix);
    tacit_queue *q = NULL;
    tacit_operator *A = NULL, *M = NULL;
    tacit_solver *s = NULL;
    double *b = NULL, *x = NULL;
    if (m->irregular && tacit_world_size(test_world()) > 1)
        OK(tacit_matrix_partition(m, "metis", NULL));
    tacit_result result = {.size = sizeof result};
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-8, .max_iterations = 300};
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    OK(tacit_operator_create(q, m, "sell@none", &A));
    OK(tacit_solver_create(q, A, "cg", &s));
    OK(tacit_precond_create_of(A, m, "amg", o, &M));
    OK(tacit_solver_set_precond(s, M));
    const size_t n = (size_t)tacit_operator_local_rows(A);
    OK(tacit_queue_alloc(q, n, &b));
    OK(tacit_queue_alloc(q, n, &x));
    OK(tacit_queue_fill(q, n, 1.0, b));
    OK(tacit_queue_fill(q, n, 0.0, x));
    OK(tacit_solver_run(s, b, x, &stop, &result));
    if (x_out) *x_out = host_copy(q, n, x);
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&M);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
    return result.iterations;
}

/* Aggregates of rows take nearly twice as many for a body that is hardly
 * held. */
static void modes_make_iterations_few(void **state)
{
    (void)state;
    const tacit_precond_options rows = {.size = sizeof rows, .node_rows = 1};
    char body[512];
    write_body(4, body);
    const int64_t plain = iterations(body, &rows, NULL);
    const int64_t modes = iterations(body, NULL, NULL);
    const int64_t cube = iterations("elasticity3d:16", NULL, NULL);
    const int64_t beam = iterations("elasticity3d:64x8x8", NULL, NULL);
    if (!(cube <= 14 && beam <= 14 && 5 * modes < 3 * plain))
        fail_msg("%d and %d iterations; %d, and by rows %d", (int)cube,
                 (int)beam, (int)modes, (int)plain);
    discard_body();
}

static void solves_have_the_same_bits_again(void **state)
{
    (void)state;
    double *x[2];
    for (int k = 0; k < 2; k++) iterations("elasticity3d:9", NULL, &x[k]);
    tacit_matrix *m = open_matrix("elasticity3d:9");
    assert_memory_equal(x[0], x[1], (size_t)m->A.rows * sizeof *x[0]);
    tacit_matrix_destroy(&m);
    free(x[0]);
    free(x[1]);
}

/* --- what is no vector ---------------------------------------------------- */

static void refuse(const tacit_matrix *m, tct_near_null_options o,
                   const char *why)
{
    tct_near_null B;
    EXPECT(TACIT_INVALID, tct_near_null_open(m, &o, &B));
    assert_message(why);
}

static void what_is_no_vector_is_refused(void **state)
{
    (void)state;
    tacit_matrix *m = open_matrix("poisson3d:5");
    const size_t n = (size_t)m->A.rows;
    double *X = calloc(2 * n + 1, sizeof *X);
    tct_near_null_options o = {.near_null = X, .vectors = 2};
    for (size_t i = 0; i < n; i++) X[i] = 1.0;
    tct_near_null B; /* what is 0 or depends on others is dropped */
    OK(tct_near_null_open(m, &o, &B));
    assert_int_equal(B.vectors, 1);
    tct_near_null_clear(&B);
    for (size_t i = 0; i < n; i++) X[n + i] = -2.0;
    OK(tct_near_null_open(m, &o, &B));
    assert_int_equal(B.vectors, 1);
    tct_near_null_clear(&B);
    memset(X, 0, n * sizeof *X);
    o.vectors = 1;
    refuse(m, o, "all 1 are 0 everywhere");
    o.vectors = 2;
    X[n] = NAN;
    refuse(m, o, "near-null vector 2 of 2 has an element that is not finite");
    o.vectors = 33;
    refuse(m, o, "expected 1 to 32, got 33");
    o.vectors = -1;
    refuse(m, o, "got -1");
    o.vectors = 1;
    o.near_null = NULL;
    refuse(m, o, "no address");
    o.near_null = X;
    o.node_rows = 2;
    refuse(m, o, "125 rows are not a multiple of 2");
    o.node_rows = -2;
    refuse(m, o, "expected 1 or more, got -2");
    free(X);
    tacit_matrix_destroy(&m);
}

/* --- rows as they are needed ---------------------------------------------- */

/* Rows made one after the other, and all at once, are those of the modes. */
static void rows_are_those_of_the_modes(void **state)
{
    (void)state;
    tacit_matrix *m = open_matrix("elasticity3d:10");
    const tct_near_null_options o = {.node_rows = 0};
    const int64_t n = m->A.rows;
    double *X = NULL, row[6];
    int k = 0;
    tct_near_null B;
    OK(tacit_matrix_rigid_body_modes(m, NULL, &k, &X));
    OK(tct_near_null_find(m, &o, &B));
    assert_int_equal(k, B.vectors);
    assert_null(B.value);
    OK(tct_near_null_fill(&B));
    for (int64_t i = 0; i < n; i++) {
        tct_near_null_rows(&B, i, i + 1, row);
        for (int j = 0; j < k; j++) {
            assert_true(row[j] == X[j * n + i]);
            assert_true(B.value[i * k + j] == row[j]);
        }
    }
    tct_near_null_clear(&B);
    tacit_matrix_free_vectors(&X);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_modes),
        cmocka_unit_test(factors_are_as_they_should),
        cmocka_unit_test(bodies_rest_where_they_move_as_a_whole),
        cmocka_unit_test(points_come_from_files),
        cmocka_unit_test(modes_make_iterations_few),
        cmocka_unit_test(solves_have_the_same_bits_again),
        cmocka_unit_test(what_is_no_vector_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
