/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices_build.h - common to building, refilling and reading
 * sliced ELL. */
#ifndef TCT_OPERATOR_HOST_SLICES_BUILD_H
#define TCT_OPERATOR_HOST_SLICES_BUILD_H
#include "operator/host/slices.h"
#include "operator/pattern/values.h"
#include "operator/pattern/view.h"

/* --- slices_fill.c -------------------------------------------------------- */

typedef struct tct_builder {
    tct_slicing slicing;
    tct_slices *S;
    tct_value_set values;
    int32_t *scratch; /* [parts][room] */
    int64_t room;
} tct_builder;

/* Slices of `b` for `A`. */
tct_slicing tct_host_slicing(const tct_local *A, int b);
/* Window number `window`, read by the thread of `part`. */
void tct_builder_window(const tct_builder *B, int part, int64_t window,
                        tct_window *w);
/* Begin to load entries of the window, whose rows will be read in any order. */
static inline void tct_builder_fetch(const tct_builder *B, const tct_window *w,
                                     bool values)
{
    enum { LINE = 16 }; /* entries, of 4 bytes */
    const tct_local *A = B->slicing.A;
    const int64_t row = B->S->b * w->first;
    const int64_t from = A->ptr[row], to = A->ptr[row + B->S->b * w->groups];
    for (int64_t e = from; e < to; e += LINE) __builtin_prefetch(A->col + e);
    for (int64_t e = from; values && e < to; e += LINE / 2)
        __builtin_prefetch(A->val + e);
}
/* Advance to the next slice. */
void tct_slices_next(const tct_slices *S, tct_slices_at *at);

/* Lanes that are not empty in column `k`. */
static inline unsigned tct_slice_lanes(const tct_slice *s, const uint8_t *some,
                                       int k)
{
    return k < s->full ? 255 : some[k - s->full];
}

/* The column of lane `l` in column `k`, unless the lane is empty. */
static inline int32_t tct_slice_column(const tct_slice *s, const uint8_t *index,
                                       int k, int l)
{
    if (s->kind == SLICE_NEAR)
        return s->base + ((const uint16_t *)(const void *)index)[LANES * k + l];
    const int32_t *col = (const int32_t *)(const void *)index;
    return s->kind == SLICE_RUN ? col[k] + l : col[LANES * k + l];
}

/* Fill the slices of `part`, values only unless `pattern`; frees an owned
 * source as it goes. */
void tct_slices_fill(const tct_builder *B, int part, bool pattern);

/* --- slices.c ------------------------------------------------------------- */

/* Choose the store for the values of the builder's matrix. */
void tct_slices_set_values(tct_builder *B, tct_slices *S);
tacit_status tct_slices_allocate_values(tct_slices *S);
/* Set bytes of a product, entries stored, and their description. */
void tct_slices_describe(tct_slices *S);

#endif
