/* SPDX-License-Identifier: BSD-3-Clause
 * io/arrays.c - binary arrays of numbers, and sources of entries made of
 * them. */
#include "io/arrays.h"
#include <string.h>

enum { LINES = 1 << 13 };

/* --- arrays ------------------------------------------------------------- */

typedef struct {
    const char *path;
    tct_stream *stream;
    int64_t offset, count; /* of the first element, number of elements */
    int width;             /* bytes of an element */
    const tct_array_end *end;
} stream_array;

static tacit_status stream_read(void *ctx, const char *what, void *out,
                                size_t bytes)
{
    stream_array *s = ctx;
    size_t got;
    TRY(tct_stream_read(s->stream, out, bytes, &got));
    if (got == bytes) return TACIT_OK;
    if (s->end && s->end->refuse_kind)
        TRY(s->end->refuse_kind(s->path, s->offset, s->count));
    FAIL(TACIT_INPUT, "%s: ends within %s: it is cut short", s->path, what);
}

enum { AHEAD = 16 }; /* bytes by which the next object is recognized */

static tacit_status may_end(tct_stream *s, const tct_array_end *end, bool *out)
{
    char head[AHEAD];
    size_t got;
    TRY(tct_stream_read(s, head, sizeof head, &got));
    *out = got == 0 || end->follows(head, got);
    return TACIT_OK;
}

static tacit_status stream_finish(void *ctx)
{
    const stream_array *s = ctx;
    bool ends;
    TRY(may_end(s->stream, s->end, &ends));
    if (ends) return TACIT_OK;
    if (s->end->refuse_kind)
        TRY(s->end->refuse_kind(s->path, s->offset, s->count));
    return tct_array_goes_on(s->path, s->offset + s->count * s->width);
}

static void stream_close(void *ctx)
{
    stream_array *s = ctx;
    tct_stream_close(&s->stream);
    tct_free(s);
}

tacit_status tct_array_open(const char *path, const char *what, int64_t offset,
                            tct_array *out)
{
    stream_array *s = tct_calloc(sizeof *s);
    if (!s) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", path);
    s->path = path;
    tacit_status status = tct_stream_open(path, &s->stream);
    if (status == TACIT_OK) status = tct_stream_skip(s->stream, offset);
    if (status < 0) {
        stream_close(s);
        return status;
    }
    out->path = path;
    out->what = what;
    out->ctx = s;
    out->read = stream_read;
    out->close = stream_close;
    return TACIT_OK;
}

void tct_array_ends(tct_array *a, int64_t offset, const tct_array_end *end)
{
    stream_array *s = a->ctx;
    s->offset = offset;
    s->count = a->count;
    s->width = a->width;
    s->end = end;
    a->finish = stream_finish;
}

bool tct_array_ends_at(const char *path, int64_t at, const tct_array_end *end)
{
    tct_stream *s = NULL;
    bool ends = false;
    tacit_status status = tct_stream_open(path, &s);
    if (status == TACIT_OK) status = tct_stream_skip(s, at);
    if (status == TACIT_OK) status = may_end(s, end, &ends);
    tct_stream_close(&s);
    return status == TACIT_OK && ends;
}

tacit_status tct_array_goes_on(const char *path, int64_t at)
{
    FAIL(TACIT_INPUT,
         "%s: its values end at byte %lld, and what follows belongs to nothing "
         "known: the file is damaged; write it again",
         path, (long long)at);
}

void tct_array_close(tct_array *a)
{
    if (a->ctx) a->close(a->ctx);
    a->ctx = NULL;
}

/* Widen the raw elements at the front of `out` in place, from the back; one
 * loop for each width. */
#define TCT_WIDEN(word, swap, as)                         \
    for (int64_t k = count - 1; k >= 0; k--) {            \
        word x;                                           \
        memcpy(&x, raw + (size_t)k * sizeof x, sizeof x); \
        out[k] = as(a->big ? swap(x) : x);                \
    }
#define PLAIN(x)    (x)
#define SIGNED8(x)  (int8_t)(x)
#define SIGNED16(x) (int16_t)(x)
#define SIGNED32(x) (int32_t)(x)
#define SIGNED64(x) (int64_t)(x)

