/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/triggered.h - messages that a queue starts: MPI's persistent requests,
 * matched once, then started and waited for in the order of a queue's work, in
 * which the caller takes no part.
 *
 *     tacit_trigger_comm_create(world, &c);                  // collective
 *     tacit_trigger_queue_create(c, TACIT_TRIGGER_AUTO, NULL, &q);
 *     tacit_trigger_recv_init(c, ghost, n, TACIT_TRIGGER_F64, left, 0, &r[0]);
 *     tacit_trigger_send_init(c, edge, n, TACIT_TRIGGER_F64, right, 0, &r[1]);
 *     tacit_trigger_matchall(2, r);
 *     for (int k = 0; k < steps; k++) {
 *         tacit_trigger_enqueue_start(q, r[0]);
 *         tacit_trigger_enqueue_task(q, pack, ctx);
 *         tacit_trigger_enqueue_start(q, r[1]);
 *         tacit_trigger_enqueue_waitall(q, 2, r);
 *         tacit_trigger_enqueue_task(q, unpack, ctx);
 *     }
 *     tacit_trigger_queue_wait(q);
 *
 * Ranks are threads or processes of one machine. With buffers in host memory a
 * queue is a thread that does its tasks in order. With buffers on GPUs it is a
 * stream: kernels store into memory of the other GPU, and the CPU takes no
 * part. A recording of starts and waits may be replayed; record in relaxed mode,
 * since the first start may copy to the GPU.
 *
 *     tacit_trigger_comm_use_gpu(c);                         // collective
 *     tacit_trigger_queue_create(c, TACIT_TRIGGER_KERNEL, stream, &q);
 *
 * Order       A queue does its work in the order of the calls. A start never
 *             blocks it, a wait does: also a standard send that the receiver
 *             has not started may be pending after its start, until a wait. A
 *             send may be written to once its wait is over, a receive may be
 *             read. Standard sends of at most 8 KiB, and 64 KiB on GPUs, do
 *             not wait for their receiver, up to two messages ahead.
 * Matching    The k-th match of a send to a rank with a tag is with that rank's
 *             k-th match of a receive from this one with this tag; the k-th
 *             request of all ranks made on a communicator is with the others'
 *             k-th. Messages of MPI, and of other communicators, are never
 *             touched. A match is for good. A receive may be larger than its
 *             send (tacit_trigger_received). Element types must agree; BYTE
 *             goes with each.
 * Time        No wait is without a limit: TACIT_PATIENCE, or 60 s. After it the
 *             communicator has failed: no call waits any more, enqueued work
 *             runs dry, tasks included, and tacit_trigger_queue_wait is COMM
 *             with the rank, the request and what it waits for. A rank that was
 *             killed is found at once by ranks of tacit_world_processes.
 * Errors      Of several requests either all are started (or waited for), or
 *             none. Requests that are NULL are passed over.
 * Threads     A queue, and a request, is for one thread at a time; different
 *             ones may be used at once. Making and freeing a communicator are
 *             calls with its world. */
#ifndef TACIT_TRIGGERED_H
#define TACIT_TRIGGERED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacit/halo.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

typedef struct tacit_trigger_comm tacit_trigger_comm;
typedef struct tacit_trigger_queue tacit_trigger_queue;
typedef struct tacit_trigger_request tacit_trigger_request;

/* Kinds of queues: the part of the machine that starts messages. MEMOP is
 * refused: on two H200 a round trip by memory operations of the stream takes
 * 24 us, longer than by kernels. THREAD has no stream: buffers on GPUs are for
 * kind KERNEL alone. */
typedef enum tacit_trigger_kind {
    TACIT_TRIGGER_AUTO,
    TACIT_TRIGGER_KERNEL, /* kernels on a GPU's stream                     */
    TACIT_TRIGGER_MEMOP,  /* its memory operations: refused                */
    TACIT_TRIGGER_THREAD  /* a thread of the library                        */
} tacit_trigger_kind;

/* Types of elements: 1 byte of any kind, integers, floating point. */
typedef enum tacit_trigger_type {
    TACIT_TRIGGER_BYTE,
    TACIT_TRIGGER_I8,
    TACIT_TRIGGER_I16,
    TACIT_TRIGGER_I32,
    TACIT_TRIGGER_I64,
    TACIT_TRIGGER_U8,
    TACIT_TRIGGER_U16,
    TACIT_TRIGGER_U32,
    TACIT_TRIGGER_U64,
    TACIT_TRIGGER_F32,
    TACIT_TRIGGER_F64
} tacit_trigger_type;

