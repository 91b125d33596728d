/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/io/npz.c - what scipy.sparse.save_npz writes: a zip archive with one
 * .npy for each part of the matrix.
 *
 *     format.npy   'csr', 'csc' or 'coo'       shape.npy   two integers
 *     csr, csc     indptr.npy indices.npy data.npy
 *     coo          row.npy col.npy data.npy */
#include "matrix/io/npy.h"
#include "matrix/io/zip.h"
#include <stdio.h>
#include <string.h>

enum { MEMBERS = 16 };

static bool npz_probe(const char *head, size_t count)
{
    return count >= 4 && memcmp(head, "PK\3\4", 4) == 0;
}

/* The archive's directory, kept while its members are read. */
typedef struct {
    const char *path;
    tct_zip_entry entry[MEMBERS];
    int count;
} directory;

/* A member as an array; it owns its own copy of the directory entry. */
typedef struct {
    tct_zip_entry entry;
    tct_member *member;
} member_array;

static tacit_status member_read(void *ctx, const char *what, void *out,
                                size_t bytes)
{
    return tct_member_read(((member_array *)ctx)->member, what, out, bytes);
}

static tacit_status member_finish(void *ctx)
{
    return tct_member_finish(((member_array *)ctx)->member);
}

static void member_close(void *ctx)
{
    member_array *m = ctx;
    tct_member_close(&m->member);
    tct_free(m);
}

static const tct_zip_entry *find(const directory *d, const char *name)
{
    for (int k = 0; k < d->count; k++)
        if (strcmp(d->entry[k].name, name) == 0) return &d->entry[k];
    return NULL;
}

static tacit_status open_array(const directory *d, const char *name, tct_npy *h,
                               tct_array *a)
{
    const tct_zip_entry *e = find(d, name);
    if (!e)
        FAIL(TACIT_INPUT,
             "%s: has no member %s: save it with "
             "scipy.sparse.save_npz",
             d->path, name);
    member_array *m = tct_calloc(sizeof *m);
    if (!m) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", d->path);
    m->entry = *e;
    a->path = d->path;
    a->what = name;
    a->ctx = m;
    a->read = member_read;
    a->finish = member_finish;
    a->close = member_close;
    TRY(tct_member_open(d->path, &m->entry, &m->member));
    TRY(tct_npy_header(d->path, name, member_read, m, h, a));
    const int64_t size = m->entry.size - h->bytes;
    if (a->width > 0 && (size % a->width != 0 || size / a->width != a->count))
        FAIL(TACIT_INPUT,
             "%s: %s holds %lld bytes where its shape needs %lld "
             "elements of %d: the file is damaged",
             d->path, name, (long long)size, (long long)a->count, a->width);
    return TACIT_OK;
}

/* An array of numbers of one dimension. */
static tacit_status open_numbers(const directory *d, const char *name,
                                 tct_array *a)
{
    tct_npy h = {0};
    TRY(open_array(d, name, &h, a));
    const bool whole = a->kind == 'i' || a->kind == 'u';
    const bool known = a->width == 8 || a->width == 4 ||
                       (whole && (a->width == 2 || a->width == 1));
    if ((!whole && a->kind != 'f') || !known || h.dims != 1)
        FAIL(TACIT_INPUT,
             "%s: %s has type %c%d in %d dimensions: use float64 "
             "values and int32 or int64 indices",
             d->path, name, a->kind, a->width, h.dims);
    return TACIT_OK;
}

/* The word in format.npy: bytes (S3) or UTF-32 (U3). */
static tacit_status read_format(const directory *d, char *out, int room)
{
    tct_npy h = {0};
    tct_array a = {0};
    tacit_status status = open_array(d, "format.npy", &h, &a);
    char raw[64] = {0};
    const int step = a.kind == 'U' ? 4 : 1, bytes = a.width;
    const bool word = a.kind == 'U' || a.kind == 'S';
    if (status == TACIT_OK && (!word || bytes > (int)sizeof raw || h.dims != 0))
        status = tct_fail(TACIT_INPUT,
                          "%s: format.npy is no word such as 'csr': save the "
                          "matrix with scipy.sparse.save_npz",
                          d->path);
    if (status == TACIT_OK) status = a.read(a.ctx, a.what, raw, (size_t)bytes);
    tct_array_close(&a);
    for (int k = 0; k < room; k++)
        out[k] = k * step < bytes && k + 1 < room
                     ? raw[k * step + (a.big && step == 4 ? 3 : 0)]
                     : '\0';
    return status;
}

