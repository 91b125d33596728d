/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/io/zip.c - zip archives after PKWARE's APPNOTE 6.3: the directory
 * stands at the end, each member behind a local header of its own. Numbers of
 * 64 bits stand in an extra field wherever 32 bits say FFFFFFFF. */
#include "matrix/io/zip.h"
#include "matrix/io/format.h"
#include "matrix/io/input.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    LOCAL = 30,     /* bytes of a local header     PK\3\4 */
    CENTRAL = 46,   /* ... of a directory entry    PK\1\2 */
    END = 22,       /* ... of the end              PK\5\6 */
    END64 = 56,     /* ... of the 64-bit end       PK\6\6 */
    LOCATOR64 = 20, /* ... of what points to it    PK\6\7 */
    PIECE = 256 << 10
};

static uint64_t get(const unsigned char *p, int bytes)
{
    return tct_load(p, bytes, false);
}

static tacit_status damaged(const char *path, const char *what)
{
    FAIL(TACIT_INPUT,
         "%s: damaged or cut short zip archive (%s): copy or "
         "write the file again",
         path, what);
}

/* Read exactly `bytes` at `offset`. */
static tacit_status read_at(int fd, const char *path, int64_t offset, void *out,
                            size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        const ssize_t n = pread(fd, (char *)out + got, bytes - got,
                                (off_t)(offset + (int64_t)got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            FAIL(TACIT_IO, "%s: cannot be read: %s", path, strerror(errno));
        if (n == 0) return damaged(path, "it ends too early");
        got += (size_t)n;
    }
    return TACIT_OK;
}

/* --- the directory ------------------------------------------------------ */

typedef struct {
    const char *path;
    int fd;
    int64_t size;               /* of the file */
    int64_t at, bytes, entries; /* the directory */
} archive;

/* The end is the last PK\5\6 of the file; a comment may follow it. */
static tacit_status find_end(archive *z)
{
    enum { TAIL = END + LOCATOR64 + (1 << 16) };
    unsigned char *tail = NULL;
    TRY(TCT_ALLOC(TAIL, "the directory of an archive", &tail));
    const int64_t n = z->size < TAIL ? z->size : TAIL;
    const tacit_status status =
        read_at(z->fd, z->path, z->size - n, tail, (size_t)n);
    int64_t k = n - END;
    while (status == TACIT_OK && k >= 0 && memcmp(tail + k, "PK\5\6", 4) != 0)
        k--;
    const bool found = status == TACIT_OK && k >= 0;
    int64_t end64 = -1;
    if (found) {
        z->entries = (int64_t)get(tail + k + 10, 2);
        z->bytes = (int64_t)get(tail + k + 12, 4);
        z->at = (int64_t)get(tail + k + 16, 4);
        if (k >= LOCATOR64 && memcmp(tail + k - LOCATOR64, "PK\6\7", 4) == 0)
            end64 = (int64_t)get(tail + k - LOCATOR64 + 8, 8);
    }
    tct_free(tail);
    TRY(status);
    if (!found) return damaged(z->path, "its directory is missing");
    if (end64 < 0) return TACIT_OK;
    unsigned char end[END64];
    if (end64 > z->size - END64) return damaged(z->path, "its directory");
    TRY(read_at(z->fd, z->path, end64, end, END64));
    if (memcmp(end, "PK\6\6", 4) != 0) return damaged(z->path, "its directory");
    z->entries = (int64_t)get(end + 32, 8);
    z->bytes = (int64_t)get(end + 40, 8);
    z->at = (int64_t)get(end + 48, 8);
    return TACIT_OK;
}

/* Replace what 32 bits could not say by the words of the extra field. */
static void widen(const unsigned char *extra, size_t bytes, tct_zip_entry *e)
{
    for (size_t k = 0; k + 4 <= bytes;) {
        const size_t id = get(extra + k, 2), n = get(extra + k + 2, 2);
        const unsigned char *p = extra + k + 4;
        k += 4 + n;
        if (id != 1 || k > bytes) continue;
        int64_t *const words[] = {&e->size, &e->packed, &e->header};
        size_t used = 0;
        for (int i = 0; i < 3; i++) {
            if (*words[i] != UINT32_MAX || used + 8 > n) continue;
            *words[i] = (int64_t)get(p + used, 8);
            used += 8;
        }
    }
}

/* The entry at the beginning of `p` [left]; `*used` its bytes. */
static tacit_status parse_entry(const archive *z, const unsigned char *p,
                                size_t left, tct_zip_entry *e, size_t *used)
{
    if (left < CENTRAL || memcmp(p, "PK\1\2", 4) != 0)
        return damaged(z->path, "its directory");
    const size_t name = get(p + 28, 2), extra = get(p + 30, 2);
    *used = CENTRAL + name + extra + get(p + 32, 2);
    if (*used > left) return damaged(z->path, "its directory");
    *e = (tct_zip_entry){.method = (int)get(p + 10, 2),
                         .crc = (uint32_t)get(p + 16, 4),
                         .packed = (int64_t)get(p + 20, 4),
                         .size = (int64_t)get(p + 24, 4),
                         .header = (int64_t)get(p + 42, 4)};
    memcpy(e->name, p + CENTRAL,
           name < sizeof e->name - 1 ? name : sizeof e->name - 1);
    widen(p + CENTRAL + name, extra, e);
    if (e->size < 0 || e->packed < 0 || e->header < 0 ||
        e->header > z->size - LOCAL ||
        e->packed > z->size - LOCAL - e->header ||
        (e->method == 0 && e->packed != e->size))
        return damaged(z->path, "a member lies outside of it");
    return TACIT_OK;
}

static tacit_status parse_directory(const archive *z, tct_zip_entry *out,
                                    int room, int *count)
{
    if (z->at < 0 || z->bytes < 0 || z->at > z->size ||
        z->bytes > z->size - z->at || z->entries < 0 || z->entries > room)
        return damaged(z->path, "its directory");
    unsigned char *p = NULL;
    TRY(TCT_ALLOC(z->bytes, "the directory of an archive", &p));
    tacit_status status = read_at(z->fd, z->path, z->at, p, (size_t)z->bytes);
    size_t at = 0;
    for (*count = 0; status == TACIT_OK && *count < z->entries; ++*count) {
        size_t used = 0;
        status =
            parse_entry(z, p + at, (size_t)z->bytes - at, &out[*count], &used);
        at += used;
    }
    tct_free(p);
    return status;
}

tacit_status tct_zip_list(const char *path, tct_zip_entry *out, int room,
                          int *count)
{
    archive z = {.path = path, .fd = tct_input_open(path)};
    struct stat st;
    if (z.fd < 0 || fstat(z.fd, &st) != 0) {
        const tacit_status status = tct_fail(
            TACIT_IO, "%s: cannot be opened: %s", path, strerror(errno));
        if (z.fd >= 0) close(z.fd);
        return status;
    }
    z.size = st.st_size;
    tacit_status status = find_end(&z);
    if (status == TACIT_OK) status = parse_directory(&z, out, room, count);
    close(z.fd);
    return status;
}

/* --- members ------------------------------------------------------------ */

struct tct_member {
    const char *path;
    const tct_zip_entry *entry;
    int fd;
    int64_t at, left; /* packed bytes not yet read, and where */
    int64_t rest;     /* bytes of content not yet given out */
    uint32_t crc;
    unsigned char *piece; /* [PIECE], packed */
    z_stream z;
    bool inflating;
};

static tacit_status member_build(tct_member *m)
{
    m->fd = tct_input_open(m->path);
    if (m->fd < 0)
        FAIL(TACIT_IO, "%s: cannot be opened: %s", m->path, strerror(errno));
    unsigned char local[LOCAL];
    TRY(read_at(m->fd, m->path, m->entry->header, local, LOCAL));
    if (memcmp(local, "PK\3\4", 4) != 0)
        return damaged(m->path, m->entry->name);
    m->at = m->entry->header + LOCAL + (int64_t)get(local + 26, 2) +
            (int64_t)get(local + 28, 2);
    if (m->entry->method == 0) return TACIT_OK;
    if (m->entry->method != 8)
        FAIL(TACIT_INPUT,
             "%s: %s is packed in a way that is not known "
             "(method %d): save it stored or deflated",
             m->path, m->entry->name, m->entry->method);
    TRY(TCT_ALLOC(PIECE, "a piece of an archive", &m->piece));
    m->inflating = inflateInit2(&m->z, -15) == Z_OK;
    if (!m->inflating)
        FAIL(TACIT_NO_MEMORY, "%s: no memory to unpack", m->path);
    return TACIT_OK;
}

tacit_status tct_member_open(const char *path, const tct_zip_entry *entry,
                             tct_member **out)
{
    tct_member *m = tct_calloc(sizeof *m);
    if (!m) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", path);
    m->path = path;
    m->entry = entry;
    m->fd = -1;
    m->left = entry->packed;
    m->rest = entry->size;
    const tacit_status status = member_build(m);
    if (status < 0) tct_member_close(&m);
    else *out = m;
    return status;
}

/* Inflate exactly `bytes`. */
static tacit_status unpack(tct_member *m, char *out, size_t bytes)
{
    while (bytes > 0) {
        if (m->z.avail_in == 0 && m->left > 0) {
            const int64_t n = m->left < PIECE ? m->left : PIECE;
            TRY(read_at(m->fd, m->path, m->at, m->piece, (size_t)n));
            m->at += n;
            m->left -= n;
            m->z.next_in = m->piece;
            m->z.avail_in = (uInt)n;
        }
        m->z.next_out = (Bytef *)out;
        m->z.avail_out = bytes > 1u << 30 ? 1u << 30 : (uInt)bytes;
        const uInt asked = m->z.avail_out;
        const int rc = inflate(&m->z, Z_NO_FLUSH);
        const uInt got = asked - m->z.avail_out;
        out += got;
        bytes -= got;
        if ((rc != Z_OK && rc != Z_STREAM_END) ||
            (got == 0 && rc == Z_STREAM_END))
            return damaged(m->path, m->entry->name);
    }
    return TACIT_OK;
}

tacit_status tct_member_read(tct_member *m, const char *what, void *out,
                             size_t bytes)
{
    if ((int64_t)bytes > m->rest)
        FAIL(TACIT_INPUT, "%s: %s ends too early: the file is damaged", m->path,
             what);
    if (m->inflating) {
        TRY(unpack(m, out, bytes));
    } else {
        TRY(read_at(m->fd, m->path, m->at, out, bytes));
        m->at += (int64_t)bytes;
    }
    m->rest -= (int64_t)bytes;
    m->crc = (uint32_t)crc32_z(m->crc, out, bytes);
    return TACIT_OK;
}

tacit_status tct_member_finish(tct_member *m)
{
    if (m->rest > 0)
        FAIL(TACIT_INPUT,
             "%s: %s holds %lld bytes too many: the file is "
             "damaged",
             m->path, m->entry->name, (long long)m->rest);
    if (m->crc == m->entry->crc) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: the checksum of %s does not agree: copy or write "
         "the file again",
         m->path, m->entry->name);
}

