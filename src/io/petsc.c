/* SPDX-License-Identifier: BSD-3-Clause
 * io/petsc.c - PETSc's binary Mat and Vec, big-endian:
 *
 *     Mat   1211216 rows cols entries, entries of each row, columns, values
 *     Vec   1211214 rows, values
 *
 * Integers have 32 bits, or 64 if PETSc was built so; the first one shows
 * which. A file may have a Mat, its right-hand side, and further objects. The
 * type of the values is not stored: real double is inferred from where they
 * end. */
#include "io/arrays.h"
#include <stdio.h>

enum { MAT = 1211216, VEC = 1211214, FIRST_ID = 1211200, LAST_ID = 1211299 };

/* Bytes of integers in this file; 0: not PETSc's. */
static int index_width(const char *head, size_t count)
{
    for (int width = 4; width <= 8 && count >= (size_t)(2 * width);
         width += 4) {
        const uint64_t id = tct_load(head, width, true);
        if (id == MAT || id == VEC) return width;
    }
    return 0;
}

static bool petsc_probe(const char *head, size_t count)
{
    return index_width(head, count) > 0;
}

/* --- the end of an object ------------------------------------------------- */

/* An object of PETSc or SLEPc begins here: index sets, bags and others have ids
 * near those of matrices. */
static bool object_follows(const char *head, size_t count)
{
    for (int width = 4; width <= 8 && count >= (size_t)width; width += 4) {
        const uint64_t id = tct_load(head, width, true);
        if (id >= FIRST_ID && id <= LAST_ID) return true;
    }
    return false;
}

static tacit_status refuse_kind(const char *path, int64_t offset,
                                int64_t count);

static const tct_array_end end = {object_follows, refuse_kind};

static tacit_status refuse_single(const char *path, int64_t offset)
{
    FAIL(
        TACIT_INPUT,
        "%s: values in single precision (of 4 bytes, from byte %lld): write it "
        "with a PETSc of double precision",
        path, (long long)offset);
}

/* Refuse values that end correctly with 4 or 16 bytes each. */
static tacit_status refuse_kind(const char *path, int64_t offset, int64_t count)
{
    if (count == 0) return TACIT_OK;
    if (tct_array_ends_at(path, offset + 4 * count, &end))
        return refuse_single(path, offset);
    if (!tct_array_ends_at(path, offset + 16 * count, &end)) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: complex values (of 16 bytes, from byte %lld): only real systems "
         "are solved here: write it with a PETSc of real scalars",
         path, (long long)offset);
}

/* --- headers -------------------------------------------------------------- */

/* Read `count` integers into `out`. */
static tacit_status read_words(const tct_input *in, int width, int count,
                               int64_t *out)
{
    char raw[4 * 8];
    TRY(tct_read_exactly(in->path, in->stream, raw, (size_t)(count * width),
                         "its header"));
    for (int k = 0; k < count; k++) {
        const uint64_t x = tct_load(raw + k * width, width, true);
        out[k] = width == 4 ? (int32_t)(uint32_t)x : (int64_t)x;
    }
    return TACIT_OK;
}

typedef struct {
    int width;
    int64_t id, rows, cols, entries;
    int64_t offset; /* end of the header */
} header;

/* Read the sizes of the object at byte `at`, after its id. */
static tacit_status read_sizes(const tct_input *in, int64_t at, header *h)
{
    int64_t word[3] = {0};
    if (h->id != MAT && h->id != VEC)
        FAIL(TACIT_INPUT, "%s: holds neither a Mat nor a Vec at byte %lld",
             in->path, (long long)at);
    const int more = h->id == MAT ? 3 : 1;
    TRY(read_words(in, h->width, more, word));
    h->rows = word[0];
    h->cols = h->id == MAT ? word[1] : 1;
    h->entries = h->id == MAT ? word[2] : word[0];
    h->offset = at + (1 + more) * h->width;
    if (h->entries == -1 && h->id == MAT)
        FAIL(TACIT_INPUT, "%s: a dense matrix: write it as sparse (MATAIJ)",
             in->path);
    return TACIT_OK;
}

static tacit_status read_header(const tct_input *in, header *h)
{
    TRY(read_words(in, h->width, 1, &h->id));
    return read_sizes(in, 0, h);
}

