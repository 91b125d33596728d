/* SPDX-License-Identifier: BSD-3-Clause
 * device/backend.h - the tables that are back ends: what a device, a block of a
 * matrix and a link must do. */
#ifndef TCT_DEVICE_BACKEND_H
#define TCT_DEVICE_BACKEND_H
#include "device/operation.h"

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
    /* t = B x of op->x, and of each chunk of rows at once what `range` does
     * with `op`, whose vector 1 is t, which is kept nowhere; of all systems in
     * few passes over B, each with the bits of one alone. Of blocks of the host
     * that take passes. */
    void (*multiply_pass)(const tct_block *B, const tct_op *op,
                          void (*range)(const tct_op *op, size_t from,
                                        size_t to, double *sums));
    /* MULTIPLY_ADD, the whole of it. Ghost blocks only. */
    void (*multiply_add)(const tct_block *B, const tct_op *op);
    /* The same with values rounded to floats, where they are and through `q`;
     * what is not of values may stay B's, which must outlive it.
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
typedef struct tct_sample {
    double rr, bad, bad_value, flags, updates;
} tct_sample;

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
    /* See q_memory_pool. OPTIONAL */
    void (*pool)(tacit_queue *q, size_t slab);
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
    bool (*seen)(tacit_queue *q, tct_sample *out);
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

struct tct_plan;       /* comm/exchange/plan.h      */
struct tct_gpu_launch; /* device/gpu/gpu.h */

/* What a world knows of a rank that does not come: none is asked any more. */
typedef struct tct_lost_rank {
    bool noted;
    int rank; /* < 0: not known which */
    char why[96];
    /* Notes what is known of it without waiting. OPTIONAL */
    void (*look)(tacit_world *w);
} tct_lost_rank;

/* Note that `rank` (< 0: another one) has not come for `seconds`. */
void tct_desert(tct_lost_rank *d, int rank, double seconds);

/* Who starts a message, and so which loops can have it. */
typedef enum tct_starter {
    TCT_BY_CPU,    /* loop host            */
    TCT_BY_STREAM, /* ... and loop graph   */
    TCT_BY_KERNEL  /* ... and resident     */
} tct_starter;

/* How messages go between the ranks of a world: one file in comm/, one row in
 * TCT_LINKS. A link by the CPU reads and writes memory of the CPU: where the
 * device has its own, the line brings scalars there and back, and waits for it
 * before a message; values may stay there, if the link says so when it is
 * opened (tct_open_link). A link by the stream or a kernel makes an operation
 * of the device of each message, and of packing and unpacking: `launch`.
 *
 * `sum_end` leaves the same bits on every rank. Each sum carries a word of
 * flags besides its scalars: whether a queue has failed and whether a monitor
 * wants to stop (tct_flags_*), so that all ranks learn of it in the same
 * sum. */
typedef struct tct_link {
    const char *name;
    const char *summary; /* one line for `tacit devices` */
    tct_starter starter;
    bool
        expensive; /* to open: not where one is open already that the device starts,
                  unless it is named */
    bool nodes; /* its messages may stand in a while node */
    /* Has this machine what it needs besides the device? What there is ("NCCL
     * 2.28.9"), or else why not, into `text` [size]. OPTIONAL */
    bool (*probe)(char *text, size_t size);
    /* Can `q`, whose device is open, have it? If not, why, into `reason`
     * [size]. */
    bool (*available)(const tacit_queue *q, char *reason, size_t size);
    /* Set-up and end of *tct_link_state(q); the first is collective.
     * OPTIONAL */
    tacit_status (*open)(tacit_queue *q);
    void (*close)(tacit_queue *q);
    /* Make the persistent messages of a plan, in *tct_plan_state, and free
     * them; the first is collective. OPTIONAL */
    tacit_status (*plan_open)(struct tct_plan *plan);
    void (*plan_close)(struct tct_plan *plan);
    /* Stream plane. */
    void (*sum_begin)(tacit_queue *q, const tct_op *op);
    void (*sum_end)(tacit_queue *q, const tct_op *op);
    void (*exchange_begin)(tacit_queue *q, const tct_op *op);
    void (*exchange_end)(tacit_queue *q, const tct_op *op);
    /* Start on a GPU what was given to q->device->run as an operation: SUM_END,
     * EXCHANGE_BEGIN, EXCHANGE_END. Only of such a link, which packs by
     * itself. */
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

#endif
