/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/halo.h - the messages between persistent kernels of several
 * GPUs, listed by block. */
#ifndef TCT_SOLVER_RESIDENT_HALO_H
#define TCT_SOLVER_RESIDENT_HALO_H
#include "solver/resident/job.h"
#include "solver/run.h"

typedef struct tct_peer_halo {
    tct_resident_halo *there; /* on the device; NULL: not made yet */
    tct_resident_halo here;
    /* what it was made for */
    const tct_block *local;
    const struct tct_plan *plan;
    const tct_resident_kernel *kernel;
    int version;
} tct_peer_halo;

/* Can the ranks of R have such kernels? If not, the reason. */
bool tct_peer_halo_fits(const tct_run *R, const tct_resident_kernel *K,
                        char *reason, size_t size);
/* Bring `H` up to date for R's operator and the division of `J`.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_peer_halo_make(tct_peer_halo *H, const tct_run *R,
                                const tct_resident_kernel *K,
                                const tct_resident_job *J, int blocks,
                                int threads);
void tct_peer_halo_clear(tct_peer_halo *H);

#endif
