/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_device.c - multigrid set-up by the device's tasks, run on the
 * host in any order: each level equals the host's, and a cycle has the same
 * bits.
 *
 * RUN: np=1 */
#include "amg_levels.h"
#include "gpu.h"
#include "matrix/matrix.h"
#include "operator/layout/slices_build.h"
#include "operator/stencil/grid_matrix.h"

static void levels_are_those_of_the_host(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int least;
    } matrices[] = {{"poisson3d:24", 2},          {"poisson3d:23", 2},
                    {"poisson2d:121", 2},         {"jump3d:20,1e4,1", 2},
                    {"anisotropic3d:21,0.01", 2}, {"tet3d:18,1", 2}};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        expect_same(gallery_matrix(matrices[i].name), matrices[i].name, NULL,
                    matrices[i].least);
}

/* Any smooth vector, none of it 0. */
static void so_they_are_with_a_smooth_vector(void **state)
{
    (void)state;
    tacit_matrix *m = gallery_matrix("jump3d:20,1e3,1");
    const size_t n = (size_t)m->A.rows;
    double *w = random_vector(n, 11);
    for (size_t i = 0; i < n; i++) w[i] += 1.5;
    const tacit_precond_options o = {
        .size = sizeof o, .vectors = 1, .near_null = w};
    expect_same(m, "a smooth vector", &o, 1);
    free(w);
}

/* Of a matrix that the finest level keeps as it is, whose coarser ones have any
 * values. */
static void so_they_are_with_floats(void **state)
{
    (void)state;
    static const char *const precisions[] = {"float", "auto"};
    for (int k = 0; k < 2; k++) {
        tacit_matrix *m = gallery_matrix("poisson3d:24");
        const size_t n = (size_t)m->A.rows;
        double *w = random_vector(n, 13);
        for (size_t i = 0; i < n; i++) w[i] += 1.5;
        const tacit_precond_options o = {.size = sizeof o,
                                         .vectors = 1,
                                         .near_null = w,
                                         .precision = precisions[k]};
        expect_same(m, precisions[k], &o, 2);
        free(w);
    }
}

static void so_they_are_with_other_wishes(void **state)
{
    (void)state;
    static const char *const smoothers[] = {"chebyshev", "jacobi", "l1-jacobi"};
    for (int s = 0; s < 3; s++) {
        const tacit_precond_options o = {.size = sizeof o,
                                         .cycle = s == 1 ? "w" : "v",
                                         .smoother = smoothers[s],
                                         .degree = 3 - s,
                                         .levels = s == 2 ? 2 : 0};
        expect_same(gallery_matrix("poisson3d:22"), smoothers[s], &o, 1);
    }
    const tacit_precond_options rows = {.size = sizeof rows, .node_rows = 1};
    expect_same(gallery_matrix("elasticity3d:12"), "rows of nodes", &rows, 1);
}

/* New values for levels that were made there: aggregates and all. */
static void new_values_make_them_anew(void **state)
{
    (void)state;
    levels_problem p;
    open_levels(&p, gallery_matrix("jump3d:20,1e4,1"));
    const size_t n = (size_t)tacit_operator_local_rows(p.A);
    double *x = random_vector(n, 3);
    tacit_operator *M = make_levels(&p, &twin_kernels, NULL);
    tacit_matrix *m = gallery_matrix("jump3d:20,1e4,2");
    OK(tacit_operator_update(p.A, m));
    tct_amg_kernels_instead = &twin_kernels;
    told_there = 0;
    OK(tacit_precond_update(M, m));
    tct_amg_kernels_instead = NULL;
    assert_true(told_there > 1);
    tacit_matrix_destroy(&p.m);
    p.m = m;
    tacit_operator *fresh = make_levels(&p, NULL, NULL);
    expect_same_levels(fresh, M, "new values");
    double *y = image_of(fresh, p.q, n, x), *z = image_of(M, p.q, n, x);
    assert_true(same_bits(y, z, n));
    tacit_operator_destroy(&M);
    const tacit_precond_options o = {
        .size = sizeof o, .vectors = 1, .near_null = x};
    M = make_levels(&p, &twin_kernels, &o);
    EXPECT(TACIT_UNSUPPORTED, tacit_precond_update(M, m));
    free(x);
    free(y);
    free(z);
    tacit_operator_destroy(&fresh);
    tacit_operator_destroy(&M);
    close_levels(&p);
}

