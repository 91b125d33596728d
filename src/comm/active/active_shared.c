/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active_shared.c - messages between ranks that share memory. A
 * message stays where its sender has written it; into the receiver's box goes a
 * note of where. Who sends draws the number of a note, so that a box needs no
 * lock; it has as many notes as come in a round, and one of each parity of
 * rounds.
 *
 * A rank's piece of the memory: what the others must know of it, its boxes
 * [2][boxes] one after the other, and its room. */
#include "comm/active/active.h"
#include "comm/link/link.h"
#include "comm/link/shared.h"

enum { LINE = 64, LOOKS = 2000, LOOKS_CROWDED = 50 };

typedef struct {
    tct_counter ready; /* its number, from 1, once it is written */
    int64_t at;        /* bytes from the beginning of the sender's room */
    int64_t bytes;
    int64_t from;
} note;

typedef struct {
    uint64_t drawn; /* numbers of notes */
    int64_t most;   /* notes            */
    int64_t first;  /* byte of the piece where they lie */
} tag_head;

typedef struct {
    _Alignas(LINE) tct_counter taken; /* messages of this rank, by all others */
    /* What others look at who have waited for too long. */
    _Alignas(LINE) uint64_t read; /* messages that this rank has dropped ...  */
    uint64_t each;                /* ... and those of a round                */
    uint64_t waits;               /* 1: it does, and ...                     */
    int64_t due;                  /* byte of the piece from which on [ranks]
                                     bytes say for whom                      */
    _Alignas(LINE) int64_t room;  /* byte of the piece where it begins       */
    tag_head tag[2 * TCT_ACTIVE_TAGS];
} piece;

typedef struct {
    tct_shared *memory;
    piece *own;
    uint64_t sent;
    uint64_t seen[2 * TCT_ACTIVE_TAGS]; /* notes of each box */
    int looks;
    int *list; /* [ranks] */
} office;

static piece *piece_of(const office *o, int rank)
{
    return tct_shared_of(o->memory, rank);
}

static int tag_at(const tct_active *p, int tag)
{
    return (int)(p->round % 2) * p->tags + tag;
}

static note *note_of(piece *q, int tag, uint64_t number)
{
    note *all = (note *)(void *)((char *)q + q->tag[tag].first);
    return &all[(number - 1) % (uint64_t)q->tag[tag].most];
}

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Where boxes and room lie: into `q`, unless that is NULL; bytes in all. */
static size_t lay_out(const tct_active_needs *needs, int ranks, piece *q)
{
    size_t at = lines(sizeof(piece));
    if (q) q->due = (int64_t)at;
    at += lines((size_t)ranks);
    for (int k = 0; k < 2 * needs->tags; k++) {
        const int64_t most = needs->in[k % needs->tags];
        if (q) q->tag[k] = (tag_head){.most = most, .first = (int64_t)at};
        if (q && k < needs->tags) q->each += (uint64_t)most;
        at += lines((size_t)most * sizeof(note));
    }
    if (q) q->room = (int64_t)at;
    return at + needs->room;
}

static tacit_status shared_open(tct_active *p, const tct_active_needs *needs)
{
    office *o = tct_calloc(sizeof *o);
    tacit_status status = o ? TACIT_OK : TACIT_NO_MEMORY;
    if (!o) tacit_error_set(status, "no memory for letters");
    p->state = o;
    const int ranks = p->world->size;
    if (status >= 0) status = TCT_ALLOC(ranks, "letters", &o->list);
    TRY(tct_agree(p->world, status));
    TRY(tct_shared_create(p->world, lay_out(needs, ranks, NULL), &o->memory));
    o->own = piece_of(o, p->world->rank);
    lay_out(needs, ranks, o->own);
    p->room = (char *)o->own + o->own->room;
    const bool crowded = p->world->local_size > tct_processors();
    o->looks = crowded ? LOOKS_CROWDED : LOOKS;
    return tct_agree(p->world, TACIT_OK); /* all have laid theirs out */
}

/* --- waiting -------------------------------------------------------------- */

enum { NO_BOX = -1 }; /* until the others have read this rank's messages */

static char *due_of(piece *q)
{
    return (char *)q + q->due;
}

