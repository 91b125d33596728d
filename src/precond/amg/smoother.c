/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/smoother.c - smoothers: polynomials of D^-1 A, so that S is
 * symmetric, the same before and after the visit to the next level.
 *
 * [AB03] Adams, Brezina, Hu and Tuminaro, "Parallel multigrid smoothing:
 *        polynomial versus Gauss-Seidel", J. Comput. Phys. 188 (2003).
 * [Sa03] Saad, "Iterative methods for sparse linear systems" (2003), algorithm
 *        12.1.
 *
 * Chebyshev's polynomial is small on [upper / ratio, upper]; below 1, which is
 * what the cycle needs to be positive definite, it is up to some 1.2 upper. In
 * l1-jacobi D has the row sums of |a|: it never overshoots. */
#include "precond/amg/there.h"

/* What was found from below, enlarged; the row sums are a bound from above. */
static const double MARGIN = 1.1, JACOBI = 4.0 / 3.0;

/* --- the words --------------------------------------------------------------- */

static const double *alpha_of(const tct_amg_smoother *S, int step)
{
    return S->c + 2 * step;
}

/* One more step, with t = A x or A p. */
static void relax(const tct_amg_smoother *S, tacit_queue *q, int step,
                  const double *b, double *x, double *dot)
{
    const double *c = alpha_of(S, step);
    q_pass(q, relax, (size_t)S->A->n, (c, c + 1), (S->d, S->t, b, x), dot);
}

static void first(const tct_amg_smoother *S, tacit_queue *q, int step,
                  const double *b, double *x)
{
    const double *c = alpha_of(S, step);
    q_pass(q, chebyshev_first, (size_t)S->A->n, (c, c + 1),
           (S->d, S->t, b, x, S->r, S->p), NULL);
}

/* Steps `from` to the last. */
static void go_on(const tct_amg_smoother *S, tacit_queue *q, int from,
                  const double *b, double *x, double *dot)
{
    const size_t n = (size_t)S->A->n;
    for (int k = from; k < S->how.degree; k++) {
        const double *c = alpha_of(S, k);
        apply(S->A, q, S->p, S->t);
        if (k + 1 < S->how.degree)
            q_pass(q, chebyshev_next, n, (c, c + 1),
                   (S->d, S->t, S->r, S->p, x), NULL);
        else
            q_pass(q, chebyshev_last, n, (c, c + 1),
                   (S->d, S->t, S->r, S->p, b, x), dot);
    }
}

static void sweeps(const tct_amg_smoother *S, tacit_queue *q, int count,
                   const double *b, double *x, double *dot)
{
    for (int k = 0; k < count; k++) {
        apply(S->A, q, x, S->t);
        relax(S, q, 0, b, x, dot);
    }
}

/* Where the sums of a pass go that nobody wants. */
static double *nowhere(const tct_amg_smoother *S)
{
    return S->c + 2 * (TCT_AMG_DEGREE_MOST + 1);
}

void tct_amg_smooth_zero(const tct_amg_smoother *S, tacit_queue *q,
                         const double *b, double *x)
{
    const int degree = S->how.degree;
    q_pass(q, times, (size_t)S->A->n, (NULL, NULL), (S->d, b, x), nowhere(S));
    if (S->how.kind != TCT_CHEBYSHEV) {
        sweeps(S, q, degree - 1, b, x, nowhere(S));
        return;
    }
    if (degree == 1) return;
    apply(S->A, q, x, S->t); /* the step before was x, and the residual b */
    if (degree == 2) relax(S, q, degree, b, x, nowhere(S));
    else first(S, q, 1, b, x);
    go_on(S, q, 2, b, x, nowhere(S));
}

void tct_amg_smooth(const tct_amg_smoother *S, tacit_queue *q, const double *b,
                    double *x, double *dot)
{
    double *out = dot ? dot : nowhere(S);
    if (S->how.kind != TCT_CHEBYSHEV || S->how.degree == 1) {
        sweeps(S, q, S->how.degree, b, x, out);
        return;
    }
    apply(S->A, q, x, S->t);
    first(S, q, 0, b, x);
    go_on(S, q, 1, b, x, out);
}

/* --- set-up ------------------------------------------------------------------ */

enum { COEFFICIENTS = 2 * (TCT_AMG_DEGREE_MOST + 1) + 1 };

