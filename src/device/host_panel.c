/* SPDX-License-Identifier: BSD-3-Clause
 * device/host_panel.c - the panel loops, compiled once per instruction set: a
 * few columns by a few columns in registers. The order of additions in an entry
 * of the small matrix does not depend on other columns. */
#include "device/host_vector.h"
#include "device/isa.h"
#include <string.h>

#if defined(__AVX512F__)
enum { WIDE = 8 };
#elif defined(__AVX2__)
enum { WIDE = 4 };
#else
enum { WIDE = 2 };
#endif
typedef double wide
    __attribute__((vector_size(8 * WIDE), aligned(8), may_alias));

enum {
    ROWS = 512, /* at a time: both panels stay in cache */
    KS = 4,     /* columns of Z or Y in registers */
    MS = 2      /* ... and of W, or wide rows of Y */
};

INLINE wide load(const double *x)
{
    return *(const wide *)(const void *)x;
}

/* --- gram ----------------------------------------------------------------- */

/* out += z' w for ks x ms columns of `n` elements. */
INLINE void gram_tile(size_t n, const double *const *z, const double *const *w,
                      int ks, int ms, double *const *out)
{
    const size_t whole = n / WIDE * WIDE;
    wide sum[KS][MS] = {{{0.0}}};
    for (size_t i = 0; i < whole; i += WIDE)
        for (int a = 0; a < ks; a++)
            for (int b = 0; b < ms; b++)
                sum[a][b] += load(z[a] + i) * load(w[b] + i);
    for (int a = 0; a < ks; a++)
        for (int b = 0; b < ms; b++) {
            double total = 0.0;
            for (int l = 0; l < WIDE; l++) total += sum[a][b][l];
            for (size_t i = whole; i < n; i++)
                total = fused(z[a][i], w[b][i], total);
            out[b][a] += total;
        }
}

#define TILE(ks, ms)                                                         \
    static void gram_##ks##_##ms(size_t n, const double *const *z,           \
                                 const double *const *w, double *const *out) \
    {                                                                        \
        gram_tile(n, z, w, ks, ms, out);                                     \
    }
TILE(1, 1)
TILE(2, 1)
TILE(3, 1)
TILE(4, 1)
TILE(1, 2)
TILE(2, 2)
TILE(3, 2)
TILE(4, 2)
#undef TILE

typedef void (*tile_fn)(size_t n, const double *const *z,
                        const double *const *w, double *const *out);
static const tile_fn gram_of[MS][KS] = {
    {gram_1_1, gram_2_1, gram_3_1, gram_4_1},
    {gram_1_2, gram_2_2, gram_3_2, gram_4_2}};

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Rows [from, to): every tile of columns. */
static void gram_rows(const tct_op *op, size_t from, size_t to, double *out)
{
    const int k = op->x.columns, m = op->y.columns;
    for (int b = 0; b < m; b += MS)
        for (int a = 0; a < k; a += KS) {
            const int ks = least(k - a, KS), ms = least(m - b, MS);
            const double *z[KS], *w[MS];
            double *to_column[MS];
            for (int i = 0; i < ks; i++)
                z[i] = tct_column(&op->x, a + i) + from;
            for (int j = 0; j < ms; j++) {
                w[j] = tct_column(&op->y, b + j) + from;
                to_column[j] = out + (b + j) * k + a;
            }
            gram_of[ms - 1][ks - 1](to - from, z, w, to_column);
        }
}

static void gram_range(const tct_op *op, size_t from, size_t to, double *out)
{
    for (int j = 0; j < op->x.columns * op->y.columns; j++) out[j] = 0.0;
    for (; from < to; from += ROWS)
        gram_rows(op, from, to - from < ROWS ? to : from + ROWS, out);
}

/* --- combine -------------------------------------------------------------- */

