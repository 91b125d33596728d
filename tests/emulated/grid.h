/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/grid.h - grids for the emulator's kernels: a serial loop, and
 * the blocks of ranks. */
#ifndef TESTS_EMULATED_GRID_H
#define TESTS_EMULATED_GRID_H
#include "base/base.h"
#include "operator/stencil/block.h"
#include "operator/stencil/device_steps.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MARGIN = 64 };

/* --- the serial loop ------------------------------------------------------ */

/* Values of the whole grid, as doubles that the type has. */
typedef struct serial {
    const tct_grid_stencil *s;
    double *now, *next;
} serial;

static double value_at(const serial *g, int64_t x, int64_t y, int64_t z)
{
    int64_t i[3] = {x, y, z};
    for (int d = 0; d < 3; d++) {
        const int64_t n = g->s->n[d];
        if (i[d] >= 0 && i[d] < n) continue;
        if (!g->s->periodic[d]) return g->s->boundary;
        i[d] = (i[d] % n + n) % n;
    }
    return g->now[(i[2] * g->s->n[1] + i[1]) * g->s->n[0] + i[0]];
}

static double plus(const serial *g, double a, double b)
{
    return g->s->single ? (double)((float)a + (float)b) : a + b;
}

static double row_p(const serial *g, int64_t x, int64_t y, int64_t z)
{
    return plus(g, value_at(g, x - 1, y, z), value_at(g, x + 1, y, z));
}

static double row_q(const serial *g, int64_t x, int64_t y, int64_t z)
{
    return plus(g, row_p(g, x, y, z), value_at(g, x, y, z));
}

/* Of a plane: `whole` has the cell itself, too. */
static double plane_of(const serial *g, int64_t x, int64_t y, int64_t z,
                       bool whole)
{
    const double around = plus(g, row_q(g, x, y - 1, z), row_q(g, x, y + 1, z));
    return plus(g, around, whole ? row_q(g, x, y, z) : row_p(g, x, y, z));
}

static double sum_box3(const serial *g, int64_t x, int64_t y, int64_t z)
{
    return plus(
        g,
        plus(g, plane_of(g, x, y, z - 1, true), plane_of(g, x, y, z + 1, true)),
        plane_of(g, x, y, z, false));
}

static double sum_at(const serial *g, int64_t x, int64_t y, int64_t z)
{
    const double p = row_p(g, x, y, z);
    if (g->s->shape == TCT_BOX2)
        return plus(g, plus(g, row_q(g, x, y, z - 1), row_q(g, x, y, z + 1)),
                    p);
    const double below = value_at(g, x, y, z - 1);
    const double above = value_at(g, x, y, z + 1);
    if (g->s->shape == TCT_STAR2) return plus(g, plus(g, below, above), p);
    if (g->s->shape == TCT_BOX3) return sum_box3(g, x, y, z);
    const double n = value_at(g, x, y - 1, z), s = value_at(g, x, y + 1, z);
    return plus(g, plus(g, below, above), plus(g, plus(g, n, s), p));
}

static double after(const serial *g, int64_t x, int64_t y, int64_t z)
{
    const double sum = sum_at(g, x, y, z), c = value_at(g, x, y, z);
    const double C = g->s->centre, N = g->s->neighbours;
    const bool centre = g->s->weights == TACIT_WEIGHTS_CONSTANT;
    if (g->s->single) {
        const float product = (float)N * (float)sum;
        return (double)(centre ? fmaf((float)C, (float)c, product) : product);
    }
    return centre ? fma(C, c, N * sum) : N * sum;
}

static void serial_steps(serial *g, int steps)
{
    const int64_t *n = g->s->n;
    for (; steps > 0; steps--) {
        for (int64_t k = 0; k < g->s->cells; k++)
            g->next[k] = after(g, k % n[0], k / n[0] % n[1], k / n[0] / n[1]);
        double *done = g->next;
        g->next = g->now;
        g->now = done;
    }
}

