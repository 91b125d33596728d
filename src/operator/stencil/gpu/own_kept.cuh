/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_kept.cuh - the kernel of way cached for grids of
 * three dimensions, for the type TCT_REAL; a visit is a step. A tile has all
 * columns of the block. As many of its rows as fit are kept in the shared
 * memory of its thread block, the others are in memory, as of way free.
 *
 * A warp has a strip of columns and up to FREE_ROWS rows, and marches through
 * the planes (own_march.cuh). A new row takes the place of the old one: rows of
 * plane z are loaded while plane z - 1 is computed, and a barrier is between
 * those loads and the stores of plane z. One in two planes is enough. Rows at
 * the edge of a tile are also stored in memory, where other tiles read them.
 *
 * A tile at one end of the block's planes marches towards that end, and waits
 * for the neighbour there when all other planes are made. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_KEPT_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_KEPT_CUH
#include "operator/stencil/gpu/own_free.cuh"

/* A block's view of its tile, in shared memory. */
typedef struct tct_kept_tile {
    tct_box box;
    int rows;           /* of a plane                                      */
    int first, count;   /* kept rows, numbered y + z * rows from the first */
    int stride;         /* cells from a kept row to the next one           */
    int strips, share;  /* of a row; rows of a plane that a warp has       */
    int planes, from;   /* planes, the first one of the march              */
    int by;             /* 1 or -1: planes from one to the next            */
    bool waits_at_last; /* for other ranks before the last plane           */
    TCT_REAL *kept;     /* cell 0 of the first kept row                    */
} tct_kept_tile;

/* The rows of a warp in each plane, from column x of this lane on. */
typedef struct tct_kept_rows {
    int x, y, rows; /* rows <= 0: it has none */
} tct_kept_rows;

/* Rows y - 1 to y + FREE_ROWS of a plane, as loaded. */
typedef struct tct_kept_plane {
    tct_free_part row[FREE_ROWS + 2];
} tct_kept_plane;

/* --- a tile --------------------------------------------------------------- */

/* Cells of a kept row: a lane's before the first, and those of a lane that has
 * the one after the last. */
static __device__ __forceinline__ int kept_stride(int columns)
{
    return FREE_V + (columns / FREE_V + 1) * FREE_V;
}

/* Of `most` rows that there is room for; the middle planes are kept. */
static __device__ inline tct_kept_tile
kept_tile_of(const tct_box &box, const tct_own_place &p, int most, char *room)
{
    tct_kept_tile t;
    const int end = tct_own_end(p);
    t.box = box;
    t.rows = box.hi[1] - box.lo[1];
    t.planes = box.hi[2] - box.lo[2];
    t.count = min(most, t.rows * t.planes);
    t.first = (t.rows * t.planes - t.count) / 2;
    t.stride = kept_stride(box.hi[0]);
    t.strips = ratio_up(box.hi[0], FREE_WIDTH);
    t.share = ratio_up(t.rows, (int)FREE_WARPS / t.strips);
    t.by = end < 0 ? -1 : 1;
    t.from = end < 0 ? box.hi[2] - 1 : box.lo[2];
    t.waits_at_last = end != 0;
    t.kept = (TCT_REAL *)(void *)room + FREE_V;
    return t;
}

static __device__ __forceinline__ tct_kept_rows
kept_rows_of(const tct_kept_tile &t)
{
    const int group = tct_warp() / t.strips;
    const int y = t.box.lo[1] + group * t.share;
    return {tct_warp() % t.strips * FREE_WIDTH + tct_lane() * FREE_V, y,
            min(t.share, t.box.hi[1] - y)};
}

/* --- rows in and out ------------------------------------------------------ */

/* Cell 0 of a kept row; NULL: it is in memory. */
static __device__ __forceinline__ TCT_REAL *kept_row(const tct_kept_tile &t,
                                                     int z, int y)
{
    const int plane = z - t.box.lo[2], row = y - t.box.lo[1];
    const int k = plane * t.rows + row - t.first;
    const bool own = plane >= 0 && plane < t.planes && row >= 0 && row < t.rows;
    return own && k >= 0 && k < t.count ? t.kept + k * t.stride : nullptr;
}

static __device__ __forceinline__ void load_kept(const tct_free_step &s,
                                                 const tct_kept_tile &t, int z,
                                                 int y, int x,
                                                 tct_free_part &to)
{
    const tct_step_work &w = s.J.w;
    const bool there = is_there(w, 2, z) && is_there(w, 1, y);
    const TCT_REAL *row = kept_row(t, z, y);
    if (!row) row = s.in + line_of(w, place(w, 2, z), place(w, 1, y));
    load_from(w, there, row + x, x, t.box.hi[0], to);
}

