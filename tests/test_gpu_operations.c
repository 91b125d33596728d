/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_operations.c - every stream operation of a queue, the scalar
 * steps and the sampled scalars on the cuda device, against the host device.
 *
 * LABEL: gpu */
#include "gpu.h"
#include "pass_rows.h"

/* --- words ---------------------------------------------------------------- */

enum { VECTORS = TCT_OP_VECTORS };
typedef struct {
    tacit_queue *q;
    size_t n;
    double *v[VECTORS], *c;
} bench_t;

static void open_bench(bench_t *t, const char *spec, size_t n)
{
    double c[TCT_SCALARS] = {0};
    t->q = open_queue(spec);
    t->n = n;
    for (int i = 0; i < VECTORS; i++) {
        double *x = random_vector(n, i);
        t->v[i] = device_vector(t->q, n, x);
        free(x);
    }
    c[C_ALPHA] = 0.75;
    c[C_BETA] = -1.25;
    t->c = device_vector(t->q, TCT_SCALARS, c);
}

static void close_bench(bench_t *t)
{
    for (int i = 0; i < VECTORS; i++) tacit_queue_free(t->q, &t->v[i]);
    tacit_queue_free(t->q, &t->c);
    tacit_queue_destroy(&t->q);
}

/* All that a word may have changed: vectors, then scalars. */
static double *contents(const bench_t *t)
{
    double *all = host_vector(VECTORS * t->n + TCT_SCALARS, NAN);
    for (size_t i = 0; i < VECTORS; i++)
        OK(tacit_queue_get(t->q, t->n, t->v[i], all + i * t->n));
    OK(tacit_queue_get(t->q, TCT_SCALARS, t->c, all + VECTORS * t->n));
    return all;
}

#define WORD(name, call)                                       \
    static void name(bench_t *t)                               \
    {                                                          \
        tacit_queue *q = t->q;                                 \
        const size_t n = t->n;                                 \
        double **v = t->v, *c = t->c;                          \
        const double *alpha = &c[C_ALPHA], *beta = &c[C_BETA]; \
        (void)alpha;                                           \
        (void)beta;                                            \
        (void)c;                                               \
        call;                                                  \
    }
WORD(w_fill, q_fill(q, n, 0.3, v[5]))
WORD(w_copy, q_copy(q, n, v[1], v[3]))
WORD(w_axpy, q_axpy(q, n, +1, alpha, v[0], v[1]))
WORD(w_axpy_less, q_axpy(q, n, -1, beta, v[0], v[1]))
WORD(w_axpy_one, q_axpy(q, n, -1, NULL, v[0], v[1]))
WORD(w_aypx, q_aypx(q, n, +1, beta, v[0], v[2]))
WORD(w_aypx_less, q_aypx(q, n, -1, alpha, v[0], v[2]))
WORD(w_aypx_one, q_aypx(q, n, -1, NULL, v[0], v[4]))
WORD(w_copies, q_pass(q, copies, n, (NULL, NULL), (v[1], v[3], v[4]), NULL))
WORD(w_axpby, q_pass(q, axpby, n, (alpha, beta), (v[0], v[2], v[5]), NULL))
WORD(w_dot, q_dot(q, n, v[0], v[2], &c[C_DELTA]))
WORD(w_dot_self, q_dot(q, n, v[3], v[3], &c[C_RS]))
WORD(w_norm, q_norm(q, n, v[6], &c[C_RR]))
WORD(w_axpy_norm, q_axpy_norm(q, n, -1, alpha, v[0], v[1], &c[C_PT]))
WORD(w_axpy_norm_one, q_axpy_norm(q, n, +1, NULL, v[0], v[1], &c[C_SS]))
WORD(w_cg, q_pass(q, cg_update, n, (alpha, beta), (v[0], v[2], v[1]), NULL))
WORD(w_single, q_pass(q, single_update, n, (alpha, beta),
                      (v[1], v[0], v[3], v[2]), &c[C_RR]))
WORD(w_dots, q_dots(q, n, v[0], v[1], &c[C_RS]))
WORD(w_scale, q_scale(q, n, -0.3, v[2]))
WORD(w_pipelined, q_pass(q, pipelined_update, n, (alpha, beta),
                         (v[0], v[1], v[2], v[3], v[4], v[5], v[6]), &c[C_RR]))
WORD(w_pipe_pr, q_pass(q, pipe_pr_update, n, (alpha, beta),
                       (v[0], v[4], v[5], v[1], v[3], v[2]), &c[C_RR]))

