/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_null_space.c - singular systems: null vectors that are found,
 * declared and refused, by every method and preconditioner, and matrices that
 * have none or none that can be shown.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3
 * DEVICE: each */
#include "gpu.h"
#include "guard.h"
#include "operator/null/ends.h"
#include "solver/solver.h"
#include "twin.h"

enum { MOST = 160 };

/* --- small matrices, the whole of which each rank knows ------------------- */

typedef struct {
    int n;
    double a[MOST][MOST], b[MOST];
} whole;

typedef struct {
    const whole *all;
    int64_t first;
    size_t n;
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A, *M;
    tacit_solver *s;
    double *b, *x;
    tacit_result result;
} linear;

/* All rows belong to the last rank. */
static _Thread_local bool lopsided = false;

static tacit_matrix *rows_of(const whole *w, int64_t *first, int64_t *rows)
{
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    int64_t *ptr = calloc(MOST + 1, sizeof *ptr);
    int64_t *cols = calloc(MOST * MOST, sizeof *cols);
    double *vals = calloc(MOST * MOST, sizeof *vals);
    tacit_matrix *m = NULL;
    int64_t k = 0;
    *first = (int64_t)w->n * rank / size;
    *rows = (int64_t)w->n * (rank + 1) / size - *first;
    if (lopsided) {
        *first = 0;
        *rows = rank == size - 1 ? w->n : 0;
    }
    for (int64_t i = 0; i < *rows; i++) {
        for (int j = 0; j < w->n; j++) {
            if (w->a[*first + i][j] == 0.0) continue;
            cols[k] = j;
            vals[k++] = w->a[*first + i][j];
        }
        ptr[i + 1] = k;
    }
    OK(tacit_matrix_from_rows(test_world(), w->n, *first, *rows, ptr, cols,
                              vals, &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

/* The next queue is like that of a GPU, on the host: samples come late, memory
 * is its own. */
static _Thread_local bool apart = false;

static void open_system(linear *p, const whole *w, const char *format)
{
    int64_t rows = 0;
    *p = (linear){.all = w, .result.size = sizeof p->result};
    p->q = open_queue(TEST_DEVICE);
    if (apart) open_guard(p->q);
    if (apart) open_twin(p->q);
    apart = false;
    p->m = rows_of(w, &p->first, &rows);
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    p->n = (size_t)rows;
    p->b = device_vector(p->q, p->n, w->b + p->first);
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
}

static void close_system(linear *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->M);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
    tacit_matrix_destroy(&p->m);
}

/* A solve from 0; `precond` NULL: none. */
static tacit_status solve(linear *p, const char *method, const char *precond)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-9, .max_iterations = 2000};
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->M);
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    if (precond) OK(tacit_precond_create_of(p->A, p->m, precond, NULL, &p->M));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    OK(tacit_solver_set_precond(p->s, p->M));
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* x of all ranks. */
static void take_x(linear *p, double *x)
{
    memset(x, 0, MOST * sizeof *x);
    OK(tacit_queue_get(p->q, p->n, p->x, x + p->first));
    OK(tacit_world_reduce(test_world(), TACIT_SUM, MOST, x));
}

static double dot(const whole *w, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < w->n; i++) sum += x[i] * y[i];
    return sum;
}

/* ||P b - A x|| / ||P b||, and checks that x has no part along the `count`
 * vectors `z`, which are orthogonal. *outside is ||b - P b|| / ||b||. */
static double check_x(linear *p, int count, double (*z)[MOST], double *outside)
{
    const whole *w = p->all;
    double x[MOST], r[MOST], pb[MOST], part = 0.0;
    take_x(p, x);
    memcpy(pb, w->b, sizeof pb);
    for (int k = 0; k < count; k++) {
        const double zz = dot(w, z[k], z[k]), zb = dot(w, z[k], w->b);
        for (int i = 0; i < w->n; i++) pb[i] -= zb / zz * z[k][i];
        part += zb * zb / zz;
        assert_true(fabs(dot(w, z[k], x)) <=
                    1e-13 * sqrt(zz) * (sqrt(dot(w, x, x)) + 1e-30));
    }
    for (int i = 0; i < w->n; i++) r[i] = pb[i] - dot(w, w->a[i], x);
    *outside = sqrt(part / dot(w, w->b, w->b));
    return sqrt(dot(w, r, r) / dot(w, pb, pb));
}

