/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/parts.cc - messages that several blocks carry, by the kernels
 * of queues (triggered/gpu/kernels.cu): standard and synchronous, through
 * windows and in place, with cells beside them, and with sends that are pending
 * in the waits of others. */
#include "blocks.h"
#include "harness.h"
#include "triggered/gpu/kernels.cu"
#include <unistd.h>

enum {
    ENDS = 4,
    CELLS = 2, /* an end with cells */
    ROUNDS = 8,
    AHEAD = TCT_SLOTS_OF_SMALL + 1,
    MOST = 100000,
    BLOCKS = 2 * ENDS * 4
};

static const int64_t sizes[ENDS] = {MOST, TCT_CELLS_MOST + 5, 100, 0};
static const tct_send_kind kinds[ENDS] = {TCT_SEND, TCT_SEND_SYNC, TCT_SEND,
                                          TCT_SEND_SYNC};

struct message {
    tct_end_signals sender, receiver;
    uint64_t arrived[TCT_PARTS_MOST];
    tct_numbered slot[TCT_SLOTS_OF_SMALL * 16];
    alignas(16) char window[MOST], from[MOST], to[MOST];
};
struct rank_of {
    tct_parted send[ENDS], receive[ENDS];
    tct_parted *list[2 * ENDS];
    tct_wait_board board;
    uint64_t turn[TCT_PARTS_MOST];
    unsigned claim;
};
struct two {
    message wire[2][ENDS]; /* from a rank to the other */
    rank_of rank[2];
    long wrong;
};

static two *W;

/* --- kernels -------------------------------------------------------------- */

template <class Rows> static void call_start(void **arguments)
{
    start<Rows>(*(const Rows *)arguments[0]);
}
template <class Rows> static void call_wait(void **arguments)
{
    wait<Rows>(*(const Rows *)arguments[0],
               *(const tct_wait_job *)arguments[1]);
}
template <class Rows> static void call_exchange(void **arguments)
{
    exchange<Rows>(*(const Rows *)arguments[0],
                   *(const tct_wait_job *)arguments[1]);
}
static void call_fill(void **arguments)
{
    fill(*(const tct_trigger_rows *)arguments[0],
         *(tct_parted ***)arguments[1]);
}

static gpu_error gpu_launch_early(const void *kernel, dim3 blocks,
                                  unsigned threads, void **arguments,
                                  gpu_stream, bool)
{
    blocks_launch(
        blocks, threads,
        kernel == (const void *)fill              ? call_fill
        : kernel == (const void *)start<few_rows> ? call_start<few_rows>
        : kernel == (const void *)wait<few_rows>  ? call_wait<few_rows>
                                                  : call_exchange<few_rows>,
        arguments);
    return GPU_OK;
}

/* --- ends ----------------------------------------------------------------- */

static void connect(int from, int k)
{
    message *m = &W->wire[from][k];
    tct_parted *s = &W->rank[from].send[k], *t = &W->rank[1 - from].receive[k];
    const int32_t each = tct_cells_of(sizes[k]);
    s->r.own = t->r.other = &m->sender;
    s->r.other = t->r.own = &m->receiver;
    s->r.bytes = t->r.bytes = sizes[k];
    s->r.kind = t->r.kind = kinds[k];
    s->r.window = t->r.window = kinds[k] == TCT_SEND ? m->window : m->to;
    if (tct_has_cells(sizes[k])) s->cells = t->cells = {m->slot, each, each};
    s->parts = t->parts = s->cells.slot ? 1 : tct_parts_of(sizes[k]);
    s->arrived = t->arrived = m->arrived;
    s->data = m->from;
    t->data = m->to;
    s->sends = 1;
}

static tct_wait_job job_of(rank_of *r)
{
    tct_wait_job job = {};
    job.board = &r->board;
    job.claim = &r->claim;
    job.turn = r->turn;
    return job;
}

/* Receives, then sends, where the wait is for the first `waited`. */
static tct_trigger_rows rows_of(rank_of *r, bool receives, bool sends,
                                int waited)
{
    tct_trigger_rows R = {};
    R.waited = waited;
    for (int k = 0; k < ENDS && receives; k++)
        R.end[R.count++] = &r->receive[k];
    for (int k = 0; k < ENDS && sends; k++) R.end[R.count++] = &r->send[k];
    return R;
}

/* --- rounds --------------------------------------------------------------- */

static char byte_of(int rank, int k, int round, int64_t i)
{
    return (char)(rank * 101 + k * 31 + round * 7 + i % 251);
}

static void prepare(int rank, int round)
{
    for (int k = 0; k < ENDS && harness_is_first(); k++)
        for (int64_t i = 0; i < sizes[k]; i++)
            W->wire[rank][k].from[i] = byte_of(rank, k, round, i);
    if (harness_is_first() && (round + rank) % 3 == 0) usleep(500);
    harness_meet();
}

