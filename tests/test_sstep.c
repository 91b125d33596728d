/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_sstep.c - method sstep: its small arithmetic function by function,
 * and that blocks of iterations converge as cg does.
 *
 * RUN: np=1,2,3,4 */
#include "mpi_main.h"
#include "problem.h"
#include "solver/sstep/sstep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- small matrices ------------------------------------------------------- */

/* 1 / (i + j + 1): positive definite, and nearly singular beyond 10. */
static void hilbert(int n, tct_small W)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) W[i][j] = 1.0 / (i + j + 1);
}

static void only_a_sound_prefix_is_taken(void **state)
{
    (void)state;
    tct_blocks_desk d = {.s = 0};
    hilbert(12, d.W);
    const int sound = blocks_factor(12, 1e-9, &d);
    assert_in_range(sound, 4, 10);
    assert_true(d.least > 1e-9);
    hilbert(12, d.W);
    d.W[2][2] = -1.0;
    assert_int_equal(blocks_factor(12, 1e-9, &d), 2);
    hilbert(12, d.W);
    d.W[0][0] = NAN;
    assert_int_equal(blocks_factor(12, 1e-9, &d), 0);
}

/* t_i' W t_j is 1 for i = j, else 0, whatever the scale; column j has as many
 * elements as there are before it, and itself. */
static void directions_are_those_of_gram_and_schmidt(void **state)
{
    (void)state;
    enum { N = 5 };
    tct_small W;
    tct_blocks_desk d = {.s = 0};
    hilbert(N, W);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) W[i][j] *= pow(10.0, 3 * (i + j));
    memcpy(d.W, W, sizeof W);
    assert_int_equal(blocks_factor(N, 1e-14, &d), N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                for (int l = 0; l < N; l++)
                    sum += d.X[i][k] * W[k][l] * d.X[j][l];
            assert_true(fabs(sum - (i == j)) < 1e-8);
            assert_true((d.X[i][j] != 0.0) == (j <= i));
        }
}

/* --- bases ---------------------------------------------------------------- */

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

/* --- a block -------------------------------------------------------------- */

enum { ROWS = 40, OLD = 3, NEW = 4, KEPT = 6 };

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

/* P' A P = 1, by Gram and Schmidt. */
static void make_conjugate(int n, double (*P)[ROWS])
{
    for (int j = 0; j < n; j++) {
        for (int twice = 0; twice < 2; twice++)
            for (int k = 0; k < j; k++) {
                const double has = product(P[k], P[j], 1);
                for (int i = 0; i < ROWS; i++) P[j][i] -= has * P[k][i];
            }
        const double norm = sqrt(product(P[j], P[j], 1));
        for (int i = 0; i < ROWS; i++) P[j][i] /= norm;
    }
}

/* PZ becomes what the block says of P, x what is added to it. */
static void update(const tct_blocks *B, double (*PZ)[ROWS], double *x)
{
    enum { ALL = KEPT + NEW };
    for (int i = 0; i < ROWS; i++) {
        double out[KEPT + 1] = {0};
        for (int c = 0; c <= KEPT; c++)
            for (int a = 0; a < ALL; a++)
                out[c] += PZ[a][i] * B->mix[c * ALL + a];
        for (int c = 0; c < KEPT; c++) PZ[c][i] = out[c];
        x[i] = out[KEPT];
    }
}

/* Any Z and r, and conjugate P: the new P is conjugate, with the last direction
 * first and the old ones behind, and what is left of r is orthogonal to those
 * that are new; r has as much of the old ones as it likes. */
