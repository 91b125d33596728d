/* SPDX-License-Identifier: BSD-3-Clause
 * operator/slices_refill.c - new values for an old pattern: first compare the
 * patterns, so that a block that cannot be refilled stays as it was. */
#include "operator/slices_build.h"

typedef struct { /* the first entry of a part that differs, row -1: none */
    int64_t row, col;
    bool missing; /* the block has it, the matrix has not */
} difference;

static int32_t stored_column(const tct_slice *s, const uint8_t *index, int k,
                             int l)
{
    if (s->kind == SLICE_NEAR)
        return s->base + ((const uint16_t *)(const void *)index)[LANES * k + l];
    const int32_t *col = (const int32_t *)(const void *)index;
    return s->kind == SLICE_RUN ? col[k] + l : col[LANES * k + l];
}

/* Lane `l` differs in block column `col`: the entry of the matrix there, or
 * the place of the block that it lacks. */
static difference differs_at(const tct_builder *B, const tct_slice_view *v,
                             int l, int32_t col, bool missing)
{
    const tct_local *A = B->A;
    const int b = B->S->b;
    const int64_t first = v->row[l];
    for (int64_t row = first; row < first + b && !missing; row++)
        for (int64_t k = A->ptr[row]; k < A->ptr[row + 1]; k++)
            if (A->col[k] / b == col)
                return (difference){row, A->col[k], false};
    return (difference){first, (int64_t)b * col, missing};
}

static difference compare_slice(const tct_builder *B, const tct_slice_view *v,
                                const tct_slices_at *at)
{
    const tct_slices *S = B->S;
    const uint8_t *index = S->index + at->index, *some = S->some + at->some;
    int32_t entry[LANES] = {0};
    for (int k = 0; k < v->slice->width; k++)
        for (int l = 0; l < v->lanes; l++) {
            if (!(tct_slice_lanes(v->slice, some, k) >> l & 1)) continue;
            const int32_t col = stored_column(v->slice, index, k, l);
            if (entry[l] == v->length[l]) return differs_at(B, v, l, col, true);
            const int32_t other = v->col[l][entry[l]++];
            if (other != col)
                return differs_at(B, v, l, other < col ? other : col,
                                  other > col);
        }
    for (int l = 0; l < v->lanes; l++)
        if (entry[l] < v->length[l])
            return differs_at(B, v, l, v->col[l][entry[l]], false);
    return (difference){.row = -1};
}

static difference compare_long_rows(const tct_builder *B, const tct_window *w,
                                    tct_slices_at *at, int64_t rows)
{
    const tct_local *A = B->A;
    const tct_slices *S = B->S;
    for (int g = 0; g < w->groups; g++) {
        const int64_t row = w->first + g, k = A->ptr[row];
        const int64_t length = A->ptr[row + 1] - k;
        const bool stored =
            at->long_row < rows && S->long_row[at->long_row] == row;
        if (stored != (length > w->cut))
            return (difference){row, length > 0 ? A->col[k] : 0, stored};
        if (!stored) continue;
        const int64_t from = S->long_ptr[at->long_row];
        const int64_t n = S->long_ptr[at->long_row + 1] - from;
        at->long_row++;
        for (int64_t e = 0; e < n || e < length; e++)
            if (e >= n || e >= length || S->long_col[from + e] != A->col[k + e])
                return (difference){
                    row, e < length ? A->col[k + e] : S->long_col[from + e],
                    e >= length};
    }
    return (difference){.row = -1};
}

static difference compare_chunk(const tct_builder *B, int part, int64_t chunk)
{
    const tct_slices *S = B->S;
    tct_slices_at at = S->at[chunk];
    tct_window w;
    difference d = {.row = -1};
    while (at.slice < S->at[chunk + 1].slice && d.row < 0) {
        tct_builder_window(B, part, LANES * at.slice / S->window, &w);
        d = compare_long_rows(B, &w, &at, S->at[chunk + 1].long_row);
        for (int g = 0; g < w.groups && d.row < 0;
             g += LANES, tct_slices_next(S, &at)) {
            tct_slice_view v;
            tct_slice_open(B, &w, at.slice, &v);
            d = compare_slice(B, &v, &at);
        }
    }
    return d;
}

static difference compare_part(const tct_builder *B, int part)
{
    const tct_chunks *c = &B->S->chunks;
    for (int64_t k = c->split[part]; k < c->split[part + 1]; k++) {
        const difference d = compare_chunk(B, part, k);
        if (d.row >= 0) return d;
    }
    return (difference){.row = -1};
}

static tacit_status compare(const tct_builder *B)
{
    const tct_slices *S = B->S;
    difference *found = NULL;
    TRY(TCT_ALLOC(S->chunks.parts, "new values", &found));
#pragma omp parallel for schedule(static, 1) num_threads(S->chunks.parts)
    for (int part = 0; part < S->chunks.parts; part++)
        found[part] = compare_part(B, part);
    difference first = {.row = -1};
    for (int part = S->chunks.parts; part-- > 0;)
        if (found[part].row >= 0) first = found[part];
    tct_free(found);
    if (first.row < 0) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "the pattern of the matrix has changed: local row %lld, column %lld "
         "was %s; create a new operator",
         (long long)first.row + 1, (long long)first.col + 1,
         first.missing ? "stored and is not now" : "not stored and is now");
}

/* Values of another kind need another array. */
static tacit_status refill(tct_builder *B, tct_slices *S)
{
    TRY(compare(B));
    tct_slices fresh = *S;
    tct_slices_set_values(B, &fresh);
    if (fresh.kind != S->kind) {
        TRY(tct_slices_allocate_values(&fresh));
        tct_free(S->value);
    }
    *S = fresh;
#pragma omp parallel for schedule(static, 1) num_threads(S->chunks.parts)
    for (int part = 0; part < S->chunks.parts; part++)
        tct_slices_fill(B, part, false);
    tct_slices_describe(S);
    return TACIT_OK;
}

tacit_status tct_slices_refill(tct_block *block, const tct_local *A)
{
    tct_slices *S = (tct_slices *)(void *)block;
    if (A->rows != S->base.rows || A->cols != S->base.cols)
        FAIL(TACIT_INVALID, "the matrix was %lld x %lld and is %lld x %lld now",
             (long long)S->base.rows, (long long)S->base.cols,
             (long long)A->rows, (long long)A->cols);
    tct_local source = *A;
    source.owned = false;
    tct_builder B = {.A = &source, .S = S, .room = tct_window_room(A, S->b)};
    tacit_status status =
        TCT_ALLOC(S->chunks.parts * B.room, "new values", &B.scratch);
    if (status >= 0) status = refill(&B, S);
    tct_free(B.scratch);
    return status;
}
