/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/matrix.h - the matrix that the user gives: rows with global 64-bit
 * column indices, each rank its own contiguous range of rows.
 *
 *     tacit_matrix_from_rows(w, n, first, rows, ptr, cols, vals, &A);
 *     tacit_matrix_open(w, "bcsstk16.mtx.gz", NULL, &A);  // any file format
 *     tacit_matrix_open(w, "poisson3d:100", NULL, &A);    // gallery
 *     tacit_matrix_partition(A, "metis", NULL);           // optional
 *
 * After a partition the rows of a rank are no longer a range of the original
 * numbering (tacit_matrix_original_rows); the vector functions below use
 * original row numbers.
 *
 * The names of files, gallery matrices and partitioners are the same on all
 * ranks; a collective call with different ones is INVALID, and the message has
 * two of them.
 *
 * Threads: a matrix, `const` or not, is for one thread at a time, as its world
 * is (MPI: see tacit/mpi.h). Matrices of different worlds may be read and used
 * at the same time, and from the same file. */
#ifndef TACIT_MATRIX_H
#define TACIT_MATRIX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

typedef struct tacit_matrix tacit_matrix;

/* Make a matrix from rows [first_row, first_row + rows) that this rank owns.
 * The ranges of the ranks follow one another in rank order and cover all
 * `global_rows` rows; a rank may own none. Entries of a row may come in any
 * order; repeated entries are added up.
 *   ptr   [rows + 1]   where each row starts, ptr[0] = 0
 *   cols  [ptr[rows]]  global columns, 0 to global_rows - 1
 *   vals  [ptr[rows]]
 * Collective.  Borrows `world` (it must outlive the matrix); copies the rows.
 * Errors      INVALID (ranges, ptr), INPUT (a column out of range or a value
 *             not finite, naming row and column), NO_MEMORY. */
TACIT_API tacit_status tacit_matrix_from_rows(
    tacit_world *world, int64_t global_rows, int64_t first_row, int64_t rows,
    const int64_t *ptr, const int64_t *cols, const double *vals,
    tacit_matrix **out);

/* The same with integers of 32 bits, as most other libraries have them. */
TACIT_API tacit_status tacit_matrix_from_rows32(
    tacit_world *world, int64_t global_rows, int64_t first_row, int64_t rows,
    const int32_t *ptr, const int32_t *cols, const double *vals,
    tacit_matrix **out);

/* The same without a copy, if the columns of each row ascend and none is
 * repeated (else it copies, as tacit_set_log tells): `cols` and `vals` are
 * Borrowed, and must stay as they are until the matrix is destroyed, and each
 * operator that was made of it for few solves on the host
 * (tacit_operator_create_for), which multiplies by them. They are only read:
 * calls that change or move rows copy them first. */
TACIT_API tacit_status tacit_matrix_borrow_rows32(
    tacit_world *world, int64_t global_rows, int64_t first_row, int64_t rows,
    const int32_t *ptr, const int32_t *cols, const double *vals,
    tacit_matrix **out);

/* The entries that are given: of both triangles, or one triangle of a symmetric
 * matrix with its diagonal, of which the other one is the mirror image. */
typedef enum tacit_triangle {
    TACIT_TRIANGLE_BOTH,
    TACIT_TRIANGLE_UPPER, /* column >= row */
    TACIT_TRIANGLE_LOWER  /* column <= row */
} tacit_triangle;

/* The same of one triangle. An entry on the other side of the diagonal is
 * refused, so also a whole matrix.
 * Collective.
 * Memory      as tacit_matrix_from_entries.
 * Errors      as tacit_matrix_from_rows; INVALID (an entry on the other side,
 *             with row and column). */
TACIT_API tacit_status tacit_matrix_from_triangle(
    tacit_world *world, int64_t global_rows, int64_t first_row, int64_t rows,
    const int64_t *ptr, const int64_t *cols, const double *vals,
    tacit_triangle triangle, tacit_matrix **out);
TACIT_API tacit_status tacit_matrix_from_triangle32(
    tacit_world *world, int64_t global_rows, int64_t first_row, int64_t rows,
    const int32_t *ptr, const int32_t *cols, const double *vals,
    tacit_triangle triangle, tacit_matrix **out);

/* Entries in any order, as elements contribute them (coordinates, COO). Entries
 * of one row and column are added. Integers have 64 or 32 bits, and the arrays
 * of the other width are NULL.
 *
 *     tacit_entries e = {.size = sizeof e, .count = n,
 *                        .rows = i, .cols = j, .vals = a}; */
