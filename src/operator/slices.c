/* SPDX-License-Identifier: BSD-3-Clause
 * operator/slices.c - build sliced ELL: plan every slice (how wide, which kind
 * of columns, rows sorted or not), lay the arrays out, fill them. Threads
 * plan and fill whole windows, and touch their part of the arrays first. */
#include "operator/slices.h"
#include "operator/values.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    LONG_EXTRA = 32, /* a row is long above this + LONG_TIMES * the mean */
    LONG_TIMES = 4,
    RELEASE_AFTER = 1 << 20 /* bytes of consumed values */
};
#define WIDTH(n) ((uint32_t)(n)&UINT32_C(0x1fffffff)) /* of a slice */
static const double SORT_PAYS = 0.92; /* of the bytes in natural order */

typedef struct { /* what building needs besides the result */
    tct_local *A;
    tct_slices *S;
    double value_bytes;
    int64_t widest;   /* entries of the longest row */
    int32_t *scratch; /* [threads][b * widest] block columns of a group */
} builder;

/* --- block rows --------------------------------------------------------------- */

static int64_t row_length(const tct_local *A, int64_t i)
{
    return A->ptr[i + 1] - A->ptr[i];
}

/* Block columns of group `g`, ascending, into `cols`; their number. */
static int64_t group_columns(const tct_local *A, int b, int64_t g,
                             int32_t *cols)
{
    if (b == 1) {
        const int64_t n = row_length(A, g);
        if (n > 0) memcpy(cols, A->col + A->ptr[g], (size_t)n * sizeof *cols);
        return n;
    }
    int64_t at[BLOCK_MOST], n = 0;
    for (int i = 0; i < b; i++) at[i] = A->ptr[b * g + i];
    for (;; n++) {
        int32_t least = INT32_MAX;
        for (int i = 0; i < b; i++)
            if (at[i] < A->ptr[b * g + i + 1] && A->col[at[i]] / b < least)
                least = A->col[at[i]] / b;
        if (least == INT32_MAX) return n;
        cols[n] = least;
        for (int i = 0; i < b; i++)
            while (at[i] < A->ptr[b * g + i + 1] && A->col[at[i]] / b == least)
                at[i]++;
    }
}

double tct_slices_bytes(const tct_local *A, int b)
{
    enum { SAMPLES = 2048 };
    if (A->rows % b || A->cols % b || A->rows == 0) return -1.0;
    const int64_t groups = A->rows / b;
    const int64_t step = groups / SAMPLES + 1;
    int64_t widest = 0, entries = 0, blocks = 0;
    for (int64_t i = 0; i < A->rows; i++)
        if (row_length(A, i) > widest) widest = row_length(A, i);
    int32_t *cols = tct_alloc((size_t)(b * widest) * sizeof *cols);
    if (!cols) return -1.0;
    for (int64_t g = 0; g < groups; g += step) {
        blocks += group_columns(A, b, g, cols);
        entries += A->ptr[b * g + b] - A->ptr[b * g];
    }
    tct_free(cols);
    const double stored = (double)blocks * b * b;
    if (b > 1 && (double)entries < 0.6 * stored) return -1.0;
    const double per_entry =
        entries > 0 ? (8.0 + 2.0 / (b * b)) * stored / (double)entries : 0.0;
    return per_entry * (double)A->ptr[A->rows] + 3.0 / b * (double)A->rows;
}

/* --- plan ------------------------------------------------------------------------ */

typedef struct {
    int64_t
        length[WINDOW_MOST]; /* block columns of each group, 0 if kept apart */
    int64_t groups;
} window;

static bool is_long(const tct_slices *S, int64_t length, double mean)
{
    return S->b == 1 && (double)length > LONG_EXTRA + LONG_TIMES * mean;
}

static void measure_window(const builder *B, int64_t first, int32_t *scratch,
                           window *w)
{
    const tct_slices *S = B->S;
    w->groups = S->groups - first < S->window ? S->groups - first : S->window;
    double mean = 0.0;
    for (int64_t g = 0; g < w->groups; g++) {
        w->length[g] = S->b == 1
                           ? row_length(B->A, first + g)
                           : group_columns(B->A, S->b, first + g, scratch);
        mean += (double)w->length[g] / (double)w->groups;
    }
    for (int64_t g = 0; g < WINDOW_MOST; g++)
        if (g >= w->groups || is_long(S, w->length[g], mean)) w->length[g] = 0;
}

/* Rows 0 to 7 of a slice as runs: the distinct diagonals, ascending, into
 * `diagonal` [most]; their number, or -1 if there are more or one leaves the
 * matrix. */
