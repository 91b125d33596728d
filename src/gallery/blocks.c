/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/blocks.c - block Laplacians with the patterns of shells (a plane of
 * triangles, 7 unknowns a node) and of solids (six tetrahedra per cube,
 * Freudenthal's triangulation, 1, 3 or 4 unknowns). Each edge has a random
 * positive definite block; a small multiple of the identity makes the sum
 * definite. */
#include "gallery/edges.h"
#include <math.h>

#define SHIFT 1e-3

static uint64_t edge_number(const tct_edges *e, const int64_t x[3], int arm)
{
    return (uint64_t)(tct_edges_point(e, x) * e->arms + arm);
}

/* B = V V' with V = I + (u - 1/2), each entry of its own u. */
static bool block_edge(const tct_edges *e, const int64_t x[3], int arm,
                       double *B)
{
    if (!B) return true;
    const uint64_t first = edge_number(e, x, arm) * TCT_EDGE_BLOCK;
    const int dof = e->dof;
    double V[TCT_EDGE_BLOCK];
    for (int k = 0; k < dof * dof; k++)
        V[k] = tct_uniform(first + (uint64_t)k, e->seed) - 0.5 +
               (k % (dof + 1) == 0 ? 1.0 : 0.0);
    for (int p = 0; p < dof; p++)
        for (int q = 0; q <= p; q++) {
            double sum = 0.0;
            for (int k = 0; k < dof; k++)
                sum += V[p * dof + k] * V[q * dof + k];
            B[p * dof + q] = B[q * dof + p] = sum;
        }
    return true;
}

/* A conductance over `par` decades. */
static bool scalar_edge(const tct_edges *e, const int64_t x[3], int arm,
                        double *B)
{
    const double u = tct_uniform(edge_number(e, x, arm), e->seed);
    if (B) *B = exp(e->par * (u - 0.5) * log(10.0));
    return true;
}

static double shift(const tct_edges *e, const int64_t x[3])
{
    (void)e;
    (void)x;
    return SHIFT;
}

tacit_status tct_like_shell(const tct_recipe *r, const int64_t n[3],
                            tct_gallery_matrix *g)
{
    return tct_edges_like(r, n, (int)r->par, 3, tct_arms_plane, block_edge,
                          shift, g);
}

tacit_status tct_like_solid(const tct_recipe *r, const int64_t n[3],
                            tct_gallery_matrix *g)
{
    return tct_edges_like(r, n, (int)r->par, 7, tct_arms_kuhn, block_edge,
                          shift, g);
}

tacit_status tct_like_scalar(const tct_recipe *r, const int64_t n[3],
                             tct_gallery_matrix *g)
{
    return tct_edges_like(r, n, 1, 7, tct_arms_kuhn, scalar_edge, shift, g);
}
