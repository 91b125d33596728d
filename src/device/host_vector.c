/* SPDX-License-Identifier: BSD-3-Clause
 * device/host_vector.c - the loops of the passes, compiled once per instruction
 * set. All are expansions of one text, in which a row of TCT_PASSES is
 * constant. The simd clause, which keeps sums in interleaved parts, needs named
 * scalars; and arrays are local to the function called in the loop, since
 * arrays of a simd loop itself stay in memory. */
#include "device/host_vector.h"
#include "device/isa.h"

#define EACH_SUM(DO)    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define EACH_VECTOR(DO) EACH_SUM(DO) DO(8) DO(9)
enum { VECTORS = 10 };
_Static_assert((int)TCT_PASS_VECTORS <= (int)VECTORS, "EACH_VECTOR has fewer");
_Static_assert(TCT_OP_SUMS <= 8, "EACH_SUM has 8");

typedef struct {
    void (*body)(double *v, double a, double b, double *s);
    int vectors;
    unsigned reads, writes;
    int sums;
    tacit_element element;
} row;

/* Element `i` of a vector, and its new value. */
INLINE double load(tacit_element element, const double *v, size_t i)
{
    return element == TACIT_F32 ? (double)((const float *)(const void *)v)[i]
                                : v[i];
}

INLINE void store(tacit_element element, double *v, size_t i, double e)
{
    if (element == TACIT_F32) ((float *)(void *)v)[i] = (float)e;
    else v[i] = e;
}

/* Element `i` of the vectors `v`. */
#define SUM(k) , double *s##k
INLINE void place(const row *p, double *const *v, size_t i, double a,
                  double b EACH_SUM(SUM))
{
    double e[VECTORS], s[8];
#define DO(k) \
    if (p->reads >> k & 1) e[k] = load(p->element, v[k], i);
    EACH_VECTOR(DO)
#undef DO
#define DO(k) \
    if (k < p->sums) s[k] = *s##k;
    EACH_SUM(DO)
#undef DO
    p->body(e, a, b, s);
#define DO(k) \
    if (p->writes >> k & 1) store(p->element, v[k], i, e[k]);
    EACH_VECTOR(DO)
#undef DO
#define DO(k) \
    if (k < p->sums) *s##k = s[k];
    EACH_SUM(DO)
#undef DO
}
#undef SUM

INLINE void sweep(const row *p, const tct_op *op, size_t from, size_t to,
                  double *sums)
{
    const double a = op->alpha ? op->sign * *op->alpha : op->sign;
    const double b = op->beta ? *op->beta : 0.0;
    double *v[VECTORS];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (int k = 0; k < p->vectors; k++) v[k] = op->v[k];
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
    for (size_t i = from; i < to; i++)
        place(p, v, i, a, b, &s0, &s1, &s2, &s3, &s4, &s5, &s6, &s7);
#define DO(k) \
    if (k < p->sums) sums[k] = s##k;
    EACH_SUM(DO)
#undef DO
}

#define X(name, text, vectors, reads, writes, sums, ...)                      \
    static void name##_range(const tct_op *op, size_t from, size_t to,        \
                             double *out)                                     \
    {                                                                         \
        const row p = {pass_##name, vectors, reads, writes, sums, TACIT_F64}; \
        sweep(&p, op, from, to, out);                                         \
    }
TCT_PASSES(X)
#undef X

#define X(name)                                                         \
    static void name##_floats(const tct_op *op, size_t from, size_t to, \
                              double *out)                              \
    {                                                                   \
        const row p = {pass_##name,       PASS_VECTORS_##name,          \
                       PASS_READS_##name, PASS_WRITES_##name,           \
                       PASS_SUMS_##name,  TACIT_F32};                   \
        sweep(&p, op, from, to, out);                                   \
    }
TCT_FLOAT_PASSES(X)
#undef X

static void gather_range(const tct_op *op, size_t from, size_t to, double *sums)
{
    (void)sums;
    const double *restrict const x = op->v[0];
    double *restrict const y = op->v[1];
    const int32_t *restrict const index = op->index;
    for (size_t i = from; i < to; i++) y[i] = x[index[i]];
}

static void restrict_range(const tct_op *op, size_t from, size_t to,
                           double *sums)
{
    (void)sums;
    const double *restrict const b = op->v[0], *restrict const t = op->v[1];
    const double *restrict const w = op->v[2];
    double *restrict const y = op->v[3];
    const int32_t *const ptr = op->sets->ptr;
    const int32_t *const list = op->sets->list;
    const size_t width = (size_t)op->sets->width;
    size_t c = from / width, j = from % width;
    for (size_t u = from; u < to; u++) {
        double sum = 0.0;
        for (int32_t k = ptr[c]; k < ptr[c + 1]; k++)
            sum =
                muladd(w[(size_t)k * width + j], b[list[k]] - t[list[k]], sum);
        y[u] = sum;
        if (++j < width) continue;
        j = 0;
        c++;
    }
}

static void prolong_range(const tct_op *op, size_t from, size_t to,
                          double *sums)
{
    (void)sums;
    const double *restrict const x = op->v[0], *restrict const w = op->v[1];
    double *restrict const y = op->v[2];
    const int32_t *restrict const of = op->index;
    const size_t width = (size_t)op->count;
    for (size_t i = from; i < to; i++) {
        if (of[i] < 0) continue;
        const double *const e = x + (size_t)of[i] * width;
        double sum = y[i];
        for (size_t j = 0; j < width; j++)
            sum = muladd(op->sign * w[i * width + j], e[j], sum);
        y[i] = sum;
    }
}

#define tct_host_vector_isa TCT_ISA_NAME(tct_host_vector)
const tct_host_vector tct_host_vector_isa = {.gather = gather_range,
                                             .restrict_to = restrict_range,
                                             .prolong = prolong_range,
                                             .pass = {
#define X(name, ...) [TACIT_F64][PASS_##name] = name##_range,
                                                 TCT_PASSES(X)
#undef X
#define X(name) [TACIT_F32][PASS_##name] = name##_floats,
                                                     TCT_FLOAT_PASSES(X)
#undef X
                                             }};