/* In place of a rank: the request is matched, started and ended with nobody, as
 * with MPI_PROC_NULL. */
enum { TACIT_TRIGGER_NOBODY = -1 };

/* --- communicators ------------------------------------------------------ */

/* Messages between the ranks of `world`, apart from those of any other
 * communicator. Borrows `world`.
 * Cost        shared memory of about 3 KiB for every two ranks.
 * Collective.  Errors UNSUPPORTED (ranks on several machines), INVALID
 *             (TACIT_PATIENCE), NO_MEMORY, IO, COMM. */
TACIT_API tacit_status tacit_trigger_comm_create(tacit_world *world,
                                                 tacit_trigger_comm **out);

/* From now on the buffers of requests may be on the GPU that is current now.
 * Such requests are for queues of kind KERNEL alone, at both ends. A buffer must
 * stay until the requests of both its ends are freed. No second call is needed.
 * Cost        8 MiB of GPU memory.
 * Collective.  Errors UNSUPPORTED (no GPU, or GPUs without P2P), NO_MEMORY,
 *             DEVICE. */
TACIT_API tacit_status tacit_trigger_comm_use_gpu(tacit_trigger_comm *comm);

/* Free `*comm` and set it to NULL; NULL is fine. After a failure the world
 * knows the lost rank. Collective.
 * Errors      INVALID (a rank has queues or requests of it; on all ranks). */
TACIT_API tacit_status tacit_trigger_comm_free(tacit_trigger_comm **comm);

/* Set the time limit [s] of this rank's waits from now on; 0: none.
 * Errors      INVALID. */
TACIT_API tacit_status tacit_trigger_comm_set_patience(tacit_trigger_comm *comm,
                                                       double seconds);

/* --- requests ----------------------------------------------------------- */

/* Make a persistent request of `count` elements at `data`, which it borrows: a
 * standard send, one that ends only after the receiver has started, or one
 * whose receiver's buffer may be overwritten whenever it starts, as the program
 * promises; a receive. Neither any rank nor any tag can be asked for.
 * Local.      Errors INVALID (no such rank, type or tag: tags are from 0, count
 *             is 0 or more), NO_MEMORY. */
TACIT_API tacit_status tacit_trigger_send_init(tacit_trigger_comm *comm,
                                               const void *data, int64_t count,
                                               tacit_trigger_type type, int to,
                                               int64_t tag,
                                               tacit_trigger_request **out);
TACIT_API tacit_status tacit_trigger_ssend_init(tacit_trigger_comm *comm,
                                                const void *data, int64_t count,
                                                tacit_trigger_type type, int to,
                                                int64_t tag,
                                                tacit_trigger_request **out);
TACIT_API tacit_status tacit_trigger_rsend_init(tacit_trigger_comm *comm,
                                                const void *data, int64_t count,
                                                tacit_trigger_type type, int to,
                                                int64_t tag,
                                                tacit_trigger_request **out);
TACIT_API tacit_status tacit_trigger_recv_init(tacit_trigger_comm *comm,
                                               void *data, int64_t count,
                                               tacit_trigger_type type,
                                               int from, int64_t tag,
                                               tacit_trigger_request **out);

/* Make a request of all ranks; each rank makes and matches them in one order.
 * Its wait ends after all ranks have started it. An all-reduction adds (or
 * takes the least, or the greatest) in the order of the ranks, with the same
 * bits on each; type I32, I64, F32 or F64. `data` of a broadcast is read on
 * `root` and written elsewhere. An all-gather writes `count` elements of each
 * rank to `all`, in their order. Data are in memory of the host, or all of
 * them, and those of all ranks, on the communicators' GPUs: queues of kind
 * kernel take these, and the barrier of gpu_barrier_init. There each rank sends
 * to each other: meant for small data.
 * Local.      Errors INVALID, NO_MEMORY, DEVICE. */
TACIT_API tacit_status tacit_trigger_barrier_init(tacit_trigger_comm *comm,
                                                  tacit_trigger_request **out);
