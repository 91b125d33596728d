/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/overcorrection.c - by how much coarse corrections are made
 * longer.
 *
 * P without smoothing makes what is smooth on a grid too stiff, so that its
 * correction is too short by about the same on all levels. Of a network it
 * makes some vectors too stiff and takes others as they are; these are overshot
 * on each level again, and the largest eigenvalue of M A is that much to the
 * power of the levels. Where it is so large, cg tells which factor is better,
 * by steps with the same right-hand side on a small level: the error that is
 * smaller in the norm of A after them. */
#include "precond/amg/amg.h"

/* Levels that are tried: of some 64 and 8 times fewer rows than the finest of
 * all. One of fewer rows than ENOUGH has few levels below it, and cg is soon
 * through with it, whatever the factor. */
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

/* The best of those factors that follow one another, from level `l` on; `best`
 * is what the first comes to, 0: not known. */
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

/* Of the levels of all of which `M` may be a part. */
static int level_of(const tct_amg *M, int l)
{
    const int before = M->part_of ? M->part_of->levels - 1 : 0;
    return l > before ? l - before : 0;
}

/* On each rank alone it has been tried. */
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
    if (M->levels < first + 2) first = then;
    TRY(overshoots(M, first, &nearer, &overshot));
    const int l = M->level[first].about.rows < ENOUGH ? then : first;
    return overshot ? find_factor(M, l, l == first ? nearer : 0.0) : TACIT_OK;
}

tacit_status tct_amg_overcorrect(tct_amg *M)
{
    const int then = level_of(M, THEN);
    if (M->levels < then + 2 || !(M->overcorrection > 1.0)) return TACIT_OK;
    if (M->level[then].c) return TACIT_OK; /* cycle K finds its own */
    if (!is_tried(M)) TRY(try_factors(M));
    if (M->base.world->rank == 0 && !M->part_of)
        tct_log(TCT_DETAIL, "amg: corrections times %.3g", M->overcorrection);
    return TACIT_OK;
}
