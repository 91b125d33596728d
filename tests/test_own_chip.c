/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_own_chip.c - tiles in shared memory, of doubles, with threads as
 * blocks: own_chip_twin.h.
 *
 * RUN: np=1,3
 * THREADS: 1,2,4 */
#define TCT_REAL double
#include "own_chip_twin.h"
