/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/queue.h - queues: work on one device, in order.
 *
 *     tacit_queue *q = NULL;
 *     tacit_queue_create(world, "host", 0, &q);
 *     double *x = NULL;
 *     tacit_queue_alloc(q, n, &x);
 *     tacit_queue_put(q, n, host_x, x);       // host to device
 *     ...
 *     tacit_queue_get(q, n, x, host_x);       // device to host
 *     tacit_queue_free(q, &x);
 *     tacit_queue_destroy(&q);
 *
 * Devices:
 *     host             this process's processors
 *     cuda             an NVIDIA GPU: processes of a machine get its GPUs in
 *                      turn; vectors are in the device's memory
 *     cuda(1)          the GPU with that number, from 0
 * A queue on a stream of your own: tacit/cuda.h.
 *
 * After the device may follow the link, by which processes of the world
 * exchange messages: "cuda@mpi". Without it the queue opens all links that it
 * can and uses the best; the first solver with loop "auto" measures which is
 * fastest and closes the others.
 *     self             a process alone; allows every loop of a solver
 *     peer             memory of GPUs of one machine, written by their kernels;
 *                      allows every loop
 *     nccl             NCCL, enqueued on the stream; the library is loaded on
 *                      demand (from the variable TACIT_NCCL, if set); allows
 *                      loops host and graph, faster with
 *                      NCCL_GRAPH_MIXING_SUPPORT=0 in the environment, as in
 *                      the program: do not set it in a process whose own NCCL
 *                      calls may run at the same time as recordings of them
 *     nvshmem          NVSHMEM's memory, written by kernels as with peer. The
 *                      library is loaded on demand (from TACIT_NVSHMEM, if set)
 *                      and starts once in a process: only the first world that
 *                      opens the link has it. Allows every loop or, with GPUs
 *                      of several machines, by NVSHMEM's calls
 *                      (libtacit_nvshmem.so, or TACIT_NVSHMEM_MODULE), loops
 *                      host and graph
 *     shm              shared memory of processes of one machine, or of
 *                      threads, written by the CPU; allows loop host
 *     mpi              MPI, started by the CPU, which waits for the device
 *                      before each message; allows loop host. If MPI reports
 *                      that it is GPU-aware, or the variable
 *                      TACIT_GPU_AWARE_MPI says so ("yes", "no", "auto"),
 *                      exchanges go from GPU to GPU, else through host memory,
 *                      as all sums do
 *
 * Decorators precede the device and observe or disturb the queue:
 *     count:host       operations, messages and bytes (tacit_queue_tally)
 *     trace:host       a line per operation, through tacit_set_log
 *     memcheck:host    a host device with an address space of its own, late
 *                      execution and poisoned memory; only before host
 *     chaos(7):host    delays messages at random, with seed 7; chaos(7,100)
 *                      also fails the 100th operation on rank 7 mod size
 *     lose(1,100):host rank 1 is killed at its 100th sum or exchange;
 *                      lose(1,100,60) stops it for 60 s
 * They nest: "trace:count:cuda".
 *
 * Lost processes: a wait for another process in a sum or an exchange, and so in
 * every iteration, has a timeout of 60 s, or of TACIT_PATIENCE seconds as in
 * the environment when the queue is made (0: none; time in which the waiting
 * process is stopped does not count, except for a kernel on a GPU). Then the
 * call fails with COMM, and the message names the rank that has not answered,
 * if known; see tacit_world_abort. With link mpi and more than 64 ranks, sums
 * that do not overlap with other work have no timeout.
 *
 * Threads: a queue, its vectors and objects made on it are for one thread at a
 * time, as its world is; queues of different worlds may run at the same time.
 * On the host a queue has threads of its own, one less than its number of
 * threads, from creation to destruction, and sets up operators with these. With
 * 1 thread the calling thread does all work. Its threads do not call MPI. */
#ifndef TACIT_QUEUE_H
#define TACIT_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

typedef struct tacit_queue tacit_queue;

/* The type in which the elements of a vector are stored: double or float.
 * Arithmetic is in doubles. The list may grow. */
typedef enum tacit_element { TACIT_F64, TACIT_F32 } tacit_element;

/* Open a queue on the device `spec`, for the processes of `world`; at most
 * `threads` host threads, the caller among them; 0: the limit of the world,
 * else OMP_NUM_THREADS, else the processors available to this process, divided
 * among the processes of this machine.
 * Collective.  Borrows `world`: it must outlive the queue.
 * Errors      INVALID (unknown device, decorator or link, or one that this
 *             build lacks; a GPU that does not exist), UNSUPPORTED (a link that
 *             this world cannot have, with the reason; memcheck before cuda),
 *             DEVICE (no GPU is usable), NO_MEMORY. */
TACIT_API tacit_status tacit_queue_create(tacit_world *world, const char *spec,
                                          int threads, tacit_queue **out);

typedef struct tacit_device {
    const char *name; /* "host", "cuda" */
    const char *summary;
    const char *reason; /* why this build has it not; NULL: it has */
    bool gpu;           /* vectors are memory of its own */
} tacit_device;

/* Device `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_device *tacit_device_at(int i);

/* Can this process have a queue on the device called `name`? The first question
 * about a GPU starts its driver, which may take a second.
 * Errors      INVALID (unknown), UNSUPPORTED (not in this build), DEVICE (not
 *             on this machine), with the reason as the message. */
TACIT_API tacit_status tacit_device_probe(const char *name);

