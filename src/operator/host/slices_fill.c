/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices_fill.c - fills planned slices, chunk by chunk: columns
 * and empty lanes, values, rows kept apart. */
#include "operator/host/slices_build.h"
#include <string.h>

enum { RELEASE_AFTER = 1 << 19 /* entries read */ };

void tct_builder_window(const tct_builder *B, int part, int64_t window,
                        tct_window *w)
{
    tct_window_read(&B->slicing, window, B->scratch + part * B->room, w);
}

/* --- columns -------------------------------------------------------------- */

static void write_runs(const tct_slice *s, const tct_view *v, uint8_t *index,
                       uint8_t *some)
{
    tct_runs runs;
    tct_column_run run;
    tct_runs_open(&runs, LANES);
    for (int k = 0; tct_runs_next(&runs, v, LANES, &run); k++) {
        memcpy(index + (size_t)k * sizeof run.base, &run.base, sizeof run.base);
        if (k >= s->full) some[k - s->full] = (uint8_t)run.mask;
    }
}

static void write_columns(const tct_slice *s, const tct_view *v, uint8_t *index,
                          uint8_t *some)
{
    uint16_t *near = (uint16_t *)(void *)index;
    int32_t *far = (int32_t *)(void *)index;
    memset(some, 0, (size_t)(s->width - s->full));
    for (int l = 0; l < LANES; l++) {
        const int32_t *col = v->col[l], length = v->length[l];
        for (int k = 0; k < s->width && s->kind == SLICE_NEAR; k++)
            near[LANES * k + l] = (uint16_t)(k < length ? col[k] - s->base : 0);
        for (int k = 0; k < s->width && s->kind == SLICE_FAR; k++)
            far[LANES * k + l] = k < length ? col[k] : s->base;
        for (int k = s->full; k < length; k++)
            some[k - s->full] |= (uint8_t)(1u << l);
    }
}

/* --- values --------------------------------------------------------------- */

/* Where values go. Copied into registers, since a byte that is stored may
 * change any memory. */
typedef struct {
    void *value;
    const uint64_t *key;
    const uint16_t *code;
    int bits;
} target;

static target target_of(const tct_builder *B)
{
    return (target){.value = B->S->value,
                    .key = B->values.key,
                    .code = B->values.code,
                    .bits = B->values.bits};
}

/* Slots without a key have code 0, that of +0, whose key is 0. */
static uint8_t code_of(const target *t, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    size_t at = tct_value_slot(bits, t->bits);
    while (t->key[at] != bits) at = (at + 1) & (((size_t)1 << t->bits) - 1);
    return (uint8_t)t->code[at];
}

/* `kind` is a constant in the callers' loops. */
TCT_LANEWISE void put(const target *t, value_kind kind, int64_t at, double v)
{
    if (kind == VALUE_F64) ((double *)t->value)[at] = v;
    else if (kind == VALUE_F32) ((float *)t->value)[at] = (float)v;
    else ((uint8_t *)t->value)[at] = code_of(t, v);
}

/* The values of a row without gaps from the first column on; `to` is its lane
 * in the first. */
TCT_LANEWISE void write_whole_row(const target *t, value_kind kind,
                                  const double *val, int n, int64_t to)
{
    for (int k = 0; k < n; k++) put(t, kind, to + LANES * k, val[k]);
}

/* The values of a slice of rows, from element `to` of `value`. */
TCT_LANEWISE void write_rows(const tct_builder *B, value_kind kind,
                             const tct_slice *s, const tct_view *v,
                             const uint8_t *some, int64_t to)
{
    const tct_local *A = B->slicing.A;
    const target t = target_of(B);
    for (int l = 0; l < v->lanes; l++) {
        const double *val = A->val + A->ptr[v->group[l]];
        if (s->kind != SLICE_RUN || s->full == s->width) {
            write_whole_row(&t, kind, val, v->length[l], to + l);
            continue;
        }
        for (int k = 0; k < s->width; k++)
            if (tct_slice_lanes(s, some, k) >> l & 1)
                put(&t, kind, to + LANES * k + l, *val++);
    }
}

/* The entries of a block's row from `e` on, whose first column is `first`,
 * to element `to` of `value`; returns the next one. */
TCT_LANEWISE int64_t write_block_row(const target *t, value_kind kind,
                                     const tct_local *A, int64_t e, int64_t end,
                                     int32_t first, int b, int64_t to)
{
    for (; e < end && A->col[e] < first + b; e++)
        put(t, kind, to + LANES * (A->col[e] - first), A->val[e]);
    return e;
}

/* Number `e` of the full blocks of the rows from `row` on: no column is
 * read. */
TCT_LANEWISE void write_full_block(const target *t, value_kind kind,
                                   const tct_local *A, int64_t row, int64_t e,
                                   int b, int64_t to)
{
    for (int i = 0; i < b; i++) {
        const double *val = A->val + A->ptr[row + i] + b * e;
        for (int j = 0; j < b; j++)
            put(t, kind, to + LANES * (b * i + j), val[j]);
    }
}

/* Do the b rows from `row` on fill their `blocks`? */
static bool are_full(const tct_local *A, int64_t row, int b, int64_t blocks)
{
    for (int i = 0; i < b; i++)
        if (A->ptr[row + i + 1] - A->ptr[row + i] != b * blocks) return false;
    return true;
}

