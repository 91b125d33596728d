/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/fill.cu - rows in a GPU's memory become slices, and slices rows: a
 * warp has a slice, a lane a row. */
#include "device/gpu/tail.cuh"
#include "operator/gpu/fill.h"
#include "operator/layout/cells.h"

enum { THREADS = 256, WARPS = THREADS / GPU_WAVE };

/* The row of this lane of the slice of this warp: none are behind the last. */
static __device__ inline int64_t row_of_lane(int64_t slice)
{
    return slice * GPU_WAVE + tct_lane();
}
static __device__ inline int64_t slice_of_warp()
{
    return (int64_t)blockIdx.x * WARPS + tct_warp();
}

static __global__ void __launch_bounds__(THREADS)
    survey(tct_rows_there A, int64_t slices, tct_slice_need *need,
           uint16_t *length)
{
    const int64_t s = slice_of_warp(), i = row_of_lane(s);
    if (s >= slices) return; /* all lanes */
    const bool is = i < A.rows;
    const int64_t from = is ? A.ptr[i] : 0;
    const int32_t mine = is ? (int32_t)(A.ptr[i + 1] - from) : 0;
    int32_t most = mine, least = mine;
    int32_t base = mine > 0 ? A.col[from] : INT32_MAX;
    for (int d = GPU_WAVE / 2; d > 0; d /= 2) {
        most = max(most, tct_shuffle_across(most, d));
        least = min(least, tct_shuffle_across(least, d));
        base = min(base, tct_shuffle_across(base, d));
    }
    length[i] = (uint16_t)min(mine, UINT16_MAX);
    if (tct_lane() == 0) need[s] = {most, least, most > 0 ? base : 0};
}

static __global__ void __launch_bounds__(THREADS)
    fill(tct_rows_there A, tct_gpu_arrays d, int32_t *index, double *value)
{
    const int64_t s = slice_of_warp(), i = row_of_lane(s);
    if (s >= d.slices) return;
    const tct_gpu_slice slice = d.slice[s];
    const int64_t from = i < A.rows ? A.ptr[i] : 0;
    const int64_t mine = i < A.rows ? A.ptr[i + 1] - from : 0;
    for (int k = 0; k < slice.width; k++) {
        const int64_t at = (slice.cell + k) * GPU_WAVE + tct_lane();
        index[at] = k < mine ? A.col[from + k] : slice.base;
        value[at] = k < mine ? A.val[from + k] : 0.0;
    }
}

static __global__ void __launch_bounds__(THREADS)
    count_rows(tct_gpu_arrays d, int32_t *count)
{
    const int64_t s = slice_of_warp();
    if (s < d.slices) tct_cell_count(&d, s, tct_lane(), count);
}

static __global__ void __launch_bounds__(THREADS)
    read_rows(tct_gpu_arrays d, const int64_t *ptr, int32_t *col, double *val)
{
    const int64_t s = slice_of_warp();
    if (s < d.slices) tct_cell_read(&d, s, tct_lane(), ptr, col, val);
}

/* --- launches ------------------------------------------------------------------- */

extern "C" void tct_gpu_survey_rows(tacit_queue *q, const tct_rows_there *rows,
                                    int64_t slices, tct_slice_need *need,
                                    uint16_t *length)
{
    tct_gpu_flush(q);
    survey<<<tct_grid(slices, WARPS, INT32_MAX), THREADS, 0,
             tct_gpu_of(q)->stream>>>(*rows, slices, need, length);
    tct_gpu_ok(q, gpu_last_error(), "rows for slices");
}

extern "C" void tct_gpu_fill_slices(tacit_queue *q, const tct_rows_there *rows,
                                    const tct_gpu_arrays *d, int32_t *index,
                                    double *value)
{
    tct_gpu_flush(q);
    fill<<<tct_grid(d->slices, WARPS, INT32_MAX), THREADS, 0,
           tct_gpu_of(q)->stream>>>(*rows, *d, index, value);
    tct_gpu_ok(q, gpu_last_error(), "filling slices");
}

extern "C" void tct_gpu_count_rows(tacit_queue *q, const tct_gpu_arrays *from,
                                   int32_t *count)
{
    tct_gpu_flush(q);
    count_rows<<<tct_grid(from->slices, WARPS, INT32_MAX), THREADS, 0,
                 tct_gpu_of(q)->stream>>>(*from, count);
    tct_gpu_ok(q, gpu_last_error(), "counting rows");
}

extern "C" void tct_gpu_read_rows(tacit_queue *q, const tct_gpu_arrays *from,
                                  const int64_t *ptr, int32_t *col, double *val)
{
    tct_gpu_flush(q);
    read_rows<<<tct_grid(from->slices, WARPS, INT32_MAX), THREADS, 0,
                tct_gpu_of(q)->stream>>>(*from, ptr, col, val);
    tct_gpu_ok(q, gpu_last_error(), "reading rows");
}
