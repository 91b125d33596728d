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
    bool keeps; /* cells stay on chip: one buffer is not complete */
    void *state;
} engine;

static tacit_status open(tacit_field *f, tct_own_kind kind, int depth,
                         void **state)
{
    const tct_step_work w = tct_device_work(f);
    const tct_own_steps *ops = tct_own_steps_on(f->queue);
    const char *why = f->halo ? tct_halo_why_packed(f->halo) : NULL;
    if (why)
        FAIL(TACIT_UNSUPPORTED,
             "kernels that stay store into the neighbours' memory: %s: take "
             "link peer, or another way",
             why);
    engine *e = tct_calloc(sizeof *e);
    if (!e) FAIL(TACIT_NO_MEMORY, "no memory for steps of a grid");
    *e = (engine){f, ops, depth, kind == TCT_OWN_CACHED, NULL};
    const tacit_status status = ops->open(f->queue, &f->block, &w, kind, depth,
                                          f->boundary_tiles, &e->state);
    if (status < 0) tct_free(e);
    else *state = e;
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
    const tct_halo_puts *puts = tct_halo_puts_of(f->halo);
    *peers = (tct_own_peers){.count = puts->count,
                             .put = puts->put,
                             .slot = f->device->now,
                             .x = (int)f->halo_x,
                             .number = tct_halo_number(f->halo),
                             .word = puts->number,
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
    if (visits > 1 && peers.count > 0)
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
    out->moved_bytes = about.exchanged * (double)f->s.bytes * arrays;
}

static void finish(void *state)
{
    const engine *e = state;
    e->field->queue->device->sync(e->field->queue);
}

static void destroy(void *state)
{
    engine *e = state;
    e->ops->close(e->state);
    tct_free(e);
}

/* auto tries what can be, on all ranks alike. */
static bool is_in_place(const tacit_field *f)
{
    return !f->halo || !tct_halo_why_packed(f->halo);
}

static bool depth_fits(const tacit_field *f, int depth)
{
    const tct_step_work w = tct_device_work(f);
    const tct_grid_block *b = &f->block;
    int64_t n[3];
    for (int d = 0; d < 3; d++) n[d] = (b->grid[d] - 1) / b->count[d] + 1;
    return tct_own_steps_on(f->queue)->fits(f->queue, n, &w, depth);
}

static const int *cached_depths(const tacit_field *f)
{
    static const int both[] = {8, 1, 0}, one[] = {1, 0};
    if (f->coefficient || f->s.about->dimensions == 3) return NULL;
    return depth_fits(f, both[0]) ? both : one;
}

static bool cached_fits(const tacit_field *f)
{
    return is_in_place(f) && cached_depths(f) && depth_fits(f, 1);
}

/* The formula counts cells; those of a layer take longer, since neighbours get
 * them, and three layers are read for one. */
static const int *boundaries(const tacit_field *f)
{
    static const int some[] = {-1, 2, 4, 8, 16, 0};
    return f->halo ? some : NULL;
}

static const int *boundaries2(const tacit_field *f)
{
    const int *some = boundaries(f);
    return some ? some + 1 : NULL; /* its kernel is of layers */
}

static int stay(const tacit_field *f)
{
    (void)f;
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
