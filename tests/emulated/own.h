/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/own.h - steps of tiles that stay (ways free, and cached of
 * three dimensions) by the emulator: one tile after another makes a step, with
 * its own memory. */
#ifndef TESTS_EMULATED_OWN_H
#define TESTS_EMULATED_OWN_H
#include "operator/stencil/gpu/own_job.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The tiles of a rank. */
typedef struct emulated_own {
    tct_own_job job;
    bool keeps; /* way cached: rows are kept */
    int tiles;
    size_t each;  /* bytes of a tile's memory, a multiple of 64 */
    char *memory; /* [tiles], on 64 bytes                       */
} emulated_own;

/* Bytes of a tile with so many kept rows. */
size_t emulated_own_bytes_float(int columns, int rows);
size_t emulated_own_bytes_double(int columns, int rows);
/* Step `step` of all tiles; the first one fills kept rows. */
void emulated_own_float(emulated_own *k, int step, uint64_t seed);
void emulated_own_double(emulated_own *k, int step, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