/* --- the matrices --------------------------------------------------------- */

static void couple(whole *w, int i, int j, double weight)
{
    w->a[i][i] += weight;
    w->a[j][j] += weight;
    w->a[i][j] -= weight;
    w->a[j][i] -= weight;
}

/* The Laplacian of a grid of side x side from row `first` on, no boundary. */
static void add_grid(whole *w, int first, int side)
{
    for (int i = 0; i < side * side; i++) {
        if (i % side + 1 < side)
            couple(w, first + i, first + i + 1, 1.0 + i % 3);
        if (i + side < side * side)
            couple(w, first + i, first + i + side, 2.0 - i % 2);
    }
}

enum { GRID = 7, CELLS = GRID * GRID, ROWS = 3 * CELLS + 2 };

/* Two free grids, one that is held, two rows of zeros between them; the null
 * vectors into z [4]. */
static void set_parts(whole *w, double (*z)[MOST])
{
    *w = (whole){.n = ROWS};
    memset(z, 0, 4 * sizeof *z);
    const int first[] = {0, CELLS + 1, 2 * CELLS + 2};
    for (int k = 0; k < 3; k++) add_grid(w, first[k], GRID);
    w->a[first[1]][first[1]] += 1.0;
    for (int i = 0; i < CELLS; i++) z[0][i] = z[1][first[2] + i] = 1.0;
    z[2][CELLS] = z[3][2 * CELLS + 1] = 1.0;
}

/* A right-hand side in the range, or not. */
static void set_b(whole *w, int count, double (*z)[MOST], bool outside)
{
    for (int i = 0; i < w->n; i++) w->b[i] = sin(1.0 + 3.0 * i) + 0.2;
    for (int k = 0; k < count && !outside; k++) {
        const double a = dot(w, z[k], w->b) / dot(w, z[k], z[k]);
        for (int i = 0; i < w->n; i++) w->b[i] -= a * z[k][i];
    }
}

/* --- found ---------------------------------------------------------------- */

static const char *const preconds[] = {NULL,  "jacobi", "ic0",
                                       "ic1", "amg",    "direct"};
enum { PRECONDS = sizeof preconds / sizeof *preconds };

/* GPUs of several ranks have no direct preconditioner. */
static bool is_had(const char *precond)
{
    return !precond || strcmp(precond, "direct") != 0 ||
           strcmp(TEST_DEVICE, "host") == 0 ||
           tacit_world_size(test_world()) == 1;
}

/* Every method with every preconditioner that it takes. */
static void check_all(linear *p, tacit_status expected, int count,
                      double (*z)[MOST])
{
    const tacit_method *method;
    for (int i = 0; (method = tacit_method_at(i)) != NULL; i++)
        for (int k = 0; k < PRECONDS; k++) {
            double outside = 0.0;
            if (!is_had(preconds[k])) {
                EXPECT(TACIT_UNSUPPORTED,
                       tacit_precond_create_of(p->A, p->m, preconds[k], NULL,
                                               &p->M));
                continue;
            }
            EXPECT(expected, solve(p, method->name, preconds[k]));
            if (expected == TACIT_NOT_CONVERGED)
                assert_non_null(
                    strstr(tacit_error_message(), "outside its range"));
            assert_true(check_x(p, count, z, &outside) <= 2e-9);
            assert_int_equal(p->result.null_vectors, count);
            assert_true(fabs(p->result.outside - outside) <= 1e-12);
            assert_int_equal(p->result.converged, expected == TACIT_OK);
        }
}

