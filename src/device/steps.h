/* SPDX-License-Identifier: BSD-3-Clause
 * device/steps.h - the scalar recurrences: pure functions on a block of
 * scalars, one text for the host loop, a one-thread kernel and the persistent
 * kernels. Loops of a method thus differ in control, not in arithmetic.
 *
 * Once (r, r) meets the target, or a failure is noted in C_BAD and C_BAD_VALUE,
 * steps hold still (alpha = 0), so that a late convergence check does no
 * harm. */
#ifndef TCT_DEVICE_STEPS_H
#define TCT_DEVICE_STEPS_H
#include <math.h>

/* Compiled by a compiler of GPU code, and, of its passes, for the GPU? */
#if defined(__CUDACC__) || defined(__HIP__)
#define TCT_GPU_CODE 1
#else
#define TCT_GPU_CODE 0
#endif
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define TCT_ON_GPU 1
#else
#define TCT_ON_GPU 0
#endif

#if TCT_GPU_CODE
#define TCT_BOTH static __host__ __device__ inline
#else
#define TCT_BOTH static inline
#endif

/* The block of scalars. The first ones are summed together. With a
 * preconditioner M, (r, z), z = M r, follows (r, r), and the others of a sum
 * move by one place: by `m` below, 1 or 0. */
enum {
    C_RR = 0,     /* (r, r)                                          */
    C_DELTA = 1,  /* (A r, r), pipelined                             */
    C_REF = 2,    /* (r, r_0), pipelined, sometimes */
    C_RZ = 1,     /* (r, z), z = M r                                 */
    C_ZW = 2,     /* (z, w), flexible                                */
    C_ZS = 3,     /* (z, s), flexible                                */
    C_MU = 1,     /* (p, s), single and pipe-pr                      */
    C_RS = 2,     /* (r, s), or (z, s)                               */
    C_SS = 3,     /* (s, s), or (s, M s)                             */
    C_RP = 4,     /* (r, p), when continuing along p */
    C_PT = 4,     /* (p, A p), cg                                    */
    C_ZT = 1,     /* (z, t), t = A z, minres                         */
    C_UZ = 2,     /* (u, z), z = M u, minres                         */
    C_BX = 0,     /* (b, x), K-cycle, in its own block */
    C_XV = 1,     /* (x, v), v = A x                                 */
    C_BY = 2,     /* (b, y), second correction y */
    C_RY = 3,     /* (r, y), r = b - alpha v                         */
    C_YW = 4,     /* (y, w), w = A y                                 */
    C_RR_OLD = 5, /* the last (r, r) or (r, z); 0 at a start */
    C_ALPHA,
    C_BETA,
    C_TARGET2,    /* square of the target residual norm */
    C_BAD,        /* 0, or tct_bad */
    C_BAD_VALUE,  /* and its value                                   */
    C_HELD,       /* 1: hold still: target met, or a step after a breakdown */
    C_NORM,       /* of A, largest row sum; see step_pipe_pr, step_reduces */
    C_DRIFT,      /* pipe-pr: bound of ||A p - s|| */
    C_REF_RR,     /* (r_0, r_0)                                      */
    C_SIGMA,      /* scale factor of b */
    C_RHO,        /* (p, s), flexible; 0 at a start                  */
    C_UPDATES,    /* of x, if counted; see tct_sample */
    C_RR_MOST,    /* divergence bound of (r, r); 0: none */
    C_DRIFT_MOST, /* pipe-pr: drift bound in ||s||; 0: none */
    C_APART_MOST, /* pipe-pr: bound of 1 - (r, s) / (p, s) */
    C_ALFA,       /* minres, as in its paper: diagonal of the tridiagonal */
    C_LENGTH,     /* ... matrix T, and the entry below it, |u|            */
    C_UNIT,       /* 1 / |u|                                              */
    C_COS,        /* of the last rotation of T ...                        */
    C_SIN,
    C_BAR, /* ... and its entries that the next one will change    */
    C_EPSILON,
    C_GAMMA,     /* diagonal of the triangular factor of T ... */
    C_GAMMA_OLD, /* ... and the one before                               */
    C_BACK,      /* parts of the last two directions in the next one     */
    C_BACK_OLD,
    C_PHI,  /* |r| in the norm of M; (r, M r) if that is negative   */
    C_SIZE, /* the largest column of T: estimates |A|               */
    TCT_SCALARS
};

