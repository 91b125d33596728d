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
 * All edges are rated once, and again if the limit is raised: rounds then only
 * compare numbers.
 *
 * Rows are compared by their numbers on a single rank, and ranks exchange the
 * choices and mates of ghost rows. So pairs do not depend on the ranks. */
#include "device/isa.h"
#include "device/parallel.h"
#include "precond/amg/aggregation/chains.h"
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/aggregation/edges.h"
#include "precond/amg/aggregation/rate.h"
#include "sparse/compact.h"
#include <string.h>

enum { FEW = 8 }; /* a round pairs few if at most one row in 8 */

typedef struct {
    tct_pairing *p;
    bool whole; /* places are columns */
    tct_rate_edges *rate;
    uint16_t *rating;       /* [entries] 0: no pair */
    int32_t *lower, *upper; /* [rows] rows chosen, -1: none */
    tct_chains chains;      /* if rows have an index */
    bool by_hash;           /* after a round with few pairs */
    bool anew;              /* all rows choose again */
    int32_t *open;          /* [count] rows without a mate so far, ascending */
    int64_t count;
} matching;

/* Limits lie between the values of grids, 1.5 to 13, so that rounding does not
 * separate their edges: 27 points have 13, 6.5 and 3.25 in the three passes. A
 * lower one takes fewer iterations on networks, and makes more coarse entries;
 * one of 2.5 takes more on meshes. Nodes have the higher one: dense blocks would
 * make too many. */
double tct_pair_limit(bool nodes)
{
    return nodes ? 6.3 : 3.28;
}

bool tct_match_loosens(int64_t all, int64_t alone, double *limit)
{
    const double too_many = 0.6, highest = 1e4;
    if ((double)alone <= too_many * (double)all || *limit > highest)
        return false;
    *limit *= 2.0;
    return true;
}

/* --- ratings -------------------------------------------------------------- */

static tct_rate_edges *rate_best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return tct_rate_edges_avx512;
    if (isa == TCT_ISA_AVX2) return tct_rate_edges_avx2;
#endif
    return tct_rate_edges_base;
}

/* The place of column `j`, counted from A's first row. */
static inline int64_t place_of(const tct_pairing *p, int64_t j)
{
    if (j >= 0 && j < p->A->rows) return j;
    return p->A->rows + tct_ghost_place(&p->halo->ghosts, j + p->A->first);
}

/* The place of entry `k`'s column. */
static inline int64_t place_at(const matching *m, int64_t k, bool whole)
{
    const tct_csr *A = m->p->A;
    return whole ? A->col32[k] : place_of(m->p, tct_csr_col(A, k) - A->first);
}

static inline double w_of(const tct_pairing *p, int64_t place)
{
    const int64_t rows = p->A->rows;
    return place < rows ? p->w[place] : p->ghost_w[place - rows];
}

/* Entries that are rated at once. */
enum { BLOCK = 512 };
typedef struct {
    int32_t place[BLOCK];
    double b[BLOCK], own[BLOCK];
} block;

/* The diagonals at entries [from, end), the first of row `i` or a later one;
 * returns the row of the last. */
static int64_t list_own(const tct_pairing *p, int64_t i, int64_t from,
                        int64_t end, double *own)
{
    const int64_t *const ptr = p->A->ptr;
    for (int64_t k = from; k < end; i++) {
        const int64_t until = ptr[i + 1] < end ? ptr[i + 1] : end;
        for (; k < until; k++) own[k - from] = p->diag[i];
    }
    return ptr[i] > from ? i - 1 : i;
}

static void list_places(const matching *m, int64_t from, int64_t end,
                        int32_t *place)
{
    for (int64_t k = from; k < end; k++)
        place[k - from] = (int32_t)place_at(m, k, false);
}

/* W A W, from row `i` on. */
static void list_weighted(const tct_pairing *p, int64_t i, int64_t from,
                          int64_t end, const int32_t *place, double *b)
{
    const tct_csr *A = p->A;
    for (int64_t k = from; k < end; k++) {
        while (k >= A->ptr[i + 1]) i++;
        b[k - from] = p->w[i] * w_of(p, place[k - from]) * A->val[k];
    }
}

/* Returns the row of the last entry. */
static int64_t rate_block(const matching *m, int64_t i, int64_t from,
                          int64_t end)
{
    const tct_pairing *p = m->p;
    const tct_csr *A = p->A;
    block x;
    tct_amg_edges e = {.count = end - from,
                       .place = m->whole ? A->col32 + from : x.place,
                       .b = p->w ? x.b : A->val + from,
                       .own = x.own,
                       .diag = p->diag,
                       .limit = p->limit};
    const int64_t last = list_own(p, i, from, end, x.own);
    if (!m->whole) list_places(m, from, end, x.place);
    if (p->w) list_weighted(p, i, from, end, e.place, x.b);
    m->rate(&e, m->rating + from);
    return last;
}

