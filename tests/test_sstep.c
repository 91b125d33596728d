/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_sstep.c - method sstep: its small arithmetic, one function after the
 * other, and what blocks of iterations have to do as well as cg.
 *
 * RUN: np=1,2,3,4
 */
#include "mpi_main.h"
#include "problem.h"
#include "solver/sstep/sstep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- small matrices ---------------------------------------------------------------- */

/* 1 / (i + j + 1): positive definite, and nearly singular beyond 10. */
static void hilbert(int n, tct_small W)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) W[i][j] = 1.0 / (i + j + 1);
}

static void factors_solve(void **state)
{
    (void)state;
    enum { N = 5 };
    tct_small W;
    tct_factor F;
    double b[N] = {0};
    hilbert(N, W);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) W[i][j] *= pow(10.0, 3 * (i + j));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) b[i] += W[i][j] * (j + 1) / pow(10, 3 * j);
    assert_int_equal(tct_factor_make(&F, N, W, 1e-14), N);
    tct_factor_solve(&F, b);
    for (int i = 0; i < N; i++)
        assert_true(fabs(b[i] * pow(10, 3 * i) / (i + 1) - 1.0) < 1e-8);
}

static void only_a_sound_prefix_is_taken(void **state)
{
    (void)state;
    tct_small W;
    tct_factor F;
    hilbert(12, W);
    const int sound = tct_factor_make(&F, 12, W, 1e-9);
    assert_in_range(sound, 4, 10);
    assert_true(F.least > 1e-9);
    W[2][2] = -1.0;
    assert_int_equal(tct_factor_make(&F, 12, W, 1e-9), 2);
    W[0][0] = NAN;
    assert_int_equal(tct_factor_make(&F, 12, W, 1e-9), 0);
}

/* t_i' W t_j is 1 for i = j, else 0; the last column comes first. */
static void directions_are_those_of_gram_and_schmidt(void **state)
{
    (void)state;
    enum { N = 4 };
    tct_small W;
    tct_factor F;
    double t[N][N];
    hilbert(N, W);
    tct_factor_make(&F, N, W, 1e-12);
    for (int i = 0; i < N; i++) tct_factor_direction(&F, i, t[i]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                for (int l = 0; l < N; l++) sum += t[i][k] * W[k][l] * t[j][l];
            assert_true(fabs(sum - (i == j)) < 1e-9);
        }
    assert_true(t[0][N - 1] != 0.0 && t[N - 1][N - 1] == 0.0);
}

/* --- bases ------------------------------------------------------------------------- */

/* The polynomials of a basis at x: y_0 = 1. */
static void values_at(tct_basis basis, int s, double edge, double x, double *y)
{
    tct_term term[TCT_SSTEP_MOST];
    tct_basis_terms(basis, s, edge, term);
    y[0] = 1.0;
    for (int j = 0; j + 1 < s; j++) {
        y[j + 1] = (x * y[j] - term[j].theta * y[j]) / term[j].sigma;
        if (j > 0 && term[j].three) y[j + 1] -= y[j - 1];
    }
}

static void bases_stay_small_on_their_interval(void **state)
{
    (void)state;
    enum { S = TCT_SSTEP_MOST };
    const double edge = 7.3;
    double y[S];
    for (int i = 0; i <= 100; i++) {
        const double x = edge * i / 100, u = 2.0 * x / edge - 1.0;
        values_at(BASIS_CHEBYSHEV, S, edge, x, y);
        for (int j = 0; j < S; j++)
            assert_true(fabs(y[j] - cos(j * acos(u))) < 1e-12);
        values_at(BASIS_NEWTON, S, edge, x, y);
        for (int j = 0; j < S; j++) assert_true(fabs(y[j]) < 1e4);
        values_at(BASIS_MONOMIAL, S, edge, x, y);
        assert_true(fabs(y[S - 1] - pow(x / edge, S - 1)) < 1e-14);
    }
    assert_string_equal(tct_basis_name(BASIS_NEWTON), "newton");
    assert_null(tct_basis_name(TCT_BASES));
}

