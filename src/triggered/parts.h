/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/parts.h - messages that several blocks of a kernel carry: each has
 * a part of the bytes. One text for kernels and for the CPU, where threads
 * stand for blocks (tests/test_triggered_parts.c).
 *
 * Block s has its own counters of a part, and no other block touches them:
 *     begun    the message that was started last
 *     done     the message whose part was stored, or read
 *     waited   the message whose wait is over
 * Kernels of a queue run one after the other, and so do the blocks s of these.
 * The counters are on the device, so that a recording can be replayed. A large
 * message goes to the window alone: each block sees by itself that the receiver
 * has cleared it, sets the signal of its part, and needs no word of the others.
 * A small one has cells, and one block (cells.h): no signal follows it.
 *
 *     start   tct_part_begin, tct_part_try
 *     wait    tct_part_try until it is over, tct_part_waited
 *     both    after a step TCT_PART_COPY: copy, then tct_part_finish
 *
 * One kernel may start messages and wait for them: a block starts its part of
 * one message, and of the blocks s the last one, by tct_part_last_start, goes on
 * to wait for part s of all messages. So no more blocks wait than a message has
 * parts, and all others have ended.
 *
 * Where sends are pending, a block with no part of what is waited for stays,
 * too, as it has parts of them: tct_part_waited_elsewhere. What ends the wait of
 * block 0 ends those of all others. A kernel that also starts has no pending
 * sends, since block 0 may not have begun yet what another one finds over.
 */
#ifndef TCT_TRIGGERED_PARTS_H
#define TCT_TRIGGERED_PARTS_H
#include "triggered/cells.h"

enum { TCT_PARTS_MOST = 32, TCT_PART_LEAST = 1 << 15 };

typedef struct tct_part_state {
    uint64_t begun, done, waited;
} tct_part_state;

/* An end in memory of its driver. */
typedef struct tct_parted {
    tct_rendezvous r;
    tct_end_cells cells; /* of a small message, in place of slots and window */
    char *data;
    int32_t peer, sends; /* is it a sender? */
    int32_t parts;
    uint64_t *arrived; /* [parts] in the receiver's memory; without cells */
    uint64_t name;     /* of the end, for the host */
    tct_part_state part[TCT_PARTS_MOST];
} tct_parted;

/* How many blocks carry `bytes`: those of slots one. */
TCT_BOTH int tct_parts_of(int64_t bytes)
{
    const int64_t parts = (bytes + TCT_PART_LEAST - 1) / TCT_PART_LEAST;
    const int64_t most = TCT_PARTS_MOST;
    if (bytes <= TCT_EAGER_MOST) return 1;
    return (int)(parts < most ? parts : most);
}

typedef enum tct_part_step {
    TCT_PART_OVER,
    TCT_PART_LATER,
    TCT_PART_COPY
} tct_part_step;

/* Bytes to be copied; none may be. Those of cells: from `from` into them, or
 * out of them to `to`. */
typedef struct tct_part_copy {
    char *to;
    const char *from;
    int64_t bytes;
    struct tct_numbered *cells; /* [count] of message `number`; or NULL */
    int32_t count;
    bool sends;
    uint64_t number;
} tct_part_copy;

TCT_LANE tct_part_copy tct_part_of_cells(const tct_parted *e, uint64_t number)
{
    const tct_part_copy c = {e->sends ? NULL : e->data,
                             e->sends ? e->data : NULL,
                             e->r.bytes,
                             tct_cells_slot(&e->cells, number),
                             e->cells.count,
                             e->sends != 0,
                             number};
    return c;
}

/* Part s of the bytes: pieces are multiples of a line. */
TCT_LANE tct_part_copy tct_part_of(const tct_parted *e, int s, char *to,
                                   const char *from)
{
    const int64_t line = 128;
    const int64_t lines = (e->r.bytes + line - 1) / line;
    const int64_t each = (lines + e->parts - 1) / e->parts * line;
    const int64_t first = each * s, left = e->r.bytes - first;
    const int64_t bytes = left < 0 ? 0 : left < each ? left : each;
    const tct_part_copy c = {to + (bytes > 0 ? first : 0),
                             from + (bytes > 0 ? first : 0),
                             bytes,
                             NULL,
                             0,
                             e->sends != 0,
                             0};
    return c;
}

/* The counter that a sender of cells reads, and a receiver sets at its start;
 * NULL: the sender is ready. */
TCT_LANE uint64_t *tct_part_cleared(const tct_parted *e)
{
    if (e->r.kind == TCT_SEND_READY) return NULL;
    return e->sends ? &e->r.own->cleared : &e->r.other->cleared;
}

