/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices_fill.c - fill planned slices, chunk by chunk: columns and
 * empty lanes, values, rows kept apart. */
#include "operator/host/slices_build.h"
#include <string.h>

enum { RELEASE_AFTER = 1 << 19 /* entries read */ };

void tct_builder_window(const tct_builder *B, int part, int64_t window,
                        tct_window *w)
{
    w->scratch = B->scratch + part * B->room;
    tct_window_read(B->A, B->S->b, window * B->S->window, w);
}

void tct_slice_open(const tct_builder *B, const tct_window *w, int64_t n,
                    tct_slice_view *v)
{
    const tct_slices *S = B->S;
    *v = (tct_slice_view){.slice = &S->slice[n]};
    for (; v->lanes < LANES; v->lanes++) {
        const int64_t group = tct_slices_group(S, n, v->lanes);
        if (group < 0) break;
        v->col[v->lanes] = w->col[group - w->first];
        v->length[v->lanes] = w->length[group - w->first];
        v->row[v->lanes] = S->b * group;
    }
}

static void write_runs(const tct_slice_view *v, uint8_t *index, uint8_t *some)
{
    int32_t at[LANES] = {0}, base;
    unsigned lanes;
    for (int k = 0; tct_next_run(v->col, v->length, at, &base, &lanes); k++) {
        memcpy(index + (size_t)k * sizeof base, &base, sizeof base);
        if (k >= v->slice->full) some[k - v->slice->full] = (uint8_t)lanes;
    }
}

