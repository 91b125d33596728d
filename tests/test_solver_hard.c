/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_solver_hard.c - hard cases for the methods: spectra on which
 * rounding costs iterations, low precision, the ends of the range of doubles,
 * unreachable tolerances. With TACIT_TABLE set, real_matrices prints its
 * figures.
 *
 * LIMIT: 500
 * LABEL: slow */
#include "device/queue.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "operator/operator.h"
#include "problem.h"
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

/* flexible needs more iterations on the worst of these. */
static const char *const methods[] = {"cg", "single", "pipelined", "pipe-pr",
                                      "sstep"};
enum { METHODS = 5 };

#define OK(call) assert_int_equal(call, TACIT_OK)

static void open_problem(problem *p, const tacit_matrix *matrix)
{
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    OK(tacit_queue_create(test_world(), "host", 1, &p->q));
    OK(tacit_operator_create(p->q, matrix, "csr", &p->A));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    q_fill(p->q, p->n, 1.0, p->b);
}

/* Solve from x = 0. */
static tacit_status solve(problem *p, const char *method, double rtol,
                          int64_t most)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = most};
    tacit_solver *s = NULL;
    OK(tacit_solver_create(p->q, p->A, method, &s));
    q_fill(p->q, p->n, 0.0, p->x);
    const tacit_status status =
        tacit_solver_run(s, p->b, p->x, &stop, &p->result);
    tacit_solver_destroy(&s);
    return status;
}

static tacit_matrix *diagonal(int64_t n, const double *values)
{
    int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr);
    tacit_matrix *m = NULL;
    for (int64_t i = 0; i <= n; i++) ptr[i] = i;
    OK(tacit_matrix_from_rows(test_world(), n, 0, n, ptr, ptr, values, &m));
    free(ptr);
    return m;
}

/* scale tridiag(-1, 2.1, -1) */
static tacit_matrix *line(int64_t n, double scale)
{
    int64_t ptr[200] = {0}, cols[600];
    double vals[600];
    int64_t k = 0;
    tacit_matrix *m = NULL;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n) continue;
            cols[k] = j;
            vals[k++] = scale * (i == j ? 2.1 : -1.0);
        }
        ptr[i + 1] = k;
    }
    OK(tacit_matrix_from_rows(test_world(), n, 0, n, ptr, cols, vals, &m));
    return m;
}

/* --- iterations of the methods -------------------------------------------- */

/* No method may need more than this times the iterations of cg. */
static const double MORE = 1.15;
/* But for pipe-pr, whose iteration on a GPU is so much cheaper than another's
 * that it goes on where rounding costs it some. */
static const double MORE_PIPE_PR = 1.25;
/* And for blocks of iterations, which another method goes on without where they
 * do not do: that has to be found out. */
static const double MORE_BLOCKS = 1.5;

static double most_for(const char *method, int64_t cg)
{
    const int steps = tacit_method_find(method)->steps;
    const bool pipe_pr = strcmp(method, "pipe-pr") == 0;
    const double more = steps ? MORE_BLOCKS : pipe_pr ? MORE_PIPE_PR : MORE;
    return more * (double)cg + 3.0 + 8.0 * steps;
}

static void check_methods(problem *p, const char *name, const tacit_matrix *m_)
{
    (void)m_;
    int64_t its[METHODS] = {0};
    for (int m = 0; m < METHODS; m++) {
        if (solve(p, methods[m], 1e-8, 60000) != TACIT_OK)
            fail_msg("%s on %s: %s", methods[m], name, tacit_error_message());
        its[m] = p->result.iterations;
        if ((double)its[m] > most_for(methods[m], its[0]))
            fail_msg("%s on %s: %lld iterations, cg %lld", methods[m], name,
                     (long long)its[m], (long long)its[0]);
    }
    if (!getenv("TACIT_TABLE")) return;
    printf("%-22s", name);
    for (int m = 0; m < METHODS; m++)
        printf(" %s %lld (%.3f)", methods[m], (long long)its[m],
               (double)its[m] / (double)its[0]);
    putchar('\n');
}

/* Eigenvalues over 8 decades with ever fewer large ones: cg needs many times
 * as many iterations as there are rows. */
static void spread_spectra_cost_no_method_more(void **state)
{
    (void)state;
    enum { N = 400 };
    static const double decades[] = {4, 6, 8};
    for (int d = 0; d < 3; d++) {
        double values[N];
        for (int i = 0; i < N; i++)
            values[i] = pow(10.0, decades[d] * pow((double)i / (N - 1), 2.0));
        problem p;
        tacit_matrix *m = diagonal(N, values);
        open_problem(&p, m);
        check_methods(&p, "spread", m);
        close_problem(&p);
        tacit_matrix_destroy(&m);
    }
}

