/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/spectral_bound.c - some steps of preconditioned cg with a
 * random right-hand side give the largest eigenvalue of M A and the reduction
 * of the error. M is D^-1 or the cycle from a level on. */
#include "device/parallel.h"
#include "precond/amg/device/device_setup.h"
#include <math.h>

enum { STEPS = 12, MANY = 1 << 19 };

typedef struct {
    const tacit_operator *A;
    const double *inverse; /* M is D^-1 [n], */
    double trace;          /* of all ranks, or: */
    const tct_amg *M;      /* M is the cycle from L on */
    const tct_amg_level *L;
    double enough; /* an eigenvalue so large ends the steps; 0: none does */
    int most, steps;
    double alpha[STEPS], beta[STEPS];
    bool indefinite; /* a step has found A indefinite */
    double nearer;   /* decrease of (e, A e) */
    double left;     /* last (r, z) over the first */
} run;

typedef struct {
    tacit_queue *q;
    double *r, *z, *p, *t;
    double *c;    /* scalars; (r, z) in the place of (r, r) of cg */
    double *kept; /* ... after each step                        */
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

/* A random number for row `i`. On coarse levels it does not depend on the
 * ranks, since small differences may decide between factors. */
static double random_of(const run *s, int64_t i)
{
    const tct_amg_level *L = s->L;
    if (!L) return tct_uniform((uint64_t)i, (uint64_t)s->A->q->rank) - 0.5;
    return tct_uniform((uint64_t)(L->index ? L->index[i] : L->first + i), 0) -
           0.5;
}

typedef struct {
    const run *s;
    double *out; /* D, if M is D^-1 */
} random_numbers;

static void make_random(void *work, int64_t from, int64_t to)
{
    const random_numbers *x = work;
    const run *s = x->s;
    for (int64_t i = from; i < to; i++)
        x->out[i] =
            random_of(s, i) / (s->inverse ? sqrt(x->out[i] / s->trace) : 1.0);
}

/* r = random numbers times the scaled D^1/2: D^-1/2 A D^-1/2 starts from a
 * vector of uniform size, whatever the range of D. */
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

/* Steps end where r is 0 or A is not positive. Each reduces the squared A-norm
 * of the error by alpha (r, z). */
static void read_steps(run *s, const vectors *v, int made)
{
    double kept[STEPS * TCT_SCALARS] = {0.0};
    q_get(v->q, (size_t)made * TCT_SCALARS, v->kept, kept);
    const double least = 1e-24 * kept[C_RR_OLD];
    s->nearer = 0.0;
    for (int k = 0; k < made; k++) {
        const double *c = kept + k * TCT_SCALARS;
        if (!(c[C_RR_OLD] > least)) break;
        s->indefinite = !(c[C_ALPHA] > 0.0);
        if (s->indefinite) break;
        s->alpha[k] = c[C_ALPHA];
        s->beta[k] = c[C_BETA];
        s->nearer += c[C_ALPHA] * c[C_RR_OLD];
        s->left = c[C_RR] / kept[C_RR_OLD];
        s->steps = k + 1;
    }
}

/* Looks after every second step, from the fourth on: is there an
 * eigenvalue that is large enough? More steps would find a larger one. */
static bool suffices(run *s, const vectors *v, int made)
{
    if (!(s->enough > 0.0) || made < 4 || made % 2 != 0) return false;
    read_steps(s, v, made);
    return !s->indefinite &&
           tct_ritz_largest(s->steps, s->alpha, s->beta) >= s->enough;
}

/* Starts with r = b. Without `enough`, scalars are read after all steps. */
static void iterate(run *s, const vectors *v)
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
        if (suffices(s, v, k + 1)) return;
    }
    read_steps(s, v, s->most);
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
        status = tct_agree(A->world, q_own_status(A->q));
    }
    close_vectors(&v);
    return status;
}

/* A GPU's queue waits for each check, which takes as long as a step on fewer than
 * MANY rows; several ranks would have to agree on it. */
static bool checks_early(const tacit_operator *A)
{
    return A->q->device->kind != TCT_KIND_GPU ||
           (A->world->size == 1 && A->n >= MANY);
}

tacit_status tct_amg_spectral_bound(const tacit_operator *A,
                                    const double *inverse, double enough,
                                    double *out)
{
    run s = {.A = A,
             .inverse = inverse,
             .enough = checks_early(A) ? enough : 0.0,
             .most = STEPS};
    TRY(start(&s));
    *out = s.indefinite ? 0.0 : tct_ritz_largest(s.steps, s.alpha, s.beta);
    return TACIT_OK;
}

tacit_status tct_amg_try(const tct_amg *M, const tct_amg_level *L, int steps,
                         tct_amg_trial *out)
{
    run s = {.A = L->A, .M = M, .L = L, .most = steps};
    TRY(start(&s));
    *out =
        (tct_amg_trial){.largest = tct_ritz_largest(s.steps, s.alpha, s.beta),
                        .nearer = s.nearer,
                        .left = s.left,
                        .steps = s.steps};
    return TACIT_OK;
}
