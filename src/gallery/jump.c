/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/jump.c - finite volumes on a box for -div(sigma grad u) with a sigma
 * that jumps between cells: fluxes take the harmonic mean of two cells. u is 0
 * outside the box, one cell away in the same material. */
#include "gallery/edges.h"
#include <math.h>

/* --- sigma: 1 or `par` at random; or 10^(par (u - 1/2)) ------------------- */

static double coin(const tct_edges *e, const int64_t x[3])
{
    const double u = tct_uniform((uint64_t)tct_edges_point(e, x), e->seed);
    return u < 0.5 ? 1.0 : e->par;
}

static double log_uniform(const tct_edges *e, const int64_t x[3])
{
    const double u = tct_uniform((uint64_t)tct_edges_point(e, x), e->seed);
    return exp(e->par * (u - 0.5) * log(10.0));
}

typedef double (*sigma_fn)(const tct_edges *e, const int64_t x[3]);

static bool flux(const tct_edges *e, const int64_t x[3], int arm,
                 sigma_fn sigma, double *B)
{
    if (!B) return true;
    int64_t other[3];
    for (int d = 0; d < 3; d++) other[d] = x[d] + e->arm[arm][d];
    *B = 2.0 / (1.0 / sigma(e, x) + 1.0 / sigma(e, other));
    return true;
}

static double outflow(const tct_edges *e, const int64_t x[3], sigma_fn sigma)
{
    int outer = 0; /* faces of the cell on the boundary */
    for (int d = 0; d < 3; d++) outer += (x[d] == 0) + (x[d] == e->n[d] - 1);
    return outer ? outer * sigma(e, x) : 0.0;
}

static bool coin_edge(const tct_edges *e, const int64_t x[3], int a, double *B)
{
    return flux(e, x, a, coin, B);
}

static double coin_ground(const tct_edges *e, const int64_t x[3])
{
    return outflow(e, x, coin);
}

static bool log_uniform_edge(const tct_edges *e, const int64_t x[3], int a,
                             double *B)
{
    return flux(e, x, a, log_uniform, B);
}

static double log_uniform_ground(const tct_edges *e, const int64_t x[3])
{
    return outflow(e, x, log_uniform);
}

/* --- jump3d and apache2 --------------------------------------------------- */

static tacit_status jump3d_open(const char *arguments, tct_gallery_matrix *g)
{
    tct_gallery_spec w;
    tct_edges e = {.dof = 1,
                   .arms = 3,
                   .arm = tct_arms_star,
                   .hole = -1,
                   .edge = coin_edge,
                   .ground = coin_ground};
    TRY(tct_gallery_spec_cut(&tct_gallery_jump3d, arguments, 2, 3, &w));
    TRY(tct_gallery_spec_grid(&w, 0, 3, 1, e.n));
    TRY(tct_gallery_spec_positive(&w, 1, "RATIO", &e.par));
    TRY(tct_gallery_spec_seed(&w, 2, &e.seed));
    return tct_edges_open(g, &e);
}

tacit_status tct_like_apache(const tct_recipe *r, const int64_t n[3],
                             tct_gallery_matrix *g)
{
    return tct_edges_like(r, n, 1, 3, tct_arms_star, log_uniform_edge,
                          log_uniform_ground, g);
}

const tct_gallery tct_gallery_jump3d = {
    {"jump3d", "jump3d:N,RATIO[,SEED] or jump3d:NXxNYxNZ,RATIO[,SEED]",
     "7-point finite volumes, cells at random of 1 or of RATIO"},
    jump3d_open};
