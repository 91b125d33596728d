/* SPDX-License-Identifier: BSD-3-Clause
 * comm/channel/waits.h - waits with a time limit for ranks that share memory.
 *
 * A rank that waits for long publishes which ranks it waits for, on a board in
 * its piece of the memory. On timeout the lost rank is found by following the
 * boards: the rank that is waited for may itself be waiting for another one.
 * The lost rank is noted in the world, and no later call waits.
 *
 * Cost: a wait that is short publishes nothing. */
#ifndef TCT_COMM_CHANNEL_WAITS_H
#define TCT_COMM_CHANNEL_WAITS_H
#include "comm/world/shared.h"

typedef struct tct_waits {
    tacit_world *world;
    tct_shared *memory;
    size_t at; /* offset of the board in each rank's piece, a multiple of 64 */
    double limit;  /* of a wait [s]; 0: none */
    double silent; /* of these, seconds before a wait is published */
    int checks;    /* before the processor is yielded */
    int *list;     /* [ranks], for the search */
} tct_waits;

/* Does this rank wait for `rank`? */
typedef bool tct_waits_for(const void *ctx, int rank);

/* Bytes of a board. */
size_t tct_waits_bytes(int ranks);
/* The waits of `w`'s ranks, with boards at offset `at` of `memory`, which is
 * borrowed. Set the limits and checks afterwards.
 * Errors      NO_MEMORY. */
tacit_status tct_waits_open(tacit_world *w, tct_shared *memory, size_t at,
                            tct_waits *out);
void tct_waits_close(tct_waits *w);

/* Wait, past the first checks, for the counter to reach `value`; rank `peer`
 * adds to it. If `peer` is below 0 the ranks that `due` names do.
 * Errors      COMM (timeout; the message names the lost rank). */
tacit_status tct_waits_long(const tct_waits *w, const tct_counter *of,
                            uint64_t value, int peer, tct_waits_for *due,
                            const void *ctx);

/* The same for one rank, after the first checks.
 * Errors      COMM. */
static inline tacit_status tct_waits_await(const tct_waits *w,
                                           const tct_counter *of,
                                           uint64_t value, int peer)
{
    if (tct_spin(of, value, w->checks)) return TACIT_OK;
    return tct_waits_long(w, of, value, peer, NULL, NULL);
}

#endif
