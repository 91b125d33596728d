/* SPDX-License-Identifier: BSD-3-Clause
 * operator/format.h - storage formats of a rank's local block. One file per
 * format, one table at its bottom, one row in TCT_FORMATS. */
#ifndef TCT_OPERATOR_FORMAT_H
#define TCT_OPERATOR_FORMAT_H
#include "device/queue.h"
#include <tacit/operator.h>

/* The first entry in which a block and a matrix with new values for it differ,
 * row below 0: none. A format of dense blocks may know only in which. */
typedef struct tct_difference {
    int64_t row, col;
    bool missing; /* the block has it, the matrix has not */
    bool dense;   /* ... or the dense block that begins here */
} tct_difference;

/* The local block as the operator hands it over: compressed sparse rows with
 * local columns. `owned` arrays may be given back page by page
 * (tct_release_pages) while they are converted: their contents are lost. */
typedef struct tct_local {
    int64_t rows, cols;
    int64_t *ptr; /* [rows + 1]           */
    int32_t *col; /* [ptr[rows]] ascending in each row */
    double *val;  /* [ptr[rows]]          */
    bool owned;
    const char *store;       /* how a GPU format is to keep values: see
                          gpu/slices.h; NULL: as it likes */
    tct_difference *differs; /* where a refill says what is wrong with the
                                pattern; may be NULL */
} tct_local;

/* Free its arrays. */
void tct_local_free(tct_local *A);

/* Its diagonal, 0 where there is no entry, into `d` [rows]. */
void tct_local_diagonal(const tct_local *A, double *d);

/* Most entries in `size` rows that follow one another, from a multiple of
 * it. */
int64_t tct_most_entries(const tct_local *A, int64_t size);
/* Columns of the b x b blocks in block row `g` (b at most 6), ascending, into
 * `col`, which has room for as many as there are entries; their number. */
int32_t tct_merge_rows(const tct_local *A, int b, int64_t g, int32_t *col);

/* --- pattern/pattern.c: a pattern against another ------------------------ */

/* Fail with INVALID: the one sentence about a pattern that has changed; the
 * user's numbers, from 0. */
tacit_status tct_pattern_changed(tct_difference where);
/* The same, and say so in `A->differs`, with local numbers: for formats. */
tacit_status tct_pattern_differs(const tct_local *A, tct_difference where);

/* Group `g` of b x b blocks, whose `n` block columns in a block are `stored`,
 * ascending, against that of `A`; `scratch` [its entries] if b > 1. */
tct_difference tct_compare_group(const tct_local *A, int b, int64_t g,
                                 const int32_t *stored, int64_t n,
                                 int32_t *scratch);

/* Fail with INVALID unless `A` is as large as `B` is; unless row `i` of `A` is
 * the same in compressed rows with `ptr` and `col`. */
tacit_status tct_require_size(const tct_block *B, const tct_local *A);
tacit_status tct_require_row(const tct_local *A, int64_t i, const int64_t *ptr,
                             const int32_t *col);

typedef struct tct_format {
    tacit_format about;
    tct_device_kind kind; /* of the devices that it is for */
    /* Matrix bytes per product that `A` would take, or a negative number and
     * the reason where the format does not fit this matrix. */
    double (*bytes)(const tct_local *A, const char **reason);
    /* Build the block from `A`. On the host its rows are divided among the
     * threads of `team`, each touching its part first; the block borrows it.
     * Errors      UNSUPPORTED, NO_MEMORY. */
    tacit_status (*create)(tct_local *A, tct_team *team, tct_block **out);
    /* Replace the values by those of `A`, which must have the same pattern.
     * Errors      INVALID, through tct_pattern_differs. */
    tacit_status (*refill)(tct_block *B, const tct_local *A);
    /* The diagonal as it was given, into host memory, `d` [rows]. OPTIONAL on
     * a GPU: it is kept in host memory */
    void (*diagonal)(const tct_block *B, double *d);
} tct_format;

#define TCT_FORMATS(X)     X(csr) X(sell) X(bsell)
#define TCT_GPU_FORMATS(X) X(gpu_csr) X(gpu_sell32) X(gpu_sell) X(gpu_bsell)
#define X(name)            extern const tct_format tct_format_##name;
TCT_FORMATS(X)
TCT_GPU_FORMATS(X)
#undef X

/* Format `i` of a device, NULL past the end; the one called `name`, NULL if
 * there is none. */
const tct_format *tct_format_at(const char *device, int i);
const tct_format *tct_format_find(const char *device, const char *name);

enum { TCT_TRIALS_MOST = 8 };

/* "FORMAT", "FORMAT/STORE", each with or without "+LOW" and "@ORDER", taken
 * apart. STORE is how a GPU format keeps values ("auto", "f64", ...), LOW that
 * of a second block for mixed precision ("low32", "low48"); both empty if not
 * given. ORDER is the order of rows, "auto" if not given.
 * Errors      INVALID (unknown format of that device, with the nearest). */
typedef struct tct_format_wish {
    char format[16], store[16], low[16], order[16];
} tct_format_wish;
tacit_status tct_format_parse(const char *device, const char *text,
                              tct_format_wish *out);

/* Store `A` in the formats of a GPU, one after the other, and keep the fastest
 * in `*out`; `*winner` names it as its trial does. `reasons`
 * [TCT_TRIALS_MOST] is room for the texts of trials.
 * Errors      NO_MEMORY, DEVICE. */
enum { TCT_REASON = 160 };
/* On a GPU a matrix of so few entries takes what launches or barriers take, in
 * whatever format: neither formats nor loops are tried. */
enum { TCT_GPU_SMALL = 100000 };
/* Seconds of a product with each of `blocks` [count], the least of rounds in
 * which all take turns, on a GPU.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_time_products(tacit_queue *q, tct_block *const *blocks,
                               int count, double *seconds);
tacit_status tct_format_autotune(tacit_queue *q, tct_local *A,
                                 tacit_trial *trials, int *count,
                                 char (*reasons)[TCT_REASON],
                                 const char **winner, tct_block **out);

/* Measure the formats on a sample of A's rows (all of them if there are few)
 * and return the fastest. `trials` [TCT_TRIALS_MOST], `*count` of them set. */
const tct_format *tct_format_choose(const tct_local *A, tct_team *team,
                                    tacit_trial *trials, int *count);
/* Seconds of a product with samples of two matrices, each in its format; they
 * take turns. 0 without memory. */
void tct_format_compare(const tct_local *const A[2],
                        const tct_format *const format[2], tct_team *team,
                        double seconds[2]);

#endif
