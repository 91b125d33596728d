/* SPDX-License-Identifier: BSD-3-Clause
 * operator/format.h - storage formats of a rank's local block. Each has one
 * file, a table at its end, and one row in TCT_FORMATS. */
#ifndef TCT_OPERATOR_FORMAT_H
#define TCT_OPERATOR_FORMAT_H
#include "device/queue.h"
#include <tacit/operator.h>

/* The first entry in which a block and a matrix with new values for it differ;
 * row < 0: none. A format of dense blocks may know only the block. */
typedef struct tct_difference {
    int64_t row, col;
    bool missing; /* the block has it, the matrix lacks it */
    bool dense;   /* ... or the dense block that begins at it */
} tct_difference;

/* The local block as a format gets it: compressed sparse rows with local
 * columns. `owned` arrays may be freed page by page (tct_release_pages) during
 * conversion: their contents are lost. */
typedef struct tct_local {
    int64_t rows, cols;
    int64_t *ptr; /* [rows + 1]           */
    int32_t *col; /* [ptr[rows]] ascending in each row */
    double *val;  /* [ptr[rows]]          */
    bool owned;
    const char *store; /* the store of values of a GPU format: see
                              * gpu/slices.h; NULL: any */
    /* Its rows as cells of a grid with one stencil; entries need not be given
     * then (`ptr` NULL). NULL: it is none, and why (NULL: not looked for) */
    const struct tct_grid_rows *grid;
    const char *no_grid;
    /* Of a sample: each `piece` rows are those of the grid from sample[0],
     * sample[1], ... on; NULL: all rows */
    const int64_t *sample;
    int64_t piece;
    int dense; /* the size of dense blocks, found before; 0: not yet; -1: none */
    /* The number of its values and whether they are floats, for sizes that are
     * foretold; NULL: values of a sample are read */
    const struct tct_value_set *values;
    const uint8_t *alike; /* of tct_csr_view (host/kernels.h), or NULL */
    /* Its arrays are those of these rows, which may be shared: not `owned`, and
     * not to be freed. NULL: they are its own */
    struct tct_csr *lent;
    /* The same rows in a GPU's memory, of which formats are made there; NULL, or
     * without rows: the host makes them */
    struct tct_store_rows *device;
    tct_difference *differs; /* gets the first difference of patterns in a
                              * refill; may be NULL */
} tct_local;

/* The reason why `A` has no grid. */
static inline const char *tct_no_grid(const tct_local *A)
{
    return A->no_grid ? A->no_grid : "only for gallery matrices of a grid";
}

/* Free its arrays, unless they are lent. */
void tct_local_free(tct_local *A);

/* Its diagonal, 0 without an entry, into `d` [rows]. */
void tct_local_diagonal(const tct_local *A, double *d);

/* The most entries of `size` consecutive rows, from a multiple of `size`. */
int64_t tct_most_entries(const tct_local *A, int64_t size);
/* Columns of the b x b blocks in block row `g` (b at most 6), ascending, into
 * `col`, with room for as many as entries; returns their number. */
int32_t tct_merge_rows(const tct_local *A, int b, int64_t g, int32_t *col);

/* --- pattern/pattern.c: comparison of patterns ---------------------------- */

/* Fail with INVALID and the message about a changed pattern, in the user's
 * numbers, from 0. */
tacit_status tct_pattern_changed(tct_difference where);
/* The same for formats: local numbers go into `A->differs`. */
tacit_status tct_pattern_differs(const tct_local *A, tct_difference where);

/* Compare group `g` of b x b blocks, with the `n` block columns `stored`,
 * ascending, to that of `A`; `scratch` [its entries] if b > 1. */
tct_difference tct_compare_group(const tct_local *A, int b, int64_t g,
                                 const int32_t *stored, int64_t n,
                                 int32_t *scratch);

/* Fail with INVALID unless `A` has the size of `B`; unless row `i` of `A` is
 * that of the compressed rows `ptr` and `col`. */