static int64_t slice_diagonals(const tct_local *A, int64_t row, int64_t most,
                               int32_t *diagonal)
{
    int64_t at[LANES], n = 0;
    for (int l = 0; l < LANES; l++) at[l] = A->ptr[row + l];
    for (;; n++) {
        int64_t least = INT64_MAX;
        for (int l = 0; l < LANES; l++)
            if (at[l] < A->ptr[row + l + 1] && A->col[at[l]] - l < least)
                least = A->col[at[l]] - l;
        if (least == INT64_MAX) return n;
        if (n == most || least < 0 || least + LANES > A->cols) return -1;
        diagonal[n] = (int32_t)least;
        for (int l = 0; l < LANES; l++)
            if (at[l] < A->ptr[row + l + 1] && A->col[at[l]] - l == least)
                at[l]++;
    }
}

/* Width, kind and base of slice `s`, whose lanes are groups first + lane[l]
 * (-1: none). Returns its bytes. */
static double plan_slice(const builder *B, tct_slice *s, int64_t first,
                         const int *lane, const window *w, int32_t *scratch)
{
    const tct_slices *S = B->S;
    const double cell = LANES * S->b * S->b * B->value_bytes;
    int64_t width = 0;
    int32_t low = INT32_MAX, high = 0;
    bool whole = S->b == 1;
    for (int l = 0; l < LANES; l++) {
        const int64_t n = lane[l] < 0 ? 0 : w->length[lane[l]];
        whole = whole && lane[l] == lane[0] + l;
        if (n > width) width = n;
        if (n == 0) continue;
        const int64_t row = S->b * (first + lane[l]);
        for (int i = 0; i < S->b; i++) {
            if (row_length(B->A, row + i) == 0) continue;
            const int32_t a = B->A->col[B->A->ptr[row + i]] / S->b;
            const int32_t z = B->A->col[B->A->ptr[row + i + 1] - 1] / S->b;
            if (a < low) low = a;
            if (z > high) high = z;
        }
    }
    *s = (tct_slice){.base = width > 0 ? low : 0, .width = WIDTH(width)};
    s->kind = width == 0 || high - low <= UINT16_MAX ? SLICE_NEAR : SLICE_FAR;
    const double index = LANES * (s->kind == SLICE_NEAR ? 2.0 : 4.0);
    const double bytes = (double)width * (cell + index);
    if (!whole || width == 0) return bytes;
    for (int l = 0; l < LANES; l++) /* rows kept apart spoil a run */
        if (w->length[lane[l]] != row_length(B->A, first + lane[l]))
            return bytes;
    int64_t most = (int64_t)(bytes / (cell + 4.0));
    if (most > B->widest + LANES) most = B->widest + LANES; /* of scratch */
    const int64_t runs = slice_diagonals(B->A, first + lane[0], most, scratch);
    if (runs < 0) return bytes;
    s->kind = SLICE_RUN;
    s->width = WIDTH(runs);
    return (double)runs * (cell + 4.0);
}

static int descending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Groups of a window, the longest first; equal ones in their order. */
static void sort_window(const window *w, int *sorted)
{
    enum { BASE = 256 };
    int64_t key[WINDOW_MOST];
    for (int g = 0; g < w->groups; g++)
        key[g] = w->length[g] * BASE + (BASE - 1 - g);
    qsort(key, (size_t)w->groups, sizeof *key, descending);
    for (int g = 0; g < WINDOW_MOST; g++)
        sorted[g] = g < w->groups ? BASE - 1 - (int)(key[g] % BASE) : -1;
}

/* Bytes of a window without any padding. */
static double least_bytes(const builder *B, const window *w)
{
    double bytes = 0.0;
    for (int64_t g = 0; g < w->groups; g++)
        bytes +=
            (double)w->length[g] * (B->S->b * B->S->b * B->value_bytes + 2.0);
    return bytes;
}

static double plan_order(const builder *B, tct_slice *slice, int64_t first,
                         const int *order, const window *w, int32_t *scratch)
{
    double bytes = 0.0;
    for (int64_t n = 0; n < (w->groups + LANES - 1) / LANES; n++)
        bytes += plan_slice(B, &slice[n], first, order + LANES * n, w, scratch);
    return bytes;
}

