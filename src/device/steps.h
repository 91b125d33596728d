/* SPDX-License-Identifier: BSD-3-Clause
 * device/steps.h - the scalar recurrences: pure functions on a block of
 * scalars, one text for the host loop, a one-thread kernel and the resident
 * kernel. Each method then differs in who drives, not in arithmetic.
 *
 * Once (r, r) meets the target a step holds still (alpha = 0), so that a host
 * that looks late does no harm; so it does once something has gone wrong,
 * which it notes in C_BAD and C_BAD_VALUE. */
#ifndef TCT_DEVICE_STEPS_H
#define TCT_DEVICE_STEPS_H
#include <math.h>

#ifdef __CUDACC__
#define TCT_BOTH static __host__ __device__ inline
#else
#define TCT_BOTH static inline
#endif

/* The block of scalars. The first ones are summed together; where there is a
 * preconditioner M, (r, z), z = M r, stands behind (r, r), and the others of a
 * sum one place later: by `m` below, 1 or 0. */
enum {
    C_RR = 0,    /* (r, r)                                          */
    C_DELTA = 1, /* (A r, r), pipelined                             */
    C_REF = 2,   /* (r, r_0), pipelined, now and then               */
    C_RZ = 1,    /* (r, z), z = M r                                 */
    C_ZW = 2,    /* (z, w), flexible                                */
    C_ZS = 3,    /* (z, s), flexible                                */
    C_MU = 1,    /* (p, s), single and pipe-pr                      */
    C_RS = 2,    /* (r, s), or (z, s)                               */
    C_SS = 3,    /* (s, s), or (s, M s)                             */
    C_RP = 4,    /* (r, p), where a solve goes on along p           */
    C_PT = 4,    /* (p, A p), cg                                    */
    C_BX = 0,    /* (b, x), a K-cycle, whose block is its own       */
    C_XV = 1,    /* (x, v), v = A x                                 */
    C_BY = 2,    /* (b, y), of a second correction y                */
    C_RY = 3,    /* (r, y), r = b - alpha v                         */
    C_YW = 4,    /* (y, w), w = A y                                 */
    C_RR_OLD,    /* (r, r), or (r, z), of the iteration before; 0 at a start */
    C_ALPHA,
    C_BETA,
    C_TARGET2,   /* square of the residual norm to reach            */
    C_BAD,       /* 0, or which quantity broke down: tct_bad        */
    C_BAD_VALUE, /* and its value                                   */
    C_HELD,      /* 1 once the target is met, and from the step after a
                    breakdown on: updates that a device was given ahead
                    then leave all vectors as they are              */
    C_NORM,      /* of A, the largest row sum; with M see step_pipe_pr */
    C_DRIFT,     /* pipe-pr: bound of ||A p - s||                   */
    C_REF_RR,    /* (r_0, r_0)                                      */
    C_SIGMA,     /* what b is multiplied by                         */
    C_RHO,       /* (p, s), flexible; 0 at a start                  */
    C_UPDATES,   /* of x, where steps count them; see tct_sample      */
    C_RR_MOST,   /* (r, r) beyond it has diverged; 0: no bound      */
    C_DRIFT_MOST, /* pipe-pr: of ||s||, what the drift may come to; 0: no watch */
    C_APART_MOST, /* pipe-pr: of (p, s), its difference to (r, s)   */
    TCT_SCALARS
};

typedef enum tct_bad {
    BAD_NONE = 0,
    BAD_CURVATURE,
    BAD_RESIDUAL,
    BAD_PRECOND, /* (r, M r) is not positive                        */
    BAD_TIME,    /* a wait on the device took too long                */
    BAD_DRIFT,   /* the recurrences have become too inaccurate to be
                 worth going on with: another method does          */
    BAD_PAUSE,   /* nothing is bad: the CPU is to say what comes next */
    BAD_STALE,   /* vectors are to be formed anew, and the method goes on */
    BAD_GROWTH   /* (r, r) is beyond C_RR_MOST: the recurrences diverge */
} tct_bad;

/* X(name, call): a step and what it does; with _M: where there is a
 * preconditioner. */
#define TCT_STEPS(X)                                                       \
    X(CG_ALPHA, cg_alpha(c, 0)) /* alpha = (r, r) / (p, A p)          */   \
    X(CG_ALPHA_M, cg_alpha(c, 1))                                          \
    X(CG_BETA, cg_beta(c, 0)) /* beta  = (r, r) / (r, r)_old        */     \
    X(CG_BETA_M, cg_beta(c, 1))                                            \
    X(FLEXIBLE, flexible(c)) /* Notay 2000                         */      \
    X(PR, pr(c, 0))          /* Chen and Carson 2020: single       */      \
    X(PR_M, pr(c, 1))                                                      \
    X(PIPE_PR, pipe_pr(c, 0)) /* the same, pipelined                */     \
    X(PIPE_PR_M, pipe_pr(c, 1))                                            \
    X(PIPELINED, pipelined(c, 0)) /* Ghysels and Vanroose 2014          */ \
    X(PIPELINED_M, pipelined(c, 1))                                        \
    X(LOST, lost(c, 0)) /* is r still orthogonal to r_0?      */           \
    X(LOST_M, lost(c, 1))                                                  \
    X(RESTART, restart(c)) /* go on along a given p, which is sound */     \
    X(K_FIRST, k_first(c)) /* Notay and Vassilevski 2008 */                \
    X(K_SECOND, k_second(c))

