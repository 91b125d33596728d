/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/levels.c - set-up of the hierarchy, level by level, until the
 * matrix is small enough for an inverse or stops shrinking. */
#include "precond/amg/levels.h"
#include "device/parallel.h"
#include "precond/amg/cycle/fused_coarse.h"
#include <stdio.h>

/* Rows of a matrix to be inverted if coarsening stalls. */
enum { DENSE_MOST = 1500 };

/* Smaller levels do not wake threads: rows and entries of a rank. */
enum { FEW_ROWS = 5000, FEW_ENTRIES = 200000 };

/* HARDLY: a level must shrink at least to this share. COMPLEX: limit of the
 * entries of all levels over those of the matrix. */
static const double HARDLY = 0.8, COMPLEX = 3.0;

/* The smoother in place of a coarsest solve, for a wide interval. */
static const tct_amg_smoothing last_resort = {
    .kind = TCT_CHEBYSHEV, .degree = TCT_AMG_DEGREE_MOST, .ratio = 100.0};

typedef tct_amg_growth growth;
typedef tct_amg_next next_level;

/* --- a level -------------------------------------------------------------- */

/* Rows plus partial sums of the level above, unless these go to other ranks
 * first. */
static int64_t room_of(const growth *g)
{
    if (tct_amg_is_finest(g)) return g->rows;
    const tct_amg_transfer *above = &g->M->level[g->M->levels - 2].down;
    return g->rows +
           (above->redistribution.to ? 0 : tct_amg_sent(&above->remote));
}

static tacit_status open_level(growth *g, tct_amg_level *L)
{
    tacit_queue *q = g->A->q;
    const size_t n = (size_t)g->rows;
    L->n = g->rows;
    L->first = g->first;
    L->room = room_of(g);
    L->about = (tacit_precond_level){.rows = g->all, .nonzeros = g->nonzeros};
    g->entries += (double)g->nonzeros;
    if (tct_amg_is_finest(g) && !g->M->part_of) return TACIT_OK;
    TRY(tacit_queue_alloc(q, (size_t)L->room, &L->b));
    TRY(tacit_queue_alloc(q, (size_t)L->room, &L->x));
    const int l = tct_amg_levels_before(g->M) + g->M->levels - 1;
    const int twice = g->M->twice ? TCT_AMG_TWICE : 0;
    const bool krylov = l > 0 && l <= g->M->krylov;
    if (krylov) TRY(tacit_queue_alloc(q, TCT_SCALARS, &L->c));
    if (!krylov && (l == 0 || l > twice)) return TACIT_OK;
    TRY(tacit_queue_alloc(q, n, &L->b2));
    return tacit_queue_alloc(q, n, &L->x2);
}

static tacit_status set_floats(growth *g)
{
    g->floats = g->M->precision == TCT_FLOATS;
    if (g->M->precision != TCT_AUTO_BITS) return TACIT_OK;
    return g->make->floats(g, &g->floats);
}

/* The operator itself or its float view. */
static tacit_status make_finest(growth *g, tct_amg_level *L)
{
    tacit_status status = TACIT_OK;
    tct_operator_settle(g->A); /* a cycle has several products */
    if (g->floats) status = g->make->view(g, L);
    L->A = L->own ? L->own : g->A;
    L->exponent = g->A->exponent;
    L->about.bits = L->own ? 32 : 64;
    L->about.format = L->own ? L->own->local->ops->name : g->A->info.format;
    return tct_agree(g->A->world, status);
}

static tacit_status make_coarse(growth *g, tct_amg_level *L)
{
    const tacit_status status = g->make->coarse(g, L);
    if (status < 0) return status;
    L->A = L->own;
    L->exponent = L->own->exponent;
    L->about.bits = g->floats ? 32 : 64;
    L->about.format = L->own->info.format;
    return status;
}

static tacit_status make_smoother(growth *g, tct_amg_level *L,
                                  tct_amg_smoothing how)
{
    tct_amg_rows rows;
    TRY(set_floats(g));
    TRY(tct_amg_is_finest(g) ? make_finest(g, L) : make_coarse(g, L));
    tacit_status status = tct_agree(g->A->world, g->make->rows(g, L, &rows));
    if (status >= 0)
        status = tct_amg_smoother_create(L->A, &rows, how, &L->smoother);
    tct_amg_rows_free(&rows);
    L->about.largest = L->smoother.largest;
    return status < 0 ? status : g->make->keep(g, L);
}

/* Only one rank logs. */
static bool logs(const growth *g)
{
    return tct_amg_whole(g)->base.op.q->rank == 0;
}