/* The blocks of a lane, which `to` is in the first column. */
TCT_LANEWISE void write_block_lane(const tct_builder *B, value_kind kind, int b,
                                   const tct_slice *s, const tct_view *v,
                                   const uint8_t *some, int l, int64_t to)
{
    const tct_local A = *B->slicing.A;
    const target t = target_of(B);
    const int64_t row = b * v->group[l];
    const bool full = are_full(&A, row, b, v->length[l]);
    int64_t at[TCT_BLOCK_MOST], e = 0;
    for (int i = 0; i < b; i++) at[i] = A.ptr[row + i];
    for (int k = 0; k < s->width; k++, to += LANES * b * b) {
        if (!(tct_slice_lanes(s, some, k) >> l & 1)) continue;
        const int32_t first = b * v->col[l][e];
        if (full) write_full_block(&t, kind, &A, row, e, b, to);
        for (int i = 0; i < b && !full; i++)
            at[i] = write_block_row(&t, kind, &A, at[i], A.ptr[row + i + 1],
                                    first, b, to + LANES * b * i);
        e++;
    }
}

/* The same for a slice of blocks. */
TCT_LANEWISE void write_blocks(const tct_builder *B, value_kind kind,
                               const tct_slice *s, const tct_view *v,
                               const uint8_t *some, int64_t to)
{
    for (int l = 0; l < v->lanes; l++) {
        if (B->S->b == 3) write_block_lane(B, kind, 3, s, v, some, l, to + l);
        else write_block_lane(B, kind, B->S->b, s, v, some, l, to + l);
    }
}

TCT_LANEWISE void write_slice(const tct_builder *B, value_kind kind,
                              const tct_slice *s, const tct_view *v,
                              const uint8_t *some, int64_t to)
{
    if (B->S->b == 1) write_rows(B, kind, s, v, some, to);
    else write_blocks(B, kind, s, v, some, to);
}

/* Kinds of codes differ in their products only. */
static void write_values(const tct_builder *B, const tct_slice *s,
                         const tct_view *v, const uint8_t *some, int64_t to)
{
    if (B->S->kind == VALUE_F64) write_slice(B, VALUE_F64, s, v, some, to);
    else if (B->S->kind == VALUE_F32) write_slice(B, VALUE_F32, s, v, some, to);
    else write_slice(B, VALUE_DICT, s, v, some, to);
}

static void fill_slice(const tct_builder *B, const tct_window *w,
                       tct_slices_at *at, bool pattern)
{
    tct_slices *S = B->S;
    const tct_slice *s = &S->slice[at->slice];
    const int64_t before = w->first / LANES; /* slices */
    tct_view v;
    tct_view_open(w, (int)(at->slice - before),
                  s->sorted ? S->order + LANES * before : NULL, LANES, &v);
    uint8_t *index = S->index + at->index, *some = S->some + at->some;
    if (pattern && s->kind == SLICE_RUN) write_runs(s, &v, index, some);
    else if (pattern) write_columns(s, &v, index, some);
    const int64_t cell = LANES * S->b * S->b;
    const size_t size = tct_value_size(S->kind);
    if (S->b > 1 || v.lanes < LANES || s->full < s->width)
        memset((char *)S->value + (size_t)(at->cell * cell) * size, 0,
               (size_t)(s->width * cell) * size);
    write_values(B, s, &v, some, at->cell * cell);
}

void tct_slices_next(const tct_slices *S, tct_slices_at *at)
{
    const tct_slice *s = &S->slice[at->slice++];
    at->cell += s->width;
    at->index += s->width * tct_index_size((tct_slice_kind)s->kind);
    at->some += s->width - s->full;
}

/* Free the source up to row `row`, from the last freed row on. */
static void release(const tct_local *A, int64_t row, int64_t *from)
{
    const int64_t to = A->ptr[row];
    if (to - *from < RELEASE_AFTER) return;
    tct_release_pages(A->val + *from, (size_t)(to - *from) * sizeof *A->val);
    tct_release_pages(A->col + *from, (size_t)(to - *from) * sizeof *A->col);
    *from = to;
}

static void fill_chunk(const tct_builder *B, int part, int64_t chunk,
                       bool pattern)
{
    const tct_slices *S = B->S;
    const tct_rows_apart apart = {S->long_row, S->long_ptr, S->long_col,
                                  S->long_val};
    tct_slices_at at = S->at[chunk];
    tct_window w;
    while (at.slice < S->at[chunk + 1].slice) {
        tct_builder_window(B, part, LANES * at.slice / S->window, &w);
        tct_builder_fetch(B, &w, true);
        for (int g = 0; g < w.groups; g += LANES, tct_slices_next(S, &at))
            fill_slice(B, &w, &at, pattern);
        tct_window_copy_long(&B->slicing, &w, &apart, &at.long_row,
                             &at.long_entry);
    }
}

void tct_slices_fill(const tct_builder *B, int part, bool pattern)
{
    const tct_local *A = B->slicing.A;
    const tct_chunks *c = &B->S->chunks;
    const int64_t from = c->split[part], to = c->split[part + 1];
    int64_t released = from < to ? A->ptr[from * CHUNK] : 0;
    for (int64_t chunk = from; chunk < to; chunk++) {
        fill_chunk(B, part, chunk, pattern);
        const int64_t end = (chunk + 1) * CHUNK;
        if (A->owned) release(A, end < A->rows ? end : A->rows, &released);
    }
}
