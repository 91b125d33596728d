/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/base.h - what the baseline and the program share: error macros of
 * code built on the public headers, memory, the clock, and medians. */
#ifndef TCT_BASELINE_BASE_H
#define TCT_BASELINE_BASE_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/status.h>
#include <time.h>

#define FAIL(code, ...) return tacit_error_set((code), __VA_ARGS__)
#define TRY(call)                                \
    do {                                         \
        tacit_status try_status_ = (call);       \
        if (try_status_ < 0) return try_status_; \
    } while (0)

/* Allocate `count` elements into `*out`, or fail with NO_MEMORY, naming `what`;
 * free() frees them. */
#define ALLOC(count, what, out) \
    base_alloc((size_t)(count), sizeof **(out), (what), (out))
static inline tacit_status base_alloc(size_t count, size_t size,
                                      const char *what, void *out)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        FAIL(TACIT_NO_MEMORY, "no memory for %s (%.3g GiB)", what,
             (double)count * (double)size / 0x1p30);
    memcpy(out, &p, sizeof p);
    return TACIT_OK;
}

/* The monotonic clock [s]. */
static inline double base_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int base_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of `values` [count], which are sorted by it; NAN if `count` is
 * 0. */
static inline double base_median(double *values, int count)
{
    if (count < 1) return (double)NAN;
    qsort(values, (size_t)count, sizeof *values, base_ascending);
    const int mid = count / 2;
    return count % 2 ? values[mid] : 0.5 * (values[mid - 1] + values[mid]);
}

/* The mean of `n` values, and half the width of its 95 % interval (Student's
 * t), NAN for one value. */
static inline void base_interval(const double *x, int n, double *mean,
                                 double *half)
{
    static const double t95[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571,
                                 2.447, 2.365,  2.306, 2.262, 2.228};
    double sum = 0.0, squares = 0.0;
    for (int k = 0; k < n; k++) sum += x[k];
    *mean = sum / n;
    for (int k = 0; k < n; k++) squares += (x[k] - *mean) * (x[k] - *mean);
    *half = n < 2 ? (double)NAN
                  : (n <= 11 ? t95[n - 1] : 1.96 + 2.6 / n) *
                        sqrt(squares / (n - 1) / n);
}

#endif
