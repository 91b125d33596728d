/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_minres.c - method minres: its residuals against those of SciPy and
 * of a plain dense minimization, singular systems, preconditioners that are not
 * positive definite, several right-hand sides, and what it refuses.
 * bench/minres.py compares it with SciPy on larger matrices.
 *
 * RUN: np=1,2,3,4 */
#define TEST_DEVICE "host"
#include "gpu.h"

/* --- small systems, the whole of which each rank knows -------------------- */

enum { MOST = 40, TOLD = 200 };

typedef struct {
    int n;
    double a[MOST][MOST], b[MOST];
    double m[MOST]; /* the diagonal M */
} whole;

typedef struct {
    const whole *all;
    int64_t first;
    size_t n;
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
    tacit_solver *s;
    double *b, *x;
    double told[TOLD]; /* by the monitor */
    int count;
    tacit_result result;
} linear;

static tacit_matrix *rows_of(const whole *w, int64_t *first, int64_t *rows)
{
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    static _Thread_local int64_t ptr[MOST + 1], cols[MOST * MOST];
    static _Thread_local double vals[MOST * MOST];
    tacit_matrix *m = NULL;
    int64_t k = 0;
    *first = (int64_t)w->n * rank / size;
    *rows = (int64_t)w->n * (rank + 1) / size - *first;
    ptr[0] = 0;
    for (int64_t i = 0; i < *rows; i++) {
        for (int j = 0; j < w->n; j++) {
            const double a = w->a[*first + i][j];
            if (a == 0.0 && j != *first + i) continue;
            cols[k] = j;
            vals[k++] = a;
        }
        ptr[i + 1] = k;
    }
    OK(tacit_matrix_from_rows(test_world(), w->n, *first, *rows, ptr, cols,
                              vals, &m));
    return m;
}

static void open_system(linear *p, const whole *w)
{
    int64_t rows = 0;
    *p = (linear){.all = w, .result.size = sizeof p->result};
    p->q = open_queue("host");
    p->m = rows_of(w, &p->first, &rows);
    OK(tacit_operator_create(p->q, p->m, "csr@none", &p->A));
    OK(tacit_solver_create(p->q, p->A, "minres", &p->s));
    p->n = (size_t)rows;
    p->b = device_vector(p->q, p->n, w->b + p->first);
    p->x = device_vector(p->q, p->n, w->m + p->first);
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

static void close_system(linear *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
    tacit_matrix_destroy(&p->m);
}

static int listen(void *ctx, int64_t iteration, double residual)
{
    linear *p = ctx;
    assert_int_equal(iteration, p->count);
    assert_true(p->count < TOLD);
    p->told[p->count++] = residual;
    return 0;
}

static tacit_status solve(linear *p, double rtol)
{
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = rtol,
                             .max_iterations = 150,
                             .monitor = listen,
                             .monitor_ctx = p};
    p->count = 0;
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* x of all ranks. */
static void take_x(linear *p, double *x)
{
    memset(x, 0, MOST * sizeof *x);
    OK(tacit_queue_get(p->q, p->n, p->x, x + p->first));
    OK(tacit_world_reduce(test_world(), TACIT_SUM, MOST, x));
}

static void times(const whole *w, const double *x, double *y)
{
    for (int i = 0; i < w->n; i++) {
        y[i] = 0.0;
        for (int j = 0; j < w->n; j++) y[i] += w->a[i][j] * x[j];
    }
}

static double dot(const whole *w, const double *d, const double *x,
                  const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < w->n; i++) sum += (d ? d[i] : 1.0) * x[i] * y[i];
    return sum;
}

/* r = b - A x of the solve's x; returns its norm. */
static double residual_of(linear *p, double *r)
{
    double x[MOST], y[MOST];
    take_x(p, x);
    times(p->all, x, y);
    for (int i = 0; i < p->all->n; i++) r[i] = p->all->b[i] - y[i];
    return sqrt(dot(p->all, NULL, r, r));
}

/* --- the matrices --------------------------------------------------------- */

