/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_build.c - build the arrays of layout.h in host
 * memory: plan every window, lay the arrays out, fill them. */
#include "operator/layout/slices_build.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct { /* what is being filled */
    const tct_gpu_maker *M;
    const tct_gpu_plan *P;
    uint8_t *index;
    void *value;
    uint16_t *value_low;
    int32_t *long_row, *long_place, *long_col;
    int64_t *long_ptr;
    double *long_val;
} builder;

static const char *const what = "the matrix in slices";

/* --- fill ------------------------------------------------------------------------- */

static void put(const builder *B, int64_t at, double v)
{
    switch (B->M->store) {
    case GPU_F64: ((double *)B->value)[at] = v; break;
    case GPU_F32: ((float *)B->value)[at] = (float)v; break;
    case GPU_DICT8:
        ((uint8_t *)B->value)[at] =
            (uint8_t)tct_gpu_values_code(&B->P->values, v);
        break;
    case GPU_DICT16:
        ((uint16_t *)B->value)[at] = tct_gpu_values_code(&B->P->values, v);
        break;
    case GPU_F48: {
        const uint64_t bits = tct_gpu_round48(v);
        ((uint32_t *)B->value)[at] = (uint32_t)(bits >> 16);
        B->value_low[at] = (uint16_t)bits;
        break;
    }
    }
}

/* The next entry of each row of a lane. */
typedef struct {
    int64_t at[GPU_LANES][GPU_BLOCK_MOST];
} cursors;

static void start(const builder *B, const tct_gpu_view *v, cursors *c)
{
    const int b = B->M->b;
    for (int l = 0; l < GPU_LANES; l++)
        for (int r = 0; r < b && v->group[l] >= 0; r++)
            c->at[l][r] = B->M->A->ptr[b * v->group[l] + r];
}

/* The entries of lane `l` in block column `block`, into `cell`. */
static void put_block(const builder *B, const tct_gpu_view *v, int l,
                      int64_t block, int64_t cell, cursors *c)
{
    const tct_local *A = B->M->A;
    const int b = B->M->b;
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
                      const tct_gpu_view *v, cursors *c)
{
    tct_gpu_run *run = (tct_gpu_run *)(void *)(B->index + s->index);
    tct_gpu_runs r;
    tct_gpu_runs_open(&r, v);
    for (int64_t k = 0; tct_gpu_runs_next(&r, &run[k]); k++)
        for (int l = 0; l < GPU_LANES; l++)
            if (run[k].mask >> l & 1)
                put_block(B, v, l, run[k].base + l, s->cell + k, c);
}

static void fill_consts(const builder *B, const tct_gpu_slice *s,
                        const tct_gpu_view *v)
{
    tct_gpu_const *to = (tct_gpu_const *)(void *)(B->index + s->index);
    tct_gpu_runs r;
    tct_gpu_run run;
    tct_gpu_runs_open(&r, v);
    for (; tct_gpu_runs_next(&r, &run); to++) {
        const int l = __builtin_ctz(run.mask);
        *to = (tct_gpu_const){run.base, run.mask, v->val[l][r.at[l] - 1]};
    }
}

static void fill_columns(const builder *B, const tct_gpu_slice *s,
                         const tct_gpu_view *v, cursors *c)
{
    uint16_t *near = (uint16_t *)(void *)(B->index + s->index);
    int32_t *far = (int32_t *)(void *)(B->index + s->index);
    for (int64_t k = 0; k < s->width; k++)
        for (int l = 0; l < GPU_LANES; l++) {
            const bool there = k < v->length[l];
            const int32_t col = there ? v->col[l][k] : s->base;
            if (s->kind == GPU_NEAR)
                near[2 * (k / 2 * GPU_LANES + l) + k % 2] =
                    (uint16_t)(col - s->base);
            else far[GPU_LANES * k + l] = col;
            if (there) put_block(B, v, l, col, s->cell + k, c);
        }
    if (s->kind == GPU_NEAR && s->width % 2 != 0)
        for (int l = 0; l < GPU_LANES; l++)
            near[2 * (s->width / 2 * GPU_LANES + l) + 1] = 0;
}

static void fill_slice(const builder *B, const tct_gpu_slice *s,
                       const tct_gpu_view *v)
{
    cursors c;
    if (s->kind == GPU_CONST) {
        fill_consts(B, s, v);
        return;
    }
    const size_t each = (size_t)(GPU_LANES * B->M->b * B->M->b);
    const size_t from = (size_t)s->cell * each, n = s->width * each;
    const size_t size = (size_t)tct_gpu_value_bytes(B->M->store);
    memset((char *)B->value + from * size, 0, n * size); /* +0 everywhere */
    if (B->value_low) memset(B->value_low + from, 0, n * sizeof *B->value_low);
    start(B, v, &c);
    if (s->kind == GPU_RUN) fill_runs(B, s, v, &c);
    else fill_columns(B, s, v, &c);
}

