/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/stencil.h - Jacobi iterations on grids.
 *
 *     tacit_stencil s = {.size = sizeof s};
 *     tacit_stencil_parse("star2d1r:4096x4096", &s);
 *     tacit_field *u = NULL;
 *     tacit_field_create(queue, &s, &u);            // all cells are 0
 *     tacit_field_read(u, "start.npy");
 *     tacit_field_options o = {.size = sizeof o, .steps = 1000};
 *     tacit_field_result r = {.size = sizeof r};
 *     tacit_field_run(u, &o, &r);
 *     tacit_field_write(u, "result.npy");
 *     tacit_field_destroy(&u);
 *
 * A step replaces each cell by a weighted sum of itself and its neighbours, all
 * of the step before. By default it is the mean of the neighbours, as in
 * Jacobi's iteration for Laplace's equation. A way is how steps are made; all
 * ways, numbers of threads and depths give the same bits: a sum has one order.
 * With d, u the neighbours below and above (z), n, s those before and after
 * (y), and w, e those left and right (x), the sum of the neighbours is
 *     star2d1r  (n + s) + (w + e)
 *     star3d1r  (d + u) + ((n + s) + (w + e))
 *     box2d1r   (q_n + q_s) + p          p = w + e, q = p + c of a row
 *     box3d1r   (P_d + P_u) + Q          P = a + q, Q = a + p, a = q_n + q_s
 * No product is fused with a sum, unless the text below writes fma.
 *
 * On several ranks the grid is cut into blocks, one a rank, and a rank has ghost
 * cells, those of its neighbours, on the sides of its block. Results have the
 * same bits for any blocks; a change may differ in its last bits. On a GPU the
 * buffers are in that memory, and the host has a third one, through which values
 * go in and out.
 *
 * Threads: a field is for one thread at a time, as its queue is. */
#ifndef TACIT_STENCIL_H
#define TACIT_STENCIL_H
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

/* The shape of a stencil: which neighbours a cell has. */
typedef struct tacit_stencil_shape {
    const char *name; /* "star2d1r" */
    const char *summary;
    int dimensions; /* 2, 3 */
    int points;     /* of a cell's sum, itself among them: 5, 9, 7, 27 */
} tacit_stencil_shape;

/* Shape `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_stencil_shape *tacit_stencil_shape_at(int i);

/* A way to make steps, by the name that the literature has for it. */
typedef struct tacit_stencil_way {
    const char *name; /* "tiles" */
    const char *summary;
    const char *reason; /* why this build has it not; NULL: it has */
    bool deep;          /* several steps at a time: takes a depth */
} tacit_stencil_way;

/* Way `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_stencil_way *tacit_stencil_way_at(int i);

/* The value of a cell c after a step; S is the sum of its neighbours. */
typedef enum tacit_stencil_weights {
    TACIT_WEIGHTS_MEAN = 0,     /* N S, N = 1 / their number               */
    TACIT_WEIGHTS_CONSTANT = 1, /* fma(C, c, N S), of given C and N        */
    TACIT_WEIGHTS_CELLS = 2     /* k0 c, to which fma adds k_i v_i, i = 1,
                                 * 2, ..., of coefficients a cell          */
} tacit_stencil_weights;

enum { TACIT_PERIODIC_X = 1, TACIT_PERIODIC_Y = 2, TACIT_PERIODIC_Z = 4 };

/* A grid and what a step does; what is not set has the default. */
typedef struct tacit_stencil {
    size_t size;       /* set by the caller: status.h                     */
    const char *shape; /* "star2d1r", ...                                 */
    int64_t n[3];      /* cells along x, y and z; in 2D n[2] is 0 or 1    */
    const char *type;  /* of a cell, "float" or "double" (NULL)           */
    unsigned periodic; /* directions that close, TACIT_PERIODIC_X + ...   */
    double boundary;   /* value of all cells outside the other sides      */
    tacit_stencil_weights weights;
    double centre, neighbours; /* C and N of WEIGHTS_CONSTANT              */
    int blocks[3]; /* of the grid along x, y, z, one a rank: their product is
                    * the number of ranks; all 0: chosen                   */
} tacit_stencil;

/* Take shape and size from a name: "star2d1r:NXxNY", "box3d1r:NXxNYxNZ". Other
 * members of `out`, whose size is set, stay.
 * Errors      INVALID (no such shape, with the nearest name; no such size). */
TACIT_API tacit_status tacit_stencil_parse(const char *name,
                                           tacit_stencil *out);

