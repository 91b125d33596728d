/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/factor.h - sparse triangular factors in panels: A = L L', L D L' or L
 * U, and incomplete ones.
 *
 *     tacit_factor *F = NULL;
 *     tacit_factor_create(matrix, NULL, &F);      // order, predict, factor
 *     tacit_factor_solve(F, columns, B, ldb, X, ldx);
 *     tacit_factor_destroy(&F);
 *
 * Rows are numbered anew, by nested dissection, so that L has few entries.
 * Neighbouring columns of L with about the same rows are a panel, which is
 * stored densely. Panels form a forest, the elimination tree; above it there is
 * a binary tree of 2 leaves - 1 tree nodes, the top of the dissection, by which
 * grids of processes share the work. One property is what all that solves with
 * a factor builds upon: the rows of a panel lie in its own tree node or in
 * those above it (tacit_factor_check).
 *
 * Threads     a factor that is not being destroyed may be used by several
 *             threads at once. */
#ifndef TACIT_FACTOR_H
#define TACIT_FACTOR_H
#include <tacit/matrix.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

typedef struct tacit_factor tacit_factor;

typedef enum tacit_factor_kind {
    TACIT_FACTOR_LLT = 0,  /* A = L L'                                     */
    TACIT_FACTOR_LDLT = 1, /* A = L D L', L with ones on the diagonal       */
    TACIT_FACTOR_LU = 2,   /* A = L U, a symmetric pattern, no pivoting     */
    TACIT_FACTOR_IC0 = 3,  /* A is about L L', of the pattern of A          */
    TACIT_FACTOR_ILU0 = 4  /* A is about L U, of the pattern of A           */
} tacit_factor_kind;

/* What a factor is made of, ours or anybody's: read only, in the new numbering
 * but for `original`. Panel K has columns [first[K], first[K + 1]), w of them,
 * and h rows, row[row_start[K]] to row[row_start[K + 1] - 1], of which the
 * first w are its columns. Entry i of its column j stands at
 * value[value_start[K] + j h + i]; those above the diagonal are not read. */
typedef struct tacit_factor_panels {
    size_t size; /* of this struct, set by the caller: status.h               */
    tacit_factor_kind kind;
    int64_t rows;             /* of the matrix, fewer than 2^31             */
    int32_t panels;           /* how many                                   */
    const int64_t *first;     /* [panels + 1] first[0] = 0, ends with `rows` */
    const int32_t *parent;    /* [panels] that of the first row below the
                                   columns, with a larger number; -1: none is
                                   below                                       */
    const int64_t *row_start; /* [panels + 1] from 0                        */
    const int32_t *row;       /* [row_start[panels]] ascending in a panel   */
    const int64_t *value_start; /* [panels + 1] from 0, at least w h apart    */
    const double *value;        /* [value_start[panels]] L; what is on its
                                   diagonal is there, ones, too: of kind LDLT
                                   it has them, and of LU and ILU0 ours         */
    const double *upper;        /* [value_start[panels]] U' in the places of L,
                                   of kinds LU and ILU0; NULL: L', or D L'     */
    const double *diagonal;     /* [rows] D, of kind LDLT alone               */
    int leaves;                 /* of the tree above, a power of two          */
    const int32_t *node;     /* [panels] its tree node: 0 is the root, 2 i + 1
                                   and 2 i + 2 are below i, the leaves last    */
    const int32_t *original; /* [rows] the original number of each row;
                                   NULL: they have kept theirs                 */
    const double *row_scale; /* [rows] and ...                             */
    const double *col_scale; /* [rows] by original number: the factors are
                                   of diag(row_scale) A diag(col_scale);
                                   NULL: of A                                  */
} tacit_factor_panels;

/* OK if `panels` are what they have to be: sizes and starts; columns without a
 * gap; rows ascending, in range, and the columns of the panel first; parents
 * above; diagonals that are finite and not 0, L's of ones for kind LDLT; rows
 * in tree nodes that are the panel's or above it.
 * Cost        a look at each row number and each entry of the diagonal.
 * Errors      INVALID (arrays that are missing or do not belong to the kind),
 *             INPUT (what is broken, with its panel and row), NO_MEMORY. */
TACIT_API tacit_status tacit_factor_check(const tacit_factor_panels *panels);

/* How a factor is made; NULL and 0 are the defaults. */
typedef struct tacit_factor_options {
    size_t size; /* of this struct, set by the caller: status.h            */
    int leaves;  /* of the tree above: a power of two up to 4096; 1         */
    int width;   /* columns of a panel, at most; 128. Of kinds IC0 and ILU0
                    each row is a panel                                     */
    tacit_factor_kind kind; /* LLT                                            */
    const char *order;      /* of rows, see below: "nd"; IC0, ILU0: "top-nd"  */
} tacit_factor_options;

