/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_cached.cuh - the kernel of way cached for grids of
 * two dimensions, for the type TCT_REAL: the cells of a tile stay in the
 * registers of its block, and further rows in shared memory.
 *
 * A warp has some rows of the tile and of `reach` cells around it: a lane has V
 * cells of each. West and east come from the lanes beside it, north and south
 * from the rows beside it; warps exchange the first and the last of their rows
 * through shared memory, one barrier a step. What lies at the edge of all that
 * is wrong by a cell a step, and no tile's own after `reach` steps. Then the
 * tile stores those of its cells that others need into the buffer of this
 * visit, waits for the flags of tiles around, and loads theirs.
 *
 * Of its ROWS registers a warp uses the last ones, so that all that differ
 * between warps is how many it leaves out. Rows in shared memory come before
 * them, and then no register is left out. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_CACHED_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_CACHED_CUH
#include "operator/stencil/gpu/own_wait.cuh"
#include "operator/stencil/gpu/step.cuh"

template <int SHAPE, int WEIGHTS, bool WITH_MORE> struct tct_own_tile {
    static constexpr bool BOX = SHAPE == TCT_BOX2;
    static constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    static constexpr bool MORE = WITH_MORE; /* rows in shared memory */
    static constexpr int ROWS = MORE ? (BOX ? 8 : 16) : (BOX ? 16 : 20);
};
enum {
    OWN_V = sizeof(TCT_REAL) == 4 ? 4 : 2, /* cells of a lane in a row */
    OWN_WIDTH = GPU_WAVE * OWN_V,
    OWN_GROUP = 4 /* rows that are left out together */
};

struct alignas(OWN_V * sizeof(TCT_REAL)) tct_own_cells {
    TCT_REAL v[OWN_V];
};

/* The first and the last row of each warp, of steps in turn. */
typedef tct_own_cells tct_own_edges[2][2][TCT_CACHED_WARPS][GPU_WAVE];

/* Data of a lane: a copy of the first row, which saves a search for it; rows
 * in registers and in shared memory. */
template <class T> struct tct_own_rows {
    TCT_REAL first[OWN_V];
    TCT_REAL u[T::ROWS][OWN_V];
    tct_own_cells *more;
};

/* A block's view of its tile, in shared memory: a compiler would keep as
 * many numbers of it in registers as there are rows. Row i is cell lo - reach +
 * i. */
enum { OWN_LINES = 768, OWN_THERE = 1, OWN_MINE = 2, OWN_EDGE = 4 };
typedef struct tct_own_line {
    int stored; /* where it is stored                                      */
    int kind;   /* in the grid (THERE); the tile's (MINE); others read all
                 * of it (EDGE)                                            */
} tct_own_line;
typedef struct tct_own_warp {
    int from, rows;   /* first row, how many */
    int above, below; /* warps               */
} tct_own_warp;
typedef struct tct_own_block {
    tct_own_edges edge;
    tct_own_line line[OWN_LINES];
    tct_own_warp warp[TCT_CACHED_WARPS];
    bool touches; /* some cells are not of the grid */
} tct_own_block;

/* A lane's columns. Sets of them have a bit for each cell. */
typedef struct tct_own_lane {
    int at[OWN_V];      /* where they are stored                   */
    unsigned there;     /* columns of the grid                     */
    unsigned read, own; /* ... that a visit reads, that are stored */
    unsigned edge;      /* ... that others read                    */
} tct_own_lane;

/* --- places --------------------------------------------------------------- */

static __device__ __forceinline__ int wrapped(const tct_step_work &w, int d,
                                              int i)
{
    const int n = w.n[d];
    if (!w.closes[d] || (i >= 0 && i < n)) return i;
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}

static __device__ __forceinline__ bool within(int i, int lo, int hi)
{
    return i >= lo && i < hi;
}

static __device__ inline tct_own_lane find_columns(const tct_own_job &J,
                                                   const tct_box &b)
{
    const int first = b.lo[0] - J.reach + tct_lane() * OWN_V;
    tct_own_lane lane = {};
#pragma unroll
    for (int i = 0; i < OWN_V; i++) {
        const int x = first + i;
        const unsigned bit = 1u << i;
        const bool there = is_there(J.w, 0, x);
        const bool own = within(x, b.lo[0], b.hi[0]);
        lane.at[i] = there ? wrapped(J.w, 0, x) : 0;
        if (there) lane.there |= bit;
        if (there && within(x, b.lo[0] - J.reach, b.hi[0] + J.reach))
            lane.read |= bit;
        if (own) lane.own |= bit;
        if (own && !within(x, b.lo[0] + J.reach, b.hi[0] - J.reach))
            lane.edge |= bit;
    }
    return lane;
}

