/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg.c - algebraic multigrid: the properties that cg requires
 * (linear, symmetric, positive definite), iterations, cost, the same bits under
 * decorators, and matrices on which it helps little.
 *
 * RUN: np=1,2,4
 * THREADS: 3
 * LIMIT: 500
 * LABEL: slow */
#include "amg_problem.h"
#include "decorated.h"
#include "matrix/matrix.h"

static tacit_precond_options options_of(const char *cycle, const char *smoother,
                                        int degree)
{
    return (tacit_precond_options){.size = sizeof(tacit_precond_options),
                                   .cycle = cycle,
                                   .smoother = smoother,
                                   .degree = degree};
}

/* `m` is taken over. */
static void open_matrix(amg *a, const char *spec, tacit_matrix *m,
                        const char *format, const tacit_precond_options *o)
{
    open_amg_of(a, spec, m, format, "cg", o);
}

static void open_amg(amg *a, const char *spec, const char *matrix,
                     const tacit_precond_options *o)
{
    open_matrix(a, spec, gallery_matrix(matrix), "sell@none", o);
}

/* --- what it is ----------------------------------------------------------- */

static void expect_spd(const amg *a, const char *what)
{
    const size_t n = a->p.n;
    const int rank = tacit_world_rank(test_world());
    for (int k = 0; k < 3; k++) {
        double *u = random_vector(n, 10 * k + rank);
        double *v = random_vector(n, 500 + 10 * k + rank);
        double *mu = image_of(a->M, a->p.q, n, u),
               *mv = image_of(a->M, a->p.q, n, v);
        const double uu = dot_of(n, u, mu), vv = dot_of(n, v, mv);
        const double uv = dot_of(n, u, mv), vu = dot_of(n, v, mu);
        if (!(uu > 0.0 && vv > 0.0))
            fail_msg("%s: (u, M u) is %g, (v, M v) %g", what, uu, vv);
        if (!(fabs(uv - vu) <= 1e-12 * sqrt(uu * vv)))
            fail_msg("%s: (u, M v) - (v, M u) is %g of %g", what, uv - vu,
                     sqrt(uu * vv));
        for (size_t i = 0; i < n; i++) u[i] = 2.0 * u[i] - 3.0 * v[i];
        double *sum = image_of(a->M, a->p.q, n, u);
        for (size_t i = 0; i < n; i++) sum[i] -= 2.0 * mu[i] - 3.0 * mv[i];
        assert_true(dot_of(n, sum, sum) <= 1e-24 * dot_of(n, mu, mu));
        free(u);
        free(v);
        free(mu);
        free(mv);
        free(sum);
    }
}

static void every_cycle_is_linear_symmetric_and_positive(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson3d:13", "jump3d:12,1e6,1",
                                           "anisotropic3d:13,0.001",
                                           "tet3d:9,1", "elasticity3d:6"};
    static const char *const cycles[] = {"v", "w"};
    static const char *const smoothers[] = {"chebyshev", "jacobi", "l1-jacobi"};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 6; k++)
            for (int degree = 1; degree <= 4; degree++) {
                char what[128];
                amg a;
                const tacit_precond_options o =
                    options_of(cycles[k % 2], smoothers[k / 2], degree);
                snprintf(what, sizeof what, "%s %s %s(%d)", matrices[i],
                         o.cycle, o.smoother, degree);
                open_amg(&a, "host", matrices[i], &o);
                expect_spd(&a, what);
                close_amg(&a);
            }
}

/* Levels that are ended early, whose last is smoothed. */
static void so_it_is_where_the_last_level_is_smoothed(void **state)
{
    (void)state;
    for (int levels = 1; levels <= 2; levels++) {
        amg a;
        tacit_precond_options o = options_of(NULL, NULL, 0);
        tacit_precond_info info = {.size = sizeof info};
        o.levels = levels;
        open_amg(&a, "host", "poisson3d:26", &o);
        OK(tacit_precond_describe(a.M, &info));
        assert_int_equal(info.levels, levels);
        assert_non_null(strstr(info.end, "smoothed"));
        expect_spd(&a, info.end);
        assert_true(solve_amg(&a, 1e-8) < 60);
        close_amg(&a);
    }
}