/* --- the rows of an operator ---------------------------------------------- */

/* The rows of `m` once more, to be freed; col32 are those of one rank. */
static tct_local rows_of(const tacit_matrix *m)
{
    return (tct_local){.rows = m->A.rows,
                       .cols = m->A.rows,
                       .ptr = m->A.ptr,
                       .col = m->A.col32,
                       .val = m->A.val};
}

/* Lane by lane, the rows are those given. */
static void expect_rows(const tct_gpu_arrays *a, const tct_local *rows)
{
    const size_t n = (size_t)rows->rows, entries = (size_t)rows->ptr[n];
    int32_t *count = calloc(n, sizeof *count);
    int32_t *col = calloc(entries, sizeof *col);
    double *val = calloc(entries, sizeof *val);
    assert_true(count && col && val);
    for (int64_t s = 0; s < a->slices; s++)
        for (int l = 0; l < GPU_LANES; l++) tct_cell_count(a, s, l, count);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(count[i], rows->ptr[i + 1] - rows->ptr[i]);
    for (int64_t s = 0; s < a->slices; s++)
        for (int l = 0; l < GPU_LANES; l++)
            tct_cell_read(a, s, l, rows->ptr, col, val);
    assert_memory_equal(col, rows->col, entries * sizeof *col);
    assert_memory_equal(val, rows->val, entries * sizeof *val);
    free(count);
    free(col);
    free(val);
}

/* Read back from slices of each kind, there are the same rows. */
static void slices_are_rows_again(void **state)
{
    (void)state;
    static const struct {
        const char *matrix, *store;
        tct_gpu_kinds kinds;
        int b;
    } slices[] = {{"poisson3d:23", "f64", GPU_ONLY_FAR, 1},
                  {"poisson3d:23", "dict8", GPU_ANY_KIND, 1},
                  {"poisson3d:22", "auto", GPU_ANY_KIND, 1},
                  {"jump3d:20,1e4,1", "f64", GPU_ANY_KIND, 1},
                  {"tet3d:18,1", "auto", GPU_ANY_KIND, 1},
                  {"elasticity3d:12", "f64", GPU_ANY_KIND, 1},
                  {"elasticity3d:12", "f64", GPU_ONLY_FAR, 3},
                  {"elasticity3d:12", "auto", GPU_ANY_KIND, 3},
                  {"elasticity3d:12", "f64", GPU_ANY_KIND, 2}};
    const tacit_precond_options by_row = {.size = sizeof by_row,
                                          .node_rows = 1};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        tct_gpu_arrays host;
        tct_gpu_about about;
        tacit_matrix *m = gallery_matrix(slices[i].matrix);
        const tct_local rows = rows_of(m);
        OK(tct_gpu_slices_build(&rows, slices[i].b, slices[i].kinds,
                                slices[i].store, &host, &about));
        assert_int_equal(host.long_rows, 0);
        if (slices[i].b != 2) expect_rows(&host, &rows); /* filled blocks */
        twin_slices = &host;
        expect_same(m, slices[i].matrix, &by_row, 1);
        twin_slices = NULL;
        tct_gpu_slices_build_free(&host);
    }
}

/* So there are from a stencil, of which nothing is stored. */
static void stencils_are_rows_again(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson3d:23", "poisson2d:151x137",
                                        "anisotropic3d:31x23x29,0.5",
                                        "poisson3d27:22"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tacit_matrix *m = gallery_matrix(names[i]);
        const tct_local rows = rows_of(m);
        tct_gpu_arrays host = {.rows = m->A.rows,
                               .groups = m->A.rows,
                               .b = 1,
                               .store = GPU_F64,
                               .walk = GPU_GRID};
        tct_grid_place at = {.first = 0};
        memcpy(at.n, m->grid, sizeof at.n);
        host.slices = (m->A.rows + GPU_LANES - 1) / GPU_LANES;
        assert_null(tct_grid_find(&at, &rows, &host.grid));
        expect_rows(&host, &rows);
        twin_slices = &host;
        expect_same(m, names[i], NULL, 1);
        twin_slices = NULL;
    }
}

