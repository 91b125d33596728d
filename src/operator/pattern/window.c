/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/window.c - plan the slices of a window of groups: which rows are
 * kept apart, whether sorting by length pays, and how each slice stores its
 * columns. Costs are bytes, and what it takes to load x one by one in the
 * bytes that could be streamed meanwhile. */
#include "operator/host/slices_build.h"
#include <string.h>

enum {
    LONG_LEAST = 64,  /* shorter rows are never kept apart           */
    WIDTH_MOST = 8192 /* of a slice of rows; longer rows are kept apart */
};
static const double GATHER_COST = 32.0;  /* 8 elements of x, one by one   */
static const double SCATTER_COST = 48.0; /* rows of a slice in any order */
static const double SORT_PAYS = 0.97;    /* of the cost in row order     */

/* --- block columns ---------------------------------------------------------- */

int64_t tct_most_entries(const tct_local *A, int64_t size)
{
    int64_t most = 0;
    for (int64_t i = 0; i < A->rows; i += size) {
        const int64_t end = i + size < A->rows ? i + size : A->rows;
        if (A->ptr[end] - A->ptr[i] > most) most = A->ptr[end] - A->ptr[i];
    }
    return most;
}

int64_t tct_window_room(const tct_local *A, int b)
{
    return b > 1 ? tct_most_entries(A, (int64_t)b * tct_window_size(b)) : 0;
}

int32_t tct_merge_rows(const tct_local *A, int b, int64_t g, int32_t *col)
{
    int64_t at[BLOCK_MOST], end[BLOCK_MOST];
    for (int i = 0; i < b; i++) {
        at[i] = A->ptr[b * g + i];
        end[i] = A->ptr[b * g + i + 1];
    }
    for (int32_t n = 0;; n++) {
        int32_t least = INT32_MAX;
        for (int i = 0; i < b; i++)
            if (at[i] < end[i] && A->col[at[i]] < least) least = A->col[at[i]];
        if (least == INT32_MAX) return n;
        col[n] = least / b;
        const int64_t next = ((int64_t)col[n] + 1) * b;
        for (int i = 0; i < b; i++)
            while (at[i] < end[i] && A->col[at[i]] < next) at[i]++;
    }
}

/* Lengths, the longest first; equal ones in row order. */
static void sort_lengths(const tct_window *w, uint8_t *order)
{
    uint32_t key[WINDOW_MOST];
    for (int g = 0; g < w->groups; g++) { /* insertion: often nearly sorted */
        const uint32_t k = (uint32_t)w->length[g] << 8 | (uint32_t)(255 - g);
        int at = g;
        for (; at > 0 && key[at - 1] < k; at--) key[at] = key[at - 1];
        key[at] = k;
    }
    for (int g = 0; g < WINDOW_MOST; g++)
        order[g] = (uint8_t)(g < w->groups ? 255 - (int)(key[g] & 255) : g);
}

/* Rows so long that a slice of the longest would be half empty are kept apart,
 * until it is not. */
static void keep_apart(tct_window *w)
{
    uint8_t order[WINDOW_MOST];
    bool any = false;
    for (int g = 0; g < w->groups; g++) any = any || w->length[g] >= LONG_LEAST;
    if (!any) return;
    int32_t length[WINDOW_MOST];
    memcpy(length, w->length, sizeof length);
    for (int g = 0; g < w->groups; g++) /* as far as keys go */
        if (w->length[g] > WIDTH_MOST) w->length[g] = WIDTH_MOST + 1;
    sort_lengths(w, order);
    int apart = 0;
    for (; apart < w->groups; apart++) {
        const int32_t top = length[order[apart]];
        int64_t sum = 0;
        for (int l = apart; l < apart + LANES && l < w->groups; l++)
            sum += length[order[l]];
        if (top <= WIDTH_MOST && (top < LONG_LEAST || sum > LANES / 2 * top))
            break;
    }
    const int32_t cut = apart == 0          ? INT32_MAX
                        : apart < w->groups ? length[order[apart]]
                                            : 0;
    w->cut = cut;
    for (int g = 0; g < w->groups; g++)
        w->length[g] = length[g] > cut ? 0 : length[g];
}

void tct_window_read(const tct_local *A, int b, int64_t first, tct_window *w)
{
    const int64_t groups = A->rows / b;
    int32_t *free = w->scratch;
    w->first = first;
    const int64_t size = tct_window_size(b);
    w->groups = (int)(groups - first < size ? groups - first : size);
    w->cut = INT32_MAX;
    for (int g = 0; g < w->groups; g++) {
        const int64_t row = first + g;
        w->col[g] = b == 1 ? A->col + A->ptr[row] : free;
        if (b == 1) w->length[g] = (int32_t)(A->ptr[row + 1] - A->ptr[row]);
        else w->length[g] = tct_merge_rows(A, b, row, free);
        if (b > 1) free += w->length[g];
    }
    if (b == 1) keep_apart(w);
}

