/* SPDX-License-Identifier: BSD-3-Clause
 * solver/drivers/graph.c - loop graph: some iterations of the method are
 * recorded, and the recording is replayed.
 *
 * A recording begins and ends in tct_done, so that it holds whole iterations
 * with all that the method enqueues, residual replacements included. */
#include "solver/driver.h"
#include <stdio.h>
#include <string.h>

enum { ITERATIONS = 10, EXPENSIVE = 1, WARM = 2 };

/* A recording, and the state that it belongs to. */
typedef struct {
    tct_recording made;
    const tct_method *method;
    const tacit_operator *A;
    int version; /* of A */
    const double *x, *b;
    const tct_link *link;
    int block;            /* iterations per check; 0: one */
    int64_t replacements; /* in a replay */
    /* while a phase goes on */
    int looks; /* in this phase */
    bool recording;
    int recorded;         /* iterations                       */
    tacit_result *result; /* the run's, during recording      */
    tacit_result aside;
} graph;

/* Checks in a recording: with one residual replacement, if the method has
 * it. */
static int period(const tct_run *R)
{
    const int every = R->now->about.replace_every;
    if (R->cycle > 0) return R->cycle;
    if (every) return every;
    return tct_is_expensive(R->M) ? EXPENSIVE : ITERATIONS;
}

static bool is_recorded(const tct_run *R)
{
    const graph *G = R->drive;
    return G->made.device && G->method == R->now && G->A == R->A &&
           G->version == R->exact->version && G->x == R->x && G->b == R->b &&
           G->link == R->q->link && G->block == R->block;
}

static void begin_record(tct_run *R)
{
    graph *G = R->drive;
    q_forget(R->q, &G->made);
    G->made = (tct_recording){.c = R->c};
    G->method = R->now;
    G->A = R->A;
    G->version = R->exact->version;
    G->x = R->x;
    G->b = R->b;
    G->link = R->q->link;
    G->block = R->block;
    G->recording = true;
    G->recorded = 0;
    G->result = R->result;
    R->result = &G->aside; /* recorded iterations have not run yet */
    G->aside.replacements = 0;
    q_record_begin(R->q, &G->made);
}

static void end_record(tct_run *R)
{
    graph *G = R->drive;
    G->recording = false;
    G->made.looks = G->recorded;
    q_record_end(R->q, &G->made);
    R->result = G->result;
    if (!R->block) R->k -= G->recorded;
    G->replacements = G->aside.replacements;
}

static int64_t looks_left(const tct_run *R)
{
    return (R->most - R->k) / (R->block ? R->block : 1);
}

/* Go on by replays; called within tct_done. True if the phase has ended; else
 * less than a recording is left. */
static bool replay(tct_run *R)
{
    graph *G = R->drive;
    tacit_queue *q = R->q;
    const int P = G->made.looks;
    int64_t looks = 0;
    tct_sample c;
    if (tct_take_samples(R, 0)) return true;
    if (looks_left(R) < P) return R->k >= R->most;
    q_replay(q, &G->made, looks_left(R));
    bool done = false;
    while (q_sampled(q, &c)) {
        if (done && tct_is_held(R)) continue;
        looks++;
        if (!R->block) R->k++;
        if (!tct_judge(R, &c)) {
            if (q->stop_wanted || q->failed != TACIT_OK) q_tell(q);
            continue;
        }
        done = true;
        q_replay(q, &G->made, 0);
    }
    const int64_t replays = (looks + P - 1) / P;
    R->result->replacements += replays * G->replacements;
    q_replayed(q, &G->made, replays);
    return done || q->failed != TACIT_OK;
}

static bool look_recording(tct_run *R)
{
    graph *G = R->drive;
    q_sample(R->q, R->c);
    if (++G->recorded < period(R)) return false;
    end_record(R);
    return !G->made.device || replay(R); /* none: the queue has failed */
}

static bool look(tct_run *R)
{
    graph *G = R->drive;
    if (G->recording) return look_recording(R);
    if (tct_check_lagged(R)) return true;
    if (R->cycle < 0 || looks_left(R) < period(R)) return false;
    /* also if a recording exists: equal solves then have equal bits */
    if (++G->looks <= WARM) return false;
    if (is_recorded(R)) return replay(R);
    if (tct_take_samples(R, 0)) return true;
    begin_record(R);
    return false;
}

static void graph_iterate(tct_run *R)
{
    graph *G = R->drive;
    if (R->q->link->starter <
        TCT_BY_STREAM) { /* another solver has dropped it */
        q_forget(R->q, &G->made);
        R->left_from = R->k;
        tct_driver_host.iterate(R);
        return;
    }
    G->looks = 0;
    tct_iterate_text(R, look);
}

static tacit_status graph_open(tct_run *R)
{
    graph *G = NULL;
    TRY(TCT_ALLOC(1, "loop graph", &G));
    memset(G, 0, sizeof *G);
    R->drive = G;
    return TACIT_OK;
}

static void graph_close(tct_run *R)
{
    graph *G = R->drive;
    if (G) q_forget(R->q, &G->made);
    tct_free(G);
    R->drive = NULL;
}

static void graph_describe(const tct_run *R, char *text, size_t size)
{
    const graph *G = R->drive;
    if (G->made.device) R->q->device->record_about(G->made.device, text, size);
}

const tct_driver tct_driver_graph = {
    .about = {"graph",
              "a CUDA graph of some iterations, replayed by the CPU or in a "
              "while node",
              TCT_NO_CUDA, true},
    .needs = TCT_BY_STREAM,
    .open = graph_open,
    .close = graph_close,
    .iterate = graph_iterate,
    .describe = graph_describe,
};
