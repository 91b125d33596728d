/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/resident.h - methods as one persistent kernel. */
#ifndef TCT_RESIDENT_H
#define TCT_RESIDENT_H
#include "solver/solver.h"

/* Is there a kernel for what S has come to: its rescue, another precision? */
bool tct_resident_runs(const tacit_solver *S);
/* Can S be run so? If not, why, into `reason` [size]. */
bool tct_resident_fits(tacit_solver *S, char *reason, size_t size);
/* Iterate, as the method's `iterate` does. */
void tct_resident_iterate(tacit_solver *S);
/* "132 blocks, r in shared memory", into `text` [size]. */
void tct_resident_about(const tacit_solver *S, char *text, size_t size);
void tct_resident_free(tacit_solver *S);
/* For which blocks and stores `method` has kernels, into `text` [size]; false if
 * it has none. */
bool tct_resident_kernels(const char *method, char *text, size_t size);

#endif
