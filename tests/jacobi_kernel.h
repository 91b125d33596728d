/* SPDX-License-Identifier: BSD-3-Clause
 * tests/jacobi_kernel.h - the kernel of test_loops.c that stays on a GPU. */
#ifndef TESTS_JACOBI_KERNEL_H
#define TESTS_JACOBI_KERNEL_H
#include "device/queue.h"

#define JACOBI_DIAGONAL 5.0
enum { JACOBI_WIDTH = 12 };

#ifndef TEST_JACOBI_KERNEL
#define TEST_JACOBI_KERNEL 0
#endif

#if TEST_JACOBI_KERNEL
#ifdef __cplusplus
extern "C" {
#endif
/* Start the kernel of one rank for `checks` iterations from `first` on, on
 * `lines` of JACOBI_WIDTH points; x[k % 2] has those of iteration k. */
bool jacobi_launch(tacit_queue *q, int lines, int64_t first, int64_t checks,
                   const double *b, double *const x[2], double *c);
#ifdef __cplusplus
}
#endif
#else
static inline bool jacobi_launch(tacit_queue *q, int lines, int64_t first,
                                 int64_t checks, const double *b,
                                 double *const x[2], double *c)
{
    (void)lines;
    (void)first;
    (void)checks;
    (void)b;
    (void)x;
    (void)c;
    q_fail(q, TACIT_UNSUPPORTED, "this test has no kernel");
    return false;
}
#endif
#endif
