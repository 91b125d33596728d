/* SPDX-License-Identifier: BSD-3-Clause
 * loop/graph.c - loop graph: some iterations are recorded, and the recording is
 * replayed.
 *
 * A recording begins and ends in a check, so that it holds whole iterations
 * with all that they enqueue. */
#include "loop/loop.h"
#include <string.h>

enum { WARM = 2 }; /* checks before a recording */

/* A recording, and the state that it belongs to. */
typedef struct {
    tct_recording made;
    const tct_link *link;
    int block;  /* iterations per check; 0: one */
    int64_t at; /* its first iteration */
    /* while the loop runs */
    int checks; /* in this run */
    bool recording;
    int recorded; /* checks */
} graph;

/* Are the recorded operations those that iteration L->k begins? A text repeats
 * the same ones. */
static bool is_recorded(const tct_loop *L)
{
    const graph *G = L->state;
    const tct_iteration *I = L->iteration;
    return G->made.device && G->link == L->q->link && G->block == L->block &&
           (I->text || (L->k - G->at) % G->made.looks == 0) &&
           (!I->same || I->same(L->of));
}

static void begin_record(tct_loop *L)
{
    graph *G = L->state;
    q_forget(L->q, &G->made);
    G->made = (tct_recording){.c = L->c};
    G->link = L->q->link;
    G->block = L->block;
    G->at = L->k;
    G->recording = true;
    G->recorded = 0;
    if (L->iteration->records) L->iteration->records(L->of, true);
    q_record_begin(L->q, &G->made);
}

static void end_record(tct_loop *L)
{
    graph *G = L->state;
    G->recording = false;
    G->made.looks = G->recorded;
    q_record_end(L->q, &G->made);
    if (!L->block) L->k -= G->recorded;
    if (L->iteration->records) L->iteration->records(L->of, false);
}

static int64_t checks_left(const tct_loop *L)
{
    return (L->most - L->k) / (L->block ? L->block : 1);
}

/* Take the samples of replays. True: a check has ended the loop. */
static bool take_replays(tct_loop *L, int64_t *checks)
{
    graph *G = L->state;
    tacit_queue *q = L->q;
    tct_verdict verdict = TCT_GO_ON;
    tct_sample c;
    bool done = false;
    while (q_sampled(q, &c)) {
        if (verdict == TCT_RESTS) continue;
        ++*checks;
        if (!L->block) L->k++;
        verdict = tct_loop_judge(L, &c);
        if (verdict != TCT_GO_ON) {
            done = true;
            q_replay(q, &G->made, 0);
        } else if (q->stop_wanted || q->failed != TACIT_OK) {
            q_tell(q);
        }
    }
    return done;
}

/* Go on by replays; called within a check. True if the loop has ended; else
 * less than a recording is left. */
static bool replay(tct_loop *L)
{
    graph *G = L->state;
    tacit_queue *q = L->q;
    const int P = G->made.looks;
    int64_t checks = 0;
    if (tct_loop_take(L, 0)) return true;
    if (checks_left(L) < P) return L->k >= L->most;
    q_replay(q, &G->made, checks_left(L));
    const bool done = take_replays(L, &checks);
    const int64_t replays = (checks + P - 1) / P;
    if (L->iteration->replayed) L->iteration->replayed(L->of, replays);
    q_replayed(q, &G->made, replays);
    return done || q->failed != TACIT_OK || L->k >= L->most;
}

static bool check_recording(tct_loop *L)
{
    graph *G = L->state;
    q_sample(L->q, L->c);
    if (++G->recorded < L->period) return false;
    end_record(L);
    return !G->made.device || replay(L); /* none: the queue has failed */
}

static bool check(tct_loop *L)
{
    graph *G = L->state;
    if (G->recording) return check_recording(L);
    if (tct_loop_check_lagged(L)) return true;
    if (L->period < 0 || checks_left(L) < L->period) return false;
    /* also if a recording exists: equal runs then have equal bits */
    if (++G->checks <= WARM) return false;
    if (is_recorded(L)) return replay(L);
    if (tct_loop_take(L, 0)) return true;
    begin_record(L);
    return false;
}

static void graph_iterate(tct_loop *L)
{
    graph *G = L->state;
    if (L->q->link->starter < TCT_BY_STREAM) { /* another link is in use now */
        q_forget(L->q, &G->made);
        L->left_from = L->k;
        tct_loop_host.iterate(L);
        return;
    }
    G->checks = 0;
    tct_loop_enqueue(L, check);
}

static tacit_status graph_open(tct_loop *L)
{
    graph *G = NULL;
    TRY(TCT_ALLOC(1, "loop graph", &G));
    memset(G, 0, sizeof *G);
    L->state = G;
    return TACIT_OK;
}

static void graph_close(tct_loop *L)
{
    graph *G = L->state;
    if (G) q_forget(L->q, &G->made);
    tct_free(G);
    L->state = NULL;
}

static void graph_describe(const tct_loop *L, char *text, size_t size)
{
    const graph *G = L->state;
    if (G->made.device) L->q->device->record_about(G->made.device, text, size);
}

const tct_loop_kind tct_loop_graph = {
    .name = "graph",
    .needs = TCT_BY_STREAM,
    .open = graph_open,
    .close = graph_close,
    .iterate = graph_iterate,
    .describe = graph_describe,
};
