/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/lanes.h - eight doubles, one lane for each row of a slice, in
 * one register of AVX-512, two of AVX2, or plain C that the compiler may
 * vectorise. Only for files compiled once per instruction set.
 *
 * Elements of x that are not adjacent are loaded one by one: current processors
 * do this at least as fast as a gather instruction. */
#ifndef TCT_OPERATOR_HOST_LANES_H
#define TCT_OPERATOR_HOST_LANES_H
#include "device/isa.h"
#include "operator/host/slices.h"
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)

typedef __m512d lanes;

INLINE lanes lanes_zero(void)
{
    return _mm512_setzero_pd();
}
INLINE lanes lanes_load(const double *x)
{
    return _mm512_loadu_pd(x);
}
INLINE void lanes_store(double *y, lanes v)
{
    _mm512_storeu_pd(y, v);
}
INLINE lanes lanes_floats(const float *x)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));
}
INLINE lanes lanes_fused(lanes a, lanes b, lanes s)
{
    return _mm512_fmadd_pd(a, b, s);
}
INLINE lanes lanes_magnitude(lanes a)
{
    return _mm512_abs_pd(a);
}
/* The same for lanes in `some`; `s` for the others. */
INLINE lanes lanes_fused_some(unsigned some, lanes a, lanes b, lanes s)
{
    return _mm512_mask3_fmadd_pd(a, b, s, (__mmask8)some);
}
INLINE __m256d lanes_four(const double *a, const double *b, const double *c,
                          const double *d)
{
    const __m128d low = _mm_loadh_pd(_mm_load_sd(a), b);
    const __m128d high = _mm_loadh_pd(_mm_load_sd(c), d);
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}
INLINE lanes lanes_join(__m256d low, __m256d high)
{
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

#elif defined(__AVX2__)

typedef struct {
    __m256d low, high;
} lanes;

INLINE lanes lanes_join(__m256d low, __m256d high)
{
    return (lanes){low, high};
}
INLINE lanes lanes_zero(void)
{
    return lanes_join(_mm256_setzero_pd(), _mm256_setzero_pd());
}
INLINE lanes lanes_load(const double *x)
{
    return lanes_join(_mm256_loadu_pd(x), _mm256_loadu_pd(x + 4));
}
INLINE void lanes_store(double *y, lanes v)
{
    _mm256_storeu_pd(y, v.low);
    _mm256_storeu_pd(y + 4, v.high);
}
INLINE lanes lanes_floats(const float *x)
{
    return lanes_join(_mm256_cvtps_pd(_mm_loadu_ps(x)),
                      _mm256_cvtps_pd(_mm_loadu_ps(x + 4)));
}
INLINE lanes lanes_fused(lanes a, lanes b, lanes s)
{
    return lanes_join(_mm256_fmadd_pd(a.low, b.low, s.low),
                      _mm256_fmadd_pd(a.high, b.high, s.high));
}
INLINE lanes lanes_magnitude(lanes a)
{
    const __m256d sign = _mm256_set1_pd(-0.0);
    return lanes_join(_mm256_andnot_pd(sign, a.low),
                      _mm256_andnot_pd(sign, a.high));
}
INLINE __m256d lanes_where(unsigned some, __m256i bits, __m256d a, __m256d b)
{
    const __m256i word = _mm256_set1_epi64x((long long)some);
    const __m256i set = _mm256_cmpeq_epi64(_mm256_and_si256(word, bits), bits);
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(set));
}
INLINE lanes lanes_fused_some(unsigned some, lanes a, lanes b, lanes s)
{
    const lanes all = lanes_fused(a, b, s);
    const __m256i low = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i high = _mm256_set_epi64x(128, 64, 32, 16);
    return lanes_join(lanes_where(some, low, all.low, s.low),
                      lanes_where(some, high, all.high, s.high));
}
INLINE __m256d lanes_four(const double *a, const double *b, const double *c,
                          const double *d)
{
    const __m128d low = _mm_loadh_pd(_mm_load_sd(a), b);
    const __m128d high = _mm_loadh_pd(_mm_load_sd(c), d);
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

#else

typedef double duo __attribute__((vector_size(16)));
typedef int64_t duo_bits __attribute__((vector_size(16)));
typedef struct {
    duo v[LANES / 2];
} lanes;

INLINE lanes lanes_zero(void)
{
    return (lanes){{{0.0}}};
}
INLINE lanes lanes_load(const double *x)
{
    lanes to;
    memcpy(&to, x, sizeof to);
    return to;
}
INLINE void lanes_store(double *y, lanes v)
{
    memcpy(y, &v, sizeof v);
}
INLINE lanes lanes_of(double a, double b, double c, double d, double e,
                      double f, double g, double h)
{
    return (lanes){{{a, b}, {c, d}, {e, f}, {g, h}}};
}
INLINE lanes lanes_floats(const float *x)
{
    return lanes_of((double)x[0], (double)x[1], (double)x[2], (double)x[3],
                    (double)x[4], (double)x[5], (double)x[6], (double)x[7]);
}
INLINE lanes lanes_fused(lanes a, lanes b, lanes s)
{
    for (int i = 0; i < LANES / 2; i++) /* contracted if it is one step */
        s.v[i] = a.v[i] * b.v[i] + s.v[i];
    return s;
}
INLINE lanes lanes_magnitude(lanes a)
{
    static const duo_bits rest = {INT64_MAX, INT64_MAX};
    for (int i = 0; i < LANES / 2; i++) a.v[i] = (duo)((duo_bits)a.v[i] & rest);
    return a;
}
INLINE lanes lanes_fused_some(unsigned some, lanes a, lanes b, lanes s)
{
    static const duo_bits mask[] = {{0, 0}, {-1, 0}, {0, -1}, {-1, -1}};
    const lanes all = lanes_fused(a, b, s);
    for (int i = 0; i < LANES / 2; i++) {
        const duo_bits m = mask[some >> 2 * i & 3];
        s.v[i] = (duo)(((duo_bits)all.v[i] & m) | ((duo_bits)s.v[i] & ~m));
    }
    return s;
}

#endif

/* x[at[0]], ..., x[at[7]] */
INLINE lanes lanes_pick(const double *x, const int64_t *at)
{
#if defined(__AVX2__)
    return lanes_join(lanes_four(x + at[0], x + at[1], x + at[2], x + at[3]),
                      lanes_four(x + at[4], x + at[5], x + at[6], x + at[7]));
#else
    return lanes_of(x[at[0]], x[at[1]], x[at[2]], x[at[3]], x[at[4]], x[at[5]],
                    x[at[6]], x[at[7]]);
#endif
}

/* Offsets of 16 bits. With `apart` they are loaded four at a time and
 * extracted, to save loads; not where frequent use makes that more
 * expensive. */
INLINE void lanes_near(const uint16_t *c, int b, bool apart, int64_t *at)
{
    uint64_t low, high;
    for (int l = 0; l < LANES; l++) at[l] = (int64_t)b * c[l];
    if (!apart || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) return;
    memcpy(&low, c, sizeof low);
    memcpy(&high, c + 4, sizeof high);
    for (int l = 0; l < 4; l++) {
        at[l] = b * (int64_t)(low >> 16 * l & 0xffff);
        at[l + 4] = b * (int64_t)(high >> 16 * l & 0xffff);
    }
}
INLINE void lanes_far(const int32_t *c, int b, int64_t *at)
{
    for (int l = 0; l < LANES; l++) at[l] = (int64_t)b * c[l];
}
/* x[0], x[b], ..., x[7 b] */
INLINE lanes lanes_stride(const double *x, int b)
{
    const int64_t w = b;
    const int64_t at[] = {0, w, 2 * w, 3 * w, 4 * w, 5 * w, 6 * w, 7 * w};
    return lanes_pick(x, at);
}
/* Eight entries of `table`, by byte codes. */
INLINE lanes lanes_lookup(const double *table, const uint8_t *c)
{
    const int64_t at[] = {c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]};
    return lanes_pick(table, at);
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* The same for codes below 16 and a table of pairs, with codes c and d at c +
 * 16 d: half the loads. */
INLINE lanes lanes_lookup_pairs(const double *table, const uint8_t *c)
{
    uint64_t two;
    memcpy(&two, c, sizeof two);
    two |= two >> 4;
    const double *const a = table + 2 * (two & 0xff);
    const double *const b = table + 2 * (two >> 16 & 0xff);
    const double *const d = table + 2 * (two >> 32 & 0xff);
    const double *const e = table + 2 * (two >> 48 & 0xff);
    return lanes_join(
        _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)),
                             _mm_loadu_pd(b), 1),
        _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(d)),
                             _mm_loadu_pd(e), 1));
}
#endif

