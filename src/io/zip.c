/* SPDX-License-Identifier: BSD-3-Clause
 * io/zip.c - zip archives through libzip.
 *
 * Reading: each member opens the archive for itself, so several are read at
 * once, each sequentially.
 *
 * Writing: on close libzip requests the content of members piece by piece, and
 * passes the bytes of the archive on. Rank 0 forwards requests to all ranks,
 * and the bytes to the sink. */
#include "io/zip.h"
#include "io/input.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

static tacit_status damaged(const char *path, const char *what)
{
    FAIL(TACIT_INPUT,
         "%s: damaged or cut short zip archive (%s): copy or "
         "write the file again",
         path, what);
}

/* --- reading -------------------------------------------------------------- */

typedef struct {
    const char *path, *name;
    FILE *file; /* of the archive */
    zip_t *archive;
    zip_stat_t about;
    zip_file_t *content;
    int64_t rest; /* unread bytes of content */
} member;

/* Report libzip's error for the archive, or for the member once it is known. */
static tacit_status failed(const member *m, zip_error_t *error)
{
    const bool inside = (m->about.valid & ZIP_STAT_NAME) != 0;
    if (ferror(m->file))
        FAIL(TACIT_IO, "%s: cannot be read: %s", m->path, strerror(errno));
    switch (zip_error_code_zip(error)) {
    case ZIP_ER_MEMORY:
        FAIL(TACIT_NO_MEMORY, "%s: no memory to unpack", m->path);
    case ZIP_ER_CRC:
        FAIL(TACIT_INPUT,
             "%s: the checksum of %s does not agree: copy or write "
             "the file again",
             m->path, m->name);
    case ZIP_ER_COMPNOTSUPP:
        FAIL(TACIT_INPUT,
             "%s: %s is packed in a way that is not known "
             "(method %d): save it stored or deflated",
             m->path, m->name, m->about.comp_method);
    case ZIP_ER_ENCRNOTSUPP:
    case ZIP_ER_NOPASSWD:
        FAIL(TACIT_INPUT, "%s: %s is encrypted: save it without a password",
             m->path, m->name);
    default:
        return damaged(m->path, inside ? m->name
                                       : "its directory is missing or damaged");
    }
}

enum { RECORD = 22 }; /* bytes of an archive's last record, less its comment */

static bool record_at(const member *m, int64_t at)
{
    char sign[4];
    return pread(fileno(m->file), sign, sizeof sign, (off_t)at) == 4 &&
           memcmp(sign, "PK\5\6", sizeof sign) == 0;
}

/* libzip takes the last record for the end of the archive: the record and its
 * comment must also end the file. */
static tacit_status check_end(const member *m)
{
    struct stat file;
    int comment = 0;
    zip_get_archive_comment(m->archive, &comment, ZIP_FL_ENC_RAW);
    if (fstat(fileno(m->file), &file) != 0)
        FAIL(TACIT_IO, "%s: cannot be read: %s", m->path, strerror(errno));
    const int64_t last = (int64_t)file.st_size - comment - RECORD;
    int64_t at = last;
    while (at > 0 && !record_at(m, at)) at--;
    if (at == last) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: its archive ends at byte %lld, and something else follows: copy "
         "or write the file again",
         m->path, (long long)(at + RECORD + comment));
}

static tacit_status open_archive(member *m)
{
    const int fd = tct_input_open(m->path);
    m->file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!m->file) {
        const tacit_status status = tacit_error_set(
            TACIT_IO, "%s: cannot be opened: %s", m->path, strerror(errno));
        if (fd >= 0) close(fd);
        return status;
    }
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_filep_create(m->file, 0, -1, &error);
    if (source) m->archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    tacit_status status = TACIT_OK;
    if (!m->archive) status = failed(m, &error);
    if (!source) fclose(m->file);
    else if (!m->archive) zip_source_free(source); /* also closes the file */
    zip_error_fini(&error);
    return status;
}

/* The file is as long as the directory requires. */
static bool fits(const member *m)
{
    struct stat file;
    const zip_stat_t *e = &m->about;
    return fstat(fileno(m->file), &file) == 0 && e->size <= INT64_MAX &&
           e->comp_size <= (zip_uint64_t)file.st_size &&
           (e->comp_method != ZIP_CM_STORE || e->comp_size == e->size);
}

static tacit_status open_member(member *m)
{
    TRY(open_archive(m));
    TRY(check_end(m));
    if (zip_stat(m->archive, m->name, 0, &m->about) != 0)
        FAIL(TACIT_INPUT,
             "%s: has no member %s: save it with "
             "scipy.sparse.save_npz",
             m->path, m->name);
    if (!fits(m)) return damaged(m->path, "a member lies outside of it");
    m->content = zip_fopen_index(m->archive, m->about.index, 0);
    if (!m->content) return failed(m, zip_get_error(m->archive));
    m->rest = (int64_t)m->about.size;
    return TACIT_OK;
}

