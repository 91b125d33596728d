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
#ifndef TCT_QUEUE_H
#define TCT_QUEUE_H
#include "base/base.h"
#include "device/blocks.h"
#include "device/passes.h"
#include "device/team.h"
#include <tacit/queue.h>

/* --- operations ----------------------------------------------------------
 * X(code, text, spmv, dot, nrm2, axpy, moved, sums): what one operation counts
 * as in the aCG paper's section 4.1.4, the doubles per element that it really
 * reads and writes, and the sums it makes. A pass says these in its own row
 * (TCT_PASSES). Vectors are listed in the order of op->v. */
#define TCT_OPS(X)                                                          \
    X(PASS, "pass", 0, 0, 0, 0, 0, 0)                                       \
    X(GATHER, "gather", 0, 0, 0, 0, 2, 0)        /* x y           */        \
    X(RESTRICT, "restriction", 0, 0, 0, 0, 1, 0) /* b t w y, see count.c */ \
    X(PROLONG, "prolongation", 0, 0, 0, 0, 3, 0) /* x w y, see count.c */   \
    X(MULTIPLY, "product", 1, 0, 0, 0, 2, 0)                                \
    X(MULTIPLY_DOT, "product+dot", 1, 1, 0, 0, 2, 1)                        \
    X(MULTIPLY_DOTS, "product+dots", 1, 2, 1, 0, 3, 3)   /* p s r        */ \
    X(MULTIPLY_PASS, "product+pass", 1, 0, 0, 0, 0, 0)   /* the pass's   */ \
    X(MULTIPLY_BLOCK, "block product", 1, 0, 0, 0, 2, 0) /* a column */     \
    X(GRAM, "product of panels", 0, 1, 0, 0, 1, 0)       /* see count.c */  \
    X(COMBINE, "panel update", 0, 0, 0, 1, 1, 0)         /* see count.c */  \
    X(MIX, "panel mixed", 0, 0, 0, 1, 1, 0)              /* see count.c */  \
    X(MULTIPLY_ADD, "ghost product", 0, 0, 0, 0, 0, 0)   /* y x g d      */ \
    X(STEP, "scalar step", 0, 0, 0, 0, 0, 0)                                \
    X(BLOCKS, "step of blocks", 0, 0, 0, 0, 0, 0)                           \
    X(LOOK, "look", 0, 0, 0, 0, 0, 0)                                       \
    X(SUM_BEGIN, "sum begin", 0, 0, 0, 0, 0, 0)                             \
    X(SUM_END, "sum end", 0, 0, 0, 0, 0, 0)                                 \
    X(EXCHANGE_BEGIN, "exchange begin", 0, 0, 0, 0, 0, 0)                   \
    X(EXCHANGE_END, "exchange end", 0, 0, 0, 0, 0, 0)                       \
    X(PACK, "pack", 0, 0, 0, 0, 2, 0)     /* to which pack       */         \
    X(UNPACK, "unpack", 0, 0, 0, 0, 2, 0) /* from which landing  */         \
    X(CALL, "function", 1, 0, 0, 0, 0, 0)                                   \
    X(RECORD_BEGIN, "record", 0, 0, 0, 0, 0, 0)                             \
    X(RECORD_END, "recorded", 0, 0, 0, 0, 0, 0)                             \
    X(REPLAY, "replay", 0, 0, 0, 0, 0, 0)                                   \
    X(REPLAYED, "replayed", 0, 0, 0, 0, 0, 0)                               \
    X(GET, "get", 0, 0, 0, 0, 2, 0)                                         \
    X(PUT, "put", 0, 0, 0, 0, 2, 0)

typedef enum tct_opcode {
#define X(code, ...) TCT_##code,
    TCT_OPS(X)
#undef X
        TCT_OPCODES
} tct_opcode;

/* The most sums of any operation. */
union tct_op_widths {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums) char code[1 + (sums)];
    TCT_OPS(X)
#undef X
#define X(name, text, vectors, reads, writes, sums, ...) char name[1 + (sums)];
    TCT_PASSES(X)
