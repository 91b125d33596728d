/* SPDX-License-Identifier: BSD-3-Clause
 * base/words.c - the clock, time limits, the nearest known word, and strict
 * numbers. */
#include "base/base.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double tct_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool tct_is_over(tct_timeout *p)
{
    enum { CHECKS = 128 };
    if (p->limit <= 0.0 || (++p->checks % CHECKS > 0 && !p->slow)) return false;
    const double now = tct_seconds(), most = fmin(1.0, p->limit / 8);
    if (p->checks > CHECKS) p->waited += fmin(now - p->last, most);
    p->slow = p->slow || (p->checks > CHECKS && now - p->last > 1e-3);
    p->last = now;
    return p->waited >= p->limit;
}

tacit_status tct_read_timeout(double *seconds)
{
    static const double LIMIT = 60.0;
    const char *wish = getenv("TACIT_PATIENCE");
    double wished = LIMIT;
    if (wish &&
        !(tct_parse_double(wish, &wished) && wished >= 0.0 && isfinite(wished)))
        FAIL(TACIT_INVALID,
             "TACIT_PATIENCE is '%s': expected seconds, or 0 for no limit",
             wish);
    *seconds = wished;
    return TACIT_OK;
}

/* Edit distance (Levenshtein 1966) of two short words. */
static size_t distance(const char *a, const char *b)
{
    enum { MOST = 64 };
    const size_t na = strlen(a), nb = strlen(b);
    if (na >= MOST || nb >= MOST) return MOST;
    size_t row[MOST + 1];
    for (size_t j = 0; j <= nb; j++) row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t swap = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            size_t best = row[j] < row[j - 1] ? row[j] : row[j - 1];
            row[j] = best + 1 < swap ? best + 1 : swap;
        }
    }
    return row[nb];
}

const char *tct_nearest(const char *word, const char *const *names,
                        size_t count)
{
    const char *best = NULL;
    size_t least = strlen(word) / 2 + 2; /* a farther name is no help */
    for (size_t i = 0; i < count; i++) {
        const size_t d = distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

tacit_status tct_unknown(const char *what, const char *name,
                         const char *const *names, size_t count)
{
    const char *near = tct_nearest(name, names, count);
    FAIL(TACIT_INVALID, "unknown %s '%s'%s%s%s", what, name,
         near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

bool tct_parse_int64(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE) return false;
    *out = value;
    return true;
}

bool tct_parse_double(const char *text, double *out)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0') return false;
    *out = value;
    return true;
}
