/* SPDX-License-Identifier: BSD-3-Clause
 * device/queue.h - the stream plane: everything a solver does is enqueued.
 *
 * An operation is a small record, submitted through a stack of layers. The
 * bottom layer is the line itself: it hands vector work to the device and
 * messages to the link (the transport's stream plane). Decorators are layers
 * above it: count, trace, memcheck, chaos.
 *
 * The queue keeps its first failure, like ferror(FILE *); later device work is
 * skipped, but messages still go out with a failure word, so that the other
 * ranks learn of it instead of waiting. Read it with q_status. */
#ifndef TCT_QUEUE_H
#define TCT_QUEUE_H
#include "base/base.h"
#include "device/steps.h"
#include "device/team.h"
#include <tacit/queue.h>

/* --- operations ----------------------------------------------------------
 * X(code, text, spmv, dot, nrm2, axpy, moved): what one operation counts as in
 * the aCG paper's section 4.1.4, and the doubles per element that it really
 * reads and writes. Vectors are listed in the order of op->v. */
#define TCT_OPS(X)                                                             \
    X(FILL, "fill", 0, 0, 0, 0, 1)           /* y                       */     \
    X(COPY, "copy", 0, 0, 0, 0, 2)           /* x y                     */     \
    X(SCALE, "scale", 0, 0, 0, 0, 2)         /* y                       */     \
    X(GATHER, "gather", 0, 0, 0, 0, 2)       /* x y                     */     \
    X(AXPY, "axpy", 0, 0, 0, 1, 3)           /* x y                     */     \
    X(AYPX, "aypx", 0, 0, 0, 1, 3)           /* x y                     */     \
    X(DOT, "dot", 0, 1, 0, 0, 2)             /* x y                     */     \
    X(NORM, "norm", 0, 0, 1, 0, 1)           /* x                       */     \
    X(AXPY_NORM, "axpy+norm", 0, 0, 1, 1, 3) /* x y                     */     \
    X(CG_UPDATE, "cg update", 0, 0, 0, 2, 5) /* r p x                   */     \
    X(DOTS, "two dots", 0, 1, 1, 0, 2)       /* x y                     */     \
    X(SINGLE_UPDATE, "single update", 0, 0, 1, 3, 7)        /* s r p x      */ \
    X(PIPELINED_UPDATE, "pipelined update", 0, 1, 1, 6, 13) /* n z s w p r x*/ \
    X(PIPE_PR_UPDATE, "pipe-pr update", 0, 3, 1, 5, 11)     /* w u s r p x  */ \
    X(MULTIPLY, "product", 1, 0, 0, 0, 2)                                      \
    X(MULTIPLY_DOT, "product+dot", 1, 1, 0, 0, 2)                              \
    X(MULTIPLY_DOTS, "product+dots", 1, 2, 1, 0, 3) /* p s r        */         \
    X(MULTIPLY_PAIR, "product of two", 2, 0, 0, 0, 4)                          \
    X(MULTIPLY_ADD, "ghost product", 0, 0, 0, 0, 0)                            \
    X(STEP, "scalar step", 0, 0, 0, 0, 0)                                      \
    X(LOOK, "look", 0, 0, 0, 0, 0)                                             \
    X(SUM_BEGIN, "sum begin", 0, 0, 0, 0, 0)                                   \
    X(SUM_END, "sum end", 0, 0, 0, 0, 0)                                       \
    X(EXCHANGE_BEGIN, "exchange begin", 0, 0, 0, 0, 0)                         \
    X(EXCHANGE_END, "exchange end", 0, 0, 0, 0, 0)                             \
    X(GET, "get", 0, 0, 0, 0, 2)                                               \
    X(PUT, "put", 0, 0, 0, 0, 2)

typedef enum tct_opcode {
#define X(code, text, spmv, dot, nrm2, axpy, moved) TCT_##code,
    TCT_OPS(X)
#undef X
        TCT_OPCODES
} tct_opcode;

typedef struct tct_op_info {
    const char *text;
    int spmv, dot, nrm2, axpy; /* how many it counts as             */
    int moved;                 /* doubles moved per element          */
} tct_op_info;
extern const tct_op_info tct_op_table[TCT_OPCODES];

typedef struct tct_block tct_block;
typedef struct tct_exchange tct_exchange;

