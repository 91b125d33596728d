/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/halo.cuh - messages of a persistent kernel to other GPUs, and
 * rows with columns of theirs.
 *
 * A value is written to a buffer of the peer, with the number of its message,
 * while this block waits in a barrier of all grids that the method needs for a
 * sum. (Sent before the barrier, it would delay the block by 1 us.) The peer
 * reads it after the barrier. The message after the next reuses the buffer,
 * after another such barrier.
 *
 * Each block has its own copies of the ghosts of its rows, so that it waits for
 * no other block. If the product directly follows the barrier, the ghosts are
 * the received values. Otherwise blocks keep vectors of ghosts and update them
 * as the owner does, to the same bits, without another barrier. */
#ifndef TCT_SOLVER_RESIDENT_HALO_CUH
#define TCT_SOLVER_RESIDENT_HALO_CUH
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/rows.cuh"

/* The first sends, edges and ghosts of a block stay on the chip. */
enum {
    TCT_NEAR = 64,
    TCT_NEAR_GHOSTS = 128,
    TCT_NEAR_BOXES = 2 * TCT_NEAR_GHOSTS /* values of one message */
};
struct tct_near {
    int sends, edges, ghosts; /* of this block                    */
    int lanes;                /* lanes per edge                   */
    int team; /* threads with ghosts or edges; others skip what follows */
    const tct_resident_send *send; /* all of them                      */
    const tct_resident_edge *edge;
    const int32_t *place;    /* place of each received ghost     */
    double *ghost[TCT_KEPT]; /* their values                     */
    tct_resident_send near_send[TCT_NEAR];
    tct_resident_edge near_edge[TCT_NEAR];
    int near_place[TCT_NEAR_GHOSTS];
    double near_ghost[TCT_KEPT][TCT_NEAR_GHOSTS];
    tct_numbered box[TCT_NEAR_BOXES]; /* copies of values that may have
                                       * arrived */
};

/* For a GPU alone: empty. */
struct tct_no_near {
};
template <bool PEERS> struct tct_near_of {
    typedef tct_near type;
};
template <> struct tct_near_of<false> {
    typedef tct_no_near type;
};
template <bool PEERS> using tct_near_if = typename tct_near_of<PEERS>::type;

/* Entries of rows with columns of other ranks, at the start of dynamic shared
 * memory. */
static __device__ inline double *tct_near_val(void)
{
    extern __shared__ double chip[];
    return chip;
}
static __device__ inline int32_t *tct_near_col(const tct_resident_halo &H)
{
    return (int32_t *)(tct_near_val() + H.entries);
}
static __device__ inline bool tct_is_near(const tct_resident_halo &H,
                                          const tct_resident_edge &e)
{
    return e.near + e.count <= H.entries;
}

/* Called once by every thread, at the start; N is in shared memory. The team is
 * the block's first `team` threads. */
static __device__ inline void tct_near_fill(const tct_resident_halo &H,
                                            tct_near &N, int team)
{
    const int b = (int)blockIdx.x, i = (int)threadIdx.x;
    if (i == 0) {
        N.sends = H.send_of[b + 1] - H.send_of[b];
        N.edges = H.edge_of[b + 1] - H.edge_of[b];
        N.ghosts = H.ghost_of[b + 1] - H.ghost_of[b];
        N.send = H.send + H.send_of[b];
        N.edge = H.edge + H.edge_of[b];
        N.place = H.place + H.ghost_of[b];
        for (int n = 0; n < TCT_KEPT; n++)
            N.ghost[n] = N.ghosts <= TCT_NEAR_GHOSTS
                             ? N.near_ghost[n]
                             : H.kept[n] + H.ghost_of[b];
        N.team = team;
        N.lanes = 1;
        while (N.lanes < GPU_WAVE && 2 * N.lanes * N.edges <= team)
            N.lanes *= 2;
    }
    __syncthreads();
    for (int k = i; k < TCT_NEAR_BOXES; k += (int)blockDim.x)
        N.box[k].number = 0;
    if (i < TCT_NEAR_GHOSTS && i < N.ghosts) N.near_place[i] = N.place[i];
    if (i < TCT_NEAR && i < N.sends) N.near_send[i] = N.send[i];
    if (i < TCT_NEAR && i < N.edges) N.near_edge[i] = N.edge[i];
    for (int k = i; k < N.edges; k += (int)blockDim.x) {
        const tct_resident_edge e = N.edge[k];
        for (int j = 0; j < e.count && tct_is_near(H, e); j++) {
            tct_near_val()[e.near + j] = H.val[e.first + j];
            tct_near_col(H)[e.near + j] = H.col[e.first + j];
        }
    }
    __syncthreads();
}

/* A wait for a peer's value; after a timeout the thread sets the grid's status,
 * and all waits end. */
static __device__ inline bool tct_wait_over(const tct_persistent_grid<true> &g,
                                            tct_wait &w)
{
    const tct_wait_status status = tct_poll(&w, {g.peers->limit_ns, nullptr});
    if (status == TCT_MISSED) g.told[FLAG_MISSED] = 1;
    return status == TCT_MISSED || *(volatile int *)&g.told[FLAG_MISSED] != 0;
}

/* --- ghosts --------------------------------------------------------------- */

/* Ghosts per block whose COLS values are copied ahead. */
template <int COLS>
static __device__ inline int tct_copied_ahead(const tct_near &N)
{
    return min(N.ghosts, TCT_NEAR_BOXES / COLS);
}
static __device__ inline const tct_numbered *
tct_ghost_box(const tct_resident_halo &H, const tct_near &N, int g,
              uint64_t number)
{
    return H.come[tct_buffer_of(number)] +
           (g < TCT_NEAR_GHOSTS ? N.near_place[g] : tct_read_only(&N.place[g]));
}

