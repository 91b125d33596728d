/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world_processes.c - processes of one machine that were started
 * together, without MPI: set-up plane. Each rank has a window that all read. It
 * shows what it has there, all meet, and each takes what is for it.
 *
 * A window has two halves, used in turn: who writes to one again has been to
 * the meeting of the other, where all came when they were through with this
 * one. So there is one meeting for each half that is full.
 *
 * A meeting to which a rank cannot come any more, since its process has ended,
 * fails on all others at once (COMM). */
#include "comm/link/shared.h"
#include "comm/world/processes.h"
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
    LOOKS = 300, /* before it lets others have its processor, */
    YIELDS = 50  /* and before it sleeps                      */
};

typedef struct { /* where all meet: in the piece of the first rank */
    _Alignas(LINE) atomic_int here;
    _Alignas(LINE) atomic_uint meetings;
    _Alignas(LINE) atomic_uint came; /* each rank in its own: to so many */
} door;

enum { PIECE = PAGE + 2 * HALF }; /* a rank's: a door, a window */
_Static_assert(sizeof(door) <= PAGE, "a door fits on its page");
_Static_assert(TCT_PROCESSES_MOST * sizeof(int64_t) <= HALF,
               "what a rank says of all fits into half a window");

typedef struct {
    int number; /* among all that were started */
    door *door;
    char *window;
    int64_t first; /* of what it sends to all: where this rank's part begins */
} member;

typedef struct {
    tct_process_table *process_table;
    tct_shared *memory; /* a part's own; of all it is there to the end */
    unsigned turn;
    member of[]; /* [size] */
} crew;

static crew *crew_of(const tacit_world *w)
{
    return w->state;
}

/* --- who has ended -------------------------------------------------------- */

void tct_how_ended(int rank, int how, char *text, size_t size)
{
    if (WIFSIGNALED(how))
        snprintf(text, size, "rank %d was killed by signal %d (%s)", rank,
                 WTERMSIG(how), strsignal(WTERMSIG(how)));
    else
        snprintf(text, size, "rank %d has ended, with status %d", rank,
                 WEXITSTATUS(how));
}

/* The rank that has ended, or (`killed`) has been, before all others, some of
 * which may have ended because of it; < 0: none. A part goes its way without
 * the ranks of others. */
static int find_ended(const tacit_world *w, bool killed)
{
    const crew *c = crew_of(w);
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

/* All calls fail from now on. */
static void note_ended(tacit_world *w, int rank)
{
    const crew *c = crew_of(w);
    tct_lost_rank *d = &w->lost_rank;
    tct_how_ended(rank, tct_how(c->process_table, c->of[rank].number), d->why,
                  sizeof d->why);
    d->rank = rank;
    d->noted = true;
}

/* Who has left in good order may have left before its last message was read. */
static void look_for_killed(tacit_world *w)
{
    const int rank = w->lost_rank.noted ? -1 : find_ended(w, true);
    if (rank >= 0) note_ended(w, rank);
}

/* --- meetings ------------------------------------------------------------- */

/* The longer it has taken the longer it may take. */
static void nap(int looks)
{
    const long us = looks - YIELDS - LOOKS;
    if (looks < LOOKS) tct_relax();
    else if (us <= 0) sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = (us < 1000 ? us : 1000) * 1000},
                  NULL);
}

/* The first that has not come to the meeting where this rank is. */
static int find_missing(const tacit_world *w)
{
    const crew *c = crew_of(w);
    int r = 0;
    while (r < w->size && atomic_load(&c->of[r].door->came) >= c->turn) r++;
    return r < w->size ? r : -1;
}

static tacit_status meet(tacit_world *w)
{
    enum { MOST = 5000 };
    crew *c = crew_of(w);
    door *d = c->of[0].door;
    tct_timeout timeout = {.limit = w->timeout};
    const unsigned meeting = atomic_load(&d->meetings);
    atomic_store(&c->of[w->rank].door->came, ++c->turn);
    if (atomic_fetch_add(&d->here, 1) + 1 == w->size) {
        atomic_store(&d->here, 0);
        atomic_fetch_add(&d->meetings, 1);
    }
    for (int n = 0; atomic_load(&d->meetings) == meeting; n += n < MOST) {
        const int ended = n > LOOKS ? find_ended(w, false) : -1;
        if (ended >= 0 && atomic_load(&d->meetings) == meeting) {
            note_ended(w, ended);
            return tct_complete(w);
        }
        const int missing = tct_is_over(&timeout) ? find_missing(w) : -1;
        if (missing >= 0) {
            tct_desert(&w->lost_rank, missing, w->timeout);
            return tct_complete(w);
        }
        nap(n);
    }
    return TACIT_OK;
}

static void *half_of(const crew *c, int rank, unsigned turn)
{
    return c->of[rank].window + (size_t)(turn % 2) * HALF;
}

/* Show all others `bytes`, at most HALF. */
static tacit_status show(tacit_world *w, const void *data, size_t bytes)
{
    const crew *c = crew_of(w);
    if (bytes > 0) memcpy(half_of(c, w->rank, c->turn), data, bytes);
    return meet(w);
}

/* What a rank has shown; until the next meeting. */
static const void *shown(const tacit_world *w, int rank)
{
    return half_of(crew_of(w), rank, crew_of(w)->turn - 1);
}

