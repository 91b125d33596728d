/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/factor.h - sparse triangular factors in panels: A = L L', L D L' or L
 * U, and incomplete ones.
 *
 *     tacit_factor *F = NULL;
 *     tacit_factor_create(matrix, NULL, &F);      // order, predict, factor
 *     tacit_factor_solve(F, columns, B, ldb, X, ldx);
 *     tacit_factor_destroy(&F);
 *
 * Rows are renumbered by nested dissection, so that L has few entries.
 * Neighbouring columns of L with about the same rows are a panel, which is
 * stored densely. Panels form a forest, the elimination tree; above it a binary
 * tree of 2 leaves - 1 tree nodes, the top of the dissection, divides the work
 * among grids of processes. All solves rely on one property: the rows of a
 * panel lie in its own tree node or in those above it (tacit_factor_check).
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
    TACIT_FACTOR_LU = 2,   /* A = L U, a symmetric pattern                  */
    TACIT_FACTOR_IC0 = 3,  /* A is about L L', of the pattern of A          */
    TACIT_FACTOR_ILU0 = 4  /* A is about L U, of the pattern of A           */
} tacit_factor_kind;

/* The arrays of a factor, of Tacit or of another library: read only, in the new
 * numbering except `original`. Panel K has columns [first[K], first[K + 1]), w
 * of them, and h rows, row[row_start[K]] to row[row_start[K + 1] - 1], of which
 * the first w are its columns. Entry i of its column j is value[value_start[K]
 * + j h + i]; those above the diagonal are not read. */
typedef struct tacit_factor_panels {
    size_t size; /* set by the caller: status.h                               */
    tacit_factor_kind kind;
    int64_t rows;             /* of the matrix, fewer than 2^31             */
    int32_t panels;           /* their number                               */
    const int64_t *first;     /* [panels + 1] first[0] = 0, ends with `rows` */
    const int32_t *parent;    /* [panels] panel of the first row below the
                               * columns, with a larger number; -1: no such
                               * row */
    const int64_t *row_start; /* [panels + 1] from 0                        */
    const int32_t *row;       /* [row_start[panels]] ascending in a panel   */
    const int64_t *value_start; /* [panels + 1] from 0, at least w h apart    */
    const double *value;        /* [value_start[panels]] L, with its
                                 * diagonal; that is of ones for kind LDLT,
                                 * and for LU and ILU0 of this library */
    const double *upper;        /* [value_start[panels]] U', in the layout of
                                 * L, for kinds LU and ILU0; NULL: L', or D
                                 * L' */
    const double *diagonal;     /* [rows] D, of kind LDLT alone               */
    int leaves;                 /* of the tree above the panels, a power of
                                 * two */
    const int32_t *node;        /* [panels] its tree node: 0 is the root, 2 i +
                              * 1 and 2 i + 2 are below i, the leaves last */
    const int32_t *original;    /* [rows] the original number of each row; NULL:
                              * unchanged */
    const double *row_scale;    /* [rows] and ...                             */
    const double *col_scale;    /* [rows] by original number: the factors are of
                              * diag(row_scale) A diag(col_scale); NULL: of A */
    const int32_t *row_order; /* [rows] ... with its rows permuted: row i is row
                               * row_order[i]; `original` numbers these rows
                               * and, as ever, the columns; NULL: unchanged */
    const double *off_diagonal; /* [rows] of kind LDLT with pivots of 2 x 2:
                                 * D's entry below `diagonal`'s, or 0; the
                                 * two columns are of one panel, and L is 0
                                 * between them. NULL: D is diagonal */
} tacit_factor_panels;

/* OK if `panels` are valid: sizes and starts; columns without a gap; rows
 * ascending, in range, and the columns of the panel first; parents above;
 * diagonals that are finite and not 0, L's of ones for kind LDLT; pivots of 2 x
 * 2 that are regular; rows in tree nodes that are the panel's or above it.
 * Cost        reads each row number and each entry of the diagonal.
 * Errors      INVALID (arrays that are missing or do not belong to the kind),
 *             INPUT (the fault, with its panel and row), NO_MEMORY. */
TACIT_API tacit_status tacit_factor_check(const tacit_factor_panels *panels);

