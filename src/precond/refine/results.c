/* SPDX-License-Identifier: BSD-3-Clause
 * precond/refine/results.c - results of columns, and a sentence for each that
 * has no solution. */
#include "precond/refine/refine.h"
#include <math.h>
#include <stdio.h>

tacit_result *tct_refine_result(tacit_result *results, size_t size, int j)
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

static tacit_status explain(const tct_refine_panel *R, int j)
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
    if (R->m[j].outside) tct_null_sentence(r, singular, sizeof singular);
    if (r->stop == TACIT_STOP_SINGULAR) FAIL(status, "%s%s", which, singular);
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
         "%s%s%s after %lld iteration%s: ||%s - A x|| / ||b|| is "
         "%.3g, wanted %.3g%s%s%s",
         which, singular, what, (long long)r->iterations,
         r->iterations == 1 ? "" : "s",
         R->m[j].outside ? "b without that part" : "b",
         r->true_relative_residual, R->stop.rtol,
         R->stop.atol > 0 ? " or the absolute tolerance" : "", limit,
         tct_null_is_close(r) ? tct_null_unknown(r) : "");
}

void tct_refine_conclude(const tct_refine_panel *R, tacit_result *results,
                         size_t size, tacit_status *worst)
{
    for (int j = 0; j < R->columns; j++) {
        tacit_result r = R->m[j].result;
        r.bits = 64;
        r.loop = "host";
        tct_write_sized(&r, sizeof r,
                        tct_refine_result(results, size, R->first + j));
        if (outcome_of(&r) > *worst) *worst = explain(R, j);
    }
}
