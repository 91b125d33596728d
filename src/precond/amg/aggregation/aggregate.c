/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/aggregate.c - aggregates by compatible weighted
 * matching [DFV18]: each pass pairs the rows of its matrix; the pairs are the
 * rows of the next pass.
 *
 * Let W be the diagonal matrix of the smooth vector w, and Q the pattern of P
 * with ones. Then P' A P = S^-1 (Q' W A W Q) S^-1 and P' w = S 1. So the passes
 * add up rows and columns of B = W A W and need w no more. The edge criterion
 * uses the diagonal of W A W, added up over pairs.
 *
 * The rank of a pair's first row keeps the pair. Pairs are numbered in the
 * order of their first rows. If rows were distributed to ranks in another
 * order, `index` holds the numbers that pairs would have without that. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "precond/amg/aggregation/aggregation.h"
#include "precond/amg/aggregation/match.h"
#include "precond/amg/galerkin/row_accumulation.h"
#include "sparse/compact.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const what = "aggregates of rows";
const double tct_apart = 4.0, tct_joins = 0.1;

typedef tct_aggregation aggregation;

/* --- the diagonal --------------------------------------------------------- */

/* Entry of w for column `j`, counted from the first row. */
static double w_of(const aggregation *g, int64_t j)
{
    if (j >= 0 && j < g->A->A.rows) return g->w[j];
    return g->ghost_w[tct_ghost_place(&g->level.ghosts, j + g->A->A.first)];
}

/* Sets the diagonal of W A W in row `i`; 0: a row of no aggregate. False: A's
 * is not positive. */
static inline bool set_row(const aggregation *g, int64_t i, bool whole)
{
    const tct_csr *A = &g->A->A;
    double a = 0.0, diagonal = 0.0, others = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = whole ? A->col32[k] : tct_csr_col(A, k) - A->first;
        const double w = !g->w ? 1.0 : g->w[i] * (whole ? g->w[j] : w_of(g, j));
        const double b = A->val[k] * w;
        a = j == i ? A->val[k] : a;
        diagonal = j == i ? b : diagonal;
        others += j == i ? 0.0 : fabs(b);
    }
    g->diag[i] = diagonal > tct_apart * others ? 0.0 : diagonal;
    return a > 0.0;
}

static bool set_diagonal(const void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    const bool whole = tct_has_all_columns(&g->A->A);
    bool good = true;
    for (int64_t i = from; i < to; i++)
        good &= whole ? set_row(g, i, true) : set_row(g, i, false);
    return good;
}

/* Adds up the diagonal over the pairs of rows [from, to), into G->weight, which
 * is unused so far. */
static void add_diagonal(void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    double *const sum = g->G->weight;
    for (int64_t i = from; i < to; i++) {
        const int32_t j = g->mate[i];
        if (j >= i && g->up[i] < g->G->coarse)
            sum[g->up[i]] = g->diag[i] + (j > i ? g->diag[j] : 0.0);
    }
}

static void copy_diagonal(void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    for (int64_t n = from; n < to; n++) g->diag[n] = g->G->weight[n];
}

/* Replace the diagonal by that of the pairs of `rows` rows. */
static void add_up_diagonal(aggregation *g, int64_t rows)
{
    tct_parallel(rows, TCT_SHORT, add_diagonal, g);
    tct_parallel(g->G->coarse, TCT_SHORT, copy_diagonal, g);
}

/* Leave out pairs with a diagonal entry of B that is not positive: singular
 * parts without coupling to the rest. */
static void leave_out(void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    for (int64_t n = from; n < to; n++)
        if (!(tct_csr_diagonal(&g->G->B, n) > 0.0)) g->diag[n] = 0.0;
}

/* --- the order of rows ---------------------------------------------------- */

typedef struct {
    const aggregation *g;
    int64_t first;        /* row of this rank                         */
    const int64_t *index; /* [rows] of the caller, or NULL            */
} indexing;

static void number_rows(void *of, int64_t from, int64_t to)
{
    const indexing *x = of;
    for (int64_t i = from; i < to; i++) x->g->index[i] = x->first + i;
}

/* Set the index of own rows and ghosts to their global numbers. */
static void number_places(const aggregation *g, const tct_csr *A,
                          const tct_halo *h)
{
    tct_parallel(A->rows, TCT_SHORT, number_rows,
                 &(indexing){g, A->first, NULL});
    for (int64_t k = 0; k < h->ghosts.count; k++)
        g->index[A->rows + k] = h->ghosts.id[k];
}

