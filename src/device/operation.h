/* SPDX-License-Identifier: BSD-3-Clause
 * device/operation.h - an operation, the record that is enqueued, and its
 * operands. */
#ifndef TCT_DEVICE_OPERATION_H
#define TCT_DEVICE_OPERATION_H
#include "base/base.h"
#include "device/blocks.h"
#include "device/element.h"
#include "device/passes.h"
#include <tacit/queue.h>

/* --- operations -----------------------------------------------------------
 * X(code, text, spmv, dot, nrm2, axpy, moved, sums,
 *   line, host, take, start, count, elements)
 * The first line has the counts of one operation in the aCG paper's section
 * 4.1.4, the doubles per element that it really reads and writes, and its sums.
 * Passes have these in their own rows (TCT_PASSES). Vectors are in the order of
 * op->v. The second line has its functions:
 *   line_...   base_layer.c; `device`: the device runs it
 *   host_...   host.c
 *   take_...   gpu/operations.c, when it is enqueued; `rows`: an operation on
 *              op->n elements, pending until the next one
 *   start      its whole name, in gpu/: the kernel of a pending operation
 *   count_...  decorators/count.c; `each`: the counts of its row, once a system
 * `none`: refused. `elements`: `f64`, or `all` for vectors of every type; of a
 * pass as TCT_FLOAT_PASSES says. */
/* clang-format off */
#define TCT_OPS(X)                                                              \
    X(PASS, "pass", 0, 0, 0, 0, 0, 0,                                           \
      device, pass, rows, tct_gpu_pass, each, all)                              \
    X(GATHER, "gather", 0, 0, 0, 0, 2, 0, /* x y */                             \
      device, gather, rows, tct_gpu_gather, each, f64)                          \
    X(RESTRICT, "restriction", 0, 0, 0, 0, 1, 0, /* b t w y */                  \
      device, restrict, rows, tct_gpu_restrict, restrict, f64)                  \
    X(PROLONG, "prolongation", 0, 0, 0, 0, 3, 0, /* x w y */                    \
      device, prolong, rows, tct_gpu_prolong, prolong, f64)                     \
    X(MULTIPLY, "product", 1, 0, 0, 0, 2, 0,                                    \
      device, multiply, rows, start_multiply, each, f64)                        \
    X(MULTIPLY_DOT, "product+dot", 1, 1, 0, 0, 2, 1,                            \
      device, multiply, rows, start_multiply, each, f64)                        \
    X(MULTIPLY_DOTS, "product+dots", 1, 2, 1, 0, 3, 3, /* p s r */              \
      device, multiply_dots, rows, start_multiply_dots, each, f64)              \
    X(MULTIPLY_PASS, "product+pass", 1, 0, 0, 0, 0, 0, /* of the pass */        \
      device, multiply_pass, rows, start_multiply_pass, each, f64)              \
    X(MULTIPLY_BLOCK, "block product", 1, 0, 0, 0, 2, 0,                        \
      device, multiply_block, rows, start_multiply_block, columns, f64)         \
    X(GRAM, "product of panels", 0, 1, 0, 0, 1, 0,                              \
      device, gram, gram, tct_gpu_gram, gram, f64)                              \
    X(COMBINE, "panel update", 0, 0, 0, 1, 1, 0,                                \
      device, combine, rows, tct_gpu_combine, combine, f64)                     \
    X(MIX, "panel mixed", 0, 0, 0, 1, 1, 0,                                     \
      device, mix, rows, tct_gpu_mix, mix, f64)                                 \
    X(MULTIPLY_ADD, "ghost product", 0, 0, 0, 0, 0, 0, /* y x g d */            \
      device, multiply_add, rows, start_multiply_add, ghosts, f64)              \
    X(STEP, "scalar step", 0, 0, 0, 0, 0, 0,                                    \
      device, step, follow, start_epilogue, each, f64)                          \
    X(BLOCKS, "step of blocks", 0, 0, 0, 0, 0, 0,                               \
      device, blocks, pend, tct_gpu_blocks, each, f64)                          \
    X(SAMPLE, "look", 0, 0, 0, 0, 0, 0,                                         \
      sample, sample, sample, start_epilogue, each, f64)                        \
    X(SUM_BEGIN, "sum begin", 0, 0, 0, 0, 0, 0,                                 \
      sum_begin, none, message, start_sum_begin, sum_begin, f64)                \
    X(SUM_END, "sum end", 0, 0, 0, 0, 0, 0,                                     \
      sum_end, none, message, start_sum, sum_end, f64)                          \
    X(EXCHANGE_BEGIN, "exchange begin", 0, 0, 0, 0, 0, 0,                       \
      exchange_begin, none, message, start_exchange_begin, exchange_begin, all) \
    X(EXCHANGE_END, "exchange end", 0, 0, 0, 0, 0, 0,                           \
      exchange_end, none, message, start_exchange_end, exchange_end, all)       \
    X(PACK, "pack", 0, 0, 0, 0, 2, 0, /* to which pack */                       \
      device, pack, rows, start_pack, each, all)                                \
    X(UNPACK, "unpack", 0, 0, 0, 0, 2, 0, /* from which landing */              \
      device, unpack, rows, start_unpack, each, all)                            \
    X(CALL, "function", 1, 0, 0, 0, 0, 0,                                       \
      call, none, none, start_none, each, f64)                                  \
    X(RECORD_BEGIN, "record", 0, 0, 0, 0, 0, 0,                                 \
      record_begin, none, none, start_none, record_begin, f64)                  \
    X(RECORD_END, "recorded", 0, 0, 0, 0, 0, 0,                                 \
      record_end, none, none, start_none, record_end, f64)                      \
    X(REPLAY, "replay", 0, 0, 0, 0, 0, 0,                                       \
      replay, none, none, start_none, each, f64)                                \
    X(REPLAYED, "replayed", 0, 0, 0, 0, 0, 0,                                   \
      replayed, none, none, start_none, replayed, f64)                          \
    X(GET, "get", 0, 0, 0, 0, 2, 0,                                             \
      get, get, get, start_none, aside, all)                                    \
    X(PUT, "put", 0, 0, 0, 0, 2, 0,                                             \
      device, put, put, start_none, aside, all)
