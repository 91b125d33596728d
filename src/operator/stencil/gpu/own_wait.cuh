/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_wait.cuh - how blocks that stay wait for those
 * around them. A flag is set by a release and read by an acquire, both with a
 * barrier of the block, so that plain loads after it see plain stores before
 * it. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_WAIT_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_WAIT_CUH
#include "device/gpu/lane.cuh"
#include "device/gpu/late.h"
#include "device/protocol.h"
#include "operator/stencil/gpu/own_job.h"

/* A block's part in waits, in shared memory. Threads below `others` wait for
 * a tile each, those that follow for a neighbour of another rank. */
typedef struct tct_own_place {
    int tile, others, sides; /* tiles, neighbours that it waits for */
    int visits;              /* of this kernel                      */
    int late;                /* a wait was in vain                  */
    const int *other, *side; /* numbers of those                    */
    tct_halo_put put[TCT_SIDES_MOST];
} tct_own_place;

static __device__ inline const uint64_t *tct_own_flag(const tct_own_job &J,
                                                      int tile)
{
    return J.flag + (size_t)tile * TCT_FLAG_WORDS;
}

static __device__ inline void tct_own_find(const tct_own_job &J,
                                           tct_own_place &p)
{
    const int tile = J.tile + (int)blockIdx.x, first = J.first[tile];
    p.tile = tile;
    p.others = J.first[tile + 1] - first;
    p.other = J.others + first;
    p.visits = (J.steps - 1) / J.reach + 1;
    p.sides = p.late = 0;
    if (J.puts == 0) return;
    p.side = J.sides + J.first_side[tile];
    p.sides = J.first_side[tile + 1] - J.first_side[tile];
    if (tile == 0 && J.number)
        *J.number = J.exchange + (uint64_t)(p.visits - 1);
}

/* By all threads, of which there are more than tiles and neighbours around.
 * Returns what this thread waits for, or NULL. */
static __device__ inline const uint64_t *tct_own_open(const tct_own_job &J,
                                                      tct_own_place &p)
{
    const int i = (int)threadIdx.x;
    if (i == 0) tct_own_find(J, p);
    __syncthreads();
    if (i < p.sides) p.put[i] = J.put[p.side[i]];
    __syncthreads();
    if (i < p.others) return tct_own_flag(J, p.other[i]);
    return i < p.others + p.sides ? p.put[i - p.others].own : nullptr;
}

/* A wait was in vain, for neighbour `side` of the tile; -1: for a tile. A rank
 * is named; tiles of this GPU are named where there is no other. */
static __device__ inline void tct_own_late(const tct_own_job &J,
                                           tct_own_place &p, int side)
{
    p.late = 1;
    if (side >= 0) {
        const uint64_t lost = 1 + (uint64_t)p.put[side].peer;
        *J.flags = 1.0;
        tct_signal_send(J.gone, lost);
        tct_host_store(J.missing, lost);
    } else if (J.puts == 0) {
        tct_signal_send(J.gone, 1);
        tct_host_store(J.missing, TCT_MISSING_BLOCK);
    }
    tct_fence_all();
}

/* Wait for the tiles around and, with `peers`, for neighbours of other ranks
 * until they have made `visit` visits of this kernel, or as many exchanges.
 * False: one did not come in time; all end. */
static __device__ inline bool tct_own_wait_for(const tct_own_job &J,
                                               tct_own_place &p,
                                               const uint64_t *mine, int visit,
                                               bool peers)
{
    const int side = max((int)threadIdx.x - p.others, -1);
    const uint64_t before = side >= 0 ? J.exchange : J.visited;
    const tct_limit limit = {side >= 0 ? J.peer_ns : J.limit_ns, J.gone};
    if (mine && (peers || side < 0)) {
        const tct_wait_status status =
            tct_await_counter(mine, before + (uint64_t)visit, limit);
        if (status == TCT_MISSED) tct_own_late(J, p, side);
        if (status == TCT_GONE) p.late = 1;
    }
    __syncthreads();
    return p.late == 0;
}

static __device__ inline bool tct_own_wait(const tct_own_job &J,
                                           tct_own_place &p,
                                           const uint64_t *mine, int visit)
{
    return tct_own_wait_for(J, p, mine, visit, true);
}

/* A warp that reads ghosts last waits for neighbours alone. If one does not
 * come, the block ends with its next wait. */
static __device__ inline void tct_own_wait_warp(const tct_own_job &J,
                                                tct_own_place &p, int visit)
{
    const int side = tct_lane();
    const tct_limit limit = {J.peer_ns, J.gone};
    if (side < p.sides && p.put[side].own) {
        const tct_wait_status status = tct_await_counter(
            p.put[side].own, J.exchange + (uint64_t)visit, limit);
        if (status == TCT_MISSED) tct_own_late(J, p, side);
        if (status == TCT_GONE) p.late = 1;
    }
    tct_warp_sync();
}

/* Are all neighbours of a tile past the same end of direction 2? 1: the high
 * one, -1: the low one, 0: no. A warp then marches towards that end, and waits
 * for neighbours before its last planes. */
static __device__ inline int tct_own_end(const tct_own_place &p)
{
    int end = 0;
    for (int k = 0; k < p.sides; k++) {
        const int to = p.put[k].direction / 9 % 3 - 1;
        if (to == 0 || (end != 0 && to != end)) return 0;
        end = to;
    }
    return end;
}

/* Tell a neighbour, when all tiles at its side have finished `visits`. */
static __device__ inline void
tct_own_tell(const tct_own_job &J, const tct_own_place &p, int k, int visits)
{
    const int side = p.side[k];
    unsigned *ticket = J.ticket + (visits & 1) * J.puts + side;
    if (p.put[k].other && tct_all_done(ticket, (unsigned)J.parts[side]))
        tct_signal_send(p.put[k].other, J.exchange + (uint64_t)visits);
}

/* This tile has made `visits` visits. One warp tells the tiles around, others
 * the neighbours. */
static __device__ inline void tct_own_done(const tct_own_job &J,
                                           const tct_own_place &p, int visits)
{
    const int warps = (int)blockDim.x / GPU_WAVE - 1;
    __syncthreads();
    if (tct_lane() != 0) return;
    if (tct_warp() == 0)
        tct_signal_set(J.flag + (size_t)p.tile * TCT_FLAG_WORDS,
                       J.visited + (uint64_t)visits);
    else if (visits < p.visits)
        for (int k = tct_warp() - 1; k < p.sides; k += warps)
            tct_own_tell(J, p, k, visits);
}

/* Does neighbour `put` have row y of plane z? */
static __device__ __forceinline__ bool tct_own_sends(const tct_halo_put &put,
                                                     int z, int y)
{
    return z >= put.send[2] && z < put.send[2] + put.extent[2] &&
           y >= put.send[1] && y < put.send[1] + put.extent[1];
}

/* Cell 0 of that row in its buffer after visit `visit`. */
static __device__ __forceinline__ char *tct_own_row(const tct_own_job &J,
                                                    const tct_halo_put &put,
                                                    int visit, int z, int y)
{
    return put.at[(J.slot + visit + 1) & 1] + z * put.plane + y * put.pitch;
}

#endif
