/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/halo.cuh - what a persistent kernel sends to those of other
 * GPUs, and its rows with columns of theirs.
 *
 * A value goes to a box of the peer, with the number of its message, before a
 * meeting of all gangs that the method has anyway, for a sum; it is read after it,
 * when it has come: mostly it has. The message after the next one takes the same
 * box: between the two there is such a meeting behind what reads the first one.
 * Where a method's product follows the meeting directly, ghosts are read where
 * they came to. Else, so that there is no meeting more than on one GPU, each GPU
 * keeps vectors of ghosts, which it updates as their owner does: the same
 * arithmetic on the same values, so the same bits. */
#ifndef TCT_HALO_CUH
#define TCT_HALO_CUH
#include "device/gpu/gang.cuh"
#include "solver/resident/rows.cuh"

/* What the first threads of a block send, and its first rows with columns of
 * others, stay on the chip. */
enum { TCT_NEAR = 64, TCT_NEAR_ENTRIES = 192 };
struct tct_near {
    int sends, edges;              /* of this block                    */
    int lanes;                     /* that an edge has                 */
    const tct_resident_send *send; /* all of them                      */
    const tct_resident_edge *edge;
    tct_resident_send near_send[TCT_NEAR];
    tct_resident_edge near_edge[TCT_NEAR];
    int at[TCT_NEAR]; /* its entries begin here, below; < 0: not on the chip */
    int col[TCT_NEAR_ENTRIES];
    double val[TCT_NEAR_ENTRIES];
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

/* Every thread calls it, once, at the start; N is in shared memory. */
static __device__ inline void tct_near_fill(const tct_resident_halo &H,
                                            tct_near &N)
{
    const int b = (int)blockIdx.x, i = (int)threadIdx.x;
    if (i == 0) {
        N.sends = H.send_of[b + 1] - H.send_of[b];
        N.edges = H.edge_of[b + 1] - H.edge_of[b];
        N.send = H.send + H.send_of[b];
        N.edge = H.edge + H.edge_of[b];
        N.lanes = 1;
        while (N.lanes < GPU_WAVE / 4 &&
               2 * N.lanes * N.edges <= (int)blockDim.x)
            N.lanes *= 2;
    }
    __syncthreads();
    if (i < TCT_NEAR && i < N.sends) N.near_send[i] = N.send[i];
    if (i < TCT_NEAR && i < N.edges) N.near_edge[i] = N.edge[i];
    __syncthreads();
    if (i < TCT_NEAR && i < N.edges) {
        int at = 0;
        for (int k = 0; k < i; k++)
            at += (int)(N.near_edge[k].end - N.near_edge[k].first);
        const tct_resident_edge e = N.near_edge[i];
        const int n = (int)(e.end - e.first);
        N.at[i] = at + n <= TCT_NEAR_ENTRIES ? at : -1;
        for (int k = 0; k < n && N.at[i] >= 0; k++) {
            N.col[at + k] = H.col[e.first + k];
            N.val[at + k] = H.val[e.first + k];
        }
    }
    __syncthreads();
}

/* A wait for what a peer sends: whoever has waited for too long tells the gang,
 * and then nobody waits any more. */
static __device__ inline bool tct_is_over(const tct_gang<true> &g, tct_wait &w)
{
    const tct_news news = tct_look_again(&w, {g.peers->limit_ns, nullptr});
    if (news == TCT_MISSED) g.told[3] = 1;
    return news == TCT_MISSED || *(volatile int *)&g.told[3] != 0;
}

/* What the product reads of ghosts: vectors that are kept, */
struct tct_kept {
    const double *vector;
    __device__ void read(int at, double (&v)[1]) const
    {
        v[0] = tct_load_fresh(&vector[at]);
    }
};
/* or boxes, to which message `number` comes. */
struct tct_boxes {
    const tct_gang<true> &gang;
    const tct_numbered *box;
    uint64_t number;
    template <int COLS> __device__ void read(int at, double (&v)[COLS]) const
    {
        tct_wait waited = {0, 0};
        for (bool all = false; !all;) {
            tct_numbered got[COLS]; /* under way together */
            for (int j = 0; j < COLS; j++)
                got[j] = tct_numbered_seen(&box[at + j]);
            all = true;
            for (int j = 0; j < COLS; j++) {
                v[j] = got[j].value;
                all = all && got[j].number == number;
            }
            all = all || tct_is_over(gang, waited);
        }
    }
};
static __device__ inline tct_boxes tct_boxes_of(const tct_resident_halo &H,
                                                const tct_gang<true> &gang,
                                                uint64_t number)
{
    return {gang, H.come[number & 1], number};
}

/* Send of each row that a peer needs COLS values: value(j, slot, row, thread),
 * which threads of this block have stored before. */
template <int COLS, class VALUE>
static __device__ inline void tct_send(const tct_near &N, uint64_t number,
                                       const VALUE &value)
{
    __syncthreads();
    for (int i = (int)threadIdx.x; i < N.sends; i += (int)blockDim.x) {
        const tct_resident_send s = i < TCT_NEAR ? N.near_send[i] : N.send[i];
        const int thread = s.at & ((1 << TCT_THREAD_BITS) - 1);
        for (int j = 0; j < COLS; j++)
            tct_numbered_send(&s.to[number & 1][j],
                              value(j, s.at >> TCT_THREAD_BITS, s.row, thread),
                              number);
    }
}

/* add(slot, row, sums, thread) for each row of this block with columns of other
 * ranks: what they add to its product with x. Where there are few such rows each
 * has several lanes. */
template <int COLS, class X, class ADD>
static __device__ inline void tct_add_edges(const tct_resident_halo &H,
                                            const tct_near &N, const X &x,
                                            const ADD &add)
{
    const int lanes = N.lanes, step = (int)blockDim.x / lanes;
    const int mine = (int)threadIdx.x / lanes, lane = (int)threadIdx.x % lanes;
    __syncthreads();
    for (int first = 0; first < N.edges; first += step) {
        const int i = first + mine;
        double sum[COLS] = {0.0};
        tct_resident_edge e = {0, 0, 0, 0};
        if (i < N.edges) e = i < TCT_NEAR ? N.near_edge[i] : N.edge[i];
        const int at = i < TCT_NEAR ? N.at[i] : -1, n = (int)(e.end - e.first);
        for (int k = lane; k < n; k += lanes) {
            const double a =
                at >= 0 ? N.val[at + k] : tct_read_only(&H.val[e.first + k]);
            const int col =
                at >= 0 ? N.col[at + k] : tct_read_only(&H.col[e.first + k]);
            double v[COLS];
            x.read(col, v);
            for (int j = 0; j < COLS; j++) sum[j] = fma(a, v[j], sum[j]);
        }
        tct_warp_sync();
        for (int d = lanes / 2; d > 0; d /= 2)
            for (int j = 0; j < COLS; j++)
                sum[j] += tct_shuffle_across(sum[j], d);
        if (i < N.edges && lane == 0)
            add(e.at >> TCT_THREAD_BITS, e.row, sum,
                e.at & ((1 << TCT_THREAD_BITS) - 1));
    }
    __syncthreads();
}

/* work(ghost, what message `number` says of it) for all ghosts that are kept, by
 * all threads of the gang, a ghost always by the same. */
template <class WORK>
static __device__ inline void tct_ghosts(const tct_resident_halo &H,
                                         const tct_gang<true> &gang,
                                         uint64_t number, const WORK &work)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    const tct_boxes boxes = tct_boxes_of(H, gang, number);
    for (int64_t g = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
         g < H.ghosts; g += step) {
        double come[1];
        boxes.read(tct_read_only(&H.place[g]), come);
        work(g, come[0]);
    }
}

/* Keep of all ghosts value(slot, row, thread) of their owners, in kept[n], for
 * all to read: message `i` of this kernel. */
template <class VALUE>
static __device__ inline tct_met
tct_keep(const tct_resident_halo &H, const tct_near &N, tct_gang<true> &gang,
         int n, int64_t i, const VALUE &value)
{
    const uint64_t number = tct_message(gang, i);
    tct_send<1>(N, number, [&](int, int slot, int64_t row, int thread) {
        return value(slot, row, thread);
    });
    double *to = H.kept[n];
    tct_ghosts(H, gang, number, [&](int64_t g, double v) { to[g] = v; });
    return tct_meet_all(gang);
}

#endif
