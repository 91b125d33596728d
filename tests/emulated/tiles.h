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

/* A visit of 4 steps with its exchange; come(ctx) lets the ghosts be there.
 * False: the block is not for it. */
typedef struct emulated_wait {
    void (*come)(void *ctx);
    void *ctx;
} emulated_wait;

bool emulated_ranks_float(const tct_step_work *w, const emulated_visit *v,
                          const tct_step_halo *h, const emulated_wait *wait);
bool emulated_ranks_double(const tct_step_work *w, const emulated_visit *v,
                           const tct_step_halo *h, const emulated_wait *wait);

#ifdef __cplusplus
}
#endif
#endif
