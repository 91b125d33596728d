/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/row_state.h - the sum of a row's values against that of
 * their magnitudes, one text for host and device. */
#ifndef TCT_OPERATOR_PATTERN_ROW_STATE_H
#define TCT_OPERATOR_PATTERN_ROW_STATE_H
#include "device/steps.h"
#include <stdint.h>

#define TCT_NULL_BOUND (16.0 * 0x1p-52)

typedef enum { TCT_ROW_STANDS, TCT_ROW_VANISHES, TCT_ROW_ZERO } tct_row_state;

/* Does the sum of a row vanish up to rounding, or all of it? */
TCT_BOTH tct_row_state tct_row_state_of(double signed_sum, double sum)
{
    if (sum == 0.0) return TCT_ROW_ZERO;
    return fabs(signed_sum) <= TCT_NULL_BOUND * sum ? TCT_ROW_VANISHES
                                                    : TCT_ROW_STANDS;
}

/* Of all rows. */
typedef struct tct_row_sizes {
    double high, inverse; /* the largest |a|, and the inverse of the least that
                           * is not 0 */
    double norm;          /* the largest sum of |a| of a row */
    int64_t fewest, most; /* entries of a row */
} tct_row_sizes;

#endif
