/* SPDX-License-Identifier: BSD-3-Clause
 * tests/io_world.h - files, in a world of one process for all tests of a
 * program. */
#ifndef TESTS_IO_WORLD_H
#define TESTS_IO_WORLD_H
#include "io_files.h"

static tacit_world *world;

static int open_world(void **state)
{
    (void)state;
    return tacit_world_self(&world) == TACIT_OK ? 0 : -1;
}

static int close_world(void **state)
{
    (void)state;
    tacit_world_destroy(&world);
    return tct_memory_blocks() == 0 ? 0 : -1; /* nothing leaks */
}

#endif
