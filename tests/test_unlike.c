/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_unlike.c - right-hand sides of very different size in one block:
 * each ends as it does alone, whichever leave the block before it, with every
 * method and preconditioner.
 *
 * RUN: np=1,3
 * THREADS: 3
 * LIMIT: 500 */
#include "gpu.h"
#include "matrix/matrix.h"
#include "solver/columns/lockstep.h"

enum { MOST = 12 };

/* Columns of B and first guesses, and what a block and single solves make of
 * them. */
typedef struct {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A, *M;
    tacit_solver *s;
    size_t n;
    double factor;     /* that the matrix was multiplied by */
    double *B, *guess; /* [MOST n], on the host      */
    double *X[2];      /* of the block; of each alone */
    tacit_result result[2][MOST];
    tacit_status status[2];
} unlike;

static void open_solver(unlike *p, const char *method)
{
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    OK(tacit_solver_set_precond(p->s, p->M));
}

/* `m` times `factor`. */
static void open_unlike(unlike *p, tacit_matrix *m, double factor,
                        const char *method, const char *precond)
{
    *p = (unlike){.q = open_queue("host"), .m = m, .factor = factor};
    for (int64_t e = 0; e < m->A.ptr[m->A.rows]; e++) m->A.val[e] *= factor;
    OK(tacit_operator_create(p->q, m, "csr@none", &p->A));
    OK(tacit_precond_create_of(p->A, m, precond, NULL, &p->M));
    open_solver(p, method);
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->B = host_vector(MOST * p->n, 0.0);
    p->guess = host_vector(MOST * p->n, 0.0);
}

/* Products by `m`, its values rounded to floats, where the host has none of its
 * own. */
static void add_low_precision(unlike *p, tacit_matrix *m, const char *method)
{
    for (int64_t e = 0; e < m->A.ptr[m->A.rows]; e++)
        m->A.val[e] = (double)(float)m->A.val[e];
    OK(tacit_operator_create(p->q, m, "csr@none", &p->A->low));
    OK(tct_operator_columns(p->A->low, MOST));
    p->A->low->bits = 32;
    tacit_matrix_destroy(&m);
    tacit_solver_destroy(&p->s);
    open_solver(p, method);
}

static void close_unlike(unlike *p)
{
    tacit_operator *low = p->A->low;
    p->A->low = NULL;
    tacit_operator_destroy(&low);
    free(p->B);
    free(p->guess);
    for (int i = 0; i < 2; i++) free(p->X[i]);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->M);
    tacit_operator_destroy(&p->A);
    tacit_matrix_destroy(&p->m);
    tacit_queue_destroy(&p->q);
}

/* B, or the first guesses, by a formula. */
static void fill(const unlike *p, double *panel,
                 double (*value)(int j, uint64_t row))
{
    const uint64_t first = (uint64_t)tacit_matrix_first_row(p->m);
    for (int j = 0; j < MOST; j++)
        for (size_t i = 0; i < p->n; i++)
            panel[(size_t)j * p->n + i] = value(j, first + i);
}

/* In step whatever a trial would say: places are there before. */
static void go_in_step(unlike *p)
{
    if (p->s->system.method->blocks) return;
    OK(tct_lockstep_create(p->s, MOST, &p->s->lockstep));
    OK(tct_operator_columns(p->A, MOST));
    if (p->M) OK(tct_operator_columns(p->M, MOST));
}

/* The block, or all columns alone; the worst status of them. */
static void solve(unlike *p, bool alone, const tacit_stop *stop)
{
    const size_t all = MOST * p->n;
    const int each = alone ? 1 : MOST;
    tacit_result *r = p->result[alone];
    double *B = device_vector(p->q, all, p->B);
    double *X = device_vector(p->q, all, p->guess);
    p->status[alone] = TACIT_OK;
    for (int j = 0; j < MOST; j++) r[j] = (tacit_result){.size = sizeof *r};
    if (!alone) go_in_step(p);
    for (int j = 0; j < MOST; j += each) {
        const size_t at = (size_t)j * p->n;
        const tacit_status status = tacit_solver_run_block(
            p->s, each, B + at, p->n, X + at, p->n, stop, r + j);
        assert_true(status >= 0);
        if (status > p->status[alone]) p->status[alone] = status;
    }
    free(p->X[alone]);
    p->X[alone] = host_copy(p->q, all, X);
    tacit_queue_free(p->q, &B);
    tacit_queue_free(p->q, &X);
}

