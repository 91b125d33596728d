/* SPDX-License-Identifier: BSD-3-Clause
 * solver/settings_stop.c - the settings of a solver that say when it stops. */
#include "solver/solver.h"
#include <math.h>
#include <string.h>

static tacit_status tolerance(const char *name, const char *value, double *out)
{
    double number = 0.0;
    if (!tct_parse_double(value, &number))
        FAIL(TACIT_INVALID, "%s '%s': not a number", name, value);
    if (!isfinite(number) || number < 0.0)
        FAIL(TACIT_INVALID, "%s '%s': expected a finite number, 0 or greater",
             name, value);
    *out = number;
    return TACIT_OK;
}

tacit_status tct_set_rtol(tacit_solver *S, const char *value)
{
    return tolerance("rtol", value, &S->wanted.rtol);
}

tacit_status tct_set_atol(tacit_solver *S, const char *value)
{
    return tolerance("atol", value, &S->wanted.atol);
}

static tacit_status count(const char *name, const char *value, int64_t *out)
{
    int64_t number = 0;
    if (!tct_parse_int64(value, &number) || number < 1)
        FAIL(TACIT_INVALID, "%s '%s': expected a whole number greater than 0",
             name, value);
    *out = number;
    return TACIT_OK;
}

tacit_status tct_set_max_iterations(tacit_solver *S, const char *value)
{
    TRY(count("max-iterations", value, &S->wanted.max_iterations));
    S->wanted.iterations = 0;
    return TACIT_OK;
}

tacit_status tct_set_iterations(tacit_solver *S, const char *value)
{
    return count("iterations", value, &S->wanted.iterations);
}

tacit_status tct_set_norm(tacit_solver *S, const char *value)
{
    enum { MOST = 8 };
    const char *names[MOST];
    int count = 0;
    for (; count < MOST && tct_norm_name(count); count++) {
        names[count] = tct_norm_name(count);
        if (strcmp(names[count], value) != 0) continue;
        S->wanted.norm = (tacit_norm)count;
        return TACIT_OK;
    }
    return tct_unknown("norm", value, names, (size_t)count);
}

tacit_status tct_set_relative_to(tacit_solver *S, const char *value)
{
    const bool first = strcmp(value, "r0") == 0;
    if (!first && strcmp(value, "b") != 0)
        FAIL(TACIT_INVALID, "relative-to '%s': expected b or r0", value);
    S->wanted.relative_to_first = first;
    return TACIT_OK;
}
