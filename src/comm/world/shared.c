/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/shared.c - memory that ranks share: the heap of one process, or a
 * memory segment, whose name, if any, is removed once all ranks have opened
 * it. */
#include "comm/world/shared.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, NAMES = 100 /* tried before giving up */ };

struct tct_shared {
    char *at; /* a piece for each rank */
    size_t piece, bytes;
    bool reserved;     /* memory is taken part by part, through: */
    int fd;            /* of a reserved segment; or -1 */
    atomic_int *users; /* in one process: the last user frees all */
};

bool tct_can_share(const tacit_world *w, char *reason, size_t size)
{
    if (w->local_size == w->size) return true;
    snprintf(reason, size, "the ranks are on several machines: %d of %d here",
             w->local_size, w->size);
    return false;
}

/* --- within a process ----------------------------------------------------- */

static tacit_status share_heap(tacit_world *w, tct_shared *s)
{
    const bool first = w->rank == 0;
    if (first) {
        s->at = tct_calloc(s->bytes);
        s->users = tct_alloc(sizeof *s->users);
        if (s->users) atomic_init(s->users, w->size);
    }
    void *both[] = {s->at, s->users};
    TRY(tct_bcast(w, 0, sizeof both, both));
    if (!both[0] || !both[1]) { /* rank 0 frees what it has */
        if (first) TCT_FREE(s->at, s->users);
        s->at = NULL;
        s->users = NULL;
        FAIL(TACIT_NO_MEMORY, "no memory for messages");
    }
    s->at = both[0];
    s->users = both[1];
    return TACIT_OK;
}

/* --- between processes ---------------------------------------------------- */

/* Advice against error `code`. */
static const char *advice(int code)
{
    switch (code) {
    case EFBIG: return ": raise the limit of file sizes (ulimit -f)";
    case ENOSPC: return ": make room in /dev/shm, or take fewer ranks";
    case ENOMEM: return ": free memory, or take fewer ranks";
    case EMFILE: return ": raise the limit of open files (ulimit -n)";
    default: return "";
    }
}

static tacit_status refuse(const char *what)
{
    const int code = errno;
    const bool full = code == ENOSPC || code == EFBIG || code == ENOMEM;
    FAIL(full ? TACIT_NO_MEMORY : TACIT_IO, "shared memory: %s: %s%s", what,
         strerror(code), advice(code));
}

static tacit_status map(int fd, tct_shared *s)
{
    void *at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return refuse("mmap");
    s->at = at;
    return TACIT_OK;
}

/* A memory segment, and how others open it while `fd` is open. */
typedef struct {
    bool has_name; /* `name` is a shm_open name; or else the path of the fd */
    char name[64];
    int fd; /* of its creator, or < 0 */
} segment;

