/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_queue.c - the stream operations of a queue against plain loops,
 * fused operations against their parts, and the decorators. */
#include "device/decorators.h"
#include "device/queue.h"
#include "pass_rows.h"
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tacit/tacit.h>
#include <unistd.h>
/* cmocka wants the four headers above it */
#include <cmocka.h>

enum { VECTORS = TCT_OP_VECTORS, THREADS_MOST = 3 };
static const size_t sizes[] = {0, 1, 7, 64, 1000, 4096, 10007};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct {
    tacit_world *world;
    tacit_queue *q;
    size_t n;
    double *v[VECTORS];   /* on the device          */
    double *ref[VECTORS]; /* the same, on the host  */
    double *c;            /* scalars on the device  */
} bench_t;

static void open_bench(bench_t *t, const char *spec, size_t n, int threads)
{
    memset(t, 0, sizeof *t);
    assert_int_equal(tacit_world_self(&t->world), TACIT_OK);
    assert_int_equal(tacit_queue_create(t->world, spec, threads, &t->q),
                     TACIT_OK);
    t->n = n;
    for (int i = 0; i < VECTORS; i++) {
        assert_int_equal(tacit_queue_alloc(t->q, n, &t->v[i]), TACIT_OK);
        t->ref[i] = malloc((n + 1) * sizeof(double));
        for (size_t j = 0; j < n; j++)
            t->ref[i][j] = 2 * tct_uniform((uint64_t)i + 17, j) - 1;
        assert_int_equal(tacit_queue_put(t->q, n, t->ref[i], t->v[i]),
                         TACIT_OK);
    }
    assert_int_equal(tacit_queue_alloc(t->q, TCT_SCALARS, &t->c), TACIT_OK);
}

static void close_bench(bench_t *t)
{
    for (int i = 0; i < VECTORS; i++) {
        tacit_queue_free(t->q, &t->v[i]);
        free(t->ref[i]);
    }
    tacit_queue_free(t->q, &t->c);
    tacit_queue_destroy(&t->q);
    tacit_world_destroy(&t->world);
}

static void set_scalars(bench_t *t, double alpha, double beta)
{
    double c[TCT_SCALARS] = {0};
    c[C_ALPHA] = alpha;
    c[C_BETA] = beta;
    q_put(t->q, TCT_SCALARS, c, t->c);
}

static void assert_vector(bench_t *t, int i)
{
    double *got = malloc((t->n + 1) * sizeof(double));
    q_get(t->q, t->n, t->v[i], got);
    for (size_t j = 0; j < t->n; j++)
        if (fabs(got[j] - t->ref[i][j]) > 1e-14 * (1 + fabs(t->ref[i][j])))
            fail_msg("vector %d of %zu, element %zu: %.17g, expected %.17g", i,
                     t->n, j, got[j], t->ref[i][j]);
    free(got);
}

