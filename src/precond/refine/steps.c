/* SPDX-License-Identifier: BSD-3-Clause
 * precond/refine/steps.c - x = x + M (b - A x), repeated. Each column stops by
 * itself and keeps its best x. */
#include "operator/backward.h"
#include "precond/history.h"
#include "precond/refine/refine.h"
#include <math.h>

enum { STEPS_DEFAULT = 10000, STEPS_POLISH = 10 };

static const double EPS = 0x1p-52,
                    FUTILE = 0.9; /* a step that leaves more of a residual is
                                   * the last */

/* r = b - A x of all columns, and their norms. */
static void form_residuals(const tct_refine_panel *R, double *norm)
{
    const tct_panel X = tct_panel_of(R->x, (ptrdiff_t)R->stride, R->columns),
                    Y = tct_panel_of(R->r, (ptrdiff_t)R->stride, R->columns);
    apply_block(R->A, R->q, X, Y);
    for (int j = 0; j < R->columns; j++)
        q_aypx(R->q, R->n, -1.0, NULL, tct_refine_column(R, R->b, j),
               tct_refine_column(R, R->r, j));
    tct_refine_norms(R, R->r, norm);
}

/* z = M r, in one batch if M can. */
static void correct(const tct_refine_panel *R)
{
    const tct_operator_ops *ops = R->M->ops;
    if (R->columns > 1) q_batch(R->q, R->columns, R->stride);
    const bool together =
        R->columns > 1 && ops->for_batch && ops->for_batch(R->M, R->q);
    if (together) apply(R->M, R->q, R->r, R->z);
    q_batch(R->q, 0, 0);
    for (int j = 0; j < R->columns; j++) {
        if (R->m[j].over) continue;
        double *z = tct_refine_column(R, R->z, j);
        if (!together) apply(R->M, R->q, tct_refine_column(R, R->r, j), z);
        q_axpy(R->q, R->n, 1.0, NULL, z, tct_refine_column(R, R->x, j));
    }
}

static void tell(tct_refine_panel *R, int j, int64_t k)
{
    const tacit_stop *stop = &R->stop;
    tct_refine_part *m = &R->m[j];
    const double relative = m->norm / m->norm_b;
    int over = 0;
    tct_history_note(stop, R->first + j, k, relative, &m->result.history);
    if (R->all > 1 && stop->column_monitor)
        over =
            stop->column_monitor(stop->monitor_ctx, R->first + j, k, relative);
    else if (stop->monitor)
        over = stop->monitor(stop->monitor_ctx, k, relative);
    if (over) R->q->stop_wanted = true;
    q_enter(R->q);
}

static void break_down(tct_refine_part *m, int64_t k)
{
    m->result.stop = TACIT_STOP_BREAKDOWN;
    m->result.breakdown_iteration = k;
    m->result.breakdown_quantity = "||b - A x||";
    m->result.breakdown_value = isnan(m->norm) ? (double)NAN : m->norm;
}

/* After `k` steps, the last of which left the residual `norm`: has the column
 * ended? */
static bool judge(const tct_refine_panel *R, tct_refine_part *m, int64_t k,
                  double norm)
{
    tacit_result *r = &m->result;
    /* rows of unlike sizes: a first solve may leave more than b */
    const int64_t free = R->to_the_end ? 1 : 0;
    const bool futile = k > free && !(norm <= FUTILE * m->norm);
    const double least = fmin(norm, m->kept);
    const int64_t most =
        R->stop.max_iterations ? R->stop.max_iterations : STEPS_DEFAULT;
    m->norm = norm;
    r->iterations = k;
    r->relative_residual = r->true_relative_residual = norm / m->norm_b;
    r->converged = least <= m->target;
    if (r->converged && R->to_the_end && !futile && norm > EPS * m->norm_b &&
        k < (most < STEPS_POLISH ? most : STEPS_POLISH) && !R->q->stop_agreed)
        return false;
    if (r->converged)
        r->stop = m->target > R->stop.rtol * m->norm_b ? TACIT_STOP_ATOL
                                                       : TACIT_STOP_RTOL;
    else if (!isfinite(norm)) break_down(m, k);
    else if (R->q->stop_agreed) r->stop = TACIT_STOP_INTERRUPTED;
    else if (futile) r->stop = TACIT_STOP_STAGNATION;
    else if (k >= most) r->stop = TACIT_STOP_MAX_ITERATIONS;
    else return false;
    return true;
}

/* Keep the best x so far; a column without a solution returns it. */
static void keep(tct_refine_panel *R, int j)
{
    tct_refine_part *m = &R->m[j];
    double *x = tct_refine_column(R, R->x, j),
           *best = tct_refine_column(R, R->best, j);
    if (!m->over && m->norm < m->kept) {
        q_copy(R->q, R->n, x, best);
        m->kept = m->norm;
    }
    if (!m->over || m->norm <= m->kept || !isfinite(m->kept)) return;
    q_copy(R->q, R->n, best, x);
    m->result.true_relative_residual = m->kept / m->norm_b;
    if (m->result.converged) m->result.relative_residual = m->kept / m->norm_b;
}

