/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/split.c - the split of a block into edges and inner cells.
 *
 * Sides are cut off one after the other, along direction 2 first, so that the
 * edges of the usual slabs are whole planes. */
#include "operator/stencil/split.h"

bool tct_box_is_empty(const tct_cell_box *b)
{
    return tct_box_cells(b) == 0;
}

int64_t tct_box_cells(const tct_cell_box *b)
{
    int64_t cells = 1;
    for (int d = 0; d < 3; d++)
        cells *= b->hi[d] > b->lo[d] ? b->hi[d] - b->lo[d] : 0;
    return cells;
}

/* Cut the cells below `at`, or those from `at` on, off the inner ones. */
static void cut_off(tct_block_split *s, int d, int64_t at, bool below)
{
    tct_cell_box edge = s->inner;
    if (below) edge.hi[d] = s->inner.lo[d] = at;
    else edge.lo[d] = s->inner.hi[d] = at;
    if (!tct_box_is_empty(&edge)) s->edge[s->edges++] = edge;
}

void tct_split_block(const int64_t n[3], const int64_t low[3],
                     const int64_t high[3], int64_t unit, tct_block_split *out)
{
    *out = (tct_block_split){.inner = {{0, 0, 0}, {n[0], n[1], n[2]}}};
    for (int d = 2; d >= 0; d--) {
        const int64_t by = d == 0 ? unit : 1;
        int64_t from = (low[d] + by - 1) / by * by;
        int64_t to = (n[d] > high[d] ? n[d] - high[d] : 0) / by * by;
        if (from > n[d]) from = n[d];
        if (high[d] == 0) to = n[d];
        if (to < from) to = from;
        if (low[d] > 0) cut_off(out, d, from, true);
        if (high[d] > 0) cut_off(out, d, to, false);
    }
}
