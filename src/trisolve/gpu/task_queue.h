/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/task_queue.h - the queue from which workers take the tasks of a
 * solve, and their waits: one source for the blocks of a kernel and for the
 * host threads of tests/test_task_queue.c, which ThreadSanitizer checks.
 *
 * A task is listed after those it depends on. A worker draws ticket k and runs
 * task k. The first unfinished task has a worker and waits for nothing, so
 * every task is done with any number of workers, whenever they start. A
 * dependency is one counter: finished tasks add 1 to it, and it is not reset.
 * It is met when the counter reaches passes so far times additions per pass;
 * passes down (with L) and up are counted separately.
 *
 * A wait has a limit. On timeout a worker sets `late`. The others see it and
 * take no more tasks; the result of this pass is undefined. tct_task_queue_late
 * finds the first task whose counter is short; the queue and counters must then
 * be zeroed. */
#ifndef TCT_TRISOLVE_GPU_TASK_QUEUE_H
#define TCT_TRISOLVE_GPU_TASK_QUEUE_H
#include "device/protocol.h"

enum { TCT_DOWN = 1, TCT_UP = 2 /* passes of a run: either or both */ };

/* In memory shared by all workers; zeroed at first. */
typedef struct tct_task_queue {
    uint64_t down, up; /* passes completed */
    uint64_t left;     /* workers that have ended this run */
    uint64_t late;     /* 1: a task timed out */
    uint64_t missing;  /* 1 + the step of recursive_doubling.h that timed out */
    unsigned ticket;
} tct_task_queue;

typedef struct tct_task {
    int32_t what, from, to; /* meaning set by the owner */
    int32_t wait;           /* counter it waits for; -1: none */
    int32_t tell;           /* counter it adds to; -1: none */
} tct_task;

/* Constant arguments of a worker in a run. */
typedef struct tct_round {
    tct_task_queue *queue;
    const tct_task *task; /* all, down before up                             */
    uint64_t *counter;    /* that tasks add to                               */
    const uint32_t *due;  /* additions per pass */
    int32_t upper;        /* first counter of the pass up */
    int32_t begin, end;   /* the tasks of this run                           */
    uint32_t passes;      /* TCT_DOWN, TCT_UP, or both                       */
    uint64_t limit_ns;    /* of a wait; 0: no limit */
} tct_round;

/* State of one worker. */
typedef struct tct_worker_state {
    uint64_t down, up; /* passes, this run included */
    unsigned next;     /* next ticket, drawn ahead */
} tct_worker_state;

TCT_LANE tct_worker_state tct_task_queue_begin(const tct_round *R)
{
    tct_worker_state w;
    w.down = R->queue->down + (R->passes & TCT_DOWN ? 1 : 0);
    w.up = R->queue->up + (R->passes & TCT_UP ? 1 : 0);
    w.next = tct_draw(&R->queue->ticket);
    return w;
}

/* The value of its counter that a task waits for. */
TCT_BOTH uint64_t tct_task_queue_enough(const tct_round *R, uint64_t down,
                                        uint64_t up, const tct_task *t)
{
    return (t->wait < R->upper ? down : up) * R->due[t->wait];
}

/* The number of a worker's next task; -1: no more. The following ticket is
 * drawn ahead to hide its latency: a worker runs its tasks in order, so the
 * first unfinished one still has a worker. */
TCT_LANE int32_t tct_task_queue_next(const tct_round *R, tct_worker_state *w,
                                     tct_task *t)
{
    const int64_t k = (int64_t)R->begin + w->next;
    if (k >= R->end) return -1;
    w->next = tct_draw(&R->queue->ticket);
    *t = R->task[k];
    return (int32_t)k;
}

/* Wait for the task's dependency; false: this wait or another one failed, and
 * the worker ends. */
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

/* The task is done: publish its stores. */
TCT_LANE void tct_task_queue_done(const tct_round *R, const tct_task *t)
{
    if (t->tell >= 0) (void)tct_signal_add(&R->counter[t->tell], 1);
}

/* One of `workers` workers ends; the last one prepares the next run and gets
 * true. */
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

/* After all workers have ended and queue->late is set: the first task that
 * timed out; -1: none. R's arrays may be copies. */
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