/* --- slices ----------------------------------------------------------------- */

bool tct_next_run(const int32_t *const *col, const int32_t *length, int32_t *at,
                  int32_t *base, unsigned *some)
{
    int32_t least = INT32_MAX, head[LANES];
    for (int l = 0; l < LANES; l++) {
        head[l] = at[l] < length[l] ? col[l][at[l]] - l : INT32_MAX;
        if (head[l] < least) least = head[l];
    }
    if (least == INT32_MAX) return false;
    *base = least;
    *some = 0;
    for (int l = 0; l < LANES; l++)
        if (head[l] == least) {
            *some |= 1u << l;
            at[l]++;
        }
    return true;
}

/* How many runs the lanes make: more than `most` if they are too many, or one
 * leaves the matrix. A run takes one column of a lane at most, so what is left
 * of the longest, lane `widest`, tells early. */
static int32_t count_runs(const int32_t *const *col, const int32_t *length,
                          int widest, int64_t block_cols, int32_t most)
{
    int32_t at[LANES] = {0}, base, n = 0;
    unsigned some;
    while (n + length[widest] - at[widest] <= most &&
           tct_next_run(col, length, at, &base, &some)) {
        if (base < 0 || base + LANES > block_cols) return most + 1;
        n++;
    }
    return n + length[widest] - at[widest];
}

/* The slice of `lanes` groups order[0], ...; returns its cost. */
static double plan_slice(const tct_window *w, const uint8_t *order, int lanes,
                         int64_t block_cols, double cell, int b, tct_slice *s)
{
    const int32_t *col[LANES];
    int32_t length[LANES] = {0}, width = 0, full = INT32_MAX;
    int32_t low = INT32_MAX, high = 0;
    int64_t entries = 0;
    int widest = 0;
    for (int l = 0; l < lanes; l++) {
        const int32_t n = w->length[order[l]];
        col[l] = w->col[order[l]];
        length[l] = n;
        entries += n;
        if (n > width) widest = l;
        if (n > width) width = n;
        if (n < full) full = n;
        if (n > 0 && col[l][0] < low) low = col[l][0];
        if (n > 0 && col[l][n - 1] > high) high = col[l][n - 1];
    }
    *s = (tct_slice){.base = width > 0 ? low : 0,
                     .width = (uint16_t)width,
                     .full = (uint16_t)full,
                     .kind = SLICE_NEAR};
    if (width > 0 && high - low > UINT16_MAX) s->kind = SLICE_FAR;
    const double gather = b * GATHER_COST;
    const double one = cell + tct_index_size((slice_kind)s->kind) + gather;
    const double cost = one * width;
    const double most = cost / (cell + 5.0);
    const int32_t runs =
        count_runs(col, length, widest, block_cols, (int32_t)most);
    if (width == 0 || runs > (int32_t)most) return cost;
    s->kind = SLICE_RUN;
    s->width = (uint16_t)runs;
    s->full = (uint16_t)(entries == (int64_t)lanes * runs ? runs : 0);
    return runs * (cell + 5.0);
}

static double plan_order(const tct_window *w, const uint8_t *order,
                         int64_t block_cols, double cell, int b, tct_slice *s)
{
    double cost = 0.0;
    for (int g = 0; g < w->groups; g += LANES) {
        const int lanes = w->groups - g < LANES ? w->groups - g : LANES;
        cost +=
            plan_slice(w, order + g, lanes, block_cols, cell, b, &s[g / LANES]);
    }
    return cost;
}

/* Cost if no lane were ever empty and no slice had runs. */
static double even_cost(const tct_window *w, double cell, int b)
{
    double blocks = 0.0;
    for (int g = 0; g < w->groups; g++) blocks += w->length[g];
    return blocks / LANES * (cell + 2.0 * LANES + b * GATHER_COST) +
           w->groups / LANES * SCATTER_COST;
}

double tct_window_plan(const tct_window *w, int b, int64_t block_cols,
                       double value_bytes, tct_slice_plan *out)
{
    const double cell = LANES * b * b * value_bytes;
    for (int g = 0; g < WINDOW_MOST; g++) out->order[g] = (uint8_t)g;
    const double cost =
        plan_order(w, out->order, block_cols, cell, b, out->slice);
    if (even_cost(w, cell, b) >= SORT_PAYS * cost) return cost;
    tct_slice_plan sorted;
    sort_lengths(w, sorted.order);
    const double other =
        plan_order(w, sorted.order, block_cols, cell, b, sorted.slice) +
        w->groups / LANES * SCATTER_COST;
    if (other >= SORT_PAYS * cost) return cost;
    for (int n = 0; n < WINDOW_MOST / LANES; n++) sorted.slice[n].sorted = true;
    *out = sorted;
    return other;
}
