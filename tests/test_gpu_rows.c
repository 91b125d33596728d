/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_rows.c - triangular solves by rows on the cuda device: against
 * the host, for all kinds of dependencies; the same bits again and again; cg
 * with ic0 in every loop. Only in builds with CUDA.
 *
 * LABEL: gpu */
#include "gpu.h"
#include "trisolve/gpu/rows.h"

/* --- matrices ------------------------------------------------------------- */

typedef struct {
    int64_t n, *ptr;
    int32_t *col;
    double *val, *inverse;
} lower;

/* Columns below i of row i, each once, into `col` [64]. */
typedef int (*below_fn)(int64_t i, int32_t *col);

static int nothing(int64_t i, int32_t *col)
{
    (void)i;
    (void)col;
    return 0;
}

static int the_one_before(int64_t i, int32_t *col)
{
    col[0] = (int32_t)(i - 1);
    return i > 0;
}

/* As of a grid of SIDE in each of three directions. */
enum { SIDE = 23 };
static int grid(int64_t i, int32_t *col)
{
    int count = 0;
    if (i >= SIDE * SIDE) col[count++] = (int32_t)(i - SIDE * SIDE);
    if (i / SIDE % SIDE > 0) col[count++] = (int32_t)(i - SIDE);
    if (i % SIDE > 0) col[count++] = (int32_t)(i - 1);
    return count;
}

/* Up to nine, anywhere. */
static int any(int64_t i, int32_t *col)
{
    int count = 0;
    for (int k = 0; k < 9 && i > 0; k++) {
        const int32_t c =
            (int32_t)(tct_mix((uint64_t)(16 * i + k)) % (uint64_t)i);
        bool there = false;
        for (int j = 0; j < count; j++) there = there || col[j] == c;
        if (!there) col[count++] = c;
    }
    return count;
}

/* Sixty, more or less: a row has several lanes. */
static int many(int64_t i, int32_t *col)
{
    int count = 0;
    for (int k = 1; k <= 60 + i % 4; k++)
        if (i >= 7 * k) col[count++] = (int32_t)(i - 7 * k);
    return count;
}

/* Each 50th row has many, of which most are near. */
static int few_long_rows(int64_t i, int32_t *col)
{
    int count = 0;
    if (i % 50 != 49) return the_one_before(i, col);
    for (int k = 1; k < 60 && k <= i; k++) col[count++] = (int32_t)(i - k);
    return count;
}

static lower make(int64_t n, below_fn below)
{
    lower L = {.n = n, .ptr = calloc((size_t)n + 1, sizeof *L.ptr)};
    int32_t *col = malloc((size_t)(64 * n + 1) * sizeof *col);
    assert_true(L.ptr && col);
    for (int64_t i = 0; i < n; i++)
        L.ptr[i + 1] = L.ptr[i] + below(i, col + L.ptr[i]);
    L.col = col;
    L.val = random_vector((size_t)L.ptr[n], 3);
    L.inverse = random_vector((size_t)n, 4);
    for (int64_t k = 0; k < L.ptr[n]; k++) L.val[k] *= 0.3;
    for (int64_t i = 0; i < n; i++) L.inverse[i] = 0.8 + 0.1 * L.inverse[i];
    return L;
}

static void drop(lower *L)
{
    free(L->ptr);
    free(L->col);
    free(L->val);
    free(L->inverse);
}

/* --- solves --------------------------------------------------------------- */

/* y = (L L')^-1 x on the host, row k of L being element place[k]. */
static double *wanted(const lower *L, const int32_t *place, const double *x)
{
    double *y = host_vector((size_t)L->n, 0.0);
    double *t = host_vector((size_t)L->n, 0.0);
    for (int64_t i = 0; i < L->n; i++) {
        t[i] = x[place ? place[i] : i];
        for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; k++)
            t[i] -= L->val[k] * t[L->col[k]];
        t[i] *= L->inverse[i];
    }
    for (int64_t i = L->n - 1; i >= 0; i--) {
        t[i] *= L->inverse[i];
        for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; k++)
            t[L->col[k]] -= L->val[k] * t[i];
        y[place ? place[i] : i] = t[i];
    }
    free(t);
    return y;
}