/* Begin to copy the values of message `number` that have arrived, COLS per
 * ghost; tct_for_ghosts waits for the rest. */
template <int COLS>
static __device__ inline void tct_expect(const tct_resident_halo &H,
                                         tct_near &N, uint64_t number)
{
    const int n = tct_copied_ahead<COLS>(N);
    for (int g = (int)threadIdx.x; g < n; g += N.team)
        for (int j = 0; j < COLS; j++)
            tct_copy(&N.box[COLS * g + j], tct_ghost_box(H, N, g, number) + j);
}

/* Have all COLS values arrived? */
template <int COLS>
static __device__ inline bool
tct_take_values(const tct_numbered *box, uint64_t number, double (&v)[COLS])
{
    bool all = true;
    for (int j = 0; j < COLS; j++) {
        v[j] = box[j].value;
        all = all && box[j].number == number;
    }
    return all;
}

/* work(ghost, values of message `number`) for all ghosts of this block, a ghost
 * always by the same thread. */
template <int COLS, class WORK>
static __device__ inline void
tct_for_ghosts(const tct_resident_halo &H, const tct_near &N,
               const tct_persistent_grid<true> &grid, uint64_t number,
               const WORK &work)
{
    const int ahead = tct_copied_ahead<COLS>(N);
    tct_await_copies();
    for (int g = (int)threadIdx.x; g < N.ghosts; g += N.team) {
        double v[COLS];
        bool all = g < ahead && tct_take_values(&N.box[COLS * g], number, v);
        for (tct_wait waited = {0, 0}; !all;) {
            const tct_numbered *box = tct_ghost_box(H, N, g, number);
            tct_numbered got[COLS]; /* loaded together */
            for (int j = 0; j < COLS; j++) got[j] = tct_numbered_value(box + j);
            all =
                tct_take_values(got, number, v) || tct_wait_over(grid, waited);
        }
        work(g, v);
    }
}

/* --- rows with columns of other ranks ------------------------------------- */

/* Send COLS values of each row that a peer needs: value(j, slot, row, thread),
 * already stored by this block. Thread 0 has other work meanwhile. */
template <int COLS, class VALUE>
static __device__ inline void tct_send(const tct_near &N, uint64_t number,
                                       const VALUE &value)
{
    const int threads = (int)blockDim.x, t = (int)threadIdx.x - GPU_WAVE;
    for (int i = t < 0 ? t + threads : t; i < N.sends; i += threads) {
        const tct_resident_send s = i < TCT_NEAR ? N.near_send[i] : N.send[i];
        const int thread = s.at & ((1 << TCT_THREAD_BITS) - 1);
        for (int j = 0; j < COLS; j++)
            tct_numbered_send(&s.to[tct_buffer_of(number)][j],
                              value(j, s.at >> TCT_THREAD_BITS, s.row, thread),
                              number);
    }
}

/* add(slot, row, sums, thread) for each row with columns of other ranks: their
 * products with the first COLS vectors of ghosts. Few such rows get several
 * lanes each. */
template <int COLS, class ADD>
static __device__ inline void tct_add_edges(const tct_resident_halo &H,
                                            const tct_near &N, const ADD &add)
{
    const int lanes = N.lanes, step = N.team / lanes;
    const int mine = (int)threadIdx.x / lanes, lane = (int)threadIdx.x % lanes;
    tct_sync_some(1, N.team);
    for (int first = 0; first < N.edges; first += step) {
        const int i = first + mine;
        double sum[COLS] = {0.0};
        tct_resident_edge e = {0, 0, 0, 0, 0};
        if (i < N.edges) e = i < TCT_NEAR ? N.near_edge[i] : N.edge[i];
        const bool near = tct_is_near(H, e);
        for (int k = lane; k < e.count; k += lanes) {
            const double a = near ? tct_near_val()[e.near + k]
                                  : tct_read_only(&H.val[e.first + k]);
            const int col = near ? tct_near_col(H)[e.near + k]
                                 : tct_read_only(&H.col[e.first + k]);
            for (int j = 0; j < COLS; j++)
                sum[j] = fma(a, N.ghost[j][col], sum[j]);
        }
        tct_warp_sync();
        for (int d = lanes / 2; d > 0; d /= 2)
            for (int j = 0; j < COLS; j++)
                sum[j] += tct_shuffle_across(sum[j], d);
        if (i < N.edges && lane == 0)
            add(e.at >> TCT_THREAD_BITS, e.row, sum,
                e.at & ((1 << TCT_THREAD_BITS) - 1));
    }
    tct_sync_some(1, N.team);
}

/* Receive value(slot, row, thread) of the owners of all ghosts as vector n:
 * message `i` of this kernel. */
template <class VALUE>
static __device__ inline tct_barrier_status
tct_keep(const tct_resident_halo &H, const tct_near &N,
         tct_persistent_grid<true> &grid, int n, int64_t i, const VALUE &value)
{
    const uint64_t number = tct_message(grid, i);
    __syncthreads();
    tct_send<1>(N, number, [&](int, int slot, int64_t row, int thread) {
        return value(slot, row, thread);
    });
    tct_for_ghosts<1>(H, N, grid, number, [&](int g, const double(&v)[1]) {
        N.ghost[n][g] = v[0];
    });
    return tct_barrier_all(grid);
}

#endif
