/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_passes.c - every pass, bit for bit where arithmetic is exact
 * and equal for any number of threads; every scalar step on blocks of extreme
 * scalars; transfers between levels; every operation's name.
 *
 * DEVICE: each */
#include "decorated.h"
#include "gpu.h"
#include "pass_rows.h"
#include <float.h>

/* --- passes, where arithmetic is exact ------------------------------------ */

enum { ROOM = 12, GUARD = 5 }; /* vectors, elements around them */

typedef struct {
    size_t n;
    double *was[ROOM], *v[ROOM], *c;
} operands;

/* Small whole numbers; with `odd` some that are none. */
static double whole(int k, size_t j, bool odd)
{
    static const double none[] = {INFINITY, -INFINITY, NAN, -0.0};
    const uint64_t r = tct_mix((uint64_t)(k * 100003 + 17) + j);
    return odd && r % 5 == 0 ? none[r / 5 % 4] : (double)(r % 7) - 3.0;
}

static void open_operands(operands *o, tacit_queue *q, const pass_row *p,
                          size_t n, bool odd)
{
    *o = (operands){.n = n};
    const size_t all = n + 2 * GUARD;
    double c[TCT_SCALARS] = {0};
    for (int k = 0; k < p->vectors; k++) {
        o->was[k] = host_vector(all, NAN);
        for (size_t j = 0; j < all; j++)
            o->was[k][j] = p->reads >> k & 1 ? whole(k, j, odd) : NAN;
        o->v[k] = device_vector(q, all, o->was[k]);
    }
    for (int k = 0; k < TCT_SCALARS; k++) c[k] = -7.0 - k;
    c[C_ALPHA] = 2.0;
    c[C_BETA] = -1.0;
    c[C_HELD] = 0.0;
    o->c = device_vector(q, TCT_SCALARS, c);
}

static void close_operands(operands *o, tacit_queue *q, const pass_row *p)
{
    for (int k = 0; k < p->vectors; k++) {
        free(o->was[k]);
        tacit_queue_free(q, &o->v[k]);
    }
    tacit_queue_free(q, &o->c);
}

/* The same number, or both are none: which NaN it is nobody says. */
static bool alike(double a, double b)
{
    return isnan(a) ? isnan(b) : same_bits(&a, &b, 1);
}

static void expect_exact(const operands *o, tacit_queue *q, const pass_row *p,
                         double sign, size_t at)
{
    double s[MARKED] = {0}, e[MARKED];
    for (size_t j = at; j < at + o->n; j++) {
        for (int k = 0; k < p->vectors; k++) e[k] = o->was[k][j];
        p->body(e, sign * 2.0, -1.0, s);
        for (int k = 0; k < p->vectors; k++) o->was[k][j] = e[k];
    }
    for (int k = 0; k < p->vectors; k++) {
        const size_t all = o->n + 2 * GUARD;
        double *got = host_copy(q, all, o->v[k]);
        for (size_t j = 0; j < all; j++)
            if (!alike(got[j], o->was[k][j]))
                fail_msg("pass %s of %zu from %zu: vector %d, element %zu is "
                         "%g, not %g",
                         p->name, o->n, at, k, j, got[j], o->was[k][j]);
        free(got);
    }
    double *c = host_copy(q, TCT_SCALARS, o->c);
    for (int k = 0; k < TCT_SCALARS; k++) {
        const bool given = k == C_ALPHA || k == C_BETA || k == C_HELD;
        if (!given &&
            (k < p->sums ? s[k] != c[k] && !(isnan(s[k]) && isnan(c[k]))
                         : c[k] != -7.0 - k))
            fail_msg("pass %s of %zu: scalar %d is %g, not %g", p->name, o->n,
                     k, c[k], s[k]);
    }
    free(c);
}

static void one_pass(tacit_queue *q, const pass_row *p, size_t n, size_t at,
                     double sign, bool odd)
{
    operands o;
    open_operands(&o, q, p, n, odd);
    enqueue_pass(q, p, n, sign, &o.c[C_ALPHA], &o.c[C_BETA], o.v, at, o.c);
    OK(q_status(q));
    expect_exact(&o, q, p, sign, at);
    close_operands(&o, q, p);
}

