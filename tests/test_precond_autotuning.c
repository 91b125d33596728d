/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_precond_autotuning.c - autotuning of preconditioners: one
 * candidate is kept, each is reported, and the system is solved for any
 * timings.
 *
 * RUN: np=1,3
 * THREADS: 2 */
#include "gpu.h"
#include "matrix/matrix.h"
#include "problem.h"
#include "solver/preconds/autotune.h"
#include <math.h>
#include <string.h>

/* `m` is taken over; b = 1. */
static void open_race(problem *p, tacit_matrix *m, const char *format,
                      const char *method)
{
    *p = (problem){.m = m, .result.size = sizeof p->result};
    p->q = open_queue("host");
    OK(tacit_operator_create(p->q, m, format, &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

static tacit_precond_race autotuning_of(const problem *p, int64_t solves)
{
    return (tacit_precond_race){
        .size = sizeof(tacit_precond_race), .matrix = p->m, .solves = solves};
}

static tacit_status solve(problem *p, const tacit_precond_race *race,
                          double rtol)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = rtol};
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    return tacit_solver_race(p->s, race, p->b, p->x, &stop, &p->result);
}

static const tacit_precond_trial *trial_of(const problem *p, const char *name)
{
    const tacit_precond_trial *t;
    for (int i = 0; (t = tacit_solver_trial_at(p->s, i)) != NULL; i++)
        if (strcmp(t->name, name) == 0) return t;
    fail_msg("no trial of %s", name);
    return NULL;
}

/* One was picked, which the solver has; the others have a reason; iterations
 * add up. Returns its name. */
static const char *expect_one(const problem *p)
{
    const tacit_precond_trial *t, *picked = NULL;
    int64_t iterations = 0;
    int count = 0;
    for (; (t = tacit_solver_trial_at(p->s, count)) != NULL; count++) {
        assert_true(t->picked == !t->reason);
        assert_true(!t->picked || !picked);
        if (t->picked) picked = t;
        iterations += t->iterations;
    }
    assert_non_null(picked);
    assert_non_null(tacit_precond_at(count - 1));
    assert_null(tacit_precond_at(count));
    assert_true(iterations >= p->result.iterations);
    tacit_precond_info info = {.size = sizeof info, .name = "none"};
    if (tacit_solver_precond(p->s))
        OK(tacit_precond_describe(tacit_solver_precond(p->s), &info));
    assert_string_equal(info.name, picked->name);
    return picked->name;
}

static void every_method_is_solved_and_keeps_the_winner(void **state)
{
    (void)state;
    for (int j = 0; tacit_method_at(j); j++) {
        problem p;
        open_race(&p, gallery_matrix("jump3d:10,1e4,1"), "auto",
                  tacit_method_at(j)->name);
        const tacit_precond_race race = autotuning_of(&p, 1);
        OK(solve(&p, &race, 1e-9));
        assert_true(p.result.converged);
        assert_true(p.result.true_relative_residual <= 1e-9);
        expect_one(&p);
        assert_string_equal(trial_of(&p, "none")->reason,
                            "the diagonal is not constant, and jacobi costs "
                            "next to nothing");
        tacit_matrix_drop_entries(p.m); /* what was made stays */
        const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
        OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
        OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
        assert_true(p.result.true_relative_residual <= 1e-9);
        close_problem(&p);
    }
}

/* Solved before another could be set up: as if there had been no race. */
static void what_is_easy_costs_nothing_more(void **state)
{
    (void)state;
    problem p;
    open_race(&p, gallery_matrix("poisson3d:12"), "auto", "cg");
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-6};
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    const int64_t plain = p.result.iterations;
    const tacit_precond_race race = autotuning_of(&p, 1);
    OK(solve(&p, &race, 1e-6));
    assert_int_equal(p.result.iterations, plain);
    assert_string_equal(expect_one(&p), "none");
    assert_int_equal(trial_of(&p, "amg")->iterations, 0);
    assert_true(trial_of(&p, "none")->alone);
    assert_non_null(strstr(trial_of(&p, "jacobi")->reason, "constant"));
    close_problem(&p);
}

