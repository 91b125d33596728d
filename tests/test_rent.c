/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_rent.c - rows as they came until another format pays for itself:
 * each decision both ways by a clock that the test sets, the cost against
 * hindsight, ranks that decide alike, and the bits of x.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#include "mpi_main.h"
#include "operator/choice/rental.h"
#include "problem.h"
#include <tacit/solver.h>

/* --- the decisions alone -------------------------------------------------- */

/* Seconds: of a product before and after, of the price, of a trial. */
typedef struct {
    double before, after, foretold, price, trial;
} costs;

typedef struct {
    double seconds;
    int64_t tried, bought, undone, refused; /* products before; -1: never */
} course;

/* One rank's products, and what it decides. */
static course follow(costs c, int64_t products, double left)
{
    course o = {0.0, -1, -1, -1, -1};
    tct_rent r = {.trial = c.trial};
    double each = c.before;
    for (int64_t k = 1; k <= products; k++) {
        o.seconds += each;
        tct_rent_note(&r, 1, each);
        const tct_rent_act act = tct_rent_decide(&r, left);
        if (act == RENT_TRY) {
            o.tried = k;
            o.seconds += c.trial;
            r.state = RENT_TRIED;
            r.build = c.price;
            r.gain = c.before - c.foretold;
        } else if (act == RENT_BUY) {
            o.bought = k;
            o.seconds += c.price;
            each = c.after;
            r.state = RENT_PROVES;
            r.rounds = 0;
        } else if (act == RENT_UNDO) {
            o.undone = k;
            each = c.before;
            r.state = RENT_KEPT;
        } else if (act == RENT_REFUSE) {
            o.refused = k;
            r.state = RENT_KEPT;
        } else if (act == RENT_KEEP) {
            r.state = RENT_KEPT;
        }
    }
    return o;
}

static void is_bought_when_it_would_have_paid(void **state)
{
    (void)state;
    const costs c = {1.0, 0.5, 0.5, 20.0, 0.1}; /* pays after 40 */
    assert_int_equal(follow(c, 39, 0.0).bought, -1);
    assert_int_equal(follow(c, 40, 0.0).bought, 40);
    assert_int_equal(follow(c, 41, 0.0).bought, 40);
    assert_int_equal(follow(c, 100, 0.0).undone, -1);
}

static void long_solves_buy_early_and_short_ones_late(void **state)
{
    (void)state;
    const costs c = {1.0, 0.5, 0.5, 20.0, 0.1};
    assert_int_equal(follow(c, 100, 33.0).bought, 10);
    assert_int_equal(follow(c, 100, 31.0).bought, 80);
    assert_int_equal(follow(c, 79, 31.0).bought, -1);
    assert_int_equal(follow(c, 9, 1e9).bought, -1);
}

static void what_gains_nothing_is_refused(void **state)
{
    (void)state;
    const course o = follow((costs){1.0, 1.0, 1.0, 5.0, 0.1}, 1000, 1e9);
    assert_true(o.tried >= 1 && o.refused == o.tried + 1);
    assert_int_equal(o.bought, -1);
}

static void what_is_slower_than_foretold_is_undone(void **state)
{
    (void)state;
    const course slow = follow((costs){1.0, 1.11, 0.5, 10.0, 0.1}, 100, 0.0);
    assert_int_equal(slow.bought, 20);
    assert_int_equal(slow.undone, 20 + RENT_PROOFS);
    const course same = follow((costs){1.0, 1.09, 0.5, 10.0, 0.1}, 100, 0.0);
    assert_int_equal(same.bought, 20);
    assert_int_equal(same.undone, -1);
}

static void a_trial_costs_a_part_of_what_is_spent(void **state)
{
    (void)state;
    const costs c = {1.0, 0.5, 0.5, 20.0, 4.0};
    assert_int_equal(follow(c, 9, 0.0).tried, -1);
    assert_int_equal(follow(c, 11, 0.0).tried, 10);
}

static double draw(uint64_t i, double low, double high)
{
    return low + (high - low) * tct_uniform(49, i);
}

