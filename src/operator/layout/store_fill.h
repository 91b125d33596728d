/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_fill.h - tasks of store_tasks.h: the arrays of layout.h
 * are written. */
#ifndef TCT_OPERATOR_LAYOUT_STORE_FILL_H
#define TCT_OPERATOR_LAYOUT_STORE_FILL_H
#include "operator/layout/store_values.h"

/* --- fill ----------------------------------------------------------------- */

/* A double that is exactly a float, which a NaN keeps its bits as. */
TCT_BOTH float tct_store_float(double v)
{
    const uint64_t bits = tct_bits_of(v);
    const uint32_t narrow = (uint32_t)(bits >> 32 & 0x80000000u) | 0x7f800000u |
                            (uint32_t)(bits >> 29 & 0x7fffff);
    float out = (float)v;
    if (v != v) memcpy(&out, &narrow, sizeof out);
    return out;
}

TCT_BOTH void tct_store_put(const tct_store_work *g, int64_t at, double v)
{
    switch ((tct_gpu_store)g->a.store) {
    case GPU_F64: ((double *)g->value)[at] = v; break;
    case GPU_F32: ((float *)g->value)[at] = tct_store_float(v); break;
    case GPU_DICT8:
        ((uint8_t *)g->value)[at] = (uint8_t)tct_store_code(g, tct_bits_of(v));
        break;
    case GPU_DICT16:
        ((uint16_t *)g->value)[at] = tct_store_code(g, tct_bits_of(v));
        break;
    case GPU_F48: break; /* not by these tasks */
    }
}

/* The block in column `col` of lane `l` into `cell`, and pass it; col < 0: the
 * lane has none. */
TCT_BOTH void tct_store_block(const tct_store_work *g, int b, int32_t col,
                              int64_t cell, int l, tct_store_lanes *v, int k)
{
    if (b == 1) {
        const double a = col >= 0 ? g->val[v->at[k][0]++] : 0.0;
        tct_store_put(g, cell * GPU_LANES + l, a);
        return;
    }
    const int64_t to = cell * b * b * GPU_LANES + (int64_t)l * b;
    for (int i = 0; i < b * b; i++)
        tct_store_put(g, to + i / b * GPU_LANES * b + i % b, 0.0);
    for (int r = 0; r < TCT_BLOCK_MOST; r++) {
        if (r >= b || col < 0) continue;
        const int64_t first = (int64_t)col * b;
        int64_t at = v->at[k][r];
        for (; at < v->end[k][r] && g->col[at] < first + b; at++)
            tct_store_put(g, to + (g->col[at] - first) * GPU_LANES * b + r,
                          g->val[at]);
        v->at[k][r] = at;
    }
}

TCT_BOTH void tct_store_fill_runs(const tct_store_work *g, int b,
                                  const tct_gpu_slice *s, tct_store_lanes *v)
{
    tct_column_run *to = (tct_column_run *)(void *)(g->index + s->index);
    tct_store_run run;
    int64_t n = 0;
    for (; tct_store_next(g, b, v, &run); n++) {
        if (tct_leads()) {
            memset(&to[n], 0, sizeof to[n]);
            to[n].base = run.base;
            to[n].mask = run.mask;
        }
        TCT_EACH_LANE(l, k)
        {
            tct_store_block(g, b, run.hit[k] ? run.base + l : -1, s->cell + n,
                            l, v, k);
        }
    }
    if (tct_leads()) memset(to + n, 0, (size_t)tct_slice_padding(s));
}

TCT_BOTH void tct_store_fill_consts(const tct_store_work *g,
                                    const tct_gpu_slice *s, tct_store_lanes *v)
{
    tct_gpu_const *to = (tct_gpu_const *)(void *)(g->index + s->index);
    tct_store_run run;
    uint64_t value;
    for (; tct_store_next(g, 1, v, &run); to++) {
        (void)tct_store_one_value(g, v, &run, &value);
        if (tct_leads()) {
            memset(to, 0, sizeof *to);
            to->base = run.base;
            to->mask = run.mask;
            memcpy(&to->value, &value, sizeof value);
        }
        TCT_EACH_OWN(k)
        {
            v->at[k][0] += run.hit[k];
        }
    }
}