/* Both orders of a window; the cheaper one stays. */
static void plan_window(const builder *B, int64_t number, int32_t *scratch)
{
    tct_slices *S = B->S;
    const int64_t first = number * S->window;
    window w;
    measure_window(B, first, scratch, &w);
    int natural[WINDOW_MOST], sorted[WINDOW_MOST];
    for (int g = 0; g < WINDOW_MOST; g++) natural[g] = g < w.groups ? g : -1;
    tct_slice trial[WINDOW_MOST / LANES];
    tct_slice *slice = S->slice + first / LANES;
    const double bytes = plan_order(B, slice, first, natural, &w, scratch);
    const int *order = natural;
    if (least_bytes(B, &w) < SORT_PAYS * bytes) {
        sort_window(&w, sorted);
        const double other = plan_order(B, trial, first, sorted, &w, scratch);
        if (other < SORT_PAYS * bytes) order = sorted;
    }
    for (int64_t n = 0; order == sorted && n < (w.groups + LANES - 1) / LANES;
         n++) {
        slice[n] = trial[n];
        slice[n].sorted = 1;
    }
    for (int g = 0; g < w.groups; g++) S->order[first + g] = (uint8_t)order[g];
}

static int64_t index_bytes(const tct_slice *s)
{
    static const int per_column[] = {
        [SLICE_RUN] = 4, [SLICE_NEAR] = 2 * LANES, [SLICE_FAR] = 4 * LANES};
    return (int64_t)s->width * per_column[s->kind];
}

/* --- fill ------------------------------------------------------------------------- */

/* Group (row of blocks) of lane `l` of slice `n`; -1 if there is none. */
static int64_t group_of(const tct_slices *S, int64_t n, int l)
{
    const int64_t at = LANES * n + l;
    if (at >= S->groups) return -1;
    return S->slice[n].sorted ? at / S->window * S->window + S->order[at] : at;
}

static void fill_run(const builder *B, int64_t n, int32_t *scratch)
{
    const tct_local *A = B->A;
    const tct_slice *s = &B->S->slice[n];
    const int64_t row = group_of(B->S, n, 0); /* the lanes follow it */
    int32_t *start = (int32_t *)(void *)(B->S->index + s->index);
    slice_diagonals(A, row, s->width, scratch);
    memcpy(start, scratch, s->width * sizeof *start);
    for (int l = 0; l < LANES; l++) {
        int64_t at = A->ptr[row + l];
        for (int64_t k = 0; k < s->width; k++) {
            const bool here =
                at < A->ptr[row + l + 1] && A->col[at] == start[k] + l;
            tct_value_put(B->S, s->value + LANES * k + l,
                          here ? A->val[at++] : 0.0);
        }
    }
}

static void put_column(const tct_slices *S, const tct_slice *s, int64_t at,
                       int32_t col)
{
    uint8_t *index = S->index + s->index;
    if (s->kind == SLICE_NEAR)
        ((uint16_t *)(void *)index)[at] = (uint16_t)(col - s->base);
    else ((int32_t *)(void *)index)[at] = col;
}

/* The b x b values of group `g` in block column `col`, through the cursors
 * `at` [b] of its rows. */
static void fill_block(const builder *B, const tct_slice *s, int64_t k, int l,
                       int64_t g, int32_t col, int64_t *at)
{
    const tct_local *A = B->A;
    const int b = B->S->b;
    int64_t to = s->value + k * LANES * b * b + l;
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++, to += LANES) {
            const bool here = g >= 0 && at[i] < A->ptr[b * g + i + 1] &&
                              A->col[at[i]] == b * col + j;
            tct_value_put(B->S, to, here ? A->val[at[i]++] : 0.0);
        }
}

static void fill_columns(const builder *B, int64_t n, int32_t *scratch)
{
    const tct_local *A = B->A;
    const tct_slices *S = B->S;
    const tct_slice *s = &S->slice[n];
    for (int l = 0; l < LANES; l++) {
        const int64_t g = group_of(S, n, l);
        int64_t at[BLOCK_MOST] = {0};
        int64_t columns = 0;
        if (g >= 0 && !(S->b == 1 && row_length(A, g) > s->width)) {
            columns = group_columns(A, S->b, g, scratch);
            for (int i = 0; i < S->b; i++) at[i] = A->ptr[S->b * g + i];
        }
        for (int64_t k = 0; k < s->width; k++) {
            const int32_t col = k < columns ? scratch[k] : s->base;
            put_column(S, s, LANES * k + l, col);
            fill_block(B, s, k, l, k < columns ? g : -1, col, at);
        }
    }
}

/* --- rows kept apart ---------------------------------------------------------------- */

