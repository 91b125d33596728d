/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/job.h - the arguments of a persistent kernel. */
#ifndef TCT_SOLVER_RESIDENT_JOB_H
#define TCT_SOLVER_RESIDENT_JOB_H
#include "device/gpu/persistent_grid.h"
#include "operator/gpu/slices.h"

struct tct_method; /* solver.h: here it is but pointed to */

/* A vector whose first `slots` rows of each thread live in shared memory, at
 * `offset` doubles. */
typedef struct tct_chip_vector {
    double *memory;
    int slots, offset;
} tct_chip_vector;

/* Most threads of a block, by walk: each needs registers for a batch of a
 * product. */
enum { TCT_THREADS_ANY = 768, TCT_THREADS_RUNS = 896 };
#define TCT_THREADS_MOST(walk) \
    ((walk) == GPU_RUNS ? TCT_THREADS_RUNS : TCT_THREADS_ANY)

enum { TCT_CHIP_VECTORS = 9, TCT_SECOND_PLACES = 2, TCT_KEPT = 3 };
/* Vectors of a kernel that are not the method's: x; with a preconditioner,
 * which is diagonal, also its diagonal and z and y[0] of run.h. */
enum { TCT_IS_X = -1, TCT_IS_DIAGONAL = -2, TCT_IS_Z = -3, TCT_IS_Y = -4 };

/* The place of a row of this GPU. */
typedef struct tct_resident_place_of_rows {
    int32_t block, at; /* at: slot << TCT_THREAD_BITS | thread */
} tct_resident_place_of_rows;
enum { TCT_THREAD_BITS = 10 };

/* A row that a peer needs: its place in this block, and the place of its value
 * at the peer, in a double buffer. */
typedef struct tct_resident_send {
    int32_t row, at;
    tct_numbered *to[2];
} tct_resident_send;

/* A row with columns of other ranks. */
typedef struct tct_resident_edge {
    int32_t row, at;
    int64_t first;       /* entry            */
    int32_t count, near; /* entries; place of the first on the chip */
} tct_resident_edge;

/* Messages of a persistent grid to other GPUs, on the device. Lists are ordered
 * by block; block b begins at `.._of`[b], [blocks + 1]. */
typedef struct tct_resident_halo {
    const int32_t *send_of, *edge_of, *ghost_of;
    const tct_resident_send *send;
    const tct_resident_edge *edge;
    int entries;        /* per block on the chip: the first of its edges */
    const int32_t *col; /* the number of a ghost in its block */
    const double *val;
    const int32_t *place;        /* of each ghost in `come` */
    const tct_numbered *come[2]; /* received; double buffer */
    double *kept[TCT_KEPT];      /* vectors of ghosts beyond the chip's room */
} tct_resident_halo;

typedef struct tct_resident_job {
    tct_gpu_arrays A;
    int parts;               /* of the matrix, one a warp and round   */
    int tile, rounds, slots; /* parts of a block per round; rounds; rows of
                                a thread                              */
    int round, block, warp;  /* parts from one to the next            */
    int team, desk;          /* warps that share a part, if there is one
                              * round; doubles on the chip before their sums */
    tct_persistent_job grid; /* this position avoids spills of registers */
    float keep;              /* share of the matrix for the L2 to keep  */
    bool resumed;
    bool poison;       /* fill shared memory with NaN first      */
    int chip_doubles;  /* of shared memory, in all                        */
    int matrix_offset; /* of these, the first for values of the matrix    */
    int chip_columns, chip_parts; /* which: see rows.cuh                  */
    size_t chip_values;           /* their bytes                          */
    tct_chip_vector v[TCT_CHIP_VECTORS]; /* in the order of the kernel      */
    const tct_resident_halo *halo;       /* NULL: this GPU is alone */
    double *second[TCT_SECOND_PLACES];   /* second places of double-buffered
                                          * vectors */
} tct_resident_job;

/* The kernel for blocks of `b`, values in `store`, a walk; NULL: none. */
typedef const void *tct_resident_kernel_of(int b, int store, int walk);
typedef tct_resident_kernel_of *tct_resident_code;

typedef struct tct_resident_kernel {
    const struct tct_method *method;
    int vectors;     /* on the chip if they fit, by priority            */
    int barriers;    /* per iteration                                   */
    bool look_first; /* the first check precedes the first update       */
    int8_t product;  /* the vector of the solver for A p at the start; -1:
                      * none */
    int8_t places;   /* vectors that need a second place; with a
                      * preconditioner y[1] and y[2] serve */
    int8_t from[TCT_CHIP_VECTORS]; /* of the solver, or TCT_IS_... */
    int8_t sent; /* values of a row that are sent to a peer at once, as many
                  * as the product has columns; 0: neither peers nor teams */
    /* On one GPU, and on several. */
    tct_resident_code kernel, with_peers;
} tct_resident_kernel;

#ifdef __cplusplus
extern "C" {
#endif
extern const struct tct_method tct_method_cg, tct_method_single,
    tct_method_pipe_pr;
/* Without and with a diagonal preconditioner. */
extern const tct_resident_kernel tct_resident_cg[2], tct_resident_single[2],
    tct_resident_pipe_pr[2];

/* Divide the matrix among `blocks`. */
void tct_resident_divide(tct_resident_job *J, int blocks);
/* Let idle warps share parts of a product of `columns` columns. */
void tct_resident_share(tct_resident_job *J, int columns);
/* Choose what stays in `shared_bytes` of shared memory, for blocks of
 * `threads`, after `entries` of rows with columns of other GPUs; returns the
 * bytes used. */
size_t tct_resident_place(tct_resident_job *J, const tct_resident_kernel *K,
                          int threads, int entries, size_t shared_bytes);
/* Write the places of the rows of `J`: place[row], on the device. */
void tct_resident_homes(const tct_resident_job *J, int blocks, int threads,
                        gpu_stream stream, tct_resident_place_of_rows *place);
/* to[i] = place[row[i]] */
void tct_resident_find(const tct_resident_place_of_rows *place, int64_t n,
                       const int32_t *row, gpu_stream stream,
                       tct_resident_place_of_rows *to);
#ifdef __cplusplus
}
#endif

#endif