TCT_BOTH void tct_store_fill_columns(const tct_store_work *g, int b,
                                     const tct_gpu_slice *s, tct_store_lanes *v)
{
    uint16_t *near = (uint16_t *)(void *)(g->index + s->index);
    int32_t *far = (int32_t *)(void *)(g->index + s->index);
    const bool is_near = s->kind == SLICE_NEAR;
    TCT_EACH_LANE(l, k)
    {
        for (int64_t n = 0; n < s->width; n++) {
            const int32_t head =
                n < v->length[k] ? tct_store_head(g, b, v, k) : -1;
            const int32_t col = head >= 0 ? head : s->base;
            if (is_near)
                near[2 * (n / 2 * GPU_LANES + l) + n % 2] =
                    (uint16_t)(col - s->base);
            else far[GPU_LANES * n + l] = col;
            tct_store_block(g, b, head, s->cell + n, l, v, k);
        }
        if (is_near && s->width % 2 != 0)
            near[2 * (s->width / 2 * GPU_LANES + l) + 1] = 0;
    }
}

TCT_BOTH void tct_store_task_fill(const tct_store_work *g, int64_t i, int b)
{
    const tct_gpu_slice s = g->slice[i];
    tct_store_lanes v;
    tct_store_open(
        g, b, i / GPU_WINDOW_SLICES, (int)(i % GPU_WINDOW_SLICES),
        s.sorted ? g->order + i / GPU_WINDOW_SLICES * GPU_WINDOW : NULL, &v);
    if (s.kind == SLICE_CONST) tct_store_fill_consts(g, &s, &v);
    else if (s.kind == SLICE_RUN) tct_store_fill_runs(g, b, &s, &v);
    else tct_store_fill_columns(g, b, &s, &v);
}

/* Join the slices that the next ones continue; 32 slices a task. */
TCT_BOTH void tct_store_task_join(const tct_store_work *g, int64_t i, int b)
{
    int64_t joined[TCT_OWN_LANES], runs[TCT_OWN_LANES];
    (void)b;
    TCT_EACH_LANE(l, k)
    {
        const int64_t n = GPU_LANES * i + l;
        const bool is = n < g->a.slices;
        const int kind = is ? (int)g->slice[n].kind : (int)SLICE_FAR;
        const bool joins =
            is && tct_slice_joins(g->index, g->slice, g->a.groups, n);
        if (joins) g->slice[n].joined = 1;
        joined[k] = joins ? GPU_JOIN : 0;
        runs[k] = kind == SLICE_RUN || kind == SLICE_CONST;
    }
    const int64_t all[2] = {tct_lanes_total(joined), tct_lanes_total(runs)};
    if (!tct_leads()) return;
    tct_shared_add(&g->state->joined, all[0]);
    tct_shared_add(&g->state->runs, all[1]);
}

/* --- rows kept apart ------------------------------------------------------ */

/* The place of group `i` of a window in its slices: 32 slice + lane. */
TCT_BOTH int32_t tct_store_place(const tct_store_work *g, int64_t window, int i)
{
    const int64_t first = GPU_WINDOW * window;
    int at = i;
    for (int j = 0; j < GPU_WINDOW; j++)
        if (g->order[first + j] == i) at = j;
    return (int32_t)(first + at);
}

/* The numbers, first entries and places of those of a window. */
TCT_BOTH void tct_store_task_long_rows(const tct_store_work *g, int64_t window,
                                       int b)
{
    int64_t at = g->long_rows[window], entry = g->long_entries[window];
    (void)b;
    if (!tct_leads()) return;
    for (int i = 0; at < g->long_rows[window + 1]; i++) {
        const int64_t row = GPU_WINDOW * window + i;
        const int64_t n = g->ptr[row + 1] - g->ptr[row];
        if (n == 0 || g->group_length[row] > 0) continue;
        g->apart.row[at] = (int32_t)row;
        g->apart.ptr[at] = entry;
        g->long_place[at++] = tct_store_place(g, window, i);
        entry += n;
    }
}

/* The entries of segment `i`. */
TCT_BOTH void tct_store_task_segment(const tct_store_work *g, int64_t i, int b)
{
    int64_t low = 0, high = g->a.long_rows - 1; /* the row of the segment */
    (void)b;
    while (low < high) {
        const int64_t mid = (low + high + 1) / 2;
        if (g->a.long_segment[mid] <= i) low = mid;
        else high = mid - 1;
    }
    const int64_t to = g->a.segment_first[i];
    const int64_t from = g->ptr[g->apart.row[low]] + to - g->apart.ptr[low];
    TCT_EACH_NUMBER(l)
    {
        for (int64_t n = l; n < g->a.segment_count[i]; n += GPU_LANES) {
            g->apart.col[to + n] = g->col[from + n];
            g->apart.val[to + n] = g->val[from + n];
        }
    }
}

#endif