/* Factor `matrix`. Its kind says what it must be, and what it becomes:
 *   LLT    symmetric and positive definite: A = L L'
 *   LDLT   symmetric: A = L D L'
 *   LU     square: A = L U. Where its pattern is not symmetric it is made so by
 *          zeros, which a note counts
 *   IC0    symmetric, its diagonal positive: L has entries where A has them, and
 *          L L' those of A there (Meijerink and van der Vorst 1977). Where a pivot
 *          is below 1e-8 of its diagonal, A's diagonal is taken 1.001, 1.002,
 *          1.004, ... times as large (Manteuffel 1980)
 *   ILU0   square: the same for L U
 * None pivots: rows and columns are in one order, which knows no values. That
 * is safe where A is positive definite or its diagonal dominates, and it is
 * checked: a pivot that is 0 or not finite is an error, and so is one that is
 * less than 1e-13 of what it is the difference of, since that is rounding
 * alone; below 1e-8 a warning names it, but of kinds LLT and IC0. With LDLT and
 * LU a system is then solved: a residual, row by row, above 1e-6 of |A| |x| +
 * |b| (Oettli and Prager 1964) is an error, which names the largest multiplier,
 * and above 1e-10 a warning.
 *
 * The order of rows is
 *   nd          nested dissection (METIS) all through: the least fill
 *   top-nd      nested dissection of the top, as many leaves as asked for; within
 *               a tree node as the matrix has them
 *   natural     as the matrix has them; all rows are then in the root of the tree
 *   multicolor  as top-nd, but within a tree node colour after colour, of which
 *               neighbours have different ones, the first that is free
 * Exact factors are then post-ordered within tree nodes, which changes no
 * entry, and made by supernodes, multifrontal. Dense work is that of BLAS and
 * LAPACK, which are loaded when they are first asked for: libopenblas.so.0,
 * liblapack.so.3, or what the environment's TACIT_LAPACK names. OpenBLAS maps
 * 128 MiB a thread. Without them, or where limits leave no room for that, own
 * loops do it, which take longer, and a warning says so (tacit_set_log).
 * Threads     as many as tacit_world_set_threads allows; the values of IC0 and ILU0
 *             are found by one.
 * Memory      predicted before any arithmetic is done, and refused if it is not
 *             free; what no order saves is before rows are ordered. With a million
 *             rows or more, which METIS takes minutes for, an estimate is told
 *             first: a note, or a warning if so much is not free (tacit_set_log).
 *             LU stores twice the values of LLT.
 * Errors      INVALID (options; entries that were dropped), INPUT (not square,
 *             not symmetric, a pivot that cannot be, with its row and what it came
 *             to), UNSUPPORTED (more than one rank, 2^31 rows, more than METIS
 *             counts), NO_MEMORY. */
TACIT_API tacit_status tacit_factor_create(const tacit_matrix *matrix,
                                           const tacit_factor_options *options,
                                           tacit_factor **out);

/* Free `*factor` and set it to NULL; NULL is fine. */
TACIT_API void tacit_factor_destroy(tacit_factor **factor);

/* What `factor` is made of, into `out`, which says how large it is; arrays are
 * owned by the factor.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_factor_view(const tacit_factor *factor,
                                         tacit_factor_panels *out);

typedef struct tacit_factor_info {
    size_t size;        /* of this struct, set by the caller                 */
    int64_t rows;       /* of the matrix                                     */
    int64_t nonzeros;   /* of L; zeros that panels store are not counted     */
    int64_t stored;     /* values that panels store, of U', too              */
    int32_t supernodes; /* columns of the same rows, before they were cut    */
    int32_t panels;     /* into panels of no more than `width` columns       */
    int32_t depth;      /* panels, at most, each of which waits for another  */
    int leaves;         /* of the tree above                                 */
    double flops;       /* of the factorization, those on stored zeros, too  */
    double bytes;       /* of the factor                                     */
    double peak_bytes;  /* ... and of what its making took besides, predicted */
    double order_seconds, symbolic_seconds, numeric_seconds;
    const char *dense; /* whose dense operations: "OpenBLAS", "LAPACK", "own" */
    tacit_factor_kind kind;
    const char
        *order;    /* of rows: "nd", ...; "given", if it was not made here */
    int64_t added; /* zeros that made the pattern symmetric              */
    double shift;  /* of kind IC0: the diagonal was taken 1 + shift times */
    double
        least_pivot; /* of LDLT, LU and ILU0 that which has lost most digits */
    int64_t least_row;  /* ... its row, from 0, in original numbers           */
    double least_share; /* ... of what it is the difference of; others: 0     */
    double backward_error; /* of the solve that tried LDLT or LU              */
} tacit_factor_info;

/* What is known of `factor`, into `out`, which says how large it is.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_factor_describe(const tacit_factor *factor,
                                             tacit_factor_info *out);

/* Solve A X = B for `columns` vectors in host memory, in original row order:
 * column j of B begins at B + j ldb, and of X at X + j ldx, ldb, ldx >= rows. X
 * may be B. The same bits come from any number of threads: as many work as made
 * the factor, from the first solve until the factor is destroyed.
 * Threads     any number may solve with a factor at once: its threads are with one of
 *             them, the others are on their own.
 * Memory      for each of 64 columns a vector, some rows of it for each of up to some 40
 *             subtrees, and for each thread as many as the largest panel has.
 * Cost        each value of L is read twice for every 64 columns, or one of L and
 *             one of U' once.
 * Errors      INVALID, NO_MEMORY. */