static void assert_scalar(bench_t *t, int at, double expected)
{
    double got = NAN;
    q_get(t->q, 1, &t->c[at], &got);
    if (!(fabs(got - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("scalar %d: %.17g, expected %.17g", at, got, expected);
}

static double ref_dot(const bench_t *t, int a, int b)
{
    long double sum = 0;
    for (size_t j = 0; j < t->n; j++)
        sum += (long double)t->ref[a][j] * t->ref[b][j];
    return (double)sum;
}

static void ref_axpy(bench_t *t, double a, int x, int y)
{
    for (size_t j = 0; j < t->n; j++) t->ref[y][j] += a * t->ref[x][j];
}

static void ref_aypx(bench_t *t, double a, int x, int y)
{
    for (size_t j = 0; j < t->n; j++)
        t->ref[y][j] = t->ref[x][j] + a * t->ref[y][j];
}

#define FOR_EVERY_SIZE(t, spec)                                               \
    for (int s_ = 0; s_ < SIZES; s_++)                                        \
        for (int th_ = 1; th_ <= THREADS_MOST; th_++)                         \
            for (bool once_ = (open_bench(&(t), spec, sizes[s_], th_), true); \
                 once_; once_ = (close_bench(&(t)), false))

static void plain_words(const char *spec)
{
    bench_t t;
    const double alpha = 0.75, beta = -1.25;
    FOR_EVERY_SIZE(t, spec)
    {
        set_scalars(&t, alpha, beta);
        q_axpy(t.q, t.n, -1, &t.c[C_ALPHA], t.v[0], t.v[1]);
        ref_axpy(&t, -alpha, 0, 1);
        q_aypx(t.q, t.n, 1, &t.c[C_BETA], t.v[0], t.v[2]);
        ref_aypx(&t, beta, 0, 2);
        q_aypx(t.q, t.n, -1, NULL, t.v[0], t.v[4]);
        ref_aypx(&t, -1, 0, 4);
        q_copy(t.q, t.n, t.v[1], t.v[3]);
        memcpy(t.ref[3], t.ref[1], t.n * sizeof(double));
        q_fill(t.q, t.n, 0.5, t.v[5]);
        for (size_t j = 0; j < t.n; j++) t.ref[5][j] = 0.5;
        q_dot(t.q, t.n, t.v[0], t.v[2], &t.c[C_DELTA]);
        q_dot(t.q, t.n, t.v[0], t.v[0], &t.c[C_RS]);
        q_norm(t.q, t.n, t.v[0], &t.c[C_RR]);
        for (int i = 0; i < VECTORS; i++) assert_vector(&t, i);
        assert_scalar(&t, C_DELTA, ref_dot(&t, 0, 2));
        assert_scalar(&t, C_RS, ref_dot(&t, 0, 0));
        assert_scalar(&t, C_RR, ref_dot(&t, 0, 0));
        assert_int_equal(q_status(t.q), TACIT_OK);
    }
}

static void words_match_loops(void **state)
{
    (void)state;
    plain_words("host");
}

static void fused_words_match_composed(void **state)
{
    (void)state;
    bench_t t;
    const double a = 0.3, b = 0.9;
    FOR_EVERY_SIZE(t, "host")
    {
        set_scalars(&t, a, b);
        const double *alpha = &t.c[C_ALPHA], *beta = &t.c[C_BETA];
        double **v = t.v;
        q_axpy_norm(t.q, t.n, -1, alpha, v[0], v[1], &t.c[C_PT]);
        ref_axpy(&t, -a, 0, 1);
        assert_scalar(&t, C_PT, ref_dot(&t, 1, 1));

        /* r x p = 0 2 1 */
        q_pass(t.q, cg_update, t.n, (alpha, beta), (v[0], v[2], v[1]), NULL);
        ref_axpy(&t, a, 1, 2);
        ref_aypx(&t, b, 0, 1);

        q_dots(t.q, t.n, v[0], v[1], &t.c[C_RS]);
        assert_scalar(&t, C_RS, ref_dot(&t, 0, 1));
        assert_scalar(&t, C_SS, ref_dot(&t, 1, 1));

        /* r s x p = 1 0 3 2 */
        q_pass(t.q, single_update, t.n, (alpha, beta), (v[1], v[0], v[3], v[2]),
               &t.c[C_RR]);
        ref_axpy(&t, a, 2, 3);
        ref_axpy(&t, -a, 0, 1);
        ref_aypx(&t, b, 1, 2);
        assert_scalar(&t, C_RR, ref_dot(&t, 1, 1));

        /* n z s w p r x = 0 1 2 3 4 5 6 */
        q_pass(t.q, pipelined_update, t.n, (alpha, beta),
               (v[0], v[1], v[2], v[3], v[4], v[5], v[6]), &t.c[C_RR]);
        ref_aypx(&t, b, 0, 1);
        ref_aypx(&t, b, 3, 2);
        ref_aypx(&t, b, 5, 4);
        ref_axpy(&t, a, 4, 6);
        ref_axpy(&t, -a, 2, 5);
        ref_axpy(&t, -a, 1, 3);
        assert_scalar(&t, C_RR, ref_dot(&t, 5, 5));
        assert_scalar(&t, C_DELTA, ref_dot(&t, 3, 5));

        /* w p x u r s = 0 4 5 1 3 2 */
        q_pass(t.q, pipe_pr_update, t.n, (alpha, beta),
               (v[0], v[4], v[5], v[1], v[3], v[2]), &t.c[C_RR]);
        ref_axpy(&t, a, 4, 5);
        ref_axpy(&t, -a, 2, 3);
        ref_aypx(&t, b, 3, 4);
        ref_aypx(&t, b, 0, 2);
        ref_axpy(&t, -a, 1, 2);
        assert_scalar(&t, C_RR, ref_dot(&t, 3, 3));
        assert_scalar(&t, C_MU, ref_dot(&t, 4, 2));
        assert_scalar(&t, C_RS, ref_dot(&t, 3, 2));
        assert_scalar(&t, C_SS, ref_dot(&t, 2, 2));
        for (int i = 0; i < VECTORS; i++) assert_vector(&t, i);
    }
}

/* --- every pass of the table ---------------------------------------------- */

static void rows_say_what_bodies_do(void **state)
{
    (void)state;
    for (int i = 0; i < TCT_PASS_COUNT; i++) {
        const pass_row *p = &pass_rows[i];
        const pass_marks m = marks_of(p);
        if (m.reads != p->reads || m.writes != p->writes || m.sums != p->sums)
            fail_msg("pass %s reads %#x, writes %#x and makes %d sums; its row "
                     "says %#x, %#x, %d",
                     p->name, m.reads, m.writes, m.sums, p->reads, p->writes,
                     p->sums);
        if ((m.reads | m.writes) != (1u << p->vectors) - 1)
            fail_msg("pass %s has no use for one of its vectors", p->name);
        if (p->dot + p->nrm2 != p->sums)
            fail_msg("pass %s does not count its sums", p->name);
    }
}

static void passes_move_what_their_bodies_use(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "count:host", 1000, 1);
    set_scalars(&t, 1, 1);
    for (int i = 0; i < TCT_PASS_COUNT; i++) {
        const pass_row *p = &pass_rows[i];
        const pass_marks m = marks_of(p);
        const tacit_tally *tally = tacit_queue_tally(t.q);
        tacit_queue_clear_tally(t.q);
        enqueue_pass(t.q, p, t.n, 1, &t.c[C_ALPHA], &t.c[C_BETA], t.v, 0, t.c);
        const int moved =
            __builtin_popcount(m.reads) + __builtin_popcount(m.writes);
        if (tally->moved_bytes != 8000.0 * moved)
            fail_msg("pass %s: %g bytes, not %d", p->name, tally->moved_bytes,
                     8000 * moved);
        assert_int_equal(tally->dot.count, p->dot);
        assert_int_equal(tally->nrm2.count, p->nrm2);
        assert_int_equal(tally->axpy.count, p->axpy);
    }
    close_bench(&t);
}

/* A pass on n elements against its body, one place after the other. What it
 * only writes begins as NaN, what it does not write keeps its bits, as do the
 * elements around and the scalars behind its sums. */
static void one_pass(bench_t *t, const pass_row *p, double sign, bool unit)
{
    enum { BEHIND = 2 };
    const size_t n = t->n > BEHIND ? t->n - BEHIND : t->n, at = t->n > n;
    const double alpha = 0.75, beta = -1.25;
    double s[MARKED] = {0}, c[TCT_SCALARS], e[MARKED];
    for (int k = 0; k < p->vectors; k++) {
        for (size_t j = 0; j < t->n; j++)
            t->ref[k][j] = p->reads >> k & 1
                               ? 2 * tct_uniform((uint64_t)k + 17, j) - 1
                               : (double)NAN;
        q_put(t->q, t->n, t->ref[k], t->v[k]);
    }
    for (int k = 0; k < TCT_SCALARS; k++) c[k] = -7.0 - k;
    c[TCT_SCALARS - 2] = alpha;
    c[TCT_SCALARS - 1] = beta;
    q_put(t->q, TCT_SCALARS, c, t->c);
    enqueue_pass(t->q, p, n, sign, unit ? NULL : &t->c[TCT_SCALARS - 2],
                 &t->c[TCT_SCALARS - 1], t->v, at, t->c);
    for (size_t j = at; j < at + n; j++) {
        for (int k = 0; k < p->vectors; k++) e[k] = t->ref[k][j];
        p->body(e, unit ? sign : sign * alpha, beta, s);
        for (int k = 0; k < p->vectors; k++) t->ref[k][j] = e[k];
    }
    for (int k = 0; k < TCT_SCALARS; k++)
        assert_scalar(t, k, k < p->sums ? s[k] : c[k]);
    double *got = malloc((t->n + 1) * sizeof *got);
    for (int k = 0; k < p->vectors; k++) {
        q_get(t->q, t->n, t->v[k], got);
        for (size_t j = 0; j < t->n; j++) {
            const bool same = !memcmp(&got[j], &t->ref[k][j], sizeof *got);
            const bool near =
                j >= at && j < at + n && p->writes >> k & 1 &&
                fabs(got[j] - t->ref[k][j]) <= 1e-14 * (1 + fabs(t->ref[k][j]));
            if (!same && !near)
                fail_msg("pass %s of %zu: vector %d, element %zu is %.17g, not "
                         "%.17g",
                         p->name, n, k, j, got[j], t->ref[k][j]);
        }
    }
    free(got);
}

static void every_pass(const char *spec)
{
    bench_t t;
    FOR_EVERY_SIZE(t, spec)
    {
        for (int i = 0; i < TCT_PASS_COUNT; i++) {
            one_pass(&t, &pass_rows[i], +1, false);
            one_pass(&t, &pass_rows[i], -1, false);
            if (!pass_rows[i].held) one_pass(&t, &pass_rows[i], -1, true);
        }
        assert_int_equal(q_status(t.q), TACIT_OK);
    }
}

static void passes_match_their_bodies(void **state)
{
    (void)state;
    every_pass("host");
    every_pass("memcheck:host");
}

/* What only sums may get the same vector twice. */
static void sums_of_a_vector_with_itself(void **state)
{
    (void)state;
    bench_t t;
    FOR_EVERY_SIZE(t, "host")
    {
        for (int i = 0; i < TCT_PASS_COUNT; i++) {
            const pass_row *p = &pass_rows[i];
            if (p->writes) continue;
            double *same[TCT_OP_VECTORS], s[MARKED] = {0}, e[MARKED];
            for (int k = 0; k < TCT_OP_VECTORS; k++) same[k] = t.v[0];
            enqueue_pass(t.q, p, t.n, 1, NULL, NULL, same, 0, t.c);
            for (size_t j = 0; j < t.n; j++) {
                for (int k = 0; k < MARKED; k++) e[k] = t.ref[0][j];
                p->body(e, 1, 0, s);
            }
            for (int k = 0; k < p->sums; k++) assert_scalar(&t, k, s[k]);
        }
    }
}

static void a_device_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "host", 10, 1);
    t.q->device->run(t.q, &(tct_op){.code = TCT_EXCHANGE_BEGIN});
    assert_int_equal(q_status(t.q), TACIT_UNSUPPORTED);
    assert_non_null(strstr(tacit_error_message(), "'exchange begin'"));
    close_bench(&t);
}

