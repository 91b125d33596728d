/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/ghosts.h - columns of a rank's rows that other ranks own. */
#ifndef TCT_SPARSE_GHOSTS_H
#define TCT_SPARSE_GHOSTS_H
#include "sparse/csr.h"

typedef struct tct_ghosts {
    int64_t count;
    int64_t *id; /* [count] ascending */
} tct_ghosts;

/* The ghost columns of block rows [first, last) of `A`, as numbers of blocks of
 * `block` columns; a block has the pattern of its first row.
 * Errors      NO_MEMORY. */
tacit_status tct_ghosts_find(const tct_csr *A, int block, int64_t first,
                             int64_t last, tct_ghosts *out);
/* The sorted, unique numbers of `ids` [count]; the position of each id goes to
 * `place` [count], OPTIONAL.
 * Errors      NO_MEMORY. */
tacit_status tct_ghosts_of(int64_t count, const int64_t *ids, int32_t *place,
                           tct_ghosts *out);
void tct_ghosts_clear(tct_ghosts *g);

/* The position of `id`, which must be one of the ghosts: exponential search
 * from its position in an even distribution, which is close for grids. */
static inline int64_t tct_ghost_place(const tct_ghosts *g, int64_t id)
{
    int64_t low = 0, high = g->count - 1;
    if (high <= 0 || id <= g->id[0]) return 0;
    if (id >= g->id[high]) return high;
    int64_t at = (int64_t)((double)(id - g->id[0]) * (double)high /
                           (double)(g->id[high] - g->id[0]));
    if (g->id[at] < id) {
        for (int64_t step = 1; at < high && g->id[at] < id; step *= 2) {
            low = at + 1;
            at += step;
        }
        if (at < high) high = at;
    } else {
        for (int64_t step = 1; at > low && g->id[at] >= id; step *= 2) {
            high = at;
            at -= step;
        }
        if (at >= low) low = at;
    }
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (g->id[mid] < id) low = mid + 1;
        else high = mid;
    }
    return low;
}

#endif
