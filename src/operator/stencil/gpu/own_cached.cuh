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
#include "operator/stencil/gpu/own_meet.cuh"
#include "operator/stencil/gpu/step.cuh"

template <int SHAPE, int WEIGHTS, bool WITH_MORE> struct tct_own_tile {
    static constexpr bool BOX = SHAPE == TCT_BOX2;
    static constexpr bool CENTRE = WEIGHTS == TACIT_WEIGHTS_CONSTANT;
    static constexpr bool MORE = WITH_MORE; /* rows in shared memory */
};
enum {
    OWN_V = sizeof(TCT_REAL) == 4 ? 4 : 2, /* cells of a lane in a row */
    OWN_WIDTH = GPU_WAVE * OWN_V,
    OWN_ROWS = TCT_CACHED_ROWS,
    OWN_GROUP = 4 /* rows that are left out together */
};

struct alignas(OWN_V * sizeof(TCT_REAL)) tct_own_cells {
    TCT_REAL v[OWN_V];
};

/* The first and the last row of each warp, of steps in turn. */
typedef tct_own_cells tct_own_edges[2][2][TCT_CACHED_WARPS][GPU_WAVE];

/* Where a warp's rows and a lane's columns are. Sets of columns have a bit for
 * each of the lane's cells. */
typedef struct tct_own_span {
    int y, rows, skip;  /* first row, how many; registers left out */
    int above, below;   /* warps                                   */
    int at[OWN_V];      /* where columns are stored                */
    unsigned there;     /* columns of the grid                     */
    unsigned read, own; /* ... that a visit reads, that are stored */
    unsigned edge;      /* ... that others read                    */
    bool touches;       /* some are not of the grid                */
} tct_own_span;

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

static __device__ inline void find_columns(const tct_own_job &J,
                                           const tct_box &b, tct_own_span &s)
{
    const int first = b.lo[0] - J.reach + tct_lane() * OWN_V;
    s.there = s.read = s.own = s.edge = 0;
#pragma unroll
    for (int i = 0; i < OWN_V; i++) {
        const int x = first + i;
        const unsigned bit = 1u << i;
        const bool there = is_there(J.w, 0, x);
        const bool own = within(x, b.lo[0], b.hi[0]);
        s.at[i] = there ? wrapped(J.w, 0, x) : 0;
        if (there) s.there |= bit;
        if (there && within(x, b.lo[0] - J.reach, b.hi[0] + J.reach))
            s.read |= bit;
        if (own) s.own |= bit;
        if (own && !within(x, b.lo[0] + J.reach, b.hi[0] - J.reach))
            s.edge |= bit;
    }
}

static __device__ inline tct_own_span find_span(const tct_own_job &J,
                                                const tct_box &b)
{
    tct_own_span s;
    const int all = b.hi[2] - b.lo[2] + 2 * J.reach, warp = tct_warp();
    const int warps = min(all, (int)TCT_CACHED_WARPS);
    const int from = warp < warps ? all * warp / warps : all;
    s.rows = warp < warps ? all * (warp + 1) / warps - from : 0;
    s.skip = OWN_ROWS - min(s.rows, (int)OWN_ROWS);
    s.y = b.lo[2] - J.reach + from;
    s.above = warp > 0 ? warp - 1 : warp;
    s.below = warp + 1 < warps ? warp + 1 : warp;
    find_columns(J, b, s);
    s.touches = !is_there(J.w, 2, b.lo[2] - J.reach) ||
                !is_there(J.w, 2, b.hi[2] + J.reach - 1) ||
                !is_there(J.w, 0, b.lo[0] - J.reach) ||
                !is_there(J.w, 0, b.lo[0] - J.reach + OWN_WIDTH - 1);
    return s;
}

/* --- rows in and out ------------------------------------------------------ */

/* Of row y the cells that a visit reads: all, or those of others. */
static __device__ __forceinline__ void
load_row(const tct_own_job &J, const tct_box &b, const tct_own_span &s,
         const TCT_REAL *in, int y, bool all, TCT_REAL (&cell)[OWN_V])
{
    const bool own = within(y, b.lo[2], b.hi[2]);
    const unsigned some = own && !all ? s.read & ~s.own : s.read;
    if (all)
#pragma unroll
        for (int i = 0; i < OWN_V; i++) cell[i] = (TCT_REAL)J.w.boundary;
    if (some == 0 || !is_there(J.w, 2, y)) return;
    const TCT_REAL *row = in + (int64_t)wrapped(J.w, 2, y) * J.w.plane;
#pragma unroll
    for (int i = 0; i < OWN_V; i++)
        if (some >> i & 1) cell[i] = row[s.at[i]];
}

