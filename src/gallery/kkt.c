/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/kkt.c - the optimality system of a control problem on a cube of N^3
 * points, controlled on its faces; symmetric and indefinite:
 *
 *       y    u    lambda         J  27 points, 26 and -1    (N^3 x N^3)
 *     ( I         J'  ) N^3      B  9 points of a control's face,
 *     (    .01 I  B'  ) 6 N^2       bilinear weights        (N^3 x 6 N^2)
 *     ( J   B     0   ) N^3      the zero diagonal is stored */
#include "gallery/recipe.h"

#define CONTROL_COST 0.01

typedef struct {
    int64_t n, states, controls;
} kkt;

typedef struct {
    int n;
    int64_t *cols; /* NULL: only count */
    double *vals;
} row_out;

static void put(row_out *out, int64_t col, double val)
{
    if (out->cols) {
        out->cols[out->n] = col;
        out->vals[out->n] = val;
    }
    out->n++;
}

static void split(const kkt *t, int64_t i, int64_t x[3])
{
    x[0] = i % t->n;
    x[1] = i / t->n % t->n;
    x[2] = i / t->n / t->n;
}

/* Row `i` of J, its columns from `offset` on. */
static void put_state(const kkt *t, int64_t i, int64_t offset, row_out *out)
{
    int64_t x[3];
    split(t, i, x);
    for (int k = 0; k < 27; k++) {
        const int64_t a = x[0] + k % 3 - 1, b = x[1] + k / 3 % 3 - 1;
        const int64_t c = x[2] + k / 9 - 1;
        if (a < 0 || b < 0 || c < 0 || a >= t->n || b >= t->n || c >= t->n)
            continue;
        put(out, offset + (c * t->n + b) * t->n + a, k == 13 ? 26.0 : -1.0);
    }
}

static double weight(int64_t da, int64_t db)
{
    return (da == 0 ? 4.0 : 1.0) * (db == 0 ? 4.0 : 1.0) / 36.0;
}

/* Face `f` is x_d = 0 or N - 1, d = f / 2; its points (a, b) run along the
 * other two directions in their order. */
static int64_t face_point(const kkt *t, int f, int64_t a, int64_t b)
{
    const int64_t at = f % 2 ? t->n - 1 : 0;
    switch (f / 2) {
    case 0: return (b * t->n + a) * t->n + at;
    case 1: return (b * t->n + at) * t->n + a;
    default: return (at * t->n + b) * t->n + a;
    }
}

/* The row of B' of control `u`, its columns from `offset` on: by a, then b, the
 * points of a face ascend. */
static void put_control(const kkt *t, int64_t u, int64_t offset, row_out *out)
{
    const int64_t n = t->n, face = n * n;
    const int f = (int)(u / face);
    const int64_t a0 = u % face % n, b0 = u % face / n;
    for (int64_t b = b0 - 1; b <= b0 + 1; b++)
        for (int64_t a = a0 - 1; a <= a0 + 1; a++)
            if (a >= 0 && b >= 0 && a < n && b < n)
                put(out, offset + face_point(t, f, a, b),
                    weight(a - a0, b - b0));
}

/* The row of B of point `i`, its columns from `offset` on. */
static void put_faces(const kkt *t, int64_t i, int64_t offset, row_out *out)
{
    const int64_t n = t->n;
    int64_t x[3];
    split(t, i, x);
    for (int f = 0; f < 6; f++) {
        const int d = f / 2;
        if (x[d] != (f % 2 ? n - 1 : 0)) continue;
        const int64_t a0 = x[d == 0 ? 1 : 0], b0 = x[d == 2 ? 1 : 2];
        for (int64_t b = b0 - 1; b <= b0 + 1; b++)
            for (int64_t a = a0 - 1; a <= a0 + 1; a++)
                if (a >= 0 && b >= 0 && a < n && b < n)
                    put(out, offset + (f * n + b) * n + a,
                        weight(a - a0, b - b0));
    }
}

static int kkt_row(const void *data, int64_t i, int64_t *cols, double *vals)
{
    const kkt *t = data;
    const int64_t multipliers = t->states + t->controls;
    row_out out = {.cols = cols, .vals = vals};
    if (i < t->states) {
        put(&out, i, 1.0);
        put_state(t, i, multipliers, &out);
    } else if (i < multipliers) {
        put(&out, i, CONTROL_COST);
        put_control(t, i - t->states, multipliers, &out);
    } else {
        put_state(t, i - multipliers, 0, &out);
        put_faces(t, i - multipliers, t->states, &out);
        put(&out, i, 0.0);
    }
    return out.n;
}

static const tct_gallery_maker kkt_maker = {.row = kkt_row};

tacit_status tct_like_kkt(const tct_recipe *r, const int64_t n[3],
                          tct_gallery_matrix *g)
{
    (void)r;
    if (n[0] > 1000000)
        FAIL(TACIT_INPUT, "%s: 2 N^3 rows do not fit in 64 bits", g->name);
    const double m = (double)n[0], w = 3.0 * m - 2.0;
    const kkt t = {n[0], n[0] * n[0] * n[0], 6 * n[0] * n[0]};
    TRY(tct_gallery_keep(g, &t, sizeof t));
    g->maker = &kkt_maker;
    g->rows = 2 * t.states + t.controls;
    g->widest = 28;
    g->nonzeros =
        2.0 * w * w * w + 12.0 * w * w + 2.0 * m * m * m + 6.0 * m * m;
    g->indefinite = true;
    return TACIT_OK;
}
