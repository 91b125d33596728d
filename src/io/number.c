/* SPDX-License-Identifier: BSD-3-Clause
 * io/number.c - decimal to double, correctly rounded, and back.
 *
 * The fastest of three methods that is certain:
 *   1. [Cli90] integers up to 2^53 and powers of ten up to 22 are exact
 *      doubles; one multiplication or division rounds once.
 *   2. [Lem21] the 64-bit decimal times a 128-bit power of ten. The product has
 *      an error of at most two units in its 128th bit, so rounding to 53 bits
 *      is certain unless the remainder is that close to one half.
 *   3. strtod: ties, subnormals, overflow.
 * [Cli90] Clinger, How to read floating point numbers accurately, PLDI 1990.
 * [Lem21] Lemire, Number parsing at a gigabyte per second, Software: Practice
 *         and Experience 51 (2021), after an idea of M. Eisel. */
#include "io/number.h"
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 u128;

enum { TEN_MIN = -342, TEN_MAX = 308, FIVE_EXACT = 55 };

/* 10^e = (high 2^64 + low + f) 2^two, 0 <= f < 1, the top bit of high is
 * set. */
typedef struct {
    uint64_t high, low;
    int two;
} power;

static power powers[TEN_MAX - TEN_MIN + 1];
static pthread_once_t powers_made = PTHREAD_ONCE_INIT;

enum { WORDS = 18 }; /* 5^342 has 795 bits, and 128 more are needed */

/* The leading 128 bits of `w`, lowest word first, times 2^two. */
static power leading(const uint64_t *w, int two)
{
    int top = WORDS - 1;
    while (w[top] == 0) top--;
    const uint64_t a = w[top], b = top > 0 ? w[top - 1] : 0,
                   c = top > 1 ? w[top - 2] : 0;
    const int shift = __builtin_clzll(a);
    power p = {a, b, two + 64 * (top - 1) - shift};
    if (shift > 0) {
        p.high = a << shift | b >> (64 - shift);
        p.low = b << shift | c >> (64 - shift);
    }
    return p;
}

