/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/plan_create.c - the plan of one rank of a grid: its blocks, its
 * messages, and its steps in order. */
#include "trisolve/grid/plan.h"
#include <stdlib.h>

static const char *const what = "the plan of a triangular solve";

static void side_clear(tct_side *s)
{
    TCT_FREE(s->panel, s->twin, s->own, s->above, s->below_start, s->below,
             s->block_start, s->block, s->width);
}

void tct_trsv_plan_clear(tct_trsv_plan *p)
{
    for (int k = 0; k < p->sweeps && p->sweep; k++) {
        tct_sweep *s = &p->sweep[k];
        side_clear(&s->col);
        side_clear(&s->row);
        TCT_FREE(s->block_col, s->block_row, s->first, s->height, s->source,
                 s->rows, s->offset);
    }
    TCT_FREE(p->sweep, p->own, p->own_width, p->own_height);
    *p = (tct_trsv_plan){.rank = 0};
}

/* A plan under construction. */
typedef struct {
    const tct_pattern *S;
    tct_trsv_plan *p;
    tct_group group;
    bool *has;       /* [2 leaves] tree nodes of the sweep's columns */
    int32_t *listed; /* [panels]                                     */
} maker;

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* List the panels of this grid at heights [low, high], ascending; returns their
 * number. */
static int32_t list_panels(maker *m, int low, int high)
{
    const tct_pattern *S = m->S;
    int32_t count = 0;
    bool sorted = true; /* as in this library's factors */
    for (int h = low; h <= high; h++) {
        const int32_t node = tct_node_at(S, m->p->z, h);
        for (int32_t k = S->member_start[node]; k < S->member_start[node + 1];
             k++) {
            const int32_t K = S->member[k];
            sorted = sorted && (count == 0 || m->listed[count - 1] < K);
            m->listed[count++] = K;
        }
    }
    if (!sorted) qsort(m->listed, (size_t)count, sizeof *m->listed, ascending);
    return count;
}

static int32_t find(int32_t count, const int32_t *sorted, int32_t K)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (sorted[mid] < K) low = mid + 1;
        else high = mid;
    }
    return low < count && sorted[low] == K ? low : -1;
}

/* --- groups of this rank -------------------------------------------------- */

/* This rank is certainly not in the group of K, which need not be built. */
static bool has_none(const maker *m, bool column, int32_t K)
{
    const tct_trsv_plan *p = m->p;
    const int32_t *owner_of = m->S->column_owner;
    if (owner_of && owner_of[K] >= 0 && column)
        return owner_of[K] != p->process;
    if (column) return K % p->grid.py != p->y;
    return !owner_of && K % p->grid.px != p->x;
}

/* Build the group of `K`; returns this rank's place in it, or -1. */
static int place_in(maker *m, const tct_sweep *s, bool column, int32_t K)
{
    const tct_trsv_plan *p = m->p;
    if (has_none(m, column, K)) return -1;
    if (column) {
        tct_group_of_column(m->S, &p->grid, K, &m->group);
        return tct_group_place(&m->group, p->process);
    }
    const bool any = tct_group_of_row(m->S, &p->grid, K, m->has, &m->group);
    if (!any && tct_height_of(m->S, m->S->node[K]) > s->high) return -1;
    return tct_group_place(&m->group, p->process);
}

static int rank_in(const maker *m, int place)
{
    return m->p->rank - m->p->process + m->group.member[place];
}

/* Add an entry to a side; without `fills` only count it. */
static void add_entry(const maker *m, bool fills, int32_t K, int place,
                      tct_side *side, int32_t *below)
{
    int first, end;
    tct_group_below(&m->group, place, &first, &end);
    if (fills) {
        const int32_t k = side->count;
        const int above = tct_group_above(&m->group, place);
        side->panel[k] = K;
        side->above[k] = above < 0 ? -1 : rank_in(m, above);
        for (int i = first; i < end; i++)
            side->below[*below + i - first] = rank_in(m, i);
        side->below_start[k + 1] = *below + end - first;
        side->width[k + 1] = side->width[k] + tct_width(m->S, K);
    }
    *below += end - first;
    side->count++;
}

static int32_t list_entries(maker *m, const tct_sweep *s, bool column,
                            bool fills, tct_side *side)
{
    const int top = m->S->heights - 1;
    const int32_t count = list_panels(m, s->low, column ? s->high : top);
    int32_t below = 0;
    side->count = 0;
    for (int32_t k = 0; k < count; k++) {
        const int place = place_in(m, s, column, m->listed[k]);
        if (place >= 0) add_entry(m, fills, m->listed[k], place, side, &below);
    }
    return below;
}

