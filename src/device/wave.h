/* SPDX-License-Identifier: BSD-3-Clause
 * device/wave.h - the lanes of a warp (AMD: of a wave), for which formats of a
 * GPU are sliced. A build for HIP sets 64, and so do tests that make such
 * formats in the memory of the host. */
#ifndef TCT_DEVICE_WAVE_H
#define TCT_DEVICE_WAVE_H
#include <stdint.h>

#ifndef GPU_WAVE
#define GPU_WAVE 32
#endif
#ifndef TCT_HIP
#define TCT_HIP 0
#endif

/* A bit for each lane, in one or two words of 32 bits. */
#define TCT_MASK_WORDS (GPU_WAVE / 32)
#if GPU_WAVE == 64
typedef uint64_t tct_lanes;
#else
typedef uint32_t tct_lanes;
#endif

/* The first of a non-empty set of lanes. */
static inline int tct_least_lane(tct_lanes some)
{
    return __builtin_ctzll(some);
}

#endif