/* The start of the next message. */
TCT_LANE void tct_part_begin(tct_parted *e, int s)
{
    const uint64_t number = ++e->part[s].begun;
    if (!e->sends && s == 0 && tct_part_cleared(e))
        tct_signal_send(tct_part_cleared(e), number);
}

/* A message without cells goes to the window, once it is cleared. */
TCT_LANE tct_part_step tct_part_try_send(const tct_parted *e, int s,
                                         tct_part_copy *c)
{
    const uint64_t number = e->part[s].begun;
    const uint64_t *const cleared = tct_part_cleared(e);
    if (e->cells.slot) {
        if (!tct_cells_room(&e->cells, cleared, number)) return TCT_PART_LATER;
        *c = tct_part_of_cells(e, number);
        return TCT_PART_COPY;
    }
    if (cleared && tct_signal_value(cleared) < number) return TCT_PART_LATER;
    *c = tct_part_of(e, s, e->r.window, e->data);
    return TCT_PART_COPY;
}

/* Cells whose first one has come: each of the others is waited for by itself. */
TCT_LANE tct_part_step tct_part_try_cells(const tct_parted *e, uint64_t number,
                                          tct_part_copy *c)
{
    const struct tct_numbered *first = tct_cells_slot(&e->cells, number);
    if (tct_numbered_value(first).number < number) return TCT_PART_LATER;
    *c = tct_part_of_cells(e, number);
    return TCT_PART_COPY;
}

/* A message that has arrived where it belongs is not copied. */
TCT_LANE tct_part_step tct_part_try_receive(const tct_parted *e, int s,
                                            tct_part_copy *c)
{
    const uint64_t number = e->part[s].begun;
    if (e->cells.slot) return tct_part_try_cells(e, number, c);
    if (tct_signal_value(&e->arrived[s]) < number) return TCT_PART_LATER;
    *c = tct_part_of(e, s, e->data, e->r.window);
    if (e->r.window == e->data) c->bytes = 0;
    return TCT_PART_COPY;
}

/* Called by block s after its start of one of `ends` messages: has it come last?
 * Then it sees what the others have begun. `turn`, 0 at first, is of part s. */
TCT_LANE bool tct_part_last_start(uint64_t *turn, int ends)
{
    if (ends == 1) return true;
    if (tct_signal_add(turn, 1) + 1 < (uint64_t)ends) return false;
    tct_signal_set(turn, 0);
    return true;
}

/* Before this signal has this value, no look at a part of a receive succeeds.
 * NULL: nothing is known. */
typedef struct tct_part_hint {
    const uint64_t *signal;
    uint64_t value;
} tct_part_hint;

TCT_LANE tct_part_hint tct_part_hint_of(const tct_parted *e, int s)
{
    const uint64_t number = e->part[s].begun;
    tct_part_hint h = {NULL, number};
    if (!e->sends && !e->cells.slot && e->part[s].done != number)
        h.signal = &e->arrived[s];
    return h;
}
TCT_LANE bool tct_part_may_go_on(tct_part_hint *h)
{
    if (h->signal && tct_signal_value(h->signal) < h->value) return false;
    h->signal = NULL;
    return true;
}

/* May block s go on with its part of the last message? */
TCT_LANE tct_part_step tct_part_try(const tct_parted *e, int s,
                                    tct_part_copy *c)
{
    if (e->part[s].done == e->part[s].begun) return TCT_PART_OVER;
    return e->sends ? tct_part_try_send(e, s, c)
                    : tct_part_try_receive(e, s, c);
}

/* Its bytes are copied: the signal of the part is a release, the only fence. */
TCT_LANE void tct_part_finish(tct_parted *e, int s)
{
    const uint64_t number = e->part[s].begun;
    if (e->sends && !e->cells.slot) tct_signal_send(&e->arrived[s], number);
    e->part[s].done = number;
}

/* Is a part that is done waited for to the end? `watched`: by other blocks. */
TCT_LANE bool tct_part_waited(tct_parted *e, int s, bool watched)
{
    const uint64_t number = e->part[s].begun;
    if (e->sends && s == 0 && !tct_send_is_over(&e->r, number)) return false;
    if (watched) tct_signal_set(&e->part[s].waited, number);
    else e->part[s].waited = number;
    return true;
}
TCT_LANE bool tct_part_waited_elsewhere(const tct_parted *e)
{
    return tct_signal_read(&e->part[0].waited) == e->part[0].begun;
}

#endif
