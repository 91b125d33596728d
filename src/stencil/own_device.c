/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_device.c - ways free, free2 and cached on a GPU: a call is one
 * kernel for all its steps, or two beside each other. */
#include "stencil/own_device.h"
#include "comm/world/world.h"
#include "operator/stencil/own_steps.h"
#include "stencil/device.h"
#include "stencil/field_halo.h"

enum { STAY = 8192 /* steps of a kernel: a wait for a GPU has a limit */ };

typedef struct engine {
    tacit_field *field;
    const tct_own_steps *ops;
    int depth;
    bool keeps;          /* cells stay on chip: one buffer is not complete */
    tacit_halo *numbers; /* of tiles in shared memory, or NULL */
    void *state;
} engine;

/* --- what fits ------------------------------------------------------------ */

/* Of the largest block: on all ranks alike, if their GPUs are. */
static void largest_block(const tacit_field *f, int64_t n[3])
{
    const tct_grid_block *b = &f->block;
    for (int d = 0; d < 3; d++) n[d] = (b->grid[d] - 1) / b->count[d] + 1;
}

bool tct_device_fits_chip(const tacit_field *f, int depth)
{
    const tct_own_steps *ops = tct_own_steps_on(f->queue);
    const tct_step_work w = tct_device_work(f);
    int64_t n[3];
    largest_block(f, n);
    return ops && n[0] * n[1] * n[2] <= f->small &&
           ops->chip_fits(f->queue, n, &w, depth);
}

bool tct_device_is_small(const tacit_field *f, int depth)
{
    double no = tct_device_fits_chip(f, depth) ? 0.0 : 1.0;
    if (!f->halo) return no == 0.0;
    const bool packed = tct_halo_why_packed(f->halo) != NULL;
    return tct_reduce_f64(f->queue->world, TCT_MAX, 1, &no) >= 0 && no == 0.0 &&
           !packed;
}

/* --- engines -------------------------------------------------------------- */

static void destroy(void *state)
{
    engine *e = state;
    if (e->state) e->ops->close(e->state);
    tacit_halo_destroy(&e->numbers);
    tct_free(e);
}

/* Layers that were asked for have kernels that read cells from memory. */
static tacit_status open_kernels(engine *e, tct_own_kind kind)
{
    tacit_field *f = e->field;
    const tct_step_work w = tct_device_work(f);
    const bool layers = kind == TCT_OWN_FREE2 || f->boundary_tiles != 0;
    tct_numbered *cell[2] = {NULL, NULL};
    if (!layers && tct_device_is_small(f, e->depth))
        TRY(tct_field_open_numbers(f, e->depth, &e->numbers, cell));
    return e->ops->open(f->queue, &f->block, &w, kind, e->depth,
                        f->boundary_tiles, cell, &e->state);
}

static tacit_status make(tacit_field *f, tct_own_kind kind, int depth,
                         engine **out)
{
    engine *e = tct_calloc(sizeof *e);
    if (!e) FAIL(TACIT_NO_MEMORY, "no memory for steps of a grid");
    *e = (engine){.field = f,
                  .ops = tct_own_steps_on(f->queue),
                  .depth = depth,
                  .keeps = kind == TCT_OWN_CACHED};
    *out = e;
    return TACIT_OK;
}

/* Collective. */
static tacit_status open(tacit_field *f, tct_own_kind kind, int depth,
                         void **state)
{
    const char *why = f->halo ? tct_halo_why_packed(f->halo) : NULL;
    if (why)
        FAIL(TACIT_UNSUPPORTED,
             "kernels that stay store into the neighbours' memory: %s: take "
             "link peer, or another way",
             why);
    engine *e = NULL;
    tacit_status status = make(f, kind, depth, &e);
    if (f->halo) status = tct_agree(f->queue->world, status);
    if (status >= 0) status = open_kernels(e, kind);
    if (status >= 0) *state = e;
    else if (e) destroy(e);
    return status;
}

static tacit_status free_open(tacit_field *f, int depth, void **state)
{
    return open(f, TCT_OWN_FREE, depth, state);
}

static tacit_status free2_open(tacit_field *f, int depth, void **state)
{
    return open(f, TCT_OWN_FREE2, depth, state);
}

static tacit_status cached_open(tacit_field *f, int depth, void **state)
{
    return open(f, TCT_OWN_CACHED, depth, state);
}

/* --- runs ----------------------------------------------------------------- */

/* A queue that fails on one rank starts on none. The ghosts of the first visit
 * come by an exchange of the halo. Collective. */
