/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/own_tiles.c - tiles of blocks of threads that stay. */
#include "operator/stencil/own_tiles.h"
#include "device/parallel.h"
#include <math.h>

/* --- cutting a box -------------------------------------------------------- */

enum {
    STRIP = 128 /* columns of a warp: a tile has whole strips, if it can */
};

static int extent(const tct_box *b, int d)
{
    return b->hi[d] - b->lo[d];
}

static int64_t cells_of(const tct_box *b)
{
    return (int64_t)extent(b, 0) * extent(b, 1) * extent(b, 2);
}

/* Strips that `columns` need. */
static int strips_of(int columns)
{
    return (columns - 1) / STRIP + 1;
}

/* Cost of the largest tile: the cells of its strips, and some part of those
 * around it. */
static double cost_of(const tct_box *b, const int count[3])
{
    double own = 1.0, read = 1.0;
    for (int d = 0; d < 3; d++) {
        int cells = (extent(b, d) - 1) / count[d] + 1;
        if (d == 0) cells = STRIP * strips_of(cells);
        own *= cells;
        read *= cells + (extent(b, d) > 1 ? 2 : 0);
    }
    return own + 0.3 * (read - own);
}

static int least_int(int a, int b)
{
    return a < b ? a : b;
}

/* At most `parts` tiles, in each direction. */
static void choose_counts(const tct_box *b, int parts, int best[3])
{
    double least = INFINITY;
    for (int z = 1; z <= least_int(parts, extent(b, 2)); z++)
        for (int y = 1; y <= least_int(parts / z, extent(b, 1)); y++) {
            const int wide = strips_of(extent(b, 0));
            for (int x = 1; x <= least_int(parts / (z * y), wide); x++) {
                const int count[3] = {x, y, z};
                const double cost = cost_of(b, count);
                if (cost >= least) continue;
                least = cost;
                memcpy(best, count, sizeof count);
            }
        }
}

/* Tiles in the order of x, y, z. */
static int cut_by(const tct_box *b, const int count[3], tct_box *out)
{
    const int all = count[0] * count[1] * count[2];
    for (int t = 0; t < all; t++) {
        const int at[3] = {t % count[0], t / count[0] % count[1],
                           t / count[0] / count[1]};
        for (int d = 0; d < 3; d++) {
            const int64_t n = extent(b, d);
            out[t].lo[d] = b->lo[d] + (int)tct_part_first(n, at[d], count[d]);
            out[t].hi[d] =
                b->lo[d] + (int)tct_part_first(n, at[d] + 1, count[d]);
        }
    }
    return all;
}

static int cut(const tct_box *b, int parts, tct_box *out)
{
    int count[3] = {1, 1, 1};
    if (cells_of(b) == 0) return 0;
    choose_counts(b, parts, count);
    return cut_by(b, count, out);
}

/* --- tiles that wait for each other --------------------------------------- */

/* Does [alo, ahi) with `reach` cells more at each end meet [blo, bhi), or a
 * copy of it where the direction closes? */
static bool is_near(const tct_grid_block *g, int d, const tct_box *a,
                    const tct_box *b, int reach)
{
    const int64_t n = g->n[d];
    const int64_t turns = g->closes[d] ? reach / n + 1 : 0;
    for (int64_t k = -turns; k <= turns; k++)
        if (a->lo[d] - reach < b->hi[d] + k * n &&
            b->lo[d] + k * n < a->hi[d] + reach)
            return true;
    return false;
}

/* The tiles that tile `a` waits for; `others` NULL: how many. */
static int find_others(const tct_grid_block *g, const tct_own_tiles *t, int a,
                       int reach, int *others)
{
    int found = 0;
    for (int b = 0; b < t->count; b++) {
        bool near = true;
        for (int d = 0; d < 3; d++)
            near = near && is_near(g, d, &t->box[a], &t->box[b], reach);
        if (!near) continue;
        if (others) others[found] = b;
        found++;
    }
    return found;
}

static tacit_status connect(const tct_grid_block *g, int reach,
                            tct_own_tiles *t)
{
    TRY(TCT_ALLOC((size_t)t->count + 1, "tiles of a grid", &t->first));
    t->first[0] = 0;
    for (int a = 0; a < t->count; a++)
        t->first[a + 1] = t->first[a] + find_others(g, t, a, reach, NULL);
    TRY(TCT_ALLOC((size_t)t->first[t->count], "tiles of a grid", &t->others));
    for (int a = 0; a < t->count; a++)
        find_others(g, t, a, reach, t->others + t->first[a]);
    return TACIT_OK;
}

/* --- layers --------------------------------------------------------------- */

/* Take the layer at one side of `rest` away from it. */
static tct_box peel(tct_box *rest, int d, bool high)
{
    tct_box layer = *rest;
    if (high) layer.lo[d] = --rest->hi[d];
    else layer.hi[d] = ++rest->lo[d];
    return layer;
}

