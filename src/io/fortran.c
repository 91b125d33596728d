/* SPDX-License-Identifier: BSD-3-Clause
 * io/fortran.c - formats of Fortran, and numbers printed by them. */
#include "io/fortran.h"
#include "io/number.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool tct_fortran_number(const tct_fortran_format *f, const char *word,
                        double *out)
{
    char text[2 * TCT_FORTRAN_WIDEST + TCT_SCAN_PAD] = {0};
    int n = 0;
    bool point = false, exponent = false;
    if (strpbrk(word, "nN")) { /* nan and inf are refused by value */
        const char *stop = tct_scan_double(word, out);
        return stop && *stop == '\0';
    }
    for (const char *p = word; *p; p++) {
        const bool mark = strchr("eEdDqQ", *p) != NULL;
        const bool sign = *p == '+' || *p == '-';
        point = point || *p == '.';
        if (mark) exponent = true;
        else if (sign && n > 0 && !exponent) {
            text[n++] = 'e'; /* 1.5-103 */
            exponent = true;
        }
        text[n++] = mark ? 'e' : *p;
    }
    int shift = point ? 0 : -f->decimals;
    if (!exponent) shift -= f->scale;
    if (shift != 0 && exponent) { /* merge the two exponents */
        char *e = strchr(text, 'e');
        int64_t given;
        const char *end = tct_scan_int(e + 1, &given);
        if (!end || *end != '\0' || given > 100000 || given < -100000)
            return false;
        snprintf(e, 24, "e%lld", (long long)given + shift);
    } else if (shift != 0) {
        snprintf(text + n, 16, "e%d", shift);
    }
    const char *end = tct_scan_double(text, out);
    return end && *end == '\0';
}

/* The number at `*p`, or `otherwise`. */
static int small_int(const char **p, int otherwise)
{
    int value = 0;
    if (!isdigit((unsigned char)**p)) return otherwise;
    for (; isdigit((unsigned char)**p); ++*p)
        if (value < 100000) value = 10 * value + (**p - '0');
    return value;
}

bool tct_fortran_parse(const char **at, const char *allowed,
                       tct_fortran_format *f)
{
    char text[40];
    int n = 0;
    const char *p = strchr(*at, '(');
    if (!p) return false;
    for (p++; *p && *p != ')' && n < 36; p++)
        if (*p != ' ') text[n++] = (char)toupper((unsigned char)*p);
    if (*p != ')') return false;
    *at = p + 1;
    text[n] = '\0';
    p = text;
    const bool minus = *p == '-';
    p += minus;
    *f = (tct_fortran_format){.repeat = small_int(&p, 1)};
    if (*p == 'P') {
        p++;
        f->scale = minus ? -f->repeat : f->repeat;
        if (*p == ',') p++;
        f->repeat = small_int(&p, 1);
    } else if (minus) {
        return false;
    }
    if (!*p || !strchr(allowed, *p)) return false;
    f->descriptor = *p++;
    f->width = small_int(&p, 0);
    if (*p == '.') {
        p++;
        f->decimals = f->descriptor == 'I' ? 0 : (small_int(&p, 0));
        while (f->descriptor == 'I' && isdigit((unsigned char)*p)) p++;
    }
    if (*p == 'E') {
        p++;
        small_int(&p, 0);
    }
    return *p == '\0' && f->width > 0 && f->width <= TCT_FORTRAN_WIDEST &&
           f->repeat > 0 && f->repeat <= 4096 && f->scale > -100 &&
           f->scale < 100 && f->decimals < 100;
}