/* A row is kept apart if its slice is narrower than it. */
static bool kept_apart(const tct_slices *S, const tct_local *A, int64_t n,
                       int l)
{
    const int64_t g = group_of(S, n, l);
    return g >= 0 && S->b == 1 && S->slice[n].kind != SLICE_RUN &&
           row_length(A, g) > S->slice[n].width;
}

static tacit_status keep_long_rows(builder *B)
{
    tct_slices *S = B->S;
    const tct_local *A = B->A;
    int64_t entries = 0;
    for (int64_t n = 0; n < S->slices; n++)
        for (int l = 0; l < LANES; l++)
            if (kept_apart(S, A, n, l)) {
                S->long_rows++;
                entries += row_length(A, group_of(S, n, l));
            }
    TRY(TCT_ALLOC(S->long_rows, "long rows", &S->long_row));
    TRY(TCT_ALLOC(S->long_rows + 1, "long rows", &S->long_ptr));
    TRY(TCT_ALLOC(entries, "long rows", &S->long_col));
    TRY(TCT_ALLOC(entries, "long rows", &S->long_val));
    int64_t r = 0, k = 0;
    S->long_ptr[0] = 0;
    for (int64_t n = 0; n < S->slices; n++)
        for (int l = 0; l < LANES; l++) {
            if (!kept_apart(S, A, n, l)) continue;
            const int64_t g = group_of(S, n, l);
            S->long_row[r++] = (int32_t)g;
            for (int64_t at = A->ptr[g]; at < A->ptr[g + 1]; at++, k++) {
                S->long_col[k] = A->col[at];
                S->long_val[k] = A->val[at];
            }
            S->long_ptr[r] = k;
        }
    return TACIT_OK;
}

/* --- build --------------------------------------------------------------------------- */

static uint64_t pattern_of(const tct_local *A)
{
    uint64_t sum = tct_mix((uint64_t)A->rows) + tct_mix((uint64_t)A->cols);
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int64_t i = 0; i < A->rows; i++) {
        uint64_t h = (uint64_t)i;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            h = h * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)A->col[k] + 1;
        sum += tct_mix(h);
    }
    return sum;
}

static int thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

static void plan(const builder *B)
{
    tct_slices *S = B->S;
    const int64_t windows = (S->groups + S->window - 1) / S->window;
#pragma omp parallel for schedule(static) num_threads(S->chunks.parts)
    for (int64_t w = 0; w < windows; w++)
        plan_window(B, w,
                    B->scratch + thread_number() * (S->b * B->widest + LANES));
}

/* Offsets of every slice. */
static void lay_out(tct_slices *S, int64_t *values, int64_t *bytes)
{
    int64_t v = 0, i = 0;
    for (int64_t n = 0; n < S->slices; n++) {
        S->slice[n].value = v;
        S->slice[n].index = i;
        v += (int64_t)S->slice[n].width * LANES * S->b * S->b;
        i += index_bytes(&S->slice[n]);
    }
    *values = v;
    *bytes = i;
}

/* Give the source back up to slice `n`, from where it was given back last. */
static void release(const builder *B, int64_t n, int64_t *from)
{
    const tct_local *A = B->A;
    int64_t row = B->S->b * LANES * n;
    if (row > A->rows) row = A->rows;
    const int64_t to = A->ptr[row];
    if ((to - *from) * (int64_t)sizeof(double) < RELEASE_AFTER) return;
    tct_release_pages(A->val + *from, (size_t)(to - *from) * sizeof *A->val);
    tct_release_pages(A->col + *from, (size_t)(to - *from) * sizeof *A->col);
    *from = to;
}

static void fill_part(const builder *B, int t)
{
    const tct_slices *S = B->S;
    int32_t *scratch = B->scratch + t * (S->b * B->widest + LANES);
    const int64_t per_chunk = CHUNK / (LANES * S->b);
    const int64_t from = S->chunks.split[t] * per_chunk;
    int64_t to = S->chunks.split[t + 1] * per_chunk;
    if (to > S->slices) to = S->slices;
    if (from >= to) return;
    int64_t given = B->A->ptr[S->b * LANES * from];
    for (int64_t n = from; n < to; n++) {
        if (B->A->owned && n % per_chunk == 0) release(B, n, &given);
        if (S->slice[n].kind == SLICE_RUN) fill_run(B, n, scratch);
        else fill_columns(B, n, scratch);
    }
}

