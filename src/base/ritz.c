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
