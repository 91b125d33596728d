/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/mpi.h - shared by the world of MPI processes and link mpi. */
#ifndef TCT_COMM_WORLD_MPI_H
#define TCT_COMM_WORLD_MPI_H
#include "comm/world/world.h"
#include <mpi.h>

enum { TCT_MPI_FEW = 8 };
typedef struct tct_mpi {
    MPI_Comm comm;           /* set-up plane and sums */
    MPI_Comm halo;           /* exchanges             */
    int plans;               /* opened so far */
    double few[TCT_MPI_FEW]; /* buffer of reductions with a time limit */
} tct_mpi;

static inline tct_mpi *tct_mpi_of(const tacit_world *w)
{
    return (tct_mpi *)w->state;
}
/* Is `w` a world of MPI processes? */
bool tct_mpi_has(const tacit_world *w);

/* The status of an MPI call. */
tacit_status tct_mpi_check(int code, const char *what);
#define MPI_TRY(call) TRY(tct_mpi_check((call), #call))

/* May messages be in GPU memory, on all ranks? By the MPI library, or the
 * variable TACIT_GPU_AWARE_MPI.
 * Collective.  Errors INVALID (the variable), COMM. */
tacit_status tct_mpi_settle(tacit_world *w, bool *out);
/* The same for this rank alone, as text [size]: a link's probe. */
bool tct_mpi_about(char *text, size_t size);

/* Wait for requests [n], as MPI_Waitall does, but at most for the queue's time
 * limit; after it a rank is noted as lost. Request k is from or to rank
 * peers[k]; NULL: not known. Returns MPI's code. */
int tct_mpi_await(tacit_queue *q, int n, MPI_Request *request,
                  const int *peers);

#endif
