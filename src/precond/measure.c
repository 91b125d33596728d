/* SPDX-License-Identifier: BSD-3-Clause
 * precond/measure.c - the convergence factor of a preconditioner: e = e - M A e
 * from a random e, and how its norm falls in the end. */
#include "precond/precond.h"
#include <math.h>

/* Applications; the last ones count, after fast components have vanished. */
enum { APPLICATIONS = 15, COUNTED = 5 };

typedef struct {
    const tacit_operator *A, *M;
    double *e, *t, *z, *energy;
} vectors;

static tacit_status allocate(vectors *v)
{
    tacit_queue *q = v->A->q;
    const size_t n = (size_t)v->A->n;
    TRY(tacit_queue_alloc(q, n, &v->e));
    TRY(tacit_queue_alloc(q, n, &v->t));
    TRY(tacit_queue_alloc(q, n, &v->z));
    return tacit_queue_alloc(q, 1, &v->energy);
}

/* Uniform in [-1, 1], different on each rank. */
static tacit_status begin(vectors *v)
{
    const size_t n = (size_t)v->A->n;
    double *host = NULL;
    TRY(TCT_ALLOC(n, "a random vector", &host));
    for (size_t i = 0; i < n; i++)
        host[i] = 2.0 * tct_uniform((uint64_t)v->A->world->rank, i) - 1.0;
    q_put(v->A->q, n, host, v->e);
    tct_free(host);
    return q_own_status(v->A->q);
}

/* (e, A e), and e = e - M A e */
static double step(vectors *v)
{
    tacit_queue *q = v->A->q;
    double energy = NAN;
    apply_dot(v->A, q, v->e, v->t, v->energy);
    q_sum(q, 1, v->energy);
    q_get(q, 1, v->energy, &energy);
    apply(v->M, q, v->t, v->z);
    q_axpy(q, (size_t)v->A->n, -1, NULL, v->z, v->e);
    return energy;
}

static tacit_status measure(vectors *v, double *out)
{
    double before = NAN, after = NAN;
    TRY(tct_agree(v->A->world, allocate(v)));
    TRY(tct_agree(v->A->world, begin(v)));
    for (int k = 0; k <= APPLICATIONS; k++) {
        after = step(v);
        if (k == APPLICATIONS - COUNTED) before = after;
    }
    TRY(tct_agree(v->A->world, q_own_status(v->A->q)));
    *out = before > 0.0 && after >= 0.0 ? pow(after / before, 0.5 / COUNTED)
                                        : 0.0; /* e is 0 */
    return TACIT_OK;
}

tacit_status tacit_precond_measure(const tacit_operator *A,
                                   const tacit_operator *M, double *out)
{
    REQUIRE(A != NULL, M != NULL, out != NULL);
    if (M->n != A->n || M->order != A->order)
        FAIL(TACIT_INVALID,
             "tacit_precond_measure: the preconditioner is not for this "
             "operator");
    q_enter(A->q);
    TRY(tct_precond_follow(M));
    vectors v = {.A = A, .M = M};
    const tacit_status status = measure(&v, out);
    double **const all[] = {&v.e, &v.t, &v.z, &v.energy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(A->q, all[i]);
    return status;
}
