/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/gpu.h - a queue on a GPU: a stream, and one operation held back.
 *
 * An operation is launched when the next one comes. What follows it and is
 * only scalar work (a step, a look) becomes its tail: the last block of its
 * kernel does it, so that scalars never leave the device and cost no kernel.
 *
 * A look posts the scalars that decide; the host takes them in order, late, and
 * the device never waits. Looks go to memory of the device, and from there to
 * memory of the host in batches, since a write over the bus holds up the end of
 * a kernel, and a fence, for up to a microsecond. */
#ifndef TCT_DEVICE_GPU_GPU_H
#define TCT_DEVICE_GPU_GPU_H
#include "device/gpu/runtime.h"
#include "device/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TCT_EPILOGUE_MOST = 4,
    TCT_BLOCKS_MOST = 32768, /* of any kernel that sums  */
    TCT_SAMPLES = 4096       /* posted and not yet taken */
};

/* One look, valid if check == number ^ the bits of the others: it crosses to
 * the host without a fence. Looks are numbered from 1. */
typedef struct tct_posted {
    double rr, bad, bad_value, flags, updates;
    uint64_t check;
} tct_posted;

typedef struct tct_mailbox { /* of the host, as the device sees it too */
    tct_posted posted[TCT_SAMPLES];
    volatile uint64_t limit; /* loops on the device end at this look */
    /* what kernels that speak with other ranks have to say: the flags of a sum,
     * where there are any, and 1 + the rank that did not come */
    volatile double flags;
    volatile uint64_t missing;
    double told;             /* by the host: outbox->mine                   */
    volatile uint64_t looks; /* outbox->looks, when the host last asked     */
} tct_mailbox;

typedef struct tct_outbox { /* of the device */
    tct_posted posted[TCT_SAMPLES];
    uint64_t looks;        /* so far                                       */
    uint64_t sample_batch; /* looks that go to the host at once: 1, 2, 4.. */
    double mine;           /* flags that the host has for the next sum     */
    double flags;          /* of all ranks, in the last sum                */
    tct_mailbox *mailbox;
} tct_outbox;

typedef enum { EPILOGUE_STEP, EPILOGUE_SAMPLE } tct_epilogue_kind;

/* What the last block of a kernel does, in order. */
typedef struct tct_epilogue {
    int count;
    struct {
        tct_epilogue_kind kind;
        tct_step step;
    } action[TCT_EPILOGUE_MOST];
    double *c;          /* the scalar block of all actions, of the first */
    int batch;          /* ... of so many; 0: one, that does not count   */
    tct_outbox *outbox; /* of looks                        */
} tct_epilogue;

/* What a kernel launch needs besides its data. `out` NULL: nothing is summed,
 * or (in a kernel that can sum or not) nothing is wanted. */
typedef struct tct_gpu_launch {
    gpu_stream stream;
    int sms;          /* multiprocessors                          */
    double *partial;  /* [TCT_BLOCKS_MOST * TCT_OP_SUMS]          */
    unsigned *ticket; /* [TCT_COLUMNS_MOST] 0 between kernels     */
    double *out;
    bool keeps; /* this is rank 0: sums of what is held stay, so that a sum over
                   ranks has them once */
    tct_epilogue epilogue;
    size_t l2_bytes;
} tct_gpu_launch;

/* A matrix block on a GPU: first member of every device format's struct. */
typedef struct tct_gpu_block tct_gpu_block;
typedef struct tct_gpu_block_ops {
    /* y = B x; with L->out, *out = (x, y); the tail of L at the end. */
    void (*multiply)(const tct_gpu_block *B, const tct_gpu_launch *L,
                     const double *x, double *y);
    /* s = B p; out[0] = (p, s), out[1] = (r, s), out[2] = (s, s); the tail at
     * the end. False: not for this block, and nothing was done. OPTIONAL. */
    bool (*multiply_dots)(const tct_gpu_block *B, const tct_gpu_launch *L,
                          const double *p, const double *r, double *s);
    /* Y = B X in fewer passes over B than there are columns, each of which has
     * the bits of `multiply`; the tail at the end. OPTIONAL. */
    void (*multiply_columns)(const tct_gpu_block *B, const tct_gpu_launch *L,
                             const tct_panel *X, const tct_panel *Y);
    /* See tct_block's takes_pass: op is the whole operation; with L->out, its
     * sum; the tail at the end. */
    void (*multiply_pass)(const tct_gpu_block *B, const tct_gpu_launch *L,
                          const tct_op *op);
    /* MULTIPLY_ADD; with L->out, its sum; the tail at the end. Only of ghost
     * blocks, which have no other product. */
    void (*multiply_add)(const tct_gpu_block *B, const tct_gpu_launch *L,
                         const tct_op *op);
} tct_gpu_block_ops;
struct tct_gpu_block {
    tct_block base;
    const tct_gpu_block_ops *gpu;
};

