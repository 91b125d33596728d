/* SPDX-License-Identifier: BSD-3-Clause
 * factor/trial.c - pivoting within a block of columns, for a trial
 * (matched.c). */
#include "factor/eliminate.h"
#include <math.h>

enum { COLUMNS = TCT_ELIMINATE_COLUMNS };

/* A diagonal entry that is smaller beside the others of its column is exchanged
 * for the largest of the block, ... */
#define DIAGONAL_LEAST 0.01
/* ... and a column is left out if that is smaller beside those below, too. */
#define BLOCK_LEAST 0.01

/* The square of s's rows and columns, whole; rows below are in place. */
typedef struct {
    const tct_strip *s;
    int64_t w;
    double g[COLUMNS * COLUMNS];
} block;

static double *at(block *b, int64_t row, int64_t col)
{
    return &b->g[col * b->w + row];
}

static void unfold(block *b)
{
    const int64_t ld = b->s->ld;
    for (int64_t c = 0; c < b->w; c++)
        for (int64_t r = 0; r < b->w; r++)
            *at(b, r, c) =
                r < c ? b->s->upper[r * ld + c] : b->s->lower[c * ld + r];
}

static void fold(block *b)
{
    const int64_t ld = b->s->ld;
    for (int64_t c = 0; c < b->w; c++) {
        for (int64_t r = 0; r <= c; r++) b->s->upper[r * ld + c] = *at(b, r, c);
        for (int64_t r = c + 1; r < b->w; r++)
            b->s->lower[c * ld + r] = *at(b, r, c);
        b->s->lower[c * ld + c] = 1.0;
    }
}

/* --- exchanges ------------------------------------------------------------ */

static void swap(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

/* Numbers j and p, and below the block columns j and p of one side. */
static void swap_side(const block *b, double *side, int32_t *number, int64_t j,
                      int64_t p)
{
    const int64_t ld = b->s->ld;
    const int32_t t = number[j];
    number[j] = number[p];
    number[p] = t;
    for (int64_t i = b->w; i < b->s->height; i++)
        swap(&side[j * ld + i], &side[p * ld + i]);
}

static void swap_rows(block *b, int64_t j, int64_t p)
{
    if (j == p) return;
    for (int64_t c = 0; c < b->w; c++) swap(at(b, j, c), at(b, p, c));
    swap_side(b, b->s->upper, b->s->row, j, p);
}

static void swap_columns(block *b, int64_t j, int64_t p)
{
    if (j == p) return;
    for (int64_t r = 0; r < b->w; r++) swap(at(b, r, j), at(b, r, p));
    swap_side(b, b->s->lower, b->s->col, j, p);
}

/* --- elimination ---------------------------------------------------------- */

/* The row of the pivot of column `j`; -1: none is large enough. */
static int64_t find_row(block *b, int64_t j)
{
    int64_t p = j;
    for (int64_t i = j + 1; i < b->w; i++)
        if (fabs(*at(b, i, j)) > fabs(*at(b, p, j))) p = i;
    const double found = fabs(*at(b, p, j));
    double most = found;
    for (int64_t i = b->w; i < b->s->height; i++)
        most = fmax(most, fabs(b->s->lower[j * b->s->ld + i]));
    if (!(found >= b->s->least && found >= BLOCK_LEAST * most)) return -1;
    return fabs(*at(b, j, j)) < DIAGONAL_LEAST * most ? p : j;
}

/* y = y - a x from row `from` of a side on. */
static void subtract(const block *b, double a, const double *x, double *y)
{
    for (int64_t i = b->w; i < b->s->height; i++) y[i] -= a * x[i];
}

/* Row and column `j` from all that follow, below the block, too. */
static void eliminate(block *b, int64_t j)
{
    const int64_t ld = b->s->ld;
    double *l = b->s->lower + j * ld, *u = b->s->upper + j * ld;
    const double pivot = *at(b, j, j);
    for (int64_t i = j + 1; i < b->w; i++) *at(b, i, j) /= pivot;
    for (int64_t i = b->w; i < b->s->height; i++) l[i] /= pivot;
    for (int64_t c = j + 1; c < b->w; c++) {
        const double a = *at(b, j, c);
        for (int64_t i = j + 1; i < b->w; i++) *at(b, i, c) -= *at(b, i, j) * a;
        subtract(b, a, l, b->s->lower + c * ld);
        subtract(b, *at(b, c, j), u, b->s->upper + c * ld);
    }
}

/* Row and column `j` have no part in what follows. */
static void leave_out(block *b, int64_t j)
{
    const int64_t ld = b->s->ld;
    for (int64_t i = j; i < b->w; i++)
        *at(b, i, j) = *at(b, j, i) = i == j ? 1.0 : 0.0;
    for (int64_t i = b->w; i < b->s->height; i++)
        b->s->lower[j * ld + i] = b->s->upper[j * ld + i] = 0.0;
    b->s->col[j] = ~b->s->col[j];
}

/* Eliminate column `j`, if it has a pivot. */
static bool try_column(block *b, int64_t j)
{
    const int64_t p = find_row(b, j);
    if (p < 0) return false;
    swap_rows(b, j, p);
    eliminate(b, j);
    return true;
}

void tct_strip_try(const tct_strip *s)
{
    block b = {.s = s, .w = s->width};
    int64_t j = 0, before;
    unfold(&b);
    do { /* columns without a pivot are tried again after the others */
        before = j;
        for (int64_t last = b.w; j < last;)
            if (try_column(&b, j)) j++;
            else swap_columns(&b, j, --last);
    } while (j > before && j < b.w);
    for (; j < b.w; j++) leave_out(&b, j);
    fold(&b);
}
