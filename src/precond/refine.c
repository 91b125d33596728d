/* SPDX-License-Identifier: BSD-3-Clause
 * precond/refine.c - A X = B by M alone: x = x + M (b - A x), repeated. If M is
 * the inverse of A up to rounding, as with a factor, the first step is the
 * solve, and the others are iterative refinement.
 *
 * [Hi02] Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.
 *        (2002), chapter 12: refinement in working precision makes a solve
 *        backward stable row by row.
 *
 * Columns go together, so that M is read once for all of them, and each stops
 * by itself. */
#include "operator/backward.h"
#include "operator/null/ends.h"
#include "precond/history.h"
#include "precond/precond.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tacit/factor.h>

enum {
    STEPS_DEFAULT = 10000,
    STEPS_POLISH = 10,
    FAR = 600 /* 2^FAR scales any norm into the range of squares */
};

static const double
    EPS = 0x1p-52,
    FUTILE = 0.9,    /* a step that leaves more of a residual is the last */
    SINGULAR = 0.01, /* attainable residual of a matrix singular in doubles */
    NORM_LEAST = 0x1p-200, NORM_MOST = 0x1p200; /* squares are doubles */

typedef struct {
    double norm_b, target, norm; /* of b and of b - A x, times 2^shift */
    double kept;                 /* ... of `best`                       */
    int shift;
    int beyond; /* 0, or the exponent of ||x|| beyond doubles          */
    bool over, attained; /* rounding allows no smaller residual         */
    tct_null_part along; /* of b, along A's null space                  */
    tacit_result result;
} member;

typedef struct {
    const tacit_operator *A, *M;
    tacit_queue *q;
    const double *B; /* the caller's */
    double *X;
    size_t B_stride, X_stride;
    tacit_stop stop;
    double *b, *x, *r, *z, *best; /* panels of `stride` */
    double *c;                    /* a sum per column   */
    size_t n, stride;
    int all, first, columns; /* the caller's number; the current columns */
    bool to_the_end; /* until no step helps, since M is a factor that gives
                      * digits away for its pivots */
    member m[TCT_COLUMNS_MOST];
    const member *before; /* of a factor without pivots; NULL: the first run */
} refinement;

static double *column(const refinement *R, double *panel, int j)
{
    return panel + (size_t)j * R->stride;
}

/* --- in and out ----------------------------------------------------------- */

/* The norms of the columns of `panel`, summed over the ranks, into `norm`. */
static void measure(const refinement *R, double *panel, double *norm)
{
    for (int j = 0; j < R->columns; j++)
        q_norm(R->q, R->n, column(R, panel, j), &R->c[j]);
    q_sum(R->q, R->columns, R->c);
    q_get(R->q, (size_t)R->columns, R->c, norm);
    for (int j = 0; j < R->columns; j++) norm[j] = sqrt(norm[j]);
}

static void enter(const refinement *R, const double *from, double *to)
{
    if (R->A->order) tct_order_permute_in(R->A->order, R->q, R->n, from, to);
    else q_copy(R->q, R->n, from, to);
}

static void leave(const refinement *R, const double *from, double *to)
{
    if (R->A->order) tct_order_permute_out(R->A->order, R->q, R->n, from, to);
    else q_copy(R->q, R->n, from, to);
}

/* v = 2^by v */
static void shift(const refinement *R, int by, double *v)
{
    for (int step; by != 0; by -= step) { /* 2^by may exceed doubles */
        step = by > 1000 ? 1000 : by < -1000 ? -1000 : by;
        q_scale(R->q, R->n, ldexp(1.0, step), v);
    }
}

/* The exponent of the stored x: b is scaled by 2^shift, A by 2^-exponent. */
static int shift_of_x(const refinement *R, const member *m)
{
    return m->shift + R->A->exponent;
}

static bool is_near(double norm)
{
    return norm >= NORM_LEAST && norm <= NORM_MOST;
}

/* Scale the columns of `panel`, copies of vectors, by 2^shift to norms near 1
 * if the squares of their norms exceed doubles; `norm` gets the norms. */