/* Conjugate gradients on a diagonal matrix of few values find all of them. */
static void ritz_values_are_eigenvalues_in_the_end(void **state)
{
    (void)state;
    enum { N = 6 };
    static const double a[N] = {0.5, 1, 2, 4, 7, 9.25};
    double r[N], p[N], alpha[N], beta[N], rr = 0.0;
    for (int i = 0; i < N; i++) r[i] = p[i] = 1.0 + 0.1 * i;
    for (int i = 0; i < N; i++) rr += r[i] * r[i];
    for (int k = 0; k < N; k++) {
        double pt = 0.0, next = 0.0;
        for (int i = 0; i < N; i++) pt += p[i] * a[i] * p[i];
        alpha[k] = rr / pt;
        for (int i = 0; i < N; i++) r[i] -= alpha[k] * a[i] * p[i];
        for (int i = 0; i < N; i++) next += r[i] * r[i];
        beta[k] = next / rr;
        for (int i = 0; i < N; i++) p[i] = r[i] + beta[k] * p[i];
        rr = next;
    }
    assert_true(fabs(tct_ritz_largest(N, alpha, beta) - 9.25) < 1e-9);
    const double early = tct_ritz_largest(3, alpha, beta);
    assert_true(early > 8.0 && early <= 9.25);
    alpha[1] = -1.0;
    assert_true(tct_ritz_largest(3, alpha, beta) == 0.0);
}

/* --- a block ----------------------------------------------------------------------- */

enum { ROWS = 40, OLD = 3, NEW = 4 };

static double eigenvalue(int i)
{
    return 1.0 + 0.37 * i;
}

/* v' A^k w */
static double product(const double *v, const double *w, int k)
{
    double sum = 0.0;
    for (int i = 0; i < ROWS; i++)
        sum += v[i] * w[i] * (k ? eigenvalue(i) : 1.0);
    return sum;
}

/* Any Z, P and r: P_new' A P_new = W, P' A P_new = 0, and what is left of r is
 * orthogonal to P_new; r has as much of P as it likes. */
static void blocks_are_conjugate(void **state)
{
    (void)state;
    double Z[NEW][ROWS], P[OLD][ROWS], r[ROWS], sums[TCT_SSTEP_SUMS];
    tct_small W;
    tct_factor old;
    tct_sstep_block B;
    for (int i = 0; i < ROWS; i++) {
        r[i] = sin(1.0 + i);
        for (int j = 0; j < NEW; j++) Z[j][i] = sin(2.0 + 3.1 * i * (j + 1));
        for (int j = 0; j < OLD; j++) P[j][i] = cos(1.7 * i * (j + 1));
    }
    for (int i = 0; i < OLD; i++)
        for (int j = 0; j < OLD; j++) W[i][j] = product(P[i], P[j], 1);
    assert_int_equal(tct_factor_make(&old, OLD, W, 1e-9), OLD);
    for (int j = 0; j <= NEW; j++) {
        const double *y = j ? Z[j - 1] : r;
        for (int i = 0; i < NEW; i++)
            sums[j * NEW + i] = product(Z[i], y, j > 0);
        for (int i = 0; i < OLD; i++)
            sums[NEW * (NEW + 1) + j * OLD + i] = product(P[i], y, j > 0);
    }
    tct_sstep_decide(&old, OLD, NEW, sums, &B);
    assert_int_equal(B.taken, NEW);
    assert_false(B.cancelled);
    assert_int_equal(B.sound, 0);
    for (int j = 0; j < NEW; j++) /* P_new in Z */
        for (int k = 0; k < OLD; k++)
            for (int i = 0; i < ROWS; i++) Z[j][i] += B.beta[j][k] * P[k][i];
    for (int j = 0; j < NEW; j++)
        for (int i = 0; i < ROWS; i++)
            r[i] -= B.alpha[j] * eigenvalue(i) * Z[j][i];
    for (int j = 0; j < NEW; j++) {
        double column[NEW];
        for (int i = 0; i < NEW; i++) column[i] = product(Z[i], Z[j], 1);
        tct_factor_solve(&B.W, column); /* of W: a unit vector */
        for (int i = 0; i < NEW; i++)
            assert_true(fabs(column[i] - (i == j)) < 1e-10);
        for (int k = 0; k < OLD; k++)
            assert_true(fabs(product(P[k], Z[j], 1)) < 1e-10);
        assert_true(fabs(product(Z[j], r, 0)) < 1e-10);
    }
}

