/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/overcorrection.c - the factor by which coarse corrections
 * are lengthened.
 *
 * Unsmoothed aggregation makes smooth vectors too stiff. On a grid corrections
 * are too short by nearly the same factor on all levels. On a network only some
 * vectors are too stiff; a factor overshoots the others on each level again,
 * and the largest eigenvalue of M A grows with the power of the levels. Where
 * it is large, cg on a small level compares factors: the better one has the
 * smaller A-norm of the error after a number of steps. */
#include "precond/amg/amg.h"
#include <math.h>

/* Levels of the trials, about 64 and 8 times smaller than the finest. A level
 * of fewer rows than ENOUGH has few levels below it, and cg converges fast for
 * any factor; with fewer than LEAST it does not even show that a factor
 * overshoots. */
enum { FIRST = 2, THEN = 1, ENOUGH = 20000, LEAST = 1000, STEPS = 6 };

/* Below this nothing overshoots; grids have 1.1 to 1.4. */
static const double TAME = 1.45;

/* Shares of the excess over 1. */
static const double parts[] = {1.0, 0.6, 0.3, 0.1};
enum { PARTS = sizeof parts / sizeof *parts };

/* Is a visit to level `l` more than one cycle? To the last one only where it is
 * the first of replicated levels. */
static bool is_repeated(const tct_amg *M, int l)
{
    if (l + 1 < M->levels) return M->level[l].b2 != NULL;
    return M->alone.M && M->alone.M->level[0].b2;
}

void tct_amg_set_factors(tct_amg *M)
{
    for (int l = 0; l + 1 < M->levels; l++) {
        const tct_amg_level *next = &M->level[l + 1];
        const int e = next->A ? next->exponent : M->coarsest.exponent;
        const double w = !is_repeated(M, l + 1) ? M->overcorrection
                         : M->twice             ? TCT_AMG_WFACTOR
                                                : tct_amg_kfactor(M);
        M->level[l].factor = ldexp(w, M->level[l].exponent - e);
    }
}

static void set_factor(tct_amg *M, double factor)
{
    M->overcorrection = factor;
    tct_amg_set_factors(M);
}

/* Does the current factor overshoot from level `l` on? */
static tacit_status overshoots(const tct_amg *M, int l, double *nearer,
                               bool *out)
{
    tct_amg_trial got;
    TRY(tct_amg_try(M, &M->level[l], STEPS, &got));
    *nearer = got.nearer;
    *out = got.largest > TAME;
    return TACIT_OK;
}

/* Try the factors in turn from level `l` on, while they improve; `best` is the
 * result of the first, 0: unknown. */
static tacit_status find_factor(tct_amg *M, int l, double best)
{
    const double most = M->overcorrection;
    double taken = most;
    for (int k = best > 0.0; k < PARTS; k++) {
        tct_amg_trial got;
        set_factor(M, 1.0 + (most - 1.0) * parts[k]);
        TRY(tct_amg_try(M, &M->level[l], STEPS, &got));
        if (!(got.nearer > best)) break;
        best = got.nearer;
        taken = M->overcorrection;
    }
    set_factor(M, taken);
    return TACIT_OK;
}

/* A level of the whole hierarchy, of which `M` may be the replicated part. */
static int level_of(const tct_amg *M, int l)
{
    const int before = tct_amg_levels_before(M);
    return l > before ? l - before : 0;
}

/* A replicated part has been tried on its own. */
static bool is_tried(const tct_amg *M)
{
    return M->alone.M && M->levels - 1 <= FIRST;
}

static tacit_status try_factors(tct_amg *M)
{
    bool overshot = false;
    double nearer = 0.0;
    int first = level_of(M, FIRST);
    const int then = level_of(M, THEN);
    if (M->levels < first + 2 || M->level[first].about.rows < LEAST)
        first = then;
    TRY(overshoots(M, first, &nearer, &overshot));
    const int l = M->level[first].about.rows < ENOUGH ? then : first;
    return overshot ? find_factor(M, l, l == first ? nearer : 0.0) : TACIT_OK;
}

tacit_status tct_amg_overcorrect(tct_amg *M)
{
    const int then = level_of(M, THEN);
    if (M->levels < then + 2 || !(M->overcorrection > 1.0)) return TACIT_OK;
    if (M->level[then].c) return TACIT_OK; /* a K-cycle computes its own */
    if (!is_tried(M)) TRY(try_factors(M));
    if (M->base.op.world->rank == 0 && !M->part_of)
        tct_log(TCT_DETAIL, "amg: corrections times %.3g", M->overcorrection);
    return TACIT_OK;
}
