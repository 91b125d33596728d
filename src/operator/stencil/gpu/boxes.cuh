/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/boxes.cuh - a step of some boxes of a block, for the type
 * TCT_REAL: the edges, which read ghosts and which neighbours have as ghosts,
 * and the inner cells.
 *
 * Thread blocks of edges may wait for the neighbours' signals before they read
 * ghosts, may store cells into the neighbours' ghosts as well, and may signal
 * when all edges are done. A neighbour that sees the signal sees the cells; it
 * also knows that this step reads no ghosts any more, so that two buffers need
 * no acknowledgement. */
#ifndef TCT_OPERATOR_STENCIL_GPU_BOXES_CUH
#define TCT_OPERATOR_STENCIL_GPU_BOXES_CUH
#include "operator/stencil/gpu/await.cuh"
#include "operator/stencil/gpu/step.cuh"

enum { BOX_BLOCKS = 6 }; /* of a multiprocessor: registers without spills */

/* --- signals -------------------------------------------------------------- */

/* By all threads of `parts` thread blocks. */
static __device__ __forceinline__ void
tell_neighbours(const tct_step_halo &h, uint64_t number, unsigned parts)
{
    __syncthreads();
    if (threadIdx.x != 0 || !tct_all_done(h.ticket, parts)) return;
    *h.number = number;
    for (int i = 0; i < h.count; i++)
        if (h.put[i].other) tct_signal_send(h.put[i].other, number);
}

/* --- cells ---------------------------------------------------------------- */

static __device__ __forceinline__ bool is_sent(const tct_halo_put &p, int d,
                                               int64_t i)
{
    return i >= p.send[d] && i < p.send[d] + p.extent[d];
}

/* A value of cell (x, y, z) in the ghosts of those neighbours that have it. */
static __device__ __forceinline__ void put_cell(const tct_step_work &w,
                                                const tct_step_halo &h, int z,
                                                int y, int x, TCT_REAL value)
{
    for (int i = 0; i < h.count; i++) {
        const tct_halo_put &p = h.put[i];
        if (!is_sent(p, 2, z) || !is_sent(p, 1, y) || !is_sent(p, 0, x + h.x))
            continue;
        char *row = p.at[h.slot] + z * p.plane + y * p.pitch;
        store_cell(w, (TCT_REAL *)(void *)row + h.x, x, value);
    }
}

template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ TCT_REAL cell_of(
    const tct_step_work &w, const tct_near_rows<(SHAPE < TCT_STAR3 ? 2 : 3)> &r,
    int64_t line, int x)
{
    if constexpr (WEIGHTS == TACIT_WEIGHTS_CELLS)
        return by_cell<SHAPE>(w, r, line * w.n[0] + x, x);
    return weighted(WEIGHTS == TACIT_WEIGHTS_CONSTANT, (TCT_REAL)w.centre,
                    r.row[SHAPE < TCT_STAR3 ? 1 : 4][x], (TCT_REAL)w.neighbours,
                    neighbours_of<SHAPE>(r, x));
}

/* The box of a thread block, whose first one it is given as. */
static __device__ __forceinline__ int find_box(const tct_step_boxes &b)
{
    int box = 0;
    while (box + 1 < b.boxes && blockIdx.x >= b.box[box + 1].first) box++;
    return box;
}

template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ void step_box(const tct_step_work &w,
                                                const tct_step_boxes &b, int at)
{
    constexpr int DIM = SHAPE < TCT_STAR3 ? 2 : 3;
    constexpr int WIDE = STEP_THREADS * STEP_CELLS;
    const int *lo = b.box[at].lo, *hi = b.box[at].hi;
    const unsigned number = blockIdx.x - b.box[at].first;
    const unsigned strips = (unsigned)((hi[0] - lo[0] - 1) / WIDE + 1);
    const int line = (int)(number / strips), rows = hi[1] - lo[1];
    const int x0 = lo[0] + (int)(number % strips) * WIDE;
    const int y = DIM == 2 ? 0 : lo[1] + line % rows;
    const int z0 = lo[2] + line / rows * STEP_PLANES;
    for (int z = z0; z < z0 + STEP_PLANES && z < hi[2]; z++) {
        const tct_near_rows<DIM> r = rows_of<DIM>(w, z, y);
        TCT_REAL *out = (TCT_REAL *)w.out + line_of(w, z, y);
#pragma unroll
        for (int i = 0; i < STEP_CELLS; i++) {
            const int x = x0 + i * STEP_THREADS + (int)threadIdx.x;
            if (x >= hi[0]) break;
            const TCT_REAL value =
                b.halo.idle
                    ? out[x]
                    : cell_of<SHAPE, WEIGHTS>(w, r, (int64_t)z * w.n[1] + y, x);
            store_cell(w, out, x, value);
            if (at < b.edges && b.halo.puts)
                put_cell(w, b.halo, z, y, x, value);
        }
    }
}

