/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world_processes.c - the set-up plane of processes of one machine,
 * started together without MPI. Each rank has a window that all read. A step:
 * ranks write to their windows, pass a barrier, and read from the others'
 * windows.
 *
 * A window is a double buffer, so that one barrier a step suffices: a rank that
 * rewrites a half has passed the barrier of the other half, which all entered
 * after reading this one.
 *
 * If a rank's process has ended, the barrier fails at once on the others
 * (COMM). */
#include "comm/world/world_processes.h"
#include "comm/world/shared.h"
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE = 64,
    PAGE = 4096,
    HALF = 1 << 18,
    CHECKS = 300, /* before it yields its processor, */
    YIELDS = 50   /* and before it sleeps */
};

typedef struct { /* a barrier; counted in the first rank's piece */
    _Alignas(LINE) atomic_int arrived;
    _Alignas(LINE) atomic_uint completed;
    _Alignas(LINE) atomic_uint entered; /* by this rank */
} barrier;

enum { PIECE = PAGE + 2 * HALF }; /* of a rank: a barrier, a window */
_Static_assert(sizeof(barrier) <= PAGE, "a barrier fits on its page");
_Static_assert(TCT_PROCESSES_MOST * sizeof(int64_t) <= HALF,
               "a number for each rank fits into half a window");

typedef struct {
    int number; /* among all started processes */
    barrier *barrier;
    char *window;
    int64_t first; /* offset of this rank's part in what it sends */
} member;

typedef struct {
    tct_process_table *process_table;
    tct_shared *memory; /* of a split world; NULL: it belongs to the parent */
    unsigned entered;
    member of[]; /* [size] */
} group;

static group *group_of(const tacit_world *w)
{
    return w->state;
}

/* --- ended processes ------------------------------------------------------ */

void tct_how_ended(int rank, int how, char *text, size_t size)
{
    if (WIFSIGNALED(how))
        snprintf(text, size, "rank %d was killed by signal %d (%s)", rank,
                 WTERMSIG(how), strsignal(WTERMSIG(how)));
    else
        snprintf(text, size, "rank %d has ended, with status %d", rank,
                 WEXITSTATUS(how));
}

/* The rank of this world that was first to end, or (`killed`) to be killed; -1:
 * none. Later ones may have ended because of it. */
static int find_ended(const tacit_world *w, bool killed)
{
    const group *c = group_of(w);
    int first = -1, order = INT_MAX;
    if (atomic_load(&c->process_table->gone) == 0) return -1;
    for (int r = 0; r < w->size; r++) {
        const int number = c->of[r].number,
                  how = tct_how(c->process_table, number);
        if (how < 0 || (killed && !WIFSIGNALED(how))) continue;
        if (c->process_table->of[number].order > order) continue;
        first = r;
        order = c->process_table->of[number].order;
    }
    return first;
}

/* Note a lost rank; all later calls fail. */
static void note_ended(tacit_world *w, int rank)
{
    const group *c = group_of(w);
    tct_lost_rank *d = &w->lost_rank;
    tct_how_ended(rank, tct_how(c->process_table, c->of[rank].number), d->why,
                  sizeof d->why);
    d->rank = rank;
    d->noted = true;
}

/* Killed ranks only: one that ended normally may have left messages to be
 * read. */
static void note_killed(tacit_world *w)
{
    const int rank = w->lost_rank.noted ? -1 : find_ended(w, true);
    if (rank >= 0) note_ended(w, rank);
}

static int ask_killed(const tacit_world *w)
{
    return find_ended(w, true);
}

/* --- barriers ------------------------------------------------------------- */

/* Wait with increasing delays. */
static void back_off(int checks)
{
    const long us = checks - YIELDS - CHECKS;
    if (checks < CHECKS) tct_relax();
    else if (us <= 0) sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = (us < 1000 ? us : 1000) * 1000},
                  NULL);
}

/* The first rank that has not entered this barrier; -1: none. */
static int find_missing(const tacit_world *w)
{
    const group *c = group_of(w);
    int r = 0;
    while (r < w->size && atomic_load(&c->of[r].barrier->entered) >= c->entered)
        r++;
    return r < w->size ? r : -1;
}

