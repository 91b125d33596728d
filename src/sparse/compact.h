/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/compact.h - stream compaction and numbering of selected elements, by
 * threads with a piece each: the result does not depend on their number. */
#ifndef TCT_SPARSE_COMPACT_H
#define TCT_SPARSE_COMPACT_H
#include <stdbool.h>
#include <stdint.h>

/* The output of element `k`; -1: not selected. */
typedef int32_t (*tct_compact_fn)(const void *of, int64_t k);
typedef bool (*tct_is_picked_fn)(const void *of, int64_t k);

/* Write the outputs of the selected elements among 0 to `count` - 1, in order,
 * to `out` [count], and return their number. `out` may be the array in which
 * `pick` reads element k, and k alone. */
int64_t tct_compact(int64_t count, tct_compact_fn pick, const void *of,
                    int32_t *out);

/* The same with a function for a range of elements, which writes their outputs
 * from `out` on, where `out` [range] may be the array of these elements, and
 * returns how many. */
typedef int64_t (*tct_compact_range_fn)(const void *of, int64_t from,
                                        int64_t to, int32_t *out);
int64_t tct_compact_ranges(int64_t count, tct_compact_range_fn pick,
                           const void *of, int32_t *out);

/* number[k] = how many elements before k are selected, or -1 if k is not.
 * Returns the number of selected elements, less than 2^31. */
int64_t tct_enumerate(int64_t count, tct_is_picked_fn is_picked, const void *of,
                      int32_t *number);

#endif
