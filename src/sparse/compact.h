/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/compact.h - lists and numbers of what is picked among many, by threads
 * that take a piece each: the same for any number of these. */
#ifndef TCT_SPARSE_COMPACT_H
#define TCT_SPARSE_COMPACT_H
#include <stdbool.h>
#include <stdint.h>

/* What element `k` is listed as; -1: it is not. */
typedef int32_t (*tct_compact_fn)(const void *of, int64_t k);
typedef bool (*tct_is_picked_fn)(const void *of, int64_t k);

/* Elements 0 to `count` - 1 that are listed, in this order, into `out` [count],
 * which may be where `pick` reads element k, and no other; returns how many. */
int64_t tct_compact(int64_t count, tct_compact_fn pick, const void *of,
                    int32_t *out);

/* number[k] = how many are picked before element k, which is; -1: it is not.
 * Returns how many there are, less than 2^31. */
int64_t tct_enumerate(int64_t count, tct_is_picked_fn is_picked, const void *of,
                      int32_t *number);

#endif
