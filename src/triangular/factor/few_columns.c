/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor/few_columns.c - a small panel and several right-hand sides, without the
 * BLAS, which takes longer to be called, by several threads above all, than to do it.
 * Right-hand sides go by eights or sixteens, filled up with zeros. Compiled once per
 * instruction set. */
#include "device/isa.h"
#include "triangular/factor/one_column.h"

enum { EIGHT = 8, SIXTEEN = 16, ROWS = 4 };
#define INLINE static inline __attribute__((always_inline))

/* n values, of `to` those up to `all`. */
INLINE void fetch(int n, int all, const double *from, double *to)
{
    if (n == all) /* a number that the compiler knows */
        for (int j = 0; j < all; j++) to[j] = from[j];
    else
        for (int j = 0; j < all; j++) to[j] = j < n ? from[j] : 0.0;
}

/* y = y + t, n of them */
INLINE void add(int n, int all, const double *t, double *y)
{
    if (n == all)
        for (int j = 0; j < all; j++) y[j] += t[j];
    else
        for (int j = 0; j < n; j++) y[j] += t[j];
}

/* x = L^-1 x, or L'^-1 x, of rows x [w][all] */
INLINE void solve(bool transposed, int all, const tct_sweep_panel *p,
                  double *restrict x)
{
    const int64_t w = p->w;
    for (int64_t n = 0; n < w; n++) {
        const int64_t k = transposed ? w - 1 - n : n;
        const double *l = p->value + k * p->h, inverse = 1.0 / l[k];
        double *own = x + k * all;
        for (int64_t i = k + 1; transposed && i < w; i++)
            for (int j = 0; j < all; j++) own[j] -= l[i] * x[i * all + j];
        for (int j = 0; j < all; j++) own[j] *= inverse;
        for (int64_t i = k + 1; !transposed && i < w; i++)
            for (int j = 0; j < all; j++) x[i * all + j] -= l[i] * own[j];
    }
}

/* t = -L x of `rows` rows, at most ROWS, from row l on */
INLINE void multiply(int rows, int all, const tct_sweep_panel *p,
                     const double *l, const double *x, double *t)
{
    for (int j = 0; j < rows * all; j++) t[j] = 0.0;
    for (int64_t k = 0; k < p->w; k++, l += p->h, x += all)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < all; j++) t[i * all + j] -= l[i] * x[j];
}

/* x = x - L' y of them */
INLINE void multiply_transposed(int rows, int all, const tct_sweep_panel *p,
                                const double *l, const double *y, double *x)
{
    for (int64_t k = 0; k < p->w; k++, l += p->h, x += all)
        for (int j = 0; j < all; j++) {
            double s = x[j];
            for (int i = 0; i < rows; i++) s -= l[i] * y[i * all + j];
            x[j] = s;
        }
}

/* n right-hand sides of c. */
INLINE void down(int n, int all, const tct_sweep_panel *p, int64_t c, double *X)
{
    double x[TCT_FEW_WIDE * SIXTEEN], t[ROWS * SIXTEEN];
    const int64_t m = p->h - p->w;
    const double *l = p->value + p->w;
    for (int64_t k = 0; k < p->w; k++)
        fetch(n, all, X + (p->first + k) * c, x + k * all);
    solve(false, all, p, x);
    for (int64_t k = 0; k < p->w; k++)
        for (int j = 0; j < n; j++) X[(p->first + k) * c + j] = x[k * all + j];
    int64_t r = 0;
    for (; r + ROWS <= m; r += ROWS) {
        multiply(ROWS, all, p, l + r, x, t);
        for (int i = 0; i < ROWS; i++)
            add(n, all, t + i * all, X + p->row[r + i] * c);
    }
    for (; r < m; r++) {
        multiply(1, all, p, l + r, x, t);
        add(n, all, t, X + p->row[r] * c);
    }
}

INLINE void up(int n, int all, const tct_sweep_panel *p, int64_t c, double *X)
{
    double x[TCT_FEW_WIDE * SIXTEEN], y[ROWS * SIXTEEN];
    const int64_t m = p->h - p->w;
    const double *l = p->value + p->w;
    for (int64_t k = 0; k < p->w; k++)
        fetch(n, all, X + (p->first + k) * c, x + k * all);
    int64_t r = 0;
    for (; r + ROWS <= m; r += ROWS) {
        for (int i = 0; i < ROWS; i++)
            fetch(n, all, X + p->row[r + i] * c, y + i * all);
        multiply_transposed(ROWS, all, p, l + r, y, x);
    }
    for (; r < m; r++) {
        fetch(n, all, X + p->row[r] * c, y);
        multiply_transposed(1, all, p, l + r, y, x);
    }
    solve(true, all, p, x);
    for (int64_t k = 0; k < p->w; k++)
        for (int j = 0; j < n; j++) X[(p->first + k) * c + j] = x[k * all + j];
}

static void down_few(const tct_sweep_panel *p, int64_t c, double *X)
{
    int64_t j = 0;
    for (; j + SIXTEEN <= c; j += SIXTEEN) down(SIXTEEN, SIXTEEN, p, c, X + j);
    for (; j + EIGHT <= c; j += EIGHT) down(EIGHT, EIGHT, p, c, X + j);
    if (j < c) down((int)(c - j), EIGHT, p, c, X + j);
}

static void up_few(const tct_sweep_panel *p, int64_t c, double *X)
{
    int64_t j = 0;
    for (; j + SIXTEEN <= c; j += SIXTEEN) up(SIXTEEN, SIXTEEN, p, c, X + j);
    for (; j + EIGHT <= c; j += EIGHT) up(EIGHT, EIGHT, p, c, X + j);
    if (j < c) up((int)(c - j), EIGHT, p, c, X + j);
}

#define tct_few_columns_isa TCT_ISA_NAME(tct_few_columns)
const tct_few_columns tct_few_columns_isa = {.down = down_few, .up = up_few};