/* While it solved: its time is until then. */
static bool was_given_up(const tacit_precond_trial *t)
{
    return t->reason && strcmp(t->reason, "another solves faster") == 0;
}

/* A chain of N nodes a rank. */
static tacit_matrix *chain_matrix(void)
{
    enum { N = 2000 };
    const int64_t rows = N * tacit_world_size(test_world()),
                  first = N * tacit_world_rank(test_world());
    int64_t ptr[N + 1] = {0}, col[3 * N], k = 0;
    double val[3 * N];
    tacit_matrix *m = NULL;
    for (int64_t i = first; i < first + N; i++) {
        for (int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= rows) continue;
            col[k] = j;
            val[k++] = j == i ? 2.001 + (double)(i % 3) / 1e3 : -1.0;
        }
        ptr[i - first + 1] = k;
    }
    OK(tacit_matrix_from_rows(test_world(), rows, first, N, ptr, col, val, &m));
    return m;
}

/* The factor is chosen after the same iteration in each run. */
static void chains_take_a_factor_with_fill(void **state)
{
    (void)state;
    int64_t before = 0;
    for (int run = 0; run < 3; run++) {
        problem p;
        open_race(&p, chain_matrix(), "csr@none", "cg");
        const tacit_precond_race race = autotuning_of(&p, 1);
        OK(solve(&p, &race, 1e-8));
        assert_true(p.result.true_relative_residual <= 1e-8);
        assert_string_equal(expect_one(&p), "ic1");
        const int64_t plain = trial_of(&p, "jacobi")->iterations;
        assert_true(plain > 8 && (run == 0 || plain == before));
        before = plain;
        close_problem(&p);
    }
}

/* Fourth differences of N nodes a rank, each with EACH unknowns that all are
 * joined: hard for all but an exact factor. */
static tacit_matrix *beam_matrix(void)
{
    enum { N = 400, EACH = 5, WIDE = 5 * EACH, ROWS = N * EACH };
    static const double of[] = {1.0, -4.0, 6.000001, -4.0, 1.0};
    const int64_t rows = ROWS * tacit_world_size(test_world()),
                  first = ROWS * tacit_world_rank(test_world());
    int64_t ptr[ROWS + 1] = {0}, col[ROWS * WIDE], k = 0;
    double val[ROWS * WIDE];
    tacit_matrix *m = NULL;
    for (int64_t i = first; i < first + ROWS; i++) {
        const int64_t node = i / EACH;
        for (int64_t j = (node - 2) * EACH; j < (node + 3) * EACH; j++) {
            if (j < 0 || j >= rows) continue;
            col[k] = j;
            val[k++] =
                of[j / EACH - node + 2] * (i % EACH == j % EACH ? 1.0 : 0.2);
        }
        ptr[i - first + 1] = k;
    }
    OK(tacit_matrix_from_rows(test_world(), rows, first, ROWS, ptr, col, val,
                              &m));
    return m;
}

/* An exact factor is chosen after the same iterations in each run, by one rank
 * alone and if its matrix has a small profile. */
static void beams_take_an_exact_factor(void **state)
{
    (void)state;
    const bool alone = tacit_world_size(test_world()) == 1;
    int64_t before = 0;
    problem p;
    for (int run = 0; run < 3 && alone; run++) {
        open_race(&p, beam_matrix(), "csr@none", "cg");
        const tacit_precond_race race = autotuning_of(&p, 1);
        OK(solve(&p, &race, 1e-7));
        assert_true(p.result.true_relative_residual <= 1e-7);
        assert_string_equal(expect_one(&p), "direct");
        assert_true(trial_of(&p, "direct")->iterations <= 3);
        assert_true(p.result.iterations > 100);
        assert_true(run == 0 || p.result.iterations == before);
        before = p.result.iterations;
        close_problem(&p);
    }
    open_race(&p, alone ? gallery_matrix("poisson3d:24") : beam_matrix(),
              "csr@none", "cg");
    const tacit_precond_race race = autotuning_of(&p, 1);
    const tacit_status status = solve(&p, &race, 1e-3);
    assert_true(status == TACIT_OK || status == TACIT_NOT_CONVERGED);
    assert_non_null(strstr(trial_of(&p, "direct")->reason, "small profile"));
    assert_true(alone ||
                strstr(trial_of(&p, "ic1")->reason, "would fill it") != NULL);
    close_problem(&p);
}

