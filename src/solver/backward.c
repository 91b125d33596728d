/* SPDX-License-Identifier: BSD-3-Clause
 * solver/backward.c - tacit_backward_error. */
#include "operator/backward.h"
#include "solver/run.h"
#include <math.h>
#include <tacit/solver.h>

typedef struct {
    const double *b, *x;       /* the caller's                              */
    double *r, *own_b, *own_x; /* r = b - A x; b and x in the order of A    */
    double *s;                 /* |A| |x|                                   */
} vectors;

static tacit_status open_vectors(const tacit_operator *A, vectors *v)
{
    const size_t n = (size_t)A->n;
    TRY(tacit_queue_alloc(A->q, n, &v->r));
    TRY(tacit_queue_alloc(A->q, n, &v->own_x));
    if (tct_has_magnitude(A)) TRY(tacit_queue_alloc(A->q, n, &v->s));
    return tacit_queue_alloc(A->q, n, &v->own_b);
}

static void close_vectors(const tacit_operator *A, vectors *v)
{
    tacit_queue_free(A->q, &v->r);
    tacit_queue_free(A->q, &v->own_x);
    tacit_queue_free(A->q, &v->own_b);
    tacit_queue_free(A->q, &v->s);
}

static void enter(const tacit_operator *A, const double *from, double *to)
{
    const size_t n = (size_t)A->n;
    if (A->order) tct_order_permute_in(A->order, A->q, n, from, to);
    else q_copy(A->q, n, from, to);
}

/* sqrt of the sum of squares over the ranks; `c` is a double on the device. */
static double norm(const tacit_operator *A, const double *v, double *c)
{
    double sum = NAN;
    q_norm(A->q, (size_t)A->n, v, c);
    q_sum(A->q, 1, c);
    q_get(A->q, 1, c, &sum);
    return sqrt(sum);
}

/* The exponent of 2 of b, or if b = 0 of x, where squares of norms might not be
 * doubles; else 0. Collective. */
static int far_exponent(const tacit_operator *A, const vectors *v)
{
    static const double LEAST = 0x1p-200, MOST = 0x1p200;
    const size_t n = (size_t)A->n;
    double most[] = {tct_max_magnitude(A->q, n, v->own_b),
                     tct_max_magnitude(A->q, n, v->own_x)};
    int exponent = 0;
    if (tct_reduce_f64(A->world, TCT_MAX, 2, most) < 0) return 0;
    const double size = most[0] > 0.0 ? most[0] : most[1];
    if (size == 0.0 || !isfinite(size)) return 0;
    if (size < LEAST || size > MOST) frexp(size, &exponent);
    return exponent;
}

/* b and x, scaled alike, x also to that of A as stored, and b - A x. */
static void form(const tacit_operator *A, vectors *v)
{
    tacit_queue *q = A->q;
    const size_t n = (size_t)A->n;
    enter(A, v->b, v->own_b);
    enter(A, v->x, v->own_x);
    const int by = -far_exponent(A, v);
    tct_shift(q, n, by, v->own_b);
    tct_shift(q, n, by + A->exponent, v->own_x);
    apply(A, q, v->own_x, v->r);
    q_aypx(q, n, -1.0, NULL, v->own_b, v->r);
}

static void measure(const tacit_operator *A, vectors *v, double *c,
                    tacit_backward *out)
{
    tacit_queue *q = A->q;
    form(A, v);
    const double norm_b = norm(A, v->own_b, c), norm_x = norm(A, v->own_x, c);
    out->residual = norm(A, v->r, c) / norm_b;
    double sum = A->norm * norm_x;
    if (A->norm > 0.0 && A->local)
        out->normwise = tct_backward_error(A, q, v->r, v->own_x, v->own_b, 1.0);
    out->componentwise =
        tct_componentwise_error(A, q, v->r, v->own_x, v->own_b, v->s);
    if (isfinite(out->componentwise)) sum = fmin(sum, norm(A, v->s, c));
    if (A->norm > 0.0) out->attainable = 0x1p-52 * (sum / norm_b + 1.0);
}

tacit_status tacit_backward_error(const tacit_operator *A, const double *b,
                                  const double *x, tacit_backward *out)
{
    REQUIRE(A != NULL, out != NULL);
    tacit_backward came_to = {.residual = NAN,
                              .normwise = NAN,
                              .attainable = NAN,
                              .componentwise = NAN};
    vectors v = {.b = b, .x = x};
    double *c = NULL;
    tacit_status status = tct_check_sized("tacit_backward", out);
    if (status >= 0 && A->n > 0 && (!b || !x))
        status = tacit_error_set(
            TACIT_INVALID,
            "the backward error of a solution needs b and x: one is NULL");
    q_enter(A->q);
    if (status >= 0) status = open_vectors(A, &v);
    if (status >= 0) status = tacit_queue_alloc(A->q, 1, &c);
    status = tct_agree(A->world, status);
    if (status >= 0) measure(A, &v, c, &came_to);
    if (status >= 0) status = tct_agree(A->world, q_own_status(A->q));
    tacit_queue_free(A->q, &c);
    close_vectors(A, &v);
    if (status >= 0) tct_write_sized(&came_to, sizeof came_to, out);
    return status;
}