void tct_member_close(tct_member **out)
{
    tct_member *m = *out;
    if (!m) return;
    if (m->inflating) inflateEnd(&m->z);
    if (m->fd >= 0) close(m->fd);
    tct_free(m->piece);
    tct_free(m);
    *out = NULL;
}

/* --- writing ------------------------------------------------------------ */

enum { ZIP64 = 45, EXTRA = 20 }; /* version needed; bytes of our extra field */

/* The sizes as an extra field, always: then a member may have any size. */
static void put_extra(unsigned char *p, const tct_zip_entry *e)
{
    tct_store(p, 2, false, 1);
    tct_store(p + 2, 2, false, 16);
    tct_store(p + 4, 8, false, (uint64_t)e->size);
    tct_store(p + 12, 8, false, (uint64_t)e->packed);
}

tacit_status tct_zip_begin(tct_sink *s, const char *name, int64_t size,
                           tct_zip_entry *out)
{
    unsigned char head[LOCAL + sizeof out->name + EXTRA] = "PK\3\4";
    const size_t length = strlen(name);
    *out = (tct_zip_entry){.packed = size, .size = size};
    memcpy(out->name, name, length + 1);
    out->header = tct_sink_offset(s);
    tct_store(head + 4, 2, false, ZIP64);
    tct_store(head + 12, 2, false, 33); /* 1 January 1980 */
    tct_store(head + 18, 8, false, UINT64_MAX);
    tct_store(head + 26, 2, false, length);
    tct_store(head + 28, 2, false, EXTRA);
    memcpy(head + LOCAL, name, length);
    put_extra(head + LOCAL + length, out);
    TRY(tct_sink_write(s, head, LOCAL + length + EXTRA));
    (void)tct_sink_crc(s); /* begins anew */
    return TACIT_OK;
}