static void check(int from, int round)
{
    for (int k = 0; k < ENDS && harness_is_first(); k++)
        for (int64_t i = 0; i < sizes[k]; i++)
            if (W->wire[from][k].to[i] != byte_of(from, k, round, i))
                __atomic_fetch_add(&W->wrong, 1, __ATOMIC_RELAXED);
    harness_meet();
}

static void start_of(rank_of *r, bool receives, bool sends)
{
    const tct_trigger_rows R = rows_of(r, receives, sends, 0);
    tct_parts_start(&R, 4, true, nullptr);
}

/* The rows of a wait may be in a list. */
static void wait_for(rank_of *r, bool receives, bool sends, int waited,
                     bool listed)
{
    const tct_wait_job job = job_of(r);
    tct_trigger_rows R = rows_of(r, receives, sends, waited);
    if (listed) {
        tct_parts_list(&R, r->list, 0, nullptr);
        R.list = r->list;
    }
    tct_parts_wait(&R, 4, &job, true, nullptr);
}

/* The sends of the second way are started before any receive, and those of the
 * third are pending, on one rank or both, where the receives are waited for. */
static void both_ways(int rank, int round)
{
    rank_of *r = &W->rank[rank];
    if (round % 4 == 0) {
        const tct_wait_job job = job_of(r);
        const tct_trigger_rows R = rows_of(r, true, true, 2 * ENDS);
        tct_parts_exchange(&R, 4, &job, true, nullptr);
    } else if (round % 4 == 1) {
        start_of(r, false, true);
        start_of(r, true, false);
        wait_for(r, true, true, 2 * ENDS, true);
    } else if (round % 4 == 2 || rank == 0) {
        start_of(r, false, true);
        start_of(r, true, false);
        wait_for(r, true, true, ENDS, false);
        check(1 - rank, round);
        wait_for(r, false, true, ENDS, false);
    } else {
        start_of(r, true, true);
        wait_for(r, true, true, 2 * ENDS, false);
    }
}

/* Rank 0 is ahead by all slots and one message, which is pending in a wait for
 * an answer. Rank 1 answers after it. Cells are sent and taken by their own
 * kernel. */
static void run_ahead(rank_of *r)
{
    const tct_wait_job job = job_of(r);
    tct_parted *const send = &r->send[CELLS];
    tct_trigger_rows R = {2, 1, nullptr, {&r->receive[0], send}};
    tct_trigger_rows answer = {1, 0, nullptr, {&r->receive[0]}};
    for (int k = 0; k < AHEAD; k++) {
        blocks_run_cells(&send, 1, &job, true, false);
        if (k + 1 < AHEAD) blocks_run_cells(&send, 1, &job, false, true);
    }
    tct_parts_start(&answer, 4, true, nullptr);
    tct_parts_wait(&R, 4, &job, true, nullptr);
    blocks_run_cells(&send, 1, &job, false, true);
}

static void run_behind(rank_of *r)
{
    const tct_wait_job job = job_of(r);
    tct_parted *const receive = &r->receive[CELLS];
    tct_trigger_rows answer = {1, 1, nullptr, {&r->send[0]}};
    for (int k = 0; k < AHEAD; k++)
        blocks_run_cells(&receive, 1, &job, true, true);
    tct_parts_start(&answer, 4, true, nullptr);
    tct_parts_wait(&answer, 4, &job, true, nullptr);
}

static void program(int rank)
{
    for (int round = 0; round < ROUNDS; round++) {
        prepare(rank, round);
        both_ways(rank, round);
        check(1 - rank, round);
    }
    if (rank == 0) run_ahead(&W->rank[0]);
    else run_behind(&W->rank[1]);
}

/* Parts that have not the numbers of messages from a rank, of end k. */
static long unfinished(const tct_parted *e, int from, int k)
{
    const int answers = from == 1 && k == 0;
    const int more = from == 0 && k == CELLS ? (int)AHEAD : answers;
    const uint64_t number = (uint64_t)(ROUNDS + more);
    long n = 0;
    for (int s = 0; s < e->parts; s++)
        n += e->part[s].begun != number || e->part[s].done != number ||
             e->part[s].waited != number;
    return n;
}

extern "C" long threaded_parts(void)
{
    W = (two *)harness_memory(sizeof *W);
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < ENDS; k++) connect(r, k);
    long left = harness_run(BLOCKS, program);
    for (int r = 0; r < 2; r++) {
        left += W->rank[r].claim;
        for (int k = 0; k < ENDS; k++)
            left += unfinished(&W->rank[r].send[k], r, k) +
                    unfinished(&W->rank[r].receive[k], 1 - r, k);
    }
    return left > 0 ? -1 : W->wrong;
}
