/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_soak.c - ten thousand iterations of each method that the loops
 * share, through each available link and loop: solves of a small system from
 * random right-hand sides, each against the same solve by one process on the
 * host.
 *
 * RUN: np=1,2,4
 * THREADS: 3
 * DEVICE: each
 * LIMIT: 500 */
#include "gpu.h"
#include "methods.h"

#if defined(__SANITIZE_ADDRESS__) /* ten times as slow, and sees it at once */
enum { ITERATIONS = 1000 };
#else
enum { ITERATIONS = 10000 };
#endif
enum { LATE_ITERATIONS = 1000, HISTORY = 300, EARLY = 15 };
static const char *const METHOD[] = {"cg", "single", "pipe-pr"};
static const char MATRIX[] = "poisson2d:24x19";
static const double RTOL = 1e-9;

typedef struct {
    double residual[HISTORY];
    int count;
} history;

static int note(void *ctx, int64_t k, double residual)
{
    history *h = ctx;
    if (k >= HISTORY) return 0;
    h->residual[k] = residual;
    if (k >= h->count) h->count = (int)k + 1;
    return 0;
}

typedef struct {
    tacit_world *world;
    tacit_queue *q;
    tacit_operator *A;
    int64_t first;
    size_t n;
    double *b, *x, *host;
} place;

static void open_place(place *p, tacit_world *world, tacit_queue *q)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(world, MATRIX, NULL, &m));
    *p = (place){.world = world, .q = q, .first = tacit_matrix_first_row(m)};
    p->n = (size_t)tacit_matrix_local_rows(m);
    OK(tacit_operator_create(q, m, "sell", &p->A));
    tacit_matrix_destroy(&m);
    p->host = host_vector(p->n, 0.0);
    p->b = poisoned_vector(q, p->n);
    p->x = poisoned_vector(q, p->n);
}

static void close_place(place *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_operator_destroy(&p->A);
    free(p->host);
}

static void solve(place *p, tacit_solver *s, uint64_t seed, history *h,
                  tacit_result *result)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = RTOL, .monitor = note, .monitor_ctx = h};
    for (size_t i = 0; i < p->n; i++)
        p->host[i] = tct_uniform(seed, (uint64_t)p->first + i) - 0.5;
    *h = (history){.count = 0};
    *result = (tacit_result){.size = sizeof *result};
    OK(tacit_queue_put(p->q, p->n, p->host, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    OK(tacit_solver_run(s, p->b, p->x, &stop, result));
}

/* They begin alike, and end alike up to what rounding makes of it. */
static void compare(const char *what, uint64_t seed, const history *a,
                    const tacit_result *r, const history *b,
                    const tacit_result *s)
{
    assert_true(a->count > EARLY && b->count > EARLY);
    for (int k = 0; k < EARLY; k++)
        if (!(fabs(a->residual[k] - b->residual[k]) <= 1e-9 * a->residual[k]))
            fail_msg("%s, %d: residual %d is %.15g, on the host %.15g", what,
                     (int)seed, k, b->residual[k], a->residual[k]);
    if (llabs(r->iterations - s->iterations) > r->iterations / 25 + 2 ||
        !(s->true_relative_residual <= RTOL))
        fail_msg("%s, %d: %d iterations, on the host %d; residual %.3g", what,
                 (int)seed, (int)s->iterations, (int)r->iterations,
                 s->true_relative_residual);
}

static tacit_solver *open_solver(place *p, const char *method, const char *loop)
{
    tacit_solver *s = NULL;
    OK(tacit_solver_create(p->q, p->A, method, &s));
    const tacit_status status = tacit_solver_set_loop(s, loop);
    assert_true(status == TACIT_OK || status == TACIT_UNSUPPORTED);
    if (status == TACIT_UNSUPPORTED) tacit_solver_destroy(&s);
    return s;
}

/* false: there is no such loop. */
static bool soak(place *p, place *alone, const char *method, const char *loop,
                 int64_t iterations)
{
    char what[96];
    int64_t done = 0;
    uint64_t seed = 0;
    tacit_solver *s = open_solver(p, method, loop);
    if (!s) return false;
    tacit_solver *reference = open_solver(alone, method, "host");
    snprintf(what, sizeof what, "%s@%s, loop %s, %s", TEST_DEVICE,
             tacit_queue_link(p->q), loop, method);
    for (; done < iterations; seed++) {
        history a, b;
        tacit_result r, t;
        solve(alone, reference, seed, &a, &r);
        solve(p, s, seed, &b, &t);
        assert_string_equal(t.loop, loop);
        compare(what, seed, &a, &r, &b, &t);
        done += t.iterations;
    }
    tacit_solver_destroy(&s);
    tacit_solver_destroy(&reference);
    printf("%s: %d solves, %d iterations\n", what, (int)seed, (int)done);
    return true;
}

/* On one queue: how many loops of methods. */
static int soak_queue(place *alone, const char *spec, int64_t iterations)
{
    place p;
    tacit_queue *q = NULL;
    int soaked = 0;
    const tacit_status status = tacit_queue_create(test_world(), spec, 1, &q);
    if (status == TACIT_UNSUPPORTED) return 0;
    OK(status);
    open_place(&p, test_world(), q);
    FOR_LOOPS(l)
    for (int m = 0; m < 3; m++)
        soaked += soak(&p, alone, METHOD[m], loop_of(l), iterations);
    close_place(&p);
    tacit_queue_destroy(&q);
    return soaked;
}

static void every_link_and_loop_lasts(void **state)
{
    (void)state;
    place alone;
    tacit_world *self = NULL;
    tacit_queue *q = NULL;
    int soaked = 0;
    if (!gpu_for_each()) skip();
    OK(tacit_world_self(&self));
    OK(tacit_queue_create(self, "host", 1, &q));
    open_place(&alone, self, q);
    for (int l = 0; tacit_link_at(l); l++) {
        char spec[64];
        snprintf(spec, sizeof spec, TEST_DEVICE "@%s", tacit_link_at(l)->name);
        soaked += soak_queue(&alone, spec, ITERATIONS);
    }
    if (strcmp(TEST_DEVICE, "host") == 0)
        soak_queue(&alone, "late:host", LATE_ITERATIONS);
    assert_true(soaked >= 3);
    close_place(&alone);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&self);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_link_and_loop_lasts),
    };
    TEST_GPU_MAIN(tests);
}
