/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/orthonormal.c - P from aggregates of nodes: Q of the QR
 * factors of the smooth vectors' rows. Rows of remote aggregates are sent to
 * the rank of the aggregate, which orders them by rank after its own and
 * returns their rows of Q and R. */
#include "device/parallel.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/galerkin/row_accumulation.h"
#include "precond/amg/systems/near_null.h"
#include "precond/amg/systems/qr.h"
#include <string.h>

static const char *const what = "columns of aggregates";

typedef struct {
    tacit_world *world;
    const tct_near_null *B;
    tct_aggregates *G;
    tct_members m;       /* own rows by aggregate, remote ones too           */
    int64_t *starts;     /* [size + 1] first aggregate of each rank          */
    tct_halo share;      /* of the remote aggregates                         */
    tct_halo_lists mine; /* for each, rows of B or Q, then R                 */
    tct_halo_lists
        theirs;     /* the same from other ranks                        */
    tct_members in; /* [coarse] lists of `theirs`                       */
} columns;

static int64_t members(const tct_members *m, int64_t a)
{
    return m->begin[a + 1] - m->begin[a];
}

/* Rows in list `l` of `theirs`. */
static int64_t rows_in(const columns *c, int32_t l)
{
    const int64_t k = c->B->vectors;
    return (c->theirs.begin[l + 1] - c->theirs.begin[l]) / k - k;
}

/* --- an aggregate --------------------------------------------------------- */

static int64_t rows_of(const columns *c, int64_t a)
{
    int64_t rows = members(&c->m, a);
    for (int64_t n = c->in.begin[a]; n < c->in.begin[a + 1]; n++)
        rows += rows_in(c, c->in.member[n]);
    return rows;
}

/* Copy the received rows of aggregate `a` to `Q`, or back. */
static void copy_lists(const columns *c, int64_t a, double *Q, bool back)
{
    const int64_t k = c->B->vectors;
    const double *R = c->G->smooth + a * k * k;
    for (int64_t n = c->in.begin[a]; n < c->in.begin[a + 1]; n++) {
        const int64_t words = rows_in(c, c->in.member[n]) * k;
        const size_t bytes = (size_t)words * sizeof *Q;
        double *list = c->theirs.word + c->theirs.begin[c->in.member[n]];
        memcpy(back ? list : Q, back ? Q : list, bytes);
        if (back) memcpy(list + words, R, (size_t)(k * k) * sizeof *R);
        Q += words;
    }
}

static void factor(const columns *c, int64_t a, double *Q)
{
    const int64_t k = c->B->vectors, own = members(&c->m, a);
    const size_t bytes = (size_t)k * sizeof *Q;
    const int32_t *row = c->m.member + c->m.begin[a];
    for (int64_t r = 0; r < own; r++)
        memcpy(Q + r * k, c->B->value + row[r] * k, bytes);
    copy_lists(c, a, Q + own * k, false);
    tct_qr(rows_of(c, a), (int)k, Q, c->G->smooth + a * k * k);
    for (int64_t r = 0; r < own; r++)
        memcpy(c->G->weight + row[r] * k, Q + r * k, bytes);
    copy_lists(c, a, Q + own * k, true);
}

static void factor_range(void *work, int64_t from, int64_t to, void *space)
{
    const columns *c = work;
    for (int64_t a = from; a < to; a++) factor(c, a, space);
}

static tacit_status factor_all(columns *c)
{
    enum { LEAST = 64 }; /* aggregates for a thread */
    int64_t most = 0;
    for (int64_t a = 0; a < c->G->coarse; a++)
        if (rows_of(c, a) > most) most = rows_of(c, a);
    if (!tct_parallel_with(c->G->coarse, LEAST,
                           (size_t)(most * c->B->vectors) * sizeof(double),
                           factor_range, c))
        FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

/* --- several ranks -------------------------------------------------------- */

static tacit_status allocate(columns *c)
{
    tct_aggregates *G = c->G;
    const int64_t k = c->B->vectors, all = G->coarse + G->others.count;
    TRY(TCT_ALLOC(c->world->size + 1, what, &c->starts));
    TRY(TCT_ALLOC(G->rows * k, what, &G->weight));
    TRY(TCT_ALLOC(all * k * k, what, &G->smooth));
    memset(G->weight, 0, (size_t)(G->rows * k) * sizeof *G->weight);
    return tct_list_members(G->rows, G->of, all, &c->m);
}

/* List this rank's rows of remote aggregates. */
static tacit_status list_mine(columns *c)
{
    const int64_t k = c->B->vectors, others = c->G->others.count;
    const int64_t *begin = c->m.begin + c->G->coarse;
    TRY(TCT_ALLOC(others + 1, what, &c->mine.begin));
    for (int64_t g = 0; g <= others; g++)
        c->mine.begin[g] = (begin[g] - begin[0]) * k + g * k * k;
    TRY(TCT_ALLOC(c->mine.begin[others], what, &c->mine.word));
    memset(c->mine.word, 0,
           (size_t)c->mine.begin[others] * sizeof *c->mine.word);
    for (int64_t g = 0; g < others; g++)
        for (int64_t n = begin[g]; n < begin[g + 1]; n++)
            memcpy(c->mine.word + c->mine.begin[g] + (n - begin[g]) * k,
                   c->B->value + c->m.member[n] * k,
                   (size_t)k * sizeof *c->mine.word);
    return TACIT_OK;
}

/* Store the returned rows of Q and R. */
static void take_back(const columns *c)
{
    const int64_t k = c->B->vectors, coarse = c->G->coarse;
    const size_t bytes = (size_t)k * sizeof(double);
    for (int64_t g = 0; g < c->G->others.count; g++) {
        const double *list = c->mine.word + c->mine.begin[g];
        for (int64_t n = c->m.begin[coarse + g]; n < c->m.begin[coarse + g + 1];
             n++, list += k)
            memcpy(c->G->weight + c->m.member[n] * k, list, bytes);
        memcpy(c->G->smooth + (coarse + g) * k * k, list, bytes * (size_t)k);
    }
}

static tacit_status make(columns *c)
{
    tacit_world *w = c->world;
    const tct_aggregates *G = c->G;
    TRY(tct_agree(w, allocate(c)));
    TRY(tct_numbering_starts(w, G->coarse, c->starts));
    TRY(tct_halo_of(w, c->starts, G->others.count, G->others.id, &c->share));
    TRY(tct_agree(w, list_mine(c)));
    TRY(tct_halo_return_lists(&c->share, &c->mine, &c->theirs));
    TRY(tct_agree(
        w, tct_list_members(c->share.shared, c->share.row, G->coarse, &c->in)));
    TRY(tct_agree(w, factor_all(c)));
    TRY(tct_halo_trade_lists(&c->share, &c->theirs, &c->mine));
    take_back(c);
    return TACIT_OK;
}

tacit_status tct_orthonormalize(tacit_world *world, const tct_near_null *B,
                                tct_aggregates *G)
{
    columns c = {.world = world, .B = B, .G = G};
    const tacit_status status = make(&c);
    tct_members_clear(&c.m);
    tct_members_clear(&c.in);
    tct_halo_close(&c.share);
    tct_halo_lists_clear(&c.mine);
    tct_halo_lists_clear(&c.theirs);
    tct_free(c.starts);
    return status;
}
