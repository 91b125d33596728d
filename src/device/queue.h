/* SPDX-License-Identifier: BSD-3-Clause
 * device/queue.h - the stream plane: solvers enqueue operations.
 *
 * An operation is a small record, submitted through a stack of layers. The base
 * layer passes vector work to the device and messages to the link. Decorators
 * are layers above it: decorators.h.
 *
 * The queue keeps its first failure, like ferror(FILE *). Later device work is
 * skipped, but messages still go out, with a failure word, so that no rank
 * waits for them. Read it with q_status. */
#ifndef TCT_DEVICE_QUEUE_H
#define TCT_DEVICE_QUEUE_H
#include "device/backend.h"
#include "device/symbols.h"
#include "device/team.h"
#include "device/wave.h"

/* --- layers --------------------------------------------------------------- */

typedef struct tct_layer tct_layer;
typedef struct tct_layer_ops {
    tacit_decorator about;
    /* `argument` is the text in parentheses, or "". */
    tacit_status (*open)(tct_layer *self, tacit_queue *q, const char *argument);
    void (*submit)(tct_layer *self, tacit_queue *q, const tct_op *op);
    void (*close)(tct_layer *self, tacit_queue *q);
    /* OPTIONAL: by the layer below. alloc and free: both or neither. */
    void (*sync)(tct_layer *self, tacit_queue *q);
    void *(*alloc)(tct_layer *self, tacit_queue *q, size_t bytes);
    void (*free)(tct_layer *self, tacit_queue *q, void *p);
} tct_layer_ops;

struct tct_layer {
    const tct_layer_ops *ops;
    tct_layer *below; /* NULL: base layer */
    void *state;
};

struct tacit_queue {
    const tct_device_ops *device;
    void *device_state;
    int threads;
    tct_team *team; /* of these threads */
    int ordinal;    /* of the device; < 0 before it opens: by `place` */
    int place;      /* local rank on this machine */
    int neighbours; /* local ranks, with this one */
    bool on_stream; /* on the user's stream: */
    void *stream;
    tacit_world *world;
    struct tct_use *uses;     /* runs under way: operator/operator.h */
    tct_lost_rank *lost_rank; /* of the world */
    double peer_seconds;      /* time limit of waits for ranks; 0: none */
    double timeout; /* the same between kernels: the minimum over ranks, 0 if a
                     * device is no GPU */
    const tct_link *link; /* links[via].link, in use */
    int via;
    tct_open_link links[TCT_LINKS_MOST]; /* comm/link/link.h */
    struct tct_plan *plans;              /* of this queue */
    double *sum;  /* [TCT_SUM_MOST] scalars moved by the CPU */
    tct_op begun; /* an exchange with messages to start, or none */
    int rank, ranks;
    bool one_process; /* ranks are threads, or one rank */
    tct_layer *top;
    tacit_status failed;    /* the first failure, of any rank */
    bool peers_know;        /* a sum has told every rank */
    bool by_peer;           /* it was another rank's */
    bool stop_wanted;       /* this rank's monitor wants to stop */
    bool stop_agreed;       /* a sum has told every rank */
    bool in_dry_run;        /* count operations, run none */
    double answer_seconds;  /* time limit of a GPU's answer */
    double barrier_seconds; /* ... of a persistent kernel's barrier */
    char why[512];          /* message of the failure */
    tct_system_batch batch; /* current batch */
    tct_call_log *log;      /* of the user function being called, or NULL */
    int freed;              /* freed exchanges of users */
    tacit_tally *tally;     /* of the count layer, or NULL */
};

/* The state of the link in use. */
static inline void **tct_link_state(tacit_queue *q)
{
    return &q->links[q->via].state;
}

/* The launcher of the link in use, or NULL. */
static inline const tct_launcher *tct_launcher_of(const tacit_queue *q)
{
    return q->links[q->via].launcher;
}

