/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/poisson.c - textbook finite differences of -u'' on grids, the
 * boundary eliminated. Eigenvalues are known, so solvers can be tested. */
#include "gallery/stencil.h"

static const double sides[3] = {-1.0, -1.0, -1.0};

/* Open the stencil of `dims` dimensions on the grid in the arguments. */
static tacit_status open_box(const tct_gallery *family, const char *arguments,
                             tct_gallery_matrix *g, int dims, double centre,
                             double corner)
{
    tct_gallery_spec w;
    TRY(tct_gallery_spec_cut(family, arguments, 1, 1, &w));
    tct_stencil s = {.dof = 1};
    TRY(tct_gallery_spec_grid(&w, 0, dims, 1, s.n));
    tct_stencil_box(&s, dims, centre, sides, corner);
    return tct_stencil_open(g, &s);
}

static tacit_status poisson1d_open(const char *arguments, tct_gallery_matrix *g)
{
    return open_box(&tct_gallery_poisson1d, arguments, g, 1, 2.0, 0.0);
}

static tacit_status poisson2d_open(const char *arguments, tct_gallery_matrix *g)
{
    return open_box(&tct_gallery_poisson2d, arguments, g, 2, 4.0, 0.0);
}

static tacit_status poisson3d_open(const char *arguments, tct_gallery_matrix *g)
{
    return open_box(&tct_gallery_poisson3d, arguments, g, 3, 6.0, 0.0);
}

static tacit_status poisson2d9_open(const char *arguments,
                                    tct_gallery_matrix *g)
{
    return open_box(&tct_gallery_poisson2d9, arguments, g, 2, 8.0, -1.0);
}

static tacit_status poisson3d27_open(const char *arguments,
                                     tct_gallery_matrix *g)
{
    return open_box(&tct_gallery_poisson3d27, arguments, g, 3, 26.0, -1.0);
}

static tacit_status anisotropic3d_open(const char *arguments,
                                       tct_gallery_matrix *g)
{
    tct_gallery_spec w;
    double eps;
    tct_stencil s = {.dof = 1};
    TRY(tct_gallery_spec_cut(&tct_gallery_anisotropic3d, arguments, 2, 2, &w));
    TRY(tct_gallery_spec_grid(&w, 0, 3, 1, s.n));
    TRY(tct_gallery_spec_positive(&w, 1, "EPS", &eps));
    const double side[3] = {-1.0, -1.0, -eps};
    tct_stencil_box(&s, 3, 4.0 + 2.0 * eps, side, 0.0);
    return tct_stencil_open(g, &s);
}

const tct_gallery tct_gallery_poisson1d = {
    {"poisson1d", "poisson1d:N",
     "3-point Laplacian (2, -1) on N points, Dirichlet"},
    poisson1d_open};

const tct_gallery tct_gallery_poisson2d = {
    {"poisson2d", "poisson2d:N or poisson2d:NXxNY",
     "5-point Laplacian (4, -1) on an N x N grid, Dirichlet"},
    poisson2d_open};

const tct_gallery tct_gallery_poisson3d = {
    {"poisson3d", "poisson3d:N or poisson3d:NXxNYxNZ",
     "7-point Laplacian (6, -1) on an N x N x N grid, Dirichlet"},
    poisson3d_open};

const tct_gallery tct_gallery_poisson2d9 = {
    {"poisson2d9", "poisson2d9:N or poisson2d9:NXxNY",
     "9-point Laplacian (8, -1) on an N x N grid, Dirichlet"},
    poisson2d9_open};

const tct_gallery tct_gallery_poisson3d27 = {
    {"poisson3d27", "poisson3d27:N or poisson3d27:NXxNYxNZ",
     "27-point Laplacian (26, -1) on an N x N x N grid, Dirichlet"},
    poisson3d27_open};

const tct_gallery tct_gallery_anisotropic3d = {
    {"anisotropic3d", "anisotropic3d:N,EPS or anisotropic3d:NXxNYxNZ,EPS",
     "7-point -u_xx - u_yy - EPS u_zz, Dirichlet"},
    anisotropic3d_open};