static __device__ inline tct_own_line find_line(const tct_own_job &J,
                                                const tct_box &b, int y)
{
    tct_own_line l = {0, 0};
    const bool own = within(y, b.lo[2], b.hi[2]);
    if (is_there(J.w, 2, y)) l = {wrapped(J.w, 2, y), OWN_THERE};
    if (own) l.kind |= OWN_MINE;
    if (own && !within(y, b.lo[2] + J.reach, b.hi[2] - J.reach))
        l.kind |= OWN_EDGE;
    return l;
}

/* The rows of a warp, of `all`. */
static __device__ inline tct_own_warp share_of(int warp, int all)
{
    const int warps = min(all, (int)TCT_CACHED_WARPS);
    const int from = warp < warps ? all * warp / warps : all;
    const int rows = warp < warps ? all * (warp + 1) / warps - from : 0;
    return {from, rows, warp > 0 ? warp - 1 : warp,
            warp + 1 < warps ? warp + 1 : warp};
}

/* All threads. */
static __device__ inline void find_block(const tct_own_job &J, const tct_box &b,
                                         tct_own_block &to)
{
    const int first = b.lo[2] - J.reach, x = b.lo[0] - J.reach;
    const int all = b.hi[2] + J.reach - first, i = (int)threadIdx.x;
    for (int k = i; k < all; k += TCT_CACHED_THREADS)
        to.line[k] = find_line(J, b, first + k);
    if (i < TCT_CACHED_WARPS) to.warp[i] = share_of(i, all);
    if (i == 0)
        to.touches =
            !is_there(J.w, 2, first) || !is_there(J.w, 2, first + all - 1) ||
            !is_there(J.w, 0, x) || !is_there(J.w, 0, x + OWN_WIDTH - 1);
    __syncthreads();
}

/* --- rows in and out ------------------------------------------------------ */

/* Of a row the cells that a visit reads: all, or those of others. */
static __device__ __forceinline__ void
load_row(const tct_own_job &J, const tct_own_lane &lane, tct_own_line line,
         const TCT_REAL *in, bool all, TCT_REAL (&cell)[OWN_V])
{
    const bool own = (line.kind & OWN_MINE) && !all;
    const unsigned some = own ? lane.read & ~lane.own : lane.read;
    if (all)
#pragma unroll
        for (int i = 0; i < OWN_V; i++) cell[i] = (TCT_REAL)J.w.boundary;
    if (some == 0 || !(line.kind & OWN_THERE)) return;
    const TCT_REAL *row = in + line.stored * J.w.plane;
#pragma unroll
    for (int i = 0; i < OWN_V; i++)
        if (some >> i & 1) cell[i] = row[lane.at[i]];
}

/* Of a row the tile's own cells: all, or those that others read. */
static __device__ __forceinline__ void
store_row(const tct_own_job &J, const tct_own_lane &lane, tct_own_line line,
          TCT_REAL *out, bool all, const TCT_REAL (&cell)[OWN_V])
{
    if (!(line.kind & OWN_MINE)) return;
    const bool whole = all || (line.kind & OWN_EDGE);
    const unsigned some = whole ? lane.own : lane.edge;
    if (some == 0) return;
    TCT_REAL *row = out + line.stored * J.w.plane;
#pragma unroll
    for (int i = 0; i < OWN_V; i++)
        if (some >> i & 1) store_cell(J.w, row, lane.at[i], cell[i]);
}

static __device__ __forceinline__ void copy_cells(const TCT_REAL (&from)[OWN_V],
                                                  TCT_REAL (&to)[OWN_V])
{
#pragma unroll
    for (int i = 0; i < OWN_V; i++) to[i] = from[i];
}

/* Registers that a warp leaves out. */
template <class T>
static __device__ __forceinline__ int skipped(const tct_own_warp &w)
{
    return w.rows < T::ROWS ? T::ROWS - w.rows : 0;
}

/* Call work(is the first, line, cell) for each row of the warp. */
template <class T, class WORK>
static __device__ __forceinline__ void
each_row(const tct_own_block &block, tct_own_rows<T> &rows, const WORK &work)
{
    const tct_own_warp w = block.warp[tct_warp()];
    const tct_own_line *line = block.line + w.from;
    if constexpr (T::MORE)
        for (int j = 0; j < w.rows - T::ROWS; j++)
            work(j == 0, line[j], rows.more[j * GPU_WAVE].v);
    const int skip = skipped<T>(w);
    const bool has_more = T::MORE && w.rows > T::ROWS;
    line += w.rows - T::ROWS;
#pragma unroll
    for (int r = 0; r < T::ROWS; r++)
        if (r >= skip) work(r == skip && !has_more, line[r], rows.u[r]);
}

