/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/kernels.h - the kernels of queues on a GPU: starts, which never
 * wait, waits, which also try pending sends, and both in one. */
#ifndef TCT_TRIGGERED_GPU_KERNELS_H
#define TCT_TRIGGERED_GPU_KERNELS_H
#include "device/gpu/gpu.h"
#include "triggered/parts.h"
#include <tacit/triggered.h>

#ifndef TCT_FEWER_THREADS /* where threads of the host stand for a GPU's */
#define TCT_FEWER_THREADS 512
#endif
enum {
    TCT_ROWS_MOST = 128,                  /* in the arguments of a kernel */
    TCT_WAIT_THREADS = TCT_FEWER_THREADS, /* of a block */
    TCT_CELL_ENDS = 16                    /* of a kernel of cells */
};

/* Ends, in device memory: those of `end`, or of `list`, if that is not NULL. A
 * wait is for the first `waited`; others are pending sends, perhaps. */
typedef struct tct_trigger_rows {
    int32_t count, waited;
    tct_parted *const *list;
    tct_parted *end[TCT_ROWS_MOST];
} tct_trigger_rows;

/* The message of a wait to the host, in memory of it. */
typedef struct tct_wait_board {
    volatile uint64_t gone; /* not 0: waits end; set by both sides */
    volatile uint64_t said; /* not 0: the rest says what was missing */
    volatile uint64_t name, number, stored;
} tct_wait_board;

typedef struct tct_wait_job {
    uint64_t limit_ns; /* 0: none */
    tct_wait_board *board;
    unsigned *claim; /* the first block that gives up has the board */
    uint64_t *turn;  /* [TCT_PARTS_MOST] of tct_part_last_start */
    /* Of a solver's queue, which learns of the lost rank; or NULL */
    tct_outbox *outbox;
} tct_wait_job;

/* Constants of an end with cells: kernels read them from their arguments. */
typedef struct tct_cell_end {
    tct_end_cells cells;
    tct_parted *parted;
    char *data;
    uint64_t *cleared; /* tct_part_cleared */
    int32_t bytes;
    int32_t first; /* cells of ends of its kind before it, in a job */
    bool sends, sync;
} tct_cell_end;

/* Ends, the `sends` first ones senders, and how many cells they have. */
typedef struct tct_cell_job {
    int32_t count, sends, sent, received;
    bool starts, waits;
    tct_cell_end end[TCT_CELL_ENDS];
} tct_cell_job;

/* An all-reduction whose parts, [ranks][count], have come. */
typedef struct tct_reduce_job {
    tacit_trigger_type type;
    tacit_reduction op;
    int ranks;
    int64_t count;
    const void *parts;
    void *total;
} tct_reduce_job;

#ifdef __cplusplus
extern "C" {
#endif

/* Start the messages of ends with cells, or wait for them, or both. `early`: as
 * gpu_launch_early has it. */
gpu_error tct_cells_run(const tct_cell_job *job, const tct_wait_job *wait,
                        bool early, gpu_stream stream);
gpu_error tct_cells_load(void);

gpu_error tct_reduce_run(const tct_reduce_job *job, bool early,
                         gpu_stream stream);
gpu_error tct_reduce_load(void);

/* Start the messages of `rows`; no message has more than `parts`. */
gpu_error tct_parts_start(const tct_trigger_rows *rows, int parts, bool early,
                          gpu_stream stream);
gpu_error tct_parts_wait(const tct_trigger_rows *rows, int parts,
                         const tct_wait_job *job, bool early,
                         gpu_stream stream);
/* Start `rows`, and wait for all of them; none is in a list. */
gpu_error tct_parts_exchange(const tct_trigger_rows *rows, int parts,
                             const tct_wait_job *job, bool early,
                             gpu_stream stream);
/* Write the ends of `rows` to `list` + `at`. */
gpu_error tct_parts_list(const tct_trigger_rows *rows, tct_parted **list,
                         int at, gpu_stream stream);
/* Load the kernels: the first launch of one may wait for the device. */
gpu_error tct_parts_load(void);

#ifdef __cplusplus
}
#endif
#endif
