/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_block.c - several right-hand sides at once: each as in a single
 * solve, with its own outcome; their joint result; refusals.
 *
 * RUN: np=1,2,3,4
 * LIMIT: 500 */
#include "gpu.h"

enum { MOST = 6, GAP_B = 3, GAP_X = 8 };

/* A system of `k` columns, and what surrounds them: gaps that nobody may
 * touch. */
typedef struct {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
    tacit_solver *s;
    int k;
    size_t n, B_stride, X_stride;
    double *B, *X;         /* on the device */
    double *hostB, *hostX; /* what they are, and what X was */
    tacit_result result[MOST];
} block;

static void open_block(block *p, const char *spec, tacit_matrix *m,
                       const char *method, const char *precond, int k)
{
    memset(p, 0, sizeof *p);
    for (int j = 0; j < MOST; j++) p->result[j].size = sizeof *p->result;
    p->q = open_queue(spec);
    p->m = m;
    p->k = k;
    OK(tacit_operator_create(p->q, m, NULL, &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    OK(tacit_solver_set(p->s, "precond", precond));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->B_stride = p->n + GAP_B;
    p->X_stride = p->n + GAP_X;
    p->hostB = host_vector((size_t)k * p->B_stride, NAN);
    p->hostX = host_vector((size_t)k * p->X_stride, NAN);
    for (int j = 0; j < k; j++)
        for (size_t i = 0; i < p->n; i++) {
            const uint64_t row =
                (uint64_t)tacit_matrix_first_row(m) + (uint64_t)i;
            p->hostB[(size_t)j * p->B_stride + i] =
                2.0 * tct_uniform((uint64_t)j + 77, row) - 1.0;
            p->hostX[(size_t)j * p->X_stride + i] = 0.0;
        }
    p->B = device_vector(p->q, (size_t)k * p->B_stride, p->hostB);
    p->X = device_vector(p->q, (size_t)k * p->X_stride, p->hostX);
}

static void close_block(block *p)
{
    tacit_queue_free(p->q, &p->B);
    tacit_queue_free(p->q, &p->X);
    free(p->hostB);
    free(p->hostX);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->A);
    tacit_matrix_destroy(&p->m);
    tacit_queue_destroy(&p->q);
}

static double *column_b(const block *p, int j)
{
    return p->hostB + (size_t)j * p->B_stride;
}

static double *column_x(const block *p, int j)
{
    return p->hostX + (size_t)j * p->X_stride;
}

/* What was changed on the host goes to the device. */
static void put_block(const block *p)
{
    OK(tacit_queue_put(p->q, (size_t)p->k * p->B_stride, p->hostB, p->B));
    OK(tacit_queue_put(p->q, (size_t)p->k * p->X_stride, p->hostX, p->X));
}

static tacit_status run_block(block *p, const tacit_stop *stop)
{
    return tacit_solver_run_block(p->s, p->k, p->B, p->B_stride, p->X,
                                  p->X_stride, stop, p->result);
}

/* --- from outside --------------------------------------------------------- */

/* The whole of a vector of which each rank has its rows. */
static double *whole(const block *p, const double *x)
{
    const size_t n = (size_t)tacit_matrix_global_rows(p->m);
    double *all = host_vector(n, 0.0);
    memcpy(all + tacit_matrix_first_row(p->m), x, p->n * sizeof *x);
    OK(tacit_world_reduce(test_world(), TACIT_SUM, n, all));
    return all;
}

/* ||b - A x|| / ||b||, by the rows that the matrix shows. */
static double residual(const block *p, const double *b, const double *x)
{
    tacit_rows rows;
    OK(tacit_matrix_view_rows(p->m, &rows));
    double *all = whole(p, x), sums[2] = {0.0, 0.0};
    for (int64_t i = 0; i < rows.count; i++) {
        double r = b[i];
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++)
            r -= rows.vals[k] *
                 all[rows.cols32 ? (int64_t)rows.cols32[k] : rows.cols64[k]];
        sums[0] += r * r;
        sums[1] += b[i] * b[i];
    }
    free(all);
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 2, sums));
    return sums[1] > 0.0 ? sqrt(sums[0] / sums[1]) : sqrt(sums[0]);
}

/* Each column that says it converged has, B is as it was, and so are the
 * gaps. */
