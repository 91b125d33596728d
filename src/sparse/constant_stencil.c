/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/constant_stencil.c - facts of a stencil's matrix, by formula. */
#include "sparse/constant_stencil.h"
#include <math.h>

/* Cells that have a neighbour at `shift`, in one direction of `n` cells. */
static int64_t cells_with(int64_t n, int64_t shift)
{
    return shift == 0 ? n : n - 1;
}

/* A cell in the middle has both neighbours of a direction if it is 3 wide, and
 * the first cell one. */
static bool in_middle(int64_t n, int64_t shift)
{
    return shift == 0 || n > 2 || (n == 2 && shift > 0);
}

static bool in_corner(int64_t n, int64_t shift)
{
    return shift == 0 || (n > 1 && shift > 0);
}

/* Point `p`, if it is one of the stencil. */
static void add_point(const tct_constant_stencil *s, int p,
                      tct_stencil_facts *f)
{
    const int64_t shift[3] = {p % 3 - 1, p / 3 % 3 - 1, p / 9 - 1};
    const double a = fabs(s->k[p]);
    int64_t cells = 1, arms = 0, step = 0, stride = 1;
    bool middle = true, corner = true;
    for (int d = 0; d < 3; d++) {
        cells *= cells_with(s->n[d], shift[d]);
        arms += shift[d] != 0;
        step += stride * shift[d];
        stride *= s->n[d];
        middle = middle && in_middle(s->n[d], shift[d]);
        corner = corner && in_corner(s->n[d], shift[d]);
    }
    if (cells == 0 || (arms > 1 && !s->box)) return;
    f->entries += cells;
    if (a == 0.0) f->zeros += cells;
    f->row_max += middle;
    f->row_min += corner;
    if (middle) f->norm += a;
    if (step > f->bandwidth) f->bandwidth = step;
    if (a > f->high) f->high = a;
    if (a > 0.0 && a < f->low) f->low = a;
}

tct_stencil_facts tct_stencil_facts_of(const tct_constant_stencil *s)
{
    tct_stencil_facts f = {.low = INFINITY};
    for (int p = 0; p < TCT_AROUND; p++) add_point(s, p, &f);
    return f;
}
