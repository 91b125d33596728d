/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_stencil.c - format stencil and operators made of a stencil
 * alone, against the stored matrix: products to the bit, sums, passes, panels,
 * slabs and boxes of ranks, every method in every loop, preconditioners, new
 * values, refusals.
 *
 * RUN: np=1,2,3,4
 * DEVICE: each */
#include "gpu.h"

static bool on_host(void)
{
    return strcmp(TEST_DEVICE, "host") == 0;
}

/* A gallery matrix, and the stencil that it is of, if it has one name. */
typedef struct {
    const char *name, *shape;
    double centre;
} grid_case;

static const grid_case cases[] = {
    {"poisson2d:1x1", "star2d1r:1x1", 4.0},
    {"poisson2d:37x29", "star2d1r:37x29", 4.0},
    {"poisson2d:1x67", "star2d1r:1x67", 4.0},
    {"poisson2d:530x5", "star2d1r:530x5", 4.0},
    {"poisson2d9:23x19", "box2d1r:23x19", 8.0},
    {"poisson3d:1x1x5", "star3d1r:1x1x5", 6.0},
    {"poisson3d:11x7x13", "star3d1r:11x7x13", 6.0},
    {"poisson3d:7x13x1", "star3d1r:7x13x1", 6.0},
    {"poisson3d:3x1x31", "star3d1r:3x1x31", 6.0},
    {"poisson3d27:11x7x13", "box3d1r:11x7x13", 26.0},
    {"poisson3d27:2x2x9", "box3d1r:2x2x9", 26.0},
    {"anisotropic3d:11x7x13,0.25", NULL, 0.0},
    {"poisson1d:301", NULL, 0.0}};
enum { CASES = sizeof cases / sizeof *cases };

static tacit_stencil stencil_of(const char *shape, double centre)
{
    tacit_stencil s = {.size = sizeof s,
                       .weights = TACIT_WEIGHTS_CONSTANT,
                       .centre = centre,
                       .neighbours = -1.0};
    OK(tacit_stencil_parse(shape, &s));
    return s;
}

/* --- an operator against a stored one ------------------------------------- */

typedef struct {
    char what[160];
    tacit_queue *q;
    tacit_operator *stored, *A;
    size_t n;
} pair;

static tacit_operator *operator_in(tacit_queue *q, const tacit_matrix *m,
                                   const char *format)
{
    tacit_operator *A = operator_of(q, m, format);
    if (!A) fail_msg("format %s: %s", format, tacit_error_message());
    return A;
}

static void open_pair(pair *p, const grid_case *c, const char *partition,
                      bool of_stencil)
{
    tacit_matrix *m = gallery_matrix(c->name);
    const tacit_status cut =
        partition ? tacit_matrix_partition(m, partition, NULL) : TACIT_OK;
    if (cut != TACIT_UNSUPPORTED) OK(cut); /* a box would be empty */
    p->q = open_queue(TEST_DEVICE);
    p->stored = operator_in(p->q, m, on_host() ? "sell@none" : "sell/f64@none");
    if (of_stencil) {
        const tacit_stencil s = stencil_of(c->shape, c->centre);
        OK(tacit_operator_from_stencil(p->q, &s, &p->A));
    } else {
        p->A = operator_in(p->q, m, "stencil");
    }
    p->n = (size_t)tacit_operator_local_rows(p->stored);
    assert_int_equal(tacit_operator_local_rows(p->A), p->n);
    snprintf(p->what, sizeof p->what, "%s, %s%s", c->name,
             partition ? partition : "slabs",
             of_stencil ? ", without a matrix" : "");
    tacit_matrix_destroy(&m);
}

static void close_pair(pair *p)
{
    tacit_operator_destroy(&p->stored);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
}

typedef void (*check_fn)(pair *p);

static void everywhere(check_fn check)
{
    for (int c = 0; c < CASES; c++)
        for (int how = 0; how < 3; how++) {
            pair p;
            if (how == 2 && !cases[c].shape) continue;
            open_pair(&p, &cases[c], how == 1 ? "boxes" : NULL, how == 2);
            check(&p);
            close_pair(&p);
        }
}

