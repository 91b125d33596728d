/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/blocks.h - launches of the harness. */
#ifndef TESTS_THREADED_BLOCKS_H
#define TESTS_THREADED_BLOCKS_H
#include "device/gpu/lane.cuh"

/* Run `call(arguments)` in each thread of this process's block. */
void blocks_launch(dim3 blocks, unsigned threads, void (*call)(void **),
                   void **arguments);

/* Start ends with cells, or wait for them, or both, by the kernel of cells;
 * senders come first. */
struct tct_parted;
struct tct_wait_job;
void blocks_run_cells(tct_parted *const *end, int count,
                      const tct_wait_job *wait, bool starts, bool waits);

#endif