template <class T>
static __device__ __forceinline__ void
load_rows(const tct_own_job &J, const tct_own_block &block,
          const tct_own_lane &lane, const TCT_REAL *in, bool all,
          tct_own_rows<T> &rows)
{
    each_row<T>(block, rows,
                [&](bool first, tct_own_line line, TCT_REAL(&cell)[OWN_V]) {
                    load_row(J, lane, line, in, all, cell);
                    if (first) copy_cells(cell, rows.first);
                });
}

/* The same for neighbours of other ranks, after visit `visit`. */
static __device__ __forceinline__ void
put_row(const tct_own_job &J, const tct_own_place &p, const tct_own_lane &lane,
        tct_own_line line, int visit, const TCT_REAL (&cell)[OWN_V])
{
    if (!(line.kind & OWN_MINE)) return;
    for (int k = 0; k < p.sides; k++) {
        const tct_halo_put &put = p.put[k];
        if (!tct_own_sends(put, line.stored, 0)) continue;
        char *at = tct_own_row(J, put, visit, line.stored, 0);
        TCT_REAL *row = (TCT_REAL *)(void *)at + J.x;
#pragma unroll
        for (int i = 0; i < OWN_V; i++) {
            const int64_t x = lane.at[i] + J.x - put.send[0];
            if ((lane.own >> i & 1) && x >= 0 && x < put.extent[0])
                store_cell(J.w, row, lane.at[i], cell[i]);
        }
    }
}

template <class T>
static __device__ __forceinline__ void
put_rows(const tct_own_job &J, const tct_own_place &p,
         const tct_own_block &block, const tct_own_lane &lane, int visit,
         tct_own_rows<T> &rows)
{
    each_row<T>(block, rows,
                [&](bool, tct_own_line line, TCT_REAL(&cell)[OWN_V]) {
                    put_row(J, p, lane, line, visit, cell);
                });
}

template <class T>
static __device__ __forceinline__ void
store_rows(const tct_own_job &J, const tct_own_block &block,
           const tct_own_lane &lane, TCT_REAL *out, bool all,
           tct_own_rows<T> &rows)
{
    each_row<T>(block, rows,
                [&](bool, tct_own_line line, TCT_REAL(&cell)[OWN_V]) {
                    store_row(J, lane, line, out, all, cell);
                });
}

static __device__ __forceinline__ void
show(tct_own_cells (&edge)[TCT_CACHED_WARPS][GPU_WAVE],
     const TCT_REAL (&cell)[OWN_V])
{
    tct_own_cells all;
#pragma unroll
    for (int i = 0; i < OWN_V; i++) all.v[i] = cell[i];
    edge[tct_warp()][tct_lane()] = all;
}

static __device__ __forceinline__ void
see(const tct_own_cells (&edge)[TCT_CACHED_WARPS][GPU_WAVE], int warp,
    TCT_REAL (&cell)[OWN_V])
{
    const tct_own_cells all = edge[warp][tct_lane()];
#pragma unroll
    for (int i = 0; i < OWN_V; i++) cell[i] = all.v[i];
}

/* --- a step --------------------------------------------------------------- */

/* A row with a cell more at each end. */
static __device__ __forceinline__ void widened(const TCT_REAL (&cell)[OWN_V],
                                               TCT_REAL (&row)[OWN_V + 2])
{
    row[0] = tct_shuffle_up(cell[OWN_V - 1], 1);
#pragma unroll
    for (int i = 0; i < OWN_V; i++) row[1 + i] = cell[i];
    row[OWN_V + 1] = tct_shuffle_down(cell[0], 1);
}

/* Values that rows leave for those below: the row above, as it was before the step. Of
 * a box the sums q of the row above and of this one, and p of this one. */
template <class T> struct tct_own_before {
    TCT_REAL n[OWN_V];
    TCT_REAL q[T::BOX ? OWN_V : 1], p[T::BOX ? OWN_V : 1];
};

static __device__ __forceinline__ void sums_of(const TCT_REAL (&cell)[OWN_V],
                                               TCT_REAL (&p)[OWN_V],
                                               TCT_REAL (&q)[OWN_V])
{
    TCT_REAL row[OWN_V + 2];
    widened(cell, row);
#pragma unroll
    for (int i = 0; i < OWN_V; i++) {
        p[i] = row_p(row, i + 1);
        q[i] = TCT_ADD(p[i], row[i + 1]);
    }
}