/* As panels of a column each. */
static tct_rows *rows_of(tacit_queue *q, const lower *L, const int32_t *place)
{
    const size_t n = (size_t)L->n, entries = n + (size_t)L->ptr[n];
    int64_t *first = malloc((n + 1) * sizeof *first);
    int64_t *start = calloc(n + 2, sizeof *start);
    int32_t *row = malloc(entries * sizeof *row);
    double *value = malloc(entries * sizeof *value);
    tct_rows *R = NULL;
    assert_true(first && start && row && value);
    for (size_t i = 0; i < n; i++) start[i + 2] = 1;
    for (int64_t k = 0; k < L->ptr[n]; k++) start[L->col[k] + 2]++;
    for (size_t i = 0; i < n; i++) start[i + 2] += start[i + 1];
    for (int64_t i = 0; i < L->n; i++) {
        first[i] = i;
        row[start[i + 1]] = (int32_t)i;
        value[start[i + 1]++] = 1.0 / L->inverse[i];
        for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; k++) {
            const int64_t at = start[L->col[k] + 1]++;
            row[at] = (int32_t)i;
            value[at] = L->val[k];
        }
    }
    first[n] = L->n;
    const tacit_factor_panels P = {.size = sizeof P,
                                   .kind = TACIT_FACTOR_IC0,
                                   .rows = L->n,
                                   .panels = (int32_t)n,
                                   .first = first,
                                   .row_start = start,
                                   .row = row,
                                   .value_start = start,
                                   .value = value};
    OK(tct_rows_create(q, &P, place, &R));
    free(first);
    free(start);
    free(row);
    free(value);
    return R;
}

static void check(const char *what, int64_t n, below_fn below, bool turned,
                  int solves)
{
    tacit_queue *q = open_queue(TEST_DEVICE);
    lower L = make(n, below);
    int32_t *place = malloc((size_t)(n + 1) * sizeof *place);
    assert_non_null(place);
    for (int64_t i = 0; i < n; i++) place[i] = (int32_t)(n - 1 - i);
    tct_rows *R = rows_of(q, &L, turned ? place : NULL);
    double *x = random_vector((size_t)n, 5), *first = NULL;
    double *right = wanted(&L, turned ? place : NULL, x);
    double *there = device_vector(q, (size_t)n, x);
    for (int k = 0; k < solves; k++) {
        double *y = poisoned_vector(q, (size_t)n);
        OK(tct_rows_solve(R, q, there, y));
        double *got = host_copy(q, (size_t)n, y);
        const double apart = distance_of((size_t)n, got, right);
        if (!(apart <= 1e-12 * norm_of((size_t)n, right)))
            fail_msg("%s, solve %d: %g away", what, k, apart);
        if (!first) first = got;
        else if (!same_bits(first, got, (size_t)n))
            fail_msg("%s, solve %d: other bits", what, k);
        if (got != first) free(got);
        tacit_queue_free(q, &y);
    }
    tct_rows_destroy(&R);
    tacit_queue_free(q, &there);
    free(first);
    free(right);
    free(x);
    free(place);
    drop(&L);
    tacit_queue_destroy(&q);
}

static void rows_wait_in_all_ways(void **state)
{
    (void)state;
    check("a diagonal", 1000, nothing, false, 3);
    check("one row", 1, nothing, true, 3);
    check("a chain", 3001, the_one_before, false, 3);
    check("a chain, turned", 777, the_one_before, true, 3);
    check("a grid", SIDE * SIDE * SIDE, grid, true, 5);
    check("any", 20000, any, false, 5);
    check("many", 9000, many, true, 5);
    check("few long rows", 4000, few_long_rows, true, 3);
}

static void a_thousand_solves_have_the_same_bits(void **state)
{
    (void)state;
    check("a grid", SIDE * SIDE * SIDE, grid, false, 1000);
}

static void levels_are_told(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    lower L = make(SIDE * SIDE * SIDE, grid);
    tct_rows *R = rows_of(q, &L, NULL);
    const tct_rows_info about = tct_rows_about(R);
    assert_int_equal(about.levels[0], 3 * SIDE - 2);
    assert_int_equal(about.levels[1], 3 * SIDE - 2);
    assert_true(about.bytes > 24.0 * (double)L.ptr[L.n]);
    tct_rows_destroy(&R);
    drop(&L);
    tacit_queue_destroy(&q);
}

/* --- cg with ic0 ---------------------------------------------------------- */

/* A solve of `m`, which is destroyed: where, how, and when it ends. */
typedef struct {
    const char *device, *loop, *order, *format;
    tacit_stop stop;
} way;