static void blocks_are_as_long_as_r_is_orthogonal(void **state)
{
    (void)state;
    tct_small W = {{0}};
    tct_factor F;
    tct_sstep_block B = {.taken = 8, .W = {.least = 0.1}};
    const double mo[4] = {1e-3, 1e-15, -1e-15, 1e-15};
    for (int i = 0; i < 4; i++) W[i][i] = 4.0;
    tct_factor_make(&F, 4, W, 1e-9); /* the last one is the most recent */
    assert_int_equal(tct_sstep_sound(&F, mo, 1.0), 3);
    assert_int_equal(tct_sstep_sound(&F, mo, 1e20), 4);
    F.block = 0; /* the first one is */
    assert_int_equal(tct_sstep_sound(&F, mo, 1.0), 0);
    B.sound = 8;
    assert_int_equal(tct_sstep_next(&B, 8, 8, 8), 8);
    assert_int_equal(tct_sstep_next(&B, 8, 8, 16), 9);
    B.W.least = 1e-7;
    assert_int_equal(tct_sstep_next(&B, 8, 8, 16), 6);
    B.sound = 6;
    assert_int_equal(tct_sstep_next(&B, 8, 8, 16), 6);
    B.sound = 0;
    assert_int_equal(tct_sstep_next(&B, 8, 8, 16), 4);
    assert_int_equal(tct_sstep_next(&B, 1, 1, 16), 1);
    B.sound = 8;
    B.taken = 3;
    assert_int_equal(tct_sstep_next(&B, 8, 8, 16), 3);
}

/* --- solves ------------------------------------------------------------------------- */

static void open_with(problem *p, const char *spec, tacit_matrix *m,
                      const char *method, const char *steps, const char *basis)
{
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    p->m = m;
    OK(tacit_queue_create(test_world(), spec, 1, &p->q));
    OK(tacit_operator_create(p->q, m, "auto", &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    if (steps) OK(tacit_solver_set(p->s, "steps", steps));
    if (basis) OK(tacit_solver_set(p->s, "basis", basis));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    q_fill(p->q, p->n, 1.0, p->b);
}

static tacit_matrix *gallery(const char *name)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), name, NULL, &m));
    return m;
}

/* This rank's rows of the diagonal matrix with `values` [n]. */
static tacit_matrix *diagonal(int64_t n, const double *values)
{
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    const int64_t first = n * rank / size, rows = n * (rank + 1) / size - first;
    int64_t ptr[512], cols[512];
    tacit_matrix *m = NULL;
    for (int64_t i = 0; i <= rows; i++) {
        ptr[i] = i;
        cols[i] = first + i;
    }
    OK(tacit_matrix_from_rows(test_world(), n, first, rows, ptr, cols,
                              values + first, &m));
    return m;
}

static tacit_status solve(problem *p, double rtol)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = rtol};
    q_fill(p->q, p->n, 0.0, p->x);
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

static const char *const many[] = {"1", "2", "4", "8", "16"};
static const char *const problems[] = {"poisson2d:64", "poisson3d:20",
                                       "jump3d:12,1000,1", "elasticity3d:6"};

/* What `method` comes to, with jacobi if `jacobi`. */
static tacit_result result_of(const char *matrix, bool jacobi,
                              const char *method, const char *steps,
                              const char *basis, double rtol)
{
    problem p;
    open_with(&p, "count:host", gallery(matrix), method, steps, basis);
    if (jacobi) OK(tacit_solver_set(p.s, "precond", "jacobi"));
    (void)solve(&p, rtol);
    const tacit_result r = p.result;
    close_problem(&p);
    return r;
}

