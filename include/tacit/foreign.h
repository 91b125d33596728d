/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/foreign.h - factors that others have made: L, and U or D, by columns,
 * in files, or as CHOLMOD and SuperLU_DIST keep them. What comes of them is a
 * tacit_factor like any other, with memory of its own.
 *
 *     tacit_factor_columns c = {.size = sizeof c, .kind = TACIT_FACTOR_LLT,
 *                               .rows = n, .ptr = p, .row = i, .value = x};
 *     tacit_factor_import(&c, NULL, &F);
 *     tacit_factor_solve(F, 1, b, n, x, n);
 *     tacit_factor_destroy(&F);
 *
 * Rows keep the order that they have. Neighbouring columns with the same rows
 * are a panel, and with about the same rows where little is lost. Of a factor
 * without a tree above, its own elimination forest is split: the heaviest
 * subtree is opened until the others fill two bins alike, and again within
 * each.
 *
 * Of a whole factor of a symmetric pattern each panel has, of the rows of those
 * that it is the parent of, all beyond its own columns. A factor that lacks
 * some, because zeros were not stored or the pattern is not symmetric, gets
 * them as zeros where that makes of two entries at most three; so a GPU can
 * solve with it, too (tacit_factor_solver_create). Incomplete ones stay as they
 * are. */
#ifndef TACIT_FOREIGN_H
#define TACIT_FOREIGN_H
#include <tacit/factor.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

/* A triangular factor by columns, without any entry twice. */
typedef struct tacit_factor_columns {
    size_t size; /* of this struct, set by the caller: status.h            */
    tacit_factor_kind kind;
    int64_t rows;
    const int64_t *ptr;  /* [rows + 1] where each column of L starts, from 0 */
    const int32_t *row;  /* [ptr[rows]] from 0, ascending in a column: the
                             diagonal first                                  */
    const double *value; /* [ptr[rows]] of kind LDLT ones on the diagonal    */
    const int64_t
        *upper_ptr; /* [rows + 1] U, of kinds LU and ILU0, by        */
    const int32_t
        *upper_row; /* columns: the diagonal last                    */
    const double *upper_value;
    const double *diagonal;  /* [rows] D, of kind LDLT                        */
    const int32_t *original; /* [rows] the number of each row, and of the column
                                of the same number, in the matrix; NULL: they
                                have kept theirs                              */
} tacit_factor_columns;

/* Copy a factor into panels. `options` as for tacit_factor_create; width is
 * that of panels, which the caller's columns do not say.
 * Memory      the panels with such zeros, predicted first; of kinds LU and ILU0 a copy
 *             of U besides while it runs.
 * Cost        a few looks at each entry.
 * Errors      INVALID (options; arrays that are missing or do not belong to the
 *             kind), INPUT (a row out of range, out of order, on the wrong side of
 *             the diagonal; a diagonal that is missing, 0 or not what the kind has;
 *             a value that is not finite: all with row and column, from 0),
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_factor_import(const tacit_factor_columns *columns,
                                           const tacit_factor_options *options,
                                           tacit_factor **out);

/* The files of a factor. L alone is L L'; with D it is L D L', with U L U. */
typedef struct tacit_factor_files {
    size_t size;       /* of this struct, set by the caller: status.h       */
    const char *lower; /* L, and ...                                        */
    const char *upper; /* U, matrices of any format; NULL: none             */
    const char *diagonal;    /* D, a vector of any; NULL: none              */
    const char *permutation; /* a vector of any: of each row of L its number
                                in the matrix, from 1, or from 0 if there is
                                a 0 (as [L, q, p] = chol(A, 'lower', 'vector')
                                of MATLAB has it in p); NULL: the same      */
} tacit_factor_files;

/* Read a factor, which may be anybody's, as tacit_factor_import takes it.
 * Errors      those of tacit_matrix_open, tacit_matrix_read_vector, and
 *             tacit_factor_import (with rows and columns from 1); INVALID (U and D),
 *             UNSUPPORTED (more than one rank). */
TACIT_API tacit_status tacit_factor_read(tacit_world *world,
                                         const tacit_factor_files *files,
                                         const tacit_factor_options *options,
                                         tacit_factor **out);

/* Write what tacit_factor_read reads: triangles in the formats of
 * tacit_matrix_write, without the zeros that panels store, D and the
 * permutation, from 1, as plain numbers.
 * Memory      a copy of a triangle, twice for a while.
 * Errors      those of tacit_matrix_write; INVALID (files that the kind does not
 *             have, or needs; rows in an order of their own and no name for it),
 *             UNSUPPORTED (more than one rank). */
TACIT_API tacit_status tacit_factor_write(const tacit_factor *factor,
                                          tacit_world *world,
                                          const tacit_factor_files *files);

/* Copy CHOLMOD's `factor`, a cholmod_factor that cholmod_factorize has filled:
 * supernodal, L L', real, of either width of integers. In builds with
 * -DTACIT_CHOLMOD=ON, which use its structs and none of its functions; who links
 * its supernodal module heeds that module's licence, the GPL.
 * Errors      INVALID (options), INPUT (not positive definite, with its column),
 *             UNSUPPORTED (another kind of factor; a build without), NO_MEMORY. */
struct cholmod_factor_struct;
TACIT_API tacit_status tacit_factor_import_cholmod(
    const struct cholmod_factor_struct *factor,
    const tacit_factor_options *options, tacit_factor **out);

/* Copy SuperLU_DIST's factors, L U, of `rows` rows, as pdgssvx or pdgstrf have
 * left them: a dLUstruct_t, its dScalePermstruct_t and gridinfo_t, or, of a
 * grid in three dimensions, the gridinfo_t of its first layer. What A was
 * scaled by is multiplied into the values: L U is A, in the order of its
 * columns.
 * Errors      INVALID (options), INPUT (a pivot that is 0 or not finite),
 *             UNSUPPORTED (a layer of more than one process; permuted rows: factor
 *             with NOROWPERM; a library of another version than the headers that
 *             this was built with; a build without), NO_MEMORY. */
TACIT_API tacit_status tacit_factor_import_superlu_dist(
    int64_t rows, const void *LU, const void *scale_perm, const void *grid,
    const tacit_factor_options *options, tacit_factor **out);

/* Why this build cannot take the factors of "cholmod" or "superlu_dist"; NULL:
 * it can, or there is no such library. */
TACIT_API const char *tacit_foreign_missing(const char *library);

TACIT_END_DECLS
#endif
