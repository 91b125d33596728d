/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_build.c - builds the arrays of layout.h in host
 * memory: plans every window, lays out the arrays, fills them. */
#include "operator/layout/slices_build.h"
#include "device/parallel.h"
#include "operator/pattern/view.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
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
    tct_runs_open(&r, GPU_LANES);
    for (int64_t k = 0; tct_runs_next(&r, v, GPU_LANES, &run[k]); k++)
        for (int l = 0; l < GPU_LANES; l++)
            if (run[k].mask >> l & 1)
                put_block(B, v, l, run[k].base + l, s->cell + k, c);
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

/* The slices of the plan in a GPU's form, with their offsets. */
static void lay_out(const builder *B, tct_gpu_arrays *a)
{
    for (int64_t n = 0; n < a->slices; n++) {
        const tct_slice *s = &B->P->slice[n];
        const tct_slice_kind kind = (tct_slice_kind)s->kind;
        B->slice[n] =
            (tct_gpu_slice){.cell = a->cells,
                            .index = a->index_bytes,
                            .base = s->base,
                            .width = s->width,
                            .full = kind >= SLICE_NEAR ? s->full : (uint16_t)0,
                            .kind = s->kind,
                            .sorted = s->sorted};
        if (kind != SLICE_CONST) {
            a->cells += s->width;
            if (s->width > a->widest) a->widest = s->width;
        }
        a->index_bytes += (tct_gpu_index_bytes(kind, s->width) + 15) / 16 * 16;
    }
}

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
    lay_out(B, a);
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

/* Segments of the rows kept apart. */
static tacit_status cut_long_rows(const builder *B, tct_gpu_arrays *a)
{
    int64_t *first, *of_row;
    int32_t *count;
    if (a->long_rows == 0) return TACIT_OK;
    TRY(TCT_ALLOC(a->long_rows + 1, what, &of_row));
    a->long_segment = of_row;
    of_row[0] = 0;
    for (int64_t i = 0; i < a->long_rows; i++) {
        const int64_t n = B->apart.ptr[i + 1] - B->apart.ptr[i];
        of_row[i + 1] = of_row[i] + (n + GPU_SEGMENT - 1) / GPU_SEGMENT;
    }
    a->segments = of_row[a->long_rows];
    TRY(TCT_ALLOC(a->segments, what, &first));
    a->segment_first = first;
    TRY(TCT_ALLOC(a->segments, what, &count));
    a->segment_count = count;
    for (int64_t i = 0; i < a->long_rows; i++)
        for (int64_t k = of_row[i]; k < of_row[i + 1]; k++) {
            first[k] = B->apart.ptr[i] + (k - of_row[i]) * GPU_SEGMENT;
            const int64_t left = B->apart.ptr[i + 1] - first[k];
            count[k] = (int32_t)(left < GPU_SEGMENT ? left : GPU_SEGMENT);
        }
    return TACIT_OK;
}

/* Move the plan's arrays to the matrix if it needs them. */
static void hand_over(tct_gpu_plan *P, tct_gpu_arrays *a)
{
    bool sorted = false, ragged = false;
    for (int64_t n = 0; n < a->slices; n++) {
        const tct_slice *s = &P->slice[n];
        sorted = sorted || s->sorted;
        ragged = ragged || (s->kind >= SLICE_NEAR && s->full < s->width);
    }
    if (sorted) {
        a->order = P->order;
        P->order = NULL;
    }
    if (ragged) {
        a->length = P->length;
        P->length = NULL;
    }
}

/* Has `t` the runs of `s`, the slice before, GPU_LANES columns on, each of one
 * value? */
static bool goes_on(const tct_gpu_arrays *a, const tct_gpu_slice *s,
                    const tct_gpu_slice *t)
{
    if (s->kind != SLICE_CONST || t->kind != SLICE_CONST ||
        t->width != s->width ||
        t->index != s->index + (int64_t)sizeof(tct_gpu_const) * s->width)
        return false;
    for (size_t k = 0; k < s->width; k++) {
        tct_gpu_const from, to;
        memcpy(&from, a->index + s->index + sizeof from * k, sizeof from);
        memcpy(&to, a->index + t->index + sizeof to * k, sizeof to);
        if (to.base != from.base + GPU_LANES ||
            memcmp(&from.value, &to.value, sizeof to.value) != 0)
            return false;
    }
    return true;
}

