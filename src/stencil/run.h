/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/run.h - one call of tacit_field_run: steps made, changes measured,
 * candidates. */
#ifndef TCT_STENCIL_RUN_H
#define TCT_STENCIL_RUN_H
#include "comm/world/world.h"
#include "stencil/way.h"

/* A way that is ready for visits of up to `depth` steps. */
typedef struct tct_engine {
    const tct_way *way;
    const tct_way_ops *ops;
    int depth;
    int boundary; /* tiles of a boundary layer */
    int most;     /* steps of a visit */
    void *state;
} tct_engine;

/* Collective: all ranks fail alike. The ghosts are as wide as `depth`;
 * `boundary` as boundary_tiles in tacit_field_options, 0: the formula's. */
tacit_status tct_engine_open(tacit_field *f, const tct_way *way, int depth,
                             int boundary, tct_engine *out);
/* Wait for the visits so far. */
void tct_engine_finish(const tct_engine *e);
void tct_engine_close(tct_engine *e);

typedef struct tct_field_run {
    tacit_field *field;
    tacit_field_options options;
    tacit_field_result result;
    double *changes;  /* [rows][blocks] of this rank's, or NULL: none are
                       * measured */
    tacit_status end; /* not OK: an outcome above 0 has come        */
    bool stops;       /* ... or the goal is met                     */
} tct_field_run;

/* Reduce `data` [count] over all ranks; a failure is the queue's.
 * Collective. */
void tct_run_reduce(const tct_field_run *run, tct_reduction op, size_t count,
                    double *data);
/* No more steps are to be made. */
bool tct_run_is_over(const tct_field_run *run);
/* Seconds since `start`, the most of all ranks, which decide alike by it.
 * Collective. */
double tct_run_clock(const tct_field_run *run, double start);
/* Make the next steps, `most` unless a measured step or the last one comes
 * before. Returns how many. */
int tct_run_visit(tct_field_run *run, const tct_engine *e, int most);

/* Open the engine that the options ask for. If they leave it open, candidates
 * make the first steps of the run, and the fastest is `*out`.
 * Errors      INVALID, UNSUPPORTED, NO_MEMORY. */
tacit_status tct_run_choose(tct_field_run *run, tct_engine *out);

#endif