static const char *folder(void)
{
    return getenv("TACIT_MATRICES");
}

/* Matrices on which cg does not get to 1e-8 within 60000 iterations, or takes
 * very long. */
static bool is_left_out(const char *file)
{
    static const char *const out[] = {
        "bcsstk13", "bcsstk19", "bcsstk20", "bcsstk24", "bcsstm25", "mhd3200b",
        "ex3.",     "ex10",     "ex13",     "ex15",     "nos2."};
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        if (strncmp(file, out[i], strlen(out[i])) == 0) return true;
    return file[0] == '.';
}

typedef void (*check_fn)(problem *p, const char *name, const tacit_matrix *m);

static void for_one(const char *path, const char *name, check_fn check)
{
    problem p;
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), path, NULL, &m));
    open_problem(&p, m);
    check(&p, name, m);
    close_problem(&p);
    tacit_matrix_destroy(&m);
}

/* Call `check` with every matrix of TACIT_MATRICES/`set`. */
static int for_each(const char *set, check_fn check)
{
    char path[1024];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", folder(), set);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL; count++) {
        if (is_left_out(e->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s/%s", folder(), set, e->d_name);
        for_one(path, e->d_name, check);
    }
    if (dir) closedir(dir);
    return count;
}

static void real_matrices_cost_no_method_more(void **state)
{
    (void)state;
    if (!folder() || for_each("spd", check_methods) == 0) skip();
    for_each("derived", check_methods);
    for_each("fe", check_methods);
}

/* --- low precision -------------------------------------------------------- */

static double to_bits(double value, int bits)
{
    uint64_t word;
    if (bits == 32) return (double)(float)value;
    memcpy(&word, &value, sizeof word);
    word = (word + 0x8000) & ~(uint64_t)0xffff;
    memcpy(&value, &word, sizeof word);
    return value;
}

/* An operator of low precision for the host, which has none: the values are
 * rounded and multiplied as doubles. */
static tacit_operator *rounded(const problem *p, const tacit_matrix *m,
                               int bits)
{
    const tct_csr *A = &m->A;
    const int64_t nonzeros = A->ptr[A->rows];
    int64_t *cols = malloc((size_t)(nonzeros + 1) * sizeof *cols);
    double *vals = malloc((size_t)(nonzeros + 1) * sizeof *vals);
    tacit_matrix *low = NULL;
    tacit_operator *out = NULL;
    for (int64_t k = 0; k < nonzeros; k++) {
        cols[k] = tct_csr_col(A, k);
        vals[k] = to_bits(A->val[k], bits);
    }
    OK(tacit_matrix_from_rows(test_world(), A->rows, 0, A->rows, A->ptr, cols,
                              vals, &low));
    OK(tacit_operator_create(p->q, low, "csr", &out));
    out->bits = bits;
    tacit_matrix_destroy(&low);
    free(cols);
    free(vals);
    return out;
}

/* What an iteration costs in low precision, where it saves much. */
static double cost_of(int bits)
{
    return bits == 32 ? 0.7 : 0.85;
}

/* Low precision may not cost more than it saves, but for what it takes to find
 * out, and it must not fail where double converges. */
static void check_mixed(problem *p, const char *name, const char *method)
{
    enum { TO_FIND_OUT = 64 };
    tacit_operator *low = p->A->low;
    p->A->low = NULL;
    OK(solve(p, method, 1e-8, 60000));
    p->A->low = low;
    const double full = (double)p->result.iterations;
    if (solve(p, method, 1e-8, 60000) != TACIT_OK)
        fail_msg("mixed %s on %s: %s", method, name, tacit_error_message());
    const tacit_result *r = &p->result;
    const double all = (double)r->iterations;
    const double saved = r->fell_back ? (double)r->fell_back_at : all;
    const double time = all - (1.0 - cost_of(low->bits)) * saved;
    if (getenv("TACIT_TABLE"))
        printf("%-22s mixed %-9s %6.0f of %6.0f (%.3f), %2d bits%s, "
               "updates %lld, time %.2f\n",
               name, method, all, full, all / full, r->bits,
               r->fell_back ? " in the end" : "",
               (long long)r->reliable_updates, time / full);
    if (time > 1.1 * full + TO_FIND_OUT)
        fail_msg("mixed %s on %s: %.0f iterations, of those %.0f in low "
                 "precision; double: %.0f",
                 method, name, all, saved, full);
}

static void check_low(problem *p, const char *name, const tacit_matrix *m)
{
    tacit_operator *low32 = rounded(p, m, 32), *low48 = rounded(p, m, 48);
    low32->low = low48;
    p->A->low = low32;
    /* of the larger ones with cg alone, for time */
    for (int k = 0; k < (p->n < 1000 ? METHODS : 1); k++)
        check_mixed(p, name, methods[k]);
    p->A->low = low48;
    check_mixed(p, name, "cg");
    p->A->low = low32->low = NULL;
    tacit_operator_destroy(&low32);
    tacit_operator_destroy(&low48);
}

static void low_precision_never_costs_much(void **state)
{
    (void)state;
    static const char *const gallery[] = {"poisson2d:64", "elasticity3d:8",
                                          "tet3d:12,1", "jump3d:12,1e6,1"};
    for (int i = 0; i < 4; i++) for_one(gallery[i], gallery[i], check_low);
    if (folder()) for_each("spd", check_low);
    if (folder()) for_each("derived", check_low);
    if (folder()) for_each("fe", check_low);
}

/* --- the range of doubles ------------------------------------------------- */

/* A and b of any size have the x that they have at size 1, times a power of
 * 10; what is beyond the range is said to be. */
static void sizes_do_not_matter(void **state)
{
    (void)state;
    static const double sizes[] = {1e-300, 1e-170, 1e-162, 1e-155, 1e-110,
                                   1e-104, 1e-60,  1.0,    1e60,   1e104,
                                   1e150,  1e170,  1e300};
    enum { N = 50, SIZES = sizeof sizes / sizeof *sizes };
    double at_one[N], x[N];
    problem p;
    tacit_matrix *m = line(N, 1.0);
    open_problem(&p, m);
    OK(solve(&p, "cg", 1e-12, 0));
    OK(tacit_queue_get(p.q, N, p.x, at_one));
    close_problem(&p);
    tacit_matrix_destroy(&m);
    for (int i = 0; i < SIZES; i++) {
        m = line(N, sizes[i]);
        open_problem(&p, m);
        for (int j = 0; j < SIZES; j++)
            for (int k = 0; k < METHODS; k++) {
                const double power = log10(sizes[j]) - log10(sizes[i]);
                q_fill(p.q, p.n, sizes[j], p.b);
                const tacit_status status = solve(&p, methods[k], 1e-12, 0);
                if (fabs(power) > 307.0) {
                    assert_int_equal(status, TACIT_BREAKDOWN);
                    assert_non_null(
                        strstr(tacit_error_message(), "range of doubles"));
                    continue;
                }
                OK(status);
                assert_true(p.result.true_relative_residual <= 1e-12);
                OK(tacit_queue_get(p.q, N, p.x, x));
                for (int l = 0; l < N; l++) {
                    const double want = at_one[l] / sizes[i] * sizes[j];
                    if (isfinite(want) && fabs(want) > 1e-300)
                        assert_true(fabs(x[l] / want - 1.0) < 1e-10);
                }
            }
        close_problem(&p);
        tacit_matrix_destroy(&m);
    }
}

/* Entries of which squares are no doubles, beside one of which they are. */
static void squares_out_of_range_end(void **state)
{
    (void)state;
    static const double small[] = {2.0, 3.0, 5.0, 7.0, 11.0},
                        far[] = {1e-170, 1.0};
    problem p;
    tacit_matrix *m = diagonal(5, small);
    open_problem(&p, m);
    q_fill(p.q, 5, 1e-150, p.b);
    OK(tacit_queue_put(p.q, 1, (const double[]){1.0}, p.b));
    for (int k = 0; k < METHODS; k++) { /* r is less than can be iterated on */
        assert_true(solve(&p, methods[k], 0.0, 0) >= TACIT_OK);
        assert_true(p.result.iterations < 100);
        assert_true(p.result.true_relative_residual <= 1e-145);
    }
    close_problem(&p);
    tacit_matrix_destroy(&m);
    m = diagonal(2, far); /* x is 1e370 */
    open_problem(&p, m);
    OK(tacit_queue_put(p.q, 2, (const double[]){1e200, 0.0}, p.b));
    assert_int_equal(solve(&p, "cg", 1e-6, 0), TACIT_BREAKDOWN);
    assert_non_null(strstr(tacit_error_message(), "range of doubles"));
    close_problem(&p);
    tacit_matrix_destroy(&m);
}

/* Powers of 2 change no bit, and products have the size that they have. */
static void powers_of_2_change_no_bit(void **state)
{
    (void)state;
    enum { N = 50 };
    double first[N], x[N];
    for (int e = -900; e <= 900; e += 300) {
        tacit_matrix *m = line(N, ldexp(1.0, e));
        problem p;
        open_problem(&p, m);
        OK(solve(&p, "cg", 1e-9, 0));
        OK(tacit_queue_get(p.q, N, p.x, x));
        if (e == -900) memcpy(first, x, sizeof x);
        for (int i = 0; i < N; i++)
            assert_true(ldexp(first[i], -900 - e) == x[i]);
        double norm = 0.0, want = 0.0;
        OK(tacit_operator_apply(p.A, p.b, p.x));
        OK(tacit_queue_distance(p.q, p.n, p.x, NULL, &norm));
        want = sqrt((N - 2) * 0.1 * 0.1 + 2 * 1.1 * 1.1);
        assert_true(fabs(ldexp(norm, -e) - want) < 1e-12);
        OK(tacit_operator_update(p.A, m)); /* values are scaled there too */
        OK(solve(&p, "cg", 1e-9, 0));
        OK(tacit_queue_get(p.q, N, p.x, x));
        for (int i = 0; i < N; i++)
            assert_true(ldexp(first[i], -900 - e) == x[i]);
        close_problem(&p);
        tacit_matrix_destroy(&m);
    }
}

static void what_no_power_of_2_serves_is_refused(void **state)
{
    (void)state;
    const double values[] = {1e-200, 1.0, 1e200};
    tacit_matrix *m = diagonal(3, values);
    tacit_queue *q = NULL;
    tacit_operator *A = NULL;
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    assert_int_equal(tacit_operator_create(q, m, "csr", &A), TACIT_INPUT);
    assert_non_null(strstr(tacit_error_message(), "from 1e-200 to 1e+200"));
    assert_null(A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

/* --- arguments and tolerances --------------------------------------------- */

static void one_vector_cannot_be_b_and_x(void **state)
{
    (void)state;
    tacit_matrix *m = line(50, 1.0);
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    tacit_solver *s = NULL;
    double *both = NULL;
    problem p;
    open_problem(&p, m);
    OK(tacit_solver_create(p.q, p.A, "cg", &s));
    OK(tacit_queue_alloc(p.q, 100, &both));
    q_fill(p.q, 100, 1.0, both);
    for (int gap = 0; gap < 50; gap += 7) {
        assert_int_equal(
            tacit_solver_run(s, both, both + gap, &stop, &p.result),
            TACIT_INVALID);
        assert_int_equal(
            tacit_solver_run(s, both + gap, both, &stop, &p.result),
            TACIT_INVALID);
        assert_non_null(strstr(tacit_error_message(), "share memory"));
    }
    q_fill(p.q, 50, 0.0, both + 50);
    OK(tacit_solver_run(s, both, both + 50, &stop, &p.result));
    tacit_queue_free(p.q, &both);
    tacit_solver_destroy(&s);
    close_problem(&p);
    tacit_matrix_destroy(&m);
}

static void nothing_more_to_gain_is_an_end(void **state)
{
    (void)state;
    tacit_matrix *m = NULL;
    problem p;
    OK(tacit_matrix_open(test_world(), "poisson2d:30", NULL, &m));
    open_problem(&p, m);
    for (int k = 0; k < METHODS; k++) {
        assert_int_equal(solve(&p, methods[k], 0.0, 100000), TACIT_OK);
        assert_int_equal(p.result.stop, TACIT_STOP_STAGNATION);
        assert_true(p.result.iterations < 1000);
        assert_true(p.result.true_relative_residual < 1e-13);
        assert_true(p.result.relative_residual > 1e-20);
        assert_int_equal(solve(&p, methods[k], 1e-30, 100000),
                         TACIT_NOT_CONVERGED);
        assert_non_null(strstr(tacit_error_message(), "no further progress"));
    }
    assert_int_equal(solve(&p, "cg", 1e-8, 3), TACIT_NOT_CONVERGED);
    assert_non_null(strstr(tacit_error_message(), "after 3 iterations"));
    close_problem(&p);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread_spectra_cost_no_method_more),
        cmocka_unit_test(real_matrices_cost_no_method_more),
        cmocka_unit_test(low_precision_never_costs_much),
        cmocka_unit_test(sizes_do_not_matter),
        cmocka_unit_test(squares_out_of_range_end),
        cmocka_unit_test(powers_of_2_change_no_bit),
        cmocka_unit_test(what_no_power_of_2_serves_is_refused),
        cmocka_unit_test(one_vector_cannot_be_b_and_x),
        cmocka_unit_test(nothing_more_to_gain_is_an_end),
    };
    TEST_MPI_MAIN(tests);
}
