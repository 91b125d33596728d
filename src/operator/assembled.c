/* SPDX-License-Identifier: BSD-3-Clause
 * operator/assembled.c - the distributed product with a matrix: the local block
 * is multiplied during the exchange. */
#include "operator/assembled.h"
#include "operator/choice/rental.h"
#include "operator/host/ghost.h"

/* --- products ------------------------------------------------------------- */

static void count(const tct_assembled *A, int products)
{
    if (A->rental) A->rental->counted += products;
}

void tct_assembled_apply(const tct_assembled *A, const tct_block *local,
                         tacit_queue *q, const double *x, double *y,
                         double *dot)
{
    tct_exchange *e = A->plan ? &A->plan->base : NULL;
    if (e) q_exchange_begin(q, e, tct_single(x));
    q_multiply(q, local, x, y, dot);
    if (e) q_exchange_end(q, e, 1);
    if (A->ghost) q_multiply_add(q, A->device_ghost, e, 0, y, x, dot);
}

void tct_assembled_dots(const tct_assembled *A, const tct_block *local,
                        tacit_queue *q, const double *p, const double *r,
                        double *s, double *out)
{
    if (!A->plan) {
        q_multiply_dots(q, local, p, r, s, out);
        return;
    }
    tct_assembled_apply(A, local, q, p, s, out); /* complete only with ghosts */
    q_dots(q, (size_t)A->base.n, r, s, out + 1);
}

/* The pass `all` of columns [first, first + count) of the batch, with one
 * exchange. */
static void pass_batch(const tct_assembled *A, const tct_block *local,
                       tacit_queue *q, const tct_op *all, int first, int count)
{
    tct_exchange *e = &A->plan->base;
    const tct_panel x = tct_columns(&all->x, first, count);
    const tct_op of = tct_op_system(all, first);
    q_exchange_begin(q, e, x);
    if (all->batch.count > 1) q->batch.count = count;
    q_multiply_pass(q, local, x.at, all->pass, of.alpha, of.beta,
                    (const double *const *)of.v, of.out);
    q->batch = all->batch;
    q_exchange_end(q, e, count);
    for (int j = 0; A->ghost && j < count; j++) {
        const tct_op one = tct_op_system(all, first + j);
        q_multiply_add_pass(q, A->device_ghost, e, j, &one);
    }
}

bool tct_assembled_pass(const tct_assembled *A, const tct_block *local,
                        tacit_queue *q, const double *x, tct_pass pass,
                        const double *alpha, const double *beta,
                        const double *const *v, double *out)
{
    if (!local->takes_pass) return false;
    if (!A->plan) {
        q_multiply_pass(q, local, x, pass, alpha, beta, v, out);
        return true;
    }
    tct_op all = {.pass = pass,
                  .alpha = alpha,
                  .beta = beta,
                  .out = out,
                  .x = q_panel(q, x),
                  .batch = q->batch};
    enum { VECTORS = 5 }; /* of relax and of smooth */
    for (int k = 0; k < VECTORS; k++) all.v[k] = (double *)(uintptr_t)v[k];
    const int batch = all.x.columns, most = A->plan->base.columns;
    for (int j = 0; j < batch; j += most)
        pass_batch(A, local, q, &all, j, batch - j < most ? batch - j : most);
    return true;
}

/* As many columns as an exchange takes. */
static void apply_columns(const tct_assembled *A, const tct_block *local,
                          tacit_queue *q, tct_panel X, tct_panel Y)
{
    tct_exchange *e = A->plan ? &A->plan->base : NULL;
    if (e) q_exchange_begin(q, e, X);
    q_multiply_block(q, local, X, Y);
    if (e) q_exchange_end(q, e, X.columns);
    for (int j = 0; A->ghost && j < X.columns; j++)
        q_multiply_add(q, A->device_ghost, e, j, tct_column(&Y, j),
                       tct_column(&X, j), NULL);
}

void tct_assembled_block(const tct_assembled *A, const tct_block *local,
                         tacit_queue *q, tct_panel X, tct_panel Y)
{
    const int most = A->plan ? A->plan->base.columns : X.columns;
    for (int j = 0; j < X.columns; j += most) {
        const int left = X.columns - j, columns = left < most ? left : most;
        apply_columns(A, local, q, tct_columns(&X, j, columns),
                      tct_columns(&Y, j, columns));
    }
}

static void assembled_apply(const tacit_operator *A, tacit_queue *q,
                            const double *x, double *y, double *dot)
{
    count(tct_assembled_of(A), 1);
    tct_assembled_apply(tct_assembled_of(A), A->local, q, x, y, dot);
}

static void assembled_dots(const tacit_operator *A, tacit_queue *q,
                           const double *p, const double *r, double *s,
                           double *out)
{
    count(tct_assembled_of(A), 1);
    tct_assembled_dots(tct_assembled_of(A), A->local, q, p, r, s, out);
}

