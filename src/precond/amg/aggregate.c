/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregate.c - aggregates by compatible weighted matching [DFV18]:
 * rows in pairs, pairs in pairs, as often as is asked for.
 *
 * With W the diagonal matrix of the smooth vector w, and Q of ones where P is
 * not 0, P' A P = S^-1 (Q' W A W Q) S^-1 and P' w = S 1. So the passes add up
 * rows and columns of B = W A W, and w is not needed any more. What a pair must
 * hold together is the diagonal of W A W, added up. */
#include "matrix/directory.h"
#include "matrix/parallel.h"
#include "precond/amg/coarsen.h"
#include "precond/amg/contract.h"
#include "precond/amg/match.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const what = "aggregates of rows";
const double tct_apart = 4.0, tct_joins = 0.1;

typedef struct {
    const tacit_matrix *A;
    const double *w;    /* [rows] NULL: ones */
    tct_aggregates *G;  /* ... with B of the pass; the first has A itself */
    int64_t *ghost_col; /* [G->ghosts] their columns in the next B */
    double *ghost_w;    /* [G->ghosts] w there, if there is w */
    double *diag;       /* [rows of B] of A, added up; 0: left out */
    double limit;       /* of the pairs so far */
    int32_t *mate, *up; /* [rows of B] the pair of each */
} aggregation;

/* --- the diagonal ------------------------------------------------------------ */

/* Of column `j`, counted from the first row. */
static double w_of(const aggregation *g, int64_t j)
{
    if (j >= 0 && j < g->A->A.rows) return g->w[j];
    return g->ghost_w[tct_ghost_place(&g->G->ghosts, j + g->A->A.first)];
}

/* Of a row of W A W. */
typedef struct {
    double diagonal, others; /* the sum of the absolute values of the others */
} row_sums;

static row_sums sum_row(const aggregation *g, int64_t i)
{
    const tct_csr *A = &g->A->A;
    row_sums s = {0};
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        const double b = A->val[k] * (g->w ? g->w[i] * w_of(g, j) : 1.0);
        if (j == i) s.diagonal = b;
        else s.others += fabs(b);
    }
    return s;
}

/* That of W A W, 0 where a row belongs to no aggregate. */
static void set_diagonal(const aggregation *g)
{
    const tct_csr *A = &g->A->A;
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t i = 0; i < A->rows; i++) {
        const row_sums s = sum_row(g, i);
        g->diag[i] = s.diagonal > tct_apart * s.others ? 0.0 : s.diagonal;
    }
}

/* Of the pairs of `rows` rows, in place. What nothing holds to the rest of the
 * matrix, as a part of it that is singular, is left out. */
static void add_up_diagonal(const aggregation *g, int64_t rows)
{
    const tct_csr *B = &g->G->B;
    for (int64_t i = 0; i < rows; i++) {
        const int32_t j = g->mate[i];
        if (j >= i) g->diag[g->up[i]] = g->diag[i] + (j > i ? g->diag[j] : 0.0);
    }
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t n = 0; n < B->rows; n++)
        if (!(tct_csr_diagonal(B, n) > 0.0)) g->diag[n] = 0.0;
}

/* --- passes ------------------------------------------------------------------- */

/* Number pairs in the order of their first rows; returns how many. */
static int64_t number_pairs(const aggregation *g, int64_t rows)
{
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int32_t j = g->mate[i];
        g->up[i] = j < 0 ? -1 : j < i ? g->up[j] : (int32_t)count;
        count += j >= i;
    }
    return count;
}

static void go_up(const aggregation *g, bool first)
{
    tct_aggregates *G = g->G;
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t i = 0; i < G->rows; i++)
        if (first) G->of[i] = g->up[i];
        else if (G->of[i] >= 0) G->of[i] = g->up[G->of[i]];
}

