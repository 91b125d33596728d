/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/kernels.cuh - the kernels of a method: one for each row of
 * its table (kernel_table.h). */
#ifndef TCT_SOLVER_RESIDENT_KERNELS_CUH
#define TCT_SOLVER_RESIDENT_KERNELS_CUH
#include "solver/resident/job.h"
#include "solver/resident/kernel_table.h"

/* A method's KERNELS say by `has(b, store, walk)` which it has, and
 * `code<B, STORE, WALK>` is one of them. */
template <class KERNELS, int B, int STORE, int WALK>
static const void *tct_kernel_if()
{
    if constexpr (KERNELS::has(B, STORE, WALK))
        return (const void *)KERNELS::template code<B, STORE, WALK>;
    else return nullptr;
}
template <class KERNELS, int B, int WALK>
static const void *tct_kernel_for(int store)
{
    switch (store) {
    case GPU_F64: return tct_kernel_if<KERNELS, B, GPU_F64, WALK>();
    case GPU_F32: return tct_kernel_if<KERNELS, B, GPU_F32, WALK>();
    case GPU_F48: return tct_kernel_if<KERNELS, B, GPU_F48, WALK>();
    case GPU_DICT8: return tct_kernel_if<KERNELS, B, GPU_DICT8, WALK>();
    case GPU_DICT16: return tct_kernel_if<KERNELS, B, GPU_DICT16, WALK>();
    default: return nullptr;
    }
}
template <class KERNELS>
static const void *tct_kernel(int b, int store, int walk)
{
    if (walk == GPU_GRID) return tct_kernel_for<KERNELS, 1, GPU_GRID>(store);
    if (walk == GPU_RUNS) return tct_kernel_for<KERNELS, 1, GPU_RUNS>(store);
    if (walk == GPU_JOINED)
        return tct_kernel_for<KERNELS, 1, GPU_JOINED>(store);
    switch (b) {
    case 1: return tct_kernel_for<KERNELS, 1, GPU_ANY>(store);
    case 2: return tct_kernel_for<KERNELS, 2, GPU_ANY>(store);
    case 3: return tct_kernel_for<KERNELS, 3, GPU_ANY>(store);
    case 4: return tct_kernel_for<KERNELS, 4, GPU_ANY>(store);
    case 5: return tct_kernel_for<KERNELS, 5, GPU_ANY>(store);
    case 6: return tct_kernel_for<KERNELS, 6, GPU_ANY>(store);
    default: return nullptr;
    }
}

/* Which solves the kernels are for that have M, PEERS. */
static constexpr int tct_solves(bool m, bool peers)
{
    if (peers) return m ? TCT_PEERED_DIAGONAL : TCT_PEERED;
    return m ? TCT_ALONE_DIAGONAL : TCT_ALONE;
}

/* The row of a method with a preconditioner, from that without. */
static constexpr tct_resident_kernel tct_with_m(tct_resident_kernel row,
                                                int vectors, int8_t places,
                                                tct_resident_code kernel,
                                                tct_resident_code with_peers)
{
    row.vectors = vectors;
    row.places = places;
    row.kernel = kernel;
    row.with_peers = with_peers;
    return row;
}

#endif
