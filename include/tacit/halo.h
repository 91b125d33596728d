/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/halo.h - halos of a grid that is cut into blocks, one a process: the
 * cells at the border of a block go into the ghost cells of its neighbours.
 *
 *     // 100 x 80 doubles on this rank, ghosts of one cell, 2 x 2 blocks
 *     tacit_halo_block b = {.size = sizeof b, .dimensions = 2,
 *                           .n = {100, 80}, .ghost = {1, 1},
 *                           .blocks = {2, 2}, .bytes = sizeof(double)};
 *     tacit_halo *halo = NULL;
 *     tacit_halo_create(queue, &b, &halo);
 *     double *u;                              // (100 + 2) x (80 + 2) cells
 *     tacit_queue_alloc(queue, 102 * 82, &u);
 *     tacit_halo_exchange(halo, u + 102 + 1); // the address of cell (0, 0)
 *     tacit_halo_destroy(&halo);
 *
 * Blocks: rank r has place r % Px along x, r / Px % Py along y and r / (Px Py)
 * along z, for Px x Py x Pz blocks. Along a direction that is periodic the last
 * block is a neighbour of the first, which may be the block itself; elsewhere
 * the ghosts beyond the grid are left alone. Blocks may differ in size, as far
 * as faces of neighbours fit.
 *
 * Direction (dx, dy, dz), of -1, 0 and 1, has the number
 * (dz + 1) 9 + (dy + 1) 3 + (dx + 1): 0 to 26, of which 13 is the block itself;
 * in 2D dz is 0.
 *
 * Cells are bytes: nothing is computed with them, any type is fine.
 *
 * Threads     as the queue: see tacit/world.h. */
#ifndef TACIT_HALO_H
#define TACIT_HALO_H
#include <stddef.h>
#include <stdint.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

typedef struct tacit_halo tacit_halo;

enum {
    TACIT_HALO_DIRECTIONS = 27,
    TACIT_HALO_SELF = 13, /* direction (0, 0, 0) */
    /* `periodic`: directions that close, a sum of these */
    TACIT_HALO_X = 1,
    TACIT_HALO_Y = 2,
    TACIT_HALO_Z = 4
};

/* The block of this rank. Ghosts, blocks, periodic directions, corners and the
 * bytes of a cell are the same on all ranks. */
typedef struct tacit_halo_block {
    size_t size;       /* set by the caller: status.h                        */
    int dimensions;    /* 2: members [2] are ignored; 3                      */
    int64_t n[3];      /* cells along x, y, z, without ghosts; 1 or more     */
    int64_t ghost[3];  /* ghost cells at both ends; 0: no messages there     */
    int blocks[3];     /* of the grid; their product is the number of ranks  */
    unsigned periodic; /* TACIT_HALO_X + ...                                 */
    int faces_only;    /* 0: also to neighbours across edges and corners     */
    int64_t bytes;     /* of a cell                                          */
    int64_t pitch;     /* bytes from row to row; 0: of n[0] + 2 ghost[0]     */
    int64_t plane;     /* ... from plane to plane; 0: n[1] + 2 ghost[1] rows */
} tacit_halo_block;

/* Prepare exchanges. `block` need not outlive the call.
 * Collective.  Borrows `queue`.
 * Cost        a few set-up messages; buffers for the cells that are sent.
 * Errors      INVALID (on all ranks: a description that cannot be, ranks that
 *             differ in it, neighbours whose faces do not fit, a block narrower
 *             than the ghosts of its neighbour), NO_MEMORY, DEVICE, COMM. */
TACIT_API tacit_status tacit_halo_create(tacit_queue *queue,
                                         const tacit_halo_block *block,
                                         tacit_halo **out);

/* Free `*halo` and set it to NULL; NULL is fine. */
TACIT_API void tacit_halo_destroy(tacit_halo **halo);

/* Enqueue an exchange: cells at the border of each block go into the ghosts of
 * its neighbours. `cell` is the address of cell (0, 0, 0) on the device of the
 * queue; between begin and end its block may be read, and ghosts have no
 * defined value. After a begin comes its end.
 * Collective.  A failure is the queue's: tacit_queue_get or the next call that
 *             waits has it. INVALID: cell is NULL, a begin before the end.
 * Cost        each cell that is sent is copied twice, and once by the link. */
TACIT_API void tacit_halo_begin(tacit_halo *halo, void *cell);
TACIT_API void tacit_halo_end(tacit_halo *halo);
/* Both. */
TACIT_API void tacit_halo_exchange(tacit_halo *halo, void *cell);

