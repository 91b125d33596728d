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

enum { TCT_TEAM_MOST = 1024 };

typedef struct tct_team tct_team;

/* `threads`, the caller among them; fewer if the system gives no more.
 * Errors      NO_MEMORY. */
tacit_status tct_team_create(int threads, tct_team **out);
/* End the threads and free `*team`; NULL is fine. */
void tct_team_destroy(tct_team **team);

/* Threads, the caller among them; 1 if `team` is NULL. */
int tct_team_size(const tct_team *team);
/* Wait until all threads are awake and on a processor, at most so long. */
void tct_team_assemble(tct_team *team, double seconds);

/* Call fn(work, k) for each k below `count`, on at most `threads` threads;
 * returns when all is done. One call at a time; results must not depend on who
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

/* The same as tct_team_run in stretches: fn(work, from, to) for parts of [0,
 * count), on all threads if that is worth it. */
typedef void (*tct_stretch_fn)(void *work, int64_t from, int64_t to);
void tct_team_stretches(tct_team *team, int64_t count, tct_stretch_fn fn,
                        void *work);

/* Between two looks at what another thread is to change. */
static inline void tct_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
