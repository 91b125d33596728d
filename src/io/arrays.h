/* SPDX-License-Identifier: BSD-3-Clause
 * io/arrays.h - binary files are arrays of numbers, one after another.
 * An array is read as it comes, several arrays of a file at once; three of
 * them are a source of entries. What is written is made likewise. */
#ifndef TCT_IO_ARRAYS_H
#define TCT_IO_ARRAYS_H
#include "io/format.h"

/* An array of a file ends it, or another array follows. */
typedef struct tct_array_end {
    /* May these bytes [count] follow? */
    bool (*follows)(const char *head, size_t count);
    /* Fail if the `count` values from byte `offset` are of another kind than
     * they were taken for; NULL if that cannot be. Asked where they do not end
     * as they should. */
    tacit_status (*refuse_kind)(const char *path, int64_t offset,
                                int64_t count);
} tct_array_end;

typedef struct tct_array {
    const char *path, *what; /* for messages */
    int64_t count;           /* elements */
    char kind;               /* 'i', 'u', 'f' */
    int width;               /* bytes of an element: 1, 2, 4, 8 */
    bool big;                /* endian */
    void *ctx;               /* where the bytes come from */
    /* Read exactly `bytes` more. */
    tacit_status (*read)(void *ctx, const char *what, void *out, size_t bytes);
    /* Check what can only be checked when all is read; may be NULL. */
    tacit_status (*finish)(void *ctx);
    void (*close)(void *ctx);
} tct_array;

/* The array of `count` elements that begins `offset` bytes into the content of
 * `path`. Borrows `path` and `what`. */
tacit_status tct_array_open(const char *path, const char *what, int64_t offset,
                            tct_array *out);
void tct_array_close(tct_array *a);

/* Check, when all is read, that the content ends behind the array, which begins
 * at byte `offset` of it, or goes on as `end` permits, which is borrowed.
 * Errors of reading then know `end`, too. */
void tct_array_ends(tct_array *a, int64_t offset, const tct_array_end *end);

/* Does the content of `path` end at byte `at`, or go on as `end` permits? A
 * file that ends before does neither. */
bool tct_array_ends_at(const char *path, int64_t at, const tct_array_end *end);

/* Fail: what stands at byte `at` does not follow on an array. */
tacit_status tct_array_goes_on(const char *path, int64_t at);

/* The next `count` elements. */
tacit_status tct_array_ints(tct_array *a, int64_t *out, int64_t count);
tacit_status tct_array_doubles(tct_array *a, double *out, int64_t count);

/* How the first array tells the rows (or columns) of the entries. */
typedef enum {
    TCT_BY_START,  /* [lines + 1] where each row begins */
    TCT_BY_LENGTH, /* [lines] entries of each row      */
    TCT_BY_INDEX   /* [entries] the row of each entry  */
} tct_line_kind;

/* What the caller knows of the source; the rest is filled in. */
typedef struct tct_arrays_shape {
    int64_t rows, cols, entries;
    tct_line_kind kind;
    bool by_column; /* the lines are columns */
    bool unique;
    tct_field field;
} tct_arrays_shape;

/* A source of entries (lines[], index[], value[]). Takes the arrays, also when
 * it fails. */
tacit_status tct_arrays_source(const tct_input *in,
                               const tct_arrays_shape *shape,
                               const tct_array arrays[3], tct_source **out);

/* A source of all values of a dense array, by rows or by columns; zeros are
 * left out. Takes the array. */
tacit_status tct_dense_source(const tct_input *in, int64_t rows, int64_t cols,
                              bool by_column, const tct_array *array,
                              tct_source **out);

/* What a rank writes of an array. */
typedef enum {
    TCT_MAKE_ENDS,    /* A: where each row ends       */
    TCT_MAKE_LENGTHS, /* A: the entries of each row   */
    TCT_MAKE_COLUMNS, /* A: the column of each entry  */
    TCT_MAKE_VALUES   /* x: of 8 bytes                */
} tct_make_kind;
typedef struct tct_maker {
    tct_make_kind kind;
    const tct_csr *A;
    const double *x;
    int width;      /* bytes of a whole number: 4, 8 */
    bool big;       /* endian */
    int64_t before; /* entries of the ranks before: added to ends */
    int64_t at, count;
} tct_maker;

/* A tct_make; `ctx` is a tct_maker. */
size_t tct_make_elements(void *ctx, char *out, size_t room);

#endif