/* Where group `g` of a window is in its slices: 32 slice + lane. */
static int32_t place_of(const builder *B, int64_t window, int g)
{
    const bool sorted = B->P->slice[GPU_WINDOW_SLICES * window].sorted;
    const uint8_t *order = B->P->order + GPU_WINDOW * window;
    int at = g;
    for (int i = 0; sorted && i < GPU_WINDOW; i++)
        if (order[i] == g) at = i;
    return (int32_t)(GPU_WINDOW * window + at);
}

static void fill_long_rows(const builder *B, const tct_gpu_window *w,
                           int64_t window)
{
    const tct_local *A = B->M->A;
    int64_t at = B->P->long_rows[window], k = B->P->long_entries[window];
    for (int g = 0; g < w->groups && w->cut < INT32_MAX; g++) {
        const int64_t row = w->first + g, n = A->ptr[row + 1] - A->ptr[row];
        if (n <= w->cut) continue;
        B->long_row[at] = (int32_t)row;
        B->long_place[at] = place_of(B, window, g);
        B->long_ptr[at++] = k;
        memcpy(B->long_col + k, A->col + A->ptr[row], (size_t)n * 4);
        memcpy(B->long_val + k, A->val + A->ptr[row], (size_t)n * 8);
        k += n;
    }
}

static void fill_window(const builder *B, int64_t window, int32_t *scratch)
{
    tct_gpu_window w;
    tct_gpu_window_read(B->M, window, scratch, &w);
    const int slices = tct_gpu_window_slices(B->M, window);
    for (int n = 0; n < slices; n++) {
        const tct_gpu_slice *s = B->P->slice + GPU_WINDOW_SLICES * window + n;
        tct_gpu_view v;
        tct_gpu_view_open(B->M, &w, n,
                          s->sorted ? B->P->order + GPU_WINDOW * window : NULL,
                          &v);
        fill_slice(B, s, &v);
    }
    fill_long_rows(B, &w, window);
}

