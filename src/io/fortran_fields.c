/* SPDX-License-Identifier: BSD-3-Clause
 * io/fortran_fields.c - the next field, by its columns or as a word. */
#include "io/fortran_fields.h"
#include "io/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Position of the current field, for messages. */
static const char *place(const tct_fields *b, char *out, size_t n)
{
    snprintf(out, n, "%s:%lld:%lld", b->path,
             (long long)tct_text_line_number(b->text) - 1,
             (long long)b->column + 1);
    return out;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word of the line at or after `at`: [*begin, end). */
static size_t next_word(const tct_fields *b, size_t at, size_t *begin)
{
    while (at < b->length && blank(b->line[at])) at++;
    *begin = at;
    while (at < b->length && !blank(b->line[at])) at++;
    return at;
}

static void take_text(const tct_fields *b, size_t from, size_t to, char *out)
{
    size_t n = 0;
    for (size_t k = from; k < to && k < b->length; k++)
        if (!blank(b->line[k])) out[n++] = b->line[k];
    memset(out + n, 0, TCT_SCAN_PAD);
}

/* SciPy's hb_write names one column more than it writes: the words of a line,
 * each a number with a point, lie across the borders of the fields. */
static bool by_words(const tct_fields *b, const tct_fortran_format *f)
{
    char word[TCT_FORTRAN_WIDEST + TCT_SCAN_PAD + 1];
    size_t begin, end = 0;
    bool across = false;
    if (f->descriptor == 'I') return false;
    for (int k = 0; (end = next_word(b, end, &begin)) > begin; k++) {
        if (end - begin > (size_t)f->width || k == f->repeat) return false;
        take_text(b, begin, end, word);
        const char *point = strchr(word, '.');
        double value;
        if (!point || strchr(point + 1, '.') ||
            !tct_fortran_number(f, word, &value))
            return false;
        const size_t low = (size_t)(f->lead + k * f->pitch);
        across = across || begin < low || end > low + (size_t)f->width;
    }
    return across;
}

static tacit_status next_line(tct_fields *b, const tct_fortran_format *f)
{
    TRY(tct_text_line(b->text, &b->line, &b->length));
    b->field = 0;
    b->end = 0;
    b->words = b->line && by_words(b, f);
    return TACIT_OK;
}

/* The next field without blanks, padded by zero bytes. */
static tacit_status next_field(tct_fields *b, const tct_fortran_format *f,
                               const char *what, char *out)
{
    if (b->field == 0 || b->field == f->repeat) TRY(next_line(b, f));
    if (!b->line)
        FAIL(TACIT_INPUT, "%s:%lld: ends within the %s: it is cut short",
             b->path, (long long)tct_text_line_number(b->text) - 1, what);
    if (b->words) {
        b->end = next_word(b, b->end, &b->column);
    } else {
        b->column = (size_t)(f->lead + b->field * f->pitch);
        b->end = b->column + (size_t)f->width;
    }
    take_text(b, b->column, b->end, out);
    b->field++;
    char where[4200];
    if (!*out)
        FAIL(TACIT_INPUT,
             "%s: nothing stands where one of the %s should: the "
             "file is cut short or does not follow its formats",
             place(b, where, sizeof where), what);
    return TACIT_OK;
}

tacit_status tct_fields_int(tct_fields *b, const tct_fortran_format *f,
                            const char *what, int64_t low, int64_t high,
                            int64_t *out)
{
    char word[TCT_FORTRAN_WIDEST + TCT_SCAN_PAD + 1], where[4200];
    TRY(next_field(b, f, what, word));
    const char *end = tct_scan_int(word, out);
    if (!end || *end != '\0')
        FAIL(TACIT_INPUT, "%s: '%s' among the %s is no whole number",
             place(b, where, sizeof where), word, what);
    if (*out < low || *out > high)
        FAIL(TACIT_INPUT, "%s: %s among the %s is outside %lld to %lld",
             place(b, where, sizeof where), word, what, (long long)low,
             (long long)high);
    return TACIT_OK;
}

tacit_status tct_fields_value(tct_fields *b, const tct_fortran_format *f,
                              const char *what, double *out)
{
    char word[TCT_FORTRAN_WIDEST + TCT_SCAN_PAD + 1], where[4200];
    TRY(next_field(b, f, what, word));
    if (!tct_fortran_number(f, word, out))
        FAIL(TACIT_INPUT, "%s: '%s' is no number",
             place(b, where, sizeof where), word);
    if (!isfinite(*out))
        FAIL(TACIT_INPUT, "%s: the value %s is not finite: all values must be",
             place(b, where, sizeof where), word);
    return TACIT_OK;
}

tacit_status tct_fields_skip(tct_fields *b, const tct_fortran_format *f,
                             const char *what, int64_t count)
{
    for (int64_t left = count; left > 0; left -= f->repeat) {
        TRY(tct_text_line(b->text, &b->line, &b->length));
        if (!b->line)
            FAIL(TACIT_INPUT, "%s:%lld: ends within the %s: it is cut short",
                 b->path, (long long)tct_text_line_number(b->text) - 1, what);
    }
    return TACIT_OK;
}

void tct_fields_begin(tct_fields *b)
{
    b->field = 0;
}
