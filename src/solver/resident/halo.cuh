/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/halo.cuh - what a persistent kernel sends to those of other
 * GPUs, and its rows with columns of theirs.
 *
 * A value goes to a box of the peer, with the number of its message, at a
 * meeting of all persistent grids that the method has anyway, for a sum: when
 * the block has come, and waits for others. (Before it, the block would come
 * when the peer has its values: 1 us later.) It is read after the meeting, when
 * it has come: mostly it has. The message after the next one takes the same
 * box: between the two there is such a meeting behind what reads the first one.
 *
 * Each block has the ghosts of its rows to itself, so that it waits for no
 * other block to read them. Where a method's product follows the meeting
 * directly they are what came. Else, so that there is no meeting more than on
 * one GPU, blocks keep vectors of ghosts, which they update as their owner
 * does: the same arithmetic on the same values, so the same bits. */
#ifndef TCT_SOLVER_RESIDENT_HALO_CUH
#define TCT_SOLVER_RESIDENT_HALO_CUH
#include "device/gpu/persistent_grid.cuh"
#include "solver/resident/rows.cuh"

/* What the first threads of a block send, its first rows with columns of
 * others, and the first of its ghosts stay on the chip. */
enum {
    TCT_NEAR = 64,
    TCT_NEAR_GHOSTS = 128,
    TCT_NEAR_BOXES = 2 * TCT_NEAR_GHOSTS /* a kernel sends so much at once */
};
struct tct_near {
    int sends, edges, ghosts; /* of this block                    */
    int lanes;                /* that an edge has                 */
    int team; /* threads that have to do with ghosts and edges: others do not
                 come to what follows */
    const tct_resident_send *send; /* all of them                      */
    const tct_resident_edge *edge;
    const int32_t *place;    /* where ghosts come to             */
    double *ghost[TCT_KEPT]; /* their values                     */
    tct_resident_send near_send[TCT_NEAR];
    tct_resident_edge near_edge[TCT_NEAR];
    int near_place[TCT_NEAR_GHOSTS];
    double near_ghost[TCT_KEPT][TCT_NEAR_GHOSTS];
    tct_numbered box[TCT_NEAR_BOXES]; /* copies of what may have come     */
};

/* Of a GPU alone nothing. */
struct tct_no_near {
};
template <bool PEERS> struct tct_near_of {
    typedef tct_near type;
};
template <> struct tct_near_of<false> {
    typedef tct_no_near type;
};
template <bool PEERS> using tct_near_if = typename tct_near_of<PEERS>::type;

/* Entries of rows with columns of others, in front of all else in the shared
 * memory that kernels are given. */
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

/* Every thread calls it, once, at the start; N is in shared memory. The team is
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

/* A wait for what a peer sends: whoever has waited for too long tells the
 * persistent grid, and then nobody waits any more. */
static __device__ inline bool tct_wait_over(const tct_persistent_grid<true> &g,
                                            tct_wait &w)
{
    const tct_wait_status status = tct_poll(&w, {g.peers->limit_ns, nullptr});
    if (status == TCT_MISSED) g.told[FLAG_MISSED] = 1;
    return status == TCT_MISSED || *(volatile int *)&g.told[FLAG_MISSED] != 0;
}

/* --- ghosts --------------------------------------------------------------- */

/* Ghosts of this block whose COLS values are copied ahead. */
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

/* Begin to copy what message `number`, of COLS values a ghost, has brought so
 * far: tct_for_ghosts asks for the rest. */
template <int COLS>
static __device__ inline void tct_expect(const tct_resident_halo &H,
                                         tct_near &N, uint64_t number)
{
    const int n = tct_copied_ahead<COLS>(N);
    for (int g = (int)threadIdx.x; g < n; g += N.team)
        for (int j = 0; j < COLS; j++)
            tct_copy(&N.box[COLS * g + j], tct_ghost_box(H, N, g, number) + j);
}

/* Have all COLS values come? */
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

/* work(ghost, what message `number` says of it) for all ghosts of this block, a
 * ghost always by the same thread. */
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
            tct_numbered got[COLS]; /* under way together */
            for (int j = 0; j < COLS; j++) got[j] = tct_numbered_value(box + j);
            all =
                tct_take_values(got, number, v) || tct_wait_over(grid, waited);
        }
        work(g, v);
    }
}

/* --- rows at the edge ----------------------------------------------------- */

/* Send of each row that a peer needs COLS values: value(j, slot, row, thread),
 * which this block has stored, as all its threads know. Thread 0 has other work
 * meanwhile. */
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

/* add(slot, row, sums, thread) for each row of this block with columns of other
 * ranks: what they add to its product with the first COLS vectors of ghosts.
 * Where there are few such rows each has several lanes. */
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

/* Keep value(slot, row, thread) of the owners of all ghosts as their vector n:
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
