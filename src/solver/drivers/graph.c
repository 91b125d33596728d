/* SPDX-License-Identifier: BSD-3-Clause
 * solver/drivers/graph.c - loop graph: some iterations of the method are
 * recorded, residual replacements included, and the recording is replayed. */
#include "solver/driver.h"
#include <string.h>

enum { ITERATIONS = 10, EXPENSIVE = 1 };

/* The state that the recording belongs to. */
typedef struct {
    const tct_method *method;
    const tacit_operator *A;
    int version; /* of A */
    const double *x, *b;
    int64_t replacements; /* in a replay */
    tacit_result *result; /* the run's, during recording      */
    tacit_result aside;
} recorded;

/* Checks in a recording: with one residual replacement, if the method has
 * it. */
static int period(const tct_run *R)
{
    const int every = R->policy->now->about.replace_every;
    if (every) return every;
    return tct_is_expensive(R->M) ? EXPENSIVE : ITERATIONS;
}

static bool same(void *run)
{
    const tct_run *R = run;
    const recorded *of = R->drive;
    return of->method == R->policy->now && of->A == R->A &&
           of->version == R->system->exact->version && of->x == R->x &&
           of->b == R->system->b;
}

/* Recorded iterations have not run yet. */
static void begin_record(tct_run *R)
{
    recorded *of = R->drive;
    *of = (recorded){.method = R->policy->now,
                     .A = R->A,
                     .version = R->system->exact->version,
                     .x = R->x,
                     .b = R->system->b,
                     .result = R->result};
    R->result = &of->aside;
}

static void end_record(tct_run *R)
{
    recorded *of = R->drive;
    R->result = of->result;
    of->replacements = of->aside.replacements;
}

static void records(void *run, bool begins)
{
    if (begins) begin_record(run);
    else end_record(run);
}

static void replayed(void *run, int64_t times)
{
    const tct_run *R = run;
    const recorded *of = R->drive;
    R->result->replacements += times * of->replacements;
}

static const tct_iteration text = {.text = tct_iterate_text,
                                   .check = tct_check_run,
                                   .same = same,
                                   .records = records,
                                   .replayed = replayed};

static void graph_iterate(tct_run *R)
{
    tct_loop *L = tct_loop_of_phase(R, &text);
    L->period = period(R);
    tct_loop_graph.iterate(L);
}

static tacit_status graph_open(tct_run *R)
{
    recorded *of = NULL;
    TRY(TCT_ALLOC(1, "loop graph", &of));
    memset(of, 0, sizeof *of);
    R->drive = of;
    R->loop->q = R->q;
    return tct_loop_graph.open(R->loop);
}

static void graph_close(tct_run *R)
{
    tct_loop_graph.close(R->loop);
    tct_free(R->drive);
    R->drive = NULL;
}

static void graph_describe(const tct_run *R, char *to, size_t size)
{
    tct_loop_graph.describe(R->loop, to, size);
}

const tct_driver tct_driver_graph = {
    .about = {"graph",
              "a CUDA graph of some iterations, replayed by the CPU or in a "
              "while node",
              TCT_NO_CUDA, true},
    .kind = &tct_loop_graph,
    .open = graph_open,
    .close = graph_close,
    .iterate = graph_iterate,
    .describe = graph_describe,
};