#undef X
};
enum {
    TCT_OP_SUMS = sizeof(union tct_op_widths) - 1,
    TCT_OP_VECTORS = TCT_PASS_VECTORS > 4 ? TCT_PASS_VECTORS : 4,
    TCT_COLUMNS_MOST = 32, /* of a panel */
    /* scalars of a sum over ranks: the whole product of two panels */
    TCT_SUM_MOST = TCT_COLUMNS_MOST * TCT_COLUMNS_MOST,
    /* scalars of as many systems as there may be at once */
    TCT_SYSTEMS_SCALARS = TCT_COLUMNS_MOST * TCT_SCALARS
};

typedef struct tct_op_info {
    const char *text;
    int spmv, dot, nrm2, axpy; /* how many it counts as             */
    int moved;                 /* doubles moved per element          */
    int sums;                  /* scalars it leaves in op->out       */
} tct_op_info;

typedef struct tct_block tct_block;
typedef struct tct_exchange tct_exchange;

/* Vectors side by side: column j begins `stride` doubles after column j - 1. */
typedef struct tct_panel {
    double *at;
    ptrdiff_t stride;
    int columns;
} tct_panel;

static inline double *tct_column(const tct_panel *x, int j)
{
    return x->at + j * x->stride;
}
/* Columns [from, from + columns) of `x`. */
static inline tct_panel tct_columns(const tct_panel *x, int from, int columns)
{
    return (tct_panel){tct_column(x, from), x->stride, columns};
}
static inline tct_panel tct_single(const double *x)
{
    return (tct_panel){(double *)(uintptr_t)x, 0, 1};
}
/* Two vectors, wherever they are. */
static inline tct_panel tct_pair(const double *x0, const double *x1)
{
    const intptr_t apart = (intptr_t)x1 - (intptr_t)x0;
    return (tct_panel){(double *)(uintptr_t)x0,
                       apart / (intptr_t)sizeof(double), 2};
}

/* Messages lie peer by peer in `pack` and `landing`; in a message the columns of
 * an element stand side by side. */
typedef struct tct_buffers {
    double *pack;    /* [columns * values] */
    double *landing; /* [columns * ghosts] */
} tct_buffers;

/* What the line, the devices and the decorators know of an exchange; comm/ adds
 * the rest. */
struct tct_exchange {
    int columns;        /* vectors exchanged at once, at most              */
    int64_t messages;   /* sent by this rank per exchange                  */
    int64_t values;     /* sent by this rank per exchange and column       */
    int64_t ghosts;     /* received by this rank per column                */
    int32_t *index;     /* [values] elements to send, on the device        */
    double *ghost;      /* [columns * ghosts] on the device, column after
                           column                                          */
    tct_buffers shared; /* which the device and the CPU reach, and         */
    tct_buffers device; /* of the device alone: where an open link needs it */
};

/* A function of the user's: y of x, both on the device. */
typedef tacit_status (*tct_call_fn)(void *ctx, tacit_queue *q, const double *x,
                                    double *y);

/* What a function exchanged in a call, in order: where it fails on one rank, the
 * rest is made without it, for the others that wait. */
enum { TCT_CALL_MOST = 64 };
typedef struct tct_call_log {
    int count; /* above TCT_CALL_MOST: too much to know; 0: nothing or unknown */
    int freed; /* exchanges that the queue had seen go: see tacit_queue      */
    struct {
        tct_exchange *exchange;
        int columns;
        bool end;
    } made[TCT_CALL_MOST];
} tct_call_log;

/* Operations that are enqueued to be run again and again. */
typedef struct tct_recording {
    bool sketch;  /* it is but counted: never run                         */
    double *c;    /* the scalars that say when all has come to rest       */
    int looks;    /* it has so many; known at its end                     */
    void *device; /* what the device made of it; NULL: nothing, or failed */
    tacit_tally tally; /* what it counts as, where there is a count layer */
} tct_recording;

/* A pass, a step or a sum may be of several systems at once: of the vectors that
 * its own stand for, `stride` doubles apart, with scalars TCT_SCALARS apart. On
 * the host also a product with a pass behind it, a restriction, a prolongation. */
