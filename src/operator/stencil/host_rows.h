/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/host_rows.h - a step of the cells of a row, on the host: a
 * function for each shape and kind of weights, compiled once per type and
 * instruction set. */
#ifndef TCT_OPERATOR_STENCIL_HOST_ROWS_H
#define TCT_OPERATOR_STENCIL_HOST_ROWS_H
#include "operator/stencil/stencil.h"

/* Blocks of a row whose changes are summed apart: sums do not depend on how
 * tiles cut a row, as long as they cut between blocks. */
enum { TCT_CHANGE_BLOCK = 512 };

/* The inputs of a patch, which is some rows at constant distances. They are in
 * cells. In two dimensions in[0] to in[rows + 1] are rows one after another,
 * wherever they are: a patch has at most TCT_FLAT_ROWS. */
enum { TCT_FLAT_ROWS = TCT_STENCIL_ROWS - 2 };
typedef struct tct_row_inputs {
    const void *in[TCT_STENCIL_ROWS]; /* rows of neighbours (tct_point.row) */
    int64_t pitch[TCT_STENCIL_ROWS];  /* from a row to that of the next     */
    const void *coefficient; /* point 0 of that cell, or NULL               */
    int64_t coefficient_pitch, stride; /* to the next row's; from a point's
                                        * coefficients to the next point's  */
    double centre, neighbours;
    int64_t ahead; /* bytes: rows come from memory, and are asked for so far
                    * ahead; 0: they do not */
} tct_row_inputs;

/* Write `rows` of `count` cells, `pitch` apart. Cells -1 and `count` of the
 * inputs' rows are read, too. */
typedef void (*tct_row_fn)(const tct_row_inputs *r, void *out, int64_t pitch,
                           int64_t rows, int64_t count);
/* The sum of squares of now - before, in doubles. */
typedef double (*tct_change_fn)(const void *now, const void *before,
                                int64_t count);

/* Of one type. */
typedef struct tct_host_rows {
    tct_row_fn step[TCT_SHAPE_COUNT][TCT_WEIGHTS_COUNT];
    /* The same past the caches, for memory that is not read soon: a fence of
     * tct_host_stream before other threads read it. By cell: NULL. */
    tct_row_fn past[TCT_SHAPE_COUNT][TCT_WEIGHTS_COUNT];
    tct_change_fn change;
} tct_host_rows;

extern const tct_host_rows tct_rows_float_base, tct_rows_float_avx2,
    tct_rows_float_avx512, tct_rows_double_base, tct_rows_double_avx2,
    tct_rows_double_avx512;

/* Copy `bytes` past the caches, for memory that is not read soon; fence before
 * other threads read it. */
typedef struct tct_host_stream {
    void (*copy)(void *to, const void *from, size_t bytes);
    void (*fence)(void);
} tct_host_stream;

extern const tct_host_stream tct_stream_base, tct_stream_avx2,
    tct_stream_avx512;

/* The best of this processor. */
const tct_host_rows *tct_host_rows_of(const tct_grid_stencil *s);
const tct_host_stream *tct_host_stream_best(void);

#endif