static void bring_near(const refinement *R, double *panel, double *norm,
                       int *shifts)
{
    measure(R, panel, norm);
    for (int j = 0; j < R->columns; j++) {
        shifts[j] = is_near(norm[j]) ? 0 : norm[j] > NORM_MOST ? -FAR : FAR;
        shift(R, shifts[j], column(R, panel, j));
    }
    measure(R, panel, norm);
    for (int j = 0; j < R->columns; j++) {
        int exponent = 0;
        if (shifts[j] == 0 || !isfinite(norm[j])) continue;
        norm[j] = frexp(norm[j], &exponent);
        shift(R, -exponent, column(R, panel, j));
        shifts[j] -= exponent;
    }
}

static tacit_status begin(refinement *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    int shifts[TCT_COLUMNS_MOST] = {0};
    tct_null_part along[TCT_COLUMNS_MOST] = {{0.0, 0.0}};
    for (int j = 0; j < R->columns; j++) {
        const size_t at = (size_t)(R->first + j);
        enter(R, R->B + at * R->B_stride, column(R, R->b, j));
        enter(R, R->X + at * R->X_stride, column(R, R->x, j));
        if (!R->A->null) continue;
        TRY(tct_null_project(R->A, R->q, column(R, R->x, j), &along[j]));
        TRY(tct_null_project(R->A, R->q, column(R, R->b, j), &along[j]));
    }
    bring_near(R, R->b, norm, shifts);
    TRY(tct_agree(R->A->world, q_own_status(R->q)));
    for (int j = 0; j < R->columns; j++) {
        member *m = &R->m[j];
        if (!isfinite(norm[j]))
            FAIL(TACIT_INPUT, "the right-hand side has entries that are not "
                              "finite");
        *m = (member){.shift = shifts[j],
                      .norm_b = norm[j],
                      .along = along[j],
                      .kept = INFINITY,
                      .result.breakdown_iteration = -1};
        m->target = fmax(R->stop.rtol * norm[j], ldexp(R->stop.atol, m->shift));
        m->target = tct_null_target(R->A->null, ldexp(along[j].part, m->shift),
                                    m->target);
        m->result.norm_b = ldexp(norm[j], -m->shift);
        shift(R, shift_of_x(R, m), column(R, R->x, j));
    }
    return TACIT_OK;
}

/* x = 0 in place of a solution that exceeds the range of doubles. */
static void take_zero(refinement *R, int j)
{
    tacit_result *r = &R->m[j].result;
    q_fill(R->q, R->n, 0.0, column(R, R->x, j));
    r->converged = false;
    r->stop = TACIT_STOP_BREAKDOWN;
    r->relative_residual = r->true_relative_residual = 1.0;
}

/* Mark the columns whose solution exceeds the range of doubles. */
static void find_beyond(refinement *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    int shifts[TCT_COLUMNS_MOST] = {0};
    for (int j = 0; j < R->columns; j++)
        q_copy(R->q, R->n, column(R, R->x, j), column(R, R->z, j));
    bring_near(R, R->z, norm, shifts);
    for (int j = 0; j < R->columns; j++) {
        member *m = &R->m[j];
        int exponent = 0;
        (void)frexp(norm[j], &exponent);
        exponent -= shifts[j] + shift_of_x(R, m);
        if (!isfinite(norm[j]) || norm[j] == 0.0 ||
            (exponent > -1021 && exponent <= 1024))
            continue;
        m->beyond = exponent;
        take_zero(R, j);
    }
}

static tacit_status end(refinement *R)
{
    bool shifted = false;
    for (int j = 0; j < R->columns; j++)
        shifted = shifted || shift_of_x(R, &R->m[j]) != 0;
    if (shifted) find_beyond(R);
    for (int j = 0; j < R->columns; j++) {
        double *x = column(R, R->x, j);
        shift(R, -shift_of_x(R, &R->m[j]), x);
        leave(R, x, R->X + (size_t)(R->first + j) * R->X_stride);
    }
    return tct_agree(R->A->world, q_own_status(R->q));
}

