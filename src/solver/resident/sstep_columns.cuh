/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/sstep_columns.cuh - the columns of a block of iterations, which
 * are vectors: of the panels, or one of those behind. All of them have the same
 * slots of a thread on the chip; what the matrix multiplies is in memory, too. */
#ifndef TCT_SOLVER_RESIDENT_SSTEP_COLUMNS_CUH
#define TCT_SOLVER_RESIDENT_SSTEP_COLUMNS_CUH
#include "solver/resident/rows.cuh"
#include "solver/resident/sstep.h"

static __device__ inline tct_chip_vector column(const tct_sstep_job &W, int c)
{
    const int panel = 2 * W.most;
    double *memory = c < panel       ? W.PZ.at + c * W.PZ.stride
                     : c < 2 * panel ? W.QY.at + (c - panel) * W.QY.stride
                                     : W.own[c - 2 * panel];
    return {memory, W.slots, W.first + c * W.stride};
}
static __device__ inline int z(const tct_sstep_job &W, int j)
{
    return W.most + j;
}
static __device__ inline int az(const tct_sstep_job &W, int j)
{
    return 3 * W.most + j;
}
static __device__ inline int own(const tct_sstep_job &W, int which)
{
    return 4 * W.most + which;
}
/* y_j, of which z_j = M y_j */
template <bool M> static __device__ inline int y(const tct_sstep_job &W, int j)
{
    if (!M) return z(W, j);
    return own(W, j == 0 ? TCT_COLUMN_R : TCT_COLUMN_Y + (j - 1) % 3);
}

/* An element of a column that a thread has, in slot `t`. */
struct tct_spot {
    int t;
    int64_t row;
    int thread;
};
static __device__ inline double *at(const tct_sstep_job &W, int c, tct_spot s)
{
    return tct_at(column(W, c), s.t, s.row, TCT_EITHER, s.thread);
}
/* z_j, for all to see */
template <bool M>
static __device__ inline void put_z(const tct_sstep_job &W, int j, tct_spot s,
                                    double y)
{
    const double value = M ? *at(W, own(W, TCT_COLUMN_D), s) * y : y;
    const tct_chip_vector v = column(W, z(W, j));
    if (s.t < v.slots) *tct_at(v, s.t, s.row, TCT_CHIP, s.thread) = value;
    v.memory[s.row] = value;
}

/* Work on all rows of this thread. */
template <int B, int WALK, class WORK>
static __device__ inline void each_row(const tct_resident_job &J,
                                       const WORK &work)
{
    for (int t = 0; t < J.slots; t++) {
        const int64_t row = tct_row<B, WALK>(J, t);
        if (row >= 0) work(tct_spot{t, row, (int)threadIdx.x});
    }
}

/* P, Q, r, x and d come onto the chip, and but for d go back. */
template <int B, int WALK, bool M>
static __device__ inline void load(const tct_sstep_job &W)
{
    for (int i = 0; i < W.most; i++)
        tct_chip_load<B, WALK>(W.J, column(W, i), column(W, 2 * W.most + i));
    for (int i = 0; i < 2 + M; i++)
        tct_chip_load<B, WALK>(W.J, column(W, own(W, i)));
}
template <int B, int WALK>
static __device__ inline void store(const tct_sstep_job &W)
{
    for (int i = 0; i < W.most; i++)
        tct_chip_store<B, WALK>(W.J, column(W, i), column(W, 2 * W.most + i));
    for (int i = 0; i < 2; i++)
        tct_chip_store<B, WALK>(W.J, column(W, own(W, i)));
}

#endif