static void check_block(const block *p, double rtol)
{
    double *B = host_copy(p->q, (size_t)p->k * p->B_stride, p->B);
    double *X = host_copy(p->q, (size_t)p->k * p->X_stride, p->X);
    assert_true(same_bits(B, p->hostB, (size_t)p->k * p->B_stride));
    for (int j = 0; j < p->k; j++) {
        const double *x = X + (size_t)j * p->X_stride;
        assert_true(same_bits(x + p->n, column_x(p, j) + p->n, GAP_X));
        const double r = residual(p, column_b(p, j), x);
        if (p->result[j].converged) assert_true(r <= 1.0000001 * rtol);
        assert_true(p->result[j].seconds == p->result[0].seconds);
        if (p->result[j].norm_b == 0.0) continue;
        assert_true(fabs(p->result[j].true_relative_residual - r) <=
                    1e-6 * r + 1e-14);
    }
    free(B);
    free(X);
}

/* --- outcomes ------------------------------------------------------------- */

/* Column `j` alone, from where the block begins; x, if wanted, into `x`. */
static tacit_status run_alone(const block *p, int j, const tacit_stop *stop,
                              tacit_result *result, double *x)
{
    double *b = device_vector(p->q, p->n, column_b(p, j));
    double *v = device_vector(p->q, p->n, column_x(p, j));
    *result = (tacit_result){.size = sizeof *result};
    const tacit_status status = tacit_solver_run(p->s, b, v, stop, result);
    if (x) OK(tacit_queue_get(p->q, p->n, v, x));
    tacit_queue_free(p->q, &b);
    tacit_queue_free(p->q, &v);
    return status;
}

static void compare_with_singles(block *p, const tacit_stop *stop)
{
    for (int j = 0; j < p->k; j++) {
        tacit_result one;
        OK(run_alone(p, j, stop, &one, NULL));
        assert_true(p->result[j].converged);
        assert_int_equal(p->result[j].stop, one.stop);
        /* the same recurrence, whose sums are rounded otherwise: where
         * coefficients jump by 1e4 that is seen after some 50 iterations */
        assert_true(llabs(p->result[j].iterations - one.iterations) <=
                    1 + one.iterations / 16);
        assert_true(fabs(p->result[j].norm_b - one.norm_b) <=
                    1e-14 * one.norm_b);
        assert_int_equal(p->result[j].breakdown_iteration, -1);
    }
}

/* A column of zeros, and one whose first guess is the solution, among
 * others. */
static void prepare_columns(block *p, double rtol)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = 0.01 * rtol};
    tacit_result one;
    for (size_t i = 0; i < p->n; i++) {
        column_b(p, 1)[i] = 0.0;
        column_x(p, 1)[i] = 1.0;
    }
    double *x = host_vector(p->n, NAN);
    OK(run_alone(p, 2, &stop, &one, x));
    memcpy(column_x(p, 2), x, p->n * sizeof *x);
    free(x);
    put_block(p);
}

static void columns_are_as_single_solves(void **state)
{
    (void)state;
    static const char *const matrices[] = {"tet3d:6,3", "jump3d:8,1e4,1"};
    static const char *const preconds[] = {"none", "jacobi"};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    for (int i = 0; i < 2; i++)
        for (int j = 0; tacit_method_at(j); j++)
            for (int k = 0; k < 2; k++) {
                block p;
                open_block(&p, "host", gallery_matrix(matrices[i]),
                           tacit_method_at(j)->name, preconds[k], 4);
                prepare_columns(&p, stop.rtol);
                OK(run_block(&p, &stop));
                check_block(&p, stop.rtol);
                assert_int_equal(p.result[1].iterations, 0);
                assert_int_equal(p.result[2].iterations, 0);
                assert_true(p.result[3].iterations > 5);
                compare_with_singles(&p, &stop);
                close_block(&p);
            }
}

/* Rows that have moved, between ranks and inside; other devices and delays; one
 * column, whose stride says nothing. */
static void orders_and_decorators(void **state)
{
    (void)state;
    static const char *const specs[] = {"memcheck:host", "chaos(4):host",
                                        "count(1):host"};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    for (int j = 0; tacit_method_at(j); j++)
        for (int i = 0; i < 3; i++) {
            block p;
            tacit_matrix *m = gallery_matrix("tet3d:5,2");
            OK(tacit_matrix_partition(m, "metis", NULL));
            open_block(&p, specs[i], m, tacit_method_at(j)->name, "jacobi",
                       1 + 2 * i);
            tacit_operator *A = NULL;
            tacit_solver *s = NULL;
            OK(tacit_operator_create(p.q, m, "sell@rcm", &A));
            OK(tacit_solver_create(p.q, A, tacit_method_at(j)->name, &s));
            OK(run_block(&p, &stop));
            check_block(&p, stop.rtol);
            put_block(&p);
            OK(tacit_solver_run_block(s, p.k, p.B, p.B_stride, p.X, p.X_stride,
                                      &stop, p.result));
            check_block(&p, stop.rtol);
            tacit_solver_destroy(&s);
            tacit_operator_destroy(&A);
            close_block(&p);
        }
}

