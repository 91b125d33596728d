/* SPDX-License-Identifier: BSD-3-Clause
 * device/backend.h - the tables of back ends: the functions of a device, of a
 * matrix block and of a link. */
#ifndef TCT_DEVICE_BACKEND_H
#define TCT_DEVICE_BACKEND_H
#include "device/operation.h"

/* The functions of a matrix block; formats implement them. */
typedef struct tct_block_ops {
    const char *name; /* the format's */
    /* y = B x; if `dot` is not NULL, *dot = (x, y). */
    void (*multiply)(const tct_block *B, const double *x, double *y,
                     double *dot);
    /* Y = B X in few passes over B; each column has the bits of a single
     * product. OPTIONAL: multiply column by column. */
    void (*multiply_block)(const tct_block *B, const tct_panel *X,
                           const tct_panel *Y);
    /* A product fused with a pass: t = B x for op->x, one chunk of rows at a
     * time, each followed by `range` of `op`, whose vector 1 is t; t is not
     * stored. A batch takes few passes over B, and each system has the bits of
     * a single one. Host blocks with takes_pass only. */
    void (*multiply_pass)(const tct_block *B, const tct_op *op,
                          void (*range)(const tct_op *op, size_t from,
                                        size_t to, double *sums));
    /* y = |B| x, x not negative, on the host. OPTIONAL */
    void (*magnitude)(const tct_block *B, const double *x, double *y);
    /* MULTIPLY_ADD. Ghost blocks only. */
    void (*multiply_add)(const tct_block *B, const tct_op *op);
    /* A copy with values rounded to floats, in the same memory, made through
     * `q`; it may share other arrays with B, which must outlive it.
     * OPTIONAL.  Errors UNSUPPORTED (not for this block), NO_MEMORY, DEVICE. */
    tacit_status (*rounded)(const tct_block *B, tacit_queue *q,
                            tct_block **out);
    void (*destroy)(tct_block *B); /* NULL-safe */
} tct_block_ops;

struct tct_block { /* first member of every format's struct */
    const tct_block_ops *ops;
    int64_t rows, cols;
    int64_t nonzeros;    /* entries of the matrix, explicit zeros included */
    int64_t stored;      /* with padding                                   */
    double matrix_bytes; /* read by one product */
    double borrowed;     /* of these, owned by another block */
    int kernels;         /* kernels of one product on a GPU */
    int threads;         /* best number of host threads; 0: all */
    bool persistent;     /* persistent kernels can use it */
    bool takes_pass;     /* MULTIPLY_PASS with relax and smooth */
    bool packed;         /* values take fewer bytes than doubles (GPU) */
    char detail[160];    /* report of the format's choices */
};

/* A sample for the convergence check: the scalars that decide, the flags of the
 * sum before, and the number of updates of x, where steps count them. */
typedef struct tct_sample {
    double rr, bad, bad_value, flags, updates;
} tct_sample;

/* The kind of a device, by which formats are chosen. */
typedef enum { TCT_KIND_HOST, TCT_KIND_GPU } tct_device_kind;

/* The identity of a device, the same in all processes of a machine. Slices of
 * one GPU (MIG) share its bus address and differ in UUID. */
typedef struct tct_hardware {
    char bus[32];  /* "0000:3b:00.0"; "": cannot be shared */
    char uuid[36]; /* 32 digits */
} tct_hardware;

/* Kernels that stay on a device for many iterations and post a sample for each
 * check. */
typedef struct tct_persistent_ops {
    int samples; /* of one kernel, at most */
    /* Ask the running kernel to end; samples go on until all its blocks
     * know. */
    void (*end)(tacit_queue *q);
    void (*over)(tacit_queue *q); /* all its samples have been taken */
    void (*late)(tacit_queue *q); /* a block or a rank did not arrive: fail */
} tct_persistent_ops;

typedef struct tct_device_ops {
    const char *name; /* "host" */
    tct_device_kind kind;
    bool ordinals; /* takes an ordinal */
    /* Does this machine have one? If not, `reason` [size] says why. OPTIONAL */
    bool (*available)(char *reason, size_t size);
    /* The hardware of `q`, which need not be open. OPTIONAL: it cannot be
     * shared */
    tacit_status (*identify)(const tacit_queue *q, tct_hardware *out);
    tacit_status (*open)(tacit_queue *q);
    void (*close)(tacit_queue *q);
    /* Make this thread's current device that of `q`. OPTIONAL */
    void (*enter)(tacit_queue *q);
    void *(*alloc)(tacit_queue *q, size_t bytes);
    void (*free)(tacit_queue *q, void *p);
    /* Bytes of free memory; negative: not known. OPTIONAL */
    double (*free_memory)(const tacit_queue *q);
    /* See q_memory_pool. OPTIONAL */
    void (*pool)(tacit_queue *q, size_t slab);
    void (*run)(tacit_queue *q, const tct_op *op);
    void (*sync)(tacit_queue *q);
    /* Start all enqueued work. OPTIONAL */
    void (*flush)(tacit_queue *q);
    void (*describe)(const tacit_queue *q, char *text, size_t size);
    /* Memory that the device and the CPU both reach. OPTIONAL: alloc, free */
    void *(*alloc_shared)(tacit_queue *q, size_t bytes);
    void (*free_shared)(tacit_queue *q, void *p);
    void (*mark)(tacit_queue *q);  /* with such memory: mark the queue ... */
    void (*reach)(tacit_queue *q); /* ... wait for work before the mark */
    /* The rest is OPTIONAL, for devices that run asynchronously. */
    /* Wait for the oldest unread sample; false: none will come, or the queue
     * has failed. */
    bool (*seen)(tacit_queue *q, tct_sample *out);
    /* Check lag: by how many samples the host may be behind. */
    int (*lag)(tacit_queue *q, size_t n);
    /* See q_tell. */
    void (*tell)(tacit_queue *q, double flags);
    /* As q_record_begin etc.; the end returns the recording's `device`, NULL:
     * failed. */
    void (*record_begin)(tacit_queue *q);
    void *(*record_end)(tacit_queue *q, int looks, const double *c);
    void (*replay)(tacit_queue *q, void *record, int64_t looks);
    /* A description such as "while node, 10 iterations". */
    void (*record_about)(const void *record, char *text, size_t size);
    void (*record_free)(tacit_queue *q, void *record);
    const tct_persistent_ops *persistent;
} tct_device_ops;

