/* SPDX-License-Identifier: BSD-3-Clause
 * io/npy.c - NumPy's .npy: a magic word, a Python dictionary, raw data.
 *
 *     \x93NUMPY 1 0 length {'descr': '<f8', 'fortran_order': False,
 *                           'shape': (3,), }
 *
 * Read and written as a vector, or as vectors by columns; a two-dimensional
 * file read as a matrix loses its zeros. */
#include "io/npy.h"
#include "io/number.h"
#include <stdio.h>

enum { MOST = 4096 }; /* bytes of a dictionary; NumPy writes about 100 */

static tacit_status bad_header(const char *path, const char *what,
                               const char *why)
{
    FAIL(TACIT_INPUT, "%s: %s: %s: write it again with NumPy", path, what, why);
}

/* The text after 'key':, or NULL. */
static const char *value_of(const char *text, const char *key)
{
    const char *p = strstr(text, key);
    if (!p) return NULL;
    p = strchr(p + strlen(key), ':');
    if (!p) return NULL;
    do p++;
    while (*p == ' ');
    return p;
}

/* A type such as '<f8'. */
static bool parse_type(const char *p, tct_array *a)
{
    if (!p || (*p != '\'' && *p != '"')) return false;
    a->big = p[1] == '>';
    a->kind = p[1] ? p[2] : '\0';
    int64_t width = 0;
    if (!a->kind || !tct_scan_int(p + 3, &width) || width < 0 || width > 1024)
        return false;
    a->width = (int)width * (a->kind == 'U' ? 4 : 1); /* UTF-32 */
    if (a->kind == 'b') a->kind = 'u';                /* bool: 0 or 1 */
    return true;
}

/* (), (n,), (n, m) or more. */
static bool parse_shape(const char *p, tct_npy *h)
{
    const int most = h->most > 0 ? h->most : 2;
    if (!p || *p++ != '(') return false;
    for (h->dims = 0;;) {
        while (*p == ' ' || *p == ',') p++;
        if (*p == ')') return true;
        if (h->dims == most) return false;
        p = tct_scan_int(p, &h->shape[h->dims++]);
        if (!p || h->shape[h->dims - 1] < 0) return false;
        if (*p == 'L') p++; /* written by Python 2 */
    }
}

tacit_status tct_npy_header(const char *path, const char *what,
                            tct_npy_read read, void *ctx, tct_npy *out,
                            tct_array *a)
{
    char text[MOST + TCT_SCAN_PAD] = {0};
    TRY(read(ctx, what, text, 10));
    if (memcmp(text, "\x93NUMPY", 6) != 0)
        return bad_header(path, what, "does not begin as an array of NumPy");
    int64_t length = (int64_t)tct_load(text + 8, 2, false);
    out->bytes = 10;
    if (text[6] > 1) { /* version 2 and later have 4 bytes of length */
        TRY(read(ctx, what, text + 10, 2));
        length = (int64_t)tct_load(text + 8, 4, false);
        out->bytes = 12;
    }
    if (length >= MOST) return bad_header(path, what, "its header is too long");
    memset(text, 0, 16);
    TRY(read(ctx, what, text, (size_t)length));
    out->bytes += length;
    const char *order = value_of(text, "fortran_order");
    if (!parse_type(value_of(text, "descr"), a) ||
        !parse_shape(value_of(text, "shape"), out) || !order)
        return bad_header(path, what, "its header is not understood");
    out->fortran = *order == 'T';
    a->count = 1;
    for (int k = 0; k < out->dims; k++)
        if (__builtin_mul_overflow(a->count, out->shape[k], &a->count))
            return bad_header(path, what, "its size does not fit in 64 bits");
    if (a->kind == 'c')
        FAIL(TACIT_INPUT,
             "%s: %s: complex values: only real systems are solved "
             "here",
             path, what);
    return TACIT_OK;
}

void tct_npy_print(char *out, const char *type, const char *shape, bool fortran)
{
    memcpy(out, "\x93NUMPY\1\0", 8);
    tct_store(out + 8, 2, false, TCT_NPY_HEAD - 10);
    char text[TCT_NPY_HEAD - 10 + 1];
    snprintf(text, sizeof text,
             "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type,
             fortran ? "True" : "False", shape);
    memset(out + 10, ' ', TCT_NPY_HEAD - 10);
    memcpy(out + 10, text, strlen(text));
    out[TCT_NPY_HEAD - 1] = '\n';
}

/* --- the format --------------------------------------------------------- */

static bool npy_probe(const char *head, size_t count)
{
    return count >= 10 && memcmp(head, "\x93NUMPY", 6) == 0;
}

/* Refuse anything but a numeric vector or matrix, or more values than the file
 * holds. */
static tacit_status check(const tct_input *in, const tct_npy *h,
                          const tct_array *a)
{
    const bool number = (a->kind == 'i' || a->kind == 'u' || a->kind == 'f') &&
                        (a->width == 8 || a->width == 4 ||
                         (a->kind != 'f' && (a->width == 2 || a->width == 1)));
    if (!number || h->dims < 1)
        FAIL(TACIT_INPUT,
             "%s: values of type %c%d in %d dimensions: save a "
             "vector of float64",
             in->path, a->kind, a->width, h->dims);
    const tct_source s = {.rows = h->shape[0],
                          .cols = h->dims == 2 ? h->shape[1] : 1,
                          .stored = a->count,
                          .most = a->count};
    const int64_t limit = tct_stream_limit(in->stream);
    return tct_check_sizes(in->path, in, &s,
                           limit == INT64_MAX ? limit : limit / a->width);
}

/* numpy.save may append further arrays; the first is read. */
static const tct_array_end end = {.follows = npy_probe};

static tacit_status npy_open(const tct_input *in, tct_source **out)
{
    tct_npy h = {0};
    tct_array a = {0};
    TRY(tct_array_open(in->path, "the values", 0, &a));
    tacit_status status =
        tct_npy_header(in->path, "its header", a.read, a.ctx, &h, &a);
    if (status == TACIT_OK) status = check(in, &h, &a);
    if (status == TACIT_OK) tct_array_ends(&a, h.bytes, &end);
    if (status == TACIT_OK)
        return tct_dense_source(in, h.shape[0], h.dims == 2 ? h.shape[1] : 1,
                                h.fortran, &a, out);
    tct_array_close(&a);
    return status;
}

static tacit_status npy_write_vectors(tct_sink *s, int64_t rows, int64_t count,
                                      int columns, const double *x,
                                      int64_t stride)
{
    char head[TCT_NPY_HEAD], shape[40];
    if (columns == 1) snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    else snprintf(shape, sizeof shape, "(%lld, %d)", (long long)rows, columns);
    tct_npy_print(head, "<f8", shape, columns > 1);
    TRY(tct_sink_write(s, head, sizeof head));
    for (int j = 0; j < columns; j++) {
        tct_maker p = {
            .kind = TCT_MAKE_VALUES, .x = x + j * stride, .count = count};
        TRY(tct_sink_gather(s, tct_make_elements, &p));
    }
    return TACIT_OK;
}

const tct_file_format tct_file_npy = {
    .about = {.name = "npy",
              .summary = "NumPy .npy, one or two dimensions",
              .told_by = "\\x93NUMPY",
              .suffixes = {".npy"},
              .reads_matrix = true,
              .reads_vector = true,
              .writes_vector = true,
              .reads_vectors = true,
              .writes_vectors = true},
    .probe = npy_probe,
    .again = true,
    .open = npy_open,
    .write_vectors = npy_write_vectors,
};
