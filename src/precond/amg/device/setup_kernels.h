/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/setup_kernels.h - the device functions of a multigrid
 * set-up (device_setup.h): running tasks, and operations that are not tasks. */
#ifndef TCT_PRECOND_AMG_DEVICE_SETUP_KERNELS_H
#define TCT_PRECOND_AMG_DEVICE_SETUP_KERNELS_H
#include "device/queue.h"
#include "precond/amg/device/task_list.h"
#include "sparse/csr.h"
#include <tacit/operator.h>

/* All functions enqueue on `q`. */
typedef struct tct_amg_kernels {
    int64_t small; /* matrices of fewer rows go to the host */
    int64_t few;   /* levels of one element a row on one rank also do */
    int64_t dense; /* matrices of fewer rows are inverted by the host; 0: all */
    /* Run a task for each index below `n`. */
    void (*each)(tacit_queue *q, tct_amg_task task, int64_t n,
                 const tct_amg_work *g);
    /* sum[k] = sum of count[0..k); sum[n], state->total: total. */
    void (*sum_up)(tacit_queue *q, int64_t n, const tct_amg_work *g);
    /* Compute the rows of `out`: their lengths into `count`, or the entries. */
    void (*merge)(tacit_queue *q, bool write, const tct_amg_work *g);
    /* Compute the values of `out` in its blocks (system_tasks.h). */
    void (*multiply)(tacit_queue *q, const tct_amg_work *g);
    /* Invert the block of pivots (inverse_tasks.h). */
    void (*pivots)(tacit_queue *q, const tct_amg_work *g);
    /* `count`: entries of each row of `A`, with those that fill dense blocks;
     * false: the format cannot list rows, and nothing was done. `read`: the
     * rows, in the order of `A`, if blocks are full. */
    bool (*count)(const tacit_operator *A, int32_t *count);
    void (*read)(const tacit_operator *A, const tct_amg_csr *out);
    /* Make the operator of `A` with largest row sum `norm`, values rounded if
     * `floats`; `block` > 1: of dense blocks of so many rows.
     * Errors      UNSUPPORTED (the host must make it), NO_MEMORY, DEVICE. */
    tacit_status (*store)(const tacit_operator *finest, const tct_amg_csr *A,
                          int block, double norm, bool floats,
                          tacit_operator **out);
    /* Copy the rows of the host's `A` to `to`; NULL, or UNSUPPORTED without a
     * message: q_put is as good.
     * Errors      NO_MEMORY, DEVICE. */
    tacit_status (*send)(tacit_queue *q, const tct_csr *A,
                         const tct_amg_csr *to);
    int64_t piece; /* rows of near-null vectors uploaded at once; 0: 65,536 */
    /* Run rounds of matching (look to decide) until done, `most` at most; `open`
     * and `other` swap between them. NULL: task by task. */
    void (*rounds)(tacit_queue *q, int64_t most, const tct_amg_work *g);
    int64_t together; /* rows of a round for `rounds`, at most */
} tct_amg_kernels;

#ifdef __cplusplus
extern "C" {
#endif
/* The kernels of the device of `q`; NULL: the host does the set-up.
 * gpu/setup.cu, or gpu_none.c without CUDA. */
const tct_amg_kernels *tct_amg_kernels_on(const tacit_queue *q);
#ifdef __cplusplus
}
#endif

#endif