/* Other ranks' columns stand behind those of pairs, as they are. */
static tacit_status add_up(aggregation *g, const tct_csr *A, const double *w)
{
    tct_aggregates *G = g->G;
    tct_csr B;
    for (int64_t k = 0; k < G->ghosts.count; k++)
        g->ghost_col[k] = G->coarse + k;
    TRY(tct_contract(
        &(tct_contraction){.A = A,
                           .of = g->up,
                           .weight = w,
                           .coarse = G->coarse,
                           .all = G->coarse + G->ghosts.count,
                           .ghosts = A == &G->B ? NULL : &G->ghosts,
                           .ghost_of = g->ghost_col},
        &B));
    tct_csr_clear(&G->B);
    G->B = B;
    return TACIT_OK;
}

static tacit_status pass(aggregation *g, bool first, bool last)
{
    const tct_csr *A = first ? &g->A->A : &g->G->B;
    const int64_t rows = A->rows;
    const double *w = first ? g->w : NULL;
    tct_pairing p = {
        .A = A, .w = w, .diag = g->diag, .mate = g->mate, .limit = g->limit};
    TRY(tct_match(&p));
    g->limit = p.limit;
    g->G->rounds += p.rounds;
    g->G->coarse = number_pairs(g, rows);
    go_up(g, first);
    if (last) return TACIT_OK;
    TRY(add_up(g, A, w));
    add_up_diagonal(g, rows);
    return TACIT_OK;
}

/* --- rows left alone ----------------------------------------------------------- */

/* A row that is the only one of its aggregate has found its neighbours taken. If
 * it depends on one of them, as a small coefficient beside large ones does, it
 * goes with that one; else it would be there on all levels. */
static int32_t better_place(const aggregation *g, const int32_t *members,
                            int64_t i)
{
    const tct_csr *A = &g->A->A;
    const int32_t *of = g->G->of;
    const double ww = g->w ? g->w[i] * g->w[i] : 1.0;
    double most = tct_joins * (tct_csr_diagonal(A, i) * ww);
    int32_t best = of[i];
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        if (j < 0 || j >= A->rows || of[j] < 0 || members[of[j]] < 2) continue;
        const double b = A->val[k] * (g->w ? g->w[i] * g->w[j] : 1.0);
        if (-b <= most) continue;
        most = -b;
        best = of[j];
    }
    return best;
}

/* Number the aggregates that are still one, in the same order; `place` is where
 * each has gone, itself as a rule, and becomes the number of that. */
static void close_gaps(tct_aggregates *G, int32_t *place, int32_t *number)
{
    int32_t count = 0;
    for (int64_t n = 0; n < G->coarse; n++)
        if (place[n] == n) number[n] = count++;
    for (int64_t n = 0; n < G->coarse; n++) place[n] = number[place[n]];
    G->coarse = count;
}

static void look_up(int64_t count, const int32_t *number, int32_t *of)
{
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t i = 0; i < count; i++)
        if (of[i] >= 0) of[i] = number[of[i]];
}

static tacit_status join_alone(const aggregation *g)
{
    tct_aggregates *G = g->G;
    int32_t *members = g->mate, *place = NULL;
    TRY(TCT_ALLOC(G->coarse, what, &place));
    memset(members, 0, (size_t)G->coarse * sizeof *members);
    for (int64_t i = 0; i < G->rows; i++)
        if (G->of[i] >= 0) members[G->of[i]]++;
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t i = 0; i < G->rows; i++) {
        const int32_t n = G->of[i];
        if (n < 0) continue;
        if (members[n] == 1) place[n] = better_place(g, members, i);
    }
    for (int64_t n = 0; n < G->coarse; n++)
        if (members[n] != 1) place[n] = (int32_t)n;
    close_gaps(G, place, members);
    look_up(G->rows, place, G->of);
    look_up(G->B.rows, place, g->up);
    tct_free(place);
    return TACIT_OK;
}

/* --- what P has --------------------------------------------------------------- */