static void expect_bits(const pair *p, const char *what, size_t n,
                        const double *got, const double *want)
{
    double *a = host_copy(p->q, n, got), *b = host_copy(p->q, n, want);
    for (size_t i = 0; i < n; i++)
        if (!same_bits(&a[i], &b[i], 1))
            fail_msg("%s: %s: element %zu is %.17g, not %.17g", p->what, what,
                     i, a[i], b[i]);
    free(a);
    free(b);
}

static double *filled(const pair *p, size_t n, int seed)
{
    double *x = random_vector(n, seed), *v = device_vector(p->q, n, x);
    free(x);
    return v;
}

/* --- products ------------------------------------------------------------- */

/* Sums of a GPU have an order of their own. */
static void expect_sums(const pair *p, const char *what, int count,
                        const double *got, const double *want)
{
    double *a = host_copy(p->q, (size_t)count, got);
    double *b = host_copy(p->q, (size_t)count, want);
    const double eps = on_host() ? 0.0 : 1e-13 * (double)(p->n + 1) * 60.0;
    for (int i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= eps))
            fail_msg("%s: %s: sum %d is %.17g, not %.17g", p->what, what, i,
                     a[i], b[i]);
    free(a);
    free(b);
}

/* |A| |x| of a stencil is that of its rows. */
static void expect_accuracy(const pair *p, const double *b, const double *x)
{
    tacit_backward is = {.size = sizeof is}, of_rows = {.size = sizeof of_rows};
    OK(tacit_backward_error(p->A, b, x, &is));
    OK(tacit_backward_error(p->stored, b, x, &of_rows));
    if (on_host()) assert_true(is.componentwise == of_rows.componentwise);
    assert_true(fabs(is.componentwise - of_rows.componentwise) <=
                1e-12 * of_rows.componentwise);
}

