/* SPDX-License-Identifier: BSD-3-Clause
 * io/sink.c - a temporary file in the same folder, renamed at the end. Where
 * the file system supports it, the file is unnamed, so that a killed process
 * leaves no file. Pipes, devices and open descriptors (standard output) are
 * written directly. Packed if the name ends in .gz. */
#define ZLIB_CONST /* zlib then declares its input const */
#include "io/sink.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PIECE = 4 << 20,
    PACKED = 256 << 10,
    GZIP_LEVEL = 4,
    TEMPORARIES = 100 /* names to try */
};

struct tct_sink {
    tacit_world *world;
    struct tct_sink *before;  /* held: complete, to be named later */
    char path[PATH_MAX];      /* links followed */
    char temporary[PATH_MAX]; /* "": unnamed, written directly, or renamed */
    bool unnamed;             /* the temporary file has no name yet */
    int open; /* own descriptor that the path refers to, or -1 */
    int fd;
    int64_t offset;
    char *piece;     /* [PIECE] */
    int64_t *counts; /* [2 * ranks] bytes to and from each rank */
    bool packing;    /* by gzip */
    z_stream z;
    char *packed; /* [PACKED] */
};

/* Files that this thread holds, and how often it has said so. */
static _Thread_local struct {
    const tacit_world *world;
    int depth;
    tct_sink *last;
} held;

/* A full disk is the machine's, as memory is; another failure the file's. */
static tacit_status cannot(const char *path, const char *what)
{
    const bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
    FAIL(full ? TACIT_NO_MEMORY : TACIT_IO,
         "%s: cannot be %s: %s: choose another place or make room", path, what,
         strerror(errno));
}