/* --- steps ---------------------------------------------------------------- */

/* r = b - A x of all columns, and their norms. */
static void form_residuals(const refinement *R, double *norm)
{
    const tct_panel X = tct_panel_of(R->x, (ptrdiff_t)R->stride, R->columns),
                    Y = tct_panel_of(R->r, (ptrdiff_t)R->stride, R->columns);
    apply_block(R->A, R->q, X, Y);
    for (int j = 0; j < R->columns; j++)
        q_aypx(R->q, R->n, -1.0, NULL, column(R, R->b, j), column(R, R->r, j));
    measure(R, R->r, norm);
}

/* z = M r, in one batch if M can. */
static void correct(const refinement *R)
{
    const tct_operator_ops *ops = R->M->ops;
    if (R->columns > 1) q_batch(R->q, R->columns, R->stride);
    const bool together =
        R->columns > 1 && ops->for_batch && ops->for_batch(R->M, R->q);
    if (together) apply(R->M, R->q, R->r, R->z);
    q_batch(R->q, 0, 0);
    for (int j = 0; j < R->columns; j++) {
        if (R->m[j].over) continue;
        double *z = column(R, R->z, j);
        if (!together) apply(R->M, R->q, column(R, R->r, j), z);
        q_axpy(R->q, R->n, 1.0, NULL, z, column(R, R->x, j));
    }
}

