/* SPDX-License-Identifier: BSD-3-Clause
 * comm/exchange.h - a persistent, matched set of messages: which values go to
 * whom, fixed at set-up, started and waited for many times. The transport
 * keeps what makes them persistent in `state`. */
#ifndef TCT_EXCHANGE_H
#define TCT_EXCHANGE_H
#include "comm/world.h"

typedef struct tct_plan {
    tct_exchange base; /* what the line knows; first member */
    tacit_world *world;
    int sends, recvs;                 /* peers sent to, received from         */
    int *send_rank, *recv_rank;       /* [sends], [recvs] ascending           */
    int64_t *send_start, *recv_start; /* [sends + 1], [recvs + 1] per column */
    int32_t *send_index; /* [send_start[sends]] local elements to send      */
    double *pack;        /* [columns * send_start[sends]] peer by peer      */
    double *landing;     /* [columns * ghosts] peer by peer; base.ghost
                            itself where there is one column               */
    int tag;             /* tells plans apart                               */
    void *state;         /* of the transport                                */
} tct_plan;

/* Plan the exchange that brings the elements `ghost` [ghosts] (global numbers,
 * ascending, none of them this rank's own) of vectors divided by `starts`
 * [size + 1], `columns` (1 or 2) vectors at once. Element i of this rank is in
 * place now[i] of its vectors (NULL: i).
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_plan_create(tacit_world *w, const int64_t *starts,
                             const int64_t *ghost, int64_t ghosts,
                             const int32_t *now, int columns, tct_plan **out);
void tct_plan_destroy(tct_plan **plan);

/* Copy what is sent of x[column] into `pack`; a message holds all columns of
 * one peer. */
void tct_plan_pack(const tct_plan *plan, double *const *x);
/* Copy `landing` to base.ghost, column after column. */
void tct_plan_unpack(const tct_plan *plan);

#endif