/* What the line and the decorators know of an exchange; comm/ adds the rest. */
struct tct_exchange {
    int columns;      /* vectors exchanged at once: 1 or 2            */
    int64_t messages; /* sent by this rank per exchange               */
    int64_t values;   /* sent by this rank per exchange, all columns  */
    int64_t ghosts;   /* received by this rank per column             */
    double *ghost;    /* [columns * ghosts] column after column       */
};

enum { TCT_OP_VECTORS = 7, TCT_SUM_MOST = 8 };

typedef struct tct_op {
    tct_opcode code;
    size_t n;                   /* elements per vector                  */
    double sign;                /* +1 or -1; the number of FILL, SCALE  */
    const double *alpha, *beta; /* scalars on the device                */
    double *v[TCT_OP_VECTORS];  /* vectors, as listed above             */
    double *out;                /* scalar results, contiguous           */
    int count;                  /* scalars of a sum                     */
    bool at_once;               /* the end of this sum follows directly */
    const tct_block *block;     /* of a product                         */
    const int32_t *index;       /* of GATHER, on the device             */
    tct_exchange *exchange;     /* of an exchange                       */
    tct_step step;              /* of a scalar step                     */
    void *host;                 /* host memory of GET and PUT           */
} tct_op;

/* --- the two tables that are back ends ----------------------------------- */

/* What a matrix block must do for the device; formats implement it. */
typedef struct tct_block_ops {
    const char *name; /* the format's */
    /* y = B x; if `dot` is not NULL, *dot = (x, y). */
    void (*multiply)(const tct_block *B, const double *x, double *y,
                     double *dot);
    /* y0 = B x0, y1 = B x1 in one pass. OPTIONAL: multiply twice. */
    void (*multiply_pair)(const tct_block *B, const double *x0, double *y0,
                          const double *x1, double *y1);
    /* y += B g; if `dot` is not NULL, *dot += (x, B g). Ghost blocks only. */
    void (*multiply_add)(const tct_block *B, const double *g, double *y,
                         const double *x, double *dot);
    void (*destroy)(tct_block *B); /* NULL-safe */
} tct_block_ops;

struct tct_block { /* first member of every format's struct */
    const tct_block_ops *ops;
    int64_t rows, cols;
    int64_t nonzeros;    /* entries of the matrix, explicit zeros included */
    int64_t stored;      /* with padding                                   */
    double matrix_bytes; /* matrix bytes that one product reads            */
    int kernels;         /* that one product starts on a GPU               */
    int threads;         /* of the host that it is worth; 0: all there are */
    bool persistent;     /* a GPU's kernel of a whole solve can take it    */
    bool packed;         /* some value takes fewer bytes than a double: to
                            store it as doubles is something else (GPU)   */
    char detail[160];    /* what the format did with this matrix: for people */
};

/* What a look finds: the scalars that decide whether to go on. */
typedef struct tct_seen {
    double rr, bad, bad_value;
} tct_seen;

typedef struct tct_device_ops {
    const char *name;    /* "host" */
    const char *summary; /* one line for `tacit devices` */
    /* Can this machine have one? If not, why, into `reason` [size]. OPTIONAL */
    bool (*available)(char *reason, size_t size);
    tacit_status (*open)(tacit_queue *q);
    void (*close)(tacit_queue *q);
    void *(*alloc)(tacit_queue *q, size_t bytes);
    void (*free)(tacit_queue *q, void *p);
    void (*run)(tacit_queue *q, const tct_op *op);
    void (*sync)(tacit_queue *q);
    void (*describe)(const tacit_queue *q, char *text, size_t size);
    /* The rest is OPTIONAL, of a device that runs behind the CPU. */
    /* The oldest look that was not taken yet: waits for it; false if none is
     * to come or the queue has failed. */
    bool (*seen)(tacit_queue *q, tct_seen *out);
    /* By how many looks the host may be behind, for vectors of `n` elements:
     * few where an iteration in vain is dear. */
    int (*lag)(tacit_queue *q, size_t n);
    /* What is enqueued from here to record_end is recorded, not run. The
     * recording has `looks` looks and the scalar block `c`; NULL: failed. */
    bool (*record_begin)(tacit_queue *q);
    void *(*record_end)(tacit_queue *q, int looks, const double *c);
    /* Run a recording again and again, in whole replays, until at most `looks`
     * looks have been made or, sooner, the scalars have come to rest. Started
     * here, kept going by `seen`; 0 looks: start nothing more. */
    void (*replay)(tacit_queue *q, void *record, int64_t looks);
    /* "while node, 10 iterations", into `text` [size]. */
    void (*record_about)(const void *record, char *text, size_t size);
    void (*record_free)(tacit_queue *q, void *record);
} tct_device_ops;

