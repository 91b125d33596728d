/* SPDX-License-Identifier: BSD-3-Clause
 * io/text.c - a double buffer: one half is parsed, the other is filled. */
#include "io/text.h"
#include "io/number.h"
#include <string.h>

struct tct_text {
    const char *path;
    tct_stream *stream;
    char *buffer[2]; /* [TCT_TEXT_BLOCK + 1 + TCT_SCAN_PAD] */
    int now;
    size_t from, to; /* unread part of buffer[now] */
    size_t ahead;    /* bytes in the other buffer */
    bool has_ahead;
    int64_t line;
};

tacit_status tct_text_open(const char *path, tct_stream *stream, tct_text **out)
{
    tct_text *t = tct_calloc(sizeof *t);
    if (!t) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", path);
    t->path = path;
    t->stream = stream;
    t->line = 1;
    for (int i = 0; i < 2; i++) {
        t->buffer[i] = tct_alloc_small_pages(TCT_TEXT_BLOCK + 1 + TCT_SCAN_PAD);
        if (t->buffer[i]) continue;
        tct_text_close(&t);
        FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", path);
    }
    *out = t;
    return TACIT_OK;
}

tacit_status tct_text_ahead(tct_text *t)
{
    if (t->has_ahead) return TACIT_OK;
    char *next = t->buffer[1 - t->now];
    const size_t rest = t->to - t->from;
    size_t got;
    memcpy(next, t->buffer[t->now] + t->from, rest);
    TRY(tct_stream_read(t->stream, next + rest, TCT_TEXT_BLOCK - rest, &got));
    t->ahead = rest + got;
    t->has_ahead = true;
    return TACIT_OK;
}

/* Switch to the other buffer, which begins with this one's rest. */
static tacit_status swap_buffers(tct_text *t)
{
    TRY(tct_text_ahead(t));
    t->now = 1 - t->now;
    t->from = 0;
    t->to = t->ahead;
    t->has_ahead = false;
    return TACIT_OK;
}

tacit_status tct_text_line(tct_text *t, char **line, size_t *length)
{
    char *begin = t->buffer[t->now] + t->from;
    char *end = memchr(begin, '\n', t->to - t->from);
    if (!end) {
        TRY(swap_buffers(t));
        begin = t->buffer[t->now];
        end = memchr(begin, '\n', t->to);
        if (!end && t->to == TCT_TEXT_BLOCK)
            FAIL(TACIT_INPUT,
                 "%s:%lld: a line of more than %d MiB: this is no text file "
                 "with a matrix",
                 t->path, (long long)t->line, TCT_TEXT_BLOCK >> 20);
    }
    *line = t->to > t->from ? begin : NULL;
    const size_t found = end ? (size_t)(end - begin) : t->to - t->from;
    t->from += found + (end != NULL);
    t->line++;
    *length = found;
    if (*length > 0 && begin[*length - 1] == '\r') --*length;
    begin[*length] = '\0';
    return TACIT_OK;
}

tacit_status tct_text_block(tct_text *t, const char **begin, const char **end)
{
    TRY(swap_buffers(t));
    char *buffer = t->buffer[t->now];
    const bool last = t->to < TCT_TEXT_BLOCK; /* of the file */
    if (last && t->to > 0 && buffer[t->to - 1] != '\n') buffer[t->to++] = '\n';
    memset(buffer + t->to, 0, TCT_SCAN_PAD);
    size_t cut = t->to;
    if (!last) {
        while (cut > 0 && buffer[cut - 1] != '\n') cut--;
        if (cut == 0)
            for (cut = t->to; cut > 0 && buffer[cut - 1] != ' ';) cut--;
        if (cut == 0)
            FAIL(TACIT_INPUT,
                 "%s:%lld: a word of more than %d MiB: this is no text file "
                 "with a matrix",
                 t->path, (long long)t->line, TCT_TEXT_BLOCK >> 20);
    }
    *begin = buffer;
    *end = buffer + cut;
    t->from = cut;
    return TACIT_OK;
}

int64_t tct_text_line_number(const tct_text *t)
{
    return t->line;
}

void tct_text_count_lines(tct_text *t, int64_t lines)
{
    t->line += lines;
}

tacit_status tct_text_bad_word(const tct_text *t, const char *line,
                               const char *at, const char *why)
{
    char word[32];
    int n = 0;
    for (; n < 28 && !strchr(" \t\r\n", at[n]); n++) word[n] = at[n];
    word[n] = '\0';
    FAIL(TACIT_INPUT, "%s:%lld:%lld: '%s' %s", t->path, (long long)t->line,
         (long long)(at - line + 1), word, why);
}

void tct_text_close(tct_text **out)
{
    tct_text *t = *out;
    if (!t) return;
    TCT_FREE(t->buffer[0], t->buffer[1], t);
    *out = NULL;
}
