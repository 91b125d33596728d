/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_cached.c - tiles whose cells stay with them. */
#include "stencil/own_cached.h"

/* A tile's memory: two states of the tile and `reach` + 1 cells around it. */
typedef struct store {
    const tct_own_host *h;
    const tct_box *box;
    char *cells;
    int64_t lo[3], size[3]; /* of what is stored */
} store;

/* Direction 1 of a grid of two dimensions has no cells around. */
static int64_t margin(const tct_own_host *h, int d)
{
    return d == 1 && h->field->s.about->dimensions == 2 ? 0 : h->reach + 1;
}

static store store_of(const tct_own_host *h, int tile)
{
    store s = {h,
               &h->tiles.box[tile],
               h->memory + (size_t)tile * h->each,
               {0, 0, 0},
               {0, 0, 0}};
    for (int d = 0; d < 3; d++) {
        s.lo[d] = s.box->lo[d] - margin(h, d);
        s.size[d] = s.box->hi[d] - s.box->lo[d] + 2 * margin(h, d);
    }
    return s;
}

/* Cell (x, y, z) of state `k`. */
static char *cell(const store *s, int k, int64_t z, int64_t y, int64_t x)
{
    const int64_t row =
        (k * s->size[2] + z - s->lo[2]) * s->size[1] + y - s->lo[1];
    return s->cells +
           (size_t)(row * s->size[0] + x - s->lo[0]) * s->h->field->s.bytes;
}

/* Cells [from, to) of direction `d`: the tile and `more` around it, without
 * those outside the grid. */
static void span_of(const store *s, int d, int64_t more, int64_t *from,
                    int64_t *to)
{
    const tct_grid_block *b = &s->h->field->block;
    if (margin(s->h, d) == 0) more = 0;
    *from = s->box->lo[d] - more;
    *to = s->box->hi[d] + more;
    if (b->closes[d]) return;
    if (*from < b->low[d]) *from = b->low[d];
    if (*to > b->high[d]) *to = b->high[d];
}

/* --- in and out ----------------------------------------------------------- */

static bool is_own(const store *s, int d, int64_t i)
{
    return i >= s->box->lo[d] && i < s->box->hi[d];
}

/* Cells [from, to) of a row, which may go past an end that closes. */
static void load_cells(const store *s, int buffer, int k, int64_t z, int64_t y,
                       int64_t from, int64_t to)
{
    const tacit_field *f = s->h->field;
    const tct_grid_block *b = &f->block;
    while (from < to) {
        const int64_t at = tct_block_wrap(b, 0, from);
        const int64_t end = b->closes[0] ? b->n[0] - at : to - from;
        const int64_t count = end < to - from ? end : to - from;
        memcpy(cell(s, k, z, y, from),
               tct_field_cell(f, buffer, tct_block_wrap(b, 2, z),
                              tct_block_wrap(b, 1, y), at),
               (size_t)count * f->s.bytes);
        from += count;
    }
}

/* All cells that a visit reads, or of them those of others. */
static void load(const store *s, int buffer, int k, bool all)
{
    int64_t lo[3], hi[3];
    for (int d = 0; d < 3; d++) span_of(s, d, s->h->reach, &lo[d], &hi[d]);
    for (int64_t z = lo[2]; z < hi[2]; z++)
        for (int64_t y = lo[1]; y < hi[1]; y++) {
            const bool own = is_own(s, 2, z) && is_own(s, 1, y) && !all;
            load_cells(s, buffer, k, z, y, lo[0], own ? s->box->lo[0] : hi[0]);
            if (own) load_cells(s, buffer, k, z, y, s->box->hi[0], hi[0]);
        }
}

static void store_cells(const store *s, int buffer, int k, int64_t z, int64_t y,
                        int64_t from, int64_t to)
{
    const tacit_field *f = s->h->field;
    if (from < to)
        memcpy(tct_field_cell(f, buffer, z, y, from), cell(s, k, z, y, from),
               (size_t)(to - from) * f->s.bytes);
}

/* Is row i within reach of another tile's cells in direction `d`? */
static bool is_edge(const store *s, int d, int64_t i)
{
    return margin(s->h, d) > 0 && (i < s->box->lo[d] + s->h->reach ||
                                   i >= s->box->hi[d] - s->h->reach);
}