typedef struct tct_gpu {
    gpu_stream stream; /* NULL: not open */
    bool borrowed;     /* it is the user's */
    int device, sms;
    size_t l2_bytes, shared_bytes; /* shared memory of one block, at most */
    char name[160];
    double *partial;
    unsigned *ticket;
    tct_outbox *outbox;       /* device                            */
    tct_mailbox *mailbox;     /* host                              */
    tct_mailbox *mailbox_gpu; /* the same, as the device sees it   */
    int sample_batch;         /* looks that are posted at once     */
    gpu_stream aside;         /* for what the host has to say meanwhile */
    gpu_event mark;           /* the device's `mark`                    */
    bool by_node;             /* of several ranks: all have while nodes,
                                 which links with `nodes` find out */
    uint64_t made, taken;     /* looks enqueued, looks read        */
    bool holding;             /* `held` has not been launched yet  */
    tct_op held;
    tct_epilogue epilogue;
    bool capturing;
    void *playing;     /* the recording under way, or NULL */
    uint64_t launched; /* recordings                       */
} tct_gpu;

/* The state of a queue whose device is a GPU. */
static inline tct_gpu *tct_gpu_of(const tacit_queue *q)
{
    return (tct_gpu *)q->device_state;
}

/* Note in the queue what a call of the runtime says; false if it failed. */
bool tct_gpu_ok(tacit_queue *q, gpu_error error, const char *call);
/* The same as a status. */
tacit_status tct_gpu_status(gpu_error error, const char *call);

/* Did another rank not come to a kernel in time, or has its process ended? Then
 * the queue has failed. */
bool tct_gpu_deserted(tacit_queue *q);

/* Launch what is held back. */
void tct_gpu_flush(tacit_queue *q);

/* Flags that this rank adds to the sum that is launched now, as far as the host
 * knows them: recordings are told when they run, in outbox->mine. */
double tct_gpu_flags(tacit_queue *q);

/* Open the stream of `q`, on its device, which is the current one: the user's
 * or a new one.
 * Errors      INVALID (a stream that cannot be had, saying why), DEVICE. */
tacit_status tct_gpu_open_stream(const tacit_queue *q);
/* The device's `mark` and `reach`. */
void tct_gpu_mark(tacit_queue *q);
void tct_gpu_reach(tacit_queue *q);

/* --- memory of blocks ----------------------------------------------------- */

/* Copy `bytes` of host memory to new device memory, or allocate it poisoned
 * where `from` is NULL. Errors NO_MEMORY, DEVICE. */
tacit_status tct_gpu_upload(const void *from, size_t bytes, void *out);
void tct_gpu_release(void *p); /* NULL is fine */
/* Does new memory begin as NaN? For tests: TACIT_POISON is set. */
bool tct_gpu_poisons(void);
/* Will `bytes` fit? Errors NO_MEMORY, naming `what`, with what is free. */
tacit_status tct_gpu_require(double bytes, const char *what);

/* --- kernels (vector.cu) -------------------------------------------------- */

/* Vector operation `op`; its sums and the tail are in L. */
void tct_gpu_vector(const tct_op *op, const tct_gpu_launch *L);
/* What the exchange of `op` sends, from op->x; what has landed, to its ghosts
 * (exchange.cu); the tail at the end. */
void tct_gpu_pack(const tct_op *op, double *to, const tct_gpu_launch *L);
void tct_gpu_unpack(const tct_op *op, const double *from,
                    const tct_gpu_launch *L);
/* GRAM or COMBINE (panel.cu); the tail at the end. */
void tct_gpu_panel(const tct_op *op, const tct_gpu_launch *L);
/* BLOCKS, MIX (blocks.cu); the tail at the end. */
void tct_gpu_blocks(const tct_op *op, const tct_gpu_launch *L);
void tct_gpu_mix(const tct_op *op, const tct_gpu_launch *L);
/* The tail alone. */
void tct_gpu_epilogue(const tct_gpu_launch *L);

#ifdef __cplusplus
}
#endif
#endif
