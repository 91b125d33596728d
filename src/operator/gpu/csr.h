/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/csr.h - compressed sparse rows on a GPU, multiplied along the
 * merge path (Merrill and Garland 2016).
 *
 * The path visits the non-zeros of each row and then the row's end. It is cut
 * into tiles of equal work. Tile t starts at row start[t] and entry TILE t -
 * start[t]. A row's end lies in one tile and is stored as 16 bits, counted from
 * the tile's first entry.
 *
 * A row that goes on after the end of a tile leaves a carry; a second kernel
 * adds the carries to their rows. The sums and their order depend on the
 * pattern alone: every run gives the same bits. */
#ifndef TCT_OPERATOR_GPU_CSR_H
#define TCT_OPERATOR_GPU_CSR_H
#include "device/gpu/gpu.h"

enum {
    GPU_CSR_THREADS = 256,
    GPU_CSR_ITEMS = 7, /* odd, against bank conflicts */
    GPU_CSR_TILE = GPU_CSR_THREADS * GPU_CSR_ITEMS,
    GPU_CSR_SHORT = 8 /* carries that one thread adds; a block adds more */
};

/* Tiles [tile, tile + count) leave a carry for `row`. */
typedef struct tct_gpu_csr_carry {
    int32_t row, tile, count;
} tct_gpu_csr_carry;

/* The arrays; pointers into device memory. Kernels get a copy of it. */
typedef struct tct_gpu_csr_arrays {
    int64_t rows, nonzeros;
    int32_t tiles;
    int32_t carries;              /* rows in more than one tile           */
    int32_t shorts;               /* the first of them are short          */
    bool floats;                  /* values are float, rounded            */
    const int32_t *start;         /* [tiles + 1]                          */
    const uint16_t *end;          /* [rows]                               */
    const int32_t *col;           /* [nonzeros]                           */
    void *val;                    /* [nonzeros] double or float           */
    const tct_gpu_csr_carry *row; /* [carries]                            */
    double *carry;                /* [tiles] scratch                      */
    double *dot;                  /* [tiles] scratch: (x, y) of the tile  */
} tct_gpu_csr_arrays;

typedef struct tct_gpu_csr {
    tct_gpu_block base;
    tct_gpu_csr_arrays d;
    uint64_t pattern; /* hash of rows and columns, compared by a refill */
} tct_gpu_csr;

#ifdef __cplusplus
extern "C" {
#endif
extern const tct_gpu_block_ops tct_gpu_csr_ops; /* gpu/csr.cu */
#ifdef __cplusplus
}
#endif

#endif
