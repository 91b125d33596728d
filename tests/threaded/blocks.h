/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/blocks.h - launches of the harness. */
#ifndef TESTS_THREADED_BLOCKS_H
#define TESTS_THREADED_BLOCKS_H
#include "device/gpu/lane.cuh"

/* Run `call(arguments)` in each thread of this process's block. */
void blocks_launch(dim3 blocks, unsigned threads, void (*call)(void **),
                   void **arguments);

#endif