/* Whatever the price, the gain and the number of products. */
static void costs_at_most_thrice_hindsight(void **state)
{
    (void)state;
    double worst = 0.0, sum = 0.0;
    enum { TIMES = 4000 };
    for (uint64_t i = 0; i < TIMES; i++) {
        const double after = draw(4 * i, 0.05, 1.3);
        const double price = draw(4 * i + 1, 0.1, 60.0);
        const int64_t products = 1 + (int64_t)draw(4 * i + 2, 0.0, 300.0);
        const costs c = {1.0, after, after, price, draw(4 * i + 3, 0.0, 1.0)};
        const double left = i % 2 ? 0.0 : 1e-3; /* unknown; too few */
        const double took = follow(c, products, left).seconds;
        const double rows = (double)products, best = price + after * rows;
        const double ratio = took / (rows < best ? rows : best);
        if (ratio > worst) worst = ratio;
        sum += ratio;
    }
    assert_true(worst <= 3.0);
    assert_true(worst > 1.3); /* the drawing reaches bad cases */
    assert_true(sum / TIMES <= 1.5);
}

/* --- with an operator, by a clock that the test sets ---------------------- */

typedef struct {
    double now;
    double product[2]; /* seconds between two checks: before, after */
    double sample, old, fresh, build;
    bool bought;
} script;

static double script_now(void *of)
{
    return ((script *)of)->now;
}

static void script_charge(void *of, tct_rent_work work, double bytes)
{
    script *s = of;
    (void)bytes;
    if (work == RENT_PRODUCTS) s->now += s->product[s->bought];
    if (work == RENT_SAMPLE) s->now += s->sample;
    if (work == RENT_OLD) s->now += s->old;
    if (work == RENT_NEW) s->now += s->fresh;
    if (work == RENT_BUILD) s->now += s->build;
    s->bought = s->bought || work == RENT_BUILD;
}

static tct_rent_clock clock_of(script *s)
{
    return (tct_rent_clock){script_now, script_charge, s};
}

static void open_matrix(problem *p, const char *name)
{
    *p = (problem){.q = NULL};
    assert_int_equal(tacit_matrix_open(test_world(), name, NULL, &p->m),
                     TACIT_OK);
    assert_int_equal(tacit_queue_create(test_world(), "host", 2, &p->q),
                     TACIT_OK);
}

static void open_solver(problem *p, const char *method)
{
    p->n = (size_t)tacit_operator_local_rows(p->A);
    assert_int_equal(tacit_queue_alloc(p->q, p->n, &p->b), TACIT_OK);
    assert_int_equal(tacit_queue_alloc(p->q, p->n, &p->x), TACIT_OK);
    for (size_t i = 0; i < p->n; i++) {
        p->b[i] = 1.0;
        p->x[i] = 0.0;
    }
    assert_int_equal(tacit_solver_create(p->q, p->A, method, &p->s), TACIT_OK);
}

static void iterate(problem *p, int64_t iterations,
                    int (*monitor)(void *ctx, int64_t k, double residual),
                    void *ctx)
{
    const tacit_stop stop = {.size = sizeof stop,
                             .max_iterations = iterations,
                             .monitor = monitor,
                             .monitor_ctx = ctx};
    p->result = (tacit_result){.size = sizeof p->result};
    const tacit_status status =
        tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
    assert_true(status >= 0);
}

/* An operator that rents; `tries`: price and gain are measured, as if it had
 * entries enough for that. */
static void make_renting(problem *p, const char *matrix, script *s, bool tries)
{
    const tct_operator_wish wish = {.rents = true, .clock = clock_of(s)};
    open_matrix(p, matrix);
    assert_int_equal(tct_operator_make(p->q, p->m, &wish, &p->A), TACIT_OK);
    tct_rental *r = tct_assembled_of(p->A)->rental;
    assert_true(r->assumes && r->state.state == RENT_TRIED);
    if (!tries) return;
    r->assumes = false;
    r->state.state = RENT_RUNS;
}

/* The last decision after `iterations` by the script of this rank. */
static tacit_decision decided(script *s, bool tries, int64_t iterations,
                              char format[16])
{
    problem p;
    tacit_decision last = {.outcome = "none"};
    make_renting(&p, "poisson2d:140", s, tries);
    open_solver(&p, "cg");
    iterate(&p, iterations, NULL, NULL);
    const tacit_decision *d;
    for (int i = 0; (d = tacit_operator_decision_at(p.A, i)) != NULL; i++)
        last = *d;
    tacit_operator_info info = {.size = sizeof info};
    assert_int_equal(tacit_operator_describe(p.A, &info), TACIT_OK);
    snprintf(format, 16, "%s", info.format);
    close_problem(&p);
    return last;
}

