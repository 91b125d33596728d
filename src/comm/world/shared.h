/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/shared.h - memory that all ranks of a world on one machine share,
 * and counters in it, which only grow. A message is its values, then its
 * counter: a reader that sees the counter (tct_signalled) also sees all values
 * written before it (tct_signal). */
#ifndef TCT_COMM_WORLD_SHARED_H
#define TCT_COMM_WORLD_SHARED_H
#include "comm/world/world.h"
#include "device/signals.h"

typedef struct tct_shared tct_shared;

/* Are all ranks of `w` on one machine? If not, `reason` says why. */
bool tct_can_share(const tacit_world *w, char *reason, size_t size);
/* A zeroed piece of at least `bytes` of each rank. Collective.
 * Errors      NO_MEMORY, IO (the system refuses), COMM. */
tacit_status tct_shared_create(tacit_world *w, size_t bytes, tct_shared **out);
/* The same for pieces of `bytes` of addresses, whose memory is taken part by part
 * (tct_shared_back). Between processes only. Collective.
 * Errors      NO_MEMORY, IO, COMM. */
tacit_status tct_shared_sparse(tacit_world *w, size_t bytes, tct_shared **out);
/* Back bytes [from, from + bytes) of this rank's piece with memory, before any
 * rank touches them; give the memory of whole pages among them back.
 * Errors      NO_MEMORY. */
tacit_status tct_shared_back(const tct_shared *s, int rank, size_t from,
                             size_t bytes);
void tct_shared_unback(const tct_shared *s, int rank, size_t from,
                       size_t bytes);
/* The piece of `rank`, aligned to a page. */
void *tct_shared_of(const tct_shared *s, int rank);
/* Not collective: others may go on using the memory. */
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
/* Check the counter up to `checks` times: has it reached `value`? */
static inline bool tct_spin(const tct_counter *of, uint64_t value, int checks)
{
    for (int n = 0; n < checks; n++) {
        if (tct_signalled(of, value)) return true;
        tct_relax();
    }
    return false;
}
/* Wait for the counter and yield the processor; false if it has not reached
 * `value` within `seconds` (0: no limit). */
bool tct_await_for(tacit_world *w, const tct_counter *of, uint64_t value,
                   double seconds);
/* Spin, then wait without a limit. */
void tct_await(tacit_world *w, const tct_counter *of, uint64_t value,
               int checks);

#endif
