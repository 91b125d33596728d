/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_plan.h - tasks of store_tasks.h: rows kept apart, the
 * kind and width of slices, the order of windows, as pattern/plan.c. */
#ifndef TCT_OPERATOR_LAYOUT_STORE_PLAN_H
#define TCT_OPERATOR_LAYOUT_STORE_PLAN_H
#include "operator/layout/store_work.h"

/* --- lengths -------------------------------------------------------------- */

/* Block columns of a group. */
TCT_BOTH int32_t tct_store_count(const tct_store_work *g, int b, int64_t group)
{
    int64_t at[TCT_BLOCK_MOST], end[TCT_BLOCK_MOST];
    if (b == 1) return (int32_t)(g->ptr[group + 1] - g->ptr[group]);
    for (int r = 0; r < TCT_BLOCK_MOST; r++) {
        at[r] = r < b ? g->ptr[b * group + r] : 0;
        end[r] = r < b ? g->ptr[b * group + r + 1] : 0;
    }
    for (int32_t n = 0;; n++) {
        int32_t least = INT32_MAX;
        for (int r = 0; r < TCT_BLOCK_MOST; r++)
            if (at[r] < end[r] && g->col[at[r]] < least) least = g->col[at[r]];
        if (least == INT32_MAX) return n;
        const int64_t next = ((int64_t)(least / b) + 1) * b;
        for (int r = 0; r < TCT_BLOCK_MOST; r++)
            while (at[r] < end[r] && g->col[at[r]] < next) at[r]++;
    }
}

/* Count the lanes of slice `i`, of all windows: also of empty ones. */
TCT_BOTH void tct_store_task_count(const tct_store_work *g, int64_t i, int b)
{
    TCT_EACH_NUMBER(l)
    {
        const int64_t group = GPU_LANES * i + l;
        g->group_length[group] =
            group < g->slicing.groups ? tct_store_count(g, b, group) : 0;
    }
}

/* --- plan ----------------------------------------------------------------- */

typedef struct tct_store_lengths { /* of a window, so far kept in slices */
    int64_t sum;
    int32_t most;
    int rows, longest; /* rows; those of the greatest length */
} tct_store_lengths;

TCT_BOTH tct_store_lengths tct_store_look(const tct_store_work *g,
                                          int64_t first, int groups)
{
    int64_t sum[TCT_OWN_LANES], many[TCT_OWN_LANES];
    int32_t most[TCT_OWN_LANES];
    tct_store_lengths out;
    TCT_EACH_LANE(l, k)
    {
        sum[k] = 0;
        most[k] = 0;
        for (int i = l; i < groups; i += GPU_LANES) {
            const int32_t n = g->group_length[first + i];
            sum[k] += n;
            if (n > most[k]) most[k] = n;
        }
    }
    out.sum = tct_lanes_total(sum);
    out.most = tct_lanes_most(most);
    TCT_EACH_LANE(l, k)
    {
        many[k] = 0;
        for (int i = l; i < groups; i += GPU_LANES)
            many[k] += g->group_length[first + i] == out.most;
    }
    out.rows = groups;
    out.longest = (int)tct_lanes_total(many);
    return out;
}

/* Set to 0 the lengths of rows that are kept apart: the longest ones, while
 * they are too long compared to the others. Rows of one length go together, as
 * they do one by one: if one is an outlier, the next is. */
TCT_BOTH void tct_store_long_rows(const tct_store_work *g, int64_t first,
                                  int groups)
{
    int rows = groups;
    for (int i = 0; i < groups; i++) {
        const tct_store_lengths w = tct_store_look(g, first, groups);
        const int64_t n = w.most;
        const bool is_outlier =
            rows > 1 && n * (rows - 1) > GPU_LONG_TIMES * (w.sum - n);
        if (n <= GPU_LONG_LEAST || (n <= GPU_LONG_ALWAYS && !is_outlier))
            return;
        rows -= w.longest;
        TCT_EACH_NUMBER(l)
        {
            for (int j = l; j < groups; j += GPU_LANES)
                if (g->group_length[first + j] == n)
                    g->group_length[first + j] = 0;
        }
        tct_lanes_barrier();
    }
}

