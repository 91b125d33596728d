/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/counters.h - the counters that tasks of a triangular solve wait
 * for. */
#ifndef TCT_TRISOLVE_GPU_COUNTERS_H
#define TCT_TRISOLVE_GPU_COUNTERS_H
#include <stdint.h>

/* Counters: updates of the children of node k (k = nodes: of all roots); the
 * assembled right-hand side of node k; x of node k; pieces of recursive
 * doubling. */
static inline int32_t tct_counts_together(int32_t nodes, int32_t k)
{
    return nodes + 1 + k;
}
static inline int32_t tct_counts_up(int32_t nodes, int32_t k)
{
    return 2 * nodes + 1 + k;
}
static inline int32_t tct_counts_swapped(int32_t nodes)
{
    return 3 * nodes + 1;
}
static inline int32_t tct_counters(int32_t nodes)
{
    return 3 * nodes + 2;
}

#endif
