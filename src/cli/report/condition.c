/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/condition.c - the error of x beside a small b - A x, and advice. */
#include "cli/report/report.h"
#include <math.h>
#include <string.h>

/* An error of x, in part of x, that is worth a note. */
static const double WRONG = 0.1;

/* Without a preconditioner the condition is A's. */
static bool is_plain(const cli_report *r)
{
    return strcmp(r->path.precond, "none") == 0;
}

/* x is known to be wrong though b - A x met the tolerance. */
static bool is_wrong(const cli_report *r)
{
    return isfinite(r->run.error) && r->run.result.converged &&
           r->run.result.true_relative_residual > 0.0 && r->run.error > WRONG;
}

/* The known error of x, over that of b - A x: A's condition is at least that. */
static double amplified(const cli_report *r)
{
    return r->run.error / r->run.result.true_relative_residual;
}

double cli_condition(const cli_report *r)
{
    if (!is_plain(r) || !is_wrong(r)) return r->condition;
    return fmax(r->condition, amplified(r));
}

/* Can a solve reach `rtol`, and does it ask for more than this one? In another
 * norm the two are not compared. */
static bool is_tighter(const cli_report *r, double rtol)
{
    const double least = cli_attainable(&r->run.result, r->accuracy);
    return !(rtol < least) && (r->norm || rtol < r->rtol);
}

/* Would a factor leave a better x? A's condition is at least `condition`; 0: not
 * known. */
static bool may_factor(const cli_report *r, double condition)
{
    return r->solver && r->run.result.stop != TACIT_STOP_STAGNATION &&
           strcmp(r->path.precond, "direct") != 0 &&
           condition * 0x1p-52 < WRONG;
}

/* Print the note: x, its error, why, and what may make that smaller, `rtol` or
 * a factor. */
static void advise(FILE *to, const cli_report *r, const char *error,
                   const char *why, double rtol, double condition)
{
    const bool factor = may_factor(r, condition);
    const char *how = r->run.result.stop == TACIT_STOP_STAGNATION
                          ? "is as small as rounding allows"
                          : "met the tolerance";
    fprintf(to, "note     x %s though b - A x %s: %s", error, how, why);
    if (is_tighter(r, rtol))
        fprintf(to, "take --rtol %.0e or less%s\n", rtol,
                factor ? ", or --method direct" : "");
    else if (factor) fputs("no --rtol mends that, --method direct may\n", to);
    else fputs("A is ill-conditioned, and no tolerance mends that\n", to);
}

/* The known error is large, and b - A x small. */
static void print_error(FILE *to, const cli_report *r)
{
    char text[96];
    if (!isfinite(r->run.error)) return;
    fprintf(to, "         ||x - x*||           %.6e  (||x*|| = 1)\n",
            r->run.error);
    if (!is_wrong(r)) return;
    const double condition = is_plain(r) ? cli_condition(r) : amplified(r);
    snprintf(text, sizeof text, "A's condition number is at least %.1e; ",
             condition);
    advise(to, r, "is wrong", text, 0.01 / amplified(r), condition);
}

/* The error of x that is allowed by b - A x or, if less, by A's condition and the
 * backward error: x may be large beside b. */
static double allowed(const cli_report *r, double factor)
{
    const double condition = cli_condition(r);
    const double by_residual = factor * r->run.result.true_relative_residual;
    if (!is_plain(r) || !r->accuracy || !(r->accuracy->normwise >= 0.0))
        return by_residual;
    return fmin(by_residual, 2.0 * condition * r->accuracy->normwise);
}

/* The error that the residual allows. */
static void print_bound(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    const double factor = sqrt(cli_condition(r));
    const bool own = is_plain(r);
    char text[96];
    if (!(r->condition > 0.0) || s->breakdown_quantity) return;
    fprintf(to,
            "condition at least %.1e, of %s; in A's norm x may be wrong by "
            "%.1e times ||r|| / ||b||%s, or more\n",
            cli_condition(r),
            own ? "A" : "the preconditioned matrix, which says nothing of A's",
            factor, own ? "" : " in M's norm");
    if (!s->converged || !(allowed(r, factor) > WRONG)) return;
    snprintf(text, sizeof text, "may be wrong by %.0e of itself",
             fmin(allowed(r, factor), 1.0));
    advise(to, r, text, "", 0.01 / factor, own ? cli_condition(r) : 0.0);
}

void cli_print_condition(FILE *to, const cli_report *r)
{
    print_error(to, r);
    print_bound(to, r);
}
