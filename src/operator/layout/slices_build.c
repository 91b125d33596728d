/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_build.c - builds the arrays of layout.h in host
 * memory: plans every window, lays out the arrays, fills them. */
#include "operator/layout/slices_build.h"
#include "device/parallel.h"
#include "operator/layout/slice_text.h"
#include "operator/pattern/view.h"
#include <stdatomic.h>
#include <string.h>

typedef struct { /* the arrays in the making */
    const tct_gpu_maker *M;
    const tct_gpu_plan *P;
    tct_gpu_slice *slice;
    uint8_t *index;
    void *value;
    uint16_t *value_low;
    tct_rows_apart apart;
    int32_t *long_place;
} builder;

enum { WINDOWS = 8, SLICES = 512 }; /* that are worth a thread */

static const char *const what = "the matrix in slices";

/* --- fill ----------------------------------------------------------------- */

static void put(const builder *B, int64_t at, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    switch (B->M->store) {
    case GPU_F64: ((double *)B->value)[at] = v; break;
    case GPU_F32: ((float *)B->value)[at] = (float)v; break;
    case GPU_DICT8:
        ((uint8_t *)B->value)[at] =
            (uint8_t)tct_value_set_code(&B->P->values, bits);
        break;
    case GPU_DICT16:
        ((uint16_t *)B->value)[at] = tct_value_set_code(&B->P->values, bits);
        break;
    case GPU_F48:
        bits = tct_gpu_round48(v);
        ((uint32_t *)B->value)[at] = (uint32_t)(bits >> 16);
        B->value_low[at] = (uint16_t)bits;
        break;
    }
}

/* The entries of lane `l` in block column `block`, into `cell`. */
static void put_block(const builder *B, const tct_view *v, int l, int64_t block,
                      int64_t cell, tct_cursors *c)
{
    const tct_local *A = B->M->slicing.A;
    const int b = B->M->slicing.b;
    for (int r = 0; r < b; r++) {
        const int64_t end = A->ptr[b * v->group[l] + r + 1], first = block * b;
        int64_t k = c->at[l][r];
        for (; k < end && A->col[k] < first + b; k++) {
            const int64_t column = cell * b + (A->col[k] - first);
            put(B, column * GPU_LANES * b + l * b + r, A->val[k]);
        }
        c->at[l][r] = k;
    }
}

static void fill_runs(const builder *B, const tct_gpu_slice *s,
                      const tct_view *v, tct_cursors *c)
{
    tct_column_run *run = (tct_column_run *)(void *)(B->index + s->index);
    tct_runs r;
    int64_t k = 0;
    tct_runs_open(&r, GPU_LANES);
    for (; tct_runs_next(&r, v, GPU_LANES, &run[k]); k++)
        for (int l = 0; l < GPU_LANES; l++)
            if (run[k].mask >> l & 1)
                put_block(B, v, l, run[k].base + l, s->cell + k, c);
    memset(run + k, 0, (size_t)tct_slice_padding(s));
}

static void fill_consts(const builder *B, const tct_gpu_slice *s,
                        const tct_view *v)
{
    const tct_local *A = B->M->slicing.A;
    tct_gpu_const *to = (tct_gpu_const *)(void *)(B->index + s->index);
    tct_runs r;
    tct_column_run run;
    tct_runs_open(&r, GPU_LANES);
    for (; tct_runs_next(&r, v, GPU_LANES, &run); to++) {
        const int l = tct_least_lane(run.mask);
        const int64_t k = A->ptr[v->group[l]] + r.at[l] - 1;
        *to = (tct_gpu_const){
            .base = run.base, .mask = run.mask, .value = A->val[k]};
    }
}

static void fill_columns(const builder *B, const tct_gpu_slice *s,
                         const tct_view *v, tct_cursors *c)
{
    uint16_t *near = (uint16_t *)(void *)(B->index + s->index);
    int32_t *far = (int32_t *)(void *)(B->index + s->index);
    for (int64_t k = 0; k < s->width; k++)
        for (int l = 0; l < GPU_LANES; l++) {
            const bool exists = k < v->length[l];
            const int32_t col = exists ? v->col[l][k] : s->base;
            if (s->kind == SLICE_NEAR)
                near[2 * (k / 2 * GPU_LANES + l) + k % 2] =
                    (uint16_t)(col - s->base);
            else far[GPU_LANES * k + l] = col;
            if (exists) put_block(B, v, l, col, s->cell + k, c);
        }
    if (s->kind == SLICE_NEAR && s->width % 2 != 0)
        for (int l = 0; l < GPU_LANES; l++)
            near[2 * (s->width / 2 * GPU_LANES + l) + 1] = 0;
}

