/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/element.c - element matrices. The lower triangle is computed and
 * mirrored, so the matrix is symmetric to the last bit. */
#include "gallery/element.h"
#include <math.h>
#include <string.h>

tct_physics tct_elasticity(double young, double poisson)
{
    return (tct_physics){
        .kind = TCT_ELASTICITY,
        .lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
        .mu = young / (2.0 * (1.0 + poisson)),
    };
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Add `w` times the integrand at a point to the lower triangle of `K`; `N` and
 * `G` are the functions and their gradients. */
static void add_point(const tct_physics *physics, int nodes, double w,
                      const double *N, const double G[][3], double *K)
{
    const int dof = tct_physics_dof(physics), n = nodes * dof;
    for (int a = 0; a < nodes; a++)
        for (int b = 0; b <= a; b++) {
            const double gg = dot(G[a], G[b]);
            double *block = K + a * dof * n + b * dof;
            switch (physics->kind) {
            case TCT_LAPLACE: *block += w * gg; break;
            case TCT_MASS:
                *block += w * (N[a] * N[b] + physics->tau * gg);
                break;
            case TCT_ELASTICITY:
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        block[i * n + j] +=
                            w * (physics->lambda * G[a][i] * G[b][j] +
                                 physics->mu * G[a][j] * G[b][i] +
                                 (i == j ? physics->mu * gg : 0.0));
                break;
            }
        }
}

static void mirror(int n, double *K)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) K[j * n + i] = K[i * n + j];
}

/* --- tetrahedra ----------------------------------------------------------- */

/* Invert the 3 x 3 matrix `J`; returns its determinant. */
static double invert(const double J[3][3], double inverse[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int r = (j + 1) % 3, s = (j + 2) % 3;
            const int p = (i + 1) % 3, q = (i + 2) % 3;
            inverse[i][j] = J[r][p] * J[s][q] - J[r][q] * J[s][p];
        }
    const double det = J[0][0] * inverse[0][0] + J[0][1] * inverse[1][0] +
                       J[0][2] * inverse[2][0];
    const double scale = 1.0 / det;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inverse[i][j] *= scale;
    return det;
}

double tct_tet_gradients(const double x[4][3], double gradient[4][3])
{
    double J[3][3], inverse[3][3]; /* J[i][j] = d x_j / d L_(i+1) */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) J[i][j] = x[i + 1][j] - x[0][j];
    const double det = invert((const double(*)[3])J, inverse);
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) gradient[i + 1][j] = inverse[j][i];
        gradient[0][j] = -(gradient[1][j] + gradient[2][j] + gradient[3][j]);
    }
    return det;
}

/* Linear functions: gradients are constant, and the mass is volume / 20 for
 * each pair, twice that on the diagonal. */
static bool tet4(const tct_physics *physics, const double x[][3], double *K)
{
    double G[4][3];
    const double none[4] = {0.0};
    const double volume = fabs(tct_tet_gradients(x, G)) / 6.0;
    if (!(volume > 0.0) || !isfinite(1.0 / volume)) return false;
    add_point(physics, 4, volume, none, (const double(*)[3])G, K);
    if (physics->kind != TCT_MASS) return true;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b <= a; b++)
            K[4 * a + b] += volume / 20.0 * (a == b ? 2.0 : 1.0);
    return true;
}

static const int middle[6][2] = {{0, 1}, {1, 2}, {0, 2},
                                 {0, 3}, {1, 3}, {2, 3}};

/* Quadratic functions and their derivatives by L1, L2, L3 (L0 depends on
 * these). */