/* Words and steps as cg has them: the steps are tails of what is before. */
static void w_chain(bench_t *t)
{
    tacit_queue *q = t->q;
    const size_t n = t->n;
    double **v = t->v, *c = t->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    q_norm(q, n, v[0], &c[C_RR]);
    for (int k = 0; k < 3; k++) {
        q_norm(q, n, v[1], &c[C_PT]);
        q_step(q, STEP_CG_ALPHA, c);
        q_axpy_norm(q, n, -1, alpha, v[2], v[0], &c[C_RR]);
        q_step(q, STEP_CG_BETA, c);
        q_pass(q, cg_update, n, (alpha, beta), (v[0], v[3], v[1]), NULL);
    }
}

/* More steps in a row than one tail holds, and steps on other scalars. */
static void w_many_steps(bench_t *t)
{
    tacit_queue *q = t->q;
    double *c = t->c;
    q_norm(q, t->n, t->v[0], &c[C_RR]);
    q_norm(q, t->n, t->v[1], &c[C_PT]);
    for (int k = 0; k < 4; k++) {
        q_step(q, STEP_CG_ALPHA, c);
        q_step(q, STEP_CG_BETA, c);
        q_step(q, STEP_CG_BETA, c);
    }
    if (t->n < 2 * TCT_SCALARS) return;
    q_fill(q, t->n, 2.0, t->v[6]); /* as scalars: (r, r) is 2, and so on */
    q_norm(q, t->n, t->v[2], &c[C_RR]);
    q_step(q, STEP_CG_BETA, t->v[6]);
    q_step(q, STEP_CG_BETA, c);
    q_step(q, STEP_CG_BETA, t->v[6] + TCT_SCALARS);
}

static const struct {
    const char *name;
    void (*run)(bench_t *t);
} words[] = {
    {"fill", w_fill},
    {"copy", w_copy},
    {"two copies", w_copies},
    {"scale", w_scale},
    {"dots", w_dots},
    {"axpy", w_axpy},
    {"axpy, minus", w_axpy_less},
    {"axpy, alpha 1", w_axpy_one},
    {"aypx", w_aypx},
    {"aypx, minus", w_aypx_less},
    {"aypx, alpha 1", w_aypx_one},
    {"axpby", w_axpby},
    {"dot", w_dot},
    {"dot with itself", w_dot_self},
    {"norm", w_norm},
    {"axpy+norm", w_axpy_norm},
    {"axpy+norm, alpha 1", w_axpy_norm_one},
    {"cg update", w_cg},
    {"single update", w_single},
    {"pipelined update", w_pipelined},
    {"pipe-pr update", w_pipe_pr},
    {"words and steps", w_chain},
    {"many steps", w_many_steps},
};
enum { WORDS = sizeof words / sizeof *words, STEPPED = WORDS - 2 };
static const size_t sizes[] = {1, 31, 255, 1000, 100003};

static double *run_word(const char *spec, size_t n, int w)
{
    bench_t t;
    open_bench(&t, spec, n);
    words[w].run(&t);
    OK(q_status(t.q));
    double *all = contents(&t);
    close_bench(&t);
    return all;
}

static void words_do_what_the_host_does(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int w = 0; w < WORDS; w++) {
            const size_t n = sizes[s], vectors = VECTORS * n;
            const size_t all = vectors + TCT_SCALARS;
            double *want = run_word("host", n, w);
            double *got = run_word(TEST_DEVICE, n, w);
            double *again = run_word(TEST_DEVICE, n, w);
            for (size_t i = 0; i < all; i++) {
                const double size = 1.0 + fabs(want[i]);
                const double slack = i >= vectors
                                         ? 1e-12 * (size + sqrt((double)n))
                                     : w >= STEPPED ? 1e-12 * size
                                                    : 4e-15 * size;
                if (!(fabs(got[i] - want[i]) <= slack))
                    fail_msg("%s of %zu: %s %zu is %.17g, not %.17g",
                             words[w].name, n,
                             i < vectors ? "element" : "scalar",
                             i < vectors ? i : i - vectors, got[i], want[i]);
            }
            if (!same_bits(got, again, all))
                fail_msg("%s of %zu: other bits every time", words[w].name, n);
            free(want);
            free(got);
            free(again);
        }
}

/* --- every pass of the table ---------------------------------------------- */