static void blocks_are_conjugate(void **state)
{
    (void)state;
    double PZ[KEPT + NEW][ROWS] = {{0}}, r[ROWS], x[ROWS], old[ROWS];
    double sums[TCT_SSTEP_SUMS] = {0}, c[TCT_SCALARS] = {0};
    tct_blocks B = {.most = KEPT, .s = NEW, .n = OLD, .limit = 100};
    tct_blocks_desk d = {.s = 0};
    for (int i = 0; i < ROWS; i++) {
        r[i] = sin(1.0 + i);
        for (int j = 0; j < NEW; j++)
            PZ[KEPT + j][i] = sin(2.0 + 3.1 * i * (j + 1));
        for (int j = 0; j < OLD; j++) PZ[j][i] = cos(1.7 * i * (j + 1));
    }
    make_conjugate(OLD, PZ);
    memcpy(old, PZ[0], sizeof old);
    sums[SUM_RR] = product(r, r, 0);
    for (int j = 0; j <= NEW; j++)
        for (int i = 0; i < KEPT + NEW; i++)
            sums[SUM_GRAM + j * (KEPT + NEW) + i] =
                j < NEW ? product(PZ[i], PZ[KEPT + j], 1)
                        : product(PZ[i], r, 0);
    tct_blocks_run(BLOCKS_DECIDE, &B, NEW, sums, c, &d);
    assert_true(c[C_BAD] == 0.0 && c[C_HELD] == 0.0);
    assert_int_equal(B.taken, NEW);
    assert_int_equal(d.sound, 0);
    assert_int_equal(B.s, NEW / 2);
    assert_int_equal(B.n, NEW / 2); /* P gets no longer than blocks do */
    B.s = B.n = KEPT;
    d.next = KEPT;
    d.taken = NEW;
    d.n = OLD;
    blocks_conclude(&B, NEW, &d);
    update(&B, PZ, x);
    assert_int_equal(B.n, KEPT);
    for (int i = 0; i < ROWS; i++) r[i] -= eigenvalue(i) * x[i];
    for (int j = 0; j < KEPT; j++) {
        for (int k = 0; k < KEPT; k++)
            assert_true(fabs(product(PZ[k], PZ[j], 1) - (j == k)) < 1e-10);
        if (j < NEW) assert_true(fabs(product(PZ[j], r, 0)) < 1e-10);
    }
    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(PZ[NEW][i] - old[i]) < 1e-12);
}

static void blocks_are_as_long_as_r_is_orthogonal(void **state)
{
    (void)state;
    const double mo[4] = {1e-15, 1e-15, -1e-15, 1e-3};
    tct_blocks_desk d = {.s = 8, .n = 8, .taken = 8, .sound = 8, .least = 0.1};
    assert_int_equal(tct_blocks_sound(4, mo, 1.0), 3);
    assert_int_equal(tct_blocks_sound(4, mo, 1e20), 4);
    assert_int_equal(tct_blocks_sound(4, mo + 3, 1.0), 0);
    assert_int_equal(tct_blocks_next(&d, 8), 8);
    assert_int_equal(tct_blocks_next(&d, 16), 9);
    d.least = 1e-7;
    assert_int_equal(tct_blocks_next(&d, 16), 6);
    d.sound = 6;
    assert_int_equal(tct_blocks_next(&d, 16), 6);
    d.sound = 0;
    assert_int_equal(tct_blocks_next(&d, 16), 4);
    d.s = d.n = 1;
    assert_int_equal(tct_blocks_next(&d, 16), 1);
    d.s = d.n = d.sound = 8;
    d.taken = 3;
    assert_int_equal(tct_blocks_next(&d, 16), 3);
}

/* Once nothing is to be done, nothing is done, and the device says why. */
static void blocks_wait_for_the_cpu(void **state)
{
    (void)state;
    double sums[TCT_SSTEP_SUMS] = {[SUM_RR] = 4.0}, c[TCT_SCALARS] = {0};
    tct_blocks B = {.most = 8, .s = 3, .limit = 100, .taken = 5, .bound = 1};
    tct_blocks_desk d = {.s = 0};
    B.since = 7;
    B.shrunk =
        TCT_BLOCKS_SHRUNK - 1; /* behind r formed anew: it may be alone */
    assert_false(blocks_are_unfit(&B, 8));
    B.shrunk++;
    tct_blocks_run(BLOCKS_DECIDE, &B, 8, sums, c, &d);
    assert_int_equal(B.since, 12);
    assert_true(c[C_BAD] == BAD_PAUSE && c[C_BAD_VALUE] == PAUSE_SHAPE);
    assert_true(c[C_HELD] == 1.0 && c[C_UPDATES] == 5.0 && c[C_RR] == 4.0);
    sums[SUM_RR] = NAN;
    tct_blocks_run(BLOCKS_DECIDE, &B, 8, sums, c, &d);
    assert_true(c[C_BAD] == BAD_PAUSE && c[C_UPDATES] == 5.0);
    c[C_BAD] = c[C_HELD] = 0.0;
    tct_blocks_run(BLOCKS_DECIDE, &B, 8, sums, c, &d);
    assert_true(c[C_BAD] == BAD_RESIDUAL && B.renew == 0.0);
    c[C_BAD] = c[C_HELD] = 0.0;
    sums[SUM_RR] = 4.0;
    B.limit = 5.0;
    tct_blocks_run(BLOCKS_DECIDE, &B, 8, sums, c, &d);
    assert_true(c[C_BAD] == BAD_PAUSE && c[C_BAD_VALUE] == PAUSE_LIMIT);
}

