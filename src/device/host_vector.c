/* SPDX-License-Identifier: BSD-3-Clause
 * device/host_vector.c - the loops, plain enough for the compiler to
 * vectorise; compiled once per instruction set. Each fused loop is the calls
 * of its description in device/queue.h in one pass; sums are kept in eight
 * interleaved parts by the simd clause. */
#include "device/host_vector.h"
#include "device/isa.h"

#define VECTOR(name, i) double *restrict const name = op->v[i]
#define ALPHA           const double alpha = op->alpha ? *op->alpha : 1.0
#define BETA            const double beta = *op->beta

static void fill_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    (void)sums;
    VECTOR(y, 0);
    const double value = op->sign;
#pragma omp simd
    for (size_t i = from; i < to; i++) y[i] = value;
}

static void copy_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    (void)sums;
    VECTOR(x, 0);
    VECTOR(y, 1);
#pragma omp simd
    for (size_t i = from; i < to; i++) y[i] = x[i];
}

static void scale_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    (void)sums;
    VECTOR(y, 0);
    const double factor = op->sign;
#pragma omp simd
    for (size_t i = from; i < to; i++) y[i] *= factor;
}

static void gather_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    (void)sums;
    VECTOR(x, 0);
    VECTOR(y, 1);
    const int32_t *restrict const index = op->index;
    for (size_t i = from; i < to; i++) y[i] = x[index[i]];
}

static void axpy_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    (void)sums;
    VECTOR(x, 0);
    VECTOR(y, 1);
    ALPHA;
    const double a = op->sign * alpha;
#pragma omp simd
    for (size_t i = from; i < to; i++) y[i] += a * x[i];
}

static void aypx_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    (void)sums;
    VECTOR(x, 0);
    VECTOR(y, 1);
    ALPHA;
    const double a = op->sign * alpha;
#pragma omp simd
    for (size_t i = from; i < to; i++) y[i] = x[i] + a * y[i];
}

static void dot_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    const double *x = op->v[0], *y = op->v[1]; /* may be the same */
    double xy = 0.0;
#pragma omp simd reduction(+ : xy)
    for (size_t i = from; i < to; i++) xy += x[i] * y[i];
    sums[0] = xy;
}

static void norm_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    VECTOR(x, 0);
    double xx = 0.0;
#pragma omp simd reduction(+ : xx)
    for (size_t i = from; i < to; i++) xx += x[i] * x[i];
    sums[0] = xx;
}

static void axpy_norm_range(const tct_op *op, size_t from, size_t to,
                            double *sums)
{
    VECTOR(x, 0);
    VECTOR(y, 1);
    ALPHA;
    const double a = op->sign * alpha;
    double yy = 0.0;
#pragma omp simd reduction(+ : yy)
    for (size_t i = from; i < to; i++) {
        y[i] += a * x[i];
        yy += y[i] * y[i];
    }
    sums[0] = yy;
}

static void cg_update_range(const tct_op *op, size_t from, size_t to,
                            double *sums)
{
    (void)sums;
    VECTOR(r, 0);
    VECTOR(p, 1);
    VECTOR(x, 2);
    ALPHA;
    BETA;
#pragma omp simd
    for (size_t i = from; i < to; i++) {
        x[i] += alpha * p[i];
        p[i] = r[i] + beta * p[i];
    }
}

static void dots_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    VECTOR(x, 0);
    VECTOR(y, 1);
    double xy = 0.0, yy = 0.0;
#pragma omp simd reduction(+ : xy, yy)
    for (size_t i = from; i < to; i++) {
        xy += x[i] * y[i];
        yy += y[i] * y[i];
    }
    sums[0] = xy;
    sums[1] = yy;
}

static void single_update_range(const tct_op *op, size_t from, size_t to,
                                double *sums)
{
    VECTOR(s, 0);
    VECTOR(r, 1);
    VECTOR(p, 2);
    VECTOR(x, 3);
    ALPHA;
    BETA;
    double rr = 0.0;
#pragma omp simd reduction(+ : rr)
    for (size_t i = from; i < to; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        p[i] = r[i] + beta * p[i];
        rr += r[i] * r[i];
    }
    sums[0] = rr;
}

static void pipelined_update_range(const tct_op *op, size_t from, size_t to,
                                   double *sums)
{
    VECTOR(n, 0);
    VECTOR(z, 1);
    VECTOR(s, 2);
    VECTOR(w, 3);
    VECTOR(p, 4);
    VECTOR(r, 5);
    VECTOR(x, 6);
    ALPHA;
    BETA;
    double rr = 0.0, wr = 0.0;
#pragma omp simd reduction(+ : rr, wr)
    for (size_t i = from; i < to; i++) {
        z[i] = n[i] + beta * z[i];
        s[i] = w[i] + beta * s[i];
        p[i] = r[i] + beta * p[i];
        x[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        w[i] -= alpha * z[i];
        rr += r[i] * r[i];
        wr += w[i] * r[i];
    }
    sums[0] = rr;
    sums[1] = wr;
}

static void pipe_pr_update_range(const tct_op *op, size_t from, size_t to,
                                 double *sums)
{
    VECTOR(w, 0);
    VECTOR(u, 1);
    VECTOR(s, 2);
    VECTOR(r, 3);
    VECTOR(p, 4);
    VECTOR(x, 5);
    ALPHA;
    BETA;
    double rr = 0.0, ps = 0.0, rs = 0.0, ss = 0.0;
#pragma omp simd reduction(+ : rr, ps, rs, ss)
    for (size_t i = from; i < to; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        p[i] = r[i] + beta * p[i];
        s[i] = w[i] - alpha * u[i] + beta * s[i];
        rr += r[i] * r[i];
        ps += p[i] * s[i];
        rs += r[i] * s[i];
        ss += s[i] * s[i];
    }
    sums[0] = rr;
    sums[1] = ps;
    sums[2] = rs;
    sums[3] = ss;
}

#define tct_host_vector_isa TCT_ISA_NAME(tct_host_vector)
const tct_host_vector tct_host_vector_isa = {
    .run = {
        [TCT_FILL] = fill_range,
        [TCT_COPY] = copy_range,
        [TCT_SCALE] = scale_range,
        [TCT_GATHER] = gather_range,
        [TCT_AXPY] = axpy_range,
        [TCT_AYPX] = aypx_range,
        [TCT_DOT] = dot_range,
        [TCT_NORM] = norm_range,
        [TCT_AXPY_NORM] = axpy_norm_range,
        [TCT_DOTS] = dots_range,
        [TCT_CG_UPDATE] = cg_update_range,
        [TCT_SINGLE_UPDATE] = single_update_range,
        [TCT_PIPELINED_UPDATE] = pipelined_update_range,
        [TCT_PIPE_PR_UPDATE] = pipe_pr_update_range,
    }};
