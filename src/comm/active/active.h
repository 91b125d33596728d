/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active.h - messages that any rank may send to any other at any
 * time, taken in the order in which they come: for work that messages drive, of
 * which each rank knows beforehand how many it gets, but not from whom first.
 *
 *     tct_active_open(world, &needs, &post);
 *     tct_active_begin(post);                        // a round
 *     tct_active_send(post, box, to, at, bytes);     // `at` in post->room
 *     tct_active_take(post, box, &message);           // waits for the next one
 *     ... message.data ...
 *     tct_active_drop(post, &message);
 *     tct_active_close(&post);
 *
 * Boxes keep apart what is not to be taken yet, and each round has boxes of its
 * own: a rank that is through with a round begins the next, and others are in
 * peace with theirs. For that it must not get ahead by two, so whoever is sent
 * a message in a round sends its sender one, too, in the same round.
 *
 * Nobody is waited for longer than TACIT_PATIENCE says: then the world has been
 * lost a rank, by the rank that lets this one wait, or the one that lets that
 * one wait, and so on.
 *
 * Nothing is copied where ranks share memory: a message is read where it was
 * written. MPI copies. Messages to oneself are not sent. */
#ifndef TCT_COMM_ACTIVE_ACTIVE_H
#define TCT_COMM_ACTIVE_ACTIVE_H
#include "comm/world/world.h"

enum { TCT_ACTIVE_TAGS = 64 }; /* at most */

/* What each round of a rank comes to. */
typedef struct tct_active_needs {
    int tags;
    int64_t in[TCT_ACTIVE_TAGS]; /* messages that come into each, exactly */
    const int32_t *from;         /* [boxes][ranks] and from whom         */
    int64_t out;                 /* messages that this rank sends         */
    size_t room;                 /* bytes of memory for what it sends    */
    size_t longest;              /* bytes of a message that comes         */
} tct_active_needs;

typedef struct tct_active_message {
    const void *data;
    int64_t bytes;
    int from;
} tct_active_message;

typedef struct tct_active {
    const struct tct_active_ops *ops;
    tacit_world *world;
    void *state; /* of its kind */
    char *room;  /* [needs.room] */
    int tags;
    uint64_t round;                         /* from 1 */
    int64_t messages_sent[TCT_ACTIVE_TAGS]; /* sent since it was opened */
    int64_t bytes[TCT_ACTIVE_TAGS];
    int32_t *from;   /* [boxes][ranks] messages of a round           */
    int64_t *taken;  /* [boxes][ranks] messages since it was opened  */
    double limit;    /* of a wait [s]; 0: none                      */
    uint64_t delays; /* not 0: a rank waits now and then, at random (tests) */
} tct_active;

/* Who does it: through memory that the ranks share, or MPI. */
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
/* Each rank for itself, once all messages of its round have come. NULL is
 * fine. */
void tct_active_close(tct_active **active);

/* The next round: what was sent in the last one may be written over.
 * Errors      COMM. */
tacit_status tct_active_begin(tct_active *p);
/* Send what lies at `data` in p->room, which stays as it is until the next
 * round.
 * Errors      COMM. */
tacit_status tct_active_send(tct_active *p, int tag, int to, const void *data,
                             int64_t bytes);
/* Wait for a message of this round in `box`; it is there until it is dropped,
 * which is before the next one is taken.
 * Errors      COMM (a rank is known not to come). */
tacit_status tct_active_take(tct_active *p, int tag, tct_active_message *out);
void tct_active_drop(tct_active *p, const tct_active_message *message);

/* Is a message of this round still to come into `box` from `rank`? */
static inline bool tct_active_is_due(const tct_active *p, int tag, int rank)
{
    const int64_t at = (int64_t)tag * p->world->size + rank;
    return p->taken[at] < (int64_t)p->round * p->from[at];
}

#endif
