/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/world.h - the processes that work together.
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
 *     If a process does not reach a sum or an exchange in time (tacit/queue.h),
 *     the processes that wait for it give it up. From then on all calls that
 *     would wait for it fail with COMM and the same message. Objects can be
 *     destroyed as always; a few buffers that late messages may still write to,
 *     and MPI's communicators, stay until the process ends. Other processes may
 *     not know yet, and MPI_Finalize may wait for ever: tacit_world_abort ends
 *     them all. Set-up calls have no timeout: tacit_matrix_open, for example,
 *     waits for a process that has died until mpirun ends the job. If
 *     tacit_world_processes has started it, all waits for it fail at once.
 *
 * Threads
 *     Several threads may use several worlds, with their objects, at the same
 *     time. One world, with all its queues, matrices, operators and solvers,
 *     `const` or not, is for one thread at a time; a program that passes it to
 *     another thread must order the calls. Worlds of several processes then
 *     need more of MPI: see tacit/mpi.h. Collective calls are made by every
 *     process of the world in one order. The message of the last error belongs
 *     to its thread. Monitors and the log function are called by the thread
 *     that has called the library: by several at once, if several call. The
 *     library's own threads never call MPI or the caller: those of a queue, and
 *     those of calls that make something, which sleep between calls.
 *     tacit_world_set_threads limits their number. */
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

/* A world whose `size` ranks are threads of this process; needs no MPI. worlds
 * [size] gets one for each: the thread of rank r makes all its calls with
 * worlds[r], and collective calls wait for all threads. Statements about
 * processes in these headers hold for these threads. Destroy each world by
 * itself.
 * Errors      INVALID, NO_MEMORY; no world is made then. */
TACIT_API tacit_status tacit_world_threads(int size, tacit_world **worlds);

/* The function of each process of tacit_world_processes; returns its exit
 * status, 0 to 255. */
typedef int tacit_rank_function(tacit_world *world, void *ctx);

/* Start `size` processes on this machine, copies of this one by fork, as the
 * ranks of a world; needs no mpirun and no MPI. Each calls work(world, ctx) and
 * ends with its return value, as by _exit; its world is destroyed after it.
 * This process waits until all have ended: *worst_out is the greatest status,
 * or that of tacit_world_abort. They cannot use link mpi. Before the call the
 * process must not have used a GPU, and should have no threads.
 * Signals     INT, TERM, HUP and QUIT of this process are forwarded once to
 *             each rank, and TSTP stops all; ranks have process groups of their
 *             own, so that a terminal signals this process alone, and they do
 *             not read from it. If a signal ends them it ends this process,
 *             too, unless it has a handler. If this process is killed, so are
 *             they.
 * Lost ranks  When a rank is killed, other ranks' calls that wait for it fail
 *             at once with COMM and name it; ranks that have not ended 5 s
 *             later are killed.
 * Errors      INVALID, NO_MEMORY (a process could not be started; none is left
 *             then), COMM (a rank was killed: which, and by which signal; not
 *             if another has called tacit_world_abort). */
TACIT_API tacit_status tacit_world_processes(int size,
                                             tacit_rank_function *work,
                                             void *ctx, int *worst_out);

/* This process's number, 0 to size - 1; the number of processes. */
TACIT_API int tacit_world_rank(const tacit_world *world);
TACIT_API int tacit_world_size(const tacit_world *world);

/* Divide a world: the processes with the same `colour` become a world of their
 * own, in the order that they have here; a process with a colour below 0 is in
 * none, and its `*out` stays as it is. Parts are independent: queues, matrices
 * and solves of one do not wait for another. `world` can be used as before.
 * Collective.
 * Errors      COMM, NO_MEMORY. */
TACIT_API tacit_status tacit_world_split(tacit_world *world, int colour,
                                         tacit_world **out);

/* Set the most threads of this process that work for `world` at once, including
 * the caller, when matrices are read, made, moved and written, and in queues
 * opened with 0 threads from now on; 0, the default: OMP_NUM_THREADS, or its
 * share of the processors of the machine. With 1 the library makes no threads.
 * Errors      INVALID. */
TACIT_API tacit_status tacit_world_set_threads(tacit_world *world, int threads);

/* Set the timeout in seconds, from now on, of waits for another process outside
 * solves: with MPI in agreements and small reductions, without MPI in all
 * waits; threads have no timeout. Less than 0: as in solves, TACIT_PATIENCE of
 * the environment or 60; 0, the default: none. The least value of all processes
 * counts. Set-up may take one process longer than others: set 0 before it; a
 * preconditioner renewed by a run has no timeout. After a timeout no call waits
 * for that process any more: calls fail with COMM. Collective.
 * Errors      INVALID (also if TACIT_PATIENCE is not a number), COMM. */
TACIT_API tacit_status tacit_world_set_patience(tacit_world *world,
                                                double seconds);

/* Allow link peer between processes that share a GPU, in queues opened from now
 * on. A kernel that waits for another process then keeps that one's kernels
 * from the GPU for milliseconds: this is for tests. By default it is allowed if
 * the environment has TACIT_OVERSUBSCRIBE. All processes give the same value.
 * Errors      INVALID. */
TACIT_API tacit_status tacit_world_set_oversubscribe(tacit_world *world,
                                                     bool allowed);

/* A link: how messages are exchanged. */
typedef struct tacit_link {
    const char *name; /* "self", "peer", "nccl", "nvshmem", "shm", "mpi" */
    const char *summary;
    const char *reason; /* why this build lacks it; NULL: it has it */
    const char *loops;  /* loops that can use it: "host, graph" */
} tacit_link;

/* Link `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_link *tacit_link_at(int i);

/* Can this process use the link called `name`, as far as it knows alone? The
 * link's library is loaded now. Its version ("NCCL 2.28.9", or nothing) goes
 * into `text` [size], which may be NULL.
 * Errors      INVALID (unknown), UNSUPPORTED (not in this build, or not on this
 *             machine), with the reason as the message. */
TACIT_API tacit_status tacit_link_probe(const char *name, char *text,
                                        size_t size);

/* Combine the `mine` of all processes: the worst error, or the largest outcome,
 * the same on each; after an error each has the message of the first process
 * with it. So all of them go on, or none. Collective.
 * Errors      COMM, besides theirs. */
TACIT_API tacit_status tacit_world_agree(tacit_world *world, tacit_status mine);

typedef enum tacit_reduction {
    TACIT_SUM,
    TACIT_MIN,
    TACIT_MAX
} tacit_reduction;

/* Replace each of `values` [count], on the host, by the sum, the least or the
 * greatest over the processes; all get the same bits. Collective.
 * Errors      INVALID, COMM. */
TACIT_API tacit_status tacit_world_reduce(tacit_world *world,
                                          tacit_reduction reduction,
                                          size_t count, double *values);

/* End every process of the world at once with `exit_code`: for errors known to
 * one rank only. Does not return. */
TACIT_API void tacit_world_abort(tacit_world *world, int exit_code);

/* Free `*world` and set it to NULL; NULL is fine. In a monitor of a run in it
 * it frees nothing, as tacit_solver_destroy. Collective. */
TACIT_API void tacit_world_destroy(tacit_world **world);

TACIT_END_DECLS
#endif
