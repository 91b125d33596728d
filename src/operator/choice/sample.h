/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/sample.h - some rows of a matrix, from several places. */
#ifndef TCT_OPERATOR_CHOICE_SAMPLE_H
#define TCT_OPERATOR_CHOICE_SAMPLE_H
#include "operator/format.h"

/* Copy rows of `A` with about `most` entries in 8 pieces of equal length;
 * `starts` [8] gets the first row of each. The sample is to be freed by
 * tct_local_free, also after an error.
 * Errors      NO_MEMORY. */
tacit_status tct_sample_take(const tct_local *A, int64_t most, int64_t *starts,
                             tct_local *out);

#endif
