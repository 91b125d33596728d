/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/compact.c - each thread fills its piece from the front; then the
 * pieces are moved together, or their numbers shifted. */
#include "sparse/compact.h"
#include "device/parallel.h"
#include <string.h>

enum { PIECES_MOST = 256 };

typedef struct {
    int64_t count;
    int pieces;
    tct_compact_fn pick;
    tct_compact_range_fn pick_range;
    tct_is_picked_fn is_picked;
    const void *of;
    int32_t *out;                    /* what is picked, or numbers       */
    int64_t before[PIECES_MOST + 1]; /* picked by each piece, then added */
} compaction;

static int pieces_of(int64_t count)
{
    const int threads = tct_parallel_most();
    if (count <= TCT_SHORT) return 1;
    return threads < PIECES_MOST ? threads : PIECES_MOST;
}

static int64_t piece_begin(const compaction *c, int64_t piece)
{
    return tct_part_first(c->count, (int)piece, c->pieces);
}

static int64_t pick_each(const void *of, int64_t from, int64_t to, int32_t *out)
{
    const compaction *c = of;
    int64_t at = 0;
    for (int64_t k = from; k < to; k++) {
        const int32_t found = c->pick(c->of, k);
        if (found >= 0) out[at++] = found;
    }
    return at;
}

static void pick_piece(void *work, int64_t piece)
{
    compaction *c = work;
    const int64_t begin = piece_begin(c, piece);
    c->before[piece + 1] = c->pick_range(
        c->pick ? c : c->of, begin, piece_begin(c, piece + 1), c->out + begin);
}

static int64_t pick_all(compaction c)
{
    int32_t *const out = c.out;
    tct_parallel_each(c.pieces, pick_piece, &c);
    int64_t all = 0;
    for (int t = 0; t < c.pieces; t++) {
        const int64_t begin = piece_begin(&c, t), picked = c.before[t + 1];
        if (begin > all && picked > 0)
            memmove(out + all, out + begin, (size_t)picked * sizeof *out);
        all += picked;
    }
    return all;
}

int64_t tct_compact(int64_t count, tct_compact_fn pick, const void *of,
                    int32_t *out)
{
    return pick_all((compaction){.count = count,
                                 .pieces = pieces_of(count),
                                 .pick = pick,
                                 .pick_range = pick_each,
                                 .of = of,
                                 .out = out});
}

int64_t tct_compact_ranges(int64_t count, tct_compact_range_fn pick,
                           const void *of, int32_t *out)
{
    return pick_all((compaction){.count = count,
                                 .pieces = pieces_of(count),
                                 .pick_range = pick,
                                 .of = of,
                                 .out = out});
}

static void number_piece(void *work, int64_t piece)
{
    compaction *c = work;
    const int64_t end = piece_begin(c, piece + 1);
    int32_t found = 0;
    for (int64_t k = piece_begin(c, piece); k < end; k++)
        c->out[k] = c->is_picked(c->of, k) ? found++ : -1;
    c->before[piece + 1] = found;
}

static void shift_piece(void *work, int64_t piece)
{
    compaction *c = work;
    const int64_t end = piece_begin(c, piece + 1);
    for (int64_t k = piece_begin(c, piece); k < end; k++)
        if (c->out[k] >= 0) c->out[k] += (int32_t)c->before[piece];
}

int64_t tct_enumerate(int64_t count, tct_is_picked_fn is_picked, const void *of,
                      int32_t *number)
{
    compaction c = {.count = count,
                    .pieces = pieces_of(count),
                    .is_picked = is_picked,
                    .of = of,
                    .out = number};
    tct_parallel_each(c.pieces, number_piece, &c);
    for (int t = 0; t < c.pieces; t++) c.before[t + 1] += c.before[t];
    if (c.pieces > 1) tct_parallel_each(c.pieces, shift_piece, &c);
    return c.before[c.pieces];
}