static tacit_status fill(const builder *B)
{
    const int64_t room = tct_gpu_window_room(B->M);
    bool failed = false;
#pragma omp parallel if (B->P->count > 16) reduction(|| : failed)
    {
        int32_t *scratch = tct_alloc((size_t)room * sizeof *scratch);
        failed = scratch == NULL;
#pragma omp for schedule(dynamic, 8)
        for (int64_t i = 0; i < B->P->count; i++)
            if (scratch) fill_window(B, i, scratch);
        tct_free(scratch);
    }
    if (failed) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

/* --- layout ----------------------------------------------------------------------- */

/* Offsets of slices. */
static void lay_out(const tct_gpu_maker *M, const tct_gpu_plan *P,
                    tct_gpu_arrays *a)
{
    for (int64_t n = 0; n < M->slices; n++) {
        tct_gpu_slice *s = &P->slice[n];
        const int64_t index =
            tct_gpu_index_bytes((tct_gpu_slice_kind)s->kind, s->width);
        s->cell = a->cells;
        s->index = a->index_bytes;
        if (s->kind != GPU_CONST) {
            a->cells += s->width;
            if (s->width > a->widest) a->widest = s->width;
        }
        a->index_bytes += (index + 15) / 16 * 16;
    }
}

static tacit_status allocate_long_rows(builder *B, tct_gpu_arrays *a)
{
    const tct_gpu_plan *P = B->P;
    const int64_t entries = P->long_entries[P->count];
    a->long_rows = P->long_rows[P->count];
    if (a->long_rows == 0) return TACIT_OK;
    TRY(TCT_ALLOC(a->long_rows, what, &B->long_row));
    a->long_row = B->long_row;
    TRY(TCT_ALLOC(a->long_rows, what, &B->long_place));
    a->long_place = B->long_place;
    TRY(TCT_ALLOC(a->long_rows + 1, what, &B->long_ptr));
    a->long_ptr = B->long_ptr;
    TRY(TCT_ALLOC(entries, what, &B->long_col));
    a->long_col = B->long_col;
    TRY(TCT_ALLOC(entries, what, &B->long_val));
    a->long_val = B->long_val;
    B->long_ptr[a->long_rows] = entries;
    return TACIT_OK;
}

static tacit_status allocate(builder *B, tct_gpu_plan *P, tct_gpu_arrays *a)
{
    const int64_t values = a->cells * a->b * a->b * GPU_LANES;
    const tct_gpu_store store = B->M->store;
    const size_t size = (size_t)tct_gpu_value_bytes(store);
    TRY(TCT_ALLOC(a->index_bytes, what, &B->index));
    a->index = B->index;
    TRY(tct_alloc_array((size_t)values, size, what, &B->value));
    a->value = B->value;
    if (store == GPU_F48) {
        TRY(TCT_ALLOC(values, what, &B->value_low));
        a->value_low = B->value_low;
    }
    if (store == GPU_DICT8 || store == GPU_DICT16) {
        double *dict = NULL;
        const tacit_status status = tct_gpu_values_number(&P->values, &dict);
        a->dict = dict;
        a->dict_count = P->values.count;
        TRY(status);
    }
    return allocate_long_rows(B, a);
}

/* Pieces of the rows that are kept apart. */
static tacit_status cut_long_rows(const builder *B, tct_gpu_arrays *a)
{
    int64_t *first, *of_row;
    int32_t *count;
    if (a->long_rows == 0) return TACIT_OK;
    TRY(TCT_ALLOC(a->long_rows + 1, what, &of_row));
    a->long_segment = of_row;
    of_row[0] = 0;
    for (int64_t i = 0; i < a->long_rows; i++) {
        const int64_t n = B->long_ptr[i + 1] - B->long_ptr[i];
        of_row[i + 1] = of_row[i] + (n + GPU_SEGMENT - 1) / GPU_SEGMENT;
    }
    a->segments = of_row[a->long_rows];
    TRY(TCT_ALLOC(a->segments, what, &first));
    a->segment_first = first;
    TRY(TCT_ALLOC(a->segments, what, &count));
    a->segment_count = count;
    for (int64_t i = 0; i < a->long_rows; i++)
        for (int64_t k = of_row[i]; k < of_row[i + 1]; k++) {
            first[k] = B->long_ptr[i] + (k - of_row[i]) * GPU_SEGMENT;
            const int64_t left = B->long_ptr[i + 1] - first[k];
            count[k] = (int32_t)(left < GPU_SEGMENT ? left : GPU_SEGMENT);
        }
    return TACIT_OK;
}

/* The plan's arrays become the matrix's where it needs them. */
static void hand_over(tct_gpu_plan *P, tct_gpu_arrays *a)
{
    bool sorted = false, ragged = false;
    for (int64_t n = 0; n < a->slices; n++) {
        const tct_gpu_slice *s = &P->slice[n];
        sorted = sorted || s->sorted;
        ragged = ragged || (s->kind >= GPU_NEAR && s->full < s->width);
    }
    a->slice = P->slice;
    P->slice = NULL;
    if (sorted) {
        a->order = P->order;
        P->order = NULL;
    }
    if (ragged) {
        a->length = P->length;
        P->length = NULL;
    }
}

/* Is `t` as `s`, the slice before, 32 columns on, and all of one value a run? */
static bool goes_on(const tct_gpu_arrays *a, const tct_gpu_slice *s,
                    const tct_gpu_slice *t)
{
    if (s->kind != GPU_CONST || t->kind != GPU_CONST || t->width != s->width ||
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

/* Do slice `n` and those behind it go on so? */
static bool can_join(const tct_gpu_arrays *a, const tct_gpu_slice *slice,
                     int64_t n)
{
    if (n % GPU_JOIN != 0 || (n + GPU_JOIN) * GPU_LANES > a->groups)
        return false;
    for (int i = 1; i < GPU_JOIN; i++)
        if (!goes_on(a, &slice[n + i - 1], &slice[n + i])) return false;
    return true;
}

/* Mark the slices that can be multiplied together, and choose a way. */
static void join_slices(tct_gpu_arrays *a, tct_gpu_slice *slice)
{
    int64_t joined = 0, runs = 0;
    a->way = GPU_ANY;
    if (a->b > 1) return;
#pragma omp parallel for schedule(static) reduction(+ : joined, runs) \
    if (a->slices > 1024)
    for (int64_t n = 0; n < a->slices; n++) {
        runs += slice[n].kind == GPU_RUN || slice[n].kind == GPU_CONST;
        if (can_join(a, slice, n)) {
            slice[n].joined = 1;
            joined += GPU_JOIN;
        }
    }
    if (runs == a->slices)
        a->way = 2 * joined > a->slices ? GPU_JOINED : GPU_RUNS;
}

/* --- about ------------------------------------------------------------------------- */

/* Goes on with `text` [size]; what does not fit is cut off. */
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

static void describe(const tct_gpu_maker *M, const tct_gpu_plan *P,
                     tct_gpu_about *about)
{
    static const char *const kinds[] = {
        [GPU_RUN] = "runs",
        [GPU_CONST] = "constant runs",
        [GPU_NEAR] = "16-bit offsets",
        [GPU_FAR] = "32-bit columns",
    };
    static const char *const stores[] = {
        [GPU_F64] = "doubles",
        [GPU_F32] = "exact floats",
        [GPU_DICT8] = "8-bit dictionary",
        [GPU_DICT16] = "16-bit dictionary",
        [GPU_F48] = "values rounded to 48 bits",
    };
    char *t = about->detail;
    const size_t size = sizeof about->detail;
    double columns[4] = {0.0}, all = 0.0, sorted = 0.0;
    for (int64_t n = 0; n < M->slices; n++) {
        columns[P->slice[n].kind] += P->slice[n].width;
        all += P->slice[n].width;
        sorted += P->slice[n].sorted ? 100.0 / (double)M->slices : 0.0;
    }
    *t = '\0';
    if (M->b == 1) say(t, size, "32-row slices:");
    else say(t, size, "slices of 32 %dx%d blocks:", M->b, M->b);
    for (int k = 0; k < 4; k++)
        if (columns[k] > 0.0)
            say(t, size, "%s %.3g %% %s", strchr(t, '%') ? "," : "",
                100.0 * columns[k] / all, kinds[k]);
    if (all == 0.0) say(t, size, " without entries");
    if (sorted > 0.0) say(t, size, ", %.3g %% sorted", sorted);
    const double nonzeros = (double)M->A->ptr[M->A->rows];
    if (nonzeros > 0.0)
        say(t, size, ", %.2g %% padding",
            100.0 * ((double)about->stored / nonzeros - 1.0));
    const bool floats = M->wish.low && M->store == GPU_F32;
    if (all > columns[GPU_CONST])
        say(t, size, ", %s",
            floats ? "values rounded to floats" : stores[M->store]);
    if (all > columns[GPU_CONST] && M->store >= GPU_DICT8 &&
        M->store <= GPU_DICT16)
        say(t, size, " of %lld values", (long long)P->values.count);
    if (P->long_rows[P->count] > 0)
        say(t, size, ", %lld long rows", (long long)P->long_rows[P->count]);
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

/* What solver/resident/cg.cu has. */
static bool has_kernel(const tct_gpu_maker *M)
{
    return M->store != GPU_DICT16 || M->b == 1 || M->b == 3;
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
    *about = (tct_gpu_about){
        .stored = values + P->const_entries + entries,
        .matrix_bytes = tct_gpu_plan_bytes(M, P) + long_bytes + dict,
        .lossy = M->wish.low,
        .kernels = a->long_rows > 0 ? 3 : 1,
        .persistent = longest(a) <= GPU_ROW_MOST && has_kernel(M)};
    about->bytes = (double)values * tct_gpu_store_bytes(M->store) +
                   (double)a->index_bytes + dict + long_bytes +
                   16.0 * (double)a->segments +
                   (4.0 + sizeof(tct_gpu_long)) * (double)a->long_rows +
                   (double)a->slices * (double)(sizeof *a->slice + 96);
    describe(M, P, about);
}

/* Row for row, a polynomial of its columns. */
uint64_t tct_gpu_pattern(const tct_local *A)
{
    uint64_t sum = tct_mix((uint64_t)A->cols);
#pragma omp parallel for schedule(static) reduction(+ : sum) \
    if (A->rows > 1 << 16)
    for (int64_t i = 0; i < A->rows; i++) {
        uint64_t row = (uint64_t)(A->ptr[i + 1] - A->ptr[i]);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            row = row * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)A->col[k];
        sum += tct_mix(row ^ tct_mix((uint64_t)i));
    }
    return sum;
}

/* --- build ------------------------------------------------------------------------- */

static tacit_status build(tct_gpu_maker *M, tct_gpu_plan *P, tct_gpu_arrays *a)
{
    TRY(tct_gpu_plan_make(M, P));
    *a = (tct_gpu_arrays){.rows = M->A->rows,
                          .cols = M->A->cols,
                          .b = M->b,
                          .store = (int32_t)M->store,
                          .groups = M->groups,
                          .slices = M->slices};
    lay_out(M, P, a);
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
    tct_gpu_plan P = {.count = M.windows};
    const tacit_status status = build(&M, &P, host);
    if (status >= 0) {
        tell(&M, &P, host, about);
        join_slices(host, P.slice);
        hand_over(&P, host);
    } else {
        tct_gpu_slices_build_free(host);
    }
    tct_gpu_plan_clear(&P);
    return status;
}

static void give_up(const void *p)
{
    tct_free((void *)(uintptr_t)p);
}

void tct_gpu_slices_build_free(tct_gpu_arrays *host)
{
    give_up(host->slice);
    give_up(host->index);
    give_up(host->value);
    give_up(host->value_low);
    give_up(host->dict);
    give_up(host->order);
    give_up(host->length);
    give_up(host->long_row);
    give_up(host->long_place);
    give_up(host->long_ptr);
    give_up(host->long_col);
    give_up(host->long_val);
    give_up(host->segment_first);
    give_up(host->segment_count);
    give_up(host->long_segment);
    *host = (tct_gpu_arrays){0};
}