typedef struct tct_systems {
    int count; /* 0: one alone, whose steps do not count updates */
    size_t stride;
    unsigned shared; /* bit k: vector k is the same for all; on the host
                        TCT_SHARED_SCALARS: alpha and beta are, too */
} tct_systems;
enum { TCT_SHARED_SCALARS = 1 << 30 };

/* How far apart vectors of n elements stand: with room for a scalar behind each,
 * at borders of cache lines, and not in the same sets of a cache where n is a
 * power of two. */
static inline size_t tct_stride(size_t n)
{
    const size_t line = 8;
    return ((n / line + 1) | 1) * line;
}

/* Sets of elements of a vector, set c being what `list` has in places
 * [ptr[c], ptr[c + 1]); of each there are `width` sums, one behind the other,
 * with weights of their own. The arrays are on the device. */
typedef struct tct_sets {
    int64_t count, elements;
    int width;
    const int32_t *ptr;  /* [count + 1]           */
    const int32_t *list; /* [elements]            */
} tct_sets;

typedef struct tct_op {
    tct_opcode code;
    tct_pass pass;              /* of PASS                              */
    size_t n;                   /* elements per vector                  */
    double sign;                /* of alpha; without alpha, in place    */
    const double *alpha, *beta; /* scalars on the device                */
    double *v[TCT_OP_VECTORS];  /* vectors, as listed above             */
    double *out;                /* scalar results, contiguous           */
    int count;    /* scalars of a sum; vectors of a block; width of a PROLONG */
    bool at_once; /* the end of this sum follows directly */
    const tct_block *block;     /* of a product                         */
    const int32_t *index;       /* of GATHER, PROLONG, on the device    */
    const tct_sets *sets;       /* of RESTRICT                          */
    tct_panel x;                /* what is sent; X of an operation on   */
    tct_panel y;                /* ... panels, and its Y; Z and W of GRAM */
    tct_exchange *exchange;     /* of an exchange                       */
    tct_step step;              /* of a scalar step                     */
    tct_blocks_step block_step; /* ... of a step of blocks, on these, ... */
    tct_blocks *blocks;
    tct_systems systems;      /* of what may be of several            */
    tct_recording *recording; /* of RECORD_BEGIN to REPLAYED          */
    int64_t times;            /* looks of REPLAY; replays of REPLAYED */
    void *host;               /* host memory of GET and PUT; of CALL  */
    tct_call_fn call;         /* ... the context of this              */
} tct_op;

/* What is known of an operation, or of the pass that it is. */
const tct_op_info *tct_op_info_of(const tct_op *op);

static inline int tct_op_systems(const tct_op *op)
{
    return op->systems.count > 1 ? op->systems.count : 1;
}
/* The operation on system `j` alone. */
tct_op tct_op_system(const tct_op *op, int j);

/* --- the two tables that are back ends ----------------------------------- */

/* What a matrix block must do for the device; formats implement it. */
typedef struct tct_block_ops {
    const char *name; /* the format's */
    /* y = B x; if `dot` is not NULL, *dot = (x, y). */
    void (*multiply)(const tct_block *B, const double *x, double *y,
                     double *dot);
    /* Y = B X in few passes over B; each column has the bits of a product
     * of its own. OPTIONAL: multiply column by column. */
    void (*multiply_block)(const tct_block *B, const tct_panel *X,
                           const tct_panel *Y);
    /* t = B x of op->x, and of each chunk of rows at once what `range` does with
     * `op`, whose vector 1 is t, which is kept nowhere; of all systems in few
     * passes over B, each with the bits of one alone. Of blocks of the host that
     * take passes. */
    void (*multiply_pass)(const tct_block *B, const tct_op *op,
                          void (*range)(const tct_op *op, size_t from,
                                        size_t to, double *sums));
    /* MULTIPLY_ADD, the whole of it. Ghost blocks only. */
    void (*multiply_add)(const tct_block *B, const tct_op *op);
    /* The same with values rounded to floats, where they are and through `q`; what
     * is not of values may stay B's, which must outlive it.
     * OPTIONAL.  Errors UNSUPPORTED (not of this block), NO_MEMORY, DEVICE. */
    tacit_status (*rounded)(const tct_block *B, tacit_queue *q,
                            tct_block **out);
    void (*destroy)(tct_block *B); /* NULL-safe */
} tct_block_ops;

