/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/world.h - the processes that take part.
 *
 *     tacit_world *w = NULL;
 *     tacit_world_self(&w);                   // this process alone
 *     tacit_world_from_mpi(comm, &w);         // tacit/mpi.h
 *     tacit_world_threads(4, worlds);         // four threads, a world for each
 *     tacit_world_processes(4, work, ctx, &e); // four new processes, in `work`
 *     tacit_world_destroy(&w);
 *
 * A world is the first thing made and the last destroyed: queues and matrices
 * borrow it.
 *
 * Lost processes
 *     A process that does not come to a sum or an exchange in time (tacit/queue.h)
 *     is given up by those that wait for it. From then on all calls that would
 *     wait for it fail with COMM and the same message; what there is can be
 *     destroyed as always, and a few buffers that late messages may still write
 *     to are left to the end of the process, and so are MPI's communicators.
 *     The others may not know yet, and MPI_Finalize may wait for ever:
 *     tacit_world_abort ends them all. Set-up calls have no limit of their own:
 *     who waits in tacit_matrix_open, say, for a process that has died waits
 *     until mpirun ends the job. Where tacit_world_processes has started it, all
 *     that wait for it fail at once.
 *
 * Threads
 *     Several threads may use several worlds, and what belongs to them, at the
 *     same time, always. One world, with all its queues, matrices, operators
 *     and solvers, is for one thread at a time, `const` or not; who hands it on
 *     must order the calls. Worlds of several processes need more of MPI then:
 *     tacit/mpi.h says what. Collective calls are made by every process of the
 *     world in one order.
 *     The message of the last error belongs to its thread. Monitors and the log
 *     function are called by the thread that has called the library: by several
 *     at once, if several call.
 *     The library's own threads call neither MPI nor the caller: those of a
 *     queue, and while a matrix or an operator is made those of OpenMP and some
 *     that read. tacit_world_set_threads says how many there may be. */
#ifndef TACIT_WORLD_H
#define TACIT_WORLD_H
#include <stdbool.h>
#include <stddef.h>
#include <tacit/status.h>

TACIT_BEGIN_DECLS

typedef struct tacit_world tacit_world;

/* A world of this process alone; needs no MPI.
 * Errors      NO_MEMORY. */
TACIT_API tacit_status tacit_world_self(tacit_world **out);

/* A world whose `size` ranks are threads of this process; needs no MPI. There
 * is one for each of them, in worlds [size]: the thread that is to be rank r
 * makes all its calls with worlds[r], and collective ones wait for all threads.
 * What this header and others say of processes goes for these threads. Each is
 * destroyed for itself.
 * Errors      INVALID, NO_MEMORY; then there is none. */
TACIT_API tacit_status tacit_world_threads(int size, tacit_world **worlds);

/* What each process of tacit_world_processes does; its exit status, 0 to
 * 255. */
typedef int tacit_rank_function(tacit_world *world, void *ctx);

/* Start `size` processes on this machine, copies of this one by fork, as the
 * ranks of a world; needs no mpirun and no MPI. Each calls work(world, ctx) and
 * ends with the status that it returns, as by _exit; its world is destroyed
 * behind it. This process attends to them, and returns when all have ended: the
 * greatest status, or that of tacit_world_abort, is then in *worst_out. Link
 * mpi is not for them. Before it the process must not have used a GPU, and
 * should have no threads.
 * Signals     INT, TERM, HUP and QUIT of this process go to all ranks, to each
 *             once, and TSTP stops all; they are in process groups of their own,
 *             so what is typed at a terminal comes to this process alone, and
 *             they read nothing from there. If they die of it so does this one,
 *             unless it has a handler. If this one is killed, so are they.
 * Lost ranks  When a rank is killed, the others' calls that wait for it fail
 *             with COMM and name it, at once; whoever has not ended 5 s later is
 *             killed.
 * Errors      INVALID, NO_MEMORY (no process could be started; there is none
 *             then), COMM (a rank was killed: which, and by what; where another
 *             has called tacit_world_abort, that is what it has come to). */
