/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_host.c - tasks of tiles that have owners. */
#include "stencil/own_host.h"
#include "comm/world/world.h"
#include "device/parallel.h"
#include "device/protocol.h"
#include "stencil/field_halo.h"

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

/* --- sides ---------------------------------------------------------------- */

typedef struct run {
    tct_own_host *host;
    int steps, visits, now;
    atomic_int_fast64_t next;
    uint64_t gone; /* 1 + a rank that did not come */
} run;

/* Where the neighbour has cell (x, y, z) of buffer `slot`. */
static char *there(const tacit_field *f, const tct_halo_put *p, int slot,
                   int64_t z, int64_t y, int64_t x)
{
    return p->at[slot] + z * p->plane + y * p->pitch +
           (x + f->halo_x) * (int64_t)f->s.bytes;
}

/* Cells [from, to) of a row, and the copies of the ends of one that closes. */
static void put_row(const tacit_field *f, const tct_halo_put *p, int slot,
                    int64_t z, int64_t y, int64_t from, int64_t to)
{
    const int64_t n = f->block.n[0];
    const size_t each = f->s.bytes;
    if (from >= to) return;
    memcpy(there(f, p, slot, z, y, from), tct_field_cell(f, slot, z, y, from),
           (size_t)(to - from) * each);
    if (!f->block.closes[0]) return;
    if (from == 0)
        memcpy(there(f, p, slot, z, y, n), tct_field_cell(f, slot, z, y, 0),
               each);
    if (to == n)
        memcpy(there(f, p, slot, z, y, -1),
               tct_field_cell(f, slot, z, y, n - 1), each);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The cells of a tile that a neighbour has as ghosts. */
static void put_tile(const tct_own_host *h, int tile, const tct_halo_put *p,
                     int slot)
{
    const tct_box *b = &h->tiles.box[tile];
    int64_t lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        const int64_t more = d == 0 ? h->field->halo_x : 0;
        lo[d] = later(b->lo[d], p->send[d] - more);
        hi[d] = earlier(b->hi[d], p->send[d] + p->extent[d] - more);
    }
    for (int64_t z = lo[2]; z < hi[2]; z++)
        for (int64_t y = lo[1]; y < hi[1]; y++)
            put_row(h->field, p, slot, z, y, lo[0], hi[0]);
}

/* The neighbours of a tile at a side have made their exchanges of `visit`. */
static bool await_sides(run *r, int tile, int visit)
{
    tct_own_host *h = r->host;
    const tct_own_sides *s = &h->sides;
    const double seconds = h->field->queue->peer_seconds;
    const tct_limit limit = {(uint64_t)(1e9 * seconds), &r->gone};
    for (int k = s->first[tile]; k < s->first[tile + 1]; k++) {
        const tct_halo_put *p = &s->put[s->sides[k]];
        const tct_wait_status came =
            tct_await_counter(p->own, h->exchange + (uint64_t)visit, limit);
        if (came == TCT_MISSED)
            __atomic_store_n(&r->gone, 1 + (uint64_t)p->peer, __ATOMIC_RELAXED);
        if (came != TCT_CAME) return false;
    }
    return true;
}

/* Store the cells of `visit`, and tell who has them all. */
static void tell_sides(const run *r, int tile, int visit)
{
    const tct_own_host *h = r->host;
    const tct_own_sides *s = &h->sides;
    const int slot = (r->now + visit + 1) & 1;
    for (int k = s->first[tile]; k < s->first[tile + 1]; k++) {
        const int side = s->sides[k];
        unsigned *ticket = h->ticket + (visit & 1) * s->count + side;
        put_tile(h, tile, &s->put[side], slot);
        if (tct_all_done(ticket, (unsigned)s->parts[side]))
            tct_signal_send(s->put[side].other,
                            h->exchange + (uint64_t)visit + 1);
    }
}

/* --- tasks ---------------------------------------------------------------- */

static uint64_t *flag_of(const tct_own_host *h, int tile)
{
    return h->flag + (size_t)tile * TCT_FLAG_WORDS;
}

/* All tiles around have made as many visits as this one is to have made. */
static bool await_others(const run *r, int tile, uint64_t number)
{
    const tct_own_host *h = r->host;
    const tct_own_tiles *t = &h->tiles;
    const tct_limit limit = {0, &r->gone};
    for (int k = t->first[tile]; k < t->first[tile + 1]; k++)
        if (tct_await_counter(flag_of(h, t->others[k]), number, limit) !=
            TCT_CAME)
            return false;
    return true;
}