/* 3 % and two blocks. */
static void close_to_cg(const char *basis, double rtol)
{
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (size_t k = 0; k < 2 * sizeof many / sizeof *many; k++) {
            const char *s = many[k / 2];
            if (strncmp(problems[i], "jump", 4) == 0 && k % 2 == 0)
                continue; /* which is hard: see test_solver_hard.c */
            const tacit_result cg =
                result_of(problems[i], k % 2, "cg", NULL, NULL, rtol);
            const tacit_result r =
                result_of(problems[i], k % 2, "sstep", s, basis, rtol);
            if (!r.converged || (i < 2 && r.rescued_by) ||
                (double)r.iterations >
                    1.03 * (double)cg.iterations + 2 * atoi(s))
                fail_msg("%s%s, steps %s, %s: %lld iterations, cg %lld%s%s",
                         problems[i], k % 2 ? " with jacobi" : "", s, basis,
                         (long long)r.iterations, (long long)cg.iterations,
                         r.rescued_by ? ", rescued by " : "",
                         r.rescued_by ? r.rescued_by : "");
        }
}

static void iterations_are_those_of_cg(void **state)
{
    (void)state;
    close_to_cg("chebyshev", 1e-6);
    close_to_cg("newton", 1e-6);
}

static void one_step_is_cg(void **state)
{
    (void)state;
    const tacit_result cg =
        result_of("poisson2d:64", false, "cg", NULL, NULL, 1e-10);
    const tacit_result r =
        result_of("poisson2d:64", false, "sstep", "1", NULL, 1e-10);
    assert_int_equal(r.iterations, cg.iterations);
    assert_true(fabs(r.relative_residual / cg.relative_residual - 1) < 1e-2);
}

static void what_is_attained_is_what_cg_attains(void **state)
{
    (void)state;
    for (size_t k = 2; k < sizeof many / sizeof *many; k++)
        for (int i = 0; i < 2; i++) {
            const double cg =
                result_of(problems[i], false, "cg", NULL, NULL, 1e-17)
                    .true_relative_residual;
            const tacit_result r =
                result_of(problems[i], false, "sstep", many[k], NULL, 1e-17);
            assert_int_equal(r.stop, TACIT_STOP_STAGNATION);
            if (!(r.true_relative_residual <= 10 * cg))
                fail_msg("%s, steps %s: %g, cg %g", problems[i], many[k],
                         r.true_relative_residual, cg);
        }
}

/* More eigenvalues than the first iterations of cg are: done inside a block. */
static void blocks_end_where_the_space_does(void **state)
{
    (void)state;
    double values[150];
    for (int i = 0; i < 150; i++) values[i] = 1.0 + 0.3 * (i % 25);
    for (size_t k = 2; k < sizeof many / sizeof *many; k++) {
        problem p;
        open_with(&p, "host", diagonal(150, values), "sstep", many[k], NULL);
        OK(solve(&p, 1e-11));
        assert_null(p.result.rescued_by);
        assert_in_range(p.result.iterations, 20, 25 + 2);
        close_problem(&p);
    }
}

/* A negative eigenvalue that the first iterations do not meet. */
static void what_is_not_positive_definite_is_told(void **state)
{
    (void)state;
    double values[400];
    for (int i = 0; i < 400; i++) values[i] = 1e-3 + (double)i * i / 1600.0;
    values[0] = -1e-3;
    for (size_t k = 0; k < 2 * sizeof many / sizeof *many; k++) {
        problem p;
        double norm = NAN;
        open_with(&p, "host", diagonal(400, values), "sstep", many[k / 2],
                  k % 2 ? "monomial" : NULL);
        assert_int_equal(solve(&p, 1e-12), TACIT_BREAKDOWN);
        assert_string_equal(p.result.breakdown_quantity, "p'Ap");
        assert_true(p.result.iterations > 20);
        OK(tacit_queue_distance(p.q, p.n, p.x, NULL, &norm));
        assert_true(isfinite(norm));
        close_problem(&p);
    }
}