static void fill_slice(const builder *B, const tct_gpu_slice *s,
                       const tct_view *v)
{
    tct_cursors c;
    if (s->kind == SLICE_CONST) {
        fill_consts(B, s, v);
        return;
    }
    const size_t each = (size_t)(GPU_LANES * B->M->slicing.b * B->M->slicing.b);
    const size_t from = (size_t)s->cell * each, n = s->width * each;
    const size_t size = (size_t)tct_gpu_value_bytes(B->M->store);
    memset((char *)B->value + from * size, 0, n * size); /* +0 everywhere */
    if (B->value_low) memset(B->value_low + from, 0, n * sizeof *B->value_low);
    tct_cursors_open(&c, B->M->slicing.A, B->M->slicing.b, v, GPU_LANES);
    if (s->kind == SLICE_RUN) fill_runs(B, s, v, &c);
    else fill_columns(B, s, v, &c);
}

/* The place of group `g` of a window in its slices: 32 slice + lane. */
static int32_t place_of(const builder *B, int64_t window, int g)
{
    const bool sorted = B->P->slice[GPU_WINDOW_SLICES * window].sorted;
    const uint8_t *order = B->P->order + GPU_WINDOW * window;
    int at = g;
    for (int i = 0; sorted && i < GPU_WINDOW; i++)
        if (order[i] == g) at = i;
    return (int32_t)(GPU_WINDOW * window + at);
}

static void fill_window(const builder *B, int64_t window, int32_t *scratch)
{
    const tct_slicing *S = &B->M->slicing;
    int64_t at = B->P->long_rows[window], entry = B->P->long_entries[window];
    int64_t place = at;
    tct_window w;
    tct_window_read(S, window, scratch, &w);
    const int slices = tct_window_slices(S, window);
    for (int n = 0; n < slices; n++) {
        const tct_gpu_slice *s = B->slice + GPU_WINDOW_SLICES * window + n;
        tct_view v;
        tct_view_open(&w, n,
                      s->sorted ? B->P->order + GPU_WINDOW * window : NULL,
                      GPU_LANES, &v);
        fill_slice(B, s, &v);
    }
    tct_window_copy_long(S, &w, &B->apart, &at, &entry);
    for (; place < at; place++)
        B->long_place[place] =
            place_of(B, window, (int)(B->apart.row[place] - w.first));
}

static void fill_range(void *work, int64_t from, int64_t to, void *scratch)
{
    for (int64_t i = from; i < to; i++) fill_window(work, i, scratch);
}

