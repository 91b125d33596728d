/* SPDX-License-Identifier: BSD-3-Clause
 * device/host_vector.h - vector operations of the host device on a range of
 * elements, one function per operation code, one table per instruction set. */
#ifndef TCT_HOST_VECTOR_H
#define TCT_HOST_VECTOR_H
#include "device/queue.h"

/* Work on elements [from, to); partial sums, if the operation has any, go to
 * `sums`. */
typedef void (*tct_host_range)(const tct_op *op, size_t from, size_t to,
                               double *sums);
typedef struct tct_host_vector {
    tct_host_range run[TCT_OPCODES]; /* NULL: no vector operation */
} tct_host_vector;

extern const tct_host_vector tct_host_vector_base, tct_host_vector_avx2,
    tct_host_vector_avx512;

#endif
