/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/choice.c - cycle v or k, by trials on coarse levels.
 *
 * Steps of cg with the cycle from a level on reduce (r, M r), which is close to
 * the squared A-norm of the error; the reduction foretells iterations. From one
 * level to the level above they grow: with k by the same factor to the finest
 * level, with v by more. The iterations are weighed by the memory traffic of a
 * cycle, counted from rows and entries: no clock decides, and all ranks decide
 * alike.
 *
 * The degree of the smoother is not tried. Levels have other stencils than the
 * finest: on 27 points level 1 foretold 1.05 times the iterations with degree 1
 * for 2, and there were 1.75 times. */
#include "precond/amg/amg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Levels of the trials; the finest of them has at least ENOUGH rows, or a cycle
 * is too cheap to be worth a trial. */
enum { FIRST = 2, THEN = 1, STEPS = 8, ENOUGH = 20000 };

/* Iterations are those to DIGITS of the residual. V stays where it is foretold
 * to take FEW on level FIRST, and where k does not win as much as SHARE. K is not
 * tried where it does not win with BEST, as many as an exact coarse correction
 * would leave (8.5 was the least foretold on ten matrices). Its last trial, the
 * longest, is left out where it does not win with FALLEN of the iterations of
 * level FIRST, which fell to 0.92 at most. */
static const double DIGITS = 1e-8, FEW = 9.0, SHARE = 0.75, BEST = 8.0,
                    FALLEN = 0.9;

/* What an iteration with k costs on a GPU beyond its bytes and launches: small
 * levels fill no GPU. One H200: 1.84 times one with v on poisson3d:250 where
 * bytes say 1.31. */
static const double GPU_PRICE = 1.35;

/* Exponents of the growth of the last level. Fitted: on anisotropic3d:100 V
 * takes 11.8, 17.8 and 34 iterations on levels 2, 1 and 0, K 11, 14 and 19. */
static const double V_GROWTH = 1.5, K_GROWTH = 1.0;

/* --- costs ---------------------------------------------------------------- */

/* Bytes of an entry; of a row, in a product with its epilogue, in a transfer
 * with a residual, and in what a step of flexible cg adds to two products. */
static const double ENTRY = 6.0, PRODUCT = 40.0, TRANSFER = 60.0, STEP = 96.0;
/* Bytes of a row in an iteration of cg, and what flexible cg adds. */
static const double OUTER = 80.0, FLEXIBLE = 40.0;

/* Bytes that could be moved while an operation is launched and while a message
 * is on its way. */
typedef struct {
    double launch, message;
} latency;

static latency latency_of(const tacit_queue *q)
{
    const bool gpu = q->device->kind == TCT_KIND_GPU;
    const double message = gpu ? 4e7 : 2e5;
    return (latency){gpu ? 1e7 : 0.0, q->ranks > 1 ? message : 0.0};
}

typedef struct {
    double bytes, launches, messages;
} work;

static void add_products(work *w, const tct_amg_level *L, double count)
{
    w->bytes += count * (ENTRY * (double)L->about.nonzeros +
                         PRODUCT * (double)L->about.rows);
    w->launches += count;
    w->messages += count;
}

static void add_rows(work *w, const tct_amg_level *L, double bytes,
                     double launches)
{
    w->bytes += bytes * (double)L->about.rows;
    w->launches += launches;
}

/* An iteration with the cycle, which visits level l `visits` times; a fused
 * level is as one launch. */
static double cost_of(const tct_amg *M, int krylov)
{
    const latency l = latency_of(M->base.op.q);
    work w = {.bytes = 0.0};
    double visits = 1.0;
    add_products(&w, M->level, 1.0);
    add_rows(&w, M->level, OUTER + (krylov > 0 ? FLEXIBLE : 0.0), 3.0);
    for (int i = 0; i + 1 < M->levels; i++) {
        const tct_amg_level *L = &M->level[i];
        if (i > krylov && L->kept) {
            w.launches += visits;
            continue;
        }
        if (i > 0 && i <= krylov) {
            add_products(&w, L, 2.0 * visits);
            add_rows(&w, L, STEP * visits, 8.0 * visits);
            w.messages += 2.0 * visits;
            visits *= 2.0;
        }
        add_products(&w, L, 2.0 * visits * L->smoother.how.degree);
        add_rows(&w, L, TRANSFER * visits, 3.0 * visits);
    }
    return w.bytes / M->base.op.q->ranks + l.launch * w.launches +
           l.message * w.messages;
}

/* --- trials --------------------------------------------------------------- */

static tacit_status open_krylov(tacit_queue *q, tct_amg_level *L)
{
    if (!L->c) TRY(tacit_queue_alloc(q, TCT_SCALARS, &L->c));
    if (!L->b2) TRY(tacit_queue_alloc(q, (size_t)L->n, &L->b2));
    return L->x2 ? TACIT_OK : tacit_queue_alloc(q, (size_t)L->n, &L->x2);
}

