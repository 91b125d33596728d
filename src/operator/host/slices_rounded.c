/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices_rounded.c - slices of doubles with values rounded to
 * floats: columns are shared with the other block. */
#include "operator/host/slices_build.h"
#include <math.h>

typedef struct {
    const tct_slices *from;
    tct_slices *to;
    bool *lost; /* [parts] a value exceeds the exponents of floats */
} rounding;

static void round_part(void *work, int64_t part)
{
    const rounding *r = work;
    const tct_slices *S = r->from;
    const int64_t *split = S->chunks.split + part, cell = LANES * S->b * S->b;
    const double *from = S->value;
    float *to = r->to->value;
    bool lost = false;
    const int64_t end = S->at[split[1]].cell * cell;
    for (int64_t k = S->at[split[0]].cell * cell; k < end; k++) {
        const double value = tct_rounded(from[k]);
        const bool fits = fabs(value) < 0x1p128;
        to[k] = fits ? (float)value : 0.0F;
        lost = lost || (double)to[k] != value;
    }
    r->lost[part] = lost;
}

static tacit_status round_values(const tct_slices *S, tct_slices *R)
{
    const int parts = S->chunks.parts;
    const int64_t entries = S->at[S->chunks.count].long_entry;
    rounding r = {.from = S, .to = R};
    bool lost = false;
    TRY(tct_slices_allocate_values(R));
    TRY(TCT_ALLOC(entries, "long rows", &R->long_val));
    TRY(TCT_ALLOC(parts, "a product", &r.lost));
    tct_team_run(S->chunks.team, parts, parts, NULL, round_part, &r);
    for (int t = 0; t < parts; t++) lost = lost || r.lost[t];
    tct_free(r.lost);
    for (int64_t k = 0; k < entries; k++)
        R->long_val[k] = tct_rounded(S->long_val[k]);
    if (lost)
        FAIL(TACIT_UNSUPPORTED, "values that are too large or too small for "
                                "floats");
    return TACIT_OK;
}

tacit_status tct_slices_rounded(const tct_block *block, tacit_queue *q,
                                tct_block **out)
{
    const tct_slices *S = (const tct_slices *)(const void *)block;
    (void)q;
    if (S->kind != VALUE_F64)
        FAIL(TACIT_UNSUPPORTED, "values that take no more than floats");
    tct_slices *R = tct_alloc(sizeof *R);
    if (!R) FAIL(TACIT_NO_MEMORY, "no memory for the matrix in slices");
    *R = *S;
    R->of = S;
    R->kind = VALUE_F32;
    R->value = NULL;
    R->long_val = NULL;
    const tacit_status status = round_values(S, R);
    if (status < 0) {
        tct_slices_destroy(&R->base);
        return status;
    }
    tct_slices_describe(R);
    R->base.borrowed = S->base.matrix_bytes - 8.0 * (double)S->base.stored;
    *out = &R->base;
    return TACIT_OK;
}