static void take_index(void *of, int64_t from, int64_t to)
{
    const indexing *x = of;
    for (int64_t i = from; i < to; i++)
        x->g->index[i] = x->index ? x->index[i] : tct_original(x->g->A, i);
}

static bool is_in_order(const void *of, int64_t from, int64_t to)
{
    const indexing *x = of;
    for (int64_t i = from; i < to; i++)
        if (x->g->index[i] != x->first + i) return false;
    return true;
}

static tacit_status set_index(aggregation *g, const int64_t *index)
{
    const tct_csr *A = &g->A->A;
    const int64_t places = A->rows + g->level.ghosts.count;
    indexing x = {g, A->first, index};
    if (!g->ordered) return TACIT_OK;
    tct_parallel(A->rows, TCT_SHORT, take_index, &x);
    const bool permuted =
        !tct_parallel_all(A->rows, TCT_SHORT, is_in_order, &x);
    TRY(tct_any(g->A->world, permuted, &g->permuted));
    g->ordered = g->permuted || !g->level.alone;
    if (!g->permuted) {
        number_places(g, A, &g->level);
        return TACIT_OK;
    }
    TRY(tct_agree(g->A->world, TCT_ALLOC(places, what, &g->first_index)));
    TRY(tct_halo_bring(&g->level, g->index, g->index + A->rows));
    memcpy(g->first_index, g->index, (size_t)places * sizeof *g->index);
    return TACIT_OK;
}

/* Give each pair of `rows` rows the index of its first row, in place. */
static tacit_status lower_index(const aggregation *g, const tct_csr *A)
{
    if (!g->permuted) return TACIT_OK;
    for (int64_t i = 0; i < A->rows; i++) {
        const int32_t j = g->mate[i];
        if (j < i || g->up[i] >= g->G->coarse) continue;
        const bool lower = g->index[j] < g->index[i];
        g->index[g->up[i]] = g->index[lower ? j : i];
    }
    return tct_numbering_close(g->A->world, A->global_rows, g->G->coarse,
                               g->index);
}

/* --- passes --------------------------------------------------------------- */

static int64_t first_pair(const aggregation *g)
{
    return g->next[g->A->world->rank];
}

static int64_t pair_number(const aggregation *g, int32_t up)
{
    return tct_place_number(up, first_pair(g), g->G->coarse, &g->G->up_others);
}

typedef struct {
    const aggregation *g;
    int64_t rows;
} passing;

/* Is row `i` the first row of a pair of this rank? */
static bool is_first(const void *of, int64_t i)
{
    const passing *p = of;
    const aggregation *g = p->g;
    const int32_t j = g->mate[i];
    return j >= i && (j < p->rows || g->index[j] > g->index[i]);
}

/* Row `i` if its pair is kept by another rank; else -1. */
static int32_t is_given(const void *of, int64_t i)
{
    const passing *p = of;
    const bool given = p->g->mate[i] >= p->rows && p->g->up[i] < 0;
    return given ? (int32_t)i : -1;
}

/* Second rows get the pair numbers of the first. */
static void number_second(void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    for (int64_t i = from; i < to; i++) {
        const int32_t j = g->mate[i];
        if (j >= 0 && j < i) g->up[i] = g->up[j];
    }
}

/* Number the pairs of this rank in the order of their first rows. */
static void number_own(aggregation *g, int64_t rows)
{
    const passing p = {g, rows};
    g->G->coarse = tct_enumerate(rows, is_first, &p, g->up);
    tct_parallel(rows, TCT_SHORT, number_second, g);
}

/* Exchange the pair numbers of ghosts, as far as their ranks know them. */
static tacit_status bring_numbers(const aggregation *g, const tct_halo *h)
{
    for (int64_t k = 0; k < h->shared; k++)
        h->out[k] = pair_number(g, g->up[h->row[k]]);
    return tct_halo_trade(h, 1, g->ghost_of);
}