static void serial_begin(serial *g, const tct_grid_stencil *s, uint64_t seed)
{
    g->s = s;
    g->now = calloc((size_t)s->cells, sizeof(double));
    g->next = calloc((size_t)s->cells, sizeof(double));
    assert_true(g->now && g->next);
    for (int64_t k = 0; k < s->cells; k++) {
        const double v = 2.0 * tct_uniform(seed, (uint64_t)k) - 1.0;
        g->now[k] = s->single ? (double)(float)v : v;
    }
    if (seed % 7 == 0) g->now[s->cells / 3] = (double)NAN;
    if (seed % 11 == 0) g->now[s->cells / 2] = (double)INFINITY;
}

static void serial_end(serial *g)
{
    free(g->now);
    free(g->next);
}

/* --- the block of a rank -------------------------------------------------- */

/* Its two buffers, with a margin around them that nobody may write. */
typedef struct rank_block {
    tct_grid_block b;
    bool single;
    char *memory[2], *buffer[2];
} rank_block;

static double get(const rank_block *r, int buffer, int64_t cell)
{
    const char *at = r->buffer[buffer];
    return r->single ? (double)((const float *)(const void *)at)[cell]
                     : ((const double *)(const void *)at)[cell];
}

static void put(rank_block *r, int buffer, int64_t cell, double value)
{
    char *at = r->buffer[buffer];
    if (r->single) ((float *)(void *)at)[cell] = (float)value;
    else ((double *)(void *)at)[cell] = value;
}

/* Cells with a meaning, [from, to): those of the block, ghosts, and a cell at
 * each end of a row. */
static int64_t from_of(const tct_grid_block *b, int d)
{
    return d == 0 && b->ghost[d] == 0 ? -1 : -b->ghost[d];
}

static int64_t to_of(const tct_grid_block *b, int d)
{
    return b->n[d] - from_of(b, d);
}

static void fill(rank_block *r, const serial *g)
{
    const tct_grid_block *b = &r->b;
    for (int64_t z = from_of(b, 2); z < to_of(b, 2); z++)
        for (int64_t y = from_of(b, 1); y < to_of(b, 1); y++)
            for (int64_t x = from_of(b, 0); x < to_of(b, 0); x++) {
                const int64_t at = tct_block_at(b, z, y, x);
                put(r, 0, at,
                    value_at(g, b->first[0] + x, b->first[1] + y,
                             b->first[2] + z));
            }
}

static void make_block(rank_block *r, const serial *g, const int count[3],
                       int rank, int ghost)
{
    tct_block_make(g->s, count, rank, ghost, &r->b);
    r->single = g->s->single;
    const size_t bytes = (size_t)(r->b.stored + 2 * MARGIN) * g->s->bytes;
    for (int k = 0; k < 2; k++) {
        const size_t lines = (bytes + 127) / 128 * 128;
        r->memory[k] = aligned_alloc(128, lines);
        assert_non_null(r->memory[k]);
        memset(r->memory[k], 0xff, lines);
        r->buffer[k] = r->memory[k] + MARGIN * g->s->bytes;
    }
    fill(r, g);
}

static tct_step_work work_of(const rank_block *r, const tct_grid_stencil *s)
{
    const size_t first = (size_t)r->b.origin * s->bytes;
    tct_step_work w = {.in = r->buffer[0] + first,
                       .out = r->buffer[1] + first,
                       .pitch = r->b.pitch,
                       .plane = r->b.plane,
                       .single = s->single,
                       .shape = s->shape,
                       .weights = s->weights,
                       .boundary = s->boundary,
                       .centre = s->centre,
                       .neighbours = s->neighbours};
    for (int d = 0; d < 3; d++) {
        w.n[d] = (int)r->b.n[d];
        w.low[d] = (int)r->b.low[d];
        w.high[d] = (int)r->b.high[d];
        w.closes[d] = r->b.closes[d];
    }
    return w;
}

/* --- what came out -------------------------------------------------------- */

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

#endif
