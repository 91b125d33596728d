/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/gpu/rows.cu - the kernel of rows.h. */
#include "device/gpu/lane.cuh"
#include "device/gpu/tail.cuh"
#include "triangular/device/gpu/rows.h"

enum {
    WARPS = TCT_ROWS_THREADS / GPU_WAVE,
    AT_ONCE = 4,    /* entries of a row that are waited for together */
    LOOKS = 1 << 12 /* between two looks at the clock               */
};

/* No row waits for so long, in nanoseconds. */
static const uint64_t LIMIT = 5000000000;

/* No arithmetic makes it: a NaN that it makes has no sign. */
static __device__ inline double unset()
{
    return __longlong_as_double(-1);
}
static __device__ inline bool is_unset(double v)
{
    return __double_as_longlong(v) == -1;
}

/* One warp's wait for others; over: the solve has been given up. */
typedef struct {
    volatile int *late;
    unsigned looks;
    uint64_t since;
    bool over;
} patience;

static __device__ inline void wait(patience &w)
{
    if (++w.looks % LOOKS != 0) return;
    const uint64_t now = tct_nanoseconds();
    if (w.looks == LOOKS) w.since = now;
    if (now - w.since > LIMIT) *w.late = 1;
    w.over = *w.late != 0;
}

/* The next entries of a row, from `k` on. */
typedef struct {
    int32_t col[AT_ONCE];
    double val[AT_ONCE];
} entries;

static __device__ inline void load(const tct_rows_side &S, int64_t first, int k,
                                   int width, entries &e)
{
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        const int64_t at = (first + k + i) * GPU_WAVE + tct_lane();
        e.col[i] = k + i < width ? tct_read_once(S.col + at) : -1;
        e.val[i] = k + i < width ? tct_read_once(S.val + at) : 0.0;
    }
}

/* left = left - the entries times `from`, if all of it is there. */
static __device__ inline bool take(const entries &e, const double *from,
                                   double &left)
{
    double v[AT_ONCE];
    bool there = true;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        v[i] = e.col[i] >= 0 ? tct_load_fresh(from + e.col[i]) : 0.0;
        there = there && !is_unset(v[i]);
    }
    if (!there) return false;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) left = fma(-e.val[i], v[i], left);
    return true;
}

/* A slice: row p of this lane is S.inverse (left - its entries times `to`), with
 * `left` from *own, where that is not NULL, once it is set. A lane may wait for
 * another of its warp, so none of them may wait for all. */
static __device__ inline double slice(const tct_rows_side &S, int64_t s,
                                      int64_t n, double left, const double *own,
                                      double *to, patience &w)
{
    const int64_t p = s * GPU_WAVE + tct_lane(), first = S.cell[s];
    const int width = (int)(S.cell[s + 1] - first);
    const double inverse = p < n ? tct_read_once(S.inverse + p) : 0.0;
    entries e;
    int k = 0;
    w.looks = 0;
    bool open = p < n;
    load(S, first, 0, width, e);
    while (tct_ballot(open && !w.over)) {
        if (open && own) {
            left = tct_load_fresh(own);
            if (!is_unset(left)) own = nullptr;
        }
        if (open && !own && take(e, to, left)) {
            k += AT_ONCE;
            if (k < width) {
                load(S, first, k, width, e);
            } else {
                left *= inverse;
                tct_store_through(to + p, left);
                open = false;
            }
        }
        wait(w);
    }
    return open ? nan("") : left;
}

static __global__ void __launch_bounds__(TCT_ROWS_THREADS)
    solve(const __grid_constant__ tct_rows_kernel K,
          const double *__restrict__ x, double *__restrict__ y)
{
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    const bool odd = tct_load_fresh(K.solves) % 2 != 0;
    double *const u = K.u[odd], *const next = K.u[!odd];
    patience w = {K.late, 0, 0, false};
    for (int64_t task = (int64_t)tct_warp() * gridDim.x + blockIdx.x;
         task < 2 * K.slices; task += warps) {
        const bool up = task >= K.slices;
        const int64_t s = up ? task - K.slices : task;
        const int64_t p = s * GPU_WAVE + tct_lane();
        const bool is = p < K.n;
        if (!up) {
            slice(K.down, s, K.n, is ? x[K.down.at[p]] : 0.0, nullptr, K.t, w);
            continue;
        }
        double *const own = is ? K.t + K.own[p] : nullptr;
        const double found = slice(K.up, s, K.n, 0.0, own, u, w);
        if (!is) continue;
        y[K.up.at[p]] = found;
        next[p] = unset();
        *own = unset(); /* the rows of L that wait for it are above this one */
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    tct_fence();
    if (tct_draw(K.ticket) != gridDim.x - 1) return;
    tct_renew(K.ticket);
    ++*K.solves;
}

static __global__ void clear(const __grid_constant__ tct_rows_kernel K)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < K.n) K.t[i] = K.u[0][i] = K.u[1][i] = unset();
    if (i == 0) {
        *K.solves = 0;
        *K.ticket = 0;
    }
}

extern "C" int tct_rows_resident(void)
{
    int blocks = 0;
    if (gpu_occupancy(&blocks, solve, TCT_ROWS_THREADS, 0) != GPU_OK) return 0;
    return blocks;
}

extern "C" void tct_rows_launch(tacit_queue *q, const tct_rows_kernel *k,
                                int blocks, const double *x, double *y)
{
    solve<<<blocks, TCT_ROWS_THREADS, 0, tct_gpu_of(q)->stream>>>(*k, x, y);
    tct_gpu_ok(q, gpu_last_error(), "a triangular solve");
}

extern "C" void tct_rows_unset(tacit_queue *q, const tct_rows_kernel *k)
{
    clear<<<tct_grid(k->n, TCT_ROWS_THREADS, INT32_MAX), TCT_ROWS_THREADS, 0,
            tct_gpu_of(q)->stream>>>(*k);
    tct_gpu_ok(q, gpu_last_error(), "a triangular solve's memory");
}
