/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/rows.c - row data for smoothers; indices on the device. */
#include "device/parallel.h"
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/amg.h"
#include <math.h>
#include <string.h>

/* One look over the entries of a row: its diagonal, and the sum of |a|. */
static double look_over(const tct_csr *A, int64_t i, double *sum)
{
    const int64_t own = A->first + i;
    double diagonal = 0.0;
    *sum = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        *sum += fabs(A->val[k]);
        if (tct_csr_col(A, k) == own) diagonal = A->val[k];
    }
    return diagonal;
}

enum { PARTS = 64 }; /* of a matrix for several threads */

typedef struct {
    const tct_csr *A;
    const tct_order *order;
    int exponent, parts;
    tct_amg_rows *out;
    double bound[PARTS];
    bool bad[PARTS]; /* a diagonal is not positive */
} summing;

static void sum_rows(void *work, int64_t part)
{
    summing *s = work;
    const int64_t n = s->A->rows;
    double bound = 0.0;
    for (int64_t k = tct_part_first(n, (int)part, s->parts);
         k < tct_part_first(n, (int)part + 1, s->parts); k++) {
        const int64_t i = s->order ? s->order->old[k] : k;
        double sum;
        const double d = look_over(s->A, i, &sum);
        s->bad[part] = s->bad[part] || !(d > 0.0);
        s->out->diagonal[k] = s->exponent ? ldexp(d, -s->exponent) : d;
        s->out->sum[k] = s->exponent ? ldexp(sum, -s->exponent) : sum;
        if (sum / d > bound) bound = sum / d;
    }
    s->bound[part] = bound;
}

tacit_status tct_amg_rows_of(const tacit_matrix *m, const tct_order *order,
                             int exponent, tct_amg_rows *out)
{
    const int64_t n = m->A.rows;
    *out = (tct_amg_rows){.bound = 0.0};
    TRY(TCT_ALLOC(n, "a preconditioner", &out->diagonal));
    TRY(TCT_ALLOC(n, "a preconditioner", &out->sum));
    summing s = {.A = &m->A,
                 .order = order,
                 .exponent = exponent,
                 .parts = n > TCT_SHORT ? PARTS : 1,
                 .out = out};
    bool bad = false;
    tct_parallel_each(s.parts, sum_rows, &s);
    for (int p = 0; p < s.parts; p++) {
        out->bound = fmax(out->bound, s.bound[p]);
        bad = bad || s.bad[p];
    }
    return bad ? tct_check_diagonal(m, "preconditioner amg") : TACIT_OK;
}

void tct_amg_rows_free(tct_amg_rows *rows)
{
    if (rows->queue) {
        tacit_queue_free(rows->queue, &rows->diagonal);
        tacit_queue_free(rows->queue, &rows->sum);
    }
    TCT_FREE(rows->diagonal, rows->sum);
    *rows = (tct_amg_rows){.bound = 0.0};
}

tacit_status tct_amg_put(tacit_queue *q, size_t count, const int32_t *numbers,
                         double **out)
{
    const size_t words = count / 2; /* two numbers each */
    double last = 0.0;
    TRY(tacit_queue_alloc(q, words + count % 2, out));
    q_put(q, words, (const double *)(const void *)numbers, *out);
    if (count % 2 != 0) {
        memcpy(&last, numbers + 2 * words, sizeof *numbers);
        q_put(q, 1, &last, *out + words);
    }
    return q_own_status(q);
}

tacit_status tct_amg_put_values(tacit_queue *q, size_t count,
                                const double *values, double **out)
{
    TRY(tacit_queue_alloc(q, count, out));
    q_put(q, count, values, *out);
    return q_own_status(q);
}