/* The message buffers of this link. */
static inline const tct_buffers *tct_buffers_of(const tacit_queue *q,
                                                const tct_exchange *e)
{
    return q->links[q->via].on_device ? &e->device : &e->shared;
}

/* Where messages of `columns` columns land: a single column in the ghosts, if
 * the link reaches them. */
static inline double *tct_landing(const tacit_queue *q, const tct_exchange *e,
                                  int columns)
{
    const bool reached = q->links[q->via].on_device || !q->device->alloc_shared;
    return reached && columns == 1 ? e->ghost : tct_buffers_of(q, e)->landing;
}

/* The flag word that this rank adds to a sum, and the evaluation of the summed
 * word. */
#define TCT_FLAG_STOP 1048576.0 /* unit of stop wishes; that of failures is 1 */
TCT_BOTH int tct_flags_say_failed(double word)
{
    const double stops = (double)(int64_t)(word / TCT_FLAG_STOP);
    return word - stops * TCT_FLAG_STOP >= 0.5;
}
double tct_flags_mine(const tacit_queue *q);
void tct_flags_agreed(tacit_queue *q, double word);

/* Pass on to the layers below `self`. */
void tct_below_submit(tct_layer *self, tacit_queue *q, const tct_op *op);
void tct_below_sync(tct_layer *self, tacit_queue *q);

extern const tct_layer_ops tct_base_layer;
extern const tct_device_ops tct_device_host, tct_device_cuda;

/* The kind of a device; one that this build lacks is a GPU. */
tct_device_kind tct_kind_of(const char *device);

/* Why a build lacks CUDA; NULL: it has it. */
#define TCT_NO_CUDA \
    (TCT_HAVE_CUDA ? NULL : "not in this build: configured without CUDA")
/* ... or a build for HIP what CUDA's has. */
#define TCT_NOT_BY_HIP(what)                                          \
    (TCT_HIP ? "not in this build: configured for HIP, without " what \
             : TCT_NO_CUDA)

/* Make the device and layers of `spec`, "decorator:device(ordinal)"; comm/
 * calls it, and adds the link. `prototype` has the members world, lost_rank,
 * rank, ranks, one_process, place, neighbours, threads, on_stream and stream.
 * Errors      INVALID (unknown device or decorator; unusable stream),
 *             UNSUPPORTED (a stream for the host), NO_MEMORY, DEVICE. */
tacit_status tct_queue_new(const tacit_queue *prototype, const char *spec,
                           tacit_queue **out);
/* The hardware of a queue on `device`, "cuda" or "cuda(1)", for local rank
 * `place`.
 * Errors      INVALID, DEVICE. */
tacit_status tct_device_identify(const char *device, int place,
                                 tct_hardware *out);
/* Memory that device and CPU reach; NULL: none left. */
void *tct_alloc_shared(tacit_queue *q, size_t bytes);
void tct_free_shared(tacit_queue *q, void *p);
void tct_start_messages(tacit_queue *q); /* of `begun`, now */

/* --- operations of a solver ----------------------------------------------- */

static inline void q_submit(tacit_queue *q, const tct_op *op)
{
    q->top->ops->submit(q->top, q, op);
}

/* Make the device of `q` (may be NULL) this thread's current one: first in each
 * public call that uses the device, and after user functions, which may use
 * another device. Enqueued operations need no such call. */
static inline void q_enter(tacit_queue *q)
{
    if (q && q->device->enter) q->device->enter(q);
}

