/* SPDX-License-Identifier: BSD-3-Clause
 * tests/problem.h - the objects of a test of solves; the test opens them. */
#ifndef TESTS_PROBLEM_H
#define TESTS_PROBLEM_H
#include <tacit/tacit.h>

typedef struct {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
    tacit_solver *s;
    size_t n; /* A's local rows */
    double *b, *x, *xstar;
    tacit_result result;
} problem;

/* Any part may be missing. */
static inline void close_problem(problem *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_queue_free(p->q, &p->xstar);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
    tacit_matrix_destroy(&p->m);
}

#endif
