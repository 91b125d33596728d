/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_compare.c - where the pattern that was built for a GPU
 * and a matrix with new values for it differ. The arrays are read in host
 * memory; a copy of them has been made if they are elsewhere. */
#include "operator/layout/slices_build.h"

/* Block column `k` of lane `l` of slice `s`; -1 if it has none there. */
static int32_t column_at(const tct_gpu_arrays *a, int64_t s, int l, int k)
{
    const tct_gpu_slice *slice = &a->slice[s];
    const void *index = a->index + slice->index;
    const tct_gpu_run *run = index;
    const tct_gpu_const *same = index;
    const uint16_t *near = index;
    const int32_t *far = index;
    const bool there =
        k < slice->full || (a->length && k < a->length[GPU_LANES * s + l]);
    switch ((tct_gpu_slice_kind)slice->kind) {
    case GPU_RUN: return run[k].mask >> l & 1 ? run[k].base + l : -1;
    case GPU_CONST: return same[k].mask >> l & 1 ? same[k].base + l : -1;
    case GPU_NEAR:
        if (!there) return -1;
        return slice->base + near[2 * (k / 2 * GPU_LANES + l) + k % 2];
    case GPU_FAR: return there ? far[GPU_LANES * k + l] : -1;
    }
    return -1;
}

static int64_t read_lane(const tct_gpu_arrays *a, int64_t s, int l,
                         int32_t *out)
{
    int64_t n = 0;
    for (int k = 0; k < a->slice[s].width; k++) {
        const int32_t col = column_at(a, s, l, k);
        if (col >= 0) out[n++] = col;
    }
    return n;
}

static int64_t group_of(const tct_gpu_arrays *a, int64_t s, int l)
{
    const int64_t at = GPU_LANES * s + l;
    return a->slice[s].sorted ? at / GPU_WINDOW * GPU_WINDOW + a->order[at]
                              : at;
}

/* The row kept apart that is group `g`, -1 if that is none. */
static int64_t find_long_row(const tct_gpu_arrays *a, int64_t g)
{
    int64_t low = 0, high = a->long_rows;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (a->long_row[mid] < g) low = mid + 1;
        else high = mid;
    }
    return low < a->long_rows && a->long_row[low] == g ? low : -1;
}

static tct_difference compare_slice(const tct_gpu_arrays *a, const tct_local *A,
                                    int64_t s, int32_t *stored,
                                    int32_t *scratch)
{
    tct_difference d = {.row = -1};
    for (int l = 0; l < GPU_LANES && d.row < 0; l++) {
        const int64_t g = group_of(a, s, l);
        if (g >= a->groups) continue;
        const int64_t n = read_lane(a, s, l, stored);
        const int64_t i = n > 0 ? -1 : find_long_row(a, g);
        d = i < 0 ? tct_compare_group(A, a->b, g, stored, n, scratch)
                  : tct_compare_group(A, a->b, g, a->long_col + a->long_ptr[i],
                                      a->long_ptr[i + 1] - a->long_ptr[i],
                                      scratch);
    }
    return d;
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
    for (int64_t s = 0; s < a->slices && out->row < 0; s++)
        *out = compare_slice(a, A, s, stored, stored + widest);
    tct_free(stored);
    return TACIT_OK;
}