static void parts_are_solved(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    const char *const formats[] = {"csr@none", "sell@rcm"};
    for (int f = 0; f < 2; f++) {
        linear p;
        set_parts(&w, z);
        set_b(&w, 4, z, false);
        open_system(&p, &w, formats[f]);
        check_all(&p, TACIT_OK, 4, z);
        close_system(&p);
        set_b(&w, 4, z, true);
        open_system(&p, &w, formats[f]);
        check_all(&p, TACIT_NOT_CONVERGED, 4, z);
        assert_int_equal(p.result.stop, TACIT_STOP_SINGULAR);
        close_system(&p);
    }
}

/* Refinement with a factor, and columns of which one has a solution. */
static void columns_end_each_by_itself(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    tacit_result r[2] = {{.size = sizeof *r}, {.size = sizeof *r}};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    if (!is_had("direct")) skip();
    set_parts(&w, z);
    set_b(&w, 4, z, false);
    linear p;
    open_system(&p, &w, "csr");
    double *B = NULL, *X = NULL, outside;
    const size_t n = p.n;
    OK(tacit_queue_alloc(p.q, 2 * n, &B));
    OK(tacit_queue_alloc(p.q, 2 * n, &X));
    OK(tacit_queue_put(p.q, n, w.b + p.first, B));
    set_b(&w, 4, z, true);
    OK(tacit_queue_put(p.q, n, w.b + p.first, B + n));
    OK(tacit_precond_create_of(p.A, p.m, "direct", NULL, &p.M));
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    for (int refined = 0; refined < 2; refined++) {
        OK(tacit_queue_fill(p.q, 2 * n, 0.0, X));
        EXPECT(TACIT_NOT_CONVERGED,
               refined ? tacit_precond_solve(p.A, p.M, 2, B, n, X, n, &stop, r)
                       : tacit_solver_run_block(p.s, 2, B, n, X, n, &stop, r));
        assert_non_null(strstr(tacit_error_message(), "column 2: singular"));
        assert_true(r[0].converged && !r[1].converged);
        assert_int_equal(r[1].stop, TACIT_STOP_SINGULAR);
        OK(tacit_queue_put(p.q, n, X + n, p.x));
        assert_true(check_x(&p, 4, z, &outside) <= 2e-9);
        assert_true(fabs(r[1].outside - outside) <= 1e-12);
    }
    tacit_queue_free(p.q, &B);
    tacit_queue_free(p.q, &X);
    close_system(&p);
}

/* A part of b within the tolerance is none; b along the null space has x = 0. */
static void parts_of_b_are_weighed(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    const double added[] = {0.0, 3e-10, 1e-6};
    for (int k = 0; k < 3; k++) {
        linear p;
        set_parts(&w, z);
        set_b(&w, 4, z, false);
        const double norm = sqrt(dot(&w, w.b, w.b) / CELLS);
        for (int i = 0; i < CELLS; i++) w.b[i] += added[k] * norm;
        open_system(&p, &w, "csr");
        EXPECT(k < 2 ? TACIT_OK : TACIT_NOT_CONVERGED, solve(&p, "cg", NULL));
        assert_true(p.result.true_relative_residual <= 1e-9);
        close_system(&p);
    }
    linear p;
    double x[MOST];
    memcpy(w.b, z[0], sizeof w.b);
    open_system(&p, &w, "csr");
    EXPECT(TACIT_NOT_CONVERGED, solve(&p, "cg", NULL));
    assert_true(fabs(p.result.outside - 1.0) < 1e-15);
    take_x(&p, x);
    for (int i = 0; i < w.n; i++) assert_true(x[i] == 0.0);
    close_system(&p);
}

/* --- declared ------------------------------------------------------------- */

