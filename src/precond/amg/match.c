/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/match.c - rounds in which edges that are the heaviest at both ends
 * become pairs.
 *
 * The logarithm does not change which edge is heavier, so that it is never
 * taken: an edge is rated -2 b_ij / (d_i + d_j). Ratings are rounded to a few
 * bits: those that differ by rounding errors only, or by too little to matter,
 * are equal, and an edge's is the same at both ends.
 *
 * Of its heaviest edges a row looks at two: that to the row of the lowest and
 * that to the row of the highest number, if these are before and behind it. An
 * edge that is the highest of its lower end and the lowest of its higher one is
 * a link. A row has at most two links, so that they form paths, and every second
 * link of a path becomes a pair, from its beginning on. On a grid the paths are
 * whole lines of points in the direction in which numbers are farthest apart:
 * one round matches all of it, and pairs stand side by side.
 *
 * Where many edges are equally heavy at many rows, as between any two rows of a
 * dense block, few of them are links. After a round that found few a row looks
 * at one of its heaviest edges, by its hash. So rounds are O(log n). */
#include "precond/amg/match.h"
#include "matrix/parallel.h"
#include "precond/amg/edges.h"
#include <string.h>

enum {
    FEW = 8,     /* rows of which no more than one was paired   */
    SHORT = 2000 /* rows that are not worth waking threads for */
};

typedef struct {
    tct_pairing *p;
    int32_t *lower, *upper; /* [rows] those that a row looks at, -1: none */
    bool by_hash;           /* after a round that found few */
    bool anew;              /* ... all rows look again */
    int32_t *open; /* [count] rows that may yet find a mate, ascending */
    int64_t count;
} matching;

/* Between the numbers that grids have, of 1.5 to 13, so that rounding does not
 * tell their edges apart. */
const double tct_pair_limit = 6.3;

bool tct_match_loosens(int64_t all, int64_t alone, double *limit)
{
    const double too_many = 0.6, highest = 1e4;
    if ((double)alone <= too_many * (double)all || *limit > highest)
        return false;
    *limit *= 2.0;
    return true;
}

/* What -2 b / d of an edge is at least if its rating is `rating`, or a little
 * less: so that most edges need no division. */
static double at_least(uint32_t rating)
{
    const double nearly = 1.0 - 0x1p-20;
    const uint32_t bits =
        (rating << TCT_RATING_DROP) - ((uint32_t)1 << (TCT_RATING_DROP - 1));
    float f;
    memcpy(&f, &bits, sizeof f);
    return nearly * (double)f;
}

/* What a row has seen stays right until one of the two finds a mate. */
static bool has_seen(const matching *m, int64_t i)
{
    const int32_t *mate = m->p->mate;
    const int32_t low = m->lower[i], high = m->upper[i];
    return (low < 0 || mate[low] == low) && (high < 0 || mate[high] == high);
}

static void look(const matching *m, int64_t i)
{
    const tct_pairing *p = m->p;
    const tct_csr *A = p->A;
    const double own = p->diag[i];
    int64_t low = i, high = i;
    uint32_t most = 1;
    uint64_t most_hash = 0;
    double enough = at_least(most);
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        if (j < 0 || j >= A->rows || j == i) continue;
        const double b = p->w ? p->w[i] * p->w[j] * A->val[k] : A->val[k];
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
        }
        if (m->by_hash) {
            const uint64_t hash = tct_edge_hash(i, j);
            if (hash < most_hash) continue;
            most_hash = hash;
            low = high = j;
        } else if (j < low) low = j;
        else if (j > high) high = j;
    }
    m->lower[i] = low < i ? (int32_t)low : -1;
    m->upper[i] = high > i ? (int32_t)high : -1;
}

/* Returns how many rows have found a mate. */
static int64_t pair_links(matching *m)
{
    int32_t *mate = m->p->mate;
    int64_t paired = 0, left = 0;
    for (int64_t k = 0; k < m->count; k++) {
        const int32_t i = m->open[k], j = m->lower[i];
        if (j < 0 || mate[j] != j || m->upper[j] != i) continue;
        mate[i] = j;
        mate[j] = i;
        paired += 2;
    }
    for (int64_t k = 0; k < m->count; k++) {
        const int32_t i = m->open[k];
        if (mate[i] != i || (m->lower[i] < 0 && m->upper[i] < 0)) continue;
        m->open[left++] = i;
    }
    m->count = left;
    return paired;
}

/* Rows that are alone, of which none has looked. */
static void open_rows(matching *m)
{
    const tct_pairing *p = m->p;
    m->count = 0;
    for (int64_t i = 0; i < p->A->rows; i++)
        if (p->mate[i] == i) m->open[m->count++] = (int32_t)i;
    m->anew = true;
    m->by_hash = false;
}

static void run_rounds(matching *m)
{
    tct_pairing *p = m->p;
    while (m->count > 0) {
        TCT_OMP(omp parallel for schedule(static) if (m->count > SHORT))
        for (int64_t k = 0; k < m->count; k++)
            if (m->anew || !has_seen(m, m->open[k])) look(m, m->open[k]);
        p->rounds++;
        const int64_t open = m->count, paired = pair_links(m);
        if (paired == 0 && m->by_hash) break;
        m->anew = !m->by_hash && paired <= open / FEW;
        m->by_hash = m->by_hash || m->anew;
    }
}

static void match(matching *m)
{
    tct_pairing *p = m->p;
    for (int64_t i = 0; i < p->A->rows; i++)
        p->mate[i] = p->diag[i] > 0.0 ? (int32_t)i : -1;
    open_rows(m);
    p->rounds = 0;
    for (const int64_t all = m->count;;) {
        run_rounds(m);
        open_rows(m);
        if (!tct_match_loosens(all, m->count, &p->limit)) return;
    }
}

tacit_status tct_match(tct_pairing *p)
{
    static const char *const what = "pairs of rows";
    matching m = {.p = p};
    tacit_status status = TCT_ALLOC(p->A->rows, what, &m.lower);
    if (status >= 0) status = TCT_ALLOC(p->A->rows, what, &m.upper);
    if (status >= 0) status = TCT_ALLOC(p->A->rows, what, &m.open);
    if (status >= 0) match(&m);
    TCT_FREE(m.lower, m.upper, m.open);
    return status;
}