/* As runs, if that costs no more than `s`. */
TCT_BOTH void tct_store_plan_runs(const tct_store_work *g, const tct_slicing *S,
                                  int b, tct_store_lanes *v, tct_slice *s)
{
    tct_slice_kind kind = S->consts ? SLICE_CONST : SLICE_RUN;
    int32_t most = tct_most_runs(S, kind, s), n = 0;
    int64_t entries[TCT_OWN_LANES];
    bool is[TCT_OWN_LANES];
    tct_store_run run;
    uint64_t value;
    for (;; n++) {
        while (n > most) {
            if (kind == SLICE_RUN) return;
            most = tct_most_runs(S, kind = SLICE_RUN, s);
        }
        if (!tct_store_next(g, b, v, &run)) break;
        if (kind == SLICE_CONST && !tct_store_one_value(g, v, &run, &value))
            most = tct_most_runs(S, kind = SLICE_RUN, s);
        TCT_EACH_LANE(l, k)
        {
            if (run.hit[k]) tct_store_pass(g, b, run.base + l, v, k);
        }
    }
    TCT_EACH_OWN(k)
    {
        entries[k] = v->length[k];
        is[k] = v->group[k] >= 0;
    }
    const int64_t all = (int64_t)tct_lanes_count(tct_lanes_which(is)) * n;
    s->kind = (uint8_t)kind;
    s->width = (uint16_t)n;
    s->full = (uint16_t)(tct_lanes_total(entries) == all ? n : 0);
}

/* Returns its cost; negative if it is too wide. */
TCT_BOTH double tct_store_plan_slice(const tct_store_work *g,
                                     const tct_slicing *S, int b, bool sorted,
                                     tct_store_lanes *v, tct_slice *s)
{
    int32_t first[TCT_OWN_LANES], last[TCT_OWN_LANES];
    TCT_EACH_OWN(k)
    {
        first[k] = tct_store_head(g, b, v, k);
        last[k] = v->length[k] > 0 ? tct_store_last(g, b, v, k) : 0;
    }
    const int32_t width = tct_lanes_most(v->length);
    const int32_t low = tct_lanes_least(first), high = tct_lanes_most(last);
    if (width > UINT16_MAX) return -1.0;
    const bool near = width == 0 || high - low <= UINT16_MAX;
    s->base = width > 0 ? low : 0;
    s->width = (uint16_t)width;
    s->full = (uint16_t)tct_lanes_least(v->length);
    s->kind = (uint8_t)(near && !S->only_far ? SLICE_NEAR : SLICE_FAR);
    s->sorted = sorted;
    if (width > 0 && !S->only_far && (!sorted || S->rules->sorted_runs))
        tct_store_plan_runs(g, S, b, v, s);
    return tct_slice_cost(S, s);
}

TCT_BOTH double tct_store_plan_slices(const tct_store_work *g,
                                      const tct_slicing *S, int b,
                                      int64_t window, int groups,
                                      const uint8_t *order, tct_slice *to)
{
    double cost = 0.0;
    tct_store_lanes v;
    tct_slice s;
    for (int n = 0; GPU_LANES * n < groups; n++) {
        tct_store_open(g, b, window, n, order, &v);
        const double one = tct_store_plan_slice(g, S, b, order != NULL, &v, &s);
        if (one < 0.0) return -1.0;
        if (tct_leads()) to[n] = s;
        cost += one;
    }
    return cost;
}

/* The order of a window by length, the longest first, equal ones in their
 * order: a group's place is the number of those before it. */
TCT_BOTH void tct_store_sort(const tct_store_work *g, const tct_slicing *S,
                             int64_t first, int groups, uint8_t *order)
{
    const int rotation = S->rules->rotated
                             ? GPU_LANES * tct_window_rotation(S, first, groups)
                             : 0;
    const int32_t *length = g->group_length + first;
    TCT_EACH_NUMBER(l)
    {
        for (int i = l; i < GPU_WINDOW; i += GPU_LANES) {
            int place = 0;
            for (int j = 0; j < GPU_WINDOW; j++)
                place +=
                    length[j] > length[i] || (length[j] == length[i] && j < i);
            order[(place - rotation + GPU_WINDOW) % GPU_WINDOW] = (uint8_t)i;
        }
    }
    tct_lanes_barrier();
}