struct tct_block { /* first member of every format's struct */
    const tct_block_ops *ops;
    int64_t rows, cols;
    int64_t nonzeros;    /* entries of the matrix, explicit zeros included */
    int64_t stored;      /* with padding                                   */
    double matrix_bytes; /* matrix bytes that one product reads            */
    double borrowed;     /* of these, what another block has               */
    int kernels;         /* that one product starts on a GPU               */
    int threads;         /* of the host that it is worth; 0: all there are */
    bool persistent;     /* a GPU's kernel of a whole solve can take it    */
    bool takes_pass;     /* MULTIPLY_PASS: relax and smooth, at least      */
    bool packed;         /* some value takes fewer bytes than a double: to
                            store it as doubles is something else (GPU)   */
    char detail[160];    /* what the format did with this matrix: for people */
};

/* What a look finds: the scalars that decide whether to go on, the flags of the
 * sum before it, and where steps count them the updates of x before it. */
typedef struct tct_seen {
    double rr, bad, bad_value, flags, updates;
} tct_seen;

/* What formats tell devices apart by: there may be several of a kind. */
typedef enum { TCT_KIND_HOST, TCT_KIND_GPU } tct_device_kind;

/* Which piece of hardware a device is, the same in all processes of a machine.
 * Slices of one GPU (MIG) have its place, and identities of their own. */
typedef struct tct_hardware {
    char bus[32];  /* "0000:3b:00.0"; "": nothing that could be shared */
    char uuid[36]; /* 32 digits */
} tct_hardware;

typedef struct tct_device_ops {
    const char *name; /* "host" */
    tct_device_kind kind;
    bool ordinals; /* a number may say which: "cuda(1)" */
    /* Can this machine have one? If not, why, into `reason` [size]. OPTIONAL */
    bool (*available)(char *reason, size_t size);
    /* Which one `q`, open or only to be opened, has. OPTIONAL: none to be
     * shared */
    tacit_status (*identify)(const tacit_queue *q, tct_hardware *out);
    tacit_status (*open)(tacit_queue *q);
    void (*close)(tacit_queue *q);
    /* Make its device this thread's current one. OPTIONAL: threads have none */
    void (*enter)(tacit_queue *q);
    void *(*alloc)(tacit_queue *q, size_t bytes);
    void (*free)(tacit_queue *q, void *p);
    /* See q_reserve. OPTIONAL */
    void (*reserve)(tacit_queue *q, size_t slab);
    void (*run)(tacit_queue *q, const tct_op *op);
    void (*sync)(tacit_queue *q);
    /* Start all that was enqueued. OPTIONAL */
    void (*flush)(tacit_queue *q);
    void (*describe)(const tacit_queue *q, char *text, size_t size);
    /* Memory that the device and the CPU both reach. OPTIONAL: alloc, free */
    void *(*alloc_shared)(tacit_queue *q, size_t bytes);
    void (*free_shared)(tacit_queue *q, void *p);
    void (*mark)(tacit_queue *q);  /* with such: all that was enqueued ... */
    void (*reach)(tacit_queue *q); /* ... before the last mark is done     */
    /* The rest is OPTIONAL, of a device that runs behind the CPU. */
    /* The oldest look that was not taken yet: waits for it; false if none is
     * to come or the queue has failed. */
    bool (*seen)(tacit_queue *q, tct_seen *out);
    /* How many looks the host may be behind, by what one in vain costs. */
    int (*lag)(tacit_queue *q, size_t n);
    /* See q_tell. */
    void (*tell)(tacit_queue *q, double flags);
    /* As q_record_begin and so on; the end returns the recording's `device`,
     * NULL: failed. */
    void (*record_begin)(tacit_queue *q);
    void *(*record_end)(tacit_queue *q, int looks, const double *c);
    void (*replay)(tacit_queue *q, void *record, int64_t looks);
    /* "while node, 10 iterations", into `text` [size]. */
    void (*record_about)(const void *record, char *text, size_t size);
    void (*record_free)(tacit_queue *q, void *record);
} tct_device_ops;

