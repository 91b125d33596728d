/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/task_list.h - the tasks of a set-up, by number. A device
 * has a kernel for slim ones, and others for `look` and for those of systems
 * and the inverse, which take far more registers. */
#ifndef TCT_PRECOND_AMG_DEVICE_TASK_LIST_H
#define TCT_PRECOND_AMG_DEVICE_TASK_LIST_H
#include "precond/amg/device/inverse_tasks.h"
#include "precond/amg/device/system_tasks.h"

/* X(task) in the order of setup_tasks.h and system_tasks.h */
/* clang-format off */
#define TCT_AMG_SLIM_TASKS(X)                                                  \
    X(diagonal) X(look_over) X(energy) X(round) X(inverse) X(random) X(open) X(opened) X(reopen)  \
    X(link) X(jump) X(pair) X(keep) X(decide) X(lead) X(number) \
    X(add_up) X(go_up) X(none) X(member) X(place) X(stays) X(renumber) X(copy) X(begin) X(fill)   \
    X(sort) X(weigh) X(weigh_none) X(collect) X(scatter) X(scale) X(measure) X(starts) X(complete)
#define TCT_AMG_SYSTEM_TASKS(X) \
    X(square) X(edges) X(map) X(factor) X(factor_none) X(block_starts) \
    X(block_columns) X(complete_blocks) X(energies) \
    X(dense_diagonal) X(dense_rows) X(dense_subtract) X(dense_mirror)
#define TCT_AMG_TASKS(X) TCT_AMG_SLIM_TASKS(X) X(look) TCT_AMG_SYSTEM_TASKS(X)
/* clang-format on */

typedef enum tct_amg_task {
#define X(name) TCT_AMG_##name,
    TCT_AMG_TASKS(X)
#undef X
} tct_amg_task;

#endif
