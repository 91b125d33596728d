/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/tiles3_ranks.cuh - tiles3.cuh for a block whose planes
 * have neighbours of other ranks: a visit is one kernel with its exchange.
 *
 * A chunk at an end of the planes streams towards it, the first chunk in a
 * mirrored grid: it waits for the neighbour before the first ghost plane, and
 * stores its last planes into the neighbour's ghosts, too. So most of a visit
 * passes between a message's put and its wait. No other chunk reads ghosts. The
 * sums of a cell are symmetric: mirrored planes have the same bits. */
#ifndef TCT_OPERATOR_STENCIL_GPU_TILES3_RANKS_CUH
#define TCT_OPERATOR_STENCIL_GPU_TILES3_RANKS_CUH
#include "halo/put.h"
#include "operator/stencil/gpu/tiles3.cuh"

/* The planes at the end of a chunk. */
typedef struct tct_end_planes {
    int wait_at;          /* the first ghost plane                     */
    int plain_to;         /* planes from here on need care             */
    int put_from;         /* planes from here on are put               */
    TCT_REAL *to;         /* cell (0, 0, 0) in the neighbour's buffer  */
    int64_t pitch, plane; /* cells there                               */
} tct_end_planes;

/* wait() waits for the neighbours, by all threads. */
template <class WAIT> struct tct_rank_end {
    static constexpr bool there = true;
    const WAIT &wait;
    const tct_end_planes &at;
};

/* The grid, as it is and mirrored; chunks at ends with neighbours are the first
 * thread blocks. */
typedef struct tct_solid_ranks {
    tct_tile_grid g[2];
    tct_cut3 cut;
    bool low, high; /* neighbours */
} tct_solid_ranks;

/* --- chunks --------------------------------------------------------------- */

static inline tct_tile_grid tct_mirrored(const tct_tile_grid *g)
{
    tct_tile_grid m = *g;
    m.in += (g->n[2] - 1) * g->plane;
    m.out += (g->n[2] - 1) * g->plane;
    m.plane = -g->plane;
    m.low[2] = g->n[2] - g->high[2];
    m.high[2] = g->n[2] - g->low[2];
    return m;
}

static inline tct_solid_ranks tct_solid_ranks_of(const tct_tile_grid *g,
                                                 const tct_cut3 *cut)
{
    tct_solid_ranks r = {{*g, tct_mirrored(g)}, *cut, false, false};
    r.low = g->low[2] < 0;
    r.high = g->high[2] > g->n[2];
    return r;
}

/* Chunks that have a neighbour. */
static __device__ __host__ inline int end_chunks(const tct_solid_ranks &r)
{
    return r.low + r.high;
}

/* Thread blocks that have one. */
static __device__ __host__ inline int end_blocks(const tct_solid_ranks &r)
{
    return end_chunks(r) * r.cut.tiles[0] * r.cut.tiles[1];
}

/* Each end has a chunk of its own, and no other chunk reads ghosts or has
 * planes that are put. */
template <class T> static bool ranks_fit(const tct_solid_ranks &r)
{
    const int n = r.g[0].n[2], chunks = r.cut.tiles[2];
    const int first = chunks > 1 ? r.cut.planes : n;
    return end_chunks(r) > 0 && chunks >= end_chunks(r) &&
           (!r.low || first >= T::DEPTH) &&
           (!r.high || n - (chunks - 1) * r.cut.planes >= T::DEPTH);
}

/* Fewer chunks than `r` has, until they fit. False: none do. */
template <class T> static bool make_ranks_fit(tct_solid_ranks *r)
{
    const int n = r->g[0].n[2];
    for (int chunks = r->cut.tiles[2]; !ranks_fit<T>(*r);) {
        if (--chunks < 1) return false;
        r->cut.planes = (n - 1) / chunks + 1;
        r->cut.tiles[2] = (n - 1) / r->cut.planes + 1;
    }
    return true;
}

/* The chunk of a thread block, and whether it is mirrored; `last`: it has a
 * neighbour. */
typedef struct tct_solid_chunk {
    int from, to;
    bool mirrored, last;
} tct_solid_chunk;

static __device__ __forceinline__ tct_solid_chunk
chunk_of(const tct_solid_ranks &r, int number)
{
    const int n = r.g[0].n[2], chunks = r.cut.tiles[2];
    const int at = number == 0 && r.low ? 0
                   : number == (int)r.low && r.high
                       ? chunks - 1
                       : number - end_chunks(r) + r.low;
    const int from = at * r.cut.planes, to = min(n, from + r.cut.planes);
    tct_solid_chunk c = {from, to, r.low && at == 0, number < end_chunks(r)};
    if (c.mirrored) {
        c.from = n - to;
        c.to = n - from;
    }
    return c;
}

/* --- ends ----------------------------------------------------------------- */

/* A number of planes before which nothing happens. */
enum { PLANES_NEVER = 1 << 30 };

/* Where the neighbour past an end has the planes of this block. */
template <class T>
static __device__ inline tct_end_planes end_of(const tct_solid_ranks &r,
                                               const tct_solid_chunk &c,
                                               const tct_step_halo &h)
{
    const int n = r.g[0].n[2], never = PLANES_NEVER;
    tct_end_planes end = {never, never, never, nullptr, 0, 0};
    if (!c.last) return end;
    end.wait_at = n;
    end.plain_to = n - 3;
    for (int k = 0; k < h.count; k++) {
        const tct_halo_put &p = h.put[k];
        if (p.direction / 9 % 3 - 1 != (c.mirrored ? -1 : 1)) continue;
        const int64_t plane = p.plane / (int64_t)sizeof(TCT_REAL);
        end.put_from = n - T::DEPTH;
        end.to = (TCT_REAL *)(void *)p.at[h.slot] + h.x;
        end.to += c.mirrored ? (n - 1) * plane : 0;
        end.pitch = p.pitch / (int64_t)sizeof(TCT_REAL);
        end.plane = c.mirrored ? -plane : plane;
    }
    return end;
}

/* A thread block's part of a visit. What is seldom read is in shared memory,
 * where all threads store the same. */
template <class T, class WAIT>
static __device__ __forceinline__ void
solid_ranks_block(const tct_solid_ranks &r, const tct_step_halo &h,
                  const WAIT &wait, char *memory)
{
    __shared__ tct_tile_grid g;
    __shared__ tct_end_planes end;
    const int flat = r.cut.tiles[0] * r.cut.tiles[1];
    const tct_solid_chunk c = chunk_of(r, (int)blockIdx.x / flat);
    g = r.g[c.mirrored];
    end = end_of<T>(r, c, h);
    __syncthreads();
    const tct_rank_end<WAIT> last = {wait, end};
    solid_chunk(
        tile_of<T>(g, r.cut, (int)blockIdx.x % flat, c.from, c.to, memory),
        last);
}

#endif
