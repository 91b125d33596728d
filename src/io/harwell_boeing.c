/* SPDX-License-Identifier: BSD-3-Clause
 * io/harwell_boeing.c - Harwell-Boeing and Rutherford-Boeing files: a matrix by
 * columns, in Fortran formats.
 *
 *     title (72) key (8)
 *     lines: all, pointers, indices, values, right-hand sides
 *     type (such as RSA), rows, columns, entries
 *     Fortran formats of pointers, indices and values, such as (16I5)
 *     [right-hand sides: storage, their number, their entries]
 *     pointers, indices, values [, right-hand sides, first guesses, solutions]
 *
 * Fields have fixed columns and may be adjacent (fortran.h). Pointers and
 * indices are kept until the values are read, then freed progressively. Read as
 * a vector, a file is its first right-hand side, dense or sparse, or its first
 * guess; as vectors it is all of them.
 * [DGL92] Duff, Grimes, Lewis, Users' guide for the Harwell-Boeing sparse
 *         matrix collection (1992). [DGL97] same, Rutherford-Boeing (1997). */
#include "io/format.h"
#include "io/fortran_fields.h"
#include "io/number.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { BATCH = 1 << 15 };

typedef struct {
    tct_source base;
    tct_input in;
    tct_text *text;
    tct_fortran_format pointer, index, value, rhs;
    bool has_values;
    char storage;       /* of right-hand sides: 'F' dense, 'M' sparse */
    bool has_guess;     /* one per right-hand side */
    int64_t sides;      /* number of right-hand sides */
    int64_t side_count; /* entries of sparse right-hand sides */
    int64_t matrix_cols, matrix_stored;
    tct_fields fields;
    int64_t *start; /* [cols + 1] from 0 */
    int64_t *row;   /* [stored] from 0 */
    int64_t done, col;
    tct_entry *entry; /* [2 * BATCH] */
    tct_part parts[TCT_PARTS];
} boeing;

/* --- entries ------------------------------------------------------------ */

static tacit_status read_pattern(boeing *b)
{
    const tct_source *s = &b->base;
    TRY(TCT_ALLOC(s->cols + 1, "the pointers of a matrix", &b->start));
    TRY(TCT_ALLOC(s->stored, "the indices of a matrix", &b->row));
    tct_fields_begin(&b->fields);
    int64_t last = 1;
    for (int64_t j = 0; j <= s->cols; j++) {
        const int64_t low = j == s->cols ? s->stored + 1 : last;
        const int64_t high = j == 0 ? 1 : s->stored + 1;
        TRY(tct_fields_int(&b->fields, &b->pointer, "pointers", low, high,
                           &last));
        b->start[j] = last - 1;
    }
    tct_fields_begin(&b->fields);
    for (int64_t k = 0; k < s->stored; k++) {
        TRY(tct_fields_int(&b->fields, &b->index, "row indices", 1, s->rows,
                           &b->row[k]));
        b->row[k]--;
    }
    tct_fields_begin(&b->fields);
    return TACIT_OK;
}

/* Free the pages of used indices, including the previous page. */
static void release_used(boeing *b, int64_t from)
{
    const int64_t page = 4096 / (int64_t)sizeof *b->row;
    const int64_t low = from > page ? from - page : 0;
    tct_release_pages(b->row + low, (size_t)(b->done - low) * sizeof *b->row);
}

static tacit_status boeing_next(tct_source *base, tct_batch *out)
{
    boeing *b = (boeing *)base;
    if (!b->start) TRY(read_pattern(b));
    const int64_t from = b->done, left = base->stored - from;
    const int64_t to = from + (left < BATCH ? left : BATCH);
    tct_entry *e = b->entry;
    for (; b->done < to; b->done++) {
        while (b->start[b->col + 1] <= b->done) b->col++;
        const int64_t i = b->row[b->done], j = b->col;
        double val = 1;
        if (b->has_values)
            TRY(tct_fields_value(&b->fields, &b->value, "values", &val));
        *e++ = (tct_entry){i, j, val};
        b->base.below |= i > j;
        b->base.above |= i < j;
        b->base.diagonal += i == j;
        if (base->symmetric && i != j) *e++ = (tct_entry){j, i, val};
    }
    release_used(b, from);
    tct_batch_split(out, b->parts, b->entry, e - b->entry);
    return TACIT_OK;
}

