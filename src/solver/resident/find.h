/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/find.h - the kernel for a run. */
#ifndef TCT_SOLVER_RESIDENT_FIND_H
#define TCT_SOLVER_RESIDENT_FIND_H
#include "operator/gpu/slices.h"
#include "solver/resident/job.h"
#include "solver/run.h"

/* Properties that the kernels of `method` with the preconditioner `M` have in common; NULL:
 * there are none. */
const tct_resident_kernel *tct_resident_of(const tct_method *method,
                                           const tacit_operator *M);
/* `B` as slices on a GPU; NULL: it is something else. */
const tct_gpu_slices *tct_resident_slices(const tct_block *B);
/* The kernel for the method that R now runs, for its matrix and its
 * preconditioner. NULL: none, and the reason, `reason` [size]. */
const void *tct_resident_code_for(const tct_run *R, char *reason, size_t size);
/* The walk of that kernel: that of `A`, or the next that takes its slices. */
int32_t tct_resident_walk(const tct_run *R, const tct_resident_kernel *K,
                          const tct_gpu_arrays *A);
/* How many barriers an iteration of `K` has, into `text` [size]. */
void tct_resident_say_barriers(const tct_resident_kernel *K, char *text,
                               size_t size);

#endif