static tacit_status member_read(void *ctx, const char *what, void *out,
                                size_t bytes)
{
    member *m = ctx;
    if ((int64_t)bytes > m->rest)
        FAIL(TACIT_INPUT, "%s: %s ends too early: the file is damaged", m->path,
             what);
    for (size_t got = 0; got < bytes;) {
        const zip_int64_t n =
            zip_fread(m->content, (char *)out + got, bytes - got);
        if (n < 0) return failed(m, zip_file_get_error(m->content));
        if (n == 0) return damaged(m->path, m->name);
        got += (size_t)n;
    }
    m->rest -= (int64_t)bytes;
    return TACIT_OK;
}

/* libzip checks the checksum on a read past the end. */
static tacit_status member_finish(void *ctx)
{
    member *m = ctx;
    char more;
    if (m->rest > 0)
        FAIL(TACIT_INPUT,
             "%s: %s holds %lld bytes too many: the file is "
             "damaged",
             m->path, m->name, (long long)m->rest);
    const zip_int64_t n = zip_fread(m->content, &more, 1);
    if (n < 0) return failed(m, zip_file_get_error(m->content));
    return n == 0 ? TACIT_OK : damaged(m->path, m->name);
}

static void member_close(void *ctx)
{
    member *m = ctx;
    if (m->content) zip_fclose(m->content);
    if (m->archive) zip_discard(m->archive);
    tct_free(m);
}

tacit_status tct_zip_array(const char *path, const char *name, tct_array *a,
                           int64_t *bytes)
{
    member *m = tct_calloc(sizeof *m);
    if (!m) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", path);
    m->path = path;
    m->name = name;
    a->path = path;
    a->what = name;
    a->ctx = m;
    a->read = member_read;
    a->finish = member_finish;
    a->close = member_close;
    TRY(open_member(m));
    *bytes = m->rest;
    return TACIT_OK;
}

/* --- writing -------------------------------------------------------------- */

enum { HELD = 1 << 18 };

/* The archive's destination: the sink. Bytes are gathered first, since libzip
 * writes few at a time. */
typedef struct {
    tct_sink *sink;
    tacit_status status; /* the first failure */
    bool agreed;         /* on all ranks */
    int64_t at;          /* offset of held[0] */
    size_t count;
    char *held; /* [HELD] */
} target;

/* The source of a member: the ranks. */
typedef struct {
    target *target;
    int64_t bytes;
    tct_gathering gathering;
    const char *piece;
    size_t at, count; /* in the piece */
} content;

/* Keep a failure; libzip stops at -1. */
static zip_int64_t keep_status(target *t, tacit_status status)
{
    if (status < 0) t->status = status;
    return status < 0 ? -1 : 0;
}

static zip_int64_t cancelled(void *data, zip_uint64_t bytes)
{
    zip_error_t error;
    zip_error_init_with_code(&error, ZIP_ER_CANCELLED);
    return zip_error_to_data(&error, data, bytes);
}

static zip_int64_t flush(target *t)
{
    if (t->count == 0) return 0;
    const int64_t at = t->at;
    const size_t count = t->count;
    t->at += (int64_t)count;
    t->count = 0;
    return keep_status(t, tct_sink_put(t->sink, at, t->held, count));
}

static zip_int64_t write_held(target *t, const char *data, size_t bytes)
{
    if (bytes > HELD - t->count && flush(t) < 0) return -1;
    if (bytes > HELD) return -1; /* libzip writes 8 kB */
    memcpy(t->held + t->count, data, bytes);
    t->count += bytes;
    return (zip_int64_t)bytes;
}

static zip_int64_t seek(target *t, void *data, zip_uint64_t bytes)
{
    if (flush(t) < 0) return -1;
    const zip_int64_t to = zip_source_seek_compute_offset(
        (zip_uint64_t)t->at, (zip_uint64_t)tct_sink_offset(t->sink), data,
        bytes, NULL);
    if (to >= 0) t->at = to;
    return to < 0 ? -1 : 0;
}

/* Callback of libzip for the archive. */
static zip_int64_t serve_target(void *ctx, void *data, zip_uint64_t bytes,
                                zip_source_cmd_t command)
{
    target *t = ctx;
    switch ((int)command) {
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_ERROR: return cancelled(data, bytes);
    case ZIP_SOURCE_STAT: zip_stat_init(data); return sizeof(zip_stat_t);
    case ZIP_SOURCE_WRITE: return write_held(t, data, bytes);
    case ZIP_SOURCE_SEEK_WRITE: return seek(t, data, bytes);
    case ZIP_SOURCE_TELL_WRITE: return t->at + (int64_t)t->count;
    case ZIP_SOURCE_COMMIT_WRITE: return flush(t);
    default: return 0; /* no action is needed */
    }
}

