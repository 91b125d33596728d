/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/host_past.h - stores of whole vectors past the caches, at
 * their natural alignment, in the instruction set of the file. */
#ifndef TCT_OPERATOR_STENCIL_HOST_PAST_H
#define TCT_OPERATOR_STENCIL_HOST_PAST_H
#include "device/isa.h"
#include <string.h>
#ifdef TCT_ISA
#ifdef __SSE2__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
typedef __m512i tct_past_vector;
#define TCT_STORE_PAST(to, v) _mm512_stream_si512((void *)(to), (v))
#elif defined(__AVX__)
typedef __m256i tct_past_vector;
#define TCT_STORE_PAST(to, v) _mm256_stream_si256((to), (v))
#elif defined(__SSE2__)
typedef __m128i tct_past_vector;
#define TCT_STORE_PAST(to, v) _mm_stream_si128((to), (v))
#else /* there are none */
typedef struct tct_past_vector {
    double v[2];
} tct_past_vector;
#define TCT_STORE_PAST(to, v) (*(to) = (v))
#endif
enum { TCT_PAST_BYTES = sizeof(tct_past_vector) };

INLINE void tct_store_past(void *to, const void *from)
{
    tct_past_vector v;
    memcpy(&v, from, sizeof v);
    TCT_STORE_PAST((tct_past_vector *)to, v);
}

#endif
#endif
