/* SPDX-License-Identifier: BSD-3-Clause
 * solver/methods/pipelined.c - pipelined conjugate gradients.
 *
 * [GV14] Ghysels and Vanroose, "Hiding global synchronization latency in the
 *        preconditioned conjugate gradient algorithm", Parallel Computing 40
 *        (2014), algorithm 3; names as in the paper.
 *
 * The sum of an iteration overlaps with n = A w. s = A p, z = A s and w = A r
 * come from recurrences, whose rounding errors feed each other; every
 * REPLACE_EVERY iterations they are formed anew (residual replacement, Cools et
 * al. 2018, without r: a new r costs iterations).
 *
 * Even so A p - s is 1e4 times as large as in cg. That does no harm while
 * residuals are orthogonal. So `single` makes the first iterations, and this
 * method takes over if r is still orthogonal to r_0. It gives back when (r,
 * r_0), checked every LOOK_EVERY iterations, shows a loss (step_lost). */
#include "solver/run.h"

enum { REPLACE_EVERY = 50, REPLACE_PRODUCTS = 3, LOOK_EVERY = 10 };

static void replace(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A;
    double *c = R->c;
    double *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *z = R->v[4];
    apply(A, q, p, s);                  /* s = A p                 */
    apply(A, q, s, z);                  /* z = A s                 */
    apply_dot(A, q, r, w, &c[C_DELTA]); /* w = A r, delta = (w, r) */
    R->result->replacements++;
}

/* The first iteration, from r and p: alpha = rr / (p, s), all else formed. */
static void begin(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A;
    const size_t N = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA];
    double *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *z = R->v[4];
    if (!R->resumed) q_copy(q, N, r, p); /* p = r               */
    apply_dot(A, q, p, s, &c[C_PT]);     /* s = A p             */
    apply(A, q, s, z);                   /* z = A s                 */
    apply(A, q, r, w);                   /* w = A r                 */
    q_sum(q, 1, &c[C_PT]);
    q_step(q, STEP_CG_ALPHA, c);                  /* alpha = rr / (p, s)     */
    q_axpy(q, N, +1, alpha, p, R->x);             /* x = x + alpha p         */
    q_axpy_norm(q, N, -1, alpha, s, r, &c[C_RR]); /* r = r - alpha s         */
    q_axpy(q, N, -1, alpha, z, w);                /* w = w - alpha z         */
    q_dot(q, N, w, r, &c[C_DELTA]);
    R->k++;
    R->result->extra_products += 2;
}

/* --- with a preconditioner: u = M r, q = M s, m = M w --------------------- */

static void replace_all(tct_run *R)
{
    tacit_queue *Q = R->q;
    const tacit_operator *A = R->A, *M = R->M;
    double *c = R->c;
    double *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *z = R->v[4], *u = R->z, *q = R->y[0];
    apply(A, Q, p, s);                      /* s = A p                 */
    apply(M, Q, s, q);                      /* q = M s                 */
    apply(A, Q, q, z);                      /* z = A q                 */
    apply_dot(M, Q, r, u, &c[C_RZ]);        /* u = M r, rz = (r, u)    */
    apply_dot(A, Q, u, w, &c[C_DELTA + 1]); /* w = A u, delta = (w, u) */
}

static void begin_with_precond(tct_run *R)
{
    tacit_queue *Q = R->q;
    const size_t N = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA];
    double *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *z = R->v[4], *u = R->z, *q = R->y[0];
    if (!R->resumed) {
        apply(R->M, Q, r, u);
        q_copy(Q, N, u, p); /* p = u */
    }
    replace_all(R);
    q_dot(Q, N, p, s, &c[C_PT]);
    q_sum(Q, 4, &c[C_RZ]);                        /* to C_PT */
    q_step(Q, STEP_CG_ALPHA_M, c);                /* alpha = rz / (p, s)     */
    q_axpy(Q, N, +1, alpha, p, R->x);             /* x = x + alpha p         */
    q_axpy_norm(Q, N, -1, alpha, s, r, &c[C_RR]); /* r = r - alpha s         */
    q_axpy(Q, N, -1, alpha, q, u);                /* u = u - alpha q         */
    q_axpy(Q, N, -1, alpha, z, w);                /* w = w - alpha z         */
    q_dot(Q, N, r, u, &c[C_RZ]);
    q_dot(Q, N, w, u, &c[C_DELTA + 1]);
    R->k++;
    R->result->extra_products += 2;
}