/* Tails around every width that vectors are worked on in, from every place. */
static void passes_are_exact(void **state)
{
    (void)state;
    static const size_t large[] = {127, 128, 129, 1000, 4097, 30011};
    for (int threads = 1; threads <= 3; threads += 2) {
        tacit_queue *q = NULL;
        OK(tacit_queue_create(test_world(), TEST_DEVICE, threads, &q));
        for (const pass_row *p = pass_rows; p < pass_rows + TCT_PASS_COUNT;
             p++) {
            for (size_t n = 0; n < 68; n += n < 36 ? 1 : 7)
                one_pass(q, p, n, n % GUARD, n % 2 ? 1.0 : -1.0, n % 3 == 2);
            for (size_t k = 0; k < sizeof large / sizeof *large; k++)
                one_pass(q, p, large[k], k % GUARD, 1.0, k == 3);
        }
        tacit_queue_destroy(&q);
    }
}

/* --- passes on floats ----------------------------------------------------- */

static const tct_pass float_passes[] = {
#define X(name) PASS_##name,
    TCT_FLOAT_PASSES(X)
#undef X
};
enum { FLOAT_PASSES = sizeof float_passes / sizeof *float_passes };

static float *device_floats(tacit_queue *q, size_t n, const float *x)
{
    double *v = poisoned_vector(q, n / 2 + 1);
    q_put_in(q, TACIT_F32, n, x, v);
    return (float *)(void *)v;
}

static void free_floats(tacit_queue *q, float *x)
{
    double *v = (double *)(void *)x;
    tacit_queue_free(q, &v);
}

/* The results of the row's body for the elements from `at`, rounded to
 * floats. */
static void make_floats(const pass_row *p, size_t n, size_t at, double a,
                        float *const *x, double *s)
{
    double e[MARKED];
    for (size_t i = at; i < at + n; i++) {
        for (int k = 0; k < p->vectors; k++) e[k] = (double)x[k][i];
        p->body(e, a, -1.0, s);
        for (int k = 0; k < p->vectors; k++)
            if (p->writes >> k & 1) x[k][i] = (float)e[k];
    }
}

/* Quarters: some are whole in doubles alone, when multiplied by alpha. */
static void one_float_pass(tacit_queue *q, const pass_row *p, size_t n,
                           size_t at, double alpha)
{
    const size_t all = n + 2 * GUARD;
    float *x[ROOM], *v[ROOM], *got = calloc(all, sizeof *got);
    const void *on[ROOM];
    double s[MARKED] = {0}, c[] = {alpha, -1.0, -7.0, -7.0};
    double *scalars = device_vector(q, 4, c);
    for (int k = 0; k < p->vectors; k++) {
        x[k] = calloc(all, sizeof *x[k]);
        for (size_t i = 0; i < all; i++)
            x[k][i] = (float)whole(k, i, false) / 4.0F;
        v[k] = device_floats(q, all, x[k]);
        on[k] = v[k] + at;
    }
    q_run_pass_in(q, TACIT_F32, p->pass, n, -1.0, scalars, scalars + 1, on,
                  p->sums ? scalars + 2 : NULL);
    make_floats(p, n, at, -alpha, x, s);
    for (int k = 0; k < p->vectors; k++) {
        q_get_in(q, TACIT_F32, all, v[k], got);
        if (memcmp(got, x[k], all * sizeof *got) != 0)
            fail_msg("pass %s of %zu floats from %zu: vector %d", p->name, n,
                     at, k);
        free(x[k]);
        free_floats(q, v[k]);
    }
    q_get(q, 4, scalars, c);
    assert_true(c[2] == (p->sums ? s[0] : -7.0) && c[3] == -7.0);
    OK(q_status(q));
    tacit_queue_free(q, &scalars);
    free(got);
}

static void passes_on_floats_are_exact(void **state)
{
    (void)state;
    static const size_t large[] = {127, 1000, 4097, 30011};
    for (int threads = 1; threads <= 3; threads += 2) {
        tacit_queue *q = NULL;
        OK(tacit_queue_create(test_world(), TEST_DEVICE, threads, &q));
        for (int i = 0; i < FLOAT_PASSES; i++) {
            const pass_row *p = &pass_rows[float_passes[i]];
            for (size_t n = 0; n < 68; n += n < 36 ? 1 : 7)
                one_float_pass(q, p, n, n % GUARD, 2.0);
            for (size_t k = 0; k < sizeof large / sizeof *large; k++)
                one_float_pass(q, p, large[k], k % GUARD, 1e-9);
        }
        tacit_queue_destroy(&q);
    }
}

