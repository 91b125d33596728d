/* SPDX-License-Identifier: BSD-3-Clause
 * io/format.c - what the readers of all formats share: checks of sizes and
 * lengths, batches, and their messages. */
#include "io/format.h"
#include <limits.h>

tacit_status tct_check_sizes(const char *where, const tct_input *in,
                             const tct_source *s, int64_t room)
{
    const long long rows = s->rows, cols = s->cols, stored = s->stored;
    if (rows < 1 || cols < 1)
        FAIL(TACIT_INPUT,
             "%s: sizes %lld x %lld: rows and columns must be at least 1",
             where, rows, cols);
    if (stored < 0)
        FAIL(TACIT_INPUT, "%s: %lld entries: their count must be at least 0",
             where, stored);
    if (rows > INT64_MAX / 4 || cols > INT64_MAX / 4 || stored > INT64_MAX / 64)
        FAIL(TACIT_INPUT,
             "%s: sizes %lld x %lld with %lld entries do not fit in 64 bits",
             where, rows, cols, stored);
    if (s->unique && (double)stored > (double)rows * (double)cols)
        FAIL(TACIT_INPUT,
             "%s: promises %lld entries, a %lld x %lld matrix has fewer "
             "places: correct the header",
             where, stored, rows, cols);
    if (stored > room)
        FAIL(TACIT_INPUT,
             "%s: promises %lld entries, the rest of the file can hold at most "
             "%lld: it is cut short, or the header is wrong",
             where, stored, (long long)room);
    const int64_t most_rows = (INT64_C(1) << 20) + 64 * s->most;
    if (rows > most_rows || (cols > most_rows && cols != 1))
        FAIL(TACIT_INPUT,
             "%s: %lld x %lld with only %lld %s: nearly all rows would be "
             "empty; correct the header",
             where, rows, cols, stored, stored == 1 ? "entry" : "entries");
    const double bytes = 16.0 * (double)s->most + 8.0 * (double)rows;
    return tct_memory_require_of(in->ranks, bytes / in->machines, where);
}

tacit_status tct_source_built(tct_source *s, tacit_status status,
                              tct_source **out)
{
    if (status < 0) s->close(s);
    else *out = s;
    return status;
}

void tct_batch_split(tct_batch *out, tct_part *parts, tct_entry *entries,
                     int64_t count)
{
    out->parts = parts;
    out->count = 0;
    if (count == 0) return;
    const int n = count < 4096 ? 1 : TCT_PARTS;
    out->count = n;
    for (int p = 0; p < n; p++) {
        const int64_t from = tct_share(count, n, p);
        parts[p] =
            (tct_part){entries + from, tct_share(count, n, p + 1) - from};
    }
}

tacit_status tct_wrong_length(const char *path, int64_t values, int64_t rows)
{
    FAIL(TACIT_INPUT,
         "%s: has %lld %s, but %lld rows are wanted: give a vector of that "
         "length",
         path, (long long)values, values == 1 ? "value" : "values",
         (long long)rows);
}

tacit_status tct_vectors_room(tct_vectors *v, const char *path, int64_t rows,
                              int64_t cols)
{
    if (cols != 1 && !v->many)
        FAIL(TACIT_INPUT,
             "%s: holds a %lld x %lld matrix where a vector is needed: give a "
             "file with one column",
             path, (long long)rows, (long long)cols);
    if (rows != v->rows && cols == 1)
        return tct_wrong_length(path, rows, v->rows);
    if (rows != v->rows)
        FAIL(TACIT_INPUT,
             "%s: has %lld columns of %lld %s, but %lld rows are wanted: give "
             "columns of that length",
             path, (long long)cols, (long long)rows,
             rows == 1 ? "value" : "values", (long long)v->rows);
    if (cols < 1 || cols > INT_MAX)
        FAIL(TACIT_INPUT, "%s: has %lld columns: give a file with 1 to %d",
             path, (long long)cols, INT_MAX);
    v->columns = (int)cols;
    if (!v->many) return TACIT_OK;
    TRY(tct_memory_require(8.0 * (double)v->count * (double)cols, path));
    return TCT_ALLOC(v->count * cols, "vectors of a file", &v->out);
}

tacit_status tct_check_missing(const char *path, const tct_file_format *f)
{
    if (!f->about.reason) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED, "%s: format '%s' is not available: %s", path,
         f->about.name, f->about.reason);
}

tacit_status tct_read_exactly(const char *path, tct_stream *stream, void *out,
                              size_t bytes, const char *what)
{
    size_t got;
    TRY(tct_stream_read(stream, out, bytes, &got));
    if (got == bytes) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s: ends within %s: it is cut short", path, what);
}