tacit_status tct_zip_end(tct_sink *s, tct_zip_entry *e)
{
    unsigned char raw[4];
    e->crc = tct_sink_crc(s);
    tct_store(raw, 4, false, e->crc);
    return tct_sink_patch(s, e->header + 14, raw, sizeof raw);
}

static tacit_status write_entry(tct_sink *s, const tct_zip_entry *e)
{
    enum { HERE = EXTRA + 8 }; /* the extra field says the place, too */
    unsigned char p[CENTRAL + sizeof e->name + HERE] = "PK\1\2";
    const size_t length = strlen(e->name);
    tct_store(p + 4, 2, false, ZIP64);
    tct_store(p + 6, 2, false, ZIP64);
    tct_store(p + 14, 2, false, 33);
    tct_store(p + 16, 4, false, e->crc);
    tct_store(p + 20, 8, false, UINT64_MAX);
    tct_store(p + 28, 2, false, length);
    tct_store(p + 30, 2, false, HERE);
    tct_store(p + 42, 4, false, UINT32_MAX);
    memcpy(p + CENTRAL, e->name, length);
    unsigned char *extra = p + CENTRAL + length;
    put_extra(extra, e);
    tct_store(extra + 2, 2, false, HERE - 4);
    tct_store(extra + EXTRA, 8, false, (uint64_t)e->header);
    return tct_sink_write(s, p, CENTRAL + length + HERE);
}

