/* SPDX-License-Identifier: BSD-3-Clause
 * io/matrix_market_entries.c - the entries of a Matrix Market file: parses the
 * lines of a part, and reports the first wrong word in them. */
#include "io/matrix_market.h"
#include "io/number.h"
#include <math.h>
#include <stdio.h>

/* --- parsing ------------------------------------------------------------ */

static inline const char *skip(const char *p)
{
    while (tct_is_blank(*p)) p++;
    return p;
}

/* A number must be followed by a blank or a line end. */
static inline bool ends_number(const char *p)
{
    return p && (tct_is_blank(*p) || *p == '\n');
}

static void stop(tct_market_part *p, tct_market_fault what, const char *at)
{
    p->trouble = what;
    p->bad = at;
}

/* `val` has the type in the header. */
static inline bool has_kind(const tct_market *m, double val)
{
    return m->base.field != TCT_FIELD_INTEGER ||
           (val == floor(val) && (val >= 0 || !m->is_unsigned));
}

/* Parse the value at `s`, 1 in a pattern; NULL: wrong. */
static inline const char *parse_value(const tct_market *m, tct_market_part *p,
                                      const char *s, double *val)
{
    const char *at = s;
    *val = 1;
    if (m->base.field != TCT_FIELD_PATTERN) {
        s = tct_scan_double(at, val);
        if (!ends_number(s) || !isfinite(*val) || !has_kind(m, *val)) {
            stop(p, TCT_MARKET_BAD_VALUE, at);
            return NULL;
        }
    }
    s = skip(s);
    if (*s == '\n') return s + 1;
    stop(p, TCT_MARKET_BAD_END, s);
    return NULL;
}

/* Skip a line without an entry. */
static inline bool no_entry(const char **s)
{
    if (**s != '\n' && **s != '%') return false;
    while (**s != '\n') ++*s;
    ++*s;
    return true;
}

static void parse_coordinates(const tct_market *m, tct_market_part *p)
{
    const uint64_t rows = (uint64_t)m->base.rows, cols = (uint64_t)m->base.cols;
    const bool mirror = m->base.symmetric;
    tct_entry *e = p->entries;
    const char *s = p->begin;
    int64_t stored = 0, i = 0, j = 0;
    for (; s < p->end; p->lines++) {
        s = skip(s);
        if (no_entry(&s)) continue;
        const char *at = s;
        s = tct_scan_int(at, &i);
        if (!ends_number(s) || (uint64_t)i - 1 >= rows) {
            stop(p, TCT_MARKET_BAD_ROW, at);
            break;
        }
        at = s = skip(s);
        s = tct_scan_int(at, &j);
        if (!ends_number(s) || (uint64_t)j - 1 >= cols) {
            stop(p, TCT_MARKET_BAD_COLUMN, at);
            break;
        }
        s = parse_value(m, p, skip(s), &e->val);
        if (!s) break;
        e->row = i - 1;
        e->col = j - 1;
        stored++;
        e++;
        p->below |= i > j;
        p->above |= i < j;
        p->diagonal += i == j;
        if (mirror && i != j) {
            *e = (tct_entry){j - 1, i - 1, e[-1].val};
            e++;
        }
    }
    p->stored = stored;
    p->count = e - p->entries;
}

/* Values only; positions are set once the count of earlier values is known. */
static void parse_array(const tct_market *m, tct_market_part *p)
{
    tct_entry *e = p->entries;
    const char *s = p->begin;
    for (; s < p->end; p->lines++) {
        s = skip(s);
        if (no_entry(&s)) continue;
        s = parse_value(m, p, s, &e->val);
        if (!s) break;
        e++;
    }
    p->stored = p->count = e - p->entries;
}

void tct_market_place_array(const tct_market *m, tct_market_part *p,
                            int64_t before)
{
    const int64_t rows = m->base.rows;
    const bool packed = m->base.symmetric;
    int64_t i = before, j = 0;
    if (!packed) {
        j = before / rows;
        i = before % rows;
    } else {
        for (; i >= rows - j; j++) i -= rows - j;
        i += j;
    }
    /* Mirrored entries are collected at the back of the same array. */
    tct_entry *spare = p->entries + p->room;
    int64_t kept = 0, mirrored = 0;
    for (int64_t k = 0; k < p->count; k++) {
        const double val = p->entries[k].val;
        if (val != 0 || m->in.vector) { /* a vector keeps -0 */
            p->entries[kept++] = (tct_entry){i, j, val};
            if (packed && i != j) *--spare = (tct_entry){j, i, val};
            mirrored += packed && i != j;
        }
        if (++i == rows) i = packed ? ++j : (j++, 0);
    }
    memmove(p->entries + kept, spare, (size_t)mirrored * sizeof *spare);
    p->count = kept + mirrored;
}

