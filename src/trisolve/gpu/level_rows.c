/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/level_rows.c - L by rows, and the levels of its rows and of those
 * of L'. The levels, a serial computation, are found while other threads
 * transpose L'. */
#include "base/base.h"
#include "device/parallel.h"
#include "graph/levels.h"
#include "trisolve/gpu/level_slices.h"
#include <sched.h>
#include <string.h>

static const char *const what = "rows of a triangular matrix";

/* L is transposed by ranges of rows, one per thread. Each thread passes over
 * all columns, so a row gets its columns ascending; per block of columns the
 * range of rows is known, to skip blocks. */
enum { BLOCK = 4096 };
typedef struct {
    const tct_sliced *S;
    int64_t ranges, blocks;
    int32_t *low, *high; /* [blocks] */
    int64_t *ptr;        /* of L     */
    int32_t *col;
    double *val;
} turn;

static void see_blocks(void *work, int64_t from_block, int64_t to_block)
{
    const turn *t = work;
    const tct_sliced_side *U = &t->S->up;
    for (int64_t b = from_block; b < to_block; b++) {
        const int64_t first = b * BLOCK, last = first + BLOCK,
                      end = last < t->S->n ? last : t->S->n;
        t->low[b] = INT32_MAX;
        t->high[b] = -1;
        for (int64_t j = first; j < end; j++) {
            const int64_t from = U->ptr[j] + 1, to = U->ptr[j + 1];
            if (from == to) continue;
            if (U->col[from] < t->low[b]) t->low[b] = U->col[from];
            if (U->col[to - 1] > t->high[b]) t->high[b] = U->col[to - 1];
        }
    }
}

/* Count the entries of each row of range r, or with `fills` store them. ptr[i +
 * 1] moves from the first entry of row i to its end. */
static void turn_range(const turn *t, int64_t r, bool fills)
{
    const tct_sliced_side *U = &t->S->up;
    const int64_t n = t->S->n, low = n * r / t->ranges,
                  high = n * (r + 1) / t->ranges;
    int64_t *next = t->ptr + 1;
    for (int64_t i = low; i < high && !fills; i++) next[i] = 0;
    for (int64_t b = 0; b < t->blocks; b++) {
        if (t->high[b] < low || t->low[b] >= high) continue;
        const int64_t last = (b + 1) * BLOCK, end = last < high ? last : high;
        for (int64_t j = b * BLOCK; j < end; j++)
            for (int64_t e = U->ptr[j] + 1; e < U->ptr[j + 1]; e++) {
                const int32_t i = U->col[e];
                if (i < low) continue;
                if (i >= high) break;
                const int64_t at = next[i]++;
                if (!fills) continue;
                t->col[at] = (int32_t)j;
                t->val[at] = U->val[e];
            }
    }
}

/* Counts become offsets. */
static void add_counts(const turn *t)
{
    int64_t before = 0;
    for (int64_t i = 0; i < t->S->n; i++) {
        const int64_t count = t->ptr[i + 1];
        t->ptr[i + 1] = before;
        before += count;
    }
}

/* Threads take one task after the other: the levels of each side, which is one
 * task; the counts of each range; and the entries of each, once all is
 * counted. */
typedef struct {
    const turn *t;
    int32_t *levels, *level;
    atomic_int_fast64_t next, counted; /* task; ranges that are counted */
    atomic_bool placed;                /* counts are places             */
} transposition;

static void find_levels(const transposition *x, bool up)
{
    const tct_sliced *S = x->t->S;
    x->levels[up] = tct_levels_find(S->n, S->up.ptr, S->up.col, S->block, up,
                                    x->level + (up ? S->n : 0));
}

static void count_range(transposition *x, int64_t r)
{
    turn_range(x->t, r, false);
    if (atomic_fetch_add(&x->counted, 1) + 1 < x->t->ranges) return;
    add_counts(x->t);
    atomic_store(&x->placed, true);
}

static void fill_range(transposition *x, int64_t r)
{
    while (!atomic_load(&x->placed)) sched_yield();
    turn_range(x->t, r, true);
}

static void take_tasks(void *work, int64_t thread)
{
    transposition *x = work;
    const int64_t counts = 2, fills = counts + x->t->ranges;
    (void)thread;
    for (;;) {
        const int64_t k = atomic_fetch_add(&x->next, 1);
        if (k < counts) find_levels(x, k > 0);
        else if (k < fills) count_range(x, k - counts);
        else if (k < fills + x->t->ranges) fill_range(x, k - fills);
        else return;
    }
}

static tacit_status turn_and_level(tct_sliced *S, turn *t, int32_t *level)
{
    const int64_t entries = S->up.ptr[S->n] - S->n;
    int32_t levels[2];
    TRY(TCT_ALLOC(t->blocks, what, &t->low));
    TRY(TCT_ALLOC(t->blocks, what, &t->high));
    TRY(TCT_ALLOC(S->n + 1, what, &t->ptr));
    S->down.ptr = S->own[3] = t->ptr;
    TRY(TCT_ALLOC(entries, what, &t->col));
    S->down.col = S->own[4] = t->col;
    TRY(TCT_ALLOC(entries, what, &t->val));
    S->down.val = S->own[5] = t->val;
    t->ptr[0] = 0;
    tct_parallel(t->blocks, 1, see_blocks, t);
    transposition x = {.t = t, .levels = levels, .level = level};
    tct_parallel_shared(take_tasks, &x);
    S->down.levels = levels[0];
    S->up.levels = levels[1];
    return TACIT_OK;
}
tacit_status tct_sliced_transpose(tct_sliced *S, int32_t *level)
{
    turn t = {.S = S,
              .ranges = tct_parallel_most(),
              .blocks = (S->n + BLOCK - 1) / BLOCK};
    const tacit_status status = turn_and_level(S, &t, level);
    TCT_FREE(t.low, t.high);
    return status;
}