typedef enum tct_bad {
    BAD_NONE = 0,
    BAD_CURVATURE,
    BAD_RESIDUAL,
    BAD_PRECOND, /* (r, M r) is not positive                        */
    BAD_TIME,    /* timeout on the device */
    BAD_DRIFT,   /* recurrences too inaccurate: change the method */
    BAD_PAUSE,   /* no failure: the CPU decides what follows */
    BAD_STALE,   /* recompute vectors, then continue */
    BAD_GROWTH,  /* (r, r) > C_RR_MOST: divergence */
    BAD_LEAST    /* A M r is nearly 0: r gets no smaller */
} tct_bad;

/* X(name, call): a step and its function; _M: with a preconditioner. */
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
    X(K_SECOND, k_second(c))                                               \
    X(MINRES_START, minres_start(c)) /* Paige and Saunders 1975 */         \
    X(MINRES_ALFA, minres_alfa(c))                                         \
    X(MINRES, minres(c))

typedef enum tct_step {
#define X(name, call) STEP_##name,
    TCT_STEPS(X)
#undef X
        TCT_STEP_COUNT
} tct_step;

/* Below this, (r, r) is out of the range of meaningful quotients. */
#define TCT_RR_LEAST 1e-290

TCT_BOTH int step_finite(double a)
{
    return a - a == 0.0; /* false for NaN and both infinities */
}

/* May alpha be numerator / curvature? If not, hold still, and note why unless
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

/* Is M positive for r? If not, hold still, and note why. */
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
    /* without a positive M, rho is not checked */
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

/* In exact arithmetic r is orthogonal to every earlier residual. Orthogonality
 * ends when rounding lets directions return [Pa80]; from then on, a method with
 * less accurate recurrences than cg's loses iterations. */
#define TCT_LOST 1e-6
TCT_BOTH void step_lost(double *c, int m)
{
    const double most = TCT_LOST * TCT_LOST * c[C_RR] * c[C_REF_RR];
    const double ref = c[C_REF + m];
    if (c[C_BAD] != 0.0 || ref * ref <= most) return;
    c[C_BAD] = BAD_DRIFT;
    c[C_BAD_VALUE] = ref;
}

/* alpha = nu / mu, beta = (nu - 2 alpha (r, s) + alpha^2 (s, s)) / nu: (r, r)
 * is predicted, and recomputed by the next sum. */
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

/* The same with s = w + beta s. The rounding error of s is at most about eps
 * ||A|| (||r|| + alpha ||s||) in a step, and is carried on times beta. If the
 * bound of the total reaches C_DRIFT_MOST of s, this step is the last before s
 * is recomputed. With M all is of the preconditioned system, in the norm of M,
 * and the norm of the matrix is estimated from 1 / alpha, which is below it.
 *
 * Directions are conjugate, so (p, s) = (r, s). If the two differ by more than
 * C_APART_MOST of them, iterations are lost. */
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

/* Continue along a given p: alpha minimizes the error along p, beta makes the
 * next direction conjugate to it. */
TCT_BOTH void step_restart(double *c)
{
    c[C_ALPHA] = c[C_RP] / c[C_MU];
    c[C_BETA] = (c[C_ALPHA] * c[C_SS] - c[C_RS]) / c[C_MU];
}

/* 0 if the quotient has no meaning. */
TCT_BOTH double step_quotient(double a, double b)
{
    const double quotient = a / b;
    return b > 0.0 && step_finite(quotient) ? quotient : 0.0;
}

/* alpha x minimizes the error along x. */
TCT_BOTH void step_k_first(double *c)
{
    c[C_ALPHA] = step_quotient(c[C_BX], c[C_XV]);
}

/* alpha x + beta y minimizes the error: beta (y - x (y, v) / (x, v)) is
 * conjugate to x, and (y, v) follows from the difference in r. beta is 0 if y
 * is nearly parallel to x. */
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

/* Are the scalars at rest: target met, or failure? */
TCT_BOTH int tct_at_rest(const double *c)
{
    return !(c[C_RR] > c[C_TARGET2]) || c[C_BAD] != 0.0;
}

/* minres: |u| of the first u = r. A negative (r, M r) is kept for step_minres.
 */
TCT_BOTH void step_minres_start(double *c)
{
    const double square = c[C_UZ];
    c[C_PHI] = square > 0.0 ? sqrt(square) : square;
    c[C_LENGTH] = square > 0.0 ? c[C_PHI] : 1.0;
    c[C_UNIT] = 1.0 / c[C_LENGTH];
    c[C_COS] = -1.0;
    c[C_GAMMA] = c[C_GAMMA_OLD] = 1.0;
    c[C_SIZE] = fabs(c[C_NORM]);
}