/* Bytes that a field of this grid takes, NAN if the description is invalid. */
TACIT_API double tacit_stencil_bytes(const tacit_stencil *stencil);

/* The values of a grid's cells. They are numbered row by row: x runs fastest,
 * then y, then z. */
typedef struct tacit_field tacit_field;

/* Make a field with all cells 0, and with coefficients 0 where they are given
 * by cell. Borrows `queue`. Without blocks in the description these are slabs
 * of rows, in 3D of planes, where they are thick enough, else the blocks with
 * the fewest ghost cells.
 * Collective.
 * Memory      two values a cell, and the coefficients: tacit_stencil_bytes, of
 *             all ranks together, and ghosts; it is refused if it is not free.
 * Errors      INVALID (the description; ranks whose descriptions differ; blocks
 *             that are not as many as ranks, or more than cells), INPUT (its
 *             cells exceed 64 bits), NO_MEMORY, DEVICE, COMM; on all ranks. */
TACIT_API tacit_status tacit_field_create(tacit_queue *queue,
                                          const tacit_stencil *stencil,
                                          tacit_field **out);

/* The block of this rank. */
typedef struct tacit_field_block {
    size_t size;            /* set by the caller: status.h */
    int ranks, blocks[3];   /* of the grid along x, y, z            */
    int64_t first[3], n[3]; /* of this rank: its cells of the grid */
} tacit_field_block;

/* Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_field_block_of(const tacit_field *field,
                                            tacit_field_block *out);

/* Free `*field` and set it to NULL; NULL is fine. Collective. */
TACIT_API void tacit_field_destroy(tacit_field **field);

/* Set cells [first, first + count), rounded to the type of the field, or get
 * them. Numbers are those of the grid on all ranks. A rank sets and gets the
 * cells of its block, and leaves values of others alone: all ranks may put all
 * cells, or each its own.
 * Errors      INVALID (no such cells). */
TACIT_API tacit_status tacit_field_put(tacit_field *field, int64_t first,
                                       int64_t count, const double *values);
TACIT_API tacit_status tacit_field_get(const tacit_field *field, int64_t first,
                                       int64_t count, double *values);

/* Set all cells of this rank's block to `value`. */
TACIT_API tacit_status tacit_field_fill(tacit_field *field, double value);

/* Set coefficient `point` of cells [first, first + count), of a field with
 * WEIGHTS_CELLS: point 0 is the cell itself, the others are its neighbours in
 * the order of z, then y, then x, ascending: of a star d, n, w, e, s, u. As
 * tacit_field_put, of the cells of its block.
 * Errors      INVALID (no such cells or point; other weights). */
TACIT_API tacit_status tacit_field_put_weights(tacit_field *field, int point,
                                               int64_t first, int64_t count,
                                               const double *values);

/* --- files: collective; rank 0 reads and writes, some cells at a time ------ */

/* Set all cells from a file: NumPy's .npy of ny rows by nx, or nz by ny by nx,
 * or of one dimension; or plain text, numbers between blanks. "nan" and "inf"
 * are values like any other.
 * Errors      IO, INPUT (no such file format, another size, a word that is no
 *             number, with its line), NO_MEMORY. */
TACIT_API tacit_status tacit_field_read(tacit_field *field, const char *path);

/* Set all coefficients from such a file: an array of all cells for point 0,
 * then for point 1, and so on.
 * Errors      as tacit_field_read; INVALID (other weights). */
TACIT_API tacit_status tacit_field_read_weights(tacit_field *field,
                                                const char *path);

/* Write all cells as .npy, in the type and the shape of the field; "-" is
 * standard output. The file appears whole or not at all.
 * Errors      IO, NO_MEMORY. */
TACIT_API tacit_status tacit_field_write(const tacit_field *field,
                                         const char *path);

/* Write a picture of the field, in 3D of its middle plane, as PNG: a pixel a
 * cell, or the first cell of each square if a side has more than 2048. Colours
 * go from the least value (blue) to the largest (red); a value that is not
 * finite is black.
 * Errors      IO, NO_MEMORY. */
TACIT_API tacit_status tacit_field_write_png(const tacit_field *field,
                                             const char *path);

/* --- steps ---------------------------------------------------------------- */

/* Called on each rank after a step whose change was measured; not 0 on any rank
 * ends the run. It may get and put values. */
typedef int tacit_field_monitor(void *ctx, int64_t step, double change);

