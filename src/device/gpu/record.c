/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/record.c - recordings. They are replayed by the CPU, which keeps
 * two under way (one if it has a single sample), or by a while node on the
 * device. Both are timed on the first samples of a solve, and the faster one is
 * kept. */
#include "device/gpu/record.h"
#include <stdio.h>
#include <string.h>

typedef enum { BY_CPU, BY_NODE, WAYS } way;

enum { TRIAL = 4 /* recordings timed per way, after one */ };

typedef struct {
    int looks; /* per recording */
    gpu_graph graph, node_graph;
    gpu_graph_exec exec[WAYS]; /* BY_NODE: NULL if the driver has no while
                                * nodes */
    bool chosen;
    way now;
    double seconds[WAYS]; /* of TRIAL recordings */
    /* during replay */
    int64_t due;    /* samples still to be started */
    uint64_t first; /* first sample of a trial */
    double clock;
    bool in_trial;
} recording;

void tct_record_begin(tacit_queue *q)
{
    tct_gpu *g = tct_gpu_of(q);
    tct_gpu_flush(q);
    g->capturing = tct_gpu_ok(
        q, gpu_capture_begin(g->stream, GPU_CAPTURE_RELAXED), "recording");
}

/* While nodes may be unavailable; then the CPU replays. */
static void make_node(tct_gpu *g, recording *r, const double *c)
{
    const gpu_error error = tct_record_while(
        r->graph, c, g->outbox, &g->mailbox_gpu->limit, &r->node_graph);
    if (error != GPU_OK ||
        gpu_graph_instantiate(&r->exec[BY_NODE], r->node_graph, 0) != GPU_OK)
        r->exec[BY_NODE] = NULL;
    (void)gpu_last_error();
    r->chosen = r->exec[BY_NODE] == NULL;
}

/* Ranks that time separately could choose differently: with several ranks use
 * the while node if all have it and the link's messages may be in one. */
static bool may_have_node(const tacit_queue *q)
{
    return q->ranks == 1 || (tct_gpu_of(q)->by_node && q->link->nodes);
}

static void choose_for_all(tacit_queue *q, recording *r)
{
    r->chosen = true;
    if (!may_have_node(q)) return;
    r->now = BY_NODE;
    if (!r->exec[BY_NODE])
        q_fail(q, TACIT_DEVICE, "the GPU: no while node could be made");
}

void *tct_record_end(tacit_queue *q, int looks, const double *c)
{
    tct_gpu *g = tct_gpu_of(q);
    if (!g->capturing) return NULL;
    tct_gpu_flush(q);
    g->capturing = false;
    recording *r = tct_calloc(sizeof *r);
    if (!r) q_fail(q, TACIT_NO_MEMORY, "no memory for a recording");
    gpu_graph graph = NULL;
    const gpu_error error = gpu_capture_end(g->stream, &graph);
    /* in a failed queue a part is missing */
    if (!tct_gpu_ok(q, error, "recording") || !r || q->failed != TACIT_OK) {
        if (graph) (void)gpu_graph_destroy(graph);
        tct_free(r);
        return NULL;
    }
    r->looks = looks;
    r->graph = graph;
    if (!tct_gpu_ok(q, gpu_graph_instantiate(&r->exec[BY_CPU], graph, 0),
                    "making a graph")) {
        tct_record_free(q, r);
        return NULL;
    }
    if (may_have_node(q)) make_node(g, r, c);
    if (q->ranks > 1) choose_for_all(q, r);
    return r;
}

void tct_record_free(tacit_queue *q, void *record)
{
    recording *r = record;
    tct_gpu *g = tct_gpu_of(q);
    if (!r) return;
    if (g->playing == r) g->playing = NULL;
    (void)gpu_stream_sync(g->stream);
    for (int w = 0; w < WAYS; w++)
        if (r->exec[w]) (void)gpu_graph_exec_destroy(r->exec[w]);
    if (r->node_graph) (void)gpu_graph_destroy(r->node_graph);
    if (r->graph) (void)gpu_graph_destroy(r->graph);
    tct_free(r);
}

void tct_record_about(const void *record, char *text, size_t size)
{
    const recording *r = record;
    snprintf(text, size, "%s, %d iteration%s",
             r->now == BY_NODE ? "while node" : "replayed", r->looks,
             r->looks == 1 ? "" : "s");
}

/* --- replay --------------------------------------------------------------- */

static void start(tacit_queue *q, recording *r, int64_t looks)
{
    tct_gpu *g = tct_gpu_of(q);
    if (r->now == BY_NODE) g->mailbox->limit = g->made + (uint64_t)looks;
    if (!tct_gpu_ok(q, gpu_graph_launch(r->exec[r->now], g->stream),
                    "launching a graph"))
        r->due = 0;
    g->launched++;
    g->made += (uint64_t)looks;
    r->due -= looks;
}

/* Both ways are tried: one recording to warm up, and TRIAL that are timed. */
static void try_ways(tct_gpu *g, recording *r)
{
    if (r->chosen || !r->in_trial) return;
    const uint64_t P = (uint64_t)r->looks;
    if (g->taken == r->first + P) r->clock = tct_seconds();
    if (g->taken != r->first + (TRIAL + 1) * P) return;
    r->seconds[r->now] = tct_seconds() - r->clock;
    r->in_trial = false;
    if (r->now == BY_CPU) {
        r->now = BY_NODE;
    } else {
        r->chosen = true;
        r->now = r->seconds[BY_NODE] < r->seconds[BY_CPU] ? BY_NODE : BY_CPU;
    }
}

static int64_t whole(const recording *r, int64_t looks)
{
    return looks / r->looks * r->looks;
}

bool tct_record_go_on(tacit_queue *q, bool idle)
{
    tct_gpu *g = tct_gpu_of(q);
    recording *r = g->playing;
    if (!r) return false;
    try_ways(g, r);
    const int64_t P = r->looks, trial = (TRIAL + 1) * P;
    if (idle) g->made = g->taken; /* a node may have ended early */
    if (r->due < P) return false;
    if (!r->chosen && !r->in_trial) {
        if (!idle) return false;
        r->in_trial = true;
        r->first = g->taken;
    }
    const bool node = r->now == BY_NODE;
    if (node && !idle) return false;
    /* if a recording has a single sample, work beyond the last one costs more
     * than a pause */
    const uint64_t under_way = P > 1 ? (uint64_t)P : 0;
    if (!node && g->made - g->taken > under_way) return false;
    if (!r->chosen && !node && g->made - r->first >= (uint64_t)trial)
        return false; /* drain first, then try the node */
    int64_t looks = P;
    if (node) looks = r->chosen ? whole(r, TCT_SAMPLES / 2) : trial;
    if (looks > r->due) looks = whole(r, r->due);
    start(q, r, looks);
    return true;
}

void tct_record_replay(tacit_queue *q, void *record, int64_t looks)
{
    tct_gpu *g = tct_gpu_of(q);
    recording *r = record;
    tct_gpu_flush(q);
    r->due = looks;
    r->in_trial = false;
    g->playing = looks > 0 ? r : NULL;
    if (looks == 0) { /* several ranks end by their sums */
        if (q->ranks == 1) g->mailbox->limit = 0;
        return;
    }
    g->made = g->taken;
    tct_record_go_on(q, true);
    tct_record_go_on(q, false);
}