tacit_status tct_zip_directory(tct_sink *s, const tct_zip_entry *entries,
                               int count)
{
    const int64_t at = tct_sink_offset(s);
    for (int k = 0; k < count; k++) TRY(write_entry(s, &entries[k]));
    const int64_t bytes = tct_sink_offset(s) - at;
    unsigned char p[END64 + LOCATOR64 + END] = "PK\6\6";
    tct_store(p + 4, 8, false, END64 - 12);
    tct_store(p + 12, 2, false, ZIP64);
    tct_store(p + 14, 2, false, ZIP64);
    tct_store(p + 24, 8, false, (uint64_t)count);
    tct_store(p + 32, 8, false, (uint64_t)count);
    tct_store(p + 40, 8, false, (uint64_t)bytes);
    tct_store(p + 48, 8, false, (uint64_t)at);
    memcpy(p + END64, "PK\6\7", 4);
    tct_store(p + END64 + 8, 8, false, (uint64_t)(at + bytes));
    tct_store(p + END64 + 16, 4, false, 1);
    unsigned char *end = p + END64 + LOCATOR64;
    memcpy(end, "PK\5\6", 4);
    tct_store(end + 8, 2, false, (uint64_t)count);
    tct_store(end + 10, 2, false, (uint64_t)count);
    tct_store(end + 12, 8, false, UINT64_MAX);
    return tct_sink_write(s, p, sizeof p);
}