/* alpha and beta of the steps; behind them, for a polynomial of degree 2, of its
 * second step where the first one was x = d b: x = (1 + beta) x + ... */
static void fill_coefficients(const tct_amg_smoother *S, double *c)
{
    const double upper = S->largest, lower = upper / S->how.ratio;
    const double theta = 0.5 * (upper + lower), delta = 0.5 * (upper - lower);
    const int degree = S->how.degree;
    double rho = delta / theta;
    c[0] = 1.0;
    c[1] = S->how.kind == TCT_CHEBYSHEV && degree > 1 ? 0.0 : 1.0;
    for (int k = 1; k < degree; k++) {
        const double next = 1.0 / (2.0 * theta / delta - rho);
        c[2 * k] = 2.0 * next / delta * theta; /* d has 1 / theta */
        c[2 * k + 1] = next * rho;
        rho = next;
    }
    if (degree == 1) return;
    c[2 * degree] = c[2 * degree - 2];
    c[2 * degree + 1] = 1.0 + c[2 * degree - 1];
}

/* D^-1 times what the first step of the smoother takes. */
static double first_of(const tct_amg_smoother *S)
{
    switch (S->how.kind) {
    case TCT_JACOBI: return JACOBI / S->largest;
    case TCT_L1_JACOBI: return 1.0;
    case TCT_CHEBYSHEV: break;
    }
    return 2.0 / (S->largest + S->largest / S->how.ratio);
}

/* Of what `rows` have. */
static tacit_status put_inverse(const tct_amg_smoother *S,
                                const tct_amg_rows *rows, const double *of,
                                double factor)
{
    const size_t n = (size_t)S->A->n;
    double *host = NULL;
    if (rows->there) {
        tct_amg_there_invert(S->A->q, n, of, factor, S->d);
        return q_own_status(S->A->q);
    }
    TRY(TCT_ALLOC(n, "a smoother", &host));
    for (size_t k = 0; k < n; k++) host[k] = factor / of[k];
    q_put(S->A->q, n, host, S->d);
    tct_free(host);
    return q_own_status(S->A->q);
}

static tacit_status allocate(tct_amg_smoother *S)
{
    tacit_queue *q = S->A->q;
    const size_t n = (size_t)S->A->n;
    TRY(tacit_queue_alloc(q, n, &S->d));
    TRY(tacit_queue_alloc(q, n, &S->t));
    TRY(tacit_queue_alloc(q, COEFFICIENTS, &S->c));
    if (S->how.kind != TCT_CHEBYSHEV || S->how.degree == 1) return TACIT_OK;
    TRY(tacit_queue_alloc(q, n, &S->r));
    return tacit_queue_alloc(q, n, &S->p);
}

/* The end of the interval: at most the largest row sum, of all ranks. */
static tacit_status find_largest(tct_amg_smoother *S, double bound)
{
    double found = 0.0;
    TRY(tct_reduce_f64(S->A->world, TCT_MAX, 1, &bound));
    TRY(tct_amg_largest(S->A, S->d, &found));
    found *= S->how.kind == TCT_CHEBYSHEV ? MARGIN : 1.0;
    S->largest = found > 0.0 && found < bound ? found : bound;
    return TACIT_OK;
}

tacit_status tct_amg_smoother_create(const tacit_operator *A,
                                     const tct_amg_rows *rows,
                                     tct_amg_smoothing how, tct_amg_smoother *S)
{
    const bool l1 = how.kind == TCT_L1_JACOBI;
    double c[COEFFICIENTS] = {0.0};
    *S = (tct_amg_smoother){.A = A, .how = how, .largest = 1.0};
    tacit_status status = allocate(S);
    if (status >= 0) status = put_inverse(S, rows, rows->diagonal, 1.0);
    TRY(tct_agree(A->world, status));
    if (!l1) TRY(find_largest(S, rows->bound));
    status = put_inverse(S, rows, l1 ? rows->sum : rows->diagonal, first_of(S));
    fill_coefficients(S, c);
    if (status >= 0) q_put(A->q, COEFFICIENTS, c, S->c);
    return tct_agree(A->world, status < 0 ? status : q_own_status(A->q));
}

void tct_amg_smoother_free(tacit_queue *q, tct_amg_smoother *S)
{
    double **const all[] = {&S->d, &S->c, &S->t, &S->r, &S->p};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(q, all[i]);
}