int tct_sink_descriptor(const char *path)
{
    static const struct {
        const char *name;
        int descriptor;
    } known[] = {{"-", STDOUT_FILENO},
                 {"/dev/stdout", STDOUT_FILENO},
                 {"/dev/stderr", STDERR_FILENO}};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(path, known[k].name) == 0) return known[k].descriptor;
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        const size_t length = strlen(folders[k]);
        int64_t number;
        if (strncmp(path, folders[k], length) == 0 &&
            tct_parse_int64(path + length, &number) && number >= 0 &&
            number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* Follow links, so that the rename replaces the file, not the link. */
static tacit_status set_path(tct_sink *s, const char *path)
{
    if (path[0] == '\0') FAIL(TACIT_INVALID, "the output file has no name");
    s->open = tct_sink_descriptor(path);
    char *real = s->open < 0 ? realpath(path, NULL) : NULL;
    const int n = snprintf(s->path, PATH_MAX, "%s",
                           s->open == STDOUT_FILENO ? "standard output"
                           : real                   ? real
                                                    : path);
    free(real);
    const char *leaf = strrchr(s->path, '/');
    if (n >= PATH_MAX - 8 || strlen(leaf ? leaf + 1 : s->path) > NAME_MAX)
        FAIL(TACIT_IO, "%.80s...: the name is too long", path);
    return TACIT_OK;
}

/* A new name next to s->path in each call, within the length limit. */
static void next_temporary(tct_sink *s)
{
    enum { MORE = 7 };
    static atomic_uint count;
    const char *slash = strrchr(s->path, '/');
    const int folder = slash ? (int)(slash + 1 - s->path) : 0;
    const int leaf = (int)strlen(s->path) - folder;
    const uint64_t mix =
        tct_mix((uint64_t)getpid() << 32 ^ (uint64_t)(1e9 * tct_seconds()) ^
                atomic_fetch_add(&count, 1));
    snprintf(s->temporary, PATH_MAX, "%.*s.%06x",
             folder + (leaf < NAME_MAX - MORE ? leaf : NAME_MAX - MORE),
             s->path, (unsigned)(mix & 0xffffff));
}

static void own_path(const tct_sink *s, char out[40])
{
    snprintf(out, 40, "/proc/self/fd/%d", s->fd);
}

/* Open an unnamed file in the folder of s->path, if it can be linked later. */
static bool open_unnamed(tct_sink *s)
{
    char folder[PATH_MAX], own[40];
    snprintf(folder, sizeof folder, "%s", s->path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = '\0';
    s->fd = open(slash ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (s->fd < 0) return false;
    own_path(s, own);
    s->unnamed = access(own, F_OK) == 0;
    if (s->unnamed) return true;
    close(s->fd);
    s->fd = -1;
    return false;
}

static tacit_status open_temporary(tct_sink *s)
{
    if (open_unnamed(s)) return TACIT_OK;
    for (int k = 0; k < TEMPORARIES && s->fd < 0; k++) {
        next_temporary(s);
        s->fd =
            open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->fd < 0 && errno != EEXIST) break;
    }
    if (s->fd >= 0) return TACIT_OK;
    s->temporary[0] = '\0';
    return cannot(s->path, "written");
}

/* Link the unnamed file to a temporary name. */
static tacit_status name_temporary(tct_sink *s)
{
    char own[40];
    own_path(s, own);
    for (int k = 0; k < TEMPORARIES; k++) {
        next_temporary(s);
        if (linkat(AT_FDCWD, own, AT_FDCWD, s->temporary, AT_SYMLINK_FOLLOW) ==
            0) {
            s->unnamed = false;
            return TACIT_OK;
        }
        if (errno != EEXIST) break;
    }
    s->temporary[0] = '\0';
    return cannot(s->path, "given its name");
}

static tacit_status open_file(tct_sink *s)
{
    if (s->open >= 0) {
        s->fd = fcntl(s->open, F_DUPFD_CLOEXEC, 0);
        return s->fd < 0 ? cannot(s->path, "written") : TACIT_OK;
    }
    struct stat st;
    const bool exists = stat(s->path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        FAIL(TACIT_IO, "%s: is a folder: name a file in it", s->path);
    if (exists && !S_ISREG(st.st_mode)) {
        s->fd = open(s->path, O_WRONLY | O_CLOEXEC);
        return s->fd < 0 ? cannot(s->path, "written") : TACIT_OK;
    }
    if (exists && access(s->path, W_OK) != 0) return cannot(s->path, "written");
    TRY(open_temporary(s));
    if (exists) fchmod(s->fd, st.st_mode & 0777);
    return TACIT_OK;
}

static tacit_status build(tct_sink *s, const char *path, bool pack)
{
    TRY(TCT_ALLOC(PIECE, "a piece of a file", &s->piece));
    TRY(TCT_ALLOC(2 * s->world->size, "message sizes", &s->counts));
    if (s->world->rank != 0) return TACIT_OK;
    TRY(set_path(s, path));
    TRY(open_file(s));
    if (!pack) return TACIT_OK;
    TRY(TCT_ALLOC(PACKED, "a piece of a file", &s->packed));
    s->packing = deflateInit2(&s->z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK;
    if (s->packing) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY, "%s: no memory to pack it", path);
}

tacit_status tct_sink_agree(tacit_world *w, const char *path)
{
    return tct_agree_name(w, "the file to write", path);
}

tacit_status tct_sink_open(tacit_world *w, const char *path, bool pack,
                           tct_sink **out)
{
    TRY(tct_sink_agree(w, path));
    tct_sink *s = tct_calloc(sizeof *s);
    tacit_status status = TACIT_OK;
    if (s) {
        s->world = w;
        s->fd = -1;
        status = build(s, path, pack);
    } else {
        status =
            tacit_error_set(TACIT_NO_MEMORY, "%s: no memory to write it", path);
    }
    status = tct_agree(w, status);
    if (status < 0) tct_sink_close(&s);
    else *out = s;
    return status;
}

tacit_world *tct_sink_world(const tct_sink *s)
{
    return s->world;
}

/* Write at `offset`, or at the current position if it is negative. A file size
 * limit (ulimit -f) becomes an error, like a full disk: SIGXFSZ is blocked and
 * discarded in this thread, so the caller's handling of it is unchanged. */
ssize_t tct_write(int fd, const void *p, size_t bytes, int64_t offset)
{
    static const struct timespec now = {0};
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    const ssize_t n =
        offset < 0 ? write(fd, p, bytes) : pwrite(fd, p, bytes, offset);
    const int error = errno;
    if (n < 0 && error == EFBIG && !sigismember(&pending, SIGXFSZ))
        sigtimedwait(&limit, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

static tacit_status put_raw(tct_sink *s, const char *p, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = tct_write(s->fd, p, bytes, -1);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return cannot(s->path, "written");
        p += n;
        bytes -= (size_t)n;
    }
    return TACIT_OK;
}

/* Pack `bytes` more; Z_FINISH flushes zlib. */
static tacit_status put_packed(tct_sink *s, const char *p, size_t bytes,
                               int flush)
{
    s->z.next_in = (const Bytef *)p;
    s->z.avail_in = (uInt)bytes; /* at most a piece */
    do {
        s->z.next_out = (Bytef *)s->packed;
        s->z.avail_out = PACKED;
        deflate(&s->z, flush);
        TRY(put_raw(s, s->packed, PACKED - s->z.avail_out));
    } while (s->z.avail_out == 0);
    return TACIT_OK;
}

static tacit_status put(tct_sink *s, const void *data, size_t bytes)
{
    s->offset += (int64_t)bytes;
    return s->packing ? put_packed(s, data, bytes, Z_NO_FLUSH)
                      : put_raw(s, data, bytes);
}

tacit_status tct_sink_write(tct_sink *s, const void *data, size_t bytes)
{
    tacit_status status = TACIT_OK;
    if (s->world->rank == 0) status = put(s, data, bytes);
    return tct_agree(s->world, status);
}

/* Send `count` bytes of rank `from`'s piece to rank 0. */
static tacit_status send_piece(tct_sink *s, int from, int64_t count)
{
    tacit_world *w = s->world;
    int64_t *to = s->counts, *of = s->counts + w->size;
    memset(to, 0, 2 * (size_t)w->size * sizeof *to);
    if (w->rank == from) to[0] = count;
    if (w->rank == 0) of[from] = count;
    return tct_alltoallv(w, to, w->rank == from ? s->piece : NULL, of,
                         w->rank == 0 ? s->piece : NULL);
}

tacit_status tct_sink_next(tct_sink *s, tct_gathering *g, tacit_status before,
                           const char **data, size_t *bytes)
{
    tacit_world *w = s->world;
    const size_t room = g->most > 0 ? g->most : PIECE;
    *data = s->piece;
    *bytes = 0;
    TRY(tct_agree(w, before));
    for (; g->rank < w->size; g->rank++) {
        int64_t n = 0;
        if (w->rank == g->rank) n = (int64_t)g->make(g->ctx, s->piece, room);
        TRY(tct_bcast(w, g->rank, sizeof n, &n));
        if (n == 0) continue;
        if (g->rank > 0) TRY(tct_agree(w, send_piece(s, g->rank, n)));
        *bytes = (size_t)n;
        break;
    }
    return TACIT_OK;
}

tacit_status tct_sink_gather(tct_sink *s, tct_make make, void *ctx)
{
    tct_gathering g = {.make = make, .ctx = ctx};
    tacit_status status = TACIT_OK;
    for (;;) {
        const char *piece;
        size_t bytes;
        TRY(tct_sink_next(s, &g, status, &piece, &bytes));
        if (bytes == 0) return TACIT_OK;
        if (s->world->rank == 0) status = put(s, piece, bytes);
    }
}

int64_t tct_sink_offset(const tct_sink *s)
{
    return s->offset;
}

const char *tct_sink_path(const tct_sink *s)
{
    return s->path;
}

tacit_status tct_sink_put(tct_sink *s, int64_t offset, const void *data,
                          size_t bytes)
{
    if (offset == s->offset) return put(s, data, bytes);
    if (tct_write(s->fd, data, bytes, offset) == (ssize_t)bytes)
        return TACIT_OK;
    return cannot(s->path, "written");
}

/* The temporary file gets the file's name. */
static tacit_status name_file(tct_sink *s)
{
    if (s->temporary[0] && rename(s->temporary, s->path) != 0)
        return cannot(s->path, "given its name");
    s->temporary[0] = '\0';
    return TACIT_OK;
}

/* Some file systems report a full disk only when a descriptor is closed. */
static tacit_status finish_file(tct_sink *s)
{
    const int copy = s->unnamed ? fcntl(s->fd, F_DUPFD_CLOEXEC, 0) : s->fd;
    if (!s->unnamed) s->fd = -1;
    return copy < 0 || close(copy) != 0 ? cannot(s->path, "written") : TACIT_OK;
}

tacit_status tct_sink_commit(tct_sink *s)
{
    tacit_status status = TACIT_OK;
    if (s->packing) status = put_packed(s, NULL, 0, Z_FINISH);
    if (s->world->rank == 0 && status == TACIT_OK) status = finish_file(s);
    const bool holds = held.depth > 0 && (s->unnamed || s->temporary[0]);
    if (holds && status == TACIT_OK) {
        s->before = held.last;
        held.last = s;
        return tct_agree(s->world, status);
    }
    if (s->unnamed && status == TACIT_OK) status = name_temporary(s);
    if (status == TACIT_OK) status = name_file(s);
    return tct_agree(s->world, status);
}

void tct_sink_hold(const tacit_world *w)
{
    if (held.depth++ == 0) held.world = w;
}

/* All files get temporary names before one gets its own. */
static tacit_status name_all(void)
{
    for (tct_sink *s = held.last; s; s = s->before)
        if (s->unnamed) TRY(name_temporary(s));
    for (tct_sink *s = held.last; s; s = s->before) TRY(name_file(s));
    return TACIT_OK;
}

static void close_all(void)
{
    while (held.last) {
        tct_sink *s = held.last;
        held.last = s->before;
        s->before = NULL;
        tct_sink_close(&s);
    }
}

tacit_status tct_sink_release(tacit_world *w, tacit_status status)
{
    if (held.depth == 0 || held.world != w || --held.depth > 0) return status;
    tacit_status named = status;
    if (status >= 0) named = tct_agree(w, name_all());
    close_all();
    return named < 0 ? named : status;
}

static bool is_held(const tct_sink *s)
{
    for (const tct_sink *h = held.last; h; h = h->before)
        if (h == s) return true;
    return false;
}

void tct_sink_close(tct_sink **out)
{
    tct_sink *s = *out;
    if (!s) return;
    if (is_held(s)) { /* tct_sink_release closes it */
        *out = NULL;
        return;
    }
    if (s->fd >= 0) close(s->fd);
    if (s->temporary[0]) unlink(s->temporary);
    if (s->packing) deflateEnd(&s->z);
    TCT_FREE(s->packed, s->counts, s->piece, s);
    *out = NULL;
}

tacit_status tct_sink_check(tacit_world *w, const char *path)
{
    struct stat st;
    TRY(tct_sink_agree(w, path));
    const bool is_pipe = w->rank == 0 && tct_sink_descriptor(path) < 0 &&
                         stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
    int64_t any = is_pipe; /* opening it would show its reader an end of file */
    TRY(tct_reduce_i64(w, TCT_MAX, 1, &any));
    if (any)
        return tct_agree(w, !is_pipe || access(path, W_OK) == 0
                                ? TACIT_OK
                                : cannot(path, "written"));
    tct_sink *s = NULL;
    const tacit_status status = tct_sink_open(w, path, false, &s);
    tct_sink_close(&s);
    return status;
}
