/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_direct.c - solves by a preconditioner alone: with a factor of the
 * matrix's kind the residual is rounding, by columns and for b of any size.
 *
 * RUN: np=1,3 */
#include "base/base.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "precond/by_factor.h"
#include "problem.h"
#include "said.h"
#include <math.h>

enum { MOST = 40 };

typedef struct {
    problem p;
    tacit_operator *M;
    int columns;
    double *B, *X, *host; /* [columns n] */
} direct;

static tacit_matrix *gallery_matrix(const char *name)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), name, NULL, &m));
    return m;
}

static bool alone(void)
{
    return tacit_world_size(test_world()) == 1;
}

/* `m` is taken over; B is between -1 and 1 times `size`. */
static void open_direct(direct *d, const char *spec, tacit_matrix *m,
                        const char *format, const char *precond,
                        const char *kind, int columns, double size)
{
    problem *p = &d->p;
    const tacit_precond_options o = {
        .size = sizeof o, .kind = kind, .order = "nd"};
    *d = (direct){.columns = columns};
    p->m = m;
    OK(tacit_queue_create(test_world(), spec, 1, &p->q));
    OK(tacit_operator_create(p->q, m, format, &p->A));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_precond_create_of(p->A, m, precond, &o, &d->M));
    const size_t all = p->n * (size_t)columns;
    OK(tacit_queue_alloc(p->q, all, &d->B));
    OK(tacit_queue_alloc(p->q, all, &d->X));
    d->host = tct_alloc(sizeof *d->host * (all + 1));
    for (size_t i = 0; i < all; i++)
        d->host[i] = size * (2.0 * tct_uniform(3, i) - 1.0);
    OK(tacit_queue_put(p->q, all, d->host, d->B));
    OK(tacit_queue_fill(p->q, all, 0.0, d->X));
}

static void close_direct(direct *d)
{
    tacit_queue_free(d->p.q, &d->B);
    tacit_queue_free(d->p.q, &d->X);
    tct_free(d->host);
    tacit_operator_destroy(&d->M);
    close_problem(&d->p);
}

static tacit_status solve(direct *d, const tacit_stop *stop,
                          tacit_result *results)
{
    for (int j = 0; j < d->columns; j++) results[j].size = sizeof *results;
    return tacit_precond_solve(d->p.A, d->M, d->columns, d->B, d->p.n, d->X,
                               d->p.n, stop, results);
}

/* ||b - A x|| / ||b|| of column j, from outside and by one process. */
static double residual_of(const direct *d, int j)
{
    const size_t n = d->p.n, all = n * (size_t)d->columns;
    const double *b = d->host + (size_t)j * n;
    double *x = tct_alloc(sizeof *x * all), rr = 0.0, bb = 0.0;
    tacit_rows rows;
    OK(tacit_queue_get(d->p.q, all, d->X, x));
    OK(tacit_matrix_view_rows(d->p.m, &rows));
    for (int64_t i = 0; i < rows.count; i++) {
        double r = b[i];
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++)
            r -= rows.vals[k] *
                 x[(size_t)j * n +
                   (size_t)(rows.cols32 ? rows.cols32[k] : rows.cols64[k])];
        rr += r * r;
        bb += b[i] * b[i];
    }
    tct_free(x);
    return sqrt(rr) / sqrt(bb);
}

/* --- matrices ------------------------------------------------------------- */

/* poisson2d:12x9, its diagonal changed: of every seventh row it is negative, or
 * what stands above it is doubled. */
static tacit_matrix *twisted(bool negative, bool doubled)
{
    tacit_matrix *from = gallery_matrix("poisson2d:12x9"), *m = NULL;
    tacit_rows rows;
    OK(tacit_matrix_view_rows(from, &rows));
    const int64_t n = rows.count, entries = rows.ptr[n];
    int64_t *cols = tct_alloc(sizeof *cols * (size_t)entries);
    double *vals = tct_alloc(sizeof *vals * (size_t)entries);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++) {
            cols[k] = rows.cols32 ? rows.cols32[k] : rows.cols64[k];
            vals[k] = rows.vals[k];
            if (negative && cols[k] == i && i % 7 == 3) vals[k] = -9.0;
            if (doubled && cols[k] > i) vals[k] *= 2.0;
        }
    OK(tacit_matrix_from_rows(test_world(), n, 0, n, rows.ptr, cols, vals, &m));
    TCT_FREE(cols, vals);
    tacit_matrix_destroy(&from);
    return m;
}

