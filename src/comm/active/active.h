/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active.h - letters that any rank may send to any other at any time, taken in
 * the order in which they come: for work that letters drive, of which each rank
 * knows beforehand how many it gets, but not from whom first.
 *
 *     tct_post_open(world, &needs, &post);
 *     tct_post_begin(post);                        // a round
 *     tct_post_send(post, box, to, at, bytes);     // `at` in post->room
 *     tct_post_take(post, box, &letter);           // waits for the next one
 *     ... letter.data ...
 *     tct_post_drop(post, &letter);
 *     tct_post_close(&post);
 *
 * Boxes keep apart what is not to be taken yet, and each round has boxes of its own:
 * a rank that is through with a round begins the next, and others are in peace
 * with theirs. For that it must not get ahead by two, so whoever is sent a letter in
 * a round sends its sender one, too, in the same round.
 *
 * Nobody is waited for longer than TACIT_PATIENCE says: then the world has been
 * deserted, by the rank that lets this one wait, or the one that lets that one wait,
 * and so on.
 *
 * Nothing is copied where ranks share memory: a letter is read where it was
 * written. MPI copies. Letters to oneself are not sent. */
#ifndef TCT_COMM_ACTIVE_ACTIVE_H
#define TCT_COMM_ACTIVE_ACTIVE_H
#include "comm/world/world.h"

enum { TCT_POST_BOXES = 64 }; /* at most */

/* What each round of a rank comes to. */
typedef struct tct_post_needs {
    int boxes;
    int64_t in[TCT_POST_BOXES]; /* letters that come into each, exactly */
    const int32_t *from;        /* [boxes][ranks] and from whom         */
    int64_t out;                /* letters that this rank sends         */
    size_t room;                /* bytes of memory for what it sends    */
    size_t longest;             /* bytes of a letter that comes         */
} tct_post_needs;

typedef struct tct_letter {
    const void *data;
    int64_t bytes;
    int from;
} tct_letter;

typedef struct tct_post {
    const struct tct_post_ops *ops;
    tacit_world *world;
    void *state; /* of its kind */
    char *room;  /* [needs.room] */
    int boxes;
    uint64_t round;                  /* from 1 */
    int64_t letters[TCT_POST_BOXES]; /* sent since it was opened */
    int64_t bytes[TCT_POST_BOXES];
    int32_t *from;   /* [boxes][ranks] letters of a round           */
    int64_t *taken;  /* [boxes][ranks] letters since it was opened  */
    double limit;    /* of a wait [s]; 0: none                      */
    uint64_t delays; /* not 0: a rank waits now and then, at random (tests) */
} tct_post;

/* Who does it: through memory that the ranks share, or MPI. */
typedef struct tct_post_ops {
    const char *name;
    tacit_status (*open)(tct_post *p, const tct_post_needs *needs);
    tacit_status (*settle)(tct_post *p);
    tacit_status (*send)(tct_post *p, int box, int to, const void *data,
                         int64_t bytes);
    tacit_status (*take)(tct_post *p, int box, tct_letter *out);
    void (*drop)(tct_post *p, const tct_letter *letter);
    void (*close)(tct_post *p);
} tct_post_ops;
extern const tct_post_ops tct_post_shared, tct_post_mpi;

/* Collective.  Borrows `world`.
 * Errors      NO_MEMORY, IO, COMM, UNSUPPORTED (ranks on several machines without
 *             MPI; a letter of 2 GiB), INVALID (TACIT_PATIENCE). */
tacit_status tct_post_open(tacit_world *world, const tct_post_needs *needs,
                           tct_post **out);
/* Each rank for itself, once all letters of its round have come. NULL is fine. */
void tct_post_close(tct_post **post);

/* The next round: what was sent in the last one may be written over.
 * Errors      COMM. */
tacit_status tct_post_begin(tct_post *p);
/* Send what lies at `data` in p->room, which stays as it is until the next round.
 * Errors      COMM. */
tacit_status tct_post_send(tct_post *p, int box, int to, const void *data,
                           int64_t bytes);
/* Wait for a letter of this round in `box`; it is there until it is dropped, which
 * is before the next one is taken.
 * Errors      COMM (a rank is known not to come). */
tacit_status tct_post_take(tct_post *p, int box, tct_letter *out);
void tct_post_drop(tct_post *p, const tct_letter *letter);

/* Is a letter of this round still to come into `box` from `rank`? */
static inline bool tct_post_is_due(const tct_post *p, int box, int rank)
{
    const int64_t at = (int64_t)box * p->world->size + rank;
    return p->taken[at] < (int64_t)p->round * p->from[at];
}

#endif