static void declare(linear *p, bool entries, int count, double (*z)[MOST],
                    tacit_status expected)
{
    double *values = calloc((size_t)(count * MOST) + 1, sizeof *values);
    for (int k = 0; k < count; k++)
        memcpy(values + (size_t)k * p->n, z[k] + p->first,
               p->n * sizeof *values);
    const tacit_null_space N = {.size = sizeof N,
                                .constants = count == 0,
                                .vectors = count,
                                .values = values};
    EXPECT(expected,
           tacit_operator_set_null_space(p->A, entries ? p->m : NULL, &N));
    free(values);
}

static void declared_spaces_are_meant(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    linear p;
    set_parts(&w, z);
    set_b(&w, 4, z, true);
    open_system(&p, &w, "csr");
    EXPECT(TACIT_NOT_CONVERGED, solve(&p, "cg", "amg"));
    assert_false(p.result.null_declared);
    declare(&p, true, 0, NULL, TACIT_OK);
    check_all(&p, TACIT_OK, 4, z);
    assert_true(p.result.null_declared);
    declare(&p, false, 2, z, TACIT_OK); /* known already */
    EXPECT(TACIT_OK, solve(&p, "cg", "ic0"));
    assert_int_equal(p.result.null_vectors, 4);
    close_system(&p);
}

static void ranks_without_rows_take_part(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    linear p;
    lopsided = true;
    set_parts(&w, z);
    set_b(&w, 4, z, true);
    open_system(&p, &w, "csr");
    for (int k = 0; k < 2; k++) {
        double outside = 0.0;
        if (k) declare(&p, true, 4, z, TACIT_OK);
        EXPECT(k ? TACIT_OK : TACIT_NOT_CONVERGED, solve(&p, "cg", "jacobi"));
        assert_true(check_x(&p, 4, z, &outside) <= 2e-9);
        assert_true(fabs(p.result.outside - outside) <= 1e-12);
    }
    close_system(&p);
    lopsided = false;
}

/* A truss of unit squares with both diagonals, free in the plane: two
 * displacements a point; its rigid-body modes, orthogonal. */
enum { SIDE = 6, POINTS = SIDE * SIDE };

static void add_bar(whole *w, int i, int j)
{
    const int d[2] = {j % SIDE - i % SIDE, j / SIDE - i / SIDE};
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++) {
            const double k = (double)(d[s] * d[t]);
            w->a[2 * i + s][2 * i + t] += k;
            w->a[2 * j + s][2 * j + t] += k;
            w->a[2 * i + s][2 * j + t] -= k;
            w->a[2 * j + s][2 * i + t] -= k;
        }
}

static void set_truss(whole *w, double (*z)[MOST])
{
    *w = (whole){.n = 2 * POINTS};
    memset(z, 0, 3 * sizeof *z);
    for (int i = 0; i < POINTS; i++) {
        const int x = i % SIDE, y = i / SIDE;
        if (x + 1 < SIDE) add_bar(w, i, i + 1);
        if (y + 1 < SIDE) add_bar(w, i, i + SIDE);
        if (x + 1 < SIDE && y + 1 < SIDE) add_bar(w, i, i + SIDE + 1);
        if (x > 0 && y + 1 < SIDE) add_bar(w, i, i + SIDE - 1);
        z[0][2 * i] = z[1][2 * i + 1] = 1.0;
        z[2][2 * i] = -(y - 0.5 * (SIDE - 1));
        z[2][2 * i + 1] = x - 0.5 * (SIDE - 1);
    }
}

static void rigid_bodies_are_declared(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[3][MOST];
    for (int entries = 0; entries < 2; entries++) {
        linear p;
        set_truss(&w, z);
        set_b(&w, 3, z, true);
        open_system(&p, &w, entries ? "csr" : "sell@rcm");
        /* a rotation is not found */
        assert_true(solve(&p, "cg", NULL) > 0);
        assert_int_equal(p.result.null_vectors, 2);
        declare(&p, entries, 3, z, TACIT_OK);
        check_all(&p, TACIT_OK, 3, z);
        close_system(&p);
    }
}