static void set_b(whole *w)
{
    for (int i = 0; i < w->n; i++) {
        w->b[i] = 1.0 + i % 4;
        w->m[i] = 1.0;
    }
}

static void set_line(whole *w, int n)
{
    *w = (whole){.n = n};
    for (int i = 0; i < n; i++) {
        w->a[i][i] = i * 7 % 11 - 4.5;
        if (i + 1 < n) w->a[i][i + 1] = w->a[i + 1][i] = 1.0 + i % 3;
    }
    set_b(w);
}

/* ( H B' ; B 0 ) of 24 and 8 rows, H positive definite. */
static void set_kkt(whole *w)
{
    *w = (whole){.n = 32};
    for (int i = 0; i < 24; i++) {
        w->a[i][i] = 2.0 + i % 5;
        if (i + 1 < 24) w->a[i][i + 1] = w->a[i + 1][i] = -1.0;
        w->a[24 + i % 8][i] = w->a[i][24 + i % 8] = 1.0 + i / 8;
    }
    set_b(w);
}

static void set_definite(whole *w)
{
    set_line(w, 30);
    for (int i = 0; i < w->n; i++) w->a[i][i] = 6.5 + i * 7 % 11;
}

/* The Laplacian of a ring of 20, times signs: singular. */
static void set_ring(whole *w)
{
    *w = (whole){.n = 20};
    for (int i = 0; i < 20; i++) {
        const int j = (i + 1) % 20;
        const double weight = i % 3 == 0 ? -1.5 : 1.0 + i % 2;
        w->a[i][i] += weight;
        w->a[j][j] += weight;
        w->a[i][j] -= weight;
        w->a[j][i] -= weight;
    }
    set_b(w);
}

/* --- against SciPy -------------------------------------------------------- */

/* |b - A x| / |b| after each iteration of scipy.sparse.linalg.minres 1.17.1 on
 * set_line(24), without M and with M = |diagonal|^-1. */
static const double scipy[2][24] = {
    {1.0,           0.75506173626, 0.55163641937, 0.47603145383, 0.43274804888,
     0.3947667174,  0.3797873687,  0.35888104731, 0.35568781683, 0.34808057623,
     0.3468742419,  0.32976403203, 0.32973570693, 0.29639989013, 0.29299143434,
     0.25599270861, 0.25571811778, 0.24046256711, 0.23832247884, 0.21425325887,
     0.21306444366, 0.20712742144, 0.20340062781, 0.20102023844},
    {1.0,           0.78915141814,  0.78033203066,  0.72090413078,
     0.6071737392,  0.60137651569,  0.45432651629,  0.46138749347,
     0.44012883831, 0.40426667038,  0.34670559163,  0.33340235958,
     0.32248657134, 0.32242763158,  0.26852391881,  0.26607616814,
     0.24428679208, 0.24418098444,  0.16901450795,  0.15424737475,
     0.06108247582, 0.039477121816, 0.021367127858, 0.0068584616948}};

static void iterations_are_those_of_scipy(void **state)
{
    (void)state;
    whole w;
    set_line(&w, 24);
    for (int M = 0; M < 2; M++) {
        linear p;
        open_system(&p, &w);
        OK(tacit_solver_set(p.s, "precond", M ? "jacobi" : "none"));
        OK(solve(&p, 1e-9));
        assert_int_equal(p.result.iterations, 24);
        for (int k = 0; k < 24; k++)
            if (!(fabs(p.told[k] - scipy[M][k]) <= 1e-8))
                fail_msg("M %d, iteration %d: %.11g, SciPy %.11g", M, k,
                         p.told[k], scipy[M][k]);
        close_system(&p);
    }
}

/* --- against all of the Krylov space -------------------------------------- */

/* v = v - (v, q) q in the norm of M, for `count` vectors q, twice. */
static void remove_from(const whole *w, double q[][MOST], double p[][MOST],
                        int count, double *v, double *d)
{
    for (int twice = 0; twice < 2; twice++)
        for (int j = 0; j < count; j++) {
            const double part = dot(w, w->m, q[j], v);
            for (int i = 0; i < w->n; i++) v[i] -= part * q[j][i];
            for (int i = 0; i < w->n; i++) d[i] -= part * p[j][i];
        }
}

