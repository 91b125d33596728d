/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregate.c - aggregates by compatible weighted matching [DFV18]:
 * rows in pairs, pairs in pairs, as often as is asked for.
 *
 * With W the diagonal matrix of the smooth vector w, and Q of ones where P is
 * not 0, P' A P = S^-1 (Q' W A W Q) S^-1 and P' w = S 1. So the passes add up
 * rows and columns of B = W A W, and w is not needed any more. */
#include "matrix/parallel.h"
#include "precond/amg/coarsen.h"
#include "precond/amg/contract.h"
#include "precond/amg/match.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "aggregates of rows";

typedef struct {
    const tacit_matrix *A;
    const double *w; /* [rows] NULL: ones */
    tct_aggregates *G;
    tct_csr B; /* of the pass; the first has A itself */
    double *diag;
    int32_t *mate, *up; /* [rows of B] the pair of each */
} aggregation;

/* --- the diagonal ------------------------------------------------------------ */

/* Row `i` has `*sum` off the diagonal. */
static double diagonal(const tct_csr *A, int64_t i, double *sum)
{
    double d = 0.0;
    *sum = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (tct_csr_col(A, k) == A->first + i) d = A->val[k];
        else *sum += fabs(A->val[k]);
    return d;
}

/* That of W A W, 0 where a row belongs to no aggregate. */
static tacit_status first_diagonal(aggregation *g)
{
    const tct_csr *A = &g->A->A;
    int64_t bad = A->rows;
    TCT_OMP(omp parallel for schedule(static) reduction(min : bad))
    for (int64_t i = 0; i < A->rows; i++) {
        double sum;
        const double d = diagonal(A, i, &sum), w = g->w ? g->w[i] : 1.0;
        if (!(d > 0.0) && i < bad) bad = i;
        g->diag[i] = sum > 0.0 ? w * w * d : 0.0;
    }
    if (bad == A->rows) return TACIT_OK;
    double sum;
    FAIL(TACIT_INPUT,
         "preconditioner amg: row %" PRId64 " (counted from 0) has %g on the "
         "diagonal: the matrix is not positive definite",
         tct_original(g->A, bad), diagonal(A, bad, &sum));
}

static void next_diagonal(aggregation *g)
{
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t i = 0; i < g->B.rows; i++) {
        double sum;
        g->diag[i] = diagonal(&g->B, i, &sum);
    }
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

static tacit_status pass(aggregation *g, bool first, bool last)
{
    const tct_csr *A = first ? &g->A->A : &g->B;
    const double *w = first ? g->w : NULL;
    tct_pairing p = {.A = A, .w = w, .diag = g->diag, .mate = g->mate};
    TRY(tct_match(&p));
    g->G->rounds += p.rounds;
    g->G->coarse = number_pairs(g, A->rows);
    go_up(g, first);
    if (last) return TACIT_OK;
    tct_csr B;
    TRY(tct_contract(&(tct_contraction){.A = A,
                                        .of = g->up,
                                        .weight = w,
                                        .coarse = g->G->coarse,
                                        .all = g->G->coarse},
                     &B));
    tct_csr_clear(&g->B);
    g->B = B;
    next_diagonal(g);
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
    TRY(TCT_ALLOC(rows, what, &g->G->of));
    TRY(TCT_ALLOC(rows, what, &g->G->weight));
    TRY(TCT_ALLOC(rows, what, &g->diag));
    TRY(TCT_ALLOC(rows, what, &g->mate));
    return TCT_ALLOC(rows, what, &g->up);
}

static tacit_status aggregate(aggregation *g, int passes)
{
    TRY(allocate(g));
    TRY(first_diagonal(g));
    for (int k = 0; k < passes; k++) TRY(pass(g, k == 0, k == passes - 1));
    return weigh(g);
}

tacit_status tct_aggregate(const tacit_matrix *A, const double *smooth,
                           const tct_coarsening *how, tct_aggregates *out)
{
    enum { PASSES_MOST = 4 };
    REQUIRE(how->passes >= 1 && how->passes <= PASSES_MOST);
    TCT_THREADS_AT_MOST(A->world->threads);
    tct_aggregates G = {0};
    aggregation g = {.A = A, .w = smooth, .G = &G};
    tacit_status status = tct_agree(A->world, aggregate(&g, how->passes));
    tct_csr_clear(&g.B);
    TCT_FREE(g.diag, g.mate, g.up);
    int64_t rounds = G.rounds;
    if (status >= 0) status = tct_reduce_i64(A->world, TCT_MAX, 1, &rounds);
    G.rounds = (int)rounds;
    if (status < 0) tct_aggregates_free(&G);
    else *out = G;
    return status;
}

void tct_aggregates_free(tct_aggregates *G)
{
    TCT_FREE(G->of, G->weight, G->smooth);
    *G = (tct_aggregates){0};
}
