/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/rows.cuh - one warp's part of a solve by rows (rows.h),
 * for use in any kernel. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_ROWS_CUH
#define TCT_TRISOLVE_GPU_KERNELS_ROWS_CUH
#include "device/gpu/lane.cuh"
#include "trisolve/gpu/kernels/rows.h"

/* Polls between two readings of the clock, and the timeout in nanoseconds. */
enum { TCT_ROWS_CHECKS = 1 << 12 };
static const uint64_t TCT_ROWS_LIMIT = 5000000000;

/* The mark of an unset value. Arithmetic does not produce it: its NaNs have no
 * sign. */
static __device__ inline double tct_unset()
{
    return __longlong_as_double(-1);
}
static __device__ inline bool tct_is_unset(double v)
{
    return __double_as_longlong(v) == -1;
}

/* State of one warp's wait; over: the solve was given up. */
struct tct_row_wait {
    volatile int *late;
    unsigned looks;
    uint64_t since;
    bool over;
};

static __device__ inline void tct_row_look(tct_row_wait &w)
{
    if (++w.looks % TCT_ROWS_CHECKS != 0) return;
    const uint64_t now = tct_nanoseconds();
    if (w.looks == TCT_ROWS_CHECKS) w.since = now;
    if (now - w.since > TCT_ROWS_LIMIT) *w.late = 1;
    w.over = *w.late != 0;
}

/* Cells [first, first + width) of a slice. */
struct tct_row_cells {
    uint32_t first;
    int width;
};
static __device__ inline tct_row_cells tct_row_cells_of(const tct_rows_side &S,
                                                        int64_t s)
{
    const int64_t first = tct_read_only(S.cell + s);
    return {(uint32_t)first, (int)(tct_read_only(S.cell + s + 1) - first)};
}

/* The next entries of a lane's row, from cell `k` on. */
template <int AT_ONCE> struct tct_row_entries {
    int32_t col[AT_ONCE];
    double val[AT_ONCE];
};
template <int AT_ONCE>
static __device__ inline void tct_load_entries(const tct_rows_side &S,
                                               const tct_row_cells &c, int k,
                                               tct_row_entries<AT_ONCE> &e)
{
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        const int64_t at = ((int64_t)c.first + k + i) * GPU_WAVE + tct_lane();
        e.col[i] = k + i < c.width ? tct_read_once(S.col + at) : -1;
        e.val[i] = k + i < c.width ? tct_read_once(S.val + at) : 0.0;
    }
}

/* Multiply the entries by their elements of `from`; true once all are set. With
 * NODES, where many lanes wait, only missing elements are read again; else
 * all. */
template <int AT_ONCE, bool NODES>
static __device__ inline bool tct_take_entries(tct_row_entries<AT_ONCE> &e,
                                               const double *from)
{
    double v[AT_ONCE];
    bool there = true;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        v[i] = e.col[i] >= 0 ? tct_load_fresh(from + e.col[i]) : 0.0;
        there = there && !tct_is_unset(v[i]);
    }
    if (!NODES && !there) return false;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        if (NODES && (e.col[i] < 0 || tct_is_unset(v[i]))) continue;
        e.val[i] *= v[i];
        if (NODES) e.col[i] = -1;
    }
    return there;
}

/* The sum of entries that are all multiplied. */
template <int AT_ONCE>
static __device__ inline double tct_sum_taken(tct_row_entries<AT_ONCE> &e)
{
#pragma unroll
    for (int d = 1; d < AT_ONCE; d *= 2)
#pragma unroll
        for (int i = 0; i + d < AT_ONCE; i += 2 * d) e.val[i] += e.val[i + d];
    return e.val[0];
}

/* Position of a lane in its row and node; computed once, since it divides. */
struct tct_row_lane {
    int row, lane;  /* in the slice, in the row */
    int before;     /* earlier rows of the node */
    tct_lanes node; /* lanes of the node */
};
static __device__ inline tct_row_lane tct_row_lane_of(const tct_rows_kernel &K)
{
    const int row = tct_lane() / K.lanes, all = K.lanes * K.block;
    return {row, tct_lane() - row * K.lanes, row % K.block,
            (TCT_ALL_LANES >> (GPU_WAVE - all)) << (tct_lane() / all * all)};
}

