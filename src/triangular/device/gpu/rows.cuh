/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/gpu/rows.cuh - a warp's part of a solve by rows (rows.h), whatever
 * kernel it is in. */
#ifndef TCT_GPU_ROWS_CUH
#define TCT_GPU_ROWS_CUH
#include "device/gpu/lane.cuh"
#include "triangular/device/gpu/rows.h"

/* Looks at what is not there between two looks at the clock; no row waits for so
 * many nanoseconds. */
enum { TCT_ROWS_LOOKS = 1 << 12 };
static const uint64_t TCT_ROWS_LIMIT = 5000000000;

/* No arithmetic makes it: a NaN that it makes has no sign. */
static __device__ inline double tct_unset()
{
    return __longlong_as_double(-1);
}
static __device__ inline bool tct_is_unset(double v)
{
    return __double_as_longlong(v) == -1;
}

/* One warp's wait for others; over: the solve has been given up. */
struct tct_row_wait {
    volatile int *late;
    unsigned looks;
    uint64_t since;
    bool over;
};

static __device__ inline void tct_row_look(tct_row_wait &w)
{
    if (++w.looks % TCT_ROWS_LOOKS != 0) return;
    const uint64_t now = tct_nanoseconds();
    if (w.looks == TCT_ROWS_LOOKS) w.since = now;
    if (now - w.since > TCT_ROWS_LIMIT) *w.late = 1;
    w.over = *w.late != 0;
}

/* Where the entries of a slice are: cells [first, first + width). */
struct tct_row_cells {
    int64_t first;
    int width;
};
static __device__ inline tct_row_cells tct_row_cells_of(const tct_rows_side &S,
                                                        int64_t s)
{
    const int64_t first = tct_read_only(S.cell + s);
    return {first, (int)(tct_read_only(S.cell + s + 1) - first)};
}

/* The next entries that a lane has of its row, from cell `k` on. */
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
        const int64_t at = (c.first + k + i) * GPU_WAVE + tct_lane();
        e.col[i] = k + i < c.width ? tct_read_once(S.col + at) : -1;
        e.val[i] = k + i < c.width ? tct_read_once(S.val + at) : 0.0;
    }
}

/* left = left - the entries times `from`, if all of it is there. */
template <int AT_ONCE>
static __device__ inline bool
tct_take_entries(const tct_row_entries<AT_ONCE> &e, const double *from,
                 double &left)
{
    double v[AT_ONCE];
    bool there = true;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        v[i] = e.col[i] >= 0 ? tct_load_fresh(from + e.col[i]) : 0.0;
        there = there && !tct_is_unset(v[i]);
    }
    if (!there) return false;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) left = fma(-e.val[i], v[i], left);
    return true;
}

/* Which row a lane has a part of, in slice `s`; `first`: its first lane, which
 * brings and stores what the row has but once. */
struct tct_row_share {
    int64_t p;
    bool is, first;
};
static __device__ inline tct_row_share tct_share_of(const tct_rows_kernel &K,
                                                    int64_t s)
{
    const int64_t p = s * (GPU_WAVE / K.lanes) + tct_lane() / K.lanes;
    return {p, p < K.n, p < K.n && tct_lane() % K.lanes == 0};
}

/* The sum of what the lanes of each row have, in a fixed tree. */
static __device__ inline double tct_row_sum(double part, int lanes)
{
    for (int d = 1; d < lanes; d *= 2) part += tct_shuffle_across(part, d);
    return part;
}

/* A slice with cells `c` of S: row p is S.inverse (left - its entries times `to`),
 * stored there, with `left` of its first lane, from *own, where that is not NULL,
 * once it is set. A lane may wait for another of its warp, so none of them may wait
 * for all. All lanes of a row get what it is. */
template <int AT_ONCE>
static __device__ inline double
tct_row_slice(const tct_rows_kernel &K, const tct_rows_side &S,
              const tct_row_share &mine, const tct_row_cells &c, double left,
              const double *own, double *to, tct_row_wait &w)
{
    const double inverse = mine.is ? tct_read_only(S.inverse + mine.p) : 0.0;
    const tct_lanes row = (TCT_ALL_LANES >> (GPU_WAVE - K.lanes))
                          << (tct_lane() / K.lanes * K.lanes);
    tct_row_entries<AT_ONCE> e;
    bool open = mine.is, found = !mine.is;
    int k = 0;
    w.looks = 0;
    tct_load_entries<AT_ONCE>(S, c, 0, e);
    while (tct_ballot(!found && !w.over)) {
        if (open && own) {
            left = tct_load_fresh(own);
            if (!tct_is_unset(left)) own = nullptr;
        }
        if (open && !own && tct_take_entries<AT_ONCE>(e, to, left)) {
            k += AT_ONCE;
            open = k < c.width;
            if (open) tct_load_entries<AT_ONCE>(S, c, k, e);
        }
        const tct_lanes under_way = tct_ballot(open);
        const bool ends = !found && !(under_way & row);
        if (tct_ballot(ends)) {
            const double sum = tct_row_sum(left, K.lanes);
            if (ends) {
                left = sum * inverse;
                if (mine.first) tct_store_through(to + mine.p, left);
                found = true;
            }
        }
        tct_row_look(w);
    }
    return found ? left : nan("");
}

#endif