/* How a factor is made; NULL and 0 are the defaults. */
typedef struct tacit_factor_options {
    size_t size; /* set by the caller: status.h                            */
    int leaves;  /* of the tree above the panels: a power of two up to 4096;
                  * 1 */
    int width;   /* columns of a panel, at most; 128. Of kinds IC0 and ILU0
                    each row is a panel                                     */
    tacit_factor_kind kind; /* LLT                                            */
    const char *order;      /* of rows, see below: "nd"; IC0, ILU0: "top-nd"  */
} tacit_factor_options;

/* Factor `matrix`. Each kind needs a property of the matrix:
 *   LLT    symmetric and positive definite: A = L L'
 *   LDLT   symmetric: A = L D L'
 *   LU     square: A = L U. A pattern that is not symmetric is made so by
 *          zeros; a note has their number
 *   IC0    symmetric, its diagonal positive: L has entries where A has them,
 *          and L L' equals A in these (Meijerink and van der Vorst 1977). If a
 *          pivot is below 1e-8 of its diagonal, A's diagonal is multiplied by
 *          1.001, 1.002, 1.004, ... (Manteuffel 1980)
 *   ILU0   square: the same for L U
 * Rows and columns have one order, which does not depend on values. That is
 * safe if A is positive definite or its diagonal dominates, and it is checked: a pivot that is 0 or not finite is an error. A pivot is a
 * difference; one below 1e-13 of its terms is rounding alone, and an error;
 * below 1e-8 a warning names it, except for kinds LLT and IC0. For LDLT and LU
 * a system is then solved: a residual of any row above 1e-6 of |A| |x| + |b|
 * (Oettli and Prager 1964) is an error, which names the largest multiplier;
 * above 1e-10 it is a warning.
 *
 * LU goes on where that is an error. Rows are matched to columns for the largest
 * product of diagonal entries, and scaled so that these are 1 and no entry is
 * larger (Duff and Koster 2001). Trials then exchange rows and columns of the
 * same panel for pivots, and put columns without one into the panel above, until
 * all have one; the factor is of the matrix in the order found (`row_order`,
 * `row_scale`, `col_scale`), and keeps the matrix, so that tacit_factor_solve
 * refines each x until its backward error is rounding, and warns where it
 * leaves more than 1e-10. A matrix that has no pivot even so, or whose test
 * system leaves more than 1e-14 after refinement, is an error: singular, or
 * nearly so.
 *
 * LDLT goes on, too. The matching pairs rows (Duff and Pralet 2005), and the
 * matrix is scaled to S A S; rows of a pair become neighbours, with one pattern.
 * Each panel then takes its pivots, of 1 x 1 and 2 x 2, in the order of their
 * size from its own rows (Bunch and Parlett 1971); smaller ones than 2^-26 are
 * made that large. D has `off_diagonal`, and the matrix is kept for refinement,
 * as by LU. If a test system leaves more than 1e-14 after it, that is an error:
 * the matrix is singular, or kind LU may do.
 *
 * The order of rows is
 *   nd          nested dissection (METIS) to the end: the least fill
 *   top-nd      nested dissection of the top, as many leaves as asked for;
 *               within a tree node the matrix's order
 *   natural     the matrix's order; all rows are in the root of the tree
 *   multicolor  as top-nd, but within a tree node by colour: a row gets the
 *               first colour that no neighbour has
 * Exact factors are then post-ordered within tree nodes, which changes no
 * entry, and made by supernodes, multifrontal. Dense operations are those of
 * BLAS and LAPACK, loaded at first use: libopenblas.so.0, liblapack.so.3, or
 * the library that the environment's TACIT_LAPACK names. OpenBLAS maps 128 MiB
 * a thread. Without them, or if limits leave no room for that, slower loops of
 * Tacit do the work, with a warning (tacit_set_log).
 * Threads     as many as tacit_world_set_threads allows; the values of IC0 and
 *             ILU0 are found by one.
 * Memory      predicted before any arithmetic, and refused if it is not free; a
 *             lower bound of all orders is checked before rows are ordered. For
 *             a million rows or more, which take METIS minutes, an estimate
 *             comes first: a note, or a warning if that much is not free
 *             (tacit_set_log). LU stores twice the values of LLT.
 * Errors      INVALID (options; dropped entries), INPUT (not square, not
 *             symmetric, an invalid pivot, with its row and value), UNSUPPORTED
 *             (more than one rank, 2^31 rows, more than METIS counts),
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_factor_create(const tacit_matrix *matrix,
                                           const tacit_factor_options *options,
                                           tacit_factor **out);

/* Free `*factor` and set it to NULL; NULL is fine. */
TACIT_API void tacit_factor_destroy(tacit_factor **factor);