void tct_market_parse(void *ctx, int k)
{
    tct_market *m = ctx;
    if (m->array) parse_array(m, &m->part[k]);
    else parse_coordinates(m, &m->part[k]);
}

/* --- errors --------------------------------------------------------------- */

/* The word at `p`, truncated if long. */
static const char *word_at(const char *p, char *out, size_t room)
{
    size_t n = 0;
    while (!tct_is_blank(p[n]) && p[n] != '\n' && p[n] != '\0' &&
           n + 4 < room) {
        out[n] =
            (unsigned char)p[n] < 32 || (unsigned char)p[n] > 126 ? '?' : p[n];
        n++;
    }
    const bool more = !tct_is_blank(p[n]) && p[n] != '\n' && p[n] != '\0';
    snprintf(out + n, room - n, "%s", more ? "..." : "");
    return out;
}

static tacit_status bad_index(const tct_market *m, const tct_market_part *p,
                              const char *where, const char *word)
{
    const bool is_row = p->trouble == TCT_MARKET_BAD_ROW;
    const char *what = is_row ? "row" : "column";
    const long long size = is_row ? m->base.rows : m->base.cols;
    int64_t value;
    if (word[0] == '\0')
        FAIL(TACIT_INPUT, "%s: the line ends where a %s number should stand",
             where, what);
    if (!ends_number(tct_scan_int(p->bad, &value)))
        FAIL(TACIT_INPUT,
             "%s: '%s' is no %s number: write whole numbers from "
             "1 to %lld",
             where, word, what, size);
    FAIL(TACIT_INPUT,
         "%s: %s %s is outside 1 to %lld: indices begin at 1 and end at the "
         "size in the header",
         where, what, word, size);
}

static tacit_status bad_value(const tct_market *m, const tct_market_part *p,
                              const char *where, const char *word)
{
    double value = 0;
    if (word[0] == '\0')
        FAIL(TACIT_INPUT, "%s: the line ends where a value should stand",
             where);
    const char *end = tct_scan_double(p->bad, &value);
    if (p->trouble == TCT_MARKET_BAD_END)
        FAIL(TACIT_INPUT, "%s: '%s' follows the %s: write one entry a line",
             where, word,
             m->base.field == TCT_FIELD_PATTERN ? "column number of a pattern"
                                                : "value");
    if (ends_number(end) && isfinite(value))
        FAIL(TACIT_INPUT,
             "%s: the value %s in a file whose header says %s: write 'real' "
             "there, or %s",
             where, word, m->is_unsigned ? "unsigned-integer" : "integer",
             m->is_unsigned ? "whole numbers from 0" : "whole numbers");
    if (ends_number(end))
        FAIL(TACIT_INPUT, "%s: the value %s is %s: all values must be finite",
             where, word, isnan(value) ? "not a number" : "not finite");
    FAIL(TACIT_INPUT, "%s: '%s' is no number: write values such as -1.25e-3",
         where, word);
}

tacit_status tct_market_explain(const tct_market *m, const tct_market_part *p,
                                int64_t line)
{
    const char *start = p->bad;
    while (start > p->begin && start[-1] != '\n') start--;
    char where[4200], word[40];
    snprintf(where, sizeof where, "%s:%lld:%lld", m->in.path,
             (long long)(line + p->lines), (long long)(p->bad - start + 1));
    word_at(p->bad, word, sizeof word);
    if (p->trouble == TCT_MARKET_BAD_ROW || p->trouble == TCT_MARKET_BAD_COLUMN)
        return bad_index(m, p, where, word);
    return bad_value(m, p, where, word);
}

tacit_status tct_market_too_many(const tct_market *m, const tct_market_part *p,
                                 int64_t line)
{
    int64_t left = m->base.stored - m->seen;
    const char *s = p->begin;
    for (;; line++) {
        s = skip(s);
        if (no_entry(&s)) continue;
        if (left-- == 0) break;
        while (*s++ != '\n') {
        }
    }
    FAIL(TACIT_INPUT,
         "%s:%lld: one more entry than the %lld that the header promises: "
         "correct its count",
         m->in.path, (long long)line, (long long)m->base.stored);
}
