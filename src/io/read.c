/* SPDX-License-Identifier: BSD-3-Clause
 * io/read.c - recognizes the format, distributes entries to their owners and
 * assembles rows.
 *
 *     rank 0:   file -> stream -> source -> batch -> sorted by owner --+
 *     all:      agree, sizes, all-to-all  <---------------------------+
 *               -> assembly -> rows
 *
 * Ranks agree on the status once per batch, so an error in the file (rank 0) or
 * lack of memory (any rank) ends all of them. */
#include "device/parallel.h"
#include "io/assembly.h"
#include "io/input.h"
#include <limits.h>
#include <math.h>
#include <string.h>

const char *tct_field_name(tct_field field)
{
    switch (field) {
    case TCT_FIELD_REAL: return "real";
    case TCT_FIELD_INTEGER: return "integer";
    case TCT_FIELD_PATTERN: return "pattern";
    }
    return "unknown";
}

/* --- for readers ---------------------------------------------------------- */

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
         "%s: has %lld %s, but the matrix has %lld rows: give a vector of that "
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
             "%s: has %lld columns of %lld %s, but the matrix has %lld rows: "
             "give columns of that length",
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

/* --- opening ------------------------------------------------------------ */

/* The file's properties, broadcast by rank 0. */
typedef struct {
    int64_t rows, cols, stored, most;
    int format, packing, field;
    bool symmetric, unique, own_rhs;
} outline;

static const char *const packings[] = {"", "gzip", "xz"};

typedef struct {
    tct_stream *stream; /* rank 0 */
    tct_source *source; /* rank 0 */
    outline about;
} opened;

static void close_file(opened *o)
{
    if (o->source) o->source->close(o->source);
    tct_stream_close(&o->stream);
    tct_input_forget();
}

static tacit_status unknown_format(const char *path, const char *head,
                                   size_t count, bool vector)
{
    static const char *const known[] = {
        "Market (which begins with %%MatrixMarket), Harwell-Boeing, METIS, "
        "PETSc, .npz or .tacit",
        "Market (which begins with %%MatrixMarket), .npy, PETSc, .tacit, or "
        "plain numbers"};
    const bool text = memchr(head, '\0', count) == NULL;
    const bool utf16 = count >= 2 && (memcmp(head, "\xff\xfe", 2) == 0 ||
                                      memcmp(head, "\xfe\xff", 2) == 0);
    FAIL(TACIT_INPUT,
         "%s: is none of the known formats of a %s (it begins like %s): give "
         "Matrix %s, or convert it",
         path, vector ? "vector" : "matrix",
         utf16  ? "UTF-16 text, which can be saved as UTF-8"
         : text ? "a text file"
                : "a binary file",
         known[vector]);
}

/* Copy the file to a temporary one if the format cannot read it as opened. */
static tacit_status prepare(const tct_input *in, const tct_file_format *f,
                            int ranks, opened *o)
{
    const bool must = (f->seeks && !tct_stream_seekable(o->stream)) ||
                      (f->again && tct_stream_flows(o->stream));
    if (must && !f->open && ranks > 1)
        FAIL(TACIT_INPUT,
             "%s: every rank reads its own part of a .%s file: name one that "
             "is not packed, and no pipe",
             in->path, f->about.name);
    return must ? tct_stream_keep(in->path, &o->stream) : TACIT_OK;
}

static bool reads_kind(const tct_file_format *f, bool vector)
{
    return vector ? f->about.reads_vector : f->about.reads_matrix;
}

/* Rank 0: open the file, recognize its format, read its header. */
static tacit_status open_on_root(tct_input *in, int ranks, opened *o)
{
    const char *path = in->path;
    TRY(tct_stream_open(path, &o->stream));
    size_t count;
    const char *head = tct_stream_head(o->stream, &count);
    const tct_file_format *format = NULL;
    for (int f = 0; f < TCT_FILE_FORMAT_COUNT && !format; f++)
        if (reads_kind(tct_file_formats[f], in->vector) &&
            tct_file_formats[f]->probe(head, count))
            format = tct_file_formats[o->about.format = f];
    if (!format) return unknown_format(path, head, count, in->vector);
    TRY(tct_check_missing(path, format));
    while (strcmp(packings[o->about.packing], tct_stream_packing(o->stream)) !=
           0)
        o->about.packing++;
    if (in->guess && !format->guesses)
        FAIL(TACIT_INPUT,
             "%s: holds a matrix without a first guess: give another file",
             path);
    TRY(prepare(in, format, ranks, o));
    in->stream = o->stream;
    if (!format->open) return TACIT_OK;
    TRY(format->open(in, &o->source));
    const tct_source *s = o->source;
    o->about.rows = s->rows;
    o->about.cols = s->cols;
    o->about.stored = s->stored;
    o->about.most = s->most;
    o->about.field = (int)s->field;
    o->about.symmetric = s->symmetric;
    o->about.own_rhs = s->own_rhs;
    o->about.unique = s->unique;
    return TACIT_OK;
}