/* Number the rows whose pair another rank keeps. */
static tacit_status number_given(aggregation *g, int64_t rows)
{
    tct_aggregates *G = g->G;
    const passing p = {g, rows};
    int32_t *given = NULL;
    int64_t *number = NULL;
    TRY(TCT_ALLOC(rows, what, &given));
    const int64_t count = tct_compact(rows, is_given, &p, given);
    tacit_status status = TCT_ALLOC(count, what, &number);
    for (int64_t k = 0; status >= 0 && k < count; k++)
        number[k] = g->ghost_of[g->mate[given[k]] - rows];
    if (status >= 0) status = tct_ghosts_of(count, number, NULL, &G->up_others);
    for (int64_t k = 0; status >= 0 && k < count; k++)
        g->up[given[k]] =
            (int32_t)(G->coarse + tct_ghost_place(&G->up_others, number[k]));
    TCT_FREE(given, number);
    return status;
}

static tacit_status number_pairs(aggregation *g, int64_t rows,
                                 const tct_halo *h)
{
    tacit_world *w = g->A->world;
    tct_ghosts_clear(&g->G->up_others);
    number_own(g, rows);
    TRY(tct_numbering_starts(w, g->G->coarse, g->next));
    if (h->alone) return TACIT_OK;
    TRY(bring_numbers(g, h));
    TRY(tct_agree(w, number_given(g, rows)));
    return bring_numbers(g, h);
}

typedef struct {
    const aggregation *g;
    int64_t *number;
} listing;

static void list_pairs_of(void *of, int64_t from, int64_t to)
{
    const listing *l = of;
    for (int64_t n = from; n < to; n++)
        l->number[n] = pair_number(l->g, l->g->up[n]);
}

/* List the pairs of `rows` rows and the remote pairs of these rows. */
static tacit_status list_pairs(const aggregation *g, int64_t rows,
                               int64_t **number)
{
    TRY(TCT_ALLOC(rows + g->G->others.count, what, number));
    tct_parallel(rows, TCT_SHORT, list_pairs_of, &(listing){g, *number});
    return TACIT_OK;
}

static tacit_status follow(aggregation *g, int64_t rows, int64_t *number)
{
    tct_aggregates *G = g->G;
    tacit_world *w = g->A->world;
    TRY(tct_directory_get(w, g->starts, number, G->others.count, G->others.id,
                          number + rows));
    return tct_agree(w,
                     tct_numbering_renumber(G->rows, G->of, rows, &G->others,
                                            number, first_pair(g), G->coarse));
}

static void follow_pairs(void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    const tct_aggregates *G = g->G;
    for (int64_t i = from; i < to; i++)
        if (G->of[i] >= 0) G->of[i] = g->up[G->of[i]];
}

/* Map the level's rows to the pairs of `rows` rows. */
static tacit_status go_up(aggregation *g, int64_t rows)
{
    int64_t *number = NULL;
    if (g->level.alone) {
        tct_parallel(g->G->rows, TCT_SHORT, follow_pairs, g);
        return TACIT_OK;
    }
    tacit_status status = tct_agree(g->A->world, list_pairs(g, rows, &number));
    if (status >= 0) status = follow(g, rows, number);
    tct_free(number);
    return status;
}

static void take_pairs(void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    for (int64_t i = from; i < to; i++) g->G->of[i] = g->up[i];
}

static tacit_status begin_up(aggregation *g)
{
    tct_aggregates *G = g->G;
    tct_parallel(G->rows, TCT_SHORT, take_pairs, g);
    return tct_agree(
        g->A->world,
        tct_ghosts_of(G->up_others.count, G->up_others.id, NULL, &G->others));
}

static tacit_status add_up(aggregation *g, const tct_csr *A, const tct_halo *h,
                           bool first)
{
    tct_aggregates *G = g->G;
    tct_csr B;
    TRY(tct_accumulate_all(
        g->A->world, g->next,
        &(tct_contraction){.A = A,
                           .of = g->up,
                           .weight = first ? g->w : NULL,
                           .coarse = G->coarse,
                           .first = first_pair(g),
                           .all = g->next[g->A->world->size],
                           .ghosts = &h->ghosts,
                           .ghost_of = g->ghost_of,
                           .ghost_weight = first && g->w ? g->ghost_w : NULL,
                           .others = &G->up_others},
        &B));
    tct_csr_clear(&G->B);
    G->B = B;
    int64_t *const starts = g->starts;
    g->starts = g->next;
    g->next = starts;
    return TACIT_OK;
}