static void boeing_close(tct_source *base)
{
    boeing *b = (boeing *)base;
    tct_text_close(&b->text);
    TCT_FREE(b->start, b->row, b->entry, b);
}

/* --- vectors ------------------------------------------------------------ */

static const char sides[] = "right-hand sides", guesses[] = "first guesses";

/* Skip to the vector: past the matrix, and for a guess past the right-hand
 * sides. */
static tacit_status find_vector(boeing *b)
{
    TRY(tct_fields_skip(&b->fields, &b->pointer, "pointers",
                        b->matrix_cols + 1));
    TRY(tct_fields_skip(&b->fields, &b->index, "row indices",
                        b->matrix_stored));
    if (b->has_values)
        TRY(tct_fields_skip(&b->fields, &b->value, "values", b->matrix_stored));
    if (!b->in.guess) return TACIT_OK;
    if (b->storage == 'F')
        return tct_fields_skip(&b->fields, &b->rhs, sides,
                               b->sides * b->base.rows);
    TRY(tct_fields_skip(&b->fields, &b->pointer, sides, b->sides + 1));
    TRY(tct_fields_skip(&b->fields, &b->index, sides, b->side_count));
    return tct_fields_skip(&b->fields, &b->rhs, sides, b->side_count);
}

/* Read the rows of sparse right-hand sides into b->row and their ends into
 * b->start. */
static tacit_status read_sparse_rows(boeing *b)
{
    int64_t last = 1, row = 0;
    const int64_t cols = b->base.cols;
    TRY(TCT_ALLOC(cols + 1, "right-hand sides", &b->start));
    tct_fields_begin(&b->fields);
    for (int64_t k = 0; k <= b->sides; k++) {
        TRY(tct_fields_int(&b->fields, &b->pointer, sides, last,
                           b->side_count + 1, &last));
        if (k <= cols) b->start[k] = last - 1;
    }
    b->base.stored = b->start[cols];
    TRY(TCT_ALLOC(b->base.stored, "right-hand sides", &b->row));
    tct_fields_begin(&b->fields);
    for (int64_t k = 0; k < b->side_count; k++) {
        TRY(tct_fields_int(&b->fields, &b->index, sides, 1, b->base.rows,
                           &row));
        if (k < b->base.stored) b->row[k] = row - 1;
    }
    return TACIT_OK;
}

static tacit_status vector_next(tct_source *base, tct_batch *out)
{
    boeing *b = (boeing *)base;
    const bool sparse = b->storage == 'M' && !b->in.guess;
    if (b->done == 0) {
        TRY(find_vector(b));
        if (sparse) TRY(read_sparse_rows(b));
        tct_fields_begin(&b->fields);
    }
    const int64_t left = base->stored - b->done;
    const int64_t n = left < BATCH ? left : BATCH;
    for (int64_t k = 0; k < n; k++, b->done++) {
        double val = 0;
        TRY(tct_fields_value(&b->fields, &b->rhs, b->in.guess ? guesses : sides,
                             &val));
        while (sparse && b->start[b->col + 1] <= b->done) b->col++;
        b->entry[k] = sparse ? (tct_entry){b->row[b->done], b->col, val}
                             : (tct_entry){b->done % base->rows,
                                           b->done / base->rows, val};
    }
    tct_batch_split(out, b->parts, b->entry, n);
    return TACIT_OK;
}