tacit_status tct_array_ints(tct_array *a, int64_t *out, int64_t count)
{
    if (a->kind == 'f')
        FAIL(TACIT_INPUT,
             "%s: %s holds floating-point numbers where indices are needed",
             a->path, a->what);
    char *raw = (char *)out;
    const bool is_signed = a->kind == 'i';
    TRY(a->read(a->ctx, a->what, raw, (size_t)count * (size_t)a->width));
    switch (a->width) {
    case 1:
        if (is_signed) TCT_WIDEN(uint8_t, PLAIN, SIGNED8)
        else TCT_WIDEN(uint8_t, PLAIN, PLAIN)
        break;
    case 2:
        if (is_signed) TCT_WIDEN(uint16_t, __builtin_bswap16, SIGNED16)
        else TCT_WIDEN(uint16_t, __builtin_bswap16, PLAIN)
        break;
    case 4:
        if (is_signed) TCT_WIDEN(uint32_t, __builtin_bswap32, SIGNED32)
        else TCT_WIDEN(uint32_t, __builtin_bswap32, PLAIN)
        break;
    default: TCT_WIDEN(uint64_t, __builtin_bswap64, SIGNED64)
    }
    return TACIT_OK;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

tacit_status tct_array_doubles(tct_array *a, double *out, int64_t count)
{
    if (a->kind != 'f') {
        TRY(tct_array_ints(a, (int64_t *)(void *)out, count));
        const bool large = a->kind == 'u' && a->width == 8;
        for (int64_t k = 0; k < count; k++) {
            int64_t x;
            memcpy(&x, out + k, sizeof x);
            out[k] = large ? (double)(uint64_t)x : (double)x;
        }
        return TACIT_OK;
    }
    char *raw = (char *)out;
    TRY(a->read(a->ctx, a->what, raw, (size_t)count * (size_t)a->width));
    if (a->width == 4) TCT_WIDEN(uint32_t, __builtin_bswap32, float_of)
    else TCT_WIDEN(uint64_t, __builtin_bswap64, double_of)
    return TACIT_OK;
}

/* --- lines, indices and values ------------------------------------------ */

typedef struct {
    tct_source base;
    const char *path;
    tct_array array[3];
    tct_line_kind kind;
    bool by_column;
    int64_t lines, line; /* current line, -1 before the first */
    int64_t left;        /* entries left in it */
    int64_t done;        /* entries read */
    int64_t start;       /* offset of the next line */
    int64_t window_at, window_count, window_first; /* of `window` */
    int64_t *window;  /* [LINES] read-ahead of the first array */
    int64_t *index;   /* [TCT_BATCH] */
    double *value;    /* [TCT_BATCH] */
    tct_entry *entry; /* [TCT_BATCH] */
    tct_part parts[TCT_PARTS];
} arrays;

/* Read the next element of the first array. */
static tacit_status next_line_word(arrays *s, int64_t *out)
{
    if (s->window_at == s->window_count) {
        const int64_t left = s->array[0].count - s->window_first;
        const int64_t n = left < LINES ? left : LINES;
        TRY(tct_array_ints(&s->array[0], s->window, n));
        s->window_first += n;
        s->window_count = n;
        s->window_at = 0;
    }
    *out = s->window[s->window_at++];
    return TACIT_OK;
}

static tacit_status bad_line(const arrays *s, const char *why)
{
    FAIL(TACIT_INPUT, "%s: %s: element %lld %s: the file is damaged", s->path,
         s->array[0].what, (long long)s->line, why);
}

/* Advance to the next line with entries. */
static tacit_status next_line(arrays *s)
{
    while (s->left == 0) {
        if (++s->line == s->lines)
            return bad_line(s, "ends before the last entry");
        int64_t word;
        TRY(next_line_word(s, &word));
        if (s->kind == TCT_BY_START) {
            if (word < s->start)
                return bad_line(s, "is less than the one before");
            s->left = word - s->start;
            s->start = word;
        } else {
            if (word < 0) return bad_line(s, "is negative");
            s->left = word;
        }
        if (s->left > s->base.stored - s->done)
            return bad_line(s, "leads beyond the last entry");
    }
    return TACIT_OK;
}

/* Set the lines of entries [0, count). */
static tacit_status set_lines(arrays *s, int64_t count)
{
    for (int64_t k = 0; k < count;) {
        TRY(next_line(s));
        const int64_t n = s->left < count - k ? s->left : count - k;
        for (int64_t end = k + n; k < end; k++) s->entry[k].row = s->line;
        s->left -= n;
        s->done += n;
    }
    return TACIT_OK;
}

/* After the last entry only empty lines may follow. */
static tacit_status finish(arrays *s)
{
    if (s->kind != TCT_BY_INDEX) {
        while (s->line + 1 < s->lines) {
            int64_t word;
            s->line++;
            TRY(next_line_word(s, &word));
            if (word != (s->kind == TCT_BY_START ? s->start : 0))
                return bad_line(s, "leads beyond the last entry");
        }
    }
    for (int k = 0; k < 3; k++)
        if (s->array[k].finish) TRY(s->array[k].finish(s->array[k].ctx));
    return TACIT_OK;
}

static tacit_status arrays_next(tct_source *base, tct_batch *out)
{
    arrays *s = (arrays *)base;
    const int64_t left = s->base.stored - s->done;
    const int64_t n = left < TCT_BATCH ? left : TCT_BATCH;
    tct_batch_split(out, s->parts, s->entry, n);
    if (n == 0) return finish(s);
    if (s->kind == TCT_BY_INDEX) {
        TRY(tct_array_ints(&s->array[0], s->index, n));
        for (int64_t k = 0; k < n; k++) s->entry[k].row = s->index[k];
        s->done += n;
    } else {
        TRY(set_lines(s, n));
    }
    TRY(tct_array_ints(&s->array[1], s->index, n));
    TRY(tct_array_doubles(&s->array[2], s->value, n));
    for (int64_t k = 0; k < n; k++) {
        tct_entry *e = &s->entry[k];
        *e = (tct_entry){s->by_column ? s->index[k] : e->row,
                         s->by_column ? e->row : s->index[k], s->value[k]};
    }
    return TACIT_OK;
}

static void arrays_close(tct_source *base)
{
    arrays *s = (arrays *)base;
    for (int k = 0; k < 3; k++) tct_array_close(&s->array[k]);
    TCT_FREE(s->window, s->index, s->value, s->entry, s);
}

static tacit_status refuse_twice(const tct_source *base, int64_t duplicates)
{
    if (duplicates == 0 || !base->unique) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s: %lld entries stand twice: the file is damaged",
         ((const arrays *)base)->path, (long long)duplicates);
}