/* On rank 0: node 0 is joined to all others, which have no other neighbour. */
static tacit_matrix *star_matrix(void)
{
    enum { N = 900 };
    const int64_t rows = tacit_world_rank(test_world()) == 0 ? N : 0;
    int64_t ptr[N + 1] = {0}, col[3 * N], k = 0;
    double val[3 * N];
    tacit_matrix *m = NULL;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            if (i != j && i != 0 && j != 0) continue;
            col[k] = j;
            val[k++] = i != j ? -1.0 : i == 0 ? N : 1.5 + (double)(i % 7);
        }
        ptr[i + 1] = k;
    }
    OK(tacit_matrix_from_rows(test_world(), N, rows ? 0 : N, rows, ptr, col,
                              val, &m));
    return m;
}

/* Its factor with fill of level 1 would be dense. */
static void stars_take_no_fill(void **state)
{
    (void)state;
    problem p;
    open_race(&p, star_matrix(), "csr@none", "cg");
    const tacit_precond_race race = autotuning_of(&p, 1);
    OK(solve(&p, &race, 1e-8));
    assert_string_equal(expect_one(&p), "jacobi");
    assert_non_null(strstr(trial_of(&p, "ic1")->reason, "would fill it"));
    close_problem(&p);
}

/* Of very many solves the set-up is nothing, and amg solves faster. */
static void many_solves_are_worth_a_set_up(void **state)
{
    (void)state;
    problem p;
    open_race(&p, gallery_matrix("jump3d:24,1e6,1"), "auto", "cg");
    const tacit_precond_race race = autotuning_of(&p, 1000000);
    OK(solve(&p, &race, 1e-9));
    assert_true(p.result.true_relative_residual <= 1e-9);
    const char *name = expect_one(&p);
    const tacit_precond_trial *amg = trial_of(&p, "amg"),
                              *jacobi = trial_of(&p, "jacobi");
    assert_true(amg->iterations > 0 && amg->setup_seconds > 0.0);
    assert_true(jacobi->iterations > 0);
    const bool faster =
        was_given_up(jacobi) ||
        (!was_given_up(amg) && amg->solve_seconds < jacobi->solve_seconds);
    /* clocks decide between two that were measured, but for those that are
     * nearly as fast */
    const double apart = fabs(amg->solve_seconds - jacobi->solve_seconds);
    const bool given_up = was_given_up(jacobi) || was_given_up(amg);
    const bool measured = jacobi->alone && amg->alone;
    if (given_up || (measured && apart > 0.2 * fmin(amg->solve_seconds,
                                                    jacobi->solve_seconds)))
        assert_string_equal(name, faster ? "amg" : "jacobi");
    close_problem(&p);
}

/* On rank 0: a diagonal matrix, but rows 4 and 5 exchange two elements. */
static tacit_matrix *exchange_matrix(void)
{
    enum { N = 40 };
    const int64_t rows = tacit_world_rank(test_world()) == 0 ? N : 0;
    int64_t ptr[N + 1], col[N];
    double val[N];
    tacit_matrix *m = NULL;
    for (int64_t i = 0; i <= N; i++) ptr[i] = i;
    for (int64_t i = 0; i < N; i++) {
        col[i] = i == 4 || i == 5 ? 9 - i : i;
        val[i] = col[i] == i ? 1.0 + (double)(i % 3) : -3.0;
    }
    OK(tacit_matrix_from_rows(test_world(), N, rows ? 0 : N, rows, ptr, col,
                              val, &m));
    return m;
}