/* Scalars that the sums do not reach. */
enum { K_ALPHA = TCT_SCALARS - 2, K_BETA };

/* All that pass `p` leaves of n elements, `apart` from the begin of the
 * vectors; what it does not read begins as NaN. */
static double *run_pass(const char *spec, const pass_row *p, size_t n,
                        size_t apart, bool unit)
{
    bench_t t;
    open_bench(&t, spec, n + apart);
    for (int k = 0; k < p->vectors; k++)
        if (!(p->reads >> k & 1)) q_fill(t.q, t.n, NAN, t.v[k]);
    q_fill(t.q, 1, 0.75, &t.c[K_ALPHA]);
    q_fill(t.q, 1, -1.25, &t.c[K_BETA]);
    q_fill(t.q, 4, NAN, t.c); /* of old sums nothing may remain */
    if (p->held)
        enqueue_pass(t.q, p, n, 1, &t.c[C_ALPHA], &t.c[C_BETA], t.v, apart,
                     t.c);
    else
        enqueue_pass(t.q, p, n, -1, unit ? NULL : &t.c[K_ALPHA], &t.c[K_BETA],
                     t.v, apart, t.c);
    OK(q_status(t.q));
    double *all = contents(&t);
    close_bench(&t);
    return all;
}

static void passes_do_what_the_host_does(void **state)
{
    (void)state;
    static const size_t some[] = {0, 1, 2, 31, 1000, 100003};
    for (int i = 0; i < TCT_PASS_COUNT; i++)
        for (size_t s = 0; s < 4 * sizeof some / sizeof *some; s++) {
            const pass_row *p = &pass_rows[i];
            const size_t n = some[s / 4], apart = s & 1;
            const size_t vectors = VECTORS * (n + apart);
            double *want = run_pass("host", p, n, apart, s & 2);
            double *got = run_pass(TEST_DEVICE, p, n, apart, s & 2);
            double *again = run_pass(TEST_DEVICE, p, n, apart, s & 2);
            for (size_t j = 0; j < vectors + TCT_SCALARS; j++) {
                const double size = 1.0 + fabs(want[j]);
                const double slack = j < vectors
                                         ? 4e-15 * size
                                         : 1e-12 * (size + sqrt((double)n));
                if (!(fabs(got[j] - want[j]) <= slack) &&
                    !(isnan(got[j]) && isnan(want[j])))
                    fail_msg("pass %s of %zu, %zu apart: number %zu is %.17g, "
                             "not %.17g",
                             p->name, n, apart, j, got[j], want[j]);
            }
            if (!same_bits(got, again, vectors + TCT_SCALARS))
                fail_msg("pass %s of %zu: other bits every time", p->name, n);
            free(want);
            free(got);
            free(again);
        }
}

static void a_device_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    q->device->run(q, &(tct_op){.code = TCT_EXCHANGE_BEGIN, .n = 1});
    EXPECT(TACIT_UNSUPPORTED, q_status(q));
    assert_non_null(strstr(tacit_error_message(), "'exchange begin'"));
    tacit_queue_destroy(&q);
}

/* After a breakdown, what has been enqueued ahead changes nothing. */
static void updates_hold_still_when_told(void **state)
{
    (void)state;
    int updates = 0;
    for (int i = 0; i < TCT_PASS_COUNT; i++)
        for (int s = 0; s < 5 && pass_rows[i].held; s++) {
            bench_t t;
            open_bench(&t, TEST_DEVICE, sizes[s]);
            q_fill(t.q, 1, 1.0, &t.c[C_HELD]);
            double *before = contents(&t);
            enqueue_pass(t.q, &pass_rows[i], t.n, 1, &t.c[C_ALPHA],
                         &t.c[C_BETA], t.v, 0, t.c);
            updates++;
            double *after = contents(&t);
            assert_true(
                same_bits(before, after, VECTORS * sizes[s] + TCT_SCALARS));
            free(before);
            free(after);
            close_bench(&t);
        }
    assert_true(updates >= 4 * 5); /* of all methods that have one */
}

/* --- steps and looks ------------------------------------------------------ */