/* Log the format and sizes. */
static void log_format(const tct_input *in, const opened *o)
{
    const outline *a = &o->about;
    const char *packing = packings[a->packing];
    if (!o->source)
        tct_log(TCT_DETAIL, "%s: %s, each rank reads its part", in->path,
                tct_file_formats[a->format]->about.name);
    else
        tct_log(TCT_DETAIL, "%s: %s%s%s, %s%s, %lld x %lld, %lld entries",
                in->path, tct_file_formats[a->format]->about.name,
                packing[0] ? ", " : "", packing,
                tct_field_name((tct_field)a->field),
                a->symmetric ? " symmetric" : "", (long long)a->rows,
                (long long)a->cols, (long long)a->stored);
}

/* Open a file for the vectors `v`; NULL: for a matrix. */
static tacit_status open_all(tacit_world *w, const char *path,
                             const tct_vectors *v, bool guess, tct_crew *crew,
                             opened *o)
{
    tacit_status status = TACIT_OK;
    tct_input in = {.path = path,
                    .vector = v != NULL,
                    .many = v && v->many,
                    .length = v ? v->rows : -1,
                    .guess = guess,
                    .machines = w->size / w->local_size,
                    .ranks = w->local_size,
                    .crew = crew};
    TRY(tct_agree_name(w, "the file to read", path));
    if (w->rank == 0) status = open_on_root(&in, w->size, o);
    if (w->rank == 0 && status >= 0) log_format(&in, o);
    TRY(tct_agree(w, status));
    return tct_bcast(w, 0, sizeof o->about, &o->about);
}

/* --- distribution --------------------------------------------------------- */

/* Destinations of entries: rank r owns rows starts[r] to starts[r + 1]. */
typedef struct {
    tacit_world *w;
    tct_crew *crew;
    const int64_t *starts; /* [size + 1] */
    int64_t *send, *recv;  /* bytes [size] */
    tct_entry *out, *in;   /* grouped by owner, grown as needed */
    int64_t out_room, in_room;
} router;

static tacit_status grow(tct_entry **array, int64_t *room, int64_t wanted)
{
    if (wanted <= *room) return TACIT_OK;
    tct_free(*array);
    *array = NULL;
    *room = 0;
    const int64_t more = wanted + wanted / 4;
    TRY(TCT_ALLOC(more, "entries on their way", array));
    *room = more;
    return TACIT_OK;
}

/* Check the entries of a binary file; its reader knows no lines. */
static tacit_status check_batch(const char *path, const tct_source *s,
                                const tct_batch *batch, int64_t before)
{
    for (int p = 0; p < batch->count; p++) {
        for (int64_t k = 0; k < batch->parts[p].count; k++, before++) {
            const tct_entry *e = &batch->parts[p].entries[k];
            const bool inside = e->row >= 0 && e->row < s->rows &&
                                e->col >= 0 && e->col < s->cols;
            if (inside && isfinite(e->val)) continue;
            const long long entry = before + 1, i = e->row, j = e->col;
            if (!inside)
                FAIL(TACIT_INPUT,
                     "%s: entry %lld is in row %lld, column %lld (counting "
                     "from 0) of a %lld x %lld matrix: the file is damaged",
                     path, entry, i, j, (long long)s->rows, (long long)s->cols);
            FAIL(TACIT_INPUT,
                 "%s: entry %lld (row %lld, column %lld, counting from 0) is "
                 "%g: all values must be finite",
                 path, entry, i, j, e->val);
        }
    }
    return TACIT_OK;
}

/* Rank 0: read the next nonempty batch; empty at the end. */
static tacit_status fetch(const char *path, tct_source *s, int64_t *seen,
                          tct_batch *batch)
{
    int64_t total = 0;
    do {
        TRY(s->next(s, batch));
        for (int p = 0; p < batch->count; p++) total += batch->parts[p].count;
    } while (batch->count > 0 && total == 0);
    if (!s->checked) TRY(check_batch(path, s, batch, *seen));
    *seen += total;
    return TACIT_OK;
}