/* A free grid of 4 x 4 points with `kinds` unknowns each, which all springs
 * couple; its translations into `z`. */
static void add_body(whole *w, int first, int kinds, double (*z)[MOST])
{
    static const int ahead[] = {1, 4, 5};
    for (int i = 0; i < 16; i++)
        for (int d = 0; d < 3; d++) {
            const int j = i + ahead[d];
            if (j >= 16 || j % 4 < i % 4) continue;
            for (int s = 0; s < kinds; s++)
                for (int t = 0; t < kinds; t++) {
                    const double k = (s == t ? 3.0 : 1.0) + d;
                    const int at = first + kinds * i + s,
                              to = first + kinds * j + t;
                    w->a[at][first + kinds * i + t] += k;
                    w->a[to][first + kinds * j + s] += k;
                    w->a[at][to] -= k;
                    w->a[to][at] -= k;
                }
        }
    for (int s = 0; s < kinds; s++)
        for (int i = 0; i < 16; i++) z[s][first + kinds * i + s] = 1.0;
}

/* Unknowns of 2, 3 and 1 kinds after a row that is held, and a row of zeros:
 * each kind of each body has a null vector. */
static void translations_are_found(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[7][MOST];
    for (int outside = 0; outside < 2; outside++) {
        linear p;
        w = (whole){.n = 98};
        memset(z, 0, sizeof z);
        w.a[0][0] = 1.0;
        add_body(&w, 1, 2, z);
        add_body(&w, 33, 3, z + 2);
        add_body(&w, 82, 1, z + 5);
        z[6][81] = 1.0;
        set_b(&w, 7, z, outside);
        open_system(&p, &w, outside ? "sell@rcm" : "csr@none");
        check_all(&p, outside ? TACIT_NOT_CONVERGED : TACIT_OK, 7, z);
        close_system(&p);
    }
}

/* A body one of whose points is held in one direction has no other
 * translation alone: the sums of its rows vanish for none. One in which a kind
 * of one row is off by more than rounding has the constant alone. */
static void what_is_no_translation_is_not_found(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[2][MOST];
    for (int held = 0; held < 2; held++) {
        linear p;
        w = (whole){.n = 32};
        add_body(&w, 0, 2, z);
        if (held) w.a[0][0] += 1.0;
        for (int s = 0; s < 4 && !held; s++) /* sums of rows stay 0 */
            w.a[12 + s / 2][12 + s % 2] += s % 3 == 0 ? 0x1p-40 : -0x1p-40;
        set_b(&w, 0, z, true);
        open_system(&p, &w, "csr");
        (void)solve(&p, "cg", NULL);
        assert_int_equal(p.result.null_vectors, held ? 0 : 1);
        close_system(&p);
    }
}

