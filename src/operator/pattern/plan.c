/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/plan.c - plans the slices of a window of groups: decides on
 * sorting by length, and on the storage of each slice's columns. */
#include "operator/pattern/slice_cost.h"
#include "operator/pattern/view.h"
#include <math.h>
#include <string.h>

/* --- a slice -------------------------------------------------------------- */

/* Do all lanes of the last run have the same value? */
static bool one_value(const tct_slicing *S, const tct_view *v,
                      const tct_runs *r, tct_lanes mask)
{
    const tct_local *A = S->A;
    const double *value = NULL;
    for (; mask; mask &= mask - 1) {
        const int l = tct_least_lane(mask);
        const double *own = A->val + A->ptr[v->group[l]] + r->at[l] - 1;
        if (!value) value = own;
        if (memcmp(own, value, sizeof *value) != 0) return false;
    }
    return isfinite(*value); /* times the 0 of empty lanes it must be 0 */
}

/* As runs, if that costs no more than `s`. A run takes at most one column of a
 * lane, so the rest of the longest lane, `widest`, is an early bound. */
TCT_LANEWISE void plan_runs(const tct_slicing *S, const tct_view *v, int widest,
                            int lanes, tct_slice *s)
{
    tct_slice_kind kind = S->consts ? SLICE_CONST : SLICE_RUN;
    int32_t most = tct_most_runs(S, kind, s), n = 0;
    const int64_t last = S->A->cols / S->b - lanes;
    int64_t entries = 0;
    tct_runs r;
    tct_column_run run;
    tct_runs_open(&r, lanes);
    for (;; n++) {
        while (n + v->length[widest] - r.at[widest] > most) {
            if (kind == SLICE_RUN) return;
            most = tct_most_runs(S, kind = SLICE_RUN, s);
        }
        if (!tct_runs_next(&r, v, lanes, &run)) break;
        if (S->rules->whole_runs && (run.base < 0 || run.base > last)) return;
        if (kind == SLICE_CONST && !one_value(S, v, &r, run.mask))
            most = tct_most_runs(S, kind = SLICE_RUN, s);
    }
    for (int l = 0; l < lanes; l++) entries += v->length[l];
    s->kind = (uint8_t)kind;
    s->width = (uint16_t)n;
    s->full = (uint16_t)(entries == (int64_t)v->lanes * n ? n : 0);
}

/* Returns its cost; negative if it is too wide. */
TCT_LANEWISE double plan_slice(const tct_slicing *S, const tct_view *v,
                               bool sorted, int lanes, tct_slice *s)
{
    const tct_slicing_rules *rules = S->rules;
    const int occupied = rules->padded ? lanes : v->lanes;
    int32_t full = INT32_MAX, low = INT32_MAX, high = 0;
    int widest = 0;
    for (int l = 0; l < occupied; l++) {
        const int32_t n = v->length[l];
        if (n > v->length[widest]) widest = l;
        if (n < full) full = n;
        if (n > 0 && v->col[l][0] < low) low = v->col[l][0];
        if (n > 0 && v->col[l][n - 1] > high) high = v->col[l][n - 1];
    }
    const int32_t width = v->length[widest];
    if (width > UINT16_MAX) return -1.0;
    const bool near = width == 0 || high - low <= UINT16_MAX;
    *s = (tct_slice){
        .base = width > 0 ? low : 0,
        .width = (uint16_t)width,
        .full = (uint16_t)full,
        .kind = (uint8_t)(near && !S->only_far ? SLICE_NEAR : SLICE_FAR),
        .sorted = sorted};
    if (width > 0 && !S->only_far && (!sorted || rules->sorted_runs))
        plan_runs(S, v, widest, lanes, s);
    const double cost = tct_slice_cost(S, s);
    return sorted && occupied < lanes ? cost - rules->sorted : cost;
}

/* --- a window ------------------------------------------------------------- */

TCT_LANEWISE double plan_slices(const tct_slicing *S, const tct_window *w,
                                const uint8_t *order, int lanes,
                                tct_slice *slice)
{
    double cost = 0.0;
    for (int n = 0; lanes * n < w->groups; n++) {
        tct_view v;
        tct_view_open(w, n, order, lanes, &v);
        const double one = plan_slice(S, &v, order != NULL, lanes, &slice[n]);
        if (one < 0.0) return -1.0;
        cost += one;
    }
    return cost;
}

static double even_cost(const tct_slicing *S, const tct_window *w)
{
    double blocks = 0.0;
    for (int g = 0; g < w->groups; g++) blocks += w->length[g];
    return tct_even_cost(S, w->groups, blocks);
}

static void sort(const tct_slicing *S, const tct_window *w, uint8_t *order)
{
    uint8_t by_length[TCT_WINDOW_MOST];
    tct_window_sort(w, by_length);
    const size_t rotation =
        S->rules->rotated
            ? (size_t)(S->rules->lanes *
                       tct_window_rotation(S, w->first, w->groups))
            : 0;
    memcpy(order, by_length + rotation, TCT_WINDOW_MOST - rotation);
    memcpy(order + TCT_WINDOW_MOST - rotation, by_length, rotation);
}

TCT_LANEWISE double plan_window(const tct_slicing *S, const tct_window *w,
                                int lanes, tct_slice *slice, uint8_t *order)
{
    for (int g = 0; g < TCT_WINDOW_MOST; g++) order[g] = (uint8_t)g;
    const double cost = plan_slices(S, w, NULL, lanes, slice);
    if (cost < 0.0 || even_cost(S, w) >= TCT_SORT_PAYS * cost) return cost;
    tct_slice sorted[TCT_WINDOW_SLICES] = {{0}};
    uint8_t by_length[TCT_WINDOW_MOST];
    sort(S, w, by_length);
    const double other = plan_slices(S, w, by_length, lanes, sorted);
    if (other >= TCT_SORT_PAYS * cost) return cost;
    const int slices = (w->groups + lanes - 1) / lanes;
    memcpy(slice, sorted, (size_t)slices * sizeof *slice);
    memcpy(order, by_length, sizeof by_length);
    return other;
}

double tct_window_plan(const tct_slicing *S, const tct_window *w,
                       tct_slice slice[TCT_WINDOW_SLICES],
                       uint8_t order[TCT_WINDOW_MOST])
{
    return S->rules->lanes == 8 ? plan_window(S, w, 8, slice, order)
                                : plan_window(S, w, GPU_WAVE, slice, order);
}

tct_slice_census tct_slices_count(const tct_slice *slice, int64_t slices)
{
    tct_slice_census c = {.all = 0.0};
    for (int64_t n = 0; n < slices; n++) {
        c.columns[slice[n].kind] += slice[n].width;
        c.all += slice[n].width;
        c.sorted += slice[n].sorted ? 100.0 / (double)slices : 0.0;
    }
    return c;
}
