/* SPDX-License-Identifier: BSD-3-Clause
 * operator/values.c - the smallest store for values that loses nothing: how
 * many distinct ones are there, and is each exactly a float? Values are
 * distinct if their bits are, so that -0 and 0 stay what they are. */
#include "operator/slices_build.h"
#include <stdlib.h>
#include <string.h>

enum { SLOTS = TCT_VALUE_SLOTS, PIECE = 1 << 16 };

typedef struct { /* a hash table of bits */
    uint64_t key[SLOTS];
    bool taken[SLOTS];
    int count; /* DICT_MOST + 1: too many */
} value_set;

static void add(value_set *set, uint64_t bits)
{
    size_t at = tct_value_slot(bits);
    for (; set->taken[at]; at = (at + 1) % SLOTS)
        if (set->key[at] == bits) return;
    if (++set->count > DICT_MOST) return;
    set->key[at] = bits;
    set->taken[at] = true;
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Go on with values [from, to) as long as they may be few, or floats. */
static void look(const double *val, int64_t from, int64_t to, value_set *set,
                 bool *floats)
{
    uint64_t last = 0;
    for (int64_t k = from; k < to && (set->count <= DICT_MOST || *floats);
         k++) {
        const uint64_t bits = bits_of(val[k]);
        *floats = *floats && bits_of((double)(float)val[k]) == bits;
        if (k > from && bits == last) continue;
        last = bits;
        if (set->count <= DICT_MOST) add(set, bits);
    }
}

static void merge(value_set *into, const value_set *from)
{
    if (from->count > DICT_MOST) into->count = from->count;
    for (int i = 0; i < SLOTS && into->count <= DICT_MOST; i++)
        if (from->taken[i]) add(into, from->key[i]);
}

static int by_bits(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Number the values by their bits: 0 gets code 0 if it is there. */
static void number(const value_set *set, tct_values *out)
{
    uint64_t keys[DICT_MOST];
    int n = 0;
    for (int i = 0; i < SLOTS; i++) {
        out->code[i] = -1;
        if (set->taken[i]) keys[n++] = set->key[i];
    }
    qsort(keys, (size_t)n, sizeof *keys, by_bits);
    memcpy(out->dict, keys, (size_t)n * sizeof *keys);
    for (int c = 0; c < n; c++) {
        size_t at = tct_value_slot(keys[c]);
        while (out->code[at] >= 0) at = (at + 1) % SLOTS;
        out->key[at] = keys[c];
        out->code[at] = (int16_t)c;
    }
    out->kind = n <= 16 ? VALUE_DICT16 : n <= 32 ? VALUE_DICT32 : VALUE_DICT;
}

void tct_values_look(const double *val, int64_t nonzeros, int b, int threads,
                     tct_values *out)
{
    const int64_t pieces = (nonzeros + PIECE - 1) / PIECE;
    *out = (tct_values){.kind = VALUE_F64};
    value_set all = {.count = 0};
    bool floats = true;
    if (b > 1) add(&all, bits_of(0.0));
#pragma omp parallel num_threads(threads) if (pieces > 8)
    {
        value_set mine = {.count = 0};
        bool mine_floats = true;
#pragma omp for schedule(static)
        for (int64_t p = 0; p < pieces; p++)
            look(val, p * PIECE,
                 (p + 1) * PIECE < nonzeros ? (p + 1) * PIECE : nonzeros, &mine,
                 &mine_floats);
#pragma omp critical
        {
            merge(&all, &mine);
            floats = floats && mine_floats;
        }
    }
    if (all.count <= DICT_MOST) number(&all, out);
    if (floats && (all.count > 32 || nonzeros == 0)) out->kind = VALUE_F32;
}
