/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/rows_double.c - rows of doubles, and copies past the caches,
 * which are of no type. */
#define TCT_REAL           double
#define TCT_FMA(a, b, sum) __builtin_fma((a), (b), (sum))
#include "operator/stencil/host_text.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

const tct_host_rows TCT_ISA_NAME(tct_rows_double) = TCT_ROWS;

/* Whole vectors with their natural alignment; the rest is copied as usual. */
#if defined(__AVX512F__)
typedef __m512i vector;
#define STORE(to, v) _mm512_stream_si512((void *)(to), (v))
#elif defined(__AVX__)
typedef __m256i vector;
#define STORE(to, v) _mm256_stream_si256((to), (v))
#elif defined(__SSE2__)
typedef __m128i vector;
#define STORE(to, v) _mm_stream_si128((to), (v))
#endif

#ifdef STORE
static void copy(void *to, const void *from, size_t bytes)
{
    const size_t off = (uintptr_t)to % sizeof(vector);
    const size_t head = off ? sizeof(vector) - off : 0;
    if (head >= bytes) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    char *p = (char *)to + head;
    const char *q = (const char *)from + head;
    size_t left = bytes - head;
    for (; left >= sizeof(vector); left -= sizeof(vector)) {
        vector v;
        memcpy(&v, q, sizeof v);
        STORE((vector *)(void *)p, v);
        p += sizeof v;
        q += sizeof v;
    }
    memcpy(p, q, left);
}

static void fence(void)
{
    _mm_sfence();
}
#else
static void copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void fence(void) {}
#endif

const tct_host_stream TCT_ISA_NAME(tct_stream) = {copy, fence};
