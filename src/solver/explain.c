/* SPDX-License-Identifier: BSD-3-Clause
 * solver/explain.c - the sentence of a solve that did not succeed. */
#include "operator/null/ends.h"
#include "solver/after_phase.h"
#include "solver/norms.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A Ritz value is that close to the rounding of the largest one: A is singular
 * in double precision. */
static const double CONDITION = 0x1p47;

static bool is_numerically_singular(const tct_run *R)
{
    const tct_ritz *z = R->ritz;
    const tacit_stop_reason stop = R->result->stop;
    if (stop != TACIT_STOP_STAGNATION && stop != TACIT_STOP_BREAKDOWN)
        return false;
    if (tct_null_is_close(R->result)) return true;
    return z && !R->pure &&
           tct_ritz_condition(z->count, z->alpha, z->beta) > CONDITION;
}

/* The end of the sentence where no known null vector explains the matter, or
 * minres found r in rows far below |A|. */
static const char *about_singular(const tct_run *R)
{
    if (R->policy->size > 0.0 && !R->M)
        return "; rows of the matrix are of sizes too far apart: scale it, or "
               "take precond jacobi if no diagonal is 0";
    return is_numerically_singular(R) ? tct_null_unknown(R->result) : "";
}

static tacit_status breakdown(const tct_run *R)
{
    const tacit_result *r = R->result;
    if (!isfinite(r->breakdown_value))
        FAIL(TACIT_BREAKDOWN,
             "breakdown at iteration %lld: %s = %.6g: the entries of the "
             "matrix, the right-hand side or the first guess are not finite, "
             "or of sizes too far apart for double precision",
             (long long)r->breakdown_iteration, r->breakdown_quantity,
             r->breakdown_value);
    if (strcmp(r->breakdown_quantity, "||r||") == 0)
        FAIL(TACIT_BREAKDOWN,
             "breakdown at iteration %lld: ||r|| = %.6g, and it grows without "
             "end: the matrix is singular and the right-hand side outside its "
             "range, or it is not positive definite",
             (long long)r->breakdown_iteration, r->breakdown_value);
    FAIL(TACIT_BREAKDOWN,
         "breakdown at iteration %lld: %s = %.6g, the %s is not positive "
         "definite%s",
         (long long)r->breakdown_iteration, r->breakdown_quantity,
         r->breakdown_value,
         strcmp(r->breakdown_quantity, "r'Mr") == 0 ? "preconditioner"
                                                    : "matrix",
         about_singular(R));
}

/* A r is rounding: of a known null vector, or the matrix may be regular. */
static const char *least_squares(const tct_run *R, char *text, size_t size)
{
    const bool known = R->system->outside;
    snprintf(text, size,
             "not converged, x is a least squares solution%s%s: the matrix is "
             "singular and the right-hand side outside its range%s%s: ended",
             R->M ? " in the norm of the preconditioner" : "",
             known ? "" : " as far as rounding tells",
             known ? ""
                   : ", or it is ill-conditioned, and methods cg and direct "
                     "may go on",
             R->policy->unsure && !R->M
                 ? ", or rows are of sizes too far apart "
                   "(scale the matrix)"
                 : "");
    return text;
}

tacit_status tct_explain(const tct_run *R)
{
    const tacit_result *r = R->result;
    const char *what = "not converged";
    char outside[360] = "", least[400];
    tacit_status status = TACIT_NOT_CONVERGED;
    if (r->converged || r->stop == TACIT_STOP_ITERATIONS) return TACIT_OK;
    if (R->system->outside) tct_null_sentence(r, outside, sizeof outside);
    if (r->stop == TACIT_STOP_SINGULAR) FAIL(status, "%s", outside);
    if (r->stop == TACIT_STOP_BREAKDOWN) return breakdown(R);
    if (r->stop == TACIT_STOP_STAGNATION && R->pure)
        what = "the recurrence alone came no further: it ended";
    else if (r->stop == TACIT_STOP_STAGNATION)
        what = R->system->attained
                   ? "no further progress, as far as rounding allows,"
               : R->system->outgrown
                   ? "no further progress: rounding of a large x hides b - A x"
                   : "no further progress: b - A x stays where it is";
    if (r->stop == TACIT_STOP_LEAST_SQUARES)
        what = least_squares(R, least, sizeof least);
    if (r->stop == TACIT_STOP_INTERRUPTED) {
        what = "interrupted";
        status = TACIT_INTERRUPTED;
    }
    char limit[64] = "";
    const bool left = R->system->outgrown && !R->system->attained; /* that x */
    const tct_system *S = R->system;
    const bool plain = /* the scale of what rounding allows */
        S->stop.norm == TACIT_NORM_RESIDUAL && !S->stop.relative_to_first;
    if (r->attainable > 0.0 && !left && plain)
        snprintf(limit, sizeof limit, "; rounding allows about %.1e",
                 r->attainable);
    char which[64];
    if (plain)
        snprintf(which, sizeof which, "||%s - A x|| / ||b||",
                 S->outside ? "b without that part" : "b");
    else
        snprintf(which, sizeof which, "b - A x in norm %s",
                 tct_norm_name((int)S->stop.norm));
    FAIL(status, "%s%s after %lld iteration%s: %s is %.3g, wanted %.3g%s%s%s",
         outside, what, (long long)r->iterations, r->iterations == 1 ? "" : "s",
         which, plain ? r->true_relative_residual : r->measure, S->stop.rtol,
         R->system->stop.atol > 0 ? " or the absolute tolerance" : "", limit,
         about_singular(R));
}
