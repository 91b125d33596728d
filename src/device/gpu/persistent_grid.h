/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/persistent_grid.h - a persistent grid: blocks that are all
 * resident at once, for a whole solve, with barriers between them. This is the
 * host's part; persistent_grid.cuh is the kernel's.
 *
 * It is independent of the work: each persistent kernel (of rows, of a grid, of
 * a factor) has a tct_persistent_job in its own job. Pointers of the job name
 * the memory of barriers. One GPU is a persistent grid without peers. On
 * several GPUs a barrier with sums spans all persistent grids. After a barrier
 * earlier stores are visible to all blocks of the same GPU (with peers: not
 * after a sum alone). Peers get numbered values, which need no barrier; after
 * it, values read before it may be overwritten. */
#ifndef TCT_DEVICE_GPU_PERSISTENT_GRID_H
#define TCT_DEVICE_GPU_PERSISTENT_GRID_H
#include "device/gpu/clock.h"
#include "device/gpu/gpu.h"
#include "device/numbered.h"

enum { TCT_PERSISTENT_SUMS = 8 /* at most, of one barrier */ };

/* The persistent grids of other GPUs; in device memory. A block of each GPU
 * adds up a sum and stores it, with the number of the barrier, in a slot of
 * every rank; all blocks wait for all ranks' slots and add them up in rank
 * order. Slots rotate by the barrier's number: two barriers with the same slot
 * have one over all grids between them, since at most two in a row are
 * local. */
enum {
    TCT_GRIDS_MOST = 16,
    TCT_PERSISTENT_PHASES = 4,
    TCT_PERSISTENT_SLOTS = 16
};
typedef struct tct_persistent_peers {
    int rank, ranks;
    uint64_t limit_ns;                  /* of a wait; 0: none */
    uint64_t *number;                   /* of the last barrier */
    tct_numbered *slot[TCT_GRIDS_MOST]; /* by rank: [PHASES][ranks][SLOTS] */
} tct_persistent_peers;

typedef struct tct_persistent_job {
    int64_t most;       /* the most samples */
    uint64_t limit_ns;  /* of a wait */
    double *c;          /* scalars of the solve */
    tct_outbox *outbox; /* for samples */
    uint64_t looks;     /* samples so far */
    int sample_batch;   /* samples per batch */
    uint64_t *counter;  /* of the barrier, 0 at first */
    double *sums;       /* [2][blocks][TCT_PERSISTENT_SUMS], with peers
                         * tct_numbered of half the count; then times, with
                         * TCT_CLOCKS */
    const tct_persistent_peers *peers; /* NULL: none */
} tct_persistent_job;

/* A kernel to be started as a persistent grid; `job` is its argument. */
typedef struct tct_persistent_kernel {
    const void *code;
    void *job;
    int blocks, threads; /* threads of a block */
    size_t shared;       /* dynamic shared memory of a block [bytes] */
} tct_persistent_kernel;

#ifdef __cplusplus
extern "C" {
#endif

/* Can this GPU run a persistent grid? */
bool tct_persistent_fits(const tacit_queue *q);
/* Bytes of `room`, the barrier's memory, for `blocks` blocks. */
size_t tct_persistent_bytes(int blocks);
/* The least threads of a block, to read the sums of `blocks` blocks: a multiple
 * of GPU_WAVE. */
int tct_persistent_threads(int blocks);
/* The job of a persistent grid with its barrier in `room`, for `most` samples
 * of `c`. */
tct_persistent_job tct_persistent_job_of(const tacit_queue *q, void *room,
                                         double *c, int64_t most);
/* The phases' times of a persistent grid with its barrier in `room`: means over
 * blocks, in microseconds a product; empty without TCT_CLOCKS. */
void tct_persistent_spending(const void *room, int blocks, char *text,
                             size_t size);
/* Start it; false if the queue has failed. */
bool tct_persistent_start(tacit_queue *q, const tct_persistent_job *G,
                          const tct_persistent_kernel *K);
/* The table of the device. */
extern const tct_persistent_ops tct_persistent_gpu;

#ifdef __cplusplus
}
#endif
#endif
