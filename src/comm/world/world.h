/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world.h - the ranks that take part, and their set-up plane, which
 * may block and fail. Each kind of world has a file, which ends with its table:
 * world_self.c, world_threads.c, world_processes.c, world_mpi.c. Messages of
 * the stream plane belong to links (comm/link/link.h). */
#ifndef TCT_COMM_WORLD_WORLD_H
#define TCT_COMM_WORLD_WORLD_H
#include "base/base.h"
#include "device/queue.h"
#include <tacit/world.h>

typedef enum { TCT_I64, TCT_F64 } tct_type;
typedef enum { TCT_SUM, TCT_MIN, TCT_MAX } tct_reduction;

typedef struct tct_world_ops {
    const char *name;
    bool one_process; /* ranks can address each other's memory */
    bool siblings;    /* processes that can open each other's files */
    /* Set-up plane. All are collective. */
    tacit_status (*reduce)(tacit_world *w, tct_type type, tct_reduction op,
                           size_t count, void *data); /* in place, on all */
    tacit_status (*bcast)(tacit_world *w, int root, size_t bytes, void *data);
    tacit_status (*allgather)(tacit_world *w, size_t bytes, const void *mine,
                              void *all); /* all [size][bytes] */
    /* Bytes to and from each rank [size], packed in rank order; any size. */
    tacit_status (*alltoallv)(tacit_world *w, const int64_t *send_bytes,
                              const void *send, const int64_t *recv_bytes,
                              void *recv);
    /* A world of the ranks with the same colour; none if it is below 0. */
    tacit_status (*split)(tacit_world *w, int colour, tacit_world **out);
    /* Called while this rank waits for something else: make progress on
     * messages, and note lost ranks. OPTIONAL */
    void (*progress)(tacit_world *w);
    /* The rank that was killed, or -1; any thread may ask. OPTIONAL */
    int (*killed)(const tacit_world *w);
    void (*abort)(tacit_world *w, int exit_code);
    void (*destroy)(tacit_world *w);
} tct_world_ops;

/* The functions of a kind of world, by naming convention. */
#define TCT_WORLD_OPS(kind)                                        \
    .name = #kind, .reduce = kind##_reduce, .bcast = kind##_bcast, \
    .allgather = kind##_allgather, .alltoallv = kind##_alltoallv,  \
    .split = kind##_split, .abort = kind##_abort, .destroy = kind##_destroy

struct tacit_world {
    const tct_world_ops *ops;
    void *state; /* of its kind */
    int rank, size;
    int place;      /* rank on this machine, in the original world of splits */
    int local_size; /* ranks of this world on this machine */
    bool oversubscribe;      /* ranks that share a GPU may have link peer */
    int threads;             /* at most; 0: by processors */
    int runs;                /* under way: operator/operator.h */
    tct_lost_rank lost_rank; /* noted by a queue */
    double timeout; /* time limit [s] of reductions of a few numbers; 0: none.
                     * The same on all ranks, or all 0 */
};

/* Threads of this process that may work for `w`: as was set, else
 * OMP_NUM_THREADS, else its share of the processors. */
int tct_world_threads(const tacit_world *w);

/* The reduction of two. */
static inline int64_t tct_take_i64(tct_reduction op, int64_t a, int64_t b)
{
    return op == TCT_SUM ? a + b : (op == TCT_MIN) == (a < b) ? a : b;
}
static inline double tct_take_f64(tct_reduction op, double a, double b)
{
    return op == TCT_SUM ? a + b : (op == TCT_MIN) == (a < b) ? a : b;
}

/* --- set-up plane, for every floor above -------------------------------- */

/* OK, or COMM if a rank is lost: no call waits after that. */
static inline tacit_status tct_complete(const tacit_world *w)
{
    if (w->lost_rank.noted) FAIL(TACIT_COMM, "%s", w->lost_rank.why);
    return TACIT_OK;
}

static inline tacit_status tct_reduce_i64(tacit_world *w, tct_reduction op,
                                          size_t count, int64_t *data)
{
    TRY(tct_complete(w));
    return w->ops->reduce(w, TCT_I64, op, count, data);
}
static inline tacit_status tct_reduce_f64(tacit_world *w, tct_reduction op,
                                          size_t count, double *data)
{
    TRY(tct_complete(w));
    return w->ops->reduce(w, TCT_F64, op, count, data);
}
static inline tacit_status tct_bcast(tacit_world *w, int root, size_t bytes,
                                     void *data)
{
    TRY(tct_complete(w));
    return w->ops->bcast(w, root, bytes, data);
}
static inline tacit_status tct_allgather(tacit_world *w, size_t bytes,
                                         const void *mine, void *all)
{
    TRY(tct_complete(w));
    return w->ops->allgather(w, bytes, mine, all);
}
static inline tacit_status tct_alltoallv(tacit_world *w,
                                         const int64_t *send_bytes,
                                         const void *send,
                                         const int64_t *recv_bytes, void *recv)
{
    TRY(tct_complete(w));
    return w->ops->alltoallv(w, send_bytes, send, recv_bytes, recv);
}

/* Set the time limit of reductions (0: keep it), and return the old one. Loops
 * on a GPU wait without the CPU, so that a lost rank shows in the ranks'
 * reductions between kernels. */
static inline double tct_set_timeout(tacit_world *w, double seconds)
{
    const double before = w->timeout;
    if (seconds > 0.0) w->timeout = seconds;
    return before;
}

/* Agree on the worst status: every rank returns the same, and on an error every
 * rank has the message of the lowest rank that failed. Each collective set-up
 * call ends with it, so that no rank waits in vain. */
tacit_status tct_agree(tacit_world *w, tacit_status mine);

/* Fail with INVALID, and the names of two ranks, unless all ranks give the same
 * `name` (may be NULL) of `what`, such as "the matrix". For names that decide
 * what a collective call does. Collective. */
tacit_status tct_agree_name(tacit_world *w, const char *what, const char *name);

/* The first row of `rank` when `rows` are distributed contiguously over `size`
 * ranks: in multiples of 60 if rows are many, so that blocks of 2 to 6 rows
 * stay whole. */
static inline int64_t tct_share(int64_t rows, int size, int rank)
{
    if (rows >= (int64_t)6000 * size && rank < size)
        return rows / 60 * rank / size * 60;
    const int64_t q = rows / size, r = rows % size;
    return q * rank + (rank < r ? rank : r);
}

/* The rank whose half-open range in `starts` [size + 1] holds `i`. */
static inline int tct_owner(const int64_t *starts, int size, int64_t i)
{
    int low = 0, high = size;
    while (high - low > 1) {
        const int mid = low + (high - low) / 2;
        if (starts[mid] <= i) low = mid;
        else high = mid;
    }
    return low;
}

/* `local`: rank and size among the processes of this machine. */
tacit_status tct_world_new(const tct_world_ops *ops, void *state, int rank,
                           int size, const int local[2], tacit_world **out);

#endif