static tacit_status wait_barrier(tacit_world *w)
{
    enum { MOST = 5000 };
    group *c = group_of(w);
    barrier *d = c->of[0].barrier;
    tct_timeout timeout = {.limit = w->timeout};
    const unsigned barrier_number = atomic_load(&d->completed);
    atomic_store(&c->of[w->rank].barrier->entered, ++c->entered);
    if (atomic_fetch_add(&d->arrived, 1) + 1 == w->size) {
        atomic_store(&d->arrived, 0);
        atomic_fetch_add(&d->completed, 1);
    }
    for (int n = 0; atomic_load(&d->completed) == barrier_number;
         n += n < MOST) {
        const int ended = n > CHECKS ? find_ended(w, false) : -1;
        if (ended >= 0 && atomic_load(&d->completed) == barrier_number) {
            note_ended(w, ended);
            return tct_complete(w);
        }
        const int missing = tct_is_over(&timeout) ? find_missing(w) : -1;
        if (missing >= 0) {
            tct_note_lost_rank(&w->lost_rank, missing, w->timeout);
            return tct_complete(w);
        }
        back_off(n);
    }
    return TACIT_OK;
}

static void *half_of(const group *c, int rank, unsigned number)
{
    return c->of[rank].window + (size_t)(number % 2) * HALF;
}

/* Publish `bytes`, at most HALF, and pass the barrier. */
static tacit_status publish(tacit_world *w, const void *data, size_t bytes)
{
    const group *c = group_of(w);
    if (bytes > 0) memcpy(half_of(c, w->rank, c->entered), data, bytes);
    return wait_barrier(w);
}

/* The data a rank has published; valid until the next barrier. */
static const void *published(const tacit_world *w, int rank)
{
    return half_of(group_of(w), rank, group_of(w)->entered - 1);
}

static int64_t part_of(int64_t all, int64_t from)
{
    const int64_t left = all - from;
    return left < 0 ? 0 : left < HALF ? left : HALF;
}

/* --- set-up plane --------------------------------------------------------- */

/* Reduce the published data in rank order, for the same bits on all ranks. */
static void combine(const tacit_world *w, tct_type type, tct_reduction op,
                    size_t count, void *out)
{
    int64_t *i = out;
    double *f = out;
    memcpy(out, published(w, 0), count * sizeof(double));
    for (int r = 1; r < w->size; r++) {
        const void *from = published(w, r);
        for (size_t k = 0; k < count; k++)
            if (type == TCT_I64)
                i[k] = tct_take_i64(op, i[k], ((const int64_t *)from)[k]);
            else f[k] = tct_take_f64(op, f[k], ((const double *)from)[k]);
    }
}

static tacit_status processes_reduce(tacit_world *w, tct_type type,
                                     tct_reduction op, size_t count, void *data)
{
    const int64_t bytes = (int64_t)(count * sizeof(double));
    for (int64_t at = 0; at < bytes; at += HALF) {
        const size_t n = (size_t)part_of(bytes, at);
        char *piece = (char *)data + at;
        TRY(publish(w, piece, n));
        combine(w, type, op, n / sizeof(double), piece);
    }
    return TACIT_OK;
}

static tacit_status processes_bcast(tacit_world *w, int root, size_t bytes,
                                    void *data)
{
    for (int64_t at = 0; at < (int64_t)bytes; at += HALF) {
        const size_t n = (size_t)part_of((int64_t)bytes, at);
        char *piece = (char *)data + at;
        TRY(publish(w, piece, w->rank == root ? n : 0));
        if (w->rank != root) memcpy(piece, published(w, root), n);
    }
    return TACIT_OK;
}

static tacit_status processes_allgather(tacit_world *w, size_t bytes,
                                        const void *mine, void *all)
{
    for (int64_t at = 0; at < (int64_t)bytes; at += HALF) {
        const size_t n = (size_t)part_of((int64_t)bytes, at);
        TRY(publish(w, (const char *)mine + at, n));
        for (int r = 0; r < w->size; r++)
            memcpy((char *)all + (size_t)r * bytes + at, published(w, r), n);
    }
    return TACIT_OK;
}

/* Copy this rank's part of what rank r has published, which starts at offset
 * `from` of all that it sends. */
static void take_part(const tacit_world *w, int r, int64_t from, int64_t bytes,
                      char *to)
{
    const int64_t first = group_of(w)->of[r].first, end = first + bytes;
    const int64_t low = first > from ? first : from;
    const int64_t high = end < from + HALF ? end : from + HALF;
    if (low < high)
        memcpy(to + (low - first), (const char *)published(w, r) + (low - from),
               (size_t)(high - low));
}

/* Find the offset of this rank's part in what each rank sends; returns the most
 * bytes that a rank sends. */
static int64_t find_parts(const tacit_world *w)
{
    int64_t most = 0;
    for (int r = 0; r < w->size; r++) {
        const int64_t *to = published(w, r);
        int64_t all = 0;
        for (int k = 0; k < w->size; k++) {
            if (k == w->rank) group_of(w)->of[r].first = all;
            all += to[k];
        }
        if (all > most) most = all;
    }
    return most;
}

