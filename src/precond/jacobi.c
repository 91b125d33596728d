/* SPDX-License-Identifier: BSD-3-Clause
 * precond/jacobi.c - M = D^-1, D the diagonal of A. */
#include "matrix/matrix.h"
#include "operator/pattern/order.h"
#include "precond/precond.h"
#include <math.h>
#include <stdio.h>

typedef struct {
    bool positive; /* the absolute values of D */
} jacobi_options;

static const tct_option table[] = {{TCT_OPTION(jacobi_options, positive)},
                                   {.bytes = 0}};

typedef struct {
    tct_precond base;
    double *inverse; /* [n] on the device, with room for sums */
    bool positive;   /* of |D| */
} jacobi;

static void jacobi_apply(const tacit_operator *M, tacit_queue *q,
                         const double *x, double *y, double *dot)
{
    const jacobi *J = (const jacobi *)(const void *)M;
    const size_t n = (size_t)M->n;
    q->batch.shared = 1; /* all columns share the diagonal */
    q_pass(q, times, n, (NULL, NULL), (J->inverse, x, y),
           dot ? dot : &J->inverse[n]);
    q->batch.shared = 0;
}

static bool jacobi_for_batch(const tacit_operator *M, const tacit_queue *q)
{
    (void)M;
    (void)q;
    return true;
}

static tct_resident_view jacobi_view(const tct_precond *M)
{
    const jacobi *J = (const jacobi *)(const void *)M;
    return (tct_resident_view){.diagonal = J->inverse};
}

static void jacobi_destroy(tacit_operator *M)
{
    tacit_queue_free(M->q, &((jacobi *)(void *)M)->inverse);
}

/* Row `i` of `A`, which stores it in an order of its own, has diagonal `d`.
 * Without the matrix (NULL) rows of several ranks have no other number. A norm
 * takes `positive` values, and has its own advice. */
static tacit_status refuse(const tacit_operator *A, const tacit_matrix *matrix,
                           bool positive, int64_t i, double d)
{
    char rank[32] = "";
    int64_t row = A->order ? A->order->old[i] : i;
    if (matrix) row = tct_original(matrix, row);
    else if (A->world->size > 1)
        snprintf(rank, sizeof rank, " of rank %d", A->world->rank);
    FAIL(TACIT_INPUT,
         "preconditioner jacobi: row %lld%s has %g on the diagonal, which "
         "cannot be divided by%s",
         (long long)row + 1, rank, d,
         positive ? "" : ": take another preconditioner, or none");
}

/* Invert the diagonal in `d` [rows of A], `positive`: its absolute values. */
static tacit_status invert(const tacit_operator *A, const tacit_matrix *matrix,
                           bool positive, double *d)
{
    enum { PIECE = 4096 };
    double piece[PIECE];
    for (int64_t i = 0; i < A->n; i += PIECE) {
        const int64_t left = A->n - i;
        const size_t n = (size_t)(left < PIECE ? left : PIECE);
        q_get(A->q, n, d + i, piece);
        for (size_t k = 0; k < n; k++) {
            if (piece[k] == 0.0 || !isfinite(1.0 / piece[k]))
                return refuse(A, matrix, positive, i + (int64_t)k, piece[k]);
            piece[k] = 1.0 / (positive ? fabs(piece[k]) : piece[k]);
        }
        q_put(A->q, n, piece, d + i);
    }
    return q_own_status(A->q);
}

static tacit_status invert_diagonal(const tacit_operator *A,
                                    const tacit_matrix *matrix, bool positive,
                                    double **out)
{
    TRY(tacit_queue_alloc(A->q, (size_t)A->n + TCT_BATCH_SCALARS, out));
    TRY(tct_operator_diagonal(A, *out));
    return invert(A, matrix, positive, *out);
}

/* The operator gives its diagonal. */
static tacit_status jacobi_renew(tct_precond *M, const tacit_matrix *matrix)
{
    jacobi *J = (jacobi *)(void *)M;
    double *fresh = NULL, *unwanted = NULL;
    const tacit_status status = tct_agree(
        M->op.world, invert_diagonal(M->made_for, matrix, J->positive, &fresh));
    unwanted = status < 0 ? fresh : J->inverse;
    if (status >= 0) J->inverse = fresh;
    tacit_queue_free(M->op.q, &unwanted);
    return status;
}

static tacit_status jacobi_setup(tct_precond *M, const tct_precond_source *from)
{
    jacobi *J = (jacobi *)(void *)M;
    J->positive = ((const jacobi_options *)from->options)->positive;
    return invert_diagonal(M->made_for, from->matrix, J->positive, &J->inverse);
}

const tct_precond_kind tct_precond_jacobi = {
    .about = {.name = "jacobi",
              .summary = "the diagonal",
              .resident = TCT_PRECOND_DIAGONAL},
    .op = {.name = "jacobi",
           .apply = jacobi_apply,
           .for_batch = jacobi_for_batch,
           .destroy = jacobi_destroy},
    .bytes = sizeof(jacobi),
    .options = {table},
    .options_size = sizeof(jacobi_options),
    .setup = jacobi_setup,
    .renew = jacobi_renew,
    .view = jacobi_view};
