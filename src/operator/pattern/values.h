/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/values.h - sets of values: the number of different ones,
 * whether each is exactly a float, and their numbers in a dictionary. Values
 * differ if their bits do, so that -0 and +0 are preserved. */
#ifndef TCT_OPERATOR_PATTERN_VALUES_H
#define TCT_OPERATOR_PATTERN_VALUES_H
#include "device/steps.h"
#include "device/team.h"

enum { TCT_VALUE_SLOTS = 1024 }; /* for up to half as many values */

/* A hash table of bits, without those of +0: a key of 0 is an empty slot. Not
 * to be copied: it may point into itself. */
typedef struct tct_value_set {
    int64_t most;   /* a set of more values overflows                   */
    int64_t count;  /* different values; most + 1: too many, or no memory for
                     * them */
    int64_t looked; /* values read                                      */
    bool zero;      /* it has +0                                        */
    bool floats;    /* each is exactly a float                          */
    bool in_range;  /* no finite value is infinite as a float           */
    int bits;       /* 2^bits slots                                     */
    uint64_t *key;  /* [slots] `few_keys` at first                      */
    uint16_t *code; /* [slots] the same                                 */
    uint64_t few_keys[TCT_VALUE_SLOTS];
    uint16_t few_codes[TCT_VALUE_SLOTS];
} tct_value_set;

/* The first slot to try for `bits` among 2^size slots. */
TCT_BOTH size_t tct_value_slot(uint64_t bits, int size)
{
    return (size_t)(bits * UINT64_C(0x9E3779B97F4A7C15) >> (64 - size));
}

/* Is the double of these bits exactly a float? Of a NaN, if its quiet bit and
 * no bits beyond those of a float are set. */
TCT_BOTH bool tct_value_is_float(uint64_t bits)
{
    const int exponent = (int)(bits >> 52 & 2047);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent >= 897 && exponent <= 1150) /* normal */
        return (bits & 0x1fffffff) == 0;
    if (exponent == 2047)
        return fraction == 0 ||
               ((bits & 0x1fffffff) == 0 && (fraction >> 51) != 0);
    if (exponent > 1150 || exponent < 874) return bits << 1 == 0;
    return (fraction & ((UINT64_C(1) << (926 - exponent)) - 1)) == 0;
}

/* A set of at most `most` different values; `range`: is in_range needed?
 * Reading stops when all that is asked is known to be false. */
void tct_value_set_open(tct_value_set *set, int64_t most, bool range);
void tct_value_set_close(tct_value_set *set);
/* Add +0. */
void tct_value_set_zero(tct_value_set *set);
void tct_value_set_look(tct_value_set *set, const double *val, int64_t n);
void tct_value_set_join(tct_value_set *into, const tct_value_set *from);
/* The same on the threads of `team`. */
void tct_value_set_share(tct_value_set *set, const double *val, int64_t n,
                         tct_team *team);

/* Number the values by their bits, +0 first: `dict` [set->count].
 * Errors      NO_MEMORY. */
tacit_status tct_value_set_number(tct_value_set *set, double *dict);
/* The number of a value in a numbered set. */
static inline uint16_t tct_value_set_code(const tct_value_set *set,
                                          uint64_t bits)
{
    size_t at = tct_value_slot(bits, set->bits);
    if (bits == 0) return 0;
    while (set->key[at] != bits) at = (at + 1) & (((size_t)1 << set->bits) - 1);
    return set->code[at];
}

#endif
