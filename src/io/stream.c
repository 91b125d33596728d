/* SPDX-License-Identifier: BSD-3-Clause
 * io/stream.c - plain, gzip and xz files in pieces, with a table of
 * unpackers. */
#include "io/stream.h"
#include "io/input.h"
#include "io/sink.h"
#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { HEAD = 64 << 10, PACKED = 256 << 10 };

typedef struct unpacker {
    const char *name;
    size_t magic_length;
    const char *magic;
    int64_t most; /* content bytes per packed byte; 0: unbounded */
    tacit_status (*open)(tct_stream *s);
    tacit_status (*read)(tct_stream *s, char *out, size_t room, size_t *got);
    void (*close)(tct_stream *s);
} unpacker;

struct tct_stream {
    char *path;
    int fd;
    int64_t size; /* of the file, -1: not a regular one */
    const unpacker *unpack;
    char *head;
    size_t head_count, head_read;
    size_t mark;     /* bytes of a byte-order mark, skipped */
    int64_t done;    /* bytes of content read, for messages */
    uint8_t *packed; /* [PACKED] */
    size_t packed_at, packed_count;
    bool packed_end;
    bool ended; /* end of content */
    z_stream z;
    lzma_stream x;
};

static tacit_status read_file(tct_stream *s, char *out, size_t room,
                              size_t *got)
{
    *got = 0;
    while (*got < room) {
        const ssize_t n = read(s->fd, out + *got, room - *got);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            FAIL(TACIT_IO, "%s: cannot be read: %s", s->path, strerror(errno));
        *got += (size_t)n;
    }
    return TACIT_OK;
}

/* Read packed bytes unless some are left or the file has ended. */
static tacit_status refill(tct_stream *s)
{
    if (s->packed_at < s->packed_count || s->packed_end) return TACIT_OK;
    s->packed_at = 0;
    TRY(read_file(s, (char *)s->packed, PACKED, &s->packed_count));
    s->packed_end = s->packed_count < PACKED;
    return TACIT_OK;
}

static tacit_status cut_short(const tct_stream *s)
{
    FAIL(TACIT_INPUT,
         "%s: the %s data is cut short after %lld bytes of content: copy or "
         "download the file again",
         s->path, s->unpack->name, (long long)s->done);
}

static tacit_status damaged(const tct_stream *s, const char *why)
{
    FAIL(TACIT_INPUT,
         "%s: the %s data is damaged after %lld bytes of content (%s): copy or "
         "download the file again",
         s->path, s->unpack->name, (long long)s->done, why);
}

static tacit_status alloc_packed(tct_stream *s)
{
    TRY(TCT_ALLOC(PACKED, "the packed file", &s->packed));
    memcpy(s->packed, s->head, s->head_count);
    s->packed_count = s->head_count;
    s->packed_end = s->head_count < HEAD;
    return TACIT_OK;
}

/* After a member: skip padding, then find another member, which starts with
 * `magic`, or the end. */
static tacit_status next_member(tct_stream *s, uint8_t magic, bool *more)
{
    TRY(refill(s));
    while (s->packed_at < s->packed_count && s->packed[s->packed_at] == 0) {
        s->packed_at++;
        TRY(refill(s));
    }
    *more = s->packed_at < s->packed_count;
    s->ended = !*more;
    if (!*more || s->packed[s->packed_at] == magic) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: something that is not %s follows the %s data, after %lld bytes "
         "of content: remove it, or copy or download the file again",
         s->path, s->unpack->name, s->unpack->name, (long long)s->done);
}

/* --- gzip --------------------------------------------------------------- */

static tacit_status gzip_open(tct_stream *s)
{
    TRY(alloc_packed(s));
    if (inflateInit2(&s->z, 15 + 16) != Z_OK)
        FAIL(TACIT_NO_MEMORY, "%s: no memory to unpack it", s->path);
    return TACIT_OK;
}

static tacit_status gzip_member(tct_stream *s)
{
    bool more;
    TRY(next_member(s, 0x1f, &more));
    if (more) inflateReset(&s->z);
    return TACIT_OK;
}

static tacit_status gzip_read(tct_stream *s, char *out, size_t room,
                              size_t *got)
{
    *got = 0;
    while (*got < room && !s->ended) {
        TRY(refill(s));
        if (s->packed_at == s->packed_count) return cut_short(s);
        const size_t left = room - *got;
        s->z.next_in = s->packed + s->packed_at;
        s->z.avail_in = (uInt)(s->packed_count - s->packed_at);
        s->z.next_out = (Bytef *)out + *got;
        s->z.avail_out = left > 1u << 30 ? 1u << 30 : (uInt)left;
        const uInt asked = s->z.avail_out;
        const int rc = inflate(&s->z, Z_NO_FLUSH);
        s->packed_at = s->packed_count - s->z.avail_in;
        *got += asked - s->z.avail_out;
        s->done += asked - s->z.avail_out;
        if (rc == Z_STREAM_END) TRY(gzip_member(s));
        else if (rc != Z_OK && rc != Z_BUF_ERROR)
            return damaged(s, s->z.msg ? s->z.msg : "not gzip");
    }
    return TACIT_OK;
}