/* Can slice `n` and its successors be joined? */
static bool can_join(const tct_gpu_arrays *a, const tct_gpu_slice *slice,
                     int64_t n)
{
    if (n % GPU_JOIN != 0 || (n + GPU_JOIN) * GPU_LANES > a->groups)
        return false;
    for (int i = 1; i < GPU_JOIN; i++)
        if (!goes_on(a, &slice[n + i - 1], &slice[n + i])) return false;
    return true;
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
        if (!can_join(j->a, j->slice, n)) continue;
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

/* --- description ---------------------------------------------------------- */

/* Append to `text` [size]; text that does not fit is cut off. */
static void say(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t size, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list list;
    va_start(list, format);
    if (at < size) vsnprintf(text + at, size - at, format, list);
    va_end(list);
}

/* Describe it in a sentence. */
static void describe(tct_gpu_about *about)
{
    static const char *const kinds[] = {
        [SLICE_RUN] = "runs",
        [SLICE_CONST] = "constant runs",
        [SLICE_NEAR] = "16-bit offsets",
        [SLICE_FAR] = "32-bit columns",
    };
    static const char *const stores[] = {
        [GPU_F64] = "doubles",
        [GPU_F32] = "exact floats",
        [GPU_DICT8] = "8-bit dictionary",
        [GPU_DICT16] = "16-bit dictionary",
        [GPU_F48] = "values rounded to 48 bits",
    };
    const tct_slice_census *c = &about->slices;
    const bool cells = c->all > c->columns[SLICE_CONST];
    const char *comma = "";
    char *t = about->detail;
    const size_t size = sizeof about->detail;
    *t = '\0';
    if (about->b == 1) say(t, size, "32-row slices:");
    else say(t, size, "slices of 32 %dx%d blocks:", about->b, about->b);
    for (int k = 0; k < TCT_SLICE_KINDS; k++) {
        if (c->columns[k] == 0.0) continue;
        say(t, size, "%s %.3g %% %s", comma, 100.0 * c->columns[k] / c->all,
            kinds[k]);
        comma = ",";
    }
    if (c->all == 0.0) say(t, size, " without entries");
    if (c->sorted > 0.0) say(t, size, ", %.3g %% sorted", c->sorted);
    if (about->stored > 0) say(t, size, ", %.2g %% padding", about->padding);
    if (cells)
        say(t, size, ", %s",
            about->lossy && about->store == GPU_F32 ? "values rounded to floats"
                                                    : stores[about->store]);
    if (cells && about->different > 0)
        say(t, size, " of %lld values", (long long)about->different);
    if (about->long_rows > 0)
        say(t, size, ", %lld long rows", (long long)about->long_rows);
}

/* Entries of the longest row kept apart. */
static int64_t longest(const tct_gpu_arrays *a)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->long_rows; i++) {
        const int64_t n = a->long_ptr[i + 1] - a->long_ptr[i];
        most = n > most ? n : most;
    }
    return most;
}

/* Has cg a kernel for this store and block size? See
 * solver/resident/kernel_table.h. */
static bool has_kernel(const tct_gpu_maker *M)
{
    const int b = M->slicing.b;
    return M->store == GPU_F64 || b == 1 || (b == 3 && M->store != GPU_DICT16);
}

