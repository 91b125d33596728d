/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/gallery.h - matrices from a name and arguments. Each family has one
 * file, a table at its end, and a row in TCT_GALLERY.
 *
 *     tct_gallery_matrix *g = NULL;
 *     TRY(tct_gallery_open("poisson3d:100", &g));    // sets g->rows
 *     status = tct_gallery_fill(g, first, rows, &A); // any rows, any order
 *     tct_gallery_close(&g);
 *
 * Every matrix is symmetric, and positive definite unless marked indefinite. It
 * is the same to the last bit for any distribution of rows: a row is computed
 * by formula, and a random number is a hash of its place. */
#ifndef TCT_GALLERY_GALLERY_H
#define TCT_GALLERY_GALLERY_H
#include "sparse/constant_stencil.h"
#include "sparse/csr.h"
#include <tacit/matrix.h>

typedef struct tct_gallery_matrix tct_gallery_matrix;

/* A family: the part of a name before the colon. */
typedef struct tct_gallery {
    tacit_gallery about;

    /* Parse the text after the colon ("" if none) and fill in `g`. Must not
     * allocate in proportion to the matrix, except a mesh. After an error `g`
     * is closed. */
    tacit_status (*open)(const char *arguments, tct_gallery_matrix *g);
} tct_gallery;

/* Functions that make rows: `row`, `rows` or `fill`, the simplest that is fast
 * enough. */
typedef struct tct_gallery_maker {
    /* Returns the number of entries of row `i`; unless `cols` is NULL, stores
     * its columns, ascending, and values [widest]. Thread-safe. */
    int (*row)(const void *data, int64_t i, int64_t *cols, double *vals);

    /* Stores the number of entries of rows [first, last) in `length` and,
     * unless `cols` is NULL, their entries consecutively, at most (last -
     * first) * widest. Thread-safe. */
    void (*rows)(const void *data, int64_t first, int64_t last, int64_t *length,
                 int64_t *cols, double *vals);

    /* Assembled matrices: the lengths of rows [first, first + rows); all
     * columns and values of `A`, whose `ptr` is set. */
    tacit_status (*lengths)(const void *data, int64_t first, int64_t rows,
                            int64_t *length);
    tacit_status (*fill)(const void *data, tct_csr *A);

    /* Optional: data for rows [first, first + rows), passed as `data` to the
     * other functions and freed by tct_free. */
    tacit_status (*part)(const void *data, int64_t first, int64_t rows,
                         void **part);
    /* Optional: the point x, y, z of each of rows [first, first + rows) and the
     * direction 0, 1 or 2 in which the row displaces it: `out` [rows][4]. */
    void (*points)(const void *data, int64_t first, int64_t rows, double *out);
    void (*close)(void *data); /* NULL: tct_free(data) */
} tct_gallery_maker;

struct tct_gallery_matrix {
    const tct_gallery *family;
    const tct_gallery_maker *maker;
    void *data;      /* of the maker, owned */
    int64_t rows;    /* of the whole matrix                                */
    int64_t grid[3]; /* its points, x fastest, equally many rows each; 0:
                      * none */
    int64_t widest;  /* entries of a row, at most */
    double nonzeros; /* of the whole matrix, to about 10 % if `guessed` */
    bool guessed;
    bool irregular;               /* partition by METIS by default */
    bool indefinite;              /* not positive definite */
    bool elastic;                 /* rows are displacements of points, those of
                      * maker->points, or three of each point of the grid */
    char name[256];               /* as given, maybe truncated */
    tct_constant_stencil stencil; /* of all rows, if they have one */
};

/* The family of `name` ("poisson3d:100"); NULL: a file, or misspelt.
 * `*arguments`, unless NULL, is set to the text after the colon. */
const tct_gallery *tct_gallery_find(const char *name, const char **arguments);

/* `name` has the form of a gallery matrix, known or not ("word:..."). Meant for
 * names without a file. */
bool tct_gallery_looks_like(const char *name);

/* The family nearest to the misspelt `name`, or NULL. */
const char *tct_gallery_nearest(const char *name);

/* Open the gallery matrix `name`; its size is then known.
 * Errors      INVALID (unknown family, with the nearest known one; bad
 *             arguments, with the usage), INPUT (beyond 64 bits; a bad mesh
 *             file, with its line), IO, NO_MEMORY. */
tacit_status tct_gallery_open(const char *name, tct_gallery_matrix **out);

/* Make rows [first, first + rows) of `g` in `*out`, which must be empty and is
 * empty after an error.
 * Memory    nothing of the matrix's size besides `*out`.
 * Errors    NO_MEMORY, as a rule before anything is allocated. */
tacit_status tct_gallery_fill(const tct_gallery_matrix *g, int64_t first,
                              int64_t rows, tct_csr *out);

/* Set `length` [rows] to the numbers of entries of these rows: the first pass
 * of tct_gallery_fill. */
tacit_status tct_gallery_lengths(const tct_gallery_matrix *g, int64_t first,
                                 int64_t rows, int64_t *length);

/* Bytes of `rows` rows of `g` in compressed sparse rows, on average. */
double tct_gallery_bytes(const tct_gallery_matrix *g, int64_t rows);

/* Free `*g`, which may be NULL or half-built, and set it to NULL. */
void tct_gallery_close(tct_gallery_matrix **g);

#endif
