/* SPDX-License-Identifier: BSD-3-Clause
 * operator/backward.c - the normwise and the componentwise backward error.
 *
 * [Hi02] Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.
 *        (2002), chapter 7: theorem 7.1, in the maximum norm; theorem 7.3. */
#include "operator/backward.h"
#include "comm/setup/alltoall.h"
#include "device/decorators.h"
#include <math.h>

double tct_max_magnitude(tacit_queue *q, size_t n, const double *v)
{
    enum { PIECE = 1 << 20 };
    double *piece = NULL, most = 0.0;
    const size_t room = n < PIECE ? n + 1 : PIECE;
    if (TCT_ALLOC(room, "a piece of a vector", &piece) < 0) return HUGE_VAL;
    for (size_t i = 0; i < n; i += room) {
        const size_t k = n - i < room ? n - i : room;
        q_get(q, k, v + i, piece);
        for (size_t j = 0; j < k; j++)
            if (!(fabs(piece[j]) <= most))
                most = isfinite(piece[j]) ? fabs(piece[j]) : HUGE_VAL;
    }
    tct_free(piece);
    return most;
}

bool tct_is_finite_shifted(const tacit_operator *A, tacit_queue *q,
                           const double *x, int by)
{
    int exponent = 0;
    double most = tct_max_magnitude(q, (size_t)A->n, x);
    if (tct_reduce_f64(A->world, TCT_MAX, 1, &most) < 0) return false;
    (void)frexp(most, &exponent);
    return isfinite(most) && exponent + by <= 1024;
}

double tct_backward_error(const tacit_operator *A, tacit_queue *q,
                          const double *r, const double *x, const double *b,
                          double sigma)
{
    const size_t n = (size_t)A->n;
    double most[3] = {0.0, 0.0, 0.0};
    if (!(A->norm > 0.0) || q->peers_know) return NAN;
    most[0] = tct_max_magnitude(q, n, r);
    most[1] = tct_max_magnitude(q, n, x);
    most[2] = tct_max_magnitude(q, n, b) * sigma;
    if (tct_reduce_f64(A->world, TCT_MAX, 3, most) < 0) return NAN;
    if (!isfinite(most[0] + most[1] + most[2])) return NAN;
    return most[0] == 0.0 ? 0.0 : most[0] / (A->norm * most[1] + most[2]);
}

/* The largest |r| / (s + |b|) of a row; infinity if one is not a number. */
static double worst_row(size_t n, const double *r, const double *s,
                        const double *b)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double all = s[i] + fabs(b[i]);
        const double is = r[i] == 0.0 ? 0.0 : fabs(r[i]) / all;
        if (!(is <= most)) most = isfinite(is) ? is : HUGE_VAL;
        if (!isfinite(all)) most = HUGE_VAL;
    }
    return most;
}

/* The same of vectors on the device, piece by piece. */
static double worst_there(tacit_queue *q, size_t n, const double *r,
                          const double *s, const double *b)
{
    enum { PIECE = 1 << 20 };
    const size_t room = n < PIECE ? n + 1 : PIECE;
    double *piece = NULL, most = 0.0;
    if (TCT_ALLOC(3 * room, "pieces of vectors", &piece) < 0) return HUGE_VAL;
    for (size_t i = 0; i < n; i += room) {
        const size_t k = n - i < room ? n - i : room;
        q_get(q, k, r + i, piece);
        q_get(q, k, s + i, piece + room);
        q_get(q, k, b + i, piece + 2 * room);
        if (q_own_status(q) < 0) break;
        most = fmax(most, worst_row(k, piece, piece + room, piece + 2 * room));
    }
    tct_free(piece);
    return most;
}

/* memcheck keeps the host out of vectors that other loops read in place, and a
 * device of threads beside it out of its own. */
static bool is_guarded(const tacit_queue *q)
{
    if (q->device->kind == TCT_KIND_HOST && q->device->seen) return true;
    for (const tct_layer *l = q->top; l; l = l->below)
        if (l->ops == &tct_layer_memcheck) return true;
    return false;
}

/* Can all ranks form |A| |x|? Blocks of a GPU may differ. */
static bool all_have_magnitude(const tacit_operator *A, const tacit_queue *q)
{
    bool missing = !tct_has_magnitude(A) || is_guarded(q);
    if (!A->ops->magnitude) return false;
    return tct_any(A->world, missing, &missing) >= 0 && !missing;
}

bool tct_form_magnitude(const tacit_operator *A, tacit_queue *q, double *x,
                        double *s)
{
    const size_t n = (size_t)A->n;
    if (!all_have_magnitude(A, q)) return false;
    if (q->device->kind == TCT_KIND_HOST && q_own_status(q) >= 0) /* waits */
        for (size_t i = 0; i < n; i++) x[i] = fabs(x[i]);
    A->ops->magnitude(A, q, x, s);
    return true;
}

double tct_componentwise_error(const tacit_operator *A, tacit_queue *q,
                               const double *r, double *x, const double *b,
                               double *s)
{
    const size_t n = (size_t)A->n;
    const bool host = q->device->kind == TCT_KIND_HOST;
    double most = HUGE_VAL;
    if (!tct_form_magnitude(A, q, x, s)) return NAN;
    if (q_own_status(q) >= 0)
        most = host ? worst_row(n, r, s, b) : worst_there(q, n, r, s, b);
    if (tct_reduce_f64(A->world, TCT_MAX, 1, &most) < 0) return NAN;
    return isfinite(most) ? most : (double)NAN;
}
