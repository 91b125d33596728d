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
#include <string.h>

static const char *const what = "aggregates of rows";
const double tct_apart = 4.0, tct_joins = 0.1;

typedef struct {
    const tacit_matrix *A;
    const double *w; /* [rows] NULL: ones */
    tct_aggregates *G;
    tct_csr B; /* of the pass; the first has A itself */
    double *diag;
    int32_t *mate, *up; /* [rows of B] the pair of each */
} aggregation;

/* --- the diagonal ------------------------------------------------------------ */

/* Of row `i` of W A W, where ghosts count as if they had w_i. */
typedef struct {
    double diagonal, others; /* the sum of the absolute values of the others */
} row_sums;

static row_sums sum_row(const tct_csr *A, const double *w, int64_t i)
{
    row_sums s = {0};
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        const bool own = j >= 0 && j < A->rows;
        const double b = A->val[k] * (w ? w[i] * w[own ? j : i] : 1.0);
        if (j == i) s.diagonal = b;
        else s.others += fabs(b);
    }
    return s;
}

/* That of W A W, 0 where a row belongs to no aggregate. */
static void set_diagonal(const aggregation *g, const tct_csr *A,
                         const double *w, double apart)
{
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t i = 0; i < A->rows; i++) {
        const row_sums s = sum_row(A, w, i);
        g->diag[i] = s.diagonal > apart * s.others ? 0.0 : s.diagonal;
    }
}

tacit_status tct_check_diagonal(const tacit_matrix *A)
{
    int64_t bad = A->A.rows;
    TCT_OMP(omp parallel for schedule(static) reduction(min : bad))
    for (int64_t i = 0; i < A->A.rows; i++)
        if (!(tct_csr_diagonal(&A->A, i) > 0.0) && i < bad) bad = i;
    if (bad == A->A.rows) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "preconditioner amg: row %" PRId64
         " has %g on the diagonal: the matrix is not positive definite",
         tct_original(A, bad) + 1, tct_csr_diagonal(&A->A, bad));
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
    set_diagonal(g, &g->B, NULL, HUGE_VAL);
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
    double most = tct_joins * sum_row(A, g->w, i).diagonal;
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

/* Number the aggregates that have rows again, in the same order; `number` is of
 * all that there were. */
static void close_gaps(tct_aggregates *G, int32_t *number)
{
    int32_t count = 0;
    for (int64_t n = 0; n < G->coarse; n++) number[n] = -1;
    for (int64_t i = 0; i < G->rows; i++)
        if (G->of[i] >= 0) number[G->of[i]] = 0;
    for (int64_t n = 0; n < G->coarse; n++)
        if (number[n] == 0) number[n] = count++;
    for (int64_t i = 0; i < G->rows; i++)
        if (G->of[i] >= 0) G->of[i] = number[G->of[i]];
    G->coarse = count;
}

static void join_alone(const aggregation *g)
{
    tct_aggregates *G = g->G;
    int32_t *members = g->mate, *place = g->up;
    for (int64_t n = 0; n < G->coarse; n++) members[n] = 0;
    for (int64_t i = 0; i < G->rows; i++)
        if (G->of[i] >= 0) members[G->of[i]]++;
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t i = 0; i < G->rows; i++) {
        const int32_t n = G->of[i];
        place[i] = n < 0 || members[n] > 1 ? n : better_place(g, members, i);
    }
    memcpy(G->of, place, (size_t)G->rows * sizeof *place);
    close_gaps(G, members);
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
    TRY(tct_check_diagonal(g->A));
    set_diagonal(g, &g->A->A, g->w, tct_apart);
    for (int k = 0; k < passes; k++) TRY(pass(g, k == 0, k == passes - 1));
    join_alone(g);
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