/* --- the kernel ----------------------------------------------------------- */

/* `parts` thread blocks have edges. */
template <int SHAPE, int WEIGHTS>
static __global__ void __launch_bounds__(STEP_THREADS, BOX_BLOCKS)
    boxes_kernel(const __grid_constant__ tct_step_work w,
                 const __grid_constant__ tct_step_boxes b,
                 const __grid_constant__ tct_peer_common C, unsigned parts)
{
    const bool edge = blockIdx.x < parts;
    const tct_step_halo &h = b.halo;
    const uint64_t last = edge && h.count > 0 ? tct_load_fresh(h.number) : 0;
    if (edge && h.waits) tct_await_neighbours(C, h, last);
    step_box<SHAPE, WEIGHTS>(w, b, find_box(b));
    if (edge && h.tells) tell_neighbours(h, last + 1, parts);
}

typedef void (*tct_boxes_kernel)(const tct_step_work, const tct_step_boxes,
                                 const tct_peer_common, unsigned);

template <int SHAPE> static tct_boxes_kernel boxes_of(int weights)
{
    switch (weights) {
    case TACIT_WEIGHTS_MEAN: return boxes_kernel<SHAPE, TACIT_WEIGHTS_MEAN>;
    case TACIT_WEIGHTS_CONSTANT:
        return boxes_kernel<SHAPE, TACIT_WEIGHTS_CONSTANT>;
    default: return boxes_kernel<SHAPE, TACIT_WEIGHTS_CELLS>;
    }
}

static tct_boxes_kernel find_boxes(const tct_step_work *w)
{
    switch (w->shape) {
    case TCT_STAR2: return boxes_of<TCT_STAR2>(w->weights);
    case TCT_BOX2: return boxes_of<TCT_BOX2>(w->weights);
    case TCT_STAR3: return boxes_of<TCT_STAR3>(w->weights);
    default: return boxes_of<TCT_BOX3>(w->weights);
    }
}

/* Deal out thread blocks; returns how many, `parts` of them for edges. */
static unsigned number_boxes(tct_step_boxes *b, unsigned *parts)
{
    const int wide = STEP_THREADS * STEP_CELLS;
    unsigned blocks = *parts = 0;
    for (int i = 0; i < b->boxes; i++) {
        const int *lo = b->box[i].lo, *hi = b->box[i].hi;
        const unsigned strips = (unsigned)((hi[0] - lo[0] - 1) / wide + 1);
        const unsigned planes =
            (unsigned)((hi[2] - lo[2] - 1) / STEP_PLANES + 1);
        if (i == b->edges) *parts = blocks;
        b->box[i].first = blocks;
        blocks += strips * planes * (unsigned)(hi[1] - lo[1]);
    }
    if (b->edges == b->boxes) *parts = blocks;
    return blocks;
}

static void boxes(tacit_queue *q, const tct_step_work *w,
                  const tct_step_boxes *given)
{
    tct_step_boxes b = *given;
    unsigned parts;
    const unsigned blocks = number_boxes(&b, &parts);
    const gpu_stream stream = stream_of(q);
    if (blocks == 0) return;
    find_boxes(w)<<<blocks, STEP_THREADS, 0, stream>>>(
        *w, b, tct_await_common(q, &b.halo), parts);
    tct_gpu_ok(q, gpu_last_error(), "a step of a block's boxes");
}

#endif