static tacit_status make_side(maker *m, const tct_sweep *s, bool column,
                              tct_side *side)
{
    const int32_t below = list_entries(m, s, column, false, side);
    const int32_t count = side->count;
    TRY(TCT_ALLOC(count, what, &side->panel));
    TRY(TCT_ALLOC(count, what, &side->twin));
    TRY(TCT_ALLOC(count, what, &side->own));
    TRY(TCT_ALLOC(count, what, &side->above));
    TRY(TCT_ALLOC(count + 1, what, &side->below_start));
    TRY(TCT_ALLOC(below, what, &side->below));
    TRY(TCT_ALLOC(count + 1, what, &side->block_start));
    TRY(TCT_ALLOC(count + 1, what, &side->width));
    side->below_start[0] = 0;
    side->width[0] = 0;
    list_entries(m, s, column, true, side);
    return TACIT_OK;
}

static void find_twins(const tct_trsv_plan *p, tct_side *side,
                       const tct_side *other)
{
    for (int32_t k = 0; k < side->count; k++) {
        const bool owner = side->above[k] < 0;
        const int32_t K = side->panel[k];
        side->twin[k] = owner ? find(other->count, other->panel, K) : -1;
        side->own[k] = owner ? find(p->owns, p->own, K) : -1;
    }
}

/* --- blocks of this rank -------------------------------------------------- */

/* Count or list the blocks, and their rows, of this rank's columns. */
static int64_t list_blocks(const maker *m, bool fills, tct_sweep *s)
{
    const tct_pattern *S = m->S;
    int64_t rows = 0;
    s->blocks = 0;
    for (int32_t j = 0; j < s->col.count; j++) {
        const int32_t K = s->col.panel[j];
        const int64_t before = rows;
        for (int64_t b = S->start[K]; b < S->start[K + 1]; b++) {
            const int32_t I = S->row[b], k = s->blocks;
            if (tct_block_owner(S, &m->p->grid, I, K) != m->p->process)
                continue;
            if (fills) {
                const int32_t *row = S->P.row + S->P.row_start[K];
                s->block_col[k] = j;
                s->block_row[k] = find(s->row.count, s->row.panel, I);
                s->first[k] = (int32_t)(rows - before);
                s->height[k] = S->end[b] - S->first[b];
                s->source[k] = S->first[b];
                for (int32_t i = 0; i < s->height[k]; i++)
                    s->offset[rows + i] =
                        row[S->first[b] + i] - (int32_t)S->P.first[I];
            }
            rows += S->end[b] - S->first[b];
            s->blocks++;
        }
        if (fills) s->rows[j + 1] = rows;
    }
    return rows;
}

/* Sort the numbers of blocks by entry; `of` [blocks] has the entry of each. */
static tacit_status sort_blocks(int32_t blocks, const int32_t *of,
                                tct_side *side)
{
    int32_t *start = side->block_start;
    TRY(TCT_ALLOC(blocks, what, &side->block));
    for (int32_t k = 0; k <= side->count; k++) start[k] = 0;
    for (int32_t b = 0; b < blocks; b++) start[of[b] + 1]++;
    for (int32_t k = 0; k < side->count; k++) start[k + 1] += start[k];
    for (int32_t b = 0; b < blocks; b++) side->block[start[of[b]]++] = b;
    for (int32_t k = side->count; k > 0; k--) start[k] = start[k - 1];
    start[0] = 0;
    return TACIT_OK;
}

static tacit_status make_blocks(const maker *m, tct_sweep *s)
{
    const int64_t rows = list_blocks(m, false, s);
    TRY(TCT_ALLOC(s->blocks, what, &s->block_col));
    TRY(TCT_ALLOC(s->blocks, what, &s->block_row));
    TRY(TCT_ALLOC(s->blocks, what, &s->first));
    TRY(TCT_ALLOC(s->blocks, what, &s->height));
    TRY(TCT_ALLOC(s->blocks, what, &s->source));
    TRY(TCT_ALLOC(s->col.count + 1, what, &s->rows));
    TRY(TCT_ALLOC(rows, what, &s->offset));
    s->rows[0] = 0;
    list_blocks(m, true, s);
    TRY(sort_blocks(s->blocks, s->block_col, &s->col));
    return sort_blocks(s->blocks, s->block_row, &s->row);
}

/* --- messages ------------------------------------------------------------- */

static void count_messages(tct_trsv_plan *p, const tct_side *side,
                           int solutions, int sums)
{
    for (int32_t k = 0; k < side->count; k++) {
        const int64_t w = side->width[k + 1] - side->width[k];
        const int32_t below = side->below_start[k + 1] - side->below_start[k];
        const int has_above = side->above[k] >= 0;
        p->in[solutions] += has_above;
        p->out[solutions] += below;
        p->out_width[solutions] += below * w;
        p->in[sums] += below;
        p->out[sums] += has_above;
        p->out_width[sums] += has_above * w;
        if (w > p->longest) p->longest = w;
    }
}

static tacit_status make_sweep(maker *m, int low, int high)
{
    tct_trsv_plan *p = m->p;
    tct_sweep *s = &p->sweep[p->sweeps++];
    *s = (tct_sweep){.low = low, .high = high};
    for (int n = 0; n < 2 * m->S->leaves - 1; n++) m->has[n] = false;
    for (int h = low; h <= high; h++) m->has[tct_node_at(m->S, p->z, h)] = true;
    TRY(make_side(m, s, true, &s->col));
    TRY(make_side(m, s, false, &s->row));
    find_twins(p, &s->col, &s->row);
    find_twins(p, &s->row, &s->col);
    TRY(make_blocks(m, s));
    const int down = tct_tag_of(TCT_SWEEP_L, low),
              up = tct_tag_of(TCT_SWEEP_U, low);
    count_messages(p, &s->col, down, up);
    count_messages(p, &s->row, up, down);
    return TACIT_OK;
}

