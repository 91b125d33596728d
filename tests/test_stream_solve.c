/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_stream_solve.c - factors distributed over ranks as
 * preconditioners: M x and iterations of one process, the same bits twice, and
 * an end if a rank fails or is silent.
 *
 * RUN: np=1,2,3,4
 * THREADS: 4
 * PROCESSES: 3 */
#define TEST_DEVICE "host"
#include "device/decorators.h"
#include "gpu.h"
#include "matrix/matrix.h"
#include "problem.h"
#include "silence.h"
#include <tacit/factor.h>

enum { LEAVES = 4, COLUMNS = 3 };

static int rank_of(void)
{
    return tacit_world_rank(test_world());
}
static int size_of(void)
{
    return tacit_world_size(test_world());
}

static tacit_precond_options over_grid(void)
{
    return (tacit_precond_options){.size = sizeof(tacit_precond_options),
                                   .leaves = LEAVES,
                                   .grid = {1, 1}};
}

/* --- M x of one process --------------------------------------------------- */

static void solve_alone(const char *name, tacit_factor_kind kind, size_t n,
                        double *x)
{
    const tacit_factor_options o = {.size = sizeof o,
                                    .kind = kind,
                                    .leaves = LEAVES,
                                    .order = kind == TACIT_FACTOR_IC0 ? "top-nd"
                                                                      : "nd"};
    tacit_world *w = NULL;
    tacit_matrix *m = NULL;
    tacit_factor *F = NULL;
    OK(tacit_world_self(&w));
    OK(tacit_matrix_open(w, name, NULL, &m));
    OK(tacit_factor_create(m, &o, &F));
    OK(tacit_factor_solve(F, 1, x, n, x, n));
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&w);
}

/* The same by M, whose rows are divided, and moved. */
static void it_is_what_one_process_has(void **state)
{
    (void)state;
    static const struct {
        const char *precond, *matrix, *device, *format;
        tacit_factor_kind kind;
    } cases[] = {
        {"ic0", "poisson2d:23x17", "host", "csr", TACIT_FACTOR_IC0},
        {"ic0", "tet3d:6,3", "memcheck:host", "csr@rcm", TACIT_FACTOR_IC0},
        {"direct", "poisson3d:9", "memcheck:host", "csr", TACIT_FACTOR_LLT},
        {"direct", "tet3d:6,3", "host", "csr@rcm", TACIT_FACTOR_LLT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tacit_precond_options o = over_grid();
        tacit_queue *q = open_queue(cases[i].device);
        tacit_matrix *m = gallery_matrix(cases[i].matrix);
        int32_t *part = tct_alloc((size_t)m->A.rows * sizeof *part);
        for (int64_t k = 0; k < m->A.rows; k++)
            part[k] = (int32_t)((m->A.first + k) % size_of());
        if (i % 2) OK(tct_redistribute(m, part));
        tct_free(part);
        tacit_operator *A = operator_of(q, m, cases[i].format), *M = NULL;
        const size_t n = (size_t)m->A.rows, all = (size_t)m->A.global_rows;
        double *x = host_vector(n, 0.0), *whole = host_vector(all, 0.0);
        for (size_t k = 0; k < all; k++) whole[k] = tct_uniform(7, k) - 0.5;
        for (size_t k = 0; k < n; k++)
            x[k] = whole[tct_original(m, (int64_t)k)];
        if (rank_of() == 0)
            solve_alone(cases[i].matrix, cases[i].kind, all, whole);
        OK(tct_bcast(test_world(), 0, all * sizeof *whole, whole));
        OK(tacit_precond_create_of(A, m, cases[i].precond, &o, &M));
        double *got = image_of(M, q, n, x), *again = image_of(M, q, n, x);
        for (size_t k = 0; k < n; k++) {
            const double want = whole[tct_original(m, (int64_t)k)];
            if (!(fabs(got[k] - want) <= 1e-11 * (1.0 + fabs(want))))
                fail_msg("case %d, row %d: %g, not %g", (int)i, (int)k, got[k],
                         want);
            assert_true(got[k] == again[k]);
        }
        free(got);
        free(again);
        free(x);
        free(whole);
        tacit_operator_destroy(&M);
        tacit_operator_destroy(&A);
        tacit_matrix_destroy(&m);
        tacit_queue_destroy(&q);
    }
}

/* --- solves --------------------------------------------------------------- */

typedef struct {
    problem p;
    tacit_operator *M;
} solve;

static void open_solve(solve *s, tacit_world *w, const char *spec,
                       const char *name, const char *precond)
{
    const tacit_precond_options o = over_grid();
    *s = (solve){.p.result.size = sizeof s->p.result};
    problem *p = &s->p;
    OK(tacit_queue_create(w, spec, 1, &p->q));
    OK(tacit_matrix_open(w, name, NULL, &p->m));
    OK(tacit_operator_create(p->q, p->m, "csr", &p->A));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_solver_create(p->q, p->A, "cg", &p->s));
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    OK(tacit_precond_create_of(p->A, p->m, precond, &o, &s->M));
    OK(tacit_solver_set_precond(p->s, s->M));
}

static void close_solve(solve *s)
{
    tacit_solver_destroy(&s->p.s);
    tacit_operator_destroy(&s->M);
    close_problem(&s->p);
}

