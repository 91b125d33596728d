/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices.h - sliced ELL, the storage of sell (rows) and bsell
 * (rows of dense b x b blocks). Below, a group is a block row: b rows.
 *
 * Eight groups are a slice, one lane each; a slice is stored by columns of
 * eight lanes, for vector instructions. Each slice stores its columns in the
 * cheapest way that fits (pattern/slicing.h): SLICE_RUN is an int32 a column,
 * SLICE_NEAR eight uint16, SLICE_FAR eight int32, and SLICE_CONST is not used.
 * All share the smallest store for values that loses nothing, or floats if they
 * have been rounded. If the groups of a slice have different lengths, its last
 * columns have empty lanes, marked in a byte of bits; they are skipped, not
 * multiplied by zero.
 *
 * Rows much longer than their neighbours are kept apart in compressed rows.
 *
 * Every row is summed in column order from +0, one fused multiply-add an entry
 * where the instruction set has it: all formats give the same bits. Entries
 * that fill a block of bsell count as 0. */
#ifndef TCT_OPERATOR_HOST_SLICES_H
#define TCT_OPERATOR_HOST_SLICES_H
#include "operator/pattern/slicing.h"

enum {
    LANES = 8,
    CHUNK = 480, /* rows: the unit of threads and of (x, y); whole slices of
                  * blocks of 1 to 6 */
    BLOCK_MOST = TCT_BLOCK_MOST,
    DICT_MOST = 256 /* values of a byte code                              */
};

typedef enum value_kind {
    VALUE_F64,
    VALUE_F32,    /* every value is exactly a float            */
    VALUE_DICT16, /* bytes into a table of up to 16: AVX-512 */
    VALUE_DICT32, /* or 32 looks them up in registers        */
    VALUE_DICT,   /* bytes into a table of up to DICT_MOST   */
    VALUE_KINDS
} value_kind;

/* The start of a chunk in each array. */
typedef struct tct_slices_at {
    int64_t slice;
    int64_t cell;       /* of `value`, b x b values for eight lanes */
    int64_t index;      /* bytes of `index`                         */
    int64_t some;       /* of `some`                                */
    int64_t long_row;   /* of `long_row`                            */
    int64_t long_entry; /* of `long_col`                            */
} tct_slices_at;

/* The division of a product. Every format sums a row in column order, and adds
 * up (x, y) by chunks, so that format and number of threads change no bit. */
typedef struct tct_chunks {
    tct_team *team; /* its threads                       */
    int64_t count;
    int parts;       /* threads of the team, at most one for each chunk */
    int64_t *split;  /* [parts + 1] first chunk of each   */
    double *partial; /* [count * TCT_COLUMNS_MOST] (x, y) of each chunk */
} tct_chunks;

/* Divide `rows` among the threads of `team`, which is borrowed, with about
 * equal numbers of entries: `before` gives the entries before a row, NULL: of
 * rows. Errors NO_MEMORY. */
tacit_status tct_chunks_create(tct_chunks *c, int64_t rows, tct_team *team,
                               const int64_t *before);
void tct_chunks_clear(tct_chunks *c);

typedef struct tct_slices {
    tct_block base; /* first member */
    int b;          /* block size   */
    int64_t groups, slices;
    tct_slice *slice; /* [slices]                                         */
    uint8_t *order;   /* [LANES * slices] group of each lane in its window */
    value_kind kind;
    void *value; /* [cells][b][b][LANES] of the kind's type           */
    uint8_t *index;
    uint8_t *some; /* a bit per lane for each column from `full` on     */
    double dict[DICT_MOST];
    double pair[DICT_MOST][2]; /* of VALUE_DICT16: codes c and d at c + 16 d */
    int64_t long_rows; /* kept apart: empty in their slice                 */
    int32_t *long_row; /* [long_rows] ascending                            */
    int64_t *long_ptr; /* [long_rows + 1]                                  */
    int32_t *long_col;
    double *long_val;
    int window; /* groups per window */
    tct_chunks chunks;
    tct_slices_at *at;           /* [chunks + 1] */
    const struct tct_slices *of; /* shares all arrays but `value` and
                                  * `long_val` with this block; NULL: shares
                                  * none */
} tct_slices;

static inline size_t tct_value_size(value_kind kind)
{
    return kind == VALUE_F64 ? 8 : kind == VALUE_F32 ? 4 : 1;
}

/* Bytes of `index` per column of a slice. */
static inline int tct_index_size(tct_slice_kind kind)
{
    return kind == SLICE_RUN ? 4 : kind == SLICE_NEAR ? 2 * LANES : 4 * LANES;
}

/* Group of lane `l` of slice `n`; -1 past the end of the last slice. */
static inline int64_t tct_slices_group(const tct_slices *S, int64_t n, int l)
{
    const int64_t at = LANES * n + l;
    if (at >= S->groups) return -1;
    return S->slice[n].sorted ? at / S->window * S->window + S->order[at] : at;
}

/* --- slices.c ------------------------------------------------------------- */

/* Bytes of a product if `A` were stored in blocks of `b`, from a sample of its
 * windows; negative if b does not divide its size or few blocks are dense. */
double tct_slices_bytes(const tct_local *A, int b);
/* The block size (2 to 6) with the fewest bytes; 0 if none fits. In bsell.c. */
int tct_slices_best_block(const tct_local *A);

/* Errors      UNSUPPORTED (rows longer than a slice may be wide), NO_MEMORY. */
tacit_status tct_slices_create(tct_local *A, int b, const tct_block_ops *ops,
                               tct_team *team, tct_block **out);
void tct_slices_destroy(tct_block *block);

/* --- slices_rounded.c ----------------------------------------------------- */

/* As in tct_block_ops, for blocks of doubles: all but the values is shared with
 * `block`, which must outlive it. */
tacit_status tct_slices_rounded(const tct_block *block, tacit_queue *q,
                                tct_block **out);

/* --- slices_refill.c ------------------------------------------------------ */

/* Errors      INVALID, naming the first entry that the block lacks; NO_MEMORY.
 *             The block stays as it was. */
tacit_status tct_slices_refill(tct_block *block, const tct_local *A);

/* --- slices_diagonal.c ---------------------------------------------------- */

/* The diagonal into `d` [rows]; with long rows for blocks of 1. */
void tct_slices_diagonal(const tct_block *block, double *d);

/* --- product.c ------------------------------------------------------------ */

void tct_slices_multiply(const tct_block *block, const double *x, double *y,
                         double *dot);
void tct_slices_magnitude(const tct_block *block, const double *x, double *y);
void tct_slices_multiply_block(const tct_block *block, const tct_panel *X,
                               const tct_panel *Y);
void tct_slices_multiply_pass(const tct_block *block, const tct_op *op,
                              void (*range)(const tct_op *op, size_t from,
                                            size_t to, double *sums));

#endif
