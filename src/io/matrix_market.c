/* SPDX-License-Identifier: BSD-3-Clause
 * io/matrix_market.c - the NIST Matrix Market exchange format.
 *
 *     %%MatrixMarket matrix coordinate real symmetric
 *     % comments
 *     rows columns entries
 *     row column value          (from 1; one triangle if symmetric)
 *
 * This file reads the header and makes batches. Blocks of some MB are cut at
 * line ends into parts, which threads parse (matrix_market_entries.c) while one
 * of them reads (and unpacks) the next block. `array` files, one value per line
 * by columns, are read as matrices without their zeros.
 * [BPR96] Boisvert, Pozo, Remington, The Matrix Market exchange formats:
 *         initial design, NISTIR 5935 (1996). */
#include "io/matrix_market.h"
#include "io/number.h"
#include <stdio.h>

/* --- batches ------------------------------------------------------------ */

static tacit_status too_few(const tct_market *m)
{
    FAIL(TACIT_INPUT,
         "%s:%lld: ends after %lld of %lld entries: it is cut short, or the "
         "header's count is wrong",
         m->in.path, (long long)tct_text_line_number(m->text),
         (long long)m->seen, (long long)m->base.stored);
}

/* Cut [begin, end) at line ends. */
static tacit_status cut(tct_market *m, const char *begin, const char *end,
                        int *out)
{
    int n = 0;
    for (const char *s = begin; s < end; n++) {
        tct_market_part *p = &m->part[n];
        const char *to = end;
        if (end - s > TCT_MARKET_PART) {
            to = memrchr(s, '\n', TCT_MARKET_PART);
            if (!to) to = memchr(s, '\n', (size_t)(end - s));
            to = to ? to + 1 : end;
        }
        /* The shortest lines are "1" and "1 1", with a line end; a part longer
         * than TCT_MARKET_PART is one line. */
        const int64_t least = m->array ? 2 : 4;
        const int64_t room = 2 * (TCT_MARKET_PART / least + 1);
        if (!p->entries)
            TRY(TCT_ALLOC_SMALL_PAGES(room, "a part of a file", &p->entries));
        *p = (tct_market_part){
            .begin = s, .end = to, .entries = p->entries, .room = room};
        s = to;
    }
    *out = n;
    return TACIT_OK;
}

/* Drop the lines of vectors behind the last entry. */
static void end_before_vectors(const tct_market *m, tct_market_part *p)
{
    const int64_t left = m->base.stored - m->seen;
    if (!(m->has_rhs || m->has_guess) || p->stored < left) return;
    if (m->array) p->stored = p->count = left;
    if (p->stored == left) p->trouble = TCT_MARKET_FINE;
}

static tacit_status market_next(tct_source *base, tct_batch *out)
{
    tct_market *m = (tct_market *)base;
    const char *begin, *end;
    int parts;
    m->buffer = 1 - m->buffer;
    m->part = m->parts[m->buffer];
    m->out = m->outs[m->buffer];
    TRY(tct_text_block(m->text, &begin, &end));
    if (begin < end && end[-1] != '\n')
        FAIL(TACIT_INPUT,
             "%s:%lld: a line of more than %d MiB: write one entry "
             "a line",
             m->in.path, (long long)tct_text_line_number(m->text),
             TCT_TEXT_BLOCK >> 20);
    TRY(cut(m, begin, end, &parts));
    tct_crew_begin(m->in.crew, parts, tct_market_parse, m);
    const tacit_status ahead =
        parts > 0 ? tct_text_ahead(m->text) : TACIT_OK; /* while others parse */
    tct_crew_end(m->in.crew);
    for (int k = 0; k < parts; k++) {
        tct_market_part *p = &m->part[k];
        const int64_t line = tct_text_line_number(m->text);
        end_before_vectors(m, p);
        if (p->stored > m->base.stored - m->seen)
            return tct_market_too_many(m, p, line);
        if (p->trouble) return tct_market_explain(m, p, line);
        if (m->array && p->count > 0) tct_market_place_array(m, p, m->seen);
        m->seen += p->stored;
        m->base.below |= p->below;
        m->base.above |= p->above;
        m->base.diagonal += p->diagonal;
        tct_text_count_lines(m->text, p->lines);
        m->out[k] = (tct_part){p->entries, p->count};
    }
    *out = (tct_batch){m->out, parts};
    if (parts == 0 && m->seen < m->base.stored) return too_few(m);
    return ahead;
}

