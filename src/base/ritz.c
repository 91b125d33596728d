/* SPDX-License-Identifier: BSD-3-Clause
 * base/ritz.c - eigenvalue estimates from conjugate gradients: their
 * coefficients are those of Lanczos's method. */
#include "base/base.h"
#include <math.h>

enum { HALVINGS = 60 }; /* bisection steps */

/* How many eigenvalues of the tridiagonal matrix with diagonal `d` [n] and
 * squared off-diagonal `e2` [n - 1] are below x, by a Sturm sequence. */
static int count_below(int n, const double *d, const double *e2, double x)
{
    int below = 0;
    double q = 1.0;
    for (int i = 0; i < n; i++) {
        q = d[i] - x - (i > 0 ? e2[i - 1] / q : 0.0);
        if (q == 0.0) q = 1e-300;
        below += q < 0.0;
    }
    return below;
}

double tct_ritz_largest(int steps, const double *alpha, const double *beta)
{
    double d[TCT_RITZ_STEPS], e2[TCT_RITZ_STEPS] = {0}, most = 0.0;
    for (int i = 0; i < steps; i++) {
        if (!(alpha[i] > 0.0) || (i + 1 < steps && !(beta[i] >= 0.0)))
            return 0.0;
        d[i] = 1.0 / alpha[i] + (i > 0 ? beta[i - 1] / alpha[i - 1] : 0.0);
        e2[i] = i + 1 < steps ? beta[i] / alpha[i] / alpha[i] : 0.0;
    }
    for (int i = 0; i < steps; i++) /* Gershgorin */
        most = fmax(most, d[i] + sqrt(e2[i]) + (i > 0 ? sqrt(e2[i - 1]) : 0.0));
    double low = 0.0, high = most;
    if (!isfinite(most)) return 0.0;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        if (count_below(steps, d, e2, middle) == steps) high = middle;
        else low = middle;
    }
    return high;
}

/* --- the condition -------------------------------------------------------- */

/* Diagonal entry i, and the square of that above it, of the matrix of some
 * coefficients. */
static double diagonal_of(const double *alpha, const double *beta, int64_t i)
{
    return 1.0 / alpha[i] + (i > 0 ? beta[i - 1] / alpha[i - 1] : 0.0);
}

static double above_of(const double *alpha, const double *beta, int64_t i)
{
    return i > 0 ? beta[i - 1] / alpha[i - 1] / alpha[i - 1] : 0.0;
}

/* As count_below: are all eigenvalues (`all`), or is any, below x? */
static bool is_below(int64_t n, const double *alpha, const double *beta,
                     double x, bool all)
{
    double q = 1.0;
    for (int64_t i = 0; i < n; i++) {
        q = diagonal_of(alpha, beta, i) - x - above_of(alpha, beta, i) / q;
        if (q == 0.0) q = 1e-300;
        if ((q < 0.0) != all) return !all;
    }
    return all;
}

/* From `at`, beyond the eigenvalue, by factors towards it: the last point that
 * is still beyond. */
static double walk(int64_t n, const double *alpha, const double *beta,
                   double at, bool up)
{
    static const double factors[] = {16.0, 2.0, 1.1};
    enum { STEPS_MOST = 60 }; /* of a factor: rounding ends them before */
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < STEPS_MOST; i++) {
            const double next = up ? at * factors[k] : at / factors[k];
            if (up ? is_below(n, alpha, beta, next, true)
                   : !is_below(n, alpha, beta, next, false))
                break;
            at = next;
        }
    return at;
}

double tct_ritz_condition(int64_t steps, const double *alpha,
                          const double *beta)
{
    double least = INFINITY, most = 0.0;
    for (int64_t i = 0; i < steps; i++) {
        least = fmin(least, diagonal_of(alpha, beta, i));
        most = fmax(most, diagonal_of(alpha, beta, i));
    }
    if (steps < 1 || !(least > 0.0) || !isfinite(most)) return 0.0;
    /* diagonal entries lie between the eigenvalues */
    most = walk(steps, alpha, beta, most, true);
    least = walk(steps, alpha, beta, least, false);
    return fmin(most / least, 0x1p52);
}
