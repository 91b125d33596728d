/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/mpi.h - attach Tacit to an MPI communicator. The one public header
 * that needs mpi.h; installed only where Tacit was built with MPI. MPI comes
 * with find_package(tacit COMPONENTS mpi) and with pkg-config tacit-mpi. */
#ifndef TACIT_MPI_H
#define TACIT_MPI_H
#include <mpi.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

/* A world of the processes of `comm`, which Tacit duplicates: its messages
 * never meet the caller's. MPI must be initialised, and finalised only after
 * tacit_world_destroy.
 * Threads: all of MPI is called by the thread that calls Tacit, in every call
 * that takes the world or what belongs to it, tacit_..._destroy among them.
 * MPI_THREAD_FUNNELED is enough where that is the thread that has initialised
 * MPI, MPI_THREAD_SERIALIZED where it is another, MPI_THREAD_MULTIPLE where
 * threads use several worlds at once, or MPI beside Tacit.
 * Collective on `comm`.
 * Errors      COMM, NO_MEMORY. */
TACIT_API tacit_status tacit_world_from_mpi(MPI_Comm comm, tacit_world **out);

TACIT_END_DECLS
#endif
