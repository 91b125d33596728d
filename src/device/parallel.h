/* SPDX-License-Identifier: BSD-3-Clause
 * device/parallel.h - loops of set-up, on the threads that a call of the
 * library may use.
 *
 * A public function says in one line how many these are (TCT_THREADS_AT_MOST,
 * TCT_THREADS_OF). Loops outside of such a block, and loops within an item of
 * another loop, run alone on the calling thread. Results must not depend on
 * which thread does a range, nor on how many threads there are. */
#ifndef TCT_DEVICE_PARALLEL_H
#define TCT_DEVICE_PARALLEL_H
#include "device/team.h"
#include <stdatomic.h>

/* --- how many threads ----------------------------------------------------- */

/* Until the end of this block loops of the caller have at most `most` threads;
 * 0: as many as the block around it has, or, if it is the outermost,
 * OMP_NUM_THREADS or one for each processor. The first loop that is worth
 * threads takes a team; the outermost block gives it back. */
#define TCT_THREADS_AT_MOST(most)                               \
    const tct_loop_threads threads_before_                      \
        __attribute__((cleanup(tct_threads_restore), unused)) = \
            tct_threads_at_most(most)
/* The same on `team`, of a queue, which nobody else uses meanwhile. */
#define TCT_THREADS_OF(team)                                    \
    const tct_loop_threads threads_before_                      \
        __attribute__((cleanup(tct_threads_restore), unused)) = \
            tct_threads_of(team)

typedef struct {
    int most;       /* threads; 0: outside of all blocks            */
    tct_team *team; /* NULL: none is taken                          */
    bool is_taken;  /* of the process's idle ones, to be given back */
} tct_loop_threads;

tct_loop_threads tct_threads_at_most(int most);
tct_loop_threads tct_threads_of(tct_team *team);
void tct_threads_restore(const tct_loop_threads *before);

/* Threads that the next loop may have, at most: for work spaces. */
int tct_parallel_most(void);
/* The same of a loop over `count` items, `least` of which are worth a
 * thread. */
int tct_parallel_parts(int64_t count, int64_t least);

/* --- loops ---------------------------------------------------------------- */

enum { TCT_SHORT = 2000 }; /* rows that are not worth waking threads for */

/* Call fn(work, from, to) for ranges that make up [0, count), many for each
 * thread; `least` items are worth a thread. */
void tct_parallel(int64_t count, int64_t least, tct_stretch_fn fn, void *work);

/* Call fn(work, part) once for each part below `parts`: for loops with a work
 * space, or with a result by part, which the caller combines in their order. */
void tct_parallel_each(int parts, tct_item_fn fn, void *work);

/* Call fn(work, thread) on each thread, where calls share out what there is to
 * do: a call that comes late finds nothing left. */
void tct_parallel_shared(tct_item_fn fn, void *work);

/* The first item of `part`: parts of [0, count) as even as can be. */
static inline int64_t tct_part_first(int64_t count, int part, int parts)
{
    return count / parts * part + count % parts * part / parts;
}

/* fn(work, from, to, space) for ranges that make up [0, count), each with a
 * work space of `bytes` of its own, aligned to 64 bytes and not cleared. False:
 * there was no memory, and some ranges are not done. */
typedef void tct_space_fn(void *work, int64_t from, int64_t to, void *space);
bool tct_parallel_with(int64_t count, int64_t least, size_t bytes,
                       tct_space_fn *fn, void *work);

/* --- reductions: each combines what fn says of ranges --------------------- */

typedef int64_t tct_measure_fn(const void *work, int64_t from, int64_t to);
typedef bool tct_check_fn(const void *work, int64_t from, int64_t to);

int64_t tct_parallel_sum(int64_t count, int64_t least, tct_measure_fn *fn,
                         const void *work); /* 0 of no items         */
int64_t tct_parallel_min(int64_t count, int64_t least, tct_measure_fn *fn,
                         const void *work); /* INT64_MAX of no items */
int64_t tct_parallel_max(int64_t count, int64_t least, tct_measure_fn *fn,
                         const void *work); /* 0 if none is larger   */
/* Are all ranges as fn wants them? Ranges after one that is not may be left
 * out. */
bool tct_parallel_all(int64_t count, int64_t least, tct_check_fn *fn,
                      const void *work);

/* For results of ranges where order does not matter. */
static inline void tct_atomic_min(atomic_int_fast64_t *least, int64_t value)
{
    int_fast64_t now = atomic_load(least);
    while (value < now && !atomic_compare_exchange_weak(least, &now, value))
        ;
}

/* The same of the largest. */
static inline void tct_atomic_max_f64(_Atomic double *most, double value)
{
    double now = atomic_load(most);
    while (value > now && !atomic_compare_exchange_weak(most, &now, value))
        ;
}

/* --- work in the background ----------------------------------------------- */

/* Other threads begin with fn(work, part), of which calls share out what there
 * is to do; the caller takes part in tct_background_end, which returns when all
 * is done. False: there are no other threads, and nothing has begun. */
bool tct_background_begin(tct_item_fn fn, void *work);
void tct_background_end(void);

#endif
