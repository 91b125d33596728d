/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_free.cuh - the kernel of ways free and free2, for
 * the type TCT_REAL: all cells are in memory, and a visit is a step. Most
 * shapes march (own_march.cuh). Of others, and with weights by cell, a warp has
 * a strip of columns of the tile and some of its lines, which it walks along,
 * so that rows come from the L1 when they are read again. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_FREE_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_FREE_CUH
#include "operator/stencil/gpu/own_march.cuh"

enum {
    FREE_CELLS = 4, /* of a line, by a lane */
    WALK_WARPS = TCT_FREE_THREADS / GPU_WAVE
};

/* Lines of a warp: [lo, hi) in y and z. */
typedef struct tct_own_lines {
    int x, wide; /* first column; columns of a strip              */
    int next;    /* columns to this warp's next strip             */
    int lo[2], hi[2];
} tct_own_lines;

static __device__ inline int most_of(int a, int b)
{
    return a > b ? a : b;
}

/* Strips are as wide as they can be with work for all warps. */
static __device__ inline tct_own_lines lines_of(const tct_box &b)
{
    const int nx = b.hi[0] - b.lo[0];
    const int n[2] = {b.hi[1] - b.lo[1], b.hi[2] - b.lo[2]};
    tct_own_lines l;
    l.wide = GPU_WAVE * FREE_CELLS;
    while (l.wide > GPU_WAVE &&
           ((nx - 1) / l.wide + 1) * n[0] * n[1] < WALK_WARPS)
        l.wide /= 2;
    const int strips = (nx - 1) / l.wide + 1;
    const int sharing = most_of(1, WALK_WARPS / strips);
    const int parts[2] = {min(sharing, n[0]),
                          min(n[1], most_of(1, sharing / n[0]))};
    const int group = tct_warp() / strips;
    const int part[2] = {group % parts[0], group / parts[0]};
    for (int d = 0; d < 2; d++) {
        l.lo[d] = b.lo[1 + d] + part_of(n[d], part[d], parts[d]);
        l.hi[d] = b.lo[1 + d] + part_of(n[d], part[d] + 1, parts[d]);
    }
    l.x = b.lo[0] + tct_warp() % strips * l.wide;
    l.next = min(strips, WALK_WARPS) * l.wide;
    if (part[1] >= parts[1]) l.hi[0] = l.lo[0]; /* a warp to spare */
    return l;
}

/* As rows_of, from buffer `in`. */
template <int DIM>
static __device__ __forceinline__ tct_near_rows<DIM>
rows_in(const tct_step_work &w, const TCT_REAL *in, int z, int y)
{
    tct_near_rows<DIM> r;
#pragma unroll
    for (int i = 0; i < (DIM == 2 ? 3 : 9); i++) {
        const int at = DIM == 2 ? z + i - 1 : z + i / 3 - 1;
        const int line = DIM == 2 ? y : y + i % 3 - 1;
        const bool there = is_there(w, 2, at) && is_there(w, 1, line);
        r.row[i] = there ? in + line_of(w, place(w, 2, at), place(w, 1, line))
                         : (const TCT_REAL *)w.outside;
    }
    return r;
}

/* The cells of a lane in one line, before any is stored. */
template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ void
step_line(const tct_step_work &w, const TCT_REAL *in, int z, int y, int x,
          int end, TCT_REAL (&value)[FREE_CELLS])
{
    constexpr int DIM = SHAPE < TCT_STAR3 ? 2 : 3;
    const tct_near_rows<DIM> r = rows_in<DIM>(w, in, z, y);
    const int64_t first = ((int64_t)z * w.n[1] + y) * w.n[0];
#pragma unroll
    for (int i = 0; i < FREE_CELLS; i++) {
        const int at = x + i * GPU_WAVE;
        if (at >= end) break;
        if constexpr (WEIGHTS == TACIT_WEIGHTS_CELLS)
            value[i] = by_cell<SHAPE>(w, r, first + at, at);
        else
            value[i] =
                weighted(WEIGHTS == TACIT_WEIGHTS_CONSTANT, (TCT_REAL)w.centre,
                         r.row[DIM == 2 ? 1 : 4][at], (TCT_REAL)w.neighbours,
                         neighbours_of<SHAPE>(r, at));
    }
}

