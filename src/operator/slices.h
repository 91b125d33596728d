/* SPDX-License-Identifier: BSD-3-Clause
 * operator/slices.h - sliced ELL, the storage behind sell (blocks of 1) and
 * bsell (dense b x b blocks).
 *
 * Eight block rows are a slice; the slice is stored column after column, eight
 * lanes at a time, so that one vector instruction works on eight rows. Each
 * slice stores its columns in the cheapest way that is right for it, and all
 * slices share the smallest way to store values without loss. Rows keep their
 * column order, so a row sums as it would in plain CSR. */
#ifndef TCT_SLICES_H
#define TCT_SLICES_H
#include "operator/format.h"

enum {
    LANES = 8,
    CHUNK = 480,       /* rows: the unit of threads and of (x, y); whole slices
                       of blocks of 1 to 6                                */
    WINDOW_MOST = 240, /* block rows sorted by length together, if it pays */
    BLOCK_MOST = 6,
    DICT_MOST = 256 /* distinct values in a dictionary                    */
};

typedef enum slice_kind {
    SLICE_RUN,  /* one int32 a column: the lanes' columns follow one another */
    SLICE_NEAR, /* uint16 offsets from the slice's least column              */
    SLICE_FAR   /* int32 columns                                             */
} slice_kind;

typedef enum value_kind {
    VALUE_F64,
    VALUE_F32,    /* every value is exactly a float            */
    VALUE_DICT16, /* one byte into a table of up to 16 values */
    VALUE_DICT    /* one byte into a table of up to 256       */
} value_kind;

typedef struct tct_slice {
    int64_t value;       /* first element in `value`                        */
    int64_t index;       /* first byte in `index`                           */
    int32_t base;        /* least block column, of SLICE_NEAR               */
    uint32_t width : 29; /* block columns                               */
    uint32_t kind : 2;   /* slice_kind                                  */
    uint32_t sorted : 1; /* lanes are rows of the window in `order`     */
} tct_slice;

/* How a product is divided. Every format sums a row in column order, and adds
 * up (x, y) chunk by chunk, so that neither the format nor the number of
 * threads changes a bit of either. */
typedef struct tct_chunks {
    int64_t count;
    int parts;       /* threads that work on it           */
    int64_t *split;  /* [parts + 1] first chunk of each   */
    double *partial; /* [count] (x, y) of each chunk      */
} tct_chunks;

/* Divide `rows` among `threads`, about as many entries each: `before` gives
 * the entries before a row. Errors NO_MEMORY. */
tacit_status tct_chunks_create(tct_chunks *c, int64_t rows, int threads,
                               const int64_t *before);
void tct_chunks_clear(tct_chunks *c);

typedef struct tct_slices {
    tct_block base; /* first member */
    int b;          /* block size */
    int64_t groups; /* block rows */
    int64_t slices;
    tct_slice *slice; /* [slices] */
    uint8_t *order;   /* [LANES * slices] row of each lane in its window */
    value_kind kind;
    void *value;
    uint8_t *index;
    double dict[DICT_MOST];
    /* Rows much longer than those around them, kept apart (blocks of 1). */
    int64_t long_rows;
    int32_t *long_row; /* [long_rows]     */
    int64_t *long_ptr; /* [long_rows + 1] */
    int32_t *long_col;
    double *long_val;
    int window; /* CHUNK / b, at most WINDOW_MOST         */
    tct_chunks chunks;
    uint64_t pattern; /* tells whether another matrix has the same one */
} tct_slices;

/* Bytes of one product if `A` were stored in blocks of `b`, estimated from the
 * pattern; negative if the blocks would be mostly zeros. */
double tct_slices_bytes(const tct_local *A, int b);

/* Build `out` from `A` in blocks of `b`. Errors NO_MEMORY. */
tacit_status tct_slices_create(tct_local *A, int b, const tct_block_ops *ops,
                               int threads, tct_block **out);
/* Errors      INVALID if the pattern of `A` is another. */
tacit_status tct_slices_refill(tct_block *block, const tct_local *A);
void tct_slices_destroy(tct_block *block);

void tct_slices_multiply(const tct_block *block, int threads, const double *x,
                         double *y, double *dot);
void tct_slices_multiply_pair(const tct_block *block, int threads,
                              const double *x0, double *y0, const double *x1,
                              double *y1);

#endif