/* On one machine: processes of a world, and the devices that they have together
 * if each opens a queue. Fewer devices: some are shared. Begins with its size:
 * tacit/solver.h, tacit_stop. */
typedef struct tacit_sharing {
    size_t size; /* sizeof(tacit_sharing) */
    int ranks, devices;
    char host[64]; /* the machine's name */
} tacit_sharing;

/* Would processes share a device if all had a queue on `device` ("cuda",
 * "cuda(1)")? *out is of the machine with the most processes without their own;
 * of rank 0's if all have one, as on the host. It takes as long as
 * tacit_device_probe. Collective.
 * Errors      INVALID (unknown, or not in this build), DEVICE (a process has
 *             none), NO_MEMORY, COMM. */
TACIT_API tacit_status tacit_device_sharing(tacit_world *world,
                                            const char *device,
                                            tacit_sharing *out);

typedef struct tacit_decorator {
    const char *name, *summary;
} tacit_decorator;

/* Decorator `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_decorator *tacit_decorator_at(int i);

/* Free `*queue` and set it to NULL; NULL is fine. In a monitor of a run on it
 * it frees nothing, as tacit_solver_destroy. */
TACIT_API void tacit_queue_destroy(tacit_queue **queue);

/* Allocate a vector of `n` doubles on the device, contents undefined. Where the
 * device is the host, any host memory is a device vector: an array of the caller
 * goes to a product or a solve as it is, without a copy (not with memcheck:host,
 * which tells the two apart).
 * Errors      NO_MEMORY. */
TACIT_API tacit_status tacit_queue_alloc(tacit_queue *queue, size_t n,
                                         double **out);
/* Free `*x` and set it to NULL; NULL is fine. */
TACIT_API void tacit_queue_free(tacit_queue *queue, double **x);

/* Copy `n` doubles from host memory to the device vector `x`, or back.
 * Blocking: the queue has drained on return.
 * Errors      any of the queue since the last such call. */
TACIT_API tacit_status tacit_queue_put(tacit_queue *queue, size_t n,
                                       const double *host, double *x);
TACIT_API tacit_status tacit_queue_get(tacit_queue *queue, size_t n,
                                       const double *x, double *host);

/* The name of the link that messages go through: "self", "shm", "mpi". */
TACIT_API const char *tacit_queue_link(const tacit_queue *queue);

/* A property of that link for this queue, for people, or "": for mpi on a GPU
 * "GPU-aware" or "through memory of the host". Owned by the library. */
TACIT_API const char *tacit_queue_link_detail(const tacit_queue *queue);

/* x = value, of `n` doubles on the device.
 * Blocking and Errors as tacit_queue_put. */
TACIT_API tacit_status tacit_queue_fill(tacit_queue *queue, size_t n,
                                        double value, double *x);

/* Euclidean norm of x - y over all ranks, of device vectors [n] each; `y` NULL
 * is the norm of x.
 * Collective.
 * Errors      NO_MEMORY, any of the queue. */
TACIT_API tacit_status tacit_queue_distance(tacit_queue *queue, size_t n,
                                            const double *x, const double *y,
                                            double *out);

/* Host threads of this queue. */
TACIT_API int tacit_queue_threads(const tacit_queue *queue);

/* The name of the hardware, "AMD EPYC, 2 threads", into `text` [size]. */
TACIT_API void tacit_queue_describe(const tacit_queue *queue, char *text,
                                    size_t size);

/* Copy bandwidth of the device: bytes read and written per second, median of
 * several copies between two vectors of `bytes` together. Allocates and frees
 * them. Not collective, but meaningful only if all ranks of a machine measure
 * at once.
 * Errors      NO_MEMORY, DEVICE. */
TACIT_API tacit_status tacit_queue_measure_copy(tacit_queue *queue,
                                                size_t bytes,
                                                double *gbytes_per_second);

/* Seconds of a sum of `count` doubles, 1 to 1024, over the ranks, by this
 * rank's clock: the mean of `times` in a row.
 * Collective.  Errors INVALID, NO_MEMORY, any of the queue. */
TACIT_API tacit_status tacit_queue_measure_sum(tacit_queue *queue, int count,
                                               int64_t times, double *seconds);

/* Operations of a queue, by kind. Counts follow section 4.1.4 of Trotter et al.
 * (the aCG paper): for m rows and n non-zeros a product is 2 n flops and 20 (n
 * + m) bytes, an axpy 2 m and 24 m, a dot 2 m and 16 m, a norm 2 m and 8 m, for
 * any format; `moved_bytes` is the traffic of the format and of fused
 * operations. On a GPU loop host counts enqueued operations, also those after
 * the iteration that ends the solve, loop graph whole recordings, and loop
 * resident the iterations. */
typedef struct tacit_tally_row {
    int64_t count;
    double seconds; /* 0 unless the queue is timed: "count(1):..." */
    double flops, bytes;
    int64_t messages; /* point-to-point messages sent by this rank */
} tacit_tally_row;

typedef struct tacit_tally {
    tacit_tally_row spmv, dot, nrm2, axpy;
    tacit_tally_row reduce;   /* bytes: the scalars summed, 8 each */
    tacit_tally_row exchange; /* bytes: sent by this rank          */
    double moved_bytes;       /* by products and vector operations */
} tacit_tally;

/* The tally of a queue with a `count` decorator, since it was last cleared;
 * NULL without one. Owned by the queue. */
TACIT_API const tacit_tally *tacit_queue_tally(const tacit_queue *queue);
TACIT_API void tacit_queue_clear_tally(tacit_queue *queue);

TACIT_END_DECLS
#endif
