/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/triggered.h - communicators, requests and queues of the triggered
 * queue, as the files of this room see them.
 *
 * A request has ends. A send or a receive has one; an exchange of neighbours
 * one for each part. What all ranks do together has an end for each rank
 * (`all`). Ends are matched one by one (match.c), and run the steps of
 * device/rendezvous.h (messages.c). */
#ifndef TCT_TRIGGERED_TRIGGERED_H
#define TCT_TRIGGERED_TRIGGERED_H
#include "comm/channel/channel.h"
#include "comm/world/heap.h"
#include "device/rendezvous.h"
#include <pthread.h>
#include <tacit/triggered.h>

typedef enum tct_direction {
    TCT_SENDS,
    TCT_RECEIVES,
    TCT_TOGETHER /* of all ranks: with the same of a peer */
} tct_direction;

/* Memory of a GPU, as other ranks find it (gpu/memory.c). */
typedef struct tct_gpu_place {
    unsigned char handle[64]; /* of the allocation, between processes */
    int64_t offset, address;  /* in it; within the process */
} tct_gpu_place;

/* An end as it is described to its peer. */
typedef struct tct_offer {
    int64_t tag;
    int64_t space; /* 0: tags are the caller's; else a request of all ranks */
    int64_t bytes;
    int32_t direction;
    int32_t type;   /* tacit_trigger_type */
    int32_t detail; /* tct_send_kind; of all ranks: what they do */
    int32_t root;
    int32_t failed;        /* this rank's neighbours do not fit */
    int64_t block, window; /* places of its memory */
    int32_t on_gpu;        /* its buffer is on a GPU, and the signals, too */
    int32_t gpu_direct;    /* a receive: others open its buffer */
    tct_gpu_place gpu_block, gpu_window;
} tct_offer;

typedef struct tct_trigger_end {
    struct tacit_trigger_request *request;
    tct_offer mine, theirs;
    int peer;
    char *data;
    void *block; /* of this end, in the heap; NULL: none, or the request's */
    void *there; /* the peer's block */
    struct tct_gpu_end *gpu; /* if its buffer is on a GPU and it is matched */
    struct tct_trigger_end *next_offer, *next_local; /* lists of match.c */
    /* Messages; the thread of a line */
    tct_rendezvous r;
    uint64_t over;    /* the last message that was stored, or read */
    uint64_t waiting; /* the message that is pending */
    int pending;      /* atomic: it is in the list of a line */
    struct tct_trigger_end *next_pending;
} tct_trigger_end;

typedef enum tct_collective {
    TCT_NOT_ALL, /* a send or a receive */
    TCT_BARRIER,
    TCT_ALLREDUCE,
    TCT_BCAST,
    TCT_ALLGATHER,
    TCT_NEIGHBOURS,
    TCT_MATCH /* no messages: a match under way */
} tct_collective;

typedef enum tct_matched {
    TCT_UNMATCHED,
    TCT_MATCHING,
    TCT_MATCHED
} tct_matched;

struct tacit_trigger_request {
    tacit_trigger_comm *comm;
    tct_collective what;
    int ends, alls; /* all: [comm's ranks], or 0 */
    tct_trigger_end *end, *all;
    /* Of all ranks together */
    const void *data;
    void *result;
    int64_t count;
    tacit_trigger_type type;
    tacit_reduction reduction;
    int root;
    void *block;   /* signals, arrived [ranks], window [2]; NULL: messages */
    bool on_gpu;   /* its data are, and its ends are messages */
    char *scratch; /* of an all-reduction there: [ranks][count] */
    uint64_t combined; /* the last message that was */
    /* Matching; the lock of the communicator */
    int matched;          /* tct_matched, atomic */
    int unpaired, unsent; /* ends of the stage under way */
    bool refused;         /* an end does not fit */
    struct tacit_trigger_request *match;
    /* Of a match: requests that are under way, and the first failure */
    struct tacit_trigger_request **list; /* [listed] */
    int listed, left;
    tacit_status status;
    char *why;
    /* The caller's thread */
    uint64_t number; /* of the last start */
    bool active;     /* started and not waited for */
    bool marked;     /* listed in the call under way */
    struct tacit_trigger_queue
        *queue; /* that started it last; NULL: the host */
    struct tacit_trigger_request *before, *after; /* active ones of the queue */
    int busy; /* atomic: commands of a queue that name it */
};

/* Sends that are pending, in the order of their starts: of a queue's thread, or
 * of the host. */
typedef struct tct_trigger_line {
    tct_trigger_end *first, **last;
} tct_trigger_line;

/* A message that is waited for. */
typedef struct tct_started {
    tacit_trigger_request *request;
    uint64_t number;
} tct_started;

/* Offers to and from a peer. */
typedef struct tct_trigger_peer {
    tct_channel *to, *from;
    uint64_t sent, received;               /* messages */
    tct_trigger_end *offers, **last_offer; /* to be sent */
    tct_trigger_end *local, **last_local;  /* not paired */
    struct tct_remote *remote, **last_remote;
} tct_trigger_peer;

