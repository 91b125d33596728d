/* SPDX-License-Identifier: BSD-3-Clause
 * factor/eliminate.c - elimination of panels: L L' by LAPACK, other kinds in
 * blocks of columns, since LAPACK has no unpivoted routine for them. */
#include "factor/eliminate.h"
#include <math.h>

enum { COLUMNS = TCT_ELIMINATE_COLUMNS };
static bool is_llt(const tct_strip *s)
{
    return !s->upper && !s->diagonal;
}

/* --- updates -------------------------------------------------------------- */

static void update_llt(const tct_dense *D, const tct_strip *by, double beta,
                       const tct_strip *to)
{
    const int64_t w = to->width, below = to->height - w;
    const double *own = by->lower;
    D->square(w, by->width, own, by->ld, beta, to->lower, to->ld);
    if (below > 0)
        D->subtract(true, below, w, by->width, own + w, by->ld, own, by->ld,
                    beta, to->lower + w, to->ld);
}

/* Columns j and j + 1 of L D, whose pivot is one of 2 x 2. */
static void scale_pair(const tct_strip *by, int64_t j, int64_t m, double *out)
{
    const double *x = by->lower + j * by->ld, *y = x + by->ld,
                 d = by->diagonal[j], e = by->other[j], g = by->diagonal[j + 1];
    for (int64_t i = 0; i < m; i++) {
        out[j * m + i] = x[i] * d + y[i] * e;
        out[(j + 1) * m + i] = x[i] * e + y[i] * g;
    }
}

/* `out` [m columns of `by`] = U' of its first m rows, U' = L D. */
static void scale(const tct_strip *by, int64_t m, double *out)
{
    for (int64_t j = 0; j < by->width; j++) {
        if (by->other && by->other[j] != 0.0) {
            scale_pair(by, j++, m, out);
            continue;
        }
        for (int64_t i = 0; i < m; i++)
            out[j * m + i] = by->lower[j * by->ld + i] * by->diagonal[j];
    }
}

void tct_strip_update(const tct_dense *D, const tct_strip *by, double beta,
                      const tct_strip *to, double *scratch)
{
    const int64_t w = to->width, h = to->height, k = by->width;
    if (is_llt(by)) {
        update_llt(D, by, beta, to);
        return;
    }
    if (!by->upper) {
        scale(by, w, scratch);
        D->subtract(true, h, w, k, by->lower, by->ld, scratch, w, beta,
                    to->lower, to->ld);
        return;
    }
    D->subtract(true, h, w, k, by->lower, by->ld, by->upper, by->ld, beta,
                to->lower, to->ld);
    D->subtract(true, h, w, k, by->upper, by->ld, by->lower, by->ld, beta,
                to->upper, to->ld);
}

/* --- elimination ---------------------------------------------------------- */

static int64_t eliminate_llt(const tct_dense *D, const tct_strip *s)
{
    const int64_t w = s->width;
    const int64_t bad = D->factor(w, s->lower, s->ld);
    if (bad) return bad;
    for (int64_t j = 0; j < w; j++) /* also catches non-finite pivots */
        if (!isfinite(s->lower[j * s->ld + j])) return j + 1;
    if (s->height > w)
        D->solve(true, s->height - w, w, s->lower, s->ld, s->lower + w, s->ld);
    return 0;
}

/* A small square by the definition: column j of L and U' from the columns
 * before it. */
static int64_t eliminate_square(const tct_strip *s)
{
    const int64_t w = s->width, ld = s->ld;
    for (int64_t j = 0; j < w; j++) {
        double *l = s->lower + j * ld, *u = s->upper ? s->upper + j * ld : NULL;
        for (int64_t k = 0; k < j; k++) {
            const double *lk = s->lower + k * ld,
                         *uk = s->upper ? s->upper + k * ld : lk;
            const double d = s->diagonal ? s->diagonal[k] : 1.0;
            for (int64_t i = j; i < w; i++) l[i] -= lk[i] * (d * uk[j]);
            for (int64_t i = j; u && i < w; i++) u[i] -= uk[i] * lk[j];
        }
        double pivot = l[j];
        if (fabs(pivot) < s->least) pivot = copysign(s->least, pivot);
        if (pivot == 0.0 || !isfinite(pivot)) return j + 1;
        for (int64_t i = j + 1; i < w; i++) l[i] /= pivot;
        l[j] = 1.0;
        if (u) u[j] = pivot;
        else s->diagonal[j] = pivot;
    }
    return 0;
}

/* The rows below eliminated columns: L by U, U' by L. */
static void solve_below(const tct_dense *D, const tct_strip *s)
{
    const int64_t w = s->width, ld = s->ld, m = s->height - w;
    if (m == 0) return;
    D->solve(true, m, w, s->upper ? s->upper : s->lower, ld, s->lower + w, ld);
    if (s->upper) D->solve(true, m, w, s->lower, ld, s->upper + w, ld);
    for (int64_t j = 0; s->diagonal && j < w; j++)
        for (int64_t i = w; i < s->height; i++)
            s->lower[j * ld + i] /= s->diagonal[j];
}

/* Columns [from, from + width) of `s`, rows from `row` on. */
static tct_strip part(const tct_strip *s, int64_t from, int64_t width,
                      int64_t row)
{
    const int64_t at = from * s->ld + row;
    return (tct_strip){.width = width,
                       .height = s->height - row,
                       .ld = s->ld,
                       .lower = s->lower + at,
                       .upper = s->upper ? s->upper + at : NULL,
                       .diagonal = s->diagonal ? s->diagonal + from : NULL,
                       .least = s->least,
                       .row = s->row ? s->row + from : NULL,
                       .col = s->col ? s->col + from : NULL};
}

int64_t tct_strip_eliminate(const tct_dense *D, const tct_strip *s,
                            double *scratch)
{
    if (is_llt(s)) return eliminate_llt(D, s);
    if (s->other) return tct_strip_pivot(D, s);
    for (int64_t j = 0; j < s->width; j += COLUMNS) {
        const int64_t left = s->width - j;
        const tct_strip now = part(s, j, left < COLUMNS ? left : COLUMNS, j),
                        before = part(s, 0, j, j);
        if (j > 0) tct_strip_update(D, &before, 1.0, &now, scratch);
        if (now.row) {
            tct_strip_try(&now);
            continue;
        }
        const int64_t bad = eliminate_square(&now);
        if (bad) return j + bad;
        solve_below(D, &now);
    }
    return 0;
}
