/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/rent.c - rent or buy: the decisions, and clocks. */
#include "operator/choice/rent.h"
#include "base/base.h"

/* A trial may take this part of what the products before it have. */
static const double TRIAL = 0.4;
/* A format is bought early, after 1 / EARLY of the products that would have
 * paid for it, if SURE times those are foretold, which are rather too few; if
 * fewer are, late, after LATE times the products. */
static const double EARLY = 4.0, LATE = 2.0, SURE = 0.8;
/* Products that are slower than before by this ratio undo it. */
static const double SLOWER = 1.1;

/* --- clocks --------------------------------------------------------------- */

static double wall_now(void *of)
{
    (void)of;
    return tct_seconds();
}

tct_rent_clock tct_rent_wall(void)
{
    return (tct_rent_clock){.now = wall_now};
}

static double model_now(void *of)
{
    return *(const double *)of;
}

/* Bytes a second of a product with rows; rows are slower to store, and slices
 * faster to multiply, than their bytes say. */
static void model_charge(void *of, tct_rent_work work, double bytes)
{
    static const double
        rate = 1e10,
        slower[] = {
            [RENT_PREPARE] = 1.0, [RENT_PRODUCTS] = 1.0, [RENT_SAMPLE] = 6.0,
            [RENT_OLD] = 1.0,     [RENT_NEW] = 0.7,      [RENT_BUILD] = 5.0};
    *(double *)of += slower[work] * bytes / rate;
}

tct_rent_clock tct_rent_model(double *seconds)
{
    *seconds = 0.0;
    return (tct_rent_clock){model_now, model_charge, seconds};
}

/* --- decisions ------------------------------------------------------------ */

void tct_rent_note(tct_rent *r, int64_t products, double seconds)
{
    if (products <= 0) return;
    const double each = seconds / (double)products;
    const bool proves = r->state == RENT_PROVES;
    double *least = proves ? &r->after : &r->before;
    if (*least <= 0.0 || each < *least) *least = each;
    r->products += products;
    r->spent += seconds;
    r->rounds += proves;
}

static tct_rent_act after_trial(const tct_rent *r, double left)
{
    if (!(r->gain > 0.0)) return RENT_REFUSE;
    const double saved = (double)r->products * r->gain;
    const bool long_one = left * r->gain >= SURE * r->build;
    const double times = long_one ? 1.0 / EARLY : left > 0.0 ? LATE : 1.0;
    return saved >= times * r->build ? RENT_BUY : RENT_GO_ON;
}

tct_rent_act tct_rent_decide(const tct_rent *r, double left)
{
    switch (r->state) {
    case RENT_RUNS: return TRIAL * r->spent >= r->trial ? RENT_TRY : RENT_GO_ON;
    case RENT_TRIED: return after_trial(r, left);
    case RENT_PROVES:
        if (r->rounds < RENT_PROOFS) return RENT_GO_ON;
        return r->after > SLOWER * r->before ? RENT_UNDO : RENT_KEEP;
    case RENT_KEPT:
        return r->products >= RENT_THREADS_AFTER ? RENT_THREADS : RENT_GO_ON;
    case RENT_TRIES:
    case RENT_SETTLED: break;
    }
    return RENT_GO_ON;
}

void tct_rent_pack(const tct_rent *r, double sums[RENT_SUMS])
{
    const double packed[RENT_SUMS] = {r->spent, r->trial,  r->build,
                                      r->gain,  r->before, r->after};
    for (int i = 0; i < RENT_SUMS; i++) sums[i] = packed[i];
}

tct_rent tct_rent_unpack(const tct_rent *mine, const double sums[RENT_SUMS])
{
    tct_rent all = *mine;
    all.spent = sums[0];
    all.trial = sums[1];
    all.build = sums[2];
    all.gain = sums[3];
    all.before = sums[4];
    all.after = sums[5];
    return all;
}