TACIT_API tacit_status tacit_world_processes(int size,
                                             tacit_rank_function *work,
                                             void *ctx, int *worst_out);

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

/* How many threads of this process may work for `world` at once, the caller
 * among them, when matrices are read, made, moved and written, and in queues
 * that are opened with 0 threads from now on; 0, the first value: as many as
 * there are processors for it (or OMP_NUM_THREADS). With 1 the library makes no
 * thread at all.
 * Errors      INVALID. */
TACIT_API tacit_status tacit_world_set_threads(tacit_world *world, int threads);

/* For how many seconds at most processes wait, from now on, for one that does
 * not come where they meet outside solves: of MPI where a call agrees or a few
 * numbers are reduced, of processes without MPI wherever they meet; threads are
 * always waited for. Less than 0: as long as in solves, TACIT_PATIENCE of the
 * environment or 60; 0, the first value: for ever. The least of all processes
 * counts. Set-up may take one of them longer than others: say 0 before it; a
 * preconditioner that a run makes again has no limit. Whoever is missed is
 * waited for nowhere any more: calls fail with COMM. Collective.
 * Errors      INVALID (also where TACIT_PATIENCE is no number), COMM. */
TACIT_API tacit_status tacit_world_set_patience(tacit_world *world,
                                                double seconds);

/* May processes that share a GPU write into each other's memory on it, in
 * queues that are opened from now on (link peer)? A kernel that waits for
 * another process then keeps that one's from the GPU for milliseconds: this is
 * for tests. At first they may if the environment has TACIT_OVERSUBSCRIBE. All
 * processes say the same.
 * Errors      INVALID. */
TACIT_API tacit_status tacit_world_set_oversubscribe(tacit_world *world,
                                                     bool allowed);

/* Who starts a message: the ways that there are. */
typedef struct tacit_link {
    const char *name; /* "self", "peer", "nccl", "nvshmem", "shm", "mpi" */
    const char *summary;
    const char *reason; /* why this build has it not; NULL: it has */
    const char *loops;  /* that can have it: "host, graph" */
} tacit_link;

/* Link `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_link *tacit_link_at(int i);

/* Can this process have messages through the link called `name`, as far as it
 * can tell alone? A library that the link loads is loaded now. What there is of
 * it ("NCCL 2.28.9", or nothing) goes into `text` [size], which may be NULL.
 * Errors      INVALID (unknown), UNSUPPORTED (not in this build, or not on this
 *             machine), with the reason as the message. */
TACIT_API tacit_status tacit_link_probe(const char *name, char *text,
                                        size_t size);

/* What the processes' `mine` come to together: the worst error, or the largest
 * outcome, the same on each of them; after an error each has the message of the
 * first process that met it. So all of them go on, or none. Collective.
 * Errors      COMM, besides theirs. */
TACIT_API tacit_status tacit_world_agree(tacit_world *world, tacit_status mine);

typedef enum tacit_reduction {
    TACIT_SUM,
    TACIT_MIN,
    TACIT_MAX
} tacit_reduction;

/* Put into each of `values` [count], on the host, the sum, the least or the
 * greatest of what the processes have there; all get the same bits. Collective.
 * Errors      INVALID, COMM. */
TACIT_API tacit_status tacit_world_reduce(tacit_world *world,
                                          tacit_reduction reduction,
                                          size_t count, double *values);

/* End every process of the world at once with `exit_code`: for errors that
 * only one rank has seen. Does not return. */
TACIT_API void tacit_world_abort(tacit_world *world, int exit_code);

/* Free `*world` and set it to NULL; NULL is fine. In a monitor of a run in it
 * nothing is freed, as of tacit_solver_destroy. Collective. */
TACIT_API void tacit_world_destroy(tacit_world **world);

TACIT_END_DECLS
#endif