/* The arrays of `factor`, owned by it, into `out`, whose size is set.
 * Errors      INVALID (the size of `out`; it has no `off_diagonal`, and D needs
 *             it). */
TACIT_API tacit_status tacit_factor_view(const tacit_factor *factor,
                                         tacit_factor_panels *out);

typedef struct tacit_factor_info {
    size_t size;        /* set by the caller: status.h                       */
    int64_t rows;       /* of the matrix                                     */
    int64_t nonzeros;   /* of L; zeros that panels store are not counted     */
    int64_t stored;     /* values that panels store, of U', too              */
    int32_t supernodes; /* columns of the same rows, before they were cut    */
    int32_t panels;     /* into panels of no more than `width` columns       */
    int32_t depth;      /* panels, the longest chain that must be solved in
                         * order */
    int leaves;         /* of the tree above the panels                      */
    double flops;       /* of the factorization, those on stored zeros, too  */
    double bytes;       /* of the factor                                     */
    double peak_bytes;  /* ... with the memory of the factorization,
                         * predicted */
    double order_seconds, symbolic_seconds, numeric_seconds;
    const char *dense; /* source of dense operations: "OpenBLAS", "LAPACK",
                        * "own" */
    tacit_factor_kind kind;
    const char *order; /* of rows: "nd", ...; "given" for an imported factor */
    int64_t added;     /* zeros that made the pattern symmetric              */
    double shift; /* of kind IC0: the diagonal was multiplied by 1 + shift */
    double
        least_pivot; /* of LDLT, LU and ILU0: the pivot that lost most digits */
    int64_t least_row;  /* ... its row, from 0, in original numbers           */
    double least_share; /* ... over the terms of its difference; others: 0    */
    double backward_error; /* of the system solved as a check of LDLT or LU   */
    int trials;       /* of kind LU: factorizations, if rows are permuted and
                       * scaled for the sake of pivots; of LDLT 1, if it is
                       * scaled; 0: they are not                             */
    int64_t repaired; /* ... pivots below 2^-40, of LDLT 2^-26, of the largest
                       * scaled entry, which were made that large            */
    double refined_error; /* ... backward_error after iterative refinement    */
    int64_t pairs;    /* of kind LDLT: pivots of 2 x 2                       */
    int64_t positive; /* of kinds LLT and LDLT: positive and negative ...    */
    int64_t negative; /* ... eigenvalues of D, and of A: its inertia; the
                       * sign of `repaired` ones is unknown. Others: 0       */
} tacit_factor_info;

/* Describe `factor` in `out`, whose size is set.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_factor_describe(const tacit_factor *factor,
                                             tacit_factor_info *out);

/* Solve A X = B for `columns` vectors in host memory, in original row order:
 * column j of B begins at B + j ldb, and of X at X + j ldx, ldb, ldx >= rows. X
 * may be B. The same bits come from any number of threads: as many
 * threads work as made the factor.
 * Threads     any number may solve with a factor at once: its threads are with
 *             one of them, the others are on their own.
 * Memory      for each of 64 columns a vector, some rows of it for each of up
 *             to some 40 subtrees, and for each thread as many as the largest
 *             panel has.
 * Cost        each value of L is read twice for every 64 columns, or one of L
 *             and one of U' once.
 * Errors      INVALID, NO_MEMORY. */
TACIT_API tacit_status tacit_factor_solve(const tacit_factor *factor,
                                          int columns, const double *B,
                                          size_t ldb, double *X, size_t ldx);

/* --- on a GPU ------------------------------------------------------------- */

