/* SPDX-License-Identifier: BSD-3-Clause
 * bench/factor_measure.c - how a factor is measured: processor time, memory,
 * residuals, and the order that all are given. */
#include "factor_measure.h"
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double resident_bytes(void)
{
    long whole = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &whole, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

double most_bytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1024.0 * (double)u.ru_maxrss;
}

double residual_of(const tct_csr *A, const double *b, const double *x)
{
    double up = 0.0, down = 0.0;
    for (int64_t i = 0; i < A->rows; i++) {
        double r = b[i];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            r -= A->val[k] * x[A->col32[k]];
        up += r * r;
        down += b[i] * b[i];
    }
    return sqrt(up / down);
}

double *random_vectors(int64_t n)
{
    double *b = tct_alloc((size_t)n * MANY * sizeof *b);
    for (int64_t i = 0; b && i < n * MANY; i++)
        b[i] = tct_uniform((uint64_t)i, 1) - 0.5;
    return b;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(int count, double *value)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return value[count / 2];
}

tacit_status own_order(const tacit_matrix *m, tct_nesting *out)
{
    const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
    tct_fronts F = {.rows = 0};
    TRY(tct_nesting_create(&g, 1, out));
    TRY(tct_fronts_create(&g, out, &F));
    tct_fronts_clear(&F);
    return TACIT_OK;
}
