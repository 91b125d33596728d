/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/slicing.h - cuts a matrix into slices: the analysis of its
 * pattern for sliced ELL, on the host (8 lanes) and on a GPU (a
 * warp's).
 *
 * A group is a block row: b rows. A slice has one group per lane; a window has
 * some slices, and its groups may be sorted by length. Each window is planned
 * alone: which long rows are kept apart, whether to sort, and how each slice
 * stores its columns. tct_slicing_rules has the differences between host and
 * GPU. */
#ifndef TCT_OPERATOR_PATTERN_SLICING_H
#define TCT_OPERATOR_PATTERN_SLICING_H
#include "device/wave.h"
#include "operator/format.h"

enum {
    TCT_LANES_MOST = GPU_WAVE,
    TCT_WINDOW_MOST = 256,                   /* groups                     */
    TCT_WINDOW_SLICES = TCT_WINDOW_MOST / 8, /* with 8 lanes               */
    TCT_BLOCK_MOST = 6
};

typedef enum tct_slice_kind {
    SLICE_RUN,   /* a base a column: lane l has block column base + l; some
                  * lanes may be empty */
    SLICE_CONST, /* the same, with one value a column                        */
    SLICE_NEAR,  /* 16-bit offsets from the slice's least block column       */
    SLICE_FAR    /* 32-bit block columns                                     */
} tct_slice_kind;
enum { TCT_SLICE_KINDS = SLICE_FAR + 1 };

typedef struct tct_slice {
    int32_t base;   /* least block column                                    */
    uint16_t width; /* block columns                                         */
    uint16_t full;  /* of these, the first that no lane lacks                */
    uint8_t kind;   /* tct_slice_kind                                        */
    bool sorted;    /* its lanes have an order of their own                  */
} tct_slice;

typedef struct tct_column_run {
    int32_t base;
#if GPU_WAVE == 64
    uint32_t unused;
#endif
    tct_lanes mask; /* of the lanes in the run */
} tct_column_run;

typedef struct tct_window {
    int64_t first;                       /* group                            */
    int groups;                          /* at most those of the slicing     */
    const int32_t *col[TCT_WINDOW_MOST]; /* block columns of each, ascending */
    int32_t length[TCT_WINDOW_MOST];     /* 0 for rows that are kept apart   */
    int32_t cut;                         /* limit of rows, INT32_MAX: none */
} tct_window;

/* The cost of a slice, in bytes; other work counts as the bytes that could be
 * read meanwhile. */
typedef struct tct_slicing_rules {
    int lanes;
    int window;                    /* most groups of a window: whole slices */
    int rows;                      /* most rows of a window                 */
    double index[TCT_SLICE_KINDS]; /* of a column                         */
    int near_step;    /* columns of SLICE_NEAR are stored in multiples */
    double gather;    /* to load x one by one: a row of a column            */
    double slice;     /* each                                               */
    double ragged;    /* if a column lacks lanes                            */
    double sorted;    /* if its lanes are sorted                            */
    bool padded;      /* the last slice has all lanes, empty ones included;
                       * else it counts only its own */
    bool rotated;     /* the widest slice of a window is not always first   */
    bool whole_runs;  /* a run is one load: it must stay within the matrix  */
    bool sorted_runs; /* sorted lanes, too, may make runs                   */
    /* Take out rows that are too long (b = 1): `length` becomes 0, and `cut` is
     * set. */
    void (*keep_apart)(tct_window *w);
} tct_slicing_rules;

typedef struct tct_slicing { /* of a matrix */
    const tct_slicing_rules *rules;
    const tct_local *A;
    int b;
    int window; /* groups per window */
    int64_t groups, slices, windows;
    bool only_far, consts; /* the allowed kinds of slices */
    double cell;           /* bytes of the values of a column    */
} tct_slicing;

/* The slicing of `A`, which b must divide, into blocks of b x b. */
tct_slicing tct_slicing_of(const tct_slicing_rules *rules, const tct_local *A,
                           int b);
/* Set the bytes of a value. */
void tct_slicing_values(tct_slicing *S, double bytes);
/* Slices of a window: fewer in the last one. */
int tct_window_slices(const tct_slicing *S, int64_t window);
/* A sample of windows, one of each `step`: the first or, if `spread`, a random
 * one, against periodic grids. Returns their number. */
int64_t tct_slicing_sample(const tct_slicing *S, int64_t step, bool spread,
                           int64_t *window);
/* The block size, 2 to 6, with the least `bytes`, which become `*least` if they
 * are fewer, or if it is negative; negative bytes: the size does not fit. 0:
 * none. */
int tct_best_block(const tct_local *A, double *least,
                   double (*bytes)(const tct_local *A, int b));

/* --- window.c ------------------------------------------------------------- */

/* Entries of `scratch` for the next function. */
int64_t tct_window_room(const tct_slicing *S);
/* Read its groups as lists of block columns. */
void tct_window_read(const tct_slicing *S, int64_t window, int32_t *scratch,
                     tct_window *w);
/* Sort its groups by length, the longest first; equal ones keep their order. */
void tct_window_sort(const tct_window *w, uint8_t order[TCT_WINDOW_MOST]);

/* Rows kept apart: their number, and their entries. */
int64_t tct_window_long(const tct_slicing *S, const tct_window *w,
                        int64_t *entries);
typedef struct tct_rows_apart {
    int32_t *row; /* ascending            */
    int64_t *ptr; /* first entry of each  */
    int32_t *col;
    double *val;
} tct_rows_apart;
/* Copy them from number `*at` and entry `*entry` on; both advance. */
void tct_window_copy_long(const tct_slicing *S, const tct_window *w,
                          const tct_rows_apart *to, int64_t *at,
                          int64_t *entry);

/* --- plan.c --------------------------------------------------------------- */

/* Plan the slices of a window and the order of its groups. Returns the cost, <
 * 0 if a slice would be too wide. */
double tct_window_plan(const tct_slicing *S, const tct_window *w,
                       tct_slice slice[TCT_WINDOW_SLICES],
                       uint8_t order[TCT_WINDOW_MOST]);

/* Statistics of slices. */
typedef struct tct_slice_census {
    double columns[TCT_SLICE_KINDS], all; /* of each kind, of all */
    double sorted;                        /* per cent of slices   */
} tct_slice_census;
tct_slice_census tct_slices_count(const tct_slice *slice, int64_t slices);

/* --- pattern.c ------------------------------------------------------------ */

/* A stored slice, read back. */
typedef struct tct_stored_slice {
    int lanes, b;
    const void *of;                          /* the first argument of: */
    int64_t (*group)(const void *of, int l); /* of lane `l`, < 0: none */
    /* The block columns of lane `l`, ascending; their number. */
    int64_t (*read)(const void *of, int l, int32_t *col);
    int64_t long_rows; /* with its empty rows among them */
    const int32_t *long_row, *long_col;
    const int64_t *long_ptr;
} tct_stored_slice;

/* The first entry in which the slice and `A` differ; `stored` [its width], and
 * `scratch` as in tct_compare_group. */
tct_difference tct_compare_slice(const tct_stored_slice *s, const tct_local *A,
                                 int32_t *stored, int32_t *scratch);

#endif