static void rate_rows(void *of, int64_t from, int64_t to)
{
    const matching *m = of;
    const int64_t *const ptr = m->p->A->ptr;
    int64_t i = from;
    for (int64_t k = ptr[from], end; k < ptr[to]; k = end) {
        end = k + BLOCK < ptr[to] ? k + BLOCK : ptr[to];
        i = rate_block(m, i, k, end);
    }
}

/* --- choices -------------------------------------------------------------- */

/* The choice of a row stays valid until one of its two rows finds a mate. */
static bool has_seen(const matching *m, int64_t i)
{
    const int32_t *mate = m->p->mate;
    const int32_t low = m->lower[i], high = m->upper[i];
    return (low < 0 || mate[low] == low) && (high < 0 || mate[high] == high);
}

static inline int64_t index_of(const matching *m, int64_t place, bool whole)
{
    return whole || !m->p->index ? place : m->p->index[place];
}

/* The heaviest edges of a row so far, with their ends' numbers; of the row
 * itself: none. */
typedef struct {
    uint32_t most;
    int64_t low, high, below, above;
    uint64_t hash;
} choice;

static inline void take_hashed(choice *c, int64_t at, int64_t j, int64_t number)
{
    const uint64_t hash = tct_edge_hash(at, number);
    if (hash < c->hash) return;
    c->hash = hash;
    c->low = c->high = j;
    c->below = c->above = number;
}

static inline void take_nearest(choice *c, int64_t at, int64_t j,
                                int64_t number)
{
    if (number < at && (c->below == at || number > c->below)) {
        c->low = j;
        c->below = number;
    } else if (number > at && (c->above == at || number < c->above)) {
        c->high = j;
        c->above = number;
    }
}

static inline void choose(const matching *m, int64_t i, bool whole)
{
    const int64_t at = index_of(m, i, whole), end = m->p->A->ptr[i + 1];
    const uint16_t *const rating = m->rating;
    const choice none = {0, i, i, at, at, 0};
    choice c = none;
    c.most = 1;
    for (int64_t k = m->p->A->ptr[i]; k < end; k++) {
        if (rating[k] < c.most) continue;
        const int64_t j = place_at(m, k, whole);
        if (m->p->mate[j] != j) continue;
        if (rating[k] > c.most) c = none;
        c.most = rating[k];
        const int64_t number = index_of(m, j, whole);
        if (m->by_hash) take_hashed(&c, at, j, number);
        else take_nearest(&c, at, j, number);
    }
    m->lower[i] = c.below < at ? (int32_t)c.low : -1;
    m->upper[i] = c.above > at ? (int32_t)c.high : -1;
}

/* --- rounds --------------------------------------------------------------- */

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

static int64_t still_open(const void *of, int64_t from, int64_t to,
                          int32_t *out)
{
    const matching *m = of;
    int64_t at = 0;
    for (int64_t k = from; k < to; k++) {
        const int32_t i = m->open[k];
        const bool sees = (m->lower[i] & m->upper[i]) >= 0; /* not both -1 */
        out[at] = i;
        at += (m->p->mate[i] == i) & sees;
    }
    return at;
}

/* Keep the rows that may still find a mate. */
static void close_rows(matching *m)
{
    m->count = tct_compact_ranges(m->count, still_open, m, m->open);
}

static int64_t alone(const void *of, int64_t from, int64_t to, int32_t *out)
{
    const matching *m = of;
    int64_t at = 0;
    for (int64_t i = from; i < to; i++) {
        out[at] = (int32_t)i;
        at += m->p->mate[i] == i;
    }
    return at;
}

/* List the rows without a mate; all of them choose anew. */
static void open_rows(matching *m)
{
    m->count = tct_compact_ranges(m->p->A->rows, alone, m, m->open);
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

static void choose_again(void *of, int64_t from, int64_t to)
{
    const matching *m = of;
    for (int64_t k = from; k < to; k++) {
        const int32_t i = m->open[k];
        if (!m->anew && has_seen(m, i)) continue;
        if (m->whole) choose(m, i, true);
        else choose(m, i, false);
    }
}

/* `open`: open rows of all ranks. */
static tacit_status run_rounds(matching *m, int64_t open)
{
    tct_pairing *p = m->p;
    while (open > 0) {
        tct_parallel(m->count, TCT_SHORT, choose_again, m);
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
        tct_parallel(p->A->rows, TCT_SHORT, rate_rows, m);
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
    matching m = {.p = p,
                  .whole = tct_has_all_columns(p->A) && !p->index,
                  .rate = rate_best()};
    tacit_status status = TCT_ALLOC(p->A->rows, what, &m.lower);
    if (status >= 0)
        status = TCT_ALLOC(tct_csr_nonzeros(p->A), what, &m.rating);
    if (status >= 0) status = TCT_ALLOC(p->A->rows, what, &m.upper);
    if (status >= 0) status = TCT_ALLOC(p->A->rows, what, &m.open);
    if (status >= 0) status = tct_chains_open(p, m.lower, m.upper, &m.chains);
    status = tct_agree(p->halo->world, status);
    if (status >= 0) status = match(&m);
    tct_chains_close(&m.chains);
    TCT_FREE(m.rating, m.lower, m.upper, m.open);
    return status;
}
