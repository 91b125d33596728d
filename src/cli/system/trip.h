/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/trip.h - the bytes of `tacit pingpong` that a check expects, one
 * text for the CPU and for kernels. */
#ifndef TCT_CLI_SYSTEM_TRIP_H
#define TCT_CLI_SYSTEM_TRIP_H
#include <stdint.h>

/* Byte `i` of a message of `bytes` in trip `number`. */
#ifdef __CUDACC__
static __host__ __device__
#else
static
#endif
    inline unsigned char
    cli_trip_byte(uint64_t number, int64_t bytes, int64_t i)
{
    return (unsigned char)(number * 31 + (uint64_t)bytes + (uint64_t)i);
}

#endif
