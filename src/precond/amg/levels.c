/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/levels.c - set-up of the hierarchy, level by level, until the
 * matrix is small enough for an inverse or stops shrinking. */
#include "device/parallel.h"
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/cycle/fused_coarse.h"
#include "precond/amg/device/device_setup.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows of a matrix to be inverted: where coarsening stops, and the limit if it
 * stalls. */
enum { SMALL = 800, DENSE_MOST = 1500 };

/* Smaller levels do not wake threads: rows and entries of a rank. */
enum { FEW_ROWS = 5000, FEW_ENTRIES = 200000 };

/* An inverse costs n^3 / 2: at most WORTH / 2 products with the matrix. If it
 * saves all levels and iterations, the matrix counts with ALONE more
 * entries. */
static const double WORTH = 100.0, ALONE = 1.5e4;

/* HARDLY: a level must shrink at least to this share. COMPLEX: limit of the
 * entries of all levels over those of the matrix. */
static const double HARDLY = 0.8, COMPLEX = 3.0;

/* The smoother in place of a coarsest solve, for a wide interval. */
static const tct_amg_smoothing last_resort = {
    .kind = TCT_CHEBYSHEV, .degree = TCT_AMG_DEGREE_MOST, .ratio = 100.0};

static const tct_coarsening pairwise = {.passes = 3};

typedef struct {
    tct_amg *M;
    const tct_amg *as;           /* whose P are used; NULL: new ones */
    const tacit_operator *A;     /* finest */
    const tacit_matrix *m;       /* current level; NULL: on the device only */
    tacit_matrix *own;           /* owned, or NULL: the user's */
    double *smooth;              /* [its rows], NULL: ones */
    int64_t *index;              /* [its rows], see tct_aggregate */
    tct_near_null near;          /* several smooth vectors */
    tct_amg_device *device;      /* device set-up; NULL: on the host */
    int64_t rows, all, nonzeros; /* of the level: own rows, all rows */
    double entries;              /* of all levels */
    bool loose;                  /* diagonal matrix */
    bool floats;                 /* current level has float values */
} growth;

/* The next level; NULL members: on the device. */
typedef struct {
    tct_aggregates G;
    tacit_matrix *matrix;
    tct_amg_redistribution redistribution; /* of its rows */
    int64_t rows, all, nonzeros;
    int rounds;
    bool positive, found;
} next_level;

static bool is_finest(const growth *g)
{
    return g->M->levels == 1;
}

/* --- a level -------------------------------------------------------------- */

/* Rows plus partial sums of the level above, unless these go to other ranks
 * first. */
static int64_t room_of(const growth *g)
{
    if (is_finest(g)) return g->rows;
    const tct_amg_transfer *above = &g->M->level[g->M->levels - 2].down;
    return g->rows +
           (above->redistribution.to ? 0 : tct_amg_sent(&above->remote));
}

static tacit_status open_level(growth *g, tct_amg_level *L)
{
    tacit_queue *q = g->A->q;
    const size_t n = (size_t)g->rows;
    L->n = g->rows;
    L->first = g->m ? g->m->A.first : tct_amg_device_first(g->device);
    L->room = room_of(g);
    L->about = (tacit_precond_level){.rows = g->all, .nonzeros = g->nonzeros};
    g->entries += (double)g->nonzeros;
    if (is_finest(g) && !g->M->part_of) return TACIT_OK;
    TRY(tacit_queue_alloc(q, (size_t)L->room, &L->b));
    TRY(tacit_queue_alloc(q, (size_t)L->room, &L->x));
    const bool krylov = !is_finest(g) && g->M->levels - 1 <= g->M->krylov;
    if (krylov) TRY(tacit_queue_alloc(q, TCT_SCALARS, &L->c));
    if (!g->M->twice && !krylov) return TACIT_OK;
    TRY(tacit_queue_alloc(q, n, &L->b2));
    return tacit_queue_alloc(q, n, &L->x2);
}

static tacit_status set_floats(growth *g)
{
    const bool several = g->near.value != NULL;
    g->floats = g->M->precision == TCT_FLOATS;
    if (g->M->precision != TCT_AUTO_BITS) return TACIT_OK;
    if (g->device) return tct_amg_device_floats(g->device, &g->floats);
    return tct_amg_floats_will_do(g->m, several ? g->near.value : g->smooth,
                                  several ? g->near.vectors : 1, &g->floats);
}

/* The operator itself or its float view; on the host no view is made if a
 * device makes the levels, since it would take longer than all of them. */