static tacit_status open_vector(boeing *b)
{
    if (b->in.guess ? !b->has_guess : b->sides == 0)
        FAIL(TACIT_INPUT, "%s: holds a matrix without a %s: give another file",
             b->in.path, b->in.guess ? "first guess" : "right-hand side");
    if (b->sides > 1 && !b->in.many)
        tct_log(TCT_WARN, "%s: the first of its %lld %s is used", b->in.path,
                (long long)b->sides, b->in.guess ? guesses : sides);
    b->matrix_cols = b->base.cols;
    b->matrix_stored = b->base.stored;
    b->base.cols = b->in.many ? b->sides : 1;
    b->base.stored = b->base.most = b->base.rows * b->base.cols;
    b->base.symmetric = false;
    b->base.next = vector_next;
    if (b->storage == 'M' && !b->in.guess) b->base.most = b->side_count;
    const int64_t room = tct_stream_limit(b->in.stream);
    const tct_source about = {.rows = b->base.rows,
                              .cols = b->base.cols,
                              .stored = b->base.most,
                              .most = b->base.most};
    return b->in.many ? tct_check_sizes(b->in.path, &b->in, &about, room)
                      : TACIT_OK;
}

/* --- the header --------------------------------------------------------- */

/* Parse at most `most` integers at the start of `p`. */
static int count_ints(const char *p, const char *end, int64_t *out, int most)
{
    int n = 0;
    while (p && n < most) {
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        if (p >= end || *p < '0' || *p > '9') break;
        p = tct_scan_int(p, &out[n]);
        n += p != NULL;
    }
    return n;
}

/* A type such as RSA. */
static bool is_type(const char *p)
{
    return strchr("rcipqRCIPQ", p[0]) && strchr("suhzrSUHZR", p[1]) &&
           strchr("aexpqAEXPQ", p[2]) && p[0] && p[1] && p[2];
}

/* The second line has numbers, the third begins with a type. */
static bool boeing_probe(const char *head, size_t count)
{
    char line[2][128] = {{0}};
    const char *p = head, *end = head + count;
    for (int k = 0; k < 3; k++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop || stop - p > 400) return false;
        if (k > 0)
            memcpy(line[k - 1], p, stop - p < 100 ? (size_t)(stop - p) : 100);
        p = stop + 1;
    }
    int64_t word[4];
    return count_ints(line[0], line[0] + 100, word, 4) >= 3 &&
           is_type(line[1]) &&
           count_ints(line[1] + 3, line[1] + 100, word, 3) == 3;
}

static tacit_status header_line(boeing *b, char **line, size_t *length)
{
    TRY(tct_text_line(b->text, line, length));
    if (*line) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s: ends within its header: it is cut short",
         b->in.path);
}

static tacit_status parse_type(boeing *b, const char *type)
{
    const char field = (char)toupper(type[0]), kind = (char)toupper(type[1]);
    const char *why = NULL;
    if (toupper(type[2]) != 'A') why = "only assembled matrices are read";
    if (kind == 'Z' || kind == 'H')
        why = "only general and symmetric matrices are read";
    if (field == 'C') why = "complex values: only real systems are solved here";
    if (why) FAIL(TACIT_INPUT, "%s:3: type %.3s: %s", b->in.path, type, why);
    b->base.symmetric = kind == 'S';
    b->has_values = field == 'R' || field == 'I';
    b->base.field = field == 'R'   ? TCT_FIELD_REAL
                    : field == 'I' ? TCT_FIELD_INTEGER
                                   : TCT_FIELD_PATTERN;
    return TACIT_OK;
}

static tacit_status parse_layouts(boeing *b, bool *sides_too)
{
    char *line;
    size_t length;
    TRY(header_line(b, &line, &length));
    const char *p = line;
    const bool ok =
        tct_fortran_parse(&p, "I", &b->pointer) &&
        tct_fortran_parse(&p, "I", &b->index) &&
        (!b->has_values || tct_fortran_parse(&p, "EDFGI", &b->value));
    *sides_too = ok && tct_fortran_parse(&p, "EDFGI", &b->rhs);
    if (ok) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s:4: formats '%.72s' are not understood: such as "
         "(16I5) (16I5) (4E20.12) are",
         b->in.path, line);
}

/* Storage, first guesses, solutions; then the number of right-hand sides, and
 * of their entries if sparse. */
