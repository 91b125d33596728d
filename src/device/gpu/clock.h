/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/clock.h - phases of persistent kernels, for timing. */
#ifndef TCT_DEVICE_GPU_CLOCK_H
#define TCT_DEVICE_GPU_CLOCK_H
#include <stdint.h>

#ifndef TCT_CLOCKS
#define TCT_CLOCKS 0
#endif

typedef enum tct_phase {
    TCT_ON_PRODUCT,
    TCT_ON_GHOSTS, /* wait for ghosts */
    TCT_ON_EDGES,  /* rows with columns of other GPUs                   */
    TCT_ON_VECTORS,
    TCT_ON_SENDING,
    TCT_ON_BARRIER, /* wait for the blocks of this GPU */
    TCT_ON_SUM,     /* of a block, and over blocks */
    TCT_ON_RANKS,   /* wait for sums of other GPUs */
    TCT_PHASES
} tct_phase;

/* Of one block. */
typedef struct tct_spending {
    uint64_t cycles[TCT_PHASES];
    uint64_t rounds, ns; /* products; total time */
} tct_spending;

#endif