/* --- from outside --------------------------------------------------------- */

/* The whole of a vector of which each rank has its rows, times 2^by. */
static double *whole(const unlike *p, const double *x, int by)
{
    const size_t n = (size_t)tacit_matrix_global_rows(p->m);
    double *all = host_vector(n, 0.0);
    for (size_t i = 0; i < p->n; i++)
        all[(size_t)tacit_matrix_first_row(p->m) + i] = ldexp(x[i], by);
    OK(tacit_world_reduce(test_world(), TACIT_SUM, n, all));
    return all;
}

/* Exponent of the largest entry of column j of B. */
static int size_of(const unlike *p, int j)
{
    double most = 0.0;
    int exponent = 0;
    for (size_t i = 0; i < p->n; i++)
        most = fmax(most, fabs(p->B[(size_t)j * p->n + i]));
    OK(tacit_world_reduce(test_world(), TACIT_MAX, 1, &most));
    (void)frexp(most, &exponent);
    return exponent;
}

/* ||b - A x|| / ||b||, by the rows that the matrix shows. */
static double residual(const unlike *p, int j, const double *x)
{
    tacit_rows rows;
    const int by = -size_of(p, j);
    double *all = whole(p, x, by), sums[2] = {0.0, 0.0};
    OK(tacit_matrix_view_rows(p->m, &rows));
    for (int64_t i = 0; i < rows.count; i++) {
        const double b = ldexp(p->B[(size_t)j * p->n + (size_t)i], by);
        double r = b;
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++)
            r -= rows.vals[k] *
                 all[rows.cols32 ? (int64_t)rows.cols32[k] : rows.cols64[k]];
        sums[0] += r * r;
        sums[1] += b * b;
    }
    free(all);
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 2, sums));
    return sums[1] > 0.0 ? sqrt(sums[0] / sums[1]) : sqrt(sums[0]);
}

/* --- what is right -------------------------------------------------------- */

/* The result of a column is true. */
static void check_honest(const unlike *p, int alone, int j, double rtol,
                         const char *what)
{
    const tacit_result *r = &p->result[alone][j];
    const double is = residual(p, j, p->X[alone] + (size_t)j * p->n);
    if (r->norm_b == 0.0 || r->stop == TACIT_STOP_BREAKDOWN) return;
    if (!(fabs(r->true_relative_residual - is) <= 1e-6 * is + 1e-13))
        fail_msg("%s, column %d: %.3g is told, %.3g is true", what, j + 1,
                 r->true_relative_residual, is);
    if (r->converged && !(is <= 1.000001 * rtol))
        fail_msg("%s, column %d: converged, and %.3g is left", what, j + 1, is);
}

static void check_same(const unlike *p, int j, const char *what)
{
    const tacit_result *together = &p->result[0][j], *one = &p->result[1][j];
    const int64_t more = llabs(together->iterations - one->iterations);
    if (together->stop != one->stop || together->converged != one->converged ||
        !(fabs(together->norm_b - one->norm_b) <= 1e-14 * one->norm_b) ||
        together->breakdown_iteration != one->breakdown_iteration ||
        more > 1 + one->iterations / 8)
        fail_msg("%s, column %d of size 2^%d: stop %d after %lld iterations, "
                 "left %.3g; alone %d after %lld, left %.3g",
                 what, j + 1, size_of(p, j), (int)together->stop,
                 (long long)together->iterations,
                 together->true_relative_residual, (int)one->stop,
                 (long long)one->iterations, one->true_relative_residual);
    const int by = -size_of(p, j);
    double *x = whole(p, p->X[0] + (size_t)j * p->n, by),
           *y = whole(p, p->X[1] + (size_t)j * p->n, by);
    const size_t n = (size_t)tacit_matrix_global_rows(p->m);
    if (one->converged && !(distance_of(n, x, y) <= 1e-6 * norm_of(n, y)))
        fail_msg("%s, column %d: x is another than alone", what, j + 1);
    free(x);
    free(y);
}