static tacit_status fill(builder *B)
{
    const size_t room = (size_t)tct_window_room(&B->M->slicing);
    if (!tct_parallel_with(B->P->count, WINDOWS, room * sizeof(int32_t),
                           fill_range, B))
        FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

/* --- layout --------------------------------------------------------------- */

static tacit_status allocate_long_rows(builder *B, tct_gpu_arrays *a)
{
    const tct_gpu_plan *P = B->P;
    const int64_t entries = P->long_entries[P->count];
    a->long_rows = P->long_rows[P->count];
    if (a->long_rows == 0) return TACIT_OK;
    TRY(TCT_ALLOC(a->long_rows, what, &B->apart.row));
    a->long_row = B->apart.row;
    TRY(TCT_ALLOC(a->long_rows, what, &B->long_place));
    a->long_place = B->long_place;
    TRY(TCT_ALLOC(a->long_rows + 1, what, &B->apart.ptr));
    a->long_ptr = B->apart.ptr;
    TRY(TCT_ALLOC(entries, what, &B->apart.col));
    a->long_col = B->apart.col;
    TRY(TCT_ALLOC(entries, what, &B->apart.val));
    a->long_val = B->apart.val;
    B->apart.ptr[a->long_rows] = entries;
    return TACIT_OK;
}

static tacit_status allocate(builder *B, tct_gpu_plan *P, tct_gpu_arrays *a)
{
    const tct_gpu_store store = B->M->store;
    const size_t size = (size_t)tct_gpu_value_bytes(store);
    TRY(TCT_ALLOC(a->slices, what, &B->slice));
    a->slice = B->slice;
    tct_gpu_lay_out(P->slice, B->slice, a);
    TRY(TCT_ALLOC(a->index_bytes, what, &B->index));
    a->index = B->index;
    const int64_t values = a->cells * a->b * a->b * GPU_LANES;
    TRY(tct_alloc_array((size_t)values, size, what, &B->value));
    a->value = B->value;
    if (store == GPU_F48) {
        TRY(TCT_ALLOC(values, what, &B->value_low));
        a->value_low = B->value_low;
    }
    if (store == GPU_DICT8 || store == GPU_DICT16) {
        double *dict = NULL;
        TRY(TCT_ALLOC(P->values.count, what, &dict));
        a->dict = dict;
        a->dict_count = P->values.count;
        TRY(tct_value_set_number(&P->values, dict));
    }
    return allocate_long_rows(B, a);
}

/* Move the plan's arrays to the matrix if it needs them. */
static void hand_over(tct_gpu_plan *P, tct_gpu_arrays *a)
{
    if (tct_gpu_plan_is_sorted(P->slice, a->slices)) {
        a->order = P->order;
        P->order = NULL;
    }
    if (tct_gpu_plan_is_ragged(P->slice, a->slices)) {
        a->length = P->length;
        P->length = NULL;
    }
}

typedef struct {
    const tct_gpu_arrays *a;
    tct_gpu_slice *slice;
    atomic_int_fast64_t joined, runs; /* slices */
} joining;

static void join_range(void *work, int64_t from, int64_t to)
{
    joining *j = work;
    int64_t joined = 0, runs = 0;
    for (int64_t n = from; n < to; n++) {
        tct_gpu_slice *s = &j->slice[n];
        runs += s->kind == SLICE_RUN || s->kind == SLICE_CONST;
        if (!tct_slice_joins(j->a->index, j->slice, j->a->groups, n)) continue;
        s->joined = 1;
        joined += GPU_JOIN;
    }
    atomic_fetch_add(&j->joined, joined);
    atomic_fetch_add(&j->runs, runs);
}

/* Mark the slices to be multiplied together, and choose a walk. */
static void join_slices(tct_gpu_arrays *a)
{
    joining j = {.a = a, .slice = (tct_gpu_slice *)(uintptr_t)a->slice};
    a->walk = GPU_ANY;
    if (a->b > 1) return;
    tct_parallel(a->slices, SLICES, join_range, &j);
    if (atomic_load(&j.runs) == a->slices)
        a->walk =
            2 * atomic_load(&j.joined) > a->slices ? GPU_JOINED : GPU_RUNS;
}

/* --- build ---------------------------------------------------------------- */

static tacit_status build(tct_gpu_maker *M, tct_gpu_plan *P, tct_gpu_arrays *a)
{
    TRY(tct_gpu_plan_make(M, P));
    const tct_slicing *S = &M->slicing;
    *a = (tct_gpu_arrays){.rows = S->A->rows,
                          .cols = S->A->cols,
                          .b = S->b,
                          .store = (int32_t)M->store,
                          .groups = S->groups,
                          .slices = S->slices};
    builder B = {.M = M, .P = P};
    TRY(allocate(&B, P, a));
    TRY(fill(&B));
    return tct_gpu_cut_long_rows(a);
}

tacit_status tct_gpu_slices_build(const tct_local *A, int b,
                                  tct_gpu_kinds kinds, const char *store,
                                  tct_gpu_arrays *host, tct_gpu_about *about)
{
    tct_gpu_maker M;
    *host = (tct_gpu_arrays){0};
    TRY(tct_gpu_maker_open(A, b, kinds, store, &M));
    tct_gpu_plan P = {.count = M.slicing.windows};
    const tacit_status status = build(&M, &P, host);
    if (status >= 0) {
        tct_gpu_tell(&M, &P, host, about);
        join_slices(host);
        hand_over(&P, host);
    } else {
        tct_gpu_slices_build_free(host);
    }
    tct_gpu_plan_clear(&P);
    return status;
}