static void name_segment(segment *g)
{
    static atomic_int segments;
    for (int n = 0; g->fd < 0 && n < NAMES; n++) {
        snprintf(g->name, sizeof g->name, "/tacit-%ld-%d", (long)getpid(),
                 atomic_fetch_add(&segments, 1));
        g->fd = shm_open(g->name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
        if (g->fd < 0 && errno != EEXIST) break;
    }
}

static tacit_status make_segment(tct_shared *s, segment *g)
{
    if (g->has_name) name_segment(g);
    else g->fd = memfd_create("tacit", MFD_CLOEXEC);
    if (g->fd < 0) return refuse(g->has_name ? "shm_open" : "memfd_create");
    if (!g->has_name)
        snprintf(g->name, sizeof g->name, "/proc/%ld/fd/%d", (long)getpid(),
                 g->fd);
    if (s->reserved)
        return ftruncate(g->fd, (off_t)s->bytes) ? refuse("ftruncate")
                                                 : map(g->fd, s);
    /* allocate now: a later shortage would kill a process */
    errno = posix_fallocate(g->fd, 0, (off_t)s->bytes);
    return errno ? refuse("posix_fallocate") : map(g->fd, s);
}

static void unmap(tct_shared *s)
{
    if (s->at) munmap(s->at, s->bytes);
    if (s->fd >= 0) close(s->fd);
    s->at = NULL;
    s->fd = -1;
}

/* Keep the descriptor of a reserved segment, or close it. */
static void keep(tct_shared *s, int fd, bool kept)
{
    if (s->reserved && kept) s->fd = fd;
    else close(fd);
}

static tacit_status open_segment(tct_shared *s, const segment *g)
{
    const int fd = g->has_name ? shm_open(g->name, O_RDWR, S_IRUSR | S_IWUSR)
                               : open(g->name, O_RDWR | O_CLOEXEC);
    if (fd < 0) return refuse(g->has_name ? "shm_open" : g->name);
    const tacit_status status = map(fd, s);
    keep(s, fd, status >= 0);
    return status;
}

/* A segment without a name cannot be left over, and does not depend on the size
 * of /dev/shm. */
static tacit_status share_segment(tacit_world *w, tct_shared *s, bool has_name)
{
    segment g = {.has_name = has_name, .fd = -1};
    tacit_status status = TACIT_OK;
    if (w->rank == 0) status = make_segment(s, &g);
    status = tct_agree(w, status);
    if (status >= 0) status = tct_bcast(w, 0, sizeof g.name, g.name);
    if (status >= 0 && w->rank > 0) status = open_segment(s, &g);
    status = tct_agree(w, status);
    if (g.fd >= 0 && has_name) shm_unlink(g.name);
    if (g.fd >= 0) keep(s, g.fd, status >= 0);
    if (status < 0) unmap(s);
    return status;
}

static tacit_status share_segments(tacit_world *w, tct_shared *s)
{
    if (w->ops->siblings && share_segment(w, s, false) >= 0) return TACIT_OK;
    return share_segment(w, s, true);
}

/* --- both ----------------------------------------------------------------- */

static tacit_status create(tacit_world *w, size_t bytes, bool reserved,
                           tct_shared **out)
{
    int64_t most = (int64_t)bytes;
    TRY(tct_reduce_i64(w, TCT_MAX, 1, &most));
    tct_shared *s = tct_calloc(sizeof *s);
    tacit_status status = s ? TACIT_OK : TACIT_NO_MEMORY;
    if (!s) tacit_error_set(status, "no memory for messages");
    status = tct_agree(w, status);
    if (status < 0) {
        tct_free(s);
        return status;
    }
    s->reserved = reserved;
    s->fd = -1;
    s->piece = ((size_t)most + PAGE) / PAGE * PAGE;
    s->bytes = s->piece * (size_t)w->size;
    const bool here = w->size == 1 || w->ops->one_process;
    status = tct_agree(w, here ? share_heap(w, s) : share_segments(w, s));
    if (status < 0) tct_shared_destroy(&s);
    else *out = s;
    return status;
}

tacit_status tct_shared_create(tacit_world *w, size_t bytes, tct_shared **out)
{
    return create(w, bytes, false, out);
}

tacit_status tct_shared_sparse(tacit_world *w, size_t bytes, tct_shared **out)
{
    return create(w, bytes, true, out);
}

tacit_status tct_shared_back(const tct_shared *s, int rank, size_t from,
                             size_t bytes)
{
    const size_t at = (size_t)rank * s->piece + from;
    const int code =
        bytes > 0 ? posix_fallocate(s->fd, (off_t)at, (off_t)bytes) : 0;
    if (code)
        FAIL(TACIT_NO_MEMORY, "shared memory: %zu bytes: %s%s", bytes,
             strerror(code), advice(code));
    return TACIT_OK;
}

void tct_shared_unback(const tct_shared *s, int rank, size_t from, size_t bytes)
{
    const size_t first = (from + PAGE - 1) / PAGE * PAGE,
                 last = (from + bytes) / PAGE * PAGE;
    const size_t at = (size_t)rank * s->piece + first;
    if (last > first)
        (void)fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)at, (off_t)(last - first));
}

void *tct_shared_of(const tct_shared *s, int rank)
{
    return s->at + (size_t)rank * s->piece;
}

void tct_shared_destroy(tct_shared **shared)
{
    tct_shared *s = *shared;
    if (!s) return;
    if (!s->users) unmap(s);
    else if (s->users && atomic_fetch_sub(s->users, 1) == 1)
        TCT_FREE(s->at, s->users);
    tct_free(s);
    *shared = NULL;
}

/* --- waiting -------------------------------------------------------------- */

bool tct_await_for(tacit_world *w, const tct_counter *of, uint64_t value,
                   double seconds)
{
    tct_timeout timeout = {.limit = seconds};
    while (!tct_signalled(of, value)) {
        if (tct_is_over(&timeout)) return false;
        /* another rank's set-up message may depend on this rank's progress */
        if (w->ops->progress) w->ops->progress(w);
        if (w->lost_rank.noted) return tct_signalled(of, value);
        sched_yield();
    }
    return true;
}

void tct_await(tacit_world *w, const tct_counter *of, uint64_t value,
               int checks)
{
    if (!tct_spin(of, value, checks)) tct_await_for(w, of, value, 0.0);
}
