/* SPDX-License-Identifier: BSD-3-Clause
 * tests/amg_problem.h - a problem with a multigrid-preconditioned solver. */
#ifndef TESTS_AMG_PROBLEM_H
#define TESTS_AMG_PROBLEM_H
#include "gpu.h"
#include "precond/amg/amg.h"
#include "problem.h"

typedef struct {
    problem p;
    tacit_operator *M;
} amg;

/* `m` is taken over; b = 1 and x = 0. */
static inline void open_amg_of(amg *a, const char *spec, tacit_matrix *m,
                               const char *format, const char *method,
                               const tacit_precond_options *o)
{
    problem *p = &a->p;
    *a = (amg){.M = NULL};
    p->result.size = sizeof p->result;
    p->m = m;
    p->q = open_queue(spec);
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    OK(tacit_precond_create_of(p->A, p->m, "amg", o, &a->M));
    OK(tacit_solver_set_precond(p->s, a->M));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

static inline void close_amg(amg *a)
{
    if (a->p.s) OK(tacit_solver_set_precond(a->p.s, NULL));
    tacit_operator_destroy(&a->M);
    close_problem(&a->p);
}

/* From 0 to `rtol`; returns iterations. */
static inline int64_t solve_amg(amg *a, double rtol)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = 300};
    OK(tacit_queue_fill(a->p.q, a->p.n, 0.0, a->p.x));
    OK(tacit_solver_run(a->p.s, a->p.b, a->p.x, &stop, &a->p.result));
    assert_true(a->p.result.true_relative_residual <= rtol);
    return a->p.result.iterations;
}

/* Columns of b = 1 at once, each of which takes what one takes alone. */
static inline void expect_columns_alone(amg *a, int columns)
{
    const size_t n = a->p.n, all = n * (size_t)columns;
    const int64_t alone = solve_amg(a, 1e-8);
    double *ones = host_vector(all, 1.0), *X = NULL;
    double *B = device_vector(a->p.q, all, ones);
    tacit_result results[8];
    assert_in_range(columns, 1, 8);
    for (int j = 0; j < columns; j++)
        results[j] = (tacit_result){.size = sizeof *results};
    OK(tacit_queue_alloc(a->p.q, all, &X));
    OK(tacit_queue_fill(a->p.q, all, 0.0, X));
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    OK(tacit_solver_run_block(a->p.s, columns, B, n, X, n, &stop, results));
    for (int j = 0; j < columns; j++)
        assert_int_equal(results[j].iterations, alone);
    tacit_queue_free(a->p.q, &B);
    tacit_queue_free(a->p.q, &X);
    free(ones);
}

/* Levels whose rows are not kept by the ranks that make them. */
static inline int moved_levels(const tacit_operator *M)
{
    const tct_amg *m = (const tct_amg *)(const void *)M;
    int count = 0;
    for (int l = 0; l < m->levels; l++) count += m->level[l].e != NULL;
    return count;
}

/* Levels that have aggregates with rows on several ranks. */
static inline int shared_levels(const tacit_operator *M)
{
    const tct_amg *m = (const tct_amg *)(const void *)M;
    int count = 0;
    for (int l = 0; l < m->levels; l++)
        count += m->level[l].down.remote.forward != NULL;
    return count;
}

#endif