static void sums_have_the_same_bits_every_time(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "host", 100003, THREADS_MOST);
    double first = 0, again = 0;
    q_dot(t.q, t.n, t.v[0], t.v[1], &t.c[0]);
    q_get(t.q, 1, &t.c[0], &first);
    for (int i = 0; i < 50; i++) {
        q_dot(t.q, t.n, t.v[0], t.v[1], &t.c[0]);
        q_get(t.q, 1, &t.c[0], &again);
        assert_memory_equal(&first, &again, sizeof first);
    }
    close_bench(&t);
    for (int threads = 1; threads < THREADS_MOST; threads++) {
        open_bench(&t, "host", 100003, threads);
        q_dot(t.q, t.n, t.v[0], t.v[1], &t.c[0]);
        q_get(t.q, 1, &t.c[0], &again);
        assert_memory_equal(&first, &again, sizeof first);
        close_bench(&t);
    }
}

/* --- steps ---------------------------------------------------------------- */

static void steps_hold_still_once_the_target_is_met(void **state)
{
    (void)state;
    for (tct_step step = STEP_CG_ALPHA; step <= STEP_PIPE_PR; step++) {
        if (step == STEP_CG_BETA || step == STEP_CG_BETA_M) continue;
        double c[TCT_SCALARS] = {0};
        c[C_RR] = 1e-20;
        c[C_TARGET2] = 1e-18;
        c[C_PT] = c[C_DELTA] = -1.0; /* would be a breakdown */
        c[C_ALPHA] = 1.0;
        if (step == STEP_FLEXIBLE) {
            c[C_RZ] = 1.0;
            c[C_ZW] = -1.0;
        }
        tct_step_run(step, c);
        assert_true(c[C_ALPHA] == 0.0);
        assert_true(c[C_BAD] == 0.0);
        c[C_TARGET2] = 0.0;
        tct_step_run(step, c);
        assert_true(c[C_BAD] == BAD_CURVATURE);
        assert_true(c[C_ALPHA] == 0.0);
    }
}

