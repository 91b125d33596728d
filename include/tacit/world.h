/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/world.h - the processes that take part, and the transport between them.
 *
 *     tacit_world *w = NULL;
 *     tacit_world_self(&w);                   // this process alone
 *     tacit_world_from_mpi(comm, &w);         // tacit/mpi.h
 *     tacit_world_destroy(&w);
 *
 * A world is the first thing made and the last destroyed: queues and matrices
 * borrow it.
 *
 * Threads
 *     An object, and all objects of one world of several processes, may be
 *     used by one thread at a time; who hands them on must order the calls.
 *     Worlds of one process, and what belongs to them, may be used by several
 *     threads at once: each thread its own world. The message of the last
 *     error belongs to its thread; tacit_set_log is for all, before anything
 *     else. A log function and a monitor are called by the thread that has
 *     called the library.
 *     Collective calls are made by every process of the world in one order.
 *     The library's own threads (OpenMP for products and vectors, some more
 *     while files are read) call neither MPI nor the caller. */
#ifndef TACIT_WORLD_H
#define TACIT_WORLD_H
#include <tacit/status.h>

TACIT_BEGIN_DECLS

typedef struct tacit_world tacit_world;

/* A world of this process alone; needs no MPI.
 * Errors      NO_MEMORY. */
TACIT_API tacit_status tacit_world_self(tacit_world **out);

/* This process's number, 0 to size - 1; the number of processes. */
TACIT_API int tacit_world_rank(const tacit_world *world);
TACIT_API int tacit_world_size(const tacit_world *world);

/* Divide a world: the processes with the same `colour` become a world of their
 * own, in the order that they have here; who says a colour below 0 is in none,
 * and `*out` stays as it is. Each part goes its own way: queues, matrices and
 * solves in it wait for none of the others. `world` can be used as before.
 * Collective.
 * Errors      COMM, NO_MEMORY. */
TACIT_API tacit_status tacit_world_split(tacit_world *world, int colour,
                                         tacit_world **out);

/* End every process of the world at once with `exit_code`: for errors that
 * only one rank has seen. Does not return. */
TACIT_API void tacit_world_abort(tacit_world *world, int exit_code);

/* Free `*world` and set it to NULL; NULL is fine. Collective. */
TACIT_API void tacit_world_destroy(tacit_world **world);

TACIT_END_DECLS
#endif