/* Of row y the tile's own cells: all, or those that others read. */
static __device__ __forceinline__ void
store_row(const tct_own_job &J, const tct_box &b, const tct_own_span &s,
          TCT_REAL *out, int y, bool all, const TCT_REAL (&cell)[OWN_V])
{
    if (!within(y, b.lo[2], b.hi[2])) return;
    const bool whole = all || !within(y, b.lo[2] + J.reach, b.hi[2] - J.reach);
    const unsigned some = whole ? s.own : s.edge;
    TCT_REAL *row = out + (int64_t)y * J.w.plane;
#pragma unroll
    for (int i = 0; i < OWN_V; i++)
        if (some >> i & 1) store_cell(J.w, row, s.at[i], cell[i]);
}

/* Call `text` for each row of the warp, y and its `cell`. */
#define OWN_EACH_ROW(text)                                 \
    if constexpr (T::MORE)                                 \
        for (int j = 0; j < s.rows - OWN_ROWS; j++) {      \
            const int y = s.y + j;                         \
            TCT_REAL(&cell)[OWN_V] = more[j * GPU_WAVE].v; \
            text;                                          \
        }                                                  \
    _Pragma("unroll") for (int r = 0; r < OWN_ROWS; r++)   \
    {                                                      \
        if (r < s.skip) continue;                          \
        const int y = s.y + s.rows - OWN_ROWS + r;         \
        TCT_REAL(&cell)[OWN_V] = u[r];                     \
        text;                                              \
    }

template <class T>
static __device__ __forceinline__ void
load_rows(const tct_own_job &J, const tct_box &b, const tct_own_span &s,
          const TCT_REAL *in, bool all, tct_own_cells *more,
          TCT_REAL (&u)[OWN_ROWS][OWN_V])
{
    OWN_EACH_ROW(load_row(J, b, s, in, y, all, cell))
}

template <class T>
static __device__ __forceinline__ void
store_rows(const tct_own_job &J, const tct_box &b, const tct_own_span &s,
           TCT_REAL *out, bool all, tct_own_cells *more,
           TCT_REAL (&u)[OWN_ROWS][OWN_V])
{
    OWN_EACH_ROW(store_row(J, b, s, out, y, all, cell))
}
#undef OWN_EACH_ROW

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

