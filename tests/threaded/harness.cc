/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/harness.cc - blocks as processes, and their barriers. */
#include "harness.h"
#include "blocks.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MOST = 512 };

thread_local dim3 threadIdx;
dim3 blockIdx, blockDim, gridDim;

static pthread_barrier_t *rank_barrier; /* of this rank's processes */
static pthread_barrier_t block_barrier;
static int words[3], block; /* of __syncthreads_or, in turn */
static thread_local unsigned turn;

void __syncthreads()
{
    pthread_barrier_wait(&block_barrier);
}

int __syncthreads_or(int yes)
{
    int *const word = &words[turn % 3], *const next = &words[(turn + 1) % 3];
    turn++;
    if (yes) __atomic_store_n(word, 1, __ATOMIC_RELAXED);
    __syncthreads();
    const int any = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (threadIdx.x == 0) __atomic_store_n(next, 0, __ATOMIC_RELAXED);
    __syncthreads();
    return any;
}

typedef struct {
    unsigned number;
    void (*call)(void **);
    void **arguments;
} thread_of;

static void *run_thread(void *arg)
{
    const thread_of *t = (const thread_of *)arg;
    threadIdx = dim3(t->number);
    turn = 0;
    t->call(t->arguments);
    return nullptr;
}

void blocks_launch(dim3 blocks, unsigned threads, void (*call)(void **),
                   void **arguments)
{
    static thread_of of[THREADS_MOST];
    pthread_t thread[THREADS_MOST];
    const unsigned b = (unsigned)block;
    gridDim = blocks;
    blockDim = dim3(threads);
    blockIdx = dim3(b % blocks.x, b / blocks.x);
    if (b < blocks.x * blocks.y) {
        for (int &w : words) w = 0;
        pthread_barrier_init(&block_barrier, nullptr, threads);
        for (unsigned i = 0; i < threads; i++) {
            of[i] = {i, call, arguments};
            if (pthread_create(&thread[i], nullptr, run_thread, &of[i]))
                abort();
        }
        for (unsigned i = 0; i < threads; i++) pthread_join(thread[i], nullptr);
        pthread_barrier_destroy(&block_barrier);
    }
    harness_meet();
}

void *harness_memory(size_t bytes)
{
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    return p;
}

int harness_is_first(void)
{
    return block == 0;
}

void harness_meet(void)
{
    pthread_barrier_wait(rank_barrier);
}

static void open_barriers(pthread_barrier_t *of, int blocks)
{
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    for (int rank = 0; rank < 2; rank++)
        pthread_barrier_init(&of[rank], &shared, (unsigned)blocks);
}

int harness_run(int blocks, void (*program)(int rank))
{
    enum { SECONDS = 600 }; /* nobody is left behind */
    int failed = 0, status;
    pthread_barrier_t *of = (pthread_barrier_t *)harness_memory(2 * sizeof *of);
    open_barriers(of, blocks);
    for (int i = 0; i < 2 * blocks; i++) {
        if (fork() != 0) continue;
        rank_barrier = &of[i / blocks];
        block = i % blocks;
        alarm(SECONDS);
        program(i / blocks);
        _exit(0);
    }
    while (wait(&status) > 0) failed += status != 0;
    return failed;
}