/* A part of steps that is left out, to time the rest. */
typedef enum tacit_field_skip {
    TACIT_SKIP_NOTHING = 0,
    TACIT_SKIP_COMPUTING = 1,    /* exchanges and meetings alone           */
    TACIT_SKIP_COMMUNICATION = 2 /* steps alone: ghosts stay as they are   */
} tacit_field_skip;

typedef struct tacit_field_options {
    size_t size;        /* set by the caller: status.h                      */
    int64_t steps;      /* to make, at most                                 */
    const char *way;    /* NULL, "auto": measured                           */
    int depth;          /* steps at a time of a deep way, 0: measured       */
    int64_t norm_every; /* measure the change at multiples of this; 0: with
                         * rtol 64, else never                              */
    double rtol; /* stop at a measured step whose change is at most rtol times
                  * that of the first step; 0: not                          */
    tacit_field_monitor *monitor;
    void *monitor_ctx;
    const char *loop; /* of ways mpi and nccl: NULL, "host": the CPU enqueues
                       * each step; "graph": a recording is replayed        */
    tacit_field_skip skip; /* on several ranks, of a way and a depth that are
                            * named, without norm_every and rtol. The values
                            * of the field are undefined afterwards           */
    int boundary_tiles; /* of ways free and free2: blocks of threads that each
                         * boundary layer has; -1: none of its own, its cells
                         * belong to the tiles around (free, and tiles on
                         * several GPUs that reach each other: their exchange
                         * comes after all cells, not beside them); 0: measured
                         * on several GPUs, else the paper's formula        */
} tacit_field_options;

enum { TACIT_FIELD_DEPTH_MOST = 64, TACIT_FIELD_TRIALS = 24 };

/* A candidate of way "auto" or depth 0. */
typedef struct tacit_field_trial {
    const char *way;
    int depth;
    double step_seconds; /* the least of its visits */
    int boundary_tiles;  /* as in tacit_field_options                       */
} tacit_field_trial;

typedef struct tacit_field_result {
    size_t size;         /* set by the caller: status.h                     */
    int64_t steps;       /* made                                            */
    double seconds;      /* of all of them                                  */
    const char *way;     /* the one that ran, or that won                   */
    int depth;           /* steps at a time                                 */
    int threads;         /* that shared the work                            */
    double step_seconds; /* of a step, those of trials left out             */
    double bytes;        /* of a step that reads and writes each cell once
                           * (and reads each coefficient)                    */
    double moved_bytes;  /* of a step in this way, predicted                */
    double change;       /* Euclidean norm of the last measured change of a
                           * step; NAN: none was measured                    */
    double first_change; /* ... of the first step                           */
    int64_t changed_at;  /* the step of `change`                            */
    int trials;          /* candidates that were measured                   */
    tacit_field_trial trial[TACIT_FIELD_TRIALS];
    double halo_bytes; /* that all ranks send in a step, of ghost cells     */
    const char *loop;  /* "host" or "graph" of ways that take one, or NULL */
    int ghost;         /* cells that a block takes of a neighbour at each side,
                        * 0: of none                                        */
    /* Of ways whose tiles have owners for all steps, free, free2, cached: */
    int tiles;               /* blocks of threads, 0: another way            */
    int boundary_tiles;      /* ... of each boundary layer; -1 of way tiles:
                              * its edges are steps of the tiles around      */
    double boundary_formula; /* TB x boundary / (inner + 2 boundary)        */
    double on_chip;          /* share of the cells that stay on chip        */
} tacit_field_result;

/* Make steps. With way "auto", a deep way without a depth, or boundary tiles that
 * are measured, the first steps are made by each candidate in turn, half of all
 * at most or a visit each, and the fastest makes the others: no step is made
 * twice. Visits of several steps are cut where a change is measured.
 * Collective: all ranks give the same options, or all a monitor. A visit of
 * several steps needs blocks as wide as these, and weights that are not by cell
 * where there are several ranks; ghosts are widened where it needs more.
 * Returns     OK; with rtol NOT_CONVERGED if the steps run out before the
 *             change is small, BREAKDOWN if a measured change is not finite;
 *             INTERRUPTED (the monitor).
 * Errors      INVALID (an option; ranks that differ in one; an unknown way,
 *             with the nearest name; a depth that exceeds a block), UNSUPPORTED
 *             (a way that this build, or the link, lacks), NO_MEMORY, DEVICE,
 *             COMM; on all ranks. */
TACIT_API tacit_status tacit_field_run(tacit_field *field,
                                       const tacit_field_options *options,
                                       tacit_field_result *out);

TACIT_END_DECLS
#endif