/* For whom this rank waits, where all can see it. */
static void tell(const tct_active *p, int tag)
{
    const office *o = p->state;
    for (int r = 0; r < p->world->size; r++) {
        const piece *q = piece_of(o, r);
        const bool due = tag == NO_BOX
                             ? tct_signal_value(&q->read) < p->round * q->each
                             : tct_active_is_due(p, tag, r);
        __atomic_store_n(&due_of(o->own)[r], due && q != o->own,
                         __ATOMIC_RELAXED);
    }
    tct_signal_send(&o->own->waits, 1);
}

/* The first that is waited for by this rank, or by one that this waits for, and
 * so on, and does not wait itself; -1: there is none. */
static int missing(const tct_active *p)
{
    const office *o = p->state;
    const int ranks = p->world->size;
    int listed = 1;
    o->list[0] = p->world->rank;
    for (int k = 0; k < listed; k++)
        for (int r = 0; r < ranks; r++) {
            bool known = false;
            for (int i = 0; i < listed && !known; i++) known = o->list[i] == r;
            if (known || !__atomic_load_n(&due_of(piece_of(o, o->list[k]))[r],
                                          __ATOMIC_RELAXED))
                continue;
            if (!tct_signal_value(&piece_of(o, r)->waits)) return r;
            o->list[listed++] = r;
        }
    return -1;
}

/* Others hear of a wait that takes long; where it has been in vain they still
 * see for whom. */
static tacit_status await(tct_active *p, const tct_counter *of, uint64_t value,
                          int tag)
{
    const office *o = p->state;
    const double silent = p->limit / 8.0;
    if (tct_spin(of, value, o->looks)) return TACIT_OK;
    if (tct_await_for(p->world, of, value, silent)) return TACIT_OK;
    TRY(tct_complete(p->world));
    tell(p, tag);
    if (!tct_await_for(p->world, of, value, p->limit - silent)) {
        if (!p->world->lost_rank.noted)
            tct_desert(&p->world->lost_rank, missing(p), p->limit);
        return tct_complete(p->world);
    }
    tct_signal_send(&o->own->waits, 0);
    return TACIT_OK;
}

static tacit_status shared_settle(tct_active *p)
{
    const office *o = p->state;
    return await(p, &o->own->taken, o->sent, NO_BOX);
}

/* --- messages ------------------------------------------------------------- */

static tacit_status shared_send(tct_active *p, int tag, int to,
                                const void *data, int64_t bytes)
{
    office *o = p->state;
    piece *q = piece_of(o, to);
    const int at = tag_at(p, tag);
    const uint64_t number = tct_signal_add(&q->tag[at].drawn, 1) + 1;
    note *n = note_of(q, at, number);
    n->at = (const char *)data - p->room;
    n->bytes = bytes;
    n->from = p->world->rank;
    o->sent++;
    tct_signal(&n->ready, number);
    return TACIT_OK;
}

static tacit_status shared_take(tct_active *p, int tag, tct_active_message *out)
{
    office *o = p->state;
    const int at = tag_at(p, tag);
    const uint64_t number = ++o->seen[at];
    const note *n = note_of(o->own, at, number);
    TRY(await(p, &n->ready, number, tag));
    const piece *q = piece_of(o, (int)n->from);
    *out = (tct_active_message){.data = (const char *)q + q->room + n->at,
                                .bytes = n->bytes,
                                .from = (int)n->from};
    return TACIT_OK;
}

static void shared_drop(tct_active *p, const tct_active_message *message)
{
    const office *o = p->state;
    tct_signal_send(&o->own->read, o->own->read + 1);
    tct_signal_add(&piece_of(o, message->from)->taken.value, 1);
}

static void shared_close(tct_active *p)
{
    office *o = p->state;
    /* its messages lie here; on an error the others do not wait for them */
    if (o->own && p->round > 0 && shared_settle(p) < 0) o->own = NULL;
    tct_shared_destroy(&o->memory);
    TCT_FREE(o->list, o);
}

const tct_active_ops tct_active_shared = {
    .name = "shm",
    .open = shared_open,
    .settle = shared_settle,
    .send = shared_send,
    .take = shared_take,
    .drop = shared_drop,
    .close = shared_close,
};
