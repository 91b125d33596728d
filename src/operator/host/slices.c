/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices.c - builds sliced ELL: plans every window, lays out the
 * arrays, and fills them. Each thread plans and fills the chunks that it
 * multiplies, and so touches their memory first. */
#include "operator/host/slices_build.h"
#include <stdio.h>
#include <string.h>

/* --- plan ----------------------------------------------------------------- */

enum {
    LONG_LEAST = 64,   /* shorter rows are never kept apart             */
    WIDTH_MOST = 8192, /* of a slice of rows; longer rows are kept apart */
};

/* Keep the longest rows apart while a slice of them would be half empty. */
static void keep_apart(tct_window *w)
{
    uint8_t order[TCT_WINDOW_MOST];
    bool any = false;
    for (int g = 0; g < w->groups; g++) any = any || w->length[g] >= LONG_LEAST;
    if (!any) return;
    tct_window_sort(w, order);
    int apart = 0;
    for (; apart < w->groups; apart++) {
        const int32_t top = w->length[order[apart]];
        int64_t sum = 0;
        for (int l = apart; l < apart + LANES && l < w->groups; l++)
            sum += w->length[order[l]];
        if (top <= WIDTH_MOST && (top < LONG_LEAST || sum > LANES / 2 * top))
            break;
    }
    if (apart == 0) return;
    w->cut = apart < w->groups ? w->length[order[apart]] : 0;
    for (int g = 0; g < w->groups; g++)
        if (w->length[g] > w->cut) w->length[g] = 0;
}

static const tct_slicing_rules rules = {
    .lanes = LANES,
    .window = 240, /* sorted by length together */
    .rows = CHUNK,
    .index = {[SLICE_RUN] = 4 + 1, /* with the byte of its lanes */
              [SLICE_NEAR] = 2 * LANES,
              [SLICE_FAR] = 4 * LANES},
    .near_step = 1,
    .gather = 20.0, /* 8 elements of x, one by one */
    .sorted = 48.0, /* a slice's rows in any order */
    .whole_runs = true,
    .sorted_runs = true,
    .keep_apart = keep_apart};

tct_slicing tct_host_slicing(const tct_local *A, int b)
{
    return tct_slicing_of(&rules, A, b);
}