static tacit_status processes_alltoallv(tacit_world *w,
                                        const int64_t *send_bytes,
                                        const void *send,
                                        const int64_t *recv_bytes, void *recv)
{
    int64_t all = 0;
    for (int r = 0; r < w->size; r++) all += send_bytes[r];
    TRY(publish(w, send_bytes, (size_t)w->size * sizeof *send_bytes));
    const int64_t most = find_parts(w);
    for (int64_t from = 0; from < most; from += HALF) {
        TRY(publish(w, (const char *)send + from, (size_t)part_of(all, from)));
        char *to = recv;
        for (int r = 0; r < w->size; to += recv_bytes[r++])
            take_part(w, r, from, recv_bytes[r], to);
    }
    return TACIT_OK;
}

static void processes_abort(tacit_world *w, int exit_code)
{
    int none = 0;
    atomic_compare_exchange_strong(&group_of(w)->process_table->aborted, &none,
                                   1 + exit_code);
    _exit(exit_code);
}

static void processes_destroy(tacit_world *w)
{
    group *c = group_of(w);
    tct_shared_destroy(&c->memory);
    tct_free(c);
}

/* --- worlds --------------------------------------------------------------- */

static tacit_status processes_split(tacit_world *w, int colour,
                                    tacit_world **out);

static const tct_world_ops processes_ops = {
    TCT_WORLD_OPS(processes),
    .siblings = true,
    .progress = note_killed,
    .killed = ask_killed,
};

static group *group_new(tct_process_table *process_table, int size)
{
    group *c = tct_calloc(sizeof *c + (size_t)size * sizeof(member));
    if (c) c->process_table = process_table;
    return c;
}

static void add_member(group *c, int rank, int number, char *piece)
{
    c->of[rank] = (member){.number = number,
                           .barrier = (barrier *)(void *)piece,
                           .window = piece + PAGE};
}

/* Takes ownership of `c`, also on failure. */
static tacit_status world_of(group *c, int rank, int size, tacit_world **out)
{
    const tacit_status status = tct_world_new(&processes_ops, c, rank, size,
                                              (const int[]){rank, size}, out);
    if (status >= 0) (*out)->lost_rank.look = note_killed;
    else tct_shared_destroy(&c->memory);
    if (status < 0) tct_free(c);
    return status;
}

/* The world of the ranks with this rank's colour in `colours` [size], in new
 * shared memory. */
static tacit_status divide(tacit_world *w, const int *colours,
                           tacit_world **out)
{
    const group *all = group_of(w);
    const int mine = colours[w->rank];
    int rank = 0, size = 0;
    tct_shared *memory = NULL;
    TRY(tct_shared_create(w, PIECE, &memory));
    group *c = mine < 0 ? NULL : group_new(all->process_table, w->size);
    if (!c) {
        tct_shared_destroy(&memory);
        if (mine < 0) return TACIT_OK;
        FAIL(TACIT_NO_MEMORY, "no memory for a world");
    }
    c->memory = memory;
    for (int r = 0; r < w->size; r++) {
        if (colours[r] != mine) continue;
        if (r == w->rank) rank = size;
        add_member(c, size++, all->of[r].number, tct_shared_of(memory, r));
    }
    return world_of(c, rank, size, out);
}

static tacit_status processes_split(tacit_world *w, int colour,
                                    tacit_world **out)
{
    int *colours = NULL;
    tacit_status status = tct_agree(w, TCT_ALLOC(w->size, "a world", &colours));
    if (status >= 0) status = tct_allgather(w, sizeof colour, &colour, colours);
    if (status >= 0) status = divide(w, colours, out);
    tct_free(colours);
    return status;
}

/* --- before the processes start ------------------------------------------- */

static size_t process_table_bytes(int size)
{
    const size_t bytes =
        sizeof(tct_process_table) + (size_t)size * sizeof(tct_process_end);
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

size_t tct_processes_bytes(int size)
{
    return process_table_bytes(size) + (size_t)size * PIECE;
}

tacit_status tct_processes_world(int size, void *memory, tacit_world **out)
{
    group *c = group_new(memory, size);
    if (!c) FAIL(TACIT_NO_MEMORY, "no memory for a world");
    char *piece = (char *)memory + process_table_bytes(size);
    for (int r = 0; r < size; r++, piece += PIECE) add_member(c, r, r, piece);
    return world_of(c, 0, size, out);
}

void tct_processes_join(tacit_world *w, int rank)
{
    w->rank = w->place = rank;
}
