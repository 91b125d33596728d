/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_partitions.c - matrices by formula with randomly partitioned
 * rows, any number per rank and any neighbours: products and solves through
 * every available link and loop, against the formula.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3
 * DEVICE: each */
#include "dealt.h"
#include "methods.h"

/* --- matrices ------------------------------------------------------------- */

/* Rows have one of 8 colours each, and entries where their colours meet: which
 * ranks are neighbours is as random as the colours. In stretches, neighbouring
 * rows have the same colour. */
typedef struct {
    int64_t n;
    int seed, stretch;
} graph;

static double dice(const graph *g, int64_t a, int64_t b)
{
    return tct_uniform((uint64_t)g->seed * 7919u + 17,
                       (uint64_t)(a * 1000003 + b));
}
static int colour_of(const graph *g, int64_t i)
{
    return (int)(8.0 * dice(g, 11, i / g->stretch));
}
/* Off the diagonal. */
static double coupling(const graph *g, int64_t i, int64_t j)
{
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    const int a = colour_of(g, low), b = colour_of(g, high);
    const bool meet = a == b || dice(g, 13, 8 * (a < b ? a : b) + a + b) < 0.3;
    if (!meet || dice(g, 1000 + low, high) > 12.0 / (double)g->n) return 0.0;
    return dice(g, 2000 + high, low) - 0.5;
}

/* Row `i` in full: positive definite, as no row outweighs its diagonal. */
static int64_t row_in_full(const graph *g, int64_t i, int64_t *cols,
                           double *vals)
{
    int64_t count = 0, own = 0;
    double sum = 0.0;
    for (int64_t j = 0; j < g->n; j++) {
        const double v = i == j ? 1.0 : coupling(g, i, j);
        if (v == 0.0) continue;
        if (i == j) own = count;
        else sum += fabs(v);
        cols[count] = j;
        vals[count++] = v;
    }
    vals[own] = 0.1 + 1.05 * sum;
    return count;
}

/* --- partitions ----------------------------------------------------------- */

/* Where rank `rank` begins: cuts anywhere, some twice, some at an end. */
static int64_t cut_at(const graph *g, int rank)
{
    const int size = tacit_world_size(test_world());
    int64_t cut[64];
    assert_true(size < 64);
    cut[0] = 0;
    for (int r = 1; r < size; r++) {
        const double at = 1.3 * dice(g, 31, r) - 0.15;
        const int64_t c = (int64_t)(at * (double)g->n);
        cut[r] = c < 0 ? 0 : c > g->n ? g->n : c;
        for (int k = r; k > 1 && cut[k] < cut[k - 1]; k--) {
            const int64_t other = cut[k];
            cut[k] = cut[k - 1];
            cut[k - 1] = other;
        }
    }
    cut[size] = g->n;
    return cut[rank];
}

typedef struct {
    graph g;
    int64_t first, rows, entries;
    int64_t *ptr, *cols;
    double *vals, *xstar, *b; /* b = A x*, of this rank */
    tacit_matrix *m;
} sample;

static double star(const graph *g, int64_t i)
{
    return 2.0 * dice(g, 41, i) - 1.0;
}

static void open_sample(sample *s, int64_t n, int seed, int stretch)
{
    *s = (sample){.g = {n, seed, stretch}};
    s->first = cut_at(&s->g, tacit_world_rank(test_world()));
    s->rows = cut_at(&s->g, tacit_world_rank(test_world()) + 1) - s->first;
    s->ptr = calloc((size_t)s->rows + 1, sizeof *s->ptr);
    s->cols = malloc((size_t)(s->rows * n + 1) * sizeof *s->cols);
    s->vals = malloc((size_t)(s->rows * n + 1) * sizeof *s->vals);
    assert_true(s->ptr && s->cols && s->vals);
    s->xstar = host_vector((size_t)s->rows, 0.0);
    s->b = host_vector((size_t)s->rows, 0.0);
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t at = s->ptr[i];
        const int64_t count =
            row_in_full(&s->g, s->first + i, s->cols + at, s->vals + at);
        long double sum = 0.0L;
        for (int64_t k = at; k < at + count; k++)
            sum += (long double)s->vals[k] * star(&s->g, s->cols[k]);
        s->ptr[i + 1] = at + count;
        s->xstar[i] = star(&s->g, s->first + i);
        s->b[i] = (double)sum;
    }
    OK(tacit_matrix_from_rows(test_world(), n, s->first, s->rows, s->ptr,
                              s->cols, s->vals, &s->m));
}

