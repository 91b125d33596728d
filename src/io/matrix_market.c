/* SPDX-License-Identifier: BSD-3-Clause
 * io/matrix_market.c - the NIST Matrix Market exchange format.
 *
 *     %%MatrixMarket matrix coordinate real symmetric
 *     % comments
 *     rows columns entries
 *     row column value          (from 1; one triangle if symmetric)
 *
 * Blocks of some MB are cut at line ends into parts, which threads parse while
 * one of them reads (and unpacks) the next block. `array` files, one value per
 * line by columns, are read as matrices without their zeros.
 * [BPR96] Boisvert, Pozo, Remington, The Matrix Market exchange formats:
 *         initial design, NISTIR 5935 (1996). */
#include "io/format.h"
#include "io/number.h"
#include "io/text.h"
#include <math.h>
#include <stdio.h>

enum { PART = 256 << 10, PARTS = 2 * TCT_TEXT_BLOCK / PART + 2 };

typedef enum { FINE, BAD_ROW, BAD_COLUMN, BAD_VALUE, BAD_END } trouble;

/* Some lines and their entries. */
typedef struct {
    const char *begin, *end;
    tct_entry *entries;
    int64_t count, room; /* of `entries` */
    int64_t stored;      /* entries in the file */
    int64_t lines;       /* whole lines before `bad`, or all */
    const char *bad;     /* the first wrong word */
    trouble trouble;
    bool below, above; /* entries off the diagonal, ... */
    int64_t diagonal;  /* ... and on it */
} part;

typedef struct {
    tct_source base;
    tct_input in;
    tct_text *text;
    bool array;
    bool is_unsigned; /* unsigned integers */
    long long banner; /* the line of the header */
    int64_t seen;     /* entries read so far */
    /* Double buffer: the previous batch is still being distributed. */
    part parts[2][PARTS], *part;
    tct_part outs[2][PARTS], *out;
    int buffer; /* of these two */
} market;

/* --- one part ----------------------------------------------------------- */

static inline bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline const char *skip(const char *p)
{
    while (blank(*p)) p++;
    return p;
}

/* A number must be followed by a blank or a line end. */
static inline bool ends_number(const char *p)
{
    return p && (blank(*p) || *p == '\n');
}

static void stop(part *p, trouble what, const char *at)
{
    p->trouble = what;
    p->bad = at;
}

/* `val` has the type in the header. */
static inline bool has_kind(const market *m, double val)
{
    return m->base.field != TCT_FIELD_INTEGER ||
           (val == floor(val) && (val >= 0 || !m->is_unsigned));
}

