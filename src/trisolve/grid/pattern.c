/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/pattern.c - the blocks of a factor by columns and by rows, and
 * its panels by tree node. */
#include "trisolve/grid/plan.h"

static const char *const what = "the blocks of a factor";

void tct_pattern_clear(tct_pattern *S)
{
    TCT_FREE(S->node, S->member, S->member_start, S->start, S->row, S->col,
             S->first, S->end, S->row_start, S->in_row, S->column_owner);
    *S = (tct_pattern){.leaves = 0};
}

/* --- tree nodes ----------------------------------------------------------- */

/* Counting sort of panels by tree node. */
static tacit_status sort_by_node(tct_pattern *S)
{
    const int32_t panels = S->P.panels, nodes = 2 * S->leaves - 1;
    TRY(TCT_ALLOC(panels, what, &S->node));
    TRY(TCT_ALLOC(panels, what, &S->member));
    TRY(TCT_ALLOC(nodes + 1, what, &S->member_start));
    for (int32_t n = 0; n <= nodes; n++) S->member_start[n] = 0;
    for (int32_t K = 0; K < panels; K++) {
        int32_t node = S->P.node[K];
        while (node >= nodes) node = (node - 1) / 2;
        S->node[K] = node;
        S->member_start[node + 1]++;
    }
    for (int32_t n = 0; n < nodes; n++)
        S->member_start[n + 1] += S->member_start[n];
    for (int32_t K = 0; K < panels; K++)
        S->member[S->member_start[S->node[K]]++] = K;
    for (int32_t n = nodes; n > 0; n--)
        S->member_start[n] = S->member_start[n - 1];
    S->member_start[0] = 0;
    return TACIT_OK;
}

/* --- blocks --------------------------------------------------------------- */

static int32_t width_of(const tct_pattern *S, int32_t K)
{
    return (int32_t)tct_width(S, K);
}

/* List the blocks of column K from number `at` on; at < 0: only count. `of`
 * [rows] has the panel of each row. */
static int64_t list_blocks(tct_pattern *S, const int32_t *of, int32_t K,
                           int64_t at)
{
    const int32_t *row = S->P.row + S->P.row_start[K];
    const int32_t h = (int32_t)(S->P.row_start[K + 1] - S->P.row_start[K]);
    int64_t count = 0;
    for (int32_t i = width_of(S, K), next; i < h; i = next, count++) {
        const int32_t I = of[row[i]];
        for (next = i + 1; next < h && row[next] < S->P.first[I + 1];) next++;
        if (at < 0) continue;
        S->row[at + count] = I;
        S->col[at + count] = K;
        S->first[at + count] = i;
        S->end[at + count] = next;
    }
    return count;
}

static tacit_status cut_columns(tct_pattern *S, const int32_t *of)
{
    const int32_t panels = S->P.panels;
    TRY(TCT_ALLOC(panels + 1, what, &S->start));
    S->start[0] = 0;
    for (int32_t K = 0; K < panels; K++)
        S->start[K + 1] = S->start[K] + list_blocks(S, of, K, -1);
    const int64_t blocks = S->start[panels];
    TRY(TCT_ALLOC(blocks, what, &S->row));
    TRY(TCT_ALLOC(blocks, what, &S->col));
    TRY(TCT_ALLOC(blocks, what, &S->first));
    TRY(TCT_ALLOC(blocks, what, &S->end));
    for (int32_t K = 0; K < panels; K++) list_blocks(S, of, K, S->start[K]);
    return TACIT_OK;
}

static tacit_status sort_by_row(tct_pattern *S)
{
    const int32_t panels = S->P.panels;
    const int64_t blocks = S->start[panels];
    TRY(TCT_ALLOC(panels + 1, what, &S->row_start));
    TRY(TCT_ALLOC(blocks, what, &S->in_row));
    for (int32_t I = 0; I <= panels; I++) S->row_start[I] = 0;
    for (int64_t b = 0; b < blocks; b++) S->row_start[S->row[b] + 1]++;
    for (int32_t I = 0; I < panels; I++) S->row_start[I + 1] += S->row_start[I];
    for (int64_t b = 0; b < blocks; b++)
        S->in_row[S->row_start[S->row[b]]++] = b;
    for (int32_t I = panels; I > 0; I--) S->row_start[I] = S->row_start[I - 1];
    S->row_start[0] = 0;
    return TACIT_OK;
}

static tacit_status build(tct_pattern *S, int32_t *of)
{
    for (int32_t K = 0; K < S->P.panels; K++)
        for (int64_t j = S->P.first[K]; j < S->P.first[K + 1]; j++) of[j] = K;
    TRY(sort_by_node(S));
    TRY(cut_columns(S, of));
    return sort_by_row(S);
}

tacit_status tct_pattern_create(const tacit_factor_panels *P, int leaves,
                                tct_pattern *out)
{
    int32_t *of = NULL;
    *out = (tct_pattern){.P = *P, .leaves = leaves, .heights = 1};
    if (leaves > P->leaves)
        FAIL(TACIT_INVALID,
             "%d grids, and the factor's tree has %d %s: factor with more, or "
             "take fewer grids",
             leaves, P->leaves, P->leaves == 1 ? "leaf" : "leaves");
    while (1 << (out->heights - 1) < leaves) out->heights++;
    TRY(TCT_ALLOC(P->rows, what, &of));
    const tacit_status status = build(out, of);
    tct_free(of);
    return status;
}