static void iterations_are_those_of_one_process(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson3d:12", "elasticity3d:5"};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t alone = 0;
        solve s;
        if (rank_of() == 0) {
            tacit_world *w = NULL;
            OK(tacit_world_self(&w));
            open_solve(&s, w, "host", names[i], "ic0");
            OK(tacit_solver_run(s.p.s, s.p.b, s.p.x, &stop, &s.p.result));
            alone = s.p.result.iterations;
            close_solve(&s);
            tacit_world_destroy(&w);
        }
        OK(tct_bcast(test_world(), 0, sizeof alone, &alone));
        open_solve(&s, test_world(), "host", names[i], "ic0");
        OK(tacit_solver_run(s.p.s, s.p.b, s.p.x, &stop, &s.p.result));
        const int64_t off = s.p.result.iterations - alone;
        if (off < -1 || off > 1)
            fail_msg("%s: %d iterations, alone %d", names[i],
                     (int)s.p.result.iterations, (int)alone);
        close_solve(&s);
    }
}

static void columns_go_together_and_new_values_are_taken(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-11};
    tacit_result results[COLUMNS];
    double *B = NULL, *X = NULL;
    solve s;
    open_solve(&s, test_world(), "host", "poisson2d:30", "direct");
    const size_t n = s.p.n;
    OK(tacit_queue_alloc(s.p.q, COLUMNS * n, &B));
    OK(tacit_queue_alloc(s.p.q, COLUMNS * n, &X));
    for (size_t k = 0; k < COLUMNS * n; k++) {
        B[k] = tct_uniform(3 + (uint64_t)rank_of(), k) - 0.5;
        X[k] = 0.0;
    }
    for (int round = 0; round < 2; round++) {
        for (int j = 0; j < COLUMNS; j++)
            results[j] = (tacit_result){.size = sizeof *results};
        OK(tacit_precond_solve(s.p.A, s.M, COLUMNS, B, n, X, n, &stop,
                               results));
        for (int j = 0; j < COLUMNS; j++)
            assert_true(results[j].true_relative_residual <= 1e-11);
        OK(tacit_precond_update(s.M, s.p.m));
        OK(tacit_queue_fill(s.p.q, COLUMNS * n, 0.0, X));
    }
    tacit_queue_free(s.p.q, &B);
    tacit_queue_free(s.p.q, &X);
    close_solve(&s);
}

/* --- a rank that fails, or is silent -------------------------------------- */

static int break_one(void *ctx, int64_t iteration, double residual)
{
    (void)residual;
    tacit_queue *q = ctx;
    if (iteration == 3 && q->rank == q->ranks - 1)
        q_fail(q, TACIT_DEVICE, "it broke");
    return 0;
}

static void a_queue_that_fails_ends_all(void **state)
{
    (void)state;
    solve s;
    open_solve(&s, test_world(), "host", "poisson3d:12", "ic0");
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-12,
                             .monitor = break_one,
                             .monitor_ctx = s.p.q};
    EXPECT(TACIT_DEVICE,
           tacit_solver_run(s.p.s, s.p.b, s.p.x, &stop, &s.p.result));
    OK(tct_agree(test_world(), TACIT_OK)); /* nobody waits elsewhere */
    close_solve(&s);
}

static void who_is_silent_is_named(void **state)
{
    (void)state;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
    if (size_of() < 2) skip();
    for (int k = 30; k < 36; k += 2) { /* sums and exchanges of iterations */
        tacit_world *w = NULL;
        char spec[64];
        solve s;
        OK(tacit_world_split(test_world(), 0, &w));
        snprintf(spec, sizeof spec, "lose(1,%d,100):host", k);
        silence_begin();
        open_solve(&s, w, spec, "poisson3d:12", "ic0");
        s.p.q->peer_seconds = 1.0;
        EXPECT(TACIT_COMM,
               tacit_solver_run(s.p.s, s.p.b, s.p.x, &stop, &s.p.result));
        if (rank_of() != 1 && size_of() == 2 &&
            !strstr(tacit_error_message(), "rank 1 has not answered"))
            fail_msg("'%s'", tacit_error_message());
        assert_true(rank_of() != 1 || silence_is_over());
        close_solve(&s);
        tacit_world_destroy(&w);
        silence_mark();
        silence_end();
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        int grid[3], leaves;
        tacit_status status;
    } rows[] = {
        {{2, 1, 1}, 0, TACIT_UNSUPPORTED}, {{1, 1, 3}, 0, TACIT_INVALID},
        {{1, 1, 64}, 0, TACIT_INVALID},    {{1, 1, -1}, 0, TACIT_INVALID},
        {{0, 1, 1}, 0, TACIT_INVALID},     {{1, 1, 1}, 3, TACIT_INVALID}};
    solve s;
    tacit_operator *M = NULL;
    open_solve(&s, test_world(), "host", "poisson2d:9", "ic0");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tacit_precond_options o = over_grid();
        o.leaves = rows[i].leaves;
        memcpy(o.grid, rows[i].grid, sizeof o.grid);
        EXPECT(rows[i].status,
               tacit_precond_create_of(s.p.A, s.p.m, "ic0", &o, &M));
        assert_null(M);
    }
    close_solve(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_one_process_has),
        cmocka_unit_test(iterations_are_those_of_one_process),
        cmocka_unit_test(columns_go_together_and_new_values_are_taken),
        cmocka_unit_test(a_queue_that_fails_ends_all),
        cmocka_unit_test(who_is_silent_is_named),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    tct_lose_over = silence_is_over;
    TEST_MPI_MAIN(tests);
}