TCT_BOTH void tct_store_in_order(uint8_t *order)
{
    TCT_EACH_NUMBER(l)
    {
        for (int i = l; i < GPU_WINDOW; i += GPU_LANES) order[i] = (uint8_t)i;
    }
    tct_lanes_barrier();
}

/* Its slices and its order; false if a slice is too wide. */
TCT_BOTH bool tct_store_plan_window(const tct_store_work *g,
                                    const tct_slicing *S, int b, int64_t window,
                                    int groups, int64_t blocks)
{
    const int64_t first = window * GPU_WINDOW;
    tct_slice *to = g->plan + GPU_WINDOW_SLICES * window;
    tct_slice *sorted = g->sorted + GPU_WINDOW_SLICES * window;
    uint8_t *order = g->order + first;
    const double cost =
        tct_store_plan_slices(g, S, b, window, groups, NULL, to);
    if (cost < 0.0) return false;
    if (tct_even_cost(S, groups, (double)blocks) < TCT_SORT_PAYS * cost) {
        tct_store_sort(g, S, first, groups, order);
        if (tct_store_plan_slices(g, S, b, window, groups, order, sorted) <
            TCT_SORT_PAYS * cost) {
            for (int n = 0; GPU_LANES * n < groups && tct_leads(); n++)
                to[n] = sorted[n];
            tct_lanes_barrier();
            return true;
        }
    }
    tct_store_in_order(order);
    return true;
}

/* Write the lanes' lengths of a window, and add to the numbers of all. */
TCT_BOTH void tct_store_census(const tct_store_work *g, int b, int64_t window,
                               int64_t blocks)
{
    const int64_t first = window * GPU_WINDOW;
    int64_t consts[TCT_OWN_LANES], rows[TCT_OWN_LANES], entries[TCT_OWN_LANES];
    TCT_EACH_LANE(l, k)
    {
        consts[k] = rows[k] = entries[k] = 0;
        for (int i = l; i < GPU_WINDOW; i += GPU_LANES) {
            const int64_t group = first + g->order[first + i];
            const int32_t n = g->group_length[group];
            const tct_slice *s =
                g->plan + GPU_WINDOW_SLICES * window + i / GPU_LANES;
            g->length[first + i] = (uint16_t)n;
            if (n > 0 && s->kind == SLICE_CONST) consts[k] += n;
            if (n > 0 || b > 1 || group >= g->slicing.groups) continue;
            const int64_t all = g->ptr[group + 1] - g->ptr[group];
            rows[k] += all > 0;
            entries[k] += all;
        }
    }
    const int64_t all[3] = {tct_lanes_total(consts), tct_lanes_total(rows),
                            tct_lanes_total(entries)};
    if (!tct_leads()) return;
    g->long_rows[window + 1] = all[1];
    g->long_entries[window + 1] = all[2];
    tct_shared_add(&g->state->blocks, blocks);
    if (all[0] > 0) tct_shared_add(&g->state->consts, all[0]);
    if (all[1] > 0) tct_shared_add(&g->state->long_rows, all[1]);
}

TCT_BOTH void tct_store_task_plan(const tct_store_work *g, int64_t window,
                                  int b)
{
    const tct_slicing S = tct_store_slicing(g);
    const int64_t first = window * GPU_WINDOW, left = S.groups - first;
    const int groups = (int)(left < GPU_WINDOW ? left : (int64_t)GPU_WINDOW);
    if (b == 1) tct_store_long_rows(g, first, groups);
    const tct_store_lengths w = tct_store_look(g, first, groups);
    if (!tct_store_plan_window(g, &S, b, window, groups, w.sum)) {
        if (tct_leads()) tct_shared_set(&g->state->too_wide);
        return;
    }
    tct_store_census(g, b, window, w.sum);
}

#endif
