/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_device.h - builds slices (layout.h) in the memory of a
 * device from rows that lie there. The host reads the plan of slices, 12 bytes
 * each, and lays them out; entries are read and written by store_tasks.h. */
#ifndef TCT_OPERATOR_LAYOUT_STORE_DEVICE_H
#define TCT_OPERATOR_LAYOUT_STORE_DEVICE_H
#include "operator/layout/store_tasks.h"

/* The functions of a device. Each call sees what calls before it did. */
typedef struct tct_store_kernels {
    int bits; /* 2^bits slots of the table of values: more than 65,536 and as
               * many again as threads that run at a time */
    /* New memory, of any contents. Errors NO_MEMORY, DEVICE. */
    tacit_status (*take)(tacit_queue *q, size_t bytes, void *out);
    void (*give)(tacit_queue *q, void *p); /* NULL is allowed */
    /* Check that `bytes` fit. Errors NO_MEMORY. */
    tacit_status (*require)(double bytes, const char *what);
    /* Set to 0; copy to the device, and from it. Errors DEVICE. */
    tacit_status (*zero)(tacit_queue *q, void *p, size_t bytes);
    tacit_status (*put)(tacit_queue *q, void *to, const void *from,
                        size_t bytes);
    tacit_status (*get)(tacit_queue *q, void *to, const void *from,
                        size_t bytes);
    /* Do a task for each index below `n`. Errors DEVICE. */
    tacit_status (*each)(tacit_queue *q, tct_store_task task, int64_t n,
                         const tct_store_work *g);
} tct_store_kernels;

/* A rank's rows of own columns in the memory of the queue's device; columns of
 * a row ascend. */
typedef struct tct_store_rows {
    tacit_queue *q;
    const tct_store_kernels *kernels;
    int64_t rows, cols, entries;
    const int64_t *ptr;            /* [rows + 1] */
    const int32_t *col;            /* [entries] */
    const double *val;             /* [entries] */
    struct tct_gpu_loader *loader; /* of kernels, until the rows are dropped;
                                    * NULL: none (gpu/store.c) */
} tct_store_rows;

/* Copy the rows of `A` to the GPU of `q`. Small ones, and those that do not fit,
 * stay where they are: `R` then has no rows, and the log gives the reason.
 * tct_gpu_rows_drop frees it. Only with a GPU (gpu/store.c).
 * Errors      DEVICE. */
tacit_status tct_gpu_rows_bring(tacit_queue *q, const tct_local *A,
                                tct_store_rows *R);
void tct_gpu_rows_drop(tct_store_rows *R);

/* The same on the device of `q`, where `local` has them until they are dropped;
 * nothing is done if that is the host. choice/store.c.
 * Errors      DEVICE. */
tacit_status tct_store_bring(tacit_queue *q, tct_local *local,
                             tct_store_rows *rows);
void tct_store_drop(tct_local *local);

/* Does the device build this store? Reduced ones are the host's. */
bool tct_store_takes(const char *store);
/* Bytes of the device that a build takes, besides the arrays it makes. */
double tct_store_scratch(const tct_store_kernels *K, int64_t rows);

/* How many different values the rows have, at most TCT_GPU_VALUES_MOST and one
 * more, +0 among them, and whether all are floats; `out` has no table.
 * Memory      8 MB of the device.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_store_count_values(const tct_store_rows *R,
                                    tct_value_set *out);

/* As tct_gpu_slices_build, of rows on a device: the arrays have the same bytes
 * and are memory of the device, which the caller gives back. `*pattern` as
 * tct_gpu_pattern. On an error `*out` is empty.
 * Memory      29 bytes of the device a row or block row; 12 MB.
 * Errors      UNSUPPORTED, NO_MEMORY, DEVICE. */
tacit_status tct_store_build(const tct_store_rows *R, int b,
                             tct_gpu_kinds kinds, const char *store,
                             tct_gpu_arrays *out, tct_gpu_about *about,
                             uint64_t *pattern);

#endif
