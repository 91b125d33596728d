/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/cholmod_none.c - CHOLMOD's factors in a build without it. */
#include "factor/import/adapters.h"

tacit_status
tacit_factor_import_cholmod(const struct cholmod_factor_struct *factor,
                            const tacit_factor_options *options,
                            tacit_factor **out)
{
    (void)factor, (void)options, (void)out;
    FAIL(TACIT_UNSUPPORTED, "factors of CHOLMOD are %s", TCT_CHOLMOD_MISSING);
}