typedef struct tacit_entries {
    size_t size;                    /* set by the caller: status.h           */
    int64_t count;                  /* of this rank; 0 needs no arrays       */
    const int64_t *rows, *cols;     /* [count] global, 0 to global_rows - 1  */
    const int32_t *rows32, *cols32; /* [count] the same with 32 bits         */
    const double *vals;             /* [count]                               */
    tacit_triangle triangle;        /* that is given                         */
} tacit_entries;

/* Make a matrix from entries, with ranges of rows as of tacit_matrix_from_rows.
 * A rank may give entries of any row: they are sent to the rank that owns it.
 * Entries are added in the order of the ranks that gave them, and of each rank
 * in its order, up to some 16 MB a rank at a time.
 * Collective.  Borrows `world`; copies the entries.
 * Cost        a pass over the entries to check them, one to send each, 24
 *             bytes, and a sort into rows; tacit_matrix_info tells how many
 *             went to another rank (`sent`) and were added to one (`summed`).
 * Memory      16 bytes an entry and a third of the matrix, until it returns.
 * Errors      INVALID (ranges; rows[k] or cols[k] out of range, with both; an
 *             entry on the other side of the diagonal, with row and column),
 *             INPUT (a value or a sum that is not finite, with row and column),
 *             NO_MEMORY, COMM. */
TACIT_API tacit_status tacit_matrix_from_entries(
    tacit_world *world, int64_t global_rows, int64_t first_row, int64_t rows,
    const tacit_entries *entries, tacit_matrix **out);

typedef struct tacit_matrix_options {
    size_t size;     /* set by the caller: status.h */
    double shift;    /* A + shift I instead of A, which must be square */
    bool drop_zeros; /* drop entries that are stored but zero then     */
    bool no_entries; /* only the numbering of a gallery matrix whose rows have
                      * one stencil of constant coefficients: operators in
                      * format stencil, descriptions and vectors need no more,
                      * and the rest is refused */
} tacit_matrix_options;

/* Read a file, whose format its content shows, or make a gallery matrix,
 * "name:arguments"; "-" is standard input, which rank 0 reads; `options` NULL
 * is all defaults. A METIS graph is read as its Laplacian, which a shift makes
 * definite. Ranks get contiguous rows. A text file is read by rank 0 in pieces;
 * of a .tacit file or a gallery matrix each rank reads or makes only its part.
 * Collective.  Borrows `world`.
 * Errors      INVALID (unknown gallery name, with the nearest known one), INPUT
 *             (the fault, with line and column; a shift of a matrix that is not
 *             square), UNSUPPORTED (no_entries of another matrix), IO,
 *             NO_MEMORY (before anything is allocated). */
TACIT_API tacit_status tacit_matrix_open(tacit_world *world, const char *name,
                                         const tacit_matrix_options *options,
                                         tacit_matrix **out);

/* A family of gallery matrices, or a stand-in for a well-known one. */
typedef struct tacit_gallery {
    const char *name;    /* "poisson2d", "like:apache2"               */
    const char *usage;   /* "poisson2d:N or poisson2d:NXxNY"          */
    const char *summary; /* one line                                  */
} tacit_gallery;

/* Row `i` of the gallery, NULL past the end. Owned by the library. */
TACIT_API const tacit_gallery *tacit_gallery_at(int i);

/* The family that `name` ("poisson2d", "poisson2d:100") names, or NULL:
 * tacit_matrix_open then reads a file. */
TACIT_API const tacit_gallery *tacit_gallery_find(const char *name);

/* Free `*matrix` and set it to NULL; NULL is fine. */
TACIT_API void tacit_matrix_destroy(tacit_matrix **matrix);

typedef struct tacit_matrix_info {
    size_t size;              /* set by the caller: status.h                */
    int64_t rows, cols;       /* of the whole matrix                        */
    int64_t nonzeros;         /* entries, explicit zeros counted            */
    int64_t explicit_zeros;   /* entries that are stored but zero           */
    int64_t summed;           /* entries given twice, added to the first    */
    int64_t row_min, row_max; /* entries per row                            */
    double row_mean;
    int64_t bandwidth;      /* largest |row - column|                     */
    int64_t zero_diagonals; /* rows whose diagonal is zero or not stored  */
    int64_t negative_diagonals;
    int64_t first_bad_diagonal; /* first row of these, from 0 and in original
                                   numbers; -1 if none                      */
    double diagonal_min, diagonal_max;
    double norm_inf;        /* largest row sum of absolute values         */
    double shift;           /* added to the diagonal                      */
    int block;              /* rows come in dense blocks of this size, 1  */
    const char *format;     /* "Matrix Market", "gallery", ...            */
    bool symmetric_storage; /* the file held one triangle                 */
    bool irregular;         /* METIS is the better partition              */
    bool own_rhs;           /* the file holds a right-hand side, too      */
    int64_t sent;           /* entries given on a rank that does not own their
                             * row: tacit_matrix_from_entries */
} tacit_matrix_info;