static void check_product(pair *p)
{
    const size_t n = p->n;
    double *x = filled(p, n, 1), *r = filled(p, n, 2);
    expect_accuracy(p, r, x);
    double *y = poisoned_vector(p->q, n), *z = poisoned_vector(p->q, n);
    double *a = poisoned_vector(p->q, 4), *b = poisoned_vector(p->q, 4);
    apply(p->stored, p->q, x, y);
    apply(p->A, p->q, x, z);
    expect_bits(p, "product", n, z, y);
    apply_dot(p->stored, p->q, x, y, a);
    apply_dot(p->A, p->q, x, z, b);
    expect_bits(p, "product with a dot", n, z, y);
    apply_dots(p->stored, p->q, x, r, y, a + 1);
    apply_dots(p->A, p->q, x, r, z, b + 1);
    expect_bits(p, "product with three", n, z, y);
    expect_sums(p, "dots", 4, b, a);
    OK(p->A->ops->diagonal(p->A, z));
    OK(p->stored->ops->diagonal(p->stored, y));
    expect_bits(p, "diagonal", n, z, y);
    OK(q_status(p->q));
    double **all[] = {&x, &r, &y, &z, &a, &b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(p->q, all[i]);
}

static void products_have_the_bits_of_stored_ones(void **state)
{
    (void)state;
    everywhere(check_product);
}

static void check_panel(pair *p)
{
    enum { COLUMNS = 5 };
    const size_t all = COLUMNS * p->n;
    double *x = filled(p, all, 3);
    double *y = poisoned_vector(p->q, all), *z = poisoned_vector(p->q, all);
    for (int columns = 2; columns <= COLUMNS; columns++) {
        const ptrdiff_t n = (ptrdiff_t)p->n;
        apply_block(p->stored, p->q, tct_panel_of(x, n, columns),
                    tct_panel_of(y, n, columns));
        apply_block(p->A, p->q, tct_panel_of(x, n, columns),
                    tct_panel_of(z, n, columns));
        expect_bits(p, "panel", (size_t)columns * p->n, z, y);
    }
    tacit_queue_free(p->q, &x);
    tacit_queue_free(p->q, &y);
    tacit_queue_free(p->q, &z);
}

static void panels_have_them_too(void **state)
{
    (void)state;
    everywhere(check_panel);
}

/* The pass of a smoother: y = x + alpha d (b - A x), beta for the last step. */
static double *passed(const pair *p, const tacit_operator *A, tct_pass pass,
                      double *const base[5])
{
    double *v[5], *c = filled(p, 3, 9), *y = filled(p, p->n + 1, 30);
    memcpy(v, base, sizeof v);
    v[4] = y;
    apply_pass(A, p->q, v[3], pass, c, c + 1, (const double *const *)v, c + 2);
    OK(q_status(p->q));
    tacit_queue_free(p->q, &c);
    return y;
}

static void check_passes(pair *p)
{
    double *v[5];
    for (int k = 0; k < 5; k++) v[k] = filled(p, p->n + 1, 20 + k);
    const tct_pass passes[] = {PASS_relax, PASS_smooth};
    for (int i = 0; i < 2; i++) {
        double *y = passed(p, p->stored, passes[i], v);
        double *z = passed(p, p->A, passes[i], v);
        expect_bits(p, i == 0 ? "relax" : "smooth", p->n, z, y);
        tacit_queue_free(p->q, &y);
        tacit_queue_free(p->q, &z);
    }
    for (int k = 0; k < 5; k++) tacit_queue_free(p->q, &v[k]);
}

static void passes_are_fused_alike(void **state)
{
    (void)state;
    everywhere(check_passes);
}

/* Its facts are those of the matrix. */
static void check_facts(pair *p)
{
    tacit_operator_info a = {.size = sizeof a}, b = a;
    OK(tacit_operator_describe(p->stored, &a));
    OK(tacit_operator_describe(p->A, &b));
    assert_string_equal(b.format, "stencil");
    assert_int_equal(b.rows, a.rows);
    assert_int_equal(b.nonzeros, a.nonzeros);
    assert_int_equal(b.row_min, a.row_min);
    assert_int_equal(b.row_max, a.row_max);
    assert_int_equal(b.ghosts, a.ghosts);
    assert_int_equal(b.sent, a.sent);
    assert_int_equal(b.volume, a.volume);
    assert_true(b.padding == 0.0);
    assert_true(p->A->norm == p->stored->norm);
    assert_int_equal(p->A->local->nonzeros, p->stored->local->nonzeros);
    if (tacit_world_size(test_world()) == 1)
        assert_true(b.bytes_per_nonzero == 0.0);
}

static void descriptions_are_those_of_the_matrix(void **state)
{
    (void)state;
    everywhere(check_facts);
}

/* --- solves --------------------------------------------------------------- */

typedef struct {
    tacit_solver *s;
    double *b, *x;
    tacit_result result;
    bool made; /* the loop and the preconditioner are there */
} solve;

static void run(const pair *p, const tacit_operator *A, const char *method,
                const char *precond, const char *loop, solve *out)
{
    *out = (solve){.result = {.size = sizeof out->result}};
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-10, .max_iterations = 500};
    OK(tacit_solver_create(p->q, A, method, &out->s));
    out->b = filled(p, p->n, 5);
    OK(tacit_queue_alloc(p->q, p->n, &out->x));
    OK(tacit_queue_fill(p->q, p->n, 0.0, out->x));
    out->made = tacit_solver_set(out->s, "precond", precond) == TACIT_OK &&
                tacit_solver_set(out->s, "loop", loop) == TACIT_OK;
    if (out->made)
        OK(tacit_solver_run(out->s, out->b, out->x, &stop, &out->result));
}

static void end(const pair *p, solve *s)
{
    tacit_solver_destroy(&s->s);
    tacit_queue_free(p->q, &s->b);
    tacit_queue_free(p->q, &s->x);
}

/* The residual as the stored matrix has it. */
static void expect_solved(const pair *p, const solve *s, const char *what)
{
    double *r = poisoned_vector(p->q, p->n), norm = NAN, size = NAN;
    OK(tacit_operator_apply(p->stored, s->x, r));
    OK(tacit_queue_distance(p->q, p->n, s->b, r, &norm));
    OK(tacit_queue_distance(p->q, p->n, s->b, NULL, &size));
    tacit_queue_free(p->q, &r);
    if (!(norm <= 1.001e-10 * size))
        fail_msg("%s: %s: %g", p->what, what, norm);
}

