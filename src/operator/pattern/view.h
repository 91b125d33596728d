/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/view.h - the lanes of a slice, and its runs: for the plan
 * and the fill of slices. The number of lanes is a compile-time constant. */
#ifndef TCT_OPERATOR_PATTERN_VIEW_H
#define TCT_OPERATOR_PATTERN_VIEW_H
#include "operator/pattern/slicing.h"

#define TCT_LANEWISE static inline __attribute__((always_inline))

typedef struct tct_view {
    const int32_t *col[TCT_LANES_MOST]; /* block columns, NULL: none     */
    int32_t length[TCT_LANES_MOST];     /* their numbers                 */
    int64_t group[TCT_LANES_MOST];      /* -1: none                      */
    int lanes;                          /* lanes with a group: the first
                                         * ones, unless sorted */
} tct_view;

/* Slice number `n` of a window; `order` NULL: in order. */
TCT_LANEWISE void tct_view_open(const tct_window *w, int n,
                                const uint8_t *order, int lanes, tct_view *v)
{
    v->lanes = 0;
    for (int l = 0; l < lanes; l++) {
        const int at = lanes * n + l, g = order ? order[at] : at;
        const bool exists = g < w->groups;
        v->length[l] = exists ? w->length[g] : 0;
        v->group[l] = exists ? w->first + g : -1;
        v->col[l] = exists ? w->col[g] : NULL;
        v->lanes += exists;
    }
}

typedef struct tct_runs {       /* iterates over the runs of a slice */
    int32_t at[TCT_LANES_MOST]; /* entries passed */
} tct_runs;

TCT_LANEWISE void tct_runs_open(tct_runs *r, int lanes)
{
    for (int l = 0; l < lanes; l++) r->at[l] = 0;
}

/* The next run, in order of the least base. False at the end. */
TCT_LANEWISE bool tct_runs_next(tct_runs *r, const tct_view *v, int lanes,
                                tct_column_run *out)
{
    int32_t least = INT32_MAX, head[TCT_LANES_MOST];
    for (int l = 0; l < lanes; l++) {
        const int32_t at = r->at[l];
        head[l] = at < v->length[l] ? v->col[l][at] - l : INT32_MAX;
        if (head[l] < least) least = head[l];
    }
    if (least == INT32_MAX) return false;
    tct_lanes mask = 0;
    for (int l = 0; l < lanes; l++) { /* no branch: which lane is by chance */
        const tct_lanes one = head[l] == least;
        mask |= one << l;
        r->at[l] += (int32_t)one;
    }
    *out = (tct_column_run){.base = least, .mask = mask};
    return true;
}

typedef struct tct_cursors { /* the next entry of each row of a lane */
    int64_t at[TCT_LANES_MOST][TCT_BLOCK_MOST];
} tct_cursors;

TCT_LANEWISE void tct_cursors_open(tct_cursors *c, const tct_local *A, int b,
                                   const tct_view *v, int lanes)
{
    for (int l = 0; l < lanes; l++)
        for (int r = 0; r < b && v->group[l] >= 0; r++)
            c->at[l][r] = A->ptr[b * v->group[l] + r];
}

#endif