/* Where M is not positive, what else is wrong follows from that. */
static void flexible_names_who_is_at_fault(void **state)
{
    (void)state;
    static const double gamma[] = {1.0, 0.0, -1.0};
    for (int k = 0; k < 3; k++) {
        double c[TCT_SCALARS] = {0};
        c[C_RR] = 1.0;
        c[C_RZ] = gamma[k];
        c[C_ZW] = -2.0;
        tct_step_run(STEP_FLEXIBLE, c);
        assert_true(c[C_BAD] == (k == 0 ? BAD_CURVATURE : BAD_PRECOND));
        assert_true(c[C_BAD_VALUE] == (k == 0 ? -2.0 : gamma[k]));
        assert_true(c[C_ALPHA] == 0.0);
    }
}

/* --- decorators ----------------------------------------------------------- */

static void unknown_words_are_refused(void **state)
{
    (void)state;
    tacit_world *w = NULL;
    tacit_queue *q = NULL;
    assert_int_equal(tacit_world_self(&w), TACIT_OK);
    static const char *const bad[] = {"hots",
                                      "cuont:host",
                                      "count(:host",
                                      "count(2):host",
                                      "chaos(x):host",
                                      ":host",
                                      "lose:host",
                                      "lose(0):host",
                                      "lose(1,5):host",
                                      "lose(0,0):host",
                                      "lose(0,1,0):host",
                                      "lose(0,1,2,3):host",
                                      "lose(0,1.5):host",
                                      "lose(,1):host"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tacit_queue_create(w, bad[i], 1, &q), TACIT_INVALID);
        assert_null(q);
    }
    assert_int_equal(tacit_queue_create(w, "cuont:host", 1, &q), TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), "did you mean 'count'"));
    tacit_world_destroy(&w);
}