static tacit_status make_finest(growth *g, tct_amg_level *L)
{
    tacit_status status = TACIT_OK;
    tct_operator_settle(g->A); /* a cycle has several products */
    if (g->floats)
        status = tct_operator_rounded(g->A, g->device ? NULL : g->m, &L->own);
    L->A = L->own ? L->own : g->A;
    L->exponent = g->A->exponent;
    L->about.bits = L->own ? 32 : 64;
    L->about.format = L->own ? L->own->local->ops->name : g->A->info.format;
    return tct_agree(g->A->world, status);
}

/* As the device stores rows, else the first of a few formats that suits the
 * matrix, without autotuning. For dense blocks on a GPU the format says
 * whether values are floats, which saves a scan of them. */
tacit_status tct_amg_operator_of(tacit_queue *q, const tacit_matrix *m,
                                 bool blocks, bool floats, tacit_operator **out)
{
    static const char *const formats[] = {"bsell/f32@none", "bsell/f64@none",
                                          "bsell@none", "sell@none",
                                          "csr@none"};
    enum { FLOATS, DOUBLES, ON_HOST, ROWS, ALL };
    const bool gpu = q->device->kind == TCT_KIND_GPU;
    tacit_status status =
        blocks ? TACIT_UNSUPPORTED : tct_amg_device_put(q, m, floats, out);
    int i = ROWS;
    if (blocks) i = !gpu ? ON_HOST : floats ? FLOATS : DOUBLES;
    for (; i < ALL && status == TACIT_UNSUPPORTED; i++)
        status = tacit_operator_create(q, m, formats[i], out);
    return status;
}

static tacit_status make_coarse(growth *g, tct_amg_level *L)
{
    if (g->floats && !g->device) tct_amg_round(g->own);
    const tacit_status status =
        g->device ? tct_amg_device_operator(g->device, g->A, g->floats, &L->own)
                  : tct_amg_operator_of(g->A->q, g->m, g->near.vectors > 1,
                                        g->floats, &L->own);
    if (status < 0) return status;
    L->A = L->own;
    L->exponent = L->own->exponent;
    L->about.bits = g->floats ? 32 : 64;
    L->about.format = L->own->info.format;
    return status;
}

static tacit_status find_rows(growth *g, const tct_amg_level *L,
                              tct_amg_rows *out)
{
    if (g->device) return tct_amg_device_rows(g->device, out);
    return tct_amg_rows_of(g->m, L->A->order, L->exponent, out);
}

static tacit_status make_smoother(growth *g, tct_amg_level *L,
                                  tct_amg_smoothing how)
{
    tct_amg_rows rows;
    TRY(set_floats(g));
    TRY(is_finest(g) ? make_finest(g, L) : make_coarse(g, L));
    tacit_status status = tct_agree(g->A->world, find_rows(g, L, &rows));
    if (status >= 0)
        status = tct_amg_smoother_create(L->A, &rows, how, &L->smoother);
    tct_amg_rows_free(&rows);
    L->about.largest = L->smoother.largest;
    if (status >= 0 && !g->device) status = tct_amg_fused_keep(g->M, g->m, L);
    return status;
}

/* The hierarchy of all ranks. */
static const tct_amg *whole_of(const growth *g)
{
    return g->M->part_of ? g->M->part_of : g->M;
}