/* |r_k| / |b| of the smallest (r, M r), by directions whose images are all
 * made orthogonal. Returns the iterations that the space has. */
static int smallest_residuals(const whole *w, double *out)
{
    static _Thread_local double q[MOST][MOST], p[MOST][MOST];
    double r[MOST];
    memcpy(r, w->b, sizeof r);
    for (int i = 0; i < w->n; i++) p[0][i] = w->m[i] * r[i];
    out[0] = 1.0;
    for (int k = 0; k < w->n; k++) {
        times(w, p[k], q[k]);
        const double before = sqrt(dot(w, w->m, q[k], q[k]));
        remove_from(w, q, p, k, q[k], p[k]);
        const double size = sqrt(dot(w, w->m, q[k], q[k]));
        if (!(size > 1e-9 * before)) return k;
        for (int i = 0; i < w->n; i++) q[k][i] /= size;
        for (int i = 0; i < w->n; i++) p[k][i] /= size;
        const double step = dot(w, w->m, q[k], r);
        for (int i = 0; i < w->n; i++) r[i] -= step * q[k][i];
        out[k + 1] = sqrt(dot(w, NULL, r, r) / dot(w, NULL, w->b, w->b));
        if (k + 1 < w->n)
            for (int i = 0; i < w->n; i++) p[k + 1][i] = w->m[i] * q[k][i];
    }
    return w->n;
}

static void check_smallest(const whole *w, const char *name,
                           const char *precond)
{
    double want[MOST + 1], r[MOST];
    whole with = *w;
    for (int i = 0; i < w->n && strcmp(precond, "none") != 0; i++)
        with.m[i] = 1.0 / fabs(w->a[i][i]);
    const int most = smallest_residuals(&with, want);
    linear p;
    open_system(&p, w);
    OK(tacit_solver_set(p.s, "precond", precond));
    OK(solve(&p, 1e-10));
    assert_true(p.count > 4);
    for (int k = 0; k < p.count && k <= most * 3 / 4; k++)
        if (!(fabs(p.told[k] - want[k]) <= 1e-7))
            fail_msg("%s, %s, iteration %d: %.9g, the smallest is %.9g", name,
                     precond, k, p.told[k], want[k]);
    assert_true(residual_of(&p, r) <=
                1.01e-10 * sqrt(dot(w, NULL, w->b, w->b)));
    assert_null(p.result.rescued_by);
    close_system(&p);
}

/* b = A (1, 2, 3, ...) is in the range of a singular A. */
static void put_in_range(whole *w)
{
    double x[MOST];
    for (int i = 0; i < w->n; i++) x[i] = 1.0 + i;
    times(w, x, w->b);
}

static void residuals_are_the_smallest(void **state)
{
    (void)state;
    whole w;
    set_line(&w, 40);
    check_smallest(&w, "indefinite", "none");
    check_smallest(&w, "indefinite", "jacobi");
    set_definite(&w);
    check_smallest(&w, "definite", "none");
    check_smallest(&w, "definite", "jacobi");
    set_kkt(&w);
    check_smallest(&w, "kkt", "none");
    set_ring(&w);
    put_in_range(&w);
    check_smallest(&w, "singular", "none");
}

/* (b, A b) = 0: the first iteration finds nothing. */
static void a_step_of_zero_counts(void **state)
{
    (void)state;
    whole w = {.n = 6};
    for (int i = 0; i < 6; i++) w.a[i][5 - i] = 1.0 + (i < 3 ? i : 5 - i);
    for (int i = 0; i < 6; i++) w.m[i] = 1.0;
    w.b[0] = w.b[1] = w.b[2] = 1.0;
    check_smallest(&w, "antidiagonal", "none");
}

/* --- singular systems ----------------------------------------------------- */

/* The message and x: (A M r, A M r) is nearly 0, and the residual that of the
 * part of b outside the range, along `null`. */