static void count_counts_as_the_paper_does(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "count:host", 1000, 1);
    set_scalars(&t, 1, 1);
    tacit_queue_clear_tally(t.q);
    q_pass(t.q, cg_update, t.n, (&t.c[C_ALPHA], &t.c[C_BETA]),
           (t.v[0], t.v[1], t.v[2]), NULL);
    q_axpy_norm(t.q, t.n, 1, NULL, t.v[0], t.v[1], &t.c[0]);
    q_dot(t.q, t.n, t.v[0], t.v[1], &t.c[1]);
    q_sum(t.q, 2, t.c);
    const tacit_tally *tally = tacit_queue_tally(t.q);
    assert_int_equal(tally->axpy.count, 3);
    assert_int_equal(tally->nrm2.count, 1);
    assert_int_equal(tally->dot.count, 1);
    assert_int_equal(tally->reduce.count, 1);
    assert_true(tally->axpy.bytes == 3 * 24000.0);
    assert_true(tally->nrm2.bytes == 8000.0);
    assert_true(tally->dot.flops == 2000.0);
    assert_true(tally->reduce.bytes == 16.0);
    assert_true(tally->moved_bytes == 8000.0 * (5 + 3 + 2));
    close_bench(&t);
}

static int lines;
static void count_lines(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    lines += strstr(text, "axpy") != NULL;
}

static void trace_writes_a_line_per_operation(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "trace:count:host", 10, 1);
    lines = 0;
    tacit_set_log(count_lines, NULL);
    q_axpy(t.q, t.n, 1, NULL, t.v[0], t.v[1]);
    q_axpy(t.q, t.n, 1, NULL, t.v[0], t.v[1]);
    tacit_set_log(NULL, NULL);
    assert_int_equal(lines, 2);
    close_bench(&t);
}

static void memcheck_does_all_a_plain_queue_does(void **state)
{
    (void)state;
    plain_words("memcheck:host");
}

static void memcheck_poisons_and_delays(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "memcheck:count:host", 64, 1);
    double *fresh = NULL, got = 0;
    assert_int_equal(tacit_queue_alloc(t.q, 64, &fresh), TACIT_OK);
    q_get(t.q, 1, &fresh[63], &got);
    assert_true(isnan(got));
    tacit_queue_clear_tally(t.q);
    q_axpy(t.q, t.n, 1, NULL, t.v[0], t.v[1]);
    assert_int_equal(tacit_queue_tally(t.q)->axpy.count, 0); /* not yet */
    assert_int_equal(q_status(t.q), TACIT_OK);
    assert_int_equal(tacit_queue_tally(t.q)->axpy.count, 1);
    tacit_queue_free(t.q, &fresh);
    close_bench(&t);
}

static void memcheck_catches_the_host_on_device_memory(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "memcheck:host", 64, 1);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile double *)t.v[0] = 1.0;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_bench(&t);
}

static void late_does_all_a_plain_queue_does(void **state)
{
    (void)state;
    plain_words("late:host");
    plain_words("late(7):memcheck:host");
}

static atomic_bool goes_on;

static bool line_goes_on(void)
{
    return atomic_load(&goes_on);
}

/* The line stands still until all is enqueued; who enqueues goes on, until he
 * needs a number. */