/* The near-null vectors of multigrid are tried. */
static void modes_of_multigrid_are_found(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[3][MOST];
    double values[3 * MOST], outside;
    linear p;
    set_truss(&w, z);
    set_b(&w, 3, z, true);
    open_system(&p, &w, "csr");
    for (int k = 0; k < 3; k++)
        memcpy(values + (size_t)k * p.n, z[k] + p.first, p.n * sizeof *values);
    const tacit_precond_options o = {
        .size = sizeof o, .vectors = 3, .near_null = values, .node_rows = 2};
    OK(tacit_precond_create_of(p.A, p.m, "amg", &o, &p.M));
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    OK(tacit_solver_set_precond(p.s, p.M));
    OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    EXPECT(TACIT_NOT_CONVERGED,
           tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_int_equal(p.result.stop, TACIT_STOP_SINGULAR);
    assert_int_equal(p.result.null_vectors, 3);
    assert_true(check_x(&p, 3, z, &outside) <= 2e-9);
    close_system(&p);
}

/* A function has no entries. */
static tacit_status by_matrix(void *ctx, tacit_queue *q, const double *x,
                              double *y)
{
    const linear *p = ctx;
    double all[MOST] = {0.0}, mine[MOST];
    OK(tacit_queue_get(q, p->n, x, all + p->first));
    for (size_t i = 0; i < p->n; i++)
        mine[i] = dot(p->all, p->all->a[p->first + (int64_t)i], all);
    return tacit_queue_put(q, p->n, mine, y);
}

static void functions_have_declared_ones(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    linear p;
    /* all on one rank, in memory of the host */
    if (tacit_world_size(test_world()) > 1 || strcmp(TEST_DEVICE, "host") != 0)
        return;
    w = (whole){.n = CELLS};
    add_grid(&w, 0, GRID);
    for (int i = 0; i < CELLS; i++) z[0][i] = 1.0;
    set_b(&w, 1, z, true);
    open_system(&p, &w, "csr");
    tacit_operator_destroy(&p.A);
    const tacit_operator_function f = {
        .size = sizeof f, .apply = by_matrix, .ctx = &p, .norm = 32.0};
    OK(tacit_operator_from_function(p.q, CELLS, &f, &p.A));
    declare(&p, false, 0, NULL, TACIT_OK);
    double outside;
    OK(solve(&p, "cg", NULL));
    assert_true(check_x(&p, 1, z, &outside) <= 2e-9);
    close_system(&p);
}

/* --- refused, and none ---------------------------------------------------- */

static void what_is_not_null_is_refused(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    linear p;
    set_parts(&w, z);
    set_b(&w, 4, z, true);
    z[1][2 * CELLS + 2 + 5] += 1e-12;
    open_system(&p, &w, "csr");
    declare(&p, true, 2, z, TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), "null vector 2 is none"));
    assert_non_null(strstr(tacit_error_message(), "row"));
    z[1][2 * CELLS + 2 + 5] = NAN;
    declare(&p, true, 2, z, TACIT_INVALID);
    EXPECT(TACIT_NOT_CONVERGED, solve(&p, "cg", NULL)); /* not declared */
    assert_int_equal(p.result.stop, TACIT_STOP_SINGULAR);
    const tacit_null_space nothing = {.size = sizeof nothing},
                           many = {.size = sizeof many, .vectors = 65};
    EXPECT(TACIT_INVALID, tacit_operator_set_null_space(p.A, p.m, &nothing));
    EXPECT(TACIT_INVALID, tacit_operator_set_null_space(p.A, p.m, &many));
    close_system(&p);
}

/* A chain held at its end alone, in an order in which no sweep follows it; a
 * matrix that is not symmetric has no null space here either. */
static void regular_matrices_have_none(void **state)
{
    (void)state;
    static _Thread_local whole w;
    for (int skew = 0; skew < 2; skew++) {
        linear p;
        w = (whole){.n = 101};
        for (int i = 0; i + 1 < 101; i++)
            couple(&w, i * 37 % 101, (i + 1) * 37 % 101, 1.0);
        if (!skew) w.a[0][0] += 1.0;
        else w.a[0][1] += 1.0, w.a[0][0] -= 1.0;
        for (int i = 0; i < 101; i++) w.b[i] = 1.0;
        open_system(&p, &w, "csr");
        const tacit_status status = solve(&p, "cg", NULL);
        if (!skew) EXPECT(TACIT_OK, status);
        assert_int_equal(p.result.null_vectors, 0);
        close_system(&p);
    }
}

/* New values end what was found and declared. */
static void new_values_are_looked_at(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[4][MOST];
    linear p;
    int64_t first, rows;
    set_parts(&w, z);
    set_b(&w, 4, z, true);
    open_system(&p, &w, "csr");
    declare(&p, true, 0, NULL, TACIT_OK);
    w.a[3][3] += 2.0;
    tacit_matrix *other = rows_of(&w, &first, &rows);
    OK(tacit_operator_update(p.A, other));
    tacit_matrix_destroy(&p.m);
    p.m = other;
    EXPECT(TACIT_NOT_CONVERGED, solve(&p, "cg", "ic0"));
    assert_int_equal(p.result.null_vectors, 3);
    assert_false(p.result.null_declared);
    close_system(&p);
}