static int64_t part_of(int64_t all, int64_t from)
{
    const int64_t left = all - from;
    return left < 0 ? 0 : left < HALF ? left : HALF;
}

/* --- set-up plane --------------------------------------------------------- */

/* What all have shown, in rank order, so that all get the same bits. */
static void combine(const tacit_world *w, tct_type type, tct_reduction op,
                    size_t count, void *out)
{
    int64_t *i = out;
    double *f = out;
    memcpy(out, shown(w, 0), count * sizeof(double));
    for (int r = 1; r < w->size; r++) {
        const void *from = shown(w, r);
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
        TRY(show(w, piece, n));
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
        TRY(show(w, piece, w->rank == root ? n : 0));
        if (w->rank != root) memcpy(piece, shown(w, root), n);
    }
    return TACIT_OK;
}

static tacit_status processes_allgather(tacit_world *w, size_t bytes,
                                        const void *mine, void *all)
{
    for (int64_t at = 0; at < (int64_t)bytes; at += HALF) {
        const size_t n = (size_t)part_of((int64_t)bytes, at);
        TRY(show(w, (const char *)mine + at, n));
        for (int r = 0; r < w->size; r++)
            memcpy((char *)all + (size_t)r * bytes + at, shown(w, r), n);
    }
    return TACIT_OK;
}

/* Of what rank r shows, which begins at `from` of all that it sends, the part
 * that is for this rank. */
static void take_part(const tacit_world *w, int r, int64_t from, int64_t bytes,
                      char *to)
{
    const int64_t first = crew_of(w)->of[r].first, end = first + bytes;
    const int64_t low = first > from ? first : from;
    const int64_t high = end < from + HALF ? end : from + HALF;
    if (low < high)
        memcpy(to + (low - first), (const char *)shown(w, r) + (low - from),
               (size_t)(high - low));
}

/* Where each rank's part for this one begins; the most that one sends to
 * all. */
static int64_t find_parts(const tacit_world *w)
{
    int64_t most = 0;
    for (int r = 0; r < w->size; r++) {
        const int64_t *to = shown(w, r);
        int64_t all = 0;
        for (int k = 0; k < w->size; k++) {
            if (k == w->rank) crew_of(w)->of[r].first = all;
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
    TRY(show(w, send_bytes, (size_t)w->size * sizeof *send_bytes));
    const int64_t most = find_parts(w);
    for (int64_t from = 0; from < most; from += HALF) {
        TRY(show(w, (const char *)send + from, (size_t)part_of(all, from)));
        char *to = recv;
        for (int r = 0; r < w->size; to += recv_bytes[r++])
            take_part(w, r, from, recv_bytes[r], to);
    }
    return TACIT_OK;
}

static void processes_abort(tacit_world *w, int exit_code)
{
    int none = 0;
    atomic_compare_exchange_strong(&crew_of(w)->process_table->aborted, &none,
                                   1 + exit_code);
    _exit(exit_code);
}

static void processes_destroy(tacit_world *w)
{
    crew *c = crew_of(w);
    tct_shared_destroy(&c->memory);
    tct_free(c);
}

/* --- crews and their worlds ----------------------------------------------- */

static tacit_status processes_split(tacit_world *w, int colour,
                                    tacit_world **out);

static const tct_world_ops processes_ops = {
    TCT_WORLD_OPS(processes),
    .siblings = true,
    .progress = look_for_killed,
};

static crew *crew_new(tct_process_table *process_table, int size)
{
    crew *c = tct_calloc(sizeof *c + (size_t)size * sizeof(member));
    if (c) c->process_table = process_table;
    return c;
}

static void add_member(crew *c, int rank, int number, char *piece)
{
    c->of[rank] = (member){.number = number,
                           .door = (door *)(void *)piece,
                           .window = piece + PAGE};
}

/* Takes `c`, also where it fails. */
static tacit_status world_of(crew *c, int rank, int size, tacit_world **out)
{
    const tacit_status status = tct_world_new(&processes_ops, c, rank, size,
                                              (const int[]){rank, size}, out);
    if (status >= 0) (*out)->lost_rank.look = look_for_killed;
    else tct_shared_destroy(&c->memory);
    if (status < 0) tct_free(c);
    return status;
}

/* Those of `colours` [size] that have this rank's, in new memory of all. */
static tacit_status divide(tacit_world *w, const int *colours,
                           tacit_world **out)
{
    const crew *all = crew_of(w);
    const int mine = colours[w->rank];
    int rank = 0, size = 0;
    tct_shared *memory = NULL;
    TRY(tct_shared_create(w, PIECE, &memory));
    crew *c = mine < 0 ? NULL : crew_new(all->process_table, w->size);
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

/* --- before they are started ---------------------------------------------- */

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
    crew *c = crew_new(memory, size);
    if (!c) FAIL(TACIT_NO_MEMORY, "no memory for a world");
    char *piece = (char *)memory + process_table_bytes(size);
    for (int r = 0; r < size; r++, piece += PIECE) add_member(c, r, r, piece);
    return world_of(c, 0, size, out);
}

void tct_processes_join(tacit_world *w, int rank)
{
    w->rank = w->place = rank;
}
