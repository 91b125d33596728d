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
#include "comm/world/world.h"

enum { TCT_ACTIVE_TAGS = 64 }; /* at most */

/* The messages of this rank in each round. */
typedef struct tct_active_needs {
    int tags;
    int64_t in[TCT_ACTIVE_TAGS]; /* received with each tag, exactly */
    const int32_t *from;         /* [tags][ranks] and by sender */
    int64_t out;                 /* messages sent */
    size_t room;                 /* bytes of the messages sent */
    size_t longest;              /* bytes of the longest message received */
} tct_active_needs;

typedef struct tct_active_message {
    const void *data;
    int64_t bytes;
    int from;
} tct_active_message;

typedef struct tct_active {
    const struct tct_active_ops *ops;
    tacit_world *world;
    void *state; /* of the transport */
    char *room;  /* [needs.room] */
    int tags;
    uint64_t round;                         /* from 1 */
    int64_t messages_sent[TCT_ACTIVE_TAGS]; /* since it was opened */
    int64_t bytes[TCT_ACTIVE_TAGS];
    int32_t *from;   /* [tags][ranks] messages of a round */
    int64_t *taken;  /* [tags][ranks] messages since it was opened */
    double limit;    /* of a wait [s]; 0: none                      */
    uint64_t delays; /* not 0: random delays (tests) */
} tct_active;

/* A transport: shared memory, or MPI. */
typedef struct tct_active_ops {
    const char *name;
    tacit_status (*open)(tct_active *p, const tct_active_needs *needs);
    tacit_status (*settle)(tct_active *p);
    tacit_status (*send)(tct_active *p, int tag, int to, const void *data,
                         int64_t bytes);
    tacit_status (*take)(tct_active *p, int tag, tct_active_message *out);
    void (*drop)(tct_active *p, const tct_active_message *message);
    void (*close)(tct_active *p);
} tct_active_ops;
extern const tct_active_ops tct_active_shared, tct_active_mpi;

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

/* Has `rank` yet to send a message of this round with `tag`? */
static inline bool tct_active_is_due(const tct_active *p, int tag, int rank)
{
    const int64_t at = (int64_t)tag * p->world->size + rank;
    return p->taken[at] < (int64_t)p->round * p->from[at];
}

#endif
