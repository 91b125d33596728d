/* SPDX-License-Identifier: BSD-3-Clause
 * io/npz.c - files of scipy.sparse.save_npz: a zip archive with a .npy for each
 * part of the matrix.
 *
 *     format.npy   'csr', 'csc' or 'coo'       shape.npy   two integers
 *     csr, csc     indptr.npy indices.npy data.npy
 *     coo          row.npy col.npy data.npy, or coords.npy (2 x entries) for
 *                  the first two */
#include "io/npy.h"
#include "io/zip.h"
#include <stdio.h>
#include <string.h>

static bool npz_probe(const char *head, size_t count)
{
    return count >= 4 && memcmp(head, "PK\3\4", 4) == 0;
}

static tacit_status open_array(const char *path, const char *name, tct_npy *h,
                               tct_array *a)
{
    int64_t bytes;
    TRY(tct_zip_array(path, name, a, &bytes));
    TRY(tct_npy_header(path, name, a->read, a->ctx, h, a));
    const int64_t size = bytes - h->bytes;
    if (a->width > 0 && (size % a->width != 0 || size / a->width != a->count))
        FAIL(TACIT_INPUT,
             "%s: %s holds %lld bytes where its shape needs %lld "
             "elements of %d: the file is damaged",
             path, name, (long long)size, (long long)a->count, a->width);
    return TACIT_OK;
}

/* Open an array of numbers of `dims` dimensions. */
static tacit_status open_numbers_of(const char *path, const char *name,
                                    int dims, tct_npy *h, tct_array *a)
{
    TRY(open_array(path, name, h, a));
    const bool whole = a->kind == 'i' || a->kind == 'u';
    const bool known = a->width == 8 || a->width == 4 ||
                       (whole && (a->width == 2 || a->width == 1));
    if ((!whole && a->kind != 'f') || !known || h->dims != dims)
        FAIL(TACIT_INPUT,
             "%s: %s has type %c%d in %d dimensions: use float64 "
             "values and int32 or int64 indices",
             path, name, a->kind, a->width, h->dims);
    return TACIT_OK;
}

static tacit_status open_numbers(const char *path, const char *name,
                                 tct_array *a)
{
    tct_npy h = {0};
    return open_numbers_of(path, name, 1, &h, a);
}

/* Open row `k` of the 2 rows of coords.npy. */
static tacit_status open_coords(const char *path, int k, tct_array *a)
{
    char skipped[4096];
    tct_npy h = {0};
    TRY(open_numbers_of(path, "coords.npy", 2, &h, a));
    if (h.shape[0] != 2 || h.fortran)
        FAIL(TACIT_INPUT,
             "%s: coords.npy is no C array of 2 rows: save the matrix with "
             "scipy.sparse.save_npz",
             path);
    a->count = h.shape[1];
    if (k == 0) a->finish = NULL; /* more follows */
    size_t left = k == 0 ? 0 : (size_t)(a->count * a->width);
    while (left > 0) {
        const size_t n = left < sizeof skipped ? left : sizeof skipped;
        TRY(a->read(a->ctx, a->what, skipped, n));
        left -= n;
    }
    return TACIT_OK;
}

/* Read the word in format.npy: bytes (S3) or UTF-32 (U3). */
static tacit_status read_format(const char *path, char *out, int room)
{
    tct_npy h = {0};
    tct_array a = {0};
    tacit_status status = open_array(path, "format.npy", &h, &a);
    char raw[64] = {0};
    const int step = a.kind == 'U' ? 4 : 1, bytes = a.width;
    const bool word = a.kind == 'U' || a.kind == 'S';
    if (status == TACIT_OK && (!word || bytes > (int)sizeof raw || h.dims != 0))
        status =
            tacit_error_set(TACIT_INPUT,
                            "%s: format.npy is no word such as 'csr': save the "
                            "matrix with scipy.sparse.save_npz",
                            path);
    if (status == TACIT_OK) status = a.read(a.ctx, a.what, raw, (size_t)bytes);
    tct_array_close(&a);
    for (int k = 0; k < room; k++)
        out[k] = k * step < bytes && k + 1 < room
                     ? raw[k * step + (a.big && step == 4 ? 3 : 0)]
                     : '\0';
    return status;
}

