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

/* Parses a format without blanks, in capitals. Groups are unrolled. */
typedef struct {
    const char *at, *allowed;
    int column; /* of the next field, from 0 */
    int steps;  /* to go: bounds the work of nested groups */
    tct_fortran_format *f;
} parser;

/* The fields of a line have one descriptor, and equal distances. */
static bool add_fields(parser *s, int count, const tct_fortran_format *one)
{
    tct_fortran_format *f = s->f;
    for (int k = 0; k < count; k++, s->column += one->width) {
        if (f->repeat == 0) {
            f->descriptor = one->descriptor;
            f->width = one->width;
            f->decimals = one->decimals;
            f->lead = s->column;
        }
        if (f->repeat == 1) f->pitch = s->column - f->lead;
        if (f->descriptor != one->descriptor || f->width != one->width ||
            f->decimals != one->decimals ||
            s->column != f->lead + f->repeat * f->pitch)
            return false;
        if (++f->repeat > 4096) return false;
    }
    return true;
}

/* A descriptor such as E24.16 or I5, `count` times. */
static bool take_fields(parser *s, int count)
{
    tct_fortran_format one = {0};
    if (!*s->at || !strchr(s->allowed, *s->at)) return false;
    one.descriptor = *s->at++;
    one.width = small_int(&s->at, 0);
    if (*s->at == '.') {
        s->at++;
        one.decimals = small_int(&s->at, 0);
    }
    if (one.descriptor == 'I') one.decimals = 0; /* digits, at least */
    if (*s->at == 'E') {
        s->at++;
        small_int(&s->at, 0);
    }
    return count > 0 && one.width > 0 && one.width <= TCT_FORTRAN_WIDEST &&
           one.decimals < 100 && add_fields(s, count, &one);
}

static bool take_items(parser *s, int depth);

/* A group, `count` times. Further lines begin at the group, so that nothing may
 * be skipped before. */
static bool take_group(parser *s, int count, int depth)
{
    const char *const begin = ++s->at;
    if (depth > 4 || count < 1 || (depth == 1 && s->column > 0)) return false;
    for (int k = 0; k < count; k++) {
        s->at = begin;
        if (!take_items(s, depth + 1) || *s->at != ')') return false;
    }
    s->at++;
    return true;
}

/* nP, nX, fields or a group. */
static bool take_item(parser *s, int depth)
{
    const bool minus = *s->at == '-';
    s->at += minus;
    const int count = small_int(&s->at, 1);
    if (--s->steps < 0) return false;
    if (*s->at == 'P') {
        s->at++;
        s->f->scale = minus ? -count : count;
        return count < 100;
    }
    if (minus) return false;
    if (*s->at == '(') return take_group(s, count, depth);
    if (*s->at != 'X') return take_fields(s, count);
    s->at++;
    s->column += count;
    return s->column < 4096;
}

/* Items up to a closing parenthesis. A comma may be missing after P. */
static bool take_items(parser *s, int depth)
{
    for (;;) {
        const char *const before = s->at;
        if (!take_item(s, depth)) return false;
        if (*s->at == ')' || *s->at == '\0') return true;
        const bool scale = s->at > before && s->at[-1] == 'P';
        if (*s->at == ',') s->at++;
        else if (!scale) return false;
    }
}

/* Copy the format at `*from`, parentheses left out, and advance behind it. */
static bool copy_format(const char **from, char *text, int room)
{
    const char *p = strchr(*from, '(');
    int n = 0, depth = 1;
    if (!p) return false;
    for (p++; *p && n < room; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0) break;
        if (*p != ' ') text[n++] = (char)toupper((unsigned char)*p);
    }
    text[n] = '\0';
    *from = p + 1;
    return *p == ')';
}

bool tct_fortran_parse(const char **at, const char *allowed,
                       tct_fortran_format *f)
{
    char text[80];
    *f = (tct_fortran_format){0};
    if (!copy_format(at, text, sizeof text - 1)) return false;
    parser s = {.at = text, .allowed = allowed, .steps = 10000, .f = f};
    if (!take_items(&s, 1) || *s.at != '\0') return false;
    if (f->repeat == 1) f->pitch = f->width;
    return f->repeat > 0;
}
