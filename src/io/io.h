/* SPDX-License-Identifier: BSD-3-Clause
 * io/io.h - matrices and vectors from files and into files.
 *
 *     tct_file_info info;
 *     tct_csr A = {0};
 *     tct_read_matrix(w, "bone.mtx.gz", &A, &info);
 *     ...
 *     tct_write_matrix(w, "bone.tacit", NULL, &A);
 *     tct_csr_clear(&A);
 *
 * A file is told by its content when read, and by the end of its name when
 * written. All calls are collective; an error on one rank ends them all with
 * its message. */
#ifndef TCT_IO_IO_H
#define TCT_IO_IO_H
#include "comm/world/world.h"
#include "sparse/csr.h"
#include <tacit/file.h>

/* What the numbers of a file are. */
typedef enum { TCT_FIELD_REAL, TCT_FIELD_INTEGER, TCT_FIELD_PATTERN } tct_field;
const char *tct_field_name(tct_field field);

typedef struct tct_file_info {
    const char *format; /* "matrix-market", as in tacit_file_format_at        */
    const char *packing;    /* "gzip", "xz" or ""                            */
    int64_t rows, cols;     /* of the matrix, all ranks                      */
    int64_t stored;         /* entries that stand in the file                */
    int64_t nonzeros;       /* entries of the matrix, both triangles         */
    int64_t explicit_zeros; /* of them exactly zero                           */
    int64_t duplicates;     /* entries added to another at the same place    */
    bool symmetric;         /* the file holds one triangle (or a graph)      */
    bool own_rhs;           /* the file holds a right-hand side, too         */
    tct_field field;
} tct_file_info;

/* Read the matrix in `path`; rows are dealt out by tct_share. Rectangular
 * matrices are read as they are.
 * Collective.
 * Memory      on one rank, at most 1.4 times the matrix, plus some MB.
 * Errors      IO (cannot be read), INPUT (bad content: file, line, column and
 *             what to do), NO_MEMORY (said before it is allocated). */
tacit_status tct_read_matrix(tacit_world *w, const char *path, tct_csr *out,
                             tct_file_info *info);

/* Read the vector of `rows` values in `path`; each rank gets [first, first +
 * count), ranges that follow one another in the order of the ranks. Of a file
 * that holds a matrix with a right-hand side it is that, or what to start from
 * if `guess`.
 * Collective.
 * Errors      as tct_read_matrix; INPUT if it has another length. */
tacit_status tct_read_vector(tacit_world *w, const char *path, bool guess,
                             int64_t rows, int64_t first, int64_t count,
                             double *out);

/* The same of a file with any number of columns: `*out` [*columns][count], one
 * after the other, which tct_free frees. */
tacit_status tct_read_vectors(tacit_world *w, const char *path, bool guess,
                              int64_t rows, int64_t first, int64_t count,
                              int *columns, double **out);

typedef struct tct_write_options {
    const char *format; /* NULL: by the end of the name                */
    bool symmetric;     /* A is symmetric: one triangle is enough where
                           the format can say so (Matrix Market)       */
} tct_write_options;

/* Write `A`, each rank its rows. The file appears under its name only when it
 * is complete.
 * Collective.
 * Errors      INVALID (no such format), UNSUPPORTED (it cannot hold this), IO. */
tacit_status tct_write_matrix(tacit_world *w, const char *path,
                              const tct_write_options *options,
                              const tct_csr *A);

/* Write a vector of `rows` values, each rank its `count`, in rank order. */
tacit_status tct_write_vector(tacit_world *w, const char *path,
                              const tct_write_options *options, int64_t rows,
                              int64_t count, const double *x);

/* Write `columns` of them, of which the next begins `stride` values behind the
 * one before.
 * Errors      INVALID, too, if the format holds but one. */
tacit_status tct_write_vectors(tacit_world *w, const char *path,
                               const tct_write_options *options, int64_t rows,
                               int64_t count, int columns, const double *x,
                               int64_t stride);

/* Can `path` be written? For asking before a long run; leaves nothing behind.
 * Its name must tell a format that holds so many vectors, or a matrix where
 * `vectors` is 0.
 * Collective.
 * Errors      INVALID, IO. */
tacit_status tct_check_writable(tacit_world *w, const char *path,
                                const tct_write_options *options, int vectors);

#endif
