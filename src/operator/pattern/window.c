/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/window.c - windows of groups: their contents, the order of
 * their lengths, and rows kept apart. */
#include "operator/pattern/view.h"
#include <string.h>

tct_slicing tct_slicing_of(const tct_slicing_rules *rules, const tct_local *A,
                           int b)
{
    const int window =
        rules->rows / b < rules->window ? rules->rows / b : rules->window;
    const int64_t groups = A->rows / b;
    return (tct_slicing){.rules = rules,
                         .A = A,
                         .b = b,
                         .window = window,
                         .groups = groups,
                         .slices = (groups + rules->lanes - 1) / rules->lanes,
                         .windows = (groups + window - 1) / window};
}

void tct_slicing_values(tct_slicing *S, double bytes)
{
    S->cell = S->rules->lanes * S->b * S->b * bytes;
}

int tct_window_slices(const tct_slicing *S, int64_t window)
{
    const int64_t all = S->window / S->rules->lanes;
    const int64_t left = S->slices - window * all;
    return (int)(left < all ? left : all);
}

int64_t tct_slicing_sample(const tct_slicing *S, int64_t step, bool spread,
                           int64_t *window)
{
    int64_t n = 0;
    for (int64_t i = 0; i * step < S->windows; i++) {
        const uint64_t part =
            spread ? tct_mix((uint64_t)i) % (uint64_t)step : 0;
        const int64_t at = i * step + (int64_t)part;
        if (at < S->windows) window[n++] = at;
    }
    return n;
}

int tct_best_block(const tct_local *A, double *least,
                   double (*bytes)(const tct_local *A, int b))
{
    int best = 0;
    for (int b = 2; b <= TCT_BLOCK_MOST; b++) {
        const double size = bytes(A, b);
        if (size < 0.0 || (*least >= 0.0 && size >= *least)) continue;
        *least = size;
        best = b;
    }
    return best;
}

/* --- block columns -------------------------------------------------------- */

int64_t tct_most_entries(const tct_local *A, int64_t size)
{
    int64_t most = 0;
    for (int64_t i = 0; i < A->rows; i += size) {
        const int64_t end = i + size < A->rows ? i + size : A->rows;
        if (A->ptr[end] - A->ptr[i] > most) most = A->ptr[end] - A->ptr[i];
    }
    return most;
}

/* The block columns of one row of `n` columns; full blocks are passed at
 * once. */
TCT_LANEWISE int32_t blocks_of_row(const int32_t *from, int64_t n, int b,
                                   int32_t *col)
{
    int32_t count = 0;
    for (int64_t e = 0; e < n;) {
        const int32_t block = from[e] / b;
        const int64_t next = ((int64_t)block + 1) * b;
        col[count++] = block;
        if (e + b <= n && from[e + b - 1] == next - 1 && from[e] == next - b) {
            e += b;
            continue;
        }
        while (e < n && from[e] < next) e++;
    }
    return count;
}

/* Have rows `row` and the `b` - 1 after it the same columns? */
static bool are_alike(const tct_local *A, int64_t row, int b)
{
    const int64_t *ptr = A->ptr + row, n = ptr[1] - ptr[0];
    const size_t bytes = (size_t)n * sizeof *A->col;
    for (int i = 1; i < b; i++) {
        if (ptr[i + 1] - ptr[i] != n) return false;
        if (n > 0 && memcmp(A->col + ptr[0], A->col + ptr[i], bytes) != 0)
            return false;
    }
    return true;
}