/* --- what it does --------------------------------------------------------- */

/* Iterations to 1e-6 from b = 1. Aggregates stay within ranks, which costs
 * some; the literature's seed setting takes 16 where these take 11. The
 * circuit of 300 x 300 takes 30 with pairs by weaker edges, that of 50 x 50
 * takes 24 where a level of few rows says whether corrections overshoot. */
static void iterations_are_few_and_hardly_grow(void **state)
{
    (void)state;
    static const struct {
        const char *matrix, *cycle, *smoother;
        int degree, most;
    } rows[] = {{"poisson3d:32", "v", "chebyshev", 2, 13},
                {"poisson3d:64", "v", "chebyshev", 2, 15},
                {"poisson3d:40", "v", "chebyshev", 4, 14},
                {"poisson3d:40", "w", "chebyshev", 2, 17},
                {"poisson3d:40", "v", "l1-jacobi", 4, 17},
                {"poisson3d:40", "v", "jacobi", 4, 16},
                {"jump3d:30,1e4,1", "v", "chebyshev", 2, 40},
                {"anisotropic3d:40,0.01", "v", "chebyshev", 2, 40},
                {"tet3d:24,1", "v", "chebyshev", 2, 40},
                {"like:g3_circuit,300x300", "v", "chebyshev", 2, 25},
                {"like:g3_circuit,50x50", "v", "chebyshev", 2, 22}};
    const int more = tacit_world_size(test_world()) > 1 ? 5 : 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        amg a;
        const tacit_precond_options o =
            options_of(rows[i].cycle, rows[i].smoother, rows[i].degree);
        open_amg(&a, "host", rows[i].matrix, &o);
        const int64_t its = solve_amg(&a, 1e-6);
        if (its > rows[i].most + more)
            fail_msg("%s, %s %s(%d): %d iterations", rows[i].matrix,
                     rows[i].cycle, rows[i].smoother, rows[i].degree, (int)its);
        close_amg(&a);
    }
}

/* Power networks and a heart, where they are. */
static void real_matrices_take_fewer_iterations(void **state)
{
    (void)state;
    static const char *const names[] = {"derived/pdn_real_tc1.mtx.gz",
                                        "derived/dcpf_case9241pegase.mtx.gz",
                                        "derived/lap_4elt.mtx.gz"};
    int found = 0;
    for (int i = 0; i < 3; i++) {
        tacit_matrix *m = real_matrix(names[i]);
        amg a;
        if (!m) continue;
        found++;
        if (tacit_world_size(test_world()) > 1)
            OK(tacit_matrix_partition(m, "metis", NULL));
        open_matrix(&a, "host", m, "csr@none", NULL);
        const int64_t its = solve_amg(&a, 1e-8);
        const tacit_stop stop = {
            .size = sizeof stop, .rtol = 1e-8, .max_iterations = 6 * its};
        OK(tacit_solver_set(a.p.s, "precond", "jacobi"));
        OK(tacit_queue_fill(a.p.q, a.p.n, 0.0, a.p.x));
        EXPECT(TACIT_NOT_CONVERGED,
               tacit_solver_run(a.p.s, a.p.b, a.p.x, &stop, &a.p.result));
        close_amg(&a);
    }
    if (found == 0) printf("skipped: TACIT_MATRICES has none of them\n");
}

