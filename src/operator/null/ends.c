/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/ends.c - the end of a solve of a singular system. */
#include "operator/null/ends.h"
#include <math.h>
#include <stdio.h>

/* A part of b up to this many times the rounding of b - A x is rounding, but no
 * more than this of b: a large x elsewhere excuses nothing. */
static const double ROUNDING = 10.0, ROUNDING_MOST = 0x1p-26;
/* A part of b up to this fraction of the target is within the tolerance. */
static const double WITHIN = 0.5;
/* From here on A is singular in double precision: A x is that close to the
 * rounding of |A| |x|. Rows of unlike sizes reach less than NEAR of that bound. */
static const double CLOSE = 0.01, NEAR = 0.1;

double tct_null_target(const tct_null_space *N, double part, double wanted)
{
    if (!N || N->declared || !(part > 0.0 && part <= WITHIN * wanted))
        return wanted;
    /* by rounding the product may exceed it: an absolute target might have */
    return fmin(wanted, sqrt(wanted - part) * sqrt(wanted + part));
}

bool tct_null_is_outside(const tct_null_space *N, tct_null_part of_b,
                         double wanted, double rounding)
{
    const double excused =
        fmin(ROUNDING * rounding, ROUNDING_MOST * of_b.whole);
    return !N->declared && of_b.part > fmax(WITHIN * wanted, excused);
}

void tct_null_conclude(const tct_null_space *N, tct_null_part of_b,
                       bool outside, tacit_result *r)
{
    r->null_vectors = tct_null_count(N);
    r->null_declared = N->declared;
    r->norm_b = of_b.whole;
    r->outside = of_b.whole > 0.0 ? of_b.part / of_b.whole : 0.0;
    if (!outside) return;
    if (r->converged && r->stop != TACIT_STOP_ITERATIONS)
        r->stop = TACIT_STOP_SINGULAR;
    r->converged = false;
}

void tct_null_sentence(const tacit_result *r, char *text, size_t size)
{
    char end[200] = "";
    if (r->stop == TACIT_STOP_SINGULAR)
        snprintf(end, sizeof end,
                 "x solves A x = P b, b without that part, to %.3g of it after "
                 "%lld iteration%s: take that part out of b, or in C or "
                 "Python declare the null space",
                 r->true_relative_residual, (long long)r->iterations,
                 r->iterations == 1 ? "" : "s");
    snprintf(text, size,
             "singular: b has a part of %.2g outside its range, along %lld "
             "null vector%s of the matrix; %s",
             r->outside, (long long)r->null_vectors,
             r->null_vectors == 1 ? "" : "s", end);
}

const char *tct_null_unknown(const tacit_result *r)
{
    if (r->null_vectors > 0)
        return "; the matrix is numerically singular beyond the null vectors "
               "that are known: for elasticity amg with coordinates of the "
               "nodes finds the rotations; else solve a shifted matrix, which "
               "has another solution, or in C or Python declare all";
    return "; the matrix is numerically singular, and no null vector explains "
           "it: solve a shifted matrix, which has another solution, or, if it "
           "is symmetric, declare its null space in C or Python";
}

bool tct_null_is_close(const tacit_result *r)
{
    return r->attainable > CLOSE &&
           r->true_relative_residual > NEAR * r->attainable;
}
