/* SPDX-License-Identifier: BSD-3-Clause
 * operator/values.c - how many distinct values are there, and is each one
 * exactly a float? Values count as distinct if their bits are, so that -0 and
 * 0 stay what they are. */
#include "operator/values.h"
#include <stdlib.h>

enum { SLOTS = 1024 }; /* of the hash table, a power of 2 */

typedef struct {
    uint64_t key[SLOTS];
    bool taken[SLOTS];
    int count;
} value_set;

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* False once there are more than DICT_MOST. */
static bool add(value_set *set, double v)
{
    const uint64_t bits = bits_of(v);
    size_t at = (bits * UINT64_C(0x9E3779B97F4A7C15)) >> 54;
    for (; set->taken[at]; at = (at + 1) % SLOTS)
        if (set->key[at] == bits) return true;
    if (set->count == DICT_MOST) return false;
    set->key[at] = bits;
    set->taken[at] = true;
    set->count++;
    return true;
}

static int by_bits(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void set_dict(tct_slices *S, const value_set *set)
{
    uint64_t keys[DICT_MOST];
    int n = 0;
    for (int i = 0; i < SLOTS; i++)
        if (set->taken[i]) keys[n++] = set->key[i];
    qsort(keys, (size_t)n, sizeof *keys, by_bits);
    for (int i = n; i < DICT_MOST; i++)
        keys[i] = keys[n - 1]; /* stays sorted */
    memcpy(S->dict, keys, sizeof S->dict);
    S->kind = n <= 16 ? VALUE_DICT16 : VALUE_DICT;
}

void tct_values_choose(const tct_local *A, tct_slices *S)
{
    value_set set = {.count = 0};
    bool few = add(&set, 0.0), floats = true;
    const int64_t nonzeros = A->ptr[A->rows];
    for (int64_t k = 0; k < nonzeros && (few || floats); k++) {
        floats = floats && (double)(float)A->val[k] == A->val[k];
        few = few && add(&set, A->val[k]);
    }
    S->kind = floats ? VALUE_F32 : VALUE_F64;
    if (few) set_dict(S, &set);
}
