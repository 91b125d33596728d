/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/triggered_mpi.h - tacit/triggered.h under the names of the paper that
 * proposes it for MPI, on plain MPI_Request (Bridges et al., Co-Design and
 * Evaluation of a CPU-Free MPI GPU Communication Abstraction and
 * Implementation). For programs that link libtacit-triggered-mpi before MPI:
 * it stands in front of MPI's calls for persistent requests and for what waits
 * for requests (by PMPI), and hands on what it does not know.
 *
 *     MPI_Queue_init(&queue, CXI, &stream);
 *     MPI_Recv_init(ghost, n, MPI_DOUBLE, left, 0, comm, &r[0]);
 *     MPI_Send_init(edge, n, MPI_DOUBLE, right, 0, comm, &r[1]);
 *     MPI_Matchall(2, r, MPI_STATUSES_IGNORE);
 *     MPI_Enqueue_startall(queue, 2, r);
 *     MPI_Enqueue_waitall(queue);
 *     MPI_Queue_wait(queue);
 *
 * So far ranks are of one machine. Buffers are in host memory or, after
 * MPI_Queue_use_gpu, on the GPU of their rank; both ends of a message in
 * memory of one kind.
 *
 * Requests    MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init and MPI_Recv_init,
 *             of contiguous basic types; MPI_BYTE goes with each type, and
 *             MPI_PACKED where MPI packs basic types as they lie. Derived types
 *             and MPI_Bsend_init are refused, and wildcards. A matched request
 *             may be started and waited for by MPI's calls, too.
 * Communicators   MPI_COMM_WORLD, MPI_COMM_SELF, and those made by
 *             MPI_Comm_dup, MPI_Comm_split, MPI_Comm_split_type,
 *             MPI_Comm_create, MPI_Cart_create, MPI_Cart_sub or
 *             MPI_Dist_graph_create_adjacent. Each such call has a broadcast
 *             besides, and MPI_Init a world.
 * Returns     MPI's error codes, without a call of an error handler:
 *             MPI_ERR_REQUEST, MPI_ERR_ARG, MPI_ERR_NO_MEM,
 *             MPI_ERR_UNSUPPORTED_OPERATION, or MPI_ERR_OTHER after a lost
 *             rank; tacit_error_message() has the sentence.
 * Threads     as tacit/triggered.h; the list of requests has a lock. */
#ifndef TACIT_TRIGGERED_MPI_H
#define TACIT_TRIGGERED_MPI_H
#include <mpi.h>
#include <tacit/status.h>

TACIT_BEGIN_DECLS

typedef struct tacit_mpi_queue *MPI_Queue;
#define MPI_QUEUE_NULL ((MPI_Queue)0)

/* Kinds of queues; CXI, of the paper, means AUTO. */
typedef enum MPI_Queue_type {
    MPI_QUEUE_AUTO,
    MPI_QUEUE_KERNEL,
    MPI_QUEUE_MEMOP,
    MPI_QUEUE_THREAD,
    CXI = MPI_QUEUE_AUTO,
    THREAD = MPI_QUEUE_THREAD
} MPI_Queue_type;

/* Make a queue; `stream` is the address of the stream, which is copied now, or
 * NULL. Local. Free it, which sets `*queue` to MPI_QUEUE_NULL; wait for it. */
TACIT_API int MPI_Queue_init(MPI_Queue *queue, MPI_Queue_type type,
                             void *stream);
TACIT_API int MPI_Queue_free(MPI_Queue *queue);
/* From now on buffers of requests that are matched may be on the GPU that is
 * current now, for queues on a stream of it (MPI_QUEUE_AUTO with a stream, or
 * MPI_QUEUE_KERNEL). Collective on MPI_COMM_WORLD. */
TACIT_API int MPI_Queue_use_gpu(void);
TACIT_API int MPI_Queue_wait(MPI_Queue queue);

/* Match persistent requests for good, as tacit_trigger_matchall; the requests
 * keep their handles, statuses are empty. MPI_Imatch and MPI_Imatchall return
 * one request, for MPI_Wait and MPI_Test in all their forms. */
TACIT_API int MPI_Match(MPI_Request *request, MPI_Status *status);
TACIT_API int MPI_Matchall(int count, MPI_Request requests[],
                           MPI_Status statuses[]);
TACIT_API int MPI_Imatch(MPI_Request *request, MPI_Request *match);
TACIT_API int MPI_Imatchall(int count, MPI_Request requests[],
                            MPI_Request *match);
TACIT_API int MPI_Is_matched(MPI_Request *request, int *flag);

/* Enqueue starts; waits; a wait for all that the queue has started. */
TACIT_API int MPI_Enqueue_start(MPI_Queue queue, MPI_Request *request);
TACIT_API int MPI_Enqueue_startall(MPI_Queue queue, int count,
                                   MPI_Request requests[]);
TACIT_API int MPI_Enqueue_wait(MPI_Queue queue, MPI_Request *request);
TACIT_API int MPI_Enqueue_waitlist(MPI_Queue queue, int count,
                                   MPI_Request requests[]);
TACIT_API int MPI_Enqueue_waitall(MPI_Queue queue);

/* Not of the paper: enqueue a function, which stands on the host for a kernel
 * on the stream. */
TACIT_API int MPI_Enqueue_task(MPI_Queue queue, void (*task)(void *ctx),
                               void *ctx);

/* The names of the authors' library. */
#define MPIS_Queue            MPI_Queue
#define MPIS_Queue_type       MPI_Queue_type
#define MPIS_Request          MPI_Request
#define MPIS_SUCCESS          MPI_SUCCESS
#define MPIS_Queue_init       MPI_Queue_init
#define MPIS_Queue_free       MPI_Queue_free
#define MPIS_Queue_wait       MPI_Queue_wait
#define MPIS_Match            MPI_Match
#define MPIS_Matchall         MPI_Matchall
#define MPIS_Imatch           MPI_Imatch
#define MPIS_Imatchall        MPI_Imatchall
#define MPIS_Is_matched       MPI_Is_matched
#define MPIS_Enqueue_start    MPI_Enqueue_start
#define MPIS_Enqueue_startall MPI_Enqueue_startall
#define MPIS_Enqueue_wait     MPI_Enqueue_wait
#define MPIS_Enqueue_waitall  MPI_Enqueue_waitall
#define MPIS_Send_init        MPI_Send_init
#define MPIS_Rsend_init       MPI_Rsend_init
#define MPIS_Recv_init        MPI_Recv_init
#define MPIS_Request_free     MPI_Request_free

TACIT_END_DECLS
#endif
