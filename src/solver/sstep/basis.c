/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/basis.c - polynomials whose Krylov vectors stay independent, and
 * their interval.
 *
 * [PR12] Philippe and Reichel, "On the generation of Krylov subspace bases",
 *        Appl. Numer. Math. 62 (2012): Chebyshev polynomials, on an interval
 *        estimated by some ordinary steps. */
#include "solver/sstep/sstep.h"
#include <math.h>

const char *tct_basis_name(int basis)
{
    static const char *const names[TCT_BASES] = {[BASIS_CHEBYSHEV] =
                                                     "chebyshev",
                                                 [BASIS_NEWTON] = "newton",
                                                 [BASIS_MONOMIAL] = "monomial"};
    return basis >= 0 && basis < TCT_BASES ? names[basis] : NULL;
}

/* The zeros of T_s in [0, 1]. */
static double zero_of(int s, int i)
{
    return 0.5 * (1.0 + cos(acos(-1.0) * (i + 0.5) / s));
}

/* Sum of the logarithms of the distances of x to the nodes so far. */
static double log_distance(const tct_term *terms, int count, double x)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += log(fabs(x - terms[i].theta));
    return sum;
}

/* Leja's order: each node as far from the earlier ones as possible. */
static void order_nodes(int s, tct_term *terms)
{
    bool used[TCT_SSTEP_MOST] = {false};
    for (int j = 0; j < s - 1; j++) {
        int best = -1;
        for (int i = 0; i < s; i++)
            if (!used[i] &&
                (best < 0 || log_distance(terms, j, zero_of(s, i)) >
                                 log_distance(terms, j, zero_of(s, best))))
                best = i;
        used[best] = true;
        terms[j].theta = zero_of(s, best);
    }
}

void tct_basis_terms(tct_basis basis, int s, double edge, tct_term *terms)
{
    if (basis == BASIS_NEWTON) order_nodes(s, terms);
    for (int j = 0; j < s - 1; j++) {
        switch ((int)basis) {
        case BASIS_CHEBYSHEV: /* T_1 has one term less */
            terms[j] = (tct_term){0.5 * edge, (j ? 0.25 : 0.5) * edge, j > 0};
            break;
        case BASIS_NEWTON:
            terms[j] = (tct_term){terms[j].theta * edge, 0.25 * edge, false};
            break;
        default: terms[j] = (tct_term){0.0, edge, false}; break;
        }
    }
}