static void close_krylov(tacit_queue *q, tct_amg_level *L)
{
    double **const all[] = {&L->c, &L->b2, &L->x2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(q, all[i]);
}

/* Let the `krylov` levels below level `l`, and no others, begin a K-cycle. */
static tacit_status set_cycle(tct_amg *M, int l, int krylov)
{
    tacit_queue *q = M->base.op.q;
    tacit_status status = TACIT_OK;
    for (int i = 1; i + 1 < M->levels; i++) {
        if (i <= l || i > l + krylov) close_krylov(q, &M->level[i]);
        else if (status >= 0) status = open_krylov(q, &M->level[i]);
    }
    tct_amg_set_factors(M);
    return tct_agree(M->base.op.world, status);
}

/* *out: iterations from level `l` on. */
static tacit_status foretell(tct_amg *M, int l, int krylov, double *out)
{
    tct_amg_trial got;
    TRY(set_cycle(M, l, krylov));
    TRY(tct_amg_try(M, &M->level[l], STEPS, &got));
    *out = got.left > 0.0 && got.left < 1.0
               ? 2.0 * got.steps * log(DIGITS) / log(got.left)
               : 0.0;
    return TACIT_OK;
}

/* A value that grows from `before` to `now`, on the next level. */
static double extrapolate(double before, double now, double growth)
{
    if (!(now > before && before > 0.0)) return now;
    return now * pow(now / before, growth);
}

/* *v, *k: iterations on the finest level; 0: v stays. */
static tacit_status try_cycles(tct_amg *M, double price, double *v, double *k)
{
    double v2 = 0.0, v1 = 0.0, k2 = 0.0, k1 = 0.0;
    *k = *v = 0.0;
    TRY(foretell(M, FIRST, 0, &v2));
    if (v2 < FEW) return TACIT_OK;
    TRY(foretell(M, THEN, 0, &v1));
    *v = extrapolate(v2, v1, V_GROWTH);
    if (v1 > 0.0 && BEST * price >= SHARE * *v) return TACIT_OK;
    TRY(foretell(M, FIRST, TCT_AMG_KRYLOV, &k2));
    if (!(k2 * price < SHARE * *v) && k2 >= v2) return TACIT_OK;
    if (v1 > 0.0 && FALLEN * k2 * price >= SHARE * *v) return TACIT_OK;
    TRY(foretell(M, THEN, TCT_AMG_KRYLOV, &k1));
    *k = k1 > 0.0 ? extrapolate(k2, k1, K_GROWTH) : 0.0;
    return TACIT_OK;
}

/* --- the choice ----------------------------------------------------------- */

static void take(tct_amg *M, double v, double k)
{
    char was[sizeof M->detail];
    snprintf(was, sizeof was, "%s", M->detail + strlen("cycle v"));
    snprintf(M->detail, sizeof M->detail,
             "cycle k (predicted: %.0f iterations to %g, v %.0f)%.100s", k,
             DIGITS, v, was);
    M->krylov = TCT_AMG_KRYLOV;
    M->base.op.varies = true;
}

/* Not where the trials take long beside a solve, nor where all levels below
 * level 1 are replicated. */
static bool is_worth_it(const tct_amg *M)
{
    return M->chooses && M->levels > FIRST + 1 && !M->alone.M &&
           M->level[THEN].about.rows > ENOUGH;
}

/* An iteration with k over one with v, on all ranks. */
static tacit_status find_price(const tct_amg *M, double *out)
{
    const bool gpu = M->base.op.q->device->kind == TCT_KIND_GPU;
    *out = cost_of(M, TCT_AMG_KRYLOV) / cost_of(M, 0) * (gpu ? GPU_PRICE : 1.0);
    return tct_reduce_f64(M->base.op.world, TCT_MAX, 1, out);
}

static void tell(const tct_amg *M, bool takes, double v, double k, double price)
{
    if (M->base.op.world->rank != 0) return;
    tct_log(TCT_DETAIL,
            "amg: cycle %c: v %.1f iterations, k %.1f (0: not tried) at %.2f "
            "the cost",
            takes ? 'k' : 'v', v, k, price);
}

tacit_status tct_amg_choose(tct_amg *M)
{
    double v = 0.0, k = 0.0, price = 0.0;
    if (!is_worth_it(M)) return TACIT_OK;
    TRY(find_price(M, &price));
    TRY(try_cycles(M, price, &v, &k));
    bool takes = k > 0.0 && k * price < SHARE * v;
    TRY(tct_any(M->base.op.world, !takes, &takes));
    takes = !takes;
    TRY(set_cycle(M, 0, takes ? TCT_AMG_KRYLOV : 0));
    tell(M, takes, v, k, price);
    if (takes) take(M, v, k);
    return TACIT_OK;
}
