/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_reorder.c - internally reordered rows: products, solves and
 * updates. Users see the order of the matrix.
 *
 * RUN: np=1,2,3,4
 * LIMIT: 500
 * LABEL: slow */
#include "changed.h"
#include "comm/setup/alltoall.h"
#include "operator/operator.h"
#include "patterns.h"
#include "problem.h"
#include <tacit/tacit.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- products ------------------------------------------------------------- */

static tacit_queue *open_queue(const char *spec)
{
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), spec, 0, &q));
    return q;
}

static double *vector(tacit_queue *q, size_t n)
{
    double *x = NULL;
    OK(tacit_queue_alloc(q, n, &x));
    return x;
}

static double entry_of_x(int64_t i)
{
    return (double)(1 + i * 7 % 11);
}

/* y = A x by the formula, x and y as the matrix is dealt out. */
static void oracle(const tacit_matrix *m, row_fn row, int64_t n, double *x,
                   double *y)
{
    for (int64_t i = 0; i < m->A.rows; i++) {
        int64_t cols[MOST];
        double vals[MOST];
        const int64_t at = tct_original(m, i);
        const int count = row(n, at, cols, vals);
        x[i] = entry_of_x(at);
        y[i] = 0.0;
        for (int k = 0; k < count; k++) y[i] += vals[k] * entry_of_x(cols[k]);
    }
}

/* A x is what the formula says: twice, the second time with other x between. */
static void assert_product(tacit_queue *q, const tacit_operator *A,
                           const tacit_matrix *m, row_fn row, int64_t n,
                           double tolerance)
{
    const size_t rows = (size_t)m->A.rows;
    double *x = vector(q, rows), *y = vector(q, rows);
    double *here = calloc(rows + 1, sizeof *here);
    double *right = calloc(rows + 1, sizeof *right);
    double *got = calloc(rows + 1, sizeof *got);
    oracle(m, row, n, here, right);
    for (int turn = 0; turn < 2; turn++) {
        OK(tacit_queue_put(q, rows, here, x));
        OK(tacit_operator_apply(A, x, y));
        OK(tacit_queue_get(q, rows, y, got));
        for (size_t i = 0; i < rows; i++)
            if (!(fabs(got[i] - right[i]) <= tolerance * fabs(right[i])))
                fail_msg("row %zu of rank %d: %.17g, not %.17g", i,
                         tacit_world_rank(test_world()), got[i], right[i]);
        OK(tacit_queue_get(q, rows, x, got));
        assert_memory_equal(got, here, rows * sizeof *got); /* only read */
        OK(tacit_operator_apply(A, y, x));
    }
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
    free(here);
    free(right);
    free(got);
}

/* Dense blocks of `block_size` on a grid, its points in disorder. */
static int block_size;
static int blocks_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int64_t near[MOST];
    double unused[MOST];
    int count = 0;
    const int b = block_size;
    const int64_t points = n / b, stride = 53; /* prime, and no divisor */
    int64_t point = 0;
    while (point * stride % points != i / b) point++;
    const int blocks = grid_row(points, point, near, unused);
    for (int k = 0; k < blocks; k++)
        for (int c = 0; c < b; c++) {
            cols[count] = near[k] * stride % points * b + c;
            vals[count] = cols[count] == i ? 40.0 : -1.0;
            count++;
        }
    return count;
}

typedef struct {
    const char *name;
    row_fn row;
    int64_t n;
    bool one_way;
    double tolerance;
} sample;