/* Rank 0: group the entries by owner and set the bytes for each rank. */
static tacit_status sort_by_owner(router *r, const tct_batch *batch)
{
    int64_t total = 0;
    for (int p = 0; p < batch->count; p++) total += batch->parts[p].count;
    const int size = r->w->size;
    TRY(grow(&r->out, &r->out_room, total));
    int64_t *at = r->send; /* counts, then offsets, then bytes */
    memset(at, 0, (size_t)size * sizeof *at);
    for (int p = 0; p < batch->count; p++)
        for (int64_t k = 0; k < batch->parts[p].count; k++)
            at[tct_owner(r->starts, size, batch->parts[p].entries[k].row)]++;
    int64_t sum = 0;
    for (int q = 0; q < size; q++) {
        const int64_t n = at[q];
        at[q] = sum;
        sum += n;
    }
    for (int p = 0; p < batch->count; p++) {
        for (int64_t k = 0; k < batch->parts[p].count; k++) {
            const tct_entry *e = &batch->parts[p].entries[k];
            r->out[at[tct_owner(r->starts, size, e->row)]++] = *e;
        }
    }
    for (int q = size - 1; q >= 0; q--)
        at[q] = (at[q] - (q > 0 ? at[q - 1] : 0)) * (int64_t)sizeof *r->out;
    return TACIT_OK;
}

/* Send rank 0's entries to their owners; `mine` is this rank's. */
static tacit_status exchange(router *r, tct_part *mine, bool *last)
{
    tacit_world *w = r->w;
    int64_t *all = r->recv; /* first the bytes of all ranks */
    if (w->rank == 0) memcpy(all, r->send, (size_t)w->size * sizeof *all);
    TRY(tct_bcast(w, 0, (size_t)w->size * sizeof *all, all));
    const int64_t bytes = all[w->rank];
    *last = true;
    for (int q = 0; q < w->size; q++) *last = *last && all[q] == 0;
    if (*last) return TACIT_OK;
    const int64_t count = bytes / (int64_t)sizeof *r->in;
    TRY(tct_agree(w, grow(&r->in, &r->in_room, count)));
    memset(r->recv, 0, (size_t)w->size * sizeof *r->recv);
    if (w->rank != 0) memset(r->send, 0, (size_t)w->size * sizeof *r->send);
    r->recv[0] = bytes;
    TRY(tct_alltoallv(w, r->send, r->out, r->recv, r->in));
    *mine = (tct_part){r->in, count};
    return TACIT_OK;
}

/* Receives entries of this rank's rows. */
typedef tacit_status (*receiver)(void *ctx, const tct_batch *batch);

static tacit_status distribute(const char *path, tct_source *s, router *r,
                               receiver take, void *ctx)
{
    tacit_status status = TACIT_OK;
    for (int64_t seen = 0;;) {
        tct_batch batch = {0};
        const bool root = r->w->rank == 0;
        if (root && status == TACIT_OK) status = fetch(path, s, &seen, &batch);
        if (r->w->size == 1) {
            TRY(status);
            if (batch.count == 0) return TACIT_OK;
            TRY(take(ctx, &batch));
            if (!s->lasting) tct_crew_flush(r->crew);
            continue;
        }
        if (root && status == TACIT_OK) status = sort_by_owner(r, &batch);
        TRY(tct_agree(r->w, status));
        tct_part mine = {0}, parts[TCT_PARTS];
        bool last;
        TRY(exchange(r, &mine, &last));
        if (last) return TACIT_OK;
        tct_batch_split(&batch, parts, mine.entries, mine.count);
        status = take(ctx, &batch); /* agreed on in the next round */
        tct_crew_flush(r->crew);
    }
}

static tacit_status route(tacit_world *w, const char *path, tct_source *s,
                          tct_crew *crew, const int64_t *starts, receiver take,
                          void *ctx)
{
    router r = {.w = w, .crew = crew, .starts = starts};
    tacit_status status = TCT_ALLOC(w->size, "message sizes", &r.send);
    if (status == TACIT_OK)
        status = TCT_ALLOC(w->size, "message sizes", &r.recv);
    status = tct_agree(w, status);
    if (status == TACIT_OK) status = distribute(path, s, &r, take, ctx);
    TCT_FREE(r.send, r.recv, r.out, r.in);
    return status;
}