static tacit_factor_kind kind_of(const direct *d)
{
    tacit_precond_info about = {.size = sizeof about};
    tacit_factor_info info = {.size = sizeof info};
    OK(tacit_precond_describe(d->M, &about));
    assert_non_null(about.factor);
    OK(tacit_factor_describe(about.factor, &info));
    return info.kind;
}

/* --- tests ---------------------------------------------------------------- */

static void the_kind_is_what_the_matrix_asks_for(void **state)
{
    (void)state;
    static const struct {
        bool negative, doubled;
        const char *kind;
        tacit_factor_kind is;
    } rows[] = {{false, false, "auto", TACIT_FACTOR_LLT},
                {false, false, NULL, TACIT_FACTOR_LLT},
                {false, false, "lu", TACIT_FACTOR_LU},
                {true, false, "auto", TACIT_FACTOR_LDLT},
                {false, true, "auto", TACIT_FACTOR_LU},
                {true, true, "auto", TACIT_FACTOR_LU}};
    static const char *const formats[] = {"sell@none", "csr@rcm"};
    static const int columns[] = {1, 3, MOST};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-13};
    tacit_result results[MOST];
    if (!alone()) skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int c = 0; c < 3; c++) {
            direct d;
            open_direct(&d, c == 1 ? "memcheck:host" : "host",
                        twisted(rows[i].negative, rows[i].doubled),
                        formats[(i + (size_t)c) % 2], "direct", rows[i].kind,
                        columns[c], 1.0);
            assert_int_equal(kind_of(&d), rows[i].is);
            OK(solve(&d, &stop, results));
            for (int j = 0; j < columns[c]; j++) {
                assert_true(results[j].converged);
                assert_in_range(results[j].iterations, 1, 2);
                assert_true(residual_of(&d, j) <= 1.1e-13);
            }
            close_direct(&d);
        }
}

/* Positive diagonals do not make it positive definite: that is found by
 * trying. */
static void a_matrix_that_only_looks_definite_is_solved(void **state)
{
    (void)state;
    static const int64_t ptr[] = {0, 2, 4}, cols[] = {0, 1, 0, 1};
    static const double vals[] = {1.0, 3.0, 3.0, 1.0};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-14};
    tacit_result result;
    tacit_matrix *m = NULL;
    direct d;
    if (!alone()) skip();
    OK(tacit_matrix_from_rows(test_world(), 2, 0, 2, ptr, cols, vals, &m));
    open_direct(&d, "host", m, NULL, "direct", "auto", 1, 1.0);
    assert_int_equal(kind_of(&d), TACIT_FACTOR_LDLT);
    OK(solve(&d, &stop, &result));
    assert_true(residual_of(&d, 0) <= 1e-14);
    tacit_operator *M = NULL;
    REFUSES(TACIT_INPUT, "not positive definite",
            tacit_precond_create_of(d.p.A, m, "direct", NULL, &M));
    close_direct(&d);
}

/* Steps leave less of a residual each, until rounding is left, which is
 * told. */
