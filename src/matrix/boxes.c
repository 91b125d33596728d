/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/boxes.c - cuts the grid of a gallery matrix into layers or boxes.
 *
 * [BB87] Berger and Bokhari, "A partitioning strategy for nonuniform problems
 * on
 *        multiprocessors", IEEE Trans. Computers C-36 (1987): a box for several
 *        parts is cut in two across its longest side, and so on. Any number of
 *        parts will do; where it is a cube, such as 27, boxes of a grid of
 *        3 x 3 x 3 would have a little less surface. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include <inttypes.h>

/* --- layers --------------------------------------------------------------- */

/* Allowed excess of a part over its share, to end at a multiple of the step. */
static const double UNEVEN = 0.01;

/* The nearest multiple of the step, 0 to all layers. */
static int64_t layer_at(const tct_slabs *s, int part)
{
    const int64_t whole = (int64_t)s->parts * s->step;
    if (part == s->parts) return s->layers;
    return (s->layers * part + whole / 2) / whole * s->step;
}

static bool is_even(const tct_slabs *s)
{
    const double most = (1.0 + UNEVEN) * (double)s->layers / s->parts;
    for (int p = 0; p < s->parts; p++) {
        const int64_t layers = layer_at(s, p + 1) - layer_at(s, p);
        if (layers <= 0 || (double)layers > most) return false;
    }
    return true;
}

tct_slabs tct_slabs_of(const int64_t grid[3], int64_t rows, int parts)
{
    int slowest = 2;
    while (slowest > 0 && grid[slowest] <= 1) slowest--;
    tct_slabs s = {.rows = rows, .layers = grid[slowest], .parts = parts};
    const bool has_layers = grid[0] > 0 && s.layers >= parts;
    for (s.step = has_layers ? 4 : 0; s.step > 0; s.step /= 2)
        if (is_even(&s)) break;
    return s;
}

int64_t tct_slab_first(const tct_slabs *s, int part)
{
    if (s->step == 0) return tct_share(s->rows, s->parts, part);
    return s->rows / s->layers * layer_at(s, part);
}

/* --- boxes ---------------------------------------------------------------- */

typedef struct {
    int64_t from[3], to[3];
} box;

/* The last of several: then adjacent rows of a line stay together. */
static int longest_side(const box *b)
{
    int longest = 2;
    for (int d = 1; d >= 0; d--)
        if (b->to[d] - b->from[d] > b->to[longest] - b->from[longest])
            longest = d;
    return longest;
}

static int part_of(const int64_t n[3], const int64_t x[3], int parts)
{
    box b = {{0, 0, 0}, {n[0], n[1], n[2]}};
    int first = 0;
    while (parts > 1) {
        const int d = longest_side(&b), below = parts / 2;
        const int64_t side = b.to[d] - b.from[d];
        const int64_t at = b.from[d] + side * below / parts;
        if (x[d] < at) {
            b.to[d] = at;
            parts = below;
        } else {
            b.from[d] = at;
            first += below;
            parts -= below;
        }
    }
    return first;
}

tacit_status tct_boxes_check(const tacit_matrix *m)
{
    if (m->grid[0] > 0) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "partitioner 'boxes' is for gallery matrices on a grid, "
         "which this is not: use the partitioner 'metis'");
}

typedef struct {
    const tacit_matrix *m;
    int parts;
    int32_t *part;
} cutting;

static void cut_rows(void *work, int64_t from, int64_t to)
{
    const cutting *c = work;
    const int64_t *n = c->m->grid;
    const int64_t unknowns = c->m->A.global_rows / (n[0] * n[1] * n[2]);
    for (int64_t i = from; i < to; i++) {
        const int64_t point = tct_original(c->m, i) / unknowns;
        const int64_t x[3] = {point % n[0], point / n[0] % n[1],
                              point / n[0] / n[1]};
        c->part[i] = part_of(n, x, c->parts);
    }
}

void tct_boxes_cut(const tacit_matrix *m, int parts, int32_t *part)
{
    tct_parallel(m->A.rows, TCT_SHORT, cut_rows, &(cutting){m, parts, part});
}
