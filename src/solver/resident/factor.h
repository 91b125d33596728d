/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/factor.h - persistent kernels of methods whose preconditioner
 * solves with two triangles, row by row (trisolve/gpu/rows.h). */
#ifndef TCT_SOLVER_RESIDENT_FACTOR_H
#define TCT_SOLVER_RESIDENT_FACTOR_H
#include "solver/resident/job.h"
#include "trisolve/gpu/kernels/rows.h"

/* The arguments of such a kernel; one without factors gets `job` alone. */
typedef struct tct_factor_job {
    tct_resident_job job;
    tct_rows_kernel rows;
} tct_factor_job;

#ifdef __cplusplus
extern "C" {
#endif
/* They expect z = M r, c[C_RZ] = (r, z), and p at the start. [1]: for rows that
 * are nodes (tct_rows_kernel.near). */
extern const tct_resident_kernel tct_resident_cg_factor[2];
#ifdef __cplusplus
}
#endif

#endif
