/* SPDX-License-Identifier: BSD-3-Clause
 * operator/backward.h - the backward error of a solution: how little A and b
 * must change for x to solve A x = b exactly. */
#ifndef TCT_OPERATOR_BACKWARD_H
#define TCT_OPERATOR_BACKWARD_H
#include "operator/operator.h"

/* A solution whose backward error is at most this is as good as rounding
 * allows. */
#define TCT_BACKWARD_LEAST (10.0 * 0x1p-52)

/* ||r|| / (||A|| ||x|| + ||b||) in maximum norms, 0/0 being 0, for r = b - A x:
 * vectors on the device, in the order and scale of A as stored, and `b` times
 * `sigma`. NAN: A's norm is not known, or a vector is not finite. Reads the
 * vectors. Collective. */
double tct_backward_error(const tacit_operator *A, tacit_queue *q,
                          const double *r, const double *x, const double *b,
                          double sigma);

/* Can |A| |x| be formed? Of entries, on the host and by lossless stores of a
 * GPU. */
static inline bool tct_has_magnitude(const tacit_operator *A)
{
    const bool host = A->q->device->kind == TCT_KIND_HOST;
    return A->ops->magnitude && (host || A->local->magnitude);
}
/* s = |A| |x|, of vectors on the device; on the host `x` becomes |x|. False: a
 * rank cannot form it, and nothing is done. Collective. */
bool tct_form_magnitude(const tacit_operator *A, tacit_queue *q, double *x,
                        double *s);

/* The largest |r|_i / (|A| |x| + |b|)_i of a row, 0/0 being 0, for r = b - A x:
 * vectors on the device as above; on the host `x` becomes |x|; `s` is scratch.
 * NAN: a rank cannot form |A| |x|, or a vector is not finite. Collective. */
double tct_componentwise_error(const tacit_operator *A, tacit_queue *q,
                               const double *r, double *x, const double *b,
                               double *s);

/* The largest magnitude of v [n], on the device; infinity if one is not
 * finite. */
double tct_max_magnitude(tacit_queue *q, size_t n, const double *v);
/* Are all entries of 2^by x finite? The norm of x may exceed the range of
 * doubles though none does. Collective. */
bool tct_is_finite_shifted(const tacit_operator *A, tacit_queue *q,
                           const double *x, int by);
#endif