/* A right-hand side of zeros has zeros for its solution. */
static void take_zeros(tct_refine_panel *R)
{
    for (int j = 0; j < R->columns; j++) {
        tct_refine_part *m = &R->m[j];
        if (m->norm_b > 0.0) continue;
        q_fill(R->q, R->n, 0.0, tct_refine_column(R, R->x, j));
        m->over = m->result.converged = true;
        m->result.stop = TACIT_STOP_RTOL;
    }
}

bool tct_refine_is_bad(const tct_refine_part *m)
{
    const tacit_result *r = &m->result;
    return !r->converged && !m->attained && m->beyond == 0 &&
           (r->stop == TACIT_STOP_STAGNATION ||
            (r->stop == TACIT_STOP_BREAKDOWN && r->breakdown_iteration > 0));
}

/* Columns that the factor without pivots has solved are not solved again. */
static void take_solved(tct_refine_panel *R)
{
    for (int j = 0; R->before && j < R->columns; j++)
        if (!tct_refine_is_bad(&R->before[j])) R->m[j] = R->before[j];
}

/* `r` is b - A x of a projected x. */
static void note_projected(const tct_refine_panel *R, tct_refine_part *m,
                           double *r)
{
    double rr = NAN;
    q_norm(R->q, R->n, r, R->c);
    q_sum(R->q, 1, R->c);
    q_get(R->q, 1, R->c, &rr);
    m->result.true_relative_residual = sqrt(rr) / m->norm_b;
}

/* Which stagnated columns are as good as rounding allows? */
static void find_attained(tct_refine_panel *R)
{
    for (int j = 0; j < R->columns; j++) {
        tct_refine_part *m = &R->m[j];
        double *x = tct_refine_column(R, R->x, j),
               *r = tct_refine_column(R, R->r, j);
        const double *b = tct_refine_column(R, R->b, j);
        if (m->norm_b == 0.0 || m->result.stop != TACIT_STOP_STAGNATION)
            continue;
        apply(R->A, R->q, x, r);
        q_aypx(R->q, R->n, -1.0, NULL, b, r);
        q_norm(R->q, R->n, x, R->c);
        q_sum(R->q, 1, R->c);
        double norm_x = NAN;
        q_get(R->q, 1, R->c, &norm_x);
        if (R->A->null) note_projected(R, m, r);
        if (R->A->norm > 0.0)
            m->result.attainable =
                0x1p-52 * (R->A->norm * sqrt(norm_x) / m->norm_b + 1.0);
        m->attained =
            tct_backward_error(R->A, R->q, r, x, b, 1.0) <= TCT_BACKWARD_LEAST;
        m->result.converged =
            m->attained && R->stop.rtol == 0.0 && R->stop.atol == 0.0;
    }
}

/* Project the solutions, and find those of a b outside the range of A. */
static tacit_status leave_null_space(tct_refine_panel *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    if (!R->A->null || R->q->peers_know) return TACIT_OK;
    tct_refine_norms(R, R->x, norm);
    for (int j = 0; j < R->columns; j++) {
        tct_refine_part *m = &R->m[j];
        tct_null_part of_x;
        const double rounding =
            ldexp(0x1p-52 * (R->A->norm * norm[j] + m->norm_b), -m->shift) +
            0x1p-52 * m->along.whole;
        const double wanted =
            fmax(ldexp(R->stop.rtol * m->norm_b, -m->shift), R->stop.atol);
        m->outside =
            tct_null_is_outside(R->A->null, m->along, wanted, rounding);
        TRY(tct_null_project(R->A, R->q, tct_refine_column(R, R->x, j), &of_x));
    }
    return TACIT_OK;
}

static void conclude_null_space(tct_refine_panel *R)
{
    if (!R->A->null || R->q->peers_know) return;
    for (int j = 0; j < R->columns; j++) {
        tct_refine_part *m = &R->m[j];
        tct_null_conclude(R->A->null, m->along, m->outside, &m->result);
    }
}

tacit_status tct_refine_run(tct_refine_panel *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    TRY(tct_refine_begin(R));
    take_zeros(R);
    take_solved(R);
    for (int64_t k = 0;; k++) {
        int left = 0;
        form_residuals(R, norm);
        if (R->q->peers_know) break;
        for (int j = 0; j < R->columns; j++) {
            tct_refine_part *m = &R->m[j];
            if (m->over) continue;
            m->over = judge(R, m, k, norm[j]);
            keep(R, j);
            tell(R, j, k);
            left += !m->over;
        }
        if (left == 0) break;
        correct(R);
    }
    TRY(leave_null_space(R));
    find_attained(R);
    conclude_null_space(R);
    return tct_refine_end(R);
}
