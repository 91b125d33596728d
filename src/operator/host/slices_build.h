/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices_build.h - what building and refilling sliced ELL share. */
#ifndef TCT_SLICES_BUILD_H
#define TCT_SLICES_BUILD_H
#include "operator/host/slices.h"

/* --- values.c: the smallest store for values that loses nothing ------------- */

enum { TCT_VALUE_SLOTS = 1024 };
typedef struct tct_values {
    value_kind kind;
    double dict[DICT_MOST];
    uint64_t key[TCT_VALUE_SLOTS]; /* hash table of their bits */
    int16_t code[TCT_VALUE_SLOTS]; /* -1: empty                */
} tct_values;

static inline size_t tct_value_slot(uint64_t bits)
{
    return (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 54);
}

/* Look at `val` [nonzeros]; in blocks also at the zeros that fill them. +0 has
 * code 0 if it is there. */
void tct_values_look(const double *val, int64_t nonzeros, int b, tct_team *team,
                     tct_values *out);

/* --- window.c: plan a window of groups --------------------------------------- */

static inline int tct_window_size(int b)
{
    return CHUNK / b < WINDOW_MOST ? CHUNK / b : WINDOW_MOST;
}

typedef struct tct_window {
    int64_t first;                   /* group                                 */
    int groups;                      /* at most tct_window_size               */
    const int32_t *col[WINDOW_MOST]; /* block columns of each, ascending      */
    int32_t length[WINDOW_MOST];     /* 0 for rows that are kept apart        */
    int32_t cut;                     /* longer rows are, INT32_MAX: none      */
    int32_t *scratch;                /* [tct_window_room] where b > 1         */
} tct_window;

/* Entries that `scratch` must have room for. */
int64_t tct_window_room(const tct_local *A, int b);
/* The groups from `first` on as lists of block columns. */
void tct_window_read(const tct_local *A, int b, int64_t first, tct_window *w);

/* Plan the slices of a window whose values take `value_bytes` each, and the
 * order of its groups; returns the estimated cost in bytes. */
typedef struct tct_slice_plan {
    tct_slice slice[WINDOW_MOST / LANES];
    uint8_t order[WINDOW_MOST];
} tct_slice_plan;
double tct_window_plan(const tct_window *w, int b, int64_t block_cols,
                       double value_bytes, tct_slice_plan *out);

/* The next column, and its lanes, of the runs of eight groups; `at` [LANES]
 * are cursors into their lists. False at the end. */
bool tct_next_run(const int32_t *const *col, const int32_t *length, int32_t *at,
                  int32_t *base, unsigned *some);

/* --- slices_fill.c ------------------------------------------------------------ */

typedef struct tct_builder {
    const tct_local *A;
    tct_slices *S;
    tct_values values;
    int32_t *scratch; /* [parts][room] */
    int64_t room;
} tct_builder;

typedef struct tct_slice_view { /* a slice and what belongs into it */
    const tct_slice *slice;
    const int32_t *col[LANES];
    int32_t length[LANES];
    int64_t row[LANES]; /* first row of each group */
    int lanes;
} tct_slice_view;

/* Window number `window`, read by the thread of `part`. */
void tct_builder_window(const tct_builder *B, int part, int64_t window,
                        tct_window *w);
void tct_slice_open(const tct_builder *B, const tct_window *w, int64_t n,
                    tct_slice_view *v);
/* Go on to the next slice. */
void tct_slices_next(const tct_slices *S, tct_slices_at *at);

/* Lanes that are not empty in column `k`. */
static inline unsigned tct_slice_lanes(const tct_slice *s, const uint8_t *some,
                                       int k)
{
    return k < s->full ? 255 : some[k - s->full];
}

/* Fill the slices of `part`, values only unless `pattern`; gives an owned
 * source back as it goes. */
void tct_slices_fill(const tct_builder *B, int part, bool pattern);

/* --- slices.c ------------------------------------------------------------------ */

/* Choose the store for the values of the builder's matrix. */
void tct_slices_set_values(tct_builder *B, tct_slices *S);
tacit_status tct_slices_allocate_values(tct_slices *S);
/* Bytes of a product, entries stored, and the sentence about both. */
void tct_slices_describe(tct_slices *S);

#endif
