/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/harness.h - runs kernels of messages between two ranks on the
 * host: a block is a process, and its threads are threads. All processes of a
 * rank run one program; a launch returns when all blocks of the rank are done. */
#ifndef TESTS_THREADED_HARNESS_H
#define TESTS_THREADED_HARNESS_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Memory of all processes, zeroed. */
void *harness_memory(size_t bytes);
/* Run the program of each rank, with so many blocks; how many processes failed. */
int harness_run(int blocks, void (*program)(int rank));
/* For programs: is this the process for what a rank does once? The ranks'
 * blocks meet. */
int harness_is_first(void);
void harness_meet(void);

/* Rounds of messages in cells, in parts, of a halo in cells: wrong bytes, or
 * < 0. */
long threaded_cells(int blocks, int large, int offset);
long threaded_parts(void);
long threaded_halo(void);

#ifdef __cplusplus
}
#endif
#endif
