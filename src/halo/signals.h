/* SPDX-License-Identifier: BSD-3-Clause
 * halo/signals.h - how the blocks that store the cells of an exchange tell the
 * neighbours, and wait for theirs: one text for kernels and, in tests, for
 * threads in place of blocks. For kernels include device/gpu/lane.cuh first. */
#ifndef TCT_HALO_SIGNALS_H
#define TCT_HALO_SIGNALS_H
#include "device/protocol.h"
#include "halo/put.h"

/* State that a halo's exchanges in place share, in memory of the device. */
typedef struct tct_halo_signals {
    int count;
    const tct_halo_put *put; /* [count]                                   */
    uint64_t *number;        /* of the last exchange                      */
    unsigned *ticket;        /* [count + 1], 0: of a direction, of all    */
    uint64_t *drawn; /* 0: blocks that have stored, of a kernel that unpacks */
} tct_halo_signals;

/* Called by one thread of each block after its part of direction `k` is stored:
 * the last of `parts` blocks tells the neighbour. True for the last of `all`
 * blocks, which has set the number. */
TCT_LANE bool tct_halo_block_done(const tct_halo_signals *S, int k,
                                  unsigned parts, unsigned all, uint64_t number)
{
    uint64_t *const other = S->put[k].other;
    if (other) tct_part_done(&S->ticket[k], parts, other, number);
    if (!tct_is_last(&S->ticket[S->count], all)) return false;
    *S->number = number;
    return true;
}

/* Tell the neighbour in direction `k` that its cells, stored before, are
 * there. */
TCT_LANE void tct_halo_tell_one(const tct_halo_signals *S, int k,
                                uint64_t number)
{
    if (!S->put[k].other) return;
    tct_fence_all();
    tct_signal_send(S->put[k].other, number);
}

/* The same in a kernel that also unpacks what comes. Of all blocks the last
 * `waiters` go on, in this order from 0; the result of others is negative. When
 * a block goes on, fewer than `waiters` are yet to store. */
TCT_LANE int tct_halo_block_goes_on(const tct_halo_signals *S, int k,
                                    unsigned parts, unsigned all,
                                    unsigned waiters, uint64_t number)
{
    uint64_t *const other = S->put[k].other;
    if (other) tct_part_done(&S->ticket[k], parts, other, number);
    const unsigned before = (unsigned)tct_signal_add(S->drawn, 1);
    if (before + 1 == all) {
        tct_signal_set(S->drawn, 0);
        tct_signal_set(S->number, number);
    }
    return (int)before - (int)(all - waiters);
}

/* Wait for the cells that come from direction `k`: those of this rank itself
 * are there when all its blocks have stored. */
TCT_LANE tct_wait_status tct_halo_await_cells(const tct_halo_signals *S, int k,
                                              uint64_t number, tct_limit limit)
{
    const uint64_t *const own = S->put[k].own;
    return tct_await_message(own ? own : S->number, number, limit);
}

/* Wait for the cells of the neighbour in direction `k`. */
TCT_LANE tct_wait_status tct_halo_await_one(const tct_halo_signals *S, int k,
                                            uint64_t number, tct_limit limit)
{
    const uint64_t *const own = S->put[k].own;
    return own ? tct_await_message(own, number, limit) : TCT_CAME;
}

#endif
