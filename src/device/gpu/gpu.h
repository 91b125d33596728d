/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/gpu.h - a queue on a GPU: a stream, and one pending operation.
 *
 * An operation is launched when the next one arrives. Scalar work that follows
 * it (steps, samples) becomes its epilogue, done by the last block of its
 * kernel: scalars stay on the device and cost no launch.
 *
 * Samples are read by the host in order, late; the device never waits. They go
 * to device memory first and to the host in batches, since a write over the bus
 * delays the end of a kernel, and a fence, by up to a microsecond. */
#ifndef TCT_DEVICE_GPU_GPU_H
#define TCT_DEVICE_GPU_GPU_H
#include "device/gpu/runtime.h"
#include "device/queue.h"
#include <string.h>

#ifdef __cplusplus
/* A panel as an argument of kernels, whose type says that of its elements. */
template <class T> struct tct_gpu_panel {
    T *at;
    ptrdiff_t stride;
    int columns;
};
template <class T>
static inline tct_gpu_panel<T> tct_gpu_panel_of(const tct_panel &x)
{
    return {(T *)x.at, x.stride, x.columns};
}

extern "C" {
#endif

enum {
    TCT_EPILOGUE_MOST = 4,
    TCT_BLOCKS_MOST = 32768, /* of kernels with sums */
    TCT_SAMPLES = 4096       /* posted, not yet read */
};

/* A sample: words and their check. No fence orders them on their way to the
 * host. Samples are numbered from 1. */
enum { TCT_POSTED_WORDS = 7 };
typedef struct tct_posted {
    double rr, bad, bad_value, flags, updates, alpha, beta;
    uint64_t check;
} tct_posted;

/* The check of sample `number`: the halves of its words, each times a prime of
 * 32 bits. Equal words would cancel in a mere sum or exclusive or, and a sample
 * of which only some words have arrived would pass. */
TCT_BOTH uint64_t tct_posted_check(uint64_t number, const double *words)
{
    const uint32_t primes[2 * TCT_POSTED_WORDS] = {
        0xECC6BE19u, 0xA8B58AB5u, 0xCA8F8E61u, 0xC7CE4769u, 0xC5BA422Du,
        0xC0A317D7u, 0x8956A4E5u, 0xCB8D4B03u, 0x867FD22Fu, 0xC4EB2F79u,
        0xD73781A9u, 0xA9C22111u, 0xBA877F55u, 0xBBA78735u};
    uint64_t sum = number;
    for (int i = 0; i < TCT_POSTED_WORDS; i++) {
        uint64_t bits;
        memcpy(&bits, &words[i], sizeof bits);
        sum += (bits >> 32) * primes[2 * i] +
               (bits & UINT32_MAX) * primes[2 * i + 1];
    }
    return sum;
}

typedef struct tct_mailbox { /* host memory, visible to the device */
    tct_posted posted[TCT_SAMPLES];
    volatile uint64_t limit; /* loops on the device end at this sample */
    /* from kernels that communicate: the flags of a sum, if any, and 1 + the
     * lost rank */
    volatile double flags;
    volatile uint64_t missing;
    double told;             /* by the host, for outbox->mine */
    volatile uint64_t looks; /* copy of outbox->looks */
} tct_mailbox;

typedef struct tct_outbox { /* device memory */
    tct_posted posted[TCT_SAMPLES];
    uint64_t looks;        /* samples so far */
    uint64_t sample_batch; /* samples per batch: 1, 2, 4.. */
    double mine;           /* this rank's flags for the next sum */
    double flags;          /* all ranks', of the last sum */
    tct_mailbox *mailbox;
} tct_outbox;

typedef enum { EPILOGUE_STEP, EPILOGUE_SAMPLE } tct_epilogue_kind;

/* The actions of a kernel's last block, in order. */
typedef struct tct_epilogue {
    int count;
    struct {
        tct_epilogue_kind kind;
        tct_step step;
    } action[TCT_EPILOGUE_MOST];
    double *c;          /* scalar block of the actions, of the first system */
    int batch;          /* systems; 0: one, without counting */
    tct_outbox *outbox; /* for samples */
} tct_epilogue;

/* A launch, besides its data. `out` NULL: no sums, or (in a kernel with
 * optional sums) none wanted. */
typedef struct tct_gpu_launch {
    tacit_queue *queue;
    gpu_stream stream;
    int sms;          /* multiprocessors                          */
    double *partial;  /* [TCT_BLOCKS_MOST * TCT_OP_SUMS]          */
    unsigned *ticket; /* [TCT_COLUMNS_MOST] 0 between kernels     */
    double *out;
    bool keeps; /* rank 0: keep held sums, once over all ranks */
    tct_epilogue epilogue;
    size_t l2_bytes;
} tct_gpu_launch;

/* A matrix block on a GPU; first member of the formats' structs. */
typedef struct tct_gpu_block tct_gpu_block;
typedef struct tct_gpu_block_ops {
    /* y = B x; with L->out, *out = (x, y); then L's epilogue. */
    void (*multiply)(const tct_gpu_block *B, const tct_gpu_launch *L,
                     const double *x, double *y);
    /* s = B p; out[0] = (p, s), out[1] = (r, s), out[2] = (s, s); then the
     * epilogue. False: not for this block, nothing was done. OPTIONAL. */
    bool (*multiply_dots)(const tct_gpu_block *B, const tct_gpu_launch *L,
                          const double *p, const double *r, double *s);
    /* Y = B X in fewer passes over B than columns, each with the bits of
     * `multiply`; then the epilogue. OPTIONAL. */
    void (*multiply_columns)(const tct_gpu_block *B, const tct_gpu_launch *L,
                             const tct_panel *X, const tct_panel *Y);
    /* See tct_block's takes_pass: op is the whole operation; with L->out, its
     * sum; then the epilogue. */
    void (*multiply_pass)(const tct_gpu_block *B, const tct_gpu_launch *L,
                          const tct_op *op);
    /* MULTIPLY_ADD; with L->out, its sum; then the epilogue. Ghost blocks only;
     * they have no other product. */
    void (*multiply_add)(const tct_gpu_block *B, const tct_gpu_launch *L,
                         const tct_op *op);
} tct_gpu_block_ops;
struct tct_gpu_block {
    tct_block base;
    const tct_gpu_block_ops *gpu;
};

typedef struct tct_gpu {
    gpu_stream stream; /* NULL: not open */
    bool borrowed;     /* the stream is the user's */
    int device, sms;
    size_t l2_bytes, shared_bytes; /* shared: the most of one block */
    char name[256];
    double *partial;
    unsigned *ticket;
    tct_outbox *outbox;       /* device                            */
    tct_mailbox *mailbox;     /* host                              */
    tct_mailbox *mailbox_gpu; /* the same, at the device's address */
    int sample_batch;         /* samples per batch */
    gpu_stream aside;         /* side stream, for the host's flags */
    gpu_event mark;           /* of the device's `mark` */
    bool by_node;             /* several ranks: all have while nodes (set by
                               * links with `nodes`) */
    uint64_t made, taken;     /* samples enqueued, samples read */
    bool holding;             /* `held` is pending */
    tct_op held;
    tct_epilogue epilogue;
    bool capturing;
    void *playing;     /* recording being replayed, or NULL */
    uint64_t launched; /* recordings */
} tct_gpu;

/* The state of a queue whose device is a GPU. */
static inline tct_gpu *tct_gpu_of(const tacit_queue *q)
{
    return (tct_gpu *)q->device_state;
}

/* Fail the queue if a runtime call failed; false if so. */
bool tct_gpu_ok(tacit_queue *q, gpu_error error, const char *call);
/* The same as a status. */
tacit_status tct_gpu_status(gpu_error error, const char *call);

/* Is a rank lost, by a kernel's timeout or the end of its process? Then the
 * queue fails. */
bool tct_gpu_deserted(tacit_queue *q);

/* The device's `run`: take an operation (operations.c). */
void tct_gpu_run(tacit_queue *q, const tct_op *op);
/* Launch the pending operation. */
void tct_gpu_flush(tacit_queue *q);
/* Wait for all enqueued work that has been launched. */
gpu_error tct_gpu_finish(tacit_queue *q);

/* This rank's flags for the sum launched now; recordings read later ones from
 * outbox->mine. */
double tct_gpu_flags(tacit_queue *q);

/* Open the stream of `q` on the current device: the user's or a new one.
 * Errors      INVALID (an unusable stream, saying why), DEVICE. */
tacit_status tct_gpu_open_stream(const tacit_queue *q);
/* The device's `mark` and `reach`. */
void tct_gpu_mark(tacit_queue *q);
void tct_gpu_reach(tacit_queue *q);

/* --- memory.c ------------------------------------------------------------- */

/* Copy `bytes` of host memory to new device memory; `from` NULL: poison it.
 * Errors NO_MEMORY, DEVICE. */
tacit_status tct_gpu_upload(const void *from, size_t bytes, void *out);
/* The same, poisoned or not, of memory that other GPUs write. */
tacit_status tct_gpu_take_reached(size_t bytes, void *out);
void tct_gpu_release(void *p); /* NULL is allowed */
/* New memory, NULL if there is none, poisoned in tests; and its pool, the
 * device's `pool`. */
void *tct_gpu_take(size_t bytes);
void tct_gpu_memory_pool(tacit_queue *q, size_t slab);
/* Does this thread take memory from a pool whose work is on `stream`? */
bool tct_gpu_pools_on(gpu_stream stream);
/* Is new memory poisoned with NaN? For tests: TACIT_POISON. */
bool tct_gpu_poisons(void);
/* Check that `bytes` fit. Errors NO_MEMORY, naming `what` and the free
 * memory. */
tacit_status tct_gpu_require(double bytes, const char *what);
/* Bytes of free memory of the current device; -1: not known. */
double tct_gpu_free_memory(const tacit_queue *q);

/* --- kernels of operations ------------------------------------------------ */

/* Each starts the kernel of operation `op`, whose sums and epilogue are in L.
 * vector.cu */
void tct_gpu_pass(const tct_op *op, const tct_gpu_launch *L);
void tct_gpu_gather(const tct_op *op, const tct_gpu_launch *L);
void tct_gpu_restrict(const tct_op *op, const tct_gpu_launch *L);
void tct_gpu_prolong(const tct_op *op, const tct_gpu_launch *L);
/* exchange.cu: pack from op->x, or unpack to the ghosts */
void tct_gpu_pack(const tct_op *op, double *to, const tct_gpu_launch *L);
void tct_gpu_unpack(const tct_op *op, const double *from,
                    const tct_gpu_launch *L);
/* panel.cu */
void tct_gpu_gram(const tct_op *op, const tct_gpu_launch *L);
void tct_gpu_combine(const tct_op *op, const tct_gpu_launch *L);
/* blocks.cu */
void tct_gpu_blocks(const tct_op *op, const tct_gpu_launch *L);
void tct_gpu_mix(const tct_op *op, const tct_gpu_launch *L);
/* The epilogue alone. */
void tct_gpu_epilogue(const tct_gpu_launch *L);

#ifdef __cplusplus
}
#endif
#endif