static void check(unlike *p, const tacit_stop *stop, const char *method)
{
    char what[64];
    snprintf(what, sizeof what, "%s, %s", method,
             p->M ? p->M->ops->name : "none");
    solve(p, false, stop);
    solve(p, true, stop);
    for (int j = 0; j < MOST; j++) {
        check_same(p, j, what);
        for (int alone = 0; alone < 2; alone++)
            check_honest(p, alone, j, stop->rtol, what);
    }
    if (p->status[0] != p->status[1])
        fail_msg("%s: status %d, alone %d", what, (int)p->status[0],
                 (int)p->status[1]);
}

static const char *const preconds[] = {"none", "jacobi", "amg", "ic0",
                                       "direct"};
enum { PRECONDS = sizeof preconds / sizeof *preconds };

/* --- columns -------------------------------------------------------------- */

static double size_in(int round, int j)
{
    static const double sizes[][MOST] = {{1e100, 1.0, 1e-100, 1e155, 1.0,
                                          1e-155, 1e270, 1.0, 1e-270, 1e61,
                                          1e-61, 1e10},
                                         {1.0, 1e-250, 1.0, 0.0, 1e250, 1e-90,
                                          1.0, 1e90, 0.0, 1e-200, 1.0, 1e200}};
    return sizes[round][j];
}

/* Smooth ones, rough ones and points. */
static double shape(int j, uint64_t row)
{
    const double rough = 2.0 * tct_uniform((uint64_t)j + 5, row) - 1.0;
    return j % 3 == 0 ? 1.0 + 0.01 * rough : j % 3 == 1 ? rough : row == 7;
}

static double first_round(int j, uint64_t row)
{
    return size_in(0, j) * shape(j, row);
}

static double second_round(int j, uint64_t row)
{
    return size_in(1, j) * shape(j, row);
}

static double guess(int j, uint64_t row)
{
    return j % 2 ? size_in(1, j) * shape(j + 1, row) : 0.0;
}

/* With first guesses that are 0, and with others; until the tolerance, and with
 * fewer iterations than some of them take. */
static void check_rounds(unlike *p, const char *what)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    const tacit_stop few = {
        .size = sizeof few, .rtol = 1e-9, .max_iterations = 9};
    fill(p, p->B, first_round);
    check(p, &stop, what);
    check(p, &few, what);
    fill(p, p->B, second_round);
    fill(p, p->guess, guess);
    for (size_t i = 0; i < MOST * p->n; i++) p->guess[i] /= p->factor;
    check(p, &stop, what);
    check(p, &few, what);
}

/* --- tests ---------------------------------------------------------------- */

static void columns_end_as_they_do_alone(void **state)
{
    (void)state;
    for (int i = 0; tacit_method_at(i); i++)
        for (int k = 0; k < PRECONDS; k++) {
            unlike p;
            open_unlike(&p, gallery_matrix("jump3d:6,1e2,1"), 1.0,
                        tacit_method_at(i)->name, preconds[k]);
            check_rounds(&p, tacit_method_at(i)->name);
            close_unlike(&p);
        }
}

/* The operator is stored times a power of two, and so are the columns. */
static void of_a_matrix_that_is_far_from_1(void **state)
{
    (void)state;
    static const double factors[] = {0x1p100, 0x1p-100};
    for (int i = 0; tacit_method_at(i); i++)
        for (int k = 0; k < 2 * PRECONDS; k++) {
            unlike p;
            open_unlike(&p, gallery_matrix("poisson2d:9"), factors[k % 2],
                        tacit_method_at(i)->name, preconds[k / 2]);
            check_rounds(&p, tacit_method_at(i)->name);
            close_unlike(&p);
        }
}

