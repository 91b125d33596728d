/* SPDX-License-Identifier: BSD-3-Clause
 * comm/channel/waits.c - waits with a time limit, and the search for a lost
 * rank. */
#include "comm/channel/waits.h"

enum { LINE = 64, SEVERAL = -1 };

/* The ranks that a rank waits for: 0: none; 1 + the rank; SEVERAL: those of
 * `due`. */
typedef struct {
    uint64_t waits;
    char due[]; /* [ranks] 1: waited for */
} board;

size_t tct_waits_bytes(int ranks)
{
    return (sizeof(board) + (size_t)ranks + LINE - 1) / LINE * LINE;
}

static board *board_of(const tct_waits *w, int rank)
{
    return (board *)(void *)((char *)tct_shared_of(w->memory, rank) + w->at);
}

tacit_status tct_waits_open(tacit_world *w, tct_shared *memory, size_t at,
                            tct_waits *out)
{
    *out = (tct_waits){.world = w, .memory = memory, .at = at};
    return TCT_ALLOC(w->size, "messages", &out->list);
}

void tct_waits_close(tct_waits *w)
{
    TCT_FREE(w->list);
    w->list = NULL;
}

/* --- the boards ----------------------------------------------------------- */

static void publish(const tct_waits *w, int peer, tct_waits_for *due,
                    const void *ctx)
{
    board *own = board_of(w, w->world->rank);
    for (int r = 0; r < w->world->size && peer < 0; r++)
        __atomic_store_n(&own->due[r], r != w->world->rank && due(ctx, r),
                         __ATOMIC_RELAXED);
    tct_signal_send(&own->waits,
                    peer < 0 ? (uint64_t)SEVERAL : 1 + (uint64_t)peer);
}

static bool waits_for(const board *b, int rank)
{
    const uint64_t waits = tct_signal_value(&b->waits);
    return waits == (uint64_t)SEVERAL
               ? __atomic_load_n(&b->due[rank], __ATOMIC_RELAXED) != 0
               : waits == 1 + (uint64_t)rank;
}

static bool is_listed(const tct_waits *w, int listed, int rank)
{
    int i = 0;
    while (i < listed && w->list[i] != rank) i++;
    return i < listed;
}

/* A rank that does not wait itself, found by following the waits from this
 * rank; if all wait, `peer`. */
static int find_lost(const tct_waits *w, int peer)
{
    int listed = 1;
    w->list[0] = w->world->rank;
    for (int k = 0; k < listed; k++)
        for (int r = 0; r < w->world->size; r++) {
            if (!waits_for(board_of(w, w->list[k]), r) ||
                is_listed(w, listed, r))
                continue;
            if (!tct_signal_value(&board_of(w, r)->waits)) return r;
            w->list[listed++] = r;
        }
    return peer;
}

/* --- waiting -------------------------------------------------------------- */

/* After a timeout the wait stays published, for the others' searches. */
tacit_status tct_waits_long(const tct_waits *w, const tct_counter *of,
                            uint64_t value, int peer, tct_waits_for *due,
                            const void *ctx)
{
    tacit_world *world = w->world;
    if (w->silent > 0.0) {
        if (tct_await_for(world, of, value, w->silent)) return TACIT_OK;
        TRY(tct_complete(world));
    }
    publish(w, peer, due, ctx);
    if (tct_await_for(world, of, value, w->limit - w->silent)) {
        tct_signal_send(&board_of(w, world->rank)->waits, 0);
        return TACIT_OK;
    }
    if (!world->lost_rank.noted)
        tct_note_lost_rank(&world->lost_rank, find_lost(w, peer), w->limit);
    return tct_complete(world);
}