TACIT_API tacit_status tacit_trigger_gpu_barrier_init(
    tacit_trigger_comm *comm, tacit_trigger_request **out);
TACIT_API tacit_status tacit_trigger_allreduce_init(
    tacit_trigger_comm *comm, const void *data, void *total, int64_t count,
    tacit_trigger_type type, tacit_reduction reduction,
    tacit_trigger_request **out);
TACIT_API tacit_status tacit_trigger_bcast_init(tacit_trigger_comm *comm,
                                                void *data, int64_t count,
                                                tacit_trigger_type type,
                                                int root,
                                                tacit_trigger_request **out);
TACIT_API tacit_status tacit_trigger_allgather_init(
    tacit_trigger_comm *comm, const void *data, void *all, int64_t count,
    tacit_trigger_type type, tacit_trigger_request **out);

/* A part of an exchange between neighbours. */
typedef struct tacit_trigger_part {
    int rank; /* or TACIT_TRIGGER_NOBODY */
    void *data;
    int64_t count;
    tacit_trigger_type type;
} tacit_trigger_part;

/* One request for a whole exchange: all of a halo's messages. The k-th part
 * sent to a rank is that rank's k-th part from this one, as matches are. All
 * ranks make it, also those with no part, and match it together: all match, or
 * none. Its wait needs the neighbours alone. Copies the lists.
 * Local.      Errors INVALID, NO_MEMORY. */
TACIT_API tacit_status tacit_trigger_neighbours_init(
    tacit_trigger_comm *comm, int sends, const tacit_trigger_part *send,
    int receives, const tacit_trigger_part *receive,
    tacit_trigger_request **out);

/* Free `*request` and set it to NULL; NULL is fine. An enqueued request may be
 * freed when it is known to have ended, by tacit_trigger_queue_wait or by a
 * task after its wait.
 * Errors      INVALID (its match or its messages have not ended). */
TACIT_API tacit_status
tacit_trigger_request_free(tacit_trigger_request **request);

/* --- matching ----------------------------------------------------------- */

/* Match a request, or several at once, with those of other ranks, for good.
 * Waits for them: match a send to the own rank and its receive in one call. The
 * send, or the receive, of two that do not fit is refused on both sides, and
 * both stay unmatched; of several, others may match.
 * Errors      INVALID (not a persistent request, matched, or being matched:
 *             none is matched then; more bytes than the receiver has, element
 *             types that differ), NO_MEMORY, COMM (the time limit; the message
 *             names the request). */
TACIT_API tacit_status tacit_trigger_match(tacit_trigger_request *request);
TACIT_API tacit_status
tacit_trigger_matchall(int count, tacit_trigger_request *const *requests);

/* The same without waiting: `*match` is one request for all, which ends with
 * tacit_trigger_wait or tacit_trigger_test, not started and not freed. */
TACIT_API tacit_status tacit_trigger_imatch(tacit_trigger_request *request,
                                            tacit_trigger_request **match);
TACIT_API tacit_status
tacit_trigger_imatchall(int count, tacit_trigger_request *const *requests,
                        tacit_trigger_request **match);

/* Is it matched? Ends no match request.
 * Errors      INVALID (NULL, or a match request). */
TACIT_API tacit_status
tacit_trigger_is_matched(const tacit_trigger_request *request, bool *out);

/* The bytes that a matched receive gets: those of its send.
 * Errors      INVALID (not a matched send or receive). */
TACIT_API tacit_status
tacit_trigger_received(const tacit_trigger_request *request, int64_t *bytes);

/* --- queues ------------------------------------------------------------- */

/* Make a queue; `stream` is the GPU's stream it is tied to, by value, which it
 * borrows, or NULL. AUTO is KERNEL with a stream, else THREAD. Several queues
 * work at the same time. Between the start of a standard send and its wait the
 * message may be pending: other waits of the queue try it, and
 * tacit_trigger_queue_wait of the thread.
 * Local.      Errors INVALID (kind; the default stream), UNSUPPORTED (MEMOP;
 *             THREAD with a stream; no tacit_trigger_comm_use_gpu before),
 *             NO_MEMORY, DEVICE. */
TACIT_API tacit_status tacit_trigger_queue_create(tacit_trigger_comm *comm,
                                                  tacit_trigger_kind kind,
                                                  void *stream,
                                                  tacit_trigger_queue **out);

