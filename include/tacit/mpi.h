/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/mpi.h - attach Tacit to an MPI communicator. The one public header
 * that needs mpi.h; installed only where Tacit was built with MPI. MPI comes
 * with find_package(tacit COMPONENTS mpi) and with pkg-config tacit-mpi. In C++
 * these define OMPI_SKIP_MPICXX and MPICH_SKIP_MPICXX, as this header does. */
#ifndef TACIT_MPI_H
#define TACIT_MPI_H
/* Tacit takes MPI's interface in C. The one in C++, which MPI 3 has removed,
 * would ask for a library of its own. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

/* A world of the processes of `comm`, which Tacit duplicates, to separate its
 * messages from the caller's. MPI must be initialised, and finalised only after
 * tacit_world_destroy.
 * Threads: the thread that calls Tacit calls MPI, in every call with the world
 * or an object of it, including tacit_..._destroy. MPI_THREAD_FUNNELED is
 * enough if that thread has initialised MPI; another thread needs
 * MPI_THREAD_SERIALIZED; threads that use several worlds at once, or MPI
 * besides Tacit, need MPI_THREAD_MULTIPLE.
 * Collective on `comm`.
 * Errors      INVALID (before MPI_Init, after MPI_Finalize), COMM,
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_world_from_mpi(MPI_Comm comm, tacit_world **out);

TACIT_END_DECLS
#endif