/* What a queue needs of a transport. `sum_end` leaves the same bits on every
 * rank. Each sum carries a word of flags besides its scalars: whether a queue
 * has failed and whether a monitor wants to stop (tct_flags_*), so that all
 * ranks learn of it in the same sum. */
typedef struct tct_link_ops {
    void (*sum_begin)(tacit_queue *q, const tct_op *op);
    void (*sum_end)(tacit_queue *q, const tct_op *op);
    void (*exchange_begin)(tacit_queue *q, const tct_op *op);
    void (*exchange_end)(tacit_queue *q, const tct_op *op);
} tct_link_ops;

/* --- layers --------------------------------------------------------------- */

typedef struct tct_layer tct_layer;
typedef struct tct_layer_ops {
    const char *name;
    const char *summary;
    /* `argument` is what stands in parentheses, "" if nothing. */
    tacit_status (*open)(tct_layer *self, tacit_queue *q, const char *argument);
    void (*submit)(tct_layer *self, tacit_queue *q, const tct_op *op);
    void (*sync)(tct_layer *self, tacit_queue *q);
    void *(*alloc)(tct_layer *self, tacit_queue *q, size_t bytes);
    void (*free)(tct_layer *self, tacit_queue *q, void *p);
    void (*close)(tct_layer *self, tacit_queue *q);
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
    tacit_world *world;
    const tct_link_ops *link;
    void *link_state; /* the transport's, per queue; freed with tct_free */
    int rank, ranks;
    tct_layer *top;
    tacit_status failed;    /* the first failure, this rank's or a peer's     */
    bool peers_know;        /* a sum has carried it to every rank             */
    bool by_peer;           /* it was another rank's                          */
    bool stop_wanted;       /* this rank's monitor wants to stop              */
    bool stop_agreed;       /* a sum has carried that to every rank           */
    bool dry;               /* operations are counted, not run                */
    double answer_seconds;  /* a GPU's longest silence; then it has failed */
    double barrier_seconds; /* ... and wait of a persistent kernel's block */
    char why[512];          /* the message of the failure                     */
    tacit_tally *tally;     /* of the count layer, NULL without one           */
};

/* The flag word that this rank adds to a sum, and what the summed word of all
 * ranks means for this queue. */
double tct_flags_mine(const tacit_queue *q);
void tct_flags_agreed(tacit_queue *q, double word);

/* t += times d;  a - b */
void tct_tally_add(tacit_tally *t, const tacit_tally *d, int64_t times);
tacit_tally tct_tally_less(const tacit_tally *a, const tacit_tally *b);

/* What a layer does with the calls it does not care about. */
void tct_pass_submit(tct_layer *self, tacit_queue *q, const tct_op *op);
void tct_pass_sync(tct_layer *self, tacit_queue *q);
void *tct_pass_alloc(tct_layer *self, tacit_queue *q, size_t bytes);
void tct_pass_free(tct_layer *self, tacit_queue *q, void *p);

extern const tct_device_ops tct_device_host, tct_device_cuda;

/* All devices of this build, ended by NULL. */
const tct_device_ops *const *tct_devices(void);

/* Join device, transport and layers; comm/ calls it.
 * Errors      INVALID (unknown device or decorator), NO_MEMORY, DEVICE. */
tacit_status tct_queue_new(tacit_world *world, const tct_link_ops *link,
                           int rank, int ranks, const char *spec, int threads,
                           tacit_queue **out);

/* --- the words of a solver ------------------------------------------------ */

static inline void q_submit(tacit_queue *q, const tct_op *op)
{
    q->top->ops->submit(q->top, q, op);
}