static void tell(const tct_gpu_maker *M, const tct_gpu_plan *P,
                 const tct_gpu_arrays *a, tct_gpu_about *about)
{
    const int64_t entries = P->long_entries[P->count];
    const int64_t values = a->cells * a->b * a->b * GPU_LANES;
    const double long_bytes = 12.0 * (double)entries +
                              20.0 * (double)a->long_rows +
                              12.0 * (double)a->segments;
    const double dict = 8.0 * (double)a->dict_count;
    const double nonzeros = (double)M->slicing.A->ptr[M->slicing.A->rows];
    *about = (tct_gpu_about){
        .stored = values + P->const_entries + entries,
        .matrix_bytes = tct_gpu_plan_bytes(M, P) + long_bytes + dict,
        .lossy = M->wish.low,
        .kernels = a->long_rows > 0 ? 3 : 1,
        .persistent = longest(a) <= GPU_ROW_MOST && has_kernel(M),
        .b = a->b,
        .store = M->store,
        .different = a->dict_count,
        .long_rows = a->long_rows,
        .slices = tct_slices_count(P->slice, a->slices)};
    about->packed =
        M->store != GPU_F64 || about->slices.columns[SLICE_CONST] > 0.0;
    if (nonzeros > 0.0)
        about->padding = 100.0 * ((double)about->stored / nonzeros - 1.0);
    about->bytes =
        (double)values * tct_gpu_store_bytes(M->store) +
        (double)a->index_bytes + dict + long_bytes +
        8.0 * GPU_PASS * (double)a->segments +
        (4.0 + sizeof(tct_gpu_long)) * (double)a->long_rows +
        (double)a->slices * (double)(sizeof *a->slice + 3 * GPU_LANES);
    describe(about);
}

/* A polynomial of its columns, row by row. */
static int64_t hash_rows(const void *work, int64_t from, int64_t to)
{
    const tct_local *A = work;
    uint64_t sum = 0;
    for (int64_t i = from; i < to; i++) {
        uint64_t row = (uint64_t)(A->ptr[i + 1] - A->ptr[i]);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            row = row * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)A->col[k];
        sum += tct_mix(row ^ tct_mix((uint64_t)i));
    }
    return (int64_t)sum;
}

uint64_t tct_gpu_pattern(const tct_local *A)
{
    return tct_mix((uint64_t)A->cols) +
           (uint64_t)tct_parallel_sum(A->rows, 1 << 15, hash_rows, A);
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
    return cut_long_rows(&B, a);
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
        tell(&M, &P, host, about);
        join_slices(host);
        hand_over(&P, host);
    } else {
        tct_gpu_slices_build_free(host);
    }
    tct_gpu_plan_clear(&P);
    return status;
}

void tct_gpu_list(const tct_gpu_arrays *a, int64_t entries,
                  tct_gpu_array out[TCT_GPU_ARRAYS])
{
#define ARRAY(name, count, size)                                          \
    {                                                                     \
        a->name, (size_t)(count) * (size), offsetof(tct_gpu_arrays, name) \
    }
    const size_t values = (size_t)(a->cells * a->b * a->b * GPU_LANES);
    const size_t lanes = (size_t)a->slices * GPU_LANES;
    const tct_gpu_store store = (tct_gpu_store)a->store;
    const size_t rows = (size_t)a->long_rows, segments = (size_t)a->segments;
    const tct_gpu_array all[TCT_GPU_ARRAYS] = {
        ARRAY(slice, a->slices, sizeof *a->slice),
        ARRAY(index, a->index_bytes, 1),
        ARRAY(value, values, (size_t)tct_gpu_value_bytes(store)),
        ARRAY(value_low, values, sizeof *a->value_low),
        ARRAY(dict, a->dict_count, sizeof *a->dict),
        ARRAY(order, lanes, sizeof *a->order),
        ARRAY(length, lanes, sizeof *a->length),
        ARRAY(long_row, rows, sizeof *a->long_row),
        ARRAY(long_place, rows, sizeof *a->long_place),
        ARRAY(long_ptr, rows + 1, sizeof *a->long_ptr),
        ARRAY(long_col, entries, sizeof *a->long_col),
        ARRAY(long_val, entries, sizeof *a->long_val),
        ARRAY(segment_first, segments, sizeof *a->segment_first),
        ARRAY(segment_count, segments, sizeof *a->segment_count),
        ARRAY(long_segment, rows + 1, sizeof *a->long_segment),
    };
#undef ARRAY
    memcpy(out, all, sizeof all);
}

void tct_gpu_slices_build_free(tct_gpu_arrays *host)
{
    tct_gpu_array all[TCT_GPU_ARRAYS];
    tct_gpu_list(host, 0, all);
    for (int i = 0; i < TCT_GPU_ARRAYS; i++)
        tct_free((void *)(uintptr_t)all[i].p);
    *host = (tct_gpu_arrays){0};
}
