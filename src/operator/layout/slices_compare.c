/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_compare.c - the first difference between the pattern
 * of a GPU block and that of a matrix with new values for it. The arrays are in
 * host memory, copied to it if needed. */
#include "device/parallel.h"
#include "operator/layout/cells.h"
#include "operator/layout/slice_text.h"
#include "operator/layout/slices_build.h"

/* A slice, and its arrays. */
typedef struct {
    const tct_gpu_arrays *a;
    int64_t s;
} place;

static int64_t read_lane(const void *of, int l, int32_t *out)
{
    const place *p = of;
    int64_t n = 0;
    for (int k = 0; k < p->a->slice[p->s].width; k++) {
        const int32_t col = tct_cell_column(p->a, p->s, l, k);
        if (col >= 0) out[n++] = col;
    }
    return n;
}

static int64_t group_of(const void *of, int l)
{
    const place *p = of;
    return tct_cell_group(p->a, p->s, l);
}

tacit_status tct_gpu_slices_compare(const tct_gpu_arrays *a, const tct_local *A,
                                    tct_difference *out)
{
    int64_t widest = 0;
    for (int64_t s = 0; s < a->slices; s++)
        if (a->slice[s].width > widest) widest = a->slice[s].width;
    const int64_t room = a->b > 1 ? tct_most_entries(A, a->b) : 0;
    int32_t *stored = NULL;
    TRY(TCT_ALLOC(widest + room, "the pattern of the matrix", &stored));
    *out = (tct_difference){.row = -1};
    for (int64_t s = 0; s < a->slices && out->row < 0; s++) {
        const place p = {a, s};
        const tct_stored_slice slice = {.lanes = GPU_LANES,
                                        .b = a->b,
                                        .of = &p,
                                        .group = group_of,
                                        .read = read_lane,
                                        .long_rows = a->long_rows,
                                        .long_row = a->long_row,
                                        .long_ptr = a->long_ptr,
                                        .long_col = a->long_col};
        *out = tct_compare_slice(&slice, A, stored, stored + widest);
    }
    tct_free(stored);
    return TACIT_OK;
}

/* --- hash ----------------------------------------------------------------- */

static int64_t hash_rows(const void *work, int64_t from, int64_t to)
{
    const tct_local *A = work;
    uint64_t sum = 0;
    for (int64_t i = from; i < to; i++)
        sum += tct_slice_hash_row(A->ptr, A->col, i);
    return (int64_t)sum;
}

uint64_t tct_gpu_pattern(const tct_local *A)
{
    return tct_slice_hash(
        A->cols, (uint64_t)tct_parallel_sum(A->rows, 1 << 15, hash_rows, A));
}
