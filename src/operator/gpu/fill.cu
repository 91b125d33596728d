/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/fill.cu - converts rows in a GPU's memory to slices, and back: a
 * slice per warp, a row per lane. */
#include "device/gpu/epilogue.cuh"
#include "operator/gpu/fill.h"
#include "operator/layout/cells.h"

enum { THREADS = 256, WARPS = THREADS / GPU_WAVE };

/* The row of this lane in its warp's slice: none after the last. */
static __device__ inline int64_t row_of_lane(int64_t slice)
{
    return slice * GPU_WAVE + tct_lane();
}
static __device__ inline int64_t slice_of_warp()
{
    return (int64_t)blockIdx.x * WARPS + tct_warp();
}

static __global__ void __launch_bounds__(THREADS)
    survey(tct_device_rows A, int64_t slices, tct_slice_need *need,
           uint16_t *length)
{
    const int64_t s = slice_of_warp(), i = row_of_lane(s);
    if (s >= slices) return; /* the whole warp */
    const bool is = i < A.rows;
    const int64_t from = is ? A.ptr[i] : 0;
    const int32_t mine = is ? (int32_t)(A.ptr[i + 1] - from) : 0;
    int32_t most = mine, least = mine;
    int32_t base = mine > 0 ? A.col[from] : INT32_MAX;
    int32_t last = mine > 0 ? A.col[from + mine - 1] : 0;
    for (int d = GPU_WAVE / 2; d > 0; d /= 2) {
        most = max(most, tct_shuffle_across(most, d));
        least = min(least, tct_shuffle_across(least, d));
        base = min(base, tct_shuffle_across(base, d));
        last = max(last, tct_shuffle_across(last, d));
    }
    length[i] = (uint16_t)min(mine, UINT16_MAX);
    if (tct_lane() == 0) need[s] = {most, least, most > 0 ? base : 0, last};
}

/* Columns as in cells.h. */
template <class V>
static __global__ void __launch_bounds__(THREADS)
    fill(tct_device_rows A, tct_gpu_arrays d, uint8_t *index, V *value)
{
    const int64_t s = slice_of_warp(), i = row_of_lane(s);
    if (s >= d.slices) return;
    const int lane = tct_lane();
    const tct_gpu_slice slice = d.slice[s];
    uint16_t *near = (uint16_t *)(index + slice.index);
    int32_t *far = (int32_t *)(index + slice.index);
    const int64_t from = i < A.rows ? A.ptr[i] : 0;
    const int64_t mine = i < A.rows ? A.ptr[i + 1] - from : 0;
    for (int k = 0; k < slice.width; k++) {
        const int32_t column = k < mine ? A.col[from + k] : slice.base;
        if (slice.kind == SLICE_NEAR)
            near[2 * (k / 2 * GPU_WAVE + lane) + k % 2] =
                (uint16_t)(column - slice.base);
        else far[k * GPU_WAVE + lane] = column;
        value[(slice.cell + k) * GPU_WAVE + lane] =
            k < mine ? (V)A.val[from + k] : (V)0;
    }
    if (slice.kind == SLICE_NEAR && slice.width % 2 != 0)
        near[2 * (slice.width / 2 * GPU_WAVE + lane) + 1] = 0;
}

/* The values of a slice. */
static __global__ void __launch_bounds__(THREADS)
    round_slices(tct_gpu_arrays from, tct_gpu_arrays to)
{
    const int64_t s = slice_of_warp();
    if (s >= to.slices) return;
    const tct_gpu_slice slice = to.slice[s];
    const int64_t cell = (int64_t)to.b * to.b * GPU_WAVE;
    if (slice.kind == SLICE_CONST) {
        tct_gpu_const *same = (tct_gpu_const *)(to.index + slice.index);
        for (int k = tct_lane(); k < slice.width; k += GPU_WAVE)
            same[k].value = (double)(float)same[k].value;
        return;
    }
    const double *value = (const double *)from.value + slice.cell * cell;
    float *rounded = (float *)to.value + slice.cell * cell;
    for (int64_t k = tct_lane(); k < slice.width * cell; k += GPU_WAVE)
        rounded[k] = (float)value[k];
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

/* --- launches ------------------------------------------------------------- */

extern "C" void tct_gpu_survey_rows(tacit_queue *q, const tct_device_rows *rows,
                                    int64_t slices, tct_slice_need *need,
                                    uint16_t *length)
{
    tct_gpu_flush(q);
    survey<<<tct_blocks_for(slices, WARPS, INT32_MAX), THREADS, 0,
             tct_gpu_of(q)->stream>>>(*rows, slices, need, length);
    tct_gpu_ok(q, gpu_last_error(), "rows for slices");
}

extern "C" void tct_gpu_fill_slices(tacit_queue *q, const tct_device_rows *rows,
                                    const tct_gpu_arrays *d, uint8_t *index,
                                    void *value)
{
    const int blocks = tct_blocks_for(d->slices, WARPS, INT32_MAX);
    tct_gpu_flush(q);
    const gpu_stream stream = tct_gpu_of(q)->stream;
    if (d->store == GPU_F32)
        fill<<<blocks, THREADS, 0, stream>>>(*rows, *d, index, (float *)value);
    else
        fill<<<blocks, THREADS, 0, stream>>>(*rows, *d, index, (double *)value);
    tct_gpu_ok(q, gpu_last_error(), "filling slices");
}

extern "C" void tct_gpu_round_slices(tacit_queue *q, const tct_gpu_arrays *from,
                                     const tct_gpu_arrays *to)
{
    if (to->slices == 0) return;
    tct_gpu_flush(q);
    round_slices<<<tct_blocks_for(to->slices, WARPS, INT32_MAX), THREADS, 0,
                   tct_gpu_of(q)->stream>>>(*from, *to);
    tct_gpu_ok(q, gpu_last_error(), "rounding to floats");
}

extern "C" void tct_gpu_count_rows(tacit_queue *q, const tct_gpu_arrays *from,
                                   int32_t *count)
{
    tct_gpu_flush(q);
    count_rows<<<tct_blocks_for(from->slices, WARPS, INT32_MAX), THREADS, 0,
                 tct_gpu_of(q)->stream>>>(*from, count);
    tct_gpu_ok(q, gpu_last_error(), "counting rows");
}

extern "C" void tct_gpu_read_rows(tacit_queue *q, const tct_gpu_arrays *from,
                                  const int64_t *ptr, int32_t *col, double *val)
{
    tct_gpu_flush(q);
    read_rows<<<tct_blocks_for(from->slices, WARPS, INT32_MAX), THREADS, 0,
                tct_gpu_of(q)->stream>>>(*from, ptr, col, val);
    tct_gpu_ok(q, gpu_last_error(), "reading rows");
}