static tacit_status weigh(const aggregation *g)
{
    tct_aggregates *G = g->G;
    TRY(TCT_ALLOC(G->coarse, what, &G->smooth));
    for (int64_t n = 0; n < G->coarse; n++) G->smooth[n] = 0.0;
    for (int64_t i = 0; i < G->rows; i++) {
        const double w = g->w ? g->w[i] : 1.0;
        if (G->of[i] >= 0) G->smooth[G->of[i]] += w * w;
    }
    for (int64_t n = 0; n < G->coarse; n++) G->smooth[n] = sqrt(G->smooth[n]);
    for (int64_t i = 0; i < G->rows; i++) {
        const double w = g->w ? g->w[i] : 1.0;
        G->weight[i] = G->of[i] < 0 ? 0.0 : w / G->smooth[G->of[i]];
    }
    return TACIT_OK;
}

static tacit_status allocate(aggregation *g)
{
    const int64_t rows = g->A->A.rows;
    TRY(tct_matrix_require_entries(g->A));
    if (rows > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner amg: %" PRId64 " rows on one rank: use more ranks",
             rows);
    g->G->rows = rows;
    g->G->width = 1;
    TRY(TCT_ALLOC(rows, what, &g->G->of));
    TRY(TCT_ALLOC(rows, what, &g->G->weight));
    TRY(TCT_ALLOC(rows, what, &g->diag));
    TRY(TCT_ALLOC(rows, what, &g->mate));
    TRY(TCT_ALLOC(rows, what, &g->up));
    const tct_csr *A = &g->A->A;
    TRY(tct_ghosts_find(A, 1, A->first, A->first + A->rows, &g->G->ghosts));
    TRY(TCT_ALLOC(g->G->ghosts.count, what, &g->ghost_w));
    TRY(TCT_ALLOC(g->G->ghosts.count, what, &g->ghost_col));
    return tct_check_diagonal(g->A, "preconditioner amg");
}

/* What other ranks have. */
static tacit_status ask(aggregation *g)
{
    const tct_ghosts *ghosts = &g->G->ghosts;
    TRY(tct_agree(g->A->world, allocate(g)));
    if (!g->w) return TACIT_OK;
    return tct_ask(g->A->world, g->A->starts, g->w, ghosts->count, ghosts->id,
                   g->ghost_w);
}

static tacit_status aggregate(aggregation *g, int passes)
{
    set_diagonal(g);
    for (int k = 0; k < passes; k++) TRY(pass(g, k == 0, k == passes - 1));
    TRY(join_alone(g));
    g->G->up = g->up;
    g->up = NULL;
    return weigh(g);
}

tacit_status tct_aggregate(const tacit_matrix *A, const double *smooth,
                           const tct_coarsening *how, tct_aggregates *out)
{
    enum { PASSES_MOST = 4 };
    REQUIRE(how->passes >= 1 && how->passes <= PASSES_MOST);
    TCT_THREADS_AT_MOST(A->world->threads);
    tct_aggregates G = {0};
    aggregation g = {.A = A, .w = smooth, .G = &G, .limit = tct_pair_limit};
    tacit_status status = ask(&g);
    if (status >= 0) status = tct_agree(A->world, aggregate(&g, how->passes));
    TCT_FREE(g.ghost_col, g.ghost_w, g.diag, g.mate, g.up);
    int64_t rounds = G.rounds;
    if (status >= 0) status = tct_reduce_i64(A->world, TCT_MAX, 1, &rounds);
    G.rounds = (int)rounds;
    if (status < 0) tct_aggregates_free(&G);
    else *out = G;
    return status;
}

void tct_aggregates_forget(tct_aggregates *G)
{
    tct_csr_clear(&G->B);
    tct_ghosts_clear(&G->ghosts);
    tct_free(G->up);
    G->up = NULL;
}

void tct_aggregates_free(tct_aggregates *G)
{
    tct_aggregates_forget(G);
    TCT_FREE(G->of, G->weight, G->smooth);
    *G = (tct_aggregates){0};
}