static int compare_solves(const pair *p, const char *method,
                          const char *precond, const char *loop)
{
    solve a, b;
    char what[96];
    snprintf(what, sizeof what, "%s, %s, loop %s", method, precond, loop);
    run(p, p->stored, method, precond, loop, &a);
    run(p, p->A, method, precond, loop, &b);
    if (a.made != b.made)
        fail_msg("%s: %s: one of them is refused: %s", p->what, what,
                 tacit_error_message());
    if (a.made) {
        expect_solved(p, &b, what);
        if (llabs(a.result.iterations - b.result.iterations) > 2)
            fail_msg("%s: %s: %lld iterations, not %lld", p->what, what,
                     (long long)b.result.iterations,
                     (long long)a.result.iterations);
        if (on_host()) expect_bits(p, what, p->n, b.x, a.x);
    }
    end(p, &a);
    end(p, &b);
    return b.made;
}

static void every_method_solves_in_every_loop(void **state)
{
    (void)state;
    int solved = 0;
    for (int c = 1; c < CASES; c += 5) {
        pair p;
        open_pair(&p, &cases[c], NULL, cases[c].shape != NULL);
        for (int i = 0; tacit_method_at(i); i++)
            for (int k = 0; k < 2; k++)
                for (int l = 0; tacit_loop_at(l); l++)
                    solved += compare_solves(&p, tacit_method_at(i)->name,
                                             k ? "jacobi" : "none",
                                             tacit_loop_at(l)->name);
        close_pair(&p);
    }
    assert_true(solved >= 3 * 8);
}

/* A solve by cg with `M`, which is of `A`. */
static void run_with(const pair *p, const tacit_operator *A, tacit_operator *M,
                     solve *out)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-10, .max_iterations = 500};
    *out = (solve){.result = {.size = sizeof out->result}};
    OK(tacit_solver_create(p->q, A, "cg", &out->s));
    OK(tacit_solver_set_precond(out->s, M));
    out->b = filled(p, p->n, 5);
    OK(tacit_queue_alloc(p->q, p->n, &out->x));
    OK(tacit_queue_fill(p->q, p->n, 0.0, out->x));
    OK(tacit_solver_run(out->s, out->b, out->x, &stop, &out->result));
}

/* Sums of other kernels differ in their last bits: one iteration, at most. */
static void expect_iterations(const solve *is, const solve *wanted,
                              const char *what)
{
    const long long n = is->result.iterations, w = wanted->result.iterations;
    if (llabs(n - w) > (on_host() ? 0 : 1))
        fail_msg("%s: %lld iterations, not %lld", what, n, w);
}

/* False: this device has no `about`. */
static bool compare_precond(const pair *p, const tacit_matrix *m,
                            const tacit_precond *about)
{
    tacit_operator *M = NULL, *of_stored = NULL, *none = NULL;
    solve a, b;
    EXPECT(TACIT_UNSUPPORTED, tacit_precond_create(p->A, about->name, &none));
    assert_non_null(strstr(tacit_error_message(), "entries"));
    const tacit_status made =
        tacit_precond_create_of(p->A, m, about->name, NULL, &M);
    if (made == TACIT_UNSUPPORTED && !on_host()) return false;
    OK(made);
    OK(tacit_precond_create_of(p->stored, m, about->name, NULL, &of_stored));
    run_with(p, p->stored, of_stored, &a);
    run_with(p, p->A, M, &b);
    expect_solved(p, &b, about->name);
    expect_iterations(&b, &a, about->name);
    end(p, &a);
    end(p, &b);
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&of_stored);
    return true;
}

/* With the matrix any preconditioner is made, and the finest level's products
 * are the stencil's; without it those of entries are refused. */
