/* SPDX-License-Identifier: BSD-3-Clause
 * device/host_vector.h - the host's loops: a function per pass, a table per
 * instruction set. */
#ifndef TCT_DEVICE_HOST_VECTOR_H
#define TCT_DEVICE_HOST_VECTOR_H
#include "device/queue.h"

/* Work on elements [from, to); partial sums, if the operation has any, go to
 * `sums`. */
typedef void (*tct_host_range)(const tct_op *op, size_t from, size_t to,
                               double *sums);
typedef struct tct_host_vector {
    tct_host_range pass[TCT_ELEMENTS][TCT_PASS_COUNT]; /* NULL: none */
    tct_host_range gather, restrict_to, prolong;
} tct_host_vector;

/* The same for operations on panels; `sums` gets the whole small matrix. */
typedef struct tct_host_panel {
    tct_host_range gram, combine, mix;
} tct_host_panel;

extern const tct_host_panel tct_host_panel_base, tct_host_panel_avx2,
    tct_host_panel_avx512;
extern const tct_host_vector tct_host_vector_base, tct_host_vector_avx2,
    tct_host_vector_avx512;

#endif