/* b is random; its x, to be freed, into `*x`, if not NULL. */
static tacit_result solve_with_ic0(tacit_matrix *m, way w, double **x)
{
    const tacit_precond_options o = {.size = sizeof o, .order = w.order};
    tacit_result result = {.size = sizeof result};
    tacit_queue *q = open_queue(w.device);
    tacit_operator *A = NULL, *M = NULL;
    tacit_solver *s = NULL;
    w.stop.size = sizeof w.stop;
    OK(tacit_operator_create(q, m, w.format, &A));
    const size_t n = (size_t)tacit_operator_local_rows(A);
    double *b = random_vector(n, 8), *B = device_vector(q, n, b);
    double *X = poisoned_vector(q, n);
    OK(tacit_precond_create_of(A, m, "ic0", &o, &M));
    OK(tacit_solver_create(q, A, "cg", &s));
    OK(tacit_solver_set_precond(s, M));
    OK(tacit_solver_set_loop(s, w.loop));
    OK(tacit_queue_fill(q, n, 0.0, X));
    assert_true(tacit_solver_run(s, B, X, &w.stop, &result) >= 0);
    assert_string_equal(result.loop, w.loop);
    if (strstr(result.loop_detail, "loop host from"))
        fail_msg("loop %s: %s", w.loop, result.loop_detail);
    if (x) *x = host_copy(q, n, X);
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    free(b);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
    return result;
}

static bool on_cuda(void)
{
    return strcmp(TEST_DEVICE, "cuda") == 0;
}

/* The loops of the device with ic0; NULL past the end. */
static const char *loop_at(int l)
{
    static const char *const loops[] = {"host", "graph", "resident", NULL};
    return l > 0 && !on_cuda() ? NULL : loops[l];
}

/* Every loop in every format, against loop host of the host device. */
static void check_iterations(const char *name, const char *order,
                             const char *const *formats)
{
    const way host = {"host", "host", order, "csr", {.rtol = 1e-8}};
    const int64_t wanted =
        solve_with_ic0(gallery_matrix(name), host, NULL).iterations;
    for (int l = 0; loop_at(l); l++)
        for (int f = 0; formats[f]; f++) {
            const way w = {
                TEST_DEVICE, loop_at(l), order, formats[f], {.rtol = 1e-8}};
            const tacit_result r =
                solve_with_ic0(gallery_matrix(name), w, NULL);
            /* another order of the operator is one of the factor, too */
            const bool other = strstr(formats[f], "@rcm") != NULL;
            const int64_t slack = other ? wanted / 2 : 1 + wanted / 50;
            if (llabs(r.iterations - wanted) > slack ||
                !(r.true_relative_residual <= 1e-8))
                fail_msg("%s, %s, %s, loop %s: %d iterations, not %d, to %g",
                         name, order, formats[f], loop_at(l), (int)r.iterations,
                         (int)wanted, r.true_relative_residual);
        }
}

static void ic0_takes_the_iterations_of_the_host(void **state)
{
    (void)state;
    static const char *const orders[] = {"natural", "nd", "multicolor"};
    static const char *const rows[] = {"sell@none", "sell@rcm", NULL};
    static const char *const blocks[] = {"bsell@none", "sell@none", NULL};
    static const char *const any[] = {"auto@none", "stencil@none", NULL};
    static const char *const grids[] = {"stencil@none", NULL};
    for (int o = 0; o < 3; o++) {
        check_iterations("jump3d:17,100,1", orders[o], rows);
        check_iterations("tet3d:9,3", orders[o], rows);
        check_iterations("elasticity3d:6", orders[o], blocks);
        check_iterations("poisson3d:48", orders[o], any);
        check_iterations("poisson3d27:20", orders[o], any);
        check_iterations("poisson3d27:2x2x900", orders[o], grids); /* nodes */
        check_iterations("poisson2d:1x1", orders[o], any);
    }
}

/* A phase that begins with the true residual has a first p, and an r that M
 * has not been applied to. */
