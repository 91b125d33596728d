/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/peer_signals.h - signals between workers of several GPUs that
 * tasks are done: one source for the blocks of a kernel and for the host
 * threads of tests/test_distribution.c.
 *
 * The tasks of a plan are distributed to the processes of a grid
 * (distribute.h); each keeps the plan's order. As in task_queue.h, a task waits
 * for one counter and adds to one; here each process counts its own tasks. The
 * worker that completes a process's count for a run sends the run's number to
 * every process with tasks that wait for the counter, one message each. A
 * waiting task needs the number from every process that adds. Values are stored
 * at their readers before the message is sent, and a message makes visible all
 * stores that the sender depended on, so messages carry no values.
 *
 * The first unfinished task of all has its dependencies done and signalled, and
 * a worker of its process runs it: every wait ends as long as the kernels of
 * all processes run.
 *
 * Numbers only grow and are not reset. A run overwrites the values of the run
 * before, so a process begins only after all have signalled the end of that
 * run. */
#ifndef TCT_TRISOLVE_GPU_PEER_SIGNALS_H
#define TCT_TRISOLVE_GPU_PEER_SIGNALS_H
#include "trisolve/gpu/task_queue.h"

enum { TCT_PEER_SIGNALS_MOST = 16 /* processes of a grid */ };

/* Phases of a run; messages are counted by phase. */
enum {
    TCT_PEER_SIGNALS_DOWN,
    TCT_PEER_SIGNALS_BETWEEN,
    TCT_PEER_SIGNALS_UP,
    TCT_PEER_SIGNALS_PHASES
};

typedef struct tct_peer_signals {
    int rank, ranks;           /* process in the grid, and their number */
    int32_t counters, swapped; /* their number; the one of recursive doubling */
    const uint16_t *adds;      /* [counters] bit p: process p adds to it    */
    const uint16_t *waits;     /* [counters] ... has tasks that wait for it */
    uint64_t *sent;            /* [TCT_PEER_SIGNALS_PHASES] messages so far */
    /* In the memory of each process. came [ranks][counters]: the last run in
     * which that process completed its count. over [ranks]: runs that have
     * ended. */
    uint64_t *came[TCT_PEER_SIGNALS_MOST], *over[TCT_PEER_SIGNALS_MOST];
} tct_peer_signals;

TCT_BOTH int tct_peer_signals_phase(int32_t swapped, int32_t upper,
                                    int32_t counter)
{
    return counter == swapped ? TCT_PEER_SIGNALS_BETWEEN
           : counter < upper  ? TCT_PEER_SIGNALS_DOWN
                              : TCT_PEER_SIGNALS_UP;
}

TCT_LANE bool tct_peer_signals_hear(const tct_round *R, const uint64_t *word,
                                    uint64_t number)
{
    const tct_wait_status status = tct_await_counter(
        word, number, (tct_limit){R->limit_ns, &R->queue->late});
    if (status == TCT_MISSED) tct_signal_send(&R->queue->late, 1);
    return status == TCT_CAME;
}

/* Before the first task: wait until all processes have ended the last run. */
TCT_LANE bool tct_peer_signals_begin(const tct_round *R,
                                     const tct_peer_signals *M)
{
    const uint64_t *over = M->over[M->rank];
    const uint64_t before = tct_signal_value(&over[M->rank]);
    for (int p = 0; p < M->ranks; p++)
        if (!tct_peer_signals_hear(R, &over[p], before)) return false;
    return true;
}

/* Wait for the task's dependency; false: this wait or another one failed. */
TCT_LANE bool tct_peer_signals_await(const tct_round *R,
                                     const tct_peer_signals *M,
                                     const tct_worker_state *w,
                                     const tct_task *t)
{
    if (t->wait < 0) return true;
    const uint64_t *came = M->came[M->rank] + t->wait;
    const unsigned from = M->adds[t->wait];
    for (int p = 0; p < M->ranks; p++)
        if (from >> p & 1 &&
            !tct_peer_signals_hear(R, came + (int64_t)p * M->counters, w->down))
            return false;
    return true;
}

/* The task is done. The last task of this process for a counter signals the
 * processes that wait. */
TCT_LANE void tct_peer_signals_done(const tct_round *R,
                                    const tct_peer_signals *M,
                                    const tct_worker_state *w,
                                    const tct_task *t)
{
    if (t->tell < 0) return;
    const uint64_t enough = w->down * R->due[t->tell];
    if (tct_signal_add(&R->counter[t->tell], 1) + 1 != enough) return;
    const int64_t at = (int64_t)M->rank * M->counters + t->tell;
    const unsigned to = M->waits[t->tell];
    uint64_t messages_sent = 0;
    tct_fence_all();
    for (int p = 0; p < M->ranks; p++) {
        if (!(to >> p & 1)) continue;
        tct_signal_send(M->came[p] + at, w->down);
        messages_sent += p != M->rank;
    }
    if (messages_sent > 0)
        (void)tct_signal_add(
            &M->sent[tct_peer_signals_phase(M->swapped, R->upper, t->tell)],
            messages_sent);
}

/* A worker ends; the last one signals the end of the run. */
TCT_LANE void tct_peer_signals_end(const tct_round *R,
                                   const tct_peer_signals *M,
                                   const tct_worker_state *w, unsigned workers)
{
    if (!tct_task_queue_end(R, w, workers)) return;
    const uint64_t runs = tct_signal_value(&M->over[M->rank][M->rank]) + 1;
    tct_fence_all();
    for (int p = 0; p < M->ranks; p++)
        tct_signal_send(&M->over[p][M->rank], runs);
}

/* After all workers have ended and queue->late is set: the first task that
 * timed out and the process it waited for; -1: none. R's arrays and this
 * process's `came` may be copies. */
static inline int32_t tct_peer_signals_late(const tct_round *R,
                                            const tct_peer_signals *M,
                                            const uint64_t *came, int *process)
{
    for (int32_t k = R->begin; k < R->end; k++) {
        const tct_task *t = &R->task[k];
        for (*process = 0; t->wait >= 0 && *process < M->ranks; ++*process)
            if (M->adds[t->wait] >> *process & 1 &&
                came[(int64_t)*process * M->counters + t->wait] <
                    R->queue->down)
                return k;
    }
    return -1;
}

#endif
