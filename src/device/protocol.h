/* SPDX-License-Identifier: BSD-3-Clause
 * device/protocol.h - communication through memory that all ranks reach: one
 * text for kernels (link peer, persistent grids), for the CPU (link shm), and
 * for threads in place of blocks, so that ThreadSanitizer can check it
 * (tests/test_blocks.c).
 *
 * Messages and sums are numbered from 1. There are no locks, and counters are
 * never reset.
 *
 * A channel is double-buffered: message e uses half e % 2 of the receiver's
 * window. It has two counters: the sender sets `arrived` to e after storing the
 * message, the receiver sets `taken` to e after reading it. The sender reuses a
 * half for e once e - 2 is taken. If messages can overtake each other, each
 * half has its own counters, since message e is sent only after the answer to e
 * - 2.
 *
 * A sum: each rank stores its values, each with the number of the sum, in slots
 * of all ranks, and all add them up in rank order, for the same bits
 * everywhere. The slots of a sum are reused `phases` sums later, by ranks that
 * have read a whole sum in between, so that all ranks have finished reading the
 * old one.
 *
 * The memory operations have the same names on both sides: device/gpu/lane.cuh
 * for kernels, device/signals.h for the CPU. */
#ifndef TCT_DEVICE_PROTOCOL_H
#define TCT_DEVICE_PROTOCOL_H
#include "device/steps.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if TCT_GPU_CODE /* include device/gpu/lane.cuh first */
#define TCT_LANE static __device__ inline
#else
#include "device/signals.h"
#define TCT_LANE static inline
#endif

/* --- waiting -------------------------------------------------------------- */

enum { TCT_POLLS_PER_CLOCK = 512 };

/* The status of a wait. */
typedef enum tct_wait_status {
    TCT_CAME,
    TCT_NOT_YET,
    TCT_MISSED, /* not within the limit */
    TCT_GONE,   /* waits are off, as the caller knows */
    TCT_AHEAD   /* the other rank has gone on without this one, after a
                 * failure */
} tct_wait_status;

typedef struct tct_limit {
    uint64_t ns;          /* of a wait; 0: none                            */
    const uint64_t *gone; /* not 0: no more waits; NULL: always wait */
} tct_limit;

typedef struct tct_wait { /* all 0 at first */
    uint64_t start;
    unsigned checks;
} tct_wait;

/* After a failed check. */
TCT_LANE tct_wait_status tct_poll(tct_wait *w, tct_limit L)
{
    tct_between_checks();
    if (++w->checks % TCT_POLLS_PER_CLOCK) return TCT_NOT_YET;
    if (L.gone && tct_load_fresh(L.gone) != 0) return TCT_GONE;
    const uint64_t now = tct_nanoseconds();
    if (w->start == 0) w->start = now;
    return L.ns == 0 || now - w->start <= L.ns ? TCT_NOT_YET : TCT_MISSED;
}

/* Wait until the counter reaches `value`. */
TCT_LANE tct_wait_status tct_await_counter(const uint64_t *counter,
                                           uint64_t value, tct_limit L)
{
    tct_wait w = {0, 0};
    while (tct_signal_value(counter) < value) {
        const tct_wait_status status = tct_poll(&w, L);
        if (status != TCT_NOT_YET) return status;
    }
    return TCT_CAME;
}

/* --- channels ------------------------------------------------------------- */

/* The half of the double buffer for message `number`. */
TCT_BOTH int tct_buffer_of(uint64_t number)
{
    return (int)(number & 1);
}
/* The message that must be taken before `number` is stored; 0: none. */
TCT_BOTH uint64_t tct_taken_before(uint64_t number)
{
    return number > 2 ? number - 2 : 0;
}

/* Wait until message `number` may be stored, or until it has arrived. */
TCT_LANE tct_wait_status tct_await_room(const uint64_t *taken, uint64_t number,
                                        tct_limit L)
{
    const uint64_t before = tct_taken_before(number);
    return before == 0 ? TCT_CAME : tct_await_counter(taken, before, L);
}
TCT_LANE tct_wait_status tct_await_message(const uint64_t *arrived,
                                           uint64_t number, tct_limit L)
{
    return tct_await_counter(arrived, number, L);
}

/* Is the caller the last of `parts` that draw this ticket? It is then reset. */
TCT_LANE bool tct_is_last(unsigned *ticket, unsigned parts)
{
    if (tct_draw(ticket) != parts - 1) return false;
    tct_renew(ticket);
    return true;
}

/* Called by each of the `parts` that store or read a message, when done; true
 * for the last one, which sees what all have stored. */
TCT_LANE bool tct_all_done(unsigned *ticket, unsigned parts)
{
    tct_fence_all();
    if (!tct_is_last(ticket, parts)) return false;
    tct_fence_all();
    return true;
}

/* The same; the last one sets the counter of the other end to `number`. A single
 * part needs no ticket: the signal's own fence is the only one. */
