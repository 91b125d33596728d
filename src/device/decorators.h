/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators.h - layers that observe or disturb a queue, one file each
 * in decorators/, chosen by prefix: "trace:count:host". */
#ifndef TCT_DEVICE_DECORATORS_H
#define TCT_DEVICE_DECORATORS_H
#include "device/queue.h"

#define TCT_DECORATORS(X) X(count) X(trace) X(late) X(memcheck) X(chaos) X(lose)
#define X(name)           extern const tct_layer_ops tct_layer_##name;
TCT_DECORATORS(X)
#undef X

/* Flops and bytes of an operation as counted in tacit/queue.h, and the bytes
 * really moved. */
typedef struct tct_work {
    double flops, bytes, moved;
} tct_work;
tct_work tct_op_work(const tct_op *op);

/* The silence of lose(rank,k,seconds) ends before its time when this returns
 * true; NULL: it does not. A test sets it before it opens a queue. */
extern bool (*tct_lose_over)(void);

#endif