static void check_least(linear *p, const double *null)
{
    const whole *w = p->all;
    double r[MOST], z[MOST], y[MOST];
    const double norm_r = residual_of(p, r);
    for (int i = 0; i < w->n; i++) z[i] = w->m[i] * r[i];
    times(w, z, y);
    assert_true(sqrt(dot(w, NULL, y, y)) <= 1e-5 * norm_r);
    /* M r is along null, and (null, r) = (null, b) */
    const double part = dot(w, NULL, null, w->b);
    assert_true(fabs(dot(w, NULL, null, r) - part) <= 1e-9 * fabs(part));
    assert_int_equal(p->result.stop, TACIT_STOP_LEAST_SQUARES);
    assert_int_equal(p->result.iterations, p->count - 1);
    assert_false(p->result.converged);
}

/* A ring whose null vector, no constant, is not found. */
static void set_scaled_ring(whole *w, double *null)
{
    set_ring(w);
    for (int i = 0; i < w->n; i++) null[i] = 1.0 / (1 << i % 3);
    for (int i = 0; i < w->n; i++)
        for (int j = 0; j < w->n; j++) w->a[i][j] /= null[i] * null[j];
}

static void systems_without_a_solution_end_with_least_squares(void **state)
{
    (void)state;
    double null[MOST];
    whole w;
    set_scaled_ring(&w, null);
    for (int M = 0; M < 2; M++)
        for (int pure = 0; pure < 2; pure++) {
            linear p;
            for (int i = 0; i < w.n && M; i++) w.m[i] = 1.0 / fabs(w.a[i][i]);
            open_system(&p, &w);
            OK(tacit_solver_set(p.s, "precond", M ? "jacobi" : "none"));
            OK(tacit_solver_set(p.s, "pure", pure ? "on" : "off"));
            EXPECT(TACIT_NOT_CONVERGED, solve(&p, 1e-10));
            assert_non_null(strstr(tacit_error_message(), "least squares"));
            check_least(&p, null);
            assert_in_range(p.result.iterations, 5, 40);
            close_system(&p);
        }
}

/* All of b is outside the range: x = 0 at once. */
static void nothing_is_done_for_b_outside_the_range(void **state)
{
    (void)state;
    whole w;
    double null[MOST];
    set_scaled_ring(&w, null);
    for (int zero = 0; zero < 2; zero++) {
        linear p;
        double x[MOST];
        for (int i = 0; i < w.n; i++) w.b[i] = 3.0 * null[i];
        if (zero) memset(w.a, 0, sizeof w.a);
        open_system(&p, &w);
        EXPECT(TACIT_NOT_CONVERGED, solve(&p, 1e-6));
        assert_int_equal(p.result.stop,
                         zero ? TACIT_STOP_SINGULAR : TACIT_STOP_LEAST_SQUARES);
        assert_int_equal(p.result.iterations, 0);
        take_x(&p, x);
        for (int i = 0; i < w.n; i++) assert_true(x[i] == 0.0);
        close_system(&p);
    }
}

static void unreachable_tolerances_stagnate(void **state)
{
    (void)state;
    whole w;
    double r[MOST];
    set_kkt(&w);
    linear p;
    open_system(&p, &w);
    EXPECT(TACIT_NOT_CONVERGED, solve(&p, 1e-30));
    assert_true(p.result.stop == TACIT_STOP_STAGNATION ||
                p.result.stop == TACIT_STOP_MAX_ITERATIONS);
    assert_true(residual_of(&p, r) <= 1e-14 * sqrt(dot(&w, NULL, w.b, w.b)));
    close_system(&p);
}

/* --- M -------------------------------------------------------------------- */

typedef struct {
    const double *d;
    size_t n;
} users;

static tacit_status apply_users(void *ctx, tacit_queue *q, const double *x,
                                double *y)
{
    const users *u = ctx;
    (void)q;
    for (size_t i = 0; i < u->n; i++) y[i] = u->d[i] * x[i];
    return TACIT_OK;
}

