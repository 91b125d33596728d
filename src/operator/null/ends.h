/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/ends.h - the end of a solve with P b in place of b, which has a
 * part of norm `part` along the null space N. */
#ifndef TCT_OPERATOR_NULL_ENDS_H
#define TCT_OPERATOR_NULL_ENDS_H
#include "operator/null/null_space.h"
#include <tacit/solver.h>

/* The target for P b - A x where that for b - A x is `wanted`: less, if the
 * part is within it. */
double tct_null_target(const tct_null_space *N, double part, double wanted);
/* Is the part of b neither declared, nor within `wanted`, nor as small as
 * `rounding`, that of b - A x, explains? */
bool tct_null_is_outside(const tct_null_space *N, tct_null_part of_b,
                         double wanted, double rounding);
/* Note in `r` what was projected. `outside`: the system has no solution. */
void tct_null_conclude(const tct_null_space *N, tct_null_part of_b,
                       bool outside, tacit_result *r);
/* The sentence of `r` whose b was outside, into `text`. */
void tct_null_sentence(const tacit_result *r, char *text, size_t size);
/* Is the matrix singular in double precision, by what rounding allows at x? */
bool tct_null_is_close(const tacit_result *r);
/* The end of a sentence on `r`, of a matrix that is numerically singular though
 * the null vectors that are known do not explain it. */
const char *tct_null_unknown(const tacit_result *r);

#endif