tacit_status tct_require_size(const tct_block *B, const tct_local *A);
tacit_status tct_require_row(const tct_local *A, int64_t i, const int64_t *ptr,
                             const int32_t *col);

typedef struct tct_format {
    tacit_format about;
    tct_device_kind kind; /* of its devices */
    /* Matrix bytes per product of `A`, or a negative number and the reason if
     * the format does not fit this matrix. */
    double (*bytes)(const tct_local *A, const char **reason);
    /* Build the block from `A`. On the host its rows are divided among the
     * threads of `team`, which the block borrows; each touches its part first.
     * Errors      UNSUPPORTED, NO_MEMORY. */
    tacit_status (*create)(tct_local *A, tct_team *team, tct_block **out);
    /* Replace the values by those of `A`, which must have the same pattern.
     * Errors      INVALID, through tct_pattern_differs. */
    tacit_status (*refill)(tct_block *B, const tct_local *A);
    /* The diagonal as given, into `d` [rows] in host memory. OPTIONAL on a GPU:
     * the operator keeps it */
    void (*diagonal)(const tct_block *B, double *d);
} tct_format;

#define TCT_FORMATS(X) X(csr) X(sell) X(bsell) X(stencil)
#define TCT_GPU_FORMATS(X) \
    X(gpu_csr) X(gpu_sell32) X(gpu_sell) X(gpu_bsell) X(gpu_stencil)
#define X(name) extern const tct_format tct_format_##name;
TCT_FORMATS(X)
TCT_GPU_FORMATS(X)
#undef X

/* Format `i` of a device, NULL past the end; the one called `name`, NULL if
 * there is none. */
const tct_format *tct_format_at(const char *device, int i);
const tct_format *tct_format_find(const char *device, const char *name);

enum { TCT_TRIALS_MOST = 8 };

/* "FORMAT", "FORMAT/STORE", each with or without "+LOW" and "@ORDER", parsed.
 * STORE is the store of values of a GPU format ("auto", "f64", ...), LOW that
 * of the second block for mixed precision ("low32", "low48"); both empty if not
 * given. ORDER is the order of rows, "auto" if not given.
 * Errors      INVALID (unknown format of that device, with the nearest). */
typedef struct tct_format_wish {
    char format[16], store[16], low[16], order[16];
} tct_format_wish;
tacit_status tct_format_parse(const char *device, const char *text,
                              tct_format_wish *out);

/* Store `A` in the formats of a GPU, in turn, and keep the fastest in `*out`;
 * for one solve csr is not, unless it has far fewer bytes;
 * `*winner` is its name in its trial. `reasons`
 * [TCT_TRIALS_MOST] is room for the texts of trials.
 * Errors      NO_MEMORY, DEVICE. */
enum { TCT_REASON = 160 };
/* On a GPU a matrix with at most this many entries takes the time of launches
 * or barriers in any format: formats and loops are not timed. */
enum { TCT_GPU_SMALL = 100000 };
/* Seconds of a product with each of `blocks` [count], the least of several
 * rounds, on a GPU.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_time_products(tacit_queue *q, tct_block *const *blocks,
                               int count, double *seconds);
tacit_status tct_format_autotune(tacit_queue *q, tct_local *A, bool one_solve,
                                 tacit_trial *trials, int *count,
                                 char (*reasons)[TCT_REASON],
                                 const char **winner, tct_block **out);

/* Measure the formats on a sample of A's rows (all of them if there are few)
 * and return the fastest. `trials` [TCT_TRIALS_MOST], `*count` of them set. */
const tct_format *tct_format_choose(const tct_local *A, tct_team *team,
                                    tacit_trial *trials, int *count);
/* The same by bytes alone. */
const tct_format *tct_format_by_bytes(const tct_local *A, tacit_trial *trials,
                                      int *count);
/* Seconds of a product with samples of two matrices, each in its format, timed
 * in turn. 0 without memory. */
void tct_format_compare(const tct_local *const A[2],
                        const tct_format *const format[2], tct_team *team,
                        double seconds[2]);

#endif
