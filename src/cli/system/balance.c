/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/balance.c - does the Euclidean norm of b - A x look at a few rows
 * alone? */
#include "cli/system/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/precond.h>

/* A row of b is large if it is at least this part of the largest; few are at
 * most FEW of all. In the norm of M the part is ABOVE times the tolerance. */
static const double APART = 1e-8, FEW = 0.1, ABOVE = 10.0;

static bool is_preconditioned(const cli *c)
{
    return c->set.norm && strcmp(c->set.norm, "preconditioned") == 0;
}

static double apart(const cli *c)
{
    return is_preconditioned(c) ? ABOVE * c->set.rtol : APART;
}

/* Rows of b that are large, and that are not and not 0. Collective. */
static void count_rows(const cli *c, size_t n, const double *b, double *large,
                       double *small)
{
    const double part = apart(c);
    double most = 0.0;
    *large = *small = 0.0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(b[i]));
    most = cli_max(c, most);
    for (size_t i = 0; i < n; i++) {
        *large += fabs(b[i]) >= part * most;
        *small += b[i] != 0.0 && fabs(b[i]) < part * most;
    }
    *large = cli_sum(c, *large);
    *small = cli_sum(c, *small);
}

/* Are some rows large, but few? */
static bool decide(const cli *c, size_t n, const double *b, double *large,
                   double *small)
{
    count_rows(c, n, b, large, small);
    return *small > 0.0 && *large <= FEW * (*large + *small);
}

/* A factor takes no norm; its refinement ends early unless told not to. */
static const char *advice(const cli *c)
{
    return cli_is_direct(c) ? "--rtol 0 refines all rows"
                            : "--norm scaled looks at all rows";
}

/* One line for all columns. */
static void warn_of_b(const cli *c, int first, int count, double large,
                      double small)
{
    const bool one = large == 1.0;
    char others[48] = "", times[16] = "1e8";
    if (is_preconditioned(c))
        snprintf(times, sizeof times, "%.0e", 1.0 / apart(c));
    if (count > 1)
        snprintf(others, sizeof others, ", and so of %d other%s", count - 1,
                 count == 2 ? "" : "s");
    cli_log(c, CLI_WARN,
            "column %d of the %s%s: %.0f of its entries %s more than %s times "
            "the %.0f other%s%s, and %s when ||b - A x|| is small: %s",
            first + 1,
            cli_is_relative_to_first(c) ? "first residual" : "right-hand side",
            others, large, one ? "is" : "are", times, small,
            small == 1.0 ? "" : "s",
            is_preconditioned(c) ? " in the norm of the preconditioner" : "",
            one ? "it alone decides" : "they alone decide", advice(c));
}

/* b -= A x of the first guess in column `j`; `y` [n] is scratch. */
static tacit_status subtract_guess(const cli *c, const cli_system *s, int j,
                                   double *b, double *y)
{
    const size_t at = s->guesses > 1 ? (size_t)j * s->n : 0;
    double *x = NULL, *Ax = NULL;
    tacit_status status = tacit_queue_alloc(s->queue, s->n, &x);
    if (status >= 0) status = tacit_queue_alloc(s->queue, s->n, &Ax);
    if (status >= 0) status = tacit_queue_put(s->queue, s->n, s->guess + at, x);
    status = tacit_world_agree(c->world, status);
    if (status >= 0) status = tacit_operator_apply(s->A, x, Ax);
    if (status >= 0) status = tacit_queue_get(s->queue, s->n, Ax, y);
    status = tacit_world_agree(c->world, status);
    for (size_t i = 0; status >= 0 && i < s->n; i++) b[i] -= y[i];
    tacit_queue_free(s->queue, &x);
    tacit_queue_free(s->queue, &Ax);
    return status;
}

/* The vector in column `j` that b - A x is compared with, into `b` [2][n]: the
 * right-hand side, or the first residual. */
static tacit_status get_reference(const cli *c, const cli_system *s, int j,
                                  double *b)
{
    TRY(tacit_world_agree(
        c->world,
        tacit_queue_get(s->queue, s->n, s->b + (size_t)j * s->stride, b)));
    if (!s->guess || !cli_is_relative_to_first(c)) return TACIT_OK;
    return subtract_guess(c, s, j, b, b + s->n);
}

/* What each row of `b` adds to its norm, in place: sqrt(b_i (M b)_i). `y` [n] is
 * scratch. */