typedef enum tct_step {
#define X(name, call) STEP_##name,
    TCT_STEPS(X)
#undef X
        TCT_STEP_COUNT
} tct_step;

/* Smaller than this, (r, r) has left the range where quotients mean much. */
#define TCT_RR_LEAST 1e-290

TCT_BOTH int step_finite(double a)
{
    return a - a == 0.0; /* false for NaN and both infinities */
}

/* May alpha be numerator / curvature? If not, hold still, and say why unless
 * the target is met. */
TCT_BOTH int step_sound(double *c, double curvature)
{
    c[C_ALPHA] = 0.0;
    if (c[C_BAD] != 0.0) {
        c[C_HELD] = 1.0;
        return 0;
    }
    if (!step_finite(c[C_RR])) {
        c[C_BAD] = BAD_RESIDUAL;
        c[C_BAD_VALUE] = c[C_RR];
        return 0;
    }
    if (c[C_RR] <= c[C_TARGET2] || c[C_RR] < TCT_RR_LEAST) {
        c[C_HELD] = 1.0;
        return 0;
    }
    if (c[C_RR_MOST] > 0.0 && c[C_RR] > c[C_RR_MOST]) {
        c[C_BAD] = BAD_GROWTH;
        c[C_BAD_VALUE] = c[C_RR];
        return 0;
    }
    if (!(curvature > 0.0) || !step_finite(curvature)) {
        c[C_BAD] = BAD_CURVATURE;
        c[C_BAD_VALUE] = curvature;
        return 0;
    }
    return 1;
}

/* Is M positive, as far as r knows? If not, hold still, and say why. */
TCT_BOTH int step_positive(double *c, double gamma)
{
    if (gamma > 0.0 && step_finite(gamma)) return 1;
    c[C_ALPHA] = 0.0;
    c[C_BAD] = BAD_PRECOND;
    c[C_BAD_VALUE] = gamma;
    return 0;
}

TCT_BOTH void step_cg_alpha(double *c, int m)
{
    const double gamma = c[C_RR + m]; /* (r, M r) */
    c[C_RR_OLD] = gamma;
    if (step_sound(c, c[C_PT]) && (!m || step_positive(c, gamma)))
        c[C_ALPHA] = gamma / c[C_PT];
}

TCT_BOTH void step_cg_beta(double *c, int m)
{
    c[C_BETA] = c[C_RR_OLD] > 0.0 ? c[C_RR + m] / c[C_RR_OLD] : 0.0;
}

/* rho = (z, w) - (z, s)^2 / rho_old is (p, A p) of the new p = z + beta p,
 * beta = -(z, s) / rho_old; alpha = (r, z) / rho */
TCT_BOTH void step_flexible(double *c)
{
    const double old = c[C_RHO];
    const double beta = old > 0.0 ? -c[C_ZS] / old : 0.0;
    const double rho = c[C_ZW] + beta * c[C_ZS], gamma = c[C_RZ];
    /* where M is at fault, rho is not */
    if (step_sound(c, gamma > 0.0 ? rho : 1.0) && step_positive(c, gamma)) {
        c[C_ALPHA] = gamma / rho;
        c[C_RHO] = rho;
    }
    c[C_BETA] = beta;
}

/* beta = (r, r) / (r, r)_old, alpha = (r, r) / (delta - beta (r, r) / alpha_old)
 */
TCT_BOTH void step_pipelined(double *c, int m)
{
    const double g = c[C_RR + m], old = c[C_RR_OLD], alpha_old = c[C_ALPHA];
    const double beta = g / old;
    const double delta = c[C_DELTA + m];
    const double curvature = delta - beta * g / alpha_old;
    if (step_sound(c, curvature) && (!m || step_positive(c, g))) {
        c[C_ALPHA] = g / curvature;
        c[C_RR_OLD] = g;
    }
    c[C_BETA] = beta;
}

/* In exact arithmetic r is orthogonal to every residual before. It stops to be
 * where rounding has let directions return that were done with [Pa80]; from
 * then on each digit that a method's recurrences are less accurate than cg's
 * costs iterations. */
#define TCT_LOST 1e-6
TCT_BOTH void step_lost(double *c, int m)
{
    const double most = TCT_LOST * TCT_LOST * c[C_RR] * c[C_REF_RR];
    const double ref = c[C_REF + m];
    if (c[C_BAD] != 0.0 || ref * ref <= most) return;
    c[C_BAD] = BAD_DRIFT;
    c[C_BAD_VALUE] = ref;
}

/* alpha = nu / mu, beta = (nu - 2 alpha (r, s) + alpha^2 (s, s)) / nu: the
 * next (r, r) is predicted, and recomputed by the next sum. */