/* clang-format on */

typedef enum tct_opcode {
#define X(code, ...) TCT_##code,
    TCT_OPS(X)
#undef X
        TCT_OPCODES
} tct_opcode;

/* The most sums of any operation. */
union tct_op_widths {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, ...) \
    char code[1 + (sums)];
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
    /* scalars of a sum over ranks: a product of two panels */
    TCT_SUM_MOST = TCT_COLUMNS_MOST * TCT_COLUMNS_MOST,
    /* scalars of the largest batch */
    TCT_BATCH_SCALARS = TCT_COLUMNS_MOST * TCT_SCALARS
};

typedef struct tct_op_info {
    const char *text;
    int spmv, dot, nrm2, axpy; /* counts */
    int moved;                 /* doubles moved per element          */
    int sums;                  /* scalars written to op->out */
} tct_op_info;

typedef struct tct_block tct_block;
typedef struct tct_exchange tct_exchange;

/* Vectors at a constant distance: column j begins `stride` elements after column
 * j - 1. `at` is their address for every element type; operations on panels
 * other than exchanges take doubles. */
typedef struct tct_panel {
    double *at;
    ptrdiff_t stride;
    int columns;
    tacit_element element;
} tct_panel;

/* Vectors of any type. */
static inline tct_panel tct_panel_in(tacit_element element, const void *at,
                                     ptrdiff_t stride, int columns)
{
    return (tct_panel){(double *)(uintptr_t)at, stride, columns, element};
}
static inline tct_panel tct_panel_of(const double *at, ptrdiff_t stride,
                                     int columns)
{
    return tct_panel_in(TACIT_F64, at, stride, columns);
}
static inline double *tct_column(const tct_panel *x, int j)
{
    return x->at + j * x->stride;
}
static inline const float *tct_float_column(const tct_panel *x, int j)
{
    return (const float *)(const void *)x->at + j * x->stride;
}
/* Columns [from, from + columns) of `x`. */
static inline tct_panel tct_columns(const tct_panel *x, int from, int columns)
{
    return tct_panel_of(tct_column(x, from), x->stride, columns);
}
static inline tct_panel tct_single(const double *x)
{
    return tct_panel_of(x, 0, 1);
}
/* Two vectors at any addresses. */
static inline tct_panel tct_pair(const double *x0, const double *x1)
{
    const intptr_t apart = (intptr_t)x1 - (intptr_t)x0;
    return tct_panel_of(x0, apart / (intptr_t)sizeof(double), 2);
}

/* Message buffers, peer by peer; in a message the columns of an element are
 * contiguous. */
typedef struct tct_buffers {
    double *pack;    /* [columns * values] */
    double *landing; /* [columns * ghosts] */
} tct_buffers;

