/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/cycle.c - M r, a cycle that begins with x = 0: smooth,
 * visit the next level, smooth.
 *
 * [Br95] Braess, "Towards algebraic multigrid for elliptic problems of second
 *        order", Computing 55 (1995): over-correction.
 *
 * With S symmetric, M = 2 S - S A S + (I - S A) w P M' P' (I - A S): symmetric,
 * and positive definite where the smoother converges and M' is. In a W the next
 * level's M' is 2 M' - M' A' M', which takes w = 1. In a K it is not linear,
 * and so M is not. */
#include "operator/null/null_space.h"
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
    const size_t n = (size_t)next->n;
    if (M->fused && next == &M->level[M->fused_from]) {
        q_multiply(q, M->fused, next->b, next->x, NULL);
        return;
    }
    if (next->c && next != last) tct_amg_kcycle(M, q, next);
    else tct_amg_cycle(M, q, next, next->b, next->x, NULL);
    if (!M->twice || next == last) return;
    apply(next->A, q, next->x, next->b2); /* x' = x' + M' (b' - A' x') */
    q_aypx(q, n, -1, NULL, next->b, next->b2);
    tct_amg_cycle(M, q, next, next->b2, next->x2, NULL);
    q_axpy(q, n, +1, NULL, next->x2, next->x);
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

static void amg_apply(const tacit_operator *M, tacit_queue *q, const double *x,
                      double *y, double *dot)
{
    const tct_amg *m = (const tct_amg *)(const void *)M;
    tct_amg_cycle(m, q, m->level, x, y, dot);
}

static void amg_destroy(tacit_operator *M)
{
    tct_amg_clear((tct_amg *)(void *)M);
}

/* --- the kind ------------------------------------------------------------- */

/* Are given near-null vectors null vectors of a matrix known to be singular? */
static tacit_status offer_null(const tct_precond *M, const tct_amg_options *o,
                               const tacit_matrix *matrix)
{
    tacit_operator *A = (tacit_operator *)(uintptr_t)M->made_for;
    if (!A->null || !o->near_null) return TACIT_OK;
    return tct_null_add(A, matrix, o->vectors, o->near_null, false);
}

static tacit_status amg_setup(tct_precond *base, const tct_precond_source *from)
{
    tct_amg *M = (tct_amg *)(void *)base;
    const tct_amg_options *o = from->options;
    const tct_near_null_options smooth = {o->node_rows, o->vectors,
                                          o->near_null};
    TRY(offer_null(base, o, from->matrix));
    M->about.size = sizeof M->about;
    tct_amg_take(M, o);
    return tct_amg_build(M, from->matrix, &smooth, NULL);
}

static void describe(const tct_precond *M, tacit_precond_info *out)
{
    *out = ((const tct_amg *)(const void *)M)->about;
}

static const tacit_precond_level *level_at(const tct_precond *M, int i)
{
    const tct_amg *m = (const tct_amg *)(const void *)M;
    if (i < 0 || i >= m->about.levels) return NULL;
    const int before = m->levels - 1;
    return m->alone.M && i >= before ? &m->alone.M->level[i - before].about
                                     : &m->level[i].about;
}

const tct_precond_kind tct_precond_amg = {
    .about = {.name = "amg",
              .summary = "algebraic multigrid, of the entries of the matrix",
              .of_matrix = true},
    .op = {.name = "amg",
           .apply = amg_apply,
           .for_batch = tct_amg_for_batch,
           .columns = tct_amg_columns,
           .destroy = amg_destroy},
    .bytes = sizeof(tct_amg),
    .options = {tct_amg_table},
    .options_size = sizeof(tct_amg_options),
    .check = tct_amg_check,
    .load = tct_amg_load,
    .setup = amg_setup,
    .renew = tct_amg_renew,
    .describe = describe,
    .level = level_at,
    .expensive = true,
    .sweeps = 120.0,
    .products = 6.5,
    .entry_bytes = 16.0,
    .row_bytes = 60.0};