static const sample samples[] = {
    {"grid in disorder", shuffled_grid_row, GRID, false, 0.0},
    {"line", line_row, 41, false, 0.0},
    {"blocks in a line", block_row, 360, false, 0.0},
    {"scattered", scattered_row, 501, true, 1e-15},
    {"upper", upper_row, 60, true, 0.0},
    {"dense", dense_row, 43, false, 0.0},
    {"pieces", pieces_row, 199, false, 0.0},
    {"diagonal", own_row, 77, false, 0.0},
    {"two rows", line_row, 2, false, 0.0},
    {"one row", own_row, 1, false, 0.0},
    {"star", star_row, 70, false, 0.0},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* Dealt out to all ranks in pieces, where there is something to deal. */
static tacit_matrix *scattered(row_fn row, int64_t n, int64_t piece)
{
    static char text[1 << 16];
    const int size = tacit_world_size(test_world());
    tacit_matrix *m = make(row, n);
    char *at = text;
    if (n < 40) return m;
    for (int64_t i = 0; i < n; i++)
        at += sprintf(at, "%d\n", (int)(i / piece * 7 / 3 % size));
    const char *path = temporary("parts", text);
    OK(tacit_matrix_partition(m, "file", path));
    discard(path);
    return m;
}

static tacit_matrix *dealt(row_fn row, int64_t n, bool moved, int64_t piece)
{
    return moved ? scattered(row, n, piece) : make(row, n);
}

static const char *const formats[] = {"csr", "sell", "bsell", "auto"};
static const char *const orders[] = {"none", "rcm", "metis", "auto"};
enum { FORMATS = 4, ORDERS = 4 };

static void expect_products(const sample *s, tacit_matrix *m, const char *spec,
                            const char *format, const char *order)
{
    char name[40];
    tacit_operator *A = NULL;
    tacit_queue *q = open_queue(spec);
    snprintf(name, sizeof name, "%s@%s", format, order);
    const tacit_status status = tacit_operator_create(q, m, name, &A);
    if (status == TACIT_UNSUPPORTED) {
        const bool metis = strcmp(order, "metis") == 0 && s->one_way;
        if (!metis && strcmp(format, "bsell") != 0)
            fail_msg("%s of %s: %s", name, s->name, tacit_error_message());
        assert_message(metis ? "" : "no dense blocks");
        assert_null(A);
    } else {
        OK(status);
        tacit_operator_info info = {.size = sizeof info};
        tacit_operator_describe(A, &info);
        assert_string_equal(info.order,
                            strcmp(order, "auto") == 0 ? "none" : order);
        assert_true(info.order_seconds >= 0.0 &&
                    info.order_seconds <= info.setup_seconds);
        if (strcmp(info.order, "none") == 0)
            assert_true(info.order_seconds == 0.0);
        assert_product(q, A, m, s->row, s->n, s->tolerance);
    }
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
}

static void products_are_those_of_the_matrix(void **state)
{
    (void)state;
    for (int s = 0; s < SAMPLES; s++)
        for (int moved = 0; moved < 2; moved++) {
            tacit_matrix *m = dealt(samples[s].row, samples[s].n, moved, 2);
            for (int f = 0; f < FORMATS; f++)
                for (int o = 0; o < ORDERS; o++)
                    expect_products(&samples[s], m, "host", formats[f],
                                    orders[o]);
            expect_products(&samples[s], m, "memcheck:host", "sell", "rcm");
            expect_products(&samples[s], m, "chaos(5):memcheck:host", "csr",
                            "rcm");
            tacit_matrix_destroy(&m);
        }
}

static void one_way_patterns_are_not_for_metis(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(upper_row, 800);
    tacit_operator *A = NULL;
    assert_int_equal(tacit_operator_create(q, m, "sell@metis", &A),
                     TACIT_UNSUPPORTED);
    assert_message(
        "order metis: not for a pattern that is not symmetric, use rcm");
    assert_null(A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* Blocks stay whole, and stay what bsell stores. */
static void dense_blocks_stay_whole(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    for (block_size = 2; block_size <= 6; block_size++)
        for (int o = 0; o < 3; o++) {
            const int64_t points = 2 * ACROSS, n = points * block_size;
            char name[24], blocks[24];
            tacit_matrix *m = make(blocks_row, n);
            const bool cut = m->A.rows % block_size || m->A.first % block_size;
            bool any = false;
            OK(tct_any(m->world, cut, &any));
            tacit_operator *A = NULL;
            snprintf(name, sizeof name, "bsell@%s", orders[o]);
            const tacit_status status = tacit_operator_create(q, m, name, &A);
            if (!any) {
                OK(status);
                tacit_operator_info info = {.size = sizeof info};
                tacit_operator_describe(A, &info);
                snprintf(blocks, sizeof blocks, "%dx%d blocks", block_size,
                         block_size);
                assert_non_null(strstr(info.detail, blocks));
                const tct_order *order = A->order;
                for (int64_t k = 0; order && k < m->A.rows; k++)
                    assert_int_equal(order->old[k],
                                     order->old[k - k % block_size] +
                                         k % block_size);
            }
            if (status == TACIT_OK) assert_product(q, A, m, blocks_row, n, 0.0);
            tacit_operator_destroy(&A);
            tacit_matrix_destroy(&m);
        }
    tacit_queue_destroy(&q);
}

/* More rows than are one part of METIS's, on every rank. */
static void large_parts_are_right_too(void **state)
{
    (void)state;
    enum { N = ACROSS * 1000 };
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(grid_row, N);
    for (int o = 0; o < 3; o++) {
        char name[24];
        tacit_operator *A = NULL;
        snprintf(name, sizeof name, "auto@%s", orders[o]);
        OK(tacit_operator_create(q, m, name, &A));
        assert_product(q, A, m, grid_row, N, 0.0);
        tacit_operator_destroy(&A);
    }
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

static void vectors_that_overlap_are_refused(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(line_row, 40);
    for (int o = 0; o < 2; o++) {
        char name[24];
        tacit_operator *A = NULL;
        tacit_solver *s = NULL;
        tacit_result result = {.size = sizeof result};
        const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
        snprintf(name, sizeof name, "csr@%s", orders[o]);
        OK(tacit_operator_create(q, m, name, &A));
        OK(tacit_solver_create(q, A, "cg", &s));
        const size_t n = (size_t)tacit_operator_local_rows(A);
        double *x = vector(q, 2 * n);
        q_fill(q, 2 * n, 1.0, x);
        assert_int_equal(tacit_solver_run(s, x, x, &stop, &result),
                         TACIT_INVALID);
        assert_message("b and x share memory");
        assert_int_equal(tacit_solver_run(s, x, x + n / 2, &stop, &result),
                         TACIT_INVALID);
        assert_int_equal(tacit_operator_apply(A, x, x), TACIT_INVALID);
        assert_message("x and y share memory");
        assert_int_equal(tacit_operator_apply(A, x + 1, x), TACIT_INVALID);
        OK(tacit_operator_apply(A, x, x + n));
        tacit_queue_free(q, &x);
        tacit_solver_destroy(&s);
        tacit_operator_destroy(&A);
    }
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

static void unknown_orders_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "sell@foo", "@",        "sell@",      "csr@RCM",
        "csr@rcm ", "@rcm@rcm", "csr@metis2", "@rcmrcmrcmrcmrcmrcm"};
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(line_row, 40);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tacit_operator *A = NULL;
        assert_int_equal(tacit_operator_create(q, m, names[i], &A),
                         TACIT_INVALID);
        assert_message("unknown order '");
        assert_message("auto, none, rcm or metis");
        assert_null(A);
    }
    tacit_operator *A = NULL;
    OK(tacit_operator_create(q, m, "@rcm", &A)); /* of any format */
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(A, &info);
    assert_string_equal(info.order, "rcm");
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* --- solves --------------------------------------------------------------- */

static void open_problem(problem *p, const char *spec, const char *format,
                         const tacit_matrix *m, const char *method)
{
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    p->q = open_queue(spec);
    OK(tacit_operator_create(p->q, m, format, &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->b = vector(p->q, p->n);
    p->x = vector(p->q, p->n);
    p->xstar = vector(p->q, p->n);
    OK(tacit_operator_manufacture(p->A, m, 5, p->xstar, p->b));
    q_fill(p->q, p->n, 0.0, p->x);
}

typedef struct {
    int64_t calls, at;
    double first, last;
} watch;

static int note(void *ctx, int64_t iteration, double residual)
{
    watch *w = ctx;
    assert_true(iteration > w->at);
    w->calls++;
    w->at = iteration;
    if (iteration == 0) w->first = residual;
    w->last = residual;
    return 0;
}

static tacit_status solve(problem *p, double rtol, watch *w)
{
    *w = (watch){.at = -1};
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .monitor = note, .monitor_ctx = w};
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* || b - A x || / || b || with the user's vectors. */
static double residual(const problem *p, const double *x)
{
    double *r = vector(p->q, p->n), norm = 0.0, of_b = 0.0;
    OK(tacit_operator_apply(p->A, x, r));
    OK(tacit_queue_distance(p->q, p->n, p->b, r, &norm));
    OK(tacit_queue_distance(p->q, p->n, p->b, NULL, &of_b));
    tacit_queue_free(p->q, &r);
    return norm / of_b;
}

/* A solve from x, and what it must be: x the solution in the order of the
 * matrix, and each number of the report that of the user's vectors. Methods
 * with `steps` tell of blocks. */
static void assert_solved(problem *p, int steps, double error_most)
{
    watch w;
    double error = 1.0;
    const double guess = residual(p, p->x);
    OK(solve(p, 1e-9, &w));
    assert_true(p->result.converged);
    assert_true(fabs(w.first - guess) <= 1e-10 * guess + 1e-14);
    assert_true(w.last == p->result.relative_residual);
    assert_int_equal(w.at, p->result.iterations);
    if (steps == 0) assert_int_equal(w.calls, w.at + 1);
    const double true_one = residual(p, p->x);
    assert_true(true_one <= 1.001e-9);
    assert_true(fabs(true_one - p->result.true_relative_residual) <=
                1e-3 * true_one + 1e-14);
    OK(tacit_queue_distance(p->q, p->n, p->x, p->xstar, &error));
    if (!(error <= error_most)) fail_msg("an error of %g", error);
}

static void check_method(const tacit_matrix *m, const char *spec,
                         const char *format, const char *method,
                         const int64_t iterations[2], double *x)
{
    problem p;
    const int steps = tacit_method_find(method)->steps;
    open_problem(&p, spec, format, m, method);
    assert_solved(&p, steps, 1e-6);
    if (iterations)
        assert_true(llabs((long long)(p.result.iterations - iterations[0])) <=
                    2);
    if (x) OK(tacit_queue_get(p.q, p.n, p.x, x));
    q_axpy(p.q, p.n, 0.5, NULL, p.xstar, p.x); /* a guess that is far off */
    assert_solved(&p, steps, 1e-6);
    if (iterations)
        assert_true(llabs((long long)(p.result.iterations - iterations[1])) <=
                    2);
    q_copy(p.q, p.n, p.xstar, p.x); /* and one that is right */
    const int64_t before = p.result.iterations;
    assert_solved(&p, steps, 1e-6);
    assert_int_equal(p.result.iterations, 0);
    assert_true(before > 0);
    q_fill(p.q, p.n, 0.0, p.b); /* and b = 0, of which x = 0 */
    watch w;
    double norm = 1.0;
    OK(solve(&p, 1e-9, &w));
    OK(tacit_queue_distance(p.q, p.n, p.x, NULL, &norm));
    assert_true(norm == 0.0);
    close_problem(&p);
}

static void count_iterations(const tacit_matrix *m, const char *method,
                             int64_t iterations[2])
{
    problem p;
    watch w;
    open_problem(&p, "host", "auto@none", m, method);
    OK(solve(&p, 1e-9, &w));
    iterations[0] = p.result.iterations;
    q_axpy(p.q, p.n, 0.5, NULL, p.xstar, p.x);
    OK(solve(&p, 1e-9, &w));
    iterations[1] = p.result.iterations;
    close_problem(&p);
}

static void solves_end_in_the_order_of_the_matrix(void **state)
{
    (void)state;
    static const char *const paths[][2] = {
        {"host", "csr@rcm"},          {"host", "sell@rcm"},
        {"host", "auto@metis"},       {"memcheck:host", "auto@rcm"},
        {"chaos(3):host", "csr@rcm"}, {"chaos(8):memcheck:host", "sell@metis"}};
    for (int moved = 0; moved < 2; moved++) {
        tacit_matrix *m = dealt(shuffled_grid_row, GRID, moved, 3);
        for (int i = 0; tacit_method_at(i); i++) {
            const char *method = tacit_method_at(i)->name;
            int64_t iterations[2];
            count_iterations(m, method, iterations);
            /* on several ranks each path with every second method */
            const size_t step = tacit_world_size(test_world()) > 1 ? 2 : 1;
            for (size_t k = (size_t)i % step; k < sizeof paths / sizeof *paths;
                 k += step)
                check_method(m, paths[k][0], paths[k][1], method, iterations,
                             NULL);
        }
        tacit_matrix_destroy(&m);
    }
}

/* b = A x* of the manufactured problem is the same in any order. */
static void manufactured_problems_are_those_of_the_matrix(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    const size_t n = (size_t)m->A.rows;
    double *first = calloc(2 * n + 1, sizeof *first);
    double *other = calloc(2 * n + 1, sizeof *other);
    for (int o = 0; o < 3; o++) {
        char name[24];
        problem p;
        snprintf(name, sizeof name, "csr@%s", orders[o]);
        open_problem(&p, "host", name, m, "cg");
        double *to = o ? other : first;
        OK(tacit_queue_get(p.q, n, p.xstar, to));
        OK(tacit_queue_get(p.q, n, p.b, to + n));
        close_problem(&p);
        if (o == 0) continue;
        assert_memory_equal(first, other, n * sizeof *first);
        for (size_t i = n; i < 2 * n; i++)
            assert_true(fabs(first[i] - other[i]) <= 1e-16);
    }
    free(first);
    free(other);
    tacit_matrix_destroy(&m);
}

/* Entries so small that what is stored is the matrix times a power of 2. */
static int tiny_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = shuffled_grid_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) vals[k] = ldexp(vals[k], -565);
    return count;
}

static int huge_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = shuffled_grid_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) vals[k] = ldexp(vals[k], 900);
    return count;
}

static void far_from_1_and_in_another_order(void **state)
{
    (void)state;
    static const row_fn rows[] = {tiny_row, huge_row};
    for (int r = 0; r < 2; r++) {
        tacit_matrix *m = make(rows[r], GRID);
        tacit_queue *q = open_queue("host");
        tacit_operator *A = NULL;
        OK(tacit_operator_create(q, m, "sell@rcm", &A));
        assert_product(q, A, m, rows[r], GRID, 0.0);
        tacit_operator_destroy(&A);
        tacit_queue_destroy(&q);
        for (int i = 0; tacit_method_at(i); i++)
            check_method(m, "host", "auto@rcm", tacit_method_at(i)->name, NULL,
                         NULL);
        tacit_matrix_destroy(&m);
    }
}

static void outcomes_leave_x_in_the_order_of_the_matrix(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    for (int i = 0; tacit_method_at(i); i++) {
        problem p;
        const tacit_stop stop = {
            .size = sizeof stop, .rtol = 1e-12, .max_iterations = 9};
        open_problem(&p, "host", "sell@rcm", m, tacit_method_at(i)->name);
        assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result),
                         TACIT_NOT_CONVERGED);
        const double left = residual(&p, p.x);
        assert_true(fabs(left - p.result.true_relative_residual) <=
                    1e-6 * left);
        q_fill(p.q, p.n, NAN, p.b);
        q_fill(p.q, p.n, 3.0, p.x);
        assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result),
                         TACIT_INPUT);
        double norm = 0.0;
        OK(tacit_queue_distance(p.q, p.n, p.x, NULL,
                                &norm)); /* x is as it was */
        assert_true(fabs(norm - 3.0 * sqrt(GRID)) < 1e-9);
        close_problem(&p);
    }
    tacit_matrix_destroy(&m);
}

