/* SPDX-License-Identifier: BSD-3-Clause
 * comm/active/active_shared.c - active messages between ranks that share
 * memory. A message stays where its sender wrote it; the receiver's queue of
 * that tag gets a descriptor. Senders draw descriptor numbers from a counter,
 * so that a queue needs no lock. A queue holds the descriptors of one round;
 * each tag has two, for odd and even rounds.
 *
 * Each rank's piece of the memory: what others read, its board of waits, its
 * queues [2][tags], and its room. */
#include "comm/active/transport.h"
#include "comm/channel/waits.h"

enum { LINE = 64, CHECKS = 2000, CHECKS_CROWDED = 50 };

typedef struct {
    tct_counter ready; /* its number, from 1, when it is written */
    int64_t at;        /* offset in the sender's room [bytes] */
    int64_t bytes;
    int64_t from;
} descriptor;

typedef struct {
    uint64_t drawn; /* descriptors so far */
    int64_t most;   /* descriptors */
    int64_t first;  /* offset of the first in the piece [bytes] */
} tag_head;

typedef struct {
    _Alignas(LINE) tct_counter taken; /* this rank's messages taken by others */
    /* For senders that wait for it */
    _Alignas(LINE) uint64_t read; /* messages this rank has dropped ... */
    uint64_t each;                /* ... and those it gets in a round */
    _Alignas(LINE) int64_t room;  /* offset in the piece [bytes] */
    tag_head tag[2 * TCT_ACTIVE_TAGS];
} piece;

typedef struct {
    tct_shared *memory;
    piece *own;
    uint64_t sent;
    uint64_t taken_of[2 * TCT_ACTIVE_TAGS]; /* descriptors taken */
    tct_waits waits;
} transport;

static piece *piece_of(const transport *o, int rank)
{
    return tct_shared_of(o->memory, rank);
}

static int tag_at(const tct_active *p, int tag)
{
    return (int)(p->round % 2) * p->tags + tag;
}

static descriptor *descriptor_of(piece *q, int tag, uint64_t number)
{
    descriptor *all = (descriptor *)(void *)((char *)q + q->tag[tag].first);
    return &all[(number - 1) % (uint64_t)q->tag[tag].most];
}

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Lay out the piece `q` (NULL: only count). Returns its bytes. */
static size_t lay_out(const tct_active_needs *needs, int ranks, piece *q)
{
    size_t at = lines(sizeof(piece));
    at += tct_waits_bytes(ranks);
    for (int k = 0; k < 2 * needs->tags; k++) {
        const int64_t most = needs->in[k % needs->tags];
        if (q) q->tag[k] = (tag_head){.most = most, .first = (int64_t)at};
        if (q && k < needs->tags) q->each += (uint64_t)most;
        at += lines((size_t)most * sizeof(descriptor));
    }
    if (q) q->room = (int64_t)at;
    return at + needs->room;
}

static tacit_status shared_open(tct_active *p, const tct_active_needs *needs)
{
    transport *o = tct_calloc(sizeof *o);
    tacit_status status = o ? TACIT_OK : TACIT_NO_MEMORY;
    if (!o) tacit_error_set(status, "no memory for messages");
    p->state = o;
    const int ranks = p->world->size;
    TRY(tct_agree(p->world, status));
    TRY(tct_shared_create(p->world, lay_out(needs, ranks, NULL), &o->memory));
    o->own = piece_of(o, p->world->rank);
    lay_out(needs, ranks, o->own);
    p->room = (char *)o->own + o->own->room;
    status =
        tct_waits_open(p->world, o->memory, lines(sizeof(piece)), &o->waits);
    const bool crowded = p->world->local_size > tct_processors();
    o->waits.checks = crowded ? CHECKS_CROWDED : CHECKS;
    return tct_agree(p->world, status); /* all pieces are laid out */
}

/* --- waiting -------------------------------------------------------------- */

enum { NO_TAG = -1 }; /* waits until its messages are read */

typedef struct {
    const tct_active *p;
    int tag;
} wait_of;

static bool is_due(const void *ctx, int rank)
{
    const wait_of *v = ctx;
    const piece *q = piece_of(v->p->state, rank);
    return v->tag == NO_TAG ? tct_signal_value(&q->read) < v->p->round * q->each
                            : tct_active_is_due(v->p, v->tag, rank);
}

/* Wait for `of` to reach `value`. */
static tacit_status await(const tct_active *p, const tct_counter *of,
                          uint64_t value, int tag)
{
    transport *o = p->state;
    if (tct_spin(of, value, o->waits.checks)) return TACIT_OK;
    o->waits.limit = p->limit;
    o->waits.silent = p->limit / 8.0;
    return tct_waits_long(&o->waits, of, value, -1, is_due,
                          &(wait_of){.p = p, .tag = tag});
}

static tacit_status shared_settle(tct_active *p)
{
    const transport *o = p->state;
    return await(p, &o->own->taken, o->sent, NO_TAG);
}

/* --- messages ------------------------------------------------------------- */

static tacit_status shared_send(tct_active *p, int tag, int to,
                                const void *data, int64_t bytes)
{
    transport *o = p->state;
    piece *q = piece_of(o, to);
    const int at = tag_at(p, tag);
    const uint64_t number = tct_signal_add(&q->tag[at].drawn, 1) + 1;
    descriptor *n = descriptor_of(q, at, number);
    n->at = (const char *)data - p->room;
    n->bytes = bytes;
    n->from = p->world->rank;
    o->sent++;
    tct_signal(&n->ready, number);
    return TACIT_OK;
}

static tacit_status shared_take(tct_active *p, int tag, tct_active_message *out)
{
    transport *o = p->state;
    const int at = tag_at(p, tag);
    const uint64_t number = ++o->taken_of[at];
    const descriptor *n = descriptor_of(o->own, at, number);
    TRY(await(p, &n->ready, number, tag));
    const piece *q = piece_of(o, (int)n->from);
    *out = (tct_active_message){.data = (const char *)q + q->room + n->at,
                                .bytes = n->bytes,
                                .from = (int)n->from};
    return TACIT_OK;
}

static void shared_drop(tct_active *p, const tct_active_message *message)
{
    const transport *o = p->state;
    tct_signal_send(&o->own->read, o->own->read + 1);
    tct_signal_add(&piece_of(o, message->from)->taken.value, 1);
}

static void shared_close(tct_active *p)
{
    transport *o = p->state;
    /* others may still read its messages; they stop on an error */
    if (o->own && p->round > 0 && shared_settle(p) < 0) o->own = NULL;
    tct_waits_close(&o->waits);
    tct_shared_destroy(&o->memory);
    TCT_FREE(o);
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
