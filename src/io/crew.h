/* SPDX-License-Identifier: BSD-3-Clause
 * io/crew.h - threads of the calling thread's team that share pieces of work
 * while the caller does other work, such as reading a file. */
#ifndef TCT_IO_CREW_H
#define TCT_IO_CREW_H
#include "base/base.h"

typedef struct tct_crew tct_crew;

/* Errors      NO_MEMORY. */
tacit_status tct_crew_create(tct_crew **out);
void tct_crew_destroy(tct_crew **crew);

/* Call work(ctx, k) for each k < count on several threads, lowest k first. The
 * caller may do other work between begin and end; end joins in and returns when
 * all pieces are done. */
typedef void (*tct_crew_work)(void *ctx, int k);
void tct_crew_begin(tct_crew *crew, int count, tct_crew_work work, void *ctx);
void tct_crew_end(tct_crew *crew);

/* Run these pieces together with those of the next begin, or at the next flush,
 * so that threads wait less for the slowest. One such job at a time. */
void tct_crew_defer(tct_crew *crew, int count, tct_crew_work work, void *ctx);
void tct_crew_flush(tct_crew *crew);

static inline void tct_crew_run(tct_crew *crew, int count, tct_crew_work work,
                                void *ctx)
{
    tct_crew_begin(crew, count, work, ctx);
    tct_crew_end(crew);
}

#endif
