/* SPDX-License-Identifier: BSD-3-Clause
 * io/read.c - reads matrices and vectors: recognizes the format and assembles
 * rows of the entries, which distribute.c sends to their owners.
 *
 *     rank 0:   file -> stream -> source -> batch -> sorted by owner --+
 *     all:      agree, sizes, all-to-all  <---------------------------+
 *               -> assembly -> rows
 *
 * Ranks agree on the status once per batch, so an error in the file (rank 0) or
 * lack of memory (any rank) ends all of them. */
#include "device/parallel.h"
#include "io/assembly.h"
#include "io/distribute.h"
#include "io/input.h"
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
                      (f->again && tct_stream_is_pipe(o->stream));
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
        status = tct_distribute_entries(w, path, o->source, crew, starts,
                                        add_entries, assembly);
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
    ENSURE(w != NULL && path != NULL && out != NULL);
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
        status = tct_distribute_entries(w, path, o->source, crew, starts,
                                        set_values, v);
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
    ENSURE(w != NULL && path != NULL && rows >= 0);
    ENSURE(first >= 0 && count >= 0 && first <= rows - count);
    ENSURE(count == 0 || out != NULL);
    tct_vectors v = {.rows = rows, .first = first, .count = count, .out = out};
    return read_columns(w, path, guess, &v);
}

tacit_status tct_read_vectors(tacit_world *w, const char *path, bool guess,
                              int64_t rows, int64_t first, int64_t count,
                              int *columns, double **out)
{
    ENSURE(w != NULL && path != NULL && rows >= 0);
    ENSURE(first >= 0 && count >= 0 && first <= rows - count);
    ENSURE(columns != NULL && out != NULL);
    tct_vectors v = {
        .rows = rows, .first = first, .count = count, .many = true};
    const tacit_status status = read_columns(w, path, guess, &v);
    *columns = v.columns;
    if (status < 0) {
        tct_free(v.out);
        return status;
    }
    *out = v.out;
    return TACIT_OK;
}