/* A sample of a half: the gain is what the script says, times a scale that the
 * test does not know; so times are chosen far apart. */
static void a_script_buys_keeps_and_undoes(void **state)
{
    (void)state;
    char format[16];
    script cheap = {.product = {1.0, 0.5}, .old = 1.0, .fresh = 0.5};
    assert_string_equal(decided(&cheap, true, 100, format).outcome, "stored");
    assert_string_not_equal(format, "csr");
    script dear = {.product = {1.0, 0.5},
                   .sample = 1e6,
                   .old = 1.0,
                   .fresh = 0.5,
                   .build = 1e6};
    assert_string_equal(decided(&dear, true, 100, format).outcome, "none");
    assert_string_equal(format, "csr");
    script none = {.product = {1.0, 1.0}, .old = 1.0, .fresh = 1.5};
    assert_string_equal(decided(&none, true, 100, format).outcome, "refused");
    assert_string_equal(format, "csr");
    script lies = {.product = {1.0, 2.0}, .old = 1.0, .fresh = 0.5};
    assert_string_equal(decided(&lies, true, 100, format).outcome, "undone");
    assert_string_equal(format, "csr");
}

/* Price and gain are assumed: 20 products, and 0.4 of one; a quarter of those
 * that would pay are enough where many are foretold. */
static void few_entries_are_bought_without_a_trial(void **state)
{
    (void)state;
    char format[16];
    script s = {.product = {1.0, 0.5}};
    assert_string_equal(decided(&s, false, 10, format).outcome, "none");
    assert_string_equal(format, "csr");
    s = (script){.product = {1.0, 0.5}};
    const tacit_decision d = decided(&s, false, 40, format);
    assert_string_equal(d.outcome, "stored");
    assert_string_not_equal(format, "csr");
    assert_true(d.products >= 13 && d.products <= 16);
    s = (script){.product = {1.0, 2.0}};
    assert_string_equal(decided(&s, false, 100, format).outcome, "undone");
    assert_string_equal(format, "csr");
}

/* Clocks differ from rank to rank. */
static void ranks_decide_alike(void **state)
{
    (void)state;
    char format[16];
    tacit_world *w = test_world();
    const double more = 1.0 + tacit_world_rank(w);
    script s = {.product = {more, 0.5 * more},
                .sample = 3.0 / more,
                .old = 1.0,
                .fresh = 0.5 * more / 4.0,
                .build = 10.0};
    const tacit_decision d = decided(&s, true, 150, format);
    assert_string_equal(d.outcome, "stored");
    double extent[2] = {(double)d.products, -(double)d.products};
    assert_int_equal(tct_reduce_f64(w, TCT_MAX, 2, extent), TACIT_OK);
    assert_true(extent[0] == -extent[1]);
}

/* --- bits ----------------------------------------------------------------- */

typedef struct {
    problem *p;
    int64_t at; /* -1: never */
    bool done;
} switching;

static int settle_at(void *ctx, int64_t k, double residual)
{
    switching *s = ctx;
    (void)residual;
    if (s->at < 0 || k < s->at || s->done) return 0;
    tct_operator_settle(s->p->A);
    s->done = true;
    return 0;
}

enum { ITERATIONS = 120 };

/* x after a change at iteration `at`, -1 for none. */
static void solve_with_change(const char *matrix, const char *method,
                              const char *precond, int64_t at, double **x,
                              size_t *n)
{
    problem p;
    script s = {.product = {1.0, 1.0}, .sample = 1e9, .old = 2.0, .fresh = 1.0};
    s.build = 1e9; /* nothing is bought by itself */
    switching change = {&p, at, false};
    make_renting(&p, matrix, &s, true);
    open_solver(&p, method);
    if (precond)
        assert_int_equal(tacit_solver_set(p.s, "precond", precond), TACIT_OK);
    iterate(&p, ITERATIONS, settle_at, &change);
    tacit_operator_info info = {.size = sizeof info};
    assert_int_equal(tacit_operator_describe(p.A, &info), TACIT_OK);
    assert_true(change.done == (at >= 0));
    assert_true((strcmp(info.format, "csr") == 0) == (at < 0));
    *n = p.n;
    *x = malloc(p.n * sizeof **x + 1);
    memcpy(*x, p.x, p.n * sizeof **x);
    close_problem(&p);
}