static bool assembled_pass(const tacit_operator *A, tacit_queue *q,
                           const double *x, tct_pass pass, const double *alpha,
                           const double *beta, const double *const *v,
                           double *out)
{
    if (A->local->takes_pass) count(tct_assembled_of(A), 1);
    return tct_assembled_pass(tct_assembled_of(A), A->local, q, x, pass, alpha,
                              beta, v, out);
}

static void assembled_block(const tacit_operator *A, tacit_queue *q,
                            tct_panel X, tct_panel Y)
{
    count(tct_assembled_of(A), X.columns);
    tct_assembled_block(tct_assembled_of(A), A->local, q, X, Y);
}

static void assembled_magnitude(const tacit_operator *A, tacit_queue *q,
                                const double *x, double *y)
{
    const tct_assembled *a = tct_assembled_of(A);
    tct_exchange *e = a->plan ? &a->plan->base : NULL;
    if (e) q_exchange_begin(q, e, tct_single(x));
    if (e) q_exchange_end(q, e, 1);
    if (q_own_status(q) < 0) return; /* waits */
    A->local->ops->magnitude(A->local, x, y);
    if (a->ghost) tct_ghost_add_magnitude(a->ghost, e->ghost, y);
}

/* --- the exchange --------------------------------------------------------- */

tacit_status tct_assembled_plan(tct_assembled *A, int columns)
{
    const int32_t *now = A->order ? A->order->now : NULL;
    tct_plan *plan = NULL;
    TRY(tct_plan_create(A->base.q, A->starts, A->ghost_id, A->ghosts, now,
                        columns, &plan));
    tct_plan_destroy(&A->plan);
    A->plan = plan;
    A->base.plan = plan;
    return TACIT_OK;
}

static tacit_status assembled_columns(tacit_operator *A, int columns)
{
    tct_assembled *a = tct_assembled_of(A);
    if (!a->plan || columns <= a->plan->base.columns) return TACIT_OK;
    TRY(tct_agree(A->world, q_own_status(A->q))); /* the queue is idle */
    TRY(tct_assembled_plan(a, columns));
    A->version++;
    return TACIT_OK;
}

static tct_exchange *assembled_exchange(const tacit_operator *A)
{
    const tct_assembled *a = tct_assembled_of(A);
    return a->plan ? &a->plan->base : NULL;
}

/* --- the rest ------------------------------------------------------------- */

/* The diagonal is kept if the format cannot give it. */
static tacit_status assembled_diagonal(const tacit_operator *A, double *d)
{
    const tct_assembled *a = tct_assembled_of(A);
    const size_t n = (size_t)A->n;
    double *told = NULL;
    if (!a->diagonal) {
        TRY(TCT_ALLOC(n, "the diagonal", &told));
        a->stored.format->diagonal(a->stored.block, told);
    }
    q_put(A->q, n, told ? told : a->diagonal, d);
    const tacit_status status = q_own_status(A->q);
    tct_free(told);
    return status;
}

static const tacit_trial *assembled_trial(const tacit_operator *A, int i)
{
    const tct_stored *s = &tct_assembled_of(A)->stored;
    return i >= 0 && i < s->trial_count ? &s->trials[i] : NULL;
}

static const tacit_decision *assembled_decision(const tacit_operator *A, int i)
{
    const tct_rental *r = tct_assembled_of(A)->rental;
    return r && i >= 0 && i < r->tells ? &r->told[i] : NULL;
}

static void assembled_destroy(tacit_operator *A)
{
    tct_assembled *a = tct_assembled_of(A);
    tct_rental_close(a);
    tct_stored_clear(&a->stored);
    tct_order_destroy(A->q, &a->order);
    if (a->device_ghost && a->device_ghost != a->ghost)
        a->device_ghost->ops->destroy(a->device_ghost);
    if (a->ghost) a->ghost->ops->destroy(a->ghost);
    tct_plan_destroy(&a->plan);
    TCT_FREE(a->diagonal, a->ghost_id, a->starts);
}

const tct_operator_ops tct_assembled_ops = {.name = "assembled",
                                            .apply = assembled_apply,
                                            .apply_dots = assembled_dots,
                                            .apply_pass = assembled_pass,
                                            .apply_block = assembled_block,
                                            .magnitude = assembled_magnitude,
                                            .diagonal = assembled_diagonal,
                                            .exchange = assembled_exchange,
                                            .columns = assembled_columns,
                                            .update = tct_assembled_update,
                                            .trial = assembled_trial,
                                            .run_begins = tct_rental_run_begins,
                                            .checked = tct_rental_checked,
                                            .settle = tct_rental_settle,
                                            .decision = assembled_decision,
                                            .destroy = assembled_destroy};
