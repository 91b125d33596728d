/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/emulator.c - fibres, their meetings and their copies. */
#include "emulator.h"
#include "device/wave.h"
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { THREADS_MOST = 1024, STACK = 1 << 16, COPIES_MOST = 256 };

typedef enum state { READY, AT_EXCHANGE, AT_BARRIER, DONE } state;

typedef struct copy {
    void *to;
    const void *from;
    size_t bytes;
    int batch;
} copy;

typedef struct fibre {
    emulator_index number;
    state state;
    bool started;
    jmp_buf at;
    ucontext_t start;
    char *stack;
    uint64_t given[2]; /* in turn, so that nobody overwrites what others read */
    int turn;
    copy copies[COPIES_MOST];
    int first, count, batch; /* copies on their way; batches that are closed */
} fibre;

/* The dynamic shared memory of a block, by the name that kernels have. */
_Alignas(16) char tct_tile_memory[EMULATOR_SHARED_MOST];

static fibre *fibres, *now;
static emulator_index block, threads_of_block;
static jmp_buf scheduler;
static ucontext_t unused;
static uint64_t random_state;
static void (*body)(const void *);
static const void *body_args;

static void give_up(const char *what)
{
    fprintf(stderr, "emulator: block %u, thread %u: %s\n", block.x,
            now ? now->number.x : 0, what);
    abort();
}

static unsigned draw(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

/* --- fibres --------------------------------------------------------------- */

static void wait_as(state s)
{
    now->state = s;
    if (_setjmp(now->at) == 0) _longjmp(scheduler, 1);
}

static void begin(void)
{
    body(body_args);
    now->state = DONE;
    _longjmp(scheduler, 1);
}

static void resume(fibre *f)
{
    now = f;
    if (_setjmp(scheduler) != 0) return;
    if (f->started) _longjmp(f->at, 1);
    f->started = true;
    setcontext(&f->start);
}

static void prepare(fibre *f, unsigned number)
{
    f->number.x = number;
    f->state = READY;
    f->started = false;
    f->turn = f->first = f->count = f->batch = 0;
    getcontext(&f->start);
    f->start.uc_stack.ss_sp = f->stack;
    f->start.uc_stack.ss_size = STACK;
    f->start.uc_link = &unused;
    makecontext(&f->start, begin, 0);
}

/* All lanes have the state of the first one. */
static bool agree(const fibre *warp)
{
    for (int i = 1; i < GPU_WAVE; i++)
        if (warp[i].state != warp[0].state) return false;
    return true;
}

/* Run a warp until it is at a barrier or done. */
static void run_warp(fibre *warp)
{
    do {
        const bool down = draw(2);
        for (int i = 0; i < GPU_WAVE; i++) {
            fibre *f = &warp[down ? GPU_WAVE - 1 - i : i];
            f->state = READY;
            resume(f);
        }
        if (!agree(warp)) give_up("lanes of a warp do not meet");
    } while (warp->state == AT_EXCHANGE);
}

static void run_block(int threads)
{
    int order[THREADS_MOST], warps = threads / GPU_WAVE;
    for (int t = 0; t < threads; t++) prepare(&fibres[t], (unsigned)t);
    for (int w = 0; w < warps; w++) order[w] = w;
    do {
        for (int w = 0; w < warps; w++) {
            const int other = (int)draw((unsigned)warps), kept = order[w];
            order[w] = order[other];
            order[other] = kept;
        }
        for (int w = 0; w < warps; w++) run_warp(&fibres[order[w] * GPU_WAVE]);
        for (int w = 1; w < warps; w++)
            if (fibres[w * GPU_WAVE].state != fibres[0].state)
                give_up("a thread ends before others have met");
    } while (fibres[0].state != DONE);
}

static void make_fibres(void)
{
    if (fibres) return;
    fibres = calloc(THREADS_MOST, sizeof *fibres);
    char *stacks = malloc((size_t)THREADS_MOST * STACK);
    if (!fibres || !stacks) give_up("no memory");
    for (int t = 0; t < THREADS_MOST; t++)
        fibres[t].stack = stacks + (size_t)t * STACK;
}

void emulator_run(int blocks, int threads, size_t shared,
                  void (*kernel)(const void *args), const void *args,
                  uint64_t seed)
{
    make_fibres();
    random_state = seed;
    body = kernel;
    body_args = args;
    threads_of_block.x = (unsigned)threads;
    if (threads % GPU_WAVE || threads > THREADS_MOST)
        give_up("no such number of threads");
    for (int b = 0; b < blocks; b++) {
        block.x = (unsigned)b;
        memset(tct_tile_memory, 0xff, shared);
        run_block(threads);
    }
}

/* --- for kernels ---------------------------------------------------------- */

const emulator_index *emulator_thread(void)
{
    return &now->number;
}

const emulator_index *emulator_block(void)
{
    return &block;
}

const emulator_index *emulator_threads(void)
{
    return &threads_of_block;
}

uint64_t emulator_exchange(uint64_t value, int from)
{
    const int turn = now->turn ^= 1;
    now->given[turn] = value;
    wait_as(AT_EXCHANGE);
    return fibres[now->number.x / GPU_WAVE * GPU_WAVE + (unsigned)from]
        .given[turn];
}

void emulator_barrier(void)
{
    wait_as(AT_BARRIER);
}

void emulator_copy(void *to, const void *from, size_t bytes)
{
    if ((uintptr_t)to % bytes || (uintptr_t)from % bytes)
        give_up("a copy is not aligned");
    if (now->count == COPIES_MOST) give_up("too many copies on their way");
    now->copies[(now->first + now->count++) % COPIES_MOST] =
        (copy){to, from, bytes, now->batch};
    memset(to, 0xff, bytes);
}

void emulator_copies_end(void)
{
    now->batch++;
}

void emulator_await_copies(int but)
{
    for (; now->count > 0; now->count--) {
        const copy *c = &now->copies[now->first];
        if (c->batch >= now->batch - but) return;
        memcpy(c->to, c->from, c->bytes);
        now->first = (now->first + 1) % COPIES_MOST;
    }
}
