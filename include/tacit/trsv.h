/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/trsv.h - triangular solves with a factor on a grid of processes.
 *
 *     tacit_factor_view(F, &panels);                // on rank 0, say
 *     tacit_trsv_create(world, rank == 0 ? &panels : NULL, &options, &T);
 *     tacit_trsv_rows(T, &count, &rows);            // whose b this rank reads
 *     tacit_trsv_solve(T, columns, B, ldb, X, ldx);
 *     tacit_trsv_destroy(&T);
 *
 * The grid is of Px x Py x Pz processes. Each of Pz grids has one leaf of the
 * factor's tree and the nodes above it, which are replicated; in a grid block
 * (I, K) of panels is of process (I mod Px, K mod Py). Each grid solves with
 * what it has of L, begun and carried on by messages along binary trees; what
 * the grids have found for the nodes that they share is added up once, in at
 * most 2 log2 Pz messages a rank; and each solves with U, as "Unified
 * communication optimization strategies for sparse triangular solver on CPU and
 * GPU clusters" (Liu et al., SC '23) has it. Map TACIT_TRSV_SUBTREE lets each
 * process of a grid solve with subtrees of its own without a message, and has
 * messages about what is above them alone.
 *
 * Sums are added up in the order in which they come: last bits may differ from
 * one solve to the next.
 *
 * With a queue on GPUs, on a grid of 1 x 1 x Pz, each rank's part is on its
 * GPU. Where kernels of the ranks store into each other's memory (link peer) a
 * solve is one kernel on each: L, sums of what they share, in log2 Pz messages
 * a rank, and U; else L and U are a kernel each, and between them messages go
 * as the queue's do. Where they do, grids may have Px x Py GPUs each, too.
 * These have the tasks of one GPU dealt out: of small panels and subtrees each
 * has a share, of large ones blocks, for L of rows in turn over Px, for U of
 * columns, and these are two copies if Px > 1; large panels go over Py in turn.
 * Lists of rows, and vectors, are whole on each, and each makes the plan of all
 * of its grid's part. The same columns then give the same bits in every run,
 * and with Pz = 1 on every grid, those of one such GPU. Tried with links peer,
 * shm and mpi: nccl, and nvshmem, which is to go as peer does, are not refused,
 * but no triangular solve has been run with them.
 *
 *     options.queue = queue;                        // "cuda", of `world`
 *     tacit_trsv_solve(T, columns, B, ldb, X, ldx); // device pointers
 *     tacit_trsv_wait(T);
 *
 * Threads     as the world's: one at a time. Needs MPI or ranks of one machine. */
#ifndef TACIT_TRSV_H
#define TACIT_TRSV_H
#include <tacit/factor.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

typedef struct tacit_trsv tacit_trsv;

typedef enum tacit_trsv_scheme {
    TACIT_TRSV_3D = 0,         /* as above                                    */
    TACIT_TRSV_2D = 1,         /* one grid: Pz = 1                            */
    TACIT_TRSV_BASELINE3D = 2, /* the tree from its leaves to the root and back,
                                  one grid a node, and between grids a message
                                  for each panel (Sao et al., ICS '19)         */
    TACIT_TRSV_P2P = 3         /* as 3D, without trees of messages: all with the
                                  owner of a panel                             */
} tacit_trsv_scheme;

/* Whose block (I, K) is, of the processes of a grid. */
typedef enum tacit_trsv_map {
    TACIT_TRSV_CYCLIC =
        0, /* (I mod Px, K mod Py)                               */
    TACIT_TRSV_SUBTREE =
        1 /* of K's subtree, which is whole of one process; what is
                              above the subtrees of several neighbours goes by
                              columns to these in turn; what is above all of a leaf's,
                              or in nodes that grids share, is as CYCLIC has it    */
} tacit_trsv_map;

typedef struct tacit_trsv_options {
    size_t size; /* of this struct, set by the caller: status.h               */
    tacit_trsv_scheme scheme;
    int grid[3]; /* Px, Py, Pz; 0s: the grid for which fewest messages are
                    predicted; with `queue` 1, 1 and as many as ranks           */
    int columns; /* right-hand sides at once, at most; 1; with `queue` up to 64 */
    tacit_queue
        *queue; /* on the GPUs of the ranks of `world`: solve there; NULL:
                           on the host                                         */
    tacit_trsv_map
        map; /* with `queue` CYCLIC alone                           */
} tacit_trsv_options;