static void close_sample(sample *s)
{
    tacit_matrix_destroy(&s->m);
    free(s->ptr);
    free(s->cols);
    free(s->vals);
    free(s->xstar);
    free(s->b);
}

static void expect_near(const sample *s, tacit_queue *q, const double *v,
                        const double *want, double off, const char *what)
{
    double *got = host_copy(q, (size_t)s->rows, v);
    for (int64_t i = 0; i < s->rows; i++)
        if (!(fabs(got[i] - want[i]) <= off))
            fail_msg("%s: %d rows, seed %d, in stretches of %d: row %d is "
                     "%.17g, not %.17g",
                     what, (int)s->g.n, s->g.seed, s->g.stretch,
                     (int)(s->first + i), got[i], want[i]);
    free(got);
}

/* --- products and solves -------------------------------------------------- */

static void check_product(const sample *s, tacit_queue *q, tacit_operator *A)
{
    const size_t n = (size_t)s->rows;
    double *x = device_vector(q, n, s->xstar), *y = poisoned_vector(q, n);
    for (int again = 0; again < 3; again++) {
        OK(tacit_operator_apply(A, x, y));
        expect_near(s, q, y, s->b, 1e-12, "a product");
    }
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
}

/* How many loops it could have. */
static int check_solves(const sample *s, tacit_queue *q, tacit_operator *A,
                        const char *method)
{
    const size_t n = (size_t)s->rows;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-11};
    int had = 0;
    FOR_LOOPS(l)
    {
        tacit_solver *solver = NULL;
        tacit_result result = {.size = sizeof result};
        char what[96];
        snprintf(what, sizeof what, "%s, loop %s, link %s", method, loop_of(l),
                 tacit_queue_link(q));
        OK(tacit_solver_create(q, A, method, &solver));
        const tacit_status can = tacit_solver_set_loop(solver, loop_of(l));
        if (can == TACIT_OK) {
            double *b = device_vector(q, n, s->b);
            double *x = device_vector(q, n, s->b);
            const tacit_status status =
                tacit_solver_run(solver, b, x, &stop, &result);
            if (status != TACIT_OK)
                fail_msg("%s: %s: %s", what, tacit_status_name(status),
                         tacit_error_message());
            assert_string_equal(result.loop, loop_of(l));
            expect_near(s, q, x, s->xstar, 1e-8, what);
            tacit_queue_free(q, &b);
            tacit_queue_free(q, &x);
            had++;
        } else {
            assert_int_equal(can, TACIT_UNSUPPORTED);
        }
        tacit_solver_destroy(&solver);
    }
    return had;
}

/* On this queue, if the world can have it: how many solves. */
static int check_queue(const sample *s, const char *spec, const char *format)
{
    tacit_queue *q = NULL;
    int solves = 0;
    const tacit_status status = tacit_queue_create(test_world(), spec, 1, &q);
    if (status == TACIT_UNSUPPORTED) return 0;
    OK(status);
    tacit_operator *A = operator_of(q, s->m, format);
    assert_non_null(A);
    check_product(s, q, A);
    FOR_METHODS(m) solves += check_solves(s, q, A, method_of(m));
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    return solves;
}

static void partitions_change_nothing(void **state)
{
    (void)state;
    static const int sizes[] = {3, 40, 130, 300}, stretches[] = {1, 20};
    int all = 0;
    if (!gpu_for_each()) skip();
    for (int k = 0; k < 4; k++)
        for (int seed = 1; seed <= 4; seed++) {
            sample s;
            int solves = 0, methods = 0;
            FOR_METHODS(m) methods++;
            open_sample(&s, sizes[k], seed, stretches[seed % 2]);
            for (int l = 0; tacit_link_at(l); l++) {
                char spec[64];
                snprintf(spec, sizeof spec, TEST_DEVICE "@%s",
                         tacit_link_at(l)->name);
                solves += check_queue(&s, spec, seed % 3 ? "sell" : "csr");
            }
            assert_true(solves >= methods); /* by loop host of one link */
            if (strcmp(TEST_DEVICE, "host") == 0)
                solves += check_queue(&s, "late:host", "sell");
            all += solves;
            close_sample(&s);
        }
    printf("%d solves\n", all);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_change_nothing),
    };
    TEST_GPU_MAIN(tests);
}
