/* SPDX-License-Identifier: BSD-3-Clause
 * io/arrays.h - the arrays of numbers that make up binary files. Several arrays
 * of a file are read at once, sequentially; three form a source of entries.
 * Writing is similar. */
#ifndef TCT_IO_ARRAYS_H
#define TCT_IO_ARRAYS_H
#include "io/format.h"

/* The bytes that may follow an array in a file. */
typedef struct tct_array_end {
    /* These bytes [count] may follow. */
    bool (*follows)(const char *head, size_t count);
    /* Called if an array does not end as it should: fail if the `count` values
     * from byte `offset` have another type than expected; NULL: not checked. */
    tacit_status (*refuse_kind)(const char *path, int64_t offset,
                                int64_t count);
} tct_array_end;

typedef struct tct_array {
    const char *path, *what; /* for messages */
    int64_t count;           /* elements */
    char kind;               /* 'i', 'u', 'f' */
    int width;               /* bytes of an element: 1, 2, 4, 8 */
    bool big;                /* endian */
    void *ctx;               /* argument of the functions below */
    /* Read exactly `bytes`. */
    tacit_status (*read)(void *ctx, const char *what, void *out, size_t bytes);
    /* Check the file after the last element; may be NULL. */
    tacit_status (*finish)(void *ctx);
    void (*close)(void *ctx);
} tct_array;

/* Open the array of `count` elements at byte `offset` of the content of `path`,
 * which is borrowed, as is `what`. */
tacit_status tct_array_open(const char *path, const char *what, int64_t offset,
                            tct_array *out);
void tct_array_close(tct_array *a);

/* After the last element, check that the content ends or continues as `end`,
 * which is borrowed, permits; the array begins at byte `offset`. Read errors
 * then also consult `end`. */
void tct_array_ends(tct_array *a, int64_t offset, const tct_array_end *end);

/* The content of `path` ends at byte `at`, or continues as `end` permits. */
bool tct_array_ends_at(const char *path, int64_t at, const tct_array_end *end);

/* Fail: the bytes at `at` belong to no known object. */
tacit_status tct_array_goes_on(const char *path, int64_t at);

/* Read the next `count` elements. */
tacit_status tct_array_ints(tct_array *a, int64_t *out, int64_t count);
tacit_status tct_array_doubles(tct_array *a, double *out, int64_t count);

/* Encoding of the rows (or columns) of entries in the first array. */
typedef enum {
    TCT_BY_START,  /* [lines + 1] offset of each row */
    TCT_BY_LENGTH, /* [lines] number of entries of each row */
    TCT_BY_INDEX   /* [entries] row of each entry */
} tct_line_kind;

/* Known properties of a source. */
typedef struct tct_arrays_shape {
    int64_t rows, cols, entries;
    tct_line_kind kind;
    bool by_column; /* lines are columns */
    bool unique;
    tct_field field;
} tct_arrays_shape;

/* Create a source of entries (lines[], index[], value[]). Takes ownership of
 * the arrays, also on failure. */
tacit_status tct_arrays_source(const tct_input *in,
                               const tct_arrays_shape *shape,
                               const tct_array arrays[3], tct_source **out);

/* Create a source of the nonzero values of a dense array, by rows or by
 * columns. Takes ownership of the array. */
tacit_status tct_dense_source(const tct_input *in, int64_t rows, int64_t cols,
                              bool by_column, const tct_array *array,
                              tct_source **out);

/* Contents of an array to write. */
typedef enum {
    TCT_MAKE_ENDS,    /* A: end offset of each row */
    TCT_MAKE_LENGTHS, /* A: number of entries of each row */
    TCT_MAKE_COLUMNS, /* A: column of each entry */
    TCT_MAKE_VALUES   /* x: 8 bytes each */
} tct_make_kind;
typedef struct tct_maker {
    tct_make_kind kind;
    const tct_csr *A;
    const double *x;
    int width;      /* bytes of an integer: 4, 8 */
    bool big;       /* endian */
    int64_t before; /* entries on lower ranks, added to ends */
    int64_t at, count;
} tct_maker;

/* A tct_make; `ctx` is a tct_maker. */
size_t tct_make_elements(void *ctx, char *out, size_t room);

#endif
