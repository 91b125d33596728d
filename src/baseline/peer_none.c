/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_none.c - the baseline in a build without CUDA or its headers. */
#include "baseline/peer_state.h"
#include <math.h>
#ifndef TCT_PEER_IN_BUILD

tacit_status tct_peer_create(int64_t rows, const int64_t *ptr,
                             const int32_t *col, const double *val,
                             tct_peer **out)
{
    (void)rows, (void)ptr, (void)col, (void)val, (void)out;
    FAIL(TACIT_UNSUPPORTED, "the baseline on cuSPARSE is not in this build: "
                            "configured without CUDA or its headers");
}

tacit_status tct_peer_solve(tct_peer *P, int variant, const double *b,
                            double rtol, int64_t max_iterations,
                            tct_peer_result *out)
{
    (void)P, (void)variant, (void)b, (void)rtol, (void)max_iterations;
    (void)out;
    FAIL(TACIT_UNSUPPORTED, "the baseline on cuSPARSE is not in this build");
}

double tct_peer_spmv_seconds(tct_peer *P)
{
    (void)P;
    return NAN;
}

void tct_peer_destroy(tct_peer **P)
{
    *P = NULL; /* this build has none */
}

#endif
