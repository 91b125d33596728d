/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/match.c - rounds in which edges that are heaviest at
 * both ends become pairs.
 *
 * The logarithm does not change the order of edges and is not computed: the
 * rating of an edge is -2 b_ij / (d_i + d_j). Ratings are rounded to a few
 * bits, so that differences by rounding errors do not count and both ends see
 * the same rating.
 *
 * Of its heaviest edges a row chooses two, to the nearest numbers: the greatest
 * below its own and the least above it. An edge chosen from both ends is a chain
 * edge. A row has at most two, so they form chains, and every second edge of a
 * chain becomes a pair. On a grid the chains are whole lines of points along the
 * direction of the smallest stride: one round matches all rows into adjacent
 * pairs. The farthest numbers would do the same for 5 and 7 points, but join the
 * corners of 9 and 27 points into sheared aggregates.
 *
 * Where many edges have the same weight, as in a dense block, few of them are
 * chain edges. After a round with few pairs a row chooses one of its heaviest
 * edges by hash. So the number of rounds is O(log n).
 *
 * Rows are compared by their numbers on a single rank, and ranks exchange the
 * choices and mates of ghost rows. So pairs do not depend on the ranks. */
#include "device/parallel.h"
#include "precond/amg/aggregation/chains.h"
#include "precond/amg/aggregation/edges.h"
#include "sparse/compact.h"
#include <string.h>

enum { FEW = 8 }; /* a round pairs few if at most one row in 8 */

typedef struct {
    tct_pairing *p;
    int32_t *lower, *upper; /* [rows] rows chosen, -1: none */
    tct_chains chains;      /* if rows have an index */
    bool by_hash;           /* after a round with few pairs */
    bool anew;              /* all rows choose again */
    int32_t *open;          /* [count] rows without a mate so far, ascending */
    int64_t count;
} matching;

/* Lies between the values of grids, 1.5 to 13, so that rounding does not
 * separate their edges. */
const double tct_pair_limit = 6.3;

bool tct_match_loosens(int64_t all, int64_t alone, double *limit)
{
    const double too_many = 0.6, highest = 1e4;
    if ((double)alone <= too_many * (double)all || *limit > highest)
        return false;
    *limit *= 2.0;
    return true;
}

/* A lower bound of -2 b / d for edges of this rating: it saves most
 * divisions. */
static double at_least(uint32_t rating)
{
    const double nearly = 1.0 - 0x1p-20;
    const uint32_t bits =
        (rating << TCT_RATING_DROP) - ((uint32_t)1 << (TCT_RATING_DROP - 1));
    float f;
    memcpy(&f, &bits, sizeof f);
    return nearly * (double)f;
}

/* The choice of a row stays valid until one of its two rows finds a mate. */
static bool has_seen(const matching *m, int64_t i)
{
    const int32_t *mate = m->p->mate;
    const int32_t low = m->lower[i], high = m->upper[i];
    return (low < 0 || mate[low] == low) && (high < 0 || mate[high] == high);
}

/* The place of column `j`, counted from A's first row. */
static inline int64_t place_of(const tct_pairing *p, int64_t j)
{
    if (j >= 0 && j < p->A->rows) return j;
    return p->A->rows + tct_ghost_place(&p->halo->ghosts, j + p->A->first);
}

static inline int64_t index_of(const tct_pairing *p, int64_t place)
{
    return p->index ? p->index[place] : place;
}

static inline double w_of(const tct_pairing *p, int64_t place)
{
    const int64_t rows = p->A->rows;
    return place < rows ? p->w[place] : p->ghost_w[place - rows];
}

static void look(const matching *m, int64_t i)
{
    const tct_pairing *p = m->p;
    const tct_csr *A = p->A;
    const double own = p->diag[i];
    const int64_t at = index_of(p, i);
    int64_t low = i, high = i; /* i: none; their numbers: */
    int64_t below = at, above = at;
    uint32_t most = 1;
    uint64_t most_hash = 0;
    double enough = at_least(most);
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = place_of(p, tct_csr_col(A, k) - A->first);
        if (j == i) continue;
        const double b = p->w ? p->w[i] * w_of(p, j) * A->val[k] : A->val[k];
        if (!(b < 0.0) || p->mate[j] != j) continue;
        const double d = own + p->diag[j];
        if (-2.0 * b < enough * d) continue;
        const uint32_t rating = tct_edge_rating(b, d);
        if (rating < most || !tct_edge_holds(b, own, p->diag[j], p->limit))
            continue;
        if (rating > most) {
            most = rating;
            most_hash = 0;
            enough = at_least(most);
            low = high = i;
            below = above = at;
        }
        const int64_t number = index_of(p, j);
        if (m->by_hash) {
            const uint64_t hash = tct_edge_hash(at, number);
            if (hash < most_hash) continue;
            most_hash = hash;
            low = high = j;
            below = above = number;
        } else if (number < at && (low == i || number > below)) {
            low = j;
            below = number;
        } else if (number > at && (high == i || number < above)) {
            high = j;
            above = number;
        }
    }
    m->lower[i] = below < at ? (int32_t)low : -1;
    m->upper[i] = above > at ? (int32_t)high : -1;
}