struct tct_plan;       /* comm/exchange/plan.h      */
struct tct_gpu_launch; /* device/gpu/gpu.h */

/* A lost rank, as a world has noted it; from then on no rank is waited for. */
typedef struct tct_lost_rank {
    bool noted;
    int rank; /* < 0: unknown */
    char why[96];
    /* Check for a lost rank without waiting. OPTIONAL */
    void (*look)(tacit_world *w);
} tct_lost_rank;

/* Note that `rank` (< 0: unknown) is lost after `seconds`. */
void tct_note_lost_rank(tct_lost_rank *d, int rank, double seconds);

/* The unit that starts a message; it limits the loops. */
typedef enum tct_starter {
    TCT_BY_CPU,    /* loop host            */
    TCT_BY_STREAM, /* ... and loop graph   */
    TCT_BY_KERNEL  /* ... and resident     */
} tct_starter;

/* A link moves messages between the ranks of a world: one file in comm/, one
 * row in TCT_LINKS. A link started by the CPU reads and writes CPU memory: for
 * a device with its own memory, the queue copies scalars and waits before a
 * message; values may stay on the device if the link allows it when it is
 * opened (tct_open_link). A link started by the stream or a kernel may hand
 * over a launcher when it opens.
 *
 * `sum_end` leaves the same bits on every rank. Each sum carries a word of
 * flags (tct_flags_*): whether a queue has failed, and whether a monitor wants
 * to stop. All ranks learn of it in the same sum. */
typedef struct tct_link {
    const char *name;
    const char *summary; /* one line for `tacit devices` */
    tct_starter starter;
    bool expensive; /* to open; skipped if unnamed and a device link is open */
    bool named;     /* opened only by its name */
    bool nodes;     /* messages allowed in while nodes */
    unsigned elements; /* types that exchanges carry: bit e for type e */
    /* Is its software available? `text` [size] gets a version ("NCCL 2.28.9")
     * or the reason why not. OPTIONAL */
    bool (*probe)(char *text, size_t size);
    /* Can `q`, whose device is open, use it? If not, `reason` [size] says
     * why. */
    bool (*available)(const tacit_queue *q, char *reason, size_t size);
    /* Set up and free *tct_link_state(q); the first is collective. OPTIONAL */
    tacit_status (*open)(tacit_queue *q);
    void (*close)(tacit_queue *q);
    /* Make and free the persistent messages of a plan, in *tct_plan_state; the
     * first is collective. OPTIONAL */
    tacit_status (*plan_open)(struct tct_plan *plan);
    void (*plan_close)(struct tct_plan *plan);
    /* Stream plane; not with a launcher. */
    void (*sum_begin)(tacit_queue *q, const tct_op *op);
    void (*sum_end)(tacit_queue *q, const tct_op *op);
    void (*exchange_begin)(tacit_queue *q, const tct_op *op);
    void (*exchange_end)(tacit_queue *q, const tct_op *op);
    /* Abort all waits for other ranks and stop launching, given the link's
     * state. For links whose device waits have no limit. */
    void (*give_up)(void *state);
} tct_link;

/* The members of a link without a launcher, by naming convention. */
#define TCT_LINK_OPS(kind)                                    \
    .name = #kind, .available = kind##_available,             \
    .sum_begin = kind##_sum_begin, .sum_end = kind##_sum_end, \
    .exchange_begin = kind##_exchange_begin,                  \
    .exchange_end = kind##_exchange_end

/* The launcher of a link on a GPU. The base layer hands sums and exchanges to
 * the device, which calls these when their turn comes: they start the kernels,
 * pack and unpack included. `sum` makes a whole sum, or ends the one that
 * `sum_begin` has started: an operation with `at_once` has no begin. */
typedef void tct_launch_message(tacit_queue *q, const tct_op *op,
                                const struct tct_gpu_launch *L);
typedef struct tct_launcher {
    tct_launch_message *sum, *exchange_begin, *exchange_end, *sum_begin;
} tct_launcher;

/* An open link of a queue. */
enum { TCT_LINKS_MOST = 8 };
typedef struct tct_open_link {
    const tct_link *link; /* NULL: none */
    void *state;
    bool on_device;               /* exchanges use device memory */
    const tct_launcher *launcher; /* set when it opens; NULL: none */
    const char *detail;           /* for reports; may be NULL */
    int holds; /* by clients whose memory is in its windows: it stays open */
} tct_open_link;

#endif
