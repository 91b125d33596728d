/* SPDX-License-Identifier: BSD-3-Clause
 * operator/values.h - the smallest store for values that loses nothing. */
#ifndef TCT_VALUES_H
#define TCT_VALUES_H
#include "operator/slices.h"
#include <string.h>

/* Look at the values of `A` (and at 0, for padding) and set kind and dict. */
void tct_values_choose(const tct_local *A, tct_slices *S);

static inline size_t tct_value_size(value_kind kind)
{
    return kind == VALUE_F64 ? 8 : kind == VALUE_F32 ? 4 : 1;
}

/* The place of `v` in the dictionary, which is sorted by bits; it is there. */
static inline uint8_t tct_dict_find(const tct_slices *S, double v)
{
    uint64_t bits, at;
    memcpy(&bits, &v, sizeof bits);
    int low = 0, high = S->kind == VALUE_DICT16 ? 15 : DICT_MOST - 1;
    while (low < high) {
        const int mid = (low + high) / 2;
        memcpy(&at, &S->dict[mid], sizeof at);
        if (at < bits) low = mid + 1;
        else high = mid;
    }
    return (uint8_t)low;
}

static inline void tct_value_put(const tct_slices *S, int64_t at, double v)
{
    switch (S->kind) {
    case VALUE_F64: ((double *)S->value)[at] = v; break;
    case VALUE_F32: ((float *)S->value)[at] = (float)v; break;
    case VALUE_DICT16:
    case VALUE_DICT: ((uint8_t *)S->value)[at] = tct_dict_find(S, v); break;
    }
}

#endif