static tacit_status parse_sides(boeing *b, bool understood)
{
    char *line;
    size_t length;
    int64_t count[2] = {0};
    TRY(header_line(b, &line, &length));
    b->storage = length > 0 ? (char)toupper((unsigned char)line[0]) : '\0';
    b->has_guess = length > 1 && toupper((unsigned char)line[1]) == 'G';
    const size_t flags = length < 3 ? length : 3;
    const int n = count_ints(line + flags, line + length, count, 2);
    const bool known = b->storage == 'F' || b->storage == 'M';
    const bool sparse = b->storage == 'M';
    const int64_t most = INT64_MAX / 64 / (b->base.rows > 0 ? b->base.rows : 1);
    if (!known || n < 1 + sparse || count[0] < 1 || count[0] > most ||
        count[1] > INT64_MAX / 64 || !understood) {
        if (!b->in.vector) return TACIT_OK; /* the matrix can still be read */
        FAIL(TACIT_INPUT,
             "%s:5: '%.40s' are no right-hand sides: F or M, their number and, "
             "for M, their entries should stand here, and their format in the "
             "line above",
             b->in.path, line);
    }
    b->sides = count[0];
    b->side_count = sparse ? count[1] : 0;
    b->base.own_rhs = true;
    return TACIT_OK;
}

static tacit_status parse_header(boeing *b)
{
    char *line;
    size_t length;
    int64_t cards[5] = {0}, size[3];
    TRY(header_line(b, &line, &length));
    TRY(header_line(b, &line, &length));
    if (count_ints(line, line + length, cards, 5) < 3)
        FAIL(TACIT_INPUT, "%s:2: the numbers of lines are missing", b->in.path);
    TRY(header_line(b, &line, &length));
    if (length < 3 || !is_type(line) ||
        count_ints(line + 3, line + length, size, 3) < 3)
        FAIL(TACIT_INPUT,
             "%s:3: type, rows, columns and entries should stand "
             "here",
             b->in.path);
    TRY(parse_type(b, line));
    if (cards[3] == 0) b->has_values = false;
    b->base.rows = size[0];
    b->base.cols = size[1];
    b->base.stored = size[2];
    bool sides_too;
    TRY(parse_layouts(b, &sides_too));
    return cards[4] > 0 ? parse_sides(b, sides_too) : TACIT_OK;
}

static tacit_status check_header(boeing *b)
{
    tct_source *s = &b->base;
    char where[4200];
    snprintf(where, sizeof where, "%s:3", b->in.path);
    if (s->symmetric && s->rows != s->cols)
        FAIL(TACIT_INPUT,
             "%s: a symmetric matrix of %lld x %lld: it must be "
             "square",
             where, (long long)s->rows, (long long)s->cols);
    const int64_t limit = tct_stream_limit(b->in.stream);
    if (s->cols > limit)
        FAIL(TACIT_INPUT,
             "%s: %lld columns are more than the file can hold: it "
             "is cut short, or the header is wrong",
             where, (long long)s->cols);
    s->most =
        s->symmetric && s->stored < INT64_MAX / 2 ? 2 * s->stored : s->stored;
    return tct_check_sizes(where, &b->in, s, limit);
}

static tacit_status build(boeing *b)
{
    TRY(tct_text_open(b->in.path, b->in.stream, &b->text));
    b->fields = (tct_fields){.path = b->in.path, .text = b->text};
    TRY(TCT_ALLOC(2 * BATCH, "a piece of a file", &b->entry));
    TRY(parse_header(b));
    TRY(check_header(b));
    return b->in.vector ? open_vector(b) : TACIT_OK;
}

static tacit_status boeing_open(const tct_input *in, tct_source **out)
{
    boeing *b = tct_calloc(sizeof *b);
    if (!b) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", in->path);
    b->in = *in;
    b->base.checked = true;
    b->base.next = boeing_next;
    b->base.close = boeing_close;
    return tct_source_built(&b->base, build(b), out);
}

const tct_file_format tct_file_harwell_boeing = {
    .about = {.name = "harwell-boeing",
              .summary = "Harwell-Boeing or Rutherford-Boeing, assembled; its "
                         "right-hand side",
              .told_by = "a third line with a type such as RSA",
              .reads_matrix = true,
              .reads_vector = true,
              .reads_vectors = true},
    .probe = boeing_probe,
    .guesses = true,
    .open = boeing_open,
};