/* --- matrices ----------------------------------------------------------- */

static tacit_status add_entries(void *ctx, const tct_batch *batch)
{
    return tct_assembly_add(ctx, batch);
}

/* Values in the file are finite; check sums of duplicates. */
static tacit_status check_sums(const char *path, const tct_csr *A)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            if (!isfinite(A->val[k]))
                FAIL(TACIT_INPUT,
                     "%s: the entries of row %lld, column %lld add up to %g, "
                     "beyond the range of doubles: scale the matrix",
                     path, (long long)(A->first + i + 1),
                     (long long)tct_csr_col(A, k) + 1, A->val[k]);
    return TACIT_OK;
}

static tacit_status assemble(tacit_world *w, const char *path, opened *o,
                             tct_crew *crew, const int64_t *starts,
                             tct_csr *out, int64_t *duplicates)
{
    const outline *a = &o->about;
    const int64_t first = starts[w->rank], rows = starts[w->rank + 1] - first;
    tct_assembly *assembly = NULL;
    tacit_status status = tct_assembly_create(
        a->rows, a->cols, first, rows, a->most / w->size, crew, &assembly);
    status = tct_agree(w, status);
    if (status == TACIT_OK)
        status = route(w, path, o->source, crew, starts, add_entries, assembly);
    if (w->rank == 0) tct_stream_close(&o->stream); /* frees its buffers */
    if (status == TACIT_OK)
        status = tct_assembly_finish(assembly, out, duplicates);
    if (status == TACIT_OK && *duplicates > 0) status = check_sums(path, out);
    tct_assembly_destroy(&assembly);
    return tct_agree(w, status);
}

static int64_t count_diagonals(const tct_csr *A)
{
    int64_t count = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            count += tct_csr_col(A, k) == A->first + i;
    return count;
}

/* Refuse a symmetric file with both triangles, where entries are duplicates.
 * `diagonals` counts the rows with a diagonal entry. */
static tacit_status verify(const char *path, const tct_source *s,
                           int64_t duplicates, int64_t diagonals)
{
    const int64_t off_diagonal = duplicates - (s->diagonal - diagonals);
    if (off_diagonal > 0 && s->symmetric && s->below && s->above)
        FAIL(TACIT_INPUT,
             "%s: says symmetric, yet gives %lld entries on both sides of the "
             "diagonal: keep one triangle, or say that it is general",
             path, (long long)(off_diagonal / 2));
    return s->verify ? s->verify(s, duplicates) : TACIT_OK;
}

/* Read from a source: every rank assembles its rows. */
static tacit_status from_source(tacit_world *w, const char *path, opened *o,
                                tct_crew *crew, tct_csr *out,
                                tct_file_info *info)
{
    const outline *a = &o->about;
    int64_t *starts = NULL;
    tacit_status status = TCT_ALLOC(w->size + 1, "row ranges", &starts);
    status = tct_agree(w, status);
    if (status < 0) {
        tct_free(starts);
        return status;
    }
    for (int r = 0; r <= w->size; r++)
        starts[r] = tct_share(a->rows, w->size, r);
    *info = (tct_file_info){.rows = a->rows,
                            .cols = a->cols,
                            .stored = a->stored,
                            .symmetric = a->symmetric,
                            .own_rhs = a->own_rhs,
                            .field = (tct_field)a->field};
    status = assemble(w, path, o, crew, starts, out, &info->duplicates);
    tct_free(starts);
    TRY(status);
    TRY(tct_reduce_i64(w, TCT_SUM, 1, &info->duplicates));
    int64_t diagonals = 0;
    if (a->symmetric && info->duplicates > 0) {
        diagonals = count_diagonals(out);
        TRY(tct_reduce_i64(w, TCT_SUM, 1, &diagonals));
    }
    if (w->rank == 0)
        status = verify(path, o->source, info->duplicates, diagonals);
    return tct_agree(w, status);
}

static tacit_status read_opened(tacit_world *w, const char *path, opened *o,
                                tct_crew *crew, tct_csr *A, tct_file_info *info)
{
    const tct_file_format *f = tct_file_formats[o->about.format];
    if (f->read_matrix) TRY(f->read_matrix(w, path, A, info));
    else TRY(from_source(w, path, o, crew, A, info));
    info->format = f->about.name;
    info->packing = packings[o->about.packing];
    info->explicit_zeros = tct_csr_count_zeros(A);
    info->nonzeros = tct_csr_nonzeros(A);
    TRY(tct_reduce_i64(w, TCT_SUM, 1, &info->explicit_zeros));
    return tct_reduce_i64(w, TCT_SUM, 1, &info->nonzeros);
}