TCT_LANEWISE int32_t merge(const tct_local *A, int b, int64_t g, int32_t *col)
{
    int64_t at[TCT_BLOCK_MOST], end[TCT_BLOCK_MOST];
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

TCT_LANEWISE int32_t merge_rows(const tct_local *A, int b, int64_t g,
                                int32_t *col)
{
    const int64_t *ptr = A->ptr + b * g;
    if (!are_alike(A, b * g, b)) return merge(A, b, g, col);
    return blocks_of_row(A->col + ptr[0], ptr[1] - ptr[0], b, col);
}

/* Common sizes are constants of their loops. */
int32_t tct_merge_rows(const tct_local *A, int b, int64_t g, int32_t *col)
{
    switch (b) {
    case 2: return merge_rows(A, 2, g, col);
    case 3: return merge_rows(A, 3, g, col);
    case 4: return merge_rows(A, 4, g, col);
    default: return merge_rows(A, b, g, col);
    }
}

int64_t tct_window_room(const tct_slicing *S)
{
    return S->b > 1 ? tct_most_entries(S->A, (int64_t)S->b * S->window) : 0;
}

void tct_window_read(const tct_slicing *S, int64_t window, int32_t *scratch,
                     tct_window *w)
{
    const tct_local *A = S->A;
    w->first = window * S->window;
    const int64_t left = S->groups - w->first;
    w->groups = (int)(left < S->window ? left : S->window);
    w->cut = INT32_MAX;
    for (int g = 0; g < w->groups; g++) {
        const int64_t group = w->first + g;
        if (S->b == 1) {
            w->col[g] = A->col + A->ptr[group];
            w->length[g] = (int32_t)(A->ptr[group + 1] - A->ptr[group]);
        } else {
            w->col[g] = scratch;
            w->length[g] = tct_merge_rows(A, S->b, group, scratch);
            scratch += w->length[g];
        }
    }
    if (S->b == 1) S->rules->keep_apart(w);
}

/* --- order ---------------------------------------------------------------- */

void tct_window_sort(const tct_window *w, uint8_t order[TCT_WINDOW_MOST])
{
    uint8_t other[TCT_WINDOW_MOST];
    uint16_t key[TCT_WINDOW_MOST];
    for (int g = 0; g < TCT_WINDOW_MOST; g++) {
        const int32_t n = g < w->groups ? w->length[g] : 0;
        key[g] = (uint16_t)(UINT16_MAX - (n < UINT16_MAX ? n : UINT16_MAX));
        order[g] = (uint8_t)g;
    }
    for (int shift = 0; shift < 16; shift += 8) { /* byte by byte */
        const uint8_t *from = shift ? other : order;
        uint8_t *to = shift ? order : other;
        int at[257] = {0};
        for (int g = 0; g < TCT_WINDOW_MOST; g++)
            at[(key[g] >> shift & 255) + 1]++;
        for (int k = 0; k < 256; k++) at[k + 1] += at[k];
        for (int g = 0; g < TCT_WINDOW_MOST; g++)
            to[at[key[from[g]] >> shift & 255]++] = from[g];
    }
}

/* --- rows kept apart ------------------------------------------------------ */

/* Entries of row `g` of the window if it is kept apart, else 0. */
static int64_t long_entries(const tct_slicing *S, const tct_window *w, int g)
{
    const int64_t *ptr = S->A->ptr + w->first + g;
    return ptr[1] - ptr[0] > w->cut ? ptr[1] - ptr[0] : 0;
}

int64_t tct_window_long(const tct_slicing *S, const tct_window *w,
                        int64_t *entries)
{
    int64_t rows = 0;
    *entries = 0;
    for (int g = 0; g < w->groups && w->cut < INT32_MAX; g++) {
        const int64_t n = long_entries(S, w, g);
        rows += n > 0;
        *entries += n;
    }
    return rows;
}

void tct_window_copy_long(const tct_slicing *S, const tct_window *w,
                          const tct_rows_apart *to, int64_t *at, int64_t *entry)
{
    const tct_local *A = S->A;
    for (int g = 0; g < w->groups && w->cut < INT32_MAX; g++) {
        const int64_t row = w->first + g, n = long_entries(S, w, g);
        if (n == 0) continue;
        to->row[*at] = (int32_t)row;
        to->ptr[(*at)++] = *entry;
        memcpy(to->col + *entry, A->col + A->ptr[row],
               (size_t)n * sizeof *A->col);
        memcpy(to->val + *entry, A->val + A->ptr[row],
               (size_t)n * sizeof *A->val);
        *entry += n;
    }
}