template <class T>
static __device__ __forceinline__ void
star_row(const tct_step_work &w, tct_own_before<T> &before,
         TCT_REAL (&cell)[OWN_V], const TCT_REAL (&south)[OWN_V])
{
    TCT_REAL c[OWN_V + 2];
    widened(cell, c);
#pragma unroll
    for (int i = 0; i < OWN_V; i++) {
        const TCT_REAL sum = sum_star2(&before.n[i], c + i + 1, &south[i], 0);
        before.n[i] = cell[i];
        cell[i] = weighted(T::CENTRE, (TCT_REAL)w.centre, c[i + 1],
                           (TCT_REAL)w.neighbours, sum);
    }
}

template <class T>
static __device__ __forceinline__ void
box_row(const tct_step_work &w, tct_own_before<T> &before,
        TCT_REAL (&cell)[OWN_V], const TCT_REAL (&south)[OWN_V])
{
    TCT_REAL p[OWN_V], q[OWN_V];
    sums_of(south, p, q);
#pragma unroll
    for (int i = 0; i < OWN_V; i++) {
        const TCT_REAL sum =
            TCT_ADD(TCT_ADD(before.n[i], q[i]), before.p[T::BOX ? i : 0]);
        cell[i] = weighted(T::CENTRE, (TCT_REAL)w.centre, cell[i],
                           (TCT_REAL)w.neighbours, sum);
        before.n[i] = before.q[T::BOX ? i : 0];
        before.q[T::BOX ? i : 0] = q[i];
        before.p[T::BOX ? i : 0] = p[i];
    }
}

/* Before the first row `cell`: `north` is the one above it. */
template <class T>
static __device__ __forceinline__ void begin(const TCT_REAL (&north)[OWN_V],
                                             const TCT_REAL (&cell)[OWN_V],
                                             tct_own_before<T> &before)
{
    if constexpr (T::BOX) {
        TCT_REAL p[OWN_V];
        sums_of(north, p, before.n);
        sums_of(cell, before.p, before.q);
    } else {
#pragma unroll
        for (int i = 0; i < OWN_V; i++) before.n[i] = north[i];
    }
}

/* A row after a step; outside the grid it is the boundary value. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
step_row(const tct_own_job &J, const tct_own_lane &lane,
         const tct_own_line &line, tct_own_before<T> &before,
         TCT_REAL (&cell)[OWN_V], const TCT_REAL (&south)[OWN_V])
{
    if constexpr (T::BOX) box_row<T>(J.w, before, cell, south);
    else star_row<T>(J.w, before, cell, south);
    if constexpr (SIDES) {
        const unsigned there = line.kind & OWN_THERE ? lane.there : 0;
#pragma unroll
        for (int i = 0; i < OWN_V; i++)
            if (!(there >> i & 1)) cell[i] = (TCT_REAL)J.w.boundary;
    }
}

/* The rows in shared memory. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
step_more(const tct_own_job &J, const tct_own_lane &lane,
          const tct_own_line *line, int count, tct_own_rows<T> &rows,
          tct_own_before<T> &before)
{
    tct_own_cells cell = rows.more[0];
    for (int j = 0; j < count; j++) {
        tct_own_cells south;
        if (j + 1 < count) south = rows.more[(j + 1) * GPU_WAVE];
        else copy_cells(rows.u[0], south.v);
        step_row<T, SIDES>(J, lane, line[j], before, cell.v, south.v);
        rows.more[j * GPU_WAVE] = cell;
        if (j == 0) copy_cells(cell.v, rows.first);
        cell = south;
    }
}

/* Rows in registers, OWN_GROUP at a time; `south` is the one below the last. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
step_registers(const tct_own_job &J, const tct_own_lane &lane,
               const tct_own_line *line, int skip, bool has_more,
               tct_own_rows<T> &rows, const TCT_REAL (&south)[OWN_V],
               tct_own_before<T> &before)
{
#pragma unroll
    for (int g = 0; g < T::ROWS; g += OWN_GROUP) {
        if (g + OWN_GROUP <= skip) continue;
#pragma unroll
        for (int r = g; r < g + OWN_GROUP; r++) {
            if (r < skip) continue;
            if (r + 1 < T::ROWS)
                step_row<T, SIDES>(J, lane, line[r], before, rows.u[r],
                                   rows.u[r + 1 < T::ROWS ? r + 1 : 0]);
            else step_row<T, SIDES>(J, lane, line[r], before, rows.u[r], south);
            if (r == skip && !has_more) copy_cells(rows.u[r], rows.first);
        }
    }
}

/* All rows of the warp, one step; `edge` has the rows of warps beside it. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
step_rows(const tct_own_job &J, const tct_own_lane &lane,
          const tct_own_block &block, int turn, tct_own_rows<T> &rows)
{
    const tct_own_warp w = block.warp[tct_warp()];
    const tct_own_line *line = block.line + w.from;
    TCT_REAL north[OWN_V], south[OWN_V];
    tct_own_before<T> before;
    const bool has_more = T::MORE && w.rows > T::ROWS;
    if (w.rows == 0) return;
    see(block.edge[turn][1], w.above, north);
    see(block.edge[turn][0], w.below, south);
    begin<T>(north, rows.first, before);
    if constexpr (T::MORE)
        if (has_more)
            step_more<T, SIDES>(J, lane, line, w.rows - T::ROWS, rows, before);
    step_registers<T, SIDES>(J, lane, line + w.rows - T::ROWS, skipped<T>(w),
                             has_more, rows, south, before);
}

/* --- the kernel ----------------------------------------------------------- */