static __device__ __forceinline__ void
put_line(const tct_free_step &s, int z, int y, int x, int end,
         const TCT_REAL (&value)[FREE_CELLS])
{
    const tct_step_work &w = s.J.w;
    for (int k = 0; s.puts && k < s.p.sides; k++) {
        const tct_halo_put &put = s.p.put[k];
        if (!tct_own_sends(put, z, y)) continue;
        TCT_REAL *row =
            (TCT_REAL *)(void *)tct_own_row(s.J, put, s.step, z, y) + s.J.x;
#pragma unroll
        for (int i = 0; i < FREE_CELLS; i++) {
            const int64_t at = x + i * GPU_WAVE + s.J.x - put.send[0];
            if (x + i * GPU_WAVE < end && at >= 0 && at < put.extent[0])
                store_cell(w, row, x + i * GPU_WAVE, value[i]);
        }
    }
}

static __device__ __forceinline__ void
store_line(const tct_free_step &s, int z, int y, int x, int end,
           const TCT_REAL (&value)[FREE_CELLS])
{
    const tct_step_work &w = s.J.w;
    TCT_REAL *row = s.out + line_of(w, z, y);
#pragma unroll
    for (int i = 0; i < FREE_CELLS; i++)
        if (x + i * GPU_WAVE < end)
            store_cell(w, row, x + i * GPU_WAVE, value[i]);
    put_line(s, z, y, x, end, value);
}

/* Of a step that is not computed: neighbours get the cells as they are. */
static __device__ __forceinline__ void put_tile(const tct_free_step &s,
                                                const tct_box &b)
{
    const int rows = b.hi[1] - b.lo[1], all = rows * (b.hi[2] - b.lo[2]);
    const int warps = (int)blockDim.x / GPU_WAVE;
    for (int k = tct_warp(); s.puts && s.p.sides > 0 && k < all; k += warps) {
        const int z = b.lo[2] + k / rows, y = b.lo[1] + k % rows;
        const TCT_REAL *row = s.out + line_of(s.J.w, z, y);
        for (int x = b.lo[0] + tct_lane(); x < b.hi[0];
             x += FREE_CELLS * GPU_WAVE) {
            TCT_REAL value[FREE_CELLS] = {};
#pragma unroll
            for (int i = 0; i < FREE_CELLS; i++)
                if (x + i * GPU_WAVE < b.hi[0])
                    value[i] = row[x + i * GPU_WAVE];
            put_line(s, z, y, x, b.hi[0], value);
        }
    }
}

/* Weights by cell of a box are too many for several cells at a time. */
template <int SHAPE>
static __device__ __forceinline__ void
step_cells(const tct_free_step &s, const tct_own_lines &l, int x, int end)
{
    constexpr int DIM = SHAPE < TCT_STAR3 ? 2 : 3;
    const tct_step_work &w = s.J.w;
    for (int z = l.lo[1]; z < l.hi[1]; z++)
        for (int y = l.lo[0]; y < l.hi[0]; y++) {
            const tct_near_rows<DIM> r = rows_in<DIM>(w, s.in, z, y);
            const int64_t first = ((int64_t)z * w.n[1] + y) * w.n[0];
#pragma unroll 1
            for (int at = x; at < end; at += GPU_WAVE) {
                TCT_REAL value[FREE_CELLS];
                value[0] = by_cell<SHAPE>(w, r, first + at, at);
                store_line(s, z, y, at, at + 1, value);
            }
        }
}

/* A strip, two lines at a time: their loads are under way together. */
template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ void
step_strip(const tct_free_step &s, const tct_own_lines &l, int x, int end)
{
    constexpr int AT_ONCE = SHAPE == TCT_BOX3 ? 1 : 2;
    int y = l.lo[0], z = l.lo[1];
    while (z < l.hi[1]) {
        TCT_REAL value[AT_ONCE][FREE_CELLS];
        int at[AT_ONCE][2];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            at[i][0] = y;
            at[i][1] = z;
            if (z < l.hi[1])
                step_line<SHAPE, WEIGHTS>(s.J.w, s.in, z, y, x, end, value[i]);
            if (++y < l.hi[0]) continue;
            y = l.lo[0];
            z++;
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (at[i][1] < l.hi[1])
                store_line(s, at[i][1], at[i][0], x, end, value[i]);
    }
}

