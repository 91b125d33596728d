/* SPDX-License-Identifier: BSD-3-Clause
 * io/number.h - text to numbers and back, fast and correctly rounded.
 *
 * The scanners read up to TCT_SCAN_PAD bytes past a number: the caller provides
 * them, and the first is not a digit. */
#ifndef TCT_IO_NUMBER_H
#define TCT_IO_NUMBER_H
#include "base/base.h"
#include <string.h>

enum { TCT_SCAN_PAD = 16 };

/* Called once per number in loops over millions of them. */
#define TCT_INLINE static inline __attribute__((always_inline))

static const uint64_t tct_tens[9] = {1,      10,      100,      1000,     10000,
                                     100000, 1000000, 10000000, 100000000};

/* The number of leading digits among the eight bytes at `p`, and their value.
 * One load and a few multiplications; one branch. */
TCT_INLINE int tct_scan_eight(const char *p, uint64_t *value)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    const uint64_t highs = UINT64_C(0xF0F0F0F0F0F0F0F0);
    uint64_t x;
    memcpy(&x, p, sizeof x);
    const uint64_t odd =
        ((x & highs) | ((x + UINT64_C(0x0606060606060606)) & highs) >> 4) ^
        UINT64_C(0x3333333333333333);
    const int n = odd ? __builtin_ctzll(odd) / 8 : 8;
    if (n == 0) {
        *value = 0;
        return 0;
    }
    x = (x - zeros) << (64 - 8 * n); /* leading zeros do not count */
    x = x * 10 + (x >> 8);           /* pairs, then fours, then eight */
    const uint64_t mask = UINT64_C(0x000000FF000000FF);
    const uint64_t one = UINT64_C(0x000F424000000064); /* 100 + 10^6 2^32 */
    const uint64_t two = UINT64_C(0x0000271000000001); /* 1 + 10^4 2^32 */
    *value = ((x & mask) * one + ((x >> 16) & mask) * two) >> 32;
    return n;
}

/* Read a decimal integer with an optional sign. Returns the end, or NULL if
 * there is none or it exceeds 64 bits. */
TCT_INLINE const char *tct_scan_int(const char *p, int64_t *out)
{
    const bool minus = *p == '-';
    p += minus || *p == '+';
    uint64_t value, more;
    int n = tct_scan_eight(p, &value);
    if (n == 0) return NULL;
    p += n;
    while (n == 8) {
        n = tct_scan_eight(p, &more);
        if (__builtin_mul_overflow(value, tct_tens[n], &value) ||
            __builtin_add_overflow(value, more, &value))
            return NULL;
        p += n;
    }
    if (value > INT64_MAX) return NULL;
    *out = minus ? -(int64_t)value : (int64_t)value;
    return p;
}

/* Read a decimal number, rounded to nearest even as strtod does, in any locale.
 * The exponent mark is e, E, d or D. Accepts `nan` and `inf`; overflow gives
 * inf. Returns the end, or NULL if there is none. */
const char *tct_scan_double(const char *p, double *out);

/* Write `x` with the fewest of 15, 16 or 17 digits that read back to the same
 * bits: at most TCT_PRINT_MAX bytes, no zero byte. Returns their number. */
enum { TCT_PRINT_MAX = 32 };
int tct_print_double(char *out, double x);
int tct_print_int(char *out, int64_t x);

#endif