static void steps_go_on_until_they_are_futile(void **state)
{
    (void)state;
    tacit_stop stop = {.size = sizeof stop, .max_iterations = 1};
    tacit_result result;
    direct d;
    if (!alone()) skip();
    open_direct(&d, "host", gallery_matrix("jump3d:8,1e6,1"), NULL, "direct",
                NULL, 1, 1.0);
    assert_int_equal(solve(&d, &stop, &result), TACIT_NOT_CONVERGED);
    assert_int_equal(result.stop, TACIT_STOP_MAX_ITERATIONS);
    const double first = residual_of(&d, 0);
    assert_true(first < 1e-9);
    OK(tacit_queue_fill(d.p.q, d.p.n, 0.0, d.X));
    stop.max_iterations = 0;
    OK(solve(&d, &stop, &result)); /* as far as rounding allows */
    assert_int_equal(result.stop, TACIT_STOP_STAGNATION);
    assert_in_range(result.iterations, 2, 8);
    assert_true(residual_of(&d, 0) <= 2.0 * first);
    assert_true(fabs(residual_of(&d, 0) - result.true_relative_residual) <=
                first);
    close_direct(&d);
}

static void hear(void *ctx, int level, const char *text)
{
    *(int *)ctx += level == 0 && strstr(text, "factored again, with pivots");
}

/* A factor that its test systems have passed, and that solves no system. */
static void spoil(direct *d)
{
    tacit_factor *F = ((tct_by_factor *)(void *)d->M)->F;
    for (int32_t q = 0; q < F->info.panels; q++) {
        const int64_t h = F->row_start[q + 1] - F->row_start[q];
        for (int64_t j = 0; j < F->first[q + 1] - F->first[q]; j++)
            if (F->diagonal) F->diagonal[F->first[q] + j] *= 0.25;
            else F->upper[F->value_start[q] + j * (h + 1)] *= 0.25;
    }
}

/* Of a zero column and two others; a second solve finds the new factor. */
static void expect_pivots(tacit_matrix *m, const char *kind)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
    tacit_result results[3];
    direct d;
    int heard = 0;
    open_direct(&d, "host", m, NULL, "direct", kind, 3, 1.0);
    OK(tacit_queue_fill(d.p.q, d.p.n, 0.0, d.B));
    memset(d.host, 0, d.p.n * sizeof *d.host);
    spoil(&d);
    tacit_set_log(hear, &heard);
    for (int time = 0; time < 2; time++) {
        OK(tacit_queue_fill(d.p.q, 3 * d.p.n, 0.0, d.X));
        OK(solve(&d, &stop, results));
        assert_int_equal(heard, 1);
        for (int j = 1; j < 3; j++) assert_true(residual_of(&d, j) <= 1e-12);
    }
    spoil(&d); /* of the new one there is no other */
    OK(tacit_queue_fill(d.p.q, 3 * d.p.n, 0.0, d.X));
    assert_int_equal(solve(&d, &stop, results), TACIT_NOT_CONVERGED);
    assert_int_equal(heard, 1);
    tacit_set_log(NULL, NULL);
    close_direct(&d);
}

static void a_bad_factor_is_made_again_with_pivots(void **state)
{
    (void)state;
    if (!alone()) skip();
    expect_pivots(twisted(true, false), "ldlt");
    expect_pivots(twisted(true, false), "auto");
    expect_pivots(twisted(false, true), "lu");
}

/* The squares of b leave the range of doubles. */
static void any_size_of_b_is_solved_for(void **state)
{
    (void)state;
    static const double sizes[] = {1e-290, 1e-180, 1e180, 1e290};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-13};
    tacit_result result;
    if (!alone()) skip();
    for (int i = 0; i < 4; i++) {
        direct d;
        open_direct(&d, "host", gallery_matrix("poisson2d:7"), NULL, "direct",
                    NULL, 1, sizes[i]);
        OK(solve(&d, &stop, &result));
        assert_true(result.norm_b > sizes[i] && result.norm_b < 49 * sizes[i]);
        assert_int_equal(result.iterations, 1);
        close_direct(&d);
    }
}

/* `name` times 2^exponent. */
static tacit_matrix *scaled(const char *name, int exponent)
{
    tacit_matrix *m = gallery_matrix(name);
    for (int64_t k = 0; k < m->A.ptr[m->A.rows]; k++)
        m->A.val[k] = ldexp(m->A.val[k], exponent);
    return m;
}

static const int far[] = {-1000, -665, -66, 66, 500, 1000};
enum { FARS = sizeof far / sizeof *far };
static const char *const kinds[] = {"llt", "ldlt", "lu"};

