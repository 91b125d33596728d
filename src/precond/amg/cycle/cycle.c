/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/cycle.c - M r, a cycle that begins with x = 0: smooth,
 * visit the next level, smooth.
 *
 * [Br95] Braess, "Towards algebraic multigrid for elliptic problems of second
 *        order", Computing 55 (1995): over-correction.
 *
 * With S symmetric, M = 2 S - S A S + (I - S A) w P M' P' (I - A S): symmetric,
 * and positive definite where the smoother converges and M' is. A W takes a
 * polynomial for M' (wcycle.c). In a K M' is not linear, and so M is not. */
#include "precond/amg/amg.h"

/* --- the cycle ------------------------------------------------------------ */

static void solve_last(const tct_amg *M, tacit_queue *q, const tct_amg_level *L,
                       const double *b, double *x)
{
    if (M->direct) tct_amg_coarsest_solve(&M->coarsest, q, b, x);
    else tct_amg_smooth_zero(&L->smoother, q, b, x, L->smoother.y);
}

/* Solve on the next level, from next->b to next->x. */
static void visit(const tct_amg *M, tacit_queue *q, const tct_amg_level *next)
{
    const tct_amg_level *last = &M->level[M->levels - 1];
    if (M->fused && next == &M->level[M->fused_from]) {
        q_multiply(q, M->fused, next->b, next->x, NULL);
        return;
    }
    if (!next->b2 || next == last)
        tct_amg_cycle(M, q, next, next->b, next->x, NULL);
    else if (M->twice) tct_amg_wcycle(M, q, next);
    else tct_amg_kcycle(M, q, next);
}

void tct_amg_cycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L,
                   const double *b, double *x, double *dot)
{
    const tct_amg_level *last = &M->level[M->levels - 1], *next = L + 1;
    const tct_amg_redistribution *redistribution = &L->down.redistribution;
    const tct_amg_remote *remote = &L->down.remote;
    const tct_amg_smoother *S = &L->smoother;
    const size_t n = (size_t)L->n;
    double *const z = tct_amg_phase(S->how.degree, x, S->y); /* the iterate */
    if (L == last) {
        solve_last(M, q, L, b, x);
        if (dot) q_dot(q, n, b, x, dot);
        return;
    }
    tct_amg_smooth_zero(S, q, b, z, z == x ? S->y : x);
    apply(L->A, q, z, S->t);
    q_restrict(q, &L->down.sets, L->down.listed, b, S->t,
               L->e ? L->e : next->b);
    tct_amg_add_remote(remote, q, L->e ? L->e : next->b);
    if (L->e) tct_amg_send(redistribution->forward, q, L->e, next->b);
    visit(M, q, next);
    if (L->e) tct_amg_send(redistribution->back, q, next->x, L->e);
    tct_amg_scatter(remote, q, L->e ? L->e : next->x);
    q_prolong(q, n, L->down.sets.width, L->factor,
              (const int32_t *)(const void *)L->down.of, L->down.weight,
              L->e ? L->e : next->x, z);
    tct_amg_smooth(S, q, b, x, dot);
}