static void running_in_another_order_never_allocates(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    for (int i = 0; tacit_method_at(i); i++) {
        problem p;
        watch w;
        open_problem(&p, "host", "sell@rcm", m, tacit_method_at(i)->name);
        tct_memory_fail_at(1);
        const tacit_status status = solve(&p, 1e-9, &w);
        const tacit_status applied = tacit_operator_apply(p.A, p.x, p.xstar);
        tct_memory_fail_at(0);
        OK(status);
        OK(applied);
        close_problem(&p);
    }
    tacit_matrix_destroy(&m);
}

static void no_memory_for_an_order_leaks_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"csr@rcm", "bsell@rcm", "sell@metis"};
    tacit_queue *q = open_queue("host");
    block_size = 3;
    tacit_matrix *m = make(blocks_row, 3 * 4 * ACROSS);
    tacit_operator *first = NULL;
    /* the matrix keeps a count of those that share its rows */
    OK(tacit_operator_create(q, m, "csr", &first));
    tacit_operator_destroy(&first);
    const size_t before = tct_memory_blocks();
    for (int f = 0; f < 3; f++) {
        bool finished = false;
        for (long k = 1; k < 400 && !finished; k++) {
            tacit_operator *A = NULL;
            tacit_solver *s = NULL;
            tct_memory_fail_at(k);
            tacit_status status = tacit_operator_create(q, m, names[f], &A);
            if (status == TACIT_OK)
                status = tacit_solver_create(q, A, "cg", &s);
            if (status == TACIT_OK) status = tacit_operator_update(A, m);
            tct_memory_fail_at(0);
            finished = status == TACIT_OK;
            if (!finished && status != TACIT_NO_MEMORY)
                assert_int_equal(status, TACIT_UNSUPPORTED); /* cut blocks */
            tacit_solver_destroy(&s);
            tacit_operator_destroy(&A);
            assert_int_equal(tct_memory_blocks(), before);
        }
        assert_true(finished || tacit_world_size(test_world()) == 3);
    }
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* --- new values ----------------------------------------------------------- */