/* Get ready to solve with `panels` on the ranks of `world`. Each rank gives the
 * whole factor, the same, or rank 0 alone does and the others NULL, who then
 * get it from there; each keeps its own blocks, and `panels` are not needed any
 * more.
 * Collective.  Borrows `world` and `options`' queue, which must outlive it.
 * Memory      this rank's blocks, and its part of vectors for `columns` twice;
 *             while it is made, the pattern of the factor on each rank.
 * Errors      INVALID (a grid that is not of so many ranks, Pz that is no power of
 *             two, more grids than leaves; `columns`, `map`; factors that differ; TACIT_PATIENCE), INPUT (as
 *             tacit_factor_check), UNSUPPORTED (ranks on several machines
 *             without MPI; with a queue also a scheme or a grid that is not for
 *             GPUs, and as tacit_factor_solver_create), NO_MEMORY, COMM, DEVICE. */
TACIT_API tacit_status tacit_trsv_create(tacit_world *world,
                                         const tacit_factor_panels *panels,
                                         const tacit_trsv_options *options,
                                         tacit_trsv **out);

/* Free `*trsv` and set it to NULL; NULL is fine. Collective. */
TACIT_API void tacit_trsv_destroy(tacit_trsv **trsv);

/* The rows, by original number and each on one rank, whose b this rank reads
 * and whose x it writes. Owned by `trsv`.
 * Errors      INVALID. */
TACIT_API tacit_status tacit_trsv_rows(const tacit_trsv *trsv, int64_t *count,
                                       const int64_t **rows);

/* Solve A X = B for `columns` vectors, in host memory or, with a queue, in that
 * of the GPU, where the solve is only enqueued; in original row order: column j
 * of B begins at B + j ldb, and of X at X + j ldx, ldb, ldx >= all rows of A. A
 * rank reads and writes its own rows alone. X may be B. Collective, but no rank
 * waits for one whose values it does not need.
 * Cost        each value is read twice for as many columns as were to be had at
 *             once; messages as tacit_trsv_describe says.
 * Errors      INVALID, COMM (`trsv` can then only be destroyed; a rank that has not
 *             answered for as long as TACIT_PATIENCE said when it was made, 60 s
 *             unless told, is named: tacit/queue.h). */
TACIT_API tacit_status tacit_trsv_solve(tacit_trsv *trsv, int columns,
                                        const double *B, size_t ldb, double *X,
                                        size_t ldx);

/* Wait for what was enqueued until now, and ask whether it has come to its end:
 * with a queue. On the host there is nothing to wait for. Blocking.
 * Errors      DEVICE, COMM (a kernel waited in vain for a part of itself, or for another
 *             rank: `trsv` can then only be destroyed). */
TACIT_API tacit_status tacit_trsv_wait(tacit_trsv *trsv);

typedef struct tacit_trsv_info {
    size_t size; /* of this struct, set by the caller                      */
    tacit_trsv_scheme scheme;
    int grid[3];
    const char *comm; /* how messages go: "mpi", "shm", "self"; with a queue, by
                         its link                                             */
    int32_t panels, depth; /* of the factor; panels on the longest way up    */
    double bytes;          /* of this rank's blocks, vectors and lists       */
    /* One solve with one right-hand side, or as many as are had at once: in L,
     * between grids, in U. */
    int64_t messages[3];      /* predicted, of all ranks                      */
    double message_bytes[3];  /* ... with one right-hand side                */
    int64_t most_messages[3]; /* ... that one rank sends, at most            */
    int64_t sent[3];          /* by this rank, all solves so far             */
    int64_t sent_bytes[3];
    double seconds[3];        /* of the last solve on this rank; with a queue of
                                 the last one that was waited for, by the GPU  */
    double replication_bound; /* entries of L over those of a grid, at most:
                                 no number of grids is faster than one by more */
    int one_kernel;           /* of each rank's GPU is a solve               */
    tacit_trsv_map map;
} tacit_trsv_info;

/* What is known of `trsv`, into `out`, which says how large it is.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_trsv_describe(const tacit_trsv *trsv,
                                           tacit_trsv_info *out);

TACIT_END_DECLS
#endif
