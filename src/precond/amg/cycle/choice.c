/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/choice.c - cycle v or w, by trials on coarse levels.
 *
 * Steps of cg with the cycle from a level on reduce (r, M r), which is close to
 * the squared A-norm of the error; the reduction foretells iterations. From one
 * level to the level above they grow: with w by the same factor to the finest
 * level, with v by more. The iterations are weighed by the memory traffic of a
 * cycle, counted from rows and entries: no clock decides, and all ranks decide
 * alike. Cycle k is not tried: it saves little beside w, and only one method
 * takes it.
 *
 * The degree of the smoother is not tried. Levels have other stencils than the
 * finest: on 27 points level 1 foretold 1.05 times the iterations with degree 1
 * for 2, and there were 1.75 times. */
#include "precond/amg/amg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Levels of the trials, and steps: v's need more until the rate settles. The
 * finest of the levels has at least ENOUGH rows, on a GPU MANY, or a cycle is
 * too cheap to be worth a trial. */
enum {
    FIRST = 2,
    THEN = 1,
    V_STEPS = 6,
    W_STEPS = 4,
    ENOUGH = 4000,
    MANY = 50000
};

/* Iterations are those to DIGITS of the residual. V stays where it is foretold
 * to take FEW on level FIRST, and where w does not win as much as 1 - SHARE: of
 * some 30 matrices w's bytes were 0.62 to 1.03 of v's where less than SHARE was
 * foretold, and at least 0.96 elsewhere. W's last trial is left out where it
 * does not win with FALLEN of the iterations of level FIRST, the least seen. */
static const double DIGITS = 1e-8, FEW = 7.5, SHARE = 0.82, FALLEN = 0.9;

/* An iteration with w costs more on a GPU than its bytes and launches say, since
 * small levels do not fill one. One H200: 1.81 times one with v on
 * poisson3d:250 for 1.2. */
static const double GPU_PRICE = 1.5;

/* Exponents of the growth of the last level. Fitted: on anisotropic3d:60 V
 * takes 9.5, 14.7 and 26 iterations on levels 2, 1 and 0, W 9.5, 12.4 and
 * 17. */
static const double V_GROWTH = 1.5, W_GROWTH = 1.0;

/* --- costs ---------------------------------------------------------------- */

/* Bytes of an entry; of a row, in a product with its epilogue, in a transfer
 * with a residual, and in what W adds to a product. */
static const double ENTRY = 6.0, PRODUCT = 40.0, TRANSFER = 60.0, AXPY = 24.0;
/* Bytes of a row in an iteration of cg. */
static const double OUTER = 80.0;

/* Bytes that a GPU could move while an operation is launched and while a message
 * is on its way. A host counts none: its choice is that of one rank. */
typedef struct {
    double launch, message;
} latency;

