/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/edges.c - rows of a matrix that is a sum over the edges of a grid.
 * The edges of a row are added in one order and a block is computed from its
 * edge's lower end, so the matrix is symmetric to the last bit. */
#include "gallery/edges.h"

/* clang-format off */
const int tct_arms_star[3][3]  = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
const int tct_arms_plane[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
const int tct_arms_kuhn[7][3]  = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1},
                                  {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
/* clang-format on */

/* One block row: blocks in ascending order, the diagonal one included. */
typedef struct {
    int blocks;
    int64_t point[2 * TCT_ARMS + 1];
    double block[2 * TCT_ARMS + 1][TCT_EDGE_BLOCK];
} block_row;

static bool inside(const tct_edges *e, const int64_t x[3])
{
    for (int d = 0; d < 3; d++)
        if (x[d] < 0 || x[d] >= e->n[d]) return false;
    return true;
}

/* Add the edge from `x` to its neighbour at `sign` times `arm` to the row and
 * its diagonal. */
static void add_edge(const tct_edges *e, const int64_t x[3], int arm, int sign,
                     bool values, double *diagonal, block_row *out)
{
    int64_t other[3];
    for (int d = 0; d < 3; d++) other[d] = x[d] + sign * e->arm[arm][d];
    if (!inside(e, other)) return;
    double *B = out->block[out->blocks];
    if (!e->edge(e, sign > 0 ? x : other, arm, values ? B : NULL)) return;
    for (int k = 0; values && k < e->dof * e->dof; k++) {
        diagonal[k] += B[k];
        B[k] = -B[k];
    }
    const int64_t point = tct_edges_point(e, other);
    if (point != e->hole) out->point[out->blocks++] = point;
}

static void make_block_row(const tct_edges *e, const int64_t x[3], bool values,
                           block_row *out)
{
    double diagonal[TCT_EDGE_BLOCK] = {0.0};
    out->blocks = 0;
    for (int a = e->arms - 1; a >= 0; a--)
        add_edge(e, x, a, -1, values, diagonal, out);
    const int self = out->blocks++;
    out->point[self] = tct_edges_point(e, x);
    for (int a = 0; a < e->arms; a++)
        add_edge(e, x, a, +1, values, diagonal, out);
    if (!values) return;
    const double ground = e->ground(e, x);
    for (int k = 0; k < e->dof * e->dof; k++)
        out->block[self][k] =
            diagonal[k] + (k % (e->dof + 1) == 0 ? ground : 0.0);
}

/* Write row `p` of the block row; returns its entries. */
static int64_t write_row(const tct_edges *e, const block_row *t, int p,
                         int64_t *cols, double *vals)
{
    const int dof = e->dof;
    int64_t k = 0;
    for (int b = 0; b < t->blocks; b++) {
        const int64_t point = t->point[b];
        const bool past_hole = e->hole >= 0 && point > e->hole;
        for (int q = 0; q < dof; q++, k++) {
            cols[k] = (point - past_hole) * dof + q;
            vals[k] = t->block[b][p * dof + q];
        }
    }
    return k;
}

static void step(const tct_edges *e, int64_t x[3])
{
    if (++x[0] < e->n[0]) return;
    x[0] = 0;
    if (++x[1] < e->n[1]) return;
    x[1] = 0;
    x[2]++;
}

static void edges_rows(const void *data, int64_t first, int64_t last,
                       int64_t *length, int64_t *cols, double *vals)
{
    const tct_edges *e = data;
    int64_t point = first / e->dof;
    if (e->hole >= 0 && point >= e->hole) point++;
    int64_t x[3] = {point % e->n[0], point / e->n[0] % e->n[1],
                    point / e->n[0] / e->n[1]};
    int64_t used = 0;
    int p = (int)(first % e->dof);
    for (int64_t row = first; row < last; step(e, x)) {
        block_row t;
        if (tct_edges_point(e, x) == e->hole) continue;
        make_block_row(e, x, cols != NULL, &t);
        for (; p < e->dof && row < last; p++, row++) {
            *length++ = t.blocks * e->dof;
            if (cols) used += write_row(e, &t, p, cols + used, vals + used);
        }
        p = 0;
    }
}

static const tct_gallery_maker edges_maker = {.rows = edges_rows};

static double entries(const tct_edges *e)
{
    double blocks = 1.0;
    for (int d = 0; d < 3; d++) blocks *= (double)e->n[d];
    for (int a = 0; a < e->arms; a++) {
        double count = 2.0;
        for (int d = 0; d < 3; d++) count *= (double)(e->n[d] - e->arm[a][d]);
        blocks += count;
    }
    if (e->hole >= 0) blocks -= 1.0 + 4.0 * e->arms;
    return blocks * e->dof * e->dof;
}

tacit_status tct_edges_open(tct_gallery_matrix *g, const tct_edges *e)
{
    TRY(tct_gallery_size_grid(g, e->n, e->dof, (2 * e->arms + 1) * e->dof));
    if (e->hole >= 0) { /* points after it are renumbered */
        g->rows -= e->dof;
        g->grid[0] = 0;
    }
    TRY(tct_gallery_keep(g, e, sizeof *e));
    g->maker = &edges_maker;
    g->nonzeros = entries(e);
    return TACIT_OK;
}

tacit_status tct_edges_like(const tct_recipe *r, const int64_t n[3], int dof,
                            int arms, const int (*arm)[3], tct_edge_fn edge,
                            tct_ground_fn ground, tct_gallery_matrix *g)
{
    return tct_edges_open(g, &(tct_edges){.n = {n[0], n[1], n[2]},
                                          .dof = dof,
                                          .arms = arms,
                                          .arm = arm,
                                          .hole = -1,
                                          .seed = 1,
                                          .par = r->par,
                                          .edge = edge,
                                          .ground = ground});
}