/* Who cannot be made is left out, and says why; what is not positive definite
 * ends as without a race. */
static void who_cannot_be_made_says_why(void **state)
{
    (void)state;
    problem p;
    open_race(&p, exchange_matrix(), "csr@none", "cg");
    tacit_precond_race race = autotuning_of(&p, 1000000);
    const tacit_status status = solve(&p, &race, 1e-6);
    assert_true(status == TACIT_BREAKDOWN || status == TACIT_NOT_CONVERGED);
    assert_non_null(strstr(tacit_error_message(), "iteration"));
    assert_non_null(strstr(trial_of(&p, "jacobi")->reason, "diagonal"));
    assert_null(strstr(trial_of(&p, "none")->reason, "row 5"));
    close_problem(&p);

    open_race(&p, gallery_matrix("jump3d:8,1e3,1"), "auto", "cg");
    race.matrix = NULL;
    OK(solve(&p, &race, 1e-8));
    assert_string_equal(expect_one(&p), "jacobi");
    assert_non_null(strstr(trial_of(&p, "amg")->reason, "entries"));
    tacit_matrix_drop_entries(p.m);
    race.matrix = p.m;
    OK(solve(&p, &race, 1e-8));
    assert_string_equal(expect_one(&p), "jacobi");
    close_problem(&p);
}

static double left_for(const char *name, double rate)
{
    const tct_autotuning race = {.target = 1e-8, .wish.solves = 1};
    tct_candidate c = {.about = {.iterations = 9},
                       .spent = 1.0,
                       .driver = &tct_driver_host,
                       .rate = rate};
    for (int i = 0; tct_precond_kind_at(i); i++)
        if (strcmp(tct_precond_kind_at(i)->about.name, name) == 0)
            c.row = tct_precond_kind_at(i);
    return tct_autotuning_left(&race, &c, 1.0);
}

/* For a candidate that converges the prediction is the time it needs. One that
 * stagnates may do so for some multiple of its time so far, an expensive one
 * for more. */
static void who_stands_still_is_trusted_for_a_while(void **state)
{
    (void)state;
    const double two = log(1e8) / 2.0;
    assert_true(fabs(left_for("jacobi", two) - 2.0) < 1e-12);
    assert_true(fabs(left_for("amg", two) - 2.0) < 1e-12);
    assert_true(left_for("jacobi", 0.0) > 2.0);
    assert_true(left_for("amg", 0.0) > 2.0 * left_for("jacobi", 0.0));
    assert_true(left_for("amg", 0.0) < 100.0);
}

/* One limit for all trials, and the x with the smallest residual: neither of
 * the two candidates comes far. */
static void trials_share_one_limit(void **state)
{
    (void)state;
    for (int64_t most = 1; most < 90; most = 3 * most + 5) {
        problem p;
        double norms[2] = {0.0}, *r = NULL;
        open_race(&p, gallery_matrix("jump3d:16,1e8,1"), "auto", "cg");
        const tacit_stop stop = {
            .size = sizeof stop, .rtol = 1e-15, .max_iterations = most};
        const tacit_precond_race race = autotuning_of(&p, 1000);
        EXPECT(TACIT_NOT_CONVERGED,
               tacit_solver_race(p.s, &race, p.b, p.x, &stop, &p.result));
        assert_int_equal(p.result.iterations, most);
        OK(tacit_queue_alloc(p.q, p.n, &r));
        OK(tacit_operator_apply(p.A, p.x, r));
        for (size_t i = 0; i < p.n; i++) norms[0] += pow(p.b[i] - r[i], 2.0);
        for (size_t i = 0; i < p.n; i++) norms[1] += p.b[i] * p.b[i];
        OK(tct_reduce_f64(test_world(), TCT_SUM, 2, norms));
        const double is = sqrt(norms[0] / norms[1]);
        const double told = p.result.true_relative_residual;
        assert_true(fabs(is - told) <= 1e-9 * told + 1e-15);
        const tacit_precond_trial *t;
        for (int i = 0; (t = tacit_solver_trial_at(p.s, i)) != NULL; i++)
            assert_true(t->iterations == 0 || told <= t->reached);
        tacit_queue_free(p.q, &r);
        close_problem(&p);
    }
}