static double factor; /* of all values */

static int changed_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = change.base(n, i, cols, vals);
    for (int k = 0; k < count; k++)
        vals[k] *= factor * (double)(1 + (i + cols[k]) % 3);
    return change_entry(i, count, cols, vals);
}

static void new_values_are_multiplied_by(void **state)
{
    (void)state;
    static const double factors[] = {2.0, -3.0, 0x1p-600};
    tacit_queue *q = open_queue("host");
    change.row = -1;
    for (int s = 0; s < SAMPLES; s++)
        for (int f = 0; f < 3; f++)
            for (int o = 1; o < 3; o++) {
                char name[24];
                change.base = samples[s].row;
                factor = factors[(s + f) % 3];
                tacit_operator *A = NULL;
                tacit_matrix *old =
                    dealt(samples[s].row, samples[s].n, f > 0, 2);
                tacit_matrix *new = dealt(changed_row, samples[s].n, f > 0, 2);
                snprintf(name, sizeof name, "%s@%s", formats[f], orders[o]);
                const tacit_status status =
                    tacit_operator_create(q, old, name, &A);
                if (status == TACIT_OK) {
                    OK(tacit_operator_update(A, new));
                    assert_product(q, A, new, changed_row, samples[s].n,
                                   samples[s].tolerance);
                    OK(tacit_operator_update(A, old));
                    assert_product(q, A, old, samples[s].row, samples[s].n,
                                   samples[s].tolerance);
                } else {
                    assert_int_equal(status, TACIT_UNSUPPORTED);
                }
                tacit_operator_destroy(&A);
                tacit_matrix_destroy(&new);
                tacit_matrix_destroy(&old);
            }
    tacit_queue_destroy(&q);
}

