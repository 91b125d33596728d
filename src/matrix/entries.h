/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/entries.h - entries that a caller gives in any order, on any rank:
 * checked, and sent to the ranks that own their rows. */
#ifndef TCT_MATRIX_ENTRIES_H
#define TCT_MATRIX_ENTRIES_H
#include "io/distribute.h"
#include <tacit/matrix.h>

/* Entries as given: numbers of one width, the other arrays NULL. */
typedef struct tct_given {
    int64_t count;
    const int64_t *rows64, *cols64; /* [count] */
    const int32_t *rows32, *cols32;
    const int64_t
        *ptr64; /* in place of rows: the entries of row first + i are */
    const int32_t *ptr32; /* those from ptr[i] to ptr[i + 1] */
    int64_t first;
    const double *vals; /* [count] */
    tacit_triangle triangle;
} tct_given;

/* A place in the entries, {0, g->first} at the start. */
typedef struct tct_given_at {
    int64_t k, row;
} tct_given_at;

static inline int64_t tct_given_end(const tct_given *g, int64_t row)
{
    const int64_t i = row - g->first + 1;
    return g->ptr64 ? g->ptr64[i] : g->ptr32[i];
}

static inline tct_entry tct_given_next(const tct_given *g, tct_given_at *at)
{
    const int64_t k = at->k++;
    if (g->rows64) at->row = g->rows64[k];
    else if (g->rows32) at->row = g->rows32[k];
    else
        while (tct_given_end(g, at->row) <= k) at->row++;
    return (tct_entry){at->row, g->cols64 ? g->cols64[k] : g->cols32[k],
                       g->vals[k]};
}

/* The caller's struct, with `triangle` and the arrays checked.
 * Errors    INVALID. */
tacit_status tct_given_read(const tacit_entries *from, tct_given *out);

/* Check the entries of a matrix of `n` rows and columns: numbers, sides of the
 * diagonal, values.
 * Errors    INVALID, INPUT. */
tacit_status tct_given_check(const tct_given *g, int64_t n);

/* Send each entry, and its mirror image if one triangle is given, to the rank
 * that owns its row: rank r has rows [starts[r], starts[r + 1]). `take` gets
 * them on `crew`, by the rank that gave them, in its order; `*sent` counts
 * those of other ranks' rows. Entries have been checked.
 * Collective.
 * Memory    24 bytes an entry and rank, of at most 16 MB; twice.
 * Errors    of `take` on any rank, NO_MEMORY, COMM. */
tacit_status tct_given_send(tacit_world *world, const int64_t *starts,
                            const tct_given *g, tct_crew *crew,
                            tct_entry_receiver take, void *ctx, int64_t *sent);

#endif