static void solves_have_the_same_bits_again_and_again(void **state)
{
    (void)state;
    double *first = NULL;
    for (int round = 0; round < 2; round++) {
        amg a;
        open_amg(&a, "host", "jump3d:14,1e3,2", NULL);
        for (int k = 0; k < (round == 0 ? 100 : 1); k++) {
            solve_amg(&a, 1e-9);
            double *x = host_copy(a.p.q, a.p.n, a.p.x);
            if (!first) first = x;
            assert_true(same_bits(first, x, a.p.n));
            if (x != first) free(x);
        }
        close_amg(&a);
    }
    free(first);
}

/* Who looks on changes no bit; memory is poisoned and out of reach. */
static void decorators_change_no_bit(void **state)
{
    (void)state;
    amg a;
    open_amg(&a, "host", "tet3d:9,1", NULL);
    solve_amg(&a, 1e-8);
    double *first = host_copy(a.p.q, a.p.n, a.p.x);
    const size_t n = a.p.n;
    close_amg(&a);
    for (int i = 0; tacit_decorator_at(i); i++) {
        const char *name = tacit_decorator_at(i)->name;
        char spec[64];
        tacit_queue *q = NULL;
        snprintf(spec, sizeof spec, "%s%s:host", name, argument_of(name));
        if (tacit_queue_create(test_world(), spec, 1, &q) < 0) continue;
        tacit_queue_destroy(&q);
        open_amg(&a, spec, "tet3d:9,1", NULL);
        solve_amg(&a, 1e-8);
        double *x = host_copy(a.p.q, n, a.p.x);
        if (!same_bits(first, x, n)) fail_msg("%s changes bits", spec);
        free(x);
        close_amg(&a);
    }
    free(first);
}

static void check_orders(const char *matrix, int slack)
{
    static const char *const formats[] = {"csr@none", "sell@rcm", "csr@metis",
                                          "auto"};
    int64_t first = 0;
    for (int i = 0; i < 4; i++) {
        amg a;
        open_matrix(&a, "host", gallery_matrix(matrix), formats[i], NULL);
        expect_spd(&a, formats[i]);
        const int64_t its = solve_amg(&a, 1e-8);
        if (i == 0) first = its;
        if (llabs(its - first) > slack)
            fail_msg("%s in %s: %d iterations, not %d", matrix, formats[i],
                     (int)its, (int)first);
        close_amg(&a);
    }
}

/* Of the second all of M is an inverse. */
static void orders_and_formats_change_little(void **state)
{
    (void)state;
    check_orders("tet3d:12,1", 2);
    check_orders("elasticity3d:7", 0);
}

/* Entries far from 1 are stored times a power of 2, each level's by its own. */
static void sizes_change_nothing(void **state)
{
    (void)state;
    static const double sizes[] = {1.0, 0x1p600, 0x1p-600, 0x1p80};
    int64_t its[4];
    for (int k = 0; k < 4; k++) {
        tacit_matrix *m = gallery_matrix("poisson3d:14");
        for (int64_t i = 0; i < m->A.ptr[m->A.rows]; i++)
            m->A.val[i] *= sizes[k];
        amg a;
        open_matrix(&a, "host", m, "csr@none", NULL);
        its[k] = solve_amg(&a, 1e-9);
        assert_int_equal(its[k], its[0]);
        close_amg(&a);
    }
}

/* Values are floats, of any size: M stays what it is, iterations stay as few,
 * and there are fewer bytes. The finest level has a copy where that is
 * smaller. */
