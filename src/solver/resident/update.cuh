/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/update.cuh - a pass over the rows of a thread. */
#ifndef TCT_SOLVER_RESIDENT_UPDATE_CUH
#define TCT_SOLVER_RESIDENT_UPDATE_CUH
#include "device/gpu/pass.cuh"
#include "solver/resident/rows.cuh"

/* PASS on `list`, its vectors in order, the first NCHIP of which may be on the
 * chip; its sums are added to `s`. */
template <int B, int WALK, int NCHIP, class PASS>
static __device__ inline void tct_update(const tct_resident_job &J,
                                         const tct_list<PASS::vectors> &list,
                                         double a, double b, double *s)
{
    tct_sweep_thread<B, WALK, PASS::vectors, NCHIP, PASS::reads, PASS::writes>(
        J, list, [&](double(&e)[PASS::vectors]) { PASS::at(e, a, b, s); });
}

#endif
