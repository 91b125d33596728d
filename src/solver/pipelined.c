/* SPDX-License-Identifier: BSD-3-Clause
 * solver/pipelined.c - pipelined conjugate gradients.
 *
 * [GV14] Ghysels and Vanroose, "Hiding global synchronization latency in the
 *        preconditioned conjugate gradient algorithm", Parallel Computing 40
 *        (2014), algorithm 3; names as in the paper.
 *
 * The one sum of an iteration is under way while n = A w is formed. s = A p,
 * z = A s and w = A r come from recurrences, whose rounding errors feed each
 * other; every REPLACE_EVERY iterations they are formed anew (residual
 * replacement, Cools et al. 2018; but r stays as it is: exchanging it was seen
 * to cost iterations).
 *
 * With that A p - s is still 1e4 times what it is in cg. That does no harm as
 * long as residuals stay orthogonal, and much when they do not any more: so the
 * first iterations are those of `single`, this method takes over where r has
 * stayed orthogonal to r_0 by then, and gives back when (r, r_0), looked at
 * every LOOK_EVERY iterations, says so (step_lost). */
#include "solver/solver.h"

enum { REPLACE_EVERY = 50, REPLACE_PRODUCTS = 3, LOOK_EVERY = 10 };

static void replace(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    double *c = S->c;
    double *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *z = S->v[4];
    apply(A, q, p, s);                  /* s = A p                 */
    apply(A, q, s, z);                  /* z = A s                 */
    apply_dot(A, q, r, w, &c[C_DELTA]); /* w = A r, delta = (w, r) */
    S->result->replacements++;
}

/* The first iteration, from r and p: alpha = rr / (p, s), all else formed. */
static void begin(tacit_solver *S)
{
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    const size_t N = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA];
    double *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *z = S->v[4];
    apply_dot(A, q, p, s, &c[C_PT]); /* s = A p                 */
    apply(A, q, s, z);               /* z = A s                 */
    apply(A, q, r, w);               /* w = A r                 */
    q_sum(q, 1, &c[C_PT]);
    q_step(q, STEP_CG_ALPHA, c);                  /* alpha = rr / (p, s)     */
    q_axpy(q, N, +1, alpha, p, S->x);             /* x = x + alpha p         */
    q_axpy_norm(q, N, -1, alpha, s, r, &c[C_RR]); /* r = r - alpha s         */
    q_axpy(q, N, -1, alpha, z, w);                /* w = w - alpha z         */
    q_dot(q, N, w, r, &c[C_DELTA]);
    S->k++;
    S->result->extra_products += 2;
}

/* --- with a preconditioner: u = M r, q = M s, m = M w -------------------------- */

static void replace_all(tacit_solver *S)
{
    tacit_queue *Q = S->q;
    const tacit_operator *A = S->A, *M = S->M;
    double *c = S->c;
    double *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *z = S->v[4], *u = S->z, *q = S->y[0];
    apply(A, Q, p, s);                      /* s = A p                 */
    apply(M, Q, s, q);                      /* q = M s                 */
    apply(A, Q, q, z);                      /* z = A q                 */
    apply_dot(M, Q, r, u, &c[C_RZ]);        /* u = M r, rz = (r, u)    */
    apply_dot(A, Q, u, w, &c[C_DELTA + 1]); /* w = A u, delta = (w, u) */
}

static void begin_with_precond(tacit_solver *S)
{
    tacit_queue *Q = S->q;
    const size_t N = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA];
    double *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *z = S->v[4], *u = S->z, *q = S->y[0];
    if (!S->resumed) {
        apply(S->M, Q, r, u);
        q_copy(Q, N, u, p); /* p = u */
    }
    replace_all(S);
    q_dot(Q, N, p, s, &c[C_PT]);
    q_sum(Q, 4, &c[C_RZ]);                        /* to C_PT */
    q_step(Q, STEP_CG_ALPHA_M, c);                /* alpha = rz / (p, s)     */
    q_axpy(Q, N, +1, alpha, p, S->x);             /* x = x + alpha p         */
    q_axpy_norm(Q, N, -1, alpha, s, r, &c[C_RR]); /* r = r - alpha s         */
    q_axpy(Q, N, -1, alpha, q, u);                /* u = u - alpha q         */
    q_axpy(Q, N, -1, alpha, z, w);                /* w = w - alpha z         */
    q_dot(Q, N, r, u, &c[C_RZ]);
    q_dot(Q, N, w, u, &c[C_DELTA + 1]);
    S->k++;
    S->result->extra_products += 2;
}

static void with_precond(tacit_solver *S)
{
    tacit_queue *Q = S->q;
    const tacit_operator *A = S->A, *M = S->M;
    const size_t N = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = S->x, *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *z = S->v[4], *n = S->v[5];
    double *u = S->z, *q = S->y[0], *m = S->y[1];

    begin_with_precond(S);
    /* clang-format off */
    for (int64_t i = 1;; i++) {
        const bool look = i % LOOK_EVERY == 0;
        if (look) q_dot(Q, N, r, S->v[V_REF], &c[C_REF + 1]);
        q_sum_begin(Q, look ? 4 : 3, &c[C_RR]); /* rr, rz, delta: sum ...   */
        apply(M, Q, w, m);                    /* m = M w                    */
        apply(A, Q, m, n);                    /* n = A m                    */
        q_sum_end(Q, look ? 4 : 3, &c[C_RR]); /*   ... done                 */
        if (look) q_step(Q, STEP_LOST_M, c);
        if (tct_done(S)) return;
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
        S->k++;
        if (i % REPLACE_EVERY != 0) continue;
        replace_all(S);
        S->result->replacements++;
    }
    /* clang-format on */
}

static void pipelined_iterate(tacit_solver *S)
{
    if (S->M) {
        with_precond(S);
        return;
    }
    tacit_queue *q = S->q;
    const tacit_operator *A = S->A;
    const size_t N = S->n;
    double *c = S->c, *alpha = &c[C_ALPHA], *beta = &c[C_BETA];
    double *x = S->x, *r = S->v[V_R], *p = S->v[V_P], *w = S->v[V_T];
    double *s = S->v[3], *z = S->v[4], *n = S->v[5];

    begin(S);
    /* clang-format off */
    for (int64_t i = 1;; i++) {
        const bool look = i % LOOK_EVERY == 0;
        if (look) q_dot(q, N, r, S->v[V_REF], &c[C_REF]);
        q_sum_begin(q, look ? 3 : 2, &c[C_RR]); /* rr, delta: sum ...       */
        apply(A, q, w, n);                    /* n = A w                    */
        q_sum_end(q, look ? 3 : 2, &c[C_RR]); /*   ... done                 */
        if (look) q_step(q, STEP_LOST, c);
        if (tct_done(S)) return;
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
        S->k++;
        if (i % REPLACE_EVERY == 0) replace(S);
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
    .leaves_last = true,
    .first = &tct_method_single,
    .rescue = &tct_method_single,
    .iterate = pipelined_iterate,
};
