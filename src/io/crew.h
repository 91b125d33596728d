/* SPDX-License-Identifier: BSD-3-Clause
 * io/crew.h - threads that share out pieces of work and sleep in between.
 *
 * Reading has a thousand short parallel parts with a file in between. OpenMP's
 * threads wait by spinning, which on a machine that others use, too, or under
 * several ranks, takes the processor from those that have work. */
#ifndef TCT_IO_CREW_H
#define TCT_IO_CREW_H
#include "base/base.h"

typedef struct tct_crew tct_crew;

/* As many threads as OpenMP would use, the caller among them; fewer if the
 * system gives no more. */
tacit_status tct_crew_create(tct_crew **out);
void tct_crew_destroy(tct_crew **crew);

/* Call work(ctx, k) for each k below `count`, on several threads, the lowest
 * first. Other work may be done between begin and end; end takes part, and
 * returns when all is done. */
typedef void (*tct_crew_work)(void *ctx, int k);
void tct_crew_begin(tct_crew *crew, int count, tct_crew_work work, void *ctx);
void tct_crew_end(tct_crew *crew);

/* Have these pieces done together with those of the next begin, or at the next
 * flush: fewer waits for the slowest thread. One such job at a time. */
void tct_crew_defer(tct_crew *crew, int count, tct_crew_work work, void *ctx);
void tct_crew_flush(tct_crew *crew);

static inline void tct_crew_run(tct_crew *crew, int count, tct_crew_work work,
                                void *ctx)
{
    tct_crew_begin(crew, count, work, ctx);
    tct_crew_end(crew);
}

#endif
