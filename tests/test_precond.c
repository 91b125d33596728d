/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_precond.c - every method with every preconditioner, and with a
 * user's.
 *
 * RUN: np=1,2,3
 * THREADS: 3 */
#include "gpu.h"
#include "problem.h"

static void open_problem(problem *p, const char *spec, const char *matrix,
                         const char *format, const char *method)
{
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    OK(tacit_queue_create(test_world(), spec, 1, &p->q));
    p->m = gallery_matrix(matrix);
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_operator_manufacture(p->A, p->m, 5, p->x, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

static tacit_status solve(problem *p, double rtol)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = 20000};
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* --- jacobi --------------------------------------------------------------- */

static void every_method_takes_every_preconditioner(void **state)
{
    (void)state;
    static const char *const matrices[] = {"jump3d:10,1e4,1", "tet3d:7,3",
                                           "elasticity3d:5"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; tacit_precond_at(k); k++) {
            int64_t first = 0;
            if (tacit_precond_at(k)->reason) continue;
            for (int j = 0; tacit_method_at(j); j++) {
                problem p;
                open_problem(&p, "host", matrices[i], NULL,
                             tacit_method_at(j)->name);
                tacit_operator *M = NULL;
                OK(tacit_precond_create_of(p.A, p.m, tacit_precond_at(k)->name,
                                           NULL, &M));
                OK(tacit_solver_set_precond(p.s, M));
                OK(solve(&p, 1e-9));
                assert_true(p.result.true_relative_residual <= 1e-9);
                if (j == 0) first = p.result.iterations;
                /* where another method goes on it begins anew; what looks
                 * once in a block may end a block later */
                const double more = p.result.rescued_by ? 2.0 : 1.15;
                const double slack = tacit_method_at(j)->steps ? 8 : 3;
                if (!((double)p.result.iterations <=
                      more * (double)first + slack))
                    fail_msg("%s, %s, %s: %d iterations, %d by %s", matrices[i],
                             tacit_precond_at(k)->name,
                             tacit_method_at(j)->name, (int)p.result.iterations,
                             (int)first, tacit_method_at(0)->name);
                OK(tacit_solver_set_precond(p.s, NULL));
                tacit_operator_destroy(&M);
                close_problem(&p);
            }
        }
}

/* Rows of sizes from 1 to 1e6: what jacobi is for. */
static void jacobi_saves_iterations(void **state)
{
    (void)state;
    int64_t iterations[2];
    for (int k = 0; k < 2; k++) {
        problem p;
        open_problem(&p, "host", "jump3d:10,1e6,1", NULL, "cg");
        OK(tacit_solver_set(p.s, "precond", k ? "jacobi" : "none"));
        OK(solve(&p, 1e-8));
        iterations[k] = p.result.iterations;
        close_problem(&p);
    }
    assert_true(3 * iterations[1] < 2 * iterations[0]);
}

static void orders_and_decorators_change_no_count(void **state)
{
    (void)state;
    static const char *const specs[] = {"host", "memcheck:host",
                                        "chaos(4):host"};
    static const char *const formats[] = {"sell@none", "sell@rcm", "csr@rcm"};
    for (int j = 0; tacit_method_at(j); j++) {
        int64_t first = 0;
        for (int i = 0; i < 3; i++) {
            problem p;
            open_problem(&p, specs[i], "tet3d:6,3", formats[i],
                         tacit_method_at(j)->name);
            OK(tacit_solver_set(p.s, "precond", "jacobi"));
            OK(solve(&p, 1e-9));
            if (i == 0) first = p.result.iterations;
            assert_true(llabs(p.result.iterations - first) <= 1);
            close_problem(&p);
        }
    }
}

/* An iteration with M: the products of one without, and one scalar more; two
 * methods sum (r, M r), or its like, without M, too. */
static void costs_are_as_stated(void **state)
{
    (void)state;
    for (int j = 0; tacit_method_at(j); j++) {
        const tacit_method *about = tacit_method_at(j);
        double per[2][3];
        if (about->first) continue; /* two methods in one run */
        for (int i = 0; i < 2; i++) {
            problem p;
            open_problem(&p, "count:host", "poisson3d:9", "csr", about->name);
            OK(tacit_solver_set(p.s, "precond", "jacobi"));
            for (int k = 0; k < 2; k++) { /* 10 and 25 iterations */
                const tacit_stop stop = {.size = sizeof stop,
                                         .max_iterations = k ? 25 : 10};
                OK(tacit_queue_fill(p.q, p.n, 0.0, p.x));
                tacit_queue_clear_tally(p.q);
                EXPECT(TACIT_NOT_CONVERGED,
                       tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
                const tacit_tally *t = tacit_queue_tally(p.q);
                const double now[3] = {(double)t->spmv.count,
                                       (double)t->reduce.count,
                                       t->reduce.bytes / 8};
                for (int v = 0; v < 3; v++)
                    per[i][v] = k ? (now[v] - per[i][v]) / 15 : now[v];
            }
            close_problem(&p);
        }
        assert_true(per[0][0] == about->products);
        assert_true(per[0][1] == about->reductions);
        const int more = strcmp(about->name, "flexible") != 0 &&
                         strcmp(about->name, "minres") != 0;
        assert_true(per[0][2] == about->scalars + more);
    }
}

/* --- of the user's -------------------------------------------------------- */

typedef struct {
    tacit_queue *q;
    size_t n;
    double *d, sign;
    int calls, change;
} users;

/* y = c x / d, where c changes from row to row and from call to call. */
static tacit_status apply_users(void *ctx, tacit_queue *q, const double *x,
                                double *y)
{
    users *u = ctx;
    (void)q;
    for (size_t i = 0; i < u->n; i++) {
        const double c = u->change && (u->calls + (int)i) % 3 == 0 ? 0.8 : 1.0;
        y[i] = u->sign * c * x[i] / u->d[i];
    }
    u->calls++;
    return TACIT_OK;
}

static tacit_operator *operator_of_user(users *u, problem *p, double sign,
                                        int change)
{
    tacit_operator *M = NULL;
    *u = (users){.q = p->q, .n = p->n, .sign = sign, .change = change};
    const tacit_operator_function f = {
        .size = sizeof f, .apply = apply_users, .ctx = u, .norm = 1.0};
    u->d = host_vector(p->n, 1.0);
    double *d = NULL;
    OK(tacit_queue_alloc(p->q, p->n, &d));
    OK(tct_operator_diagonal(p->A, d));
    OK(tacit_queue_get(p->q, p->n, d, u->d));
    tacit_queue_free(p->q, &d);
    OK(tacit_operator_from_function(p->q, (int64_t)p->n, &f, &M));
    return M;
}

static int64_t iterations_with(const char *method, int change)
{
    problem p;
    users u;
    open_problem(&p, "host", "jump3d:9,1e3,1", "csr@none", method);
    tacit_operator *M = operator_of_user(&u, &p, 1.0, change);
    OK(tacit_solver_set_precond(p.s, M));
    OK(solve(&p, 1e-9));
    assert_true(u.calls > 5);
    assert_true(p.result.true_relative_residual <= 1e-9);
    OK(tacit_solver_set_precond(p.s, NULL));
    const int64_t iterations = p.result.iterations;
    tacit_operator_destroy(&M);
    close_problem(&p);
    free(u.d);
    return iterations;
}

static void flexible_bears_a_preconditioner_that_changes(void **state)
{
    (void)state;
    const int64_t still = iterations_with("flexible", 0);
    const int64_t changes = iterations_with("flexible", 1);
    assert_true(changes > still && changes <= 3 * still);
    assert_true(changes < iterations_with("cg", 1));
}

static void what_is_not_positive_is_named(void **state)
{
    (void)state;
    for (int j = 0; tacit_method_at(j); j++) {
        problem p;
        users u;
        open_problem(&p, "host", "poisson3d:6", "csr@none",
                     tacit_method_at(j)->name);
        tacit_operator *M = operator_of_user(&u, &p, -1.0, 0);
        OK(tacit_solver_set_precond(p.s, M));
        EXPECT(TACIT_BREAKDOWN, solve(&p, 1e-9));
        assert_string_equal(p.result.breakdown_quantity, "r'Mr");
        assert_non_null(strstr(tacit_error_message(),
                               "the preconditioner is not positive definite"));
        OK(tacit_solver_set_precond(p.s, NULL));
        tacit_operator_destroy(&M);
        close_problem(&p);
        free(u.d);
    }
}

/* --- refused -------------------------------------------------------------- */

static void bad_ones_are_refused(void **state)
{
    (void)state;
    problem p;
    tacit_operator *M = NULL;
    open_problem(&p, "host", "poisson3d:6", "sell@rcm", "cg");
    EXPECT(TACIT_INVALID, tacit_solver_set(p.s, "precond", "jakobi"));
    assert_non_null(strstr(tacit_error_message(), "did you mean 'jacobi'"));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set(p.s, "precond", "amg"));
    /* in the order of the matrix, for an operator that has another one */
    users u = {.q = p.q, .n = p.n, .d = host_vector(p.n, 1.0), .sign = 1.0};
    tacit_operator_function f = {
        .size = sizeof f, .apply = apply_users, .ctx = &u, .norm = 1.0};
    OK(tacit_operator_from_function(p.q, (int64_t)p.n, &f, &M));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_precond(p.s, M));
    EXPECT(TACIT_UNSUPPORTED, tacit_precond_create(M, "jacobi", &M));
    tacit_operator_destroy(&M);
    /* ... and the other way round */
    tacit_solver *s = NULL;
    OK(tacit_operator_create(p.q, p.m, "sell@none", &M));
    OK(tacit_solver_create(p.q, M, "cg", &s));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_precond(s, p.A));
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&M);
    OK(tacit_operator_from_function(p.q, (int64_t)p.n + 1, &f, &M));
    EXPECT(TACIT_INVALID, tacit_solver_set_precond(p.s, M));
    tacit_operator_destroy(&M);
    close_problem(&p);
    free(u.d);
}

