/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/mpi.h - attach Tacit to an MPI communicator. The one public header
 * that needs mpi.h; installed only where Tacit was built with MPI. */
#ifndef TACIT_MPI_H
#define TACIT_MPI_H
#include <mpi.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

/* A world of the processes of `comm`, which Tacit duplicates: its messages
 * never meet the caller's. MPI must be initialised, and finalised only after
 * tacit_world_destroy.
 * Collective on `comm`.
 * Errors      COMM, NO_MEMORY. */
TACIT_API tacit_status tacit_world_from_mpi(MPI_Comm comm, tacit_world **out);

TACIT_END_DECLS
#endif
