/* SPDX-License-Identifier: BSD-3-Clause
 * cli/base.c - the nearest known word, and strict numbers. */
#include "cli/base.h"
#include <errno.h>
#include <stdio.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of characters to add, drop or change between `a` and `b`. */
static size_t messages_between(const char *a, const char *b)
{
    enum { MOST = 64 };
    size_t d[MOST][MOST]; /* distances of their beginnings */
    const size_t m = strlen(a), n = strlen(b);
    if (m >= MOST || n >= MOST) return MOST;
    for (size_t i = 0; i <= m; i++)
        for (size_t j = 0; j <= n; j++) {
            d[i][j] = i + j;
            if (i == 0 || j == 0) continue;
            d[i][j] = least(d[i - 1][j], d[i][j - 1]) + 1;
            d[i][j] = least(d[i][j], d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
        }
    return d[m][n];
}

const char *cli_nearest(const char *word, const char *const *names,
                        size_t count)
{
    const char *best = NULL;
    size_t far = strlen(word) / 2 + 2; /* a word further away is no help */
    for (size_t i = 0; i < count; i++) {
        const size_t d = messages_between(word, names[i]);
        if (d >= far) continue;
        far = d;
        best = names[i];
    }
    return best;
}

bool cli_parse_integer(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE) return false;
    *out = value;
    return true;
}

bool cli_parse_real(const char *text, double *out)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0') return false;
    *out = value;
    return true;
}

bool cli_parse_shape(const char *text, int out[3])
{
    int end = 0;
    return sscanf(text, "%4dx%4dx%4d%n", &out[0], &out[1], &out[2], &end) ==
               3 &&
           text[end] == '\0' && out[0] > 0 && out[1] > 0 && out[2] > 0;
}

bool cli_parse_pair(const char *text, double out[2])
{
    char *end;
    out[0] = strtod(text, &end);
    return end != text && *end == ',' && cli_parse_real(end + 1, &out[1]);
}
