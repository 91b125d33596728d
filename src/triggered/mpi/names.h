/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/mpi/names.h - what the library of MPI names knows of requests and
 * communicators. It is a user of libtacit like any other. */
#ifndef TCT_TRIGGERED_MPI_NAMES_H
#define TCT_TRIGGERED_MPI_NAMES_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacit/mpi.h>
#include <tacit/triggered.h>
#include <tacit/triggered_mpi.h>

typedef enum mpi_kind {
    MPI_KIND_SEND,
    MPI_KIND_SSEND,
    MPI_KIND_RSEND,
    MPI_KIND_BSEND,
    MPI_KIND_RECV,
    MPI_KIND_MATCH
} mpi_kind;

/* A persistent request that MPI has made, or a match. */
typedef struct mpi_record {
    MPI_Request handle;
    mpi_kind kind;
    void *data;
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
    bool plain;                     /* started by MPI, and not waited for */
    tacit_trigger_request *request; /* NULL: never matched; or the match */
    bool active;                    /* started by the host, not waited for */
    bool ended;                     /* and it has ended, with: */
    tacit_status status;
    struct mpi_record *next;
} mpi_record;

/* --- records.c ------------------------------------------------------------ */

/* The record of a handle; NULL: MPI's alone. Any thread. */
mpi_record *tct_mpi_find(MPI_Request handle);
/* A record of what `like` says; MPI's code. */
int tct_mpi_add(const mpi_record *like);
void tct_mpi_remove(mpi_record *r);
/* Is it the library's to start and to wait for? */
bool tct_mpi_is_ours(const mpi_record *r);
/* MPI's code for a status. */
int tct_mpi_code(tacit_status status);

/* --- comms.c -------------------------------------------------------------- */

/* The communicator of all ranks; NULL, with the message set: none. */
tacit_trigger_comm *tct_mpi_world(void);
/* The rank in MPI_COMM_WORLD of a rank of `comm`, and the tag there.
 * Errors      INVALID (wildcards), UNSUPPORTED (the communicator). */
tacit_status tct_mpi_translate(MPI_Comm comm, int rank, int tag, int *world,
                               int64_t *wide);
/* Bytes of basic types, as they lie.
 * Errors      UNSUPPORTED (the type, by its name). */
tacit_status tct_mpi_type(MPI_Datatype type, tacit_trigger_type *out,
                          int *size);

/* --- waits.c -------------------------------------------------------------- */

/* Let MPI make progress on what the caller has under way. */
void tct_mpi_progress(void);
/* Wait for a match. */
tacit_status tct_mpi_await_match(tacit_trigger_request **match);

#endif
