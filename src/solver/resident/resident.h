/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/resident.h - methods as one persistent kernel. */
#ifndef TCT_SOLVER_RESIDENT_RESIDENT_H
#define TCT_SOLVER_RESIDENT_RESIDENT_H
#include "solver/driver.h"

#define TCT_RESIDENT_SUMMARY                      \
    "one persistent kernel for the whole solve, " \
    "without a preconditioner, with jacobi, or of cg with ic0"

/* Block sizes and stores of the kernels of `method`, into `text` [size]; false
 * if it has none. */
bool tct_resident_kernels(const char *method, char *text, size_t size);

#endif