/* A sum of floats that floats cannot hold: it is in doubles. */
static void sums_of_floats_are_in_doubles(void **state)
{
    (void)state;
    enum { MANY = 20001 };
    static float x[MANY];
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), TEST_DEVICE, 2, &q));
    for (int i = 0; i < MANY; i++) x[i] = 4097.0F;
    float *v = device_floats(q, MANY, x);
    double *out = poisoned_vector(q, 1);
    q_run_pass_in(q, TACIT_F32, PASS_norm, MANY, 1.0, NULL, NULL,
                  (const void *[]){v}, out);
    double *got = host_copy(q, 1, out);
    assert_true(*got == 4097.0 * 4097.0 * MANY);
    free(got);
    free_floats(q, v);
    tacit_queue_free(q, &out);
    tacit_queue_destroy(&q);
}

/* Operations for doubles alone. */
static void floats_are_refused_by_name(void **state)
{
    (void)state;
    for (int panels = 0; panels < 2; panels++) {
        tacit_queue *q = NULL;
        OK(tacit_queue_create(test_world(), TEST_DEVICE, 1, &q));
        double *x = poisoned_vector(q, 8);
        const tct_panel X = tct_panel_in(TACIT_F32, x, 4, 1);
        if (panels) q_gram(q, 4, X, X, x);
        else
            q_run_pass_in(q, TACIT_F32, PASS_dots, 4, 1.0, NULL, NULL,
                          (const void *[]){x, x}, x);
        assert_int_equal(q_status(q), TACIT_UNSUPPORTED);
        assert_non_null(strstr(tacit_error_message(), "on elements f32"));
        tacit_queue_free(q, &x);
        tacit_queue_destroy(&q);
    }
}

/* --- the same bits, whoever works and watches ----------------------------- */

static uint64_t hash_of(uint64_t hash, tacit_queue *q, size_t n,
                        const double *v)
{
    double *x = host_copy(q, n, v);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = tct_mix(hash ^ bits);
    }
    free(x);
    return hash;
}

/* Of all that row `p` leaves on a queue like this. */
static uint64_t marks_on(const char *spec, int threads, const pass_row *p,
                         size_t n)
{
    tacit_queue *q = NULL;
    double *v[ROOM], *c = NULL, scalars[TCT_SCALARS] = {0};
    uint64_t hash = n;
    OK(tacit_queue_create(test_world(), spec, threads, &q));
    for (int k = 0; k < p->vectors; k++) {
        double *x = random_vector(n, 40 + k);
        v[k] = device_vector(q, n, x);
        free(x);
    }
    scalars[C_ALPHA] = 0.3;
    scalars[C_BETA] = -1.7;
    c = device_vector(q, TCT_SCALARS, scalars);
    for (int again = 0; again < 2; again++)
        enqueue_pass(q, p, n, -1.0, &c[C_ALPHA], &c[C_BETA], v, 0, c);
    for (int k = 0; k < p->vectors; k++) {
        hash = hash_of(hash, q, n, v[k]);
        tacit_queue_free(q, &v[k]);
    }
    hash = hash_of(hash, q, (size_t)p->sums, c);
    tacit_queue_free(q, &c);
    tacit_queue_destroy(&q);
    return hash;
}

static const char *log_has; /* a line of the trace with these words ... */
static int log_lines;       /* ... how often */
static void look_for(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    log_lines += log_has && strstr(text, log_has) != NULL;
}

static void passes_have_the_same_bits_everywhere(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 67, 5003, 40009};
    for (const pass_row *p = pass_rows; p < pass_rows + TCT_PASS_COUNT; p++)
        for (int i = 0; i < 4; i++) {
            const uint64_t first = marks_on(TEST_DEVICE, 1, p, sizes[i]);
            for (int threads = 2; threads <= 4; threads++)
                if (marks_on(TEST_DEVICE, threads, p, sizes[i]) != first)
                    fail_msg("pass %s of %zu: %d threads", p->name, sizes[i],
                             threads);
            for (int k = 0; tacit_decorator_at(k); k++) {
                const char *name = tacit_decorator_at(k)->name;
                char spec[64];
                snprintf(spec, sizeof spec, "%s%s:" TEST_DEVICE, name,
                         argument_of(name));
                if ((strcmp(name, "memcheck") == 0 ||
                     strcmp(name, "late") == 0) &&
                    strcmp(TEST_DEVICE, "host") != 0)
                    continue;
                tacit_set_log(look_for, NULL);
                log_has =
                    tct_op_info_of(&(tct_op){.code = TCT_PASS, .pass = p->pass})
                        ->text;
                log_lines = 0;
                const uint64_t now = marks_on(spec, 2, p, sizes[i]);
                tacit_set_log(NULL, NULL);
                if (now != first)
                    fail_msg("pass %s of %zu on %s", p->name, sizes[i], spec);
                assert_int_equal(log_lines, strcmp(name, "trace") ? 0 : 2);
            }
        }
}

