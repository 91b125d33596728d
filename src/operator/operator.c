/* SPDX-License-Identifier: BSD-3-Clause
 * operator/operator.c - the products and public functions of operators of every
 * kind. */
#include "device/parallel.h"
#include "operator/null/null_space.h"

static bool is_block(const tacit_operator *A, const tacit_queue *q)
{
    if (q->batch.count <= 1) return false;
    return !A->ops->for_batch || !A->ops->for_batch(A, q);
}

void tct_apply(const tacit_operator *A, tacit_queue *q, const double *x,
               double *y)
{
    if (is_block(A, q)) apply_block(A, q, q_panel(q, x), q_panel(q, y));
    else A->ops->apply(A, q, x, y, NULL);
}

void apply_dot(const tacit_operator *A, tacit_queue *q, const double *x,
               double *y, double *dot)
{
    if (is_block(A, q)) {
        apply(A, q, x, y);
        q_dot(q, (size_t)A->n, x, y, dot);
    } else {
        A->ops->apply(A, q, x, y, dot);
    }
}

void apply_dots(const tacit_operator *A, tacit_queue *q, const double *p,
                const double *r, double *s, double *out)
{
    if (A->ops->apply_dots && q->batch.count <= 1) {
        A->ops->apply_dots(A, q, p, r, s, out);
        return;
    }
    apply_dot(A, q, p, s, out);
    q_dots(q, (size_t)A->n, r, s, out + 1);
}

void apply_pass(const tacit_operator *A, tacit_queue *q, const double *x,
                tct_pass pass, const double *alpha, const double *beta,
                const double *const *v, double *out)
{
    double *const t = (double *)(uintptr_t)v[1];
    if (A->ops->apply_pass &&
        A->ops->apply_pass(A, q, x, pass, alpha, beta, v, out))
        return;
    apply(A, q, x, t);
    q_run_pass(q, pass, (size_t)A->n, 1.0, alpha, beta, v,
               out ? out : t + A->n);
}

void apply_pair(const tacit_operator *A, tacit_queue *q, const double *x0,
                double *y0, const double *x1, double *y1)
{
    if (q->batch.count <= 1) {
        apply_block(A, q, tct_pair(x0, x1), tct_pair(y0, y1));
        return;
    }
    apply(A, q, x0, y0);
    apply(A, q, x1, y1);
}

/* Column by column, each as its own system. */
static void apply_columns_alone(const tacit_operator *A, tacit_queue *q,
                                tct_panel X, tct_panel Y)
{
    const tct_system_batch all = q->batch;
    q->batch = (tct_system_batch){0};
    for (int j = 0; j < X.columns; j++)
        A->ops->apply(A, q, tct_column(&X, j), tct_column(&Y, j), NULL);
    q->batch = all;
}

void apply_block(const tacit_operator *A, tacit_queue *q, tct_panel X,
                 tct_panel Y)
{
    if (A->ops->apply_block) A->ops->apply_block(A, q, X, Y);
    else apply_columns_alone(A, q, X, Y);
}

tacit_status tct_operator_diagonal(const tacit_operator *A, double *d)
{
    if (!A->ops->diagonal)
        FAIL(TACIT_UNSUPPORTED, "the operator does not tell its diagonal");
    TRY(A->ops->diagonal(A, d));
    return tct_null_diagonal(A, d);
}

tacit_status tct_operator_columns(tacit_operator *A, int columns)
{
    ENSURE(columns >= 1 && columns <= TCT_COLUMNS_MOST);
    return A->ops->columns ? A->ops->columns(A, columns) : TACIT_OK;
}

/* --- public --------------------------------------------------------------- */

tacit_status tct_refuse_overlap(const tacit_operator *A, const double *x,
                                const double *y, const char *function)
{
    const size_t n = (size_t)A->n;
    if (!tct_overlap(x, n, y, n)) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "%s: x and y share memory: y is written while x is needed, so they "
         "must be two vectors",
         function);
}

tacit_status tacit_operator_apply(const tacit_operator *A, const double *x,
                                  double *y)
{
    REQUIRE(A != NULL);
    const size_t n = (size_t)A->n;
    REQUIRE(n == 0 || x != NULL, n == 0 || y != NULL);
    TRY(tct_refuse_overlap(A, x, y, __func__));
    q_enter(A->q);
    const tct_order *o = A->order;
    if (o) tct_order_permute_in(o, A->q, n, x, o->x);
    apply(A, A->q, o ? o->x : x, o ? o->y : y);
    if (o) tct_order_permute_out(o, A->q, n, o->y, y);
    tct_unscale(A, A->q, y);
    return q_status(A->q);
}

tacit_status tacit_operator_update(tacit_operator *A,
                                   const tacit_matrix *matrix)
{
    REQUIRE(A != NULL, matrix != NULL);
    TRY(tct_refuse_use(A, __func__));
    TCT_THREADS_OF(A->q->team);
    q_enter(A->q);
    if (A->ops->update) return A->ops->update(A, matrix);
    return tct_agree(A->world,
                     tacit_error_set(TACIT_INVALID,
                                     "tacit_operator_update: the operator is a "
                                     "function, without values of a matrix"));
}

int64_t tacit_operator_local_rows(const tacit_operator *A)
{
    return A ? A->n : 0;
}

tacit_status tacit_operator_describe(const tacit_operator *A,
                                     tacit_operator_info *out)
{
    REQUIRE(A != NULL, out != NULL);
    TRY(tct_check_sized("tacit_operator_info", out));
    tct_write_sized(&A->info, sizeof A->info, out);
    return TACIT_OK;
}

const tacit_decision *tacit_operator_decision_at(const tacit_operator *A, int i)
{
    return A && A->ops->decision ? A->ops->decision(A, i) : NULL;
}

const tacit_trial *tacit_operator_trial_at(const tacit_operator *A, int i)
{
    return A && A->ops->trial ? A->ops->trial(A, i) : NULL;
}

void tacit_operator_destroy(tacit_operator **A)
{
    if (!A || !*A) return;
    tacit_operator *a = *A;
    if (tct_is_used(a)) {
        tct_refuse_destroy(__func__, "operator");
        return;
    }
    q_enter(a->q);
    tacit_operator_destroy(&a->low);
    if (a->ops && a->ops->destroy) a->ops->destroy(a);
    tct_null_close(&a->null);
    tct_free(a);
    *A = NULL;
}