static tct_box whole(const tct_grid_block *b)
{
    tct_box all = {{0, 0, 0}, {0, 0, 0}};
    for (int d = 0; d < 3; d++) all.hi[d] = (int)b->n[d];
    return all;
}

static int find_layers(const tct_grid_block *b, bool apart, tct_box *layer,
                       tct_box *rest)
{
    int layers = 0;
    *rest = whole(b);
    for (int d = 2; d >= 0; d--) {
        const bool low = b->low[d]<0, high = b->high[d]> b->n[d];
        const bool always = apart && d == 2;
        if ((low || always) && cells_of(rest) > 0)
            layer[layers++] = peel(rest, d, false);
        if ((high || always) && cells_of(rest) > 0)
            layer[layers++] = peel(rest, d, true);
    }
    return layers;
}

/* Tiles of one layer. */
static int share_of(const tct_own_tiles *t, int tiles, int wanted)
{
    const int most = (tiles - 1) / t->layers;
    const int share = wanted > 0 ? wanted : (int)t->formula;
    return share > most && most > 0 ? most : share > 1 ? share : 1;
}

static tacit_status cut_layers(const tct_box *layer, const tct_box *rest,
                               int tiles, int wanted, tct_own_tiles *t)
{
    const int share = t->layers > 0 ? share_of(t, tiles, wanted) : 0;
    const int left = tiles > share * t->layers ? tiles - share * t->layers : 1;
    TRY(TCT_ALLOC(share * t->layers + left, "tiles of a grid", &t->box));
    for (int k = 0; k < t->layers; k++) {
        const int made = cut(&layer[k], share, t->box + t->of_layers);
        if (made > t->of_layer) t->of_layer = made;
        t->of_layers += made;
    }
    t->count = t->of_layers + cut(rest, left, t->box + t->of_layers);
    return TACIT_OK;
}

tacit_status tct_own_layers(const tct_grid_block *b, int tiles, int of_layer,
                            bool apart, tct_own_tiles *out)
{
    tct_own_tiles t = {.count = 0};
    tct_box layer[TCT_LAYERS_MOST], rest;
    t.layers = find_layers(b, apart, layer, &rest);
    if (of_layer < 0) {
        t.layers = 0;
        rest = whole(b);
    }
    if (t.layers > 0)
        t.formula =
            (double)tiles * (double)cells_of(&layer[0]) / (double)b->cells;
    tacit_status status = cut_layers(layer, &rest, tiles, of_layer, &t);
    if (status >= 0) status = connect(b, 1, &t);
    if (status < 0) tct_own_tiles_free(&t);
    else *out = t;
    return status;
}

/* --- blocks -------------------------------------------------------------- */

/* Tiles by `count` in each direction. */
static tacit_status cut_whole(const tct_grid_block *b, const int count[3],
                              int reach, tct_own_tiles *out)
{
    tct_own_tiles t = {.count = count[0] * count[1] * count[2]};
    const tct_box all = whole(b);
    tacit_status status = TCT_ALLOC(t.count, "tiles of a grid", &t.box);
    if (status >= 0) {
        cut_by(&all, count, t.box);
        status = connect(b, reach, &t);
    }
    if (status < 0) tct_own_tiles_free(&t);
    else *out = t;
    return status;
}

tacit_status tct_own_blocks(const tct_grid_block *b, int tiles, int reach,
                            tct_own_tiles *out)
{
    int count[3] = {1, 1, 1};
    const tct_box all = whole(b);
    choose_counts(&all, tiles, count);
    return cut_whole(b, count, reach, out);
}

tacit_status tct_own_columns(const tct_grid_block *b, int tiles, int width,
                             int reach, tct_own_tiles *out)
{
    const tct_box all = whole(b);
    if (width <= 2 * reach)
        FAIL(TACIT_UNSUPPORTED,
             "depth %d: a tile of %d columns has none of its own then: take a "
             "depth below %d",
             reach, width, width / 2);
    const int strips = (extent(&all, 0) - 1) / (width - 2 * reach) + 1;
    const int chunks = strips < tiles ? tiles / strips : 1;
    const int count[3] = {strips, 1, least_int(chunks, extent(&all, 2))};
    return cut_whole(b, count, reach, out);
}

/* --- planes --------------------------------------------------------------- */

/* Cost of the largest of count[1] x count[2] tiles, of whose rows each of `groups`
 * warps has as many. */
static double planes_cost(const tct_box *b, const int count[3], int groups)
{
    const int rows = (extent(b, 1) - 1) / count[1] + 1;
    const double y = ((rows - 1) / groups + 1) * groups;
    const double z = (extent(b, 2) - 1) / count[2] + 1;
    return y * z + 0.3 * ((y + 2) * (z + 2) - y * z);
}

