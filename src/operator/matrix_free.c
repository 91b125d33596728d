/* SPDX-License-Identifier: BSD-3-Clause
 * operator/matrix_free.c - an operator that is a user's function. */
#include "operator/operator.h"
#include <math.h>

typedef struct {
    tacit_operator base;
    tacit_operator_function user;
    tct_call_log log; /* of its last successful call */
} function;

static const function *function_of(const tacit_operator *A)
{
    return (const function *)(const void *)A;
}

/* Does this rank know the function's exchanges? */
static bool is_known(const tacit_queue *q, const tct_call_log *log)
{
    return log->count > 0 && log->count <= TCT_CALL_MOST &&
           log->freed == q->freed;
}

/* The exchanges of a call from number `first` on, after a failure of the queue:
 * other ranks wait for the messages, whose values do not matter. */
static void exchange_rest(tacit_queue *q, const tct_call_log *log, int first)
{
    if (q->ranks == 1 || !is_known(q, log)) return;
    for (int i = first; i < log->count; i++) {
        tct_exchange *e = log->made[i].exchange;
        const int columns = log->made[i].columns;
        if (log->made[i].end) q_exchange_end(q, e, columns);
        else q_exchange_begin(q, e, tct_panel_in(e->element, NULL, 0, columns));
    }
}

/* Called in the order of the queue. After a failure of the queue the function
 * is called only if its exchanges are not known otherwise. */
static tacit_status call(void *ctx, tacit_queue *q, const double *x, double *y)
{
    function *A = ctx;
    if (q->failed != TACIT_OK && is_known(q, &A->log)) {
        exchange_rest(q, &A->log, 0);
        return TACIT_OK;
    }
    tct_call_log log = {.freed = q->freed};
    q->log = &log;
    const char hidden = tct_user_call_begin();
    tacit_status status = A->user.apply(A->user.ctx, q, x, y);
    status = tct_user_call_end(hidden, status, "apply");
    q->log = NULL;
    q_enter(q);
    if (status >= 0 && q->failed == TACIT_OK) A->log = log;
    if (status >= 0) return TACIT_OK;
    q_fail(q, status, "%s", tacit_error_message()); /* it sends no more */
    exchange_rest(q, &A->log, log.count);
    return status;
}

static void function_apply(const tacit_operator *A, tacit_queue *q,
                           const double *x, double *y, double *dot)
{
    q_call(q, call, (void *)(uintptr_t)A, x, y);
    if (dot) q_dot(q, (size_t)A->n, x, y, dot);
}

static tacit_status call_diagonal(void *ctx, tacit_queue *q, const double *x,
                                  double *d)
{
    const function *A = ctx;
    (void)x;
    const char hidden = tct_user_call_begin();
    const tacit_status status = A->user.diagonal(A->user.ctx, q, d);
    q_enter(q);
    return tct_user_call_end(hidden, status, "diagonal");
}

static tacit_status function_diagonal(const tacit_operator *A, double *d)
{
    const tacit_operator_function *user = &function_of(A)->user;
    if (!user->diagonal)
        FAIL(TACIT_UNSUPPORTED,
             "the operator is a function that does not tell its diagonal: set "
             "`diagonal` of tacit_operator_function");
    q_call(A->q, call_diagonal, (void *)(uintptr_t)A, NULL, d);
    return q_own_status(A->q);
}

static const tct_operator_ops function_ops = {
    .name = "function", .apply = function_apply, .diagonal = function_diagonal};

/* ||A||_2 by the power method, from below; so twice the estimate is
 * returned. */
static tacit_status estimate_norm(tacit_operator *A)
{
    enum { STEPS = 8 };
    const size_t n = (size_t)A->n;
    double *v = NULL, *w = NULL, squared = 0.0;
    tacit_status status = tacit_queue_alloc(A->q, n + 1, &v);
    if (status >= 0) status = tacit_queue_alloc(A->q, n + 1, &w);
    status = tct_agree(A->world, status);
    if (status >= 0) q_fill(A->q, n, 1.0, v);
    for (int i = 0; status >= 0 && i <= STEPS; i++) {
        q_norm(A->q, n, v, &v[n]);
        q_sum(A->q, 1, &v[n]);
        q_get(A->q, 1, &v[n], &squared);
        if (i == STEPS || !(squared > 0.0) || !isfinite(squared)) break;
        q_scale(A->q, n, 1.0 / sqrt(squared), v);
        apply(A, A->q, v, w);
        double *const swap = v;
        v = w;
        w = swap;
    }
    A->norm = isfinite(squared) ? 2.0 * sqrt(squared) : 0.0;
    tacit_queue_free(A->q, &v);
    tacit_queue_free(A->q, &w);
    return status < 0 ? status : tct_agree(A->world, q_own_status(A->q));
}

static tacit_status describe(tacit_operator *A)
{
    A->info.rows = A->n;
    A->info.format = "function";
    A->info.detail = "matrix-free";
    A->info.order = "none";
    A->info.threads = A->q->threads;
    return tct_reduce_i64(A->world, TCT_SUM, 1, &A->info.rows);
}

tacit_status tacit_operator_from_function(tacit_queue *queue, int64_t rows,
                                          const tacit_operator_function *user,
                                          tacit_operator **out)
{
    REQUIRE(queue != NULL, out != NULL, user != NULL);
    q_enter(queue);
    function *A = tct_calloc(sizeof *A);
    tacit_status status =
        A ? tct_read_sized("tacit_operator_function", user, &A->user,
                           sizeof A->user)
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for an operator");
    if (status >= 0 && (!A->user.apply || rows < 0 || !(A->user.norm >= 0.0)))
        status = tacit_error_set(
            TACIT_INVALID, "tacit_operator_from_function: expected apply, rows "
                           "from 0, and a norm of 0 or more");
    status = tct_agree(queue->world, status);
    if (status >= 0) {
        A->base.ops = &function_ops;
        A->base.q = queue;
        A->base.world = queue->world;
        A->base.n = rows;
        A->base.bits = 64;
        A->base.varies = A->user.varies;
        A->base.norm = A->user.norm;
        status = describe(&A->base);
        if (status >= 0 && !(A->user.norm > 0.0))
            status = estimate_norm(&A->base);
    }
    if (status < 0) tct_free(A);
    else *out = &A->base;
    return status;
}
