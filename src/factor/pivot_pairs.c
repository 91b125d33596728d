/* SPDX-License-Identifier: BSD-3-Clause
 * factor/pivot_pairs.c - L D L' of a panel, with pivots of 1 x 1 and 2 x 2 from
 * the whole of its square [BP71]. Rows below the square have no say, so that no
 * row leaves its panel; a pivot that is small even so gets a larger size. */
#include "factor/eliminate.h"
#include <math.h>

/* The share of the largest entry that a 1 x 1 pivot needs, which bounds the
 * growth of entries [BP71]. */
#define DIAGONAL_LEAST 0.6403882032022076

/* Columns from `k` on remain of the square, whose lower triangle is stored. */
typedef struct {
    const tct_strip *s;
    double *a;
    int64_t w, ld, k;
} square;

static double *column_of(const square *b, int64_t j)
{
    return b->a + j * b->ld;
}

/* --- exchanges ------------------------------------------------------------ */

static void exchange(double *x, double *y)
{
    const double t = *x;
    *x = *y;
    *y = t;
}

/* Rows and columns p < q, those below the square, too. */
static void swap(const square *b, int64_t p, int64_t q)
{
    double *at_p = column_of(b, p), *at_q = column_of(b, q);
    int32_t *number = b->s->number;
    if (p == q) return;
    for (int64_t j = 0; j < p; j++)
        exchange(&column_of(b, j)[p], &column_of(b, j)[q]);
    for (int64_t i = p + 1; i < q; i++) exchange(&at_p[i], &column_of(b, i)[q]);
    for (int64_t i = q + 1; i < b->s->height; i++) exchange(&at_p[i], &at_q[i]);
    exchange(&at_p[p], &at_q[q]);
    const int32_t t = number[p];
    number[p] = number[q];
    number[q] = t;
}

/* --- choice --------------------------------------------------------------- */

/* The largest remaining entries, on the diagonal and below it. */
typedef struct {
    double diagonal, other;
    int64_t at; /* of the diagonal's */
    int64_t row, col;
} largest;

/* In four sums, which do not wait for each other. */
static double most_of(int64_t n, const double *x)
{
    double most[4] = {0.0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) {
            const double size = fabs(x[i + k]);
            most[k] = size > most[k] ? size : most[k];
        }
    for (; i < n; i++) most[0] = fmax(most[0], fabs(x[i]));
    return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

static largest look(const square *b)
{
    largest f = {.at = b->k};
    for (int64_t j = b->k; j < b->w; j++) {
        const double *a = column_of(b, j), d = fabs(a[j]),
                     most = most_of(b->w - j - 1, a + j + 1);
        if (d > f.diagonal) {
            f.diagonal = d;
            f.at = j;
        }
        if (!(most > f.other)) continue;
        f.other = most;
        f.col = j;
    }
    f.row = f.col + 1;
    while (f.other > 0.0 && fabs(column_of(b, f.col)[f.row]) < f.other) f.row++;
    return f;
}

/* --- elimination ---------------------------------------------------------- */

/* Column k; returns whether its pivot is finite. */
static bool eliminate_one(const square *b)
{
    const int64_t k = b->k;
    double *x = column_of(b, k), d = x[k];
    if (!isfinite(d)) return false;
    if (fabs(d) < b->s->least) d = copysign(b->s->least, d);
    for (int64_t j = k + 1; j < b->w; j++) {
        double *a = column_of(b, j);
        const double l = x[j] / d;
        for (int64_t i = j; i < b->w && l != 0.0; i++) a[i] -= x[i] * l;
    }
    for (int64_t i = k + 1; i < b->w; i++) x[i] /= d;
    x[k] = 1.0;
    b->s->diagonal[k] = d;
    b->s->other[k] = 0.0;
    return true;
}

/* The inverse of [d e; e g], whose e is the largest: [g -1; -1 d] / e times
 * `t`, d and g over e. */
typedef struct {
    double d, g, t;
} inverse_pair;

static inverse_pair invert(double d, double e, double g)
{
    const double p = d / e, q = g / e;
    return (inverse_pair){p, q, 1.0 / ((p * q - 1.0) * e)};
}

/* Columns k and k + 1. */
static bool eliminate_two(const square *b)
{
    const int64_t k = b->k;
    double *x = column_of(b, k), *y = column_of(b, k + 1), e = x[k + 1];
    const inverse_pair v = invert(x[k], e, y[k + 1]);
    if (!isfinite(v.t) || !isfinite(v.d) || !isfinite(v.g)) return false;
    for (int64_t j = k + 2; j < b->w; j++) {
        double *a = column_of(b, j);
        const double l = v.t * (v.g * x[j] - y[j]),
                     m = v.t * (v.d * y[j] - x[j]);
        for (int64_t i = j; i < b->w; i++) a[i] -= x[i] * l + y[i] * m;
    }
    for (int64_t i = k + 2; i < b->w; i++) {
        const double l = v.t * (v.g * x[i] - y[i]);
        y[i] = v.t * (v.d * y[i] - x[i]);
        x[i] = l;
    }
    b->s->diagonal[k] = x[k];
    b->s->diagonal[k + 1] = y[k + 1];
    b->s->other[k] = e;
    b->s->other[k + 1] = x[k + 1] = 0.0;
    x[k] = y[k + 1] = 1.0;
    return true;
}

/* The rows below: by L', then by D. */
static void solve_below(const tct_dense *D, const tct_strip *s)
{
    const int64_t w = s->width, m = s->height - w;
    double *below = s->lower + w;
    if (m == 0) return;
    D->solve(true, m, w, s->lower, s->ld, below, s->ld);
    for (int64_t j = 0; j < w; j++) {
        double *x = below + j * s->ld, *y = x + s->ld;
        if (s->other[j] == 0.0) {
            for (int64_t i = 0; i < m; i++) x[i] /= s->diagonal[j];
            continue;
        }
        const inverse_pair v =
            invert(s->diagonal[j], s->other[j], s->diagonal[j + 1]);
        for (int64_t i = 0; i < m; i++) {
            const double l = v.t * (v.g * x[i] - y[i]);
            y[i] = v.t * (v.d * y[i] - x[i]);
            x[i] = l;
        }
        j++;
    }
}

int64_t tct_strip_pivot(const tct_dense *D, const tct_strip *s)
{
    square b = {.s = s, .a = s->lower, .w = s->width, .ld = s->ld};
    while (b.k < b.w) {
        const largest f = look(&b);
        const bool one = f.diagonal >= DIAGONAL_LEAST * f.other ||
                         fmax(f.diagonal, f.other) < s->least;
        swap(&b, b.k, one ? f.at : f.col);
        if (!one) swap(&b, b.k + 1, f.row);
        if (!(one ? eliminate_one(&b) : eliminate_two(&b))) return b.k + 1;
        b.k += one ? 1 : 2;
    }
    solve_below(D, s);
    return 0;
}