/* Parse the value at `s`, 1 in a pattern; NULL: wrong. */
static inline const char *parse_value(const market *m, part *p, const char *s,
                                      double *val)
{
    const char *at = s;
    *val = 1;
    if (m->base.field != TCT_FIELD_PATTERN) {
        s = tct_scan_double(at, val);
        if (!ends_number(s) || !isfinite(*val) || !has_kind(m, *val)) {
            stop(p, BAD_VALUE, at);
            return NULL;
        }
    }
    s = skip(s);
    if (*s == '\n') return s + 1;
    stop(p, BAD_END, s);
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

static void parse_coordinates(const market *m, part *p)
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
            stop(p, BAD_ROW, at);
            break;
        }
        at = s = skip(s);
        s = tct_scan_int(at, &j);
        if (!ends_number(s) || (uint64_t)j - 1 >= cols) {
            stop(p, BAD_COLUMN, at);
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
static void parse_array(const market *m, part *p)
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

/* Set the positions of an array's values, column by column (the lower triangle
 * if symmetric), and drop a matrix's zeros. */
static void place_array(const market *m, part *p, int64_t before)
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

/* --- errors --------------------------------------------------------------- */

/* The word at `p`, truncated if long. */
static const char *word_at(const char *p, char *out, size_t room)
{
    size_t n = 0;
    while (!blank(p[n]) && p[n] != '\n' && p[n] != '\0' && n + 4 < room) {
        out[n] =
            (unsigned char)p[n] < 32 || (unsigned char)p[n] > 126 ? '?' : p[n];
        n++;
    }
    const bool more = !blank(p[n]) && p[n] != '\n' && p[n] != '\0';
    snprintf(out + n, room - n, "%s", more ? "..." : "");
    return out;
}

static tacit_status bad_index(const market *m, const part *p, const char *where,
                              const char *word)
{
    const bool is_row = p->trouble == BAD_ROW;
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

static tacit_status bad_value(const market *m, const part *p, const char *where,
                              const char *word)
{
    double value = 0;
    if (word[0] == '\0')
        FAIL(TACIT_INPUT, "%s: the line ends where a value should stand",
             where);
    const char *end = tct_scan_double(p->bad, &value);
    if (p->trouble == BAD_END)
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

/* Report the error in `p`, whose first line is `line`. */
static tacit_status explain(const market *m, const part *p, int64_t line)
{
    const char *start = p->bad;
    while (start > p->begin && start[-1] != '\n') start--;
    char where[4200], word[40];
    snprintf(where, sizeof where, "%s:%lld:%lld", m->in.path,
             (long long)(line + p->lines), (long long)(p->bad - start + 1));
    word_at(p->bad, word, sizeof word);
    if (p->trouble == BAD_ROW || p->trouble == BAD_COLUMN)
        return bad_index(m, p, where, word);
    return bad_value(m, p, where, word);
}

/* Report the line of entry `stored` + 1, which is in `p`. */
static tacit_status too_many(const market *m, const part *p, int64_t line)
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

static tacit_status too_few(const market *m)
{
    FAIL(TACIT_INPUT,
         "%s:%lld: ends after %lld of %lld entries: it is cut short, or the "
         "header's count is wrong",
         m->in.path, (long long)tct_text_line_number(m->text),
         (long long)m->seen, (long long)m->base.stored);
}

/* --- batches ------------------------------------------------------------ */

/* Cut [begin, end) at line ends. */
static tacit_status cut(market *m, const char *begin, const char *end, int *out)
{
    int n = 0;
    for (const char *s = begin; s < end; n++) {
        part *p = &m->part[n];
        const char *to = end;
        if (end - s > PART) {
            to = memrchr(s, '\n', PART);
            if (!to) to = memchr(s, '\n', (size_t)(end - s));
            to = to ? to + 1 : end;
        }
        /* The shortest lines are "1" and "1 1", with a line end; a part longer
         * than PART is one line. */
        const int64_t least = m->array ? 2 : 4;
        const int64_t room = 2 * (PART / least + 1);
        if (!p->entries) TRY(TCT_ALLOC(room, "a part of a file", &p->entries));
        *p = (part){.begin = s, .end = to, .entries = p->entries, .room = room};
        s = to;
    }
    *out = n;
    return TACIT_OK;
}

static void parse_part(void *ctx, int k)
{
    market *m = ctx;
    if (m->array) parse_array(m, &m->part[k]);
    else parse_coordinates(m, &m->part[k]);
}

static tacit_status market_next(tct_source *base, tct_batch *out)
{
    market *m = (market *)base;
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
    tct_crew_begin(m->in.crew, parts, parse_part, m);
    const tacit_status ahead =
        parts > 0 ? tct_text_ahead(m->text) : TACIT_OK; /* while others parse */
    tct_crew_end(m->in.crew);
    for (int k = 0; k < parts; k++) {
        part *p = &m->part[k];
        const int64_t line = tct_text_line_number(m->text);
        if (p->stored > m->base.stored - m->seen) return too_many(m, p, line);
        if (p->trouble) return explain(m, p, line);
        if (m->array && p->count > 0) place_array(m, p, m->seen);
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
    market *m = (market *)base;
    for (int k = 0; k < PARTS; k++) {
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
    while (p < end && (blank(*p) || *p == '\n')) p++;
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
static tacit_status look_up(const market *m, const char *word,
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

static tacit_status parse_kind(market *m, const char *field,
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

static tacit_status parse_banner(market *m)
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
static tacit_status parse_sizes(market *m)
{
    const int wanted = m->array ? 2 : 3;
    char *line, *words[4];
    size_t length;
    int n = 0;
    do {
        TRY(tct_text_line(m->text, &line, &length));
        if (line && line[0] != '%') n = split_words(line, words, 4);
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

static tacit_status check_sizes(market *m)
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

static tacit_status build(market *m)
{
    TRY(tct_text_open(m->in.path, m->in.stream, &m->text));
    TRY(parse_banner(m));
    TRY(parse_sizes(m));
    return check_sizes(m);
}

static tacit_status market_open(const tct_input *in, tct_source **out)
{
    market *m = tct_calloc(sizeof *m);
    if (!m) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", in->path);
    m->in = *in;
    m->base.checked = true;
    m->base.lasting = true;
    m->base.next = market_next;
    m->base.close = market_close;
    return tct_source_built(&m->base, build(m), out);
}

/* --- writing ------------------------------------------------------------ */

/* State of the writer. Threads print slots of LINES lines of at most WIDTH
 * bytes, which are then moved together. */
enum { WIDTH = 80, LINES = 512, SLOT = WIDTH * LINES, SLOTS = 128 };

typedef struct {
    const tct_csr *A; /* NULL for a vector */
    bool lower;       /* write the lower triangle only */
    const double *x;
    int64_t at, count; /* entries */
    int64_t row;       /* row of entry `at` */
    tct_crew *crew;
    char *out;           /* [slots][SLOT] */
    size_t bytes[SLOTS]; /* in each slot */
} writer;

/* Print entries [from, to); the first is in `row` or later. */
static size_t print_lines(const writer *p, int64_t from, int64_t to,
                          int64_t row, char *out)
{
    char *start = out;
    for (int64_t k = from; k < to; k++) {
        if (p->A) {
            while (p->A->ptr[row + 1] <= k) row++;
            const int64_t i = p->A->first + row, j = tct_csr_col(p->A, k);
            if (p->lower && j > i) continue;
            out += tct_print_int(out, i + 1);
            *out++ = ' ';
            out += tct_print_int(out, j + 1);
            *out++ = ' ';
        }
        out += tct_print_double(out, p->x[k]);
        *out++ = '\n';
    }
    return (size_t)(out - start);
}

static int64_t row_of(const writer *p, int64_t k)
{
    int64_t low = p->row, high = p->A ? p->A->rows : 0;
    while (high - low > 1) {
        const int64_t mid = low + (high - low) / 2;
        if (p->A->ptr[mid] <= k) low = mid;
        else high = mid;
    }
    return low;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void fill_slot(void *ctx, int s)
{
    writer *p = ctx;
    const int64_t from = p->at + (int64_t)s * LINES;
    p->bytes[s] = print_lines(p, from, least(from + LINES, p->count),
                              row_of(p, from), p->out + (size_t)s * SLOT);
}

static size_t make_lines(void *ctx, char *out, size_t room)
{
    writer *p = ctx;
    const int64_t slots = least((int64_t)(room / SLOT), SLOTS);
    size_t total = 0;
    p->out = out;
    /* Repeat if all of them were above the diagonal. */
    while (total == 0 && p->at < p->count) {
        const int64_t n = least((p->count - p->at + LINES - 1) / LINES, slots);
        tct_crew_run(p->crew, (int)n, fill_slot, p);
        for (int64_t s = 0; s < n; s++) {
            memmove(out + total, out + s * SLOT, p->bytes[s]);
            total += p->bytes[s];
        }
        p->at = least(p->at + n * LINES, p->count);
        if (p->at < p->count) p->row = row_of(p, p->at);
    }
    return total;
}

/* Write the lines of `p`, then of `more` further columns, `stride` apart. */
static tacit_status write_lines(tct_sink *s, writer *p, int more,
                                int64_t stride)
{
    tacit_status status = tct_crew_create(&p->crew);
    status = tct_agree(tct_sink_world(s), status);
    if (status == TACIT_OK) status = tct_sink_gather(s, make_lines, p);
    for (; more > 0 && status == TACIT_OK; more--) {
        p->at = p->row = 0;
        p->x += stride;
        status = tct_sink_gather(s, make_lines, p);
    }
    tct_crew_destroy(&p->crew);
    return status;
}

static int64_t count_lower(const tct_csr *A)
{
    int64_t count = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            count += tct_csr_col(A, k) <= A->first + i;
    return count;
}

static tacit_status market_write_matrix(tct_sink *s, const tct_csr *A,
                                        const tct_write_options *options)
{
    const bool lower = options->symmetric;
    int64_t stored = lower ? count_lower(A) : tct_csr_nonzeros(A);
    TRY(tct_reduce_i64(tct_sink_world(s), TCT_SUM, 1, &stored));
    char head[160];
    const int n =
        snprintf(head, sizeof head,
                 "%%%%MatrixMarket matrix coordinate real %s\n%lld %lld %lld\n",
                 lower ? "symmetric" : "general", (long long)A->global_rows,
                 (long long)A->global_cols, (long long)stored);
    TRY(tct_sink_write(s, head, (size_t)n));
    writer p = {
        .A = A, .lower = lower, .x = A->val, .count = tct_csr_nonzeros(A)};
    return write_lines(s, &p, 0, 0);
}

static tacit_status market_write_vectors(tct_sink *s, int64_t rows,
                                         int64_t count, int columns,
                                         const double *x, int64_t stride)
{
    char head[120];
    const int n =
        snprintf(head, sizeof head,
                 "%%%%MatrixMarket matrix array real general\n%lld %d\n",
                 (long long)rows, columns);
    TRY(tct_sink_write(s, head, (size_t)n));
    writer p = {.x = x, .count = count};
    return write_lines(s, &p, columns - 1, stride);
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
    .open = market_open,
    .write_matrix = market_write_matrix,
    .write_vectors = market_write_vectors,
};
