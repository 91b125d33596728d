/* SPDX-License-Identifier: BSD-3-Clause
 * device/steps.h - the scalar recurrences: pure functions on a block of
 * scalars, one text for the host loop, a one-thread kernel and the resident
 * kernel. Each method then differs in who drives, not in arithmetic.
 *
 * Once (r, r) meets the target a step holds still (alpha = 0), so that a host
 * that looks late does no harm; so it does once something has gone wrong,
 * which it notes in C_BAD and C_BAD_VALUE. */
#ifndef TCT_STEPS_H
#define TCT_STEPS_H

#ifdef __CUDACC__
#define TCT_BOTH static __host__ __device__ inline
#else
#define TCT_BOTH static inline
#endif

/* The block of scalars. The first ones are summed together. */
enum {
    C_RR = 0,    /* (r, r)                                          */
    C_DELTA = 1, /* (A r, r), single and pipelined                  */
    C_MU = 1,    /* (p, s), pipe-pr                                 */
    C_RS = 2,    /* (r, s), pipe-pr                                 */
    C_SS = 3,    /* (s, s), pipe-pr                                 */
    C_PT = 4,    /* (p, A p), cg                                    */
    C_RR_OLD,    /* (r, r) of the iteration before; 0 at a start    */
    C_ALPHA,
    C_BETA,
    C_TARGET2,   /* square of the residual norm to reach            */
    C_BAD,       /* 0, or which quantity broke down: tct_bad        */
    C_BAD_VALUE, /* and its value                                   */
    C_HELD,      /* 1 once the target is met, and from the step after a
                    breakdown on: updates that a device was given ahead
                    then leave all vectors as they are              */
    TCT_SCALARS = 16
};

typedef enum tct_bad {
    BAD_NONE = 0,
    BAD_CURVATURE,
    BAD_RESIDUAL,
    BAD_TIME /* a wait on the device took too long */
} tct_bad;

typedef enum tct_step {
    STEP_CG_ALPHA, /* alpha = (r, r) / (p, A p)          */
    STEP_CG_BETA,  /* beta  = (r, r) / (r, r)_old        */
    STEP_SINGLE,   /* Chronopoulos and Gear 1989         */
    STEP_PIPE_PR   /* Chen and Carson 2020               */
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
    if (!(curvature > 0.0) || !step_finite(curvature)) {
        c[C_BAD] = BAD_CURVATURE;
        c[C_BAD_VALUE] = curvature;
        return 0;
    }
    return 1;
}

TCT_BOTH void step_cg_alpha(double *c)
{
    c[C_RR_OLD] = c[C_RR];
    if (step_sound(c, c[C_PT])) c[C_ALPHA] = c[C_RR] / c[C_PT];
}

TCT_BOTH void step_cg_beta(double *c)
{
    c[C_BETA] = c[C_RR_OLD] > 0.0 ? c[C_RR] / c[C_RR_OLD] : 0.0;
}

/* beta = (r, r) / (r, r)_old, alpha = (r, r) / (delta - beta (r, r) / alpha_old);
 * at a start (r, r)_old is 0: beta = 0, alpha = (r, r) / delta. */
TCT_BOTH void step_single(double *c)
{
    const double rr = c[C_RR], old = c[C_RR_OLD], alpha_old = c[C_ALPHA];
    const int first = !(old > 0.0);
    const double beta = first ? 0.0 : rr / old;
    const double curvature =
        first ? c[C_DELTA] : c[C_DELTA] - beta * rr / alpha_old;
    if (step_sound(c, curvature)) {
        c[C_ALPHA] = rr / curvature;
        c[C_RR_OLD] = rr;
    }
    c[C_BETA] = beta;
}

/* alpha = nu / mu, beta = (nu - 2 alpha (r, s) + alpha^2 (s, s)) / nu: the
 * next (r, r) is predicted, and recomputed by the next sum. */
TCT_BOTH void step_pipe_pr(double *c)
{
    const double nu = c[C_RR];
    c[C_BETA] = 0.0;
    if (step_sound(c, c[C_MU])) {
        const double alpha = nu / c[C_MU];
        const double next =
            nu - 2.0 * alpha * c[C_RS] + alpha * alpha * c[C_SS];
        c[C_ALPHA] = alpha;
        c[C_BETA] = next > 0.0 ? next / nu : 0.0;
    }
}

TCT_BOTH void tct_step_run(tct_step step, double *c)
{
    switch (step) {
    case STEP_CG_ALPHA: step_cg_alpha(c); break;
    case STEP_CG_BETA: step_cg_beta(c); break;
    case STEP_SINGLE: step_single(c); break;
    case STEP_PIPE_PR: step_pipe_pr(c); break;
    }
}

#endif
