/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_work.h - the data of tasks that build slices on a device
 * (store_tasks.h), and the lanes of a slice. */
#ifndef TCT_OPERATOR_LAYOUT_STORE_WORK_H
#define TCT_OPERATOR_LAYOUT_STORE_WORK_H
#include "operator/layout/lanes.h"
#include "operator/layout/slice_text.h"
#include "operator/layout/slices_build.h"
#include "operator/pattern/row_state.h"
#include "operator/pattern/slice_cost.h"
#include "operator/stencil/grid_rows.h"

typedef struct tct_store_state { /* the host reads it as a whole */
    int64_t blocks, consts;      /* of all windows */
    int64_t too_wide;            /* a slice has more than 65535 columns */
    int64_t long_rows, joined, runs;
    int64_t values, no_float;    /* different values besides +0; a flag */
    int64_t listed;              /* values given a place in `list` */
    int64_t hash;                /* sum over rows */
    int64_t high, inverse, norm; /* of a look: bits of the largest doubles */
    int64_t most, fewest;        /* entries of a row; INT32_MAX less them */
    int64_t left, changed;       /* rows that do not stand; a flag */
} tct_store_state;

/* Of a look at rows (store_look.h). */
typedef struct tct_store_looking {
    uint8_t *state;   /* [rows] a tct_row_state */
    int32_t *parent;  /* [rows] */
    double *diagonal; /* [rows] */
    bool behind;      /* pointers lead to later rows */
    const tct_grid_rows *grid;
} tct_store_looking;

/* Addresses of the device; NULL: not known yet. */
typedef struct tct_store_work {
    int64_t rows, cols, entries;
    const int64_t *ptr; /* [rows + 1] */
    const int32_t *col; /* [entries] ascending in each row */
    const double *val;  /* [entries] */
    tct_slicing slicing;
    tct_slicing_rules rules;
    tct_store_state *state;
    int32_t *group_length; /* [256 windows] block columns of each group */
    tct_slice *plan;       /* [8 windows] */
    tct_slice *sorted;     /* [8 windows] scratch */
    uint8_t *order;        /* [256 windows] */
    uint16_t *length;      /* [256 windows] of each lane */
    int64_t *long_rows; /* [windows + 1] of the window before, to be summed */
    int64_t *long_entries; /* [windows + 1] the same */
    int bits;              /* of the table of values */
    uint64_t *key;         /* [2^bits] bits of values, 0: free */
    uint16_t *code;        /* [2^bits] */
    double *list;          /* [65536] the values in any order */
    tct_gpu_arrays a;      /* in the making */
    tct_gpu_slice *slice;
    uint8_t *index;
    void *value;
    tct_rows_apart apart;
    int32_t *long_place;
    tct_store_looking look;
} tct_store_work;

/* The slicing, with the rules at this copy of the work. */
TCT_BOTH tct_slicing tct_store_slicing(const tct_store_work *g)
{
    tct_slicing S = g->slicing;
    S.rules = &g->rules;
    return S;
}

/* --- lanes of a slice ----------------------------------------------------- */

/* Each lane's group (-1: none), its block columns, and how far its rows are
 * read. */
typedef struct tct_store_lanes {
    int64_t group[TCT_OWN_LANES];
    int32_t length[TCT_OWN_LANES];
    int64_t at[TCT_OWN_LANES][TCT_BLOCK_MOST],
        end[TCT_OWN_LANES][TCT_BLOCK_MOST];
} tct_store_lanes;

/* Slice `n` of a window; `order` NULL: in order. `b` is that of the work, a
 * constant where it is 1. */
