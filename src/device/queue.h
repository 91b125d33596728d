/* SPDX-License-Identifier: BSD-3-Clause
 * device/queue.h - the stream plane: everything a solver does is enqueued.
 *
 * An operation is a small record, submitted through a stack of layers. The
 * bottom layer is the line itself: it hands vector work to the device and
 * messages to the link. Decorators are layers above it:
 * decorators.h.
 *
 * The queue keeps its first failure, like ferror(FILE *); later device work is
 * skipped, but messages still go out with a failure word, so that the other
 * ranks learn of it instead of waiting. Read it with q_status. */
#ifndef TCT_DEVICE_QUEUE_H
#define TCT_DEVICE_QUEUE_H
#include "device/backend.h"
#include "device/team.h"

/* --- layers --------------------------------------------------------------- */

typedef struct tct_layer tct_layer;
typedef struct tct_layer_ops {
    tacit_decorator about;
    /* `argument` is what stands in parentheses, "" if nothing. */
    tacit_status (*open)(tct_layer *self, tacit_queue *q, const char *argument);
    void (*submit)(tct_layer *self, tacit_queue *q, const tct_op *op);
    void (*close)(tct_layer *self, tacit_queue *q);
    /* OPTIONAL: the layer below does it. alloc and free: both or neither. */
    void (*sync)(tct_layer *self, tacit_queue *q);
    void *(*alloc)(tct_layer *self, tacit_queue *q, size_t bytes);
    void (*free)(tct_layer *self, tacit_queue *q, void *p);
} tct_layer_ops;

struct tct_layer {
    const tct_layer_ops *ops;
    tct_layer *below; /* NULL for the line */
    void *state;
};

struct tacit_queue {
    const tct_device_ops *device;
    void *device_state;
    int threads;
    tct_team *team; /* these threads */
    int ordinal;    /* of the device, < 0: the one of this rank's place,
                       until it is open                            */
    int place;      /* of this rank among those of its machine            */
    int neighbours; /* ... of which there are so many, itself among them  */
    bool on_stream; /* of the user's, which is the next: borrowed         */
    void *stream;
    tacit_world *world;
    struct tct_use *uses;     /* runs under way: operator/operator.h       */
    tct_lost_rank *lost_rank; /* the world's                              */
    double peer_seconds;      /* another rank's longest silence; 0: no limit */
    double timeout; /* the same between kernels of a solve: the least of all
                        ranks, 0 where a rank's device is no GPU             */
    const tct_link *link; /* messages go through links[via]                */
    int via;
    tct_open_link
        links[TCT_LINKS_MOST]; /* that are open: comm/link/link.h      */
    struct tct_plan *plans;    /* that are made                   */
    double *sum;  /* [TCT_SUM_MOST] scalars on their way by the CPU */
    tct_op begun; /* an exchange whose messages have not started, or none */
    int rank, ranks;
    bool one_process; /* the ranks are threads of it, or it is alone         */
    tct_layer *top;
    tacit_status failed;    /* the first failure, this rank's or a peer's     */
    bool peers_know;        /* a sum has carried it to every rank             */
    bool by_peer;           /* it was another rank's                          */
    bool stop_wanted;       /* this rank's monitor wants to stop              */
    bool stop_agreed;       /* a sum has carried that to every rank           */
    bool in_dry_run;        /* operations are counted, not run                */
    double answer_seconds;  /* a GPU's longest silence; then it has failed */
    double barrier_seconds; /* ... and wait of a persistent kernel's block */
    char why[512];          /* the message of the failure                     */
    tct_system_batch batch; /* that the words are for                         */
    tct_call_log *log;      /* of the function that is being called, or NULL  */
    int freed;              /* exchanges of users that are no more            */
    tacit_tally *tally;     /* of the count layer, NULL without one           */
};

/* What the link that messages go through keeps of a queue. */
static inline void **tct_link_state(tacit_queue *q)
{
    return &q->links[q->via].state;
}

