/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/trsv.h - triangular solves with a factor on a grid of processes.
 *
 *     tacit_factor_view(F, &panels);                // for example on rank 0
 *     tacit_trsv_create(world, rank == 0 ? &panels : NULL, &options, &T);
 *     tacit_trsv_rows(T, &count, &rows);            // this rank reads their b
 *     tacit_trsv_solve(T, columns, B, ldb, X, ldx);
 *     tacit_trsv_destroy(&T);
 *
 * The grid is of Px x Py x Pz processes. Each of Pz grids has one leaf of the
 * factor's tree and the nodes above it, which are replicated; in a grid block
 * (I, K) of panels is of process (I mod Px, K mod Py). Each grid solves with
 * its part of L, by messages along binary trees; the results for shared nodes
 * are added up once, in at most 2 log2 Pz messages a rank; then each grid
 * solves with U, as in "Unified communication optimization strategies for
 * sparse triangular solver on CPU and GPU clusters" (Liu et al., SC '23). With
 * map TACIT_TRSV_SUBTREE each process of a grid solves with subtrees of its own
 * without a message, and only the nodes above them need messages.
 *
 * Sums are added up in the order of arrival: last bits may differ from one
 * solve to the next.
 *
 * With a queue on GPUs, on a grid of 1 x 1 x Pz, each rank's part is on its
 * GPU. If kernels of the ranks store into each other's memory (link peer), a
 * solve is one kernel on each: L, sums over shared nodes, in log2 Pz messages a
 * rank, and U; else L and U are a kernel each, with messages of the queue
 * between them. With link peer grids may also have Px x Py GPUs each, which
 * share the tasks of one GPU; values of large panels are then stored twice if
 * Px > 1, and each GPU has whole vectors. The same columns then give the same
 * bits in every run, and with Pz = 1 on every grid the bits of one such GPU.
 * Tried with links peer, shm and mpi; nccl and nvshmem (as peer) are accepted,
 * but no triangular solve has been run with them.
 *
 *     options.queue = queue;                        // "cuda", of `world`
 *     tacit_trsv_solve(T, columns, B, ldb, X, ldx); // device pointers
 *     tacit_trsv_wait(T);
 *
 * Threads     as the world's: one at a time. Needs MPI or ranks of one
 *             machine. */
#ifndef TACIT_TRSV_H
#define TACIT_TRSV_H
#include <tacit/factor.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

typedef struct tacit_trsv tacit_trsv;

typedef enum tacit_trsv_scheme {
    TACIT_TRSV_3D = 0,         /* as above                                    */
    TACIT_TRSV_2D = 1,         /* one grid: Pz = 1                            */
    TACIT_TRSV_BASELINE3D = 2, /* level by level from the leaves to the root
                                * and back, one grid a node, with a message
                                * between grids for each panel (Sao et al.,
                                * ICS '19) */
    TACIT_TRSV_P2P = 3         /* as 3D, without trees of messages: each
                                * process exchanges them with the owner of a
                                * panel */
} tacit_trsv_scheme;

/* The owner of block (I, K) among the processes of a grid. */
typedef enum tacit_trsv_map {
    TACIT_TRSV_CYCLIC =
        0, /* (I mod Px, K mod Py)                               */
    TACIT_TRSV_SUBTREE =
        1 /* the owner of K's subtree, one process; columns above the
           * subtrees of several neighbours go to these in turn; columns
           * above all of a leaf's, or in nodes shared by grids, as in CYCLIC */
} tacit_trsv_map;

typedef struct tacit_trsv_options {
    size_t size; /* set by the caller: status.h                               */
    tacit_trsv_scheme scheme;
    int grid[3]; /* Px, Py, Pz; 0s: the grid with the fewest messages
                  * predicted; with `queue` 1, 1 and as many as ranks */
    int columns; /* right-hand sides at once, at most; 1; with `queue` up to
                  * 64 */
    tacit_queue
        *queue; /* on the GPUs of the ranks of `world`, to solve on them;
                 * NULL: on the host */
    tacit_trsv_map
        map; /* with `queue` CYCLIC alone                           */
} tacit_trsv_options;