static void ic0_goes_on_from_the_true_residual(void **state)
{
    (void)state;
    const way host = {"host", "host", "natural", "csr", {.rtol = 4e-16}};
    const int64_t wanted =
        solve_with_ic0(gallery_matrix("tet3d:20,2"), host, NULL).iterations;
    for (int l = 0; loop_at(l); l++) {
        const way w = {
            TEST_DEVICE, loop_at(l), "natural", "sell@none", {.rtol = 4e-16}};
        const tacit_result r =
            solve_with_ic0(gallery_matrix("tet3d:20,2"), w, NULL);
        assert_true(r.restarts > 0);
        if (llabs(r.iterations - wanted) > wanted / 10 + 5)
            fail_msg("loop %s: %d iterations, not %d", w.loop,
                     (int)r.iterations, (int)wanted);
    }
}

/* Four rods side by side, joined, held at their ends. */
enum { RODS = 4 };
static int rods_columns(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    if (i >= RODS) col[count++] = i - RODS;
    if (i % RODS > 0) col[count++] = i - 1;
    col[count++] = i;
    if (i % RODS < RODS - 1) col[count++] = i + 1;
    if (i < n - RODS) col[count++] = i + RODS;
    return count;
}
/* What joins two of them, or one of an end to what holds it. */
static double joint(int64_t i, int64_t j)
{
    return 1.0 + 0.25 * (double)((i + j + RODS) % 5);
}
static double rods_value(int64_t i, int64_t j)
{
    if (i != j) return -joint(i, j);
    double sum = joint(i, i - RODS) + joint(i, i + RODS);
    if (i % RODS > 0) sum += joint(i, i - 1);
    if (i % RODS < RODS - 1) sum += joint(i, i + 1);
    return sum;
}

/* More iterations than looks can be under way: the kernel is started again. */
static void long_solves_with_ic0_go_on(void **state)
{
    (void)state;
    enum { MOST = 4200 };
    double *first = NULL;
    const size_t n = 100000;
    for (int l = 0; loop_at(l); l++) {
        const way w = {TEST_DEVICE,
                       loop_at(l),
                       "multicolor",
                       "sell@none",
                       {.rtol = 1e-300, .max_iterations = MOST}};
        double *x = NULL;
        const tacit_result r = solve_with_ic0(
            matrix_of((int64_t)n, rods_columns, rods_value), w, &x);
        assert_int_equal(r.iterations, MOST);
        if (!first) first = x;
        const double apart = distance_of(n, first, x) / norm_of(n, first);
        if (!(apart <= 1e-5)) fail_msg("loop %s: %g away", w.loop, apart);
        if (x != first) free(x);
    }
    free(first);
}

/* Few levels unless one asks for others. */
static void rows_go_by_colour_on_a_gpu(void **state)
{
    (void)state;
    tacit_matrix *m = gallery_matrix("poisson2d:20");
    tacit_queue *q = open_queue(TEST_DEVICE);
    tacit_operator *A = NULL, *M = NULL;
    tacit_precond_info info = {.size = sizeof info};
    OK(tacit_operator_create(q, m, "auto", &A));
    OK(tacit_precond_create_of(A, m, "ic0", NULL, &M));
    OK(tacit_precond_describe(M, &info));
    assert_non_null(strstr(info.detail, on_cuda() ? "order multicolor, at most"
                                                  : "order top-nd, at most"));
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

static void who_has_no_kernel_says_what_has(void **state)
{
    (void)state;
    if (!on_cuda()) skip();
    tacit_matrix *m = gallery_matrix("poisson2d:20");
    tacit_queue *q = open_queue(TEST_DEVICE);
    tacit_operator *A = NULL, *M = NULL;
    tacit_solver *s = NULL;
    OK(tacit_operator_create(q, m, "sell", &A));
    OK(tacit_precond_create_of(A, m, "ic0", NULL, &M));
    OK(tacit_solver_create(q, A, "single", &s));
    OK(tacit_solver_set_precond(s, M));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_loop(s, "resident"));
    assert_non_null(strstr(tacit_error_message(),
                           "no kernel of single with ic0: take method cg"));
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_wait_in_all_ways),
        cmocka_unit_test(a_thousand_solves_have_the_same_bits),
        cmocka_unit_test(levels_are_told),
        cmocka_unit_test(ic0_takes_the_iterations_of_the_host),
        cmocka_unit_test(ic0_goes_on_from_the_true_residual),
        cmocka_unit_test(long_solves_with_ic0_go_on),
        cmocka_unit_test(rows_go_by_colour_on_a_gpu),
        cmocka_unit_test(who_has_no_kernel_says_what_has),
    };
    TEST_GPU_MAIN(tests);
}
