/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_near_null.c - multigrid for systems of equations: rigid-body modes,
 * QR factors, aggregates of nodes and the matrices of their columns, beside dense
 * ones; how many iterations that leaves; and vectors that are none.
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#include "deals.h"
#include "gpu.h"
#include "precond/amg/near_null.h"
#include "precond/amg/qr.h"

static double random_number(int64_t a, int64_t b)
{
    return tct_uniform((uint64_t)a, (uint64_t)b) - 0.5;
}

/* --- QR ----------------------------------------------------------------------- */

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

/* --- rigid bodies --------------------------------------------------------------- */

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

/* About one point, whatever this rank's is: rotations but for translations. */
static void about_the_origin(const tacit_matrix *m, double *modes)
{
    double *points = NULL;
    int *component = NULL;
    OK(tct_matrix_points(m, &points, &component));
    const int64_t n = m->A.rows;
    double mean[3] = {0.0};
    for (int64_t k = 0; k < 3 * n; k++) mean[k % 3] += points[k] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int j = 3, p = 0; p < 3; p++)
            for (int q = p + 1; q < 3; q++, j++)
                modes[j * n + i] += component[i] == p   ? -mean[q]
                                    : component[i] == q ? mean[p]
                                                        : 0.0;
    tct_free(points);
    tct_free(component);
}

static int64_t resting_rows_of(const char *name, deal how, int64_t *rows)
{
    tacit_matrix *m = open_matrix(name);
    double *modes = NULL;
    int columns = 0;
    deal_out(m, how);
    OK(tacit_matrix_rigid_body_modes(m, NULL, &columns, &modes));
    assert_int_equal(columns, 6);
    about_the_origin(m, modes);
    *rows = m->A.global_rows;
    const int64_t resting = resting_rows(m, columns, modes);
    tacit_matrix_free_vectors(&modes);
    tacit_matrix_destroy(&m);
    return resting;
}

static const char *const ends[] = {"b.node", "b.ele", "b.spc"};

/* mesh:, of two tetrahedra that are held at three of their corners, refined. */
static void write_body(int refine, char name[512])
{
    static const char *const text[] = {
        "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1.5\n",
        "2 4 0\n1 1 2 3 4\n2 2 3 4 5\n",
        "7\n1 0\n1 1\n1 2\n2 0\n2 1\n2 2\n3 2\n"};
    for (int k = 2; k >= 0; k--) {
        const char *path = temporary(ends[k], text[k]);
        snprintf(name, 512, "mesh:%.*s,kind=elasticity,refine=%d",
                 (int)(strlen(path) - strlen(".node")), path, refine);
    }
}