static void floats_change_little(void **state)
{
    (void)state;
    static const char *const matrices[] = {"jump3d:20,1e4,1", "elasticity3d:8",
                                           "tet3d:12,1"};
    static const double sizes[] = {1.0, 0x1p600, 0x1p-600};
    /* csr is rounded as it is copied, slices of doubles where they stand */
    static const char *const formats[] = {"csr@none", "sell@none"};
    for (int c = 0; c < 6; c++) {
        const int i = c / 2;
        const bool sliced = c % 2 != 0, doubles = i == 2 || !sliced;
        int64_t its[2];
        double bytes[2], finest[2];
        for (int k = 0; k < 2; k++) {
            tacit_precond_options o = options_of(NULL, NULL, 0);
            tacit_precond_info info = {.size = sizeof info};
            tacit_matrix *m = gallery_matrix(matrices[i]);
            o.precision = k ? "float" : "double";
            for (int64_t e = 0; e < m->A.ptr[m->A.rows]; e++)
                m->A.val[e] *= sizes[i];
            amg a;
            open_matrix(&a, "host", m, formats[sliced], &o);
            OK(tacit_precond_describe(a.M, &info));
            bytes[k] = info.bytes;
            finest[k] = tacit_precond_level_at(a.M, 0)->bytes;
            for (int l = doubles ? 0 : 1; l < info.levels; l++)
                assert_int_equal(tacit_precond_level_at(a.M, l)->bits,
                                 k ? 32 : 64);
            if (sizes[i] == 1.0) expect_spd(&a, matrices[i]);
            its[k] = solve_amg(&a, 1e-8);
            close_amg(&a);
        }
        assert_true(llabs(its[0] - its[1]) <= 1);
        assert_true(i > 0 || bytes[1] - finest[1] < bytes[0] - finest[0]);
        assert_true(i != 1 || sliced || finest[1] > finest[0]); /* a copy */
    }
}

/* As far apart as rounding makes them. */
static bool near(const double *a, const double *b, size_t n)
{
    double most = 0.0, apart = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i]));
        apart = fmax(apart, fabs(a[i] - b[i]));
    }
    return apart <= 1e-12 * most;
}

/* In `sell` the steps of a smoother stand behind products, in `csr` they are
 * passes of their own: the same bits, but for rows that have ghosts. */
static void steps_behind_products_change_no_bit(void **state)
{
    (void)state;
    const bool alone = tacit_world_size(test_world()) == 1;
    static const char *const smoothers[] = {"chebyshev", "jacobi"};
    for (int k = 0; k < 6; k++) {
        tacit_precond_options o = options_of("v", smoothers[k / 3], k % 3 + 1);
        double *images[2];
        o.precision = "double";
        for (int f = 0; f < 2; f++) {
            amg a;
            open_matrix(&a, "host", gallery_matrix("jump3d:11,1e3,1"),
                        f ? "sell@none" : "csr@none", &o);
            double *u = random_vector(a.p.n, 7);
            images[f] = image_of(a.M, a.p.q, a.p.n, u);
            if (f && !(alone ? same_bits(images[0], images[1], a.p.n)
                             : near(images[0], images[1], a.p.n)))
                fail_msg("%s(%d)", o.smoother, o.degree);
            free(u);
            close_amg(&a);
        }
        free(images[0]);
        free(images[1]);
    }
}

/* A product with a pass behind it does what the two do, and leaves no t; its
 * sum has another order, and so have rows with ghosts, which come behind the
 * pass. */
static void check_behind(const amg *a, tct_pass pass, bool behind)
{
    tacit_queue *q = a->p.q;
    const size_t n = a->p.n;
    const bool alone = tacit_world_size(test_world()) == 1;
    double *v[5], *sum = device_vector(q, 2, (const double[]){0.75, -1.25});
    for (int k = 0; k < 5; k++) { /* d t b x y; t has a place for a sum */
        double *host = random_vector(n + 1, 20 + k);
        v[k] = device_vector(q, n + 1, host);
        free(host);
    }
    double *old = host_copy(q, n, v[4]), *t = host_copy(q, n, v[1]), sums[2];
    apply_pass(a->p.A, q, v[3], pass, sum, sum + 1, (const double *const *)v,
               v[1] + n);
    q_get(q, 1, v[1] + n, &sums[0]);
    double *y = host_copy(q, n, v[4]), *left = host_copy(q, n, v[1]);
    OK(tacit_queue_put(q, n, old, v[4]));
    apply(a->p.A, q, v[3], v[1]);
    q_run_pass(q, pass, n, 1.0, sum, sum + 1, (const double *const *)v,
               v[1] + n);
    q_get(q, 1, v[1] + n, &sums[1]);
    double *plain = host_copy(q, n, v[4]);
    assert_int_equal(same_bits(left, t, n), behind);
    assert_true(alone || !behind ? same_bits(plain, y, n) : near(plain, y, n));
    assert_true(fabs(sums[0] - sums[1]) <= 1e-12 * (double)n);
    double *const all[] = {old, t, y, left, plain};
    for (int k = 0; k < 5; k++) free(all[k]);
    for (int k = 0; k < 5; k++) tacit_queue_free(q, &v[k]);
    tacit_queue_free(q, &sum);
}

