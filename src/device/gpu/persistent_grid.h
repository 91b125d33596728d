/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/persistent_grid.h - a persistent grid: blocks that are all on the
 * device at once, for a whole solve, and meet again and again. This is what the
 * host gives them and asks of them; persistent grid.cuh is the kernel's side.
 *
 * A persistent grid knows nothing of what its blocks work on: whatever kernel
 * stays (of rows, of a grid, of a factor) has a tct_persistent_job as a part of
 * its own job. Where blocks meet is memory named by pointers of the job. One
 * GPU is a persistent grid without peers. On several each has its persistent
 * grid, and a meeting with sums is one of all persistent grids. What blocks
 * have stored before it is seen by all blocks of the same GPU after it; to a
 * peer go numbered values, which need no meeting, and what was read of them
 * before it may be stored over after it. */
#ifndef TCT_DEVICE_GPU_PERSISTENT_GRID_H
#define TCT_DEVICE_GPU_PERSISTENT_GRID_H
#include "device/gpu/clock.h"
#include "device/gpu/gpu.h"
#include "device/numbered.h"

enum { TCT_PERSISTENT_SUMS = 8 /* that go along with one meeting, at most */ };

/* The persistent grids of other GPUs; on the device. Each sum of a GPU is added
 * up by a block of it, which stores it, with the number of the meeting, into a
 * slot of every rank; all blocks wait for those of all, and add them up in rank
 * order. Slots take turns by the number of the meeting: between two that share
 * one there is another, since no three meetings in a row are of one persistent
 * grid alone. */
enum {
    TCT_GANGS_MOST = 16,
    TCT_PERSISTENT_PHASES = 4,
    TCT_PERSISTENT_SLOTS = 16
};
typedef struct tct_persistent_peers {
    int rank, ranks;
    uint64_t limit_ns; /* of a wait; 0: none   */
    uint64_t *number;  /* of the last meeting  */
    tct_numbered
        *slot[TCT_GANGS_MOST]; /* of each rank: [TURNS][ranks][SLOTS] */
} tct_persistent_peers;

typedef struct tct_persistent_job {
    int64_t most;       /* looks of this kernel, at most       */
    uint64_t limit_ns;  /* of a wait                           */
    double *c;          /* the scalars of the solve            */
    tct_outbox *outbox; /* of looks                            */
    uint64_t looks;     /* so far                              */
    int sample_batch;   /* looks that are posted at once       */
    uint64_t *counter;  /* of the barrier, 0 at the start      */
    double *sums;       /* [2][blocks][TCT_PERSISTENT_SUMS], with peers as
                                    many halves of tct_numbered; and what
                                    they spend behind, with TCT_CLOCKS  */
    const tct_persistent_peers *peers; /* NULL: none                  */
} tct_persistent_job;

/* A kernel that is to be started as a persistent grid: `job` is its
 * argument. */
typedef struct tct_persistent_kernel {
    const void *code;
    void *job;
    int blocks, threads; /* threads: of a block */
    size_t shared;       /* bytes of dynamic shared memory of a block */
} tct_persistent_kernel;

#ifdef __cplusplus
extern "C" {
#endif

/* Can this GPU have a persistent grid? */
bool tct_persistent_fits(const tacit_queue *q);
/* Bytes of the room in which `blocks` blocks meet. */
size_t tct_persistent_bytes(int blocks);
/* Threads that each of `blocks` blocks needs at least, to read the sums of all:
 * a multiple of GPU_WAVE. */
int tct_persistent_threads(int blocks);
/* The job of a persistent grid that meets in `room`, for `most` looks at
 * `c`. */
tct_persistent_job tct_persistent_job_of(const tacit_queue *q, void *room,
                                         double *c, int64_t most);
/* What a persistent grid of `blocks` blocks that met in `room` spent its time
 * on: the mean of blocks, in microseconds a product; nothing without
 * TCT_CLOCKS. */
void tct_persistent_spending(const void *room, int blocks, char *text,
                             size_t size);
/* Start it; false if the queue has failed. */
bool tct_persistent_start(tacit_queue *q, const tct_persistent_job *G,
                          const tct_persistent_kernel *K);
/* Ask the persistent grid that runs to end; it still looks until all know. */
void tct_persistent_end(tacit_queue *q);

#ifdef __cplusplus
}
#endif
#endif