static void expect_same_bits(const char *matrix, const char *method,
                             const char *precond, int changes)
{
    static const int64_t at[] = {1, 7, 100};
    double *rows = NULL, *x = NULL;
    size_t n = 0;
    solve_with_change(matrix, method, precond, -1, &rows, &n);
    for (int i = 0; i < changes; i++) {
        solve_with_change(matrix, method, precond, at[i], &x, &n);
        assert_memory_equal(x, rows, n * sizeof *x);
        free(x);
    }
    free(rows);
}

static void a_change_changes_no_bit(void **state)
{
    (void)state;
    static const char *const methods[] = {"cg",      "single", "pipelined",
                                          "pipe-pr", "sstep",  "minres"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        expect_same_bits("poisson2d:160", methods[i], NULL, 3);
    expect_same_bits("poisson2d:160", "cg", "jacobi", 3);
    expect_same_bits("elasticity3d:9", "cg", "jacobi", 2);
}

/* --- shared rows ---------------------------------------------------------- */

static void expect_product(const problem *p, const double *expected)
{
    assert_int_equal(tacit_operator_apply(p->A, p->b, p->x), TACIT_OK);
    assert_memory_equal(p->x, expected, p->n * sizeof *expected);
}

/* The matrix goes, or its rows move, or another operator takes them. */
static void shared_rows_outlive_the_matrix(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        problem p;
        tacit_operator *other = NULL;
        open_matrix(&p, "poisson2d:140");
        assert_int_equal(tacit_operator_create_for(p.q, p.m, NULL, &p.A),
                         TACIT_OK);
        open_solver(&p, "cg");
        for (size_t i = 0; i < p.n; i++) p.b[i] = 1.0 / (double)(i + 1);
        double *before = malloc(p.n * sizeof *before + 1);
        assert_int_equal(tacit_operator_apply(p.A, p.b, p.x), TACIT_OK);
        memcpy(before, p.x, p.n * sizeof *before);
        if (way == 0) tacit_matrix_destroy(&p.m);
        if (way == 1)
            assert_int_equal(tacit_matrix_partition(p.m, "metis", NULL),
                             TACIT_OK);
        if (way == 2)
            assert_int_equal(tacit_operator_take(p.q, p.m, "sell", &other),
                             TACIT_OK);
        expect_product(&p, before);
        tct_operator_settle(p.A);
        expect_product(&p, before);
        free(before);
        tacit_operator_destroy(&other);
        close_problem(&p);
    }
}

/* New values go to the operator, and not to the matrix that it shares rows
 * with. */
static void new_values_leave_the_matrix(void **state)
{
    (void)state;
    problem p;
    tacit_matrix *shifted = NULL;
    tacit_rows rows;
    const tacit_matrix_options shift = {.size = sizeof shift, .shift = 1.0};
    open_matrix(&p, "poisson2d:140");
    assert_int_equal(
        tacit_matrix_open(test_world(), "poisson2d:140", &shift, &shifted),
        TACIT_OK);
    assert_int_equal(tacit_operator_create_for(p.q, p.m, NULL, &p.A), TACIT_OK);
    open_solver(&p, "cg");
    assert_int_equal(tacit_operator_update(p.A, shifted), TACIT_OK);
    assert_int_equal(tacit_matrix_view_rows(p.m, &rows), TACIT_OK);
    for (int64_t k = 0; k < rows.ptr[rows.count]; k++)
        assert_true(rows.vals[k] == 4.0 || rows.vals[k] == -1.0);
    double *d = p.x;
    assert_int_equal(tct_operator_diagonal(p.A, d), TACIT_OK);
    for (size_t i = 0; i < p.n; i++) assert_true(d[i] == 5.0);
    tacit_matrix_destroy(&shifted);
    close_problem(&p);
}

/* --- options -------------------------------------------------------------- */

