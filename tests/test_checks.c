/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_checks.c - delayed convergence checks and replayed recordings,
 * without a GPU: on the twin of one. What a method enqueues ahead must do no
 * harm, and a recording must equal what its function enqueues. */
#include "methods.h"
#include "mpi_main.h"
#include "problem.h"
#include "twin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- solves --------------------------------------------------------------- */

typedef struct {
    const char *matrix, *precond, *method, *steps, *basis;
    double rtol;
    int64_t most;
    int64_t stop_at; /* a monitor wishes it; 0: none */
} task;

/* What a monitor was told, and what it came to. */
enum { TOLD = 2000 };
typedef struct {
    int64_t at[TOLD], stop_at;
    double residual[TOLD];
    int count, replays;
    tacit_result result;
    double error; /* of x and what is reported: b - A x */
    double condition;
} story;

static int listen(void *ctx, int64_t iteration, double residual)
{
    story *s = ctx;
    assert_true(s->count < TOLD);
    s->at[s->count] = iteration;
    s->residual[s->count++] = residual;
    return s->stop_at > 0 && iteration >= s->stop_at;
}

/* ||b - A x|| / ||b|| */
static double residual_of(problem *p)
{
    double *y = NULL, norm = NAN, norm_b = NAN;
    OK(tacit_queue_alloc(p->q, p->n, &y));
    OK(tacit_operator_apply(p->A, p->x, y));
    OK(tacit_queue_distance(p->q, p->n, p->b, y, &norm));
    OK(tacit_queue_distance(p->q, p->n, p->b, NULL, &norm_b));
    tacit_queue_free(p->q, &y);
    return norm / norm_b;
}

/* `loop` NULL: on the host as it is. */
static void solve(const task *t, const char *loop, story *s)
{
    problem p;
    memset(&p, 0, sizeof p);
    *s = (story){.stop_at = t->stop_at, .result.size = sizeof s->result};
    OK(tacit_matrix_open(test_world(), t->matrix, NULL, &p.m));
    OK(tacit_queue_create(test_world(), "host", 1, &p.q));
    if (loop) open_twin(p.q);
    OK(tacit_operator_create(p.q, p.m, "csr", &p.A));
    OK(tacit_solver_create(p.q, p.A, t->method, &p.s));
    if (t->precond) OK(tacit_solver_set(p.s, "precond", t->precond));
    if (t->steps) OK(tacit_solver_set(p.s, "steps", t->steps));
    if (t->basis) OK(tacit_solver_set(p.s, "basis", t->basis));
    if (loop) OK(tacit_solver_set(p.s, "loop", loop));
    p.n = (size_t)tacit_operator_local_rows(p.A);
    OK(tacit_queue_alloc(p.q, p.n, &p.b));
    OK(tacit_queue_alloc(p.q, p.n, &p.x));
    OK(tacit_queue_fill(p.q, p.n, 1.0, p.b));
    OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = t->rtol,
                             .max_iterations = t->most,
                             .monitor = listen,
                             .monitor_ctx = s};
    (void)tacit_solver_run(p.s, p.b, p.x, &stop, &s->result);
    s->condition = tacit_solver_condition(p.s);
    s->replays = loop ? twin_here.replays : 0;
    s->error = fabs(residual_of(&p) / s->result.true_relative_residual - 1.0);
    close_problem(&p);
}

static void tell(const task *t, const char *what, const story *a,
                 const story *b)
{
    fail_msg("%s, %s, steps %s: %s: %d looks to iteration %lld, and %d to %lld",
             t->matrix, t->method, t->steps ? t->steps : "auto", what, a->count,
             (long long)a->result.iterations, b->count,
             (long long)b->result.iterations);
}

static void same_story(const task *t, const story *a, const story *b)
{
    if (a->count != b->count || a->result.iterations != b->result.iterations)
        tell(t, "other looks", a, b);
    for (int i = 0; i < a->count; i++)
        if (a->at[i] != b->at[i] || a->residual[i] != b->residual[i])
            tell(t, "another residual", a, b);
    if (a->result.true_relative_residual != b->result.true_relative_residual)
        tell(t, "another solution", a, b);
    if (a->condition != b->condition) tell(t, "another condition", a, b);
    assert_true(a->error < 1e-6 && b->error < 1e-6);
}