/* --- steps ---------------------------------------------------------------- */

static const struct step_row {
    const char *name;
    tct_step step;
} step_rows[TCT_STEP_COUNT] = {
#define X(name, call) {#name, STEP_##name},
    TCT_STEPS(X)
#undef X
};
enum { TRIALS = 4000 };

/* Anything that a scalar may come to be. */
static double any_scalar(uint64_t seed)
{
    static const double ends[] = {0.0,      -0.0,      1.0,          -1.0,
                                  5e-324,   1e-300,    TCT_RR_LEAST, DBL_MIN,
                                  -DBL_MIN, DBL_MAX,   1e300,        -1e300,
                                  INFINITY, -INFINITY, (double)NAN};
    const uint64_t r = tct_mix(seed);
    if (r % 4 == 0) return ends[r / 4 % (sizeof ends / sizeof *ends)];
    const double x = tct_uniform(r, 1);
    return r % 4 == 1 ? ldexp(x - 0.1, (int)(r / 8 % 1200) - 600) : x;
}

/* What a step may meet: whatever sums there are, behind words of its own. */
static void any_block(uint64_t seed, double *c)
{
    for (int k = 0; k < TCT_SCALARS; k++)
        c[k] = any_scalar(seed * 64 + (uint64_t)k);
    c[C_TARGET2] = fabs(c[C_TARGET2]) <= 1e300 ? fabs(c[C_TARGET2]) : 0.0;
    if (seed % 3) c[C_TARGET2] = 0.0;
    c[C_BAD] = seed % 4 ? BAD_NONE : (double)(1 + seed / 4 % BAD_LEAST);
    c[C_HELD] = seed % 8 == 0;
}

/* Where all is well. */
static void sound_block(uint64_t seed, double *c)
{
    for (int k = 0; k < TCT_SCALARS; k++)
        c[k] = 0.5 + tct_uniform(seed, (uint64_t)k);
    c[C_TARGET2] = c[C_BAD] = c[C_BAD_VALUE] = c[C_HELD] = c[C_DRIFT] = 0.0;
}

/* Does the step say how far to go? Others only say where, or whether. ALONG
 * does, but who calls it has looked before; and those of a K-cycle, whose block
 * is no solve's. */
static bool makes_alpha(tct_step step)
{
    double c[TCT_SCALARS];
    sound_block(1, c);
    const double alpha = c[C_ALPHA];
    tct_step_run(step, c);
    return c[C_ALPHA] != alpha && step != STEP_RESTART &&
           step != STEP_K_FIRST && step != STEP_K_SECOND;
}

static bool is_minres(tct_step step)
{
    return step == STEP_MINRES_START || step == STEP_MINRES_ALFA ||
           step == STEP_MINRES;
}

static void check_words(const struct step_row *r, const double *c,
                        const double *was)
{
    static const int own[] = {C_RR_OLD, C_ALPHA, C_BETA, C_BAD,     C_BAD_VALUE,
                              C_HELD,   C_DRIFT, C_RHO,  C_UPDATES, C_NORM};
    const bool minres = is_minres(r->step);
    const double more = r->step == STEP_MINRES
                            ? c[C_BAD] == BAD_NONE && c[C_HELD] == 0.0
                            : step_is_alpha(r->step) && c[C_ALPHA] != 0.0;
    for (int k = 0; k < TCT_SCALARS; k++) {
        bool may = minres && k >= C_ALFA && k <= C_SIZE;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            may = may || own[i] == k;
        if (!may && !same_bits(&c[k], &was[k], 1))
            fail_msg("step %s writes scalar %d", r->name, k);
    }
    if (was[C_BAD] != BAD_NONE &&
        (c[C_BAD] != was[C_BAD] ||
         !same_bits(&c[C_BAD_VALUE], &was[C_BAD_VALUE], 1)))
        fail_msg("step %s forgets what went wrong", r->name);
    if (!(c[C_BAD] >= BAD_NONE && c[C_BAD] <= BAD_LEAST))
        fail_msg("step %s: %g is no word", r->name, c[C_BAD]);
    if (c[C_HELD] < was[C_HELD]) fail_msg("step %s lets go", r->name);
    if (c[C_UPDATES] != was[C_UPDATES] + more && !isnan(was[C_UPDATES]))
        fail_msg("step %s: %g updates after %g", r->name, c[C_UPDATES],
                 was[C_UPDATES]);
}

