/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_odd.c - multigrid for matrices with singular parts, with parts
 * of very different size, with few eigenvalues, and with values outside the
 * range of floats.
 *
 * RUN: np=1,2,3,4 */
#include "amg_problem.h"
#include "matrix/matrix.h"

/* The first row of a rank. */
typedef int64_t share_fn(int64_t n, int64_t ranks, int64_t rank);

static int64_t evenly(int64_t n, int64_t ranks, int64_t rank)
{
    return n * rank / ranks;
}
static int64_t all_to_one(int64_t n, int64_t ranks, int64_t rank)
{
    (void)ranks;
    return rank > 0 ? n : 0;
}

static tacit_matrix *deal(int64_t n, share_fn *share, columns_fn columns,
                          value_fn value)
{
    static int64_t col[ROW_MOST];
    const int rank = tacit_world_rank(test_world());
    const int ranks = tacit_world_size(test_world());
    const int64_t first = share(n, ranks, rank);
    const int64_t last = share(n, ranks, rank + 1);
    int64_t *ptr = calloc((size_t)(last - first) + 1, sizeof *ptr);
    assert_non_null(ptr);
    for (int64_t i = first; i < last; i++)
        ptr[i - first + 1] = ptr[i - first] + columns(n, i, col);
    const size_t entries = (size_t)ptr[last - first];
    int64_t *cols = malloc(entries * sizeof *cols + 1);
    double *vals = malloc(entries * sizeof *vals + 1);
    assert_true(cols && vals);
    for (int64_t i = first; i < last; i++) {
        columns(n, i, cols + ptr[i - first]);
        for (int64_t k = ptr[i - first]; k < ptr[i - first + 1]; k++)
            vals[k] = value(i, cols[k]);
    }
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, first, last - first, ptr, cols,
                              vals, &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

/* b = A x, x of random numbers. */
static void put_image(amg *a)
{
    double *x = random_vector(a->p.n, 31 + tacit_world_rank(test_world()));
    double *b = image_of(a->p.A, a->p.q, a->p.n, x);
    OK(tacit_queue_put(a->p.q, a->p.n, b, a->p.b));
    free(x);
    free(b);
}

/* --- parts that are singular ---------------------------------------------- */

/* Lines of 4, 6, .. 126 rows that nothing holds to each other, and a grid
 * behind them, also of a graph. */
enum { SHORT = 4, STEP = 2, LINES = 62, SIDE = 100 };
enum {
    IN_LINES = LINES * (2 * SHORT + (LINES - 1) * STEP) / 2,
    ROWS = IN_LINES + SIDE * SIDE
};

static int64_t line_of(int64_t i)
{
    int64_t line = 0;
    for (int64_t rows = SHORT; i >= rows; rows += STEP) {
        i -= rows;
        line++;
    }
    return line;
}

static int in_parts(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    const int64_t at = i - IN_LINES;
    if (i < IN_LINES) {
        for (int64_t j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < IN_LINES && line_of(j) == line_of(i))
                col[count++] = j;
        return count;
    }
    if (at >= SIDE) col[count++] = i - SIDE;
    if (at % SIDE > 0) col[count++] = i - 1;
    col[count++] = i;
    if (at % SIDE < SIDE - 1) col[count++] = i + 1;
    if (i + SIDE < n) col[count++] = i + SIDE;
    return count;
}

static double edge(int64_t i, int64_t j)
{
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    return -0.1 - 5.0 * tct_uniform((uint64_t)low, (uint64_t)high);
}

static double parts(int64_t i, int64_t j)
{
    int64_t col[5];
    double sum = 0.0;
    if (i != j) return edge(i, j);
    for (int count = in_parts(ROWS, i, col); count-- > 0;)
        if (col[count] != i) sum -= edge(i, col[count]);
    return sum;
}

/* A line that has become one row of a level has a diagonal of rounding
 * alone. */
static void parts_that_are_singular_do_no_harm(void **state)
{
    (void)state;
    amg a;
    tacit_precond_info info = {.size = sizeof info};
    open_amg_of(&a, "host", deal(ROWS, evenly, in_parts, parts), "sell@none",
                "cg", NULL);
    OK(tacit_precond_describe(a.M, &info));
    assert_true(info.levels > 2);
    put_image(&a);
    assert_in_range(solve_amg(&a, 1e-10), 1, 60);
    close_amg(&a);
}

/* Two of it, of which a node has a row each, and a vector each is smooth. */
static int in_twins(int64_t n, int64_t i, int64_t *col)
{
    const int count = in_parts(n / 2, i / 2, col);
    for (int k = 0; k < count; k++) col[k] = 2 * col[k] + i % 2;
    return count;
}
static double twins(int64_t i, int64_t j)
{
    return parts(i / 2, j / 2);
}

/* A rank ends behind the first row of a line's first node. */
static int64_t between_twins(int64_t n, int64_t ranks, int64_t rank)
{
    int64_t first = 0;
    while (first < IN_LINES && line_of(first) < rank - 1) first++;
    return rank == 0 ? 0 : rank == ranks ? n : 2 * first + 1;
}

static void nor_do_parts_of_nodes(void **state)
{
    (void)state;
    amg a;
    tacit_precond_info info = {.size = sizeof info};
    tacit_matrix *m = deal(2 * ROWS, between_twins, in_twins, twins);
    const int64_t n = m->A.rows;
    double *X = calloc((size_t)(2 * n) + 1, sizeof *X);
    assert_non_null(X);
    for (int64_t i = 0; i < n; i++) X[(m->A.first + i) % 2 * n + i] = 1.0;
    const tacit_precond_options o = {
        .size = sizeof o, .near_null = X, .vectors = 2, .node_rows = 2};
    open_amg_of(&a, "host", m, "sell@none", "cg", &o);
    OK(tacit_precond_describe(a.M, &info));
    assert_true(info.levels > 2);
    put_image(&a);
    assert_in_range(solve_amg(&a, 1e-10), 1, 60);
    free(X);
    close_amg(&a);
}

/* --- the largest eigenvalue of D^-1 A ------------------------------------- */

static double largest_of(const amg *a)
{
    return tacit_precond_level_at(a->M, 0)->largest;
}

/* Threes, whose largest eigenvalue is 1.9, and a line of next to nothing:
 * 1.5. */
enum { IN_THREES = 1500, IN_BOTH = 3000 };

static int threes_and_a_line(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    const bool three = i < IN_THREES;
    for (int64_t j = three ? i - 2 : i - 1; j <= (three ? i + 2 : i + 1); j++)
        if (three ? j / 3 == i / 3 && j >= 0 : j >= IN_THREES && j < n)
            col[count++] = j;
    return count;
}
static double far_apart(int64_t i, int64_t j)
{
    if (i < IN_THREES) return i == j ? 1.0 : 0.45;
    return i == j ? 4e-30 : -1e-30;
}

static void small_parts_do_not_hide_large_ones(void **state)
{
    (void)state;
    amg a;
    open_amg_of(&a, "host",
                deal(IN_BOTH, all_to_one, threes_and_a_line, far_apart),
                "sell@none", "cg", NULL);
    assert_true(largest_of(&a) > 1.899 && largest_of(&a) < 2.1);
    assert_in_range(solve_amg(&a, 1e-8), 1, 40);
    close_amg(&a);
}

/* The Laplacian of a star: 0, 1 and 2. */
enum { POINTS = 5000 };

static int on_star(int64_t n, int64_t i, int64_t *col)
{
    if (i > 0) {
        col[0] = 0;
        col[1] = i;
        return 2;
    }
    for (int64_t j = 0; j < n; j++) col[j] = j;
    return (int)n;
}
static double star(int64_t i, int64_t j)
{
    return i != j ? -1.0 : i > 0 ? 1.0 : POINTS - 1.0;
}

/* Of D^-1 A of a grid, below 2. */
static void steps_end_at_an_eigenvalue_that_suffices(void **state)
{
    (void)state;
    problem p = {.m = gallery_matrix("poisson3d:20"), .q = open_queue("host")};
    OK(tacit_operator_create(p.q, p.m, "sell@none", &p.A));
    const size_t n = (size_t)tacit_operator_local_rows(p.A);
    double *host = host_vector(n, 1.0 / 6.0), all = 0.0, some = 0.0;
    double *inverse = device_vector(p.q, n, host);
    OK(tct_amg_spectral_bound(p.A, inverse, 0.0, &all));
    OK(tct_amg_spectral_bound(p.A, inverse, 1.5, &some));
    assert_true(all > 1.9 && all < 2.0);
    assert_true(some >= 1.5 && some < all);
    tacit_queue_free(p.q, &inverse);
    free(host);
    close_problem(&p);
}

static void few_eigenvalues_are_found(void **state)
{
    (void)state;
    amg a;
    open_amg_of(&a, "host", deal(POINTS, all_to_one, on_star, star), "csr@none",
                "cg", NULL);
    assert_true(largest_of(&a) > 1.999);
    put_image(&a);
    assert_in_range(solve_amg(&a, 1e-8), 1, 10);
    close_amg(&a);
}

/* --- values that floats do not have --------------------------------------- */

static void scale(tacit_matrix *m, double factor)
{
    for (int64_t k = 0; k < m->A.ptr[m->A.rows]; k++) m->A.val[k] *= factor;
}

/* Aggregates of nodes, of which powers of 2 change nothing. */
static void nodes_are_as_they_are_at_any_scale(void **state)
{
    (void)state;
    static const double factors[] = {1.0, 0x1p-170, 0x1p130};
    int64_t iterations[3];
    for (int k = 0; k < 3; k++) {
        amg a;
        tacit_precond_info info = {.size = sizeof info};
        tacit_matrix *m = gallery_matrix("elasticity3d:9");
        scale(m, factors[k]);
        open_amg_of(&a, "host", m, "sell@none", "cg", NULL);
        OK(tacit_precond_describe(a.M, &info));
        assert_true(info.levels > 1);
        iterations[k] = solve_amg(&a, 1e-8);
        assert_int_equal(iterations[k], iterations[0]);
        close_amg(&a);
    }
}

/* A level alone, of several vectors: what floats cost is seen without them. */
static void one_level_takes_new_values(void **state)
{
    (void)state;
    const tacit_precond_options o = {.size = sizeof o, .levels = 1};
    amg a;
    open_amg_of(&a, "host", gallery_matrix("elasticity3d:8"), "sell@none", "cg",
                &o);
    const int bits = tacit_precond_level_at(a.M, 0)->bits;
    const int64_t before = solve_amg(&a, 1e-8);
    OK(tacit_precond_update(a.M, a.p.m));
    assert_int_equal(tacit_precond_level_at(a.M, 0)->bits, bits);
    assert_int_equal(solve_amg(&a, 1e-8), before);
    close_amg(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_are_singular_do_no_harm),
        cmocka_unit_test(nor_do_parts_of_nodes),
        cmocka_unit_test(small_parts_do_not_hide_large_ones),
        cmocka_unit_test(few_eigenvalues_are_found),
        cmocka_unit_test(steps_end_at_an_eigenvalue_that_suffices),
        cmocka_unit_test(nodes_are_as_they_are_at_any_scale),
        cmocka_unit_test(one_level_takes_new_values),
    };
    TEST_MPI_MAIN(tests);
}