static tacit_status weigh(const cli *c, const cli_system *s,
                          const tacit_operator *M, double *b, double *y)
{
    double *v = NULL, *z = NULL;
    if (!is_preconditioned(c)) return TACIT_OK;
    tacit_status status = tacit_queue_alloc(s->queue, s->n, &v);
    if (status >= 0) status = tacit_queue_alloc(s->queue, s->n, &z);
    if (status >= 0) status = tacit_queue_put(s->queue, s->n, b, v);
    status = tacit_world_agree(c->world, status);
    if (status >= 0) status = tacit_operator_apply(M, v, z);
    if (status >= 0) status = tacit_queue_get(s->queue, s->n, z, y);
    status = tacit_world_agree(c->world, status);
    for (size_t i = 0; status >= 0 && i < s->n; i++)
        b[i] = sqrt(fabs(b[i])) * sqrt(fabs(y[i]));
    tacit_queue_free(s->queue, &v);
    tacit_queue_free(s->queue, &z);
    return status;
}

static tacit_status check_b(const cli *c, const cli_system *s,
                            const tacit_operator *M, double *b, bool *warned)
{
    double large[2] = {0.0, 0.0}, small[2] = {0.0, 0.0};
    int first = -1, count = 0;
    if (cli_is_manufactured(c) && !cli_is_relative_to_first(c)) return TACIT_OK;
    for (int j = 0; j < s->columns; j++) {
        const int k = count > 0;
        TRY(get_reference(c, s, j, b));
        TRY(weigh(c, s, M, b, b + s->n));
        if (!decide(c, s->n, b, &large[k], &small[k])) continue;
        if (count++ == 0) first = j;
    }
    *warned = count > 0;
    if (count > 0) warn_of_b(c, first, count, large[0], small[0]);
    return TACIT_OK;
}

/* The magnitudes of the diagonal into `d`: those of what jacobi makes of
 * ones. */
static tacit_status get_diagonal(const cli_system *s, double *d)
{
    double *x = NULL, *y = NULL;
    tacit_operator *D = NULL;
    tacit_status status = tacit_precond_create(s->A, "jacobi", &D);
    if (status >= 0) status = tacit_queue_alloc(s->queue, s->n, &x);
    if (status >= 0) status = tacit_queue_alloc(s->queue, s->n, &y);
    if (status >= 0) status = tacit_queue_fill(s->queue, s->n, 1.0, x);
    if (status >= 0) status = tacit_operator_apply(D, x, y);
    if (status >= 0) status = tacit_queue_get(s->queue, s->n, y, d);
    for (size_t i = 0; status >= 0 && i < s->n; i++) d[i] = 1.0 / fabs(d[i]);
    tacit_queue_free(s->queue, &x);
    tacit_queue_free(s->queue, &y);
    tacit_operator_destroy(&D);
    return status;
}

/* Only a wide range of the diagonal is looked at. */
static tacit_status check_diagonal(const cli *c, const cli_problem *p,
                                   const cli_system *s, double *d)
{
    double large, small;
    if (!(p->info.diagonal_min > 0.0) ||
        p->info.diagonal_min >= APART * p->info.diagonal_max)
        return TACIT_OK;
    const tacit_status status = tacit_world_agree(c->world, get_diagonal(s, d));
    if (status == TACIT_INPUT) return TACIT_OK; /* an inverse is infinite */
    TRY(status);
    if (!decide(c, s->n, d, &large, &small)) return TACIT_OK;
    cli_log(c, CLI_WARN,
            "%.0f diagonal entr%s more than 1e8 times the %.0f other%s, and "
            "%s may decide alone when ||b - A x|| is small: %s",
            large, large == 1.0 ? "y is" : "ies are", small,
            small == 1.0 ? "" : "s", large == 1.0 ? "its row" : "these rows",
            advice(c));
    return TACIT_OK;
}

/* Is there nothing to look at? Norm scaled has a size for each row. */
static bool is_balanced(const cli *c, const tacit_operator *M)
{
    if (is_preconditioned(c)) return !M;
    return c->set.norm && strcmp(c->set.norm, "scaled") == 0;
}

tacit_status cli_warn_unbalanced(const cli *c, const cli_problem *p,
                                 const cli_system *s, const tacit_operator *M)
{
    double *v = NULL;
    bool warned = false;
    if (is_balanced(c, M)) return TACIT_OK;
    tacit_status status =
        tacit_world_agree(c->world, ALLOC(2 * s->n, "two vectors", &v));
    if (status >= 0) status = check_b(c, s, M, v, &warned);
    /* the first residual tells more than the diagonal */
    if (status >= 0 && !warned && !cli_is_relative_to_first(c) &&
        !is_preconditioned(c))
        status = check_diagonal(c, p, s, v);
    free(v);
    return status;
}