static void steps_are_pure_and_keep_to_their_words(void **state)
{
    (void)state;
    for (const struct step_row *r = step_rows; r < step_rows + TCT_STEP_COUNT;
         r++)
        for (uint64_t seed = 0; seed < TRIALS; seed++) {
            double c[TCT_SCALARS], was[TCT_SCALARS], again[TCT_SCALARS];
            any_block(seed, was);
            memcpy(c, was, sizeof c);
            memcpy(again, was, sizeof c);
            tct_step_counted(r->step, c);
            tct_step_counted(r->step, again);
            for (int k = 0; k < TCT_SCALARS; k++)
                if (!alike(c[k], again[k]))
                    fail_msg("step %s: scalar %d comes and goes", r->name, k);
            check_words(r, c, was);
        }
}

/* alpha is 0 wherever it must not be anything else, and a number where it
 * may. */
static void check_alpha(const struct step_row *r, const double *c,
                        const double *was)
{
    const double rr = was[C_RR], alpha = c[C_ALPHA];
    const bool met = rr <= was[C_TARGET2] || rr < TCT_RR_LEAST;
    if (was[C_BAD] != BAD_NONE || !isfinite(rr) || met) {
        if (alpha != 0.0) fail_msg("step %s: alpha is %g", r->name, alpha);
    } else if (r->step == STEP_MINRES ? !isfinite(alpha) : !(alpha >= 0.0)) {
        fail_msg("step %s: alpha is %g of a sound (r, r)", r->name, alpha);
    }
    if (was[C_BAD] != BAD_NONE || (isfinite(rr) && met)) {
        assert_true(c[C_HELD] == 1.0);
        assert_true(c[C_BAD] == was[C_BAD]);
    } else if (!isfinite(rr)) {
        assert_true(c[C_BAD] == BAD_RESIDUAL);
    }
    if (c[C_BAD] == BAD_CURVATURE || c[C_BAD] == BAD_PRECOND) {
        const double value = c[C_BAD_VALUE];
        assert_true(was[C_BAD] != BAD_NONE ||
                    !(value > 0.0 && isfinite(value)));
        assert_true(alpha == 0.0);
    }
}

static void steps_hold_still_when_they_must(void **state)
{
    (void)state;
    int rows = 0;
    for (const struct step_row *r = step_rows; r < step_rows + TCT_STEP_COUNT;
         r++) {
        assert_int_equal(makes_alpha(r->step), step_is_alpha(r->step));
        if (!makes_alpha(r->step)) continue;
        rows++;
        for (uint64_t seed = 0; seed < TRIALS; seed++) {
            double c[TCT_SCALARS], was[TCT_SCALARS];
            any_block(seed, was);
            memcpy(c, was, sizeof c);
            tct_step_run(r->step, c);
            check_alpha(r, c, was);
        }
    }
    assert_true(rows >= 5);
}

/* With M = I a step comes to what it does without. */
static void check_pair(const struct step_row *plain,
                       const struct step_row *with)
{
    for (uint64_t seed = 1; seed < TRIALS; seed++) {
        double c[TCT_SCALARS], d[TCT_SCALARS];
        sound_block(seed, c);
        if (seed % 3 == 0) c[C_TARGET2] = 1.0;
        if (seed % 7 == 0) c[C_MU] = c[C_PT] = -c[C_MU];
        c[C_SS] = c[C_PT]; /* (p, A p) stays where it is */
        c[C_NORM] = 1e6;   /* above what pipe-pr with M learns of it */
        memcpy(d, c, sizeof d);
        d[C_RZ] = c[C_RR];
        for (int k = 1; k <= C_SS; k++) d[k + 1] = c[k];
        tct_step_run(plain->step, c);
        tct_step_run(with->step, d);
        for (int k = C_RR_OLD; k < TCT_SCALARS; k++)
            if (!same_bits(&c[k], &d[k], 1))
                fail_msg("steps %s and %s: scalar %d is %g and %g", plain->name,
                         with->name, k, c[k], d[k]);
    }
}