static void passes_stand_behind_products(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        amg a;
        open_matrix(&a, "host", gallery_matrix("tet3d:12,1"),
                    k % 2 ? "sell@none" : "csr@none", NULL);
        check_behind(&a, k < 2 ? PASS_relax : PASS_smooth, k % 2);
        close_amg(&a);
    }
}

/* --- what it costs -------------------------------------------------------- */

/* 2 k products a level and one with the inverse; no sum. What is moved to other
 * ranks goes there and back, and so do shares of aggregates of several
 * ranks. */
static void an_application_costs_what_is_said(void **state)
{
    (void)state;
    static const char *const smoothers[] = {"chebyshev", "jacobi", "l1-jacobi"};
    for (int s = 0; s < 3; s++)
        for (int degree = 1; degree <= 5; degree++) {
            amg a;
            const tacit_precond_options o =
                options_of("v", smoothers[s], degree);
            open_amg(&a, "count:host", "poisson3d:20", &o);
            tacit_precond_info info = {.size = sizeof info};
            OK(tacit_precond_describe(a.M, &info));
            assert_true(info.levels >= 3);
            const tacit_tally *t = tacit_queue_tally(a.p.q);
            tacit_queue_clear_tally(a.p.q);
            OK(tacit_operator_apply(a.M, a.p.b, a.p.x));
            assert_int_equal(t->spmv.count, 2 * degree * (info.levels - 1) + 1);
            assert_int_equal(t->reduce.count, 0);
            const bool alone = tacit_world_size(test_world()) == 1;
            const int moved = moved_levels(a.M), shared = shared_levels(a.M);
            assert_int_equal(moved > 0, !alone);
            assert_true(alone ? shared == 0 : shared <= info.levels - 1);
            assert_int_equal(t->exchange.count,
                             alone ? 0 : t->spmv.count + 2 * (moved + shared));
            close_amg(&a);
        }
}

static void levels_are_told(void **state)
{
    (void)state;
    amg a;
    open_amg(&a, "host", "poisson3d:24", NULL);
    tacit_precond_info info = {.size = sizeof info};
    OK(tacit_precond_describe(a.M, &info));
    double rows = 0.0, bytes = 0.0;
    for (int i = 0; i < info.levels; i++) {
        const tacit_precond_level *l = tacit_precond_level_at(a.M, i);
        const bool last = i + 1 == info.levels;
        rows += (double)l->rows;
        bytes += l->bytes;
        assert_true(l->bytes > 0.0 && l->nonzeros >= l->rows);
        assert_int_equal(strcmp(l->format, "inverse") == 0, last);
        assert_true(last || (l->largest > 1.0 && l->largest < 2.1));
    }
    assert_null(tacit_precond_level_at(a.M, info.levels));
    assert_null(tacit_precond_level_at(a.p.A, 0));
    assert_true(info.levels >= 2 && bytes == info.bytes);
    assert_true(fabs(rows / (24.0 * 24 * 24) - info.grid_complexity) < 1e-12);
    assert_true(info.operator_complexity > 1.0 &&
                info.operator_complexity < 1.3);
    assert_string_equal(info.detail, "cycle v, smoother chebyshev(2)");
    assert_true(info.setup_seconds > 0.0);
    close_amg(&a);
}

