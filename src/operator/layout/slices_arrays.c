/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_arrays.c - the arrays of layout.h in host memory: the
 * places of slices, segments of rows kept apart, a list of all arrays. */
#include "operator/layout/slices_build.h"
#include <string.h>

static const char *const what = "the matrix in slices";

void tct_gpu_lay_out(const tct_slice *plan, tct_gpu_slice *slice,
                     tct_gpu_arrays *a)
{
    for (int64_t n = 0; n < a->slices; n++) {
        const tct_slice *s = &plan[n];
        const tct_slice_kind kind = (tct_slice_kind)s->kind;
        slice[n] =
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

tacit_status tct_gpu_cut_long_rows(tct_gpu_arrays *a)
{
    int64_t *first, *of_row;
    int32_t *count;
    if (a->long_rows == 0) return TACIT_OK;
    TRY(TCT_ALLOC(a->long_rows + 1, what, &of_row));
    a->long_segment = of_row;
    of_row[0] = 0;
    for (int64_t i = 0; i < a->long_rows; i++) {
        const int64_t n = a->long_ptr[i + 1] - a->long_ptr[i];
        of_row[i + 1] = of_row[i] + (n + GPU_SEGMENT - 1) / GPU_SEGMENT;
    }
    a->segments = of_row[a->long_rows];
    TRY(TCT_ALLOC(a->segments, what, &first));
    a->segment_first = first;
    TRY(TCT_ALLOC(a->segments, what, &count));
    a->segment_count = count;
    for (int64_t i = 0; i < a->long_rows; i++)
        for (int64_t k = of_row[i]; k < of_row[i + 1]; k++) {
            first[k] = a->long_ptr[i] + (k - of_row[i]) * GPU_SEGMENT;
            const int64_t left = a->long_ptr[i + 1] - first[k];
            count[k] = (int32_t)(left < GPU_SEGMENT ? left : GPU_SEGMENT);
        }
    return TACIT_OK;
}

bool tct_gpu_plan_is_sorted(const tct_slice *plan, int64_t slices)
{
    for (int64_t n = 0; n < slices; n++)
        if (plan[n].sorted) return true;
    return false;
}

bool tct_gpu_plan_is_ragged(const tct_slice *plan, int64_t slices)
{
    for (int64_t n = 0; n < slices; n++)
        if (plan[n].kind >= SLICE_NEAR && plan[n].full < plan[n].width)
            return true;
    return false;
}

/* --- lists ---------------------------------------------------------------- */

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
