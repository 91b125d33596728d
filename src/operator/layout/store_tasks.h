/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_tasks.h - the build of slices (layout.h) from rows in
 * the memory of a device, in tasks: one text for kernels and, in tests, for the
 * host. The arrays have the bytes of slices_build.c.
 *
 * A task is a function of the work and of an index, done by a warp (lanes.h).
 * It waits for no other, and its loops are bounded by the entries of its
 * window, slice or piece. What several tasks change are integers to which they
 * add, flags, and the slots of a table of values, which are claimed once. */
#ifndef TCT_OPERATOR_LAYOUT_STORE_TASKS_H
#define TCT_OPERATOR_LAYOUT_STORE_TASKS_H
#include "operator/layout/store_fill.h"
#include "operator/layout/store_look.h"
#include "operator/layout/store_plan.h"
#include "operator/layout/store_values.h"

/* --- the pattern ---------------------------------------------------------- */

/* The hash of 32 rows. */
TCT_BOTH void tct_store_task_hash(const tct_store_work *g, int64_t i, int b)
{
    int64_t sum[TCT_OWN_LANES];
    (void)b;
    TCT_EACH_LANE(l, k)
    {
        const int64_t row = GPU_LANES * i + l;
        sum[k] = row < g->rows
                     ? (int64_t)tct_slice_hash_row(g->ptr, g->col, row)
                     : 0;
    }
    const int64_t all = tct_lanes_total(sum);
    if (tct_leads()) tct_shared_add(&g->state->hash, all);
}

/* --- all ------------------------------------------------------------------ */

/* Those that depend on the size of blocks are compiled for b = 1, too. */
#define TCT_STORE_TASKS(X) \
    X(count)               \
    X(plan)                \
    X(fill)                \
    X(values)              \
    X(cells)               \
    X(list)                \
    X(number)              \
    X(join)                \
    X(long_rows) X(segment) X(hash) X(look) X(aim) X(jump) X(ground) X(cell)
typedef enum tct_store_task {
#define X(name) TCT_STORE_##name,
    TCT_STORE_TASKS(X)
#undef X
} tct_store_task;

#endif