/* Allocate for `places` rows and ghosts, of which `kept` are known. */
static tacit_status make_room(aggregation *g, int64_t places, int64_t kept)
{
    double *diag = NULL;
    int64_t *index = NULL;
    if (places > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner amg: %" PRId64 " rows on one rank: use more ranks",
             places);
    if (places <= g->room && g->diag) return TACIT_OK;
    tacit_status status = TCT_ALLOC(places, what, &diag);
    if (status >= 0 && g->ordered) status = TCT_ALLOC(places, what, &index);
    if (status >= 0 && kept > 0)
        memcpy(diag, g->diag, (size_t)kept * sizeof *diag);
    if (status >= 0 && kept > 0 && index)
        memcpy(index, g->index, (size_t)kept * sizeof *index);
    TCT_FREE(g->diag, g->index, g->mate);
    g->diag = diag;
    g->index = index;
    g->mate = NULL;
    g->room = places;
    TRY(status);
    return TCT_ALLOC(places, what, &g->mate);
}

/* Allocate for `rows` rows and the ghosts of `h`. */
static tacit_status make_ghost_room(aggregation *g, const tct_halo *h,
                                    int64_t rows, int64_t kept)
{
    tct_free(g->ghost_of);
    g->ghost_of = NULL;
    TRY(TCT_ALLOC(h->ghosts.count, what, &g->ghost_of));
    return make_room(g, rows + h->ghosts.count, kept);
}

/* Start a pass on B, the matrix of pairs. */
static tacit_status open_pass(aggregation *g)
{
    const tct_csr *B = &g->G->B;
    tct_halo *h = &g->G->halo;
    tacit_world *w = g->A->world;
    tct_parallel(B->rows, TCT_SHORT, leave_out, g);
    tct_halo_close(h);
    TRY(tct_halo_of_columns(w, g->starts, B, h));
    TRY(tct_agree(w, make_ghost_room(g, h, B->rows, B->rows)));
    if (!g->ordered) return TACIT_OK;
    TRY(tct_halo_bring(h, g->diag, g->diag + B->rows));
    if (g->permuted) return tct_halo_bring(h, g->index, g->index + B->rows);
    number_places(g, B, h);
    return TACIT_OK;
}

static tacit_status pass(aggregation *g, bool first, bool last)
{
    const tct_csr A = first ? g->A->A : g->G->B;
    const tct_halo *h = first ? &g->level : &g->G->halo;
    tct_pairing p = {.A = &A,
                     .halo = h,
                     .starts = g->starts,
                     .w = first ? g->w : NULL,
                     .ghost_w = g->ghost_w,
                     .diag = g->diag,
                     .index = g->ordered ? g->index : NULL,
                     .mate = g->mate,
                     .limit = g->limit};
    TRY(tct_match(&p));
    g->limit = p.limit;
    g->G->rounds += p.rounds;
    TRY(number_pairs(g, A.rows, h));
    TRY(first ? begin_up(g) : go_up(g, A.rows));
    TRY(lower_index(g, &A));
    if (last) return TACIT_OK;
    add_up_diagonal(g, A.rows);
    TRY(add_up(g, &A, h, first));
    return open_pass(g);
}

/* --- entries of P --------------------------------------------------------- */

static double w_at(const aggregation *g, int64_t i)
{
    return g->w ? g->w[i] : 1.0;
}

/* Sum the squares of w over each aggregate, including rows of other ranks. */
static tacit_status sum_squares(const aggregation *g, const tct_halo *share)
{
    tct_aggregates *G = g->G;
    double *sum = G->smooth;
    for (int64_t n = 0; n < G->coarse + G->others.count; n++) sum[n] = 0.0;
    for (int64_t i = 0; i < G->rows; i++)
        if (G->of[i] >= 0) sum[G->of[i]] += w_at(g, i) * w_at(g, i);
    TRY(tct_halo_return(share, sum + G->coarse));
    for (int64_t k = 0; k < share->shared; k++) {
        double part;
        memcpy(&part, &share->out[k], sizeof part);
        sum[share->row[k]] += part;
    }
    return tct_halo_bring(share, sum, sum + G->coarse);
}

static void take_roots(void *of, int64_t from, int64_t to)
{
    tct_aggregates *G = of;
    for (int64_t n = from; n < to; n++) G->smooth[n] = sqrt(G->smooth[n]);
}

static void set_weights(void *of, int64_t from, int64_t to)
{
    const aggregation *g = of;
    const tct_aggregates *G = g->G;
    for (int64_t i = from; i < to; i++)
        G->weight[i] = G->of[i] < 0 ? 0.0 : w_at(g, i) / G->smooth[G->of[i]];
}