struct tct_plan;       /* comm/plan.h      */
struct tct_gpu_launch; /* device/gpu/gpu.h */

/* What a world knows of a rank that does not come: none is asked any more. */
typedef struct tct_desertion {
    bool noted;
    int rank; /* < 0: not known which */
    char why[96];
    /* Notes what is known of it without waiting. OPTIONAL */
    void (*look)(tacit_world *w);
} tct_desertion;

/* Note that `rank` (< 0: another one) has not come for `seconds`. */
void tct_desert(tct_desertion *d, int rank, double seconds);

/* Who starts a message, and so which loops can have it. */
typedef enum tct_starter {
    TCT_BY_CPU,    /* loop host            */
    TCT_BY_STREAM, /* ... and loop graph   */
    TCT_BY_KERNEL  /* ... and resident     */
} tct_starter;

/* How messages go between the ranks of a world: one file in comm/, one row in
 * TCT_LINKS. A link by the CPU reads and writes memory of the CPU: where the
 * device has its own, the line brings scalars there and back, and waits for it
 * before a message; values may stay there, if the link says so when it is opened
 * (tct_open_link). A link by the stream or a kernel makes an operation of the
 * device of each message, and of packing and unpacking: `launch`.
 *
 * `sum_end` leaves the same bits on every rank. Each sum carries a word of flags
 * besides its scalars: whether a queue has failed and whether a monitor wants
 * to stop (tct_flags_*), so that all ranks learn of it in the same sum. */
typedef struct tct_link {
    const char *name;
    const char *summary; /* one line for `tacit devices` */
    tct_starter starter;
    bool dear; /* to open: not where one is open already that the device starts,
                  unless it is named */
    bool nodes; /* its messages may stand in a while node */
    /* Has this machine what it needs besides the device? What there is ("NCCL
     * 2.28.9"), or else why not, into `text` [size]. OPTIONAL */
    bool (*probe)(char *text, size_t size);
    /* Can `q`, whose device is open, have it? If not, why, into `reason`
     * [size]. */
    bool (*available)(const tacit_queue *q, char *reason, size_t size);
    /* Set-up and end of *tct_link_state(q); the first is collective. OPTIONAL */
    tacit_status (*open)(tacit_queue *q);
    void (*close)(tacit_queue *q);
    /* Make the persistent messages of a plan, in *tct_plan_state, and free them;
     * the first is collective. OPTIONAL */
    tacit_status (*plan_open)(struct tct_plan *plan);
    void (*plan_close)(struct tct_plan *plan);
    /* Stream plane. */
    void (*sum_begin)(tacit_queue *q, const tct_op *op);
    void (*sum_end)(tacit_queue *q, const tct_op *op);
    void (*exchange_begin)(tacit_queue *q, const tct_op *op);
    void (*exchange_end)(tacit_queue *q, const tct_op *op);
    /* Start on a GPU what was given to q->device->run as an operation: SUM_END,
     * EXCHANGE_BEGIN, EXCHANGE_END. Only of such a link, which packs by itself. */
    void (*launch)(tacit_queue *q, const tct_op *op,
                   const struct tct_gpu_launch *L);
    /* End all that waits for another rank, and launch nothing any more, by what
     * is kept of a queue. Of links whose waits on the device have no limit. */
    void (*give_up)(void *state);
} tct_link;

/* What every link has, called by its name. */
#define TCT_LINK_OPS(kind)                                    \
    .name = #kind, .available = kind##_available,             \
    .sum_begin = kind##_sum_begin, .sum_end = kind##_sum_end, \
    .exchange_begin = kind##_exchange_begin,                  \
    .exchange_end = kind##_exchange_end

