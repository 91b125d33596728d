/* SPDX-License-Identifier: BSD-3-Clause
 * device/thread_pool.h - the teams of this process that have no work.
 *
 * A call of the library takes a team and gives it back at its end, so that
 * threads are created once, and several threads of a program can call at the
 * same time. */
#ifndef TCT_DEVICE_THREAD_POOL_H
#define TCT_DEVICE_THREAD_POOL_H
#include "device/team.h"

/* A team of `threads`, an idle one if there is one of this size; fewer if the
 * system gives no more.
 * Errors      NO_MEMORY. */
tacit_status tct_team_take(int threads, tct_team **out);
/* A team of at least `threads`, as large a one as the system gives, or NULL.
 * Where the system refuses threads, half of those that it gives stay free for
 * other uses, and the log tells. */
tct_team *tct_team_take_any(int threads);
/* Give `*team` back; NULL is fine. */
void tct_team_give(tct_team **team);

#endif