/* Returns how many rows have found a mate. */
static int64_t pair_links(matching *m)
{
    int32_t *mate = m->p->mate;
    int64_t paired = 0;
    for (int64_t k = 0; k < m->count; k++) {
        const int32_t i = m->open[k], j = m->lower[i];
        if (j < 0 || mate[j] != j || m->upper[j] != i) continue;
        mate[i] = j;
        mate[j] = i;
        paired += 2;
    }
    return paired;
}

static int32_t still_open(const void *of, int64_t k)
{
    const matching *m = of;
    const int32_t i = m->open[k];
    const bool sees = m->lower[i] >= 0 || m->upper[i] >= 0;
    return m->p->mate[i] == i && sees ? i : -1;
}

/* Keep the rows that may still find a mate. */
static void close_rows(matching *m)
{
    m->count = tct_compact(m->count, still_open, m, m->open);
}

static int32_t alone(const void *of, int64_t i)
{
    const matching *m = of;
    return m->p->mate[i] == i ? (int32_t)i : -1;
}

/* List the rows without a mate; all of them choose anew. */
static void open_rows(matching *m)
{
    m->count = tct_compact(m->p->A->rows, alone, m, m->open);
    m->anew = true;
    m->by_hash = false;
}

/* Sum over all ranks, unless each rank matches by itself. */
static tacit_status sum(const matching *m, size_t count, int64_t *numbers)
{
    if (!m->p->index) return TACIT_OK;
    return tct_reduce_i64(m->p->halo->world, TCT_SUM, count, numbers);
}

/* *paired: rows that have found a mate. */
static tacit_status pair(matching *m, int64_t *paired)
{
    if (m->p->index)
        return tct_chains_pair(&m->chains, m->open, m->count, paired);
    *paired = pair_links(m);
    return TACIT_OK;
}

static void look_again(void *of, int64_t from, int64_t to)
{
    const matching *m = of;
    for (int64_t k = from; k < to; k++)
        if (m->anew || !has_seen(m, m->open[k])) look(m, m->open[k]);
}

/* `open`: open rows of all ranks. */
static tacit_status run_rounds(matching *m, int64_t open)
{
    tct_pairing *p = m->p;
    while (open > 0) {
        tct_parallel(m->count, TCT_SHORT, look_again, m);
        p->rounds++;
        int64_t now[2] = {0}; /* rows paired, rows left */
        TRY(pair(m, &now[0]));
        close_rows(m);
        now[1] = m->count;
        TRY(sum(m, 2, now));
        if (now[0] == 0 && m->by_hash) break;
        m->anew = !m->by_hash && now[0] <= open / FEW;
        m->by_hash = m->by_hash || m->anew;
        open = now[1];
    }
    return TACIT_OK;
}

/* Reset the mates of places [from, to); rows left out have -1. */
static void reset_places(void *of, int64_t from, int64_t to)
{
    const matching *m = of;
    const tct_pairing *p = m->p;
    for (int64_t i = from; i < to; i++) {
        p->mate[i] = p->diag[i] > 0.0 ? (int32_t)i : -1;
        if (p->index && i < p->A->rows) m->lower[i] = m->upper[i] = -1;
    }
}

static tacit_status match(matching *m)
{
    tct_pairing *p = m->p;
    tct_parallel(p->A->rows + p->halo->ghosts.count, TCT_SHORT, reset_places,
                 m);
    open_rows(m);
    p->rounds = 0;
    int64_t all = m->count;
    TRY(sum(m, 1, &all));
    for (int64_t left = all;;) {
        TRY(run_rounds(m, left));
        open_rows(m);
        left = m->count;
        TRY(sum(m, 1, &left));
        if (!tct_match_loosens(all, left, &p->limit)) return TACIT_OK;
    }
}

tacit_status tct_match(tct_pairing *p)
{
    static const char *const what = "pairs of rows";
    matching m = {.p = p};
    tacit_status status = TCT_ALLOC(p->A->rows, what, &m.lower);
    if (status >= 0) status = TCT_ALLOC(p->A->rows, what, &m.upper);
    if (status >= 0) status = TCT_ALLOC(p->A->rows, what, &m.open);
    if (status >= 0) status = tct_chains_open(p, m.lower, m.upper, &m.chains);
    status = tct_agree(p->halo->world, status);
    if (status >= 0) status = match(&m);
    tct_chains_close(&m.chains);
    TCT_FREE(m.lower, m.upper, m.open);
    return status;
}