/* Alone and below a method, by columns of unlike size. */
static void any_size_of_a_matrix_is_solved_with(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-13};
    for (int i = 0; i < 3 * FARS; i++) {
        direct d;
        tacit_solver *s = NULL;
        tacit_result results[3], below[3];
        const int exponent = far[i / 3];
        open_direct(&d, "host", scaled("poisson2d:9", exponent), "csr@none",
                    "direct", kinds[i % 3], 3, exponent < 0 ? 1e-60 : 1e60);
        for (size_t k = 0; k < d.p.n; k++) d.host[k] *= 1e-20;
        OK(tacit_queue_put(d.p.q, 3 * d.p.n, d.host, d.B));
        OK(solve(&d, &stop, results));
        OK(tacit_queue_fill(d.p.q, 3 * d.p.n, 0.0, d.X));
        OK(tacit_solver_create(d.p.q, d.p.A, "cg", &s));
        OK(tacit_solver_set_precond(s, d.M));
        for (int j = 0; j < 3; j++) below[j].size = sizeof *below;
        OK(tacit_solver_run_block(s, 3, d.B, d.p.n, d.X, d.p.n, &stop, below));
        for (int j = 0; j < 3; j++) {
            assert_in_range(results[j].iterations, 1, 2);
            assert_in_range(below[j].iterations, 1, 2);
            assert_true(results[j].true_relative_residual <= 1e-13);
            if (alone()) assert_true(residual_of(&d, j) <= 1.1e-13);
        }
        tacit_solver_destroy(&s);
        close_direct(&d);
    }
}

/* New values bring a size of their own. */
static void a_new_size_is_followed(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-13};
    tacit_result result;
    direct d;
    open_direct(&d, "host", gallery_matrix("poisson2d:9"), NULL, "direct", NULL,
                1, 1.0);
    for (int i = 0; i < FARS; i++) {
        tacit_matrix *m = scaled("poisson2d:9", far[i]);
        OK(tacit_operator_update(d.p.A, m));
        OK(tacit_precond_update(d.M, m));
        OK(tacit_queue_fill(d.p.q, d.p.n, 0.0, d.X));
        OK(solve(&d, &stop, &result));
        assert_in_range(result.iterations, 1, 2);
        tacit_matrix_destroy(&m);
    }
    close_direct(&d);
}

/* Messages speak of the matrix and of x as they were given. */
static void sizes_are_told_as_they_were_given(void **state)
{
    (void)state;
    static const int64_t ptr[] = {0, 2, 4}, cols[] = {0, 1, 0, 1};
    static const double vals[] = {1e200, 3e200, 3e200, 1e200};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-13};
    tacit_result results[2];
    tacit_operator *M = NULL;
    tacit_matrix *m = NULL;
    direct d;
    open_direct(&d, "host", scaled("poisson2d:9", -600), NULL, "direct", NULL,
                2, 1e150);
    for (size_t k = 0; k < d.p.n; k++) d.host[k] = 1.0;
    OK(tacit_queue_put(d.p.q, 2 * d.p.n, d.host, d.B));
    REFUSES(
        TACIT_BREAKDOWN,
        "column 2: the solution is beyond the range of doubles, its norm is "
        "about 2^1",
        solve(&d, &stop, results));
    assert_true(results[0].converged && !results[1].converged);
    assert_int_equal(results[1].stop, TACIT_STOP_BREAKDOWN);
    OK(tacit_queue_get(d.p.q, 2 * d.p.n, d.X, d.host));
    assert_true(d.host[d.p.n] == 0.0 && results[1].true_relative_residual == 1);
    OK(tacit_queue_fill(d.p.q, 2 * d.p.n, (double)NAN, d.X));
    REFUSES(TACIT_BREAKDOWN, "column 1: breakdown at iteration 0",
            solve(&d, &stop, results));
    assert_non_null(strstr(tacit_error_message(), "the first guess"));
    close_direct(&d);
    if (!alone()) return;
    OK(tacit_matrix_from_rows(test_world(), 2, 0, 2, ptr, cols, vals, &m));
    open_direct(&d, "host", m, NULL, "direct", "auto", 1, 1e200);
    assert_int_equal(kind_of(&d), TACIT_FACTOR_LDLT);
    OK(solve(&d, &stop, results));
    REFUSES(TACIT_INPUT, "comes to the pivot -8e+200",
            tacit_precond_create_of(d.p.A, m, "direct", NULL, &M));
    close_direct(&d);
}

