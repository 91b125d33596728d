/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/rows_double.c - rows of doubles, and copies past the caches,
 * which are of no type. */
#define TCT_REAL           double
#define TCT_FMA(a, b, sum) __builtin_fma((a), (b), (sum))
#include "operator/stencil/host_text.h"
const tct_host_rows TCT_ISA_NAME(tct_rows_double) = TCT_ROWS;

/* Whole vectors with their natural alignment; the rest is copied as usual. */
static void copy(void *to, const void *from, size_t bytes)
{
    const size_t off = (uintptr_t)to % TCT_PAST_BYTES;
    const size_t head = off ? TCT_PAST_BYTES - off : 0;
    if (head >= bytes) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    char *p = (char *)to + head;
    const char *q = (const char *)from + head;
    size_t left = bytes - head;
    for (; left >= TCT_PAST_BYTES; left -= TCT_PAST_BYTES) {
        tct_store_past(p, q);
        p += TCT_PAST_BYTES;
        q += TCT_PAST_BYTES;
    }
    memcpy(p, q, left);
}

static void fence(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

const tct_host_stream TCT_ISA_NAME(tct_stream) = {copy, fence};