static void make_powers(void)
{
    uint64_t w[WORDS] = {1}; /* 5^e, exact */
    for (int e = 0; e <= TEN_MAX; e++) {
        powers[e - TEN_MIN] = leading(w, e);
        u128 carry = 0;
        for (int i = 0; i < WORDS; i++) {
            carry += (u128)w[i] * 5;
            w[i] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    memset(w, 0, sizeof w);
    const int two = 64 * (WORDS - 1) + 63;
    w[WORDS - 1] = UINT64_C(1) << 63; /* floor(2^two / 5^-e), exact */
    for (int e = -1; e >= TEN_MIN; e--) {
        uint64_t rest = 0;
        for (int i = WORDS - 1; i >= 0; i--) {
            const u128 part = (u128)rest << 64 | w[i];
            w[i] = (uint64_t)(part / 5);
            rest = (uint64_t)(part % 5);
        }
        powers[e - TEN_MIN] = leading(w, e - two);
    }
}

/* Round m 10^e to a double; false: not certain. */
TCT_INLINE bool from_product(uint64_t m, int64_t e, double *out)
{
    if (e < TEN_MIN || e > TEN_MAX) return false;
    pthread_once(&powers_made, make_powers);
    const power *p = &powers[e - TEN_MIN];
    const int lead = __builtin_clzll(m);
    const uint64_t w = m << lead;
    /* The true product is (a + f) 2^64 with 0 <= f < 2: the power's error is
     * below 1, times w below 2^64, and `low` was truncated. */
    const u128 cut = (u128)w * p->low;
    const u128 a = (u128)w * p->high + (uint64_t)(cut >> 64);
    const int shift = 74 + (int)(a >> 127); /* leaves 53 bits */
    uint64_t bits = (uint64_t)(a >> shift);
    const u128 rest = a & (((u128)1 << shift) - 1),
               half = (u128)1 << (shift - 1);
    if (e >= 0 && e <= FIVE_EXACT) {
        const bool tie = rest == half && (uint64_t)cut == 0;
        bits += tie ? bits & 1 : rest >= half;
    } else {
        if (rest + 2 > half && rest <= half) return false;
        bits += rest > half;
    }
    const int two = shift + 64 + p->two - lead;
    if (two < -1074 || two + (int)(bits >> 53) > 971) return false;
    const uint64_t word = ((uint64_t)(two + 1074) << 52) + bits;
    memcpy(out, &word, sizeof *out);
    return true;
}

TCT_INLINE bool from_decimal(uint64_t m, int64_t e, double *out)
{
    static const double tens[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (m == 0) {
        *out = 0;
        return true;
    }
    if (m <= UINT64_C(1) << 53 && e >= -22 && e <= 22) {
        *out = e < 0 ? (double)m / tens[-e] : (double)m * tens[e];
        return true;
    }
    return from_product(m, e, out);
}

/* The words that strtod accepts. */
static const char *scan_word(const char *p, double *out)
{
    static const struct {
        const char *word;
        double value;
    } known[] = {{"infinity", INFINITY}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t length = strlen(known[i].word);
        if (strncasecmp(p, known[i].word, length) != 0) continue;
        *out = known[i].value;
        return p + length;
    }
    return NULL;
}

/* The fallback: digits [p, end), exponent e. */
static double by_strtod(const char *p, const char *end, int64_t e)
{
    enum { MOST = 800 }; /* 768 digits decide any double */
    char text[MOST + 32];
    size_t n = 0;
    bool begun = false;
    for (; p < end; p++) {
        if (*p == '.') continue;
        begun = begun || *p != '0';
        if (!begun) continue;
        if (n < MOST) {
            text[n++] = *p;
            continue;
        }
        e++;
        if (*p != '0') text[MOST - 1] = '1'; /* nonzero digits follow */
    }
    snprintf(text + n, 32, "e%lld", (long long)e);
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

/* More digits than fit in 64 bits: the number is between its first 19 digits
 * and one unit more, which mostly round to the same double. */
static double from_many(const char *p, const char *end, int64_t e)
{
    uint64_t m = 0;
    int n = 0;
    int64_t left = 0;
    const char *q = p;
    for (; q < end; q++) {
        if (*q == '.') continue;
        if (n < 19) m = 10 * m + (uint64_t)(*q - '0');
        else left++;
        if (m > 0 && n < 19) n++;
    }
    double low, high;
    if (left == 0 && from_decimal(m, e, &low)) return low;
    if (from_decimal(m, e + left, &low) &&
        from_decimal(m + 1, e + left, &high) && low == high)
        return low;
    return by_strtod(p, end, e);
}

/* Read e+12, D-3; false: the mark has no number. */
static bool scan_exponent(const char **at, int64_t *e)
{
    const char *p = *at;
    const char mark = (char)(*p | 0x20);
    if (mark != 'e' && mark != 'd') return true;
    p++;
    const bool minus = *p == '-';
    p += minus || *p == '+';
    if (*p < '0' || *p > '9') return false;
    int64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (value < 100000000) value = 10 * value + (*p - '0');
    *e += minus ? -value : value;
    *at = p;
    return true;
}

const char *tct_scan_double(const char *p, double *out)
{
    const bool minus = *p == '-';
    p += minus || *p == '+';
    const char *first = p;
    uint64_t m = 0;
    int64_t digits, e = 0;
    while (*p >= '0' && *p <= '9') m = 10 * m + (uint64_t)(*p++ - '0');
    digits = p - first;
    if (*p == '.') {
        const char *point = ++p;
        uint64_t more;
        int n;
        do {
            n = tct_scan_eight(p, &more);
            m = m * tct_tens[n] + more;
            p += n;
        } while (n == 8);
        e = point - p;
        digits += p - point;
    }
    const char *end = p;
    double value;
    if (digits == 0) {
        if (p != first) return NULL;
        p = scan_word(p, &value);
        if (!p) return NULL;
    } else {
        if (!scan_exponent(&p, &e)) return NULL;
        if (digits > 19) value = from_many(first, end, e);
        else if (!from_decimal(m, e, &value)) value = by_strtod(first, end, e);
    }
    *out = minus ? -value : value;
    return p;
}

int tct_print_int(char *out, int64_t x)
{
    char text[24];
    int n = 0, length = 0;
    uint64_t left = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    do text[n++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (x < 0) out[length++] = '-';
    while (n > 0) out[length++] = text[--n];
    return length;
}

/* --- double to decimal --------------------------------------------------- */

/* x = digits 10^e, rounded to 17 digits; false: not certain. The product is
 * bounded as in from_product. */
static bool digits_of(double x, uint64_t *digits, int *e)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int field = (int)(bits >> 52 & 2047);
    if (field == 0) return false;                        /* subnormal */
    const uint64_t w = (bits << 11) | UINT64_C(1) << 63; /* x = w 2^two */
    const int two = field - 1086;
    int ten = 16 - ((two + 63) * 78913 >> 18); /* log10 2 = 78913 / 2^18 */
    for (;; ten--) {
        if (ten < TEN_MIN || ten > TEN_MAX) return false;
        const power *p = &powers[ten - TEN_MIN];
        const u128 a = (u128)w * p->high + (uint64_t)((u128)w * p->low >> 64);
        const int shift = -(64 + p->two + two);
        const u128 half = (u128)1 << (shift - 1);
        const u128 rest = a & (2 * half - 1);
        if (rest + 2 > half && rest <= half) return false;
        *digits = (uint64_t)(a >> shift) + (rest > half);
        *e = -ten;
        if (*digits < UINT64_C(100000000000000000)) return true;
    }
}

/* The shortest of 15, 16 or 17 digits that reads back as `x`, without trailing
 * zeros. */
static void shorten(double x, uint64_t *digits, int *e)
{
    double back;
    for (int drop = 2; drop > 0; drop--) {
        const uint64_t less = (*digits + tct_tens[drop] / 2) / tct_tens[drop];
        if (!from_decimal(less, *e + drop, &back) || back != x) continue;
        *digits = less;
        *e += drop;
        break;
    }
    for (; *digits % 10 == 0; ++*e) *digits /= 10;
}

/* Print digits 10^e as 1200, 12.5, 0.00125 or 1.25e-12. */
static int print_decimal(char *out, uint64_t digits, int e)
{
    char text[24];
    const int n = tct_print_int(text, (int64_t)digits);
    const int first = e + n - 1; /* exponent of the first digit */
    const bool plain = first >= -5 && first <= 16;
    int whole = !plain      ? 1
                : first < 0 ? 0
                            : first + 1; /* digits before the point */
    char *p = out;
    if (whole == 0) *p++ = '0';
    for (int k = 0; k < whole; k++) *p++ = k < n ? text[k] : '0';
    if (whole < n) *p++ = '.';
    if (plain && first < -1) {
        memset(p, '0', (size_t)(-1 - first));
        p += -1 - first;
    }
    for (int k = whole; k < n; k++) *p++ = text[k];
    if (plain) return (int)(p - out);
    *p++ = 'e';
    p += tct_print_int(p, first);
    return (int)(p - out);
}

/* The fallback: subnormals and ties. */
static int print_by_printf(char *out, double x)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = uselocale(c_locale);
    char text[TCT_PRINT_MAX];
    const int length = snprintf(text, sizeof text, "%.17g", x);
    uselocale(before);
    freelocale(c_locale);
    memcpy(out, text, (size_t)length);
    return length;
}

int tct_print_double(char *out, double x)
{
    if (fabs(x) < 0x1p53 && x == floor(x) && !(x == 0 && signbit(x)))
        return tct_print_int(out, (int64_t)x);
    uint64_t digits;
    int e;
    pthread_once(&powers_made, make_powers);
    if (!isfinite(x) || !digits_of(fabs(x), &digits, &e))
        return print_by_printf(out, x);
    shorten(fabs(x), &digits, &e);
    const int minus = x < 0;
    if (minus) *out = '-';
    return minus + print_decimal(out + minus, digits, e);
}
