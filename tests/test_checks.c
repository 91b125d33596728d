/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_checks.c - delayed convergence checks and replayed recordings,
 * without a GPU: the host with the members of an asynchronous device. What a
 * method enqueues ahead must do no harm, and a recording must equal what its
 * function enqueues. */
#include "device/queue.h"
#include "methods.h"
#include "mpi_main.h"
#include "problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- a device behind the CPU ---------------------------------------------- */

enum { LOOKS = 4096, BEHIND = 3 };

typedef struct {
    tct_op *ops;
    size_t count;
    int looks;
    const double *c;
} record;

/* Of the queue of a test. */
static struct {
    tct_sample box[LOOKS];
    int made, taken, replays;
    record *recording, *playing;
    int64_t due;
} line;

static void run_one(tacit_queue *q, const tct_op *op)
{
    const double *c = op->out;
    if (op->code != TCT_SAMPLE) {
        tct_device_host.run(q, op);
        return;
    }
    assert_true(line.made - line.taken < LOOKS);
    line.box[line.made++ % LOOKS] = (tct_sample){.rr = c[C_RR],
                                                 .bad = c[C_BAD],
                                                 .bad_value = c[C_BAD_VALUE],
                                                 .updates = c[C_UPDATES]};
}

static void line_run(tacit_queue *q, const tct_op *op)
{
    record *r = line.recording;
    if (!r) {
        run_one(q, op);
        return;
    }
    r->ops = realloc(r->ops, (r->count + 1) * sizeof *r->ops);
    assert_non_null(r->ops);
    r->ops[r->count++] = *op;
}

/* Two recordings are under way, as long as some are due. */
static void play(tacit_queue *q)
{
    record *r = line.playing;
    while (r && line.due >= r->looks && line.made - line.taken <= r->looks) {
        for (size_t i = 0; i < r->count; i++) run_one(q, &r->ops[i]);
        line.due -= r->looks;
        line.replays++;
    }
}

static bool line_seen(tacit_queue *q, tct_sample *out)
{
    play(q);
    if (line.taken == line.made) return false;
    *out = line.box[line.taken++ % LOOKS];
    return true;
}

static int line_lag(tacit_queue *q, size_t n)
{
    (void)q;
    (void)n;
    return BEHIND;
}

static void line_tell(tacit_queue *q, double flags)
{
    (void)q;
    (void)flags;
}

static void line_record_begin(tacit_queue *q)
{
    (void)q;
    line.recording = calloc(1, sizeof *line.recording);
    assert_non_null(line.recording);
}

static void *line_record_end(tacit_queue *q, int looks, const double *c)
{
    (void)q;
    record *r = line.recording;
    r->looks = looks;
    r->c = c;
    line.recording = NULL;
    return r;
}

static void line_replay(tacit_queue *q, void *made, int64_t looks)
{
    line.playing = looks > 0 ? made : NULL;
    line.due = looks;
    play(q);
}

static void line_about(const void *made, char *text, size_t size)
{
    snprintf(text, size, "%d looks", ((const record *)made)->looks);
}

static void line_forget(tacit_queue *q, void *made)
{
    (void)q;
    record *r = made;
    if (!r) return;
    if (line.playing == r) line.playing = NULL;
    free(r->ops);
    free(r);
}

static tct_device_ops behind;

static void open_behind(tacit_queue *q)
{
    memset(&line, 0, sizeof line);
    behind = tct_device_host;
    behind.run = line_run;
    behind.seen = line_seen;
    behind.lag = line_lag;
    behind.tell = line_tell;
    behind.record_begin = line_record_begin;
    behind.record_end = line_record_end;
    behind.replay = line_replay;
    behind.record_about = line_about;
    behind.record_free = line_forget;
    q->device = &behind;
}

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
    if (loop) open_behind(p.q);
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
    s->replays = line.replays;
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