/* [CG89]: good for few steps; for many it says so, and another method goes on. */
static void powers_break_down_and_say_so(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const tacit_result cg =
            result_of("poisson2d:64", false, "cg", NULL, NULL, 1e-6);
        const tacit_result r = result_of("poisson2d:64", false, "sstep",
                                         many[k], "monomial", 1e-6);
        assert_null(r.rescued_by);
        assert_in_range(r.iterations, cg.iterations,
                        cg.iterations + 2 * atoi(many[k]));
    }
    const tacit_result r =
        result_of("poisson2d:64", false, "sstep", "16", "monomial", 1e-6);
    assert_true(r.converged);
    assert_non_null(r.rescued_by);
}

static void sums_are_one_for_all_steps(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) {
        const int s = atoi(many[k]), first = TCT_SSTEP_OPENING;
        int64_t sums[2];
        double bytes[2];
        problem p;
        open_with(&p, "count:host", gallery("poisson2d:100"), "sstep", many[k],
                  NULL);
        for (int i = 0; i < 2; i++) {
            const tacit_stop stop = {.size = sizeof stop,
                                     .max_iterations = first + (1 + i) * s};
            q_fill(p.q, p.n, 0.0, p.x);
            tacit_queue_clear_tally(p.q);
            assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result),
                             TACIT_NOT_CONVERGED);
            sums[i] = tacit_queue_tally(p.q)->reduce.count;
            bytes[i] = tacit_queue_tally(p.q)->reduce.bytes;
        }
        assert_int_equal(sums[1] - sums[0], 1);
        assert_true(bytes[1] - bytes[0] == 8.0 * TCT_SSTEP_SUMS_OF(s, s));
        close_problem(&p);
    }
}

static void refused(tacit_solver *s, const char *name, const char *value,
                    const char *word)
{
    assert_int_equal(tacit_solver_set(s, name, value), TACIT_INVALID);
    if (!strstr(tacit_error_message(), word))
        fail_msg("'%s' does not say '%s'", tacit_error_message(), word);
}

static void settings_are_checked(void **state)
{
    (void)state;
    problem p, q;
    open_with(&p, "host", gallery("poisson2d:20"), "sstep", NULL, NULL);
    refused(p.s, "steps", "0", "1 to 16");
    refused(p.s, "steps", "17", "1 to 16");
    refused(p.s, "steps", "many", "1 to 16");
    refused(p.s, "basis", "chebishev", "did you mean 'chebyshev'");
    OK(tacit_solver_set(p.s, "steps", "3"));
    OK(solve(&p, 1e-8));
    OK(tacit_solver_set(p.s, "steps", "auto"));
    OK(solve(&p, 1e-8));
    close_problem(&p);
    open_with(&q, "host", gallery("poisson2d:20"), "cg", NULL, NULL);
    refused(q.s, "steps", "4", "sstep");
    refused(q.s, "basis", "newton", "sstep");
    close_problem(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_solve),
        cmocka_unit_test(only_a_sound_prefix_is_taken),
        cmocka_unit_test(directions_are_those_of_gram_and_schmidt),
        cmocka_unit_test(bases_stay_small_on_their_interval),
        cmocka_unit_test(ritz_values_are_eigenvalues_in_the_end),
        cmocka_unit_test(blocks_are_conjugate),
        cmocka_unit_test(blocks_are_as_long_as_r_is_orthogonal),
        cmocka_unit_test(iterations_are_those_of_cg),
        cmocka_unit_test(one_step_is_cg),
        cmocka_unit_test(what_is_attained_is_what_cg_attains),
        cmocka_unit_test(blocks_end_where_the_space_does),
        cmocka_unit_test(what_is_not_positive_definite_is_told),
        cmocka_unit_test(powers_break_down_and_say_so),
        cmocka_unit_test(sums_are_one_for_all_steps),
        cmocka_unit_test(settings_are_checked),
    };
    TEST_MPI_MAIN(tests);
}