/* --- what it can do little for -------------------------------------------- */

static int only_diagonal(int64_t n, int64_t i, int64_t *col)
{
    (void)n;
    col[0] = i;
    return 1;
}
static int all_columns(int64_t n, int64_t i, int64_t *col)
{
    (void)i;
    for (int64_t j = 0; j < n; j++) col[j] = j;
    return (int)n;
}
static double some_diagonal(int64_t i, int64_t j)
{
    return i == j ? 1.0 + (double)(i % 7) : 0.0;
}
/* Of the covariance of points on a line: all entries positive. */
static double covariance(int64_t i, int64_t j)
{
    return exp(-0.3 * fabs((double)(i - j))) + (i == j ? 0.1 : 0.0);
}

/* All rows on rank 0: the others have none, on every level. */
static tacit_matrix *matrix_on_one(int64_t n, columns_fn columns,
                                   value_fn value)
{
    static int64_t col[ROW_MOST];
    const int64_t rows = tacit_world_rank(test_world()) == 0 ? n : 0;
    int64_t *ptr = calloc((size_t)rows + 1, sizeof *ptr);
    int64_t *cols = malloc((size_t)(rows * n + 1) * sizeof *cols);
    double *vals = malloc((size_t)(rows * n + 1) * sizeof *vals);
    tacit_matrix *m = NULL;
    assert_true(ptr && cols && vals);
    for (int64_t i = 0; i < rows; i++) {
        const int count = columns(n, i, col);
        ptr[i + 1] = ptr[i] + count;
        for (int k = 0; k < count; k++) {
            cols[ptr[i] + k] = col[k];
            vals[ptr[i] + k] = value(i, col[k]);
        }
    }
    OK(tacit_matrix_from_rows(test_world(), n, rows ? 0 : n, rows, ptr, cols,
                              vals, &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

static void matrices_without_levels_are_solved(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        columns_fn columns;
        value_fn value;
    } rows[] = {{1, only_diagonal, some_diagonal},
                {300, only_diagonal, some_diagonal},
                {4000, only_diagonal, some_diagonal},
                {300, all_columns, covariance},
                {1700, all_columns, covariance}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        amg a;
        open_matrix(&a, "host",
                    matrix_on_one(rows[i].n, rows[i].columns, rows[i].value),
                    "csr@none", NULL);
        expect_spd(&a, "no levels");
        assert_true(solve_amg(&a, 1e-8) < 40);
        close_amg(&a);
    }
}

/* An inverse costs more than all products of a small matrix; one of a diagonal
 * has nothing to tell. */
static void what_is_inverted_is_worth_it(void **state)
{
    (void)state;
    tacit_precond_info info = {.size = sizeof info};
    amg a;
    open_amg(&a, "host", "poisson3d:9", NULL);
    OK(tacit_precond_describe(a.M, &info));
    assert_true(info.levels > 1);
    assert_true(tacit_precond_level_at(a.M, info.levels - 1)->rows < 78);
    close_amg(&a);
    open_amg(&a, "host", "poisson3d:4", NULL); /* of so few all is inverted */
    OK(tacit_precond_describe(a.M, &info));
    assert_int_equal(info.levels, 1);
    assert_true(solve_amg(&a, 1e-12) <= 2);
    close_amg(&a);
    open_matrix(&a, "host", matrix_on_one(300, only_diagonal, some_diagonal),
                "csr@none", NULL);
    OK(tacit_precond_describe(a.M, &info));
    assert_non_null(strstr(info.end, "no row depends on another"));
    assert_int_equal(solve_amg(&a, 1e-8), 1);
    close_amg(&a);
}

static double singular_line(int64_t i, int64_t j)
{
    return i != j ? -1.0 : i == 0 || i == 1199 ? 1.0 : 2.0;
}

/* Semidefinite, as the Laplacian of a graph is; b is in its range. */
static void what_is_singular_is_solved(void **state)
{
    (void)state;
    amg a;
    open_matrix(&a, "host",
                matrix_on_one(1200, neighbours_on_line, singular_line),
                "csr@none", NULL);
    double *b = host_vector(a.p.n, 0.0);
    if (a.p.n > 0) b[0] = 1.0;
    if (a.p.n > 0) b[a.p.n - 1] = -1.0;
    OK(tacit_queue_put(a.p.q, a.p.n, b, a.p.b));
    assert_true(solve_amg(&a, 1e-8) < 80);
    free(b);
    close_amg(&a);
}

static double nearly_singular(int64_t i, int64_t j)
{
    return i == j ? 2.0 + (i == 0 || i == 2999 ? -1.0 : 0.0) + 1e-9 : -1.0;
}

/* What is rounded is not all that a level is for; and one level is no
 * hierarchy. */
static void auto_keeps_doubles_where_floats_cost(void **state)
{
    (void)state;
    static const int rows[] = {10, 3000};
    for (int k = 0; k < 2; k++) {
        amg a;
        open_matrix(&a, "host",
                    matrix_on_one(rows[k], neighbours_on_line, nearly_singular),
                    "csr@none", NULL);
        for (int l = 0; tacit_precond_level_at(a.M, l); l++)
            assert_int_equal(tacit_precond_level_at(a.M, l)->bits, 64);
        close_amg(&a);
    }
}

static double indefinite_line(int64_t i, int64_t j)
{
    return i == j ? 1.0 : -1.0;
}

/* There is no inverse that is positive: cg then says what it met. */
static void what_is_indefinite_ends_in_a_breakdown(void **state)
{
    (void)state;
    for (int64_t n = 30; n <= 3000; n += 2970) {
        amg a;
        open_matrix(&a, "host",
                    matrix_on_one(n, neighbours_on_line, indefinite_line),
                    "csr@none", NULL);
        tacit_precond_info info = {.size = sizeof info};
        OK(tacit_precond_describe(a.M, &info));
        assert_non_null(strstr(info.end, "smoothed"));
        EXPECT(TACIT_BREAKDOWN,
               tacit_solver_run(a.p.s, a.p.b, a.p.x, NULL, &a.p.result));
        close_amg(&a);
    }
}

static double bad_diagonal(int64_t i, int64_t j)
{
    return i == j ? (i == 4 ? -1.0 : 1.0) : 0.0;
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    amg a;
    tacit_operator *M = NULL;
    open_amg(&a, "host", "poisson3d:6", NULL);
    const tacit_operator *A = a.p.A;
    tacit_matrix *other = gallery_matrix("poisson3d:7");
    EXPECT(TACIT_UNSUPPORTED, tacit_precond_create(A, "amg", &M));
    assert_non_null(strstr(tacit_error_message(), "tacit_precond_create_of"));
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, other, "amg", NULL, &M));
    assert_non_null(strstr(tacit_error_message(), "not that of the operator"));
    tacit_precond_options o = options_of("vv", NULL, 0);
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", &o, &M));
    o = options_of(NULL, "chebychev", 0);
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", &o, &M));
    assert_non_null(strstr(tacit_error_message(), "did you mean 'chebyshev'"));
    for (int degree = -1; degree < 10; degree += 10) {
        o = options_of(NULL, NULL, degree);
        EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", &o, &M));
    }
    o = options_of(NULL, NULL, 0);
    o.precision = "flaot";
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", &o, &M));
    assert_non_null(strstr(tacit_error_message(), "did you mean 'float'"));
    o = options_of(NULL, NULL, 9);
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", &o, &M));
    o = options_of(NULL, NULL, 0);
    o.levels = 41;
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", &o, &M));
    o.levels = 0;
    o.size = 0;
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", &o, &M));
    tacit_matrix_drop_entries(a.p.m);
    EXPECT(TACIT_INVALID, tacit_precond_create_of(A, a.p.m, "amg", NULL, &M));
    assert_null(M);
    tacit_matrix_destroy(&other);
    close_amg(&a);
}

