/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/cells.cc - messages in cells by the kernel of queues
 * (triggered/gpu/cells.cu): starts and waits apart and together, standard and
 * synchronous, with a sender that is ahead. */
#include "triggered/gpu/cells.cu"
#include "blocks.h"
#include "harness.h"
#include <unistd.h>

enum { ENDS = 6, ROUNDS = 9, AHEAD = 10, MOST = 2 * TCT_EAGER_MOST };

static const int64_t sizes[2][ENDS] = {
    {5, 64, 0, 100, 8, 1}, {5, MOST - 8, 0, 4093, 8, TCT_EAGER_MOST}};
static const tct_send_kind kinds[ENDS] = {
    TCT_SEND, TCT_SEND, TCT_SEND_SYNC, TCT_SEND_SYNC, TCT_SEND, TCT_SEND};

struct message {
    tct_end_signals sender, receiver;
    tct_numbered slot[TCT_SLOTS_OF_SMALL * MOST / TCT_CELL_BYTES];
    char from[MOST + 16], to[MOST + 16];
};
struct rank_of {
    tct_parted send[ENDS], receive[ENDS];
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
static int large, offset;

template <class R> static void call_cells(void **arguments)
{
    run_cells<R>(*(const R *)arguments[0], *(const tct_wait_job *)arguments[1]);
}

static gpu_error gpu_launch_early(const void *kernel, dim3 blocks,
                                  unsigned threads, void **arguments,
                                  gpu_stream, bool)
{
    blocks_launch(
        blocks, threads,
        kernel == (const void *)run_cells<few_ends>    ? call_cells<few_ends>
        : kernel == (const void *)run_cells<some_ends> ? call_cells<some_ends>
                                                       : call_cells<many_cells>,
        arguments);
    return GPU_OK;
}

static void connect(int from, int k)
{
    message *m = &W->wire[from][k];
    tct_parted *s = &W->rank[from].send[k], *t = &W->rank[1 - from].receive[k];
    const int32_t each = tct_cells_of(sizes[large][k]);
    const tct_end_cells cells = {m->slot, each, each};
    s->r.own = t->r.other = &m->sender;
    s->r.other = t->r.own = &m->receiver;
    s->r.bytes = t->r.bytes = sizes[large][k];
    s->r.kind = t->r.kind = kinds[k];
    s->cells = t->cells = cells;
    s->data = m->from + offset;
    t->data = m->to + offset;
    s->parts = t->parts = 1;
    s->sends = 1;
}

static void add(tct_cell_job *job, tct_parted *p)
{
    int32_t *cells = p->sends ? &job->sent : &job->received;
    tct_cell_end *e = &job->end[job->count++];
    *e = {p->cells,
          p,
          p->data,
          tct_part_cleared(p),
          (int32_t)p->r.bytes,
          *cells,
          p->sends != 0,
          p->r.kind == TCT_SEND_SYNC};
    *cells += p->cells.count;
    job->sends += e->sends;
}

void blocks_run_cells(tct_parted *const *end, int count,
                      const tct_wait_job *wait, bool starts, bool waits)
{
    tct_cell_job job = {};
    job.starts = starts;
    job.waits = waits;
    for (int k = 0; k < count; k++) add(&job, end[k]);
    tct_cells_run(&job, wait, true, nullptr);
}

/* Of end 0 to `last` - 1. */
static void launch(int rank, int last, bool sends, bool receives, bool starts,
                   bool waits)
{
    rank_of *r = &W->rank[rank];
    tct_parted *end[2 * ENDS];
    tct_wait_job wait = {};
    int count = 0;
    wait.board = &r->board;
    wait.claim = &r->claim;
    wait.turn = r->turn;
    for (int k = 0; k < last && sends; k++) end[count++] = &r->send[k];
    for (int k = 0; k < last && receives; k++) end[count++] = &r->receive[k];
    blocks_run_cells(end, count, &wait, starts, waits);
}

static char byte_of(int rank, int k, int round, int64_t i)
{
    return (char)(rank * 101 + k * 31 + round * 7 + i % 251);
}

static void fill(int rank, int round)
{
    for (int k = 0; k < ENDS && harness_is_first(); k++)
        for (int64_t i = 0; i < sizes[large][k]; i++)
            W->wire[rank][k].from[offset + i] = byte_of(rank, k, round, i);
    if (harness_is_first() && (round + rank) % 3 == 0) usleep(500);
    harness_meet();
}

static void check(int from, int last, int round)
{
    for (int k = 0; k < last && harness_is_first(); k++)
        for (int64_t i = 0; i < sizes[large][k]; i++)
            if (W->wire[from][k].to[offset + i] != byte_of(from, k, round, i))
                __atomic_fetch_add(&W->wrong, 1, __ATOMIC_RELAXED);
    harness_meet();
}

static void both_ways(int rank, int round)
{
    if (round % 3 == 0) {
        launch(rank, ENDS, true, true, true, true);
    } else if (round % 3 == 1) {
        launch(rank, ENDS, true, false, true, false);
        launch(rank, ENDS, false, true, true, false);
        launch(rank, ENDS, true, true, false, true);
    } else {
        launch(rank, ENDS, true, true, true, false);
        launch(rank, ENDS, false, true, false, true);
        check(1 - rank, ENDS, round);
        launch(rank, ENDS, true, false, false, true);
    }
}

/* Rank 0 sends small messages as fast as slots allow, rank 1 is late. */
static void one_way(int rank, int round)
{
    if (rank == 0) {
        launch(rank, 2, true, false, true, false);
        launch(rank, 2, true, false, false, true);
        return;
    }
    if (round % 5 == 0) {
        launch(rank, 2, false, true, true, false);
        if (harness_is_first()) usleep(200000);
        launch(rank, 2, false, true, false, true);
    } else {
        launch(rank, 2, false, true, true, true);
    }
    check(0, 2, round);
}

static void program(int rank)
{
    for (int round = 0; round < ROUNDS; round++) {
        fill(rank, round);
        both_ways(rank, round);
        check(1 - rank, ENDS, round);
    }
    for (int round = ROUNDS; round < ROUNDS + AHEAD; round++) {
        if (rank == 0) fill(rank, round);
        one_way(rank, round);
    }
}

static long unfinished(void)
{
    long n = W->rank[0].claim + W->rank[1].claim;
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < ENDS; k++)
            n += W->rank[r].send[k].part[0].waited !=
                 (uint64_t)(ROUNDS + (r == 0 && k < 2 ? AHEAD : 0));
    return n;
}

extern "C" long threaded_cells(int blocks, int is_large, int at)
{
    W = (two *)harness_memory(sizeof *W);
    large = is_large;
    offset = at;
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < ENDS; k++) connect(r, k);
    const int failed = harness_run(blocks, program);
    return failed > 0 || unfinished() > 0 ? -1 : W->wrong;
}