static void find_memory(void *ctx, int level, const char *text)
{
    int *said = ctx;
    *said += level == 1 && strstr(text, "preconditioner amg: about") != NULL &&
             strstr(text, "MiB to set it up") != NULL;
}

/* Of what takes memory for entries; rank 0 says it. */
static void memory_is_foreseen(void **state)
{
    (void)state;
    problem p;
    int said = 0;
    tacit_operator *M = NULL;
    open_problem(&p, "host", "poisson3d:6", "sell@none", "cg");
    if (!test_shares_allocations(__func__)) {
        tacit_set_log(find_memory, &said);
        OK(tacit_precond_create_of(p.A, p.m, "jacobi", NULL, &M));
        tacit_operator_destroy(&M);
        assert_int_equal(said, 0);
        OK(tacit_precond_create_of(p.A, p.m, "amg", NULL, &M));
        tacit_set_log(NULL, NULL);
        assert_int_equal(said, tacit_world_rank(test_world()) == 0);
    }
    tacit_operator_destroy(&M);
    close_problem(&p);
}

static void a_zero_on_the_diagonal_is_refused(void **state)
{
    (void)state;
    const int rank = tacit_world_rank(test_world());
    const int64_t ptr[] = {0, 1, 2}, first = 2 * rank,
                  col[] = {first + (rank == 0), first + (rank != 0)};
    const double val[] = {1.0, 1.0};
    tacit_matrix *m = NULL;
    tacit_operator *A = NULL, *M = NULL;
    tacit_queue *q = open_queue("host");
    OK(tacit_matrix_from_rows(test_world(), 2 * tacit_world_size(test_world()),
                              first, 2, ptr, col, val, &m));
    OK(tacit_operator_create(q, m, "csr", &A));
    EXPECT(TACIT_INPUT, tacit_precond_create(A, "jacobi", &M));
    assert_non_null(strstr(tacit_error_message(), "diagonal"));
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_takes_every_preconditioner),
        cmocka_unit_test(jacobi_saves_iterations),
        cmocka_unit_test(orders_and_decorators_change_no_count),
        cmocka_unit_test(costs_are_as_stated),
        cmocka_unit_test(flexible_bears_a_preconditioner_that_changes),
        cmocka_unit_test(what_is_not_positive_is_named),
        cmocka_unit_test(bad_ones_are_refused),
        cmocka_unit_test(memory_is_foreseen),
        cmocka_unit_test(a_zero_on_the_diagonal_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
