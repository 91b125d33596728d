/* SPDX-License-Identifier: BSD-3-Clause
 * bench/processor_clock.c - to be preloaded: clocks tell the processor time of
 * the process. A program of one thread then measures, and decides, as on an
 * idle machine, whatever else runs. Not for programs that wait, such as those
 * of several processes; only MPI_Wtime is replaced if TACIT_CLOCK is "mpi". */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int clock_gettime(clockid_t clock, struct timespec *at);
SHOWN double MPI_Wtime(void);

int clock_gettime(clockid_t clock, struct timespec *at)
{
    const char *which = getenv("TACIT_CLOCK");
    const int mpi = which && strcmp(which, "mpi") == 0;
    if (clock == CLOCK_MONOTONIC && !mpi) clock = CLOCK_PROCESS_CPUTIME_ID;
    return (int)syscall(SYS_clock_gettime, clock, at);
}

double MPI_Wtime(void)
{
    struct timespec at = {0};
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}