/* Row i is y - 1 + i, the last one that is needed is the one after the
 * warp's. */
static __device__ __forceinline__ void
load_kept_plane(const tct_free_step &s, const tct_kept_tile &t,
                const tct_kept_rows &m, int z, tct_kept_plane &to)
{
#pragma unroll
    for (int i = 0; i < FREE_ROWS + 2; i++)
        if (m.rows > 0 && i <= m.rows + 1)
            load_kept(s, t, z, m.y - 1 + i, m.x, to.row[i]);
}

/* Others read rows at the edge; after the last step all are in memory. */
static __device__ __forceinline__ void store_kept(const tct_free_step &s,
                                                  const tct_kept_tile &t, int z,
                                                  int y, int x,
                                                  const tct_free_cells &value)
{
    const tct_box &b = t.box;
    TCT_REAL *row = kept_row(t, z, y);
    const bool at_edge =
        y == b.lo[1] || y == b.hi[1] - 1 || z == b.lo[2] || z == b.hi[2] - 1;
    if (row) store_cells(s.J.w, b, row, x, value);
    if (!row || at_edge || s.step + 1 == s.J.steps)
        store_cells(s.J.w, b, s.out + line_of(s.J.w, z, y), x, value);
    if (s.puts) put_part(s, b, z, y, x, value);
}

/* Kept rows, with a cell more at each end, as they are before the first step.
 * All threads. */
static __device__ inline void fill_kept(const tct_step_work &w,
                                        const tct_kept_tile &t)
{
    for (int k = tct_warp(); k < t.count; k += FREE_WARPS) {
        const int at = t.first + k, columns = t.box.hi[0];
        const TCT_REAL *from =
            (const TCT_REAL *)w.in +
            line_of(w, t.box.lo[2] + at / t.rows, t.box.lo[1] + at % t.rows);
        TCT_REAL *to = t.kept + k * t.stride;
        for (int i = tct_lane() - 1; i <= columns; i += GPU_WAVE)
            to[i] = from[i];
    }
    __syncthreads();
}

/* --- shapes: REAL is TCT_REAL, so that types do not share names ------------ */

/* Three planes of star3d1r: below, that of the cells, above. */
template <int WEIGHTS, class REAL> struct tct_kept_star {
    tct_free_cells below[FREE_ROWS], first, last, next_first, next_last;
    tct_free_row centre[FREE_ROWS], next[FREE_ROWS];

    /* The plane above. All lanes. */
    __device__ __forceinline__ void take(const tct_kept_plane &a)
    {
        next_first = a.row[0].cells;
        next_last = a.row[FREE_ROWS + 1].cells;
#pragma unroll
        for (int i = 0; i < FREE_ROWS; i++) widen(a.row[i + 1], next[i]);
    }
    __device__ __forceinline__ tct_free_cells cells(const tct_step_work &w,
                                                    int i) const
    {
        const TCT_REAL *north = i > 0 ? centre[i - 1].v + 1 : first.v;
        const TCT_REAL *south =
            i + 1 < FREE_ROWS ? centre[i + 1].v + 1 : last.v;
        tct_free_cells up;
        for (int k = 0; k < FREE_V; k++) up.v[k] = next[i].v[k + 1];
        return solid_cells<WEIGHTS>(w, below[i], north, centre[i], south, up);
    }
    /* The plane of the cells is the one below now. */
    __device__ __forceinline__ void shift()
    {
#pragma unroll
        for (int i = 0; i < FREE_ROWS; i++) {
            for (int k = 0; k < FREE_V; k++) below[i].v[k] = centre[i].v[k + 1];
            centre[i] = next[i];
        }
        first = next_first;
        last = next_last;
    }
};

/* The same of box3d1r: sums P of the planes below and above, P and Q of that of
 * the cells (cell.h, Q without the cell). */