static tacit_status arrays_build(arrays *s)
{
    TRY(TCT_ALLOC(LINES, "a piece of a file", &s->window));
    TRY(TCT_ALLOC(TCT_BATCH, "a piece of a file", &s->index));
    TRY(TCT_ALLOC(TCT_BATCH, "a piece of a file", &s->value));
    TRY(TCT_ALLOC(TCT_BATCH, "a piece of a file", &s->entry));
    if (s->kind != TCT_BY_START) return TACIT_OK;
    int64_t first;
    TRY(next_line_word(s, &first));
    if (first == 0) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: %s begins with %lld instead of 0: the file is "
         "damaged",
         s->path, s->array[0].what, (long long)first);
}

tacit_status tct_arrays_source(const tct_input *in,
                               const tct_arrays_shape *shape,
                               const tct_array given[3], tct_source **out)
{
    arrays *s = tct_calloc(sizeof *s);
    if (!s) {
        for (int k = 0; k < 3; k++) {
            tct_array a = given[k];
            tct_array_close(&a);
        }
        FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", in->path);
    }
    memcpy(s->array, given, sizeof s->array);
    s->path = in->path;
    s->kind = shape->kind;
    s->by_column = shape->by_column;
    s->lines = shape->by_column ? shape->cols : shape->rows;
    s->line = -1;
    s->base = (tct_source){.rows = shape->rows,
                           .cols = shape->cols,
                           .stored = shape->entries,
                           .most = shape->entries,
                           .field = shape->field,
                           .unique = shape->unique,
                           .next = arrays_next,
                           .verify = refuse_twice,
                           .close = arrays_close};
    return tct_source_built(&s->base, arrays_build(s), out);
}

/* --- dense arrays --------------------------------------------------------- */

