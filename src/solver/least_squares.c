/* SPDX-License-Identifier: BSD-3-Clause
 * solver/least_squares.c - does x minimize the residual of a system that has no
 * solution?
 *
 * A M r is small beside |A| |r|. Either its terms cancel, and x does; or r is in
 * rows of entries far below |A|, which shows in |A| |M r|, of magnitudes. Then
 * the method goes on, with the size of these rows in place of |A|. */
#include "operator/backward.h"
#include "solver/after_phase.h"
#include <math.h>

/* |A M r| of the recomputed r may be this many times what the recurrence ends
 * at. */
static const double MORE = 16.0;
/* A size is new if it is at most this part of the last. */
static const double NARROWER = 0.5;

/* A method that goes on looks at b - A x after these iterations more, and so
 * many times as many: rounding of the large rows may make its own r wrong. */
enum { FIRST = 64, TIMES = 2 };

/* Sums in the norm of M. */
typedef struct {
    double rr, least; /* (r, z) of z = M r; (A z, M A z)              */
    double most;      /* the same of |A| |z|; negative: not known     */
} sums;

static double square(tct_run *R, const double *v)
{
    if (R->M) apply(R->M, R->q, v, R->z);
    return tct_dot(R, v, R->M ? R->z : v);
}

/* The vectors of the recurrence are free between two phases. */
static sums form_sums(tct_run *R)
{
    const double *r = R->v[V_R];
    double *t = R->v[V_T], *z = R->v[3], *s = R->v[4];
    sums to = {.most = -1.0};
    to.rr = square(R, r);
    q_copy(R->q, R->n, R->M ? R->z : r, z);
    apply(R->system->exact, R->q, z, t);
    R->result->extra_products++;
    to.least = square(R, t);
    if (tct_form_magnitude(R->system->exact, R->q, z, s))
        to.most = square(R, s);
    return to;
}

bool tct_is_least(tct_run *R)
{
    tct_restart_policy *P = R->policy;
    double size = 0.0;
    q_get(R->q, 1, &R->c[C_SIZE], &size);
    const sums of = form_sums(R);
    const double near = MORE * TCT_LEAST, most = near * size;
    if (R->q->peers_know || !(of.least <= most * most * of.rr)) return false;
    P->unsure = !(of.most >= 0.0);
    if (!P->unsure && of.least > near * near * of.most) {
        P->size = sqrt(of.most / of.rr);
        P->narrowed = P->size <= NARROWER * size;
        return false;
    }
    P->why = TACIT_STOP_LEAST_SQUARES;
    return true;
}

double tct_least_norm(const tct_run *R)
{
    if (R->policy->size > 0.0) return -R->policy->size;
    return R->M ? 0.0 : R->system->exact->norm;
}

int64_t tct_least_until(const tct_run *R)
{
    return TIMES * R->k + FIRST;
}
