/* SPDX-License-Identifier: BSD-3-Clause
 * io/plain.c - vectors as plain text: numbers between blanks. A comment is from
 * # or % to the end of the line. As many values as rows are one vector, however
 * they are spread over lines; otherwise each line has a row's value of each
 * column. All values are read on opening, as nothing else tells the columns. */
#include "io/format.h"
#include "io/number.h"
#include "io/text.h"
#include <math.h>
#include <string.h>

typedef struct {
    tct_source base;
    tct_input in;
    tct_text *text;
    tct_text_place here;
    double *value; /* [room] by rows */
    int64_t count, room;
    int64_t lines;        /* that have values */
    int64_t line_first;   /* value of the current line */
    int64_t width, other; /* values of the first line; of another, or 0 */
    long long other_line; /* its number */
    int64_t done;         /* values handed on */
    bool in_comment;
    tct_entry *entry; /* [TCT_BATCH] */
    tct_part parts[TCT_PARTS];
} plain;

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool comment(char c)
{
    return c == '#' || c == '%';
}

/* --- numbers -------------------------------------------------------------- */

static tacit_status bad_number(const plain *p, const char *why)
{
    return tct_text_bad_word(p->text, p->here.line, p->here.at, why);
}

/* Room for one more value. */
static tacit_status grow(plain *p)
{
    if (p->count < p->room) return TACIT_OK;
    const int64_t least = p->in.length > TCT_BATCH ? p->in.length : TCT_BATCH;
    const int64_t room = p->room > 0 ? 2 * p->room : least;
    double *value = NULL;
    TRY(TCT_ALLOC(room, "the values of a file", &value));
    if (p->count > 0) memcpy(value, p->value, (size_t)p->count * sizeof *value);
    tct_free(p->value);
    p->value = value;
    p->room = room;
    return TACIT_OK;
}

static tacit_status take_number(plain *p)
{
    double value = 0;
    const char *end = tct_scan_double(p->here.at, &value);
    if (!end || !(blank(*end) || *end == '\n' || comment(*end)))
        return bad_number(p, "is no number: write numbers between blanks");
    if (!isfinite(value))
        return bad_number(p, "is not finite: all values must be");
    TRY(grow(p));
    p->here.at = end;
    p->value[p->count++] = value;
    return TACIT_OK;
}

static void end_line(plain *p)
{
    const int64_t width = p->count - p->line_first;
    p->in_comment = false;
    p->line_first = p->count;
    if (width == 0) return;
    if (p->lines++ == 0) p->width = width;
    if (width == p->width || p->other > 0) return;
    p->other = width;
    p->other_line = tct_text_line_number(p->text);
}

static tacit_status take_block(plain *p)
{
    while (p->here.at < p->here.end) {
        const char c = *p->here.at;
        if (c == '\n') {
            end_line(p);
            tct_text_count_lines(p->text, 1);
            p->here.line = ++p->here.at;
        } else if (p->in_comment || blank(c)) {
            p->here.at++;
        } else if (comment(c)) {
            p->in_comment = true;
        } else {
            TRY(take_number(p));
        }
    }
    return TACIT_OK;
}

static tacit_status take_all(plain *p)
{
    for (;;) {
        TRY(tct_text_next(p->text, &p->here));
        if (p->here.at == p->here.end) break;
        TRY(take_block(p));
    }
    end_line(p); /* a text of one huge line may lack its end */
    return TACIT_OK;
}

/* --- rows and columns ----------------------------------------------------- */

static tacit_status find_columns(plain *p)
{
    tct_source *s = &p->base;
    const bool one = p->count == p->in.length || p->width <= 1;
    if (!one && p->other > 0 && p->lines == p->in.length)
        FAIL(TACIT_INPUT,
             "%s:%lld: this line has another number of values, %lld, than the "
             "first, which has %lld: give each of the %lld rows a value for "
             "each column",
             p->in.path, p->other_line, (long long)p->other,
             (long long)p->width, (long long)p->lines);
    const bool table = !one && p->other == 0;
    if (!table && p->count != p->in.length)
        return tct_wrong_length(p->in.path, p->count, p->in.length);
    s->rows = table ? p->lines : p->count;
    s->cols = table ? p->width : 1;
    s->stored = s->most = p->count;
    return TACIT_OK;
}

static tacit_status plain_next(tct_source *base, tct_batch *out)
{
    plain *p = (plain *)base;
    const int64_t left = p->count - p->done;
    const int64_t n = left < TCT_BATCH ? left : TCT_BATCH;
    for (int64_t k = 0; k < n; k++, p->done++)
        p->entry[k] = (tct_entry){p->done / base->cols, p->done % base->cols,
                                  p->value[p->done]};
    tct_batch_split(out, p->parts, p->entry, n);
    return TACIT_OK;
}

static void plain_close(tct_source *base)
{
    plain *p = (plain *)base;
    tct_text_close(&p->text);
    TCT_FREE(p->value, p->entry, p);
}

/* --- the format ----------------------------------------------------------- */

/* The first word outside comments begins like a number. */
static bool plain_probe(const char *head, size_t count)
{
    const char *p = head, *end = head + count;
    while (p && p < end && (blank(*p) || *p == '\n' || comment(*p)))
        p = comment(*p) ? tct_next_line(p, end) : p + 1;
    if (!p) return false;
    char word[64 + TCT_SCAN_PAD] = {0};
    size_t n = 0;
    for (; p < end && n < 64 && !blank(*p) && *p != '\n'; p++) word[n++] = *p;
    double value;
    return n > 0 && tct_scan_double(word, &value) != NULL;
}

static tacit_status plain_open(const tct_input *in, tct_source **out)
{
    plain *p = tct_calloc(sizeof *p);
    if (!p) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", in->path);
    p->in = *in;
    p->base =
        (tct_source){.checked = true, .next = plain_next, .close = plain_close};
    tacit_status status = tct_text_open(in->path, in->stream, &p->text);
    if (status >= 0)
        status = TCT_ALLOC(TCT_BATCH, "a piece of a file", &p->entry);
    if (status >= 0) status = take_all(p);
    if (status >= 0) status = find_columns(p);
    return tct_source_built(&p->base, status, out);
}

const tct_file_format tct_file_plain = {
    .about = {.name = "plain",
              .summary =
                  "vectors as plain text: numbers, a column a vector; comments "
                  "from # or %",
              .told_by = "a number",
              .reads_vector = true,
              .reads_vectors = true},
    .probe = plain_probe,
    .open = plain_open,
};
