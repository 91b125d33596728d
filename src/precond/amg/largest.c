/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/largest.c - the largest eigenvalue of D^-1 A from some steps of
 * conjugate gradients, whose coefficients are those of Lanczos's method: the
 * tridiagonal T has 1 / alpha + beta_old / alpha_old on its diagonal and
 * sqrt(beta) / alpha beside it. The right-hand side is of random numbers that
 * depend on the row alone. */
#include "precond/amg/amg.h"
#include <math.h>

enum { STEPS = 12, BISECTIONS = 50 };

typedef struct {
    int count;
    double diagonal[STEPS], beside[STEPS]; /* [k]: between k and k + 1 */
} tridiagonal;

/* Eigenvalues of T above `x`: Sturm's count. */
static int above(const tridiagonal *T, double x)
{
    int count = 0;
    double pivot = 1.0;
    for (int k = 0; k < T->count; k++) {
        const double e = k > 0 ? T->beside[k - 1] : 0.0;
        pivot = T->diagonal[k] - x - (k > 0 ? e * e / pivot : 0.0);
        if (pivot == 0.0) pivot = -1e-300;
        count += pivot > 0.0;
    }
    return count;
}

static double largest_of(const tridiagonal *T)
{
    double low = 0.0, high = 0.0;
    for (int k = 0; k < T->count; k++) {
        const double left = k > 0 ? T->beside[k - 1] : 0.0;
        const double right = k + 1 < T->count ? T->beside[k] : 0.0;
        high = fmax(high, T->diagonal[k] + left + right);
    }
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = 0.5 * (low + high);
        if (above(T, middle) > 0) low = middle;
        else high = middle;
    }
    return high;
}

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

/* r = b at first; the steps end where T is complete or A is not positive. */
static void iterate(const tacit_operator *A, const double *inverse, vectors *v,
                    tridiagonal *T)
{
    tacit_queue *q = A->q;
    const size_t n = (size_t)A->n;
    double alpha = 1.0, beta = 0.0;
    q_pass(q, times, n, (NULL, NULL), (inverse, v->r, v->z), v->c);
    double rz = summed(v); /* (r, D^-1 r) */
    const double least = 1e-24 * rz;
    q_copy(q, n, v->z, v->p);
    while (T->count < STEPS && rz > least) {
        apply_dot(A, q, v->p, v->t, v->c);
        const double pt = summed(v), alpha_old = alpha;
        if (!(pt > 0.0)) break;
        alpha = rz / pt;
        q_axpy(q, n, -alpha, NULL, v->t, v->r);
        q_pass(q, times, n, (NULL, NULL), (inverse, v->r, v->z), v->c);
        const double rz_old = rz, beta_old = beta;
        rz = summed(v);
        beta = rz / rz_old;
        q_aypx(q, n, beta, NULL, v->z, v->p);
        T->diagonal[T->count] = 1.0 / alpha + beta_old / alpha_old;
        T->beside[T->count++] = sqrt(beta) / alpha;
    }
}

tacit_status tct_amg_largest(const tacit_operator *A, const double *inverse,
                             double *out)
{
    vectors v;
    tridiagonal T = {.count = 0};
    tacit_status status = open_vectors(A, &v);
    if (status >= 0) status = put_random(A, v.r);
    status = tct_agree(A->world, status);
    if (status >= 0) {
        iterate(A, inverse, &v, &T);
        status = tct_agree(A->world, q_own_status(A->q));
    }
    close_vectors(&v);
    if (status >= 0) *out = T.count > 0 ? largest_of(&T) : 0.0;
    return status;
}