/* `steps` steps of what the block has; `turn` counts all steps. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
make_steps(const tct_own_job &J, const tct_own_lane &lane, int steps,
           tct_own_block &block, tct_own_rows<T> &rows, int &turn)
{
    for (int i = 0; i < steps; i++) {
        show(block.edge[turn][0], rows.first);
        show(block.edge[turn][1], rows.u[T::ROWS - 1]);
        __syncthreads();
        step_rows<T, SIDES>(J, lane, block, turn, rows);
        turn ^= 1;
    }
}

template <class T>
static __global__ void __launch_bounds__(TCT_CACHED_THREADS, 1)
    cached_kernel(const __grid_constant__ tct_own_job J)
{
    alignas(16) __shared__ tct_own_block block;
    alignas(16) extern __shared__ char own_room[];
    __shared__ tct_own_place p;
    const uint64_t *mine = tct_own_open(J, p);
    const tct_box box = J.box[p.tile];
    const tct_own_lane lane = find_columns(J, box);
    tct_own_rows<T> rows = {};
    rows.more =
        (tct_own_cells *)own_room + tct_warp() * J.more * GPU_WAVE + tct_lane();
    find_block(J, box, block);
    int turn = 0;
    for (int visit = 0, made = 0; made < J.steps; visit++) {
        const TCT_REAL *in = (const TCT_REAL *)(visit & 1 ? J.w.out : J.w.in);
        TCT_REAL *out = (TCT_REAL *)(visit & 1 ? (void *)J.w.in : J.w.out);
        const int steps = min(J.reach, J.steps - made);
        const int computed = J.idle ? 0 : steps;
        made += steps;
        if (visit > 0 && !tct_own_wait(J, p, mine, visit)) return;
        load_rows<T>(J, block, lane, in, visit == 0, rows);
        if (block.touches)
            make_steps<T, true>(J, lane, computed, block, rows, turn);
        else make_steps<T, false>(J, lane, computed, block, rows, turn);
        store_rows<T>(J, block, lane, out, made == J.steps, rows);
        if (p.sides > 0 && visit + 1 < p.visits)
            put_rows<T>(J, p, block, lane, visit, rows);
        tct_own_done(J, p, visit + 1);
    }
}

template <int SHAPE, int WEIGHTS>
static const void *cached_with(bool more, int *rows)
{
    typedef tct_own_tile<SHAPE, WEIGHTS, true> with;
    typedef tct_own_tile<SHAPE, WEIGHTS, false> without;
    *rows = more ? with::ROWS : without::ROWS;
    return more ? (const void *)cached_kernel<with>
                : (const void *)cached_kernel<without>;
}

template <int SHAPE>
static const void *cached_of(int weights, bool more, int *rows)
{
    if (weights == TACIT_WEIGHTS_MEAN)
        return cached_with<SHAPE, TACIT_WEIGHTS_MEAN>(more, rows);
    return cached_with<SHAPE, TACIT_WEIGHTS_CONSTANT>(more, rows);
}

static const void *find_cached(const tct_step_work *w, bool more, int *rows)
{
    if (w->shape == TCT_STAR2)
        return cached_of<TCT_STAR2>(w->weights, more, rows);
    return cached_of<TCT_BOX2>(w->weights, more, rows);
}

#endif