static void gzip_close(tct_stream *s)
{
    inflateEnd(&s->z);
}

/* --- xz ----------------------------------------------------------------- */

static tacit_status xz_begin(tct_stream *s)
{
    const uint64_t memory = UINT64_C(1) << 30;
    if (lzma_stream_decoder(&s->x, memory, 0) == LZMA_OK) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY, "%s: no memory to unpack it", s->path);
}

static tacit_status xz_open(tct_stream *s)
{
    TRY(alloc_packed(s));
    return xz_begin(s);
}

static tacit_status xz_member(tct_stream *s)
{
    bool more;
    TRY(next_member(s, 0xfd, &more));
    return more ? xz_begin(s) : TACIT_OK;
}

static tacit_status xz_read(tct_stream *s, char *out, size_t room, size_t *got)
{
    s->x.next_out = (uint8_t *)out;
    s->x.avail_out = room;
    while (s->x.avail_out > 0 && !s->ended) {
        TRY(refill(s));
        s->x.next_in = s->packed + s->packed_at;
        s->x.avail_in = s->packed_count - s->packed_at;
        const size_t left = s->x.avail_out;
        const lzma_ret rc =
            lzma_code(&s->x, s->packed_end ? LZMA_FINISH : LZMA_RUN);
        s->packed_at = s->packed_count - s->x.avail_in;
        s->done += (int64_t)(left - s->x.avail_out);
        if (rc == LZMA_STREAM_END) TRY(xz_member(s));
        else if (rc == LZMA_BUF_ERROR) return cut_short(s);
        else if (rc == LZMA_MEM_ERROR || rc == LZMA_MEMLIMIT_ERROR)
            FAIL(TACIT_NO_MEMORY, "%s: no memory to unpack it", s->path);
        else if (rc != LZMA_OK) return damaged(s, "its check does not agree");
    }
    *got = room - s->x.avail_out;
    return TACIT_OK;
}

static void xz_close(tct_stream *s)
{
    lzma_end(&s->x);
}

/* --- plain -------------------------------------------------------------- */

static tacit_status plain_open(tct_stream *s)
{
    s->ended = s->head_count < HEAD;
    return TACIT_OK;
}

static tacit_status plain_read(tct_stream *s, char *out, size_t room,
                               size_t *got)
{
    *got = 0;
    if (s->ended) return TACIT_OK;
    TRY(read_file(s, out, room, got));
    s->done += (int64_t)*got;
    s->ended = *got < room;
    return TACIT_OK;
}

static void plain_close(tct_stream *s)
{
    (void)s;
}

static const unpacker unpackers[] = {
    {"gzip", 2, "\x1f\x8b", 1032, gzip_open, gzip_read, gzip_close},
    {"xz", 6, "\xfd\x37zXZ", 0, xz_open, xz_read, xz_close},
    {"", 0, "", 1, plain_open, plain_read, plain_close},
};

/* --- the stream --------------------------------------------------------- */