static zip_int64_t read_content(content *c, char *out, zip_uint64_t room)
{
    target *t = c->target;
    const bool more = c->gathering.rank < tct_sink_world(t->sink)->size;
    if (c->at == c->count && more) {
        const tacit_status status = tct_sink_next(
            t->sink, &c->gathering, TACIT_OK, &c->piece, &c->count);
        t->agreed = status < 0;
        if (keep_status(t, status) < 0) return -1;
        c->at = 0;
    }
    const size_t left = c->count - c->at, n = left < room ? left : room;
    memcpy(out, c->piece + c->at, n);
    c->at += n;
    return (zip_int64_t)n;
}

/* Callback of libzip for a member. */
static zip_int64_t serve_content(void *ctx, void *data, zip_uint64_t bytes,
                                 zip_source_cmd_t command)
{
    content *c = ctx;
    zip_stat_t *about = data;
    switch ((int)command) {
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_ERROR: return cancelled(data, bytes);
    case ZIP_SOURCE_READ: return read_content(c, data, bytes);
    case ZIP_SOURCE_STAT:
        zip_stat_init(about);
        about->size = (zip_uint64_t)c->bytes;
        about->valid = ZIP_STAT_SIZE;
        return sizeof *about;
    default: return 0;
    }
}

/* Dated 1 January 1980, so that the same matrix gives the same bytes. */
static bool add_member(zip_t *archive, const char *name, content *c)
{
    enum { DAY = 33 };
    zip_source_t *source = zip_source_function(archive, serve_content, c);
    const zip_int64_t i = source ? zip_file_add(archive, name, source, 0) : -1;
    if (i < 0) zip_source_free(source);
    return i >= 0 &&
           zip_set_file_compression(archive, (zip_uint64_t)i, ZIP_CM_STORE,
                                    0) == 0 &&
           zip_file_set_dostime(archive, (zip_uint64_t)i, 0, DAY, 0) == 0;
}

static tacit_status write_members(target *t, zip_t *archive,
                                  const tct_zip_part *parts, content *c,
                                  int count)
{
    /* one rank: pieces that stay in the cache; else large messages */
    const size_t most = tct_sink_world(t->sink)->size > 1 ? 0 : HELD;
    bool done = true;
    for (int k = 0; k < count && done; k++) {
        c[k] = (content){.target = t,
                         .bytes = parts[k].bytes,
                         .gathering = {.make = parts[k].make,
                                       .ctx = parts[k].ctx,
                                       .most = most}};
        done = add_member(archive, parts[k].name, &c[k]);
    }
    if (done && zip_close(archive) == 0) return TACIT_OK;
    if (t->status == TACIT_OK) /* libzip's own error */
        t->status =
            tacit_error_set(TACIT_NO_MEMORY, "%s: cannot be written: %s",
                            tct_sink_path(t->sink), zip_strerror(archive));
    zip_discard(archive);
    return t->status;
}

/* Rank 0. */
static tacit_status write_archive(target *t, const tct_zip_part *parts,
                                  int count)
{
    content *c = NULL;
    TRY(TCT_ALLOC(HELD, "a piece of a file", &t->held));
    TRY(TCT_ALLOC(count, "the members of an archive", &c));
    zip_source_t *source = zip_source_function_create(serve_target, t, NULL);
    zip_t *archive =
        source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, NULL)
               : NULL;
    tacit_status status;
    if (archive) {
        status = write_members(t, archive, parts, c, count);
    } else {
        zip_source_free(source);
        status = tacit_error_set(TACIT_NO_MEMORY, "%s: no memory to write it",
                                 tct_sink_path(t->sink));
    }
    tct_free(c);
    return status;
}

/* Other ranks: make the pieces that rank 0 requests. */
static tacit_status offer(tct_sink *s, const tct_zip_part *part)
{
    tct_gathering g = {.make = part->make, .ctx = part->ctx};
    const char *piece;
    size_t bytes;
    do {
        TRY(tct_sink_next(s, &g, TACIT_OK, &piece, &bytes));
    } while (bytes > 0);
    return TACIT_OK;
}

tacit_status tct_zip_write(tct_sink *s, const tct_zip_part *parts, int count)
{
    tacit_world *w = tct_sink_world(s);
    target t = {.sink = s};
    if (w->rank == 0) {
        const tacit_status status = write_archive(&t, parts, count);
        tct_free(t.held);
        return t.agreed ? status : tct_agree(w, status);
    }
    for (int k = 0; k < count; k++) TRY(offer(s, &parts[k]));
    return tct_agree(w, TACIT_OK);
}