static void a_diagonal_that_is_not_positive_is_named(void **state)
{
    (void)state;
    tacit_operator *A = NULL, *M = NULL;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = matrix_on_one(900, only_diagonal, bad_diagonal);
    OK(tacit_operator_create(q, m, "csr@none", &A));
    EXPECT(TACIT_INPUT, tacit_precond_create_of(A, m, "amg", NULL, &M));
    assert_non_null(strstr(tacit_error_message(), "row 5 has -1"));
    assert_null(M);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* Whichever allocation fails on the last rank: all are told, and nothing is
 * left behind. */
static void memory_that_is_not_there_is_missed_by_all(void **state)
{
    (void)state;
    static const char *const cycles[] = {"v", "w"};
    const bool mine =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    if (test_shares_allocations(__func__)) return;
    for (int c = 0; c < 2; c++) {
        const tacit_precond_options o = options_of(cycles[c], NULL, 3);
        tacit_queue *q = open_queue("host");
        tacit_matrix *m = gallery_matrix("poisson3d:13");
        tacit_operator *A = NULL, *M = NULL;
        OK(tacit_operator_create(q, m, "csr@rcm", &A));
        size_t before = tct_memory_blocks();
        int missed = 0, met = 0; /* a few can be done without */
        for (long k = 1; met < 30; k++) {
            if (mine) tct_memory_fail_at(k);
            const tacit_status status =
                tacit_precond_create_of(A, m, "amg", &o, &M);
            tct_memory_fail_at(0);
            if (status < 0) EXPECT(TACIT_NO_MEMORY, status);
            assert_int_equal(M == NULL, status < 0);
            met = status < 0 ? 0 : met + 1;
            missed += status < 0;
            tacit_operator_destroy(&M);
            const size_t now = tct_memory_blocks();
            assert_true(now <= before); /* less: a link was given up */
            before = now;
        }
        assert_true(missed > 50);
        tacit_operator_destroy(&A);
        tacit_matrix_destroy(&m);
        tacit_queue_destroy(&q);
    }
}

/* Some columns at once: M is applied to one after the other. */
static void blocks_are_solved(void **state)
{
    (void)state;
    amg a;
    open_amg(&a, "host", "poisson3d:12", NULL);
    expect_columns_alone(&a, 5);
    close_amg(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cycle_is_linear_symmetric_and_positive),
        cmocka_unit_test(so_it_is_where_the_last_level_is_smoothed),
        cmocka_unit_test(iterations_are_few_and_hardly_grow),
        cmocka_unit_test(real_matrices_take_fewer_iterations),
        cmocka_unit_test(solves_have_the_same_bits_again_and_again),
        cmocka_unit_test(decorators_change_no_bit),
        cmocka_unit_test(orders_and_formats_change_little),
        cmocka_unit_test(sizes_change_nothing),
        cmocka_unit_test(floats_change_little),
        cmocka_unit_test(steps_behind_products_change_no_bit),
        cmocka_unit_test(passes_stand_behind_products),
        cmocka_unit_test(auto_keeps_doubles_where_floats_cost),
        cmocka_unit_test(an_application_costs_what_is_said),
        cmocka_unit_test(levels_are_told),
        cmocka_unit_test(matrices_without_levels_are_solved),
        cmocka_unit_test(what_is_inverted_is_worth_it),
        cmocka_unit_test(what_is_singular_is_solved),
        cmocka_unit_test(what_is_indefinite_ends_in_a_breakdown),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_diagonal_that_is_not_positive_is_named),
        cmocka_unit_test(memory_that_is_not_there_is_missed_by_all),
        cmocka_unit_test(blocks_are_solved),
    };
    TEST_MPI_MAIN(tests);
}
