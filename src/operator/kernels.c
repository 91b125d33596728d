/* SPDX-License-Identifier: BSD-3-Clause
 * operator/kernels.c - the inner loops of the host's products, compiled once
 * per instruction set. Eight lanes are one vector of the compiler's, which
 * splits it where registers are shorter. Columns that are not a run are
 * loaded one by one: on many processors that is faster than a gather. */
#include "operator/kernels.h"
#include "device/isa.h"
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef double lanes __attribute__((vector_size(64)));
typedef double lanes_at __attribute__((vector_size(64), aligned(8)));
typedef float floats __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

INLINE lanes load(const double *x)
{
    return *(const lanes_at *)x;
}

INLINE double total(lanes v)
{
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* Eight values of a slice, from element `at`. */
INLINE lanes values(value_kind kind, const tct_slices *B, int64_t at)
{
    switch (kind) {
    case VALUE_F64: return *(const lanes *)((const double *)B->value + at);
    case VALUE_F32: {
        const floats f = *(const floats *)((const float *)B->value + at);
        return __builtin_convertvector(f, lanes);
    }
    case VALUE_DICT16:
    case VALUE_DICT: break;
    }
    const uint8_t *i = (const uint8_t *)B->value + at;
    const double *d = B->dict;
#ifdef __AVX512F__
    if (kind == VALUE_DICT16) {
        const __m512i which = _mm512_cvtepu8_epi64(
            _mm_loadl_epi64((const __m128i *)(const void *)i));
        return (lanes)_mm512_permutex2var_pd(_mm512_loadu_pd(d), which,
                                             _mm512_loadu_pd(d + 8));
    }
#endif
    return (lanes){d[i[0]], d[i[1]], d[i[2]], d[i[3]],
                   d[i[4]], d[i[5]], d[i[6]], d[i[7]]};
}

/* Element `j` of the eight blocks of x at column `k` of a slice. */
INLINE lanes columns(slice_kind kind, int b, const uint8_t *index, int32_t base,
                     int64_t k, const double *x, int j)
{
    if (kind == SLICE_RUN && b == 1)
        return load(x + ((const int32_t *)(const void *)index)[k]);
    const int64_t at = LANES * k;
    if (kind == SLICE_NEAR) {
        const uint16_t *c = (const uint16_t *)(const void *)index + at;
        x += (int64_t)b * base + j;
        return (lanes){x[b * c[0]], x[b * c[1]], x[b * c[2]], x[b * c[3]],
                       x[b * c[4]], x[b * c[5]], x[b * c[6]], x[b * c[7]]};
    }
    const int32_t *c = (const int32_t *)(const void *)index + at;
    const int64_t w = b;
    x += j;
    return (lanes){x[w * c[0]], x[w * c[1]], x[w * c[2]], x[w * c[3]],
                   x[w * c[4]], x[w * c[5]], x[w * c[6]], x[w * c[7]]};
}

/* sum[i] += row i of each lane's block row times x. */
INLINE void slice_sums(const tct_slices *B, const tct_slice *s, slice_kind kind,
                       value_kind value, int b, const double *x, lanes *sum)
{
    const uint8_t *index = B->index + s->index;
    int64_t at = s->value;
    for (int64_t k = 0; k < s->width; k++) {
        lanes xk[BLOCK_MOST];
        for (int j = 0; j < b; j++)
            xk[j] = columns(kind, b, index, s->base, k, x, j);
        for (int i = 0; i < b; i++)
            for (int j = 0; j < b; j++, at += LANES)
                sum[i] += values(value, B, at) * xk[j];
    }
}

INLINE void slice_sums_pair(const tct_slices *B, const tct_slice *s,
                            slice_kind kind, value_kind value, int b,
                            const double *x0, lanes *sum0, const double *x1,
                            lanes *sum1)
{
    const uint8_t *index = B->index + s->index;
    int64_t at = s->value;
    for (int64_t k = 0; k < s->width; k++) {
        lanes p[BLOCK_MOST], q[BLOCK_MOST];
        for (int j = 0; j < b; j++) {
            p[j] = columns(kind, b, index, s->base, k, x0, j);
            q[j] = columns(kind, b, index, s->base, k, x1, j);
        }
        for (int i = 0; i < b; i++)
            for (int j = 0; j < b; j++, at += LANES) {
                const lanes a = values(value, B, at);
                sum0[i] += a * p[j];
                sum1[i] += a * q[j];
            }
    }
}

/* Store the rows of a slice. */
INLINE void store(const tct_slices *B, int64_t number, int b, const lanes *sum,
                  double *y)
{
    const tct_slice *s = &B->slice[number];
    const int64_t first = LANES * number;
    if (b == 1 && !s->sorted && first + LANES <= B->groups) {
        *(lanes_at *)(y + first) = sum[0];
        return;
    }
    const int64_t window = first / B->window * B->window;
    for (int l = 0; l < LANES && first + l < B->groups; l++) {
        const int64_t group =
            s->sorted ? window + B->order[first + l] : first + l;
        for (int i = 0; i < b; i++) y[b * group + i] = sum[i][l];
    }
}

#define BY_KIND(s, b, call)                   \
    switch ((slice_kind)(s)->kind) {          \
    case SLICE_RUN:                           \
        if ((b) == 1) call(SLICE_RUN);        \
        break;                                \
    case SLICE_NEAR: call(SLICE_NEAR); break; \
    case SLICE_FAR: call(SLICE_FAR); break;   \
    }

INLINE void slices_of(const tct_slices *B, value_kind value, int b,
                      int64_t from, int64_t to, const double *x, double *y)
{
    for (int64_t n = from; n < to; n++) {
        const tct_slice *s = &B->slice[n];
        lanes sum[BLOCK_MOST];
        for (int i = 0; i < b; i++) sum[i] = (lanes){0};
#define CALL(kind) slice_sums(B, s, kind, value, b, x, sum)
        BY_KIND(s, b, CALL)
#undef CALL
        store(B, n, b, sum, y);
    }
}

INLINE void slices_pair_of(const tct_slices *B, value_kind value, int b,
                           int64_t from, int64_t to, const double *x0,
                           double *y0, const double *x1, double *y1)
{
    for (int64_t n = from; n < to; n++) {
        const tct_slice *s = &B->slice[n];
        lanes sum0[BLOCK_MOST], sum1[BLOCK_MOST];
        for (int i = 0; i < b; i++) sum0[i] = sum1[i] = (lanes){0};
#define CALL(kind) slice_sums_pair(B, s, kind, value, b, x0, sum0, x1, sum1)
        BY_KIND(s, b, CALL)
#undef CALL
        store(B, n, b, sum0, y0);
        store(B, n, b, sum1, y1);
    }
}

/* Every block size with every value store: the compiler unrolls each. */
#define BY_VALUE(B, b, call)                  \
    switch ((B)->kind) {                      \
    case VALUE_F64: call(VALUE_F64, b);       \
    case VALUE_F32: call(VALUE_F32, b);       \
    case VALUE_DICT16: call(VALUE_DICT16, b); \
    case VALUE_DICT: call(VALUE_DICT, b);     \
    }
#define BY_SIZE(B, call)                \
    switch ((B)->b) {                   \
    case 1: BY_VALUE(B, 1, call) break; \
    case 2: BY_VALUE(B, 2, call) break; \
    case 3: BY_VALUE(B, 3, call) break; \
    case 4: BY_VALUE(B, 4, call) break; \
    case 5: BY_VALUE(B, 5, call) break; \
    case 6: BY_VALUE(B, 6, call) break; \
    default: break;                     \
    }

static void slices(const tct_slices *B, int64_t from, int64_t to,
                   const double *x, double *y)
{
#define CALL(value, b)                          \
    {                                           \
        slices_of(B, value, b, from, to, x, y); \
        return;                                 \
    }
    BY_SIZE(B, CALL)
#undef CALL
}

static void slices_pair(const tct_slices *B, int64_t from, int64_t to,
                        const double *x0, double *y0, const double *x1,
                        double *y1){
#define CALL(value, b)                                         \
    {                                                          \
        slices_pair_of(B, value, b, from, to, x0, y0, x1, y1); \
        return;                                                \
    }
    BY_SIZE(B, CALL)
#undef CALL
}

/* --- compressed rows --------------------------------------------------------- */

/* One row in column order, from entry `at`, added to `sum`. */
INLINE double row_sum(tct_csr_rows A, int64_t at, int64_t end, const double *x,
                      double sum)
{
    for (; at < end; at++) sum += A.val[at] * x[A.col[at]];
    return sum;
}

/* Four rows at a time: their sums do not wait for one another. */
static void rows(tct_csr_rows A, int64_t from, int64_t to, const double *x,
                 double *y)
{
    int64_t i = from;
    for (; i + 4 <= to; i += 4) {
        int64_t a = A.ptr[i], b = A.ptr[i + 1], c = A.ptr[i + 2],
                d = A.ptr[i + 3];
        const int64_t ends[4] = {b, c, d, A.ptr[i + 4]};
        int64_t common = b - a;
        if (c - b < common) common = c - b;
        if (d - c < common) common = d - c;
        if (ends[3] - d < common) common = ends[3] - d;
        double p = 0.0, q = 0.0, r = 0.0, s = 0.0;
        for (int64_t k = 0; k < common; k++, a++, b++, c++, d++) {
            p += A.val[a] * x[A.col[a]];
            q += A.val[b] * x[A.col[b]];
            r += A.val[c] * x[A.col[c]];
            s += A.val[d] * x[A.col[d]];
        }
        y[i] = row_sum(A, a, ends[0], x, p);
        y[i + 1] = row_sum(A, b, ends[1], x, q);
        y[i + 2] = row_sum(A, c, ends[2], x, r);
        y[i + 3] = row_sum(A, d, ends[3], x, s);
    }
    for (; i < to; i++) y[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x, 0.0);
}

static void rows_pair(tct_csr_rows A, int64_t from, int64_t to,
                      const double *x0, double *y0, const double *x1,
                      double *y1)
{
    for (int64_t i = from; i < to; i++) {
        y0[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x0, 0.0);
        y1[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x1, 0.0); /* cached */
    }
}

static double dot(int64_t n, const double *x, const double *y)
{
    lanes even = {0}, odd = {0};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        even += load(x + i) * load(y + i);
        odd += load(x + i + LANES) * load(y + i + LANES);
    }
    double sum = total(even + odd);
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

#define tct_kernels_isa TCT_ISA_NAME(tct_kernels)
const tct_kernels tct_kernels_isa = {
    .slices = slices,
    .slices_pair = slices_pair,
    .rows = rows,
    .rows_pair = rows_pair,
    .dot = dot,
};