static void tell(refinement *R, int j, int64_t k)
{
    const tacit_stop *stop = &R->stop;
    member *m = &R->m[j];
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

static void break_down(member *m, int64_t k)
{
    m->result.stop = TACIT_STOP_BREAKDOWN;
    m->result.breakdown_iteration = k;
    m->result.breakdown_quantity = "||b - A x||";
    m->result.breakdown_value = isnan(m->norm) ? (double)NAN : m->norm;
}

/* After `k` steps, the last of which left the residual `norm`: has the column
 * ended? */
static bool judge(const refinement *R, member *m, int64_t k, double norm)
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
static void keep(refinement *R, int j)
{
    member *m = &R->m[j];
    double *x = column(R, R->x, j), *best = column(R, R->best, j);
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
static void take_zeros(refinement *R)
{
    for (int j = 0; j < R->columns; j++) {
        member *m = &R->m[j];
        if (m->norm_b > 0.0) continue;
        q_fill(R->q, R->n, 0.0, column(R, R->x, j));
        m->over = m->result.converged = true;
        m->result.stop = TACIT_STOP_RTOL;
    }
}

/* Has a factor left b - A x without need? */
static bool is_bad(const member *m)
{
    const tacit_result *r = &m->result;
    return !r->converged && !m->attained && m->beyond == 0 &&
           (r->stop == TACIT_STOP_STAGNATION ||
            (r->stop == TACIT_STOP_BREAKDOWN && r->breakdown_iteration > 0));
}

/* Columns that the factor without pivots has solved are not solved again. */
static void take_solved(refinement *R)
{
    for (int j = 0; R->before && j < R->columns; j++)
        if (!is_bad(&R->before[j])) R->m[j] = R->before[j];
}

/* Which stagnated columns are as good as rounding allows? */
static void find_attained(refinement *R)
{
    for (int j = 0; j < R->columns; j++) {
        member *m = &R->m[j];
        double *x = column(R, R->x, j), *r = column(R, R->r, j);
        const double *b = column(R, R->b, j);
        if (m->norm_b == 0.0 || m->result.stop != TACIT_STOP_STAGNATION)
            continue;
        apply(R->A, R->q, x, r);
        q_aypx(R->q, R->n, -1.0, NULL, b, r);
        q_norm(R->q, R->n, x, R->c);
        q_sum(R->q, 1, R->c);
        double norm_x = NAN;
        q_get(R->q, 1, R->c, &norm_x);
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
static tacit_status leave_null_space(refinement *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    if (!R->A->null || R->q->peers_know) return TACIT_OK;
    measure(R, R->x, norm);
    for (int j = 0; j < R->columns; j++) {
        member *m = &R->m[j];
        tct_null_part of_x;
        const double rounding =
            ldexp(0x1p-52 * (R->A->norm * norm[j] + m->norm_b), -m->shift) +
            0x1p-52 * m->along.whole;
        const double wanted =
            fmax(ldexp(R->stop.rtol * m->norm_b, -m->shift), R->stop.atol);
        const bool outside =
            tct_null_is_outside(R->A->null, m->along, wanted, rounding);
        tct_null_conclude(R->A->null, m->along, outside, &m->result);
        TRY(tct_null_project(R->A, R->q, column(R, R->x, j), &of_x));
    }
    return TACIT_OK;
}

static tacit_status run(refinement *R)
{
    double norm[TCT_COLUMNS_MOST] = {0.0};
    TRY(begin(R));
    take_zeros(R);
    take_solved(R);
    for (int64_t k = 0;; k++) {
        int left = 0;
        form_residuals(R, norm);
        if (R->q->peers_know) break;
        for (int j = 0; j < R->columns; j++) {
            member *m = &R->m[j];
            if (m->over) continue;
            m->over = judge(R, m, k, norm[j]);
            keep(R, j);
            tell(R, j, k);
            left += !m->over;
        }
        if (left == 0) break;
        correct(R);
    }
    find_attained(R);
    TRY(leave_null_space(R));
    return end(R);
}

/* Has the factor M its rows permuted and scaled? */
static bool is_permuted(const tacit_operator *M)
{
    tacit_precond_info info = {.size = sizeof info};
    if (tacit_precond_describe(M, &info) < 0 || !info.factor_info) return false;
    return info.factor_info->trials > 0;
}

/* A factor is judged by test systems. If it is bad for one of these columns, it
 * is made again with pivots, and those are solved from the best x. */
static tacit_status pivot_if_bad(refinement *R)
{
    member before[TCT_COLUMNS_MOST];
    double left = 0.0;
    bool done = false;
    char why[96];
    for (int j = 0; j < R->columns; j++)
        if (is_bad(&R->m[j]))
            left = fmax(left, R->m[j].result.true_relative_residual);
    if (!(left > 0.0) || R->q->peers_know || R->q->stop_agreed) return TACIT_OK;
    snprintf(why, sizeof why,
             "method direct: a right-hand side is left with ||b - A x|| / "
             "||b|| = %.1e",
             left);
    TRY(tct_precond_pivot(R->M, why, &done));
    if (!done) return TACIT_OK;
    if (R->A->world->rank == 0)
        tct_log(TCT_WARN, "%s: the matrix is factored again, with pivots", why);
    memcpy(before, R->m, sizeof before);
    R->before = before;
    R->to_the_end = is_permuted(R->M);
    const tacit_status status = run(R);
    R->before = NULL;
    return status;
}

/* --- results -------------------------------------------------------------- */

/* The caller's header may be older. */
static tacit_result *result_of(tacit_result *results, size_t size, int j)
{
    return (tacit_result *)(void *)((char *)results + (size_t)j * size);
}

static tacit_status outcome_of(const tacit_result *r)
{
    if (r->converged) return TACIT_OK;
    if (r->stop == TACIT_STOP_BREAKDOWN) return TACIT_BREAKDOWN;
    return r->stop == TACIT_STOP_INTERRUPTED ? TACIT_INTERRUPTED
                                             : TACIT_NOT_CONVERGED;
}

static tacit_status explain(const refinement *R, int j)
{
    const tacit_result *r = &R->m[j].result;
    const tacit_status status = outcome_of(r);
    char which[24] = "";
    if (R->all > 1)
        snprintf(which, sizeof which, "column %d: ", R->first + j + 1);
    if (R->m[j].beyond)
        FAIL(status,
             "%sthe solution is beyond the range of doubles, its norm is about "
             "2^%d: scale the matrix or the right-hand side",
             which, R->m[j].beyond);
    if (status == TACIT_BREAKDOWN)
        FAIL(status, "%sbreakdown at iteration %lld: ||b - A x|| = %g: %s",
             which, (long long)r->breakdown_iteration, r->breakdown_value,
             r->breakdown_iteration > 0
                 ? "what the preconditioner makes of it is not finite"
                 : "the first guess is not finite, or of a size too far from "
                   "that of the solution");
    char singular[360] = "";
    if (r->stop == TACIT_STOP_SINGULAR) {
        tct_null_sentence(r, singular, sizeof singular);
        FAIL(status, "%s%s", which, singular);
    }
    const char *what = status == TACIT_INTERRUPTED ? "interrupted"
                       : R->m[j].attained
                           ? "no further progress, as far as rounding allows,"
                       : r->stop == TACIT_STOP_STAGNATION
                           ? "no further progress: b - A x stays where it is"
                           : "not converged";
    char limit[64] = "";
    if (r->attainable > 0.0)
        snprintf(limit, sizeof limit, "; rounding allows about %.1e",
                 r->attainable);
    FAIL(status,
         "%s%s after %lld iterations: ||b - A x|| / ||b|| is %.3g, wanted "
         "%.3g%s%s%s",
         which, what, (long long)r->iterations, r->true_relative_residual,
         R->stop.rtol, R->stop.atol > 0 ? " or the absolute tolerance" : "",
         limit, r->attainable > SINGULAR ? tct_null_unknown(r) : "");
}

/* Results of the current columns; the worst status so far into `*worst`, with
 * its message. */
static void conclude(const refinement *R, tacit_result *results, size_t size,
                     tacit_status *worst)
{
    for (int j = 0; j < R->columns; j++) {
        tacit_result r = R->m[j].result;
        r.bits = 64;
        r.loop = "host";
        tct_write_sized(&r, sizeof r, result_of(results, size, R->first + j));
        if (outcome_of(&r) > *worst) *worst = explain(R, j);
    }
}

/* --- memory, and the call ------------------------------------------------- */

static tacit_status open_panels(refinement *R, int places)
{
    R->n = (size_t)R->A->n;
    R->stride = tct_stride(R->n);
    const size_t room = R->stride * (size_t)places;
    TRY(tacit_queue_alloc(R->q, room, &R->b));
    TRY(tacit_queue_alloc(R->q, room, &R->x));
    TRY(tacit_queue_alloc(R->q, room, &R->r));
    TRY(tacit_queue_alloc(R->q, room, &R->z));
    TRY(tacit_queue_alloc(R->q, room, &R->best));
    return tacit_queue_alloc(R->q, (size_t)places, &R->c);
}

static tacit_status run_all(refinement *R, tacit_result *results, size_t size)
{
    const int places = R->all < TCT_COLUMNS_MOST ? R->all : TCT_COLUMNS_MOST;
    tacit_status worst = TACIT_OK;
    TRY(tct_agree(R->A->world, open_panels(R, places)));
    TRY(tct_operator_columns((tacit_operator *)(uintptr_t)R->A, places));
    TRY(tct_operator_columns((tacit_operator *)(uintptr_t)R->M, places));
    R->q->stop_wanted = R->q->stop_agreed = false;
    double seconds = tct_seconds();
    for (R->first = 0; R->first < R->all; R->first += places) {
        R->columns = R->all - R->first < places ? R->all - R->first : places;
        TRY(run(R));
        TRY(pivot_if_bad(R));
        conclude(R, results, size, &worst);
    }
    seconds = tct_seconds() - seconds;
    TRY(tct_reduce_f64(R->A->world, TCT_MAX, 1, &seconds));
    for (int j = 0; j < R->all; j++) {
        tacit_result *r = result_of(results, size, j);
        if (size > offsetof(tacit_result, seconds)) r->seconds = seconds;
    }
    return worst;
}

static tacit_status check(const refinement *R)
{
    if (R->all < 1 || !R->B || !R->X)
        FAIL(TACIT_INVALID,
             "tacit_precond_solve: %d columns, B is %s and X is %s: expected "
             "one column or more, and both",
             R->all, R->B ? "given" : "NULL", R->X ? "given" : "NULL");
    if (R->stop.norm != TACIT_NORM_RESIDUAL || R->stop.relative_to_first)
        FAIL(TACIT_INVALID, "tacit_precond_solve: stops in the Euclidean norm, "
                            "relative to b");
    TRY(tct_stop_check(&R->stop));
    if (R->stop.monitor_decides)
        FAIL(TACIT_INVALID, "tacit_precond_solve: a monitor that decides "
                            "belongs to tacit_solver_run");
    if (R->stop.iterations > 0)
        FAIL(TACIT_INVALID, "tacit_precond_solve: a fixed number of iterations "
                            "belongs to tacit_solver_run: set max_iterations");
    if (R->B_stride < (size_t)R->A->n || R->X_stride < (size_t)R->A->n)
        FAIL(TACIT_INVALID,
             "tacit_precond_solve: strides of %zu and %zu: expected the %lld "
             "rows of this rank or more",
             R->B_stride, R->X_stride, (long long)R->A->n);
    const size_t n = (size_t)R->A->n, last = (size_t)R->all - 1;
    if (tct_overlap(R->B, last * R->B_stride + n, R->X, last * R->X_stride + n))
        FAIL(TACIT_INVALID,
             "tacit_precond_solve: B and X share memory: X is written while B "
             "is needed, so they must be two panels");
    if (R->M->n != R->A->n || R->M->order != R->A->order)
        FAIL(TACIT_INVALID, "tacit_precond_solve: the preconditioner is not "
                            "for this operator");
    return TACIT_OK;
}

tacit_status tct_stop_check(const tacit_stop *stop)
{
    if (!(stop->rtol >= 0.0 && stop->atol >= 0.0))
        FAIL(TACIT_INVALID,
             "tacit_stop: rtol is %g and atol %g: expected 0 or more",
             stop->rtol, stop->atol);
    if (stop->max_iterations < 0 || stop->iterations < 0)
        FAIL(TACIT_INVALID,
             "tacit_stop: max_iterations is %lld and iterations %lld: expected "
             "0 or more",
             (long long)stop->max_iterations, (long long)stop->iterations);
    if (stop->history_room >= 0 && (stop->history || stop->history_room == 0))
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "tacit_stop: history_room is %lld and history is %s: give both, or "
         "NULL and 0",
         (long long)stop->history_room, stop->history ? "given" : "NULL");
}

tacit_status tacit_precond_solve(const tacit_operator *A,
                                 const tacit_operator *M, int columns,
                                 const double *B, size_t B_stride, double *X,
                                 size_t X_stride, const tacit_stop *stop,
                                 tacit_result *results)
{
    REQUIRE(A != NULL && M != NULL && stop != NULL && results != NULL);
    for (int j = 0; j < columns; j++)
        TRY(tct_check_sized("tacit_result",
                            result_of(results, results->size, j)));
    refinement R = {.A = A,
                    .M = M,
                    .q = A->q,
                    .B = B,
                    .X = X,
                    .B_stride = B_stride,
                    .X_stride = X_stride,
                    .all = columns};
    TRY(tct_read_sized("tacit_stop", stop, &R.stop, sizeof R.stop));
    R.to_the_end = is_permuted(M);
    TRY(tct_agree(A->world, check(&R)));
    q_enter(A->q);
    TRY(tct_precond_follow(M));
    tct_use uses[2];
    tct_use_begin(&uses[0], A);
    tct_use_begin(&uses[1], M);
    const tacit_status status = run_all(&R, results, results->size);
    tct_use_end(&uses[1]);
    tct_use_end(&uses[0]);
    double **const panels[] = {&R.b, &R.x, &R.r, &R.z, &R.best, &R.c};
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        tacit_queue_free(R.q, panels[i]);
    return status;
}