static int one_column(int64_t n, int64_t i, int64_t *col)
{
    (void)n;
    col[0] = i;
    return 1;
}

/* Two sizes in the first rows, then many, and the last one negative. */
enum { ROWS = 60 };
static double diagonal(int64_t i, int64_t j)
{
    (void)j;
    if (i == ROWS - 1) return -5.0;
    return i < 20 ? 1.0 + (double)(i % 2) : 1.0 + (double)i;
}

/* One row on each of the ranks but the last ones, if there are 4. */
static double small_diagonal(int64_t i, int64_t j)
{
    (void)j;
    return 1.0 + (double)i;
}

static tacit_matrix *spread(int64_t n, value_fn value)
{
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    const int64_t first = n * rank / size;
    const int64_t rows = n * (rank + 1) / size - first;
    int64_t ptr[ROWS + 1], cols[ROWS + 1];
    double vals[ROWS + 1];
    for (int64_t i = 0; i <= rows; i++) {
        ptr[i] = i;
        one_column(n, first + i, cols + i);
        vals[i] = value(first + i, first + i);
    }
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, first, rows, ptr, cols, vals,
                              &m));
    return m;
}

/* Column j of B is 1 in rows [from, to), else 0. */
static void set_ones(block *p, int j, int64_t from, int64_t to)
{
    const int64_t first = tacit_matrix_first_row(p->m);
    for (size_t i = 0; i < p->n; i++) {
        const int64_t row = first + (int64_t)i;
        column_b(p, j)[i] = row >= from && row < to ? 1.0 : 0.0;
    }
}

/* Good columns among one that breaks down and one that has too few iterations:
 * each ends in its way, and what the block says is of the worst. */
static void each_column_has_an_end_of_its_own(void **state)
{
    (void)state;
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-9, .max_iterations = 6};
    for (int m = 0; tacit_method_at(m); m++) {
        block p;
        if (tacit_method_at(m)->indefinite) continue; /* none is bad for it */
        open_block(&p, "host", spread(ROWS, diagonal), tacit_method_at(m)->name,
                   "none", 5);
        set_ones(&p, 0, 0, 20);
        set_ones(&p, 1, 0, ROWS - 1);
        set_ones(&p, 2, ROWS - 1, ROWS);
        set_ones(&p, 3, 0, 0);
        set_ones(&p, 4, 3, 5);
        put_block(&p);
        EXPECT(TACIT_BREAKDOWN, run_block(&p, &stop));
        assert_non_null(strstr(tacit_error_message(), "column 3: breakdown"));
        check_block(&p, stop.rtol);
        const bool good[] = {true, false, false, true, true};
        for (int j = 0; j < 5; j++)
            assert_int_equal(p.result[j].converged, good[j]);
        assert_int_equal(p.result[0].iterations, 2);
        assert_int_equal(p.result[1].stop, TACIT_STOP_MAX_ITERATIONS);
        assert_int_equal(p.result[1].iterations, 6);
        assert_int_equal(p.result[2].stop, TACIT_STOP_BREAKDOWN);
        assert_string_equal(p.result[2].breakdown_quantity, "p'Ap");
        assert_int_equal(p.result[3].iterations, 0);
        assert_int_equal(p.result[4].iterations, 2);
        /* without the bad one it is the other that counts */
        set_ones(&p, 2, 0, 0);
        put_block(&p);
        EXPECT(TACIT_NOT_CONVERGED, run_block(&p, &stop));
        assert_non_null(
            strstr(tacit_error_message(), "column 2: not converged"));
        check_block(&p, stop.rtol);
        close_block(&p);
    }
}

static void ranks_without_rows(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    block p;
    open_block(&p, "host", spread(3, small_diagonal), "cg", "none", 6);
    OK(run_block(&p, &stop));
    check_block(&p, stop.rtol);
    close_block(&p);
}

