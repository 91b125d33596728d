/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/layout.h - sliced ELL as a GPU reads it: the arrays of
 * sell32, sell (rows, b = 1) and bsell (rows of dense b x b blocks, b = 2 to
 * 6), without a GPU's runtime. A group is a block row: b rows.
 *
 * 32 groups are a slice; a thread has one row, so that b warps work on a slice.
 * A slice is stored column by column, its rows adjacent. Each slice stores its
 * columns in the cheapest way that fits (pattern/slicing.h): a column of
 * SLICE_RUN is a tct_column_run, one of SLICE_CONST (b = 1) a tct_gpu_const and
 * has no cells, one of SLICE_FAR 32 int32; those of SLICE_NEAR are uint16: 32
 * lanes, two columns each, then the next two, and an odd width is padded with
 * 0. All share one store for values. Groups are sorted by length in windows of
 * 256 if that makes slices narrower; the place of the widest slice rotates
 * among windows.
 *
 * Rows much longer than their neighbours are kept apart in compressed rows, in
 * segments that one block each sums; a persistent kernel sums them row by row.
 *
 * A row is summed in column order from +0, one fused multiply-add an entry, as
 * in the host's formats. Rows kept apart are summed in a fixed tree. */
#ifndef TCT_OPERATOR_LAYOUT_LAYOUT_H
#define TCT_OPERATOR_LAYOUT_LAYOUT_H
#include "operator/pattern/slicing.h"
#include "operator/stencil/grid_rows.h"

enum {
    GPU_LANES = GPU_WAVE,
    GPU_JOIN = 2,     /* slices that may be multiplied as one */
    GPU_WINDOW = 256, /* groups sorted together: 8 slices        */
    GPU_BLOCK_MOST = TCT_BLOCK_MOST,
    GPU_PASS = 8,          /* most columns of one pass over a matrix */
    GPU_SEGMENT = 4096,    /* entries of a row kept apart, per block */
    GPU_ROW_MOST = 16384,  /* ... which a persistent kernel takes */
    GPU_LONG_LEAST = 64,   /* shorter rows are never kept apart */
    GPU_LONG_TIMES = 4,    /* times the mean: longer rows may be kept apart */
    GPU_LONG_ALWAYS = 8192 /* entries: longer rows are kept apart */
};

/* How a warp goes through slices: what it need not be ready for saves it
 * registers, and what it keeps in memory for lack of them costs time. A lower
 * one takes what a higher one takes, with the same bits; but for GPU_GRID, which
 * no other takes: its slices are 32 rows each, of which nothing is stored. */
typedef enum tct_gpu_walk {
    GPU_ANY,    /* slices of any kind                           */
    GPU_RUNS,   /* b = 1, and all slices are SLICE_RUN, SLICE_CONST  */
    GPU_JOINED, /* the same, two at a time: most are joined     */
    GPU_GRID    /* b = 1, GPU_F64: rows by the stencil of `grid` */
} tct_gpu_walk;

typedef struct tct_gpu_const {
    int32_t base;
#if GPU_WAVE == 64
    uint32_t unused;
#endif
    tct_lanes mask;
    double value;
#if GPU_WAVE == 64
    uint64_t filled; /* up to a multiple of 16 bytes */
#endif
} tct_gpu_const;

typedef struct tct_gpu_slice {
    int64_t cell;   /* its first cell: b x b x 32 values, see value         */
    int64_t index;  /* its first byte of index, a multiple of 16            */
    int32_t base;   /* least block column, of SLICE_NEAR                      */
    uint16_t width; /* block columns                                        */
    uint16_t full;  /* SLICE_NEAR, SLICE_FAR: the first of these, present in
                     * every lane; a lane has `length` of them in all */
    uint8_t kind;   /* tct_slice_kind                                   */
    uint8_t sorted; /* group of lane l is order[32 s + l] of its window     */
    uint16_t joined; /* 1: this slice and the next are SLICE_CONST and have
                      * the same runs, with bases 32 larger in the next; one
                      * warp then takes both. Their columns are adjacent */
    uint32_t unused;
} tct_gpu_slice;

typedef enum tct_gpu_store {
    GPU_F64,
    GPU_F32,    /* lossless, or rounded in a reduced-precision block */
    GPU_DICT8,  /* uint8 into a table of up to 256 values    */
    GPU_DICT16, /* uint16 into a table of up to 65536 values */
    GPU_F48     /* reduced precision: the upper 32 bits, then the next 16,
                 * rounded to nearest: `value` and `value_low` */
} tct_gpu_store;

/* Bytes of an element of `value`. */
static inline int tct_gpu_value_bytes(tct_gpu_store store)
{
    switch (store) {
    case GPU_F64: return 8;
    case GPU_F32:
    case GPU_F48: return 4;
    case GPU_DICT16: return 2;
    case GPU_DICT8: return 1;
    }
    return 8;
}

typedef enum { GPU_ANY_KIND, GPU_ONLY_FAR } tct_gpu_kinds;

/* A row kept apart, for a persistent kernel. */
typedef struct tct_gpu_long {
    int64_t first; /* entry */
    int32_t count, row, place;
} tct_gpu_long;

/* The arrays; pointers into device memory (into host memory while built). The
 * kernels get a copy of it by value. Row i (0 <= i < 32 b) of slice s is row i
 * % b of lane i / b's group. Column c of the block in cell k of slice s, row i:
 * value[((cell + k) b + c) 32 b + i]. If a lane has no entry, its values are +0
 * and its columns the slice's least. */
typedef struct tct_gpu_arrays {
    int64_t rows, cols;
    int32_t b;
    int32_t store;  /* tct_gpu_store                                  */
    int32_t walk;   /* tct_gpu_walk                                    */
    int32_t widest; /* slice with cells: its block columns                */
    int64_t groups, slices;
    const tct_gpu_slice *slice; /* [slices]                          */
    const uint8_t *index;       /* [index_bytes]                     */
    const void *value;          /* [cells b b 32]                    */
    const uint16_t *value_low;  /* GPU_F48: as many                  */
    const double *dict;         /* [dict_count]                      */
    const uint8_t *order;       /* [32 slices] if any slice is sorted, else
                                   NULL                              */
    const uint16_t *length;     /* [32 slices] block columns of each lane; NULL
                                   if no slice needs it              */
    int64_t dict_count, cells, index_bytes;
    /* rows kept apart, 0 in their slice (b = 1 only) */
    int64_t long_rows, segments;
    const int32_t *long_row; /* [long_rows] ascending              */
    const int64_t *long_ptr; /* [long_rows + 1]                    */
    const int32_t *long_col; /* [long_ptr[long_rows]]              */
    const double *long_val;
    const int64_t *segment_first;  /* [segments] its first entry         */
    const int32_t *segment_count;  /* [segments]                         */
    const int64_t *long_segment;   /* [long_rows + 1] segments of each row */
    double *segment_sum;           /* [GPU_PASS segments] scratch on a GPU */
    const int32_t *long_place;     /* [long_rows] 32 slice + lane        */
    struct tct_gpu_long *long_own; /* [long_rows] scratch, device only: the
                                    * rows of each block of a persistent
                                    * kernel */
    tct_grid_rows grid;            /* of GPU_GRID */
} tct_gpu_arrays;

#endif