static tacit_status open_file(tct_stream *s, const char *path)
{
    s->fd = tct_input_open(path);
    struct stat st;
    if (s->fd < 0 || fstat(s->fd, &st) != 0)
        FAIL(TACIT_IO, "%s: cannot be opened: %s", s->path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        FAIL(TACIT_INPUT, "%s: is a folder: name a file in it", s->path);
    const bool whole = S_ISREG(st.st_mode) && lseek(s->fd, 0, SEEK_CUR) == 0;
    s->size = whole ? (int64_t)st.st_size : -1;
    return TACIT_OK;
}

/* Some editors write it before text; not part of the content. */
static size_t byte_order_mark(const char *head, size_t count)
{
    return count >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* The first raw bytes give the packing; the head is their unpacked content. */
static tacit_status build(tct_stream *s, const char *path)
{
    const size_t length = strlen(path) + 1;
    TRY(TCT_ALLOC(length, "a file's name", &s->path));
    memcpy(s->path, path, length);
    TRY(open_file(s, path));
    TRY(TCT_ALLOC(HEAD, "the first bytes of a file", &s->head));
    TRY(read_file(s, s->head, HEAD, &s->head_count));
    const unpacker *u = unpackers;
    while (s->head_count < u->magic_length ||
           memcmp(s->head, u->magic, u->magic_length) != 0)
        u++;
    s->unpack = u; /* from here on tct_stream_close closes it */
    TRY(u->open(s));
    if (u->magic_length > 0) TRY(u->read(s, s->head, HEAD, &s->head_count));
    s->mark = s->head_read = byte_order_mark(s->head, s->head_count);
    if (s->head_count > s->mark) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s: %s: it should hold a matrix or a vector", s->path,
         u->magic_length > 0 ? "unpacks to nothing" : "is empty");
}

tacit_status tct_stream_open(const char *path, tct_stream **out)
{
    ENSURE(path != NULL && out != NULL);
    tct_stream *s = tct_calloc(sizeof *s);
    if (!s) FAIL(TACIT_NO_MEMORY, "%s: no memory to open it", path);
    s->fd = -1;
    const tacit_status status = build(s, path);
    if (status < 0) tct_stream_close(&s);
    else *out = s;
    return status;
}

const char *tct_stream_head(const tct_stream *s, size_t *count)
{
    *count = s->head_count - s->mark;
    return s->head + s->mark;
}

tacit_status tct_stream_read(tct_stream *s, void *buffer, size_t room,
                             size_t *got)
{
    size_t n = s->head_count - s->head_read;
    if (n > room) n = room;
    memcpy(buffer, s->head + s->head_read, n);
    s->head_read += n;
    *got = 0;
    if (n < room) TRY(s->unpack->read(s, (char *)buffer + n, room - n, got));
    *got += n;
    return TACIT_OK;
}

tacit_status tct_stream_skip(tct_stream *s, int64_t bytes)
{
    const int64_t head = (int64_t)(s->head_count - s->head_read);
    const int64_t n = head < bytes ? head : bytes;
    s->head_read += (size_t)n;
    bytes -= n;
    if (bytes > 0 && tct_stream_seekable(s)) {
        const off_t at = lseek(s->fd, bytes, SEEK_CUR);
        if (at >= 0 && at <= s->size) return TACIT_OK;
        FAIL(TACIT_INPUT, "%s: ends too early: it is cut short", s->path);
    }
    while (bytes > 0) { /* the head has been consumed: reuse its memory */
        size_t got;
        const size_t some = bytes < HEAD ? (size_t)bytes : HEAD;
        TRY(s->unpack->read(s, s->head, some, &got));
        if (got < some)
            FAIL(TACIT_INPUT, "%s: ends too early: it is cut short", s->path);
        bytes -= (int64_t)got;
    }
    return TACIT_OK;
}

int64_t tct_stream_limit(const tct_stream *s)
{
    const int64_t most = s->unpack->most;
    if (s->size < 0 || most == 0 || s->size > INT64_MAX / most)
        return INT64_MAX;
    return s->size * most;
}

const char *tct_stream_packing(const tct_stream *s)
{
    return s->unpack->name;
}

bool tct_stream_is_pipe(const tct_stream *s)
{
    return s->size < 0;
}

bool tct_stream_seekable(const tct_stream *s)
{
    return s->size >= 0 && s->unpack->magic_length == 0;
}

static tacit_status copy_to(int fd, tct_stream *s, char *piece, size_t room)
{
    for (size_t got = room; got == room;) {
        TRY(tct_stream_read(s, piece, room, &got));
        for (size_t done = 0; done < got;) {
            const ssize_t n = tct_write(fd, piece + done, got - done, -1);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0)
                FAIL(TACIT_IO,
                     "%s: its content cannot be kept in a temporary file: %s: "
                     "make room, or set TMPDIR",
                     s->path, strerror(errno));
            done += (size_t)n;
        }
    }
    return TACIT_OK;
}

tacit_status tct_stream_keep(const char *path, tct_stream **s)
{
    char *piece = NULL;
    TRY(TCT_ALLOC(PACKED, "a piece of a file", &piece));
    const int fd = tct_input_spare();
    tacit_status status = TACIT_OK;
    if (fd < 0)
        status = tacit_error_set(TACIT_IO, "%s: no temporary file for it: %s",
                                 path, strerror(errno));
    else status = copy_to(fd, *s, piece, PACKED);
    tct_free(piece);
    tct_input_keep(path, fd); /* closed with the rest, also on errors */
    TRY(status);
    tct_stream_close(s);
    return tct_stream_open(path, s);
}

void tct_stream_close(tct_stream **out)
{
    tct_stream *s = *out;
    if (!s) return;
    if (s->unpack) s->unpack->close(s);
    if (s->fd >= 0) close(s->fd);
    TCT_FREE(s->packed, s->head, s->path, s);
    *out = NULL;
}
