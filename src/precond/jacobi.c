/* SPDX-License-Identifier: BSD-3-Clause
 * precond/jacobi.c - M = D^-1, D the diagonal of A. */
#include "precond/precond.h"
#include <math.h>

typedef struct {
    tacit_operator base;
    double *inverse; /* [n] on the device, and a place for sums */
} jacobi;

static void jacobi_apply(const tacit_operator *M, tacit_queue *q,
                         const double *x, double *y, double *dot)
{
    const jacobi *J = (const jacobi *)(const void *)M;
    const size_t n = (size_t)M->n;
    q->systems.shared = 1; /* the diagonal is that of all */
    q_pass(q, times, n, (NULL, NULL), (J->inverse, x, y),
           dot ? dot : &J->inverse[n]);
    q->systems.shared = 0;
}

static bool jacobi_for_systems(const tacit_operator *M, const tacit_queue *q)
{
    (void)M;
    (void)q;
    return true;
}

static const double *jacobi_view(const tacit_operator *M)
{
    return ((const jacobi *)(const void *)M)->inverse;
}

static void jacobi_destroy(tacit_operator *M)
{
    tacit_queue_free(M->q, &((jacobi *)(void *)M)->inverse);
}

static const tct_operator_ops jacobi_ops = {.name = "jacobi",
                                            .apply = jacobi_apply,
                                            .for_systems = jacobi_for_systems,
                                            .resident_view = jacobi_view,
                                            .destroy = jacobi_destroy};

/* 1 / d of what is in `inverse`. */
static tacit_status invert(jacobi *J)
{
    enum { PIECE = 4096 };
    double piece[PIECE];
    for (int64_t i = 0; i < J->base.n; i += PIECE) {
        const int64_t left = J->base.n - i;
        const size_t n = (size_t)(left < PIECE ? left : PIECE);
        q_get(J->base.q, n, J->inverse + i, piece);
        for (size_t k = 0; k < n; k++) {
            if (piece[k] == 0.0 || !isfinite(1.0 / piece[k]))
                FAIL(TACIT_INPUT,
                     "preconditioner jacobi: an entry of the diagonal is %g, "
                     "which cannot be divided by",
                     piece[k]);
            piece[k] = 1.0 / piece[k];
        }
        q_put(J->base.q, n, piece, J->inverse + i);
    }
    return q_own_status(J->base.q);
}

tacit_status tct_jacobi_create(const tacit_operator *A,
                               const tct_precond_source *from,
                               tacit_operator **out)
{
    (void)from;
    jacobi *J = tct_calloc(sizeof *J);
    if (!J) FAIL(TACIT_NO_MEMORY, "no memory for a preconditioner");
    *out = &J->base;
    tct_precond_begin(&J->base, &jacobi_ops, A);
    TRY(tacit_queue_alloc(A->q, (size_t)A->n + TCT_SYSTEMS_SCALARS,
                          &J->inverse));
    TRY(tct_operator_diagonal(A, J->inverse));
    return invert(J);
}