/* --- patterns that are hard ----------------------------------------------- */

static double line(int64_t i, int64_t j)
{
    return i == j ? 2.0 : -1.0;
}

/* Rows of a dense block each, which edges by hash take apart; some stand for
 * themselves, and some hang on a large neighbour. */
static int in_blocks(int64_t n, int64_t i, int64_t *col)
{
    enum { BLOCK = 23 };
    int count = 0;
    if (i % 40 == 0) {
        col[0] = i;
        return 1;
    }
    for (int64_t j = i / BLOCK * BLOCK; j < n && j < (i / BLOCK + 1) * BLOCK;
         j++)
        if (j % 40 != 0) col[count++] = j;
    return count;
}
static double blocks(int64_t i, int64_t j)
{
    return i == j ? 25.0 : i % 7 == 0 || j % 7 == 0 ? -1e-3 : -1.0;
}

/* A wheel: all rows hang on a few hubs. */
static int on_wheel(int64_t n, int64_t i, int64_t *col)
{
    enum { HUBS = 12 };
    int count = 0;
    if (i < HUBS) {
        for (int64_t j = i; j < n; j += HUBS) col[count++] = j;
        return count;
    }
    col[count++] = i % HUBS;
    col[count++] = i;
    return count;
}
static double wheel(int64_t i, int64_t j)
{
    return i == j ? (i < 12 ? 400.0 : 1.5) : -1.0;
}

/* Lines of the Laplacian of a graph that nothing holds to each other. */
enum { LINE = 37 };
static int in_lines(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    for (int64_t j = i - 1; j <= i + 1; j++)
        if (j >= 0 && j < n && j / LINE == i / LINE) col[count++] = j;
    return count;
}
static double lines(int64_t i, int64_t j)
{
    const double before = i % LINE == 0 ? 0.0 : 1.1 + (double)(i % 7);
    const double behind =
        i % LINE == LINE - 1 ? 0.0 : 1.1 + (double)((i + 1) % 7);
    return i == j ? before + behind : j < i ? -before : -behind;
}

static int on_diagonal(int64_t n, int64_t i, int64_t *col)
{
    (void)n;
    col[0] = i;
    return 1;
}

static void patterns_that_are_hard_come_out_alike(void **state)
{
    (void)state;
    expect_same(matrix_of(3000, on_diagonal, line), "a diagonal", NULL, 0);
    expect_same(matrix_of(19683, neighbours_on_line, line), "a line", NULL, 2);
    expect_same(matrix_of(12000, in_blocks, blocks), "blocks", NULL, 1);
    expect_same(matrix_of(LINE * 500, in_lines, lines), "lines", NULL, 2);
    expect_same(matrix_of(3000, on_wheel, wheel), "a wheel", NULL, 0);
}

/* The same, where rows that hang on a hub have others that they do not depend
 * on: the hub's aggregate has more entries than a block of threads takes. */
static int on_tyre(int64_t n, int64_t i, int64_t *col)
{
    enum { HUBS = 12, NEAR = 4 * HUBS };
    if (i < HUBS) return on_wheel(n, i, col);
    int count = 1;
    col[0] = i % HUBS;
    for (int64_t j = i - NEAR; j <= i + NEAR; j += HUBS)
        if (j >= HUBS && j < n) col[count++] = j;
    return count;
}
static double tyre(int64_t i, int64_t j)
{
    return i >= 12 && j >= 12 && i != j ? 1e-3 : wheel(i, j);
}

static void rows_that_are_too_long_are_left_to_the_host(void **state)
{
    (void)state;
    expect_same(matrix_of(4800, on_tyre, tyre), "a tyre", NULL, 0);
    assert_int_equal(told_left, 1);
    assert_int_equal(told_there, 0);
}

