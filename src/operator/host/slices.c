/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices.c - build sliced ELL: plan every window, lay the arrays out,
 * have them filled. Each thread plans and fills the chunks that it multiplies,
 * and so touches their memory first. */
#include "operator/host/slices_build.h"
#include <stdio.h>
#include <string.h>

/* --- plan ------------------------------------------------------------------- */

/* Rows kept apart are counted behind their chunk, for lay_out. */
static void count_long_rows(const tct_builder *B, const tct_window *w,
                            tct_slices_at *count)
{
    for (int g = 0; g < w->groups && w->cut < INT32_MAX; g++) {
        const int64_t row = w->first + g;
        const int64_t length = B->A->ptr[row + 1] - B->A->ptr[row];
        if (length <= w->cut) continue;
        count->long_row++;
        count->long_entry += length;
    }
}

static void plan_chunk(const tct_builder *B, int part, int64_t chunk)
{
    tct_slices *S = B->S;
    const double size = (double)tct_value_size(S->kind);
    const int64_t per_chunk = CHUNK / (LANES * S->b);
    int64_t n = chunk * per_chunk;
    tct_slices_at count = {.slice = n + per_chunk};
    tct_window w;
    tct_slice_plan plan;
    if (count.slice > S->slices) count.slice = S->slices;
    while (n < count.slice) {
        tct_builder_window(B, part, LANES * n / S->window, &w);
        tct_window_plan(&w, S->b, S->base.cols / S->b, size, &plan);
        const int64_t slices = (w.groups + LANES - 1) / LANES;
        memcpy(S->slice + n, plan.slice, (size_t)slices * sizeof *S->slice);
        memcpy(S->order + LANES * n, plan.order, (size_t)(slices * LANES));
        count_long_rows(B, &w, &count);
        n += slices;
    }
    S->at[chunk + 1] = count;
}

static void plan_part(void *builder, int64_t part)
{
    const tct_builder *B = builder;
    const tct_chunks *c = &B->S->chunks;
    for (int64_t k = c->split[part]; k < c->split[part + 1]; k++)
        plan_chunk(B, (int)part, k);
}

static void fill_part(void *builder, int64_t part)
{
    tct_slices_fill(builder, (int)part, true);
}

/* Sizes become offsets. */
static void lay_out(tct_slices *S)
{
    tct_slices_at at = {0};
    S->at[0] = at;
    for (int64_t chunk = 1; chunk <= S->chunks.count; chunk++) {
        tct_slices_at *to = &S->at[chunk];
        at.long_row += to->long_row;
        at.long_entry += to->long_entry;
        while (at.slice < to->slice) tct_slices_next(S, &at);
        *to = at;
    }
}

/* --- build ------------------------------------------------------------------ */

tacit_status tct_slices_allocate_values(tct_slices *S)
{
    const int64_t cells = S->at[S->chunks.count].cell * LANES * S->b * S->b;
    return tct_alloc_array((size_t)cells, tct_value_size(S->kind),
                           "the matrix in slices", &S->value);
}

static tacit_status allocate(tct_slices *S)
{
    const tct_slices_at *end = &S->at[S->chunks.count];
    TRY(tct_slices_allocate_values(S));
    TRY(TCT_ALLOC(end->index, "the matrix in slices", &S->index));
    TRY(TCT_ALLOC(end->some, "the matrix in slices", &S->some));
    S->long_rows = end->long_row;
    TRY(TCT_ALLOC(S->long_rows, "long rows", &S->long_row));
    TRY(TCT_ALLOC(S->long_rows + 1, "long rows", &S->long_ptr));
    TRY(TCT_ALLOC(end->long_entry, "long rows", &S->long_col));
    TRY(TCT_ALLOC(end->long_entry, "long rows", &S->long_val));
    S->long_ptr[S->long_rows] = end->long_entry;
    return TACIT_OK;
}