static void pipelined_with_precond(tct_run *R)
{
    tacit_queue *Q = R->q;
    const tacit_operator *A = R->A, *M = R->M;
    const size_t N = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *z = R->v[4], *n = R->v[5];
    double *u = R->z, *q = R->y[0], *m = R->y[1];

    begin_with_precond(R);
    /* clang-format off */
    for (int64_t i = 1;; i++) {
        const bool look = !R->pure && i % LOOK_EVERY == 0;
        if (look) q_dot(Q, N, r, R->v[V_REF], &c[C_REF + 1]);
        q_sum_begin(Q, look ? 4 : 3, &c[C_RR]); /* rr, rz, delta: sum ...   */
        apply(M, Q, w, m);                    /* m = M w                    */
        apply(A, Q, m, n);                    /* n = A m                    */
        q_sum_end(Q, look ? 4 : 3, &c[C_RR]); /*   ... done                 */
        if (look) q_step(Q, STEP_LOST_M, c);
        if (tct_done(R)) return;
        q_step(Q, STEP_PIPELINED_M, c);       /* beta  = rz / rz'
                                                 alpha = rz / (delta
                                                     - beta rz / alpha')    */
        q_pass(Q, pipelined_m_update, N, (alpha, beta),
               (n, z, q, m, s, w, u, p, r, x),
               &c[C_RR]);                     /* z = n + beta z
                                                 q = m + beta q
                                                 s = w + beta s
                                                 p = u + beta p
                                                 x = x + alpha p
                                                 r = r - alpha s
                                                 u = u - alpha q
                                                 w = w - alpha z            */
        R->k++;
        if (R->pure || i % REPLACE_EVERY != 0) continue;
        replace_all(R);
        R->result->replacements++;
    }
    /* clang-format on */
}

static void pipelined_iterate(tct_run *R)
{
    tacit_queue *q = R->q;
    const tacit_operator *A = R->A;
    const size_t N = R->n;
    double *c = R->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = R->x, *r = R->v[V_R], *p = R->v[V_P], *w = R->v[V_T];
    double *s = R->v[3], *z = R->v[4], *n = R->v[5];

    begin(R);
    /* clang-format off */
    for (int64_t i = 1;; i++) {
        const bool look = !R->pure && i % LOOK_EVERY == 0;
        if (look) q_dot(q, N, r, R->v[V_REF], &c[C_REF]);
        q_sum_begin(q, look ? 3 : 2, &c[C_RR]); /* rr, delta: sum ...       */
        apply(A, q, w, n);                    /* n = A w                    */
        q_sum_end(q, look ? 3 : 2, &c[C_RR]); /*   ... done                 */
        if (look) q_step(q, STEP_LOST, c);
        if (tct_done(R)) return;
        q_step(q, STEP_PIPELINED, c);         /* beta  = rr / rr'
                                                 alpha = rr / (delta
                                                     - beta rr / alpha')    */
        q_pass(q, pipelined_update, N, (alpha, beta), (n, z, s, w, p, r, x),
               &c[C_RR]);                     /* z = n + beta z
                                                 s = w + beta s
                                                 p = r + beta p
                                                 x = x + alpha p
                                                 r = r - alpha s
                                                 w = w - alpha z            */
        R->k++;
        if (!R->pure && i % REPLACE_EVERY == 0) replace(R);
    }
    /* clang-format on */
}

const tct_method tct_method_pipelined = {
    .about = {.name = "pipelined",
              .summary = "one hidden reduction (Ghysels and Vanroose 2014), "
                         "vectors replaced every 50 iterations",
              .products = 1,
              .reductions = 1,
              .scalars = 2,
              .hidden = true,
              .vectors = 7,
              .precond_vectors = 3,
              .replace_every = REPLACE_EVERY,
              .replace_products = REPLACE_PRODUCTS,
              .look_every = LOOK_EVERY,
              .first_by = "single",
              .first = 50},
    .inferred = true,
    .distrusted = true,
    .leaves_last = true,
    .first = &tct_method_single,
    .rescue = &tct_method_single,
    .lanczos = BETA_BEFORE,
    .iterate = pipelined_iterate,
    .with_precond = pipelined_with_precond,
};