/* The part of an exchange that devices and decorators know; comm/ adds the
 * rest. */
struct tct_exchange {
    int columns;           /* the most vectors at once */
    tacit_element element; /* of the values, in all arrays below */
    int64_t messages;      /* sent by this rank per exchange                  */
    int64_t values;        /* sent by this rank per exchange and column       */
    int64_t ghosts;        /* received by this rank per column                */
    int32_t *index;        /* [values] elements to send, on the device        */
    double *ghost;         /* [columns * ghosts] on the device, by columns */
    tct_buffers shared;    /* reached by device and CPU */
    tct_buffers device;    /* of the device alone; if a link needs it */
};

/* A user function: y of x, both on the device. */
typedef tacit_status (*tct_call_fn)(void *ctx, tacit_queue *q, const double *x,
                                    double *y);

/* The exchanges in a call of a user function, in order: if it fails on one
 * rank, the queue makes the rest, since other ranks wait for it. */
enum { TCT_CALL_MOST = 64 };
typedef struct tct_call_log {
    int count; /* above TCT_CALL_MOST: overflow; 0: none or unknown */
    int freed; /* exchanges freed before: see tacit_queue */
    struct {
        tct_exchange *exchange;
        int columns;
        bool end;
    } made[TCT_CALL_MOST];
} tct_call_log;

/* A sequence of operations recorded for replay. */
typedef struct tct_recording {
    bool dry_run;      /* counted, never run */
    double *c;         /* scalars that tell convergence */
    int looks;         /* its samples; set at its end */
    void *device;      /* the device's; NULL: none, or failed */
    tacit_tally tally; /* its counts, with a count layer */
} tct_recording;

/* A batch: a pass, a step or a sum of several systems at once, with vectors
 * `stride` doubles apart and scalars TCT_SCALARS apart. On the host also a
 * product fused with a pass, a restriction, a prolongation. */
typedef struct tct_system_batch {
    int count; /* 0: a single system; steps count no updates */
    size_t stride;
    unsigned shared; /* bit k: vector k is common; on the host
                      * TCT_SHARED_SCALARS: so are alpha and beta */
} tct_system_batch;
enum { TCT_SHARED_SCALARS = 1 << 30 };

/* The stride of vectors of n elements: room for a further scalar, a multiple of
 * cache lines, and not a power of two, so that vectors do not compete for cache
 * sets. */
static inline size_t tct_stride(size_t n)
{
    const size_t line = 8;
    return ((n / line + 1) | 1) * line;
}

/* Sets of elements of a vector: set c is list[ptr[c]] to list[ptr[c + 1] - 1].
 * Each has `width` contiguous sums, with their own weights. The arrays are on
 * the device. */
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
    double sign;                /* of alpha; alone, if alpha is NULL */
    const double *alpha, *beta; /* scalars on the device                */
    double *v[TCT_OP_VECTORS];  /* vectors, as listed above             */
    double *out;                /* scalar results, contiguous           */
    int count;    /* scalars of a sum; vectors of a block; width of PROLONG */
    bool at_once; /* its SUM_END follows directly */
    const tct_block *block;     /* of a product                         */
    const int32_t *index;       /* of GATHER, PROLONG, on the device    */
    const tct_sets *sets;       /* of RESTRICT                          */
    tct_panel x;                /* sent vectors; X or Z of panel operations */
    tct_panel y;                /* Y or W of panel operations */
    tct_exchange *exchange;     /* of an exchange                       */
    tct_step step;              /* of a scalar step                     */
    tct_blocks_step block_step; /* of BLOCKS, with the next */
    tct_blocks *blocks;
    tct_system_batch batch;   /* of passes, steps, sums, ... */
    tct_recording *recording; /* of RECORD_BEGIN to REPLAYED          */
    int64_t times;            /* samples of REPLAY; replays of REPLAYED */
    void *host;               /* host memory of GET, PUT; context of CALL */
    tct_call_fn call;         /* function of CALL */
    tacit_element element;    /* of the vectors, of x and of y */
} tct_op;

/* The table row of an operation, or of its pass. */
const tct_op_info *tct_op_info_of(const tct_op *op);
/* Do devices have the operation, or its pass, for vectors of its element
 * type? */
bool tct_op_has_element(const tct_op *op);

static inline int tct_op_batch(const tct_op *op)
{
    return op->batch.count > 1 ? op->batch.count : 1;
}
/* The operation on system `j` alone. */
tct_op tct_op_system(const tct_op *op, int j);

#endif