/* A singular matrix whose null vector is no constant. */
static void set_unknown(whole *w)
{
    *w = (whole){.n = CELLS};
    add_grid(w, 0, GRID);
    for (int i = 0; i < CELLS; i++)
        for (int j = 0; j < CELLS; j++)
            w->a[i][j] *= (1.0 + i % 4) * (1.0 + j % 4);
    for (int i = 0; i < CELLS; i++) w->b[i] = 1.0 + i % 3;
}

/* Nothing is projected, and the sentence says that the matrix is singular in
 * numbers. */
static void what_is_not_shown_is_not_projected(void **state)
{
    (void)state;
    static _Thread_local whole w;
    linear p;
    set_unknown(&w);
    open_system(&p, &w, "csr");
    assert_true(solve(&p, "cg", NULL) > 0);
    assert_int_equal(p.result.null_vectors, 0);
    if (strcmp(TEST_DEVICE, "host") == 0) /* which bounds the condition */
        assert_non_null(strstr(tacit_error_message(), "singular"));
    close_system(&p);
}

/* A check reads no memory of a device that runs beside the CPU. */
static void checks_leave_a_device_alone(void **state)
{
    (void)state;
    static _Thread_local whole w;
    linear p;
    if (strcmp(TEST_DEVICE, "host") != 0 || tacit_world_size(test_world()) > 1)
        skip();
    apart = true;
    set_unknown(&w);
    open_system(&p, &w, "csr");
    assert_true(solve(&p, "cg", NULL) > 0);
    assert_true(p.result.iterations > 64);
    assert_non_null(strstr(tacit_error_message(), "singular"));
    close_system(&p);
}

/* After `k` iterations, the last Ritz value `ritz` times the first, x `size`
 * times that null vector. */
static bool is_hopeless(linear *p, int64_t k, double ritz, double size)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    tacit_solver *S = p->s;
    tct_run *R = &S->run;
    double x[MOST];
    for (int i = 0; i < CELLS; i++) x[i] = size / (1.0 + i % 4);
    OK(tacit_queue_put(p->q, p->n, x + p->first, p->x));
    R->result = &p->result;
    tct_begin_runs(S);
    OK(tct_run_begin(R, p->b, p->x, &stop));
    R->k = k;
    S->ritz.count = 2;
    S->ritz.alpha[0] = 1.0;
    S->ritz.alpha[1] = 1.0 / ritz;
    S->ritz.beta[0] = 0.0;
    const bool is = tct_has_outgrown(R);
    assert_true(is == S->system.outgrown && !tct_has_outgrown(R));
    return is;
}

/* Rounding of that size in every row hides b: nothing comes of more iterations.
 * Not so where x, or the Ritz values, are of another kind. */
static void a_large_x_ends_a_solve(void **state)
{
    (void)state;
    static _Thread_local whole w;
    linear p;
    if (strcmp(TEST_DEVICE, "host") != 0) return;
    set_unknown(&w);
    open_system(&p, &w, "csr");
    OK(tacit_solver_create(p.q, p.A, "cg", &p.s));
    assert_true(is_hopeless(&p, 64, 0x1p-44, 1e15));
    assert_true(is_hopeless(&p, 900, 0x1p-44, -1e15));
    assert_false(is_hopeless(&p, 63, 0x1p-44, 1e15));
    assert_false(is_hopeless(&p, 64, 0x1p-36, 1e15));
    assert_false(is_hopeless(&p, 64, 0x1p-44, 1e9));
    assert_false(is_hopeless(&p, 64, 0x1p-44, 0.0));
    close_system(&p);
}