/* Where several are open, what each keeps. */
enum { TCT_LINKS_MOST = 8 };
typedef struct tct_open_link {
    const tct_link *link; /* NULL: none */
    void *state;
    bool on_device;     /* what it exchanges lies in memory of the device */
    const char *detail; /* what it has settled, for people, or NULL       */
} tct_open_link;

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
    bool on_stream; /* of the user's, which is the next: borrowed         */
    void *stream;
    tacit_world *world;
    tct_desertion *desertion; /* the world's                              */
    double peer_seconds;      /* another rank's longest silence; 0: no limit */
    double patience; /* the same between kernels of a solve: the least of all
                        ranks, 0 where a rank's device is no GPU             */
    const tct_link *link; /* messages go through links[via]                */
    int via;
    tct_open_link links[TCT_LINKS_MOST]; /* that are open: comm/link.h      */
    struct tct_plan *plans;              /* that are made                   */
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
    bool sketching;         /* operations are counted, not run                */
    double answer_seconds;  /* a GPU's longest silence; then it has failed */
    double barrier_seconds; /* ... and wait of a persistent kernel's block */
    char why[512];          /* the message of the failure                     */
    tct_systems systems;    /* that the words are for                         */
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
 * threads, and on_stream and stream set.
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

/* Make the device of `q`, NULL for none, this thread's current one: first in each
 * public call that comes to the device, and after functions of the user's, who
 * may have work on another one. Not in what is enqueued, which comes after it. */
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
 * doubles apart and whose scalars TCT_SCALARS: each is given those of the first.
 * Passes, steps, sums and products with operators can be so. 0: for one alone,
 * as at first. */
void q_systems(tacit_queue *q, int count, size_t stride);

/* The vectors of all systems, of which `x` is the first. */
static inline tct_panel q_panel(const tacit_queue *q, const double *x)
{
    const int count = q->systems.count;
    return (tct_panel){(double *)(uintptr_t)x, (ptrdiff_t)q->systems.stride,
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

/* Until this is said of 0 bytes, memory of this thread on the device of `q` comes
 * out of slabs of so many, where that is faster: for set-up, which takes and gives
 * back many pieces (device/reserve.h). All that is enqueued on it is of `q`. */
void q_reserve(tacit_queue *q, size_t slab);
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
/* The first `m` columns of X become X C, and y = y + sign X d, d being the last of
 * the m + 1 columns that stand at C; where *held is not 0 all stay as they are. */
void q_mix(tacit_queue *q, size_t n, double sign, tct_panel X, int m,
           const double *C, double *y, const double *held);

/* y[i] = x[index[i]], the index on the device */
void q_gather(tacit_queue *q, size_t n, const int32_t *index, const double *x,
              double *y);

/* y[c W + j] = sum of w[k W + j] (b[i] - t[i]), i = list[k] of set c, W the width
 * of `G`, which stays as it is until the queue has come to it. */
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
 * taken in order with q_seen, which waits; false if there is none. Only for
 * devices with `seen`. */
void q_look(tacit_queue *q, double *c);
bool q_seen(tacit_queue *q, tct_seen *out);

/* What is enqueued between begin and end is recorded into `r`, whose c, or
 * sketch, is set, and not run; it counts as nothing until it is replayed. Only
 * for devices with `replay`, but for sketches. */
void q_record_begin(tacit_queue *q, tct_recording *r);
void q_record_end(tacit_queue *q, tct_recording *r);
/* Run it again and again, in whole replays, until at most `looks` looks have
 * been made or, sooner, the scalars have come to rest: q_seen takes them and
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
/* y += B g with the ghosts of column `column`; `dot` NULL, or *dot += (x, B g) */
void q_multiply_add(tacit_queue *q, const tct_block *B, tct_exchange *e,
                    int column, double *y, const double *x, double *dot);
/* What the pass `of`, relax or smooth, lacks behind a product without these
 * ghosts: both are linear in it, so y -= alpha d (B g) of its vectors, and *out +=
 * what that makes of their sum, if it is not NULL */
void q_multiply_add_pass(tacit_queue *q, const tct_block *B, tct_exchange *e,
                         int column, const tct_op *of);

#endif
