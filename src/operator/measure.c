/* SPDX-License-Identifier: BSD-3-Clause
 * operator/measure.c - the parts of an iteration, alone: enqueued many times,
 * waited for once. */
#include "operator/operator.h"

/* Wait for `times` enqueued operations since `start`; returns the seconds of
 * one. */
static tacit_status finish(tacit_queue *q, double start, int64_t times,
                           double *seconds)
{
    TRY(q_status(q));
    *seconds = (tct_seconds() - start) / (double)times;
    return TACIT_OK;
}

tacit_status tacit_queue_measure_sum(tacit_queue *queue, int count,
                                     int64_t times, double *seconds)
{
    REQUIRE(queue != NULL, seconds != NULL, times > 0);
    _Static_assert(TCT_SUM_MOST == 1024, "tacit/queue.h says so");
    if (count < 1 || count > TCT_SUM_MOST)
        FAIL(TACIT_INVALID, "a sum of %d values: expected 1 to %d", count,
             TCT_SUM_MOST);
    q_enter(queue);
    double *x = NULL;
    TRY(tct_agree(queue->world, tacit_queue_alloc(queue, (size_t)count, &x)));
    (void)tacit_queue_fill(queue, (size_t)count, 0.0, x); /* queue has status */
    const double start = tct_seconds();
    for (int64_t i = 0; i < times; i++) q_sum(queue, count, x);
    const tacit_status status = finish(queue, start, times, seconds);
    tacit_queue_free(queue, &x);
    return status;
}

tacit_status tacit_operator_measure_product(const tacit_operator *A,
                                            int64_t times, const double *x,
                                            double *y, double *seconds)
{
    REQUIRE(A != NULL, seconds != NULL, times > 0);
    const int64_t rows = A->n;
    REQUIRE(rows == 0 || x != NULL, rows == 0 || y != NULL);
    TRY(tct_agree(A->world, tct_refuse_overlap(A, x, y, __func__)));
    q_enter(A->q);
    const double start = tct_seconds();
    for (int64_t i = 0; i < times; i++) apply(A, A->q, x, y);
    return finish(A->q, start, times, seconds);
}

tacit_status tacit_operator_measure_exchange(const tacit_operator *A,
                                             int vectors, int64_t times,
                                             const double *x, const double *y,
                                             double *seconds)
{
    REQUIRE(A != NULL, seconds != NULL, times > 0);
    REQUIRE(vectors >= 1, vectors <= 2);
    const int64_t rows = A->n;
    REQUIRE(rows == 0 || x != NULL, rows == 0 || vectors == 1 || y != NULL);
    tct_exchange *e = A->ops->exchange ? A->ops->exchange(A) : NULL;
    if (!e)
        FAIL(TACIT_UNSUPPORTED, "%s",
             A->ops->exchange
                 ? "one process exchanges nothing"
                 : "the operator is a function: its exchanges are its own");
    const tct_panel what = vectors == 1 ? tct_single(x) : tct_pair(x, y);
    q_enter(A->q);
    const double start = tct_seconds();
    for (int64_t i = 0; i < times; i++) {
        q_exchange_begin(A->q, e, what);
        q_exchange_end(A->q, e, vectors);
    }
    return finish(A->q, start, times, seconds);
}