/* A part of b is told whatever the size of x in another component. */
static void a_large_x_elsewhere_excuses_nothing(void **state)
{
    (void)state;
    static _Thread_local whole w;
    linear p;
    w = (whole){.n = 3};
    w.a[0][0] = w.a[1][1] = 1e8;
    w.a[0][1] = w.a[1][0] = -1e8;
    w.a[2][2] = 1e-9;
    for (int i = 0; i < 3; i++) w.b[i] = 1.0;
    open_system(&p, &w, "csr");
    EXPECT(TACIT_NOT_CONVERGED, solve(&p, "cg", NULL));
    assert_int_equal(p.result.stop, TACIT_STOP_SINGULAR);
    assert_true(fabs(p.result.outside - sqrt(2.0 / 3.0)) <= 1e-12);
    close_system(&p);
}

/* No constant: rows and columns of a grid are scaled. */
static void vectors_of_any_size_are_taken(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[1][MOST];
    const double sizes[] = {1e-300, 1e-200, 1.0, 1e200};
    for (int k = 0; k < 4; k++) {
        linear p;
        w = (whole){.n = CELLS};
        add_grid(&w, 0, GRID);
        for (int i = 0; i < CELLS; i++) {
            for (int j = 0; j < CELLS; j++)
                w.a[i][j] *= (1 << i % 3) * (1 << j % 3);
            z[0][i] = sizes[k] / (1 << i % 3);
            w.b[i] = 1.0 + i % 5;
        }
        open_system(&p, &w, "csr");
        declare(&p, true, 1, z, TACIT_OK);
        OK(solve(&p, "cg", NULL));
        assert_int_equal(p.result.null_vectors, 1);
        memset(z, 0, sizeof z);
        declare(&p, true, 1, z, TACIT_INVALID);
        close_system(&p);
    }
}

static void ranks_declare_alike(void **state)
{
    (void)state;
    static _Thread_local whole w;
    static _Thread_local double z[2][MOST];
    linear p;
    if (tacit_world_size(test_world()) == 1) skip();
    w = (whole){.n = CELLS};
    add_grid(&w, 0, GRID);
    for (int i = 0; i < CELLS; i++) z[0][i] = z[1][i] = 1.0;
    open_system(&p, &w, "csr");
    declare(&p, true, 1 + (tacit_world_rank(test_world()) > 0), z,
            TACIT_INVALID);
    close_system(&p);
}

/* A part of b makes no target larger, by rounding either: the reason of the end
 * would be a tolerance that nobody gave. */
static void parts_make_no_target_larger(void **state)
{
    (void)state;
    const tct_null_space null = {.rows = 1};
    for (int i = 1; i <= 1000; i++) {
        const double wanted = 1e-6 * i / 7.0;
        const double is = tct_null_target(&null, 1e-11 * i * wanted, wanted);
        assert_true(is <= wanted && is >= 0.999 * wanted);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_x_elsewhere_excuses_nothing),
        cmocka_unit_test(vectors_of_any_size_are_taken),
        cmocka_unit_test(ranks_declare_alike),
        cmocka_unit_test(parts_are_solved),
        cmocka_unit_test(columns_end_each_by_itself),
        cmocka_unit_test(parts_of_b_are_weighed),
        cmocka_unit_test(declared_spaces_are_meant),
        cmocka_unit_test(ranks_without_rows_take_part),
        cmocka_unit_test(rigid_bodies_are_declared),
        cmocka_unit_test(translations_are_found),
        cmocka_unit_test(what_is_no_translation_is_not_found),
        cmocka_unit_test(modes_of_multigrid_are_found),
        cmocka_unit_test(functions_have_declared_ones),
        cmocka_unit_test(what_is_not_null_is_refused),
        cmocka_unit_test(regular_matrices_have_none),
        cmocka_unit_test(new_values_are_looked_at),
        cmocka_unit_test(what_is_not_shown_is_not_projected),
        cmocka_unit_test(checks_leave_a_device_alone),
        cmocka_unit_test(a_large_x_ends_a_solve),
        cmocka_unit_test(parts_make_no_target_larger),
    };
    TEST_GPU_MAIN(tests);
}