static void log_time(const growth *g, const char *what, double since)
{
    if (logs(g))
        tct_log(TCT_DETAIL, "amg: %s in %.2f ms", what,
                1e3 * (tct_seconds() - since));
}

/* Make the inverse, if the matrix is positive definite. */
static tacit_status make_inverse(growth *g, tct_amg_level *L)
{
    const double start = tct_seconds();
    tct_amg *M = g->M;
    const tct_amg_precision precision = /* used for M as a whole */
        tct_amg_is_finest(g) ? TCT_DOUBLES : M->precision;
    TRY(tct_amg_coarsest_create(g->A->q, g->m,
                                tct_amg_is_finest(g) ? g->A : NULL, precision,
                                &M->coarsest, &M->direct));
    L->about.bits = M->coarsest.bits;
    log_time(g, "the last matrix inverted", start);
    if (M->direct) L->about.format = "inverse";
    else
        snprintf(M->end, sizeof M->end,
                 "the last matrix is not positive definite: it is smoothed");
    return TACIT_OK;
}

/* Replicate this and the coarser levels on each rank, if possible. */
static tacit_status make_alone(growth *g, tct_amg_level *L)
{
    const double start = tct_seconds();
    tct_amg *M = g->M;
    TRY(tct_amg_replicated_create(M, g->m, g->smooth, &M->alone));
    if (!M->alone.M) return TACIT_OK;
    TRY(tct_amg_coarsest_visit(g->A->q, g->m, &M->alone, &M->coarsest));
    if (!g->as) /* as tuned on its levels */
        M->overcorrection = M->alone.M->overcorrection;
    TRY(tct_reduce_f64(M->base.op.world, TCT_MIN, 1, &M->overcorrection));
    M->direct = true;
    L->exponent = M->coarsest.exponent;
    snprintf(M->end, sizeof M->end, "%s", M->alone.M->end);
    log_time(g, "the other levels, on each rank,", start);
    return TACIT_OK;
}

/* --- the next ------------------------------------------------------------- */

/* Why `next` is rejected; NULL: accepted. */
static const char *rejection(growth *g, const next_level *next)
{
    const double rows = (double)next->all;
    const double entries = g->entries + (double)next->nonzeros;
    g->loose = rows == 0.0;
    if (g->loose) return "no row depends on another";
    if (!(rows <= HARDLY * (double)g->all)) return "no smaller level is found";
    if (entries > COMPLEX * (double)g->M->level[0].about.nonzeros)
        return "another level would have too many entries";
    return next->positive ? NULL
                          : "a diagonal of the next level is not positive";
}

/* Host threads for a step of the current level; 0: all. */
static int threads_for(const growth *g)
{
    const int64_t ranks = g->A->world->size;
    const bool few =
        g->all < FEW_ROWS * ranks && g->nonzeros < FEW_ENTRIES * ranks;
    return few ? 1 : 0;
}

/* Make the next level and P, or give the reason in *why. */
static tacit_status coarsen(growth *g, next_level *next, const char **why)
{
    *why = "as many levels as were asked for";
    if (g->M->levels == g->M->levels_most) return TACIT_OK;
    if (g->as && g->M->levels == g->as->levels) {
        *why = g->as->why ? g->as->why : "as many levels as there were";
        g->loose = g->as->loose;
        return TACIT_OK;
    }
    TCT_THREADS_AT_MOST(threads_for(g));
    TRY(g->make->coarsen(g, next));
    *why = rejection(g, next);
    next->found = *why == NULL;
    return TACIT_OK;
}

static void say_end(tct_amg *M, const char *why)
{
    snprintf(M->end, sizeof M->end, "%s: the last is %s", why,
             M->direct ? "inverted" : "smoothed");
}

/* Finish at this level. */
static tacit_status finish(growth *g, tct_amg_level *L, const char *why)
{
    if (L->about.rows <= DENSE_MOST && !g->loose && !g->M->end[0])
        TRY(make_inverse(g, L));
    if (!g->M->direct) {
        TCT_THREADS_AT_MOST(threads_for(g));
        TRY(make_smoother(g, L, last_resort));
    }
    g->M->why = why;
    g->M->loose = g->loose;
    say_end(g->M, why);
    return TACIT_OK;
}

static void tell_level(const growth *g, const tct_amg_level *L, int rounds,
                       double coarsened, double smoothed)
{
    if (logs(g))
        tct_log(TCT_DETAIL,
                "amg: level %d of %lld rows, %d rounds of pairs%s: the next in "
                "%.2f ms, the smoother in %.2f ms",
                g->M->levels - 1, (long long)L->about.rows, rounds,
                g->make->where, 1e3 * coarsened, 1e3 * smoothed);
}