/* Entry (i, j) too few or too many is named by these numbers, and what was
 * there is still multiplied by if only one rank has rows. */
static void expect_named(tacit_queue *q, const char *format, row_fn base,
                         int64_t n, int64_t piece, int64_t i, int64_t j)
{
    change.base = base;
    change.row = i;
    change.col = j;
    change.more = !stored(base, n, i, j);
    factor = 0x1p-300;
    for (int moved = 0; moved < 2; moved++) {
        tacit_matrix *old = dealt(base, n, moved, piece);
        tacit_matrix *new = dealt(changed_row, n, moved, piece);
        tacit_operator *A = NULL;
        OK(tacit_operator_create(q, old, format, &A));
        assert_int_equal(tacit_operator_update(A, new), TACIT_INVALID);
        char sentence[160];
        snprintf(sentence, sizeof sentence,
                 "row %" PRId64 ", column %" PRId64 " was %s", i + 1, j + 1,
                 change.more ? "not stored and is now"
                             : "stored and is not now");
        assert_message(sentence);
        if (tacit_world_size(test_world()) == 1)
            assert_product(q, A, old, base, n, 0.0);
        OK(tacit_operator_update(A, old));
        assert_product(q, A, old, base, n, 0.0);
        tacit_operator_destroy(&A);
        tacit_matrix_destroy(&new);
        tacit_matrix_destroy(&old);
    }
}