static void market_close(tct_source *base)
{
    tct_market *m = (tct_market *)base;
    for (int k = 0; k < TCT_MARKET_PARTS; k++) {
        tct_free(m->parts[0][k].entries);
        tct_free(m->parts[1][k].entries);
    }
    tct_text_close(&m->text);
    tct_free(m);
}

/* --- the header --------------------------------------------------------- */

/* Split `line` at blanks into at most `most` words; returns their number. */
static int split_words(char *line, char **words, int most)
{
    int n = 0;
    char *rest = NULL;
    for (char *w = strtok_r(line, " \t\r", &rest); w && n < most;
         w = strtok_r(NULL, " \t\r", &rest))
        words[n++] = w;
    return n;
}

/* Skip blank lines. */
static const char *skip_blank_lines(const char *p, const char *end)
{
    while (p < end && (tct_is_blank(*p) || *p == '\n')) p++;
    return p;
}

static bool market_probe(const char *head, size_t count)
{
    const char *end = head + count, *p = skip_blank_lines(head, end);
    const size_t percent = end - p > 1 && p[0] == '%' && p[1] == '%' ? 2 : 1;
    return end - p >= (ptrdiff_t)percent + 12 && p[0] == '%' &&
           strncasecmp(p + percent, "MatrixMarket", 12) == 0;
}

/* Find `word` in `names`; an error suggests the nearest. */
static tacit_status look_up(const tct_market *m, const char *word,
                            const char *const *names, int count, int *out)
{
    for (*out = 0; *out < count; ++*out)
        if (strcasecmp(word, names[*out]) == 0) return TACIT_OK;
    const char *near = tct_nearest(word, names, (size_t)count);
    FAIL(TACIT_INPUT,
         "%s:%lld: '%.40s' is no word of a Matrix Market header%s%s%s",
         m->in.path, m->banner, word, near ? ": did you mean '" : "",
         near ? near : "", near ? "'?" : "");
}

static tacit_status parse_kind(tct_market *m, const char *field,
                               const char *symmetry)
{
    static const char *const fields[] = {
        "real", "double", "integer", "unsigned-integer", "pattern", "complex"};
    static const char *const symmetries[] = {"general", "symmetric",
                                             "skew-symmetric", "hermitian"};
    int f, s;
    TRY(look_up(m, field, fields, 6, &f));
    TRY(look_up(m, symmetry, symmetries, 4, &s));
    if (f == 5)
        FAIL(TACIT_INPUT,
             "%s:%lld: complex values: only real systems are solved "
             "here",
             m->in.path, m->banner);
    if (s > 1)
        FAIL(TACIT_INPUT,
             "%s:%lld: a %s matrix: only general and symmetric ones "
             "are read; write it as general",
             m->in.path, m->banner, symmetries[s]);
    m->base.field = f < 2   ? TCT_FIELD_REAL
                    : f < 4 ? TCT_FIELD_INTEGER
                            : TCT_FIELD_PATTERN;
    m->is_unsigned = f == 3;
    m->base.symmetric = s == 1;
    if (m->array && f == 4)
        FAIL(TACIT_INPUT,
             "%s:%lld: an array cannot be a pattern: write its values "
             "and 'real'",
             m->in.path, m->banner);
    return TACIT_OK;
}

static tacit_status parse_banner(tct_market *m)
{
    static const char *const objects[] = {"matrix"};
    static const char *const layouts[] = {"coordinate", "array"};
    static const char *const banners[] = {"%%MatrixMarket", "%MatrixMarket"};
    char *line, *words[6];
    size_t length;
    int n;
    do {
        TRY(tct_text_line(m->text, &line, &length));
        n = split_words(line, words, 6);
    } while (n == 0); /* the probe has found one */
    m->banner = tct_text_line_number(m->text) - 1;
    if (n != 5)
        FAIL(TACIT_INPUT,
             "%s:%lld: the header %s %d of 5 words%s%.40s: write "
             "'%%%%MatrixMarket matrix coordinate real general' "
             "or the like",
             m->in.path, m->banner, n < 5 ? "ends after" : "goes on after",
             n < 5 ? n : 5, n < 5 ? "" : " with ", n < 5 ? "" : words[5]);
    int banner, object, layout;
    TRY(look_up(m, words[0], banners, 2, &banner));
    TRY(look_up(m, words[1], objects, 1, &object));
    TRY(look_up(m, words[2], layouts, 2, &layout));
    m->array = layout == 1;
    return parse_kind(m, words[3], words[4]);
}

