/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/gallery.h - matrices made from a name and arguments. One file per
 * family in gallery/, one table at its bottom, one row in TCT_GALLERY.
 *
 *     tct_gallery_matrix *g = NULL;
 *     TRY(tct_gallery_open("poisson3d:100", &g));    // g->rows is known now
 *     status = tct_gallery_fill(g, first, rows, &A); // any part, any order
 *     tct_gallery_close(&g);
 *
 * Every matrix is symmetric, positive definite where its handle does not say
 * otherwise, and the same to the last bit however its rows are dealt out: a
 * row is made by formula, a random number is a hash of what it belongs to. */
#ifndef TCT_GALLERY_GALLERY_H
#define TCT_GALLERY_GALLERY_H
#include "sparse/csr.h"
#include <tacit/matrix.h>

typedef struct tct_gallery_matrix tct_gallery_matrix;

/* A family: what stands before the colon. */
typedef struct tct_gallery {
    tacit_gallery about;

    /* Parse the text behind the colon ("" if none), say what is wrong with
     * it, and fill in `g`. Must not allocate in proportion to the matrix
     * (a mesh may be held whole). What is half built is given to `close`. */
    tacit_status (*open)(const char *arguments, tct_gallery_matrix *g);
} tct_gallery;

/* How the rows of an open matrix are made: `row` or `rows` or `fill`, the
 * simplest that is fast enough, and how its data are freed. */
typedef struct tct_gallery_maker {
    /* Row `i`: returns its number of entries; where `cols` is not NULL, puts
     * columns, ascending, and values there [widest]. Thread-safe. */
    int (*row)(const void *data, int64_t i, int64_t *cols, double *vals);

    /* Rows [first, last): the number of entries of each into `length` and,
     * where `cols` is not NULL, their entries one row behind the other, at
     * most (last - first) * widest. Thread-safe. */
    void (*rows)(const void *data, int64_t first, int64_t last, int64_t *length,
                 int64_t *cols, double *vals);

    /* The lengths of rows [first, first + rows), and the columns and values of
     * `A`, whose `ptr` is set, at once: for what is assembled. */
    tacit_status (*lengths)(const void *data, int64_t first, int64_t rows,
                            int64_t *length);
    tacit_status (*fill)(const void *data, tct_csr *A);

    /* Optional: what helps with rows [first, first + rows) only; `row` and
     * `rows` then get it as their `data`. tct_free(part) ends it. */
    tacit_status (*part)(const void *data, int64_t first, int64_t rows,
                         void **part);
    /* Optional: the point of each of rows [first, first + rows), x, y, z, and
     * the direction in which the row displaces it, 0, 1 or 2: `out`
     * [rows][4]. */
    void (*points)(const void *data, int64_t first, int64_t rows, double *out);
    void (*close)(void *data); /* NULL if tct_free(data) will do */
} tct_gallery_maker;

struct tct_gallery_matrix {
    const tct_gallery *family;
    const tct_gallery_maker *maker;
    void *data;      /* the maker's, owned                                 */
    int64_t rows;    /* of the whole matrix                                */
    int64_t grid[3]; /* its points, x fastest, as many rows each; 0: none  */
    int64_t widest;  /* no row has more entries                            */
    double nonzeros; /* of the whole matrix, to about 10 % where `guessed` */
    bool guessed;
    bool irregular;  /* partition by METIS unless told otherwise           */
    bool indefinite; /* not positive definite, on purpose                  */
    bool elastic;    /* rows are displacements of points: maker->points, or
                        three of each point of the grid                    */
    char name[256];  /* as given, cut where longer                         */
};

/* The family that `name` names ("poisson3d:100"), NULL if none: then it is a
 * file, or misspelt. `*arguments`, unless NULL, points behind the colon. */
const tct_gallery *tct_gallery_find(const char *name, const char **arguments);

/* Does `name` read like a gallery matrix, known or not ("word:...")? Ask only
 * if there is no such file. */
bool tct_gallery_looks_like(const char *name);

/* The family nearest to the misspelt `name`, NULL if none. */
const char *tct_gallery_nearest(const char *name);

/* Open the gallery matrix `name`; its size is then known.
 * Errors      INVALID (unknown family, with the nearest known one; bad
 *             arguments, with the usage), INPUT (beyond 64 bits; a bad mesh
 *             file, with its line), IO, NO_MEMORY. */
tacit_status tct_gallery_open(const char *name, tct_gallery_matrix **out);

/* Make rows [first, first + rows) of `g` in `*out`, which must be empty; it is
 * empty again after an error.
 * Memory      nothing of the matrix's size beside `*out`.
 * Errors      NO_MEMORY, as a rule before anything is allocated. */
tacit_status tct_gallery_fill(const tct_gallery_matrix *g, int64_t first,
                              int64_t rows, tct_csr *out);

/* The number of entries of each of these rows into `length` [rows]: the first
 * half of tct_gallery_fill, alone. */
tacit_status tct_gallery_lengths(const tct_gallery_matrix *g, int64_t first,
                                 int64_t rows, int64_t *length);

/* Bytes that `rows` rows of `g` take in compressed sparse rows, on average. */
double tct_gallery_bytes(const tct_gallery_matrix *g, int64_t rows);

/* Free `*g` and set it to NULL; NULL and half-built ones are fine. */
void tct_gallery_close(tct_gallery_matrix **g);

#endif
