/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/rows_none.c - solves by rows in a build without CUDA:
 * refused. */
#include "trisolve/gpu/rows.h"

tacit_status tct_rows_create(tacit_queue *q, const tacit_factor_panels *P,
                             const int32_t *place, tct_rows **out)
{
    (void)q, (void)P, (void)place, (void)out;
    FAIL(TACIT_UNSUPPORTED, "solves by rows are for a GPU, and this build has "
                            "no CUDA");
}

void tct_rows_destroy(tct_rows **rows)
{
    (void)rows; /* none was created */
}

tacit_status tct_rows_solve(const tct_rows *R, tacit_queue *q, const double *x,
                            double *y)
{
    (void)R, (void)q, (void)x, (void)y;
    FAIL(TACIT_UNSUPPORTED, "this build has no CUDA");
}

tacit_status tct_rows_status(const tct_rows *R)
{
    (void)R;
    return TACIT_OK; /* none was created */
}

tct_rows_info tct_rows_about(const tct_rows *R)
{
    (void)R;
    return (tct_rows_info){.warps = 0};
}
