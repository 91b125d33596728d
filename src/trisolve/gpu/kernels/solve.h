/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/solve.h - the kernel that solves with a plan, and its
 * arguments. */
#ifndef TCT_TRISOLVE_GPU_KERNELS_SOLVE_H
#define TCT_TRISOLVE_GPU_KERNELS_SOLVE_H
#include "device/gpu/gpu.h"
#include "trisolve/gpu/distribute.h"
#include "trisolve/gpu/recursive_doubling.h"
#include "trisolve/gpu/supernodes.h"

enum {
    TCT_SOLVE_THREADS = 256, /* of a block */
    TCT_SOLVE_WARPS = TCT_SOLVE_THREADS / GPU_WAVE,
    TCT_SOLVE_TILE = 8,  /* columns of a tile of right-hand sides  */
    TCT_SOLVE_TILES = 8, /* ... and such tiles, at most */
    TCT_SOLVE_AT_ONCE = TCT_SOLVE_TILE * TCT_SOLVE_TILES
};

/* A plan and its factor's scalings on the device; see tct_tri_plan. */
typedef struct tct_tri_arrays {
    const tct_node *node;
    const int32_t *order;
    const tct_tri_level *level;
    const tct_branch *branch;
    const double *value, *upper; /* of L and of U'                     */
    const tct_take *take;
    const int32_t *row, *rest;
    const int32_t *place; /* [rows] index in B and X; -1: b is 0 and x is not
                           * stored */
    const double *scale;  /* [rows] or NULL */
    const double *row_scale, *col_scale; /* [rows of B and X] or NULL */
    double *y, *x; /* y, x [rows], u [updates]: tct_tri_stride columns each */
    double *u;
} tct_tri_arrays;

typedef struct tct_tri_job {
    tct_tri_arrays a;
    tct_round round;
    const double *B; /* column j at B + j ldb */
    double *X;
    int64_t ldb, ldx;
    int columns;
    int32_t down;     /* the first task after the pass down */
    int32_t together; /* counters from here on: the right-hand side is assembled
                       * in x */
    /* A solve that ranks share, by kernels of its own: */
    bool shared;
    int32_t between; /* tasks of recursive doubling, after the pass down */
    tct_doubling doubling;
    uint64_t *stamp; /* [TCT_STAMPS + between + blocks] times, see below */
} tct_tri_job;

/* Additional arguments of a distributed solve (distribute.h). */
typedef struct tct_distribution_side {
    const uint8_t *to_u;   /* [updates] */
    const tct_readers *to; /* [rows]    */
    /* As in tct_tri_arrays, of each process, this one included */
    double *y[TCT_PEER_SIGNALS_MOST], *x[TCT_PEER_SIGNALS_MOST],
        *u[TCT_PEER_SIGNALS_MOST];
    tct_peer_signals signals;
} tct_distribution_side;

/* Time stamps: first task, all roots done; then one per piece of recursive
 * doubling and one per block, at its end. */
enum { TCT_STAMP_BEGIN, TCT_STAMP_ROOTS, TCT_STAMPS };

#ifdef __cplusplus
extern "C" {
#endif
/* Adjacent columns in y, x and u of a job with `columns`: one, or 1, 4 or 8
 * tiles. */
static inline int tct_tri_stride(int columns)
{
    const int tiles = columns <= TCT_SOLVE_TILE       ? 1
                      : columns <= 4 * TCT_SOLVE_TILE ? 4
                                                      : TCT_SOLVE_TILES;
    return columns == 1 ? 1 : tiles * TCT_SOLVE_TILE;
}
/* Pack `rows` of y, whose element i of column n is at row[i] stride + n, into
 * columns of `count`; unpack them; add the first `some` rows of each column of
 * `from`. */
typedef struct tct_tri_pack {
    const int32_t *row; /* [count] */
    int32_t count;
    int columns, stride;
    double *y, *packed; /* [columns count] */
} tct_tri_pack;
gpu_error tct_tri_take(const tct_tri_pack *p, gpu_stream stream);
gpu_error tct_tri_give(const tct_tri_pack *p, gpu_stream stream);
gpu_error tct_tri_add(const tct_tri_pack *p, int32_t some, const double *from,
                      gpu_stream stream);
/* Columns of B, whose row from[k] is the factor's row k, to row place[k] of
 * `to`; rows with place < 0 are left out. */
typedef struct tct_tri_gathered {
    const int32_t *place, *from; /* [rows] */
    int64_t rows;
    int columns;
    const double *B; /* column n at B + n ldb */
    int64_t ldb;
    double *to; /* ... and at to + n ld */
    int64_t ld;
} tct_tri_gathered;
gpu_error tct_tri_gather(const tct_tri_gathered *g, gpu_stream stream);
/* Resident blocks per multiprocessor of the kernel for `columns`. */
gpu_error tct_tri_occupancy(int columns, int *blocks);
gpu_error tct_tri_launch(const tct_tri_job *job, int blocks, gpu_stream stream);
/* The same for a distributed solve. */
gpu_error tct_distribution_occupancy(int columns, int *blocks);
gpu_error tct_distribution_launch(const tct_tri_job *job,
                                  const tct_distribution_side *side, int blocks,
                                  gpu_stream stream);
#ifdef __cplusplus
}
#endif
#endif