/* A column that is not finite ends it all, and is named. */
static void columns_must_be_finite(void **state)
{
    (void)state;
    block p;
    open_block(&p, "host", gallery_matrix("poisson2d:9"), "cg", "none", 3);
    if (p.n > 0) column_b(&p, 1)[0] = INFINITY;
    p.result[2].converged = true; /* of a run before */
    put_block(&p);
    EXPECT(TACIT_INPUT, run_block(&p, NULL));
    assert_non_null(strstr(tacit_error_message(), "column 2: "));
    assert_false(p.result[1].converged);
    assert_false(p.result[2].converged);
    close_block(&p);
}

/* --- monitors ------------------------------------------------------------- */

typedef struct {
    int64_t next[MOST]; /* the iteration that comes next */
    int calls, stop_at; /* a column, -1: none */
    int steps;          /* of a block of iterations: one call for it */
} watcher;

static int watch_columns(void *ctx, int column, int64_t iteration,
                         double relative)
{
    watcher *w = ctx;
    assert_in_range(column, 0, MOST - 1);
    assert_in_range(iteration, w->next[column],
                    w->next[column] + (w->steps ? w->steps - 1 : 0));
    assert_true(relative > 0.0);
    w->next[column] = iteration + 1;
    return column == w->stop_at && iteration == 4 &&
           tacit_world_rank(test_world()) == 0;
}

static int watch_any(void *ctx, int64_t iteration, double relative)
{
    watcher *w = ctx;
    assert_true(iteration >= 0 && relative > 0.0);
    w->calls++;
    return 0;
}

static void monitors_see_every_column(void **state)
{
    (void)state;
    for (int j = 0; tacit_method_at(j); j++) {
        block p;
        watcher seen = {.stop_at = -1, .steps = tacit_method_at(j)->steps};
        watcher any = {.stop_at = -1};
        open_block(&p, "host", gallery_matrix("poisson2d:20"),
                   tacit_method_at(j)->name, "none", 3);
        tacit_stop stop = {.size = sizeof stop,
                           .rtol = 1e-8,
                           .monitor = watch_any,
                           .column_monitor = watch_columns,
                           .monitor_ctx = &seen};
        OK(run_block(&p, &stop));
        int calls = 0;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(seen.next[i], p.result[i].iterations + 1);
            calls += (int)seen.next[i];
        }
        assert_int_equal(seen.calls, 0);
        put_block(&p);
        stop.column_monitor = NULL;
        stop.monitor_ctx = &any;
        OK(run_block(&p, &stop));
        if (!seen.steps) assert_int_equal(any.calls, calls);
        close_block(&p);
    }
}

/* One rank stops all columns: what was solved before stays so. */
static void one_rank_stops_all(void **state)
{
    (void)state;
    for (int j = 0; tacit_method_at(j); j++) {
        block p;
        watcher seen = {.stop_at = 1, .steps = tacit_method_at(j)->steps};
        open_block(&p, "host", gallery_matrix("poisson2d:20"),
                   tacit_method_at(j)->name, "none", 4);
        const tacit_stop stop = {.size = sizeof stop,
                                 .rtol = 1e-8,
                                 .column_monitor = watch_columns,
                                 .monitor_ctx = &seen};
        EXPECT(TACIT_INTERRUPTED, run_block(&p, &stop));
        assert_non_null(strstr(tacit_error_message(), "interrupted"));
        check_block(&p, stop.rtol);
        for (int i = 1; i < 4; i++) {
            assert_false(p.result[i].converged);
            assert_int_equal(p.result[i].stop, TACIT_STOP_INTERRUPTED);
            assert_true(p.result[i].iterations <= 6);
        }
        close_block(&p);
    }
}

typedef struct {
    block *p;
    int calls;
} nested;

static int run_within(void *ctx, int column, int64_t iteration, double relative)
{
    nested *w = ctx;
    (void)column;
    (void)relative;
    if (iteration > 0) return 0;
    EXPECT(TACIT_INVALID, run_block(w->p, NULL));
    w->calls++;
    return 0;
}

static void no_run_within_a_run(void **state)
{
    (void)state;
    block p;
    nested w = {.p = &p};
    open_block(&p, "host", gallery_matrix("poisson2d:9"), "cg", "none", 2);
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-8,
                             .column_monitor = run_within,
                             .monitor_ctx = &w};
    OK(run_block(&p, &stop));
    assert_int_equal(w.calls, 2);
    close_block(&p);
}

/* --- arguments ------------------------------------------------------------ */

static void refused(block *p, const char *word)
{
    EXPECT(TACIT_INVALID, run_block(p, NULL));
    if (!strstr(tacit_error_message(), word))
        fail_msg("no '%s' in '%s'", word, tacit_error_message());
}

