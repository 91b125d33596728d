/* SPDX-License-Identifier: BSD-3-Clause
 * precond/refine/panels.c - columns are copied in, scaled to norms whose squares
 * are doubles, and copied out. */
#include "operator/backward.h"
#include "precond/refine/refine.h"
#include <math.h>

enum { FAR = 600 /* 2^FAR scales any norm into the range of squares */ };

static const double NORM_LEAST = 0x1p-200,
                    NORM_MOST = 0x1p200; /* squares are doubles */

void tct_refine_norms(const tct_refine_panel *R, double *panel, double *norm)
{
    for (int j = 0; j < R->columns; j++)
        q_norm(R->q, R->n, tct_refine_column(R, panel, j), &R->c[j]);
    q_sum(R->q, R->columns, R->c);
    q_get(R->q, (size_t)R->columns, R->c, norm);
    for (int j = 0; j < R->columns; j++) norm[j] = sqrt(norm[j]);
}

static void enter(const tct_refine_panel *R, const double *from, double *to)
{
    if (R->A->order) tct_order_permute_in(R->A->order, R->q, R->n, from, to);
    else q_copy(R->q, R->n, from, to);
}

static void leave(const tct_refine_panel *R, const double *from, double *to)
{
    if (R->A->order) tct_order_permute_out(R->A->order, R->q, R->n, from, to);
    else q_copy(R->q, R->n, from, to);
}

/* v = 2^by v */
static void shift(const tct_refine_panel *R, int by, double *v)
{
    for (int step; by != 0; by -= step) { /* 2^by may exceed doubles */
        step = by > 1000 ? 1000 : by < -1000 ? -1000 : by;
        q_scale(R->q, R->n, ldexp(1.0, step), v);
    }
}

/* The exponent of the stored x: b is scaled by 2^shift, A by 2^-exponent. */
static int shift_of_x(const tct_refine_panel *R, const tct_refine_part *m)
{
    return m->shift + R->A->exponent;
}

static bool is_near(double norm)
{
    return norm >= NORM_LEAST && norm <= NORM_MOST;
}

/* Scale the columns of `panel`, copies of vectors, by 2^shift to norms near 1
 * if the squares of their norms exceed doubles; `norm` gets the norms. */
static void bring_near(const tct_refine_panel *R, double *panel, double *norm,
                       int *shifts)
{
    tct_refine_norms(R, panel, norm);
    for (int j = 0; j < R->columns; j++) {
        shifts[j] = is_near(norm[j]) ? 0 : norm[j] > NORM_MOST ? -FAR : FAR;
        shift(R, shifts[j], tct_refine_column(R, panel, j));
    }
    tct_refine_norms(R, panel, norm);
    for (int j = 0; j < R->columns; j++) {
        int exponent = 0;
        if (shifts[j] == 0 || !isfinite(norm[j])) continue;
        norm[j] = frexp(norm[j], &exponent);
        shift(R, -exponent, tct_refine_column(R, panel, j));
        shifts[j] -= exponent;
    }
}

tacit_status tct_refine_begin(tct_refine_panel *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    int shifts[TCT_COLUMNS_MOST] = {0};
    tct_null_part along[TCT_COLUMNS_MOST] = {{0.0, 0.0}};
    for (int j = 0; j < R->columns; j++) {
        const size_t at = (size_t)(R->first + j);
        enter(R, R->B + at * R->B_stride, tct_refine_column(R, R->b, j));
        enter(R, R->X + at * R->X_stride, tct_refine_column(R, R->x, j));
        if (!R->A->null) continue;
        TRY(tct_null_project(R->A, R->q, tct_refine_column(R, R->x, j),
                             &along[j]));
        TRY(tct_null_project(R->A, R->q, tct_refine_column(R, R->b, j),
                             &along[j]));
    }
    bring_near(R, R->b, norm, shifts);
    TRY(tct_agree(R->A->world, q_own_status(R->q)));
    for (int j = 0; j < R->columns; j++) {
        tct_refine_part *m = &R->m[j];
        if (!isfinite(norm[j]))
            FAIL(TACIT_INPUT, "the right-hand side has entries that are not "
                              "finite");
        *m = (tct_refine_part){.shift = shifts[j],
                               .norm_b = norm[j],
                               .along = along[j],
                               .kept = INFINITY,
                               .result.breakdown_iteration = -1};
        m->target = fmax(R->stop.rtol * norm[j], ldexp(R->stop.atol, m->shift));
        m->target = tct_null_target(R->A->null, ldexp(along[j].part, m->shift),
                                    m->target);
        m->result.norm_b = ldexp(norm[j], -m->shift);
        shift(R, shift_of_x(R, m), tct_refine_column(R, R->x, j));
    }
    return TACIT_OK;
}

/* x = 0 in place of a solution that exceeds the range of doubles. */
static void take_zero(tct_refine_panel *R, int j)
{
    tacit_result *r = &R->m[j].result;
    q_fill(R->q, R->n, 0.0, tct_refine_column(R, R->x, j));
    r->converged = false;
    r->stop = TACIT_STOP_BREAKDOWN;
    r->relative_residual = r->true_relative_residual = 1.0;
}

/* Mark the columns whose solution exceeds the range of doubles. */
static void find_beyond(tct_refine_panel *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    int shifts[TCT_COLUMNS_MOST] = {0};
    for (int j = 0; j < R->columns; j++)
        q_copy(R->q, R->n, tct_refine_column(R, R->x, j),
               tct_refine_column(R, R->z, j));
    bring_near(R, R->z, norm, shifts);
    for (int j = 0; j < R->columns; j++) {
        tct_refine_part *m = &R->m[j];
        int exponent = 0;
        (void)frexp(norm[j], &exponent);
        exponent -= shifts[j] + shift_of_x(R, m);
        if (!isfinite(norm[j]) || norm[j] == 0.0 ||
            (exponent > -1021 && exponent <= 1024) ||
            (exponent > 1024 &&
             tct_is_finite_shifted(R->A, R->q, tct_refine_column(R, R->x, j),
                                   -shift_of_x(R, m))))
            continue;
        m->beyond = exponent;
        take_zero(R, j);
    }
}

tacit_status tct_refine_end(tct_refine_panel *R)
{
    bool shifted = false;
    for (int j = 0; j < R->columns; j++)
        shifted = shifted || shift_of_x(R, &R->m[j]) != 0;
    if (shifted) find_beyond(R);
    for (int j = 0; j < R->columns; j++) {
        double *x = tct_refine_column(R, R->x, j);
        shift(R, -shift_of_x(R, &R->m[j]), x);
        leave(R, x, R->X + (size_t)(R->first + j) * R->X_stride);
    }
    return tct_agree(R->A->world, q_own_status(R->q));
}
