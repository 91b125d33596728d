/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/pattern.c - compares the pattern of a block with that of a
 * matrix with new values for it: finds the first entry that only one has, and
 * words the error. */
#include "operator/pattern/slicing.h"

static const tct_difference none = {.row = -1};

/* The first entry of block column `col` in group `g` of `b` rows. */
static tct_difference entry_in(const tct_local *A, int b, int64_t g,
                               int32_t col)
{
    for (int64_t row = b * g; row < b * (g + 1); row++)
        for (int64_t k = A->ptr[row]; k < A->ptr[row + 1]; k++)
            if (A->col[k] / b == col)
                return (tct_difference){.row = row, .col = A->col[k]};
    return none;
}

tct_difference tct_compare_group(const tct_local *A, int b, int64_t g,
                                 const int32_t *stored, int64_t n,
                                 int32_t *scratch)
{
    const int32_t *now = b == 1 ? A->col + A->ptr[g] : scratch;
    const int64_t m =
        b == 1 ? A->ptr[g + 1] - A->ptr[g] : tct_merge_rows(A, b, g, scratch);
    int64_t k = 0;
    while (k < n && k < m && stored[k] == now[k]) k++;
    if (k == n && k == m) return none;
    if (k == n || (k < m && now[k] < stored[k]))
        return entry_in(A, b, g, now[k]);
    return (tct_difference){.row = b * g,
                            .col = (int64_t)b * stored[k],
                            .missing = true,
                            .dense = b > 1};
}

/* The row kept apart that is group `g`, -1 if none is. */
static int64_t find_long_row(const tct_stored_slice *s, int64_t g)
{
    int64_t low = 0, high = s->long_rows;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (s->long_row[mid] < g) low = mid + 1;
        else high = mid;
    }
    return low < s->long_rows && s->long_row[low] == g ? low : -1;
}

tct_difference tct_compare_slice(const tct_stored_slice *s, const tct_local *A,
                                 int32_t *stored, int32_t *scratch)
{
    tct_difference d = none;
    for (int l = 0; l < s->lanes && d.row < 0; l++) {
        const int64_t g = s->group(s->of, l);
        if (g < 0) continue;
        const int64_t n = s->read(s->of, l, stored);
        const int64_t i = n > 0 ? -1 : find_long_row(s, g);
        d = i < 0 ? tct_compare_group(A, s->b, g, stored, n, scratch)
                  : tct_compare_group(A, s->b, g, s->long_col + s->long_ptr[i],
                                      s->long_ptr[i + 1] - s->long_ptr[i],
                                      scratch);
    }
    return d;
}

tacit_status tct_pattern_changed(tct_difference where)
{
    FAIL(TACIT_INVALID,
         "the pattern of the matrix has changed: %srow %lld, column %lld "
         "was %s; create a new operator",
         where.dense ? "the dense block at " : "", (long long)where.row + 1,
         (long long)where.col + 1,
         where.missing ? "stored and is not now" : "not stored and is now");
}

tacit_status tct_pattern_differs(const tct_local *A, tct_difference where)
{
    if (A->differs) *A->differs = where;
    return tct_pattern_changed(where);
}

tacit_status tct_require_size(const tct_block *B, const tct_local *A)
{
    if (A->rows == B->rows && A->cols == B->cols) return TACIT_OK;
    FAIL(TACIT_INVALID, "the matrix was %lld x %lld and is %lld x %lld now",
         (long long)B->rows, (long long)B->cols, (long long)A->rows,
         (long long)A->cols);
}

tacit_status tct_require_row(const tct_local *A, int64_t i, const int64_t *ptr,
                             const int32_t *col)
{
    const tct_difference d =
        tct_compare_group(A, 1, i, col + ptr[i], ptr[i + 1] - ptr[i], NULL);
    return d.row < 0 ? TACIT_OK : tct_pattern_differs(A, d);
}
