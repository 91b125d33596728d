/* SPDX-License-Identifier: BSD-3-Clause
 * device/protocol.h - how ranks speak through memory that all of them reach:
 * one text for kernels (link peer, persistent grids), for the CPU (link shm),
 * and for threads that stand for blocks, where ThreadSanitizer sees it
 * (tests/test_blocks.c).
 *
 * Messages and sums are numbered from 1 on; numbers only grow, there is no
 * lock, and nothing is ever reset.
 *
 * A channel. Message e lies in half e % 2 of the receiver's window, and has two
 * counters: `arrived`, which is set to e when it was stored, and `taken`, which
 * is set to e when it was read. A half is stored into for e once e - 2 was
 * taken. Where messages may overtake each other each half has two of its own:
 * what is said of e follows from what was said of e - 2, and arrives behind it.
 *
 * A sum. Each rank leaves its values, each with the number of the sum, in slots
 * of all ranks, and all add them up in rank order: the same bits everywhere.
 * The slots of a sum are used again `turns` sums later, by who has heard all of
 * a sum in between, so that all are through with those before that one.
 *
 * What this asks of memory has one name on both sides: device/gpu/lane.cuh says
 * what it is in a kernel, device/signals.h what it is on the CPU. */
#ifndef TCT_DEVICE_PROTOCOL_H
#define TCT_DEVICE_PROTOCOL_H
#include "device/steps.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__ /* with device/gpu/lane.cuh before it */
#define TCT_LANE static __device__ inline
#else
#include "device/signals.h"
#define TCT_LANE static inline
#endif

/* --- waiting -------------------------------------------------------------- */

enum { TCT_POLLS_PER_CLOCK = 512 };

/* How a wait goes. */
typedef enum tct_wait_status {
    TCT_CAME,
    TCT_NOT_YET,
    TCT_MISSED, /* not within the limit                  */
    TCT_GONE,   /* nobody is waited for any more, as the
                   caller knows                          */
    TCT_AHEAD   /* the other one has gone on without this
                   one, as those do who know of a failure */
} tct_wait_status;

typedef struct tct_limit {
    uint64_t ns;          /* of a wait; 0: none                            */
    const uint64_t *gone; /* no longer 0: no more waits; NULL: always wait */
} tct_limit;

typedef struct tct_wait { /* all 0 at first */
    uint64_t start;
    unsigned looks;
} tct_wait;

/* After a look in vain. */
TCT_LANE tct_wait_status tct_poll(tct_wait *w, tct_limit L)
{
    tct_between_checks();
    if (++w->looks % TCT_POLLS_PER_CLOCK) return TCT_NOT_YET;
    if (L.gone && tct_load_fresh(L.gone) != 0) return TCT_GONE;
    const uint64_t now = tct_nanoseconds();
    if (w->start == 0) w->start = now;
    return L.ns == 0 || now - w->start <= L.ns ? TCT_NOT_YET : TCT_MISSED;
}

/* Wait until the counter has come to `value`. */
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

/* The half of a window in which message `number` lies. */
TCT_BOTH int tct_buffer_of(uint64_t number)
{
    return (int)(number & 1);
}
/* What must have been taken before it is stored; 0: nothing. */
TCT_BOTH uint64_t tct_taken_before(uint64_t number)
{
    return number > 2 ? number - 2 : 0;
}

/* Wait until message `number` may be stored; until it has arrived. */
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

/* The caller is the last of `parts` that draw this ticket, which is then
 * new. */
TCT_LANE bool tct_is_last(unsigned *ticket, unsigned parts)
{
    if (tct_draw(ticket) != parts - 1) return false;
    tct_renew(ticket);
    return true;
}

/* One of the `parts` that store, or read, a message is through with it; true:
 * so are all, and the caller sees what they have stored. */
TCT_LANE bool tct_all_done(unsigned *ticket, unsigned parts)
{
    tct_fence_all();
    if (!tct_is_last(ticket, parts)) return false;
    tct_fence_all();
    return true;
}

/* The same of message `number`: the last one says so in the counter of the
 * other end. */
TCT_LANE void tct_part_done(unsigned *ticket, unsigned parts, uint64_t *counter,
                            uint64_t number)
{
    if (tct_all_done(ticket, parts)) tct_signal_send(counter, number);
}

/* --- sums ----------------------------------------------------------------- */

/* Where what rank `from` has for sum `number` stands, in slots [turns][ranks]
 * of `width` values. */
TCT_BOTH size_t tct_slot_at(int turns, int ranks, int width, int from,
                            uint64_t number)
{
    const size_t turn = (size_t)(number % (uint64_t)turns);
    return (turn * (size_t)ranks + (size_t)from) * (size_t)width;
}

typedef struct tct_slots {
    int rank, ranks, turns, width;
    struct tct_numbered *const *of; /* of each rank: [turns][ranks][width] */
} tct_slots;

/* Leave `mine` as value i of sum `number`, at the `count` ranks behind this
 * one: ranks - 1 are all others, `ranks` this one, too. */
TCT_LANE void tct_say(tct_slots S, int i, uint64_t number, double mine,
                      int count)
{
    const size_t at = tct_slot_at(S.turns, S.ranks, S.width, S.rank, number);
    for (int k = 1; k <= count; k++)
        tct_numbered_send(S.of[(S.rank + k) % S.ranks] + at + i, mine, number);
}

/* Wait for value i of rank `from`. */
TCT_LANE tct_wait_status tct_hear(tct_slots S, int from, int i, uint64_t number,
                                  tct_limit L, double *out)
{
    const size_t at = tct_slot_at(S.turns, S.ranks, S.width, from, number);
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

/* The sum of value i over ranks, in their order; this one's is `*mine`, or, if
 * that is NULL, what it has said to itself. `missing` is set where the end is
 * not TCT_CAME. */
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
            const tct_wait_status status = tct_hear(S, r, i, number, L, &part);
            *missing = r;
            if (status != TCT_CAME) return status;
        }
        *total = r == 0 ? part : *total + part;
    }
    return TCT_CAME;
}

/* --- blocks that meet ----------------------------------------------------- */

/* How a meeting of all blocks ended. */
typedef enum tct_barrier_status {
    TCT_GO,
    TCT_END, /* the host wants the loop to end */
    TCT_LATE /* a block did not come in time, and all have to end */
} tct_barrier_status;

/* One thread of each block: add 1 to the counter, at their meeting number
 * `epoch`; what it is then. One block may add, once, that the end is wanted: in
 * the upper half, as the number of this meeting, since a block that is slow to
 * leave the one before may see the counter as it is now. */
TCT_LANE uint64_t tct_barrier_arrive_at(uint64_t *counter, uint32_t epoch,
                                        bool end)
{
    const uint64_t mine = end ? 1 + ((uint64_t)epoch << 32) : 1;
    return tct_signal_add(counter, mine) + mine;
}

/* Is `counter` that of all `blocks` at meeting `epoch`? Who comes to it last
 * sees it so at once, and what all have stored before. */
TCT_BOTH bool tct_all_came(uint64_t counter, uint32_t blocks, uint32_t epoch)
{
    return (int32_t)((uint32_t)counter - epoch * blocks) >= 0;
}

/* ... and wait for all blocks; the counter was `seen` before. */
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