static void options_are_checked(void **state)
{
    (void)state;
    problem p;
    tacit_operator_options o = {.size = sizeof o, .solves = -1};
    open_matrix(&p, "poisson2d:30");
    assert_int_equal(tacit_operator_create_for(p.q, p.m, &o, &p.A),
                     TACIT_INVALID);
    o = (tacit_operator_options){.size = 0};
    assert_int_equal(tacit_operator_create_for(p.q, p.m, &o, &p.A),
                     TACIT_INVALID);
    o = (tacit_operator_options){.size = sizeof o, .format = "crs"};
    assert_int_equal(tacit_operator_create_for(p.q, p.m, &o, &p.A),
                     TACIT_INVALID);
    assert_null(p.A);
    o = (tacit_operator_options){.size = sizeof o, .solves = 2};
    assert_int_equal(tacit_operator_create_for(p.q, p.m, &o, &p.A), TACIT_OK);
    assert_false(p.A->rents); /* measured at once */
    close_problem(&p);
}

/* Fewest entries are stored at once; where a part of them is enough for a trial,
 * price and gain are measured. */
static void few_entries_are_not_tried(void **state)
{
    (void)state;
    static const struct {
        const char *matrix;
        bool rents, assumes;
    } of[] = {{"poisson2d:40", false, false},
              {"poisson2d:60", true, true},
              {"poisson3d:90", true, false}};
    if (tacit_world_size(test_world()) > 1) skip(); /* of one rank's entries */
    for (int i = 0; i < 3; i++) {
        problem p;
        open_matrix(&p, of[i].matrix);
        assert_int_equal(tacit_operator_create_for(p.q, p.m, NULL, &p.A),
                         TACIT_OK);
        const tct_rental *r = tct_assembled_of(p.A)->rental;
        assert_int_equal(p.A->rents, of[i].rents);
        assert_int_equal(r != NULL, of[i].rents);
        if (r) assert_int_equal(r->assumes, of[i].assumes);
        close_problem(&p);
    }
}

/* Time by bytes: twice the same decisions, at the same products. */
static void a_model_decides_by_bytes_alone(void **state)
{
    (void)state;
    const tacit_operator_options o = {.size = sizeof o, .deterministic = true};
    tacit_decision d[2];
    for (int run = 0; run < 2; run++) {
        problem p;
        open_matrix(&p, "poisson2d:140");
        assert_int_equal(tacit_operator_create_for(p.q, p.m, &o, &p.A),
                         TACIT_OK);
        open_solver(&p, "cg");
        iterate(&p, 150, NULL, NULL);
        assert_non_null(tacit_operator_decision_at(p.A, 0));
        assert_null(tacit_operator_decision_at(p.A, -1));
        d[run] = *tacit_operator_decision_at(p.A, 0);
        close_problem(&p);
    }
    assert_string_equal(d[0].what, d[1].what);
    assert_string_equal(d[0].outcome, d[1].outcome);
    assert_int_equal(d[0].products, d[1].products);
    assert_true(d[0].cost == d[1].cost && d[0].gain == d[1].gain);
}

/* --- memory --------------------------------------------------------------- */

/* Whatever allocation fails during a solve, the rows stay. */
static void without_memory_the_rows_stay(void **state)
{
    (void)state;
    if (test_shares_allocations(__func__)) return;
    for (long k = 1; k < 48; k++) {
        problem p;
        script s = {.product = {1.0, 0.5}, .old = 1.0, .fresh = 0.5};
        make_renting(&p, "poisson2d:140", &s, k % 2 == 0);
        open_solver(&p, "cg");
        tct_memory_fail_at((k + 1) / 2);
        iterate(&p, 70, NULL, NULL);
        tct_memory_fail_at(0);
        assert_int_equal(p.result.iterations, 70);
        close_problem(&p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_bought_when_it_would_have_paid),
        cmocka_unit_test(long_solves_buy_early_and_short_ones_late),
        cmocka_unit_test(what_gains_nothing_is_refused),
        cmocka_unit_test(what_is_slower_than_foretold_is_undone),
        cmocka_unit_test(a_trial_costs_a_part_of_what_is_spent),
        cmocka_unit_test(costs_at_most_thrice_hindsight),
        cmocka_unit_test(a_script_buys_keeps_and_undoes),
        cmocka_unit_test(few_entries_are_bought_without_a_trial),
        cmocka_unit_test(ranks_decide_alike),
        cmocka_unit_test(a_change_changes_no_bit),
        cmocka_unit_test(shared_rows_outlive_the_matrix),
        cmocka_unit_test(new_values_leave_the_matrix),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(few_entries_are_not_tried),
        cmocka_unit_test(a_model_decides_by_bytes_alone),
        cmocka_unit_test(without_memory_the_rows_stay),
    };
    TEST_MPI_MAIN(tests);
}
