/* SPDX-License-Identifier: BSD-3-Clause
 * comm/post_shared.c - letters between ranks that share memory. A letter stays
 * where its sender has written it; into the receiver's box goes a note of where.
 * Who sends draws the number of a note, so that a box needs no lock; it has as many
 * notes as come in a round, and one of each parity of rounds.
 *
 * A rank's piece of the memory: what the others must know of it, its boxes [2][boxes]
 * one after the other, and its room. */
#include "comm/link.h"
#include "comm/post.h"
#include "comm/shared.h"

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
} box_head;

typedef struct {
    _Alignas(LINE) tct_counter taken; /* letters of this rank, by all others */
    _Alignas(LINE) int64_t room;      /* byte of the piece where it begins */
    box_head box[2 * TCT_POST_BOXES];
} piece;

typedef struct {
    tct_shared *memory;
    piece *own;
    uint64_t sent;
    uint64_t seen[2 * TCT_POST_BOXES]; /* notes of each box */
    int looks;
} office;

static piece *piece_of(const office *o, int rank)
{
    return tct_shared_of(o->memory, rank);
}

static int box_at(const tct_post *p, int box)
{
    return (int)(p->round % 2) * p->boxes + box;
}

static note *note_of(piece *q, int box, uint64_t number)
{
    note *all = (note *)(void *)((char *)q + q->box[box].first);
    return &all[(number - 1) % (uint64_t)q->box[box].most];
}

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Where boxes and room lie: into `q`, unless that is NULL; bytes in all. */
static size_t lay_out(const tct_post_needs *needs, piece *q)
{
    size_t at = lines(sizeof(piece));
    for (int k = 0; k < 2 * needs->boxes; k++) {
        const int64_t most = needs->in[k % needs->boxes];
        if (q) q->box[k] = (box_head){.most = most, .first = (int64_t)at};
        at += lines((size_t)most * sizeof(note));
    }
    if (q) q->room = (int64_t)at;
    return at + needs->room;
}

static tacit_status shared_open(tct_post *p, const tct_post_needs *needs)
{
    office *o = tct_calloc(sizeof *o);
    tacit_status status = o ? TACIT_OK : TACIT_NO_MEMORY;
    if (!o) tacit_error_set(status, "no memory for letters");
    p->state = o;
    TRY(tct_agree(p->world, status));
    TRY(tct_shared_create(p->world, lay_out(needs, NULL), &o->memory));
    o->own = piece_of(o, p->world->rank);
    lay_out(needs, o->own);
    p->room = (char *)o->own + o->own->room;
    const bool crowded = p->world->local_size > tct_processors();
    o->looks = crowded ? LOOKS_CROWDED : LOOKS;
    return tct_agree(p->world, TACIT_OK); /* all have laid theirs out */
}

static tacit_status await(tct_post *p, const tct_counter *of, uint64_t value)
{
    const office *o = p->state;
    if (tct_spin(of, value, o->looks)) return TACIT_OK;
    if (tct_await_for(p->world, of, value, 0.0)) return TACIT_OK;
    return tct_complete(p->world);
}

static tacit_status shared_settle(tct_post *p)
{
    const office *o = p->state;
    return await(p, &o->own->taken, o->sent);
}

static tacit_status shared_send(tct_post *p, int box, int to, const void *data,
                                int64_t bytes)
{
    office *o = p->state;
    piece *q = piece_of(o, to);
    const int at = box_at(p, box);
    const uint64_t number = tct_signal_add(&q->box[at].drawn, 1) + 1;
    note *n = note_of(q, at, number);
    n->at = (const char *)data - p->room;
    n->bytes = bytes;
    n->from = p->world->rank;
    o->sent++;
    tct_signal(&n->ready, number);
    return TACIT_OK;
}

static tacit_status shared_take(tct_post *p, int box, tct_letter *out)
{
    office *o = p->state;
    const int at = box_at(p, box);
    const uint64_t number = ++o->seen[at];
    const note *n = note_of(o->own, at, number);
    TRY(await(p, &n->ready, number));
    const piece *q = piece_of(o, (int)n->from);
    *out = (tct_letter){.data = (const char *)q + q->room + n->at,
                        .bytes = n->bytes,
                        .from = (int)n->from};
    return TACIT_OK;
}

static void shared_drop(tct_post *p, const tct_letter *letter)
{
    const office *o = p->state;
    tct_signal_add(&piece_of(o, letter->from)->taken.value, 1);
}

static void shared_close(tct_post *p)
{
    office *o = p->state;
    /* its letters lie here; on an error the others do not wait for them */
    if (o->own && p->round > 0 && shared_settle(p) < 0) o->own = NULL;
    tct_shared_destroy(&o->memory);
    tct_free(o);
}

const tct_post_ops tct_post_shared = {
    .name = "shm",
    .open = shared_open,
    .settle = shared_settle,
    .send = shared_send,
    .take = shared_take,
    .drop = shared_drop,
    .close = shared_close,
};
