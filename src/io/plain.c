/* SPDX-License-Identifier: BSD-3-Clause
 * io/plain.c - a vector as plain text: numbers between blanks, one or several
 * per line. A comment is from # or % to the end of the line. */
#include "io/format.h"
#include "io/number.h"
#include "io/text.h"
#include <math.h>

typedef struct {
    tct_source base;
    tct_input in;
    tct_text *text;
    tct_text_place here;
    int64_t seen; /* values read */
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

static tacit_status take_number(plain *p, int64_t *count)
{
    double value = 0;
    const char *end = tct_scan_double(p->here.at, &value);
    if (!end || !(blank(*end) || *end == '\n' || comment(*end)))
        return bad_number(p, "is no number: write numbers between blanks");
    if (!isfinite(value))
        return bad_number(p, "is not finite: all values must be");
    p->here.at = end;
    if (p->seen++ < p->base.rows) /* surplus values are only counted */
        p->entry[(*count)++] = (tct_entry){p->seen - 1, 0, value};
    return TACIT_OK;
}

/* Read numbers to the end of the block or of the room for entries. */
static tacit_status take_block(plain *p, int64_t *count)
{
    while (p->here.at < p->here.end && *count < TCT_BATCH) {
        const char c = *p->here.at;
        if (c == '\n') {
            p->in_comment = false;
            tct_text_count_lines(p->text, 1);
            p->here.line = ++p->here.at;
        } else if (p->in_comment || blank(c)) {
            p->here.at++;
        } else if (comment(c)) {
            p->in_comment = true;
        } else {
            TRY(take_number(p, count));
        }
    }
    return TACIT_OK;
}

static tacit_status plain_next(tct_source *base, tct_batch *out)
{
    plain *p = (plain *)base;
    int64_t count = 0;
    for (;;) {
        TRY(take_block(p, &count));
        if (count == TCT_BATCH) break;
        TRY(tct_text_next(p->text, &p->here));
        if (p->here.at == p->here.end) break;
    }
    tct_batch_split(out, p->parts, p->entry, count);
    if (count > 0 || p->seen == base->rows) return TACIT_OK;
    return tct_wrong_length(p->in.path, p->seen, base->rows);
}

static void plain_close(tct_source *base)
{
    plain *p = (plain *)base;
    tct_text_close(&p->text);
    tct_free(p->entry);
    tct_free(p);
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
    p->base = (tct_source){.rows = in->length,
                           .cols = 1,
                           .stored = in->length,
                           .most = in->length,
                           .checked = true,
                           .next = plain_next,
                           .close = plain_close};
    tacit_status status = tct_text_open(in->path, in->stream, &p->text);
    if (status >= 0)
        status = TCT_ALLOC(TCT_BATCH, "a piece of a file", &p->entry);
    return tct_source_built(&p->base, status, out);
}

const tct_file_format tct_file_plain = {
    .about = {.name = "plain",
              .summary =
                  "a vector as plain text: numbers, comments from # or %",
              .told_by = "a number",
              .reads_vector = true},
    .probe = plain_probe,
    .open = plain_open,
};