/* --- steps ---------------------------------------------------------------- */

static tacit_status list_own(maker *m)
{
    tct_trsv_plan *p = m->p;
    const int32_t count = list_panels(m, 0, m->S->heights - 1);
    for (int32_t k = 0; k < count; k++)
        if (tct_panel_owner(m->S, &p->grid, m->listed[k]) == p->process)
            m->listed[p->owns++] = m->listed[k];
    TRY(TCT_ALLOC(p->owns, what, &p->own));
    TRY(TCT_ALLOC(p->owns + 1, what, &p->own_width));
    TRY(TCT_ALLOC(p->owns, what, &p->own_height));
    p->own_width[0] = 0;
    for (int32_t k = 0; k < p->owns; k++) {
        const int32_t K = p->own[k] = m->listed[k];
        p->own_width[k + 1] = p->own_width[k] + tct_width(m->S, K);
        p->own_height[k] = (int8_t)tct_height_of(m->S, m->S->node[K]);
    }
    return TACIT_OK;
}

static void add_step(tct_trsv_plan *p, tct_stage step)
{
    p->step[p->steps++] = step;
}

/* A step between grids that differ in bit `low`: they share the nodes above. */
static void add_between(tct_trsv_plan *p, int kind, int low)
{
    const int bit = 1 << low, tag = tct_tag_of(kind, low);
    if (p->z % bit != 0) return;
    const bool higher = p->z & bit;
    const bool sends = higher == (kind == TCT_ADD_UP);
    const int z = higher ? p->z - bit : p->z + bit;
    int64_t panels = 0, width = 0;
    for (int32_t k = 0; k < p->owns; k++) {
        if (p->own_height[k] <= low) continue;
        panels++;
        width += p->own_width[k + 1] - p->own_width[k];
    }
    if (panels == 0) return;
    const int64_t messages_sent = p->grid.by_height ? panels : 1;
    (sends ? p->out : p->in)[tag] = messages_sent;
    if (sends) p->out_width[tag] = width;
    else if (!p->grid.by_height && width > p->longest) p->longest = width;
    for (int32_t k = 0; k < p->owns && p->grid.by_height; k++)
        if (p->own_width[k + 1] - p->own_width[k] > p->longest)
            p->longest = p->own_width[k + 1] - p->own_width[k];
    add_step(p, (tct_stage){.kind = kind,
                            .height = low,
                            .peer = tct_rank_at(&p->grid, p->x, p->y, z),
                            .sends = sends});
}

static void add_sweep(tct_trsv_plan *p, int kind, int sweep)
{
    add_step(p, (tct_stage){.kind = kind,
                            .height = p->sweep[sweep].low,
                            .sweep = sweep});
}

static tacit_status make_steps(maker *m)
{
    tct_trsv_plan *p = m->p;
    const int top = m->S->heights - 1;
    const bool by_height = p->grid.by_height;
    TRY(list_own(m));
    if (!by_height) TRY(make_sweep(m, 0, top));
    if (!by_height) add_sweep(p, TCT_SWEEP_L, 0);
    for (int h = 0; h <= top; h++) {
        if (by_height && p->z % (1 << h) == 0) {
            TRY(make_sweep(m, h, h));
            add_sweep(p, TCT_SWEEP_L, h);
        }
        if (h < top) add_between(p, TCT_ADD_UP, h);
    }
    for (int h = top; h >= 0; h--) {
        if (h < top) add_between(p, TCT_PASS_ON, h);
        if (by_height && p->z % (1 << h) == 0) add_sweep(p, TCT_SWEEP_U, h);
    }
    if (!by_height) add_sweep(p, TCT_SWEEP_U, 0);
    return TACIT_OK;
}

tacit_status tct_trsv_plan_create(const tct_pattern *S, const tct_grid *grid,
                                  int rank, tct_trsv_plan *out)
{
    const int each = grid->px * grid->py;
    *out = (tct_trsv_plan){.grid = *grid,
                           .rank = rank,
                           .process = rank % each,
                           .x = rank % each / grid->py,
                           .y = rank % grid->py,
                           .z = rank / each};
    maker m = {.S = S, .p = out};
    tacit_status status = tct_group_open(grid, &m.group);
    if (status >= 0) status = TCT_ALLOC(2 * S->leaves, what, &m.has);
    if (status >= 0) status = TCT_ALLOC(S->P.panels, what, &m.listed);
    if (status >= 0) status = TCT_ALLOC(S->heights, what, &out->sweep);
    if (status >= 0) status = make_steps(&m);
    tct_group_close(&m.group);
    TCT_FREE(m.has, m.listed);
    return status;
}