static bool begin(const engine *e, tct_own_peers *peers)
{
    tacit_field *f = e->field;
    tacit_queue *q = f->queue;
    *peers = (tct_own_peers){.count = 0};
    if (!f->halo || !tct_field_communicates(f)) return q->failed == TACIT_OK;
    tct_field_narrow(f, e->depth);
    tct_halo_start(f->halo, f->device->now, TCT_HALO_STORES);
    tct_halo_finish(f->halo);
    if (tct_agree(q->world, q_own_status(q)) < 0) {
        if (q->failed == TACIT_OK)
            q_fail(q, TACIT_COMM, "steps of a grid failed on another rank");
        return false;
    }
    const tct_halo_puts *puts =
        tct_halo_puts_of(e->numbers ? e->numbers : f->halo);
    *peers = (tct_own_peers){.count = puts->count,
                             .put = puts->put,
                             .slot = f->device->now,
                             .x = (int)f->halo_x,
                             .number = tct_halo_number(f->halo),
                             .word = e->numbers ? NULL : puts->number,
                             .idle = !tct_field_computes(f)};
    return true;
}

static void run(const engine *e, int steps)
{
    tacit_field *f = e->field;
    const tct_step_work w = tct_device_work(f);
    tct_own_peers peers;
    if (steps <= 0 || !begin(e, &peers)) return;
    const int visits = e->ops->run(e->state, &w, &peers, steps);
    if (visits > 1 && peers.count > 0 && !e->numbers)
        tct_halo_advance(f->halo, (uint64_t)(visits - 1));
    if (visits % 2 == 1) f->device->now ^= 1;
}

/* A measured step needs all cells before and after it. */
static void visit(void *state, int depth, double *changes)
{
    const engine *e = state;
    const bool apart = changes && e->keeps;
    run(e, apart ? depth - 1 : depth);
    if (apart) run(e, 1);
    if (changes) tct_device_measure(e->field, changes);
    e->field->device->host_is_older = true;
}

static void describe(const void *state, tacit_field_result *out)
{
    const engine *e = state;
    const tacit_field *f = e->field;
    const tct_own_about about = e->ops->about(e->state);
    const int arrays = 2 + (f->coefficient ? f->s.about->points : 0);
    out->threads = 1;
    out->tiles = about.blocks;
    out->boundary_tiles = about.of_layer;
    out->boundary_formula = about.formula;
    out->on_chip = about.on_chip;
    if (f->halo) out->halo_bytes = tct_field_sent_bytes(f, e->depth);
    if (e->numbers)
        out->halo_bytes *= (double)sizeof(tct_numbered) / (double)f->s.bytes;
    out->moved_bytes = about.exchanged * (double)f->s.bytes * arrays;
}

static void finish(void *state)
{
    const engine *e = state;
    e->field->queue->device->sync(e->field->queue);
}

/* auto tries what can be, on all ranks alike. */
static bool is_in_place(const tacit_field *f)
{
    return !f->halo || !tct_halo_why_packed(f->halo);
}

static bool depth_fits(const tacit_field *f, int depth)
{
    const tct_step_work w = tct_device_work(f);
    int64_t n[3];
    if (tct_device_fits_chip(f, depth)) return true;
    largest_block(f, n);
    return tct_own_steps_on(f->queue)->fits(f->queue, n, &w, depth);
}

static const int *cached_depths(const tacit_field *f)
{
    static const int both[] = {8, 1, 0}, one[] = {1, 0};
    if (f->coefficient) return NULL;
    if (f->s.about->dimensions == 3) return one;
    return depth_fits(f, both[0]) ? both : one;
}

static bool cached_fits(const tacit_field *f)
{
    return is_in_place(f) && cached_depths(f) && depth_fits(f, 1);
}

/* Blocks of a boundary layer. The formula counts cells; those of a layer take
 * longer, since neighbours get them, and three layers are read for one. */
static const int of_layer[] = {-1, 2, 4, 8, 16, 0};

/* Of a small grid the kernels that read memory are a trial beside the one that
 * does not. */
static const int *boundaries(const tacit_field *f)
{
    static const int none[] = {-1, 0};
    if (tct_device_fits_chip(f, 1)) return none;
    return f->halo ? of_layer : NULL;
}

static const int *boundaries2(const tacit_field *f)
{
    return f->halo ? of_layer + 1 : NULL; /* its kernel is of layers */
}

static int stay(const tacit_field *f, const void *state)
{
    (void)f;
    (void)state;
    return STAY;
}

#define TABLE                                                                 \
    .visit = visit, .describe = describe, .finish = finish, .close = destroy, \
    .most = stay
const tct_way_ops tct_device_free = {TABLE, .open = free_open,
                                     .fits = is_in_place, .layers = true,
                                     .boundaries = boundaries};
const tct_way_ops tct_device_free2 = {TABLE, .open = free2_open,
                                      .fits = is_in_place, .layers = true,
                                      .boundaries = boundaries2};
const tct_way_ops tct_device_cached = {
    TABLE, .open = cached_open, .fits = cached_fits, .depths = cached_depths};