static void describe(tct_slices *S)
{
    static const char *const store[] = {"double", "float (exact)",
                                        "dictionary of up to 16",
                                        "dictionary of up to 256"};
    double cells[3] = {0}, all = 0.0;
    int64_t sorted = 0;
    for (int64_t n = 0; n < S->slices; n++) {
        cells[S->slice[n].kind] += S->slice[n].width;
        all += S->slice[n].width;
        sorted += S->slice[n].sorted;
    }
    for (int k = 0; k < 3; k++) cells[k] *= all > 0 ? 100.0 / all : 0.0;
    snprintf(S->base.detail, sizeof S->base.detail,
             "%dx%d blocks, columns %.0f %% runs, %.0f %% 16-bit, %.0f %% "
             "32-bit; values %s; %.0f %% of slices sorted; %lld long rows",
             S->b, S->b, cells[SLICE_RUN], cells[SLICE_NEAR], cells[SLICE_FAR],
             store[S->kind],
             S->slices ? 100.0 * (double)sorted / (double)S->slices : 0.0,
             (long long)S->long_rows);
}

static tacit_status build(builder *B)
{
    tct_slices *S = B->S;
    TRY(TCT_ALLOC(S->slices, "slices", &S->slice));
    TRY(TCT_ALLOC(S->slices * LANES, "slices", &S->order));
    TRY(TCT_ALLOC(S->chunks.parts * (S->b * B->widest + LANES), "slices",
                  &B->scratch));
    plan(B);
    int64_t values = 0, bytes = 0;
    lay_out(S, &values, &bytes);
    TRY(tct_alloc_array((size_t)values, tct_value_size(S->kind),
                        "the matrix in slices", &S->value));
    TRY(TCT_ALLOC(bytes, "the matrix in slices", &S->index));
    TRY(keep_long_rows(B));
#pragma omp parallel for schedule(static, 1) num_threads(S->chunks.parts)
    for (int t = 0; t < S->chunks.parts; t++) fill_part(B, t);
    const double kept = (double)S->long_ptr[S->long_rows];
    S->base.stored = values + S->long_ptr[S->long_rows];
    S->base.matrix_bytes = (double)values * (double)tct_value_size(S->kind) +
                           (double)bytes + 12.0 * kept +
                           (double)S->slices * sizeof *S->slice;
    describe(S);
    return TACIT_OK;
}

tacit_status tct_slices_create(tct_local *A, int b, const tct_block_ops *ops,
                               int threads, tct_block **out)
{
    if (A->rows % b || A->cols % b)
        FAIL(TACIT_UNSUPPORTED, "%lld rows do not divide into blocks of %d",
             (long long)A->rows, b);
    tct_slices *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for the matrix in slices");
    S->base = (tct_block){.ops = ops,
                          .rows = A->rows,
                          .cols = A->cols,
                          .nonzeros = A->ptr[A->rows]};
    S->b = b;
    S->groups = A->rows / b;
    S->slices = (S->groups + LANES - 1) / LANES;
    S->window = CHUNK / b < WINDOW_MOST ? CHUNK / b : WINDOW_MOST;
    S->pattern = pattern_of(A);
    builder B = {.A = A, .S = S};
    for (int64_t i = 0; i < A->rows; i++)
        if (row_length(A, i) > B.widest) B.widest = row_length(A, i);
    tct_values_choose(A, S);
    B.value_bytes = (double)tct_value_size(S->kind);
    tacit_status status =
        tct_chunks_create(&S->chunks, A->rows, threads, A->ptr);
    if (status >= 0) status = build(&B);
    tct_free(B.scratch);
    if (status < 0) tct_slices_destroy(&S->base);
    else *out = &S->base;
    return status;
}

tacit_status tct_slices_refill(tct_block *block, const tct_local *A)
{
    tct_slices *S = (tct_slices *)(void *)block;
    if (A->rows != S->base.rows || pattern_of(A) != S->pattern)
        FAIL(TACIT_INVALID, "the pattern of the matrix has changed");
    tct_local source = *A;
    source.owned = false;
    tct_block *fresh = NULL;
    TRY(tct_slices_create(&source, S->b, S->base.ops, S->chunks.parts, &fresh));
    const tct_slices old = *S;
    *S = *(tct_slices *)(void *)fresh;
    *(tct_slices *)(void *)fresh = old;
    tct_slices_destroy(fresh);
    return TACIT_OK;
}

void tct_slices_destroy(tct_block *block)
{
    tct_slices *S = (tct_slices *)(void *)block;
    if (!S) return;
    tct_free(S->slice);
    tct_free(S->order);
    tct_free(S->value);
    tct_free(S->index);
    tct_chunks_clear(&S->chunks);
    tct_free(S->long_row);
    tct_free(S->long_ptr);
    tct_free(S->long_col);
    tct_free(S->long_val);
    tct_free(S);
}