/* M is diagonal, negative in rows [from, to); b is 1 in rows [0, 12). */
static void check_breakdown(int from, int to, int iteration)
{
    whole w;
    tacit_operator *M = NULL;
    set_line(&w, 24);
    for (int i = 0; i < w.n; i++) w.b[i] = i < 12 ? 1.0 : 0.0;
    for (int i = from; i < to; i++) w.m[i] = -1.0;
    linear p;
    open_system(&p, &w);
    users u = {w.m + p.first, p.n};
    const tacit_operator_function f = {
        .size = sizeof f, .apply = apply_users, .ctx = &u, .norm = 1.0};
    OK(tacit_operator_from_function(p.q, (int64_t)p.n, &f, &M));
    OK(tacit_solver_set_precond(p.s, M));
    EXPECT(TACIT_BREAKDOWN, solve(&p, 1e-9));
    assert_int_equal(p.result.stop, TACIT_STOP_BREAKDOWN);
    assert_string_equal(p.result.breakdown_quantity, "r'Mr");
    assert_true(p.result.breakdown_value < 0.0);
    assert_int_equal(p.result.breakdown_iteration, iteration);
    assert_non_null(strstr(tacit_error_message(), "preconditioner"));
    OK(tacit_solver_set_precond(p.s, NULL));
    tacit_operator_destroy(&M);
    close_system(&p);
}

/* The iterations are those of a Lanczos process in NumPy. */
static void indefinite_preconditioners_break_down(void **state)
{
    (void)state;
    check_breakdown(0, 24, 1); /* (r, M r) */
    check_breakdown(2, 5, 1);
    check_breakdown(9, 11, 2);
    check_breakdown(4, 6, 3);
    check_breakdown(12, 24, 5);
}

/* A diagonal whose signs alternate is solved at once. */
static void jacobi_is_of_the_absolute_diagonal(void **state)
{
    (void)state;
    whole w = {.n = 30}, other;
    for (int i = 0; i < w.n; i++)
        w.a[i][i] = (i % 2 ? -1.0 : 1.0) * (1.0 + i * 5 % 17);
    set_b(&w);
    other = w;
    for (int i = 0; i < w.n; i++)
        other.a[i][i] = -3.0 * w.a[w.n - 1 - i][i] - i - 1;
    linear p;
    open_system(&p, &w);
    OK(tacit_solver_set(p.s, "precond", "jacobi"));
    OK(solve(&p, 1e-12));
    assert_int_equal(p.result.iterations, 2);
    int64_t first, rows; /* and of new values */
    tacit_matrix *m = rows_of(&other, &first, &rows);
    OK(tacit_operator_update(p.A, m));
    OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
    OK(solve(&p, 1e-12));
    assert_int_equal(p.result.iterations, 1);
    tacit_matrix_destroy(&m);
    close_system(&p);
}

/* --- several right-hand sides --------------------------------------------- */

/* Three columns: b, one in the range, one that has no solution. */
static void columns_end_as_they_do_alone(void **state)
{
    (void)state;
    enum { COLUMNS = 3 };
    whole w, in;
    set_ring(&w);
    in = w;
    put_in_range(&in);
    for (int M = 0; M < 2; M++) {
        linear p;
        open_system(&p, &w);
        OK(tacit_solver_set(p.s, "precond", M ? "jacobi" : "none"));
        double *B = poisoned_vector(p.q, COLUMNS * p.n + 1);
        double *X = poisoned_vector(p.q, COLUMNS * p.n + 1);
        tacit_result alone[COLUMNS], results[COLUMNS];
        for (int j = 0; j < COLUMNS; j++) {
            double b[MOST];
            const double *from = (j == 1 ? in.b : w.b) + p.first;
            for (size_t i = 0; i < p.n; i++) b[i] = j == 2 ? 3.0 : from[i];
            OK(tacit_queue_put(p.q, p.n, b, B + (size_t)j * p.n));
            OK(tacit_queue_put(p.q, p.n, b, p.b));
            OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
            const tacit_status status = solve(&p, 1e-9);
            assert_int_equal(status, j == 1 ? TACIT_OK : TACIT_NOT_CONVERGED);
            alone[j] = p.result;
            results[j] = (tacit_result){.size = sizeof results[j]};
        }
        const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
        OK(tacit_queue_fill(p.q, COLUMNS * p.n, 0.0, X));
        EXPECT(TACIT_NOT_CONVERGED,
               tacit_solver_run_block(p.s, COLUMNS, B, p.n, X, p.n, &stop,
                                      results));
        assert_non_null(strstr(tacit_error_message(), "singular"));
        for (int j = 0; j < COLUMNS; j++) {
            assert_true(llabs(results[j].iterations - alone[j].iterations) <=
                        1);
            assert_int_equal(results[j].stop, alone[j].stop);
            /* x itself is one of many */
            assert_true(fabs(results[j].true_relative_residual -
                             alone[j].true_relative_residual) <= 1e-8);
        }
        tacit_queue_free(p.q, &B);
        tacit_queue_free(p.q, &X);
        close_system(&p);
    }
}

