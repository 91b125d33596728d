/* SPDX-License-Identifier: BSD-3-Clause
 * solver/growth.c - x has grown so large that rounding alone leaves far more of
 * b - A x than is wanted: A is nearly singular, b not in its range, and a
 * recurrence may go on for thousands of iterations before it stagnates.
 *
 * x of conjugate gradients does not shrink again. A small Ritz value asks for a
 * check: if b - A x is rounding in every row and still large, the solve ends. */
#include "operator/backward.h"
#include "solver/after_phase.h"
#include "solver/norms.h"
#include <math.h>

/* The Ritz values of most regular matrices differ less. */
static const double SUSPICIOUS = 0x1p-40;
/* The componentwise backward error of rounding, and a residual, in targets, that
 * no luck with rounding makes small enough. */
static const double ROUNDING = 16.0 * 0x1p-52, FAR = 1e3;
/* Iterations before the first check, and between two: these, or a quarter. */
enum { APART = 64 };

/* Of the tridiagonal matrix of the recurrence. */
static double diagonal_of(const tct_ritz *z, int64_t i)
{
    return 1.0 / z->alpha[i] + (i > 0 ? z->beta[i - 1] / z->alpha[i - 1] : 0.0);
}

/* Has it an eigenvalue far below its largest diagonal entry? One elimination
 * tells. */
static bool is_suspicious(const tct_ritz *z)
{
    double most = 0.0, pivot = 1.0;
    for (int64_t i = 0; i < z->count; i++) most = fmax(most, diagonal_of(z, i));
    for (int64_t i = 0; i < z->count && pivot > 0.0; i++) {
        const double a = i > 0 ? z->alpha[i - 1] : 1.0,
                     b = i > 0 ? z->beta[i - 1] : 0.0;
        pivot = diagonal_of(z, i) - SUSPICIOUS * most - b / a / a / pivot;
    }
    return pivot < 0.0;
}

static bool is_due(const tct_run *R)
{
    tct_ritz *z = R->ritz;
    const tct_system *S = R->system;
    const int64_t quarter = R->k / 4;
    if (R->k < z->next || R->k < APART || R->k >= S->limit) return false;
    z->next = R->k + (quarter > APART ? quarter : APART);
    return !R->pure && !S->exactly && S->target > 0.0 && is_suspicious(z);
}

/* Is b - A x large, and rounding in every row? `v` [4][n] is scratch; the
 * recurrence, which goes on if not, keeps its scalars. */
static bool is_rounding(const tct_run *R, double *v)
{
    const size_t n = R->n;
    const tct_system *S = R->system;
    double *r = v, *x = v + n, *b = x + n, *sums = b + n, rr = 0.0;
    q_copy(R->q, n, R->x, x);
    q_copy(R->q, n, S->b, b);
    q_scale(R->q, n, S->sigma, b);
    apply(S->exact, R->q, x, r);
    q_aypx(R->q, n, -1.0, NULL, b, r);
    R->result->extra_products++;
    if (q_own_status(R->q) >= 0) /* waits: r is in host memory */
        for (size_t i = 0; i < n; i++) rr += r[i] * r[i];
    if (tct_reduce_f64(S->exact->world, TCT_SUM, 1, &rr) < 0) return false;
    if (!(sqrt(rr) > FAR * S->target)) return false;
    return tct_componentwise_error(S->exact, R->q, r, x, b, sums) <= ROUNDING;
}

/* A device with late samples is amid later iterations. A check must not wait
 * for them: a kernel that stays may wait for the check. Its vectors are not on
 * the host. */
static bool can_look(const tct_run *R)
{
    return R->ritz && !R->q->device->seen &&
           tct_has_magnitude(R->system->exact);
}

bool tct_has_outgrown(tct_run *R)
{
    double *v = NULL;
    tct_system *S = R->system;
    if (!can_look(R) || !is_due(R)) return false;
    const tacit_status status =
        tct_agree(S->exact->world, tacit_queue_alloc(R->q, 4 * R->n, &v));
    S->outgrown = status >= 0 && is_rounding(R, v);
    tacit_queue_free(R->q, &v);
    return S->outgrown;
}