static tacit_status weigh_with(aggregation *g, const tct_halo *share)
{
    tct_aggregates *G = g->G;
    const int64_t all = G->coarse + G->others.count;
    TRY(tct_agree(g->A->world, TCT_ALLOC(all, what, &G->smooth)));
    TRY(sum_squares(g, share));
    tct_parallel(all, TCT_SHORT, take_roots, G);
    tct_parallel(G->rows, TCT_SHORT, set_weights, g);
    return TACIT_OK;
}

static tacit_status weigh(aggregation *g)
{
    const tct_ghosts *others = &g->G->others;
    tct_halo share;
    tacit_status status =
        tct_halo_of(g->A->world, g->next, others->count, others->id, &share);
    if (status >= 0) status = weigh_with(g, &share);
    tct_halo_close(&share);
    return status;
}

/* --- all ------------------------------------------------------------------ */

static tacit_status allocate(aggregation *g)
{
    const tct_csr *A = &g->A->A;
    const int size = g->A->world->size;
    TRY(tct_matrix_require_entries(g->A));
    g->ordered = size > 1;
    g->G->rows = A->rows;
    g->G->width = 1;
    TRY(TCT_ALLOC(A->rows, what, &g->G->of));
    TRY(TCT_ALLOC(A->rows, what, &g->G->weight));
    TRY(TCT_ALLOC(A->rows, what, &g->up));
    TRY(TCT_ALLOC(size + 1, what, &g->starts));
    TRY(TCT_ALLOC(size + 1, what, &g->next));
    memcpy(g->starts, g->A->starts, ((size_t)size + 1) * sizeof *g->starts);
    return TACIT_OK;
}

static tacit_status find_diagonal(const aggregation *g)
{
    if (tct_parallel_all(g->A->A.rows, TCT_SHORT, set_diagonal, g))
        return TACIT_OK;
    return tct_check_diagonal(g->A, "preconditioner amg");
}

static tacit_status allocate_places(aggregation *g)
{
    TRY(TCT_ALLOC(g->level.ghosts.count, what, &g->ghost_w));
    return make_ghost_room(g, &g->level, g->A->A.rows, 0);
}

static tacit_status open_level(aggregation *g, const int64_t *index)
{
    tacit_world *w = g->A->world;
    const tct_csr *A = &g->A->A;
    TRY(tct_agree(w, allocate(g)));
    TRY(tct_halo_of_columns(w, g->starts, A, &g->level));
    TRY(tct_agree(w, allocate_places(g)));
    if (g->w) TRY(tct_halo_bring(&g->level, g->w, g->ghost_w));
    TRY(tct_agree(w, find_diagonal(g)));
    TRY(tct_halo_bring(&g->level, g->diag, g->diag + A->rows));
    return set_index(g, index);
}

static tacit_status aggregate(aggregation *g, const int64_t *index, int passes)
{
    tct_aggregates *G = g->G;
    TRY(open_level(g, index));
    for (int k = 0; k < passes; k++) TRY(pass(g, k == 0, k == passes - 1));
    TRY(tct_absorb_singletons(g));
    G->up = g->up;
    g->up = NULL;
    TRY(weigh(g));
    if (G->B.ptr) return TACIT_OK;
    G->halo = g->level;
    g->level = (tct_halo){.world = NULL};
    return TACIT_OK;
}

tacit_status tct_aggregate(const tacit_matrix *A, const double *smooth,
                           const int64_t *index, const tct_coarsening *how,
                           tct_aggregates *out)
{
    enum { PASSES_MOST = 4 };
    ENSURE(how->passes >= 1 && how->passes <= PASSES_MOST);
    TCT_THREADS_AT_MOST(tct_world_threads(A->world));
    tct_aggregates G = {0};
    aggregation g = {
        .A = A, .w = smooth, .G = &G, .limit = tct_pair_limit(how->nodes)};
    tacit_status status =
        tct_agree(A->world, aggregate(&g, index, how->passes));
    tct_halo_close(&g.level);
    TCT_FREE(g.ghost_w, g.first_index, g.starts, g.next, g.diag, g.index,
             g.mate, g.up, g.ghost_of);
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
    tct_halo_close(&G->halo);
    tct_ghosts_clear(&G->up_others);
    tct_free(G->up);
    G->up = NULL;
}

void tct_aggregates_free(tct_aggregates *G)
{
    tct_aggregates_forget(G);
    tct_ghosts_clear(&G->others);
    TCT_FREE(G->of, G->weight, G->smooth, G->index);
    *G = (tct_aggregates){0};
}