static tacit_status read_shape(const char *path, int64_t shape[2])
{
    tct_array a = {0};
    tacit_status status = open_numbers(path, "shape.npy", &a);
    if (status == TACIT_OK && a.count != 2)
        status =
            tacit_error_set(TACIT_INPUT, "%s: %lld dimensions instead of 2",
                            path, (long long)a.count);
    if (status == TACIT_OK) status = tct_array_ints(&a, shape, 2);
    tct_array_close(&a);
    return status;
}

typedef struct {
    const char *name;
    const char *members[3];
    tct_line_kind kind;
    bool by_column;
} layout;

static const layout layouts[] = {
    {"csr", {"indptr.npy", "indices.npy", "data.npy"}, TCT_BY_START, false},
    {"csc", {"indptr.npy", "indices.npy", "data.npy"}, TCT_BY_START, true},
    {"coo", {"row.npy", "col.npy", "data.npy"}, TCT_BY_INDEX, false},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static tacit_status check_counts(const tct_input *in, const layout *l,
                                 const tct_arrays_shape *shape,
                                 const tct_array a[3])
{
    const tct_source s = {.rows = shape->rows,
                          .cols = shape->cols,
                          .stored = shape->entries,
                          .most = shape->entries};
    TRY(tct_check_sizes(in->path, in, &s, INT64_MAX));
    const int64_t lines = shape->by_column ? shape->cols : shape->rows;
    const int64_t first = l->kind == TCT_BY_START ? lines + 1 : shape->entries;
    if (a[0].count == first && a[1].count == shape->entries) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: %s has %lld and %s %lld elements, a %lld x %lld matrix with %lld "
         "values needs %lld and %lld: the file is damaged",
         in->path, l->members[0], (long long)a[0].count, l->members[1],
         (long long)a[1].count, (long long)shape->rows, (long long)shape->cols,
         (long long)shape->entries, (long long)first,
         (long long)shape->entries);
}

static bool has_coords(const char *path)
{
    tct_array a = {0};
    int64_t bytes;
    const tacit_status status = tct_zip_array(path, "coords.npy", &a, &bytes);
    tct_array_close(&a);
    return status == TACIT_OK;
}

static tacit_status open_matrix(const tct_input *in, const layout *l,
                                tct_source **out)
{
    tct_array a[3] = {{0}};
    int64_t size[2] = {0};
    const bool coords = l->kind == TCT_BY_INDEX && has_coords(in->path);
    tacit_status status = read_shape(in->path, size);
    for (int k = 0; k < 3 && status == TACIT_OK; k++)
        status = coords && k < 2 ? open_coords(in->path, k, &a[k])
                                 : open_numbers(in->path, l->members[k], &a[k]);
    tct_arrays_shape shape = {.rows = size[0],
                              .cols = size[1],
                              .entries = a[2].count,
                              .kind = l->kind,
                              .by_column = l->by_column,
                              .field = a[2].kind == 'f' ? TCT_FIELD_REAL
                                                        : TCT_FIELD_INTEGER};
    if (status == TACIT_OK) status = check_counts(in, l, &shape, a);
    if (status == TACIT_OK) return tct_arrays_source(in, &shape, a, out);
    for (int k = 0; k < 3; k++) tct_array_close(&a[k]);
    return status;
}

static tacit_status npz_open(const tct_input *in, tct_source **out)
{
    char name[16];
    TRY(read_format(in->path, name, sizeof name));
    for (int k = 0; k < LAYOUTS; k++)
        if (strcmp(name, layouts[k].name) == 0)
            return open_matrix(in, &layouts[k], out);
    for (char *p = name; *p; p++) *p = *p < 32 || *p > 126 ? '?' : *p;
    FAIL(TACIT_INPUT,
         "%s: sparse format '%s': save it as csr, csc or coo "
         "(A.tocsr())",
         in->path, name);
}

