/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/transport.h - what transports active messages: shared memory, or
 * MPI (active.h). */
#ifndef TCT_COMM_ACTIVE_TRANSPORT_H
#define TCT_COMM_ACTIVE_TRANSPORT_H
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

/* Has `rank` yet to send a message of this round with `tag`? */
static inline bool tct_active_is_due(const tct_active *p, int tag, int rank)
{
    const int64_t at = (int64_t)tag * p->world->size + rank;
    return p->taken[at] < (int64_t)p->round * p->from[at];
}

#endif
