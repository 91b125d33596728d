/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_coarsen.c - aggregates of rows and their matrices: against dense
 * P' A P, on grids, and where matching is difficult.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#include "aggregates.h"

static const tct_coarsening thrice = {.passes = 3};

static tct_aggregates aggregate_as(const tacit_matrix *A, const double *smooth,
                                   const int64_t *index, int passes)
{
    tct_aggregates G;
    assert_int_equal(tct_aggregate(A, smooth, index,
                                   &(tct_coarsening){.passes = passes}, &G),
                     TACIT_OK);
    return G;
}

static tct_aggregates aggregate(const tacit_matrix *A, const double *smooth,
                                int passes)
{
    return aggregate_as(A, smooth, NULL, passes);
}

static tacit_matrix *galerkin(const tacit_matrix *A, const tct_aggregates *G)
{
    tacit_matrix *coarse = NULL;
    assert_int_equal(tct_galerkin(A, G, &coarse), TACIT_OK);
    return coarse;
}

static bool one_rank(void)
{
    return tacit_world_size(test_world()) == 1;
}

/* --- dense matrices ------------------------------------------------------- */

static double *dense(const tacit_matrix *m)
{
    const int64_t n = m->A.global_rows;
    double *D = zeros(n * n);
    for (int64_t i = 0; i < m->A.rows; i++)
        for (int64_t k = m->A.ptr[i]; k < m->A.ptr[i + 1]; k++)
            D[(m->A.first + i) * n + tct_csr_col(&m->A, k)] = m->A.val[k];
    sum_ranks(D, n * n);
    return D;
}

/* --- what P is ------------------------------------------------------------ */

/* Columns of P are orthonormal, none is empty, and the smooth vector w is P P'w
 * where a row is in an aggregate at all. */
static void assert_orthonormal(const tacit_matrix *A, const tct_aggregates *G,
                               const double *w)
{
    const int64_t all = all_ranks(G->coarse);
    double *norm = zeros(all), *number = numbers_of(A, G);
    for (int64_t i = 0; i < G->rows; i++) {
        const int32_t n = G->of[i];
        if (n < 0) assert_true(G->weight[i] == 0.0);
        if (n < 0) continue;
        norm[(int64_t)number[A->A.first + i]] += G->weight[i] * G->weight[i];
        const double back = G->weight[i] * G->smooth[n], own = w ? w[i] : 1.0;
        assert_true(fabs(back - own) <= 1e-14 * fabs(own));
    }
    sum_ranks(norm, all);
    for (int64_t n = 0; n < all; n++) assert_true(fabs(norm[n] - 1.0) < 1e-14);
    free(norm);
    free(number);
}

/* P' A P by its definition. */
static double *product(const tacit_matrix *A, const tct_aggregates *G,
                       const tacit_matrix *coarse)
{
    const int64_t n = A->A.global_rows, c = coarse->A.global_rows;
    double *D = zeros(c * c), *weight = gathered(A, G->weight);
    double *of = numbers_of(A, G), *full = dense(A);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (of[i] >= 0 && of[j] >= 0)
                D[(int64_t)of[i] * c + (int64_t)of[j]] +=
                    weight[i] * full[i * n + j] * weight[j];
    free(weight);
    free(of);
    free(full);
    return D;
}

static void assert_product(const tacit_matrix *A, const tct_aggregates *G,
                           const tacit_matrix *coarse)
{
    const int64_t c = coarse->A.global_rows;
    assert_int_equal(c, all_ranks(G->coarse));
    assert_int_equal(coarse->A.rows, G->coarse);
    assert_string_equal(coarse->format, "galerkin");
    double *has = dense(coarse), *wants = product(A, G, coarse), scale = 0.0;
    for (int64_t k = 0; k < c * c; k++) scale = fmax(scale, fabs(wants[k]));
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < c; j++) {
            const double value = has[i * c + j];
            assert_true(fabs(value - wants[i * c + j]) <= 1e-14 * scale);
            assert_true(fabs(value - has[j * c + i]) <= 1e-14 * scale);
        }
    for (int64_t i = 0; i < coarse->A.rows; i++)
        for (int64_t k = coarse->A.ptr[i] + 1; k < coarse->A.ptr[i + 1]; k++)
            assert_true(tct_csr_col(&coarse->A, k - 1) <
                        tct_csr_col(&coarse->A, k));
    free(has);
    free(wants);
}