tacit_status tct_own_planes(const tct_grid_block *b, int tiles, int most,
                            int groups, tct_own_tiles *out)
{
    int best[3] = {1, 0, 1};
    const tct_box all = whole(b);
    double least = INFINITY;
    for (int y = (extent(&all, 1) - 1) / most + 1;
         y <= least_int(tiles, extent(&all, 1)); y++) {
        const int count[3] = {1, y, least_int(tiles / y, extent(&all, 2))};
        const double cost = planes_cost(&all, count, groups);
        if (cost >= least) continue;
        least = cost;
        memcpy(best, count, sizeof count);
    }
    if (best[1] == 0)
        FAIL(TACIT_UNSUPPORTED,
             "%d tiles of whole rows have at most %d of the %d rows of a "
             "plane: take way free, or more GPUs",
             tiles, most, extent(&all, 1));
    return cut_whole(b, best, 1, out);
}

/* --- rooms ---------------------------------------------------------------- */

int64_t tct_own_room(int64_t nx, int64_t nz, int tiles, int reach, int widest,
                     int count[3])
{
    int64_t least = -1;
    for (int x = 1; x <= tiles && x <= nx; x++) {
        const int64_t z = tiles / x < nz ? tiles / x : nz;
        const int64_t wide = (nx - 1) / x + 1 + 2 * reach;
        const int64_t cells = wide * ((nz - 1) / z + 1 + 2 * reach);
        if (wide > widest || (least >= 0 && cells >= least)) continue;
        least = cells;
        if (!count) continue;
        count[0] = x;
        count[1] = 1;
        count[2] = (int)z;
    }
    return least;
}

tacit_status tct_own_rooms(const tct_grid_block *b, int tiles, int reach,
                           int widest, tct_own_tiles *out)
{
    int count[3] = {1, 1, 1};
    if (tct_own_room(b->n[0], b->n[2], tiles, reach, widest, count) < 0)
        FAIL(TACIT_UNSUPPORTED,
             "%lld columns: %d tiles have at most %d of them, of which %d at "
             "each side are others': take a smaller depth",
             (long long)b->n[0], tiles, widest, reach);
    return cut_whole(b, count, reach, out);
}

/* --- sides ---------------------------------------------------------------- */

/* The ghosts that a visit reads are the innermost ones. */
static tct_halo_put narrowed(const tct_halo_put *put, int reach)
{
    tct_halo_put p = *put;
    for (int d = 0, power = 1; d < 3; d++, power *= 3) {
        const int to = p.direction / power % 3 - 1;
        if (to == 0 || p.extent[d] <= reach) continue;
        if (to > 0) p.send[d] += p.extent[d] - reach;
        p.extent[d] = reach;
    }
    return p;
}

static bool is_at(const tct_box *b, const tct_halo_put *p, int x)
{
    for (int d = 0; d < 3; d++) {
        const int64_t more = d == 0 ? x : 0;
        if (b->hi[d] + more <= p->send[d] ||
            b->lo[d] + more >= p->send[d] + p->extent[d])
            return false;
    }
    return true;
}

static void list_sides(const tct_own_tiles *t, int x, tct_own_sides *s)
{
    int found = 0;
    for (int k = 0; k < t->count; k++) {
        s->first[k] = found;
        for (int i = 0; i < s->count; i++) {
            if (!is_at(&t->box[k], &s->put[i], x)) continue;
            s->sides[found++] = i;
            s->parts[i]++;
        }
    }
    s->first[t->count] = found;
}

tacit_status tct_own_find_sides(const tct_own_tiles *t, int count,
                                const tct_halo_put *puts, int x, int reach,
                                tct_own_sides *out)
{
    tct_own_sides s = {.count = count};
    const size_t all = (size_t)t->count * (size_t)count;
    tacit_status status = TCT_ALLOC(count, "sides of tiles", &s.put);
    if (status >= 0) status = TCT_ALLOC(count, "sides of tiles", &s.parts);
    if (status >= 0) status = TCT_ALLOC(all, "sides of tiles", &s.sides);
    if (status >= 0)
        status = TCT_ALLOC(t->count + 1, "sides of tiles", &s.first);
    if (status < 0) {
        tct_own_sides_free(&s);
        return status;
    }
    for (int i = 0; i < count; i++) {
        s.put[i] = narrowed(&puts[i], reach);
        s.parts[i] = 0;
    }
    list_sides(t, x, &s);
    *out = s;
    return TACIT_OK;
}

void tct_own_sides_free(tct_own_sides *s)
{
    TCT_FREE(s->first, s->sides, s->parts, s->put);
    *s = (tct_own_sides){.count = 0};
}

int tct_own_most(const tct_own_tiles *t, int d)
{
    int most = 0;
    for (int k = 0; k < t->count; k++)
        if (extent(&t->box[k], d) > most) most = extent(&t->box[k], d);
    return most;
}

void tct_own_tiles_free(tct_own_tiles *t)
{
    TCT_FREE(t->others, t->first, t->box);
    *t = (tct_own_tiles){.count = 0};
}