/* Equal runs make the same trials, of the same lengths. */
static void equal_runs_choose_alike(void **state)
{
    (void)state;
    static const char *const names[] = {"jump3d:16,1e6,1", "poisson2d:90",
                                        "jump3d:20,1e3,1"};
    for (int i = 0; i < 3; i++) {
        int64_t first[TCT_CANDIDATES] = {0};
        for (int run = 0; run < 4; run++) {
            problem p;
            const tacit_precond_trial *t;
            open_race(&p, gallery_matrix(names[i]), "csr@none", "cg");
            const tacit_precond_race race = autotuning_of(&p, 1);
            OK(solve(&p, &race, 1e-8));
            for (int k = 0; (t = tacit_solver_trial_at(p.s, k)) != NULL; k++) {
                if (run == 0) first[k] = t->iterations;
                assert_int_equal(t->iterations, first[k]);
            }
            close_problem(&p);
        }
    }
}

/* --- who looks on --------------------------------------------------------- */

typedef struct {
    int64_t last, stop_at;
} onlooker;

static int count_up(void *ctx, int64_t k, double residual)
{
    onlooker *o = ctx;
    assert_true(k > o->last); /* one that starts anew is not told of */
    assert_true(residual >= 0.0);
    o->last = k;
    return k == o->stop_at && tacit_world_rank(test_world()) == 0;
}

static void monitors_see_one_count_and_may_stop(void **state)
{
    (void)state;
    for (int64_t stop_at = -1; stop_at <= 150; stop_at += 151) {
        problem p;
        open_race(&p, gallery_matrix("jump3d:20,1e8,1"), "auto", "cg");
        onlooker o = {.last = -1, .stop_at = stop_at < 0 ? -1 : 7};
        const tacit_stop stop = {.size = sizeof stop,
                                 .rtol = 1e-9,
                                 .monitor = count_up,
                                 .monitor_ctx = &o};
        const tacit_precond_race race = autotuning_of(&p, 1000000);
        EXPECT(stop_at < 0 ? TACIT_OK : TACIT_INTERRUPTED,
               tacit_solver_race(p.s, &race, p.b, p.x, &stop, &p.result));
        assert_int_equal(o.last, p.result.iterations);
        assert_true(stop_at < 0 || o.last < 12);
        close_problem(&p);
    }
}