/* What that link's messages of an exchange lie in. */
static inline const tct_buffers *tct_buffers_of(const tacit_queue *q,
                                                const tct_exchange *e)
{
    return q->links[q->via].on_device ? &e->device : &e->shared;
}

/* Where its messages of `columns` columns land: one where its ghosts belong, if
 * the link reaches them. */
static inline double *tct_landing(const tacit_queue *q, const tct_exchange *e,
                                  int columns)
{
    const bool reached = q->links[q->via].on_device || !q->device->alloc_shared;
    return reached && columns == 1 ? e->ghost : tct_buffers_of(q, e)->landing;
}

/* The flag word that this rank adds to a sum, and what the summed word of all
 * ranks means for this queue. */
#define TCT_FLAG_STOP \
    1048576.0 /* the word counts wishes in this unit, and
                                   failures in units of 1                */
TCT_BOTH int tct_flags_say_failed(double word)
{
    const double stops = (double)(int64_t)(word / TCT_FLAG_STOP);
    return word - stops * TCT_FLAG_STOP >= 0.5;
}
double tct_flags_mine(const tacit_queue *q);
void tct_flags_agreed(tacit_queue *q, double word);

/* The layers below `self` do it. */
void tct_below_submit(tct_layer *self, tacit_queue *q, const tct_op *op);
void tct_below_sync(tct_layer *self, tacit_queue *q);

extern const tct_device_ops tct_device_host, tct_device_cuda;

/* The kind of a device; what this build does not have is a GPU. */
tct_device_kind tct_kind_of(const char *device);

/* Why a build has not what needs CUDA, NULL if it has. */
#define TCT_NO_CUDA \
    (TCT_HAVE_CUDA ? NULL : "not in this build: configured without CUDA")

/* Device and layers of `spec`, "decorator:device(ordinal)", on this rank; comm/
 * calls it, and adds the link. `who` has the members world, rank, ranks, place,
 * neighbours, threads, and on_stream and stream set.
 * Errors      INVALID (unknown device or decorator; a stream that cannot be had),
 *             UNSUPPORTED (a stream for the host), NO_MEMORY, DEVICE. */
tacit_status tct_queue_new(const tacit_queue *who, const char *spec,
                           tacit_queue **out);
/* What a queue on `device`, "cuda" or "cuda(1)", of the rank with that place on
 * its machine would have.
 * Errors      INVALID, DEVICE. */
tacit_status tct_device_identify(const char *device, int place,
                                 tct_hardware *out);
/* Memory that the device and the CPU both reach; NULL if there is none. */
void *tct_alloc_shared(tacit_queue *q, size_t bytes);
void tct_free_shared(tacit_queue *q, void *p);
void tct_start_messages(tacit_queue *q); /* of `begun`, at once */

/* --- the words of a solver ------------------------------------------------ */

static inline void q_submit(tacit_queue *q, const tct_op *op)
{
    q->top->ops->submit(q->top, q, op);
}

/* Make the device of `q`, NULL for none, this thread's current one: first in
 * each public call that comes to the device, and after functions of the user's,
 * who may have work on another one. Not in what is enqueued, which comes after
 * it. */
static inline void q_enter(tacit_queue *q)
{
    if (q && q->device->enter) q->device->enter(q);
}

