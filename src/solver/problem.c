/* SPDX-License-Identifier: BSD-3-Clause
 * solver/problem.c - the manufactured problem and distances between vectors. */
#include "matrix/matrix.h"
#include "solver/solver.h"
#include <math.h>

tacit_status tacit_distance(tacit_queue *queue, size_t n, const double *x,
                            const double *y, double *out)
{
    REQUIRE(queue != NULL && out != NULL);
    double *work = NULL, total = 0.0;
    tacit_status status = tacit_queue_alloc(queue, n + 1, &work);
    status = tct_agree(queue->world, status);
    if (status >= 0) {
        q_copy(queue, n, x, work);
        if (y) q_axpy(queue, n, -1.0, NULL, y, work);
        q_norm(queue, n, work, &work[n]);
        q_sum(queue, 1, &work[n]);
        q_get(queue, 1, &work[n], &total);
        status = tct_agree(queue->world, q_own_status(queue));
        if (status >= 0) *out = sqrt(total);
    }
    tacit_queue_free(queue, &work);
    return status;
}

/* Uniform in [-1, 1] by original row number, the same for any ranks. */
static tacit_status random_rows(tacit_queue *q, const tacit_matrix *m,
                                int64_t seed, double *x)
{
    enum { PIECE = 65536 };
    double *piece = NULL;
    TRY(TCT_ALLOC(PIECE, "a random vector", &piece));
    for (int64_t i = 0; i < m->A.rows; i += PIECE) {
        const int64_t n = m->A.rows - i < PIECE ? m->A.rows - i : PIECE;
#pragma omp parallel for schedule(static)
        for (int64_t j = 0; j < n; j++)
            piece[j] = 2.0 * tct_uniform((uint64_t)seed,
                                         (uint64_t)tct_original(m, i + j)) -
                       1.0;
        q_put(q, (size_t)n, piece, x + i);
    }
    tct_free(piece);
    return TACIT_OK;
}

tacit_status tacit_manufacture(tacit_queue *queue, const tacit_operator *A,
                               const tacit_matrix *matrix, int64_t seed,
                               double *xstar, double *b)
{
    REQUIRE(queue != NULL && A != NULL && matrix != NULL);
    REQUIRE(A->n == 0 || (xstar != NULL && b != NULL));
    TRY(tct_agree(A->world, random_rows(queue, matrix, seed, xstar)));
    const size_t n = (size_t)A->n;
    double norm = 0.0, scale;
    TRY(tacit_distance(queue, n, xstar, NULL, &norm));
    scale = norm > 0.0 ? 1.0 / norm : 1.0;
    /* x* = 0 + x* / norm, through b and a scalar on the device */
    double *device_scale = NULL;
    TRY(tct_agree(A->world, tacit_queue_alloc(queue, 1, &device_scale)));
    q_put(queue, 1, &scale, device_scale);
    q_copy(queue, n, xstar, b);
    q_fill(queue, n, 0.0, xstar);
    q_axpy(queue, n, 1.0, device_scale, b, xstar);
    apply(A, queue, xstar, b);
    const tacit_status status = tct_agree(A->world, q_own_status(queue));
    tacit_queue_free(queue, &device_scale);
    return status;
}