/* --- levels --------------------------------------------------------------- */

/* Three levels of `m`, which is destroyed; `w` NULL: ones. */
static void check_levels(tacit_matrix *m, const double *w, int passes)
{
    tct_aggregates G = aggregate(m, w, passes);
    assert_orthonormal(m, &G, w);
    for (int level = 0; level < 3; level++) {
        tacit_matrix *coarse = galerkin(m, &G);
        assert_product(m, &G, coarse);
        tct_aggregates next = aggregate_as(coarse, G.smooth, G.index, passes);
        assert_orthonormal(coarse, &next, G.smooth);
        tct_aggregates_free(&G);
        tacit_matrix_destroy(&m);
        m = coarse;
        G = next;
    }
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

static const char *const gallery[] = {
    "poisson2d:19", "poisson3d:7",    "anisotropic3d:7,0.01", "jump3d:7,1e4,1",
    "tet3d:6,1",    "elasticity3d:4", "poisson3d27:6",
};
enum { GALLERY = sizeof gallery / sizeof *gallery };

static void coarse_matrices_are_products(void **state)
{
    (void)state;
    for (int g = 0; g < GALLERY; g++)
        for (deal how = 0; how < DEALS; how++)
            for (int passes = 1; passes <= 4; passes += 1 + (how > 0)) {
                tacit_matrix *m = open_matrix(gallery[g]);
                distribute(m, how);
                check_levels(m, NULL, passes);
            }
}

/* Of either sign, and some are 0. */
static void the_smooth_vector_is_in_the_range(void **state)
{
    (void)state;
    for (int g = 0; g < GALLERY; g++) {
        tacit_matrix *m = open_matrix(gallery[g]);
        double *w = zeros(m->A.rows);
        for (int64_t i = 0; i < m->A.rows; i++)
            w[i] = mixed(5, m->A.first + i) % 7 == 0
                       ? 0.0
                       : tct_uniform(9, (uint64_t)(m->A.first + i)) - 0.2;
        tct_aggregates G = aggregate(m, w, 3);
        for (int64_t i = 0; i < m->A.rows; i++)
            if (w[i] == 0.0) assert_int_equal(G.of[i], -1);
        tct_aggregates_free(&G);
        check_levels(m, w, 2);
        free(w);
    }
}

static void real_matrices(void **state)
{
    (void)state;
    static const char *const names[] = {
        "spd/bcsstk05.mtx.gz", "spd/nos5.mtx.gz",     "spd/mesh3e1.mtx.gz",
        "spd/494_bus.mtx.gz",  "spd/bcsstm06.mtx.gz", "spd/bcsstk20.mtx.gz"};
    const char *folder = getenv("TACIT_MATRICES");
    char path[512];
    if (!folder || !folder[0]) skip();
    for (int k = 0; k < 6; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        if (access(path, R_OK) != 0) skip();
        check_levels(open_matrix(path), NULL, 3);
    }
}

/* --- ranks ---------------------------------------------------------------- */

/* `one` has the aggregates that a rank makes which has all rows. */
static void assert_as_alone(const char *name, deal how, int passes,
                            const tct_aggregates *one)
{
    tacit_matrix *m = open_matrix(name);
    distribute(m, how);
    tct_aggregates G = aggregate(m, NULL, passes);
    double *number = numbers_of(m, &G), *index = indices_of(m->world, &G);
    double *has = in_order(m, number, index);
    assert_int_equal(all_ranks(G.coarse), one->coarse);
    assert_int_equal(G.rounds, one->rounds);
    for (int64_t i = 0; i < one->rows; i++)
        assert_true(has[i] == (double)one->of[i]);
    free(number);
    free(index);
    free(has);
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

/* Of 1 to 3 passes: pairs are the same, whoever has their rows. */
static void aggregates_are_those_of_one_rank(void **state)
{
    (void)state;
    tacit_world *self = NULL;
    assert_int_equal(tacit_world_self(&self), TACIT_OK);
    for (int g = 0; g < GALLERY; g++)
        for (int passes = 1; passes <= 3; passes++) {
            tacit_matrix *m = NULL;
            assert_int_equal(tacit_matrix_open(self, gallery[g], NULL, &m),
                             TACIT_OK);
            tct_aggregates one = aggregate(m, NULL, passes);
            for (deal how = 0; how < DEALS; how++)
                assert_as_alone(gallery[g], how, passes, &one);
            tct_aggregates_free(&one);
            tacit_matrix_destroy(&m);
        }
    tacit_world_destroy(&self);
}

/* A path's rows go in pairs from its beginning on, through all ranks and back,
 * and the one that is left over joins the last pair. */
static void pairs_stand_side_by_side(void **state)
{
    (void)state;
    enum { N = 101 };
    for (deal how = 0; how < DEALS; how++) {
        tacit_matrix *m = make(line_row, N);
        distribute(m, how);
        tct_aggregates G = aggregate(m, NULL, 1);
        double *number = numbers_of(m, &G), *index = indices_of(m->world, &G);
        double *has = in_order(m, number, index);
        assert_int_equal(all_ranks(G.coarse), N / 2);
        for (int64_t i = 0; i < N; i++) /* the last one joins */
            assert_true(has[i] == (double)(i / 2 < N / 2 ? i / 2 : N / 2 - 1));
        free(number);
        free(index);
        free(has);
        tct_aggregates_free(&G);
        tacit_matrix_destroy(&m);
    }
}

/* --- grids ---------------------------------------------------------------- */

/* Where all edges are alike a point goes with its neighbours to a cell of two
 * in each direction, and it does not take as many rounds as a line has
 * points. */
static void assert_cells(const char *name, int rounds)
{
    enum { N = 40 };
    tacit_matrix *m = open_matrix(name);
    tct_aggregates G = aggregate(m, NULL, 3);
    double *number = numbers_of(m, &G);
    assert_int_equal(all_ranks(G.coarse), N * N * N / 8);
    assert_int_equal(G.rounds, rounds);
    for (int64_t i = 0; i < N * N * N; i++) {
        const int64_t x = i % N, y = i / N % N, z = i / N / N;
        const int64_t first = (z / 2 * 2 * N + y / 2 * 2) * N + x / 2 * 2;
        assert_true(number[i] == number[first]);
    }
    free(number);
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

/* 27 points, too: ties are broken to the nearest numbers. Their edges hold
 * once the limit has been raised, after two rounds. */
static void grids_make_cells(void **state)
{
    (void)state;
    assert_cells("poisson3d:40", 3);
    assert_cells("poisson3d27:40", 5);
}

/* Dense blocks, in which any two rows are as good as any other two. */
enum { DENSE = 64 };
static int clique_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    (void)n;
    for (int64_t k = 0; k < DENSE; k++) {
        cols[k] = i / DENSE * DENSE + k;
        vals[k] = cols[k] == i ? DENSE : -1;
    }
    return DENSE;
}

static void assert_few_rounds(tacit_matrix *m, int most, double coarser)
{
    tct_aggregates G = aggregate(m, NULL, 3);
    if (G.rounds > most)
        fail_msg("%d rounds for %lld rows", G.rounds,
                 (long long)m->A.global_rows);
    const double ratio = (double)m->A.global_rows / (double)all_ranks(G.coarse);
    if (ratio < coarser) fail_msg("%g times coarser", ratio);
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

static void rounds_are_few(void **state)
{
    (void)state;
    assert_few_rounds(open_matrix("poisson3d:39"), 32, 7.4);
    assert_few_rounds(open_matrix("poisson2d:199"), 32, 7.5);
    assert_few_rounds(open_matrix("tet3d:20,1"), 32, 4.2);
    assert_few_rounds(open_matrix("jump3d:20,1e4,1"), 32, 4.4);
    assert_few_rounds(make(clique_row, 20 * DENSE), 30, 7.5);
    tacit_matrix *m = open_matrix("poisson3d:30");
    distribute(m, AT_RANDOM);
    assert_few_rounds(m, 3, 7.9);
}

/* --- rows of their own kind ----------------------------------------------- */

/* With nothing off the diagonal there is nothing to be coarse. */
static void rows_apart_are_in_no_aggregate(void **state)
{
    (void)state;
    tacit_matrix *m = make(own_row, 90);
    tct_aggregates G = aggregate(m, NULL, 3);
    assert_int_equal(all_ranks(G.coarse), 0);
    for (int64_t i = 0; i < G.rows; i++) assert_int_equal(G.of[i], -1);
    tacit_matrix *coarse = galerkin(m, &G);
    assert_int_equal(coarse->A.global_rows, 0);
    assert_int_equal(coarse->nonzeros, 0);
    tacit_matrix_destroy(&coarse);
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

/* No edge has a weight where entries are positive: the matrix stays. */
static void rows_without_edges_stay(void **state)
{
    (void)state;
    tacit_matrix *m = make(block_row, 3 * 50);
    tct_aggregates G = aggregate(m, NULL, 3);
    assert_int_equal(G.coarse, G.rows);
    assert_int_equal(G.others.count, 0);
    tacit_matrix *coarse = galerkin(m, &G);
    assert_entries(coarse, block_row, 3 * 50);
    tacit_matrix_destroy(&coarse);
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

/* Leaves have nobody but their star's centre, which goes with one of them. */
static void rows_left_alone_join(void **state)
{
    (void)state;
    tacit_matrix *m = make(star_row, 70);
    tct_aggregates G = aggregate(m, NULL, 3);
    assert_int_equal(all_ranks(G.coarse), 1);
    assert_int_equal(G.coarse + G.others.count, 1);
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

/* A line, and one row and column in full: the test's time would tell. */
static void long_rows_take_no_longer(void **state)
{
    (void)state;
    enum { N = 200000 };
    const int64_t first = my_first(N), last = my_last(N);
    int64_t *ptr = calloc((size_t)(last - first) + 1, sizeof *ptr), count = 0;
    int64_t *cols = calloc((size_t)(4 * (last - first) + N), sizeof *cols);
    double *vals = calloc((size_t)(4 * (last - first) + N), sizeof *vals);
    for (int64_t i = first; i < last; i++) {
        for (int64_t j = i == 0 ? 0 : i - 1; j < N && j < (i ? i + 2 : N);
             j++) {
            cols[count] = j;
            vals[count++] = i == j ? (i ? 3 : N) : -1;
        }
        if (i > 1) {
            cols[count] = 0;
            vals[count++] = -1;
        }
        ptr[i + 1 - first] = count;
    }
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_rows(test_world(), N, first,
                                            last - first, ptr, cols, vals, &m),
                     TACIT_OK);
    free(ptr);
    free(cols);
    free(vals);
    tct_aggregates G = aggregate(m, NULL, 3);
    tacit_matrix *coarse = galerkin(m, &G);
    assert_true(coarse->A.global_rows < N / 7);
    tacit_matrix_destroy(&coarse);
    tct_aggregates_free(&G);
    tacit_matrix_destroy(&m);
}

static int bad_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = line_row(n, i, cols, vals);
    for (int k = 0; k < count; k++)
        if (i == 57 && cols[k] == i) vals[k] = -3;
    return count;
}

static void a_diagonal_must_be_positive(void **state)
{
    (void)state;
    tct_aggregates G = {0};
    tacit_matrix *m = make(bad_row, 100);
    assert_int_equal(tct_aggregate(m, NULL, NULL, &thrice, &G), TACIT_INPUT);
    assert_message("row 58 has -3 on the diagonal");
    tacit_matrix_destroy(&m);
    m = make(pieces_row, 100);
    distribute(m, AT_RANDOM);
    assert_int_equal(tct_aggregate(m, NULL, NULL, &thrice, &G), TACIT_INPUT);
    assert_message("has 0 on the diagonal");
    assert_null(G.of);
    tacit_matrix_destroy(&m);
    m = make(line_row, 100);
    for (int passes = 0; passes <= 5; passes += 5)
        assert_int_equal(tct_aggregate(m, NULL, NULL,
                                       &(tct_coarsening){.passes = passes}, &G),
                         TACIT_INVALID);
    tacit_matrix_destroy(&m);
}

/* --- the same again ------------------------------------------------------- */

static void assert_same_aggregates(const tct_aggregates *a,
                                   const tct_aggregates *b)
{
    const size_t rows = (size_t)a->rows, coarse = (size_t)a->coarse;
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->coarse, b->coarse);
    assert_int_equal(a->rounds, b->rounds);
    assert_memory_equal(a->of, b->of, rows * sizeof *a->of);
    assert_memory_equal(a->weight, b->weight, rows * sizeof *a->weight);
    assert_memory_equal(a->smooth, b->smooth, coarse * sizeof *a->smooth);
}

static void assert_same_rows(const tct_csr *a, const tct_csr *b)
{
    const int64_t nonzeros = tct_csr_nonzeros(a);
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->ptr, b->ptr, ((size_t)a->rows + 1) * sizeof *a->ptr);
    assert_memory_equal(a->val, b->val, (size_t)nonzeros * sizeof *a->val);
    for (int64_t k = 0; k < nonzeros; k++)
        assert_int_equal(tct_csr_col(a, k), tct_csr_col(b, k));
}

static void use_threads(const tacit_matrix *m, int count)
{
    assert_int_equal(tacit_world_set_threads(m->world, count), TACIT_OK);
}

static void threads_do_not_change_a_bit_nor_do_instructions(void **state)
{
    (void)state;
    static const char *const isas[] = {"base", "avx2", "avx512"};
    static const char *const names[] = {"poisson3d:31", "tet3d:20,1",
                                        "jump3d:25,1e4,1"};
    for (int k = 0; k < 3; k++) {
        tacit_matrix *m = open_matrix(names[k]);
        use_threads(m, 1);
        tct_aggregates one = aggregate(m, NULL, 3);
        tacit_matrix *by_one = galerkin(m, &one);
        for (int threads = 1; threads <= (one_rank() ? 3 : 2); threads++) {
            use_threads(m, threads);
            setenv("TACIT_ISA", isas[threads - 1], 1);
            tct_aggregates G = aggregate(m, NULL, 3);
            unsetenv("TACIT_ISA");
            assert_same_aggregates(&one, &G);
            tacit_matrix *coarse = galerkin(m, &G);
            assert_same_rows(&by_one->A, &coarse->A);
            tacit_matrix_destroy(&coarse);
            tct_aggregates_free(&G);
        }
        use_threads(m, 1);
        tct_aggregates_free(&one);
        tacit_matrix_destroy(&by_one);
        tacit_matrix_destroy(&m);
    }
}

/* --- memory --------------------------------------------------------------- */

static tacit_status both(const tacit_matrix *m)
{
    tct_aggregates G = {0};
    tacit_matrix *coarse = NULL;
    tacit_status status = tct_aggregate(m, NULL, NULL, &thrice, &G);
    if (status >= 0) status = tct_galerkin(m, &G, &coarse);
    tacit_matrix_destroy(&coarse);
    tct_aggregates_free(&G);
    return status;
}

static void no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    if (test_shares_allocations(__func__)) return;
    const bool mine =
        tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1;
    tacit_matrix *m = open_matrix("poisson3d:9");
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    long k = 1;
    for (; status != TACIT_OK && k < 2000; k++) {
        if (mine) tct_memory_fail_at(k);
        status = both(m);
        tct_memory_fail_at(0);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(k > 40);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coarse_matrices_are_products),
        cmocka_unit_test(the_smooth_vector_is_in_the_range),
        cmocka_unit_test(real_matrices),
        cmocka_unit_test(aggregates_are_those_of_one_rank),
        cmocka_unit_test(pairs_stand_side_by_side),
        cmocka_unit_test(grids_make_cells),
        cmocka_unit_test(rounds_are_few),
        cmocka_unit_test(rows_apart_are_in_no_aggregate),
        cmocka_unit_test(rows_without_edges_stay),
        cmocka_unit_test(rows_left_alone_join),
        cmocka_unit_test(long_rows_take_no_longer),
        cmocka_unit_test(a_diagonal_must_be_positive),
        cmocka_unit_test(threads_do_not_change_a_bit_nor_do_instructions),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    TEST_MPI_MAIN(tests);
}
