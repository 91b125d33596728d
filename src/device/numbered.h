/* SPDX-License-Identifier: BSD-3-Clause
 * device/numbered.h - a value with its message number, stored and read at once:
 * gpu/lane.cuh, signals.h. */
#ifndef TCT_DEVICE_NUMBERED_H
#define TCT_DEVICE_NUMBERED_H
#include <stdalign.h>
#include <stdint.h>

typedef struct tct_numbered {
    alignas(16) double value;
    uint64_t number;
} tct_numbered;

#endif
