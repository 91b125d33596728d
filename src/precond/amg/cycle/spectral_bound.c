/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/spectral_bound.c - some steps of conjugate gradients with a
 * right-hand side of random numbers, and D^-1 or the levels from one on as
 * preconditioner M: they know the largest eigenvalue of M A, and how much
 * nearer they have come. */
#include "device/parallel.h"
#include "precond/amg/device/device_setup.h"
#include <math.h>

enum { STEPS = 12, STEPS_OF_LEVELS = 6 };

typedef struct {
    const tacit_operator *A;
    const double *inverse; /* M is D^-1 [n], */
    double trace;          /* ... of all ranks */
    const tct_amg *M;      /* ... or the cycle from L on, */
    const tct_amg_level *L;
    int most, steps;
    double alpha[STEPS], beta[STEPS];
    bool indefinite; /* a step has shown it */
    double nearer;   /* how much of (e, A e) is gone */
} run;

typedef struct {
    tacit_queue *q;
    double *r, *z, *p, *t;
    double *c;    /* scalars: (r, z) stands where cg has (r, r) */
    double *kept; /* ... as each step has left them             */
} vectors;

static tacit_status open_vectors(const tacit_operator *A, vectors *v)
{
    const size_t n = (size_t)A->n;
    double **const all[] = {&v->r, &v->z, &v->p, &v->t};
    *v = (vectors){.q = A->q};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        TRY(tacit_queue_alloc(A->q, n, all[i]));
    TRY(tacit_queue_alloc(A->q, (1 + STEPS) * TCT_SCALARS, &v->c));
    v->kept = v->c + TCT_SCALARS;
    q_fill(A->q, TCT_SCALARS, 0.0, v->c);
    return TACIT_OK;
}

static void close_vectors(vectors *v)
{
    double **const all[] = {&v->r, &v->z, &v->p, &v->t, &v->c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(v->q, all[i]);
}

/* Of row `i`. Those of a level are the same for any number of ranks, since
 * little may decide which factor is taken. */
static double random_of(const run *s, int64_t i)
{
    const tct_amg_level *L = s->L;
    if (!L) return tct_uniform((uint64_t)i, (uint64_t)s->A->q->rank) - 0.5;
    return tct_uniform((uint64_t)(L->index ? L->index[i] : L->first + i), 0) -
           0.5;
}

typedef struct {
    const run *s;
    double *out; /* D, if M is its inverse */
} random_numbers;

static void make_random(void *work, int64_t from, int64_t to)
{
    const random_numbers *x = work;
    const run *s = x->s;
    for (int64_t i = from; i < to; i++)
        x->out[i] =
            random_of(s, i) / (s->inverse ? sqrt(x->out[i] / s->trace) : 1.0);
}

/* Times D^1/2, but for a factor that takes out A's scale: so D^-1/2 A D^-1/2
 * begins with what is as large everywhere, however far apart parts of D are. */
static tacit_status put_random(const run *s, double *r)
{
    const tacit_operator *A = s->A;
    const size_t n = (size_t)A->n;
    const bool here = s->L && A->q->ranks > 1;
    double *host = NULL;
    if (!here && tct_amg_device_random(A->q, n, s->inverse, s->trace, r))
        return TACIT_OK;
    TRY(TCT_ALLOC(A->n, "random numbers", &host));
    if (s->inverse) q_get(A->q, n, s->inverse, host);
    tct_parallel(A->n, TCT_SHORT, make_random, &(random_numbers){s, host});
    q_put(A->q, n, host, r);
    tct_free(host);
    return q_own_status(A->q);
}

static void find_trace(run *s, const vectors *v)
{
    const size_t n = (size_t)s->A->n;
    double *const sum = &v->c[C_RR];
    q_fill(v->q, n, 1.0, v->t);
    q_dot(v->q, n, s->inverse, v->t, sum);
    q_sum(v->q, 1, sum);
    q_get(v->q, 1, sum, &s->trace);
}

/* z = M r; (r, z) of all ranks */
static void precondition(const run *s, const vectors *v)
{
    const size_t n = (size_t)s->A->n;
    double *const rz = &v->c[C_RR];
    if (s->L) tct_amg_cycle(s->M, v->q, s->L, v->r, v->z, rz);
    else q_pass(v->q, times, n, (NULL, NULL), (s->inverse, v->r, v->z), rz);
    q_sum(v->q, 1, rz);
}

/* r = b at first. Nobody waits for a scalar: what the steps were is read when
 * all are done. */
static void iterate(const run *s, const vectors *v)
{
    tacit_queue *q = v->q;
    const size_t n = (size_t)s->A->n;
    double *c = v->c;
    precondition(s, v);
    q_copy(q, n, v->z, v->p);
    for (int k = 0; k < s->most; k++) {
        apply_dot(s->A, q, v->p, v->t, &c[C_PT]);
        q_sum(q, 1, &c[C_PT]);
        q_step(q, STEP_CG_ALPHA, c);
        q_axpy(q, n, -1, &c[C_ALPHA], v->t, v->r);
        precondition(s, v);
        q_step(q, STEP_CG_BETA, c);
        q_aypx(q, n, 1, &c[C_BETA], v->z, v->p);
        q_copy(q, TCT_SCALARS, c, v->kept + k * TCT_SCALARS);
    }
}

/* The steps end where there is nothing left of r, or A is not positive. Each
 * has made the error smaller by alpha (r, z), in the norm of A. */
static void read_steps(run *s, const vectors *v)
{
    double kept[STEPS * TCT_SCALARS] = {0.0};
    q_get(v->q, (size_t)s->most * TCT_SCALARS, v->kept, kept);
    const double least = 1e-24 * kept[C_RR_OLD];
    for (int k = 0; k < s->most; k++) {
        const double *c = kept + k * TCT_SCALARS;
        if (!(c[C_RR_OLD] > least)) break;
        s->indefinite = !(c[C_ALPHA] > 0.0);
        if (s->indefinite) break;
        s->alpha[k] = c[C_ALPHA];
        s->beta[k] = c[C_BETA];
        s->nearer += c[C_ALPHA] * c[C_RR_OLD];
        s->steps = k + 1;
    }
}

static tacit_status start(run *s)
{
    const tacit_operator *A = s->A;
    vectors v;
    tacit_status status = tct_agree(A->world, open_vectors(A, &v));
    if (status >= 0 && s->inverse) find_trace(s, &v);
    if (status >= 0) status = tct_agree(A->world, put_random(s, v.r));
    if (status >= 0) {
        iterate(s, &v);
        read_steps(s, &v);
        status = tct_agree(A->world, q_own_status(A->q));
    }
    close_vectors(&v);
    return status;
}

tacit_status tct_amg_spectral_bound(const tacit_operator *A,
                                    const double *inverse, double *out)
{
    run s = {.A = A, .inverse = inverse, .most = STEPS};
    TRY(start(&s));
    *out = s.indefinite ? 0.0 : tct_ritz_largest(s.steps, s.alpha, s.beta);
    return TACIT_OK;
}

tacit_status tct_amg_try(const tct_amg *M, const tct_amg_level *L,
                         double *largest, double *nearer)
{
    run s = {.A = L->A, .M = M, .L = L, .most = STEPS_OF_LEVELS};
    TRY(start(&s));
    *largest = tct_ritz_largest(s.steps, s.alpha, s.beta);
    *nearer = s.nearer;
    return TACIT_OK;
}
