/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world_processes.h - processes of one machine that are started together:
 * the memory they share with their parent (processes.c starts and watches them,
 * world_processes.c is their world). */
#ifndef TCT_COMM_WORLD_WORLD_PROCESSES_H
#define TCT_COMM_WORLD_WORLD_PROCESSES_H
#include "comm/world/world.h"
#include <stdatomic.h>

/* The most ranks: a number for each fits into half a window. */
enum { TCT_PROCESSES_MOST = 4096 };

typedef struct tct_process_end {
    atomic_int how; /* 0: running; or 1 + waitpid's status */
    int order;      /* number of ranks that ended before */
} tct_process_end;

typedef struct tct_process_table {
    atomic_int aborted;   /* 1 + the exit status of an abort */
    atomic_int gone;      /* ranks that have ended */
    tct_process_end of[]; /* [size]                                      */
} tct_process_table;

static inline int tct_how(tct_process_table *m, int number) /* < 0: running */
{
    return atomic_load(&m->of[number].how) - 1;
}

/* Bytes of shared memory of a world of `size` ranks, which starts with the
 * process table. */
size_t tct_processes_bytes(int size);

/* The world in such memory, which is zeroed, shared with child processes, and
 * outlives the world. Made once, before the processes start; each then joins as
 * its rank.
 * Errors      NO_MEMORY. */
tacit_status tct_processes_world(int size, void *memory, tacit_world **out);
void tct_processes_join(tacit_world *w, int rank);

/* "rank 1 was killed by signal 9 (Killed)", from waitpid's status. */
void tct_how_ended(int rank, int how, char *text, size_t size);

#endif
