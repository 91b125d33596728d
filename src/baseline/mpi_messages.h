/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/mpi_messages.h - messages of plain MPI, as persistent requests that
 * the CPU starts and waits for: what triggered queues are compared with. */
#ifndef TCT_BASELINE_MPI_MESSAGES_H
#define TCT_BASELINE_MPI_MESSAGES_H
#include "baseline/base.h"

typedef struct base_message {
    bool sends;
    int peer;
    int tag;
    void *data; /* in host memory of MPI; borrowed */
    int64_t bytes;
} base_message;

typedef struct base_mpi base_mpi;

/* Why a world of `ranks` cannot use MPI; NULL: it can. */
const char *base_mpi_missing(int ranks);

/* Make requests for `count` messages on a communicator of their own.
 * Collective.  Errors INVALID (a message of 2^31 bytes), NO_MEMORY, COMM. */
tacit_status base_mpi_create(int count, const base_message *messages,
                             base_mpi **out);
/* Free `*messages` and set it to NULL; NULL is fine. Collective. */
void base_mpi_destroy(base_mpi **messages);

/* Start messages first to first + count - 1, or wait for them.
 * Errors      COMM. */
tacit_status base_mpi_start(base_mpi *messages, int first, int count);
tacit_status base_mpi_wait(base_mpi *messages, int first, int count);

#endif
