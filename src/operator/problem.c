/* SPDX-License-Identifier: BSD-3-Clause
 * operator/problem.c - the manufactured problem and distances between
 * vectors. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "operator/operator.h"
#include <math.h>

/* ||work|| over all ranks; overwrites work [n + 1]. */
static tacit_status norm_of(tacit_queue *q, size_t n, double *work, double *out)
{
    double total = 0.0, factor = 1.0;
    for (int i = 0; i < 2; i++) { /* again if squares leave the range */
        q_norm(q, n, work, &work[n]);
        q_sum(q, 1, &work[n]);
        q_get(q, 1, &work[n], &total);
        if ((total > 0x1p-900 && total < 0x1p900) || i == 1) break;
        factor = total < 1.0 ? 0x1p600 : 0x1p-600;
        q_scale(q, n, factor, work);
    }
    *out = sqrt(total) / factor;
    return tct_agree(q->world, q_own_status(q));
}

tacit_status tacit_queue_distance(tacit_queue *queue, size_t n, const double *x,
                                  const double *y, double *out)
{
    REQUIRE(queue != NULL, out != NULL, n == 0 || x != NULL);
    q_enter(queue);
    double *work = NULL, norm = 0.0;
    tacit_status status = tacit_queue_alloc(queue, n + 1, &work);
    status = tct_agree(queue->world, status);
    if (status >= 0) {
        q_copy(queue, n, x, work);
        if (y) q_axpy(queue, n, -1.0, NULL, y, work);
        status = norm_of(queue, n, work, &norm);
        if (status >= 0) *out = norm;
    }
    tacit_queue_free(queue, &work);
    return status;
}

typedef struct {
    const tacit_matrix *m;
    int64_t seed, first;
    double *piece; /* of rows from `first` on */
} randoms;

static void draw_rows(void *work, int64_t from, int64_t to)
{
    const randoms *r = work;
    for (int64_t j = from; j < to; j++)
        r->piece[j] =
            2.0 * tct_uniform((uint64_t)r->seed,
                              (uint64_t)tct_original(r->m, r->first + j)) -
            1.0;
}

/* Uniform in [-1, 1] by original row number, for any partition. */
static tacit_status random_rows(tacit_queue *q, const tacit_matrix *m,
                                int64_t seed, double *x)
{
    enum { PIECE = 65536 };
    double *piece = NULL;
    TRY(TCT_ALLOC(PIECE, "a random vector", &piece));
    for (int64_t i = 0; i < m->A.rows; i += PIECE) {
        const int64_t n = m->A.rows - i < PIECE ? m->A.rows - i : PIECE;
        tct_parallel(n, TCT_SHORT, draw_rows, &(randoms){m, seed, i, piece});
        q_put(q, (size_t)n, piece, x + i);
    }
    tct_free(piece);
    return TACIT_OK;
}

tacit_status tacit_operator_manufacture(const tacit_operator *A,
                                        const tacit_matrix *matrix,
                                        int64_t seed, double *xstar, double *b)
{
    REQUIRE(A != NULL, matrix != NULL);
    tacit_queue *queue = A->q;
    const int64_t rows = A->n;
    REQUIRE(rows == 0 || xstar != NULL, rows == 0 || b != NULL);
    TCT_THREADS_OF(queue->team);
    q_enter(queue);
    TRY(tct_agree(A->world, random_rows(queue, matrix, seed, xstar)));
    const size_t n = (size_t)A->n;
    double norm = 0.0;
    TRY(tacit_queue_distance(queue, n, xstar, NULL, &norm));
    if (norm > 0.0) q_scale(queue, n, 1.0 / norm, xstar);
    (void)tacit_operator_apply(A, xstar, b); /* the queue keeps its status */
    return tct_agree(A->world, q_own_status(queue));
}