static void entries_are_named_as_the_user_knows_them(void **state)
{
    (void)state;
    static const char *const names[] = {"csr@rcm", "sell@rcm", "sell@metis"};
    static const int64_t rows[] = {0, 480, GRID - 1};
    tacit_queue *q = open_queue("host");
    for (int f = 0; f < 3; f++)
        expect_each_named(expect_named, q, names[f],
                          (int)(sizeof rows / sizeof *rows), rows);
    tacit_queue_destroy(&q);
}

static void entries_of_ordered_blocks_are_named(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    for (int64_t i = 0; i < 360; i += 37)
        for (int64_t j = i % 50; j < 360; j += 113)
            if (!stored(block_row, 360, i, j))
                expect_named(q, "bsell@rcm", block_row, 360, 3, i, j);
    tacit_queue_destroy(&q);
}

/* --- measured ------------------------------------------------------------- */

static int told; /* lines about an order that was tried */
static void count_orders(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    told += strstr(text, "order rcm found in") != NULL;
}

/* Five points on a LARGE x LARGE grid, in disorder: its rows of this rank. */
enum { LARGE = 500, MANY = LARGE * LARGE };
static const int32_t *place, *place_was;
static int large_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int64_t p = place_was[i], x = p % LARGE;
    const int64_t to[] = {p - LARGE, x > 0 ? p - 1 : -1, p,
                          x < LARGE - 1 ? p + 1 : -1, p + LARGE};
    int count = 0;
    for (int k = 0; k < 5; k++) {
        if (to[k] < 0 || to[k] >= n) continue;
        cols[count] = place[to[k]];
        vals[count++] = to[k] == p ? 4.0 : -1.0;
    }
    return count;
}

