/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/values.c - numbers of a file in their order. */
#include "stencil/values.h"
#include "io/input.h"
#include "io/number.h"
#include "io/text.h"
#include <stdio.h>

enum { BATCH = TCT_VALUES_BATCH };

/* A file that is being read. */
typedef struct reader {
    const char *path;
    tct_stream *stream;
    const tct_values_want *want;
    tct_values_take *take;
    void *ctx;
    double *batch; /* [BATCH] */
    int64_t had;   /* values of the batch  */
    int64_t taken; /* values before them   */
    bool in_comment;
} reader;

static tacit_status flush(reader *r)
{
    TRY(r->take(r->ctx, r->taken, r->had, r->batch));
    r->taken += r->had;
    r->had = 0;
    return TACIT_OK;
}

/* "3 x 4", the extents of an array. */
static void say_shape(int dims, const int64_t *extent, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < dims && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld",
                                 d > 0 ? " x " : "", (long long)extent[d]);
}

static tacit_status wrong_size(const reader *r, const char *has)
{
    char wanted[100];
    say_shape(r->want->dims, r->want->extent, wanted, sizeof wanted);
    FAIL(TACIT_INPUT, "%s: has %s values, and the grid %s: give as many",
         r->path, has, wanted);
}

/* --- .npy ----------------------------------------------------------------- */

static tacit_status read_bytes(void *ctx, const char *what, void *out,
                               size_t bytes)
{
    const reader *r = ctx;
    size_t got = 0;
    TRY(tct_stream_read(r->stream, out, bytes, &got));
    if (got == bytes) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s: ends within %s: it is cut short", r->path, what);
}

static bool is_number(const tct_array *a)
{
    const bool word = a->width == 4 || a->width == 8;
    return a->kind == 'f' ? word
                          : (a->kind == 'i' || a->kind == 'u') &&
                                (word || a->width == 1 || a->width == 2);
}

static tacit_status check_array(const reader *r, const tct_npy *h,
                                const tct_array *a)
{
    const tct_values_want *w = r->want;
    char has[100];
    say_shape(h->dims, h->shape, has, sizeof has);
    if (!is_number(a))
        FAIL(TACIT_INPUT,
             "%s: values of type %c%d: save an array of float64 or float32",
             r->path, a->kind, a->width);
    bool fits = a->count == w->count && h->dims >= 1;
    for (int d = 0; h->dims > 1 && d < w->dims; d++)
        fits = fits && h->dims == w->dims && h->shape[d] == w->extent[d];
    if (!fits) return wrong_size(r, has);
    if (h->dims > 1 && h->fortran)
        FAIL(TACIT_INPUT,
             "%s: is stored by columns: save what numpy.ascontiguousarray "
             "makes of it",
             r->path);
    return TACIT_OK;
}

static tacit_status check_end(const reader *r)
{
    char rest[1];
    size_t got = 0;
    TRY(tct_stream_read(r->stream, rest, sizeof rest, &got));
    if (got == 0) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s: goes on after its array: save one array", r->path);
}

static tacit_status read_array(reader *r)
{
    tct_npy h = {.most = TCT_NPY_DIMS};
    tct_array a = {
        .path = r->path, .what = "the values", .ctx = r, .read = read_bytes};
    TRY(tct_npy_header(r->path, "its header", read_bytes, r, &h, &a));
    TRY(check_array(r, &h, &a));
    while (r->taken < r->want->count) {
        const int64_t left = r->want->count - r->taken;
        r->had = left < BATCH ? left : BATCH;
        TRY(tct_array_doubles(&a, r->batch, r->had));
        TRY(flush(r));
    }
    return check_end(r);
}

/* --- plain text ----------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == ',';
}

static bool is_comment(char c)
{
    return c == '#' || c == '%';
}

static tacit_status too_many(const reader *r)
{
    char has[40];
    snprintf(has, sizeof has, "more than %lld", (long long)r->want->count);
    return wrong_size(r, has);
}

static tacit_status take_number(reader *r, tct_text *t, tct_text_place *p)
{
    double value = 0.0;
    const char *end = tct_scan_double(p->at, &value);
    if (!end || !(is_blank(*end) || *end == '\n' || is_comment(*end)))
        return tct_text_bad_word(t, p->line, p->at,
                                 "is no number: write numbers between blanks");
    if (r->taken + r->had == r->want->count) return too_many(r);
    r->batch[r->had++] = value;
    p->at = end;
    return r->had == BATCH ? flush(r) : TACIT_OK;
}

/* A block of words; a long line, and so a comment, may go on in the next. */
static tacit_status read_block(reader *r, tct_text *t, tct_text_place *p)
{
    while (p->at < p->end) {
        if (*p->at == '\n') {
            r->in_comment = false;
            tct_text_count_lines(t, 1);
            p->line = ++p->at;
        } else if (r->in_comment || is_blank(*p->at)) {
            p->at++;
        } else if (is_comment(*p->at)) {
            r->in_comment = true;
        } else {
            TRY(take_number(r, t, p));
        }
    }
    return TACIT_OK;
}

static tacit_status read_numbers(reader *r, tct_text *t)
{
    tct_text_place p = {.at = NULL};
    for (;;) {
        TRY(tct_text_next(t, &p));
        if (p.at == p.end) return TACIT_OK;
        TRY(read_block(r, t, &p));
    }
}

static tacit_status read_text(reader *r)
{
    char has[40];
    tct_text *t = NULL;
    TRY(tct_text_open(r->path, r->stream, &t));
    tacit_status status = read_numbers(r, t);
    tct_text_close(&t);
    TRY(status);
    TRY(flush(r));
    snprintf(has, sizeof has, "%lld", (long long)r->taken);
    return r->taken == r->want->count ? TACIT_OK : wrong_size(r, has);
}

/* --- a file --------------------------------------------------------------- */

static tacit_status read_stream(reader *r)
{
    size_t count = 0;
    const char *head = tct_stream_head(r->stream, &count);
    TRY(TCT_ALLOC(BATCH, "a piece of a file", &r->batch));
    const bool array = count >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
    return array ? read_array(r) : read_text(r);
}

tacit_status tct_values_read(const char *path, const tct_values_want *want,
                             tct_values_take *take, void *ctx)
{
    reader r = {
        .path = tct_input_path(path), .want = want, .take = take, .ctx = ctx};
    TRY(tct_stream_open(r.path, &r.stream));
    const tacit_status status = read_stream(&r);
    tct_free(r.batch);
    tct_stream_close(&r.stream);
    return status;
}
