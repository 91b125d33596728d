/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_few_sums.c - s-step iterations and multigrid, alone and together:
 * the number of sums, the same bits again, and as many iterations on any ranks.
 *
 * RUN: np=1,2,3,4 */
#include "amg_problem.h"
#include "matrix/matrix.h"

typedef struct {
    const char *matrix, *precond, *method, *steps;
} task;

/* On all of `w`; free it with close_task. */
static tacit_operator *open_task(problem *p, tacit_world *w, const task *t)
{
    tacit_operator *M = NULL;
    memset(p, 0, sizeof *p);
    p->result.size = sizeof p->result;
    OK(tacit_matrix_open(w, t->matrix, NULL, &p->m));
    OK(tacit_queue_create(w, "count:host", 1, &p->q));
    OK(tacit_operator_create(p->q, p->m, "sell@none", &p->A));
    OK(tacit_solver_create(p->q, p->A, t->method, &p->s));
    if (t->steps) OK(tacit_solver_set(p->s, "steps", t->steps));
    if (strcmp(t->precond, "none") != 0)
        OK(tacit_precond_create_of(p->A, p->m, t->precond, NULL, &M));
    OK(tacit_solver_set_precond(p->s, M));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    return M;
}

static void close_task(problem *p, tacit_operator *M)
{
    OK(tacit_solver_set_precond(p->s, NULL));
    tacit_operator_destroy(&M);
    close_problem(p);
}

static tacit_status solve(problem *p, double rtol, int64_t most)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = most};
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    tacit_queue_clear_tally(p->q);
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* --- sums ----------------------------------------------------------------- */

/* Another block of s iterations takes one sum more, whatever M is: the cycle
 * has none, and of its exchanges the last is an all-gather; a level that other
 * ranks keep takes two more, and so does one with aggregates of several
 * ranks. */
static void a_block_with_multigrid_takes_one_sum(void **state)
{
    (void)state;
    static const char *const preconds[] = {"jacobi", "amg"};
    const bool alone = tacit_world_size(test_world()) == 1;
    enum { S = 2, FIRST = 20 };
    for (int i = 0; i < 2; i++) {
        const task t = {"jump3d:14,1e6,1", preconds[i], "sstep", "2"};
        int64_t sums[2], exchanges[2], products[2];
        problem p;
        tacit_operator *M = open_task(&p, test_world(), &t);
        for (int k = 0; k < 2; k++) {
            EXPECT(TACIT_NOT_CONVERGED, solve(&p, 1e-15, FIRST + (1 + k) * S));
            const tacit_tally *tally = tacit_queue_tally(p.q);
            sums[k] = tally->reduce.count;
            exchanges[k] = tally->exchange.count;
            products[k] = tally->spmv.count;
        }
        assert_int_equal(sums[1] - sums[0], 1);
        assert_true(products[1] - products[0] >= S * (i ? 5 : 1));
        const int more = i ? moved_levels(M) + shared_levels(M) : 0;
        assert_int_equal(exchanges[1] - exchanges[0],
                         alone ? 0 : products[1] - products[0] + 2 * S * more);
        close_task(&p, M);
    }
}

/* --- the same again ------------------------------------------------------- */

static void what_is_made_anew_has_the_same_bits(void **state)
{
    (void)state;
    static const task tasks[] = {
        {"jump3d:12,1e3,1", "none", "sstep", "4"},
        {"jump3d:12,1e3,1", "jacobi", "sstep", "16"},
        {"jump3d:12,1e3,1", "amg", "sstep", "8"},
        {"jump3d:12,1e3,1", "amg", "cg", NULL},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        double *x[2];
        for (int k = 0; k < 2; k++) {
            problem p;
            tacit_operator *M = open_task(&p, test_world(), &tasks[i]);
            OK(solve(&p, 1e-10, 0));
            x[k] = host_copy(p.q, p.n, p.x);
            if (k && !same_bits(x[0], x[1], p.n))
                fail_msg("%s with %s", tasks[i].method, tasks[i].precond);
            close_task(&p, M);
        }
        free(x[0]);
        free(x[1]);
    }
}

/* --- ranks ---------------------------------------------------------------- */

static int64_t iterations_on(tacit_world *w, const task *t)
{
    problem p;
    tacit_operator *M = open_task(&p, w, t);
    OK(solve(&p, 1e-8, 0));
    assert_null(p.result.rescued_by);
    const int64_t its = p.result.iterations;
    close_task(&p, M);
    return its;
}

/* 10 %, and one. */
static void ranks_change_iterations_little(void **state)
{
    (void)state;
    static const task tasks[] = {
        {"poisson2d:40", "none", "sstep", "8"},
        {"poisson3d:16", "jacobi", "sstep", "4"},
        {"elasticity3d:6", "amg", "sstep", "4"},
        {"tet3d:12,1", "amg", "cg", NULL},
        {"poisson3d:21", "amg", "cg", NULL},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const task *t = &tasks[i];
        tacit_world *self = NULL;
        OK(tacit_world_self(&self));
        const int64_t one = iterations_on(self, t);
        const int64_t all = iterations_on(test_world(), t);
        if (fabs((double)(all - one)) > 0.1 * (double)one + 1.0)
            fail_msg("%s, %s, %s: %d iterations, %d on one rank", t->matrix,
                     t->precond, t->method, (int)all, (int)one);
        tacit_world_destroy(&self);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_with_multigrid_takes_one_sum),
        cmocka_unit_test(what_is_made_anew_has_the_same_bits),
        cmocka_unit_test(ranks_change_iterations_little),
    };
    TEST_MPI_MAIN(tests);
}