/* But for so many iterations: blocks grow otherwise where their length is not
 * known at once. */
static void about_the_same(const task *t, const story *a, const story *b,
                           int64_t apart)
{
    const int64_t more = a->result.iterations - b->result.iterations;
    if (more > apart || more < -apart) tell(t, "late looks", a, b);
}

/* --- tests ---------------------------------------------------------------- */

/* Late looks change nothing but when they come, and replays change nothing. */
static void loops_tell_the_same(void **state)
{
    (void)state;
    FOR_METHODS(m)
    for (int M = 0; M < 2; M++) {
        const task t = {.matrix = "poisson2d:48",
                        .precond = M ? "jacobi" : "none",
                        .method = method_of(m),
                        .rtol = 1e-9};
        story at_once, late, replayed;
        solve(&t, NULL, &at_once);
        solve(&t, "host", &late);
        solve(&t, "graph", &replayed);
        assert_true(replayed.replays > 0 && replayed.result.converged);
        same_story(&t, &late, &replayed);
        if (late.condition != at_once.condition)
            tell(&t, "a late condition", &at_once, &late);
        if (strcmp(t.method, "cg") == 0) assert_true(late.condition > 100.0);
        about_the_same(&t, &at_once, &late,
                       strcmp(t.method, "sstep") == 0 ? 4 : 0);
    }
}

static const char *const many[] = {"1", "3", "8", "16"};

/* As many iterations, whether the CPU knows at once how long blocks are or
 * not. */
static void blocks_need_no_cpu(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof many / sizeof *many; k++)
        for (int basis = 0; basis < 3; basis++) {
            static const char *const bases[] = {"chebyshev", "newton",
                                                "monomial"};
            const task t = {.matrix = "poisson2d:64",
                            .method = "sstep",
                            .steps = many[k],
                            .basis = bases[basis],
                            .rtol = 1e-8};
            story at_once, late, replayed;
            if (basis == 2 && k > 1) continue; /* which break down */
            solve(&t, NULL, &at_once);
            solve(&t, "host", &late);
            solve(&t, "graph", &replayed);
            same_story(&t, &late, &replayed);
            assert_true(replayed.replays > 0 && late.result.converged);
            assert_null(late.result.rescued_by);
            about_the_same(&t, &at_once, &late, 1 + atoi(many[k]) / 2);
        }
}

/* Where blocks have to become shorter, be conjugated twice, or give up. */
static void hard_ones_are_done_late_too(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "jump3d:12,1000,1", "anisotropic3d:12,0.0001", "elasticity3d:5"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        for (size_t k = 2; k < sizeof many / sizeof *many; k++) {
            const task t = {.matrix = hard[i],
                            .method = "sstep",
                            .steps = many[k],
                            .rtol = 1e-10};
            story at_once, late, replayed;
            solve(&t, NULL, &at_once);
            solve(&t, "host", &late);
            solve(&t, "graph", &replayed);
            same_story(&t, &late, &replayed);
            assert_true(late.result.converged);
            if ((double)late.result.iterations >
                1.15 * (double)at_once.result.iterations + 32)
                tell(&t, "late looks", &at_once, &late);
        }
}

/* Limits are kept, and a monitor is heard, in the middle of what is
 * enqueued. */
static void turns_end_where_they_should(void **state)
{
    (void)state;
    static const int64_t limits[] = {7, 20, 21, 29, 61, 150};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int heard = 0; heard < 2; heard++) {
            const task t = {.matrix = "poisson2d:64",
                            .method = "sstep",
                            .rtol = 1e-14,
                            .most = heard ? 1000 : limits[i],
                            .stop_at = heard ? limits[i] : 0};
            story late, replayed;
            solve(&t, "host", &late);
            solve(&t, "graph", &replayed);
            assert_true(late.error < 1e-6 && replayed.error < 1e-6);
            if (heard)
                assert_int_equal(replayed.result.stop, TACIT_STOP_INTERRUPTED);
            else assert_int_equal(replayed.result.iterations, limits[i]);
            if (!heard) same_story(&t, &late, &replayed);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_tell_the_same),
        cmocka_unit_test(blocks_need_no_cpu),
        cmocka_unit_test(hard_ones_are_done_late_too),
        cmocka_unit_test(turns_end_where_they_should),
    };
    TEST_MPI_MAIN(tests);
}