/* Free `*queue` and set it to NULL; NULL is fine.
 * Errors      INVALID (it has work, or requests that are not waited for, and
 *             has not failed). */
TACIT_API tacit_status tacit_trigger_queue_free(tacit_trigger_queue **queue);

/* Wait until all that was enqueued has ended, tasks included.
 * Errors      COMM, once and for all: the first failure of the queue. */
TACIT_API tacit_status tacit_trigger_queue_wait(tacit_trigger_queue *queue);

/* The function of a task. */
typedef void tacit_trigger_task(void *ctx);

/* Enqueue work of the caller between messages: on the host what a kernel is on
 * a stream, where it is a function of the host. It must not call this header with its queue. Tasks run after a
 * failure, too. Borrows `ctx`.
 * Errors      NO_MEMORY. */
TACIT_API tacit_status tacit_trigger_enqueue_task(tacit_trigger_queue *queue,
                                                  tacit_trigger_task *task,
                                                  void *ctx);

/* Enqueue the start of matched requests that are not started.
 * Errors      INVALID (unmatched; started and not waited for; twice in the
 *             list; not ended in another queue, or of another communicator:
 *             nothing is enqueued), NO_MEMORY. */
TACIT_API tacit_status tacit_trigger_enqueue_start(
    tacit_trigger_queue *queue, tacit_trigger_request *request);
TACIT_API tacit_status
tacit_trigger_enqueue_startall(tacit_trigger_queue *queue, int count,
                               tacit_trigger_request *const *requests);

/* Enqueue a wait for requests that this queue has started, or, `_started`, for
 * all of them. Matched requests that are not started are passed over.
 * Errors      INVALID (unmatched, twice in the list, started in another queue
 *             or by the host: nothing is enqueued), NO_MEMORY. */
TACIT_API tacit_status tacit_trigger_enqueue_wait(
    tacit_trigger_queue *queue, tacit_trigger_request *request);
TACIT_API tacit_status
tacit_trigger_enqueue_waitall(tacit_trigger_queue *queue, int count,
                              tacit_trigger_request *const *requests);
TACIT_API tacit_status
tacit_trigger_enqueue_wait_started(tacit_trigger_queue *queue);

/* Enqueue the start of matched requests and the wait for them, with no work
 * between. On a GPU this is one kernel in place of two, for up to 128 messages
 * and while the queue has no other send that is not waited for.
 * Errors      as of tacit_trigger_enqueue_startall. */
TACIT_API tacit_status
tacit_trigger_enqueue_exchange(tacit_trigger_queue *queue, int count,
                               tacit_trigger_request *const *requests);

/* --- the host ----------------------------------------------------------- */

/* Start matched requests now, without a queue; the other ends may be in queues.
 * All or none.
 * Errors      as of tacit_trigger_enqueue_start. */
TACIT_API tacit_status
tacit_trigger_startall(int count, tacit_trigger_request *const *requests);

/* Wait for a request that the host has started, or for a match, which is freed
 * then and set to NULL. A matched request that is not started, and NULL, are
 * passed over. Sends that are pending go on meanwhile.
 * Errors      INVALID (unmatched; in a queue), COMM, and those of the match. */
TACIT_API tacit_status tacit_trigger_wait(tacit_trigger_request **request);
/* The same, if it has ended: `*done` says so. */
TACIT_API tacit_status tacit_trigger_test(tacit_trigger_request **request,
                                          bool *done);

/* --- halos ---------------------------------------------------------------- */

/* Exchanges of several arrays of a grid, as tacit_halo_arrays_create, by
 * standard sends or ready ones ("send", "ready") of `comm`, which the host
 * starts in the order of `queue`, or, with a queue of a GPU, kernels of its
 * stream.
 * Collective.  Borrows `comm` and `queue`, of one world.
 * Errors      as of that call, and of tacit_trigger_comm_use_gpu; INVALID (the
 *             communicator has another GPU). */
TACIT_API tacit_status tacit_trigger_halo_create(
    tacit_trigger_comm *comm, tacit_queue *queue, const tacit_halo_block *block,
    int count, const tacit_halo_array *arrays, const char *back_end,
    tacit_halo_arrays **out);

TACIT_END_DECLS
#endif
