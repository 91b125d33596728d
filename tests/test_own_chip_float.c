/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_own_chip_float.c - tiles in shared memory, of floats, with threads as
 * blocks: own_chip_twin.h.
 *
 * RUN: np=1,3
 * THREADS: 1,2,4 */
#define TCT_REAL float
#include "own_chip_twin.h"