/* Offset of the values. */
static int64_t values_at(const header *h)
{
    const int64_t lengths = h->id == MAT ? h->rows : 0;
    const int64_t columns = h->id == MAT ? h->entries : 0;
    return h->offset + (lengths + columns) * h->width;
}

static int64_t ends_at(const header *h)
{
    return values_at(h) + 8 * h->entries;
}

/* A Vec with as many rows begins at byte `at`. */
static bool vector_at(const tct_input *in, const header *h, int64_t at)
{
    char head[2 * 8];
    size_t got = 0;
    tct_stream *s = NULL;
    tacit_status status = tct_stream_open(in->path, &s);
    if (status == TACIT_OK) status = tct_stream_skip(s, at);
    if (status == TACIT_OK)
        status = tct_stream_read(s, head, (size_t)(2 * h->width), &got);
    tct_stream_close(&s);
    return status == TACIT_OK && got == (size_t)(2 * h->width) &&
           tct_load(head, h->width, true) == VEC &&
           tct_load(head + h->width, h->width, true) == (uint64_t)h->rows;
}

/* A Mat in single precision with its Vec may be as long as one of doubles. */
static bool single_with_vector(const tct_input *in, const header *h)
{
    return h->id == MAT && 4 * h->entries == 2 * h->width + 4 * h->rows &&
           vector_at(in, h, values_at(h) + 4 * h->entries);
}

/* If the file's length is known: refuse values of another type, and a wrong
 * length. */
static tacit_status check_end(const tct_input *in, const header *h)
{
    const int64_t most = INT64_MAX / 64, bytes = tct_stream_limit(in->stream);
    const bool sizes =
        h->rows >= 0 && h->rows < most && h->entries >= 0 && h->entries < most;
    if (sizes && single_with_vector(in, h))
        return refuse_single(in->path, values_at(h));
    if (!sizes || !tct_stream_seekable(in->stream) || bytes == ends_at(h))
        return TACIT_OK;
    if (bytes > ends_at(h) && tct_array_ends_at(in->path, ends_at(h), &end))
        return TACIT_OK;
    TRY(refuse_kind(in->path, values_at(h), h->entries));
    if (bytes > ends_at(h)) return tct_array_goes_on(in->path, ends_at(h));
    return TACIT_OK; /* check_header reports it */
}

static tacit_status check_header(const tct_input *in, const header *h)
{
    const tct_source s = {.rows = h->rows,
                          .cols = h->cols,
                          .stored = h->entries,
                          .most = h->entries,
                          .unique = true};
    const int64_t limit = tct_stream_limit(in->stream);
    const int64_t each = 8 + (h->id == MAT ? h->width : 0);
    TRY(check_end(in, h));
    TRY(tct_check_sizes(in->path, in, &s,
                        limit == INT64_MAX ? limit : limit / each));
    if (!tct_stream_seekable(in->stream) || limit >= ends_at(h))
        return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: has %lld bytes where its header needs %lld: it is cut short",
         in->path, (long long)limit, (long long)ends_at(h));
}

/* Skip the Mat before the wanted Vec. */
static tacit_status find_vector(const tct_input *in, header *h)
{
    const header mat = *h;
    size_t count = 0;
    char head[8];
    TRY(check_header(in, &mat));
    TRY(tct_stream_skip(in->stream, ends_at(&mat) - mat.offset));
    TRY(tct_stream_read(in->stream, head, (size_t)mat.width, &count));
    if (count == 0)
        FAIL(TACIT_INPUT,
             "%s: holds a matrix without a right-hand side: give another file",
             in->path);
    if (!object_follows(head, count)) {
        TRY(refuse_kind(in->path, values_at(&mat), mat.entries));
        return tct_array_goes_on(in->path, ends_at(&mat));
    }
    h->id = (int64_t)tct_load(head, mat.width, true);
    return read_sizes(in, ends_at(&mat), h);
}