/* What the slices are like, in one sentence. */
static void describe(tct_slices *S)
{
    static const char *const store[] = {
        [VALUE_F64] = "double",
        [VALUE_F32] = "float (exact)",
        [VALUE_DICT16] = "dictionary of up to 16",
        [VALUE_DICT32] = "dictionary of up to 32",
        [VALUE_DICT] = "dictionary of up to 256",
    };
    double columns[3] = {0.0}, all = 0.0, sorted = 0.0;
    for (int64_t n = 0; n < S->slices; n++) {
        columns[S->slice[n].kind] += S->slice[n].width;
        all += S->slice[n].width;
        sorted += S->slice[n].sorted ? 100.0 / (double)S->slices : 0.0;
    }
    for (int k = 0; k < 3; k++) columns[k] *= all > 0.0 ? 100.0 / all : 0.0;
    snprintf(S->base.detail, sizeof S->base.detail,
             "%dx%d blocks, columns %.0f %% runs, %.0f %% 16-bit, %.0f %% "
             "32-bit; values %s; %.0f %% of slices sorted; %lld long rows",
             S->b, S->b, columns[SLICE_RUN], columns[SLICE_NEAR],
             columns[SLICE_FAR], store[S->kind], sorted,
             (long long)S->long_rows);
}

void tct_slices_describe(tct_slices *S)
{
    const tct_slices_at *end = &S->at[S->chunks.count];
    const int64_t values = end->cell * LANES * S->b * S->b;
    double bytes = (double)values * (double)tct_value_size(S->kind) +
                   (double)(end->index + end->some) +
                   (double)S->slices * sizeof *S->slice +
                   12.0 * (double)end->long_entry;
    for (int64_t n = 0; n < S->slices; n++)
        if (S->slice[n].sorted) bytes += LANES;
    S->base.matrix_bytes = bytes;
    S->base.stored = values + end->long_entry;
    describe(S);
}

static tacit_status build(tct_builder *B)
{
    tct_slices *S = B->S;
    const int parts = S->chunks.parts;
    TRY(TCT_ALLOC(S->slices, "slices", &S->slice));
    TRY(TCT_ALLOC(S->slices * LANES, "slices", &S->order));
    TRY(TCT_ALLOC(S->chunks.count + 1, "slices", &S->at));
    TRY(TCT_ALLOC(parts * B->room, "slices", &B->scratch));
    tct_slices_set_values(B, S);
    tct_team_run(S->chunks.team, parts, parts, NULL, plan_part, B);
    lay_out(S);
    TRY(allocate(S));
    tct_team_run(S->chunks.team, parts, parts, NULL, fill_part, B);
    tct_slices_describe(S);
    return TACIT_OK;
}

void tct_slices_set_values(tct_builder *B, tct_slices *S)
{
    tct_values_look(B->A->val, B->A->ptr[B->A->rows], S->b, S->chunks.team,
                    &B->values);
    S->kind = B->values.kind;
    memcpy(S->dict, B->values.dict, sizeof S->dict);
}

static tacit_status require_blocks(const tct_local *A, int b, const char *name)
{
    if (A->rows % b || A->cols % b)
        FAIL(TACIT_UNSUPPORTED,
             "format %s: %lld rows do not divide into blocks of %d", name,
             (long long)A->rows, b);
    for (int64_t i = 0; b > 1 && i < A->rows; i++)
        if (A->ptr[i + 1] - A->ptr[i] > UINT16_MAX / BLOCK_MOST)
            FAIL(TACIT_UNSUPPORTED,
                 "format %s: local row %lld has %lld entries, too many for a "
                 "slice",
                 name, (long long)i + 1,
                 (long long)(A->ptr[i + 1] - A->ptr[i]));
    return TACIT_OK;
}