/* y += x c for ms columns of Y and all k of X; c is by rows of ms. */
INLINE void combine_tile(size_t n, const tct_panel *x, size_t from,
                         const double *c, int ms, double *const *y)
{
    const int k = x->columns;
    size_t i = 0;
    for (; i + WIDE * MS <= n; i += WIDE * MS) {
        wide sum[KS][MS];
        for (int b = 0; b < ms; b++)
            for (int h = 0; h < MS; h++)
                sum[b][h] = load(y[b] + i + WIDE * (size_t)h);
        const double *at = x->at + from + i;
        for (int a = 0; a < k; a++, at += x->stride)
            for (int b = 0; b < ms; b++)
                for (int h = 0; h < MS; h++)
                    sum[b][h] += load(at + WIDE * h) * c[a * ms + b];
        for (int b = 0; b < ms; b++)
            for (int h = 0; h < MS; h++)
                *(wide *)(void *)(y[b] + i + WIDE * (size_t)h) = sum[b][h];
    }
    for (; i < n; i++)
        for (int b = 0; b < ms; b++) {
            double sum = y[b][i];
            for (int a = 0; a < k; a++)
                sum = fused(tct_column(x, a)[from + i], c[a * ms + b], sum);
            y[b][i] = sum;
        }
}

#define TILE(ms)                                                        \
    static void combine_##ms(size_t n, const tct_panel *x, size_t from, \
                             const double *c, double *const *y)         \
    {                                                                   \
        combine_tile(n, x, from, c, ms, y);                             \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
#undef TILE

typedef void (*combine_fn)(size_t n, const tct_panel *x, size_t from,
                           const double *c, double *const *y);
static const combine_fn combine_of[KS] = {combine_1, combine_2, combine_3,
                                          combine_4};

/* Columns [b, b + ms) of Y. */
static void combine_columns(const tct_op *op, size_t from, size_t to, int b,
                            int ms)
{
    const int k = op->x.columns;
    double c[TCT_COLUMNS_MOST * KS], *y[KS];
    for (int j = 0; j < ms; j++) {
        y[j] = tct_column(&op->y, b + j) + from;
        for (int a = 0; a < k; a++)
            c[a * ms + j] = op->sign * op->alpha[(b + j) * k + a];
    }
    combine_of[ms - 1](to - from, &op->x, from, c, y);
}

static void combine_range(const tct_op *op, size_t from, size_t to,
                          double *sums)
{
    (void)sums;
    const int m = op->y.columns;
    for (; from < to; from += ROWS)
        for (int b = 0; b < m; b += KS)
            combine_columns(op, from, to - from < ROWS ? to : from + ROWS, b,
                            least(m - b, KS));
}

/* --- mix ------------------------------------------------------------------ */

enum { STRIP = 256 }; /* rows buffered at a time */

/* y first, since X changes in place. */
static void mix_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    const int k = op->x.columns, m = op->y.columns;
    double buffer[TCT_COLUMNS_MOST * STRIP];
    tct_op last = {.x = op->x, .alpha = op->alpha + k * m, .sign = op->sign};
    tct_op first = {.x = op->x, .alpha = op->alpha, .sign = 1.0};
    last.y = tct_single(op->v[0]);
    first.y = tct_panel_of(buffer, STRIP, m);
    for (; from < to; from += STRIP) {
        const size_t rows = to - from < STRIP ? to - from : STRIP;
        memset(buffer, 0, (size_t)(m * STRIP) * sizeof *buffer);
        first.x.at = last.x.at = op->x.at + from;
        last.y.at = op->v[0] + from;
        combine_range(&last, 0, rows, sums);
        combine_range(&first, 0, rows, sums);
        for (int j = 0; j < m; j++)
            memcpy(tct_column(&op->x, j) + from, tct_column(&first.y, j),
                   rows * sizeof *buffer);
    }
}

#define tct_host_panel_isa TCT_ISA_NAME(tct_host_panel)
const tct_host_panel tct_host_panel_isa = {
    .gram = gram_range, .combine = combine_range, .mix = mix_range};
