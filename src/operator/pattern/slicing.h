/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/slicing.h - cut a matrix into slices: the analysis of its
 * pattern behind sliced ELL, for the host (8 lanes) and for a GPU (32).
 *
 * A group is a block row: b rows. As many groups as there are lanes are a
 * slice, one lane each; some slices are a window, whose groups may be sorted by
 * length. A window is planned for itself: which rows are so long that they are
 * kept apart, whether sorting pays, and how each slice stores its columns. What
 * the host and a GPU do not have in common is in tct_slicing_rules. */
#ifndef TCT_OPERATOR_PATTERN_SLICING_H
#define TCT_OPERATOR_PATTERN_SLICING_H
#include "operator/format.h"

enum {
    TCT_LANES_MOST = 32,
    TCT_WINDOW_MOST = 256,                   /* groups                     */
    TCT_WINDOW_SLICES = TCT_WINDOW_MOST / 8, /* where there are 8 lanes    */
    TCT_BLOCK_MOST = 6
};

typedef enum tct_slice_kind {
    SLICE_RUN,   /* a base a column: lane l has block column base + l; not
                    every lane of a run need be there                        */
    SLICE_CONST, /* the same, and one value a column                         */
    SLICE_NEAR,  /* 16-bit offsets from the slice's least block column       */
    SLICE_FAR    /* 32-bit block columns                                     */
} tct_slice_kind;
enum { TCT_SLICE_KINDS = SLICE_FAR + 1 };

typedef struct tct_slice {
    int32_t base;   /* least block column                                    */
    uint16_t width; /* block columns                                         */
    uint16_t full;  /* of these, the first have no empty lane                */
    uint8_t kind;   /* tct_slice_kind                                        */
    bool sorted;    /* its lanes are in an order of their own                */
} tct_slice;

typedef struct tct_column_run {
    int32_t base;
    uint32_t mask; /* of the lanes that have it */
} tct_column_run;

typedef struct tct_window {
    int64_t first;                       /* group                            */
    int groups;                          /* at most those of the slicing     */
    const int32_t *col[TCT_WINDOW_MOST]; /* block columns of each, ascending */
    int32_t length[TCT_WINDOW_MOST];     /* 0 for rows that are kept apart   */
    int32_t cut;                         /* longer rows are, INT32_MAX: none */
} tct_window;

/* What the cost of a slice is, in bytes; and what takes time in another way,
 * in those that could be read meanwhile. */
typedef struct tct_slicing_rules {
    int lanes;
    int window;                    /* groups of one at most: whole slices   */
    int rows;                      /* of one at most                        */
    double index[TCT_SLICE_KINDS]; /* of a column                         */
    int near_step;    /* columns of SLICE_NEAR are stored so many at a time */
    double gather;    /* to load x one by one: a row of a column            */
    double slice;     /* each                                               */
    double ragged;    /* if its lanes of columns are not all there          */
    double sorted;    /* if they are sorted                                 */
    bool padded;      /* the last slice has all its lanes, the last of them
                         empty; else it counts as the lanes that it has     */
    bool turned;      /* the widest slice of a window is not always first   */
    bool whole_runs;  /* a run is one load: it must not leave the matrix    */
    bool sorted_runs; /* sorted lanes, too, may make runs                   */
    /* Take out what is too long (b = 1): `length` becomes 0, and `cut` is
     * set. */
    void (*keep_apart)(tct_window *w);
} tct_slicing_rules;

typedef struct tct_slicing { /* of a matrix */
    const tct_slicing_rules *rules;
    const tct_local *A;
    int b;
    int window; /* groups of one */
    int64_t groups, slices, windows;
    bool only_far, consts; /* which kinds of slices there may be */
    double cell;           /* bytes of the values of a column    */
} tct_slicing;

/* The slicing of `A`, which b must divide, into blocks of b x b. */
tct_slicing tct_slicing_of(const tct_slicing_rules *rules, const tct_local *A,
                           int b);
/* Values take `bytes` each. */
void tct_slicing_values(tct_slicing *S, double bytes);
/* Slices of a window: all, but in the last. */
int tct_window_slices(const tct_slicing *S, int64_t window);
/* Some windows: one of each `step`, the first or, if they are `spread`, any:
 * grids have periods. Their number. */
int64_t tct_slicing_sample(const tct_slicing *S, int64_t step, bool spread,
                           int64_t *window);
/* The block size, 2 to 6, of the least `bytes`, which get into `*least`: fewer
 * than what is there, unless that is negative, as are those of a size that does
 * not fit. 0: none. */
int tct_best_block(const tct_local *A, double *least,
                   double (*bytes)(const tct_local *A, int b));

/* --- window.c ------------------------------------------------------------- */

/* Entries that `scratch` of the next must have room for. */
int64_t tct_window_room(const tct_slicing *S);
/* Its groups as lists of block columns. */
void tct_window_read(const tct_slicing *S, int64_t window, int32_t *scratch,
                     tct_window *w);
/* Its groups by length, the longest first; equal ones as they come. */
void tct_window_sort(const tct_window *w, uint8_t order[TCT_WINDOW_MOST]);

/* Rows kept apart: how many, and their entries. */
int64_t tct_window_long(const tct_slicing *S, const tct_window *w,
                        int64_t *entries);
typedef struct tct_rows_apart {
    int32_t *row; /* ascending            */
    int64_t *ptr; /* first entry of each  */
    int32_t *col;
    double *val;
} tct_rows_apart;
/* Copy them: number `*at` is the first, and `*entry` its first entry; both go
 * on. */
void tct_window_copy_long(const tct_slicing *S, const tct_window *w,
                          const tct_rows_apart *to, int64_t *at,
                          int64_t *entry);

/* --- plan.c --------------------------------------------------------------- */

/* Plan the slices of a window and the order of its groups. The cost of it, < 0
 * if a slice would be too wide. */
double tct_window_plan(const tct_slicing *S, const tct_window *w,
                       tct_slice slice[TCT_WINDOW_SLICES],
                       uint8_t order[TCT_WINDOW_MOST]);

/* What slices came to. */
typedef struct tct_slice_census {
    double columns[TCT_SLICE_KINDS], all; /* of each kind, of all */
    double sorted;                        /* per cent of slices   */
} tct_slice_census;
tct_slice_census tct_slices_count(const tct_slice *slice, int64_t slices);

/* Bytes of the index of `width` columns; the cost of a slice. */
double tct_index_bytes(const tct_slicing_rules *rules, tct_slice_kind kind,
                       int width);
double tct_slice_cost(const tct_slicing *S, const tct_slice *s);

/* --- pattern.c ------------------------------------------------------------ */

/* A slice as it was stored, read back. */
typedef struct tct_stored_slice {
    int lanes, b;
    const void *of;                          /* the first argument of: */
    int64_t (*group)(const void *of, int l); /* of lane `l`, < 0: none */
    /* The block columns of lane `l`, ascending; their number. */
    int64_t (*read)(const void *of, int l, int32_t *col);
    int64_t long_rows; /* among which its empty rows may be */
    const int32_t *long_row, *long_col;
    const int64_t *long_ptr;
} tct_stored_slice;

/* The first entry in which the slice and `A` differ; `stored` [its width], and
 * `scratch` as in tct_compare_group. */
tct_difference tct_compare_slice(const tct_stored_slice *s, const tct_local *A,
                                 int32_t *stored, int32_t *scratch);

#endif