/* Show the first and the last row to the warps beside this one. */
template <class T>
static __device__ __forceinline__ void
show_rows(const tct_own_span &s, const tct_own_cells *more,
          const TCT_REAL (&u)[OWN_ROWS][OWN_V],
          tct_own_cells (&edge)[2][TCT_CACHED_WARPS][GPU_WAVE])
{
    if (s.rows == 0) return;
    if (T::MORE && s.rows > OWN_ROWS) show(edge[0], more[0].v);
#pragma unroll
    for (int r = 0; r < OWN_ROWS; r++)
        if (r == s.skip && !(T::MORE && s.rows > OWN_ROWS)) show(edge[0], u[r]);
    show(edge[1], u[OWN_ROWS - 1]);
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

/* What rows leave for those below: the row above, as it was before the step. Of
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

/* Row y after a step; outside the grid it is the boundary value. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
step_row(const tct_own_job &J, const tct_own_span &s, int y,
         tct_own_before<T> &before, TCT_REAL (&cell)[OWN_V],
         const TCT_REAL (&south)[OWN_V])
{
    if constexpr (T::BOX) box_row<T>(J.w, before, cell, south);
    else star_row<T>(J.w, before, cell, south);
    if constexpr (SIDES) {
        const unsigned there = is_there(J.w, 2, y) ? s.there : 0;
#pragma unroll
        for (int i = 0; i < OWN_V; i++)
            if (!(there >> i & 1)) cell[i] = (TCT_REAL)J.w.boundary;
    }
}

/* The rows in shared memory, the first of which is `cell`; `next` is the first
 * one in registers. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
step_more(const tct_own_job &J, const tct_own_span &s, tct_own_cells *more,
          const TCT_REAL (&next)[OWN_V], tct_own_before<T> &before)
{
    const int rows = s.rows - OWN_ROWS;
    tct_own_cells cell = more[0];
    for (int j = 0; j < rows; j++) {
        tct_own_cells south;
        if (j + 1 < rows) south = more[(j + 1) * GPU_WAVE];
        else
#pragma unroll
            for (int i = 0; i < OWN_V; i++) south.v[i] = next[i];
        step_row<T, SIDES>(J, s, s.y + j, before, cell.v, south.v);
        more[j * GPU_WAVE] = cell;
        cell = south;
    }
}

/* All rows of the warp, one step; `edge` has the rows of warps beside it. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
step_rows(const tct_own_job &J, const tct_own_span &s, tct_own_cells *more,
          TCT_REAL (&u)[OWN_ROWS][OWN_V],
          const tct_own_cells (&edge)[2][TCT_CACHED_WARPS][GPU_WAVE])
{
    const int y = s.y + s.rows - OWN_ROWS;
    TCT_REAL north[OWN_V], south[OWN_V];
    tct_own_before<T> before = {};
    see(edge[1], s.above, north);
    see(edge[0], s.below, south);
    const bool has_more = T::MORE && s.rows > OWN_ROWS;
    if constexpr (T::MORE)
        if (has_more) {
            begin<T>(north, more[0].v, before);
            step_more<T, SIDES>(J, s, more, u[0], before);
        }
#pragma unroll
    for (int g = 0; g < OWN_ROWS; g += OWN_GROUP) {
        if (g + OWN_GROUP <= s.skip) continue;
#pragma unroll
        for (int r = g; r < g + OWN_GROUP; r++) {
            if (r < s.skip) continue;
            if (r == s.skip && !has_more) begin<T>(north, u[r], before);
            if (r + 1 < OWN_ROWS)
                step_row<T, SIDES>(J, s, y + r, before, u[r],
                                   u[r + 1 < OWN_ROWS ? r + 1 : 0]);
            else step_row<T, SIDES>(J, s, y + r, before, u[r], south);
        }
    }
}

/* --- the kernel ----------------------------------------------------------- */

/* `steps` steps of what the block has; `turn` counts all steps. */
template <class T, bool SIDES>
static __device__ __forceinline__ void
make_steps(const tct_own_job &J, const tct_own_span &s, int steps,
           tct_own_cells *more, TCT_REAL (&u)[OWN_ROWS][OWN_V],
           tct_own_edges &edge, int &turn)
{
    for (int i = 0; i < steps; i++) {
        show_rows<T>(s, more, u, edge[turn]);
        __syncthreads();
        if (s.rows > 0) step_rows<T, SIDES>(J, s, more, u, edge[turn]);
        turn ^= 1;
    }
}

template <class T>
static __global__ void __launch_bounds__(TCT_CACHED_THREADS, 1)
    cached_kernel(const __grid_constant__ tct_own_job J)
{
    alignas(16) __shared__ tct_own_edges edge;
    alignas(16) extern __shared__ char own_room[];
    const tct_own_place p = tct_own_open(J);
    const tct_box box = J.box[p.tile];
    const tct_own_span s = find_span(J, box);
    tct_own_cells *more =
        (tct_own_cells *)own_room + tct_warp() * J.more * GPU_WAVE + tct_lane();
    TCT_REAL u[OWN_ROWS][OWN_V] = {};
    int turn = 0;
    for (int visit = 0, made = 0; made < J.steps; visit++) {
        const TCT_REAL *in = (const TCT_REAL *)(visit & 1 ? J.w.out : J.w.in);
        TCT_REAL *out = (TCT_REAL *)(visit & 1 ? (void *)J.w.in : J.w.out);
        const int steps = min(J.reach, J.steps - made);
        made += steps;
        if (visit > 0 && !tct_own_meet(J, p, visit)) return;
        load_rows<T>(J, box, s, in, visit == 0, more, u);
        if (s.touches) make_steps<T, true>(J, s, steps, more, u, edge, turn);
        else make_steps<T, false>(J, s, steps, more, u, edge, turn);
        store_rows<T>(J, box, s, out, made == J.steps, more, u);
        tct_own_done(J, p, visit + 1);
    }
}

template <int SHAPE, int WEIGHTS> static const void *cached_with(bool more)
{
    return more
               ? (const void *)cached_kernel<tct_own_tile<SHAPE, WEIGHTS, true>>
               : (const void *)
                     cached_kernel<tct_own_tile<SHAPE, WEIGHTS, false>>;
}

template <int SHAPE> static const void *cached_of(int weights, bool more)
{
    if (weights == TACIT_WEIGHTS_MEAN)
        return cached_with<SHAPE, TACIT_WEIGHTS_MEAN>(more);
    return cached_with<SHAPE, TACIT_WEIGHTS_CONSTANT>(more);
}

static const void *find_cached(const tct_step_work *w, bool more)
{
    if (w->shape > TCT_BOX2 || w->weights == TACIT_WEIGHTS_CELLS)
        return nullptr;
    return w->shape == TCT_STAR2 ? cached_of<TCT_STAR2>(w->weights, more)
                                 : cached_of<TCT_BOX2>(w->weights, more);
}

#endif