typedef struct {
    tct_source base;
    tct_array array;
    bool by_column;
    bool zeros; /* are kept: a vector may contain -0 */
    int64_t done;
    double *value;    /* [TCT_BATCH] */
    tct_entry *entry; /* [TCT_BATCH] */
    tct_part parts[TCT_PARTS];
} dense;

static tacit_status dense_next(tct_source *base, tct_batch *out)
{
    dense *s = (dense *)base;
    *out = (tct_batch){0};
    int64_t kept = 0;
    while (kept == 0) {
        const int64_t left = base->stored - s->done;
        const int64_t n = left < TCT_BATCH ? left : TCT_BATCH;
        if (n == 0)
            return s->array.finish ? s->array.finish(s->array.ctx) : TACIT_OK;
        TRY(tct_array_doubles(&s->array, s->value, n));
        const int64_t side = s->by_column ? base->rows : base->cols;
        for (int64_t k = 0; k < n; k++) {
            if (s->value[k] == 0 && !s->zeros) continue;
            const int64_t line = (s->done + k) / side;
            const int64_t place = (s->done + k) % side;
            s->entry[kept++] =
                (tct_entry){s->by_column ? place : line,
                            s->by_column ? line : place, s->value[k]};
        }
        s->done += n;
    }
    tct_batch_split(out, s->parts, s->entry, kept);
    return TACIT_OK;
}

static void dense_close(tct_source *base)
{
    dense *s = (dense *)base;
    tct_array_close(&s->array);
    TCT_FREE(s->value, s->entry, s);
}

static tacit_status dense_build(dense *s)
{
    TRY(TCT_ALLOC(TCT_BATCH, "a piece of a file", &s->value));
    return TCT_ALLOC(TCT_BATCH, "a piece of a file", &s->entry);
}

tacit_status tct_dense_source(const tct_input *in, int64_t rows, int64_t cols,
                              bool by_column, const tct_array *array,
                              tct_source **out)
{
    dense *s = tct_calloc(sizeof *s);
    if (!s) {
        tct_array a = *array;
        tct_array_close(&a);
        FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", in->path);
    }
    s->array = *array;
    s->by_column = by_column;
    s->zeros = in->vector;
    s->base = (tct_source){.rows = rows,
                           .cols = cols,
                           .stored = array->count,
                           .most = array->count,
                           .field = array->kind == 'f' ? TCT_FIELD_REAL
                                                       : TCT_FIELD_INTEGER,
                           .next = dense_next,
                           .close = dense_close};
    return tct_source_built(&s->base, dense_build(s), out);
}

/* --- writing -------------------------------------------------------------- */

/* Elements [k, k + n) as 64-bit words. */
static void take_words(const tct_maker *p, int64_t k, int64_t n, uint64_t *out)
{
    const int64_t *ptr = p->A ? p->A->ptr : NULL;
    switch (p->kind) {
    case TCT_MAKE_ENDS:
        for (int64_t i = 0; i < n; i++)
            out[i] = (uint64_t)(ptr[k + i + 1] + p->before);
        break;
    case TCT_MAKE_LENGTHS:
        for (int64_t i = 0; i < n; i++)
            out[i] = (uint64_t)(ptr[k + i + 1] - ptr[k + i]);
        break;
    case TCT_MAKE_COLUMNS:
        for (int64_t i = 0; i < n; i++)
            out[i] = (uint64_t)tct_csr_col(p->A, k + i);
        break;
    case TCT_MAKE_VALUES: memcpy(out, p->x + k, (size_t)n * sizeof *out);
    }
}

size_t tct_make_elements(void *ctx, char *out, size_t room)
{
    enum { SOME = 1024 };
    uint64_t word[SOME];
    tct_maker *p = ctx;
    const int width = p->kind == TCT_MAKE_VALUES ? 8 : p->width;
    const bool big = p->big;
    const int64_t most = (int64_t)room / width, left = p->count - p->at;
    const int64_t n = left < most ? left : most;
    for (int64_t done = 0; done < n;) {
        const int64_t some = n - done < SOME ? n - done : SOME;
        take_words(p, p->at, some, word);
        for (int64_t i = 0; i < some; i++, out += width)
            if (width == 8) tct_store(out, 8, big, word[i]);
            else tct_store(out, 4, big, word[i]);
        p->at += some;
        done += some;
    }
    return (size_t)n * (size_t)width;
}
