/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/ghosts.c - the sorted, unique columns that other ranks own. */
#include "sparse/ghosts.h"
#include "device/parallel.h"
#include "sparse/keyset.h"
#include <stdatomic.h>
#include <string.h>

static const char *const what = "columns of other ranks";

/* --- sorted --------------------------------------------------------------- */

enum { BITS = 11, DIGITS = 1 << BITS, WIDTH = 63 /* of a number */ };

typedef struct {
    int64_t id, from; /* ids[from] */
} numbered;

static size_t digit(const numbered *k, int shift)
{
    return (size_t)(k->id >> shift) % DIGITS;
}

/* One stable pass of the radix sort. */
static void sort_by(int shift, int64_t count, const numbered *from,
                    numbered *to)
{
    int64_t next[DIGITS] = {0}, before = 0;
    for (int64_t k = 0; k < count; k++) next[digit(&from[k], shift)]++;
    for (int d = 0; d < DIGITS; d++) {
        const int64_t of = next[d];
        next[d] = before;
        before += of;
    }
    for (int64_t k = 0; k < count; k++)
        to[next[digit(&from[k], shift)]++] = from[k];
}

/* Radix sort of ids minus `*least`, in one of the halves of `room` [2 * count],
 * which is returned. */
static const numbered *sort(int64_t count, const int64_t *ids, numbered *room,
                            int64_t *least)
{
    numbered *here = room, *other = room + count;
    int64_t most = *least = ids[0];
    for (int64_t k = 1; k < count; k++) {
        if (ids[k] < *least) *least = ids[k];
        if (ids[k] > most) most = ids[k];
    }
    for (int64_t k = 0; k < count; k++)
        here[k] = (numbered){ids[k] - *least, k};
    for (int shift = 0; shift < WIDTH && (most - *least) >> shift > 0;
         shift += BITS) {
        numbered *const sorted = other;
        sort_by(shift, count, here, sorted);
        other = here;
        here = sorted;
    }
    return here;
}

static bool ascends(int64_t count, const int64_t *ids)
{
    for (int64_t k = 1; k < count; k++)
        if (ids[k - 1] > ids[k]) return false;
    return true;
}

/* Append `id`, which is ids[from] and not less than those before. */
static void add_next(tct_ghosts *g, int64_t id, int64_t from, int32_t *place)
{
    if (g->count == 0 || id != g->id[g->count - 1]) g->id[g->count++] = id;
    if (place) place[from] = (int32_t)(g->count - 1);
}

static tacit_status add_all(int64_t count, const int64_t *ids, int32_t *place,
                            tct_ghosts *g)
{
    numbered *room = NULL;
    int64_t least = 0;
    TRY(TCT_ALLOC(count, what, &g->id));
    if (ascends(count, ids)) {
        for (int64_t k = 0; k < count; k++) add_next(g, ids[k], k, place);
        return TACIT_OK;
    }
    TRY(TCT_ALLOC(2 * count, what, &room));
    const numbered *all = sort(count, ids, room, &least);
    for (int64_t k = 0; k < count; k++)
        add_next(g, least + all[k].id, all[k].from, place);
    tct_free(room);
    return TACIT_OK;
}

tacit_status tct_ghosts_of(int64_t count, const int64_t *ids, int32_t *place,
                           tct_ghosts *out)
{
    tct_ghosts g = {0};
    *out = g;
    if (count == 0) return TACIT_OK;
    const tacit_status status = add_all(count, ids, place, &g);
    if (status < 0) tct_ghosts_clear(&g);
    else *out = g;
    return status;
}

/* --- of a matrix ---------------------------------------------------------- */

/* Collect the columns of blocks [first, last) outside of blocks [own,
 * own_end). */
static tacit_status collect(const tct_csr *A, int block, int64_t first,
                            int64_t last, int64_t own, int64_t own_end,
                            tct_keyset *set)
{
    for (int64_t n = first; n < last; n++) {
        const int64_t i = n * block - A->first;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k += block) {
            const int64_t col = tct_csr_col(A, k);
            if (col < own * block || col >= own_end * block)
                TRY(tct_keyset_add(set, col / block));
        }
    }
    return TACIT_OK;
}

/* The union of all sets. */
static tacit_status join(int pieces, const tct_keyset *set, tct_ghosts *out)
{
    int64_t *id = NULL, all = 0;
    for (int t = 0; t < pieces; t++) all += set[t].count;
    TRY(TCT_ALLOC(all, what, &id));
    all = 0;
    for (int t = 0; t < pieces; t++)
        for (int64_t k = 0; k < set[t].room; k++)
            if (set[t].slot[k] >= 0) id[all++] = set[t].slot[k];
    const tacit_status status = tct_ghosts_of(all, id, NULL, out);
    tct_free(id);
    return status;
}

typedef struct {
    const tct_csr *A;
    int block, pieces;
    int64_t first, last;
    tct_keyset *set; /* [pieces] */
    atomic_bool starved;
} collecting;

static void collect_piece(void *work, int64_t t)
{
    collecting *c = work;
    const int64_t blocks = c->last - c->first;
    if (collect(c->A, c->block, c->first + blocks * t / c->pieces,
                c->first + blocks * (t + 1) / c->pieces, c->first, c->last,
                &c->set[t]) < 0)
        atomic_store(&c->starved, true);
}

tacit_status tct_ghosts_find(const tct_csr *A, int block, int64_t first,
                             int64_t last, tct_ghosts *out)
{
    collecting c = {.A = A,
                    .block = block,
                    .pieces = tct_parallel_parts(last - first, TCT_SHORT),
                    .first = first,
                    .last = last};
    *out = (tct_ghosts){0};
    if (first == 0 && last * block >= A->global_cols) return TACIT_OK;
    c.set = tct_calloc((size_t)c.pieces * sizeof *c.set);
    if (!c.set) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    tct_parallel_each(c.pieces, collect_piece, &c);
    const tacit_status status =
        atomic_load(&c.starved)
            ? tacit_error_set(TACIT_NO_MEMORY, "no memory for %s", what)
            : join(c.pieces, c.set, out);
    for (int t = 0; t < c.pieces; t++) tct_keyset_clear(&c.set[t]);
    tct_free(c.set);
    return status;
}

void tct_ghosts_clear(tct_ghosts *g)
{
    tct_free(g->id);
    *g = (tct_ghosts){0};
}