static void preconditioners_get_the_matrix(void **state)
{
    (void)state;
    const tacit_stencil s = stencil_of("star3d1r:13x11x17", 6.0);
    tacit_matrix *m = gallery_matrix("poisson3d:13x11x17");
    tacit_queue *q = open_queue(TEST_DEVICE);
    pair p = {.q = q, .what = "poisson3d", .stored = operator_in(q, m, "sell")};
    OK(tacit_operator_from_stencil(q, &s, &p.A));
    p.n = (size_t)tacit_operator_local_rows(p.A);
    int tried = 0;
    for (int i = 0; tacit_precond_at(i); i++) {
        const tacit_precond *about = tacit_precond_at(i);
        if (!about->of_matrix || about->reason) continue;
        tried += compare_precond(&p, m, about);
    }
    assert_true(tried >= (on_host() ? 4 : 1));
    tacit_operator_destroy(&p.stored);
    tacit_operator_destroy(&p.A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

/* --- new values ----------------------------------------------------------- */

static const char *format_of(const tacit_operator *A)
{
    tacit_operator_info info = {.size = sizeof info};
    OK(tacit_operator_describe(A, &info));
    return info.format;
}

/* Another stencil is taken; coefficients by row are stored from then on; where
 * the grid is another, nothing changes. */
static void new_values_are_taken(void **state)
{
    (void)state;
    static const char *const names[] = {"anisotropic3d:11x7x13,0.5",
                                        "jump3d:11x7x13,100",
                                        "poisson3d27:11x7x13"};
    pair p;
    open_pair(&p, &cases[6], NULL, true);
    for (int i = 0; i < 3; i++) {
        tacit_matrix *m = gallery_matrix(names[i]);
        if (i == 2) {
            EXPECT(TACIT_INVALID, tacit_operator_update(p.A, m));
            assert_non_null(strstr(tacit_error_message(), "pattern"));
        } else {
            OK(tacit_operator_update(p.A, m));
            OK(tacit_operator_update(p.stored, m));
        }
        assert_string_equal(format_of(p.A), i == 0 ? "stencil" : "sell");
        check_product(&p);
        tacit_matrix_destroy(&m);
    }
    close_pair(&p);
}

/* Values far from 1 are scaled as those of a matrix. */
static void sizes_far_from_1_are_scaled(void **state)
{
    (void)state;
    const double sizes[] = {1e-200, 1e250};
    for (int i = 0; i < 2; i++) {
        tacit_queue *q = open_queue(TEST_DEVICE);
        tacit_operator *A = NULL;
        tacit_stencil s = stencil_of("star2d1r:40x40", 4.0 * sizes[i]);
        s.neighbours = -sizes[i];
        OK(tacit_operator_from_stencil(q, &s, &A));
        const size_t n = (size_t)tacit_operator_local_rows(A);
        double *x = host_vector(n, 1.0), *y = image_of(A, q, n, x);
        for (size_t k = 0; k < n; k++)
            assert_true(y[k] >= 0.0 && y[k] <= 2.001 * sizes[i]);
        double most = 0.0;
        for (size_t k = 0; k < n; k++) most = y[k] > most ? y[k] : most;
        OK(tacit_world_reduce(test_world(), TACIT_MAX, 1, &most));
        assert_true(fabs(most - 2.0 * sizes[i]) <= 1e-14 * sizes[i]);
        free(x), free(y);
        tacit_operator_destroy(&A);
        tacit_queue_destroy(&q);
    }
}

/* --- without entries ------------------------------------------------------ */

static tacit_matrix *numbers_of(const char *name, double shift)
{
    tacit_matrix *m = NULL;
    const tacit_matrix_options o = {
        .size = sizeof o, .shift = shift, .no_entries = true};
    OK(tacit_matrix_open(test_world(), name, &o, &m));
    return m;
}

static void expect_info(const char *name, double shift)
{
    tacit_matrix_info a = {.size = sizeof a}, b = {.size = sizeof b};
    const tacit_matrix_options o = {.size = sizeof o, .shift = shift};
    tacit_matrix *full = NULL, *bare = numbers_of(name, shift);
    OK(tacit_matrix_open(test_world(), name, &o, &full));
    OK(tacit_matrix_describe(full, &a));
    OK(tacit_matrix_describe(bare, &b));
    assert_int_equal(tacit_matrix_nonzeros(bare), tacit_matrix_nonzeros(full));
    assert_int_equal(tacit_matrix_local_rows(bare),
                     tacit_matrix_local_rows(full));
    assert_int_equal(tacit_matrix_first_row(bare),
                     tacit_matrix_first_row(full));
    assert_true(a.rows == b.rows && a.cols == b.cols);
    assert_int_equal(a.nonzeros, b.nonzeros);
    assert_int_equal(a.explicit_zeros, b.explicit_zeros);
    assert_true(a.row_min == b.row_min && a.row_max == b.row_max);
    assert_true(a.row_mean == b.row_mean && a.norm_inf == b.norm_inf);
    assert_int_equal(a.bandwidth, b.bandwidth);
    assert_int_equal(a.zero_diagonals, b.zero_diagonals);
    assert_int_equal(a.negative_diagonals, b.negative_diagonals);
    assert_int_equal(a.first_bad_diagonal, b.first_bad_diagonal);
    assert_true(a.diagonal_min == b.diagonal_min);
    assert_true(a.diagonal_max == b.diagonal_max && a.shift == b.shift);
    assert_string_equal(a.format, b.format);
    tacit_matrix_destroy(&full);
    tacit_matrix_destroy(&bare);
}

/* By formula they have the facts of their entries, also where these are shifted
 * until a diagonal is 0, or negative. */
static void facts_need_no_entries(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c++) {
        expect_info(cases[c].name, 0.0);
        expect_info(cases[c].name, 0.125);
        expect_info(cases[c].name, -cases[c].centre);
        expect_info(cases[c].name, -100.0);
    }
}

static void check_bare(const char *name)
{
    pair p = {.q = open_queue(TEST_DEVICE)};
    tacit_matrix *m = gallery_matrix(name), *bare = numbers_of(name, 0.0);
    tacit_operator *none = NULL;
    p.stored = operator_in(p.q, m, on_host() ? "sell@none" : "sell/f64@none");
    OK(tacit_operator_create(p.q, bare, NULL, &p.A));
    tacit_operator_destroy(&p.A);
    OK(tacit_operator_take(p.q, bare, "stencil", &p.A));
    p.n = (size_t)tacit_operator_local_rows(p.A);
    snprintf(p.what, sizeof p.what, "%s without entries", name);
    check_product(&p);
    double *x = poisoned_vector(p.q, p.n), *b = poisoned_vector(p.q, p.n);
    OK(tacit_operator_manufacture(p.A, bare, 7, x, b));
    double *want_x = poisoned_vector(p.q, p.n);
    double *want_b = poisoned_vector(p.q, p.n);
    OK(tacit_operator_manufacture(p.stored, m, 7, want_x, want_b));
    expect_bits(&p, "x of a problem", p.n, x, want_x);
    expect_bits(&p, "b of a problem", p.n, b, want_b);
    tacit_queue_free(p.q, &want_x);
    tacit_queue_free(p.q, &want_b);
    EXPECT(TACIT_INVALID, tacit_operator_create(p.q, bare, "csr", &none));
    assert_non_null(strstr(tacit_error_message(), "without entries"));
    EXPECT(TACIT_INVALID, tacit_operator_update(p.A, bare));
    EXPECT(TACIT_INVALID,
           tacit_precond_create_of(p.A, bare, "ic0", NULL, &none));
    EXPECT(TACIT_INVALID, tacit_matrix_partition(bare, "boxes", NULL));
    tacit_queue_free(p.q, &x);
    tacit_queue_free(p.q, &b);
    close_pair(&p);
    tacit_matrix_destroy(&m);
    tacit_matrix_destroy(&bare);
}

static void operators_need_no_entries(void **state)
{
    (void)state;
    const tacit_matrix_options o = {.size = sizeof o, .no_entries = true};
    static const char *const others[] = {"jump3d:5,9", "elasticity3d:3",
                                         "like:tmt_sym,9", "random:40,3"};
    tacit_matrix *m = NULL;
    check_bare("poisson3d:11x7x13");
    check_bare("poisson2d9:23x19");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        EXPECT(TACIT_UNSUPPORTED,
               tacit_matrix_open(test_world(), others[i], &o, &m));
        assert_non_null(strstr(tacit_error_message(), "without entries"));
    }
}