TCT_BOTH void step_pr(double *c, int m)
{
    const double nu = c[C_RR + m];
    c[C_BETA] = 0.0;
    if (step_sound(c, c[C_MU + m]) && (!m || step_positive(c, nu))) {
        const double alpha = nu / c[C_MU + m];
        const double next =
            nu - 2.0 * alpha * c[C_RS + m] + alpha * alpha * c[C_SS + m];
        c[C_ALPHA] = alpha;
        c[C_BETA] = next > 0.0 ? next / nu : 0.0;
    }
}

/* The same with s = w + beta s: what rounding adds to s is at most about eps
 * ||A|| (||r|| + alpha ||s||), and errors of s live on in the next, times beta.
 * Where their bound comes to C_DRIFT_MOST of s, this step is the last: s is to
 * be formed anew. With M all of this is of the preconditioned system: norms are
 * those of M, and that of the matrix is learnt on the way, 1 / alpha being
 * below it.
 *
 * Directions are conjugate, so that (p, s) = (r, s). Where the two come apart
 * by C_APART_MOST of them, iterations are lost. */
#define TCT_ROUNDING 1.11e-16
TCT_BOTH void step_pipe_pr(double *c, int m)
{
    step_pr(c, m);
    if (c[C_ALPHA] == 0.0) return;
    const double s = sqrt(c[C_SS + m]), drift = c[C_DRIFT];
    const double mu = c[C_MU + m], apart = fabs(mu - c[C_RS + m]);
    if (m && c[C_NORM] * c[C_ALPHA] < 2.0) c[C_NORM] = 2.0 / c[C_ALPHA];
    c[C_DRIFT] = c[C_BETA] * drift + TCT_ROUNDING * c[C_NORM] *
                                         (sqrt(c[C_RR + m]) + c[C_ALPHA] * s);
    if (!(c[C_DRIFT_MOST] > 0.0)) return;
    if (apart > c[C_APART_MOST] * mu) {
        c[C_BAD] = BAD_DRIFT;
        c[C_BAD_VALUE] = apart / mu;
    } else if (drift > c[C_DRIFT_MOST] * s) {
        c[C_BAD] = BAD_STALE;
        c[C_BAD_VALUE] = drift / s;
    }
}

/* Along a p that does not come from the recurrence before: alpha makes the
 * error least along p, beta makes the next direction conjugate to it. */
TCT_BOTH void step_restart(double *c)
{
    c[C_ALPHA] = c[C_RP] / c[C_MU];
    c[C_BETA] = (c[C_ALPHA] * c[C_SS] - c[C_RS]) / c[C_MU];
}

/* 0 where the quotient has no meaning. */
TCT_BOTH double step_quotient(double a, double b)
{
    const double quotient = a / b;
    return b > 0.0 && step_finite(quotient) ? quotient : 0.0;
}

/* alpha x is the best along x. */
TCT_BOTH void step_k_first(double *c)
{
    c[C_ALPHA] = step_quotient(c[C_BX], c[C_XV]);
}

/* alpha x + beta y is the best of all: beta (y - x (y, v) / (x, v)) is
 * conjugate to x, and (y, v) the difference that r makes. Where y is next to x
 * it tells nothing. */
#define TCT_K_LEAST 1e-8
TCT_BOTH void step_k_second(double *c)
{
    const double alpha = c[C_ALPHA];
    const double yv = alpha != 0.0 ? (c[C_BY] - c[C_RY]) / alpha : 0.0;
    const double back = step_quotient(yv, c[C_XV]);
    const double rho = c[C_YW] - yv * back;
    c[C_BETA] = rho > TCT_K_LEAST * c[C_YW] ? step_quotient(c[C_RY], rho) : 0.0;
    c[C_ALPHA] = alpha - back * c[C_BETA];
}

/* Does the step say how far to go along p next? */
TCT_BOTH int step_is_alpha(tct_step step)
{
    return step != STEP_CG_BETA && step != STEP_CG_BETA_M &&
           step != STEP_LOST && step != STEP_LOST_M && step != STEP_RESTART &&
           step != STEP_K_FIRST && step != STEP_K_SECOND;
}

/* Have the scalars come to rest: is the target met, or has something gone
 * wrong? */
TCT_BOTH int tct_at_rest(const double *c)
{
    return !(c[C_RR] > c[C_TARGET2]) || c[C_BAD] != 0.0;
}

TCT_BOTH void tct_step_run(tct_step step, double *c)
{
    switch (step) {
#define X(name, call) \
    case STEP_##name: step_##call; break;
        TCT_STEPS(X)
#undef X
    case TCT_STEP_COUNT: break;
    }
}

/* The same, counting how often x will have moved: where several systems go in
 * step, each ends in its own time. */
TCT_BOTH void tct_step_counted(tct_step step, double *c)
{
    tct_step_run(step, c);
    if (step_is_alpha(step) && c[C_ALPHA] != 0.0) c[C_UPDATES] += 1.0;
}

#endif
