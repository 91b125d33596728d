/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/shared.h - memory that all ranks of a world reach, where they are
 * on one machine; and the counters in it, which only grow, through which a
 * message is announced: who writes values and then the counter (tct_signal) is
 * read rightly by who sees the counter and then reads (tct_signalled). */
#ifndef TCT_COMM_LINK_SHARED_H
#define TCT_COMM_LINK_SHARED_H
#include "comm/world/world.h"
#include "device/signals.h"

typedef struct tct_shared tct_shared;

/* Are all ranks of `w` where memory can be shared? If not, why. */
bool tct_can_share(const tacit_world *w, char *reason, size_t size);
/* A piece of at least `bytes` of each rank, zeroed. Collective.
 * Errors      NO_MEMORY, IO (the system refuses), COMM. */
tacit_status tct_shared_create(tacit_world *w, size_t bytes, tct_shared **out);
/* The piece of `rank`, aligned to a page. */
void *tct_shared_of(const tct_shared *s, int rank);
/* Each rank for itself: the others may go on. */
void tct_shared_destroy(tct_shared **s);

typedef struct tct_counter {
    uint64_t value;
} tct_counter;

static inline void tct_signal(tct_counter *to, uint64_t value)
{
    tct_signal_send(&to->value, value);
}
static inline bool tct_signalled(const tct_counter *of, uint64_t value)
{
    return tct_signal_value(&of->value) >= value;
}
/* Look for it `looks` times, at most: has it come? */
static inline bool tct_spin(const tct_counter *of, uint64_t value, int looks)
{
    for (int n = 0; n < looks; n++) {
        if (tct_signalled(of, value)) return true;
        tct_relax();
    }
    return false;
}
/* Wait for it, and let others have this processor; false if it has not come
 * within `seconds` (0: no limit). */
bool tct_await_for(tacit_world *w, const tct_counter *of, uint64_t value,
                   double seconds);
/* The one and then the other, without limit. */
void tct_await(tacit_world *w, const tct_counter *of, uint64_t value,
               int looks);

#endif
