/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_host.c - tasks of tiles that have owners. */
#include "stencil/own_host.h"
#include "device/parallel.h"
#include "device/protocol.h"

/* --- rows of the field ---------------------------------------------------- */

static const char *row_at(const tacit_field *f, int from, int64_t z, int64_t y,
                          int64_t x)
{
    const tct_grid_block *b = &f->block;
    if (!tct_block_has(b, 2, z) || !tct_block_has(b, 1, y))
        return tct_field_outside(f);
    return tct_field_cell(f, from, tct_block_wrap(b, 2, z),
                          tct_block_wrap(b, 1, y), x);
}

tct_row_inputs tct_own_inputs(const tacit_field *f, int from, int64_t z,
                              int64_t y, int64_t x)
{
    const tct_grid_stencil *s = &f->s;
    tct_row_inputs r = {.centre = s->centre, .neighbours = s->neighbours};
    const bool flat = s->about->dimensions == 2;
    for (int k = 0; k < (flat ? 3 : TCT_STENCIL_ROWS); k++)
        r.in[k] = flat ? row_at(f, from, z + k - 1, y, x)
                       : row_at(f, from, z + k / 3 - 1, y + k % 3 - 1, x);
    if (!f->coefficient) return r;
    const int64_t row = z * f->block.n[1] + y;
    r.coefficient =
        f->coefficient + (size_t)(row * f->block.n[0] + x) * s->bytes;
    r.stride = f->block.cells;
    return r;
}

void tct_own_close_row(const tacit_field *f, int buffer, const tct_box *box,
                       int64_t z, int64_t y)
{
    const int64_t n = f->block.n[0];
    if (!f->block.closes[0]) return;
    if (box->lo[0] == 0)
        memcpy(tct_field_cell(f, buffer, z, y, n),
               tct_field_cell(f, buffer, z, y, 0), f->s.bytes);
    if (box->hi[0] == n)
        memcpy(tct_field_cell(f, buffer, z, y, -1),
               tct_field_cell(f, buffer, z, y, n - 1), f->s.bytes);
}

/* --- tasks ---------------------------------------------------------------- */

typedef struct run {
    tct_own_host *host;
    int steps, visits, now;
    atomic_int_fast64_t next;
} run;

static uint64_t *flag_of(const tct_own_host *h, int tile)
{
    return h->flag + (size_t)tile * TCT_FLAG_WORDS;
}

/* All tiles around have made as many visits as this one is to have made. */
static void await_others(const tct_own_host *h, int tile, uint64_t number)
{
    const tct_own_tiles *t = &h->tiles;
    for (int k = t->first[tile]; k < t->first[tile + 1]; k++)
        tct_await_counter(flag_of(h, t->others[k]), number, (tct_limit){0});
}

static void do_task(const run *r, int visit, int tile)
{
    tct_own_host *h = r->host;
    const int made = visit * h->reach, left = r->steps - made;
    const uint64_t number = h->visited + (uint64_t)visit;
    await_others(h, tile, number);
    h->visit(h, tile, (r->now + visit) & 1, left < h->reach ? left : h->reach,
             visit + 1 == r->visits);
    tct_signal_set(flag_of(h, tile), number + 1);
}

static void draw_tasks(void *work, int64_t thread)
{
    run *r = work;
    const int64_t tiles = r->host->tiles.count;
    (void)thread;
    for (;;) {
        const int64_t task = atomic_fetch_add(&r->next, 1);
        if (task >= tiles * r->visits) return;
        do_task(r, (int)(task / tiles), (int)(task % tiles));
    }
}

void tct_own_host_run(tct_own_host *h, int steps)
{
    TCT_THREADS_OF(h->field->queue->team);
    if (steps <= 0) return;
    run r = {.host = h,
             .steps = steps,
             .visits = (steps - 1) / h->reach + 1,
             .now = h->field->now};
    tct_parallel_each(h->threads, draw_tasks, &r);
    h->visited += (uint64_t)r.visits;
    h->field->now ^= r.visits & 1;
}

/* --- changes -------------------------------------------------------------- */

typedef struct measurement {
    const tacit_field *field;
    double *changes;
} measurement;

static void measure_rows(void *work, int64_t from, int64_t to)
{
    const measurement *m = work;
    const tacit_field *f = m->field;
    const int64_t n = f->block.n[0], blocks = tct_field_blocks(f);
    for (int64_t row = from; row < to; row++)
        for (int64_t k = 0; k < blocks; k++) {
            const int64_t x = k * TCT_CHANGE_BLOCK, left = n - x;
            const size_t at = (size_t)x * f->s.bytes;
            m->changes[row * blocks + k] = f->rows->change(
                tct_field_row(f, f->now, row) + at,
                tct_field_row(f, f->now ^ 1, row) + at,
                left < TCT_CHANGE_BLOCK ? left : TCT_CHANGE_BLOCK);
        }
}

void tct_own_host_measure(const tct_own_host *h, double *changes)
{
    TCT_THREADS_OF(h->field->queue->team);
    measurement m = {h->field, changes};
    tct_parallel(tct_block_rows(&h->field->block),
                 1 + TCT_SHORT / h->field->block.n[0], measure_rows, &m);
}

/* --- set-up --------------------------------------------------------------- */

enum { TILES_OF_A_THREAD = 2 /* so that who waits finds another task */ };

static tacit_status prepare(tct_own_host *h, bool layers)
{
    const tct_grid_block *b = &h->field->block;
    h->threads = tct_parallel_parts(b->cells * h->reach, h->field->worth);
    const int tiles = 1 + TILES_OF_A_THREAD * h->threads;
    if (layers) TRY(tct_own_layers(b, tiles, 0, true, &h->tiles));
    else TRY(tct_own_blocks(b, tiles, h->reach, &h->tiles));
    return TCT_ALLOC((size_t)h->tiles.count * TCT_FLAG_WORDS, "tiles of a grid",
                     &h->flag);
}

tacit_status tct_own_host_create(tacit_field *f, int reach, bool layers,
                                 tct_own_visit_fn visit, tct_own_host **out)
{
    TCT_THREADS_OF(f->queue->team);
    tct_own_host *h = tct_calloc(sizeof *h);
    if (!h) FAIL(TACIT_NO_MEMORY, "no memory for tiles of a grid");
    h->field = f;
    h->reach = reach;
    h->visit = visit;
    const tacit_status status = prepare(h, layers);
    if (status < 0) {
        tct_own_host_destroy(&h);
        return status;
    }
    memset(h->flag, 0,
           (size_t)h->tiles.count * TCT_FLAG_WORDS * sizeof *h->flag);
    *out = h;
    return TACIT_OK;
}

void tct_own_host_destroy(tct_own_host **host)
{
    tct_own_host *h = *host;
    if (!h) return;
    tct_own_tiles_free(&h->tiles);
    TCT_FREE(h->memory, h->flag, h);
    *host = NULL;
}