static tacit_status read_shape(const directory *d, int64_t shape[2])
{
    tct_array a = {0};
    tacit_status status = open_numbers(d, "shape.npy", &a);
    if (status == TACIT_OK && a.count != 2)
        status = tct_fail(TACIT_INPUT, "%s: %lld dimensions instead of 2",
                          d->path, (long long)a.count);
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

static tacit_status open_matrix(const tct_input *in, const directory *d,
                                const layout *l, tct_source **out)
{
    tct_array a[3] = {{0}};
    int64_t size[2] = {0};
    tacit_status status = read_shape(d, size);
    for (int k = 0; k < 3 && status == TACIT_OK; k++)
        status = open_numbers(d, l->members[k], &a[k]);
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
    directory d = {.path = in->path};
    TRY(tct_zip_list(in->path, d.entry, MEMBERS, &d.count));
    char name[16];
    TRY(read_format(&d, name, sizeof name));
    for (int k = 0; k < LAYOUTS; k++)
        if (strcmp(name, layouts[k].name) == 0)
            return open_matrix(in, &d, &layouts[k], out);
    for (char *p = name; *p; p++) *p = *p < 32 || *p > 126 ? '?' : *p;
    FAIL(TACIT_INPUT,
         "%s: sparse format '%s': save it as csr, csc or coo "
         "(A.tocsr())",
         in->path, name);
}

/* --- writing ------------------------------------------------------------ */

typedef struct {
    const tct_csr *A;
    int part;      /* indptr, indices, data */
    int width;     /* of indices */
    int64_t start; /* entries of the ranks before */
    int64_t at, count;
} writer;

static size_t make_elements(void *ctx, char *out, size_t room)
{
    writer *p = ctx;
    const int width = p->part == 2 ? 8 : p->width;
    const int64_t most = (int64_t)room / width, left = p->count - p->at;
    const int64_t n = left < most ? left : most;
    for (int64_t k = 0; k < n; k++, p->at++, out += width) {
        if (p->part == 2) tct_store_double(out, false, p->A->val[p->at]);
        else
            tct_store(out, width, false,
                      (uint64_t)(p->part == 1
                                     ? tct_csr_col(p->A, p->at)
                                     : p->start + p->A->ptr[p->at + 1]));
    }
    return (size_t)n * (size_t)width;
}

/* A member with `lead` [lead_bytes] and then what the writer makes. */
static tacit_status write_member(tct_sink *s, const char *name,
                                 const char *type, const char *dims,
                                 const void *lead, size_t lead_bytes, writer *p,
                                 int64_t gathered, tct_zip_entry *entry)
{
    char head[TCT_NPY_HEAD];
    tct_npy_print(head, type, dims);
    TRY(tct_zip_begin(s, name, TCT_NPY_HEAD + (int64_t)lead_bytes + gathered,
                      entry));
    TRY(tct_sink_write(s, head, sizeof head));
    if (lead_bytes > 0) TRY(tct_sink_write(s, lead, lead_bytes));
    if (p) TRY(tct_sink_gather(s, make_elements, p));
    return tct_zip_end(s, entry);
}

/* Entries on the ranks before this one, and on all. */
static tacit_status count_entries(tacit_world *w, int64_t mine, int64_t *before,
                                  int64_t *total)
{
    int64_t *all = NULL;
    const tacit_status status = TCT_ALLOC(w->size, "counts of entries", &all);
    TRY(tct_agree(w, status));
    const tacit_status gathered = tct_allgather(w, sizeof mine, &mine, all);
    *before = *total = 0;
    for (int r = 0; r < w->size && gathered == TACIT_OK; r++) {
        if (r < w->rank) *before += all[r];
        *total += all[r];
    }
    tct_free(all);
    return gathered;
}

static tacit_status npz_write_matrix(tct_sink *s, const tct_csr *A,
                                     const tct_write_options *options)
{
    static const char *const names[] = {"indptr.npy", "indices.npy",
                                        "data.npy"};
    (void)options;
    tct_zip_entry entry[5];
    writer p = {.A = A};
    int64_t total;
    TRY(count_entries(tct_sink_world(s), tct_csr_nonzeros(A), &p.start,
                      &total));
    p.width = total > INT32_MAX || A->global_cols > INT32_MAX ? 8 : 4;
    const char zero[8] = {0};
    for (p.part = 0; p.part < 3; p.part++) {
        const int width = p.part == 2 ? 8 : p.width;
        const int64_t n = p.part == 0 ? A->global_rows : total;
        p.at = 0;
        p.count = p.part == 0 ? A->rows : tct_csr_nonzeros(A);
        char dims[32];
        snprintf(dims, sizeof dims, "(%lld,)", (long long)(n + (p.part == 0)));
        const char *type = p.part == 2 ? "<f8" : p.width == 8 ? "<i8" : "<i4";
        TRY(write_member(s, names[p.part], type, dims, zero,
                         p.part == 0 ? (size_t)width : 0, &p, n * width,
                         &entry[p.part]));
    }
    char shape[16];
    tct_store(shape, 8, false, (uint64_t)A->global_rows);
    tct_store(shape + 8, 8, false, (uint64_t)A->global_cols);
    TRY(write_member(s, "shape.npy", "<i8", "(2,)", shape, 16, NULL, 0,
                     &entry[3]));
    TRY(write_member(s, "format.npy", "|S3", "()", "csr", 3, NULL, 0,
                     &entry[4]));
    return tct_zip_directory(s, entry, 5);
}

const tct_file_format tct_file_npz = {
    .about = {.name = "npz",
              .summary = "scipy.sparse.save_npz: csr, csc or coo",
              .told_by = "PK\\3\\4 (a zip archive)",
              .suffixes = {".npz"},
              .reads_matrix = true,
              .writes_matrix = true,
              .reads_vector = true},
    .probe = npz_probe,
    .seeks = true,
    .open = npz_open,
    .write_matrix = npz_write_matrix,
};