static void write_columns(const tct_slice_view *v, uint8_t *index,
                          uint8_t *some)
{
    const tct_slice *s = v->slice;
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

static void put(const tct_slices *S, const tct_values *values, int64_t at,
                double v)
{
    uint64_t bits;
    switch (S->kind) {
    case VALUE_F64: ((double *)S->value)[at] = v; return;
    case VALUE_F32: ((float *)S->value)[at] = (float)v; return;
    case VALUE_DICT16:
    case VALUE_DICT32:
    case VALUE_DICT:
    case VALUE_KINDS: break;
    }
    memcpy(&bits, &v, sizeof bits);
    size_t slot = tct_value_slot(bits);
    while (values->key[slot] != bits || values->code[slot] < 0)
        slot = (slot + 1) % TCT_VALUE_SLOTS;
    ((uint8_t *)S->value)[at] = (uint8_t)values->code[slot];
}

/* The values of a row that has all columns from the first on; `to` is its lane
 * in the first. */
static void write_whole_row(const tct_builder *B, const double *val, int n,
                            int64_t to)
{
    double *doubles = (double *)B->S->value + to;
    for (int k = 0; k < n && B->S->kind == VALUE_F64; k++)
        doubles[LANES * k] = val[k];
    for (int k = 0; k < n && B->S->kind != VALUE_F64; k++)
        put(B->S, &B->values, to + LANES * k, val[k]);
}

/* The values of a slice of rows, from element `to` of `value`. */
static void write_rows(const tct_builder *B, const tct_slice_view *v,
                       const uint8_t *some, int64_t to)
{
    const tct_slice *s = v->slice;
    for (int l = 0; l < v->lanes; l++) {
        const double *val = B->A->val + B->A->ptr[v->row[l]];
        if (s->kind != SLICE_RUN || s->full == s->width) {
            write_whole_row(B, val, v->length[l], to + l);
            continue;
        }
        for (int k = 0; k < s->width; k++)
            if (tct_slice_lanes(s, some, k) >> l & 1)
                put(B->S, &B->values, to + LANES * k + l, *val++);
    }
}

/* The same for a slice of blocks. */
static void write_blocks(const tct_builder *B, const tct_slice_view *v,
                         const uint8_t *some, int64_t to)
{
    const tct_local *A = B->A;
    const int b = B->S->b;
    int64_t at[LANES][BLOCK_MOST];
    int32_t entry[LANES] = {0};
    for (int l = 0; l < v->lanes; l++)
        for (int i = 0; i < b; i++) at[l][i] = A->ptr[v->row[l] + i];
    for (int k = 0; k < v->slice->width; k++, to += LANES * b * b) {
        const unsigned lanes = tct_slice_lanes(v->slice, some, k);
        for (int l = 0; l < v->lanes; l++) {
            if (!(lanes >> l & 1)) continue;
            const int32_t first = b * v->col[l][entry[l]++];
            for (int i = 0; i < b; i++) {
                const int64_t end = A->ptr[v->row[l] + i + 1];
                for (int64_t *e = &at[l][i]; *e < end && A->col[*e] < first + b;
                     ++*e)
                    put(B->S, &B->values,
                        to + LANES * (b * i + A->col[*e] - first) + l,
                        A->val[*e]);
            }
        }
    }
}

static void fill_slice(const tct_builder *B, const tct_window *w,
                       tct_slices_at *at, bool pattern)
{
    tct_slices *S = B->S;
    tct_slice_view v;
    tct_slice_open(B, w, at->slice, &v);
    uint8_t *index = S->index + at->index, *some = S->some + at->some;
    if (pattern && v.slice->kind == SLICE_RUN) write_runs(&v, index, some);
    else if (pattern) write_columns(&v, index, some);
    const int64_t cell = LANES * S->b * S->b;
    const size_t size = tct_value_size(S->kind);
    if (S->b > 1 || v.lanes < LANES || v.slice->full < v.slice->width)
        memset((char *)S->value + (size_t)(at->cell * cell) * size, 0,
               (size_t)(v.slice->width * cell) * size);
    if (S->b == 1) write_rows(B, &v, some, at->cell * cell);
    else write_blocks(B, &v, some, at->cell * cell);
}

void tct_slices_next(const tct_slices *S, tct_slices_at *at)
{
    const tct_slice *s = &S->slice[at->slice++];
    at->cell += s->width;
    at->index += s->width * tct_index_size((slice_kind)s->kind);
    at->some += s->width - s->full;
}

static void fill_long_rows(const tct_builder *B, const tct_window *w,
                           tct_slices_at *at)
{
    const tct_local *A = B->A;
    tct_slices *S = B->S;
    for (int g = 0; g < w->groups && w->cut < INT32_MAX; g++) {
        const int64_t row = w->first + g, k = A->ptr[row];
        const int64_t length = A->ptr[row + 1] - k;
        if (length <= w->cut) continue;
        S->long_row[at->long_row] = (int32_t)row;
        S->long_ptr[at->long_row++] = at->long_entry;
        memcpy(S->long_col + at->long_entry, A->col + k,
               (size_t)length * sizeof *A->col);
        memcpy(S->long_val + at->long_entry, A->val + k,
               (size_t)length * sizeof *A->val);
        at->long_entry += length;
    }
}

/* Give the source back up to row `row`, from where it was given back last. */
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
    tct_slices_at at = S->at[chunk];
    tct_window w;
    while (at.slice < S->at[chunk + 1].slice) {
        tct_builder_window(B, part, LANES * at.slice / S->window, &w);
        for (int g = 0; g < w.groups; g += LANES, tct_slices_next(S, &at))
            fill_slice(B, &w, &at, pattern);
        fill_long_rows(B, &w, &at);
    }
}

void tct_slices_fill(const tct_builder *B, int part, bool pattern)
{
    const tct_chunks *c = &B->S->chunks;
    const int64_t from = c->split[part], to = c->split[part + 1];
    int64_t released = from < to ? B->A->ptr[from * CHUNK] : 0;
    for (int64_t chunk = from; chunk < to; chunk++) {
        fill_chunk(B, part, chunk, pattern);
        const int64_t end = (chunk + 1) * CHUNK;
        if (B->A->owned)
            release(B->A, end < B->A->rows ? end : B->A->rows, &released);
    }
}