/* Note a failure, unless one is noted. */
void q_fail(tacit_queue *q, tacit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Note that `rank` (< 0: unknown) has not answered for `seconds`. The queue
 * fails with COMM and stops, since no sum will tell the others; set-up calls of
 * its world then fail at once. */
void q_lose_rank(tacit_queue *q, int rank, double seconds);

/* Does the world have a lost rank? Then the queue fails. */
bool q_is_deserted(tacit_queue *q);

/* Has this queue failed, while other ranks have yet to learn of it by messages
 * of the device? */
static inline bool q_goes_on(const tacit_queue *q)
{
    return q->failed != TACIT_OK && !q->peers_know && tct_launcher_of(q);
}

/* Pass on this rank's changed flags while recordings or a persistent kernel
 * make the sums: the next sum has them. */
void q_tell(tacit_queue *q);

/* Fail: the device does not know the operation. */
void q_refuse(tacit_queue *q, const tct_op *op);

/* Following operations are on a batch of `count` systems, with vectors `stride`
 * doubles and scalars TCT_SCALARS apart; arguments are those of the first. For
 * passes, steps, sums and products with operators. 0: single, as at first. */
void q_batch(tacit_queue *q, int count, size_t stride);

/* The vectors of all systems of the batch; `x` is the first. */
static inline tct_panel q_panel(const tacit_queue *q, const double *x)
{
    const int count = q->batch.count;
    return tct_panel_of(x, (ptrdiff_t)q->batch.stride, count > 1 ? count : 1);
}

/* Wait until the queue is empty; returns its first failure. */
tacit_status q_status(tacit_queue *q);

/* The same, but OK for a failure of another rank, which reports it itself in an
 * agreement. */
tacit_status q_own_status(tacit_queue *q);

/* n doubles on the device; NULL (and a failed queue) if memory is short. */
double *q_alloc(tacit_queue *q, size_t n);
void q_free(tacit_queue *q, double *p);

/* Until called with 0 bytes, memory of this thread on the device of `q` comes
 * from slabs of this size, where that is faster: for set-up, with many
 * allocations (device/memory_pool.h). All work on this memory must be enqueued
 * in `q`. */
void q_memory_pool(tacit_queue *q, size_t slab);
/* Blocking copies between host and device. */
void q_get(tacit_queue *q, size_t n, const double *x, double *host);
void q_put(tacit_queue *q, size_t n, const double *host, double *x);
/* The same of `n` elements of any type. */
void q_get_in(tacit_queue *q, tacit_element element, size_t n, const void *x,
              void *host);
void q_put_in(tacit_queue *q, tacit_element element, size_t n, const void *host,
              void *x);

/* Enqueue a pass on its vectors `v`, with alpha times `sign` (alpha NULL is 1)
 * and beta; `out` gets this rank's sums: sum them over ranks with q_sum. */
void q_run_pass(tacit_queue *q, tct_pass pass, size_t n, double sign,
                const double *alpha, const double *beta, const double *const *v,
                double *out);

/* The same on vectors of any element type that the pass has, of one system;
 * else the queue fails. */
void q_run_pass_in(tacit_queue *q, tacit_element element, tct_pass pass,
                   size_t n, double sign, const double *alpha,
                   const double *beta, const void *const *v, double *out);

/* The same, as methods write it: by name, with (alpha, beta) and the vectors in
 * the order of the pass's row:
 *     q_pass(q, cg_update, n, (alpha, beta), (r, x, p), NULL); */
#define q_pass(q, name, n, by, on, out)                                  \
    do {                                                                 \
        const double *const by_[] = {TCT_BARE by};                       \
        const double *const on_[] = {TCT_BARE on};                       \
        _Static_assert(sizeof by_ == 2 * sizeof *by_, "alpha and beta"); \
        _Static_assert(sizeof on_ == PASS_VECTORS_##name * sizeof *on_,  \
                       "as many vectors as the pass has");               \
        q_run_pass(q, PASS_##name, n, 1.0, by_[0], by_[1], on_, out);    \
    } while (0)
#define TCT_BARE(...) __VA_ARGS__

/* y = value;  y = x;  x and y exchanged;  y = factor y */
static inline void q_fill(tacit_queue *q, size_t n, double value, double *y)
{
    const double *const v[] = {y};
    q_run_pass(q, PASS_fill, n, value, NULL, NULL, v, NULL);
}
static inline void q_copy(tacit_queue *q, size_t n, const double *x, double *y)
{
    const double *const v[] = {x, y};
    q_run_pass(q, PASS_copy, n, 1.0, NULL, NULL, v, NULL);
}
static inline void q_swap(tacit_queue *q, size_t n, double *x, double *y)
{
    const double *const v[] = {x, y};
    q_run_pass(q, PASS_swap, n, 1.0, NULL, NULL, v, NULL);
}
static inline void q_scale(tacit_queue *q, size_t n, double factor, double *y)
{
    const double *const v[] = {y};
    q_run_pass(q, PASS_scale, n, factor, NULL, NULL, v, NULL);
}
/* y = y + sign alpha x;  y = x + sign alpha y; alpha NULL is 1 */
static inline void q_axpy(tacit_queue *q, size_t n, double sign,
                          const double *alpha, const double *x, double *y)
{
    const double *const v[] = {x, y};
    q_run_pass(q, PASS_axpy, n, sign, alpha, NULL, v, NULL);
}
static inline void q_aypx(tacit_queue *q, size_t n, double sign,
                          const double *alpha, const double *x, double *y)
{
    const double *const v[] = {x, y};
    q_run_pass(q, PASS_aypx, n, sign, alpha, NULL, v, NULL);
}
/* y = y + sign alpha x, *out = (y, y) */
static inline void q_axpy_norm(tacit_queue *q, size_t n, double sign,
                               const double *alpha, const double *x, double *y,
                               double *out)
{
    const double *const v[] = {x, y};
    q_run_pass(q, PASS_axpy_norm, n, sign, alpha, NULL, v, out);
}
/* *out = (x, y) */
static inline void q_dot(tacit_queue *q, size_t n, const double *x,
                         const double *y, double *out)
{
    const double *const v[] = {x, y};
    q_run_pass(q, PASS_dot, n, 1.0, NULL, NULL, v, out);
}
/* *out = (x, x) */
static inline void q_norm(tacit_queue *q, size_t n, const double *x,
                          double *out)
{
    const double *const v[] = {x};
    q_run_pass(q, PASS_norm, n, 1.0, NULL, NULL, v, out);
}
/* out[0] = (x, y), out[1] = (y, y) */
static inline void q_dots(tacit_queue *q, size_t n, const double *x,
                          const double *y, double *out)
{
    const double *const v[] = {x, y};
    q_run_pass(q, PASS_dots, n, 1.0, NULL, NULL, v, out);
}

/* Panels have n rows and up to TCT_COLUMNS_MOST columns at any addresses that
 * do not overlap. Small matrices are on the device, by columns.
 * G = Z' W, this rank's part, k x m: sum it over ranks with q_sum. The same
 * bits in every run. */
void q_gram(tacit_queue *q, size_t n, tct_panel Z, tct_panel W, double *G);
/* Y = Y + sign X C, C with a row per column of X. The bits of a column do not
 * depend on other columns. */
void q_combine(tacit_queue *q, size_t n, double sign, tct_panel X,
               const double *C, tct_panel Y);
/* The first `m` columns of X become X C, and y = y + sign X d, d being column m
 * of C. Nothing changes if *held is not 0. */
void q_mix(tacit_queue *q, size_t n, double sign, tct_panel X, int m,
           const double *C, double *y, const double *held);

/* y[i] = x[index[i]]; index is on the device */
void q_gather(tacit_queue *q, size_t n, const int32_t *index, const double *x,
              double *y);

/* y[c W + j] = sum of w[k W + j] (b[i] - t[i]), i = list[k] of set c, W the
 * width of `G`, which must not change until this has run. */
void q_restrict(tacit_queue *q, const tct_sets *G, const double *w,
                const double *b, const double *t, double *y);
/* y[i] += sign sum of w[i W + j] x[of[i] W + j], j < W = `width`, if of[i] >=
 * 0 */
void q_prolong(tacit_queue *q, size_t n, int width, double sign,
               const int32_t *of, const double *w, const double *x, double *y);

/* A scalar step on the block `c` [TCT_SCALARS]. */
void q_step(tacit_queue *q, tct_step step, double *c);
/* A step of blocks of `formed` vectors (device/blocks.h); `B` is on the
 * device. */
void q_blocks(tacit_queue *q, tct_blocks_step step, tct_blocks *B, int formed,
              double *sums, double *c);

/* Enqueue a sample of the scalar block `c`; q_sampled waits for samples in
 * order; false: none left. Only for devices with `seen`. */
void q_sample(tacit_queue *q, double *c);
bool q_sampled(tacit_queue *q, tct_sample *out);

/* Record the operations between begin and end into `r`, whose c or dry_run is
 * set, without running them; they count when replayed. Only for devices with
 * `replay`, unless it is a dry run. */
void q_record_begin(tacit_queue *q, tct_recording *r);
void q_record_end(tacit_queue *q, tct_recording *r);
/* Replay the recording, in whole replays, until at most `looks` samples are
 * made or, sooner, the scalars are at rest; q_sampled keeps it going. 0: start
 * no more replays. */
void q_replay(tacit_queue *q, tct_recording *r, int64_t looks);
/* It was replayed `times` times: for decorators that count. */
void q_replayed(tacit_queue *q, tct_recording *r, int64_t times);
/* Free the device's part of it. */
void q_forget(tacit_queue *q, tct_recording *r);

/* Sum `count` scalars over the ranks; other work, but no other sum, may be
 * enqueued between begin and end. */
void q_sum_begin(tacit_queue *q, int count, double *data);
void q_sum_end(tacit_queue *q, int count, double *data);
void q_sum(tacit_queue *q, int count, double *data);

/* Send the planned elements of each column of `x`, and receive e->ghost; other
 * work may be enqueued between begin and end. */
void q_exchange_begin(tacit_queue *q, tct_exchange *e, tct_panel x);
void q_exchange_end(tacit_queue *q, tct_exchange *e, int columns);

/* Call `fn` in the order of the queue. Its enqueued operations run at that
 * point; on an asynchronous device it may also put work on the stream. A status
 * below 0 fails the queue with its message. */
void q_call(tacit_queue *q, tct_call_fn fn, void *ctx, const double *x,
            double *y);

/* y = B x; `dot` NULL, or *dot = (x, y) */
void q_multiply(tacit_queue *q, const tct_block *B, const double *x, double *y,
                double *dot);
/* s = B p; out[0] = (p, s), out[1] = (r, s), out[2] = (s, s) */
void q_multiply_dots(tacit_queue *q, const tct_block *B, const double *p,
                     const double *r, double *s, double *out);
/* The pass on vectors `v`, with B x in place of v[1], which is not read. It
 * must not write x. At most one sum; `out` may be NULL. Only with
 * B->takes_pass. */
void q_multiply_pass(tacit_queue *q, const tct_block *B, const double *x,
                     tct_pass pass, const double *alpha, const double *beta,
                     const double *const *v, double *out);
/* Y = B X, panels of up to TCT_COLUMNS_MOST columns */
void q_multiply_block(tacit_queue *q, const tct_block *B, tct_panel X,
                      tct_panel Y);
/* y += B g with the ghosts of `column`; `dot` NULL, or *dot += (x, B g) */
void q_multiply_add(tacit_queue *q, const tct_block *B, tct_exchange *e,
                    int column, double *y, const double *x, double *dot);
/* Add the ghosts' part to the pass `of`, relax or smooth, fused with a product
 * without them: both are linear, so y -= alpha d (B g), and *out (unless NULL)
 * += the change of the sum */
void q_multiply_add_pass(tacit_queue *q, const tct_block *B, tct_exchange *e,
                         int column, const tct_op *of);

#endif