/* The last two rotations on the next column of T: what they leave of its
 * diagonal, and the next direction's parts along the last two. At rest all are
 * 0, so that u and p stay finite. */
TCT_BOTH void step_minres_alfa(double *c)
{
    const double alfa = c[C_ZT] * c[C_UNIT] * c[C_UNIT], bar = c[C_BAR];
    c[C_ALFA] = c[C_BACK] = c[C_BACK_OLD] = 0.0;
    if (c[C_HELD] != 0.0 || tct_at_rest(c)) return;
    c[C_ALFA] = alfa;
    c[C_BACK] = (c[C_COS] * bar + c[C_SIN] * alfa) / c[C_GAMMA];
    c[C_BACK_OLD] = c[C_EPSILON] / c[C_GAMMA_OLD];
    c[C_BAR] = c[C_SIN] * bar - c[C_COS] * alfa;
}

/* Is |A M r| <= TCT_LEAST |A| |r|, or M not positive for u? `length` is the
 * next |u|. Then hold still, and note why. |A M r| comes down to about the root
 * of the rounding of a product. A negative C_NORM stands for |A| as it is: that
 * of the rows where r is. */
#define TCT_LEAST 0x1p-23
TCT_BOTH int step_reduces(double *c, double length)
{
    const double bar = c[C_BAR], below = c[C_COS] * length;
    const double left = sqrt(bar * bar + below * below);
    const double size = sqrt(c[C_ALFA] * c[C_ALFA] + length * length);
    if (size > c[C_SIZE] && !(c[C_NORM] < 0.0)) c[C_SIZE] = size;
    if (!step_finite(left) || left > TCT_LEAST * c[C_SIZE]) return 1;
    c[C_BAD] = BAD_LEAST;
    c[C_BAD_VALUE] = left / c[C_SIZE];
    return 0;
}

/* The next |u|, the rotation that removes it from T, and with it alpha and
 * beta: x = x + alpha p, r = beta r - alpha u. */
TCT_BOTH void step_minres(double *c)
{
    const double square = c[C_UZ], length = sqrt(square), bar = c[C_BAR];
    c[C_BETA] = 1.0;
    if (!step_sound(c, 1.0) || !step_positive(c, c[C_PHI])) return;
    if (square != 0.0 && !step_positive(c, square)) return;
    if (!step_reduces(c, length)) return;
    const double gamma = sqrt(bar * bar + length * length);
    const double below = -c[C_COS] * length;
    const double alpha = bar / gamma * c[C_PHI] / gamma;
    if (!step_finite(alpha) && !step_positive(c, alpha)) return;
    c[C_EPSILON] = c[C_SIN] * length;
    c[C_COS] = bar / gamma;
    c[C_SIN] = length / gamma;
    c[C_BAR] = below;
    c[C_ALPHA] = alpha;
    c[C_BETA] = c[C_SIN] * c[C_SIN];
    c[C_PHI] = c[C_SIN] * c[C_PHI];
    c[C_GAMMA_OLD] = c[C_GAMMA];
    c[C_GAMMA] = gamma;
    c[C_LENGTH] = square > 0.0 ? length : 1.0;
    c[C_UNIT] = 1.0 / c[C_LENGTH];
}

/* Does the step compute the next alpha? */
TCT_BOTH int step_is_alpha(tct_step step)
{
    return step != STEP_CG_BETA && step != STEP_CG_BETA_M &&
           step != STEP_LOST && step != STEP_LOST_M && step != STEP_RESTART &&
           step != STEP_K_FIRST && step != STEP_K_SECOND &&
           step != STEP_MINRES_START && step != STEP_MINRES_ALFA;
}

/* Has the step made the next x? The alpha of minres may be 0. */
TCT_BOTH int step_updates(tct_step step, const double *c)
{
    if (step == STEP_MINRES) return c[C_BAD] == 0.0 && c[C_HELD] == 0.0;
    return step_is_alpha(step) && c[C_ALPHA] != 0.0;
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

/* The same, and count the updates of x: the systems of a batch end at different
 * times. */
TCT_BOTH void tct_step_counted(tct_step step, double *c)
{
    tct_step_run(step, c);
    if (step_updates(step, c)) c[C_UPDATES] += 1.0;
}

#endif