template <int WEIGHTS, class REAL> struct tct_kept_box {
    tct_free_cells below[FREE_ROWS], p[FREE_ROWS], q[FREE_ROWS], c[FREE_ROWS];
    tct_free_cells next_p[FREE_ROWS], next_q[FREE_ROWS], next_c[FREE_ROWS];

    __device__ __forceinline__ void take(const tct_kept_plane &a)
    {
        tct_free_cells sum[FREE_ROWS + 2], most[FREE_ROWS + 2];
#pragma unroll
        for (int i = 0; i < FREE_ROWS + 2; i++) {
            tct_free_row row;
            widen(a.row[i], row);
            for (int k = 0; k < FREE_V; k++) {
                most[i].v[k] = row_p(row.v, k + 1);
                sum[i].v[k] = TCT_ADD(most[i].v[k], row.v[k + 1]);
            }
        }
#pragma unroll
        for (int i = 0; i < FREE_ROWS; i++) {
            next_c[i] = a.row[i + 1].cells;
            for (int k = 0; k < FREE_V; k++) {
                const TCT_REAL around = TCT_ADD(sum[i].v[k], sum[i + 2].v[k]);
                next_p[i].v[k] = TCT_ADD(around, sum[i + 1].v[k]);
                next_q[i].v[k] = TCT_ADD(around, most[i + 1].v[k]);
            }
        }
    }
    __device__ __forceinline__ tct_free_cells cells(const tct_step_work &w,
                                                    int i) const
    {
        constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
        tct_free_cells value;
        for (int k = 0; k < FREE_V; k++)
            value.v[k] = weighted(
                CENTRE, (TCT_REAL)w.centre, c[i].v[k], (TCT_REAL)w.neighbours,
                TCT_ADD(TCT_ADD(below[i].v[k], next_p[i].v[k]), q[i].v[k]));
        return value;
    }
    __device__ __forceinline__ void shift()
    {
#pragma unroll
        for (int i = 0; i < FREE_ROWS; i++) {
            below[i] = p[i];
            p[i] = next_p[i];
            q[i] = next_q[i];
            c[i] = next_c[i];
        }
    }
};

/* --- a step --------------------------------------------------------------- */

/* All planes. */
template <class PLANES>
static __device__ __forceinline__ void kept_step(const tct_free_step &s,
                                                 const tct_kept_tile &t)
{
    const tct_kept_rows m = kept_rows_of(t);
    tct_kept_plane ahead = {};
    PLANES planes = {};
    int z = t.from;
    load_kept_plane(s, t, m, z - t.by, ahead);
    planes.take(ahead);
    planes.shift();
    load_kept_plane(s, t, m, z, ahead);
    planes.take(ahead);
    planes.shift();
    for (int i = 0; i < t.planes; i++, z += t.by) {
        if (t.waits_at_last && i + 1 == t.planes && s.step > 0)
            tct_own_wait_warp(s.J, s.p, s.step);
        load_kept_plane(s, t, m, z + t.by, ahead);
        if (t.count > 0 && i % 2 == 0) __syncthreads();
        planes.take(ahead);
#pragma unroll
        for (int r = 0; r < FREE_ROWS; r++)
            if (r < m.rows)
                store_kept(s, t, z, m.y + r, m.x, planes.cells(s.J.w, r));
        planes.shift();
    }
}

/* --- the kernel ----------------------------------------------------------- */

/* Step `step` of a tile. False: all end. */
template <class PLANES>
static __device__ __forceinline__ bool
kept_visit(const tct_own_job &J, tct_own_place &p, const uint64_t *mine,
           const tct_kept_tile &t, int step)
{
    const TCT_REAL *in = (const TCT_REAL *)(step & 1 ? J.w.out : J.w.in);
    TCT_REAL *out = (TCT_REAL *)(step & 1 ? (void *)J.w.in : J.w.out);
    const tct_free_step s = {J, p, in, out, step, step + 1 < p.visits};
    const bool peers = !t.waits_at_last || J.idle;
    if (step > 0 && !tct_own_wait_for(J, p, mine, step, peers)) return false;
    if (J.idle) put_tile(s, t.box);
    else kept_step<PLANES>(s, t);
    return true;
}

#ifndef TCT_EMULATED /* threads of a whole grid at once */
template <class PLANES>
static __global__ void __launch_bounds__(TCT_MARCH_THREADS, 1)
    kept_kernel(const __grid_constant__ tct_own_job J)
{
    alignas(16) extern __shared__ char own_room[];
    __shared__ tct_own_place p;
    __shared__ tct_kept_tile t;
    const uint64_t *mine = tct_own_open(J, p);
    if (threadIdx.x == 0) t = kept_tile_of(J.box[p.tile], p, J.more, own_room);
    __syncthreads();
    fill_kept(J.w, t);
    for (int step = 0; step < J.steps; step++) {
        if (!kept_visit<PLANES>(J, p, mine, t, step)) return;
        tct_own_done(J, p, step + 1);
    }
}

template <template <int, class> class PLANES>
static const void *kept_of(int weights)
{
    return weights == TACIT_WEIGHTS_MEAN
               ? (const void *)kept_kernel<PLANES<TACIT_WEIGHTS_MEAN, TCT_REAL>>
               : (const void *)
                     kept_kernel<PLANES<TACIT_WEIGHTS_CONSTANT, TCT_REAL>>;
}

static const void *find_kept(const tct_step_work *w)
{
    return w->shape == TCT_STAR3 ? kept_of<tct_kept_star>(w->weights)
                                 : kept_of<tct_kept_box>(w->weights);
}
#endif

#endif
