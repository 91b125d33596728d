/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/job.h - what a persistent kernel is given. */
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

/* Threads of a block at most, one way or another: as many as have registers
 * enough for a batch of a product. */
enum { TCT_THREADS_ANY = 768, TCT_THREADS_RUNS = 896 };
#define TCT_THREADS_MOST(walk) \
    ((walk) == GPU_RUNS ? TCT_THREADS_RUNS : TCT_THREADS_ANY)

enum { TCT_CHIP_VECTORS = 9, TCT_SECOND_PLACES = 2, TCT_KEPT = 3 };
/* Vectors of a kernel that are none of the method's: x, and where there is a
 * preconditioner, which is diagonal, that diagonal and what run.h calls z and
 * y[0]. */
enum { TCT_IS_X = -1, TCT_IS_DIAGONAL = -2, TCT_IS_Z = -3, TCT_IS_Y = -4 };

/* Where a row of this GPU lives. */
typedef struct tct_resident_place_of_rows {
    int32_t block, at; /* at: slot << TCT_THREAD_BITS | thread */
} tct_resident_place_of_rows;
enum { TCT_THREAD_BITS = 10 };

/* A row that a peer needs: where it lives in this block, and where its value
 * goes at the peer, messages taking turns. */
typedef struct tct_resident_send {
    int32_t row, at;
    tct_numbered *to[2];
} tct_resident_send;

/* A row with entries in columns of other ranks. */
typedef struct tct_resident_edge {
    int32_t row, at;
    int64_t first;       /* entry            */
    int32_t count, near; /* entries; the first one's place on the chip */
} tct_resident_edge;

/* What a persistent grid has to do with those of other GPUs; on the device.
 * Lists are in the order of blocks, whose parts begin at `.._of` [blocks +
 * 1]. */
typedef struct tct_resident_halo {
    const int32_t *send_of, *edge_of, *ghost_of;
    const tct_resident_send *send;
    const tct_resident_edge *edge;
    int entries; /* of a block that stay on the chip: its edges' first ones */
    const int32_t *col; /* the number of a ghost in its block */
    const double *val;
    const int32_t *place;        /* of each ghost in `come` */
    const tct_numbered *come[2]; /* messages take turns */
    double
        *kept[TCT_KEPT]; /* vectors of ghosts that have no room on the chip */
} tct_resident_halo;

typedef struct tct_resident_job {
    tct_gpu_arrays A;
    int parts;               /* of the matrix, one a warp and round   */
    int tile, rounds, slots; /* parts of a block per round; rounds; rows of
                                a thread                              */
    int round, block, warp;  /* parts from one to the next            */
    int team, desk;          /* warps that share a part, where there is but one
                                round; doubles of the chip before what they add
                                up                                    */
    tct_persistent_job grid; /* here: in front or at the end, kernels spill */
    float keep;              /* share of the matrix for the L2 to keep  */
    bool resumed;
    bool poison;       /* fill shared memory with NaN first      */
    int chip_doubles;  /* of shared memory, in all                        */
    int matrix_offset; /* of these, the first for values of the matrix    */
    int chip_columns, chip_parts; /* which: see rows.cuh                  */
    size_t chip_values;           /* their bytes                          */
    tct_chip_vector v[TCT_CHIP_VECTORS]; /* in the order of the kernel      */
    const tct_resident_halo *halo;       /* NULL: this GPU is alone */
    double *second[TCT_SECOND_PLACES];   /* of vectors that have two, which take
                                          turns */
} tct_resident_job;

/* The kernel for blocks of `b`, values in `store`, a walk; NULL: none. */
typedef const void *(*tct_resident_code)(int b, int store, int walk);

typedef struct tct_resident_kernel {
    const struct tct_method *method;
    int vectors;     /* on the chip if they fit, the first first        */
    int barriers;    /* per iteration                                   */
    bool look_first; /* the first look is before the first update       */
    int8_t product;  /* in which of the solver's vectors it wants A p at the
                        start; -1: in none                              */
    int8_t places;   /* vectors that need a second place; with a
                        preconditioner y[1] and y[2] are there for it   */
    int8_t from[TCT_CHIP_VECTORS]; /* which of the solver's, or TCT_IS_... */
    int8_t sent; /* values of a row that a peer is sent at once, as many as
                    the product has columns; 0: it has neither peers nor
                    teams                                             */
    /* On one GPU, and on several. */
    tct_resident_code kernel, with_peers;
} tct_resident_kernel;

#ifdef __cplusplus
extern "C" {
#endif
extern const struct tct_method tct_method_cg, tct_method_single,
    tct_method_pipe_pr;
/* Without and with a preconditioner, which is diagonal. */
extern const tct_resident_kernel tct_resident_cg[2], tct_resident_single[2],
    tct_resident_pipe_pr[2];

/* Divide the matrix among `blocks`. */
void tct_resident_divide(tct_resident_job *J, int blocks);
/* Let warps that are left over share parts: of the product of `columns`
 * columns. */
void tct_resident_share(tct_resident_job *J, int columns);
/* Say what stays in `shared_bytes` of shared memory, for blocks of `threads`,
 * behind `entries` of rows with columns of other GPUs; the bytes of it that are
 * used. */
size_t tct_resident_place(tct_resident_job *J, const tct_resident_kernel *K,
                          int threads, int entries, size_t shared_bytes);
/* Where the rows of `J` live: place[row], on the device. */
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
