/* SPDX-License-Identifier: BSD-3-Clause
 * io/write.c - writes a file in the format that its name or option gives. */
#include "io/format.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool writes(const tct_file_format *f, bool vector)
{
    return vector ? f->write_vectors != NULL : f->write_matrix != NULL;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcasecmp(text + n - m, end) == 0;
}

static tacit_status by_name(const char *name, bool vector,
                            const tct_file_format **out)
{
    const char *names[TCT_FILE_FORMAT_COUNT];
    size_t count = 0;
    for (int f = 0; f < TCT_FILE_FORMAT_COUNT; f++) {
        if (!writes(tct_file_formats[f], vector)) continue;
        names[count++] = tct_file_formats[f]->about.name;
        *out = tct_file_formats[f];
        if (strcmp(name, tct_file_formats[f]->about.name) == 0) return TACIT_OK;
    }
    const char *near = tct_nearest(name, names, count);
    FAIL(TACIT_INVALID, "no format '%s' to write a %s in%s%s%s", name,
         vector ? "vector" : "matrix", near ? ": did you mean '" : "",
         near ? near : "", near ? "'?" : "");
}

/* Text may be packed: "name.mtx.gz". */
static bool packed(const char *path)
{
    return ends_with(path, ".gz");
}

static bool has_suffix(const tct_file_format *f, const char *path,
                       const char *suffix)
{
    char both[24];
    if (!packed(path)) return ends_with(path, suffix);
    snprintf(both, sizeof both, "%s.gz", suffix);
    return f->about.may_pack && ends_with(path, both);
}

/* Standard output, /dev/null or a pipe: its name is given. */
static bool has_no_suffix(const char *path)
{
    struct stat about;
    return tct_sink_descriptor(path) >= 0 ||
           (stat(path, &about) == 0 && !S_ISREG(about.st_mode) &&
            !S_ISDIR(about.st_mode));
}

static tacit_status by_suffix(const char *path, bool vector,
                              const tct_file_format **out)
{
    for (int f = 0; f < TCT_FILE_FORMAT_COUNT; f++) {
        *out = tct_file_formats[f];
        for (const char *const *s = tct_file_formats[f]->about.suffixes; *s;
             s++)
            if (writes(tct_file_formats[f], vector) &&
                has_suffix(tct_file_formats[f], path, *s))
                return TACIT_OK;
    }
    *out = &tct_file_matrix_market;
    if (has_no_suffix(path)) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "%s: its name does not tell a format to write a %s in: let it end in "
         ".mtx, .mtx.gz, .tacit, .petsc or .np%c",
         path, vector ? "vector" : "matrix", vector ? 'y' : 'z');
}

tacit_status tct_count_before(tacit_world *w, int64_t mine, int64_t *before,
                              int64_t *total)
{
    int64_t *all = NULL;
    tacit_status status = TCT_ALLOC(w->size, "counts", &all);
    status = tct_agree(w, status);
    if (status == TACIT_OK) status = tct_allgather(w, sizeof mine, &mine, all);
    *before = *total = 0;
    for (int r = 0; r < w->size && status == TACIT_OK; r++) {
        *before += r < w->rank ? all[r] : 0;
        *total += all[r];
    }
    tct_free(all);
    return status;
}

static const tct_write_options none = {0};

/* `vectors` 0: a matrix. */
static tacit_status choose(tacit_world *w, const char *path,
                           const tct_write_options *options, int vectors,
                           const tct_file_format **out)
{
    TRY(tct_sink_agree(w, path)); /* before errors that depend on the name */
    TRY(options->format ? by_name(options->format, vectors > 0, out)
                        : by_suffix(path, vectors > 0, out));
    if (vectors > 1 && !(*out)->about.writes_vectors)
        FAIL(TACIT_INVALID,
             "%s: a file of format '%s' holds one vector, and several are to "
             "be written: let its name end in .mtx, .mtx.gz, .npy or .tacit",
             path, (*out)->about.name);
    return tct_check_missing(path, *out);
}

tacit_status tct_write_matrix(tacit_world *w, const char *path,
                              const tct_write_options *options,
                              const tct_csr *A)
{
    ENSURE(w != NULL && path != NULL && A != NULL && A->ptr != NULL);
    const tct_write_options *o = options ? options : &none;
    const tct_file_format *f = NULL;
    tct_sink *s = NULL;
    TRY(choose(w, path, o, 0, &f));
    TRY(tct_sink_open(w, path, f->about.may_pack && packed(path), &s));
    tacit_status status = f->write_matrix(s, A, o);
    if (status == TACIT_OK) status = tct_sink_commit(s);
    tct_sink_close(&s);
    return status;
}

tacit_status tct_write_vector(tacit_world *w, const char *path,
                              const tct_write_options *options, int64_t rows,
                              int64_t count, const double *x)
{
    return tct_write_vectors(w, path, options, rows, count, 1, x, count);
}

tacit_status tct_write_vectors(tacit_world *w, const char *path,
                               const tct_write_options *options, int64_t rows,
                               int64_t count, int columns, const double *x,
                               int64_t stride)
{
    ENSURE(w != NULL && path != NULL && rows >= 0 && count >= 0);
    ENSURE(columns >= 1 && stride >= count && (count == 0 || x != NULL));
    const tct_file_format *f = NULL;
    tct_sink *s = NULL;
    TRY(choose(w, path, options ? options : &none, columns, &f));
    TRY(tct_sink_open(w, path, f->about.may_pack && packed(path), &s));
    tacit_status status = f->write_vectors(s, rows, count, columns, x, stride);
    if (status == TACIT_OK) status = tct_sink_commit(s);
    tct_sink_close(&s);
    return status;
}

tacit_status tct_check_writable(tacit_world *w, const char *path,
                                const tct_write_options *options, int vectors)
{
    ENSURE(w != NULL && path != NULL && vectors >= 0);
    const tct_file_format *f = NULL;
    TRY(choose(w, path, options ? options : &none, vectors, &f));
    return tct_sink_check(w, path);
}
