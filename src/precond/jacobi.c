/* SPDX-License-Identifier: BSD-3-Clause
 * precond/jacobi.c - M = D^-1, D the diagonal of A. */
#include "precond/precond.h"
#include <math.h>

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

/* Invert the diagonal in `d` [rows of A], `positive`: its absolute values. */
static tacit_status invert(const tacit_operator *A, bool positive, double *d)
{
    enum { PIECE = 4096 };
    double piece[PIECE];
    for (int64_t i = 0; i < A->n; i += PIECE) {
        const int64_t left = A->n - i;
        const size_t n = (size_t)(left < PIECE ? left : PIECE);
        q_get(A->q, n, d + i, piece);
        for (size_t k = 0; k < n; k++) {
            if (piece[k] == 0.0 || !isfinite(1.0 / piece[k]))
                FAIL(TACIT_INPUT,
                     "preconditioner jacobi: an entry of the diagonal is %g, "
                     "which cannot be divided by",
                     piece[k]);
            piece[k] = 1.0 / (positive ? fabs(piece[k]) : piece[k]);
        }
        q_put(A->q, n, piece, d + i);
    }
    return q_own_status(A->q);
}

static tacit_status invert_diagonal(const tacit_operator *A, bool positive,
                                    double **out)
{
    TRY(tacit_queue_alloc(A->q, (size_t)A->n + TCT_BATCH_SCALARS, out));
    TRY(tct_operator_diagonal(A, *out));
    return invert(A, positive, *out);
}

/* The operator gives its diagonal. */
static tacit_status jacobi_renew(tct_precond *M, const tacit_matrix *matrix)
{
    jacobi *J = (jacobi *)(void *)M;
    double *fresh = NULL, *unwanted = NULL;
    (void)matrix;
    const tacit_status status = tct_agree(
        M->op.world, invert_diagonal(M->made_for, J->positive, &fresh));
    unwanted = status < 0 ? fresh : J->inverse;
    if (status >= 0) J->inverse = fresh;
    tacit_queue_free(M->op.q, &unwanted);
    return status;
}

static tacit_status jacobi_setup(tct_precond *M, const tct_precond_source *from)
{
    jacobi *J = (jacobi *)(void *)M;
    J->positive = ((const jacobi_options *)from->options)->positive;
    return invert_diagonal(M->made_for, J->positive, &J->inverse);
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