/* Only one rank logs. */
static bool logs(const growth *g)
{
    return whole_of(g)->base.op.q->rank == 0;
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
        is_finest(g) ? TCT_DOUBLES : M->precision;
    TRY(tct_amg_coarsest_create(g->A->q, g->m,
                                is_finest(g) ? g->A->order : NULL, precision,
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

static bool is_small(const growth *g, int64_t rows)
{
    const double n = (double)rows;
    const double entries = (double)whole_of(g)->level[0].about.nonzeros;
    return n <= SMALL &&
           n * n * n <= WORTH * (entries + (is_finest(g) ? ALONE : 0.0));
}

/* --- the next ------------------------------------------------------------- */

/* Is each diagonal entry of `m` positive? Collective. */
static tacit_status is_positive(const tacit_matrix *m, bool *out)
{
    const tct_csr *A = &m->A;
    bool bad = false;
    for (int64_t i = 0; i < A->rows; i++)
        bad = bad || !(tct_csr_diagonal(A, i) > 0.0);
    TRY(tct_any(m->world, bad, &bad));
    *out = !bad;
    return TACIT_OK;
}

/* Sizes of the current level. */
static void set_size(growth *g, const tacit_matrix *m)
{
    g->m = m;
    g->rows = m->A.rows;
    g->all = m->A.global_rows;
    g->nonzeros = m->nonzeros;
}

/* Continue on the host. */
static tacit_status leave_device(growth *g)
{
    const int vectors = g->near.vectors;
    if (!g->m) {
        TRY(tct_amg_device_bring(g->device, &g->own, &g->smooth));
        set_size(g, g->own);
        if (vectors > 0) {
            TRY(tct_near_null_of(&g->near, vectors, g->rows, g->smooth));
            g->smooth = NULL;
        }
    }
    tct_amg_device_close(&g->device);
    return TACIT_OK;
}

/* Leave the device at small levels and at levels to be replicated. */
static tacit_status leave_if_done(growth *g)
{
    bool done = false;
    TRY(tct_amg_device_is_done(g->device, &done));
    if (g->as && !g->as->level[g->M->levels].blocks) done = true;
    if (!done && !tct_amg_fused_for_each(g->M, g->all, g->nonzeros))
        return TACIT_OK;
    return leave_device(g);
}

static tacit_status copy_smooth(const double *from, int64_t count, double **out)
{
    TRY(TCT_ALLOC(count, "a preconditioner", out));
    if (count > 0) memcpy(*out, from, (size_t)count * sizeof **out);
    return TACIT_OK;
}

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

/* Length of P' of the smooth vectors, for the aggregates of this rank's
 * rows. */
static int64_t smooth_of(const tct_aggregates *G)
{
    return (G->coarse + G->others.count) * G->width * G->width;
}

/* Recover the aggregates, P and P' of the smooth vectors of a level. */
static tacit_status recall(const growth *g, int level, tct_aggregates *G)
{
    const tct_amg_level *L = &g->as->level[level];
    TRY(tct_amg_transfer_recall(g->A->q, L->A->order, L->n, &L->down, G));
    return copy_smooth(L->smooth, smooth_of(G), &G->smooth);
}

/* Recompute what products need. */
static tacit_status aggregate_again(const growth *g, tct_aggregates *G)
{
    tacit_world *w = g->A->world;
    TRY(tct_agree(w, recall(g, g->M->levels - 1, G)));
    return tct_halo_of_columns(w, g->m->starts, &g->m->A, &G->halo);
}

static tacit_status aggregate(const growth *g, tct_aggregates *G)
{
    if (g->as) return aggregate_again(g, G);
    return g->near.vectors > 0
               ? tct_aggregate_nodes(g->m, &g->near, &pairwise, G)
               : tct_aggregate(g->m, g->smooth, g->index, &pairwise, G);
}

static tacit_status coarsen_on_host(const growth *g, next_level *next)
{
    TRY(aggregate(g, &next->G));
    TRY(g->near.vectors > 0 ? tct_block_galerkin(g->m, &next->G, &next->matrix)
                            : tct_galerkin(g->m, &next->G, &next->matrix));
    tct_aggregates_forget(&next->G);
    next->rows = next->matrix->A.rows;
    next->all = next->matrix->A.global_rows;
    next->nonzeros = next->matrix->nonzeros;
    next->rounds = next->G.rounds;
    return is_positive(next->matrix, &next->positive);
}

/* The host takes over on failure. */
static tacit_status coarsen_on_device(growth *g, next_level *next)
{
    tct_amg_size size;
    const tct_amg_level *as = g->as ? &g->as->level[g->M->levels - 1] : NULL;
    const tacit_status status =
        as ? tct_amg_device_coarsen_as(g->device, as, &size)
           : tct_amg_device_coarsen(g->device, &pairwise, &size);
    if (status == TACIT_UNSUPPORTED || status == TACIT_NO_MEMORY) {
        tct_log(TCT_DETAIL, "amg: the host makes the other levels: %s",
                tacit_error_message());
        TRY(leave_device(g));
        return coarsen_on_host(g, next);
    }
    next->rows = size.rows;
    next->all = size.all;
    next->nonzeros = size.nonzeros;
    next->rounds = size.rounds;
    next->positive = size.positive;
    return status;
}

/* Move its rows to the ranks that keep them. */
static tacit_status move(growth *g, next_level *next)
{
    const int64_t *as =
        g->as ? g->as->level[g->M->levels - 1].down.redistribution.to : NULL;
    if (g->as && !as) return TACIT_OK;
    if (!is_small(g, next->all) &&
        tct_amg_fused_for_each(g->M, next->all, next->nonzeros))
        return TACIT_OK;
    TRY(tct_amg_move(next->matrix, next->G.width, is_small(g, next->all),
                     g->M->base.op.n, as, &next->redistribution));
    if (!g->as)
        TRY(tct_amg_redistribution_columns(&next->redistribution, g->A->q, 1));
    next->rows = next->matrix->A.rows;
    return TACIT_OK;
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
    TRY(g->device ? coarsen_on_device(g, next) : coarsen_on_host(g, next));
    *why = rejection(g, next);
    next->found = *why == NULL;
    return next->found && next->matrix ? move(g, next) : TACIT_OK;
}

/* That of the hierarchy whose P are used. */
static void borrow_transfer(const growth *g, tct_amg_level *L)
{
    const tct_amg_level *as = &g->as->level[g->M->levels - 1];
    L->down = as->down;
    L->blocks = as->blocks;
    L->block_count = as->block_count;
}

/* Of a level made on a device. */
static tacit_status take_transfer(growth *g, tct_amg_level *L)
{
    const bool several = g->near.vectors > 0; /* an update needs them */
    g->M->on_device = !several;
    if (g->as) {
        borrow_transfer(g, L);
        return tct_amg_device_smooth(g->device, &L->smooth);
    }
    TRY(tct_amg_device_transfer(g->device, &L->down));
    if (!several) return TACIT_OK;
    L->blocks = tct_amg_device_blocks(g->device, &L->block_count);
    return tct_amg_device_smooth(g->device, &L->smooth);
}

static tacit_status make_transfer(growth *g, next_level *next, tct_amg_level *L)
{
    const tct_aggregates *G = &next->G;
    if (g->device) return take_transfer(g, L);
    TRY(copy_smooth(G->smooth, smooth_of(G), &L->smooth));
    if (g->as) {
        borrow_transfer(g, L);
    } else {
        TRY(tct_amg_transfer_create(g->A->q, L->A->order, G, &L->down));
        L->down.redistribution = next->redistribution;
        next->redistribution = (tct_amg_redistribution){.to = NULL};
    }
    if (!L->down.redistribution.to) return TACIT_OK;
    return tacit_queue_alloc(g->A->q, (size_t)tct_amg_restricted(&L->down),
                             &L->e);
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

/* Move the smooth vectors to the ranks that keep the rows. */
static tacit_status move_smooth(const growth *g, next_level *next)
{
    const tct_amg_redistribution *redistribution =
        &g->M->level[g->M->levels - 1].down.redistribution;
    tct_aggregates *G = &next->G;
    TRY(tct_amg_move_values(g->A->world, redistribution, G->width, &G->smooth));
    if (G->index) {
        double *words = (double *)(void *)G->index; /* of the same size */
        TRY(tct_amg_move_values(g->A->world, redistribution, 1, &words));
        G->index = (int64_t *)(void *)words;
    }
    G->coarse = next->rows / G->width;
    return TACIT_OK;
}

/* Continue with the next level, whose matrix and smooth vectors are taken
 * over. */
static tacit_status descend(growth *g, next_level *next)
{
    g->rows = next->rows;
    g->all = next->all;
    g->nonzeros = next->nonzeros;
    if (g->device) {
        tct_amg_level *L = &g->M->level[g->M->levels - 1];
        if (L->exponent == 0 && tct_amg_fused_wants(g->M, L))
            L->kept = tct_amg_device_take(g->device);
        g->m = NULL;
        const int vectors = g->near.vectors;
        tct_free(g->smooth); /* the next one is on the device */
        g->smooth = NULL;
        tct_near_null_clear(&g->near); /* so are the next ones */
        g->near.vectors = vectors;
        tct_amg_device_descend(g->device);
        return leave_if_done(g);
    }
    TRY(move_smooth(g, next));
    g->M->level[g->M->levels - 1].index = g->index;
    g->index = next->G.index;
    next->G.index = NULL;
    tacit_matrix_destroy(&g->own);
    g->own = next->matrix;
    next->matrix = NULL;
    set_size(g, g->own);
    if (g->near.vectors > 0)
        return tct_near_null_next(&g->near, &next->G, g->index);
    tct_free(g->smooth);
    g->smooth = next->G.smooth;
    next->G.smooth = NULL;
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
                g->device ? " on the device" : "", 1e3 * coarsened,
                1e3 * smoothed);
}

/* Make the current level, which `next` follows. */
static tacit_status make_level(growth *g, tct_amg_level *L, next_level *next,
                               double seconds)
{
    TCT_THREADS_AT_MOST(threads_for(g));
    const double start = tct_seconds();
    TRY(make_smoother(g, L, g->M->smoothing));
    tell_level(g, L, next->rounds, seconds, tct_seconds() - start);
    TRY(tct_agree(g->A->world, make_transfer(g, next, L)));
    if (g->as || g->device) return TACIT_OK;
    return tct_amg_remote_create(g->A->q, &next->G, &L->down.remote);
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
    if (is_small(g, g->all)) TRY(make_inverse(g, L));
    else if (!is_finest(g) && tct_amg_fused_for_each(M, g->all, g->nonzeros))
        TRY(make_alone(g, L));
    if (M->direct) return TACIT_OK;
    const double start = tct_seconds();
    tacit_status status = coarsen(g, &next, &why);
    const double seconds = tct_seconds() - start;
    if (status >= 0 && !next.found && g->device) status = leave_device(g);
    if (status >= 0)
        status =
            next.found ? make_level(g, L, &next, seconds) : finish(g, L, why);
    *more = status >= 0 && next.found;
    if (*more) status = tct_agree(g->A->world, descend(g, &next));
    tacit_matrix_destroy(&next.matrix);
    tct_aggregates_free(&next.G);
    tct_amg_redistribution_free(&next.redistribution);
    return status;
}

/* --- all ------------------------------------------------------------------ */

void tct_amg_set_factors(tct_amg *M)
{
    for (int l = 0; l + 1 < M->levels; l++) {
        const tct_amg_level *next = &M->level[l + 1];
        const int e = next->A ? next->exponent : M->coarsest.exponent;
        const double w = next->c && l + 2 < M->levels ? tct_amg_kfactor(M)
                                                      : M->overcorrection;
        M->level[l].factor = ldexp(w, M->level[l].exponent - e);
    }
}

/* The smooth vectors of the finest level. A single vector is used by row
 * aggregates. */
static tacit_status open_smooth(growth *g, const tct_near_null_options *o)
{
    tct_near_null *B = &g->near;
    TRY(tct_near_null_open(g->m, o, B));
    if (B->vectors == 0) return TACIT_OK;
    const size_t used = strlen(g->M->detail);
    snprintf(g->M->detail + used, sizeof g->M->detail - used,
             ", %d near-null vector%s", B->vectors, B->vectors > 1 ? "s" : "");
    bool nodes = false; /* nodes of several rows, on any rank */
    TRY(tct_any(g->m->world, B->nodes < g->m->A.rows, &nodes));
    g->M->given = true;
    if (B->vectors > 1 || nodes) {
        g->M->vectors = B->vectors;
        return TACIT_OK;
    }
    g->smooth = B->value;
    B->value = NULL;
    tct_near_null_clear(B);
    return TACIT_OK;
}

/* w = P (P' w), from G. */
static void expand(const tct_aggregates *G, double *w)
{
    const int64_t k = G->width;
    memset(w, 0, (size_t)(G->rows * k) * sizeof *w);
    for (int64_t i = 0; i < G->rows; i++) {
        if (G->of[i] < 0) continue;
        const double *R = G->smooth + G->of[i] * k * k;
        for (int64_t c = 0; c < k; c++)
            for (int64_t v = 0; v < k; v++)
                w[i * k + v] += G->weight[i * k + c] * R[c * k + v];
    }
}

/* Recover the smooth vectors of the finest level, in the range of P. */
static tacit_status recall_smooth(growth *g)
{
    tct_aggregates G = {.rows = 0};
    double *w = NULL;
    g->near.vectors = g->as->vectors;
    if (!g->as->given || g->as->levels == 1) return TACIT_OK;
    tacit_status status = recall(g, 0, &G);
    if (status >= 0)
        status = TCT_ALLOC(G.rows * G.width, "a preconditioner", &w);
    if (status >= 0) expand(&G, w);
    tct_aggregates_free(&G);
    *(g->near.vectors > 0 ? &g->near.value : &g->smooth) = w;
    return tct_agree(g->A->world, status);
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
    set_size(&g, matrix);
    const int threads = threads_for(&g);
    tacit_status status = as ? recall_smooth(&g) : open_smooth(&g, smooth);
    if (status >= 0 && (!as || as->level[0].blocks))
        status = tct_amg_device_open(A, matrix, g.smooth, &g.near, &g.device);
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

void tct_amg_clear(tct_amg *M)
{
    tacit_queue *q = M->base.op.q;
    tct_amg_columns_clear(M);
    tct_amg_fused_clear(M);
    for (int l = 0; l < M->levels; l++) {
        tct_amg_level *L = &M->level[l];
        double **const vectors[] = {&L->b, &L->x, &L->b2, &L->x2, &L->c, &L->e};
        tct_amg_smoother_free(q, &L->smoother);
        tct_amg_transfer_free(q, &L->down);
        TCT_FREE(L->smooth, L->index);
        tacit_queue_free(q, &L->blocks);
        for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
            tacit_queue_free(q, vectors[i]);
        tacit_operator_destroy(&L->own);
    }
    tct_amg_coarsest_free(q, &M->coarsest);
    tct_amg_replicated_free(&M->alone);
}
