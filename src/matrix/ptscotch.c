/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/ptscotch.c - partitions by PT-Scotch: the rows, or dense blocks of
 * them, stay on their ranks meanwhile. */
#include "graph/ptscotch.h"
#include "matrix/multilevel/level.h"

tacit_status tct_ptscotch_rows(const tacit_matrix *m, int parts, int32_t *part)
{
    int block;
    tct_level g;
    int64_t *nodes = NULL; /* the parts */
    TRY(tct_matrix_check_pattern(m));
    TRY(tct_level_block(m, parts, &block));
    TRY(tct_level_open(m, block, &g));
    const tct_distributed_graph dealt = {.starts = g.starts,
                                         .ptr = g.ptr,
                                         .next = g.next,
                                         .ghost = g.ghost,
                                         .weight = g.weight};
    tacit_status status =
        tct_agree(m->world, TCT_ALLOC(g.nodes, "the parts", &nodes));
    if (status >= 0) status = tct_ptscotch_cut(m->world, &dealt, parts, nodes);
    if (status >= 0) status = tct_level_to_rows(&g, m, block, nodes, part);
    tct_free(nodes);
    tct_level_close(&g);
    return status;
}
