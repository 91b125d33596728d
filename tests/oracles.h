/* SPDX-License-Identifier: BSD-3-Clause
 * tests/oracles.h - iteration counts that solvers on every device must
 * reach. */
#ifndef TESTS_ORACLES_H
#define TESTS_ORACLES_H

/* Iterations to ||r|| <= eps ||b|| with b = 1 and x0 = 0, measured
 * independently of this library. */
static const struct {
    const char *matrix;
    double eps;
    int iterations;
} oracles[] = {
    {"poisson3d:10", 1e-2, 11},   {"poisson3d:10", 1e-6, 20},
    {"poisson3d:10", 1e-10, 26},  {"poisson3d:20", 1e-4, 32},
    {"poisson3d:20", 1e-8, 49},   {"poisson3d27:10", 1e-6, 12},
    {"poisson3d27:50", 1e-4, 47}, {"poisson2d:32", 1e-6, 51},
    {"poisson2d:64", 1e-4, 85},   {"poisson2d:64", 1e-8, 119},
    {"poisson2d:64", 1e-10, 132}, {"poisson1d:100", 1e-8, 50},
};

#endif