/* Make the current level, which `next` follows. */
static tacit_status make_level(growth *g, tct_amg_level *L, next_level *next,
                               double seconds)
{
    TCT_THREADS_AT_MOST(threads_for(g));
    const double start = tct_seconds();
    TRY(make_smoother(g, L, g->M->smoothing));
    tell_level(g, L, next->rounds, seconds, tct_seconds() - start);
    return g->make->transfer(g, next, L);
}

/* Make a level; *more: another follows. */
static tacit_status add_level(growth *g, bool *more)
{
    tct_amg *M = g->M;
    tct_amg_level *L = &M->level[M->levels++];
    next_level next = {.found = false};
    const char *why = NULL;
    *more = false;
    TRY(tct_agree(g->A->world, open_level(g, L)));
    if (tct_amg_is_small(g, g->all)) TRY(make_inverse(g, L));
    else if (!tct_amg_is_finest(g) &&
             tct_amg_fused_for_each(M, g->all, g->nonzeros))
        TRY(make_alone(g, L));
    if (M->direct) return TACIT_OK;
    const double start = tct_seconds();
    tacit_status status = coarsen(g, &next, &why);
    const double seconds = tct_seconds() - start;
    if (status >= 0 && !next.found) status = g->make->leave(g);
    if (status >= 0)
        status =
            next.found ? make_level(g, L, &next, seconds) : finish(g, L, why);
    *more = status >= 0 && next.found;
    if (*more) status = tct_agree(g->A->world, g->make->descend(g, &next));
    tacit_matrix_destroy(&next.matrix);
    tct_aggregates_free(&next.G);
    tct_amg_redistribution_free(&next.redistribution);
    return status;
}

/* --- all ------------------------------------------------------------------ */

static tacit_status open_maker(growth *g, const tacit_matrix *matrix)
{
    const bool possible = !g->as || g->as->level[0].blocks;
    if (possible)
        TRY(tct_amg_device_open(g->A, matrix, g->smooth, &g->near, &g->device));
    if (!g->device) TRY(tct_agree(g->A->world, tct_near_null_fill(&g->near)));
    if (g->device)
        g->make = g->as ? &tct_amg_on_device_again : &tct_amg_on_device;
    else g->make = g->as ? &tct_amg_on_host_again : &tct_amg_on_host;
    return TACIT_OK;
}

static tacit_status overcorrect(tct_amg *M, int threads)
{
    TCT_THREADS_AT_MOST(threads);
    return tct_amg_overcorrect(M);
}

static tacit_status build(tct_amg *M, const tacit_matrix *matrix,
                          const tct_near_null_options *smooth,
                          const tct_amg *as)
{
    const tacit_operator *A = M->base.made_for;
    growth g = {.M = M, .as = as, .A = A};
    double start = tct_seconds();
    bool more = true;
    tct_amg_set_size(&g, matrix);
    const int threads = threads_for(&g);
    tacit_status status =
        as ? tct_amg_recall_smooth(&g) : tct_amg_open_smooth(&g, smooth);
    if (status >= 0) status = open_maker(&g, matrix);
    log_time(&g, "opened", start);
    while (status >= 0 && more) status = add_level(&g, &more);
    tct_amg_device_close(&g.device);
    tacit_matrix_destroy(&g.own);
    TCT_FREE(g.smooth, g.index);
    tct_near_null_clear(&g.near);
    if (status < 0) return status;
    tct_amg_set_factors(M);
    start = tct_seconds();
    if (!as) TRY(overcorrect(M, threads)); /* else copied from `as` */
    log_time(&g, "factor of corrections found", start);
    start = tct_seconds();
    if (!as) TRY(tct_amg_choose(M));
    if (M->chooses) log_time(&g, "cycle chosen", start);
    TRY(tct_amg_fused_create(M));
    return tct_amg_describe(M);
}

/* Memory pool for some vectors of `rows`. */
static size_t pool_for(int64_t rows)
{
    const size_t least = (size_t)1 << 20, most = (size_t)64 << 20;
    const size_t bytes = 8 * sizeof(double) * (size_t)rows;
    return bytes < least ? least : bytes > most ? most : bytes;
}

tacit_status tct_amg_build(tct_amg *M, const tacit_matrix *matrix,
                           const tct_near_null_options *smooth,
                           const tct_amg *as)
{
    const tacit_operator *A = M->base.made_for;
    q_memory_pool(A->q, pool_for(A->n));
    const tacit_status status = build(M, matrix, smooth, as);
    q_memory_pool(A->q, 0);
    return status;
}