static void do_task(run *r, int visit, int tile)
{
    tct_own_host *h = r->host;
    const int made = visit * h->reach, left = r->steps - made;
    const uint64_t number = h->visited + (uint64_t)visit;
    const bool last = visit + 1 == r->visits;
    if (!await_others(r, tile, number)) return;
    if (h->sides.count > 0 && !await_sides(r, tile, visit)) return;
    h->visit(h, tile, (r->now + visit) & 1, left < h->reach ? left : h->reach,
             last);
    if (h->sides.count > 0 && !last) tell_sides(r, tile, visit);
    tct_signal_set(flag_of(h, tile), number + 1);
}

static void draw_tasks(void *work, int64_t thread)
{
    run *r = work;
    const int64_t tiles = r->host->tiles.count;
    (void)thread;
    for (;;) {
        const int64_t task = atomic_fetch_add(&r->next, 1);
        if (task >= tiles * r->visits) break;
        do_task(r, (int)(task / tiles), (int)(task % tiles));
    }
    tct_fence_all(); /* that of a sanitizer reads the last ticket */
}

/* --- runs ----------------------------------------------------------------- */

static void drop_sides(tct_own_host *h)
{
    tct_own_sides_free(&h->sides);
    TCT_FREE(h->ticket);
    h->ticket = NULL;
}

/* The buffers of the halo may have changed since the last run. */
static tacit_status find_sides(tct_own_host *h)
{
    const tacit_field *f = h->field;
    const tct_halo_puts *puts = tct_halo_puts_of(f->halo);
    TRY(tct_own_find_sides(&h->tiles, puts->count, puts->put, (int)f->halo_x,
                           h->reach, &h->sides));
    TRY(TCT_ALLOC(2 * puts->count, "sides of tiles", &h->ticket));
    memset(h->ticket, 0, 2 * (size_t)puts->count * sizeof *h->ticket);
    h->exchange = tct_halo_number(f->halo);
    return TACIT_OK;
}

/* The ghosts of the first visit come by an exchange of the halo. A queue that
 * fails on one rank starts on none. Collective. */
static bool begin(tct_own_host *h)
{
    tacit_field *f = h->field;
    tacit_queue *q = f->queue;
    drop_sides(h);
    if (!f->halo || !tct_field_communicates(f)) return true;
    tct_field_narrow(f, h->reach);
    tct_halo_start(f->halo, f->now, TCT_HALO_STORES);
    tct_halo_finish(f->halo);
    tacit_status status = q_own_status(q);
    if (status >= 0) status = find_sides(h);
    status = tct_agree(q->world, status);
    if (status < 0 && q->failed == TACIT_OK)
        q_fail(q, status, "%s", tacit_error_message());
    return status >= 0;
}

void tct_own_host_run(tct_own_host *h, int steps)
{
    tacit_field *f = h->field;
    TCT_THREADS_OF(f->queue->team);
    if (steps <= 0 || !begin(h)) return;
    run r = {.host = h,
             .steps = steps,
             .visits = (steps - 1) / h->reach + 1,
             .now = f->now};
    tct_parallel_each(h->threads, draw_tasks, &r);
    h->visited += (uint64_t)r.visits;
    if (h->sides.count > 0) tct_halo_advance(f->halo, (uint64_t)(r.visits - 1));
    f->now ^= r.visits & 1;
    if (r.gone) q_lose_rank(f->queue, (int)r.gone - 1, f->queue->peer_seconds);
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
    const tacit_halo *halo = h->field->halo;
    if (halo && tct_halo_why_packed(halo))
        FAIL(TACIT_UNSUPPORTED,
             "tiles that stay store into the neighbours' memory: %s: take "
             "link shm, or another way",
             tct_halo_why_packed(halo));
    h->threads = tct_parallel_parts(b->cells * h->reach, h->field->worth);
    const int tiles = 1 + TILES_OF_A_THREAD * h->threads;
    if (layers)
        TRY(tct_own_layers(b, tiles, h->field->boundary_tiles, true,
                           &h->tiles));
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
    drop_sides(h);
    TCT_FREE(h->memory, h->flag, h);
    *host = NULL;
}
