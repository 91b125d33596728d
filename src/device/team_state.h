/* SPDX-License-Identifier: BSD-3-Clause
 * device/team_state.h - what the threads of a team share with its caller. */
#ifndef TCT_DEVICE_TEAM_STATE_H
#define TCT_DEVICE_TEAM_STATE_H
#include "device/team.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    TCT_TEAM_LINE = 64,       /* bytes of a cache line                       */
    TCT_TEAM_TAKES = 1 << 15, /* a part is taken in at most so many pieces   */
    TCT_TEAM_SPINS = 32       /* turns of a waiting loop between two looks at
                                 the clock                                   */
};
#define TCT_TEAM_TIMEOUT 100e-6 /* seconds until a waiting caller sleeps */

typedef struct tct_team_job {
    uint64_t round;
    int parts;
    bool waits;           /* for who is late with a part           */
    int64_t count, piece; /* items, and how many are taken at once */
    tct_stretch_fn fn;
    void *work;
} tct_team_job;

/* A job whose function takes one item at a time. */
typedef struct tct_item_job {
    tct_item_fn fn;
    void *work;
} tct_item_job;

typedef struct tct_team_seat {
    /* pieces of this part that are taken, behind the number of the round */
    _Alignas(TCT_TEAM_LINE) atomic_uint_fast64_t taken;
    atomic_uint_fast64_t answered; /* the last round that it knows of */
    _Alignas(TCT_TEAM_LINE) atomic_bool asleep;
    tct_team *team;
    int number;
    long switches;       /* how often others got its processor */
    double rest, rested; /* how long, until when */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t called;
} tct_team_seat;

struct tct_team {
    _Alignas(TCT_TEAM_LINE) atomic_uint_fast64_t round;
    atomic_int parts; /* the job */
    atomic_bool waits;
    atomic_int_fast64_t count, piece;
    _Atomic(tct_stretch_fn) fn;
    _Atomic(void *) work;
    atomic_bool quit;
    _Alignas(TCT_TEAM_LINE) atomic_int_fast64_t left; /* items not done */
    _Atomic double since; /* when the caller fell asleep, 0 if it did not */
    _Alignas(TCT_TEAM_LINE) int size;
    int wanted;
    bool running;       /* a round has begun: the caller's                  */
    int forks;          /* of this process before it was created            */
    tct_team_job begun; /* between tct_team_begin and tct_team_end          */
    tct_item_job items; /* its function, if it takes one item at a time     */
    atomic_int_fast64_t *limit; /* [size + 1] first item of each part */
    pthread_mutex_t lock;
    pthread_cond_t done;
    tct_team_seat seat[];
};

/* Do what is left of part `own`, then of the others. Since when has the caller
 * been waiting for this thread? 0: it was not. */
double tct_team_take_part(tct_team *t, const tct_team_job *j, int own);
/* The life of a thread: `seat` is its tct_team_seat. */
void *tct_team_serve(void *seat);

#endif
