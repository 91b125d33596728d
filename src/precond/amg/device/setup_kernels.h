/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/setup_kernels.h - what a device must be able to do to set
 * up multigrid (there.h): to run tasks, and what they cannot do alone. */
#ifndef TCT_PRECOND_AMG_DEVICE_SETUP_KERNELS_H
#define TCT_PRECOND_AMG_DEVICE_SETUP_KERNELS_H
#include "device/queue.h"
#include "precond/amg/device/setup_tasks.h"
#include <tacit/operator.h>

/* What a device does of it: all is enqueued on `q`. */
typedef struct tct_amg_kernels {
    int64_t
        small; /* rows that are left to the host: launches would take longer */
    /* The task, for each number below `n`. */
    void (*each)(tacit_queue *q, tct_amg_task task, int64_t n,
                 const tct_amg_work *g);
    /* sum[k] of what `count` [n] has before k; sum[n], state->total: all. */
    void (*sum_up)(tacit_queue *q, int64_t n, const tct_amg_work *g);
    /* The rows of `out`: how many entries each has into `count`, or the
     * entries. */
    void (*merge)(tacit_queue *q, bool write, const tct_amg_work *g);
    /* How many entries each row of `A` has into `count`; false: it cannot tell
     * what its rows are, and nothing was done. Then the rows, as `A` has
     * them. */
    bool (*count)(const tacit_operator *A, int32_t *count);
    void (*read)(const tacit_operator *A, const tct_amg_csr *out);
    /* The operator of `A`, whose largest row sum is `norm` and whose values
     * may be `floats`.
     * Errors      UNSUPPORTED (the host is to make it), NO_MEMORY, DEVICE. */
    tacit_status (*store)(const tacit_operator *finest, const tct_amg_csr *A,
                          double norm, bool floats, tacit_operator **out);
} tct_amg_kernels;

#ifdef __cplusplus
extern "C" {
#endif
/* What the device of `q` has; NULL: the host is to do it. gpu/setup.cu, and
 * gpu_none.c in a build without CUDA. */
const tct_amg_kernels *tct_amg_kernels_on(const tacit_queue *q);
#ifdef __cplusplus
}
#endif

#endif
