/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/overcorrect.c - by how much coarse corrections are made longer.
 *
 * P without smoothing makes what is smooth on a grid too stiff, so that its
 * correction is too short by about the same on all levels. Of a network it makes
 * some vectors too stiff and takes others as they are; these are overshot on
 * each level again, and the largest eigenvalue of M A is that much to the power of
 * the levels. Where it is so large, cg tells which factor is better, by steps with
 * the same right-hand side on a small level: the error that is smaller in the norm
 * of A after them. */
#include "precond/amg/amg.h"

/* Levels that are tried: of some 64 and 8 times fewer rows than the finest. One of
 * fewer rows than ENOUGH has few levels below it, and cg is soon through with it,
 * whatever the factor. */
enum { FIRST = 2, THEN = 1, ENOUGH = 20000 };

/* Below this nothing is overshot: of grids it is 1.1 to 1.4. */
static const double TAME = 1.45;

/* Of what is more than 1. */
static const double parts[] = {1.0, 0.6, 0.3, 0.1};
enum { PARTS = sizeof parts / sizeof *parts };

static void set_factor(tct_amg *M, double factor)
{
    for (int l = 0; l + 1 < M->levels; l++)
        M->level[l].factor *= factor / M->overcorrection;
    M->overcorrection = factor;
}

/* Does the factor that there is overshoot, from level `l` on? */
static tacit_status overshoots(const tct_amg *M, int l, double *nearer,
                               bool *out)
{
    double largest = 0.0;
    TRY(tct_amg_try(M, &M->level[l], &largest, nearer));
    *out = largest > TAME;
    return TACIT_OK;
}

/* The best of those factors that follow one another, from level `l` on; `best` is
 * what the first comes to, 0: not known. */
static tacit_status find_factor(tct_amg *M, int l, double best)
{
    const double most = M->overcorrection;
    double taken = most;
    for (int k = best > 0.0; k < PARTS; k++) {
        double largest = 0.0, nearer = 0.0;
        set_factor(M, 1.0 + (most - 1.0) * parts[k]);
        TRY(tct_amg_try(M, &M->level[l], &largest, &nearer));
        if (!(nearer > best)) break;
        best = nearer;
        taken = M->overcorrection;
    }
    set_factor(M, taken);
    return TACIT_OK;
}

tacit_status tct_amg_overcorrect(tct_amg *M)
{
    bool overshot = false;
    double nearer = 0.0;
    const int first = M->levels < FIRST + 2 ? THEN : FIRST;
    const bool steps = M->level[THEN].c != NULL; /* cycle K finds its own */
    if (M->levels < THEN + 2 || steps || !(M->overcorrection > 1.0))
        return TACIT_OK;
    TRY(overshoots(M, first, &nearer, &overshot));
    const int l = M->level[first].about.rows < ENOUGH ? THEN : first;
    if (overshot) TRY(find_factor(M, l, l == first ? nearer : 0.0));
    if (M->base.world->rank == 0 && !M->part_of)
        tct_log(TCT_DETAIL, "amg: corrections times %.3g", M->overcorrection);
    return TACIT_OK;
}