/* A level that the host makes, as small ones are, is stored by the device if
 * that takes it as it is. */
static void levels_of_the_host_are_stored_there(void **state)
{
    (void)state;
    tct_amg_kernels kernels = twin_kernels;
    kernels.small = kernels.few = 5000;
    for (int far = 0; far < 2; far++) {
        levels_problem p;
        tacit_matrix *m = gallery_matrix("poisson3d:24");
        for (int64_t k = 0; k < m->A.ptr[m->A.rows]; k++)
            m->A.val[k] *= far ? 0x1p100 : 1.0;
        open_levels(&p, m);
        tacit_operator *here = make_levels(&p, &kernels, NULL);
        twin_stored = 0;
        tacit_operator *there = make_levels(&p, &kernels, NULL);
        assert_int_equal(twin_stored > 0, !far);
        twin_stored = -1;
        const tacit_precond_level *L = tacit_precond_level_at(there, 1);
        assert_int_equal(strcmp(L->format, "csr") == 0, !far);
        expect_same_cycle(&p, here, there, "poisson3d:24", 1e-14);
        tacit_operator_destroy(&here);
        tacit_operator_destroy(&there);
        close_levels(&p);
    }
}

/* A device makes smaller levels than it begins with, to its other limit. */
static void levels_go_on_below_the_size_of_a_start(void **state)
{
    (void)state;
    static const struct {
        int64_t small, few;
        int there;
    } limits[] = {{5000, 0, 2}, {5000, 2000, 1}, {20000, 0, 0}};
    levels_problem p;
    open_levels(&p, gallery_matrix("poisson3d:24"));
    tacit_operator *here = make_levels(&p, NULL, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        tct_amg_kernels kernels = twin_kernels;
        kernels.small = limits[i].small;
        kernels.few = limits[i].few;
        tacit_operator *there = make_levels(&p, &kernels, NULL);
        assert_int_equal(told_there, limits[i].there);
        expect_same_levels(here, there, "limits");
        tacit_operator_destroy(&there);
    }
    tacit_operator_destroy(&here);
    close_levels(&p);
}

static void it_is_left_to_the_host_on_request(void **state)
{
    (void)state;
    levels_problem p;
    open_levels(&p, gallery_matrix("poisson3d:12"));
    assert_int_equal(setenv("TACIT_AMG_SETUP", "host", 1), 0);
    tacit_operator *M = make_levels(&p, &twin_kernels, NULL);
    assert_int_equal(told_there, 0);
    assert_int_equal(unsetenv("TACIT_AMG_SETUP"), 0);
    tacit_operator_destroy(&M);
    close_levels(&p);
}

/* Whichever allocation fails, M is made by the host or not at all, and nothing
 * is left behind. */
static void memory_that_is_not_there_is_missed(void **state)
{
    (void)state;
    levels_problem p;
    open_levels(&p, gallery_matrix("poisson3d:12"));
    tct_amg_kernels_instead = &twin_kernels;
    expect_missed(p.A, p.m);
    tct_amg_kernels_instead = NULL;
    close_levels(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_those_of_the_host),
        cmocka_unit_test(so_they_are_with_other_wishes),
        cmocka_unit_test(so_they_are_with_a_smooth_vector),
        cmocka_unit_test(so_they_are_with_floats),
        cmocka_unit_test(new_values_make_them_anew),
        cmocka_unit_test(slices_are_rows_again),
        cmocka_unit_test(stencils_are_rows_again),
        cmocka_unit_test(patterns_that_are_hard_come_out_alike),
        cmocka_unit_test(rows_that_are_too_long_are_left_to_the_host),
        cmocka_unit_test(levels_of_the_host_are_stored_there),
        cmocka_unit_test(levels_go_on_below_the_size_of_a_start),
        cmocka_unit_test(it_is_left_to_the_host_on_request),
        cmocka_unit_test(memory_that_is_not_there_is_missed),
    };
    tacit_set_log(listen, NULL);
    TEST_MPI_MAIN(tests);
}