static tacit_matrix *make_large(int64_t n)
{
    const int64_t first = my_first(n), rows = my_last(n) - first;
    const size_t room = 5 * (size_t)rows + 1;
    int64_t *ptr = calloc((size_t)rows + 1, sizeof *ptr);
    int64_t *cols = calloc(room, sizeof *cols);
    double *vals = calloc(room, sizeof *vals);
    for (int64_t i = 0; i < rows; i++)
        ptr[i + 1] =
            ptr[i] + large_row(n, first + i, cols + ptr[i], vals + ptr[i]);
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, first, rows, ptr, cols, vals,
                              &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

static void auto_measures_a_large_matrix(void **state)
{
    (void)state;
    int32_t *at = disorder(MANY, 11), *was = inverse(at, MANY);
    place = at;
    place_was = was;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make_large(MANY);
    tacit_set_log(count_orders, NULL);
    for (int f = 0; f < 2; f++) {
        tacit_operator *A = NULL;
        tacit_operator_info info = {.size = sizeof info};
        told = 0;
        OK(tacit_operator_create(q, m, f ? "csr" : NULL, &A));
        tacit_operator_describe(A, &info);
        /* a rank's share of it is too small to try */
        assert_int_equal(told, tacit_world_size(test_world()) == 1);
        if (!told) assert_string_equal(info.order, "none");
        assert_true(strcmp(info.order, "none") == 0
                        ? info.order_seconds == 0.0
                        : strcmp(info.order, "rcm") == 0 &&
                              info.order_seconds > 0.0);
        if (tacit_world_size(test_world()) == 1)
            print_message("order %s\n", info.order);
        assert_product(q, A, m, large_row, MANY, 0.0);
        OK(tacit_operator_update(A, m));
        assert_product(q, A, m, large_row, MANY, 0.0);
        tacit_operator_destroy(&A);
    }
    tacit_set_log(NULL, NULL);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
    free(at);
    free(was);
}

/* What is tried only since it may be faster must not fail for want of memory:
 * an allocation that fails then leaves the order as it is. */
static void auto_without_memory_leaves_rows_as_they_come(void **state)
{
    (void)state;
    if (tacit_world_size(test_world()) > 1) skip(); /* nothing is tried */
    int32_t *at = disorder(MANY, 11), *was = inverse(at, MANY);
    place = at;
    place_was = was;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make_large(MANY);
    const size_t before = tct_memory_blocks();
    int gave_up = 0, refused = 0;
    tacit_set_log(count_orders, NULL);
    for (long k = 1; k < 300 && gave_up < 3; k++) {
        tacit_operator *A = NULL;
        told = 0;
        tct_memory_fail_at(k);
        const tacit_status status = tacit_operator_create(q, m, "csr", &A);
        tct_memory_fail_at(0);
        if (status != TACIT_OK) {
            refused++;
            assert_int_equal(status, TACIT_NO_MEMORY);
        } else if (!told) {
            if (gave_up++ == 0) assert_product(q, A, m, large_row, MANY, 0.0);
        }
        tacit_operator_destroy(&A);
        assert_int_equal(tct_memory_blocks(), before);
    }
    tacit_set_log(NULL, NULL);
    assert_true(gave_up == 3 && refused > 0);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
    free(at);
    free(was);
}

/* Rows that are alike but for their place are stored as runs, without a number
 * for each column, however far the columns are: no order is looked for. */
static void grids_in_order_need_no_other(void **state)
{
    (void)state;
    static const char *const grids[] = {"poisson2d:40000x30",
                                        "elasticity3d:1200x10x3"};
    tacit_queue *q = open_queue("host");
    tacit_set_log(count_orders, NULL);
    for (int k = 0; k < 2; k++) {
        tacit_matrix *m = NULL;
        tacit_operator *A = NULL;
        tacit_operator_info info = {.size = sizeof info};
        told = 0;
        OK(tacit_matrix_open(test_world(), grids[k], NULL, &m));
        OK(tacit_operator_take(q, m, NULL, &A));
        tacit_operator_describe(A, &info);
        assert_string_equal(info.order, "none");
        assert_int_equal(told, 0);
        tacit_operator_destroy(&A);
        tacit_matrix_destroy(&m);
    }
    tacit_set_log(NULL, NULL);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_matrix),
        cmocka_unit_test(one_way_patterns_are_not_for_metis),
        cmocka_unit_test(dense_blocks_stay_whole),
        cmocka_unit_test(large_parts_are_right_too),
        cmocka_unit_test(vectors_that_overlap_are_refused),
        cmocka_unit_test(unknown_orders_are_refused),
        cmocka_unit_test(solves_end_in_the_order_of_the_matrix),
        cmocka_unit_test(manufactured_problems_are_those_of_the_matrix),
        cmocka_unit_test(far_from_1_and_in_another_order),
        cmocka_unit_test(outcomes_leave_x_in_the_order_of_the_matrix),
        cmocka_unit_test(running_in_another_order_never_allocates),
        cmocka_unit_test(no_memory_for_an_order_leaks_nothing),
        cmocka_unit_test(new_values_are_multiplied_by),
        cmocka_unit_test(entries_are_named_as_the_user_knows_them),
        cmocka_unit_test(entries_of_ordered_blocks_are_named),
        cmocka_unit_test(auto_measures_a_large_matrix),
        cmocka_unit_test(auto_without_memory_leaves_rows_as_they_come),
        cmocka_unit_test(grids_in_order_need_no_other),
    };
    TEST_MPI_MAIN(tests);
}
