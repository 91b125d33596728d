/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/store.cu - runs the tasks of operator/layout/store_tasks.h, a
 * warp for each index. No warp waits for another. */
#include "device/gpu/epilogue.cuh"
#include "operator/gpu/store.h"

enum { THREADS = 128, WARPS = THREADS / GPU_WAVE };

/* ROWS: b is 1, so that a lane has one row and keeps its place in registers. */
template <bool ROWS>
static __global__ void __launch_bounds__(THREADS)
    plan(const __grid_constant__ tct_store_work g, tct_store_task task,
         int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * WARPS + tct_warp();
    const int b = ROWS ? 1 : g.slicing.b;
    if (i >= n) return; /* the whole warp */
    if (task == TCT_STORE_count) tct_store_task_count(&g, i, b);
    else tct_store_task_plan(&g, i, b);
}

template <bool ROWS>
static __global__ void __launch_bounds__(THREADS)
    fill(const __grid_constant__ tct_store_work g, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * WARPS + tct_warp();
    if (i < n) tct_store_task_fill(&g, i, ROWS ? 1 : g.slicing.b);
}

/* The others, which are short, are one kernel: it is loaded on first use. */
static __global__ void __launch_bounds__(THREADS)
    do_task(const __grid_constant__ tct_store_work g, tct_store_task task,
            int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * WARPS + tct_warp();
    if (i >= n) return;
    switch (task) {
    case TCT_STORE_values: tct_store_task_values(&g, i, 1); break;
    case TCT_STORE_cells: tct_store_task_cells(&g, i, 1); break;
    case TCT_STORE_list: tct_store_task_list(&g, i, 1); break;
    case TCT_STORE_number: tct_store_task_number(&g, i, 1); break;
    case TCT_STORE_join: tct_store_task_join(&g, i, 1); break;
    case TCT_STORE_long_rows: tct_store_task_long_rows(&g, i, 1); break;
    case TCT_STORE_segment: tct_store_task_segment(&g, i, 1); break;
    case TCT_STORE_hash: tct_store_task_hash(&g, i, 1); break;
    case TCT_STORE_look: tct_store_task_look(&g, i, 1); break;
    case TCT_STORE_aim: tct_store_task_aim(&g, i, 1); break;
    case TCT_STORE_jump: tct_store_task_jump(&g, i, 1); break;
    case TCT_STORE_cell: tct_store_task_cell(&g, i, 1); break;
    case TCT_STORE_ground: tct_store_task_ground(&g, i, 1); break;
    default: break;
    }
}

extern "C" void tct_gpu_store_each(tacit_queue *q, tct_store_task task,
                                   int64_t n, const tct_store_work *g)
{
    const int blocks = tct_blocks_for(n, WARPS, INT32_MAX);
    const bool rows = g->slicing.b == 1;
    tct_gpu_flush(q);
    const gpu_stream stream = tct_gpu_of(q)->stream;
    if (task == TCT_STORE_count || task == TCT_STORE_plan) {
        if (rows) plan<true><<<blocks, THREADS, 0, stream>>>(*g, task, n);
        else plan<false><<<blocks, THREADS, 0, stream>>>(*g, task, n);
    } else if (task == TCT_STORE_fill) {
        if (rows) fill<true><<<blocks, THREADS, 0, stream>>>(*g, n);
        else fill<false><<<blocks, THREADS, 0, stream>>>(*g, n);
    } else {
        do_task<<<blocks, THREADS, 0, stream>>>(*g, task, n);
    }
    tct_gpu_ok(q, gpu_last_error(), "storing a matrix on the device");
}

static void load(const void *kernel)
{
    gpu_function_attributes a;
    (void)gpu_function_get(&a, kernel);
}

extern "C" void tct_gpu_store_load_blocks(void)
{
    load((const void *)plan<false>);
    load((const void *)fill<false>);
}

extern "C" void tct_gpu_store_load(void)
{
    load((const void *)do_task);
    load((const void *)plan<true>);
    load((const void *)fill<true>);
}
