/* SPDX-License-Identifier: BSD-3-Clause
 * tests/grid_serial.h - steps of a grid by a serial loop, which a reader can
 * believe: what all ways, threads and ranks are compared with, to the last
 * bit. */
#ifndef TESTS_GRID_SERIAL_H
#define TESTS_GRID_SERIAL_H
#include "base/base.h"
#include <math.h>
#include <tacit/stencil.h>

/* Under a sanitizer, which makes them slow, some of the grids. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { EACH = 7 };
#else
enum { EACH = 1 };
#endif

typedef struct grid {
    const char *shape;
    int dim, points;
    bool single;
    int64_t n[3]; /* x, y, z; z is 1 in 2D */
    unsigned periodic;
    double boundary;
    tacit_stencil_weights weights;
    double centre, neighbours;
    double *k; /* [points][cells] */
} grid;

static inline int64_t cells_of(const grid *g)
{
    return g->n[0] * g->n[1] * g->n[2];
}

/* The value of a cell that may be outside. */
static inline double at(const grid *g, const double *u, int64_t x, int64_t y,
                        int64_t z)
{
    int64_t i[3] = {x, y, z};
    for (int d = 0; d < 3; d++) {
        const int64_t n = g->n[d];
        if (i[d] >= 0 && i[d] < n) continue;
        if (!(g->periodic >> d & 1)) return g->boundary;
        i[d] = (i[d] + n) % n;
    }
    return u[(i[2] * g->n[1] + i[1]) * g->n[0] + i[0]];
}

/* Operations of the type: each rounds once. */
static inline double plus(const grid *g, double a, double b)
{
    return g->single ? (double)((float)a + (float)b) : a + b;
}

static inline double multiply(const grid *g, double a, double b)
{
    return g->single ? (double)((float)a * (float)b) : a * b;
}

static inline double mul_add(const grid *g, double a, double b, double sum)
{
    return g->single ? (double)fmaf((float)a, (float)b, (float)sum)
                     : fma(a, b, sum);
}

static inline double rounded(const grid *g, double value)
{
    return g->single ? (double)(float)value : value;
}

#define U(dx, dy, dz) at(g, u, x + (dx), y + (dy), z + (dz))

static inline double row_p(const grid *g, const double *u, int64_t x, int64_t y,
                           int64_t z)
{
    return plus(g, U(-1, 0, 0), U(1, 0, 0));
}

static inline double row_q(const grid *g, const double *u, int64_t x, int64_t y,
                           int64_t z)
{
    return plus(g, row_p(g, u, x, y, z), U(0, 0, 0));
}

static inline double plane_a(const grid *g, const double *u, int64_t x,
                             int64_t y, int64_t z)
{
    return plus(g, row_q(g, u, x, y - 1, z), row_q(g, u, x, y + 1, z));
}

static inline double plane_p(const grid *g, const double *u, int64_t x,
                             int64_t y, int64_t z)
{
    return plus(g, plane_a(g, u, x, y, z), row_q(g, u, x, y, z));
}

/* The sum of the neighbours, as tacit/stencil.h writes it. */
static inline double neighbours_of(const grid *g, const double *u, int64_t x,
                                   int64_t y, int64_t z)
{
    const double p = row_p(g, u, x, y, z);
    const bool box = g->shape[0] == 'b';
    if (g->dim == 2 && box) return plus(g, plane_a(g, u, x, y, z), p);
    if (box)
        return plus(
            g, plus(g, plane_p(g, u, x, y, z - 1), plane_p(g, u, x, y, z + 1)),
            plus(g, plane_a(g, u, x, y, z), p));
    const double flat = plus(g, plus(g, U(0, -1, 0), U(0, 1, 0)), p);
    return g->dim == 2 ? flat : plus(g, plus(g, U(0, 0, -1), U(0, 0, 1)), flat);
}

/* Coefficients by cell, neighbours in the order of z, y, x. */
static inline double by_cell(const grid *g, const double *u, int64_t x,
                             int64_t y, int64_t z)
{
    const int64_t cell = (z * g->n[1] + y) * g->n[0] + x, all = cells_of(g);
    double sum = multiply(g, g->k[cell], U(0, 0, 0));
    int point = 0;
    for (int dz = g->dim == 2 ? 0 : -1; dz <= (g->dim == 2 ? 0 : 1); dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int far = abs(dx) + abs(dy) + abs(dz);
                if (far == 0 || (g->shape[0] == 's' && far > 1)) continue;
                point++;
                sum = mul_add(g, g->k[point * all + cell], U(dx, dy, dz), sum);
            }
    return sum;
}

static inline double cell_after(const grid *g, const double *u, int64_t x,
                                int64_t y, int64_t z)
{
    if (g->weights == TACIT_WEIGHTS_CELLS) return by_cell(g, u, x, y, z);
    const double S = neighbours_of(g, u, x, y, z);
    if (g->weights == TACIT_WEIGHTS_CONSTANT)
        return mul_add(g, rounded(g, g->centre), U(0, 0, 0),
                       multiply(g, rounded(g, g->neighbours), S));
    return multiply(g, rounded(g, 1.0 / (g->points - 1)), S);
}

static inline void serial_step(const grid *g, const double *u, double *out)
{
    for (int64_t z = 0; z < g->n[2]; z++)
        for (int64_t y = 0; y < g->n[1]; y++)
            for (int64_t x = 0; x < g->n[0]; x++)
                *out++ = cell_after(g, u, x, y, z);
}

/* After `steps` of them; `before` [cells] is one step earlier. */
static inline void serial(const grid *g, int steps, double *u, double *before)
{
    for (int k = 0; k < steps; k++) {
        memcpy(before, u, (size_t)cells_of(g) * sizeof *u);
        serial_step(g, before, u);
    }
}

/* Random values in [-1, 1), of the type. */
static inline void random_values(const grid *g, uint64_t seed, int64_t count,
                                 double *out)
{
    for (int64_t k = 0; k < count; k++)
        out[k] = rounded(g, 2.0 * tct_uniform(seed, (uint64_t)k) - 1.0);
}

static inline int64_t first_difference(const double *a, const double *b,
                                       int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (memcmp(&a[k], &b[k], sizeof *a) != 0 &&
            !(isnan(a[k]) && isnan(b[k])))
            return k;
    return -1;
}

static const grid shapes[] = {{.shape = "star2d1r", .dim = 2, .points = 5},
                              {.shape = "box2d1r", .dim = 2, .points = 9},
                              {.shape = "star3d1r", .dim = 3, .points = 7},
                              {.shape = "box3d1r", .dim = 3, .points = 27}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

#endif