/* Statistics of the whole matrix.
 * Collective.  Errors INVALID (the size of `out`; an operator has taken the
 *             entries), NO_MEMORY. */
TACIT_API tacit_status tacit_matrix_describe(const tacit_matrix *matrix,
                                             tacit_matrix_info *out);

/* OK if the matrix equals its transpose: the pattern exactly, the values to
 * 1e-9 of max(|a_ij|, |a_ji|, sqrt(|a_ii a_jj|)), or with a warning
 * (tacit_set_log) to 4.8e-7 of it, as of single precision; otherwise INPUT, and the
 * message names the first entry without a partner by row, then column, in
 * original numbers counted from 1 as in a Matrix Market file.
 * Collective.
 * Memory      8 bytes per row, and messages of bounded size. */
TACIT_API tacit_status tacit_matrix_check_symmetric(const tacit_matrix *matrix);

/* --- new values, and values that are known -------------------------------- */

/* Replace the values, with the same pattern; then tacit_operator_update and
 * tacit_precond_update take them from the same matrix.
 *
 *     tacit_matrix_set_values(matrix, vals);
 *     tacit_operator_update(A, matrix);
 *     tacit_precond_update(M, matrix);
 *
 *   vals  in the order of tacit_matrix_view_rows: that of the rows given to
 *         tacit_matrix_from_rows if their columns ascend and none is repeated
 * Collective.  After an error the old values stay, on all ranks.
 * Memory      a copy of the rows, if an operator shares them.
 * Errors      INVALID (an operator has taken the entries), INPUT (a value not
 *             finite, with row and column), NO_MEMORY. */
TACIT_API tacit_status tacit_matrix_set_values(tacit_matrix *matrix,
                                               const double *vals);

/* The same of entries, as of tacit_matrix_from_entries, in original numbers: in
 * any order, repeated ones added, those of other ranks' rows sent there. Entries
 * of the pattern that are not given become 0.
 * Collective.  After an error the old values stay, on all ranks.
 * Memory      8 bytes an entry of the matrix; after a partition 16 an entry
 *             given; a copy of the rows, if an operator shares them.
 * Errors      as tacit_matrix_set_values and tacit_matrix_from_entries; INVALID
 *             (an entry that is not in the pattern, with row and column). */
TACIT_API tacit_status tacit_matrix_set_entries(tacit_matrix *matrix,
                                                const tacit_entries *entries);

/* Fix the values of some unknowns, such as displacements on a boundary
 * (Dirichlet), and keep the matrix symmetric: for each fixed row f, with value
 * g, b becomes b - a_if g in the other rows i, and a_if and a_fi become 0. A
 * fixed row is left with the diagonal d and has d g in b; d is the largest |a_ii|
 * of the rows that are not fixed (1 if that is 0), so that it is no extreme
 * eigenvalue. Zeros stay stored, and so does the pattern, for new values: set
 * them, fix the same rows, and update the operator. A fixed row without a
 * diagonal entry gets one.
 *   count   of rows that this rank names; any rank may name any row, more than
 *           once with the same value
 *   rows    [count] original numbers, from 0
 *   values  [count] NULL: all 0
 *   b       [local rows] on the host; NULL: only if all values are 0
 * Before the operator is made, or updated.
 * Collective.  After an error matrix and b are as before, on all ranks.
 * Cost        a pass over the entries, of which those in columns of other
 *             ranks are asked for: 8 bytes there and back each.
 * Memory      an entry takes 1 byte, a row 16; a copy of the rows, if an
 *             operator shares them or a diagonal entry is missing.
 * Errors      INVALID (a row out of range; a row with two values, with both; a
 *             value not finite, with its row; no b; not square; an operator has
 *             taken the entries), NO_MEMORY, COMM. */
TACIT_API tacit_status tacit_matrix_fix(tacit_matrix *matrix, int64_t count,
                                        const int64_t *rows,
                                        const double *values, double *b);