static void arguments_make_sense(void **state)
{
    (void)state;
    block p;
    open_block(&p, "host", gallery_matrix("poisson2d:13"), "cg", "none", 3);
    const block good = p;
    p.k = 0;
    refused(&p, "one at least");
    p.k = -1;
    refused(&p, "one at least");
    p = good;
    p.B_stride = p.n - 1;
    refused(&p, "stride");
    p = good;
    p.X_stride = p.n - 1;
    refused(&p, "stride");
    p = good;
    p.B = NULL;
    refused(&p, "must be there");
    p = good;
    p.result[2].size = 0;
    refused(&p, "size");
    p.result[2].size = sizeof p.result[0] - 8;
    refused(&p, "two sizes");
    p = good;
    const tacit_stop negative = {.size = sizeof negative, .rtol = -1.0};
    EXPECT(TACIT_INVALID, run_block(&p, &negative));
    EXPECT(TACIT_INVALID,
           tacit_solver_run_block(NULL, 1, p.B, p.n, p.X, p.n, NULL, p.result));
    EXPECT(TACIT_INVALID,
           tacit_solver_run_block(p.s, 1, p.B, p.n, p.X, p.n, NULL, NULL));
    OK(run_block(&p, NULL)); /* and nothing is left of it all */
    check_block(&p, 1e-6);
    close_block(&p);
}

static void panels_do_not_overlap(void **state)
{
    (void)state;
    block p;
    open_block(&p, "host", gallery_matrix("poisson2d:13"), "cg", "none", 3);
    const block good = p;
    p.X = p.B;
    refused(&p, "share memory");
    p.X = p.B + 2 * p.B_stride + p.n - 1; /* the last element */
    refused(&p, "share memory");
    p = good;
    p.B = p.X + 2 * p.X_stride + p.n - 1;
    refused(&p, "share memory");
    /* one behind the other is fine */
    double *both = NULL;
    OK(tacit_queue_alloc(p.q, 6 * p.n, &both));
    OK(tacit_queue_fill(p.q, 6 * p.n, 1.0, both));
    OK(tacit_solver_run_block(p.s, 3, both, p.n, both + 3 * p.n, p.n, NULL,
                              p.result));
    tacit_queue_free(p.q, &both);
    p = good;
    close_block(&p);
}

/* A rank that asks for something else ends the call for all. */
static void ranks_agree(void **state)
{
    (void)state;
    const bool last =
        tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1;
    if (tacit_world_size(test_world()) == 1) skip();
    block p;
    open_block(&p, "host", gallery_matrix("poisson2d:13"), "cg", "none", 3);
    if (last) p.k = 2;
    refused(&p, "2 columns on one rank and 3 on another");
    p.k = 3;
    if (last) p.B_stride = 0;
    refused(&p, "stride");
    p.B_stride = p.n + GAP_B;
    OK(run_block(&p, NULL));
    close_block(&p);
}

/* The caller's tacit_result may have fewer members, and fewer bytes. */
static void results_of_an_older_header(void **state)
{
    (void)state;
    typedef struct {
        size_t size;
        bool converged;
        tacit_stop_reason stop;
        int64_t iterations;
    } older;
    older old[2] = {{.size = sizeof *old}, {.size = sizeof *old}};
    block p;
    open_block(&p, "host", gallery_matrix("poisson2d:13"), "cg", "none", 2);
    OK(tacit_solver_run_block(p.s, 2, p.B, p.B_stride, p.X, p.X_stride, NULL,
                              (tacit_result *)(void *)old));
    for (int j = 0; j < 2; j++) {
        assert_int_equal(old[j].size, sizeof *old);
        assert_true(old[j].converged && old[j].iterations > 5);
    }
    close_block(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_single_solves),
        cmocka_unit_test(orders_and_decorators),
        cmocka_unit_test(each_column_has_an_end_of_its_own),
        cmocka_unit_test(ranks_without_rows),
        cmocka_unit_test(columns_must_be_finite),
        cmocka_unit_test(monitors_see_every_column),
        cmocka_unit_test(one_rank_stops_all),
        cmocka_unit_test(no_run_within_a_run),
        cmocka_unit_test(arguments_make_sense),
        cmocka_unit_test(panels_do_not_overlap),
        cmocka_unit_test(ranks_agree),
        cmocka_unit_test(results_of_an_older_header),
    };
    TEST_MPI_MAIN(tests);
}
