/* SPDX-License-Identifier: BSD-3-Clause
 * graph/ptscotch_none.c - refuses in a build without PT-Scotch. */
#include "graph/ptscotch.h"

tacit_status tct_ptscotch_cut(tacit_world *w, const tct_distributed_graph *g,
                              int parts, int64_t *part)
{
    (void)w, (void)g, (void)parts, (void)part;
    FAIL(TACIT_UNSUPPORTED, "cuts by PT-Scotch are %s", TCT_PTSCOTCH_MISSING);
}