static int say_stop(void *ctx, int column, int64_t iteration, double relative)
{
    int *told = ctx;
    (void)relative;
    told[column]++;
    return iteration == 2 && column == 1;
}

/* On any number of ranks, with what is far from an inverse, and by columns. */
static void another_preconditioner_takes_its_steps(void **state)
{
    (void)state;
    int told[3] = {0};
    tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8, .monitor_ctx = told};
    tacit_result results[3];
    direct d;
    open_direct(&d, "host", gallery_matrix("random:90,3,5"), NULL, "jacobi",
                NULL, 3, 1.0);
    OK(tacit_queue_fill(d.p.q, d.p.n, 0.0, d.B)); /* the first column */
    OK(solve(&d, &stop, results));
    assert_int_equal(results[0].iterations, 0);
    assert_true(results[0].converged);
    assert_true(results[1].iterations > 3 && results[2].iterations > 3);
    assert_true(results[2].true_relative_residual <= 1e-8);
    OK(tacit_queue_fill(d.p.q, 3 * d.p.n, 0.0, d.X));
    stop.max_iterations = 3;
    REFUSES(TACIT_NOT_CONVERGED, "column 2: not converged after 3 iterations",
            solve(&d, &stop, results));
    stop.max_iterations = 0;
    stop.column_monitor = say_stop;
    OK(tacit_queue_fill(d.p.q, 3 * d.p.n, 0.0, d.X));
    assert_int_equal(solve(&d, &stop, results), TACIT_INTERRUPTED);
    assert_int_equal(told[0], 0);
    assert_int_equal(told[1], told[2]);
    assert_int_equal(results[2].stop, TACIT_STOP_INTERRUPTED);
    assert_int_equal(results[2].iterations, 3);
    close_direct(&d);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    const tacit_precond_options o = {.size = sizeof o, .kind = "ic0"};
    tacit_result result = {.size = sizeof result};
    tacit_operator *M = NULL;
    direct d, other;
    open_direct(&d, "host", gallery_matrix("poisson2d:9"), NULL, "jacobi", NULL,
                1, 1.0);
    open_direct(&other, "host", gallery_matrix("poisson2d:6"), NULL, "jacobi",
                NULL, 1, 1.0);
    REFUSES(TACIT_INVALID, "not for this operator",
            tacit_precond_solve(d.p.A, other.M, 1, d.B, d.p.n, d.X, d.p.n,
                                &stop, &result));
    REFUSES(TACIT_INVALID, "'ic0'",
            tacit_precond_create_of(d.p.A, d.p.m, "direct", &o, &M));
    assert_null(M);
    OK(tacit_queue_fill(d.p.q, d.p.n, (double)INFINITY, d.B));
    REFUSES(TACIT_INPUT, "not finite", solve(&d, &stop, &result));
    close_direct(&other);
    close_direct(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kind_is_what_the_matrix_asks_for),
        cmocka_unit_test(a_matrix_that_only_looks_definite_is_solved),
        cmocka_unit_test(steps_go_on_until_they_are_futile),
        cmocka_unit_test(a_bad_factor_is_made_again_with_pivots),
        cmocka_unit_test(any_size_of_b_is_solved_for),
        cmocka_unit_test(any_size_of_a_matrix_is_solved_with),
        cmocka_unit_test(a_new_size_is_followed),
        cmocka_unit_test(sizes_are_told_as_they_were_given),
        cmocka_unit_test(another_preconditioner_takes_its_steps),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
