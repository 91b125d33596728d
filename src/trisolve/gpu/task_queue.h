/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/task_queue.h - how workers take the tasks of a solve in turns,
 * and wait for what a task builds upon: one text for the blocks of a kernel and
 * for threads that stand for them, where ThreadSanitizer sees it
 * (tests/test_task_queue.c).
 *
 * Tasks are listed so that each comes after those it builds upon. Who draws
 * ticket k does task k: the first task that is not done has a worker, which
 * waits for nothing, so all get done however few workers there are and whenever
 * they start. What a task builds upon is one counter: tasks add 1 to it when
 * they are done, and nothing resets it, so that it has come to its number of
 * this pass: passes times as many as add to it in one. A pass down (with L) and
 * one up are counted apart.
 *
 * A wait has a limit. Who waits in vain says so; all others see it, draw no
 * more, and what is left of the pass is void. The first task whose counter has
 * not come to its number is why (tct_task_queue_late); turns and counters then
 * begin from 0. */
#ifndef TCT_TRISOLVE_GPU_TASK_QUEUE_H
#define TCT_TRISOLVE_GPU_TASK_QUEUE_H
#include "device/protocol.h"

enum { TCT_DOWN = 1, TCT_UP = 2 /* the passes of a run: either, or both */ };

/* In memory that all workers reach; all 0 at first. */
typedef struct tct_task_queue {
    uint64_t down, up; /* passes that are over                           */
    uint64_t left;     /* workers that have left this run                */
    uint64_t late;     /* 1: a task has waited in vain                   */
    uint64_t
        missing; /* 1 + the step of swap.h in which one was waited in then */
    unsigned ticket;
} tct_task_queue;

typedef struct tct_task {
    int32_t what, from, to; /* of its owner's choice                          */
    int32_t wait;           /* the counter it waits for; -1: for nothing      */
    int32_t tell;           /* the one it adds to; -1: none                   */
} tct_task;

/* What a worker is told, which stays as it is during a run. */
typedef struct tct_round {
    tct_task_queue *queue;
    const tct_task *task; /* all, down before up                             */
    uint64_t *counter;    /* that tasks add to                               */
    const uint32_t *due;  /* additions to each in a pass                     */
    int32_t upper;        /* counters from here on are of the pass up        */
    int32_t begin, end;   /* the tasks of this run                           */
    uint32_t passes;      /* TCT_DOWN, TCT_UP, or both                       */
    uint64_t limit_ns;    /* of a wait; 0: none                              */
} tct_round;

/* What one worker knows. */
typedef struct tct_worker_state {
    uint64_t down, up; /* passes, this run's with them */
    unsigned next;     /* its next ticket, drawn ahead */
} tct_worker_state;

TCT_LANE tct_worker_state tct_task_queue_begin(const tct_round *R)
{
    tct_worker_state w;
    w.down = R->queue->down + (R->passes & TCT_DOWN ? 1 : 0);
    w.up = R->queue->up + (R->passes & TCT_UP ? 1 : 0);
    w.next = tct_draw(&R->queue->ticket);
    return w;
}

/* What the counter that a task waits for comes to. */
TCT_BOTH uint64_t tct_task_queue_enough(const tct_round *R, uint64_t down,
                                        uint64_t up, const tct_task *t)
{
    return (t->wait < R->upper ? down : up) * R->due[t->wait];
}

/* The next task of a worker: its number; -1: there is no more. The ticket after
 * it is drawn, so that it is there when it is asked for: a worker does its
 * tasks in their order, so the first that is not done still has a worker that
 * is at it. */
TCT_LANE int32_t tct_task_queue_next(const tct_round *R, tct_worker_state *w,
                                     tct_task *t)
{
    const int64_t k = (int64_t)R->begin + w->next;
    if (k >= R->end) return -1;
    w->next = tct_draw(&R->queue->ticket);
    *t = R->task[k];
    return (int32_t)k;
}

/* Wait for what the task builds upon; false: in vain, or others have, and the
 * worker ends. */
TCT_LANE bool tct_task_queue_await(const tct_round *R,
                                   const tct_worker_state *w, const tct_task *t)
{
    if (t->wait < 0) return true;
    const uint64_t enough = tct_task_queue_enough(R, w->down, w->up, t);
    tct_wait wait = {0, 0};
    while (tct_signal_read(&R->counter[t->wait]) < enough) {
        const tct_wait_status status =
            tct_poll(&wait, (tct_limit){R->limit_ns, &R->queue->late});
        if (status == TCT_NOT_YET) continue;
        if (status == TCT_MISSED) tct_signal_send(&R->queue->late, 1);
        return false;
    }
    return true;
}

/* It is done, and what it has stored is to be seen by who builds upon it. */
TCT_LANE void tct_task_queue_done(const tct_round *R, const tct_task *t)
{
    if (t->tell >= 0) (void)tct_signal_add(&R->counter[t->tell], 1);
}

/* A worker of `workers` ends; the last one, as it is told, makes all ready for
 * the next run. */
TCT_LANE bool tct_task_queue_end(const tct_round *R, const tct_worker_state *w,
                                 unsigned workers)
{
    tct_task_queue *T = R->queue;
    if (tct_signal_add(&T->left, 1) + 1 != workers) return false;
    T->left = 0;
    T->down = w->down;
    T->up = w->up;
    tct_renew(&T->ticket);
    return true;
}

/* When all have ended and turns->late is set: the first task that waited in
 * vain;
 * -1: none did. What `R` points to may be copies. */
static inline int32_t tct_task_queue_late(const tct_round *R)
{
    for (int32_t k = R->begin; k < R->end; k++) {
        const tct_task *t = &R->task[k];
        if (t->wait >= 0 &&
            R->counter[t->wait] <
                tct_task_queue_enough(R, R->queue->down, R->queue->up, t))
            return k;
    }
    return -1;
}

#endif