static tacit_status open_matrix(const tct_input *in, const header *h,
                                tct_source **out)
{
    static const char *const what[] = {"the row lengths", "the columns",
                                       "the values"};
    const int64_t counts[] = {h->rows, h->entries, h->entries};
    tct_array a[3] = {{0}};
    int64_t offset = h->offset;
    tacit_status status = TACIT_OK;
    for (int k = 0; k < 3 && status == TACIT_OK; k++) {
        a[k].count = counts[k];
        a[k].kind = k < 2 ? 'i' : 'f';
        a[k].width = k < 2 ? h->width : 8;
        a[k].big = true;
        status = tct_array_open(in->path, what[k], offset, &a[k]);
        offset += counts[k] * a[k].width;
    }
    if (status < 0) {
        for (int k = 0; k < 3; k++) tct_array_close(&a[k]);
        return status;
    }
    const tct_arrays_shape shape = {.rows = h->rows,
                                    .cols = h->cols,
                                    .entries = h->entries,
                                    .kind = TCT_BY_LENGTH,
                                    .unique = true};
    tct_array_ends(&a[2], values_at(h), &end);
    TRY(tct_arrays_source(in, &shape, a, out));
    (*out)->own_rhs =
        tct_stream_seekable(in->stream) && vector_at(in, h, ends_at(h));
    return TACIT_OK;
}

static tacit_status petsc_open(const tct_input *in, tct_source **out)
{
    size_t count;
    const char *head = tct_stream_head(in->stream, &count);
    header h = {.width = index_width(head, count)};
    TRY(read_header(in, &h));
    if (in->vector && h.id == MAT && h.cols != 1) TRY(find_vector(in, &h));
    TRY(check_header(in, &h));
    if (h.id == MAT) return open_matrix(in, &h, out);
    tct_array a = {.count = h.rows, .kind = 'f', .width = 8, .big = true};
    TRY(tct_array_open(in->path, "the values", h.offset, &a));
    tct_array_ends(&a, h.offset, &end);
    return tct_dense_source(in, h.rows, 1, true, &a, out);
}

/* --- writing ------------------------------------------------------------ */

static tacit_status write_words(tct_sink *s, int width, int count,
                                const int64_t *words)
{
    char raw[4 * 8];
    for (int k = 0; k < count; k++)
        tct_store(raw + k * width, width, true, (uint64_t)words[k]);
    return tct_sink_write(s, raw, (size_t)(count * width));
}

static tacit_status petsc_write_matrix(tct_sink *s, const tct_csr *A,
                                       const tct_write_options *options)
{
    (void)options;
    const int64_t nonzeros = tct_csr_nonzeros(A);
    int64_t total = nonzeros;
    TRY(tct_reduce_i64(tct_sink_world(s), TCT_SUM, 1, &total));
    const bool wide = total > INT32_MAX || A->global_rows > INT32_MAX ||
                      A->global_cols > INT32_MAX;
    const int64_t words[] = {MAT, A->global_rows, A->global_cols, total};
    const int width = wide ? 8 : 4;
    TRY(write_words(s, width, 4, words));
    static const tct_make_kind kinds[] = {TCT_MAKE_LENGTHS, TCT_MAKE_COLUMNS,
                                          TCT_MAKE_VALUES};
    for (int k = 0; k < 3; k++) {
        tct_maker p = {.kind = kinds[k],
                       .A = A,
                       .x = A->val,
                       .width = width,
                       .big = true,
                       .count = k == 0 ? A->rows : nonzeros};
        TRY(tct_sink_gather(s, tct_make_elements, &p));
    }
    return TACIT_OK;
}

static tacit_status petsc_write_vectors(tct_sink *s, int64_t rows,
                                        int64_t count, int columns,
                                        const double *x, int64_t stride)
{
    (void)columns; /* always 1 */
    (void)stride;
    const int64_t words[] = {VEC, rows};
    TRY(write_words(s, rows > INT32_MAX ? 8 : 4, 2, words));
    tct_maker p = {
        .kind = TCT_MAKE_VALUES, .x = x, .big = true, .count = count};
    return tct_sink_gather(s, tct_make_elements, &p);
}

const tct_file_format tct_file_petsc = {
    .about = {.name = "petsc",
              .summary = "PETSc binary Mat or Vec, 32- or 64-bit indices",
              .told_by = "the number 1211216 or 1211214",
              .suffixes = {".petsc", ".bin", ".dat"},
              .reads_matrix = true,
              .writes_matrix = true,
              .reads_vector = true,
              .writes_vector = true},
    .probe = petsc_probe,
    .again = true,
    .open = petsc_open,
    .write_matrix = petsc_write_matrix,
    .write_vectors = petsc_write_vectors,
};
