/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/tiles.h - visits of tiles by the emulator. */
#ifndef TESTS_EMULATED_TILES_H
#define TESTS_EMULATED_TILES_H
#include "operator/stencil/device_steps.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A visit on a GPU of `sms` multiprocessors. `group` chooses one
 * of the shapes of tiles of three dimensions. */
typedef struct emulated_visit {
    int depth, group, sms;
    uint64_t seed;
} emulated_visit;

void emulated_visit_float(const tct_step_work *w, const emulated_visit *v);
void emulated_visit_double(const tct_step_work *w, const emulated_visit *v);

#ifdef __cplusplus
}
#endif
#endif
