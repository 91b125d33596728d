/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_look.h - tasks of store_tasks.h: sizes and sums of
 * rows, as pattern/scale.c, and which rows no null vector can have, as
 * null/components.c.
 *
 * A row whose sum vanishes points at a neighbour before it, or, in the next
 * round, behind it. Pointers are doubled until they end; a row whose last one
 * stands does so too, as both are of one component. A row that is left may be
 * of such a component all the same: then the host looks. */
#ifndef TCT_OPERATOR_LAYOUT_STORE_LOOK_H
#define TCT_OPERATOR_LAYOUT_STORE_LOOK_H
#include "operator/layout/store_work.h"

/* --- sizes ---------------------------------------------------------------- */

/* Magnitudes are ordered as their bits; NaN is left out. */
TCT_BOTH void tct_look_raise(int64_t *to, double size)
{
    if (size > 0.0) tct_shared_raise(to, (int64_t)tct_bits_of(size));
}

TCT_BOTH void tct_look_at_row(const tct_store_work *g, int64_t row)
{
    const int64_t from = g->ptr[row], to = g->ptr[row + 1];
    double sum = 0.0, signed_sum = 0.0, high = 0.0, low = INFINITY;
    double diagonal = 0.0;
    for (int64_t k = from; k < to; k++) {
        const double v = g->val[k], a = fabs(v);
        signed_sum += v;
        sum += a;
        if (a > high) high = a;
        if (a > 0.0 && a < low) low = a;
        if (g->col[k] == row) diagonal = v;
    }
    g->look.diagonal[row] = diagonal;
    g->look.state[row] = (uint8_t)tct_row_state_of(signed_sum, sum);
    tct_look_raise(&g->state->high, high);
    tct_look_raise(&g->state->inverse, 1.0 / low);
    tct_look_raise(&g->state->norm, sum);
    tct_shared_raise(&g->state->most, to - from);
    tct_shared_raise(&g->state->fewest, INT32_MAX - (to - from));
}

/* How many of 32 rows do not stand. */
TCT_BOTH void tct_look_count(const tct_store_work *g, int64_t i)
{
    int64_t left[TCT_OWN_LANES];
    TCT_EACH_LANE(l, k)
    {
        const int64_t row = GPU_LANES * i + l;
        left[k] = row < g->rows &&
                  tct_shared_byte(&g->look.state[row]) != TCT_ROW_STANDS;
    }
    const int64_t all = tct_lanes_total(left);
    if (all > 0 && tct_leads()) tct_shared_add(&g->state->left, all);
}

TCT_BOTH void tct_store_task_look(const tct_store_work *g, int64_t i, int b)
{
    (void)b;
    TCT_EACH_NUMBER(l)
    {
        const int64_t row = GPU_LANES * i + l;
        if (row < g->rows) tct_look_at_row(g, row);
    }
    tct_look_count(g, i);
}

/* --- rows that stand ------------------------------------------------------ */

/* The first neighbour before a row, or the last behind it; itself if there is
 * none, and also if a neighbour stands, as it does then. */
TCT_BOTH int64_t tct_look_aim(const tct_store_work *g, int64_t row)
{
    int64_t aim = row;
    if (g->look.state[row] != TCT_ROW_VANISHES) return row;
    for (int64_t k = g->ptr[row]; k < g->ptr[row + 1]; k++) {
        const int64_t j = g->col[k];
        if (g->val[k] == 0.0 || j == row || j >= g->rows) continue;
        if (tct_shared_byte(&g->look.state[j]) == TCT_ROW_STANDS) {
            tct_shared_put_byte(&g->look.state[row], TCT_ROW_STANDS);
            return row;
        }
        if (g->look.behind ? j > row : j < row && aim == row) aim = j;
    }
    return aim;
}

TCT_BOTH void tct_store_task_aim(const tct_store_work *g, int64_t i, int b)
{
    (void)b;
    TCT_EACH_NUMBER(l)
    {
        const int64_t row = GPU_LANES * i + l;
        if (row < g->rows) g->look.parent[row] = (int32_t)tct_look_aim(g, row);
    }
}

/* A pointer that another task has doubled already is as good. */
TCT_BOTH void tct_store_task_jump(const tct_store_work *g, int64_t i, int b)
{
    (void)b;
    TCT_EACH_NUMBER(l)
    {
        const int64_t row = GPU_LANES * i + l;
        if (row >= g->rows) continue;
        const int32_t at = tct_shared_number(&g->look.parent[row]);
        const int32_t next = tct_shared_number(&g->look.parent[at]);
        if (next == at) continue;
        tct_shared_put_number(&g->look.parent[row], next);
        tct_shared_set(&g->state->changed);
    }
}

/* The last of its pointers stands, or not; that one does not change here. */
TCT_BOTH void tct_store_task_ground(const tct_store_work *g, int64_t i, int b)
{
    (void)b;
    TCT_EACH_NUMBER(l)
    {
        const int64_t row = GPU_LANES * i + l;
        if (row >= g->rows) continue;
        const int32_t last = g->look.parent[row];
        if (last != row &&
            tct_shared_byte(&g->look.state[last]) == TCT_ROW_STANDS)
            tct_shared_put_byte(&g->look.state[row], TCT_ROW_STANDS);
    }
    tct_look_count(g, i);
}

/* --- rows of a grid ------------------------------------------------------- */

/* Has the row the columns and the bits of the values of its cell? */
TCT_BOTH bool tct_look_is_cell(const tct_store_work *g, int64_t row)
{
    const tct_grid_rows *r = g->look.grid;
    const tct_grid_cell c = tct_grid_cell_of(r, (int32_t)row);
    const int points = r->box ? TCT_GRID_POINTS : TCT_GRID_STAR;
    const int64_t end = g->ptr[row + 1];
    int64_t k = g->ptr[row];
    for (int n = 0; n < points; n++) {
        const int p = r->box ? n : tct_star_point(n);
        const int32_t j = tct_grid_neighbour(r, c, p / 3, p % 3 - 1);
        if (j < 0) continue;
        if (k >= end || g->col[k] != j ||
            tct_bits_of(g->val[k]) != tct_bits_of(r->k[p]))
            return false;
        k++;
    }
    return k == end;
}

TCT_BOTH void tct_store_task_cell(const tct_store_work *g, int64_t i, int b)
{
    (void)b;
    if (tct_shared_read(&g->state->changed)) return;
    TCT_EACH_NUMBER(l)
    {
        const int64_t row = GPU_LANES * i + l;
        if (row < g->rows && !tct_look_is_cell(g, row))
            tct_shared_set(&g->state->changed);
    }
}

#endif