/* The first lane of each row gets the sum over its lanes, in a fixed tree. */
static __device__ inline double tct_lanes_sum(double part, int lane, int lanes)
{
    for (int d = 1; d < lanes; d *= 2) {
        const double other = tct_shuffle_down(part, d);
        if (lane % (2 * d) == 0 && lane + d < lanes) part += other;
    }
    return part;
}

/* The state of a slice that needs no other rows. The first lane of a row loads
 * and stores what the row has once. */
template <int AT_ONCE> struct tct_row_slice {
    int32_t p; /* the lane's row, if is */
    bool is, first;
    tct_row_cells cells;
    double inverse, near;
    tct_row_entries<AT_ONCE> e;
};
template <int AT_ONCE, bool NODES>
static __device__ inline tct_row_slice<AT_ONCE>
tct_row_open(const tct_rows_kernel &K, const tct_rows_side &S,
             const tct_row_lane &l, int64_t s)
{
    tct_row_slice<AT_ONCE> it;
    const int64_t p = s * K.rows + l.row;
    it.p = (int32_t)p;
    it.is = l.row < K.rows && p < K.n;
    it.first = it.is && l.lane == 0;
    it.cells = tct_row_cells_of(S, s);
    it.inverse = it.is ? tct_read_only(S.inverse + p) : 0.0;
    const int64_t at = (int64_t)it.cells.first * GPU_WAVE + tct_lane();
    it.near = NODES ? tct_read_once(S.val + at) : 0.0;
    tct_load_entries<AT_ONCE>(S, it.cells, NODES, it.e);
    return it;
}

/* Solve the rows of a node in order; `left` is each row's right-hand side less
 * the terms of other nodes. */
static __device__ inline double tct_row_node(const tct_rows_kernel &K,
                                             const tct_row_lane &l, double near,
                                             double inverse, double left)
{
    for (int k = 0; k + 1 < K.block; k++) {
        const double entry = tct_shuffle(near, l.row * K.lanes + k);
        const double x =
            tct_shuffle(left * inverse, (l.row - l.before + k) * K.lanes);
        if (k < l.before) left = fma(-entry, x, left);
    }
    return left * inverse;
}

/* Finish the slice: row p = S.inverse (left - its entries times `to`), stored
 * in to[p]. If `own` is set, `left` of the row's first lane is *own once that
 * is set. Lanes may wait for lanes of the same warp, so no lane blocks. The
 * first lane of a row returns the solution. */
template <int AT_ONCE, bool NODES>
static __device__ inline double
tct_row_close(const tct_rows_kernel &K, const tct_rows_side &S,
              const tct_row_lane &l, tct_row_slice<AT_ONCE> &it, double left,
              const double *own, double *to, tct_row_wait &w)
{
    bool open = it.is, found = !it.is;
    int k = NODES;
    w.looks = 0;
    while (tct_ballot(!found && !w.over)) {
        if (open && own) {
            left = tct_load_fresh(own);
            if (!tct_is_unset(left)) own = nullptr;
        }
        if (open && tct_take_entries<AT_ONCE, NODES>(it.e, to) && !own) {
            left -= tct_sum_taken<AT_ONCE>(it.e);
            k += AT_ONCE;
            open = k < it.cells.width;
            if (open) tct_load_entries<AT_ONCE>(S, it.cells, k, it.e);
        }
        const tct_lanes under_way = tct_ballot(open);
        const bool ends = !found && !(under_way & l.node);
        if (tct_ballot(ends)) {
            const double sum = tct_lanes_sum(left, l.lane, K.lanes);
            const double x = NODES
                                 ? tct_row_node(K, l, it.near, it.inverse, sum)
                                 : it.inverse * sum;
            if (ends) {
                left = x;
                if (it.first) tct_store_through(to + it.p, left);
                found = true;
            }
        }
        tct_row_look(w);
    }
    return found ? left : nan("");
}

#endif