tacit_status tct_read_matrix(tacit_world *w, const char *path, tct_csr *out,
                             tct_file_info *info)
{
    REQUIRE(w != NULL && path != NULL && out != NULL);
    path = tct_input_path(path);
    opened o = {0};
    tct_csr A = {0};
    tct_file_info about = {0};
    tct_crew *crew = NULL;
    tacit_status status = tct_agree(w, tct_crew_create(&crew));
    if (status == TACIT_OK) status = open_all(w, path, NULL, false, crew, &o);
    if (status == TACIT_OK) status = read_opened(w, path, &o, crew, &A, &about);
    close_file(&o);
    tct_crew_destroy(&crew);
    if (status < 0) {
        tct_csr_clear(&A);
        return status;
    }
    *out = A;
    if (info) *info = about;
    return TACIT_OK;
}

/* --- vectors ------------------------------------------------------------ */

static tacit_status set_values(void *ctx, const tct_batch *batch)
{
    const tct_vectors *v = ctx;
    for (int p = 0; p < batch->count; p++)
        for (int64_t k = 0; k < batch->parts[p].count; k++) {
            const tct_entry *e = &batch->parts[p].entries[k];
            double *const x = &v->out[e->col * v->count + e->row - v->first];
            *x = *x == 0 ? e->val : *x + e->val; /* 0 + -0 would be 0 */
        }
    return TACIT_OK;
}

static tacit_status vectors_from_source(tacit_world *w, const char *path,
                                        opened *o, tct_crew *crew,
                                        tct_vectors *v)
{
    TRY(tct_agree(w, tct_vectors_room(v, path, o->about.rows, o->about.cols)));
    int64_t *starts = NULL;
    tacit_status status = TCT_ALLOC(w->size + 1, "row ranges", &starts);
    status = tct_agree(w, status);
    if (status == TACIT_OK)
        status = tct_allgather(w, sizeof v->first, &v->first, starts);
    if (status == TACIT_OK) {
        starts[w->size] = v->rows;
        for (int64_t i = 0; i < v->count * v->columns; i++) v->out[i] = 0;
        status = route(w, path, o->source, crew, starts, set_values, v);
    }
    tct_free(starts);
    return status;
}

static tacit_status read_columns(tacit_world *w, const char *path, bool guess,
                                 tct_vectors *v)
{
    path = tct_input_path(path);
    opened o = {0};
    tct_crew *crew = NULL;
    tacit_status status = tct_agree(w, tct_crew_create(&crew));
    if (status == TACIT_OK) status = open_all(w, path, v, guess, crew, &o);
    if (status == TACIT_OK) {
        const tct_file_format *f = tct_file_formats[o.about.format];
        status = f->read_vectors ? f->read_vectors(w, path, v)
                                 : vectors_from_source(w, path, &o, crew, v);
    }
    close_file(&o);
    tct_crew_destroy(&crew);
    return status;
}

tacit_status tct_read_vector(tacit_world *w, const char *path, bool guess,
                             int64_t rows, int64_t first, int64_t count,
                             double *out)
{
    REQUIRE(w != NULL && path != NULL && rows >= 0);
    REQUIRE(first >= 0 && count >= 0 && first <= rows - count);
    REQUIRE(count == 0 || out != NULL);
    tct_vectors v = {.rows = rows, .first = first, .count = count, .out = out};
    return read_columns(w, path, guess, &v);
}

tacit_status tct_read_vectors(tacit_world *w, const char *path, bool guess,
                              int64_t rows, int64_t first, int64_t count,
                              int *columns, double **out)
{
    REQUIRE(w != NULL && path != NULL && rows >= 0);
    REQUIRE(first >= 0 && count >= 0 && first <= rows - count);
    REQUIRE(columns != NULL && out != NULL);
    tct_vectors v = {
        .rows = rows, .first = first, .count = count, .many = true};
    const tacit_status status = read_columns(w, path, guess, &v);
    if (status < 0) {
        tct_free(v.out);
        return status;
    }
    *columns = v.columns;
    *out = v.out;
    return TACIT_OK;
}
