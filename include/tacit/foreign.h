/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/foreign.h - factors of other libraries: L, and U or D, by columns, in
 * files, or in the structures of CHOLMOD and SuperLU_DIST. They become a
 * tacit_factor, with memory of its own.
 *
 *     tacit_factor_columns c = {.size = sizeof c, .kind = TACIT_FACTOR_LLT,
 *                               .rows = n, .ptr = p, .row = i, .value = x};
 *     tacit_factor_import(&c, NULL, &F);
 *     tacit_factor_solve(F, 1, b, n, x, n);
 *     tacit_factor_destroy(&F);
 *
 * Rows keep their order. Neighbouring columns with the same rows, or nearly so,
 * form a panel. The tree of `leaves` is made of the factor's elimination
 * forest: the heaviest subtree is opened until the others fill two bins
 * equally, and again within each.
 *
 * In a complete factor of a symmetric pattern, a panel contains all rows of its
 * children beyond its own columns. A factor that lacks some (unstored zeros, or
 * a pattern that is not symmetric) gets them as zeros if that adds at most half
 * of its entries; a GPU can then solve with it (tacit_factor_solver_create).
 * Incomplete factors stay as they are. */
#ifndef TACIT_FOREIGN_H
#define TACIT_FOREIGN_H
#include <tacit/factor.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

/* A triangular factor by columns, without any entry twice. */
typedef struct tacit_factor_columns {
    size_t size; /* set by the caller: status.h                            */
    tacit_factor_kind kind;
    int64_t rows;
    const int64_t *ptr;  /* [rows + 1] where each column of L starts, from 0 */
    const int32_t *row;  /* [ptr[rows]] from 0, ascending in a column, the
                          * diagonal first */
    const double *value; /* [ptr[rows]] ones on the diagonal for kind LDLT   */
    const int64_t
        *upper_ptr; /* [rows + 1] U, of kinds LU and ILU0, by        */
    const int32_t
        *upper_row; /* columns: the diagonal last                    */
    const double *upper_value;
    const double *diagonal;  /* [rows] D, of kind LDLT                        */
    const int32_t *original; /* [rows] the number in the matrix of each row,
                              * and of the column with the same number; NULL:
                              * the same numbers */
} tacit_factor_columns;

/* Copy a factor into panels. `options` as for tacit_factor_create; its width is
 * that of panels.
 * Memory      the panels with these zeros, predicted first; for kinds LU and
 *             ILU0 also a copy of U meanwhile.
 * Cost        reads each entry a few times.
 * Errors      INVALID (options; arrays that are missing or do not belong to the
 *             kind), INPUT (a row out of range, out of order, on the wrong side
 *             of the diagonal; a diagonal that is missing, 0 or wrong for the
 *             kind; a value that is not finite: all with row and column, from
 *             0), NO_MEMORY. */
TACIT_API tacit_status tacit_factor_import(const tacit_factor_columns *columns,
                                           const tacit_factor_options *options,
                                           tacit_factor **out);

/* The files of a factor. L alone is L L'; with D it is L D L', with U L U. */
typedef struct tacit_factor_files {
    size_t size;       /* set by the caller: status.h                       */
    const char *lower; /* L, and ...                                        */
    const char *upper; /* U, matrices of any format; NULL: none             */
    const char *diagonal;    /* D, a vector of any; NULL: none              */
    const char *permutation; /* a vector of any: the number in the matrix of
                              * each row of L, from 1, or from 0 if there is
                              * a 0 (p of MATLAB's [L, q, p] = chol(A,
                              * 'lower', 'vector')); NULL: the same */
} tacit_factor_files;

/* Read the files of any factor, as tacit_factor_import takes it.
 * Errors      those of tacit_matrix_open, tacit_matrix_read_vector, and
 *             tacit_factor_import (with rows and columns from 1); INVALID (U
 *             and D), UNSUPPORTED (more than one rank). */
TACIT_API tacit_status tacit_factor_read(tacit_world *world,
                                         const tacit_factor_files *files,
                                         const tacit_factor_options *options,
                                         tacit_factor **out);

/* Write the files that tacit_factor_read reads: triangles in the formats of
 * tacit_matrix_write, without the zeros that panels store, D and the
 * permutation, from 1, as plain numbers.
 * Memory      a copy of a triangle, twice for a while.
 * Errors      those of tacit_matrix_write; INVALID (files that the kind lacks,
 *             or needs; permuted rows without a file for the permutation),
 *             UNSUPPORTED (more than one rank). */
TACIT_API tacit_status tacit_factor_write(const tacit_factor *factor,
                                          tacit_world *world,
                                          const tacit_factor_files *files);

/* Copy CHOLMOD's `factor`, a cholmod_factor that cholmod_factorize has filled:
 * supernodal, L L', real, of either width of integers. In builds with
 * -DTACIT_CHOLMOD=ON, which use its structs and none of its functions. Its
 * supernodal module is under the GPL.
 * Errors      INVALID (options), INPUT (not positive definite, with its
 *             column), UNSUPPORTED (another kind of factor; a build without),
 *             NO_MEMORY. */
struct cholmod_factor_struct;
TACIT_API tacit_status tacit_factor_import_cholmod(
    const struct cholmod_factor_struct *factor,
    const tacit_factor_options *options, tacit_factor **out);

/* Copy SuperLU_DIST's factors, L U, of `rows` rows, as pdgssvx or pdgstrf leave
 * them: a dLUstruct_t, its dScalePermstruct_t and gridinfo_t, or, of a grid in
 * three dimensions, the gridinfo_t of its first layer. Scale factors of A are
 * multiplied into the values: L U is A, in the order of its columns.
 * Errors      INVALID (options), INPUT (a pivot that is 0 or not finite),
 *             UNSUPPORTED (a layer of more than one process; permuted rows:
 *             factor with NOROWPERM; a library of another version than the
 *             headers of this build; a build without), NO_MEMORY. */
TACIT_API tacit_status tacit_factor_import_superlu_dist(
    int64_t rows, const void *LU, const void *scale_perm, const void *grid,
    const tacit_factor_options *options, tacit_factor **out);

/* Why this build cannot take the factors of "cholmod" or "superlu_dist"; NULL:
 * it can, or the library is unknown. */
TACIT_API const char *tacit_foreign_missing(const char *library);

TACIT_END_DECLS
#endif
