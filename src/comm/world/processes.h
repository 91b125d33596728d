/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/processes.h - processes that were started together, on one
 * machine: what they and the one that attends to them keep in memory of all
 * (processes.c starts and attends, world_processes.c is their world). */
#ifndef TCT_COMM_WORLD_PROCESSES_H
#define TCT_COMM_WORLD_PROCESSES_H
#include "comm/world/world.h"
#include <stdatomic.h>

/* Ranks that there may be: what each has for each fits into half a window. */
enum { TCT_PROCESSES_MOST = 4096 };

typedef struct tct_process_end {
    atomic_int how; /* 0: it runs; or 1 + what waitpid says */
    int order;      /* so many had ended before             */
} tct_process_end;

typedef struct tct_process_table {
    atomic_int aborted;   /* 1 + the exit status with which one ends all */
    atomic_int gone;      /* so many have ended                          */
    tct_process_end of[]; /* [size]                                      */
} tct_process_table;

static inline int tct_how(tct_process_table *m, int number) /* < 0: it runs */
{
    return atomic_load(&m->of[number].how) - 1;
}

/* Bytes of memory that a world of `size` ranks needs; it begins with the
 * process table. */
size_t tct_processes_bytes(int size);

/* The world in such memory, which is zeroed, shared with processes to come, and
 * longer there than the world. It is made once, before they are started; each
 * then says which rank it is.
 * Errors      NO_MEMORY. */
tacit_status tct_processes_world(int size, void *memory, tacit_world **out);
void tct_processes_join(tacit_world *w, int rank);

/* "rank 1 was killed by signal 9 (Killed)", from what waitpid says. */
void tct_how_ended(int rank, int how, char *text, size_t size);

#endif
