/* SPDX-License-Identifier: BSD-3-Clause
 * io/io.h - reads and writes matrices and vectors.
 *
 *     tct_file_info info;
 *     tct_csr A = {0};
 *     tct_read_matrix(w, "bone.mtx.gz", &A, &info);
 *     ...
 *     tct_write_matrix(w, "bone.tacit", NULL, &A);
 *     tct_csr_clear(&A);
 *
 * The format is recognized by content when reading, and by suffix when writing.
 * All calls are collective; an error on one rank fails on all with its
 * message. */
#ifndef TCT_IO_IO_H
#define TCT_IO_IO_H
#include "comm/world/world.h"
#include "sparse/csr.h"
#include <tacit/file.h>

/* The type of a file's values. */
typedef enum { TCT_FIELD_REAL, TCT_FIELD_INTEGER, TCT_FIELD_PATTERN } tct_field;
const char *tct_field_name(tct_field field);

typedef struct tct_file_info {
    const char *format; /* "matrix-market", as in tacit_file_format_at        */
    const char *packing;    /* "gzip", "xz" or ""                            */
    int64_t rows, cols;     /* of the matrix, all ranks                      */
    int64_t stored;         /* entries in the file */
    int64_t nonzeros;       /* entries of the matrix, both triangles         */
    int64_t explicit_zeros; /* ... that are exactly zero */
    int64_t duplicates;     /* entries added to another one */
    bool symmetric;         /* the file has one triangle (or a graph) */
    bool own_rhs;           /* the file also has a right-hand side */
    tct_field field;
} tct_file_info;

/* Read the matrix in `path`, possibly rectangular; rows are distributed by
 * tct_share.
 * Collective.
 * Memory    on one rank, at most 1.4 times the matrix, plus some MB.
 * Errors    IO (cannot be read), INPUT (bad content: file, line, column and
 *           what to do), NO_MEMORY (before it is allocated). */
tacit_status tct_read_matrix(tacit_world *w, const char *path, tct_csr *out,
                             tct_file_info *info);

/* Read the vector of `rows` values in `path`; each rank gets [first, first +
 * count), consecutive in rank order. If the file has a matrix, it is the
 * matrix's right-hand side, or its initial guess if `guess`.
 * Collective.
 * Errors    as tct_read_matrix; INPUT if the length differs. */
tacit_status tct_read_vector(tacit_world *w, const char *path, bool guess,
                             int64_t rows, int64_t first, int64_t count,
                             double *out);

/* The same for any number of columns: `*out` [*columns][count], to be freed by
 * tct_free. After an INPUT of values `*columns` is set, too; of another length
 * it is 0. */
tacit_status tct_read_vectors(tacit_world *w, const char *path, bool guess,
                              int64_t rows, int64_t first, int64_t count,
                              int *columns, double **out);

typedef struct tct_write_options {
    const char *format; /* NULL: by suffix */
    bool symmetric;     /* A is symmetric: write one triangle if the format
                         * supports it (Matrix Market) */
} tct_write_options;

/* Write `A`, each rank its rows. The file gets its name when it is complete.
 * Collective.
 * Errors    INVALID (no such format), UNSUPPORTED (it cannot hold this), IO. */
tacit_status tct_write_matrix(tacit_world *w, const char *path,
                              const tct_write_options *options,
                              const tct_csr *A);

/* Write a vector of `rows` values: each rank's `count` values in rank order. */
tacit_status tct_write_vector(tacit_world *w, const char *path,
                              const tct_write_options *options, int64_t rows,
                              int64_t count, const double *x);

/* Write `columns` vectors, `stride` values apart.
 * Errors    also INVALID if the format holds only one. */
tacit_status tct_write_vectors(tacit_world *w, const char *path,
                               const tct_write_options *options, int64_t rows,
                               int64_t count, int columns, const double *x,
                               int64_t stride);

/* Check, before a long run, that `path` can be written, and that its suffix
 * gives a format for so many vectors, or for a matrix if `vectors` is 0. Leaves
 * no file.
 * Collective.
 * Errors    INVALID, IO. */
tacit_status tct_check_writable(tacit_world *w, const char *path,
                                const tct_write_options *options, int vectors);

#endif