static void plan_chunk(const tct_builder *B, int part, int64_t chunk)
{
    tct_slices *S = B->S;
    const int64_t per_chunk = CHUNK / (LANES * S->b);
    int64_t n = chunk * per_chunk, entries;
    tct_slices_at count = {.slice = n + per_chunk};
    tct_window w;
    tct_slice slice[TCT_WINDOW_SLICES];
    uint8_t order[TCT_WINDOW_MOST];
    if (count.slice > S->slices) count.slice = S->slices;
    while (n < count.slice) {
        tct_builder_window(B, part, LANES * n / S->window, &w);
        tct_window_plan(&B->slicing, &w, slice, order);
        const int64_t slices = (w.groups + LANES - 1) / LANES;
        memcpy(S->slice + n, slice, (size_t)slices * sizeof *S->slice);
        memcpy(S->order + LANES * n, order, (size_t)(slices * LANES));
        count.long_row += tct_window_long(&B->slicing, &w, &entries);
        count.long_entry += entries; /* stored after the chunk, for lay_out */
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

/* Replace sizes by offsets. */
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

/* --- build ---------------------------------------------------------------- */

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

/* Describe the slices in one sentence. */
static void describe(tct_slices *S)
{
    static const char *const store[] = {
        [VALUE_F64] = "double",
        [VALUE_F32] = "float (exact)",
        [VALUE_DICT16] = "dictionary of up to 16",
        [VALUE_DICT32] = "dictionary of up to 32",
        [VALUE_DICT] = "dictionary of up to 256",
    };
    const tct_slice_census c = tct_slices_count(S->slice, S->slices);
    const double each = c.all > 0.0 ? 100.0 / c.all : 0.0;
    snprintf(S->base.detail, sizeof S->base.detail,
             "%dx%d blocks, columns %.0f %% runs, %.0f %% 16-bit, %.0f %% "
             "32-bit; values %s; %.0f %% of slices sorted; %lld long rows",
             S->b, S->b, each * c.columns[SLICE_RUN],
             each * c.columns[SLICE_NEAR], each * c.columns[SLICE_FAR],
             store[S->kind], c.sorted, (long long)S->long_rows);
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

/* The smallest lossless store. */
static value_kind choose_kind(const tct_value_set *set)
{
    if (set->floats && (set->count > 32 || set->looked == 0)) return VALUE_F32;
    if (set->count > DICT_MOST) return VALUE_F64;
    return set->count <= 16   ? VALUE_DICT16
           : set->count <= 32 ? VALUE_DICT32
                              : VALUE_DICT;
}

/* Add `val` [n] to the set; for blocks also the zeros that fill them. */
static void look(tct_value_set *set, const double *val, int64_t n, int b,
                 tct_team *team)
{
    tct_value_set_open(set, DICT_MOST, false);
    if (b > 1) tct_value_set_zero(set);
    tct_value_set_share(set, val, n, team);
}

void tct_slices_set_values(tct_builder *B, tct_slices *S)
{
    const tct_local *A = B->slicing.A;
    look(&B->values, A->val, A->ptr[A->rows], S->b, S->chunks.team);
    S->kind = choose_kind(&B->values);
    memset(S->dict, 0, sizeof S->dict);
    if (S->kind >= VALUE_DICT16) /* the table has room for all codes */
        (void)tct_value_set_number(&B->values, S->dict);
    for (int i = 0; i < DICT_MOST; i++) {
        S->pair[i][0] = S->dict[i % 16];
        S->pair[i][1] = S->dict[i / 16];
    }
    tct_slicing_values(&B->slicing, (double)tct_value_size(S->kind));
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
                          .nonzeros = A->ptr[A->rows],
                          .takes_pass = true};
    S->b = b;
    tct_builder B = {.slicing = tct_host_slicing(A, b), .S = S};
    B.room = tct_window_room(&B.slicing);
    S->window = B.slicing.window;
    S->groups = B.slicing.groups;
    S->slices = B.slicing.slices;
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
    TCT_FREE(S->value, S->long_val);
    if (!S->of) {
        TCT_FREE(S->slice, S->order, S->index, S->some, S->long_row,
                 S->long_ptr, S->long_col, S->at);
        tct_chunks_clear(&S->chunks);
    }
    tct_free(S);
}

/* --- size ----------------------------------------------------------------- */

enum { SAMPLES = 48, VALUES_LOOKED_AT = 1 << 18 };

typedef struct {
    double bytes, entries;
} census;

static void count_slices(const tct_slicing *S, const tct_slice *slice,
                         int slices, census *c)
{
    for (int n = 0; n < slices; n++) {
        const tct_slice *s = &slice[n];
        const int index = tct_index_size((tct_slice_kind)s->kind);
        c->bytes += s->width * (S->cell + index) + (s->width - s->full) +
                    (double)sizeof *s + (s->sorted ? LANES : 0);
    }
}

/* The windows of a sample, read one after the other. */
typedef struct {
    int64_t at[SAMPLES], count;
} sampled;

static sampled sample_of(const tct_slicing *S)
{
    sampled w;
    w.count = tct_slicing_sample(S, S->windows / SAMPLES + 1, false, w.at);
    return w;
}

/* Have blocks few zeros? Only these are planned. */
static bool are_full(const tct_slicing *S, int32_t *scratch)
{
    const double least_full = 0.6; /* of the entries of blocks */
    const sampled all = sample_of(S);
    double entries = 0.0, stored = 0.0;
    tct_window w;
    for (int64_t i = 0; i < all.count; i++) {
        tct_window_read(S, all.at[i], scratch, &w);
        for (int g = 0; g < w.groups; g++)
            stored += (double)w.length[g] * S->b * S->b;
        entries += (double)(S->A->ptr[S->b * (w.first + w.groups)] -
                            S->A->ptr[S->b * w.first]);
    }
    return entries >= least_full * stored;
}

static census take_census(const tct_slicing *S, int32_t *scratch)
{
    const tct_local *A = S->A;
    const sampled all = sample_of(S);
    int64_t entries;
    census c = {0};
    tct_window w;
    tct_slice slice[TCT_WINDOW_SLICES];
    uint8_t order[TCT_WINDOW_MOST];
    for (int64_t i = 0; i < all.count; i++) {
        tct_window_read(S, all.at[i], scratch, &w);
        if (tct_window_plan(S, &w, slice, order) >= 0.0) /* else: refused */
            count_slices(S, slice, tct_window_slices(S, all.at[i]), &c);
        tct_window_long(S, &w, &entries);
        c.bytes += 12.0 * (double)entries;
        c.entries += (double)(A->ptr[S->b * (w.first + w.groups)] -
                              A->ptr[S->b * w.first]);
    }
    return c;
}

/* For blocks with values of `size` bytes; < 0: they do not fit. */
static double bytes_of(const tct_local *A, int b, double size)
{
    const int64_t nonzeros = A->ptr[A->rows];
    tct_slicing S = tct_host_slicing(A, b);
    tct_slicing_values(&S, size);
    const int64_t room = tct_window_room(&S);
    int32_t *scratch = tct_alloc((size_t)room * sizeof *scratch);
    if (!scratch) return -1.0;
    const bool fit = b == 1 || are_full(&S, scratch);
    const census c = fit ? take_census(&S, scratch) : (census){-1.0, 0.0};
    tct_free(scratch);
    if (!fit) return -1.0;
    return c.entries > 0.0 ? c.bytes * (double)nonzeros / c.entries : 0.0;
}

double tct_slices_bytes(const tct_local *A, int b)
{
    if (A->rows % b || A->cols % b) return -1.0;
    const int64_t nonzeros = A->ptr[A->rows];
    if (nonzeros == 0) return b > 1 ? -1.0 : 12.0 / LANES * (double)A->rows;
    const int64_t looked =
        nonzeros < VALUES_LOOKED_AT ? nonzeros : VALUES_LOOKED_AT;
    tct_value_set values;
    look(&values, A->val + (nonzeros - looked) / 2, looked, b, NULL);
    return bytes_of(A, b, (double)tct_value_size(choose_kind(&values)));
}