/* Note a failure: the first one stays. */
void q_fail(tacit_queue *q, tacit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Rank `rank` (< 0: another one, it is not known which) has not answered for
 * `seconds`: the queue fails with COMM and stands still, since no sum will tell
 * the others, and set-up calls of its world fail at once instead of waiting. */
void q_desert(tacit_queue *q, int rank, double seconds);

/* Is a rank known not to come, by its world? Then the queue has failed. */
bool q_is_deserted(tacit_queue *q);

/* Has this queue failed, with other ranks still to learn of it by messages that
 * the device sends? */
static inline bool q_goes_on(const tacit_queue *q)
{
    return q->failed != TACIT_OK && !q->peers_know && q->link->launch != NULL;
}

/* This rank's flags have changed while recordings or a kernel of a whole solve
 * make the sums: the next one has them. */
void q_tell(tacit_queue *q);

/* A device's answer to an operation that it does not know. */
void q_refuse(tacit_queue *q, const tct_op *op);

/* From here on the words are for `count` systems, whose vectors are `stride`
 * doubles apart and whose scalars TCT_SCALARS: each is given those of the
 * first. Passes, steps, sums and products with operators can be so. 0: for one
 * alone, as at first. */
void q_batch(tacit_queue *q, int count, size_t stride);

/* The vectors of all systems, of which `x` is the first. */
static inline tct_panel q_panel(const tacit_queue *q, const double *x)
{
    const int count = q->batch.count;
    return (tct_panel){(double *)(uintptr_t)x, (ptrdiff_t)q->batch.stride,
                       count > 1 ? count : 1};
}

/* Wait until the queue has drained; its first failure, as a status. */
tacit_status q_status(tacit_queue *q);

/* The same, but OK if the failure is another rank's: for an agreement, in
 * which that rank speaks for itself. */
tacit_status q_own_status(tacit_queue *q);

/* n doubles on the device, NULL (and a failed queue) if there are none. */
double *q_alloc(tacit_queue *q, size_t n);
void q_free(tacit_queue *q, double *p);

/* Until this is said of 0 bytes, memory of this thread on the device of `q`
 * comes out of slabs of so many, where that is faster: for set-up, which takes
 * and gives back many pieces (device/memory_pool.h). All that is enqueued on it
 * is of `q`. */
void q_memory_pool(tacit_queue *q, size_t slab);
/* Blocking copies between host and device. */
void q_get(tacit_queue *q, size_t n, const double *x, double *host);
void q_put(tacit_queue *q, size_t n, const double *host, double *x);

/* Enqueue a pass on its vectors `v`, with alpha times `sign` (alpha NULL is 1)
 * and beta; `out` gets the sums of this rank's part: sum them over ranks with
 * q_sum. */
void q_run_pass(tacit_queue *q, tct_pass pass, size_t n, double sign,
                const double *alpha, const double *beta, const double *const *v,
                double *out);

/* The same in the text of a method: by name, with (alpha, beta), and with its
 * vectors in the order of the pass's row, as many as it has:
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

/* Panels of n rows, whose columns may stand anywhere but in each other; of up
 * to TCT_COLUMNS_MOST columns each. Small matrices are on the device, column
 * after column.
 * G = Z' W, this rank's part, k x m: sum it over ranks with q_sum. Always the
 * same bits. */
void q_gram(tacit_queue *q, size_t n, tct_panel Z, tct_panel W, double *G);
/* Y = Y + sign X C, with C as many rows as X has columns. Each column has the
 * same bits whatever others there are. */
void q_combine(tacit_queue *q, size_t n, double sign, tct_panel X,
               const double *C, tct_panel Y);
/* The first `m` columns of X become X C, and y = y + sign X d, d being the last
 * of the m + 1 columns that stand at C; where *held is not 0 all stay as they
 * are. */
void q_mix(tacit_queue *q, size_t n, double sign, tct_panel X, int m,
           const double *C, double *y, const double *held);

/* y[i] = x[index[i]], the index on the device */
void q_gather(tacit_queue *q, size_t n, const int32_t *index, const double *x,
              double *y);

/* y[c W + j] = sum of w[k W + j] (b[i] - t[i]), i = list[k] of set c, W the
 * width of `G`, which stays as it is until the queue has come to it. */
void q_restrict(tacit_queue *q, const tct_sets *G, const double *w,
                const double *b, const double *t, double *y);
/* y[i] += sign sum of w[i W + j] x[of[i] W + j], j < W = `width`, where
 * of[i] >= 0 */
void q_prolong(tacit_queue *q, size_t n, int width, double sign,
               const int32_t *of, const double *w, const double *x, double *y);

/* A scalar step on the block `c` [TCT_SCALARS]. */
void q_step(tacit_queue *q, tct_step step, double *c);
/* A step of blocks of `formed` vectors (device/blocks.h): `B` on the device. */
void q_blocks(tacit_queue *q, tct_blocks_step step, tct_blocks *B, int formed,
              double *sums, double *c);

/* Enqueue a look at the scalar block `c`; the looks that were enqueued are
 * taken in order with q_sampled, which waits; false if there is none. Only for
 * devices with `seen`. */
void q_sample(tacit_queue *q, double *c);
bool q_sampled(tacit_queue *q, tct_sample *out);

/* What is enqueued between begin and end is recorded into `r`, whose c, or
 * dry run, is set, and not run; it counts as nothing until it is replayed. Only
 * for devices with `replay`, but for sketches. */
void q_record_begin(tacit_queue *q, tct_recording *r);
void q_record_end(tacit_queue *q, tct_recording *r);
/* Run it again and again, in whole replays, until at most `looks` looks have
 * been made or, sooner, the scalars have come to rest: q_sampled takes them and
 * keeps it going. 0 looks: start nothing more. */
void q_replay(tacit_queue *q, tct_recording *r, int64_t looks);
/* It has been run so many times: for those who count. */
void q_replayed(tacit_queue *q, tct_recording *r, int64_t times);
/* Free what the device made of it. */
void q_forget(tacit_queue *q, tct_recording *r);

/* Sum `count` scalars over the ranks; between begin and end other work may be
 * enqueued, but no other sum. */
void q_sum_begin(tacit_queue *q, int count, double *data);
void q_sum_end(tacit_queue *q, int count, double *data);
void q_sum(tacit_queue *q, int count, double *data);

/* Send what the plan of `e` lists of each column of `x`, and receive e->ghost;
 * other work may be enqueued between begin and end. */
void q_exchange_begin(tacit_queue *q, tct_exchange *e, tct_panel x);
void q_exchange_end(tacit_queue *q, tct_exchange *e, int columns);

/* Call `fn` when the queue comes to it. What it enqueues runs there; on a
 * device that runs behind the CPU it may also start work on the stream. A
 * status below 0 fails the queue with its message, and is kept. */
void q_call(tacit_queue *q, tct_call_fn fn, void *ctx, const double *x,
            double *y);

/* y = B x; `dot` NULL, or *dot = (x, y) */
void q_multiply(tacit_queue *q, const tct_block *B, const double *x, double *y,
                double *dot);
/* s = B p; out[0] = (p, s), out[1] = (r, s), out[2] = (s, s) */
void q_multiply_dots(tacit_queue *q, const tct_block *B, const double *p,
                     const double *r, double *s, double *out);
/* The pass, its vectors `v`, of which v[1] is not read: it is B x. It must not
 * write x. One sum at most; `out` NULL: it is not wanted. Only where
 * B->takes_pass. */
void q_multiply_pass(tacit_queue *q, const tct_block *B, const double *x,
                     tct_pass pass, const double *alpha, const double *beta,
                     const double *const *v, double *out);
/* Y = B X, panels of as many columns, up to TCT_COLUMNS_MOST */
void q_multiply_block(tacit_queue *q, const tct_block *B, tct_panel X,
                      tct_panel Y);
/* y += B g with the ghosts of column `column`; `dot` NULL, or *dot += (x, B
 * g) */
void q_multiply_add(tacit_queue *q, const tct_block *B, tct_exchange *e,
                    int column, double *y, const double *x, double *dot);
/* What the pass `of`, relax or smooth, lacks behind a product without these
 * ghosts: both are linear in it, so y -= alpha d (B g) of its vectors, and *out
 * += what that makes of their sum, if it is not NULL */
void q_multiply_add_pass(tacit_queue *q, const tct_block *B, tct_exchange *e,
                         int column, const tct_op *of);

#endif