TCT_BOTH void tct_store_open(const tct_store_work *g, int b, int64_t window,
                             int n, const uint8_t *order, tct_store_lanes *v)
{
    const int64_t first = window * GPU_WINDOW;
    TCT_EACH_LANE(l, k)
    {
        const int at = GPU_LANES * n + l;
        const int64_t i = first + (order ? order[at] : at);
        const bool is = i < g->slicing.groups;
        v->group[k] = is ? i : -1;
        v->length[k] = is ? g->group_length[i] : 0;
        for (int r = 0; r < TCT_BLOCK_MOST; r++) {
            const bool has = r < b && v->length[k] > 0;
            v->at[k][r] = has ? g->ptr[b * i + r] : 0;
            v->end[k][r] = has ? g->ptr[b * i + r + 1] : 0;
        }
    }
}

/* The next block column of lane `k`, INT32_MAX: none. */
TCT_BOTH int32_t tct_store_head(const tct_store_work *g, int b,
                                const tct_store_lanes *v, int k)
{
    int32_t least = INT32_MAX;
    for (int r = 0; r < TCT_BLOCK_MOST; r++) {
        if (r >= b || v->at[k][r] >= v->end[k][r]) continue;
        const int32_t col = g->col[v->at[k][r]];
        if (col < least) least = col;
    }
    return least == INT32_MAX ? least : least / b;
}

/* Its last one; it has one. */
TCT_BOTH int32_t tct_store_last(const tct_store_work *g, int b,
                                const tct_store_lanes *v, int k)
{
    int32_t most = 0;
    for (int r = 0; r < TCT_BLOCK_MOST; r++) {
        if (r >= b || v->at[k][r] >= v->end[k][r]) continue;
        const int32_t col = g->col[v->end[k][r] - 1];
        if (col > most) most = col;
    }
    return most / b;
}

/* Pass the entries of block column `col`. */
TCT_BOTH void tct_store_pass(const tct_store_work *g, int b, int32_t col,
                             tct_store_lanes *v, int k)
{
    const int64_t next = ((int64_t)col + 1) * b;
    if (b == 1) {
        v->at[k][0]++;
        return;
    }
    for (int r = 0; r < TCT_BLOCK_MOST; r++) {
        if (r >= b) continue;
        int64_t at = v->at[k][r];
        while (at < v->end[k][r] && g->col[at] < next) at++;
        v->at[k][r] = at;
    }
}

typedef struct tct_store_run { /* a run, and the lanes that are in it */
    int32_t base;
    tct_lanes mask;
    bool hit[TCT_OWN_LANES];
} tct_store_run;

/* The next run; false at the end. Lanes in it have yet to pass it. */
TCT_BOTH bool tct_store_next(const tct_store_work *g, int b,
                             const tct_store_lanes *v, tct_store_run *out)
{
    int32_t head[TCT_OWN_LANES];
    TCT_EACH_LANE(l, k)
    {
        const int32_t col = tct_store_head(g, b, v, k);
        head[k] = col == INT32_MAX ? col : col - l;
    }
    out->base = tct_lanes_least(head);
    if (out->base == INT32_MAX) return false;
    TCT_EACH_OWN(k)
    {
        out->hit[k] = head[k] == out->base;
    }
    out->mask = tct_lanes_which(out->hit);
    return true;
}

/* The value that all lanes of the run have; false if there is none, or if it is
 * not finite: times the 0 of empty lanes it must be 0. */
TCT_BOTH bool tct_store_one_value(const tct_store_work *g,
                                  const tct_store_lanes *v,
                                  const tct_store_run *run, uint64_t *value)
{
    uint64_t bits[TCT_OWN_LANES];
    bool other[TCT_OWN_LANES];
    TCT_EACH_OWN(k)
    {
        bits[k] = run->hit[k] ? tct_bits_of(g->val[v->at[k][0]]) : 0;
    }
    *value = tct_lanes_get(bits, tct_lanes_first(run->mask));
    TCT_EACH_OWN(k)
    {
        other[k] = run->hit[k] && bits[k] != *value;
    }
    return tct_lanes_which(other) == 0 && (*value >> 52 & 2047) != 2047;
}

#endif