tacit_status tct_slices_create(tct_local *A, int b, const tct_block_ops *ops,
                               tct_team *team, tct_block **out)
{
    TRY(require_blocks(A, b, ops->name));
    tct_slices *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for the matrix in slices");
    S->base = (tct_block){.ops = ops,
                          .rows = A->rows,
                          .cols = A->cols,
                          .nonzeros = A->ptr[A->rows]};
    S->b = b;
    S->window = tct_window_size(b);
    S->groups = A->rows / b;
    S->slices = (S->groups + LANES - 1) / LANES;
    tct_builder B = {.A = A, .S = S, .room = tct_window_room(A, b)};
    tacit_status status = tct_chunks_create(&S->chunks, A->rows, team, A->ptr);
    if (status >= 0) status = build(&B);
    tct_free(B.scratch);
    if (status < 0) tct_slices_destroy(&S->base);
    else *out = &S->base;
    return status;
}

void tct_slices_destroy(tct_block *block)
{
    tct_slices *S = (tct_slices *)(void *)block;
    if (!S) return;
    tct_free(S->slice);
    tct_free(S->order);
    tct_free(S->value);
    tct_free(S->index);
    tct_free(S->some);
    tct_free(S->long_row);
    tct_free(S->long_ptr);
    tct_free(S->long_col);
    tct_free(S->long_val);
    tct_free(S->at);
    tct_chunks_clear(&S->chunks);
    tct_free(S);
}

/* --- size ------------------------------------------------------------------- */

enum { SAMPLES = 48, VALUES_LOOKED_AT = 1 << 18 };

typedef struct {
    double bytes, entries, stored;
} census;

static void count_window(const tct_window *w, const tct_slice_plan *plan,
                         double cell, census *c)
{
    for (int n = 0; n * LANES < w->groups; n++) {
        const tct_slice *s = &plan->slice[n];
        c->bytes += s->width * (cell + tct_index_size((slice_kind)s->kind)) +
                    (s->width - s->full) + (double)sizeof *s +
                    (s->sorted ? LANES : 0);
    }
}

static census take_census(const tct_local *A, int b, double size,
                          int32_t *scratch)
{
    const int64_t groups = A->rows / b, each = tct_window_size(b);
    const int64_t windows = (groups + each - 1) / each;
    const int64_t step = windows / SAMPLES + 1;
    census c = {0};
    tct_window w = {.scratch = scratch};
    tct_slice_plan plan;
    for (int64_t n = 0; n < windows; n += step) {
        tct_window_read(A, b, n * each, &w);
        tct_window_plan(&w, b, A->cols / b, size, &plan);
        count_window(&w, &plan, LANES * b * b * size, &c);
        for (int g = 0; g < w.groups; g++) {
            const int64_t row = b * (w.first + g);
            const double entries = (double)(A->ptr[row + b] - A->ptr[row]);
            c.entries += entries;
            c.stored += (double)w.length[g] * b * b;
            if (entries > w.cut) c.bytes += 12.0 * entries;
        }
    }
    return c;
}

double tct_slices_bytes(const tct_local *A, int b)
{
    const double least_full = 0.6; /* of the entries of blocks */
    if (A->rows % b || A->cols % b) return -1.0;
    const int64_t nonzeros = A->ptr[A->rows];
    if (nonzeros == 0) return b > 1 ? -1.0 : 12.0 / LANES * (double)A->rows;
    const int64_t looked =
        nonzeros < VALUES_LOOKED_AT ? nonzeros : VALUES_LOOKED_AT;
    tct_values values;
    tct_values_look(A->val + (nonzeros - looked) / 2, looked, b, NULL, &values);
    const int64_t room = tct_window_room(A, b);
    int32_t *scratch = tct_alloc((size_t)room * sizeof *scratch);
    if (!scratch) return -1.0;
    const census c =
        take_census(A, b, (double)tct_value_size(values.kind), scratch);
    tct_free(scratch);
    if (b > 1 && c.entries < least_full * c.stored) return -1.0;
    return c.entries > 0.0 ? c.bytes * (double)nonzeros / c.entries : 0.0;
}
