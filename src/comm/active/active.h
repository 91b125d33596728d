/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active.h - active messages: any rank sends to any other at any
 * time, and receivers take messages in order of arrival. For work that messages
 * drive, where each rank knows how many messages it gets, but not in which
 * order.
 *
 *     tct_active_open(world, &needs, &active);
 *     tct_active_begin(active);                     // a round
 *     tct_active_send(active, tag, to, at, bytes);   // `at` in active->room
 *     tct_active_take(active, tag, &message);       // waits for the next
 *     ... message.data ...
 *     tct_active_drop(active, &message);
 *     tct_active_close(&active);
 *
 * Tags separate messages by when they are taken, and odd and even rounds have
 * separate queues, so that a rank may begin the next round while others finish
 * theirs. It must not get two rounds ahead: ranks that send in a round must
 * also receive from the same ranks in it.
 *
 * A wait ends after TACIT_PATIENCE; the rank at the end of the chain of waits
 * is then noted as lost in the world.
 *
 * In shared memory a message is read where it was written; MPI copies. A rank
 * sends no messages to itself. */
#ifndef TCT_COMM_ACTIVE_ACTIVE_H
#define TCT_COMM_ACTIVE_ACTIVE_H
#include "comm/active/transport.h"

/* Collective.  Borrows `world`.
 * Errors      NO_MEMORY, IO, COMM, UNSUPPORTED (ranks on several machines without
 *             MPI; a message of 2 GiB), INVALID (TACIT_PATIENCE). */
tacit_status tct_active_open(tacit_world *world, const tct_active_needs *needs,
                             tct_active **out);
/* Not collective; once all messages of the round have been taken. NULL is
 * allowed. */
void tct_active_close(tct_active **active);

/* Begin the next round; the memory of messages sent in the last one may be
 * reused.
 * Errors      COMM. */
tacit_status tct_active_begin(tct_active *p);
/* Send `data`, in p->room, which must not change until the next round.
 * Errors      COMM. */
tacit_status tct_active_send(tct_active *p, int tag, int to, const void *data,
                             int64_t bytes);
/* Wait for a message of this round with `tag`; it is valid until it is dropped,
 * which must be before the next one is taken.
 * Errors      COMM (a rank is lost). */
tacit_status tct_active_take(tct_active *p, int tag, tct_active_message *out);
void tct_active_drop(tct_active *p, const tct_active_message *message);

#endif