struct tacit_trigger_comm {
    tacit_world *world;
    int rank, ranks;
    double limit; /* of a wait [s], atomic; 0: none */
    tct_heap *heap;
    struct tct_trigger_gpu *gpu; /* NULL: none is used */
    /* Matching */
    pthread_mutex_t lock;
    tct_shared *memory; /* boards of waits */
    tct_waits waits;    /* of the channels' medium, which never waits */
    tct_medium medium;
    tct_channel *channel; /* [2 ranks] */
    tct_channels *channels;
    tct_trigger_peer *peer; /* [ranks] */
    int64_t spaces;         /* requests of all ranks made so far */
    struct tct_retired *retired;
    /* The host's own messages */
    pthread_mutex_t host_lock;
    tct_trigger_line host;
    int used; /* atomic: queues and requests */
    /* The first failure */
    pthread_mutex_t failing;
    int failed; /* atomic: the status */
    int lost;   /* a rank; or -1 */
    bool told;  /* the other ranks know why */
    char why[448];
    uint64_t end_calls; /* of tacit_trigger_comm_free */
};

/* --- comm.c: failures and waits ------------------------------------------- */

/* The failure of the communicator, with its message; or OK. Any thread. */
tacit_status tct_trigger_sound(tacit_trigger_comm *c);
bool tct_trigger_failed(tacit_trigger_comm *c);
/* Fail, unless it has failed; returns the first failure. */
tacit_status tct_trigger_fail(tacit_trigger_comm *c, int lost, const char *why);

/* Free it without an agreement: others come here sometime, or have failed.
 * Requests that are left are never freed. NULL is allowed. */
void tct_trigger_comm_leave(tacit_trigger_comm **comm);

/* A wait with the communicator's limit: all 0 at first. */
typedef struct tct_trigger_wait {
    tct_timeout timeout;
    unsigned checks;
    int published; /* 1 + the peer on the board */
    int lost;      /* the rank that was given up */
} tct_trigger_wait;
/* After a failed check, while `peer` is waited for; true: the wait is to end,
 * with `why` [size]. */
bool tct_trigger_give_up(tacit_trigger_comm *c, tct_trigger_wait *w, int peer,
                         char *why, size_t size);
void tct_trigger_wait_end(tacit_trigger_comm *c, tct_trigger_wait *w);

/* --- request.c ------------------------------------------------------------ */

/* "the send of 8 bytes with tag 3 to rank 1". */
void tct_trigger_say_end(const tct_trigger_end *e, char *text, size_t size);
void tct_trigger_say(const tacit_trigger_request *r, char *text, size_t size);
bool tct_trigger_is_matched(const tacit_trigger_request *r);
/* Is its data on a GPU? */
bool tct_trigger_on_gpu(const tacit_trigger_request *r);
/* Is it in a queue that has not come to its end? */
bool tct_trigger_is_busy(const tacit_trigger_request *r);

/* --- match.c -------------------------------------------------------------- */

/* Offers that have come, and that can go. The caller holds the lock. */
void tct_match_progress(tacit_trigger_comm *c);
/* The same without the lock, unless another thread has it. */
void tct_match_poll(tacit_trigger_comm *c);
/* The other end may still write the block, and memory of a GPU: free both when
 * that one has closed it `times`. The caller holds the lock. */
void tct_match_retire(tacit_trigger_comm *c, void *block,
                      struct tct_gpu_end *gpu, int times);
/* End a match, which is freed then.
 * Errors      INVALID, COMM. */
tacit_status tct_match_test(tacit_trigger_request **m, bool *done);
tacit_status tct_match_wait(tacit_trigger_request **m);
void tct_match_free(tacit_trigger_request **m);

/* --- messages.c ----------------------------------------------------------- */

void tct_line_start(tct_trigger_line *l, const tct_started *s);
/* Try the pending sends again. */
void tct_line_progress(tct_trigger_line *l);
/* Forget them, after a failure. */
void tct_line_drop(tct_trigger_line *l);
/* Has the message ended? If not, `missing` is an end that has not. */
bool tct_line_ended(const tct_started *s, tct_trigger_end **missing);
/* Wait for `count` messages; `lock`, if not NULL, guards the line.
 * Errors      COMM. */
tacit_status tct_line_wait(tacit_trigger_comm *c, tct_trigger_line *l,
                           pthread_mutex_t *lock, int count,
                           const tct_started *s);

/* Try the sends that the host has started. */
void tct_host_progress(tacit_trigger_comm *c);

/* --- together.c ----------------------------------------------------------- */

size_t tct_together_bytes(const tacit_trigger_request *r);
void tct_together_start(tacit_trigger_request *r, uint64_t number);
bool tct_together_ended(tacit_trigger_request *r, uint64_t number,
                        tct_trigger_end **missing);
size_t tct_trigger_size_of(tacit_trigger_type type); /* 0: no such type */

/* together_gpu.c: a request of all ranks like this one, with data on the GPU of
 * `c`.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_together_on_gpu(const tacit_trigger_request *like,
                                 tacit_trigger_comm *c,
                                 tacit_trigger_request **out);

#endif
