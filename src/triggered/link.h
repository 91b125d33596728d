/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/link.h - link queue: what its host part and its GPU part have in
 * common. */
#ifndef TCT_TRIGGERED_LINK_H
#define TCT_TRIGGERED_LINK_H
#include "comm/exchange/plan.h"
#include "comm/link/link.h"
#include "triggered/gpu.h"

typedef struct tct_queue_link { /* of a queue */
    tacit_trigger_comm *comm;
    /* On the host: sums of few scalars, and of many */
    tacit_trigger_request *sum[2];
    double *mine, *total; /* [TCT_SUM_MOST + 1] */
    /* On a GPU; sums are those of link peer */
    void *peer; /* its state */
    const tct_launcher *of_peer;
    struct tct_gpu_link *gpu;
} tct_queue_link;

typedef struct tct_queue_plan { /* of a plan */
    tacit_trigger_request **of; /* [columns]: an exchange of 1, 2, .. columns */
    struct tct_gpu_link_plan *gpu;
} tct_queue_plan;

static inline tct_queue_link *tct_queue_link_of(const tacit_queue *q)
{
    return *tct_link_state((tacit_queue *)(uintptr_t)q);
}

/* A failure of a message is that of the queue; set the queue's time limit. */
void tct_queue_link_note(tacit_queue *q, tacit_status status);
tacit_trigger_comm *tct_queue_link_comm(const tacit_queue *q);
/* Requests of a plan, with values at `pack`, and ghosts at `landing`, or in
 * their place if there is one column, and `in_place`.
 * Collective.  Errors NO_MEMORY, COMM, and those of memory. */
tacit_status tct_queue_plan_match(tct_plan *plan, const double *pack,
                                  double *landing, bool in_place);

/* --- gpu/link.c, gpu_none.c ----------------------------------------------- */

/* Collective.
 * Errors      as those of link peer, and of tacit_trigger_comm_use_gpu. */
tacit_status tct_gpu_link_open(tacit_queue *q, tct_queue_link *l);
void tct_gpu_link_close(tacit_queue *q, tct_queue_link *l);
tacit_status tct_gpu_link_plan_open(tct_plan *plan, tct_queue_plan *p);
void tct_gpu_link_plan_close(tct_plan *plan, tct_queue_plan *p);
/* Can a queue on a GPU have it? */
bool tct_gpu_link_available(const tacit_queue *q, char *reason, size_t size);

#endif
