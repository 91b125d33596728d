/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/driver.h - the GPU of a communicator: memory for ends, and
 * memory of other ranks. */
#ifndef TCT_TRIGGERED_GPU_DRIVER_H
#define TCT_TRIGGERED_GPU_DRIVER_H
#include "triggered/gpu.h"
#include "triggered/gpu/kernels.h"

typedef struct tct_piece { /* of an arena, in the order of offsets */
    size_t at, bytes;
    struct tct_piece *next;
} tct_piece;

/* An allocation of this library, which peers may open. */
typedef struct tct_gpu_arena {
    char *at;
    size_t bytes;
    gpu_ipc_handle handle;
    tct_piece *first; /* taken */
    struct tct_gpu_arena *next;
} tct_gpu_arena;

/* An allocation of a peer, opened here. */
typedef struct tct_gpu_import {
    gpu_ipc_handle handle;
    char *at;
    int uses;
    struct tct_gpu_import *next;
} tct_gpu_import;

struct tct_trigger_gpu {
    int device;
    bool flat;  /* ranks are threads: addresses are everybody's */
    bool early; /* kernels of cells are launched early */
    gpu_stream aside;
    tct_gpu_arena *arenas;
    tct_gpu_import *imports;
    pthread_mutex_t lock; /* of the side stream's copies */
    pthread_mutex_t listing;
    tacit_trigger_queue *queues; /* by their `next` */
};

struct tct_gpu_end {
    tct_parted *parted; /* on the GPU */
    char *block;        /* on the GPU: signals, cells, a window */
    int parts;
    tct_cell_end cell;       /* its slot is NULL: without cells */
    tct_gpu_import *used[2]; /* the peer's block and window; or NULL */
};

struct tct_gpu_queue {
    gpu_stream stream;
    pthread_t owner; /* the thread that made its last call */
    tct_wait_board *board, *board_gpu;
    unsigned *claim;
    uint64_t *turn;                /* [TCT_PARTS_MOST], as of a tct_wait_job */
    tct_outbox *outbox;            /* of a solver's queue; or NULL */
    struct tct_trigger_list *list; /* of ends, for waits with many */
    tacit_trigger_queue *next;
};

/* A kernel of cells for the ends of these requests, which are started, or waited
 * for, or both; false: other kernels have to do it. The queue has no other
 * sends that may be pending, where it waits. */
bool tct_gpu_cells_run(tacit_trigger_queue *q, int count,
                       const tct_started *started, const tct_wait_job *wait,
                       bool starts, bool waits, gpu_error *error);

/* May its kernels be launched early? Not those of a solver, which may be in
 * while nodes. */
static inline bool tct_gpu_queue_is_early(const tacit_trigger_queue *q)
{
    return q->comm->gpu->early && !q->gpu->outbox;
}

/* --- queues --------------------------------------------------------------- */

/* Starts, waits and both, enqueued on the stream. A wait of none tries the
 * pending sends. */
void tct_gpu_start_all(tacit_trigger_queue *q, const tct_command *c);
void tct_gpu_wait_all(tacit_trigger_queue *q, int count, const tct_started *s);
void tct_gpu_exchange_all(tacit_trigger_queue *q, const tct_command *c);
/* The caller holds the communicator's lock; the stream has ended. */
void tct_gpu_lists_free(tacit_trigger_queue *q);
bool tct_gpu_queue_is_capturing(const tacit_trigger_queue *q);
/* The result of a call of the runtime: all ranks learn of a failure. */
void tct_gpu_queue_note(tacit_trigger_queue *q, gpu_error error,
                        const char *what);
/* Seconds of a wait; 0: no limit. */
double tct_gpu_limit_of(const tacit_trigger_comm *c);
/* Waits that give up tell it to the queue of a solver, too. */
void tct_gpu_queue_tells(tacit_trigger_queue *q, const tct_gpu *of);

/* The communicator's GPU is the current one until the second call. */
int tct_gpu_enter(const tacit_trigger_comm *c);
void tct_gpu_leave(int before);

/* --- memory.c; the caller holds the communicator's lock ------------------- */

/* A zeroed piece. NULL: no memory, or the device fails, with the message. */
char *tct_trigger_take(struct tct_trigger_gpu *g, size_t bytes);
void tct_trigger_give(struct tct_trigger_gpu *g, const void *piece);
/* Where `p` is, for a peer; false: its memory cannot be opened by others. */
bool tct_gpu_place_of(struct tct_trigger_gpu *g, const void *p,
                      tct_gpu_place *out);
/* The address of a place of rank `peer` here; NULL: cannot be opened, with the
 * message. */
char *tct_gpu_place_open(const tacit_trigger_comm *c, int peer,
                         const tct_gpu_place *place, tct_gpu_import **used);
void tct_gpu_place_close(struct tct_trigger_gpu *g, tct_gpu_import *used);
/* Copy, or clear (from NULL), past all work of other streams. */
tacit_status tct_gpu_copy_aside(struct tct_trigger_gpu *g, void *to,
                                const void *from, size_t bytes, bool to_host);

#endif