/* --- refusals ------------------------------------------------------------- */

static void refuse(tacit_queue *q, tacit_status wanted, const char *words,
                   tacit_stencil s)
{
    tacit_operator *A = NULL;
    EXPECT(wanted, tacit_operator_from_stencil(q, &s, &A));
    assert_null(A);
    if (!strstr(tacit_error_message(), words))
        fail_msg("'%s' is not in: %s", words, tacit_error_message());
}

static void what_is_no_operator_is_refused(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    const tacit_stencil good = stencil_of("star2d1r:9x8", 4.0);
    tacit_stencil s = good;
    s.periodic = TACIT_PERIODIC_Y;
    refuse(q, TACIT_UNSUPPORTED, "periodic", s);
    s = good;
    s.boundary = 1.0;
    refuse(q, TACIT_INVALID, "boundary", s);
    s = good;
    s.weights = TACIT_WEIGHTS_MEAN;
    refuse(q, TACIT_UNSUPPORTED, "MEAN", s);
    s.weights = TACIT_WEIGHTS_CELLS;
    refuse(q, TACIT_UNSUPPORTED, "CELLS", s);
    s = good;
    s.type = "float";
    refuse(q, TACIT_UNSUPPORTED, "float", s);
    s = good;
    s.centre = s.neighbours = 0.0;
    refuse(q, TACIT_INVALID, "coefficients are 0", s);
    s = good;
    s.centre = 1e300;
    s.neighbours = 1e-300;
    refuse(q, TACIT_INPUT, "double precision", s);
    s = good;
    s.n[1] = 0;
    refuse(q, TACIT_INVALID, "cells", s);
    s = good;
    s.size = 3;
    refuse(q, TACIT_INVALID, "tacit_stencil", s);
    tacit_queue_destroy(&q);
}