static void steps_with_the_identity_are_those_without(void **state)
{
    (void)state;
    int pairs = 0;
    for (const struct step_row *r = step_rows; r < step_rows + TCT_STEP_COUNT;
         r++)
        for (const struct step_row *m = step_rows;
             m < step_rows + TCT_STEP_COUNT; m++) {
            const size_t n = strlen(r->name);
            if (strncmp(m->name, r->name, n) || strcmp(m->name + n, "_M"))
                continue;
            check_pair(r, m);
            pairs++;
        }
    assert_true(pairs >= 5);
}

/* The device runs the text that the tests above have run; it may fuse, in what
 * are quotients of differences. */
static void steps_are_the_same_on_the_device(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    for (const struct step_row *r = step_rows; r < step_rows + TCT_STEP_COUNT;
         r++)
        for (uint64_t seed = 1; seed < 8; seed++) {
            double c[TCT_SCALARS];
            sound_block(seed, c);
            double *there = device_vector(q, TCT_SCALARS, c);
            q_step(q, r->step, there);
            tct_step_run(r->step, c);
            double *got = host_copy(q, TCT_SCALARS, there);
            for (int k = 0; k < TCT_SCALARS; k++)
                if (!(fabs(got[k] - c[k]) <= 1e-12 * (1.0 + fabs(c[k]))))
                    fail_msg("step %s: scalar %d is %.17g, not %.17g", r->name,
                             k, got[k], c[k]);
            free(got);
            tacit_queue_free(q, &there);
        }
    tacit_queue_destroy(&q);
}

/* --- between levels ------------------------------------------------------- */

/* Element i belongs to set i * 7 mod sets, every eleventh to none. */
static int32_t set_of(size_t i, size_t sets)
{
    return i % 11 == 10 || sets == 0 ? -1 : (int32_t)(i * 7 % sets);
}

static double *numbers_there(tacit_queue *q, size_t count, const int32_t *x)
{
    double *packed = host_vector(count / 2 + 1, 0.0);
    memcpy(packed, x, count * sizeof *x);
    double *there = device_vector(q, count / 2 + 1, packed);
    free(packed);
    return there;
}

typedef struct {
    size_t n, sets, width;
    int32_t *of, *ptr, *list;
    double *w, *listed, *b, *t, *y, *coarse; /* small whole numbers */
} between;

static double *whole_numbers(int of, size_t count)
{
    double *v = host_vector(count, 0.0);
    for (size_t i = 0; i < count; i++) v[i] = whole(of, i, false);
    return v;
}

static between open_between(size_t n, size_t sets, size_t width)
{
    between g = {.n = n, .sets = sets, .width = width};
    g.of = calloc(n + 1, sizeof *g.of);
    g.ptr = calloc(sets + 2, sizeof *g.ptr);
    g.list = calloc(n + 1, sizeof *g.list);
    g.w = whole_numbers(0, n * width);
    g.listed = whole_numbers(1, n * width);
    g.b = whole_numbers(2, n);
    g.t = whole_numbers(3, n);
    g.y = whole_numbers(4, n);
    g.coarse = whole_numbers(9, sets * width);
    int32_t at = 0;
    for (size_t i = 0; i < n; i++) g.of[i] = set_of(i, sets);
    for (size_t c = 0; c < sets; c++) {
        for (size_t i = 0; i < n; i++) {
            if (g.of[i] != (int32_t)c) continue;
            memcpy(g.listed + (size_t)at * width, g.w + i * width,
                   width * sizeof *g.w);
            g.list[at++] = (int32_t)i;
        }
        g.ptr[c + 1] = at;
    }
    return g;
}