/* The message to the neighbour in a direction, and from it. Boxes are in
 * cells of this block: ghosts have coordinates below 0, or from n on. */
typedef struct tacit_halo_message {
    int peer;           /* its rank; < 0: none, the rest is 0              */
    int tag;            /* the number of the opposite direction            */
    int64_t send[3];    /* first cell of the box that is sent              */
    int64_t receive[3]; /* ... of the ghosts that the neighbour fills      */
    int64_t extent[3];  /* of both                                         */
    int64_t bytes;      /* of all its cells                                */
} tacit_halo_message;

/* Errors      INVALID (no such direction). */
TACIT_API tacit_status tacit_halo_message_of(const tacit_halo *halo,
                                             int direction,
                                             tacit_halo_message *out);

/* --- several arrays, and the way back ------------------------------------- */

/* Types of elements, with which scatters compute; BYTE is any. */
typedef enum tacit_halo_type {
    TACIT_HALO_BYTE,
    TACIT_HALO_I32,
    TACIT_HALO_I64,
    TACIT_HALO_F32,
    TACIT_HALO_F64
} tacit_halo_type;

/* How a cell and the value of a neighbour's ghost of it are combined. */
typedef enum tacit_halo_reduction {
    TACIT_HALO_REPLACE,
    TACIT_HALO_SUM,
    TACIT_HALO_MIN,
    TACIT_HALO_MAX
} tacit_halo_reduction;

enum { TACIT_HALO_ARRAYS_MOST = 8 };

/* One of several arrays on the cells of one block. Types, components and ghosts
 * are the same on all ranks. */
typedef struct tacit_halo_array {
    size_t size; /* set by the caller: status.h */
    tacit_halo_type type;
    int components;       /* elements of a cell                               */
    int64_t ghost[3];     /* ghost cells at both ends                         */
    int64_t pitch, plane; /* bytes from row to row, ...; 0: as of the block   */
} tacit_halo_array;

typedef struct tacit_halo_arrays tacit_halo_arrays;

/* Prepare exchanges of `count` arrays on `block`, of which members ghost, bytes,
 * pitch and plane do not count. A direction is one message for all arrays. Back
 * ends:
 *     fences   messages of the queue's link, cells packed before and unpacked
 *              behind
 *     fused    cells are packed straight into memory of the neighbours, all
 *              directions in one pass, and counters tell them; where peers
 *              reach each other's memory
 *     send     tacit/triggered.h has this one and the next:
 *     ready    tacit_trigger_halo_create
 * NULL is fused where possible, else fences.
 * Collective.  Borrows `queue`.
 * Memory      twice the messages; fused: two messages of the largest size for
 *             each of 9 (3D: 27) directions.
 * Errors      as tacit_halo_create; INVALID (count, types, components, back
 *             end), UNSUPPORTED (fused is not possible, with the reason). */
TACIT_API tacit_status tacit_halo_arrays_create(tacit_queue *queue,
                                                const tacit_halo_block *block,
                                                int count,
                                                const tacit_halo_array *arrays,
                                                const char *back_end,
                                                tacit_halo_arrays **out);

/* Free `*arrays` and set it to NULL; NULL is fine. Collective. */
TACIT_API void tacit_halo_arrays_destroy(tacit_halo_arrays **arrays);

/* The name of the back end, "fused". */
TACIT_API const char *
tacit_halo_arrays_back_end(const tacit_halo_arrays *arrays);

/* Enqueue an exchange: cells at the border go into the neighbours' ghosts.
 * `cell` [count] has the addresses of cells (0, 0, 0), at multiples of an
 * element's size.
 * A recording of a GPU queue's stream may have these exchanges, an even number,
 * and be replayed after an even number of them, the first two of which come
 * before it; not over link mpi.
 * Collective.  A failure is the queue's, as of tacit_halo_begin. */
TACIT_API void tacit_halo_arrays_gather(tacit_halo_arrays *arrays,
                                        void *const *cell);

/* Enqueue the way back: ghosts go to their cells' owners, which reduce them with
 * their own cells, in the order of the directions: results are the same in each
 * run. Ghosts stay as they are.
 * Collective.  A failure is the queue's: INVALID, too (BYTE is only for
 *             REPLACE). */
TACIT_API void tacit_halo_arrays_scatter(tacit_halo_arrays *arrays,
                                         tacit_halo_reduction reduction,
                                         void *const *cell);

TACIT_END_DECLS
#endif
