/* SPDX-License-Identifier: BSD-3-Clause
 * device/team.h - threads of the host that share out the items of a loop, a
 * thousand times a second and more.
 *
 * Each thread has a part of the items for its own, so that pages stay with the
 * thread that touched them first; who has finished that part helps with the
 * others. So a thread whose processor another program has taken holds up nobody
 * but by the item in its hands; and it rests for a while after that, which
 * costs less than to lose the processor again and again. Who waits spins at
 * first, and then sleeps. */
#ifndef TCT_DEVICE_TEAM_H
#define TCT_DEVICE_TEAM_H
#include "base/base.h"
#include "device/relax.h"

enum { TCT_TEAM_MOST = 1024 };

typedef struct tct_team tct_team;

/* `threads`, the caller among them; fewer if the system gives no more.
 * Errors      NO_MEMORY. */
tacit_status tct_team_create(int threads, tct_team **out);
/* End the threads and free `*team`; NULL is fine. */
void tct_team_destroy(tct_team **team);
/* The same; returns when the system counts these threads no more. */
void tct_team_end_threads(tct_team **team);
/* Is the team idle, kept for later calls? Its memory is not in use then. */
void tct_team_keep(tct_team *team, bool kept);

/* Threads, the caller among them; 1 if `team` is NULL, or was created before
 * this process was forked: its threads are the parent's. */
int tct_team_size(const tct_team *team);
/* Does it have all threads that were asked for, and more than the caller? */
bool tct_team_is_whole(const tct_team *team);
/* Wait until all threads are awake and on a processor, at most so long. */
void tct_team_assemble(tct_team *team, double seconds);

/* Call fn(work, k) for each k below `count`, on at most `threads` threads;
 * returns when all is done. One thread calls at a time; a call from within an
 * item, or between begin and end, runs alone. Results must not depend on who
 * does an item. With `split` [threads + 1], and if the team has that many
 * threads, the items from split[t] on are thread t's own, else as many for
 * each. */
typedef void (*tct_item_fn)(void *work, int64_t k);
void tct_team_run(tct_team *team, int threads, int64_t count,
                  const int64_t *split, tct_item_fn fn, void *work);

/* Call fn(work, k) once for each k below the team's size, where calls share out
 * among them what there is to do: threads that are late hold up nobody, and
 * their calls, which come then, find nothing left. */
void tct_team_each(tct_team *team, tct_item_fn fn, void *work);

/* Call fn(work, k) once for each k below `threads`, calls that share out their
 * work as those of tct_team_each. Other threads begin at once; the caller takes
 * part in tct_team_end, which returns when all is done. False: nothing has
 * begun, there is no other thread. */
bool tct_team_begin(tct_team *team, int threads, tct_item_fn fn, void *work);
void tct_team_end(tct_team *team);

/* Call fn(work, from, to) for ranges that make up [0, count), on at most
 * `threads` threads, many times for each. */
typedef void (*tct_stretch_fn)(void *work, int64_t from, int64_t to);
void tct_team_range(tct_team *team, int threads, int64_t count,
                    tct_stretch_fn fn, void *work);

/* The same in stretches of a fixed length, on all threads if that is worth
 * it. */
void tct_team_stretches(tct_team *team, int64_t count, tct_stretch_fn fn,
                        void *work);

#endif