/* All cells of the tile, or those that others read. */
static void publish(const store *s, int buffer, int k, bool all)
{
    const int64_t lo = s->box->lo[0], hi = s->box->hi[0], reach = s->h->reach;
    const int64_t left = lo + reach < hi ? lo + reach : hi;
    const int64_t right = hi - reach > left ? hi - reach : left;
    for (int64_t z = s->box->lo[2]; z < s->box->hi[2]; z++)
        for (int64_t y = s->box->lo[1]; y < s->box->hi[1]; y++) {
            const bool whole = all || is_edge(s, 2, z) || is_edge(s, 1, y);
            store_cells(s, buffer, k, z, y, lo, whole ? hi : left);
            if (!whole) store_cells(s, buffer, k, z, y, right, hi);
            if (all) tct_own_close_row(s->h->field, buffer, s->box, z, y);
        }
}

/* --- steps ---------------------------------------------------------------- */

/* From state k to the other one: the tile and `more` cells around it. */
static void step(const store *s, int k, int64_t more)
{
    const tacit_field *f = s->h->field;
    const bool flat = f->s.about->dimensions == 2;
    const tct_row_fn fn = f->rows->step[f->s.shape][f->s.weights];
    int64_t lo[3], hi[3];
    for (int d = 0; d < 3; d++) span_of(s, d, more, &lo[d], &hi[d]);
    tct_row_inputs r = {.centre = f->s.centre, .neighbours = f->s.neighbours};
    for (int i = 0; i < TCT_STENCIL_ROWS; i++) r.pitch[i] = s->size[0];
    for (int64_t z = lo[2]; z < hi[2]; z++) {
        for (int i = 0; i < (flat ? 3 : TCT_STENCIL_ROWS); i++)
            r.in[i] = flat
                          ? cell(s, k, z + i - 1, lo[1], lo[0])
                          : cell(s, k, z + i / 3 - 1, lo[1] + i % 3 - 1, lo[0]);
        fn(&r, cell(s, k ^ 1, z, lo[1], lo[0]), s->size[0], hi[1] - lo[1],
           hi[0] - lo[0]);
    }
}

/* A state of the memory by the number of steps, which all visits before have
 * made: the first byte of it counts them. */
static char *state_of(const tct_own_host *h, int tile)
{
    return h->memory + (size_t)(tile + 1) * h->each - 1;
}

static void visit_tile(tct_own_host *h, int tile, int from, int steps,
                       bool last)
{
    const store s = store_of(h, tile);
    char *state = state_of(h, tile);
    int k = *state & 1;
    const bool first = (*state & 2) == 0;
    load(&s, from, k, first);
    if (!tct_field_computes(h->field)) steps = 0;
    for (int i = 1; i <= steps; i++, k ^= 1) step(&s, k, steps - i);
    publish(&s, from ^ 1, k, last);
    *state = (char)(k | (last ? 0 : 2));
}

/* --- set-up --------------------------------------------------------------- */

static void fill(const tct_own_host *h, char *cells, size_t count)
{
    const tacit_field *f = h->field;
    for (size_t i = 0; i < count; i++)
        memcpy(cells + i * f->s.bytes, tct_field_outside(f), f->s.bytes);
}

static tacit_status take_memory(tct_own_host *h)
{
    int64_t most = 0;
    for (int t = 0; t < h->tiles.count; t++) {
        const store s = store_of(h, t);
        const int64_t cells = s.size[0] * s.size[1] * s.size[2];
        if (cells > most) most = cells;
    }
    const size_t cells = 2 * (size_t)most;
    h->each = (cells * h->field->s.bytes + 1 + 127) / 128 * 128;
    TRY(tct_memory_require((double)h->each * h->tiles.count,
                           "tiles of a grid"));
    TRY(TCT_ALLOC(h->each * (size_t)h->tiles.count, "tiles of a grid",
                  &h->memory));
    for (int t = 0; t < h->tiles.count; t++) {
        fill(h, h->memory + (size_t)t * h->each, cells);
        *state_of(h, t) = 0;
    }
    return TACIT_OK;
}

tacit_status tct_own_cached_create(tacit_field *f, int reach,
                                   tct_own_host **out)
{
    if (f->coefficient)
        FAIL(TACIT_UNSUPPORTED,
             "way 'cached' is not for this grid: coefficients by cell are more "
             "bytes than the cells that it keeps: take way copy");
    tct_own_host *h = NULL;
    TRY(tct_own_host_create(f, reach, false, visit_tile, &h));
    const tacit_status status = take_memory(h);
    if (status < 0) tct_own_host_destroy(&h);
    else *out = h;
    return status;
}

double tct_own_cached_bytes(const tct_own_host *h)
{
    double cells = 0.0;
    for (int t = 0; t < h->tiles.count; t++) {
        const store s = store_of(h, t);
        double own = 1.0, all = 1.0;
        for (int d = 0; d < 3; d++) {
            own *= (double)(s.size[d] - 2 * margin(h, d));
            all *= (double)s.size[d];
        }
        cells += all - own;
    }
    return 2.0 * cells * (double)h->field->s.bytes / h->reach;
}
