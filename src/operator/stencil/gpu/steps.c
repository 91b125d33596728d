/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/steps.c - the steps of device cuda. */
#include "device/gpu/gpu.h"
#include "operator/stencil/device_steps.h"
#include "operator/stencil/gpu/side_lane.h"

static const tct_step_kernels *kernels_of(bool single)
{
    return single ? &tct_step_kernels_float : &tct_step_kernels_double;
}

static void fill(tacit_queue *q, void *cells, int64_t count, bool single,
                 double value)
{
    kernels_of(single)->fill(q, cells, count, value);
}

static void step(tacit_queue *q, const tct_step_work *w)
{
    kernels_of(w->single)->step(q, w);
}

static void boxes(tacit_queue *q, const tct_step_work *w,
                  const tct_step_boxes *b)
{
    kernels_of(w->single)->boxes(q, w, b);
}

static void visit(tacit_queue *q, const tct_step_work *w, int depth)
{
    kernels_of(w->single)->visit(q, w, depth);
}

static const int *depths(const tct_grid_stencil *s, const char **reason)
{
    static const int flat[] = {16, 8, 4, 0}, solid[] = {4, 0}, box[] = {2, 0};
    const bool deep = s->shape == TCT_STAR2 && s->single; /* in registers */
    if (s->weights == TACIT_WEIGHTS_CELLS)
        *reason = "coefficients by cell are more bytes than a tile saves";
    else if (s->shape == TCT_BOX3) return box;
    else return s->shape == TCT_STAR3 ? solid : deep ? flat : flat + 1;
    return NULL;
}

static void change(tacit_queue *q, const tct_step_work *w, int64_t block,
                   double *changes)
{
    kernels_of(w->single)->change(q, w, block, changes);
}

static void copied(tacit_queue *q, gpu_error error)
{
    if (tct_gpu_ok(q, error, "copying cells"))
        tct_gpu_ok(q, gpu_stream_sync(tct_gpu_of(q)->stream), "copying cells");
}

static void put(tacit_queue *q, void *to, const void *from, size_t bytes)
{
    tct_gpu_flush(q);
    copied(q, gpu_memcpy_async(to, from, bytes, GPU_TO_DEVICE,
                               tct_gpu_of(q)->stream));
}

static void get(tacit_queue *q, void *to, const void *from, size_t bytes)
{
    tct_gpu_flush(q);
    copied(q, gpu_memcpy_async(to, from, bytes, GPU_TO_HOST,
                               tct_gpu_of(q)->stream));
}

#define COMMON                                                           \
    .fill = fill, .step = step, .boxes = boxes, .await = tct_step_await, \
    .visit = visit, .change = change, .put = put, .get = get,            \
    .lane_open = tct_lane_open, .lane_close = tct_lane_close,            \
    .lane_fork = tct_lane_fork, .lane_mark = tct_lane_mark,              \
    .lane_join = tct_lane_join, .lane_enter = tct_lane_enter,            \
    .lane_leave = tct_lane_leave

static const tct_device_steps steps = {COMMON, .depths = depths};

/* The same for a GPU whose blocks have too little shared memory for tiles of
 * three dimensions (gpu/tiles3.cuh). */
enum { SHARED_LEAST = 128 << 10 };

static const int *flat_depths(const tct_grid_stencil *s, const char **reason)
{
    if (s->shape < TCT_STAR3 || s->weights == TACIT_WEIGHTS_CELLS)
        return depths(s, reason);
    *reason = "tiles of three dimensions need 128 KiB of shared memory a block";
    return NULL;
}

static const tct_device_steps flat_steps = {COMMON, .depths = flat_depths};

const tct_device_steps *tct_device_steps_on(const tacit_queue *q)
{
    if (q->device->kind != TCT_KIND_GPU) return NULL;
    return tct_gpu_of(q)->shared_bytes < SHARED_LEAST ? &flat_steps : &steps;
}