/* xs[j] = elements j, b + j, ..., 7 b + j of x, for j = 0 to b - 1: transposes
 * eight adjacent blocks. */
INLINE void lanes_blocks(const double *x, int b, lanes *xs)
{
#if defined(__AVX512F__)
    if (b == 2) {
        const lanes p = lanes_load(x), q = lanes_load(x + 8);
        xs[0] = _mm512_permutex2var_pd(
            p, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), q);
        xs[1] = _mm512_permutex2var_pd(
            p, _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1), q);
        return;
    }
    if (b == 3) {
        const lanes p = lanes_load(x), q = lanes_load(x + 8);
        const lanes r = lanes_load(x + 16);
        const lanes s = _mm512_permutex2var_pd(
            p, _mm512_set_epi64(0, 0, 15, 12, 9, 6, 3, 0), q);
        const lanes t = _mm512_permutex2var_pd(
            p, _mm512_set_epi64(0, 0, 0, 13, 10, 7, 4, 1), q);
        const lanes u = _mm512_permutex2var_pd(
            p, _mm512_set_epi64(0, 0, 0, 14, 11, 8, 5, 2), q);
        xs[0] = _mm512_permutex2var_pd(
            s, _mm512_set_epi64(13, 10, 5, 4, 3, 2, 1, 0), r);
        xs[1] = _mm512_permutex2var_pd(
            t, _mm512_set_epi64(14, 11, 8, 4, 3, 2, 1, 0), r);
        xs[2] = _mm512_permutex2var_pd(
            u, _mm512_set_epi64(15, 12, 9, 4, 3, 2, 1, 0), r);
        return;
    }
#endif
    if (b == 1) xs[0] = lanes_load(x);
    else
        for (int j = 0; j < b; j++) xs[j] = lanes_stride(x + j, b);
}

/* The sum of all lanes, always in the same order. */
INLINE double lanes_total(lanes v)
{
    double x[LANES];
    lanes_store(x, v);
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

#endif