static void discard_body(void)
{
    for (int k = 0; k < 3; k++) discard(temporary(ends[k], NULL));
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
    deal_out(m, AT_RANDOM);
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

/* --- aggregates ------------------------------------------------------------------ */

static tct_near_null near_null(const tacit_matrix *m, int node_rows,
                               int vectors)
{
    const tacit_precond_options all = {.node_rows = node_rows};
    tct_near_null B;
    if (vectors == 0) {
        OK(tct_near_null_open(m, &all, &B));
        return B;
    }
    double *X = calloc((size_t)(m->A.rows * vectors) + 1, sizeof *X);
    for (int64_t k = 0; k < m->A.rows * vectors; k++)
        X[k] =
            0.7 + random_number(tct_original(m, k % m->A.rows), k / m->A.rows);
    tacit_precond_options o = all;
    o.vectors = vectors;
    o.near_null = X;
    OK(tct_near_null_open(m, &o, &B));
    free(X);
    return B;
}

/* Nodes are whole, columns of P orthonormal or 0, and P P' B = B. */
static void check_columns(const tct_near_null *B, const tct_aggregates *G)
{
    const int64_t k = B->vectors;
    double *gram = calloc((size_t)(G->coarse * k * k) + 1, sizeof *gram);
    assert_int_equal(G->width, k);
    for (int64_t n = 0; n < B->nodes; n++)
        for (int32_t i = B->begin[n]; i < B->begin[n + 1]; i++) {
            const int64_t a = G->of[i];
            const double *w = G->weight + i * k;
            assert_int_equal(a, G->of[B->begin[n]]);
            for (int64_t c = 0; a < 0 && c < k; c++) assert_true(w[c] == 0.0);
            if (a < 0) continue;
            for (int64_t c = 0; c < k * k; c++)
                gram[a * k * k + c] += w[c / k] * w[c % k];
            for (int64_t j = 0; j < k; j++) {
                double sum = 0.0;
                for (int64_t c = 0; c < k; c++)
                    sum += w[c] * G->smooth[(a * k + c) * k + j];
                assert_true(fabs(sum - B->value[i * k + j]) < 1e-12);
            }
        }
    for (int64_t e = 0; e < G->coarse * k * k; e++) {
        const int64_t c = e / k % k, d = e % k;
        const bool kept = c == d && G->smooth[e] > 0.0;
        assert_true(fabs(gram[e] - (kept ? 1.0 : 0.0)) < 1e-13);
    }
    free(gram);
}

/* x' (P' A P) y by its definition, x and y on the coarse level: A P y on all ranks. */
static double through_p(const tacit_matrix *m, const tct_aggregates *G,
                        const double *x, const double *y)
{
    const int64_t n = m->A.global_rows, k = G->width;
    double *px = calloc((size_t)m->A.rows + 1, sizeof *px), sum = 0.0;
    double *py = calloc((size_t)n + 1, sizeof *py);
    for (int64_t i = 0; i < m->A.rows; i++)
        for (int64_t c = 0; G->of[i] >= 0 && c < k; c++) {
            px[i] += G->weight[i * k + c] * x[G->of[i] * k + c];
            py[m->A.first + i] += G->weight[i * k + c] * y[G->of[i] * k + c];
        }
    OK(tct_reduce_f64(test_world(), TCT_SUM, (size_t)n, py));
    for (int64_t i = 0; i < m->A.rows; i++)
        for (int64_t e = m->A.ptr[i]; e < m->A.ptr[i + 1]; e++)
            sum += px[i] * m->A.val[e] * py[tct_csr_col(&m->A, e)];
    OK(tct_reduce_f64(test_world(), TCT_SUM, 1, &sum));
    free(px);
    free(py);
    return sum;
}

static double directly(const tacit_matrix *m, const double *x, const double *y)
{
    const int64_t n = m->A.global_rows;
    double *all = calloc((size_t)n + 1, sizeof *all), sum = 0.0;
    if (m->A.rows > 0)
        memcpy(all + m->A.first, y, (size_t)m->A.rows * sizeof *all);
    OK(tct_reduce_f64(test_world(), TCT_SUM, (size_t)n, all));
    for (int64_t i = 0; i < m->A.rows; i++)
        for (int64_t e = m->A.ptr[i]; e < m->A.ptr[i + 1]; e++)
            sum += x[i] * m->A.val[e] * all[tct_csr_col(&m->A, e)];
    OK(tct_reduce_f64(test_world(), TCT_SUM, 1, &sum));
    free(all);
    return sum;
}

/* A vector of the coarse level that is 0 where P has no column. */
static double *coarse_vector(const tct_aggregates *G, int64_t first, int seed)
{
    const int64_t k = G->width;
    double *x = calloc((size_t)(G->coarse * k) + 1, sizeof *x);
    for (int64_t c = 0; c < G->coarse * k; c++)
        if (G->smooth[c * k + c % k] != 0.0)
            x[c] = random_number(first + c, seed);
    return x;
}

static void check_product(const tacit_matrix *m, const tct_aggregates *G,
                          const tacit_matrix *coarse)
{
    const int64_t k = G->width;
    assert_int_equal(coarse->A.rows, G->coarse * k);
    for (int seed = 0; seed < 3; seed++) {
        double *x = coarse_vector(G, coarse->A.first, seed);
        double *y = coarse_vector(G, coarse->A.first, seed + 10);
        const double wants = through_p(m, G, x, y),
                     has = directly(coarse, x, y);
        const double scale = through_p(m, G, x, x) + through_p(m, G, y, y);
        assert_true(fabs(has - wants) <= 1e-12 * scale);
        assert_true(fabs(directly(coarse, y, x) - has) <= 1e-12 * scale);
        free(x);
        free(y);
    }
    for (int64_t c = 0; c < coarse->A.rows; c++) {
        const int64_t *ptr = coarse->A.ptr + c;
        const bool alone = G->smooth[c * k + c % k] == 0.0;
        assert_true(tct_csr_diagonal(&coarse->A, c) > 0.0);
        for (int64_t e = ptr[0]; e < ptr[1]; e++) {
            if (e > ptr[0])
                assert_true(tct_csr_col(&coarse->A, e) >
                            tct_csr_col(&coarse->A, e - 1));
            if (alone && tct_csr_col(&coarse->A, e) != coarse->A.first + c)
                assert_true(coarse->A.val[e] == 0.0);
        }
    }
}

/* Two levels of `m`, which is destroyed. */
static void check_two_levels(tacit_matrix *m, int node_rows, int vectors)
{
    const tct_coarsening how = {.passes = 2};
    tct_near_null B = near_null(m, node_rows, vectors);
    for (int level = 0; level < 2; level++) {
        tct_aggregates G;
        tacit_matrix *coarse = NULL;
        OK(tct_aggregate_nodes(m, &B, &how, &G));
        check_columns(&B, &G);
        OK(tct_block_galerkin(m, &G, &coarse));
        check_product(m, &G, coarse);
        OK(tct_near_null_next(&B, &G));
        tct_aggregates_free(&G);
        tacit_matrix_destroy(&m);
        m = coarse;
    }
    tct_near_null_clear(&B);
    tacit_matrix_destroy(&m);
}

/* In random deals nodes are cut apart and aggregates have fewer rows than there
 * are vectors. */
static void coarse_matrices_are_products(void **state)
{
    (void)state;
    static const struct {
        const char *matrix;
        int node_rows, vectors;
    } rows[] = {{"elasticity3d:5x4x3", 0, 0}, {"elasticity3d:4", 3, 7},
                {"elasticity3d:4", 0, 1},     {"poisson2d:9", 1, 3},
                {"poisson3d:4", 2, 2},        {"tet3d:4,1", 0, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (deal how = 0; how < DEALS; how++) {
            tacit_matrix *m = open_matrix(rows[i].matrix);
            deal_out(m, how);
            check_two_levels(m, rows[i].node_rows, rows[i].vectors);
        }
}

/* --- solves ------------------------------------------------------------------------ */

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

/* Aggregates of rows take nearly twice as many for a body that is hardly held. */
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

/* --- what is no vector --------------------------------------------------------------- */

static void refuse(const tacit_matrix *m, tacit_precond_options o,
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
    tacit_precond_options o = {.near_null = X, .vectors = 2};
    for (size_t i = 0; i < n; i++) X[i] = 1.0;
    refuse(m, o, "near-null vector 2 of 2 is 0 everywhere");
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_as_they_should),
        cmocka_unit_test(bodies_rest_where_they_move_as_a_whole),
        cmocka_unit_test(points_come_from_files),
        cmocka_unit_test(coarse_matrices_are_products),
        cmocka_unit_test(modes_make_iterations_few),
        cmocka_unit_test(solves_have_the_same_bits_again),
        cmocka_unit_test(what_is_no_vector_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