/* Parse the sizes, after comments and empty lines. */
static tacit_status parse_sizes(tct_market *m)
{
    const int wanted = m->array ? 2 : 3;
    char *line, *words[4];
    size_t length;
    int n = 0;
    do {
        TRY(tct_text_line(m->text, &line, &length));
        if (line && tct_market_is_amgx(line))
            TRY(tct_market_parse_amgx(m, line));
        else if (line && line[0] != '%') n = split_words(line, words, 4);
    } while (line && n == 0);
    const long long at = tct_text_line_number(m->text) - 1;
    int64_t size[3] = {0};
    if (n != wanted)
        FAIL(TACIT_INPUT, "%s:%lld: %s where the %s should stand", m->in.path,
             at, line ? "something else" : "the file ends",
             m->array ? "two sizes (rows columns)"
                      : "three sizes (rows columns entries)");
    for (int k = 0; k < n; k++) {
        const char *end = tct_scan_int(words[k], &size[k]);
        if (end && *end == '\0') continue;
        const bool digits =
            strspn(words[k], "+-0123456789") == strlen(words[k]);
        FAIL(TACIT_INPUT, "%s:%lld: size '%.40s' %s", m->in.path, at, words[k],
             digits ? "does not fit in 64 bits" : "is no whole number");
    }
    m->base.rows = size[0];
    m->base.cols = size[1];
    m->base.stored = size[2];
    return TACIT_OK;
}

static tacit_status check_sizes(tct_market *m)
{
    tct_source *s = &m->base;
    char where[4200];
    snprintf(where, sizeof where, "%s:%lld", m->in.path,
             (long long)tct_text_line_number(m->text) - 1);
    if (s->symmetric && s->rows != s->cols)
        FAIL(TACIT_INPUT,
             "%s: a symmetric matrix of %lld x %lld: it must be "
             "square",
             where, (long long)s->rows, (long long)s->cols);
    if (m->array) {
        const int64_t n = s->symmetric ? s->rows + 1 : s->rows;
        if (n < 1 || __builtin_mul_overflow(n, s->cols, &s->stored))
            FAIL(TACIT_INPUT,
                 "%s: sizes %lld x %lld: they must be at least 1, "
                 "and their product must fit in 64 bits",
                 where, (long long)s->rows, (long long)s->cols);
        if (s->symmetric) s->stored /= 2;
    }
    s->most =
        s->stored < INT64_MAX / 2 && s->symmetric ? 2 * s->stored : s->stored;
    const int64_t least = m->array ? 2 : s->field == TCT_FIELD_PATTERN ? 4 : 6;
    const int64_t limit = tct_stream_limit(m->in.stream);
    return tct_check_sizes(where, &m->in, s,
                           limit == INT64_MAX ? limit : limit / least + 1);
}

static tacit_status build(tct_market *m)
{
    TRY(tct_text_open(m->in.path, m->in.stream, &m->text));
    TRY(parse_banner(m));
    TRY(parse_sizes(m));
    TRY(check_sizes(m));
    return m->in.vector ? tct_market_find_vector(m) : TACIT_OK;
}

static tacit_status market_open(const tct_input *in, tct_source **out)
{
    tct_market *m = tct_calloc(sizeof *m);
    if (!m) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", in->path);
    m->in = *in;
    m->base.checked = true;
    m->base.lasting = true;
    m->base.next = market_next;
    m->base.close = market_close;
    return tct_source_built(&m->base, build(m), out);
}

const tct_file_format tct_file_matrix_market = {
    .about = {.name = "matrix-market",
              .summary = "Matrix Market, coordinate or array, also packed by "
                         "gzip or xz",
              .told_by = "%%MatrixMarket",
              .suffixes = {".mtx", ".mm"},
              .reads_matrix = true,
              .writes_matrix = true,
              .reads_vector = true,
              .writes_vector = true,
              .may_pack = true,
              .reads_vectors = true,
              .writes_vectors = true},
    .probe = market_probe,
    .guesses = true,
    .open = market_open,
    .write_matrix = tct_market_write_matrix,
    .write_vectors = tct_market_write_vectors,
};
