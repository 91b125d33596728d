/* SPDX-License-Identifier: BSD-3-Clause
 * device/rendezvous.h - messages of two ends that are matched once, between any
 * buffers: the steps of a sender and of a receiver, one text for kernels and
 * for the CPU. Starts never block: a send that may not be stored yet stays
 * pending, and the waits of its queue try it again.
 *
 * Each end has signals, which the other one writes. Message n, from 1:
 *     start of the receiver   sender's `cleared` = n
 *     start of the sender     stores the message, if it may, and sets the
 *                             receiver's arrived[n % 2] = 2 n + way
 *     wait of the receiver    arrived[n % 2] >= 2 n; reads the message; sets
 *                             the sender's `taken` = n
 * A message may go to the window, which is the receiver's buffer or stands for
 * it, once it is cleared: the receiver has then waited for all messages before.
 * A small one has slots besides, a double buffer as that of protocol.h: slot
 * n % 2 is free once n - 2 is taken. A ready sender asks for neither: its
 * program promises that the buffer may be overwritten.
 *
 * No signal is reset, and all only grow, so that a check that has once
 * succeeded succeeds for ever. */
#ifndef TCT_DEVICE_RENDEZVOUS_H
#define TCT_DEVICE_RENDEZVOUS_H
#include "device/protocol.h"

/* Bytes of the largest message that has slots. */
enum { TCT_EAGER_MOST = 8192 };

/* Of one end, in memory that both reach: a line of its own. */
typedef struct tct_end_signals {
    uint64_t cleared, taken; /* of a sender */
    uint64_t arrived[2];     /* of a receiver */
    uint64_t closed;         /* ends that will not touch this memory again */
    uint64_t rest[3];
} tct_end_signals;

typedef enum tct_send_kind {
    TCT_SEND,
    TCT_SEND_READY,
    TCT_SEND_SYNC /* ends after the receiver has started */
} tct_send_kind;

typedef enum tct_send_way {
    TCT_TO_SLOT = 0, /* the lowest bit of `arrived` */
    TCT_TO_WINDOW = 1,
    TCT_PENDING
} tct_send_way;

typedef struct tct_rendezvous { /* as one end sees it */
    tct_end_signals *own, *other;
    char *slot[2]; /* NULL: none */
    char *window;  /* NULL: none, and there are slots */
    int64_t bytes; /* of each message */
    tct_send_kind kind;
} tct_rendezvous;

/* Where a sender may store message `number` now. */
TCT_LANE tct_send_way tct_send_way_now(const tct_rendezvous *r, uint64_t number)
{
    if (r->kind == TCT_SEND_READY)
        return r->window ? TCT_TO_WINDOW : TCT_TO_SLOT;
    if (r->window && tct_signal_value(&r->own->cleared) >= number)
        return TCT_TO_WINDOW;
    if (!r->slot[0]) return TCT_PENDING;
    const uint64_t before = tct_taken_before(number);
    return before == 0 || tct_signal_value(&r->own->taken) >= before
               ? TCT_TO_SLOT
               : TCT_PENDING;
}
/* Where this is. */
TCT_LANE char *tct_send_place(const tct_rendezvous *r, uint64_t number,
                              tct_send_way way)
{
    return way == TCT_TO_WINDOW ? r->window : r->slot[tct_buffer_of(number)];
}
/* The message is stored, whole. */
TCT_LANE void tct_send_stored(const tct_rendezvous *r, uint64_t number,
                              tct_send_way way)
{
    tct_signal_send(&r->other->arrived[tct_buffer_of(number)],
                    2 * number + (uint64_t)way);
}
/* May the sender's wait for a message that is stored end? */
TCT_LANE bool tct_send_is_over(const tct_rendezvous *r, uint64_t number)
{
    return r->kind != TCT_SEND_SYNC ||
           tct_signal_value(&r->own->cleared) >= number;
}

/* Must a receiver say that it has started, or that it has read? */
TCT_LANE bool tct_must_clear(const tct_rendezvous *r)
{
    return r->kind == TCT_SEND_SYNC ||
           (r->kind == TCT_SEND && r->window != NULL);
}
TCT_LANE void tct_receive_start(const tct_rendezvous *r, uint64_t number)
{
    if (tct_must_clear(r)) tct_signal_send(&r->other->cleared, number);
}
/* Where message `number` has arrived; NULL: it has not. */
TCT_LANE const char *tct_receive_place(const tct_rendezvous *r, uint64_t number)
{
    const int half = tct_buffer_of(number);
    const uint64_t got = tct_signal_value(&r->own->arrived[half]);
    if (got < 2 * number) return NULL;
    return (got & 1) == TCT_TO_WINDOW ? r->window : r->slot[half];
}
/* A ready sender does not ask. */
TCT_LANE void tct_receive_taken(const tct_rendezvous *r, uint64_t number)
{
    if (r->slot[0] && r->kind != TCT_SEND_READY)
        tct_signal_send(&r->other->taken, number);
}

/* --- all ranks at once ---------------------------------------------------- */

/* A request of all ranks: each has a window [2] of its own, which the others
 * read, and arrived[ranks], which the others write. Message n of a rank lies in
 * half n % 2 of its window. A rank that starts n has waited for n - 1 of all
 * ranks, which had waited for n - 2 before they started it: nobody reads the
 * half any more. */
TCT_LANE bool tct_all_arrived(const uint64_t *arrived, int ranks,
                              uint64_t number, int *missing)
{
    for (*missing = 0; *missing < ranks; ++*missing)
        if (tct_signal_value(&arrived[*missing]) < number) return false;
    return true;
}

#endif