/* The caller cannot update what the solver has. */
static void new_values_need_another_race(void **state)
{
    (void)state;
    problem p;
    open_race(&p, gallery_matrix("jump3d:20,1e8,1"), "auto", "cg");
    const tacit_precond_race race = autotuning_of(&p, 1000000);
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    OK(solve(&p, &race, 1e-9));
    assert_string_equal(expect_one(&p), "amg");
    OK(tacit_operator_update(p.A, p.m));
    EXPECT(TACIT_INVALID, tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    assert_non_null(strstr(tacit_error_message(), "race again"));
    assert_null(strstr(tacit_error_message(), "tacit_precond_update"));
    OK(solve(&p, &race, 1e-9));
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    close_problem(&p);
}

static int end_at(void *ctx, int64_t k, double residual)
{
    const int64_t *at = ctx;
    return residual >= 0.0 && k == *at;
}

/* The sentence and the result are of the x that is handed out, wherever the
 * solve is interrupted. */
static void interrupted_trials_tell_of_one_x(void **state)
{
    (void)state;
    for (int64_t at = 2; at <= 60; at += 2) {
        problem p;
        char text[2][96];
        open_race(&p, gallery_matrix("jump3d:20,1e8,1"), "auto", "cg");
        const tacit_stop stop = {.size = sizeof stop,
                                 .rtol = 1e-13,
                                 .monitor = end_at,
                                 .monitor_ctx = &at};
        const tacit_precond_race race = autotuning_of(&p, 1);
        EXPECT(TACIT_INTERRUPTED,
               tacit_solver_race(p.s, &race, p.b, p.x, &stop, &p.result));
        snprintf(text[0], sizeof text[0], "interrupted after %lld iteration",
                 (long long)p.result.iterations);
        snprintf(text[1], sizeof text[1], "||b - A x|| / ||b|| is %.3g,",
                 p.result.true_relative_residual);
        for (int i = 0; i < 2; i++)
            assert_non_null(strstr(tacit_error_message(), text[i]));
        close_problem(&p);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    problem p;
    open_race(&p, gallery_matrix("jump3d:10,1e4,1"), "auto", "cg");
    tacit_precond_race race = autotuning_of(&p, -1);
    EXPECT(TACIT_INVALID, solve(&p, &race, 1e-6));
    race.solves = 1;
    race.loop = "grahp";
    EXPECT(TACIT_INVALID, solve(&p, &race, 1e-6));
    race.loop = NULL;
    race.loop = "graph"; /* which the host has not, for none of them */
    EXPECT(TACIT_UNSUPPORTED, solve(&p, &race, 1e-6));
    assert_non_null(strstr(tacit_error_message(), "graph"));
    race.loop = NULL;
    race.size = 0;
    EXPECT(TACIT_INVALID, solve(&p, &race, 1e-6));
    assert_null(tacit_solver_precond(p.s));
    OK(solve(&p, NULL, 1e-6)); /* and it still works */
    assert_string_equal(expect_one(&p), "jacobi");
    close_problem(&p);
}

/* Whichever allocation fails on the last rank: all know, nothing is left
 * behind, and amg alone may be done without. */
static void memory_that_is_not_there_is_missed_by_all(void **state)
{
    (void)state;
    const bool mine =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    if (test_shares_allocations(__func__)) return;
    problem p;
    open_race(&p, gallery_matrix("jump3d:16,1e8,1"), "csr@none", "cg");
    const tacit_precond_race race = autotuning_of(&p, 1000000);
    OK(solve(&p, &race, 1e-8));
    int missed = 0, without = 0;
    for (long k = 1; k < 400; k += k < 20 ? 1 : 37) {
        if (mine) tct_memory_fail_at(k);
        const tacit_status status = solve(&p, &race, 1e-8);
        tct_memory_fail_at(0);
        if (status < 0) EXPECT(TACIT_NO_MEMORY, status);
        else assert_true(p.result.true_relative_residual <= 1e-8);
        missed += status < 0;
        const char *why = status < 0 ? NULL : trial_of(&p, "amg")->reason;
        without += why && strstr(why, "memory") != NULL;
    }
    assert_true(missed > 0 && without > 0);
    OK(solve(&p, &race, 1e-8));
    close_problem(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_solved_and_keeps_the_winner),
        cmocka_unit_test(what_is_easy_costs_nothing_more),
        cmocka_unit_test(chains_take_a_factor_with_fill),
        cmocka_unit_test(beams_take_an_exact_factor),
        cmocka_unit_test(stars_take_no_fill),
        cmocka_unit_test(many_solves_are_worth_a_set_up),
        cmocka_unit_test(who_cannot_be_made_says_why),
        cmocka_unit_test(who_stands_still_is_trusted_for_a_while),
        cmocka_unit_test(trials_share_one_limit),
        cmocka_unit_test(equal_runs_choose_alike),
        cmocka_unit_test(monitors_see_one_count_and_may_stop),
        cmocka_unit_test(new_values_need_another_race),
        cmocka_unit_test(interrupted_trials_tell_of_one_x),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(memory_that_is_not_there_is_missed_by_all),
    };
    TEST_MPI_MAIN(tests);
}
