/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices_diagonal.c - the diagonal, read from slices. */
#include "operator/host/slices_build.h"

static double value_at(const tct_slices *S, int64_t at)
{
    switch (S->kind) {
    case VALUE_F64: return ((const double *)S->value)[at];
    case VALUE_F32: return ((const float *)S->value)[at];
    case VALUE_DICT16:
    case VALUE_DICT32:
    case VALUE_DICT:
    case VALUE_KINDS: break;
    }
    return S->dict[((const uint8_t *)S->value)[at]];
}

/* The column of group `g`, in lane `l`, that is its own; -1: none. */
static int own_column(const tct_slices *S, const tct_slices_at *at, int64_t g,
                      int l)
{
    const tct_slice *s = &S->slice[at->slice];
    const uint8_t *index = S->index + at->index, *some = S->some + at->some;
    for (int k = 0; k < s->width; k++)
        if ((tct_slice_lanes(s, some, k) >> l & 1) &&
            tct_slice_column(s, index, k, l) == g)
            return k;
    return -1;
}

static void tell_slice(const tct_slices *S, const tct_slices_at *at, double *d)
{
    const int b = S->b;
    for (int l = 0; l < LANES; l++) {
        const int64_t g = tct_slices_group(S, at->slice, l);
        const int k = g < 0 ? -1 : own_column(S, at, g, l);
        const int64_t cell = LANES * (at->cell + k) * b * b + l;
        for (int i = 0; i < b && g >= 0; i++)
            d[b * g + i] =
                k < 0 ? 0.0 : value_at(S, cell + LANES * (b * i + i));
    }
}

typedef struct {
    const tct_slices *S;
    double *d;
} telling;

static void tell_part(void *work, int64_t part)
{
    const telling *t = work;
    const tct_chunks *c = &t->S->chunks;
    for (int64_t k = c->split[part]; k < c->split[part + 1]; k++)
        for (tct_slices_at at = t->S->at[k]; at.slice < t->S->at[k + 1].slice;
             tct_slices_next(t->S, &at))
            tell_slice(t->S, &at, t->d);
}

void tct_slices_diagonal(const tct_block *block, double *d)
{
    const tct_slices *S = (const tct_slices *)(const void *)block;
    const int parts = S->chunks.parts;
    tct_team_run(S->chunks.team, parts, parts, NULL, tell_part,
                 &(telling){S, d});
    for (int64_t r = 0; r < S->long_rows; r++) /* empty in their slices */
        for (int64_t e = S->long_ptr[r]; e < S->long_ptr[r + 1]; e++)
            if (S->long_col[e] == S->long_row[r])
                d[S->long_row[r]] = S->long_val[e];
}