/* Prepare solves with `panels` on the ranks of `world`. All ranks give the same
 * whole factor, or rank 0 gives it and the others NULL; each keeps its own
 * blocks, and `panels` may be freed.
 * Collective.  Borrows `world` and `options`' queue, which must outlive it.
 * Memory      this rank's blocks, and its part of vectors for `columns` twice;
 *             meanwhile, the pattern of the factor on each rank.
 * Errors      INVALID (a grid with another number of ranks, Pz not a power of
 *             two, more grids than leaves; `columns`, `map`; factors that
 *             differ; TACIT_PATIENCE), INPUT (as tacit_factor_check),
 *             UNSUPPORTED (ranks on several machines without MPI; with a queue
 *             also a scheme or a grid not available on GPUs, and as
 *             tacit_factor_solver_create), NO_MEMORY, COMM, DEVICE. */
TACIT_API tacit_status tacit_trsv_create(tacit_world *world,
                                         const tacit_factor_panels *panels,
                                         const tacit_trsv_options *options,
                                         tacit_trsv **out);

/* Free `*trsv` and set it to NULL; NULL is fine. Collective. */
TACIT_API void tacit_trsv_destroy(tacit_trsv **trsv);

/* The original numbers of the rows of this rank: it reads their b and writes
 * their x. Each row belongs to one rank. With a factor that has a `row_order`,
 * the b of row i is entry row_order[i] of B. Owned by `trsv`.
 * Errors      INVALID. */
TACIT_API tacit_status tacit_trsv_rows(const tacit_trsv *trsv, int64_t *count,
                                       const int64_t **rows);

/* Solve A X = B for `columns` vectors, in host memory or, with a queue, in that
 * of the GPU, where the call only enqueues; in original row order: column j of
 * B begins at B + j ldb, and of X at X + j ldx, ldb, ldx >= all rows of A. A
 * rank reads and writes its own rows alone. X may be B. Collective, but a rank
 * waits only for ranks whose values it needs.
 * Cost        each value is read twice for every `columns` of the options;
 *             messages as in tacit_trsv_describe.
 * Errors      INVALID, COMM (`trsv` can then only be destroyed; the message
 *             names a rank that has not answered within TACIT_PATIENCE, as set
 *             when `trsv` was made, 60 s by default: tacit/queue.h). */
TACIT_API tacit_status tacit_trsv_solve(tacit_trsv *trsv, int columns,
                                        const double *B, size_t ldb, double *X,
                                        size_t ldx);

/* With a queue: wait for all solves enqueued until now, and check that they
 * have finished. On the host: no effect. Blocking.
 * Errors      DEVICE, COMM (a kernel timed out in a wait for a part of itself,
 *             or for another rank: `trsv` can then only be destroyed). */
TACIT_API tacit_status tacit_trsv_wait(tacit_trsv *trsv);

typedef struct tacit_trsv_info {
    size_t size; /* set by the caller: status.h                            */
    tacit_trsv_scheme scheme;
    int grid[3];
    const char *comm;      /* link of the messages: "mpi", "shm", "self"; with a
                       * queue, its link */
    int32_t panels, depth; /* of the factor; panels on the longest path
                            * upward */
    double bytes;          /* of this rank's blocks, vectors and lists       */
    /* One solve with one right-hand side, or with `columns`: in L, between
     * grids, in U. */
    int64_t messages[3];      /* predicted, of all ranks                      */
    double message_bytes[3];  /* ... with one right-hand side                */
    int64_t most_messages[3]; /* ... that one rank sends, at most            */
    int64_t sent[3];          /* by this rank, all solves so far             */
    int64_t sent_bytes[3];
    double seconds[3];        /* of the last solve on this rank; with a queue
                               * of the last one waited for, by the GPU's
                               * clock */
    double replication_bound; /* entries of L over the most of a grid: a
                               * bound of the speedup by more grids */
    int one_kernel;           /* a solve is one kernel on each rank's GPU    */
    tacit_trsv_map map;
} tacit_trsv_info;

/* Describe `trsv` in `out`, whose size is set.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_trsv_describe(const tacit_trsv *trsv,
                                           tacit_trsv_info *out);

TACIT_END_DECLS
#endif
