/* SPDX-License-Identifier: BSD-3-Clause
 * tests/triggered_rig.h - a communicator and a queue of the test's world, and
 * requests between its first and its last rank. */
#ifndef TESTS_TRIGGERED_RIG_H
#define TESTS_TRIGGERED_RIG_H
#include "base/base.h"
#include "mpi_main.h"
#include "said.h"
#include <sched.h>
#include <tacit/triggered.h>

typedef tacit_trigger_request request;

typedef struct rig {
    tacit_trigger_comm *c;
    tacit_trigger_queue *q;
    int rank, size, last;
    bool sends, receives; /* is this the first rank, the last one? */
} rig;

/* All ranks have come here. */
static inline void meet_all(void)
{
    OK(tacit_world_agree(test_world(), TACIT_OK));
}

static inline rig rig_open_in(tacit_world *w)
{
    rig g = {.rank = tacit_world_rank(w), .size = tacit_world_size(w)};
    g.last = g.size - 1;
    g.sends = g.rank == 0;
    g.receives = g.rank == g.last;
    OK(tacit_trigger_comm_create(w, &g.c));
    OK(tacit_trigger_queue_create(g.c, TACIT_TRIGGER_AUTO, NULL, &g.q));
    return g;
}

static inline rig rig_open(void)
{
    return rig_open_in(test_world());
}

static inline void rig_close(rig *g)
{
    OK(tacit_trigger_queue_free(&g->q));
    OK(tacit_trigger_comm_free(&g->c));
    assert_null(g->c);
}

static inline void free_all(int n, request **r)
{
    for (int k = 0; k < n; k++) {
        OK(tacit_trigger_request_free(&r[k]));
        assert_null(r[k]);
    }
}

/* A send of the first rank in r[0], the receive of the last one in r[1]; else
 * NULL. */
static inline void rig_pair(const rig *g, int tag, const void *from, void *to,
                            int64_t count, tacit_trigger_type type, request **r)
{
    r[0] = r[1] = NULL;
    if (g->sends)
        OK(tacit_trigger_send_init(g->c, from, count, type, g->last, tag,
                                   &r[0]));
    if (g->receives)
        OK(tacit_trigger_recv_init(g->c, to, count, type, 0, tag, &r[1]));
}

/* The requests that are not NULL, matched in one call. */
static inline tacit_status match_those(int n, request **r)
{
    request *those[64];
    int count = 0;
    for (int k = 0; k < n; k++)
        if (r[k]) those[count++] = r[k];
    if (count == 0) return TACIT_OK;
    return tacit_trigger_matchall(count, those);
}

static inline bool matched(const request *r)
{
    bool is = false;
    OK(tacit_trigger_is_matched(r, &is));
    return is;
}

/* The statements of the design that a test checks, by number. */
static inline void statement(int first, int last)
{
    for (int t = first; t <= last; t++) printf("T%d%s", t, t < last ? " " : "");
    printf("\n");
}

#endif