static void close_between(between *g)
{
    void *const all[] = {g->of, g->ptr, g->list, g->w,     g->listed,
                         g->b,  g->t,   g->y,    g->coarse};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static void check_restriction(tacit_queue *q, const between *g)
{
    double *ptr = numbers_there(q, g->sets + 1, g->ptr);
    double *list = numbers_there(q, g->n, g->list);
    double *w = device_vector(q, g->n * g->width, g->listed);
    double *b = device_vector(q, g->n, g->b);
    double *t = device_vector(q, g->n, g->t);
    double *y = poisoned_vector(q, g->sets * g->width);
    const tct_sets G = {.count = (int64_t)g->sets,
                        .elements = g->ptr[g->sets],
                        .width = (int)g->width,
                        .ptr = (const int32_t *)(const void *)ptr,
                        .list = (const int32_t *)(const void *)list};
    q_restrict(q, &G, w, b, t, y);
    double *got = host_copy(q, g->sets * g->width, y);
    for (size_t u = 0; u < g->sets * g->width; u++) {
        const size_t c = u / g->width, j = u % g->width;
        double sum = 0.0;
        for (int32_t k = g->ptr[c]; k < g->ptr[c + 1]; k++) {
            const size_t i = (size_t)g->list[k];
            sum += g->w[i * g->width + j] * (g->b[i] - g->t[i]);
        }
        assert_true(got[u] == sum);
    }
    free(got);
    double **const there[] = {&ptr, &list, &w, &b, &t, &y};
    for (int k = 0; k < 6; k++) tacit_queue_free(q, there[k]);
}

static void check_prolongation(tacit_queue *q, const between *g)
{
    double *of = numbers_there(q, g->n, g->of);
    double *w = device_vector(q, g->n * g->width, g->w);
    double *x = device_vector(q, g->sets * g->width, g->coarse);
    double *y = device_vector(q, g->n, g->y);
    q_prolong(q, g->n, (int)g->width, 0.5, (const int32_t *)(const void *)of, w,
              x, y);
    double *got = host_copy(q, g->n, y);
    for (size_t i = 0; i < g->n; i++) {
        double e = 0.0;
        for (size_t j = 0; g->of[i] >= 0 && j < g->width; j++)
            e += g->w[i * g->width + j] *
                 g->coarse[(size_t)g->of[i] * g->width + j];
        assert_true(got[i] == g->y[i] + 0.5 * e);
    }
    free(got);
    double **const there[] = {&of, &w, &x, &y};
    for (int k = 0; k < 4; k++) tacit_queue_free(q, there[k]);
}

static void levels_are_gone_between_as_they_say(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {
        {0, 0, 1},     {1, 1, 1},      {7, 0, 1},     {9, 4, 1},
        {600, 75, 1},  {5000, 3, 1},   {513, 600, 1}, {9001, 4500, 1},
        {0, 0, 6},     {7, 0, 3},      {600, 25, 6},  {5000, 3, 2},
        {513, 600, 3}, {9001, 1500, 6}};
    for (int threads = 1; threads <= 3; threads += 2) {
        tacit_queue *q = NULL;
        OK(tacit_queue_create(test_world(), TEST_DEVICE, threads, &q));
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            between g = open_between(sizes[k][0], sizes[k][1], sizes[k][2]);
            check_restriction(q, &g);
            check_prolongation(q, &g);
            close_between(&g);
        }
        tacit_queue_destroy(&q);
    }
}

/* --- operations ----------------------------------------------------------- */

static void operations_have_names_of_their_own(void **state)
{
    (void)state;
    const char *names[TCT_OPCODES + TCT_PASS_COUNT];
    int count = 0;
    for (int code = 0; code < TCT_OPCODES; code++)
        if (code != TCT_PASS)
            names[count++] =
                tct_op_info_of(&(tct_op){.code = (tct_opcode)code})->text;
    for (int p = 0; p < TCT_PASS_COUNT; p++)
        names[count++] =
            tct_op_info_of(&(tct_op){.code = TCT_PASS, .pass = (tct_pass)p})
                ->text;
    for (int i = 0; i < count; i++) {
        assert_true(strlen(names[i]) > 2);
        for (int k = 0; k < i; k++) assert_string_not_equal(names[i], names[k]);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_are_exact),
        cmocka_unit_test(passes_on_floats_are_exact),
        cmocka_unit_test(sums_of_floats_are_in_doubles),
        cmocka_unit_test(floats_are_refused_by_name),
        cmocka_unit_test(passes_have_the_same_bits_everywhere),
        cmocka_unit_test(steps_are_pure_and_keep_to_their_words),
        cmocka_unit_test(steps_hold_still_when_they_must),
        cmocka_unit_test(steps_with_the_identity_are_those_without),
        cmocka_unit_test(steps_are_the_same_on_the_device),
        cmocka_unit_test(levels_are_gone_between_as_they_say),
        cmocka_unit_test(operations_have_names_of_their_own),
    };
    TEST_GPU_MAIN(tests);
}