static void late_lets_who_enqueues_go_on(void **state)
{
    (void)state;
    bench_t t;
    double got = 0.0;
    tct_lose_over = line_goes_on;
    open_bench(&t, "late:lose(0,1,100):host", 64, 1);
    const double start = tct_seconds();
    q_fill(t.q, 1, 3.0, t.c);
    q_sum(t.q, 1, t.c);
    q_fill(t.q, 1, 4.0, &t.c[1]);
    assert_true(tct_seconds() - start < 60.0); /* not when the line ends */
    atomic_store(&goes_on, true);
    q_get(t.q, 1, t.c, &got);
    tct_lose_over = NULL;
    assert_true(got == 3.0);
    q_get(t.q, 1, &t.c[1], &got);
    assert_true(got == 4.0);
    q_sum(t.q, 1, t.c); /* what is freed at once may still be in use */
    close_bench(&t);
}

static void late_has_its_place(void **state)
{
    (void)state;
    tacit_world *w = NULL;
    tacit_queue *q = NULL;
    assert_int_equal(tacit_world_self(&w), TACIT_OK);
    assert_int_equal(tacit_queue_create(w, "late(x):host", 1, &q),
                     TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), "late(seed)"));
    assert_int_equal(tacit_queue_create(w, "memcheck:late:host", 1, &q),
                     TACIT_UNSUPPORTED);
    assert_non_null(strstr(tacit_error_message(), "late:memcheck:host"));
    assert_null(q);
    tacit_world_destroy(&w);
}

static void chaos_fails_the_operation_it_was_told_to(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, "host", 10, 1);
    tacit_queue *q = NULL;
    assert_int_equal(tacit_queue_create(t.world, "chaos(0,2):host", 1, &q),
                     TACIT_OK);
    q_axpy(q, t.n, 1, NULL, t.v[0], t.v[1]);
    ref_axpy(&t, 1, 0, 1);
    assert_int_equal(q_status(q), TACIT_OK);
    q_axpy(q, t.n, 1, NULL, t.v[0], t.v[1]); /* does not happen */
    q_axpy(q, t.n, 1, NULL, t.v[0], t.v[1]); /* skipped         */
    assert_int_equal(q_status(q), TACIT_DEVICE);
    assert_non_null(strstr(tacit_error_message(), "operation 2"));
    assert_vector(&t, 1);
    tacit_queue_destroy(&q);
    close_bench(&t);
}

static void no_memory_is_said_and_leaks_nothing(void **state)
{
    (void)state;
    tacit_world *w = NULL;
    tacit_queue *q = NULL;
    assert_int_equal(tacit_world_self(&w), TACIT_OK);
    const size_t before = tct_memory_blocks();
    int failures = 0;
    for (long k = 1; k < 50; k++) {
        tct_memory_fail_at(k);
        const tacit_status status =
            tacit_queue_create(w, "trace:count:host", 1, &q);
        tct_memory_fail_at(0);
        if (status == TACIT_OK) break;
        failures++;
        assert_int_equal(status, TACIT_NO_MEMORY);
        assert_null(q);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(failures > 0);
    assert_non_null(q);
    tacit_queue_destroy(&q);
    assert_int_equal(tct_memory_blocks(), before);
    tacit_world_destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_match_loops),
        cmocka_unit_test(fused_words_match_composed),
        cmocka_unit_test(rows_say_what_bodies_do),
        cmocka_unit_test(passes_move_what_their_bodies_use),
        cmocka_unit_test(passes_match_their_bodies),
        cmocka_unit_test(sums_of_a_vector_with_itself),
        cmocka_unit_test(a_device_refuses_what_it_does_not_know),
        cmocka_unit_test(sums_have_the_same_bits_every_time),
        cmocka_unit_test(steps_hold_still_once_the_target_is_met),
        cmocka_unit_test(flexible_names_who_is_at_fault),
        cmocka_unit_test(unknown_words_are_refused),
        cmocka_unit_test(count_counts_as_the_paper_does),
        cmocka_unit_test(trace_writes_a_line_per_operation),
        cmocka_unit_test(memcheck_does_all_a_plain_queue_does),
        cmocka_unit_test(memcheck_poisons_and_delays),
        cmocka_unit_test(memcheck_catches_the_host_on_device_memory),
        cmocka_unit_test(late_does_all_a_plain_queue_does),
        cmocka_unit_test(late_lets_who_enqueues_go_on),
        cmocka_unit_test(late_has_its_place),
        cmocka_unit_test(chaos_fails_the_operation_it_was_told_to),
        cmocka_unit_test(no_memory_is_said_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
