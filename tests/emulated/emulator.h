/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/emulator.h - runs the threads of a kernel on one thread of the
 * host. Warps run in a random order between barriers, so that a missing one
 * shows. The process ends with a sentence if lanes of a warp do not meet, if a
 * thread misses a barrier, or if a copy is not aligned. */
#ifndef TESTS_EMULATED_EMULATOR_H
#define TESTS_EMULATED_EMULATOR_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct emulator_index {
    unsigned x;
} emulator_index;

enum { EMULATOR_SHARED_MOST = 232448 };

/* Run `kernel(args)` in each thread of each block, one block after another.
 * `shared` bytes of dynamic shared memory are NaN when a block begins. */
void emulator_run(int blocks, int threads, size_t shared,
                  void (*kernel)(const void *args), const void *args,
                  uint64_t seed);

/* For kernels. */
const emulator_index *emulator_thread(void);
const emulator_index *emulator_block(void);
const emulator_index *emulator_threads(void); /* of a block */
/* The value that lane `from` of this warp gives. */
uint64_t emulator_exchange(uint64_t value, int from);
void emulator_barrier(void);
void emulator_copy(void *to, const void *from, size_t bytes);
void emulator_copies_end(void);
void emulator_await_copies(int but);

#ifdef __cplusplus
}
#endif
#endif
