/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/ptscotch.c - a cut with few edges between parts by PT-Scotch: the rows,
 * or dense blocks of them, stay on their ranks while they are cut. */
#include "comm/ptscotch.h"
#include "matrix/multilevel/level.h"

/* PT-Scotch may leave a part of a small graph empty. `nodes` [parts]. */
static tacit_status check_parts(const tct_level *g, const int64_t *part,
                                int parts, int64_t *nodes)
{
    for (int p = 0; p < parts; p++) nodes[p] = 0;
    for (int64_t n = 0; n < g->nodes; n++) nodes[part[n]]++;
    TRY(tct_reduce_i64(g->world, TCT_SUM, (size_t)parts, nodes));
    for (int p = 0; p < parts; p++)
        if (nodes[p] == 0)
            FAIL(TACIT_UNSUPPORTED,
                 "PT-Scotch leaves part %d of %d empty: use fewer parts or the "
                 "partitioner 'metis'",
                 p, parts);
    return TACIT_OK;
}

/* `part` [nodes], `nodes` [parts]. */
static tacit_status cut(const tct_level *g, int parts, int64_t *part,
                        int64_t *nodes)
{
    const tct_dealt_graph dealt = {.starts = g->starts,
                                   .ptr = g->ptr,
                                   .next = g->next,
                                   .ghost = g->ghost,
                                   .weight = g->weight};
    TRY(tct_ptscotch_cut(g->world, &dealt, parts, part));
    return check_parts(g, part, parts, nodes);
}

tacit_status tct_ptscotch_rows(const tacit_matrix *m, int parts, int32_t *part)
{
    int block;
    tct_level g;
    int64_t *of_node = NULL, *nodes = NULL;
    TRY(tct_matrix_check_pattern(m));
    TRY(tct_level_block(m, parts, &block));
    TRY(tct_level_open(m, block, &g));
    tacit_status status = TCT_ALLOC(g.nodes, "the parts", &of_node);
    if (status >= 0) status = TCT_ALLOC(parts, "the parts", &nodes);
    status = tct_agree(m->world, status);
    if (status >= 0) status = cut(&g, parts, of_node, nodes);
    if (status >= 0) status = tct_level_to_rows(&g, m, block, of_node, part);
    TCT_FREE(of_node, nodes);
    tct_level_close(&g);
    return status;
}