/* All ranks are to have one stencil. */
static void ranks_must_agree(void **state)
{
    (void)state;
    if (tacit_world_size(test_world()) == 1) skip();
    tacit_queue *q = open_queue(TEST_DEVICE);
    const bool last = tacit_world_rank(test_world()) == 1;
    refuse(q, TACIT_INVALID, "the stencil",
           stencil_of("star2d1r:9x8", last ? 5.0 : 4.0));
    refuse(q, TACIT_INVALID, "the stencil",
           stencil_of(last ? "star2d1r:8x9" : "star2d1r:9x8", 4.0));
    tacit_queue_destroy(&q);
}

static void other_matrices_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format, *words;
    } none[] = {{"jump3d:8,100", "stencil", "constant coefficients"},
                {"elasticity3d:5", "stencil", "gallery"},
                {"random:200,3", "stencil", "gallery"},
                {"poisson2d:20", "stencil@rcm", "another order"}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        tacit_queue *q = open_queue(TEST_DEVICE);
        tacit_matrix *m = gallery_matrix(none[i].name);
        tacit_operator *A = NULL;
        EXPECT(TACIT_UNSUPPORTED,
               tacit_operator_create(q, m, none[i].format, &A));
        if (!strstr(tacit_error_message(), none[i].words))
            fail_msg("%s: %s", none[i].name, tacit_error_message());
        tacit_matrix_destroy(&m);
        tacit_queue_destroy(&q);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_the_bits_of_stored_ones),
        cmocka_unit_test(panels_have_them_too),
        cmocka_unit_test(passes_are_fused_alike),
        cmocka_unit_test(descriptions_are_those_of_the_matrix),
        cmocka_unit_test(every_method_solves_in_every_loop),
        cmocka_unit_test(preconditioners_get_the_matrix),
        cmocka_unit_test(new_values_are_taken),
        cmocka_unit_test(sizes_far_from_1_are_scaled),
        cmocka_unit_test(facts_need_no_entries),
        cmocka_unit_test(operators_need_no_entries),
        cmocka_unit_test(what_is_no_operator_is_refused),
        cmocka_unit_test(ranks_must_agree),
        cmocka_unit_test(other_matrices_are_refused),
    };
    TEST_GPU_MAIN(tests);
}
