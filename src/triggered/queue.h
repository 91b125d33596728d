/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/queue.h - a queue on the host: a thread that does commands in
 * order. */
#ifndef TCT_TRIGGERED_QUEUE_H
#define TCT_TRIGGERED_QUEUE_H
#include "triggered/triggered.h"

typedef enum tct_command_kind {
    TCT_COMMAND_START,
    TCT_COMMAND_WAIT,
    TCT_COMMAND_EXCHANGE, /* a start, and its wait */
    TCT_COMMAND_TASK
} tct_command_kind;

typedef struct tct_command {
    struct tct_command *next;
    tct_command_kind kind;
    tacit_trigger_task *task;
    void *ctx;
    int count;
    tct_started started[]; /* [count] */
} tct_command;

struct tct_gpu_queue; /* triggered/gpu/driver.h */

struct tacit_trigger_queue {
    tacit_trigger_comm *comm;
    struct tct_gpu_queue *gpu; /* on a stream; NULL: a thread, as follows */
    pthread_t thread;
    tct_trigger_line line;         /* of the thread */
    tacit_trigger_request *active; /* started, not waited for: the caller's */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    tct_command *first, **last;
    uint64_t enqueued, executed; /* commands */
    bool ending;
};

/* A command with room for `count` requests.
 * Errors      NO_MEMORY. */
tacit_status tct_command_new(tct_command_kind kind, int count,
                             tct_command **out);
/* Enqueue it; its requests are busy until it has been executed. */
void tct_queue_push(tacit_trigger_queue *q, tct_command *c);
/* Note that a request is started by `q` (NULL: the host), or waited for. */
void tct_queue_activate(tacit_trigger_queue *q, tacit_trigger_request *r);
void tct_queue_forget(tacit_trigger_request *r);

#endif