/* Solves with a factor on the GPU of a queue, for vectors in its memory.
 *
 *     tacit_factor_panels panels = {.size = sizeof panels};
 *     tacit_factor_view(F, &panels);               // or another's
 *     tacit_factor_solver_create(queue, &panels, NULL, &S);
 *     tacit_factor_solver_run(S, 1, b, n, x, n);   // device pointers
 *     tacit_factor_solver_wait(S);
 *
 * A solve with L and U is one kernel, whose sums have a fixed order: the same
 * columns give the same bits in every run. Diagonal blocks are inverted when
 * the solver is made; blocks whose inverse would cost accuracy are made
 * narrower. */
typedef struct tacit_factor_solver tacit_factor_solver;

/* NULL and 0 are the defaults. */
typedef struct tacit_factor_solver_options {
    size_t size; /* set by the caller: status.h                              */
    int columns; /* per launch, up to 64; 1. More take several launches */
    double seconds; /* a kernel's limit for waits between its parts; 10 */
} tacit_factor_solver_options;

/* Make the plan of a solve with `panels`, and copy both to the GPU of `queue`.
 * Borrows `queue`, which must outlive it; copies `panels`.
 * Memory      on the GPU, the panels' values (of kind LU twice), 3 integers for
 *             each row of a panel, and for each column solved for at once a
 *             vector for each row of a panel below its columns and two of the
 *             matrix's rows; on the host, a copy of the values until it
 *             returns.
 * Cost        about the flops of the factorization, by BLAS and LAPACK as in
 *             tacit_factor_create.
 * Errors      as tacit_factor_check; INVALID (options), UNSUPPORTED (a queue
 *             that is not on a GPU, or of several processes; pivots of 2 x
 *             2; kinds IC0 and ILU0, and factors with a row below a panel that
 *             its parent lacks, see tacit/foreign.h; 2^31 rows of all panels),
 *             NO_MEMORY, DEVICE. */
TACIT_API tacit_status tacit_factor_solver_create(
    tacit_queue *queue, const tacit_factor_panels *panels,
    const tacit_factor_solver_options *options, tacit_factor_solver **out);

/* Free `*solver` and set it to NULL, after all work of the queue; NULL is
 * fine. */
TACIT_API void tacit_factor_solver_destroy(tacit_factor_solver **solver);

/* Enqueue a solve for `columns` vectors in memory of the GPU, in original row
 * order: column j of B begins at B + j ldb, and of X at X + j ldx, ldb, ldx >=
 * rows. X may be B. It consists of kernels on the queue's stream alone, so that
 * you may capture it on a stream of yours (tacit/cuda.h).
 * Cost        each value of L is read twice for every `columns` of the options.
 * Errors      INVALID, DEVICE (the launch). */
TACIT_API tacit_status tacit_factor_solver_run(tacit_factor_solver *solver,
                                               int columns, const double *B,
                                               size_t ldb, double *X,
                                               size_t ldx);

/* Wait for all solves enqueued until now, and check that each has finished.
 * Blocking.
 * Errors      DEVICE (a part of a kernel timed out, with the panel and what it
 *             waited for; results until now are invalid, later ones are
 *             valid). */
TACIT_API tacit_status tacit_factor_solver_wait(tacit_factor_solver *solver);

typedef struct tacit_factor_solver_info {
    size_t size;      /* set by the caller: status.h                         */
    int columns;      /* solved for at once                                  */
    int blocks;       /* of the kernel for one column                        */
    int32_t nodes;    /* columns with the same rows below them, after merging
                    * panels */
    int32_t branches; /* subtrees that one block solves                      */
    int32_t tasks;    /* of a solve for one column, and ...                  */
    int32_t tasks_of_many; /* ... for several                                 */
    int32_t depth;    /* tasks on the longest path from a leaf to a root     */
    int32_t narrowed; /* nodes made narrower, for accuracy                   */
    double condition; /* largest of the inverted blocks' || | L^-1 | | L | || */
    double values_bytes; /* read of L in a pass                               */
    double bytes;        /* on the GPU                                        */
    double plan_seconds, upload_seconds;
    char path[128]; /* name of the algorithm                              */
} tacit_factor_solver_info;

/* Describe `solver` in `out`, whose size is set.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_factor_solver_describe(
    const tacit_factor_solver *solver, tacit_factor_solver_info *out);

TACIT_END_DECLS
#endif