static void in_low_precision(void **state)
{
    (void)state;
    for (int i = 0; tacit_method_at(i); i++)
        for (int k = 0; k < PRECONDS; k++) {
            unlike p;
            const char *const method = tacit_method_at(i)->name;
            if (tacit_method_at(i)->indefinite) continue; /* refuses it */
            open_unlike(&p, gallery_matrix("jump3d:6,1e2,1"), 1.0, method,
                        preconds[k]);
            add_low_precision(&p, gallery_matrix("jump3d:6,1e2,1"), method);
            check_rounds(&p, method);
            assert_true(p.result[0][2].bits == 32 || p.result[0][2].fell_back);
            close_unlike(&p);
        }
}

static int looks_behind(tacit_queue *q, size_t n)
{
    (void)q;
    (void)n;
    return 7;
}

/* As on a device that is behind the CPU: who has ended holds still for a
 * while. */
static void looks_come_late(void **state)
{
    (void)state;
    tct_device_ops behind = tct_device_host;
    behind.lag = looks_behind;
    for (int i = 0; tacit_method_at(i); i++)
        for (int k = 0; k < 3; k++) {
            unlike p;
            open_unlike(&p, gallery_matrix("jump3d:6,1e2,1"), 1.0,
                        tacit_method_at(i)->name, preconds[k]);
            p.q->device = &behind;
            check_rounds(&p, tacit_method_at(i)->name);
            p.q->device = &tct_device_host;
            close_unlike(&p);
        }
}

enum { ROWS = 60 };

/* The last entry is negative. */
static tacit_matrix *indefinite(void)
{
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    const int64_t first = ROWS * rank / size;
    const int64_t rows = ROWS * (rank + 1) / size - first;
    int64_t ptr[ROWS + 1], cols[ROWS + 1];
    double vals[ROWS + 1];
    for (int64_t i = 0; i <= rows; i++) {
        ptr[i] = i;
        cols[i] = first + i;
        vals[i] = cols[i] == ROWS - 1 ? -5.0 : 1.0 + (double)(cols[i] % 13);
    }
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), ROWS, first, rows, ptr, cols, vals,
                              &m));
    return m;
}

/* Good ones, which take 1 to 13 iterations or have none to do; every fourth is
 * but for its last row 0, and breaks down. */
static double good_or_bad(int j, uint64_t row)
{
    if (j % 4 == 2) return row == ROWS - 1 ? size_in(0, j) : 0.0;
    return row % 13 <= (uint64_t)j && row < ROWS - 1 ? size_in(0, j) : 0.0;
}

static double solved(int j, uint64_t row)
{
    return j % 4 == 1 ? good_or_bad(j, row) / (1.0 + (double)(row % 13)) : 0.0;
}

static void columns_break_down_or_have_nothing_to_do(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    for (int i = 0; tacit_method_at(i); i++) {
        unlike p;
        open_unlike(&p, indefinite(), 1.0, tacit_method_at(i)->name, "none");
        fill(&p, p.B, good_or_bad);
        fill(&p, p.guess, solved);
        check(&p, &stop, tacit_method_at(i)->name);
        for (int j = 0; j < MOST; j++) {
            const tacit_result *r = &p.result[0][j];
            const bool bad = j % 4 == 2 && !tacit_method_at(i)->indefinite;
            assert_int_equal(r->stop,
                             bad ? TACIT_STOP_BREAKDOWN : TACIT_STOP_RTOL);
            assert_true(j % 4 != 1 || r->iterations == 0);
        }
        close_unlike(&p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_end_as_they_do_alone),
        cmocka_unit_test(of_a_matrix_that_is_far_from_1),
        cmocka_unit_test(in_low_precision),
        cmocka_unit_test(looks_come_late),
        cmocka_unit_test(columns_break_down_or_have_nothing_to_do),
    };
    TEST_MPI_MAIN(tests);
}