TACIT_API tacit_status tacit_factor_solve(const tacit_factor *factor,
                                          int columns, const double *B,
                                          size_t ldb, double *X, size_t ldx);

/* --- on a GPU ------------------------------------------------------------- */

/* Solves with a factor on the GPU of a queue, for vectors in its memory.
 *
 *     tacit_factor_panels panels = {.size = sizeof panels};
 *     tacit_factor_view(F, &panels);               // or anybody's
 *     tacit_factor_solver_create(queue, &panels, NULL, &S);
 *     tacit_factor_solver_run(S, 1, b, n, x, n);   // device pointers
 *     tacit_factor_solver_wait(S);
 *
 * A solve with L and U is one kernel, in which nothing is added in an order
 * that depends on time: the same columns give the same bits in every run.
 * Diagonal blocks are inverted when the solver is made; where that would cost
 * accuracy they are made narrower. */
typedef struct tacit_factor_solver tacit_factor_solver;

/* NULL and 0 are the defaults. */
typedef struct tacit_factor_solver_options {
    size_t size; /* of this struct, set by the caller: status.h              */
    int columns; /* that a launch solves for, up to 64; 1. More of them are
                    solved for in several                                     */
    double seconds; /* that a kernel waits for a part of itself before it gives
                       up; 10                                                */
} tacit_factor_solver_options;

/* Make the plan of a solve with `panels`, and bring both to the GPU of `queue`.
 * Borrows `queue`, which must outlive it; copies `panels`.
 * Memory      on the GPU, the panels' values (of kind LU twice), 3 integers for
 *             each row of a panel, and for each column solved for at once a
 *             vector for each row of a panel below its columns and two of the
 *             matrix's rows; on the host, the values once more until it returns.
 * Cost        about the flops of the factorization, by BLAS and LAPACK as
 *             tacit_factor_create has them.
 * Errors      as tacit_factor_check; INVALID (options), UNSUPPORTED (a queue that
 *             is not on a GPU, or of several processes; kinds IC0 and ILU0, and
 *             other factors where a row below a panel is none of its parent's,
 *             see tacit/foreign.h;
 *             2^31 rows of all panels), NO_MEMORY, DEVICE. */
TACIT_API tacit_status tacit_factor_solver_create(
    tacit_queue *queue, const tacit_factor_panels *panels,
    const tacit_factor_solver_options *options, tacit_factor_solver **out);

/* Free `*solver` and set it to NULL, when the queue has come to its end; NULL
 * is fine. */
TACIT_API void tacit_factor_solver_destroy(tacit_factor_solver **solver);

/* Enqueue a solve for `columns` vectors in memory of the GPU, in original row
 * order: column j of B begins at B + j ldb, and of X at X + j ldx, ldb, ldx >=
 * rows. X may be B. It is kernels of the queue's stream and nothing else, so
 * that on a stream of yours (tacit/cuda.h) it may be a part of what you
 * capture.
 * Cost        each value of L is read twice for every `columns` of the options.
 * Errors      INVALID, DEVICE (the launch). */
TACIT_API tacit_status tacit_factor_solver_run(tacit_factor_solver *solver,
                                               int columns, const double *B,
                                               size_t ldb, double *X,
                                               size_t ldx);

/* Wait for what was enqueued until now: has each solve come to its end?
 * Blocking.
 * Errors      DEVICE (a part of a kernel waited in vain, with the panel and what
 *             it waited for; solves until now are void, later ones are not). */
TACIT_API tacit_status tacit_factor_solver_wait(tacit_factor_solver *solver);

typedef struct tacit_factor_solver_info {
    size_t size;   /* of this struct, set by the caller                   */
    int columns;   /* solved for at once                                  */
    int blocks;    /* of the kernel for one column                        */
    int32_t nodes; /* columns with the same rows below, panels put together */
    int32_t branches; /* subtrees that a block does by itself                */
    int32_t tasks;    /* of a solve for one column, and ...                  */
    int32_t tasks_of_many; /* ... for several                                 */
    int32_t depth;    /* tasks on the longest way from a leaf to a root      */
    int32_t narrowed; /* nodes that were made narrower, for accuracy         */
    double condition; /* of what was inverted: the largest of a node's
                          || | L^-1 | | L | ||                                */
    double values_bytes; /* read of L in a pass                               */
    double bytes;        /* on the GPU                                        */
    double plan_seconds, upload_seconds;
    char path[128]; /* how it solves                                      */
} tacit_factor_solver_info;

/* What is known of `solver`, into `out`, which says how large it is.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_factor_solver_describe(
    const tacit_factor_solver *solver, tacit_factor_solver_info *out);

TACIT_END_DECLS
#endif