/* --- what it refuses ------------------------------------------------------ */

static void refuses(tacit_status status, const char *word)
{
    if (status >= 0 || !strstr(tacit_error_message(), word))
        fail_msg("%s: %s", tacit_status_name(status), tacit_error_message());
}

/* Row 25 of the KKT matrix has 0 on the diagonal. */
static void preconditioners_of_definite_matrices_are_refused(void **state)
{
    (void)state;
    whole w;
    set_kkt(&w);
    linear p;
    tacit_operator *M = NULL;
    open_system(&p, &w);
    refuses(tacit_precond_create_of(p.A, p.m, "amg", NULL, &M), "row 25 has 0");
    refuses(tacit_precond_create_of(p.A, p.m, "ic0", NULL, &M), "row 25 has 0");
    const tacit_precond_race race = {.size = sizeof race, .matrix = p.m};
    refuses(tacit_solver_race(p.s, &race, p.b, p.x, NULL, &p.result),
            "preconditioner auto: row 25 has 0");
    refuses(tacit_solver_set(p.s, "precond", "jacobi"),
            "has 0 on the diagonal");
    refuses(tacit_solver_set(p.s, "steps", "4"), "minres");
    assert_null(M);
    OK(solve(&p, 1e-9)); /* it works still */
    close_system(&p);
}

/* A shifted Laplacian has a positive diagonal: autotuning works. */
static void autotuning_solves_indefinite_systems(void **state)
{
    (void)state;
    whole w;
    double r[MOST];
    set_line(&w, 40);
    for (int i = 0; i < w.n; i++) w.a[i][i] = 0.5 + i % 3;
    linear p;
    open_system(&p, &w);
    const tacit_precond_race race = {.size = sizeof race, .matrix = p.m};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    OK(tacit_solver_race(p.s, &race, p.b, p.x, &stop, &p.result));
    assert_true(residual_of(&p, r) <= 1e-9 * sqrt(dot(&w, NULL, w.b, w.b)));
    close_system(&p);
}

static void low_precision_is_refused(void **state)
{
    (void)state;
    whole w;
    set_line(&w, 24);
    linear p;
    tacit_solver *s = NULL;
    tacit_operator *low = NULL;
    open_system(&p, &w);
    OK(tacit_operator_create(p.q, p.m, "csr@none", &low));
    p.A->low = low;
    refuses(tacit_solver_create(p.q, p.A, "minres", &s), "precision double");
    assert_null(s);
    p.A->low = NULL;
    tacit_operator_destroy(&low);
    close_system(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_those_of_scipy),
        cmocka_unit_test(residuals_are_the_smallest),
        cmocka_unit_test(a_step_of_zero_counts),
        cmocka_unit_test(systems_without_a_solution_end_with_least_squares),
        cmocka_unit_test(nothing_is_done_for_b_outside_the_range),
        cmocka_unit_test(unreachable_tolerances_stagnate),
        cmocka_unit_test(indefinite_preconditioners_break_down),
        cmocka_unit_test(jacobi_is_of_the_absolute_diagonal),
        cmocka_unit_test(columns_end_as_they_do_alone),
        cmocka_unit_test(preconditioners_of_definite_matrices_are_refused),
        cmocka_unit_test(autotuning_solves_indefinite_systems),
        cmocka_unit_test(low_precision_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