static latency latency_of(const tacit_queue *q)
{
    if (q->device->kind != TCT_KIND_GPU) return (latency){.launch = 0.0};
    return (latency){1e7, q->ranks > 1 ? 4e7 : 0.0};
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

/* Level `l` takes a polynomial of its cycle for a visit. */
static void add_polynomial(work *w, const tct_amg_level *L, double visits)
{
    add_products(w, L, visits);
    add_rows(w, L, AXPY * visits, visits);
}

/* An iteration with the cycle, the first `twice` levels after the finest in a
 * W; a fused level is as one launch. */
static double cost_of(const tct_amg *M, int twice)
{
    const latency l = latency_of(M->base.op.q);
    work w = {.bytes = 0.0};
    double visits = 1.0;
    add_products(&w, M->level, 1.0);
    add_rows(&w, M->level, OUTER, 3.0);
    for (int i = 0; i + 1 < M->levels; i++) {
        const tct_amg_level *L = &M->level[i];
        const bool again = i > 0 && i <= twice;
        if (again && !L->kept) add_polynomial(&w, L, visits);
        if (again) visits *= 2.0;
        if (L->kept) {
            w.launches += visits;
            continue;
        }
        add_products(&w, L, 2.0 * visits * L->smoother.how.degree);
        add_rows(&w, L, TRANSFER * visits, 3.0 * visits);
    }
    return w.bytes / M->base.op.q->ranks + l.launch * w.launches +
           l.message * w.messages;
}

/* --- trials --------------------------------------------------------------- */

static tacit_status open_second(tacit_queue *q, tct_amg_level *L)
{
    if (!L->b2) TRY(tacit_queue_alloc(q, (size_t)L->n, &L->b2));
    return L->x2 ? TACIT_OK : tacit_queue_alloc(q, (size_t)L->n, &L->x2);
}

static void close_second(tacit_queue *q, tct_amg_level *L)
{
    tacit_queue_free(q, &L->b2);
    tacit_queue_free(q, &L->x2);
}

/* Let the cycle from level `l` on be a W of `twice` levels, or a V (0) whose
 * factor is `factor`. */
static tacit_status set_cycle(tct_amg *M, int l, int twice, double factor)
{
    tacit_queue *q = M->base.op.q;
    tacit_status status = TACIT_OK;
    for (int i = 1; i + 1 < M->levels; i++) {
        if (i <= l || i > l + twice) close_second(q, &M->level[i]);
        else if (status >= 0) status = open_second(q, &M->level[i]);
    }
    M->twice = twice > 0;
    M->overcorrection = twice > 0 ? tct_amg_overcorrection(M) : factor;
    tct_amg_set_factors(M);
    return tct_agree(M->base.op.world, status);
}

/* *out: iterations from level `l` on. */
static tacit_status foretell(tct_amg *M, int l, int steps, double *out)
{
    tct_amg_trial got;
    TRY(tct_amg_try(M, &M->level[l], steps, &got));
    *out = got.left > 0.0 && got.left < 1.0
               ? 2.0 * got.steps * log(DIGITS) / log(got.left)
               : 0.0;
    return TACIT_OK;
}

static tacit_status foretell_v(tct_amg *M, int l, double factor, double *out)
{
    TRY(set_cycle(M, l, 0, factor));
    return foretell(M, l, V_STEPS, out);
}

static tacit_status foretell_w(tct_amg *M, int l, double *out)
{
    TRY(set_cycle(M, l, TCT_AMG_TWICE, 0.0));
    return foretell(M, l, W_STEPS, out);
}

/* A value that grows from `before` to `now`, on the next level. */
static double extrapolate(double before, double now, double growth)
{
    if (!(now > before && before > 0.0)) return now;
    return now * pow(now / before, growth);
}

/* *v, *w: iterations on the finest level; 0: v stays. */
static tacit_status try_cycles(tct_amg *M, double factor, double price,
                               double *v, double *w)
{
    double v2 = 0.0, v1 = 0.0, w2 = 0.0, w1 = 0.0;
    *w = *v = 0.0;
    TRY(foretell_v(M, FIRST, factor, &v2));
    if (v2 < FEW) return TACIT_OK;
    TRY(foretell_v(M, THEN, factor, &v1));
    *v = extrapolate(v2, v1, V_GROWTH);
    TRY(foretell_w(M, FIRST, &w2));
    if (v1 > 0.0 && FALLEN * w2 * price >= SHARE * *v) return TACIT_OK;
    TRY(foretell_w(M, THEN, &w1));
    *w = w1 > 0.0 ? extrapolate(w2, w1, W_GROWTH) : 0.0;
    return TACIT_OK;
}

/* --- the choice ----------------------------------------------------------- */

static void describe(tct_amg *M, double v, double w)
{
    char was[sizeof M->detail];
    snprintf(was, sizeof was, "%s", M->detail + strlen("cycle v"));
    snprintf(M->detail, sizeof M->detail,
             "cycle w (predicted: %.0f iterations to %g, v %.0f)%.100s", w,
             DIGITS, v, was);
}

static bool on_gpu(const tct_amg *M)
{
    return M->base.op.q->device->kind == TCT_KIND_GPU;
}

/* Not where the trials take long beside a solve, nor where levels are
 * replicated: they are one kernel before the cycle is chosen. */
static bool is_worth_it(const tct_amg *M)
{
    return M->chooses && M->levels > FIRST + 1 && !M->alone.M &&
           M->level[THEN].about.rows > (on_gpu(M) ? MANY : ENOUGH);
}

/* An iteration with w over one with v, on all ranks. */
static tacit_status find_price(const tct_amg *M, double *out)
{
    *out = cost_of(M, TCT_AMG_TWICE) / cost_of(M, 0);
    if (on_gpu(M)) *out *= GPU_PRICE;
    return tct_reduce_f64(M->base.op.world, TCT_MAX, 1, out);
}

static void tell(const tct_amg *M, bool takes, double v, double w, double price)
{
    if (M->base.op.world->rank != 0) return;
    tct_log(TCT_DETAIL,
            "amg: cycle %c: v %.1f iterations, w %.1f (0: not tried) at %.2f "
            "the cost",
            takes ? 'w' : 'v', v, w, price);
}

tacit_status tct_amg_choose(tct_amg *M)
{
    const double factor = M->overcorrection;
    double v = 0.0, w = 0.0, price = 0.0;
    if (!is_worth_it(M)) return TACIT_OK;
    TRY(find_price(M, &price));
    TRY(try_cycles(M, factor, price, &v, &w));
    bool takes = w > 0.0 && w * price < SHARE * v;
    TRY(tct_any(M->base.op.world, !takes, &takes));
    takes = !takes;
    TRY(set_cycle(M, 0, takes ? TCT_AMG_TWICE : 0, factor));
    tell(M, takes, v, w, price);
    if (takes) describe(M, v, w);
    return TACIT_OK;
}