/* (r, r) is in the Gram matrix, but for one of vectors that were conjugated
 * once more: the first of them is not r then. */
static void the_norm_is_in_the_gram_matrix(void **state)
{
    (void)state;
    double sums[TCT_SSTEP_SUMS] = {[SUM_RR] = 4.0}, c[TCT_SCALARS] = {0};
    tct_blocks B = {.most = 8, .s = 1, .limit = 100, .plain = 1};
    tct_blocks_desk d = {.s = 0};
    sums[SUM_GRAM + 9 + 8] = 9.0; /* column r, row z_0 behind P */
    tct_blocks_run(BLOCKS_DECIDE_AGAIN, &B, 1, sums, c, &d);
    assert_true(c[C_RR] == 4.0);
    c[C_BAD] = c[C_HELD] = 0.0;
    tct_blocks_run(BLOCKS_DECIDE, &B, 1, sums, c, &d);
    assert_true(c[C_RR] == 9.0);
}

/* --- solves --------------------------------------------------------------- */

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

/* [CG89]: good for few steps; for more the recurrence is wrong, which the true
 * residual tells, or W breaks down, and another method goes on. */
static void powers_break_down_and_say_so(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const tacit_result cg =
            result_of("poisson2d:64", false, "cg", NULL, NULL, 1e-6);
        const tacit_result r = result_of("poisson2d:64", false, "sstep",
                                         many[k], "monomial", 1e-6);
        assert_true(!r.rescued_by && r.restarts == 0 && r.replacements == 0);
        assert_in_range(r.iterations, cg.iterations,
                        cg.iterations + 2 * atoi(many[k]));
    }
    const tacit_result wrong =
        result_of("poisson2d:64", false, "sstep", "5", "monomial", 1e-11);
    assert_true(wrong.converged && wrong.restarts > 0);
    static const char *const broken[] = {"8", "16"};
    for (int k = 0; k < 2; k++) {
        const tacit_result r = result_of("poisson2d:64", false, "sstep",
                                         broken[k], "monomial", 1e-12);
        assert_true(r.converged && r.restarts + (r.rescued_by != NULL) > 0);
        assert_true(isfinite(r.relative_residual));
    }
}

/* Another block takes one sum more, of `scalars`. */
static void expect_one_sum(const char *steps, const char *basis, int scalars)
{
    const int s = atoi(steps), first = TCT_SSTEP_OPENING * (basis == NULL);
    int64_t sums[2];
    double bytes[2];
    problem p;
    open_with(&p, "count:host", gallery("poisson2d:100"), "sstep", steps,
              basis);
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
    assert_true(bytes[1] - bytes[0] == 8.0 * scalars);
    close_problem(&p);
}

static void sums_are_one_for_all_steps(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) {
        const int s = atoi(many[k]);
        expect_one_sum(many[k], NULL, TCT_SSTEP_SUMS_OF(s, s));
        if (s < 8) expect_one_sum(many[k], "monomial", SUM_GRAM + 2 * s);
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
        cmocka_unit_test(only_a_sound_prefix_is_taken),
        cmocka_unit_test(directions_are_those_of_gram_and_schmidt),
        cmocka_unit_test(bases_stay_small_on_their_interval),
        cmocka_unit_test(ritz_values_are_eigenvalues_in_the_end),
        cmocka_unit_test(blocks_are_conjugate),
        cmocka_unit_test(blocks_are_as_long_as_r_is_orthogonal),
        cmocka_unit_test(blocks_wait_for_the_cpu),
        cmocka_unit_test(the_norm_is_in_the_gram_matrix),
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