/* All strips of a warp. */
template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ void walk(const tct_free_step &s,
                                            const tct_own_lines &l, int columns)
{
    constexpr bool CELLS = WEIGHTS == TACIT_WEIGHTS_CELLS && SHAPE != TCT_STAR2;
    if (l.lo[0] >= l.hi[0]) return;
    for (int first = l.x; first < columns; first += l.next) {
        const int x = first + tct_lane(), end = min(first + l.wide, columns);
        if constexpr (CELLS) step_cells<SHAPE>(s, l, x, end);
        else step_strip<SHAPE, WEIGHTS>(s, l, x, end);
    }
}

template <int SHAPE, int WEIGHTS> struct tct_free_kind {
    static constexpr bool MARCHES =
        SHAPE != TCT_BOX3 && WEIGHTS != TACIT_WEIGHTS_CELLS;
    static constexpr int THREADS =
        MARCHES ? TCT_MARCH_THREADS : TCT_FREE_THREADS;
};

/* A warp's part of the tile, by either means; `end` as of tct_own_end. */
template <bool MARCHES> struct tct_free_work {
    tct_own_lines lines;
};
template <> struct tct_free_work<true> {
    tct_free_march lines;
};

template <bool MARCHES>
static __device__ inline tct_free_work<MARCHES> work_of(const tct_box &b,
                                                        int end)
{
    if constexpr (MARCHES) return {march_of(b, end)};
    else return {lines_of(b)};
}

/* Step `step` of a tile, whose neighbours are past `end`. False: all end. */
template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ bool
free_visit(const tct_own_job &J, tct_own_place &p, const uint64_t *mine,
           const tct_box &box, int end,
           const tct_free_work<tct_free_kind<SHAPE, WEIGHTS>::MARCHES> &work,
           int step)
{
    const TCT_REAL *in = (const TCT_REAL *)(step & 1 ? J.w.out : J.w.in);
    TCT_REAL *out = (TCT_REAL *)(step & 1 ? (void *)J.w.in : J.w.out);
    const tct_free_step s = {J, p, in, out, step, step + 1 < p.visits};
    if (step > 0 && !tct_own_wait_for(J, p, mine, step, end == 0)) return false;
    if (J.idle) put_tile(s, box);
    else if constexpr (tct_free_kind<SHAPE, WEIGHTS>::MARCHES)
        march<SHAPE, WEIGHTS>(s, work.lines);
    else walk<SHAPE, WEIGHTS>(s, work.lines, box.hi[0]);
    return true;
}

#ifndef TCT_EMULATED /* threads of a whole grid at once */
template <int SHAPE, int WEIGHTS>
static __global__ void
    __launch_bounds__((tct_free_kind<SHAPE, WEIGHTS>::THREADS), 1)
        free_kernel(const __grid_constant__ tct_own_job J)
{
    constexpr bool MARCHES = tct_free_kind<SHAPE, WEIGHTS>::MARCHES;
    __shared__ tct_own_place p;
    const uint64_t *mine = tct_own_open(J, p);
    const tct_box box = J.box[p.tile];
    const int end = MARCHES && !J.idle ? tct_own_end(p) : 0;
    const tct_free_work<MARCHES> work = work_of<MARCHES>(box, end);
    for (int step = 0; step < J.steps; step++) {
        if (!free_visit<SHAPE, WEIGHTS>(J, p, mine, box, end, work, step))
            return;
        tct_own_done(J, p, step + 1);
    }
}

template <int SHAPE, int WEIGHTS> static const void *free_with(int *threads)
{
    *threads = tct_free_kind<SHAPE, WEIGHTS>::THREADS;
    return (const void *)free_kernel<SHAPE, WEIGHTS>;
}

template <int SHAPE> static const void *free_of(int weights, int *threads)
{
    switch (weights) {
    case TACIT_WEIGHTS_MEAN:
        return free_with<SHAPE, TACIT_WEIGHTS_MEAN>(threads);
    case TACIT_WEIGHTS_CONSTANT:
        return free_with<SHAPE, TACIT_WEIGHTS_CONSTANT>(threads);
    default: return free_with<SHAPE, TACIT_WEIGHTS_CELLS>(threads);
    }
}

static const void *find_free(const tct_step_work *w, int *threads)
{
    switch (w->shape) {
    case TCT_STAR2: return free_of<TCT_STAR2>(w->weights, threads);
    case TCT_BOX2: return free_of<TCT_BOX2>(w->weights, threads);
    case TCT_STAR3: return free_of<TCT_STAR3>(w->weights, threads);
    default: return free_of<TCT_BOX3>(w->weights, threads);
    }
}
#endif

#endif