static void steps_are_those_of_the_host(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    double *block = poisoned_vector(q, TCT_SCALARS);
    for (int step = STEP_CG_ALPHA; step < TCT_STEP_COUNT; step++)
        for (int how = 0; how < 7; how++) {
            if (step > STEP_PIPE_PR && step < STEP_MINRES_START) continue;
            double want[TCT_SCALARS], got[TCT_SCALARS];
            for (int i = 0; i < TCT_SCALARS; i++) want[i] = 0.0;
            want[C_RR] = how == 1 ? 1e-20 : how == 2 ? NAN : 2.5;
            want[C_DELTA] = want[C_PT] = how == 3   ? -3.0
                                         : how == 4 ? (double)INFINITY
                                                    : 30.0;
            want[C_RS] = 4.0;
            want[C_SS] = 90.0;
            want[C_RR_OLD] = how == 5 ? 0.0 : 7.5;
            want[C_ALPHA] = 0.125;
            want[C_PHI] = 1.5;
            want[C_GAMMA] = want[C_GAMMA_OLD] = 3.0;
            want[C_COS] = 0.6;
            want[C_SIN] = 0.8;
            want[C_BAR] = 0.7;
            want[C_UNIT] = 0.25;
            want[C_TARGET2] = 1e-18;
            want[C_BAD] = how == 6 ? BAD_RESIDUAL : BAD_NONE;
            OK(tacit_queue_put(q, TCT_SCALARS, want, block));
            q_step(q, (tct_step)step, block);
            OK(tacit_queue_get(q, TCT_SCALARS, block, got));
            tct_step_run((tct_step)step, want);
            for (int i = 0; i < TCT_SCALARS; i++)
                if (!(isnan(want[i]) && isnan(got[i])) && got[i] != want[i] &&
                    !(fabs(got[i] - want[i]) <= 1e-14 * fabs(want[i])))
                    fail_msg("step %d, case %d: scalar %d is %.17g, not %.17g",
                             step, how, i, got[i], want[i]);
        }
    tacit_queue_free(q, &block);
    tacit_queue_destroy(&q);
}

/* Look `k`: (r, r) is n k^2, and now and then something is bad. */
static void enqueue_sample(bench_t *t, int64_t k)
{
    q_fill(t->q, t->n, (double)k, t->v[0]);
    if (k % 3 == 0) q_fill(t->q, 1, (double)k, &t->c[C_BAD_VALUE]);
    if (k % 2 == 0) q_norm(t->q, t->n, t->v[0], &t->c[C_RR]);
    else q_dot(t->q, t->n, t->v[0], t->v[0], &t->c[C_RR]);
    q_sample(t->q, t->c);
}

static void take_sample(bench_t *t, int64_t k)
{
    tct_sample c = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!q_sampled(t->q, &c)) fail_msg("look %lld does not come", (long long)k);
    if (c.rr != (double)t->n * (double)(k * k) ||
        c.bad_value != (double)(k / 3 * 3) || c.bad != 0.0)
        fail_msg("look %lld says %.17g, %g, %g", (long long)k, c.rr, c.bad,
                 c.bad_value);
}

static void looks_come_in_order(void **state)
{
    (void)state;
    bench_t t;
    open_bench(&t, TEST_DEVICE, 1000);
    if (!t.q->device->seen) {
        close_bench(&t);
        skip();
    }
    /* how many looks are ahead when one is taken; past the end of the ring */
    static const int64_t leads[] = {1, 2, 3, 10, 4000, 1, 17};
    tct_sample none;
    int64_t made = 0, taken = 0;
    assert_false(q_sampled(t.q, &none));
    for (size_t l = 0; l < sizeof leads / sizeof *leads; l++) {
        const int64_t last = made + 1500 + leads[l];
        while (made < last) {
            while (made < taken + leads[l] && made < last)
                enqueue_sample(&t, ++made);
            take_sample(&t, ++taken);
        }
        while (taken < made) take_sample(&t, ++taken);
        assert_false(q_sampled(t.q, &none)); /* no more, and said at once */
    }
    /* a look without anything before it, and two at once */
    OK(q_status(t.q));
    q_sample(t.q, t.c);
    q_sample(t.q, t.c);
    take_sample(&t, made);
    take_sample(&t, made);
    assert_false(q_sampled(t.q, &none));
    OK(q_status(t.q));
    close_bench(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_do_what_the_host_does),
        cmocka_unit_test(passes_do_what_the_host_does),
        cmocka_unit_test(a_device_refuses_what_it_does_not_know),
        cmocka_unit_test(updates_hold_still_when_told),
        cmocka_unit_test(steps_are_those_of_the_host),
        cmocka_unit_test(looks_come_in_order),
    };
    TEST_GPU_MAIN(tests);
}