TCT_LANE void tct_part_done(unsigned *ticket, unsigned parts, uint64_t *counter,
                            uint64_t number)
{
    if (parts == 1 || tct_all_done(ticket, parts))
        tct_signal_send(counter, number);
}

/* --- sums ----------------------------------------------------------------- */

/* The index of rank `from`'s values for sum `number`, in slots [phases][ranks]
 * of `width` values. */
TCT_BOTH size_t tct_slot_at(int phases, int ranks, int width, int from,
                            uint64_t number)
{
    const size_t phase = (size_t)(number % (uint64_t)phases);
    return (phase * (size_t)ranks + (size_t)from) * (size_t)width;
}

typedef struct tct_slots {
    int rank, ranks, phases, width;
    struct tct_numbered *const *of; /* of each rank: [phases][ranks][width] */
} tct_slots;

/* Store `mine` as value i of sum `number` in the `count` ranks that follow this
 * one cyclically: ranks - 1 are all others, `ranks` include this one. */
TCT_LANE void tct_slot_send(tct_slots S, int i, uint64_t number, double mine,
                            int count)
{
    const size_t at = tct_slot_at(S.phases, S.ranks, S.width, S.rank, number);
    for (int k = 1; k <= count; k++)
        tct_numbered_send(S.of[(S.rank + k) % S.ranks] + at + i, mine, number);
}

/* Wait for value i of rank `from`. */
TCT_LANE tct_wait_status tct_slot_receive(tct_slots S, int from, int i,
                                          uint64_t number, tct_limit L,
                                          double *out)
{
    const size_t at = tct_slot_at(S.phases, S.ranks, S.width, from, number);
    const struct tct_numbered *slot = S.of[S.rank] + at + i;
    tct_wait w = {0, 0};
    for (;;) {
        const struct tct_numbered got = tct_numbered_value(slot);
        *out = got.value;
        if (got.number == number) return TCT_CAME;
        if (got.number > number) return TCT_AHEAD;
        const tct_wait_status status = tct_poll(&w, L);
        if (status != TCT_NOT_YET) return status;
    }
}

/* The sum of value i over ranks, in rank order; this rank's value is `*mine`,
 * or, if NULL, the one stored in its own slot. `missing` is set if the result
 * is not TCT_CAME. */
TCT_LANE tct_wait_status tct_total(tct_slots S, int i, uint64_t number,
                                   const double *mine, tct_limit L,
                                   double *total, int *missing)
{
    *total = 0.0;
    for (int r = 0; r < S.ranks; r++) {
        double part;
        if (mine && r == S.rank) {
            part = *mine;
        } else {
            const tct_wait_status status =
                tct_slot_receive(S, r, i, number, L, &part);
            *missing = r;
            if (status != TCT_CAME) return status;
        }
        *total = r == 0 ? part : *total + part;
    }
    return TCT_CAME;
}

/* --- grid barrier --------------------------------------------------------- */

/* The status of a grid barrier. */
typedef enum tct_barrier_status {
    TCT_GO,
    TCT_END, /* the host asks for the end */
    TCT_LATE /* timeout: a block did not arrive, all end */
} tct_barrier_status;

/* One thread of each block: arrive at barrier number `epoch` by adding 1 to the
 * counter; returns its new value. One block may also ask for the end, once, by
 * adding `epoch` to the upper half: the number tells blocks that leave the
 * previous barrier late to ignore it. */
TCT_LANE uint64_t tct_barrier_arrive_at(uint64_t *counter, uint32_t epoch,
                                        bool end)
{
    const uint64_t mine = end ? 1 + ((uint64_t)epoch << 32) : 1;
    return tct_signal_add(counter, mine) + mine;
}

/* Have all `blocks` arrived at barrier `epoch`? The last to arrive knows at
 * once, and sees what all have stored before. */
TCT_BOTH bool tct_all_came(uint64_t counter, uint32_t blocks, uint32_t epoch)
{
    return (int32_t)((uint32_t)counter - epoch * blocks) >= 0;
}

/* Wait for all blocks; `seen` is the counter's last known value. */
TCT_LANE tct_barrier_status tct_await_blocks(const uint64_t *counter,
                                             uint64_t seen, uint32_t blocks,
                                             uint32_t epoch, uint64_t limit_ns)
{
    uint64_t start = 0;
    for (unsigned i = 1;; i++) {
        const uint32_t wish = (uint32_t)(seen >> 32);
        if (tct_all_came(seen, blocks, epoch))
            return wish != 0 && wish <= epoch ? TCT_END : TCT_GO;
        tct_between_checks();
        seen = tct_signal_read(counter);
        if (i % TCT_POLLS_PER_CLOCK) continue;
        const uint64_t now = tct_nanoseconds();
        if (start == 0) start = now;
        if (now - start > limit_ns) return TCT_LATE;
    }
}

#endif