/* Move rows between ranks and renumber them: `how` is
 *   contiguous   nothing moves
 *   boxes        of the grid of a gallery matrix (Berger and Bokhari 1987), by
 *                formula
 *   metis        few edges are cut (Karypis and Kumar 1998): rank 0 gathers the
 *                pattern, or from 8 million rows and entries on a coarser one
 *                of 200,000 nodes, made by all ranks
 *   ptscotch     few edges are cut (Chevalier and Pellegrini 2008) by ranks of
 *                MPI, of a symmetric pattern, which stays distributed; builds
 *                may lack it
 *   file         the part of each row from the file `file`, a number a line, as
 *                METIS writes it
 * METIS and PT-Scotch keep the rows of a dense block together. After NO_MEMORY
 * or COMM the matrix can only be destroyed.
 * Collective.
 * Memory      "metis": up to 1.5 GB on rank 0, or on each rank one to two times
 *             its rows; then a second copy of the rows, to move them.
 * Errors      INVALID (unknown; no grid), INPUT (not square; a part out of
 *             range, with the line, or empty; a pattern that is not symmetric,
 *             for PT-Scotch), IO, NO_MEMORY, UNSUPPORTED (a graph that METIS or
 *             PT-Scotch cannot count; a part would be empty; a build or a world
 *             without PT-Scotch). */
TACIT_API tacit_status tacit_matrix_partition(tacit_matrix *matrix,
                                              const char *how,
                                              const char *file);

typedef struct tacit_partitioner {
    const char *name, *summary;
    bool from_file;     /* reads parts from a file instead of cutting */
    const char *reason; /* why this build has it not; NULL: it has       */
} tacit_partitioner;

/* Partitioner `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_partitioner *tacit_partitioner_at(int i);

typedef struct tacit_partition_info {
    size_t size;      /* set by the caller: status.h                  */
    int64_t edge_cut; /* entries above the diagonal between two parts */
    int64_t volume;   /* values sent in one exchange, all parts       */
    int64_t messages; /* messages sent in one exchange, all parts     */
    int64_t rows_min, rows_max; /* rows of the smallest and largest part   */
    double imbalance; /* largest part's non-zeros over the mean       */
} tacit_partition_info;

/* Cut rows into `parts` parts without moving them; `part` [local rows] gets
 * the part of each row that this rank owns.
 * Collective.  Errors as tacit_matrix_partition. */
TACIT_API tacit_status tacit_matrix_cut(const tacit_matrix *matrix,
                                        const char *how, int parts,
                                        int32_t *part,
                                        tacit_partition_info *out);

/* Write the part of each row, `part` [local rows], in the original row order, a
 * number a line: the file that tacit_matrix_partition reads; "-" is standard
 * output. A file appears whole or not at all.
 * Collective.  Errors NO_MEMORY, IO. */
TACIT_API tacit_status tacit_matrix_write_parts(const tacit_matrix *matrix,
                                                const char *path,
                                                const int32_t *part);

/* Free the entries of `matrix`, as tacit_operator_take does. The numbering of
 * its rows remains, enough for its vector functions. */
TACIT_API void tacit_matrix_drop_entries(tacit_matrix *matrix);

/* Rows that this rank owns, and the first of them in the present numbering. */
TACIT_API int64_t tacit_matrix_local_rows(const tacit_matrix *matrix);
TACIT_API int64_t tacit_matrix_first_row(const tacit_matrix *matrix);
TACIT_API int64_t tacit_matrix_global_rows(const tacit_matrix *matrix);
TACIT_API int64_t tacit_matrix_nonzeros(const tacit_matrix *matrix);

/* The original number of each row that this rank owns [local rows]; NULL if no
 * row has moved. Owned by the matrix. */
TACIT_API const int64_t *tacit_matrix_original_rows(const tacit_matrix *matrix);

/* The rows of this rank, in the present numbering; columns are global,
 * ascending and unique in each row, of 32 bits if they fit: one of the two
 * arrays of columns is NULL. */
typedef struct tacit_rows {
    int64_t first, count;
    const int64_t *ptr;    /* [count + 1] where each row starts, ptr[0] = 0 */
    const int32_t *cols32; /* [ptr[count]] */
    const int64_t *cols64; /* [ptr[count]] */
    const double *vals;    /* [ptr[count]] */
} tacit_rows;

/* View the rows of this rank. They are owned by the matrix: read only, and
 * valid until it is partitioned, taken or destroyed.
 * Errors      INVALID (an operator has taken the entries). */
TACIT_API tacit_status tacit_matrix_view_rows(const tacit_matrix *matrix,
                                              tacit_rows *out);

