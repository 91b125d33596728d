/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/keyset.h - a set of non-negative numbers: open addressing, linear
 * probing, at most two thirds full. A zeroed set is empty. */
#ifndef TCT_SPARSE_KEYSET_H
#define TCT_SPARSE_KEYSET_H
#include "base/base.h"

typedef struct tct_keyset {
    int64_t *slot; /* [room] a number, -1 where free */
    int64_t count, room;
} tct_keyset;

/* Add `key` if it is new. Errors NO_MEMORY. */
tacit_status tct_keyset_add(tct_keyset *set, int64_t key);
void tct_keyset_clear(tct_keyset *set);

#endif