/* Note a failure: the first one stays. */
void q_fail(tacit_queue *q, tacit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Wait until the queue has drained; its first failure, as a status. */
tacit_status q_status(tacit_queue *q);

/* The same, but OK if the failure is another rank's: for an agreement, in
 * which that rank speaks for itself. */
tacit_status q_own_status(tacit_queue *q);

/* n doubles on the device, NULL (and a failed queue) if there are none. */
double *q_alloc(tacit_queue *q, size_t n);
void q_free(tacit_queue *q, double *p);
/* Blocking copies between host and device. */
void q_get(tacit_queue *q, size_t n, const double *x, double *host);
void q_put(tacit_queue *q, size_t n, const double *host, double *x);

/* y = value;  y = x;  y = factor y */
void q_fill(tacit_queue *q, size_t n, double value, double *y);
void q_copy(tacit_queue *q, size_t n, const double *x, double *y);
void q_scale(tacit_queue *q, size_t n, double factor, double *y);
/* y[i] = x[index[i]], the index on the device */
void q_gather(tacit_queue *q, size_t n, const int32_t *index, const double *x,
              double *y);
/* y = y + sign alpha x;  y = x + sign alpha y; alpha NULL is 1 */
void q_axpy(tacit_queue *q, size_t n, double sign, const double *alpha,
            const double *x, double *y);
void q_aypx(tacit_queue *q, size_t n, double sign, const double *alpha,
            const double *x, double *y);
/* *out = (x, y) of this rank's part; sum it over ranks with q_sum */
void q_dot(tacit_queue *q, size_t n, const double *x, const double *y,
           double *out);
/* *out = (x, x) */
void q_norm(tacit_queue *q, size_t n, const double *x, double *out);
/* out[0] = (x, y), out[1] = (y, y) */
void q_dots(tacit_queue *q, size_t n, const double *x, const double *y,
            double *out);
/* y = y + sign alpha x, *out = (y, y) */
void q_axpy_norm(tacit_queue *q, size_t n, double sign, const double *alpha,
                 const double *x, double *y, double *out);

/* x = x + alpha p;  p = r + beta p */
void q_cg_update(tacit_queue *q, size_t n, const double *alpha,
                 const double *beta, const double *r, double *p, double *x);
/* x += alpha p; r -= alpha s; p = r + beta p; *rr = (r, r) */
void q_single_update(tacit_queue *q, size_t n, const double *alpha,
                     const double *beta, const double *s, double *r, double *p,
                     double *x, double *rr);
/* z = n + beta z; s = w + beta s; p = r + beta p; x += alpha p; r -= alpha s;
 * w -= alpha z; out[0] = (r, r), out[1] = (w, r) */
void q_pipelined_update(tacit_queue *q, size_t n, const double *alpha,
                        const double *beta, const double *nn, double *z,
                        double *s, double *w, double *p, double *r, double *x,
                        double *out);
/* x += alpha p; r -= alpha s; p = r + beta p; s = w - alpha u + beta s;
 * out[0] = (r, r), out[1] = (p, s), out[2] = (r, s), out[3] = (s, s) */
void q_pipe_pr_update(tacit_queue *q, size_t n, const double *alpha,
                      const double *beta, const double *w, const double *u,
                      double *s, double *r, double *p, double *x, double *out);

/* A scalar step on the block `c` [TCT_SCALARS]. */
void q_step(tacit_queue *q, tct_step step, double *c);

/* Enqueue a look at the scalar block `c`; the looks that were enqueued are
 * taken in order with q_seen, which waits; false if there is none. Only for
 * devices with `seen`. */
void q_look(tacit_queue *q, double *c);
bool q_seen(tacit_queue *q, tct_seen *out);

/* Sum `count` scalars over the ranks; between begin and end other work may be
 * enqueued, but no other sum. */
void q_sum_begin(tacit_queue *q, int count, double *data);
void q_sum_end(tacit_queue *q, int count, double *data);
void q_sum(tacit_queue *q, int count, double *data);

/* Send what the plan of `e` lists of x0 (and x1 if it has two columns), and
 * receive e->ghost; other work may be enqueued between begin and end. */
void q_exchange_begin(tacit_queue *q, tct_exchange *e, const double *x0,
                      const double *x1);
void q_exchange_end(tacit_queue *q, tct_exchange *e);

/* y = B x; `dot` NULL, or *dot = (x, y) */
void q_multiply(tacit_queue *q, const tct_block *B, const double *x, double *y,
                double *dot);
/* s = B p; out[0] = (p, s), out[1] = (r, s), out[2] = (s, s) */
void q_multiply_dots(tacit_queue *q, const tct_block *B, const double *p,
                     const double *r, double *s, double *out);
/* y0 = B x0, y1 = B x1 */
void q_multiply_pair(tacit_queue *q, const tct_block *B, const double *x0,
                     double *y0, const double *x1, double *y1);
/* y += B g with the ghosts of column `column`; `dot` NULL, or *dot += (x, B g) */
void q_multiply_add(tacit_queue *q, const tct_block *B, tct_exchange *e,
                    int column, double *y, const double *x, double *dot);

#endif