static void quadratic(const double L[4], double N[10], double D[10][3])
{
    static const double slope[4][3] = {
        {-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int a = 0; a < 4; a++) {
        N[a] = L[a] * (2.0 * L[a] - 1.0);
        for (int j = 0; j < 3; j++) D[a][j] = (4.0 * L[a] - 1.0) * slope[a][j];
    }
    for (int m = 0; m < 6; m++) {
        const int a = middle[m][0], b = middle[m][1];
        N[4 + m] = 4.0 * L[a] * L[b];
        for (int j = 0; j < 3; j++)
            D[4 + m][j] = 4.0 * (slope[a][j] * L[b] + L[a] * slope[b][j]);
    }
}

/* Gradients in space at one point of the element; returns the determinant. */
static double tet10_gradients(const double x[][3], const double D[10][3],
                              double G[10][3])
{
    double J[3][3] = {{0.0}}, inverse[3][3]; /* J[i][j] = d x_j / d L_(i+1) */
    for (int a = 0; a < 10; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) J[i][j] += D[a][i] * x[a][j];
    const double det = invert((const double(*)[3])J, inverse);
    for (int a = 0; a < 10; a++)
        for (int j = 0; j < 3; j++) G[a][j] = dot(inverse[j], D[a]);
    return det;
}

static bool tet10(const tct_physics *physics, const double x[][3], double *K)
{
    const double near = 0.58541019662496845446, far = 0.13819660112501051518;
    double first = 0.0;
    for (int point = 0; point < 4; point++) {
        double L[4] = {far, far, far, far}, N[10], D[10][3], G[10][3];
        L[point] = near;
        quadratic(L, N, D);
        const double det = tet10_gradients(x, (const double(*)[3])D, G);
        if (point == 0) first = det;
        if (!(det * first > 0.0) || !isfinite(1.0 / det)) return false;
        add_point(physics, 10, fabs(det) / 24.0, N, (const double(*)[3])G, K);
    }
    return true;
}

bool tct_tet_matrix(const tct_physics *physics, int nodes, const double x[][3],
                    double *K)
{
    const int n = nodes * tct_physics_dof(physics);
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    if (nodes == 4 ? !tet4(physics, x, K) : !tet10(physics, x, K)) return false;
    mirror(n, K);
    return true;
}

/* --- bricks --------------------------------------------------------------- */

/* Lagrange's functions of `order` on [0, 1] and their slopes at `t`. */
static void lagrange(int order, double t, double N[3], double D[3])
{
    if (order == 1) {
        N[0] = 1.0 - t;
        N[1] = t;
        D[0] = -1.0;
        D[1] = 1.0;
        return;
    }
    N[0] = (1.0 - t) * (1.0 - 2.0 * t);
    N[1] = 4.0 * t * (1.0 - t);
    N[2] = t * (2.0 * t - 1.0);
    D[0] = 4.0 * t - 3.0;
    D[1] = 4.0 - 8.0 * t;
    D[2] = 4.0 * t - 1.0;
}

/* Functions and gradients of the brick at the point `t`. */
static void brick_functions(int order, const double t[3], double *N,
                            double G[][3])
{
    double f[3][3], s[3][3];
    for (int d = 0; d < 3; d++) lagrange(order, t[d], f[d], s[d]);
    int a = 0;
    for (int z = 0; z <= order; z++)
        for (int y = 0; y <= order; y++)
            for (int x = 0; x <= order; x++, a++) {
                N[a] = f[0][x] * f[1][y] * f[2][z];
                G[a][0] = s[0][x] * f[1][y] * f[2][z];
                G[a][1] = f[0][x] * s[1][y] * f[2][z];
                G[a][2] = f[0][x] * f[1][y] * s[2][z];
            }
}

void tct_brick_elasticity(const tct_physics *physics, int order, double *K)
{
    const int side = order + 1, nodes = side * side * side, n = 3 * nodes;
    const double arm = order == 1 ? sqrt(1.0 / 12.0) : sqrt(3.0 / 20.0);
    const double point[2][3] = {{0.5 - arm, 0.5 + arm, 0.0},
                                {0.5 - arm, 0.5, 0.5 + arm}};
    const double weight[2][3] = {{0.5, 0.5, 0.0},
                                 {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0}};
    const double *p = point[order - 1], *w = weight[order - 1];
    double N[27], G[27][3];
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                const double t[3] = {p[x], p[y], p[z]};
                brick_functions(order, t, N, G);
                add_point(physics, nodes, w[x] * w[y] * w[z], N,
                          (const double(*)[3])G, K);
            }
    mirror(n, K);
}
