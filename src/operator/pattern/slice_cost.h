/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/slice_cost.h - the cost of slices and the rotation of
 * windows: one text for the host and for kernels that plan slices. Costs of a
 * GPU's slices are whole numbers, so that fused operations change nothing. */
#ifndef TCT_OPERATOR_PATTERN_SLICE_COST_H
#define TCT_OPERATOR_PATTERN_SLICE_COST_H
#include "device/steps.h"
#include "operator/pattern/slicing.h"

/* A window is sorted if that costs less than this share of its row order. */
#define TCT_SORT_PAYS 0.97

/* Bytes of the index of `width` columns. */
TCT_BOTH double tct_index_bytes(const tct_slicing_rules *rules,
                                tct_slice_kind kind, int width)
{
    const int step = kind == SLICE_NEAR ? rules->near_step : 1;
    return rules->index[kind] * ((width + step - 1) / step * step);
}

/* Mean cost of a further column: those of SLICE_NEAR may come in twos. */
TCT_BOTH double tct_column_cost(const tct_slicing *S, tct_slice_kind kind)
{
    return (kind == SLICE_CONST ? 0.0 : S->cell) + S->rules->index[kind] +
           (kind >= SLICE_NEAR ? S->b * S->rules->gather : 0.0);
}

TCT_BOTH double tct_slice_cost(const tct_slicing *S, const tct_slice *s)
{
    const tct_slicing_rules *rules = S->rules;
    const tct_slice_kind kind = (tct_slice_kind)s->kind;
    const bool ragged = kind >= SLICE_NEAR && s->full < s->width;
    return s->width * (tct_column_cost(S, kind) - rules->index[kind]) +
           tct_index_bytes(rules, kind, s->width) + rules->slice +
           (ragged ? rules->ragged : 0.0) + (s->sorted ? rules->sorted : 0.0);
}

/* Most columns of runs that do not cost more than `s`. */
TCT_BOTH int32_t tct_most_runs(const tct_slicing *S, tct_slice_kind kind,
                               const tct_slice *s)
{
    tct_slice none = *s;
    none.kind = SLICE_RUN;
    none.width = none.full = 0;
    const double most = (tct_slice_cost(S, s) - tct_slice_cost(S, &none)) /
                        tct_column_cost(S, kind);
    return most < UINT16_MAX ? (int32_t)most : UINT16_MAX;
}

/* Cost of a window of `blocks` without empty lanes and runs. */
TCT_BOTH double tct_even_cost(const tct_slicing *S, int groups, double blocks)
{
    const tct_slicing_rules *rules = S->rules;
    return blocks / rules->lanes *
               tct_column_cost(S, S->only_far ? SLICE_FAR : SLICE_NEAR) +
           groups / rules->lanes * (rules->slice + rules->sorted);
}

/* Slices by which a window's order is rotated: a warp has slices a multiple of
 * 8 apart, and should not have the widest of every window. Bits of the window's
 * number are mixed (Knuth 1998, sec. 6.4: multiplicative hashing), so that any
 * distance works. */
TCT_BOTH int tct_window_rotation(const tct_slicing *S, int64_t first,
                                 int groups)
{
    if (groups < S->window) return 0; /* its last slices are missing */
    const uint32_t window = (uint32_t)(first / S->window);
    const int slices = S->window / S->rules->lanes;
    return (int)(window * 2654435769u >> 29) % slices;
}

#endif
