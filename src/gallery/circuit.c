/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/circuit.c - networks of random resistors on a square grid. */
#include "gallery/edges.h"
#include <math.h>
#include <string.h>

/* Independent random numbers of one edge or point. */
enum { KEPT = 3, CONDUCTANCE = 4, GROUND = 5 };

/* Edges along x are numbered first, then those along y. */
static uint64_t edge_number(const tct_edges *e, const int64_t x[3], int arm)
{
    const int64_t along_x = (e->n[0] - 1) * e->n[1];
    return (uint64_t)(arm == 0 ? x[1] * (e->n[0] - 1) + x[0]
                               : along_x + x[1] * e->n[0] + x[0]);
}

/* A conductance over `par` decades around 1. */
static double conductance(const tct_edges *e, uint64_t edge)
{
    const double u = tct_uniform(edge, CONDUCTANCE);
    return exp(e->par * (u - 0.5) * log(10.0));
}

/* --- ecology2: all edges; one point in the middle is the ground ----------- */

static bool ecology_edge(const tct_edges *e, const int64_t x[3], int arm,
                         double *B)
{
    if (B) *B = conductance(e, edge_number(e, x, arm));
    return true;
}

static double no_ground(const tct_edges *e, const int64_t x[3])
{
    (void)e;
    (void)x;
    return 0.0;
}

tacit_status tct_like_ecology(const tct_recipe *r, const int64_t n[3],
                              tct_gallery_matrix *g)
{
    tct_edges e = {.dof = 1,
                   .arms = 2,
                   .arm = tct_arms_star,
                   .par = r->par,
                   .edge = ecology_edge,
                   .ground = no_ground};
    memcpy(e.n, n, sizeof e.n);
    if (n[0] < 3 || n[1] < 3)
        FAIL(TACIT_INVALID,
             "%s: the grid has no interior point to remove: "
             "expected 3x3 or more",
             g->name);
    const int64_t middle[3] = {n[0] / 2, n[1] / 2, 0};
    e.hole = n[0] <= INT32_MAX && n[1] <= INT32_MAX
                 ? tct_edges_point(&e, middle)
                 : 0; /* exceeds 64 bits: refused by tct_edges_open */
    return tct_edges_open(g, &e);
}

/* --- g3_circuit: some edges are missing, few points are well grounded ----- */

#define SHARE_KEPT     0.95903
#define SHARE_GROUNDED 0.001
#define WEAK_GROUND    1e-6

static bool circuit_edge(const tct_edges *e, const int64_t x[3], int arm,
                         double *B)
{
    const uint64_t edge = edge_number(e, x, arm);
    if (tct_uniform(edge, KEPT) >= SHARE_KEPT) return false;
    if (B) *B = conductance(e, edge);
    return true;
}

static double circuit_ground(const tct_edges *e, const int64_t x[3])
{
    const uint64_t point = (uint64_t)tct_edges_point(e, x);
    return tct_uniform(point, GROUND) < SHARE_GROUNDED ? 1.0 : WEAK_GROUND;
}

tacit_status tct_like_circuit(const tct_recipe *r, const int64_t n[3],
                              tct_gallery_matrix *g)
{
    TRY(tct_edges_like(r, n, 1, 2, tct_arms_star, circuit_edge, circuit_ground,
                       g));
    const double rows = (double)g->rows;
    g->nonzeros = rows + SHARE_KEPT * (g->nonzeros - rows);
    g->guessed = true;
    return TACIT_OK;
}
