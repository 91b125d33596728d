/* SPDX-License-Identifier: BSD-3-Clause
 * io/text.h - a text file as lines, and as blocks of whole lines.
 *
 *     tct_text_open(path, stream, &t);
 *     tct_text_line(t, &line, &length);       // a header, line by line
 *     for (;;) {                              // then the bulk
 *         tct_text_block(t, &begin, &end);
 *         if (begin == end) break;
 *         tct_text_ahead(t);                  // may run while [begin, end)
 *     }                                       // is parsed */
#ifndef TCT_IO_TEXT_H
#define TCT_IO_TEXT_H
#include "io/stream.h"
#include <string.h>

enum { TCT_TEXT_BLOCK = 1 << 20 };

typedef struct tct_text tct_text;

/* Borrows `path` and `stream`. */
tacit_status tct_text_open(const char *path, tct_stream *stream,
                           tct_text **out);

/* The next line without its end, closed by a zero byte, valid until the next
 * call; NULL at the end of the file. */
tacit_status tct_text_line(tct_text *t, char **line, size_t *length);

/* The next block of whole lines, with a line end added to the file's last line
 * if missing, then TCT_SCAN_PAD zero bytes. A line longer than a block is cut
 * at a blank. Empty at the end of the file. */
tacit_status tct_text_block(tct_text *t, const char **begin, const char **end);

/* Position of a reader of blocks. */
typedef struct tct_text_place {
    const char *at, *end; /* unread part of the block            */
    const char *line;     /* start of the current line */
} tct_text_place;

/* Advance to the next block. */
static inline tacit_status tct_text_next(tct_text *t, tct_text_place *p)
{
    TRY(tct_text_block(t, &p->at, &p->end));
    p->line = p->at;
    return TACIT_OK;
}

/* Read the next block; the current one stays valid. */
tacit_status tct_text_ahead(tct_text *t);

/* The number of the next line, from 1. A reader of blocks reports the number of
 * their lines. */
int64_t tct_text_line_number(const tct_text *t);
void tct_text_count_lines(tct_text *t, int64_t lines);

/* Fail with INPUT, "... 'word' why": the word at `at` in the line from `line`,
 * which is the next to be counted. */
tacit_status tct_text_bad_word(const tct_text *t, const char *line,
                               const char *at, const char *why);

void tct_text_close(tct_text **t);

/* The line after that of `p`, or NULL. */
static inline const char *tct_next_line(const char *p, const char *end)
{
    p = memchr(p, '\n', (size_t)(end - p));
    return p ? p + 1 : NULL;
}

/* A blank within a line? */
static inline bool tct_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

#endif
