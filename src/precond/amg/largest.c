/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/largest.c - the largest eigenvalue of D^-1 A, from some steps of
 * conjugate gradients with a right-hand side of random numbers. */
#include "precond/amg/there.h"

enum { STEPS = 12 };

typedef struct {
    tacit_queue *q;
    double *r, *z, *p, *t, *c; /* c: a sum */
} vectors;

static tacit_status open_vectors(const tacit_operator *A, vectors *v)
{
    const size_t n = (size_t)A->n;
    double **const all[] = {&v->r, &v->z, &v->p, &v->t};
    *v = (vectors){.q = A->q};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        TRY(tacit_queue_alloc(A->q, n, all[i]));
    return tacit_queue_alloc(A->q, 1, &v->c);
}

static void close_vectors(vectors *v)
{
    double **const all[] = {&v->r, &v->z, &v->p, &v->t, &v->c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(v->q, all[i]);
}

static tacit_status put_random(const tacit_operator *A, double *r)
{
    double *host = NULL;
    if (tct_amg_there_random(A->q, (size_t)A->n, r)) return TACIT_OK;
    TRY(TCT_ALLOC(A->n, "random numbers", &host));
    for (int64_t i = 0; i < A->n; i++)
        host[i] = tct_uniform((uint64_t)i, (uint64_t)A->q->rank) - 0.5;
    q_put(A->q, (size_t)A->n, host, r);
    tct_free(host);
    return q_own_status(A->q);
}

/* The sum over ranks of what is in v->c, for the host. */
static double summed(const vectors *v)
{
    double sum = 0.0;
    q_sum(v->q, 1, v->c);
    q_get(v->q, 1, v->c, &sum);
    return sum;
}

/* r = b at first; the steps end where there is nothing left of it, or A is not
 * positive. How many there are. */
static int iterate(const tacit_operator *A, const double *inverse, vectors *v,
                   double *alpha, double *beta)
{
    tacit_queue *q = A->q;
    const size_t n = (size_t)A->n;
    int k = 0;
    q_pass(q, times, n, (NULL, NULL), (inverse, v->r, v->z), v->c);
    double rz = summed(v); /* (r, D^-1 r) */
    const double least = 1e-24 * rz;
    q_copy(q, n, v->z, v->p);
    for (; k < STEPS && rz > least; k++) {
        apply_dot(A, q, v->p, v->t, v->c);
        const double pt = summed(v), rz_old = rz;
        if (!(pt > 0.0)) break;
        alpha[k] = rz / pt;
        q_axpy(q, n, -alpha[k], NULL, v->t, v->r);
        q_pass(q, times, n, (NULL, NULL), (inverse, v->r, v->z), v->c);
        rz = summed(v);
        beta[k] = rz / rz_old;
        q_aypx(q, n, beta[k], NULL, v->z, v->p);
    }
    return k;
}

tacit_status tct_amg_largest(const tacit_operator *A, const double *inverse,
                             double *out)
{
    vectors v;
    double alpha[STEPS], beta[STEPS];
    int steps = 0;
    tacit_status status = open_vectors(A, &v);
    if (status >= 0) status = put_random(A, v.r);
    status = tct_agree(A->world, status);
    if (status >= 0) {
        steps = iterate(A, inverse, &v, alpha, beta);
        status = tct_agree(A->world, q_own_status(A->q));
    }
    close_vectors(&v);
    if (status >= 0) *out = tct_ritz_largest(steps, alpha, beta);
    return status;
}
