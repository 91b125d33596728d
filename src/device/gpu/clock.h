/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/clock.h - what kernels that stay spend their time on. */
#ifndef TCT_DEVICE_GPU_CLOCK_H
#define TCT_DEVICE_GPU_CLOCK_H
#include <stdint.h>

#ifndef TCT_CLOCKS
#define TCT_CLOCKS 0
#endif

typedef enum tct_phase {
    TCT_ON_PRODUCT,
    TCT_ON_GHOSTS, /* until they have come                              */
    TCT_ON_EDGES,  /* rows with columns of other GPUs                   */
    TCT_ON_VECTORS,
    TCT_ON_SENDING,
    TCT_ON_BARRIER, /* until all blocks of this GPU have come           */
    TCT_ON_SUM,     /* of a block, and of what all blocks have          */
    TCT_ON_RANKS,   /* until the sums of other GPUs have come           */
    TCT_PHASES
} tct_phase;

/* Of one block. */
typedef struct tct_spending {
    uint64_t cycles[TCT_PHASES];
    uint64_t rounds, ns; /* products; time in all */
} tct_spending;

#endif