/* --- writing ------------------------------------------------------------ */

/* A member: its header on rank 0, then each rank's elements. */
typedef struct {
    char lead[TCT_NPY_HEAD + 16];
    size_t lead_bytes; /* still to write, on rank 0 */
    tct_maker elements;
} writer;

static size_t make_member(void *ctx, char *out, size_t room)
{
    writer *p = ctx;
    const size_t bytes = p->lead_bytes;
    if (bytes == 0)
        return p->elements.count == 0
                   ? 0
                   : tct_make_elements(&p->elements, out, room);
    memcpy(out, p->lead, bytes);
    p->lead_bytes = 0;
    return bytes;
}

/* The member `name`: NumPy's header, `first` [bytes], and the elements of `p`,
 * `more` bytes over all ranks. */
static tct_zip_part part(const tct_sink *s, const char *name, const char *type,
                         const char *dims, const void *first, size_t bytes,
                         int64_t more, writer *p)
{
    const size_t lead = TCT_NPY_HEAD + bytes;
    tct_npy_print(p->lead, type, dims, false);
    memcpy(p->lead + TCT_NPY_HEAD, first, bytes);
    if (tct_sink_world(s)->rank == 0) p->lead_bytes = lead;
    return (tct_zip_part){name, (int64_t)lead + more, make_member, p};
}

static tacit_status npz_write_matrix(tct_sink *s, const tct_csr *A,
                                     const tct_write_options *options)
{
    static const char *const names[] = {"indptr.npy", "indices.npy",
                                        "data.npy"};
    static const tct_make_kind kinds[] = {TCT_MAKE_ENDS, TCT_MAKE_COLUMNS,
                                          TCT_MAKE_VALUES};
    (void)options;
    writer p[5];
    memset(p, 0, sizeof p);
    tct_zip_part parts[5];
    const int64_t mine = tct_csr_nonzeros(A);
    int64_t before, total;
    TRY(tct_count_before(tct_sink_world(s), mine, &before, &total));
    const int wide = total > INT32_MAX || A->global_cols > INT32_MAX ? 8 : 4;
    const char zero[8] = {0};
    for (int k = 0; k < 3; k++) {
        const int width = k == 2 ? 8 : wide;
        const int64_t n = k == 0 ? A->global_rows : total;
        p[k].elements = (tct_maker){.kind = kinds[k],
                                    .A = A,
                                    .x = A->val,
                                    .width = wide,
                                    .before = before,
                                    .count = k == 0 ? A->rows : mine};
        char dims[32];
        snprintf(dims, sizeof dims, "(%lld,)", (long long)(n + (k == 0)));
        const char *type = k == 2 ? "<f8" : wide == 8 ? "<i8" : "<i4";
        parts[k] = part(s, names[k], type, dims, zero,
                        k == 0 ? (size_t)width : 0, n * width, &p[k]);
    }
    char shape[16];
    tct_store(shape, 8, false, (uint64_t)A->global_rows);
    tct_store(shape + 8, 8, false, (uint64_t)A->global_cols);
    parts[3] = part(s, "shape.npy", "<i8", "(2,)", shape, 16, 0, &p[3]);
    parts[4] = part(s, "format.npy", "|S3", "()", "csr", 3, 0, &p[4]);
    return tct_zip_write(s, parts, 5);
}

const tct_file_format tct_file_npz = {
    .about = {.name = "npz",
              .summary = "scipy.sparse.save_npz: csr, csc or coo",
              .told_by = "PK\\3\\4 (a zip archive)",
              .suffixes = {".npz"},
              .reason = TCT_ZIP_MISSING,
              .reads_matrix = true,
              .writes_matrix = true,
              .reads_vector = true,
              .reads_vectors = true},
    .probe = npz_probe,
    .seeks = true,
    .open = npz_open,
    .write_matrix = npz_write_matrix,
};
