/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/keyset.c - a set of numbers. */
#include "sparse/keyset.h"

static void put(int64_t *slot, int64_t room, int64_t *count, int64_t key)
{
    int64_t at = (int64_t)(tct_mix((uint64_t)key) & (uint64_t)(room - 1));
    while (slot[at] >= 0 && slot[at] != key) at = (at + 1) & (room - 1);
    *count += slot[at] < 0;
    slot[at] = key;
}

static tacit_status grow(tct_keyset *set)
{
    const int64_t room = set->room ? 2 * set->room : 1024;
    int64_t *slot = NULL, count = 0;
    TRY(TCT_ALLOC(room, "a set of numbers", &slot));
    for (int64_t k = 0; k < room; k++) slot[k] = -1;
    for (int64_t k = 0; k < set->room; k++)
        if (set->slot[k] >= 0) put(slot, room, &count, set->slot[k]);
    tct_free(set->slot);
    *set = (tct_keyset){slot, count, room};
    return TACIT_OK;
}

tacit_status tct_keyset_add(tct_keyset *set, int64_t key)
{
    if (3 * (set->count + 1) > 2 * set->room) TRY(grow(set));
    put(set->slot, set->room, &set->count, key);
    return TACIT_OK;
}

void tct_keyset_clear(tct_keyset *set)
{
    tct_free(set->slot);
    *set = (tct_keyset){0};
}
