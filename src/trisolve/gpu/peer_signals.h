/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/peer_signals.h - how workers of several GPUs tell each other
 * that tasks are done: one text for the blocks of a kernel and for threads that
 * stand for them (tests/test_distribution.c).
 *
 * The tasks of one plan are dealt out to the processes of a grid (spread.h),
 * each of which has its own in the order in which the plan has all. A task
 * waits for one counter, and adds to one, as in turns.h; here each process
 * counts what its own tasks add. The worker that adds the last of a run sends
 * the run's number to all processes that have tasks which wait for that
 * counter, one message each; who waits has heard from all that add. Who hears
 * of a message sees what was stored by all on whom the sender built, wherever
 * it was stored: so values go first, each to who reads it, and messages have
 * none.
 *
 * Of the first task of all that is not done everything it waits for is done and
 * told, and its process has a worker that is at it: nobody waits for ever, as
 * long as the kernels of all processes run.
 *
 * Numbers only grow, and nothing is reset. What a run stores takes the place of
 * what the one before has stored: so nobody begins a run before all are through
 * with the one before, as each tells all when its workers have left. */
#ifndef TCT_TRISOLVE_GPU_PEER_SIGNALS_H
#define TCT_TRISOLVE_GPU_PEER_SIGNALS_H
#include "trisolve/gpu/task_queue.h"

enum { TCT_PEER_SIGNALS_MOST = 16 /* processes of a grid */ };

/* Phases of a run, whose messages are counted. */
enum {
    TCT_PEER_SIGNALS_DOWN,
    TCT_PEER_SIGNALS_BETWEEN,
    TCT_PEER_SIGNALS_UP,
    TCT_PEER_SIGNALS_PHASES
};

typedef struct tct_peer_signals {
    int rank, ranks; /* this process of the grid, and how many there are    */
    int32_t counters, swapped; /* how many; the one that swaps add to       */
    const uint16_t *adds;      /* [counters] bit p: process p adds to it    */
    const uint16_t *waits;     /* [counters] ... has tasks that wait for it */
    uint64_t *sent;            /* [TCT_PEER_SIGNALS_PHASES] messages so far  */
    /* In memory of each process: [ranks][counters] the last run of which all
     * has been added by the first; [ranks] runs that are over. */
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

/* Before the first task: all others are through with the last run. */
TCT_LANE bool tct_peer_signals_begin(const tct_round *R,
                                     const tct_peer_signals *M)
{
    const uint64_t *over = M->over[M->rank];
    const uint64_t before = tct_signal_value(&over[M->rank]);
    for (int p = 0; p < M->ranks; p++)
        if (!tct_peer_signals_hear(R, &over[p], before)) return false;
    return true;
}

/* Wait for what the task builds upon; false: in vain, or others have. */
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

/* It is done: the last one that this process adds to a counter tells who
 * waits. */
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

/* A worker ends; the last one tells all that this run is over. */
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

/* When all have ended and turns->late is set: the first task that waited in
 * vain, and for which process; -1: none did. What `R` points to, and `came` of
 * this process, may be copies. */
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
