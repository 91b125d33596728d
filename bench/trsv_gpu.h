/* SPDX-License-Identifier: BSD-3-Clause
 * bench/trsv_gpu.h - what is solved on a GPU, and how long it takes. */
#ifndef BENCH_TRSV_GPU_H
#define BENCH_TRSV_GPU_H
#include "factor/factor.h"
#include "matrix/matrix.h"
#include <stdio.h>
#include <stdlib.h>
#include <tacit/cuda.h>

enum { WARM = 10, RUNS = 100 };

void cuda_ok(cudaError_t e, int line);
#define CUDA(call) cuda_ok((call), __LINE__)
#define OK(call)                                                      \
    do {                                                              \
        if ((call) < 0) {                                             \
            fprintf(stderr, "trsv_gpu: %s\n", tacit_error_message()); \
            exit(1);                                                  \
        }                                                             \
    } while (0)

/* A copy there, to be given back with cudaFree. */
void *to_device(const void *from, size_t bytes);

typedef struct {
    const char *name;
    tacit_matrix *m;
    tacit_factor *F; /* NULL: not ours */
    tacit_factor_panels P;
    tacit_queue *q;
    cudaStream_t stream;
    size_t n;
    int columns; /* at most */
    double *b;   /* [n columns] */
    double *B, *X;
} problem;

/* Of one column. */
double residual_of(const problem *p, const double *b, const double *x);

typedef struct {
    double median, low, high; /* ms; first and last decile */
} spread;

/* What `work` enqueues. */
typedef struct {
    void (*work)(void *ctx);
    void *ctx;
} job;

/* RUNS at most. */
spread time_of(cudaStream_t stream, job j, int warm, int runs);

void measure_cudss(const problem *p);

#endif