/* Read the part of a vector file that belongs to this rank's rows into `x`
 * [local rows]; the file, of any format or plain numbers, is in the original
 * row order; "-" is standard input. Of a file with a matrix and a right-hand
 * side (Harwell-Boeing, PETSc) the latter is read. Collective.
 * Errors      INPUT (wrong length, with both numbers; bad data), IO. */
TACIT_API tacit_status tacit_matrix_read_vector(const tacit_matrix *matrix,
                                                const char *path, double *x);

/* The same for the first guess, of a file that holds one with a matrix
 * (Harwell-Boeing). */
TACIT_API tacit_status tacit_matrix_read_guess(const tacit_matrix *matrix,
                                               const char *path, double *x);

/* Read all columns of a vector file, or all right-hand sides of one that holds
 * a matrix too: `*columns` of them, and of each the part of this rank's rows
 * into `*X`, column by column [*columns * local rows]. Plain numbers and a
 * PETSc Vec are one column.
 * Collective.  Free `*X` with tacit_matrix_free_vectors.
 * Memory      if rows have moved, twice as much while it reads.
 * Errors      as tacit_matrix_read_vector; INPUT if there is no column;
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_matrix_read_vectors(const tacit_matrix *matrix,
                                                 const char *path, int *columns,
                                                 double **X);

/* The same for first guesses, of a file that holds them with a matrix
 * (Harwell-Boeing). */
TACIT_API tacit_status tacit_matrix_read_guesses(const tacit_matrix *matrix,
                                                 const char *path, int *columns,
                                                 double **X);

/* The rigid-body modes, which do not deform an elastic body: `dims`
 * translations, then the rotations in each plane of directions (3 in 2
 * dimensions, 6 in 3). Algebraic multigrid needs them for elasticity (Vanek,
 * Mandel and Brezina 1996).
 *   points     [rows][dims] the point displaced by each row
 *   component  [rows] its direction: 0 to dims - 1
 *   centre     [dims] of rotations, NULL: the mean of the points; all ranks of
 *              a distributed matrix give the same one, near the body
 *   modes      [3 or 6][rows] one after the other
 * Local.  Errors INVALID. */
TACIT_API tacit_status tacit_rigid_body_modes(int dims, int64_t rows,
                                              const double *points,
                                              const int *component,
                                              const double *centre,
                                              double *modes);

/* The same for the rows of `matrix`, with rotations about the mean of all
 * ranks' points. `path` NULL: the points of a gallery matrix of elasticity
 * (elasticity3d, mesh: with kind=elasticity); `*columns` is 0 for other
 * matrices. Else a file of points, of any format of vectors, a point a line
 * with 2 or 3 coordinates; each point has as many consecutive rows, one for
 * each direction.
 *   columns  3 or 6
 *   modes    [*columns * local rows], freed with tacit_matrix_free_vectors
 * Collective.
 * Errors      INPUT (a wrong number of points, with both numbers), IO,
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_matrix_rigid_body_modes(const tacit_matrix *matrix,
                                                     const char *path,
                                                     int *columns,
                                                     double **modes);

/* Free `*X` and set it to NULL; NULL is fine. */
TACIT_API void tacit_matrix_free_vectors(double **X);

/* Write the distributed vector `x` [local rows] in the original row order, by
 * the ending of `path`: .mtx, .npy, .petsc or .tacit; .mtx for "-", which is
 * standard output, and for a path that is not a file. A file appears whole or
 * not at all.
 * Collective.  Errors INVALID (unknown ending), IO. */
TACIT_API tacit_status tacit_matrix_write_vector(const tacit_matrix *matrix,
                                                 const char *path,
                                                 const double *x);

/* Write `columns` vectors as the columns of one file: column j begins at X + j
 * stride, stride >= local rows. Collective.
 * Memory      a copy of them, if rows have moved.
 * Errors      as tacit_matrix_write_vector; INVALID if the format holds one
 *             vector and there are more (see tacit_file_check_writable);
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_matrix_write_vectors(const tacit_matrix *matrix,
                                                  const char *path, int columns,
                                                  const double *X,
                                                  size_t stride);

/* Write the matrix in its original order, by the ending of `path`: .mtx,
 * .mtx.gz, .tacit, .petsc, .npz; .mtx for "-", which is standard output, and
 * for a path that is not a file.
 * Collective.
 * Memory      a copy of the rows, if they have moved.
 * Errors      INVALID (unknown ending; an operator has taken the entries), IO,
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_matrix_write(const tacit_matrix *matrix,
                                          const char *path);

TACIT_END_DECLS
#endif
